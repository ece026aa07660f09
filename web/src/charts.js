// Curves of one run.
import * as Plot from "./plot.js";
import { h, legend } from "./dom.js";
import { percent, metric, mainMetric, heldOut, digits, whole } from "./format.js";

const phaseColour = { DENSE: "var(--dense)", SPARSIFICATION: "var(--sparsification)", SPARSE: "var(--sparse)" };

export const points = (series) => (series?.x ?? []).map((x, i) => ({ x, y: series.y[i] })).filter((point) => point.y != null);

export function figure(title, description, items, draw, wide = false) {
  const place = h("div", { class: "plot", role: "img", "aria-label": description });
  const element = h("figure", { class: wide ? "wide" : null },
    h("figcaption", {}, h("h3", {}, title), legend(items)), place);
  // The width is known only once the figure stands in the page.
  element.draw = () => {
    const width = Math.max(280, Math.round(place.clientWidth || (wide ? 1072 : 520)));
    const svg = draw(width);
    svg.setAttribute("aria-hidden", "true");
    place.replaceChildren(svg);
  };
  return element;
}

// A few steps have whole numbers only.
export function stepAxis(width, steps) {
  const last = Math.max(1, steps);
  const ticks = last <= width / 45 ? Array.from({ length: last + 1 }, (_, step) => step) : Math.round(width / 90);
  return { label: "step", labelArrow: "none", domain: [0, last], ticks, tickFormat: (x) => whole(x) };
}

const common = (width, y, run) => ({
  width,
  height: 230,
  marginLeft: 52,
  marginRight: 20,
  marginBottom: 34,
  style: { background: "transparent", fontSize: "11.5px" },
  x: stepAxis(width, run.status === "running" ? run.steps : run.step || run.steps),
  y: { label: null, grid: true, nice: true, ticks: 5, ...y },
  color: { type: "identity" },
});

const shades = (run) =>
  run.phases.length === 0
    ? []
    : [Plot.rect(run.phases, { x1: (p) => p[1] - 1, x2: (p) => p[2] - 1, fill: (p) => phaseColour[p[0]] ?? "var(--line)", fillOpacity: 0.16 })];

const curve = (data, colour, more) => Plot.lineY(data, { x: "x", y: "y", stroke: colour, strokeWidth: 1.6, ...more });

// Curves of a few points show them; one of a single point, which is no line, says its value too.
const dots = (data, colour, format, few = 12) =>
  data.length > few ? [] : [
    Plot.dot(data, { x: "x", y: "y", r: data.length === 1 ? 3 : 2.2, fill: colour }),
    data.length === 1 && format ? Plot.text(data, { x: "x", y: "y", text: (d) => format(d.y), dx: -7, textAnchor: "end", fill: colour }) : null,
  ];

const tip = (data, text) =>
  data.length === 0 ? [] : [
    Plot.ruleX(data, Plot.pointerX({ x: "x", stroke: "currentColor", strokeOpacity: 0.4 })),
    Plot.tip(data, Plot.pointerX({ x: "x", y: "y", title: (d) => `step ${whole(d.x)}\n${text(d.y)}`, fill: "var(--raised)", stroke: "var(--line)" })),
  ];

// Training and test values of one metric with the dense run's beside them.
function metricChart(run, name, title, train) {
  const test = points(run.test[name]);
  const dense = points(run.dense_test[name]);
  const format = (y) => metric(name, y);
  const items = [];
  const held = heldOut(run).toLowerCase();
  if (train.length > 0) items.push({ label: "training", colour: "var(--c8)", stroke: true });
  if (test.length > 0) items.push({ label: held, colour: "var(--c1)", stroke: true });
  if (dense.length > 0) items.push({ label: `dense model, ${held}`, colour: "var(--c2)", stroke: true, dashed: true });
  const last = test.at(-1);
  const description = `${title} over ${whole(run.step)} steps${last ? `; on the ${held} set ${format(last.y)} at the end` : ""}`;
  return figure(title, description, items, (width) => {
    // A few wild values at the start must not press the rest flat.
    const sorted = [...train, ...test, ...dense].map((d) => d.y).sort((a, b) => a - b);
    const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
    const bounds = sorted.length === 0 ? [0, 1]
      : name === "loss" || name === "rmse" || name === "bpc" ? [Math.min(0, sorted[0]), Math.max(at(0.985), test.at(-1)?.y ?? 0)] : [Math.min(at(0.03), test[0]?.y ?? Infinity), sorted.at(-1)];
    return Plot.plot({
      ...common(width, { domain: bounds[0] < bounds[1] ? bounds : [bounds[0] - 1, bounds[0] + 1], clamp: true, tickFormat: name === "accuracy" ? (y) => `${y} %` : undefined }, run),
      marks: [
        ...shades(run),
        curve(train, "var(--c8)", { strokeWidth: 1, strokeOpacity: 0.85, clip: true }),
        curve(dense, "var(--c2)", { strokeDasharray: "4 3", clip: true }),
        curve(test, "var(--c1)", { clip: true }),
        ...dots(train, "var(--c8)", test.length === 0 && format),
        ...dots(dense, "var(--c2)"),
        ...dots(test, "var(--c1)", format, 60),
        ...tip(test.length > 0 ? test : train, (y) => `${title.toLowerCase()} ${format(y)}`),
      ],
    });
  });
}

// What a SPARSIFICATION phase without a record does, by the formula of its ramp (ramp_sparsity).
function ramp(run, begin, after) {
  const c = Number(run.options["ramp-c"] ?? 4);
  const dropped = (t) => run.options.ramp === "polynomial" ? 1 - (1 - t) ** c : Math.abs(c) < 1e-9 ? t : Math.expm1(-c * t) / Math.expm1(-c);
  const steps = Math.min(after - begin, 40);
  return Array.from({ length: steps }, (_, i) => ({ x: begin + (i / steps) * (after - begin), y: 1 - (run.sparsity ?? 0) * dropped(i / steps) }));
}

// The log has a record every few steps; what phases mean fills in the corners between them.
function activePoints(run) {
  const logged = points(run.active);
  const sparse = run.phases.filter(([phase]) => phase === "SPARSE");
  const kept = logged.findLast((point) => sparse.some(([, begin, after]) => point.x >= begin && point.x < after))?.y ?? 1 - (run.sparsity ?? 0);
  return run.phases.flatMap(([phase, begin, after]) => {
    const level = { DENSE: 1, SPARSE: kept }[phase];
    if (level != null) return [{ x: begin - 1, y: level }, { x: after - 1, y: level }];
    const inside = logged.filter((point) => point.x >= begin && point.x < after);
    return inside.length > 0 ? inside : ramp(run, begin, after);
  });
}

function scheduleChart(run) {
  const active = activePoints(run);
  const low = points(run.active_least);
  const band = low.length > 0 && run.active_most?.x.length === low.length
    ? low.map((d, i) => ({ x: d.x, y1: d.y, y2: run.active_most.y[i] })) : [];
  const spread = band.some((d) => d.y2 - d.y1 > 0.02);
  const target = 1 - (run.sparsity ?? 0);
  return figure("Active blocks", `Share of blocks that are active; it ends at ${percent(active.at(-1)?.y)}`,
    [{ label: "mean of the pruned layers", colour: "var(--c1)", stroke: true }, spread && { label: "least to most", colour: "var(--c1)", opacity: 0.25 },
      { label: `target ${percent(target)}`, colour: "var(--c8)", stroke: true, dashed: true }].filter(Boolean),
    (width) => Plot.plot({
      ...common(width, { domain: [0, 1], tickFormat: (y) => `${Math.round(100 * y)} %` }, run),
      marks: [
        ...shades(run),
        spread ? Plot.areaY(band, { x: "x", y1: "y1", y2: "y2", fill: "var(--c1)", fillOpacity: 0.25 }) : null,
        Plot.ruleY([target], { stroke: "var(--c8)", strokeDasharray: "4 3" }),
        curve(active, "var(--c1)"),
        ...tip(active, (y) => `active ${percent(y)}`),
      ],
    }));
}

function rateChart(run) {
  const rate = points(run.train.lr);
  return figure("Learning rate", "Learning rate of the weights", [],
    (width) => Plot.plot({
      ...common(width, { zero: true, tickFormat: digits }, run),
      marks: [...shades(run), curve(rate, "var(--c1)"), ...dots(rate, "var(--c1)", digits), ...tip(rate, (y) => `rate ${digits(y)}`)],
    }));
}

export function phaseLegend(run) {
  const seen = [...new Set(run.phases.map((p) => p[0]))];
  return legend(seen.map((phase) => ({ label: phase.toLowerCase(), colour: phaseColour[phase] ?? "var(--line)", opacity: 0.45 })));
}

export function trainingCharts(run) {
  const charts = [metricChart(run, "loss", "Loss", points(run.train.loss))];
  const main = mainMetric({ ...run.test, ...run.dense_test, ...run.headline.metrics }) ?? "accuracy";
  if ("auc" in run.test) charts.push(metricChart(run, "auc", "AUC", []));
  else if (main === "rmse") charts.push(metricChart(run, "rmse", "Root mean squared error", []));
  else if (main === "accuracy" || main === "bpc") charts.push(metricChart(run, "accuracy", "Accuracy", points(run.train.accuracy)));
  return charts;
}

export const scheduleCharts = (run) => (run.active.x.length > 0 ? [scheduleChart(run), rateChart(run)] : [rateChart(run)]);

// How many of a cycle's kept blocks were not kept in the one before: a row per layer, a column per cycle.
export function churnChart(run) {
  const names = [...new Set(run.churn.flatMap((cycle) => Object.keys(cycle.layers)))];
  const order = run.layers.map((layer) => layer.name).filter((name) => names.includes(name));
  const cells = run.churn.flatMap((cycle) => [
    ...(order.length > 1 ? [{ layer: "all layers", step: cycle.step, share: cycle.all }] : []),
    ...order.filter((name) => name in cycle.layers).map((name) => ({ layer: name, step: cycle.step, share: cycle.layers[name] })),
  ]);
  const rows = (order.length > 1 ? 1 : 0) + order.length;
  const label = Math.min(260, 16 + 6.6 * Math.max(10, ...order.map((name) => name.length)));
  return figure("New among the kept blocks, by the step at which they were chosen",
    `Share of kept blocks that were not kept in the cycle before; ${percent(run.churn.at(-1)?.all)} in the last`, [],
    (width) => Plot.plot({
      width,
      height: 46 + rows * 22,
      marginLeft: label,
      marginTop: 26,
      marginBottom: 8,
      padding: 0.06,
      style: { background: "transparent", fontSize: "11.5px" },
      x: { type: "band", label: null, axis: "top", tickFormat: (x) => whole(x), tickSize: 0 },
      y: { type: "band", label: null, domain: [...(order.length > 1 ? ["all layers"] : []), ...order], tickSize: 0 },
      color: { type: "identity" },
      marks: [
        Plot.cell(cells, { x: "step", y: "layer", fill: (d) => `rgba(var(--heat), ${(0.06 + 0.84 * d.share).toFixed(3)})` }),
        Plot.text(cells, { x: "step", y: "layer", text: (d) => `${Math.round(100 * d.share)} %`, fill: (d) => (d.share > 0.55 ? "var(--paper)" : "var(--ink)") }),
      ],
    }), true);
}
