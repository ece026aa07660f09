// How large and how slow is the page of a large run? Trains a few steps of an mlp with 50 layers, gives it the log of
// 100,000 steps, makes the report and opens it in Chromium. Prints a table and JSON.
//   HEWN_PROGRAM=... HEWN_MODULES=... node bench/report/run.mjs [--keep FILE]
import { createWriteStream, copyFileSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { chromium, findChromium, folder, hewn, openPage, tinyMnist } from "../../tests/browser/support.mjs";

const steps = 100000;
const every = 10;  // steps between two records
const run = path.join(folder, "large");
hewn("train", "--quiet", "--data", tinyMnist(320, 32), "--widths", Array(49).fill(512).join(","), "--block", "8", "--steps", "40", "--batch", "32", "--lr", "0.001",
  "--method", "sa++", "--sparse-execution", "off", "--out", run);

const config = JSON.parse(readFileSync(path.join(run, "config.json"), "utf8"));
config.steps = steps;
writeFileSync(path.join(run, "config.json"), JSON.stringify(config));
const layers = Array.from({ length: 49 }, (_, i) => `fc${i + 1}`);
const phases = Array.from({ length: 22 }, (_, i) => ({ step: 1 + Math.floor((i * steps) / 22), phase: ["DENSE", "SPARSIFICATION", "SPARSE"][i % 3] }));
const log = createWriteStream(path.join(run, "metrics.jsonl"));
for (let step = every; step <= steps; step += every) {
  while (phases[0]?.step <= step) log.write(JSON.stringify({ ...phases.shift(), event: "phase" }) + "\n");
  const active = Object.fromEntries(layers.map((name, i) => [name, 0.1 + (0.9 * ((step * 7 + i * 13) % 997)) / 997]));
  const record = { step, event: "train", epoch: 0, phase: "DENSE", loss: 2 * Math.exp(-step / 2e4) + 0.1 * Math.sin(step), accuracy: 90 - 60 * Math.exp(-step / 2e4), lr: 0.1 * (1 - step / steps), active };
  if (!log.write(JSON.stringify(record) + "\n")) await once(log, "drain");
  if (step % 1000 === 0) log.write(JSON.stringify({ step, event: "test", metrics: { accuracy: 89 - 60 * Math.exp(-step / 2e4), loss: 2 * Math.exp(-step / 2e4) + 0.3 } }) + "\n");
}
log.end();
await once(log, "finish");

const file = path.join(folder, "large.html");
const begin = performance.now();
hewn("report", run, "-o", file, "--no-latency");
const collected = performance.now() - begin;
const browser = await chromium.launch({ executablePath: findChromium(), args: ["--no-sandbox"] });
const times = [];
for (let round = 0; round < 5; ++round) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const { page, troubles } = await openPage(context, pathToFileURL(file).href);
  if (troubles.length > 0) throw new Error(troubles.join("\n"));
  // From the beginning of the navigation to the first frame with everything in it.
  times.push(await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => resolve(performance.now()))))));
  await context.close();
}
await browser.close();
times.sort((a, b) => a - b);
const result = { layers: 50, steps, log_bytes: statSync(path.join(run, "metrics.jsonl")).size, page_bytes: statSync(file).size, report_seconds: collected / 1000, render_ms: times[2], render_ms_worst: times[4] };
console.log(`log ${(result.log_bytes / 2 ** 20).toFixed(1)} MiB, page ${(result.page_bytes / 2 ** 20).toFixed(2)} MiB (limit 5), made in ${result.report_seconds.toFixed(1)} s, rendered in ${result.render_ms.toFixed(0)} ms (limit 2000)`);
console.log(JSON.stringify(result));
const keep = process.argv.indexOf("--keep");
if (keep > 0) copyFileSync(file, process.argv[keep + 1]);
rmSync(folder, { recursive: true });
