import { h, section } from "./dom.js";
import { trainingCharts, scheduleCharts, churnChart, phaseLegend } from "./charts.js";
import { comparisonSection } from "./compare.js";
import { curvesSection } from "./curves.js";
import { maskSection } from "./masks.js";
import { layerSection } from "./layers.js";
import { tiles, facts, notices } from "./headline.js";

const top = document.getElementById("top");
const main = document.getElementById("main");
const foot = document.getElementById("foot");
let masks = null;  // the section that holds canvases: they do not follow style sheets by themselves

const drawAll = (root) => {
  for (const figure of root.querySelectorAll("figure")) figure.draw?.();
};

function settings(run) {
  const shown = Object.entries(run.options).filter(([, value]) => value !== null && value !== "" && value !== false);
  return section("settings", "Settings", null,
    h("details", {}, h("summary", {}, "Every option that decided this run"),
      h("dl", { class: "settings" }, shown.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", { class: "num" }, String(value)))))),
    h("p", { class: "quiet small" }, `${run.path} · hewn ${run.hewn}, LibTorch ${run.libtorch}`));
}

function training(run) {
  const logged = run.train.loss.x.length > 0;
  const text = logged ? null : run.dense_step > 0 ? "So far the dense model alone." : run.status === "finished" ? "This run logged nothing." : "Nothing is logged yet.";
  const charts = logged || Object.keys(run.dense_test).length > 0 ? [trainingCharts(run), logged ? scheduleCharts(run) : []] : [];
  return section("training", "Training", text, phaseLegend(run), h("div", { class: "charts" }, charts));
}

function churn(run) {
  if (run.headline.layers_pruned === 0) return null;
  if (run.churn.length === 0) {
    const why = run.records === 0 ? "This run wrote down none of its choices." : "Blocks were chosen only once so far, so nothing changed between choices.";
    return section("churn", "How the choice changed", why);
  }
  return section("churn", "How the choice changed", "When a sparse phase begins the kept blocks are chosen anew. Low numbers: the search has settled.", churnChart(run));
}

const evaluations = (tests) => Object.values(tests).map((series) => series.x.length);

// A run's sections by name; each has a key that changes when what it shows does.
function parts(run) {
  return [
    ["head", { h: run.headline, s: run.status, p: run.problems, n: run.step, d: run.dense_step, l: run.latency }, () => h("div", {}, notices(run), tiles(run))],
    ["training", { n: run.step, d: run.dense_step, s: run.status, t: evaluations(run.test), e: evaluations(run.dense_test) }, () => training(run)],
    ["layers", { l: run.layers, t: run.latency }, () => layerSection(run)],
    ["masks", { m: run.masks.map((mask) => [mask.layer, mask.cells]) }, () => maskSection(run)],
    ["churn", { c: run.churn, r: run.records }, () => churn(run)],
    ["settings", { o: run.options }, () => settings(run)],
  ];
}

const shown = new Map();  // name -> {key, element} of the run on the page

function showRun(place, run) {
  for (const [name, value, make] of parts(run)) {
    const key = JSON.stringify(value);
    const old = shown.get(name);
    if (old?.key === key) continue;
    const element = make() ?? h("div", {});
    if (old) old.element.replaceWith(element);
    else place.append(element);
    shown.set(name, { key, element });
    if (name === "masks") masks = element;
    drawAll(element);
    element.draw?.();
  }
}

function header(data, run) {
  const many = data.runs.length > 1;
  document.title = many ? `hewn: ${data.runs.length} runs` : `hewn: ${run.name}`;
  top.replaceChildren(
    h("p", { class: "overline" }, h("b", {}, "hewn"), data.live ? "live" : "report", !many && h("span", { class: `chip ${run.status}` }, run.status)),
    h("h1", {}, many ? `${data.runs.length} runs` : run.name),
    many ? "" : facts(run));
}

function footer(data) {
  foot.replaceChildren(h("p", {}, `hewn ${data.hewn} · ${data.live ? "read" : "made"} ${data.made} on ${data.processor || "this machine"}, ${data.cores} cores`));
}

function render(data) {
  header(data, data.runs[0]);
  footer(data);
  if (data.runs.length === 1) {
    if (shown.size === 0) main.replaceChildren();
    showRun(main, data.runs[0]);
    return;
  }
  const comparison = comparisonSection(data.comparison);
  const curves = curvesSection(data.runs);
  const place = h("div", {});
  const open = (index) => {
    shown.clear();
    place.replaceChildren(facts(data.runs[index]));
    showRun(place, data.runs[index]);
  };
  const choice = h("select", { id: "run", onchange: (event) => open(Number(event.target.value)) },
    data.runs.map((run, index) => h("option", { value: index }, run.status === "finished" ? run.name : `${run.name} (${run.status})`)));
  const unfinished = data.runs.filter((run) => run.status !== "finished").length;
  main.replaceChildren(
    comparison ?? h("p", { class: "quiet" }, data.runs.length === unfinished ? "No finished run to compare yet." : "No pruned model to compare: these runs are dense."),
    data.failed > 0 ? h("p", { class: "notice bad" }, `${data.failed} ${data.failed === 1 ? "run of the sweep has" : "runs of the sweep have"} failed and ${data.failed === 1 ? "is" : "are"} not counted.`) : "",
    unfinished > 0 ? h("p", { class: "notice" }, `${unfinished} of ${data.runs.length} runs are not finished and are not counted.`) : "",
    curves ?? "",
    section("one", "One run", null, h("div", { class: "row" }, h("label", { for: "run" }, "Run"), choice)), place);
  drawAll(main);
  comparison?.draw();
  curves?.draw();
  open(0);
}

const redrawCanvases = (paper) => masks?.redraw?.(paper);

async function follow() {
  const load = async () => {
    const answer = await fetch("data.json", { cache: "no-store" });
    if (answer.ok) render(await answer.json());
  };
  const lost = h("p", { class: "notice bad", hidden: true }, "hewn watch has ended or cannot be reached; the page shows what it knew last.");
  document.body.prepend(lost);
  let busy = false;
  let again = false;
  const changed = async () => {
    again = true;
    if (busy) return;
    busy = true;
    while (again) {
      again = false;
      try {
        await load();
      } catch (problem) {
        // Where the server has gone the events' error handler says so.
        if (!(problem instanceof TypeError && lost.hidden === false)) console.error(problem);
      }
    }
    busy = false;
  };
  const listen = () => {
    const events = new EventSource("events");
    events.addEventListener("change", changed);
    events.addEventListener("open", () => { lost.hidden = true; });
    events.addEventListener("error", () => {
      lost.hidden = false;
      // The browser tries again by itself unless it was refused, as when too many pages listen.
      if (events.readyState === EventSource.CLOSED) setTimeout(listen, 5000);
    });
  };
  listen();
  await changed();
}

const data = JSON.parse(document.getElementById("data").textContent);
const begun = performance.now();
if (data) render(data);
else follow().then(() => { document.documentElement.dataset.rendered = (performance.now() - begun).toFixed(0); });
if (data) document.documentElement.dataset.rendered = (performance.now() - begun).toFixed(0);

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redrawCanvases(false));
addEventListener("beforeprint", () => redrawCanvases(true));
addEventListener("afterprint", () => redrawCanvases(false));
let width = innerWidth;
addEventListener("resize", () => {
  if (Math.abs(innerWidth - width) < 40) return;
  width = innerWidth;
  drawAll(main);
});
