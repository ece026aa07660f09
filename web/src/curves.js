// Several runs: how each learned, in one chart.
import * as Plot from "./plot.js";
import { h, section } from "./dom.js";
import { figure, points, stepAxis } from "./charts.js";
import { metric as metricText, heldOut, percent, whole, withoutPaths } from "./format.js";
import { colours, sides } from "./compare.js";

const isDense = (run) => run.headline.layers_pruned === 0;
const taskOf = (run) => withoutPaths(`${run.data} · ${run.model}`);
const settingOf = (run) => (isDense(run) ? taskOf(run) : `${taskOf(run)} · blocks of ${sides(run.block)}, ${percent(run.sparsity)} dropped`);

// What can be drawn: on the data that were trained on, and on those that were held out.
function quantities(runs) {
  const held = [...new Set(runs.flatMap((run) => Object.keys(run.test)))].sort();
  const parts = [...new Set(runs.map(heldOut))];
  const all = [
    { name: "accuracy", title: "Training accuracy", of: (run) => points(run.train.accuracy) },
    { name: "loss", title: "Training loss", of: (run) => points(run.train.loss) },
    ...held.map((name) => ({ name, title: `${parts.length === 1 ? parts[0] : "Held-out"} ${name}`, of: (run) => points(run.test[name]) })),
  ];
  return all.filter((quantity) => runs.some((run) => quantity.of(run).length > 0));
}

// Runs that stand side by side: of one setting, with the dense ones of its task.
function settings(runs) {
  const pruned = runs.filter((run) => !isDense(run));
  const names = [...new Set((pruned.length > 0 ? pruned : runs).map(settingOf))].sort();
  return names.map((name) => {
    const own = runs.filter((run) => settingOf(run) === name);
    const dense = runs.filter((run) => isDense(run) && !own.includes(run) && own.some((one) => taskOf(one) === taskOf(run)));
    return { name, runs: [...own, ...dense] };
  });
}

// Runs of one method and different seeds share a name; what else differs only the run's own name tells.
function named(runs) {
  const same = (a, b) => a !== b && a.method === b.method && a.seed === b.seed;
  return runs.map((run) => ({ run, label: runs.some((other) => same(run, other)) ? run.name : String(run.method) }));
}

function bounds(quantity, lines) {
  const sorted = lines.flatMap((line) => line.map((point) => point.y)).sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  const [low, high] = quantity.name === "loss" ? [Math.min(0, sorted[0]), at(0.985)] : [at(0.015), sorted.at(-1)];
  return low < high ? [low, high] : [low - 1, low + 1];
}

function curvesChart(setting, quantity) {
  const all = named(setting.runs);
  const pruned = [...new Set(all.filter(({ run }) => !isDense(run)).map(({ label }) => label))].sort();
  const dense = [...new Set(all.filter(({ run }) => isDense(run)).map(({ label }) => label))].sort();
  const colour = (label) => (pruned.includes(label) ? colours[pruned.indexOf(label) % colours.length] : "var(--quiet)");
  const lines = all.map(({ run, label }) => quantity.of(run).map((point) => ({ ...point, label, name: run.name, dense: isDense(run) }))).filter((line) => line.length > 0);
  const few = lines.flatMap((line) => (line.length <= 12 ? line : []));
  const items = [...pruned, ...dense].map((label) => ({ label, colour: colour(label), stroke: true, dashed: dense.includes(label) }));
  const text = (point) => `${point.name}\nstep ${whole(point.x)}: ${metricText(quantity.name, point.y)}`;
  const line = (some, more) => Plot.lineY(some.flat(), { x: "x", y: "y", z: "name", stroke: (point) => colour(point.label), strokeWidth: 1.5, strokeOpacity: 0.9, clip: true, ...more });
  return figure(`${quantity.title} against step · ${setting.name}`, `${quantity.title} of ${lines.length} runs (${[...pruned, ...dense].join(", ")}) over ${whole(Math.max(...setting.runs.map((run) => run.step)))} steps`, items,
    (width) => Plot.plot({
      width,
      height: 320,
      marginLeft: 52,
      marginRight: 20,
      marginBottom: 40,
      style: { background: "transparent", fontSize: "11.5px" },
      x: stepAxis(width, Math.max(...lines.flat().map((point) => point.x))),
      y: { label: null, grid: true, nice: true, clamp: true, domain: bounds(quantity, lines), tickFormat: quantity.name === "accuracy" ? (y) => `${y} %` : undefined },
      color: { type: "identity" },
      marks: [
        line(lines.filter((points) => points[0].dense), { strokeDasharray: "4 3" }),
        line(lines.filter((points) => !points[0].dense)),
        Plot.dot(few, { x: "x", y: "y", r: 2.4, fill: (point) => colour(point.label) }),
        Plot.tip(lines.flat(), Plot.pointer({ x: "x", y: "y", title: text, fill: "var(--raised)", stroke: "var(--line)" })),
      ],
    }), true);
}

export function curvesSection(runs) {
  const shown = quantities(runs);
  if (shown.length === 0) return null;
  const groups = settings(runs);
  const place = h("div", {});
  const choose = (id, rows, title) => h("select", { id, onchange: () => show() }, rows.map((row, i) => h("option", { value: i }, title(row))));
  const what = choose("curve", shown, (quantity) => quantity.title);
  const where = choose("setting", groups, (group) => group.name);
  function show() {
    const quantity = shown[Number(what.value)];
    const group = groups[Number(where.value)];
    if (group.runs.every((run) => quantity.of(run).length === 0)) {
      place.replaceChildren(h("p", { class: "quiet" }, "These runs have logged nothing of it."));
      return;
    }
    const chart = curvesChart(group, quantity);
    place.replaceChildren(chart);
    chart.draw();
  }
  const element = section("curves", "Training curves", "One line for each run; runs of one method with different seeds share a colour.",
    h("div", { class: "row no-print" }, h("label", { for: "curve" }, "Curve"), what, groups.length > 1 && [h("label", { for: "setting" }, "Setting"), where]), place);
  // The one with the most to compare first.
  where.value = String(groups.findIndex((group) => group.runs.length === Math.max(...groups.map((one) => one.runs.length))));
  element.draw = show;
  return element;
}
