// Several runs: metric against sparsity for every method, and who wins where.
import * as Plot from "./plot.js";
import { h, section, scrolled } from "./dom.js";
import { figure } from "./charts.js";
import { metric as metricText, percent, withoutPaths } from "./format.js";

export const colours = ["var(--c1)", "var(--c2)", "var(--c3)", "var(--c4)", "var(--c5)", "var(--c6)", "var(--c7)", "var(--c8)"];
const byNumber = (a, b) => parseFloat(a) - parseFloat(b) || String(a).localeCompare(b);

// "16x16" -> "16×16"
export const sides = (block) => (String(block).includes("x") ? String(block).replace("x", "×") : `${block}×${block}`);

// With the digits of the metric, without its unit.
const number = (name, value) => metricText(name, value).split("\u00a0")[0];

// Room above and below where all values are one.
function around(rows) {
  const [low, high] = [Math.min(...rows.map((row) => row.mean - row.sd)), Math.max(...rows.map((row) => row.mean + row.sd))];
  const room = Math.max(0.01 * Math.abs(low), 1e-3);
  return low < high ? {} : { domain: [low - room, low + room] };
}

function tradeOff(comparison, task, name, methods, cells) {
  const dense = comparison.dense.filter((row) => row.task === task && row.metric === name);
  const colour = (method) => colours[methods.indexOf(method) % colours.length];
  const blocks = [...new Set(cells.map((cell) => cell.block))].sort(byNumber);
  const densities = [...new Set(cells.map((cell) => 1 - cell.sparsity))].sort((a, b) => b - a);
  const items = methods.map((method) => ({ label: method, colour: colour(method), stroke: true }));
  items.push(...dense.map((row) => ({ label: `${row.method} ${metricText(name, row.mean)}`, colour: "var(--quiet)", stroke: true, dashed: true })));
  const text = (cell) => `${cell.method}, ${percent(cell.sparsity)} of blocks of ${cell.block} dropped\n${metricText(name, cell.mean)}${cell.n > 1 ? ` ± ${metricText(name, cell.sd)}` : ""} (${cell.n} ${cell.n === 1 ? "seed" : "seeds"})`;
  return figure(`${name} against sparsity · ${withoutPaths(task)}`, `Held-out ${name} against the share of dropped blocks for ${methods.join(", ")}, for blocks of ${blocks.join(", ")}; the table below holds the numbers`, items,
    (width) => {
      const stacked = width / blocks.length < 170;  // panels side by side would be too narrow for their labels
      const panel = { [stacked ? "fy" : "fx"]: "block" };
      return Plot.plot({
        width,
        height: stacked ? 70 + 180 * blocks.length : 320,
        marginLeft: 52,
        marginRight: stacked ? 58 : 20,
        marginBottom: 40,
        marginTop: blocks.length > 1 ? 34 : 16,
        style: { background: "transparent", fontSize: "11.5px" },
        [stacked ? "fy" : "fx"]: { domain: blocks, label: null, tickFormat: (block) => `${stacked ? "" : "blocks of "}${sides(block)}`, padding: 0.08 },
        x: { type: "log", reverse: true, label: "blocks dropped", labelArrow: "none", domain: densities.length > 1 ? [densities.at(-1) * 0.92, densities[0] * 1.08] : [densities[0] / 2, Math.min(1, densities[0] * 2)], ticks: densities, tickFormat: (density) => `${Number((100 * (1 - density)).toFixed(2))} %` },
        y: { label: null, grid: true, nice: true, ...around([...cells, ...dense]), tickFormat: name === "accuracy" ? (y) => `${y} %` : undefined },
        marks: [
          Plot.ruleY(dense.map((row) => row.mean), { stroke: "var(--quiet)", strokeDasharray: "4 3" }),
          Plot.ruleX(cells.filter((cell) => cell.sd > 0), { ...panel, x: (c) => 1 - c.sparsity, y1: (c) => c.mean - c.sd, y2: (c) => c.mean + c.sd, stroke: (c) => colour(c.method), strokeWidth: 1.5, strokeOpacity: 0.7, marker: "tick" }),
          Plot.lineY(cells, { ...panel, x: (c) => 1 - c.sparsity, y: "mean", z: "method", sort: (c) => c.sparsity, stroke: (c) => colour(c.method), strokeWidth: 1.8 }),
          Plot.dot(cells, { ...panel, x: (c) => 1 - c.sparsity, y: "mean", fill: (c) => colour(c.method), r: 3.2 }),
          Plot.tip(cells, Plot.pointer({ ...panel, x: (c) => 1 - c.sparsity, y: "mean", title: text, fill: "var(--raised)", stroke: "var(--line)" })),
        ],
      });
    }, true);
}

function winnerTable(comparison, task, name, methods, cells) {
  const places = [...new Map(cells.map((cell) => [`${cell.block} ${cell.sparsity}`, cell])).values()]
    .sort((a, b) => byNumber(a.block, b.block) || a.sparsity - b.sparsity);
  const rows = places.map(({ block, sparsity }) => {
    const here = (row) => row.block === block && row.sparsity === sparsity;
    const winner = comparison.winners.find((row) => row.task === task && row.metric === name && here(row));
    return h("tr", {},
      h("th", { scope: "row" }, sides(block)),
      h("td", {}, percent(sparsity)),
      methods.map((method) => {
        const cell = cells.find((one) => here(one) && one.method === method);
        if (!cell) return h("td", { class: "quiet" }, "–");
        return h("td", { class: winner?.best === method && winner.verdict !== "tie" ? "best" : null }, metricText(name, cell.mean),
          cell.n > 1 ? h("span", { class: "quiet small" }, ` ± ${number(name, cell.sd)}`) : null);
      }),
      h("td", { class: "left" }, winner?.verdict === "tie" ? "tie" : winner ? [h("b", {}, winner.best), ` by ${number(name, winner.margin)}${name === "accuracy" ? " points" : ""}`] : "–"),
      h("td", { class: "left quiet" }, winner?.verdict ?? "one method"));
  });
  return scrolled(`Winners by ${name}`, h("table", {},
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "block"), h("th", { scope: "col" }, "dropped"),
      methods.map((method) => h("th", { scope: "col" }, method)), h("th", { scope: "col", class: "left" }, "winner"), h("th", { scope: "col", class: "left" }, "margin"))),
    h("tbody", {}, rows)));
}

export function comparisonSection(comparison) {
  if (!comparison || comparison.cells.length === 0) return null;
  const tasks = [...new Set(comparison.cells.map((cell) => cell.task))].sort();
  const names = comparison.metrics.filter((name) => comparison.cells.some((cell) => cell.metric === name));
  const place = h("div", {});
  const direction = h("span", { id: "better", class: "quiet" });
  const show = (name) => {
    direction.textContent = comparison.better?.[name] ?? "";
    place.replaceChildren(...tasks.flatMap((task) => {
      const cells = comparison.cells.filter((cell) => cell.task === task && cell.metric === name);
      if (cells.length === 0) return [];
      const methods = [...new Set(cells.map((cell) => cell.method))].sort();
      return [tradeOff(comparison, task, name, methods, cells), winnerTable(comparison, task, name, methods, cells)];
    }));
    for (const one of place.querySelectorAll("figure")) one.draw();
  };
  const choice = h("select", { id: "metric", onchange: (event) => show(event.target.value) }, names.map((name) => h("option", { value: name }, name)));
  const element = section("comparison", "Methods compared", "Mean over seeds with one standard deviation. Clear: the margin exceeds two standard errors of the difference.",
    h("div", { class: "row no-print" }, h("label", { for: "metric" }, "Metric"), choice, direction), place);
  element.draw = () => show(choice.value);
  return element;
}
