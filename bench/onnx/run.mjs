// Compares hewn with ONNX Runtime on the same files, one thread each, by CPU time, interleaved; checks that outputs agree.
//   node run.mjs RUN_NETWORK MODULES BATCHES FILE...   e.g. node run.mjs build/release/bench/run_network ort/node_modules 1,8 a.onnx
// A file pruned.onnx:dense.onnx is timed against the dense one in ONNX Runtime, and compared with itself.
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";

const [program, modules, batches, ...files] = process.argv.slice(2);
const ort = createRequire(resolve(modules, "x.js"))("onnxruntime-node");
const seconds = Number(process.env.SECONDS_EACH ?? 1.5);
const options = { intraOpNumThreads: 1, interOpNumThreads: 1 };

const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];

async function session(file, batch) {
  const net = await ort.InferenceSession.create(file, options);
  const feeds = {};
  for (const [i, name] of net.inputNames.entries()) {
    const shape = net.inputMetadata[i].shape.map((d) => (typeof d === "number" && d >= 0 ? d : batch));
    const data = new Float32Array(shape.reduce((a, b) => a * b, 1));
    for (let k = 0; k < data.length; ++k) data[k] = Math.sin(k * 0.37) + 0.5 * Math.sin(k * 0.0113);
    feeds[name] = new ort.Tensor("float32", data, shape);
  }
  return { run: async () => (await net.run(feeds))[net.outputNames[0]].data };
}

async function timed(net) {
  const times = [];
  for (let total = 0; total < seconds * 1e6 || times.length < 3; ) {
    const begin = process.cpuUsage();
    await net.run();
    const used = process.cpuUsage(begin);
    times.push(used.user + used.system);
    total += times.at(-1);
  }
  return median(times) / 1e3;
}

const result = join(tmpdir(), `run_network.${process.pid}.bin`);
const ratios = {};
for (const entry of files) {
  const [file, dense = entry.split(":")[0]] = entry.split(":");
  for (const batch of batches.split(",").map(Number)) {
    const net = await session(dense, batch);
    const expected = dense === file ? await net.run() : await (await session(file, batch)).run();
    await timed(net);
    const theirs = [];
    const ours = [];
    for (let round = 0; round < 3; ++round) {
      const text = execFileSync(program, [file, String(batch), "--seconds", String(seconds), "--out", result]);
      ours.push(JSON.parse(text).ms);
      theirs.push(await timed(net));
    }
    const bytes = readFileSync(result);
    const got = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
    let size = 0;
    let difference = got.length === expected.length ? 0 : Infinity;
    for (let i = 0; i < expected.length; ++i) {
      size = Math.max(size, Math.abs(expected[i]));
      difference = Math.max(difference, Math.abs(expected[i] - got[i]));
    }
    const ratio = median(ours) / median(theirs);
    (ratios[batch] ??= []).push(ratio);
    console.log(
      `${basename(file, ".onnx").padEnd(22)} batch ${String(batch).padStart(3)}  hewn ${median(ours).toFixed(2).padStart(9)} ms  onnxruntime ${median(theirs).toFixed(2).padStart(9)} ms  ratio ${ratio.toFixed(2)} (${(1 / ratio).toFixed(2)}x)  difference ${(difference / size).toExponential(1)}`,
    );
  }
}
for (const [batch, list] of Object.entries(ratios)) {
  console.log(`batch ${batch}: geometric mean of the ratios ${Math.exp(list.reduce((a, b) => a + Math.log(b), 0) / list.length).toFixed(3)}, largest ${Math.max(...list).toFixed(2)}`);
}
rmSync(result, { force: true });
