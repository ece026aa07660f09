// The table of layers: what came out, what it costs.
import { h, section, scrolled } from "./dom.js";
import { percent, bytes, count, times, whole, milliseconds } from "./format.js";

const bar = (share) => h("span", { class: "bar", "aria-hidden": "true" }, h("i", { style: `width:${(100 * share).toFixed(1)}%` }));

// A long name may go on in the next line behind a dot.
const breakable = (name) => name.split(/(?<=\.)/).flatMap((part) => [part, h("wbr", {})]);

function execution(layer, timing) {
  if (!layer.pruned) return `dense: ${layer.note || "not pruned"}`;
  if (timing?.speedup != null && timing.speedup < 1) return "blocks; dense is faster";
  return layer.trained_on_blocks ? "blocks, in training too" : "blocks; trained dense";
}

// One entry per column: its name, its cell of a layer, and its cell of all of them.
function columns(run) {
  const latency = run.latency?.layers ?? {};
  const total = run.headline;
  const speed = (layer) => {
    const timing = latency[layer.name];
    return h("td", { title: timing?.withheld ? `not told: ${timing.withheld}` : timing ? `${milliseconds(timing.dense_ms)} dense, ${milliseconds(timing.sparse_ms)} on kept blocks` : "" }, timing?.speedup != null ? times(timing.speedup) : "–");
  };
  const number = (text, quiet) => h("td", { class: quiet ? "quiet" : null }, text);
  const common = [
    ["layer", (layer) => h("th", { scope: "row", class: "name" }, breakable(layer.name)), h("th", { scope: "row" }, "all")],
    ["weight", (layer) => number(layer.shape.join("×")), h("td", {})],
  ];
  if (total.layers_pruned === 0) {
    return [...common, ["bytes", (layer) => number(bytes(layer.bytes_dense)), number(bytes(total.bytes_dense))],
      ["FLOPs", (layer) => number(count(layer.flops_dense)), number(count(total.flops_dense))]];
  }
  return [...common,
    ["kept blocks", (layer) => h("td", {}, layer.pruned ? `${whole(layer.kept)} of ${layer.grid.join("×")}` : "all", bar(layer.kept / layer.blocks)), number(`${whole(total.kept)} of ${whole(total.blocks)}`)],
    ["zeros", (layer) => number(layer.pruned ? percent(layer.realised) : "–"), number(percent(total.realised))],
    ["bytes", (layer) => number(bytes(layer.bytes_sparse)), number(bytes(total.bytes_sparse))],
    ["dense", (layer) => number(bytes(layer.bytes_dense), true), number(bytes(total.bytes_dense))],
    ["FLOPs", (layer) => number(count(layer.flops_sparse)), number(count(total.flops_sparse))],
    ["dense", (layer) => number(count(layer.flops_dense), true), number(count(total.flops_dense))],
    ...(Object.keys(latency).length > 0 ? [["speed-up", speed, number(times(run.latency.speedup))]] : []),
    ["runs on", (layer) => h("td", { class: "left quiet prose" }, execution(layer, latency[layer.name])), h("td", {})]];
}

function notes(run) {
  const timed = Object.keys(run.latency?.layers ?? {}).length > 0;
  const all = [run.measured ? "Counted in the weights themselves." : "As planned: the weights are not written yet.", "FLOPs are of one sample."];
  if (run.headline.layers_pruned === 0) return all;
  all.push(`Asked for: ${percent(run.headline.requested)} of the blocks dropped.`);
  all.push(timed ? `Speed-up: the layer alone, batch ${run.latency.batch}, with as many random blocks, against the fastest dense way here; the whole network ran against ${run.latency.dense_baseline}.`
    : `Speed-up of single layers: not measured${run.latency?.missing ? ` (${run.latency.missing})` : ""}.`);
  return all;
}

export function layerSection(run) {
  const all = columns(run);
  return section("layers", "Layers", notes(run).join(" "),
    scrolled("Table of layers", h("table", {},
      h("thead", {}, h("tr", {}, all.map(([name]) => h("th", { scope: "col", class: name === "runs on" ? "left" : null }, name)))),
      h("tbody", {}, run.layers.map((layer) => h("tr", {}, all.map(([, cell]) => cell(layer))))),
      h("tfoot", {}, h("tr", {}, all.map(([, , foot]) => foot)))), run.layers.length > 16));
}
