// The table of layers: what was asked for, what came out, what it costs.
import { h, section, scrolled } from "./dom.js";
import { percent, bytes, count, times, whole, milliseconds } from "./format.js";

const bar = (share) => h("span", { class: "bar", "aria-hidden": "true" }, h("i", { style: `width:${(100 * share).toFixed(1)}%` }));

function execution(layer, timing) {
  if (!layer.pruned) return `dense: ${layer.note || "not pruned"}`;
  if (timing && timing.speedup < 1) return "blocks, though dense is faster";
  return layer.trained_on_blocks ? "blocks, in training too" : "blocks; trained dense";
}

export function layerSection(run) {
  const latency = run.latency?.layers ?? {};
  const timed = Object.keys(latency).length > 0;
  const total = run.headline;
  const columns = ["layer", "weight", "blocks", "kept", "requested", "realised", "bytes", "dense", "FLOPs", "dense"];
  const rows = run.layers.map((layer) => {
    const timing = latency[layer.name];
    return h("tr", {},
      h("th", { scope: "row" }, layer.name),
      h("td", {}, layer.shape.join("×")),
      h("td", {}, layer.grid.join("×")),
      h("td", {}, layer.pruned ? whole(layer.kept) : "all", bar(layer.kept / layer.blocks)),
      h("td", {}, layer.requested == null ? "–" : percent(layer.requested)),
      h("td", {}, layer.pruned ? percent(layer.realised) : "–"),
      h("td", {}, bytes(layer.bytes_sparse)),
      h("td", { class: "quiet" }, bytes(layer.bytes_dense)),
      h("td", {}, count(layer.flops_sparse)),
      h("td", { class: "quiet" }, count(layer.flops_dense)),
      timed && h("td", { title: timing ? `${milliseconds(timing.dense_ms)} dense, ${milliseconds(timing.sparse_ms)} on kept blocks` : "" }, timing ? times(timing.speedup) : "–"),
      h("td", { class: "left quiet" }, execution(layer, timing)));
  });
  const notes = [run.measured ? "Counted in the weights themselves." : "As planned: the weights are not written yet.",
    "FLOPs are of one sample.",
    timed ? `Speed-up: the layer alone, batch ${run.latency.batch}, with as many random blocks, against the fastest dense way here; the whole network ran against ${run.latency.dense_baseline}.` : total.layers_pruned === 0 ? "" : `Speed-up of single layers: not measured${run.latency?.missing ? ` (${run.latency.missing})` : ""}.`];
  return section("layers", "Layers", notes.join(" "),
    scrolled("Table of layers", h("table", {},
      h("thead", {}, h("tr", {}, [...columns, ...(timed ? ["speed-up"] : [])].map((name) => h("th", { scope: "col" }, name)), h("th", { scope: "col", class: "left" }, "runs on"))),
      h("tbody", {}, rows),
      h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, "all"), h("td", {}), h("td", {}), h("td", {}, total.blocks === 0 ? "all" : whole(total.kept)), h("td", {}, total.blocks === 0 ? "–" : percent(total.requested)), h("td", {}, total.blocks === 0 ? "–" : percent(total.realised)),
        h("td", {}, bytes(total.bytes_sparse)), h("td", {}, bytes(total.bytes_dense)), h("td", {}, count(total.flops_sparse)), h("td", {}, count(total.flops_dense)),
        timed && h("td", {}, times(run.latency.speedup)), h("td", {})))), run.layers.length > 16));
}
