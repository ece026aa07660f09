// What matters most of one run, at a glance.
import { h } from "./dom.js";
import { percent, bytes, metric, mainMetric, heldOut, milliseconds, times, whole, clock, count, withoutPaths } from "./format.js";

const tile = (name, big, ...lines) =>
  h("div", { class: "tile" }, h("dt", {}, name), h("dd", { class: "big" }, big), lines.filter(Boolean).map((line) => h("dd", { class: "quiet small num" }, line)));

const small = (text) => h("small", {}, text);

function metricTile(run) {
  const metrics = run.headline.metrics;
  const name = mainMetric(metrics);
  if (name == null) return tile(heldOut(run), "–", "not evaluated yet");
  const dense = run.headline.dense_metrics?.[name];
  const others = Object.entries(metrics).filter(([other]) => other !== name).map(([other, value]) => `${other} ${metric(other, value)}`);
  const [number, unit] = metric(name, metrics[name]).split("\u00a0");
  const value = unit ? [number, small(` ${unit}`)] : number;
  return tile(`${heldOut(run)} ${name}${run.status === "finished" ? "" : " so far"}`, value, dense != null && `dense model ${metric(name, dense)}`, others.join(" · "));
}

function latencyTile(run) {
  const latency = run.latency ?? {};
  if (latency.withheld != null) return tile("Faster than dense here", small("withheld"), latency.withheld, `batch ${latency.batch}, ${latency.threads} ${latency.threads === 1 ? "thread" : "threads"}`);
  if (latency.missing != null || latency.speedup == null) return tile("Latency", h("small", {}, "not measured"), latency.missing);
  const [low, high] = latency.speedup_quartiles;
  if (run.headline.layers_pruned === 0) return tile("Latency here", milliseconds(latency.sparse_ms), `batch ${latency.batch}, ${latency.threads} ${latency.threads === 1 ? "thread" : "threads"}`);
  const title = latency.speedup < 1 ? "Speed against dense here" : "Faster than dense here";
  return tile(title, times(latency.speedup), `${milliseconds(latency.sparse_ms)} against ${milliseconds(latency.dense_ms)} dense`,
    `batch ${latency.batch}, ${latency.threads} ${latency.threads === 1 ? "thread" : "threads"}; quartiles ${times(low)}–${times(high)}`, latency.beyond_products);
}

const weights = (run) => run.layers.reduce((sum, layer) => sum + layer.shape.reduce((product, size) => product * size, 1), 0);

export function tiles(run) {
  const facts = run.headline;
  const [size, unit] = bytes(facts.bytes_sparse).split("\u00a0");
  return h("dl", { class: "tiles" },
    metricTile(run),
    facts.layers_pruned === 0
      ? tile("Weights", count(weights(run)), "all kept: no layer is pruned")
      : tile(run.measured ? "Kept blocks" : "Blocks to keep", [whole(facts.kept), small(` of ${whole(facts.blocks)}`)],
        `${facts.layers_pruned} of ${facts.layers} layers pruned`, `${percent(facts.realised)} of the weights ${run.measured ? "are" : "will be"} zero`),
    facts.layers_pruned === 0
      ? tile("Size", [size, small(` ${unit}`)], `${count(facts.flops_dense)} FLOPs a sample`)
      : tile(run.measured ? "Size" : "Size at the end", [size, small(` ${unit}`)],
        `dense ${bytes(facts.bytes_dense)}: ${times(facts.bytes_dense / facts.bytes_sparse)} smaller`, `${count(facts.flops_sparse)} FLOPs a sample, dense ${count(facts.flops_dense)}`),
    latencyTile(run));
}

export function facts(run) {
  const seconds = run.headline.seconds;
  const dense = run.method === "dense" || run.method === "dense with teacher";
  const pairs = [["method", run.method], ["data", withoutPaths(run.data)], ["model", run.model], ["block", dense ? null : String(run.block).includes("x") ? run.block : `${run.block}×${run.block}`],
    ["sparsity", dense ? null : percent(run.sparsity)], ["seed", run.seed], ["steps", whole(run.steps)], ["trained in", seconds == null ? null : clock(seconds)]];
  return h("ul", { class: "facts" }, pairs.filter(([, value]) => value != null).map(([name, value]) => h("li", {}, `${name} `, h("b", { class: "num" }, String(value)))));
}

// A few in full, many behind a line that opens.
function list(texts) {
  const all = h("ul", {}, texts.map((text) => h("li", {}, text)));
  return texts.length <= 4 ? all : h("details", { style: "margin:0" }, h("summary", {}, `${texts.length} notes, the first: ${texts[0]}`), all);
}

export function notices(run) {
  const left = [];
  if (run.status === "stopped") {
    left.push(h("p", { class: "notice bad" }, `This run was stopped after step ${whole(run.step)} of ${whole(run.steps)}; hewn train --resume finishes it. What follows is what it had reached.`));
  }
  if (run.status === "running") {
    const text = run.step === 0 && run.dense_step > 0 ? `The dense model trains first, for comparison: ${whole(run.dense_step)} of ${whole(run.steps)} steps.` : `This run is still going: step ${whole(run.step)} of ${whole(run.steps)}.`;
    left.push(h("p", { class: "notice" }, text));
  }
  if (run.problems.length > 0) left.push(h("div", { class: "notice bad" }, list(run.problems)));
  if (run.notes.length > 0) left.push(h("div", { class: "notice" }, list(run.notes)));
  return left;
}
