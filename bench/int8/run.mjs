// Times networks in 8 bits against ONNX Runtime's own 8 bits, one thread each, by CPU time, interleaved.
//   node run.mjs RUN_NETWORK MODULES BATCHES FILE,INT8,QDQ...
// FILE: pruned network in 32 bits (.onnx), INT8: the same in 8 bits (.hewn), QDQ: the dense one, as qdq.py writes it.
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { basename, resolve } from "node:path";

const [program, modules, batches, ...networks] = process.argv.slice(2);
const ort = createRequire(resolve(modules, "x.js"))("onnxruntime-node");
const seconds = Number(process.env.SECONDS_EACH ?? 1);
const rounds = Number(process.env.ROUNDS ?? 5);
const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];

async function session(file, batch) {
  const net = await ort.InferenceSession.create(file, { intraOpNumThreads: 1, interOpNumThreads: 1 });
  const shape = net.inputMetadata[0].shape.map((d) => (typeof d === "number" && d >= 0 ? d : batch));
  const data = Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, k) => Math.sin(k * 0.37));
  const feeds = { [net.inputNames[0]]: new ort.Tensor("float32", data, shape) };
  return () => net.run(feeds);
}

async function timed(run) {
  const times = [];
  // Short calls are timed several at once: the clock of a process has steps of a microsecond.
  let calls = 1;
  for (let total = 0; total < seconds * 1e6 || times.length < 3; ) {
    const begin = process.cpuUsage();
    for (let i = 0; i < calls; ++i) await run();
    const used = process.cpuUsage(begin);
    const spent = used.user + used.system;
    total += spent;
    if (spent < 2000) {
      calls *= 2;
      continue;
    }
    times.push(spent / calls);
  }
  return median(times) / 1e3;
}

for (const entry of networks) {
  const [fp32, int8, qdq] = entry.split(",");
  for (const batch of batches.split(",").map(Number)) {
    const run = await session(qdq, batch);
    await timed(run);
    const times = { fp32: [], int8: [], ort: [] };
    const ours = (file) => JSON.parse(execFileSync(program, [file, String(batch), "--seconds", String(seconds)])).ms;
    for (let round = 0; round < rounds; ++round) {
      times.fp32.push(ours(fp32));
      times.int8.push(ours(int8));
      times.ort.push(await timed(run));
    }
    const [a, b, c] = [times.fp32, times.int8, times.ort].map(median);
    console.log(
      `${basename(fp32, ".onnx")} batch ${batch}: hewn fp32 ${a.toFixed(3)} ms, int8 ${b.toFixed(3)} ms (${(a / b).toFixed(2)}x), ONNX Runtime int8 dense ${c.toFixed(3)} ms (${(c / b).toFixed(2)}x)`,
    );
  }
}
