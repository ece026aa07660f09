// Opens the report and the watch page in Chromium and checks what a reader would: everything is drawn, the keyboard is
// enough, axe finds nothing, and no request leaves the page. Exit code 77: there is no Chromium here.
import assert from "node:assert/strict";
import { appendFileSync, cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { axePath, chromium, findChromium, folder, hewn, openPage, started, tinyMnist } from "./support.mjs";

const browserPath = findChromium();
if (!browserPath) {
  console.log("skipped: no Chromium found; install the Debian package chromium or set HEWN_CHROMIUM");
  process.exit(77);
}

async function expectAccessible(page, what) {
  await page.evaluate(readFileSync(axePath, "utf8"));
  const result = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const found = result.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
  assert.deepEqual(found, [], what);
}

// Every figure holds a chart with marks in it, and no coordinate went wrong.
async function expectCharts(page, least) {
  const charts = await page.$$eval("figure", (figures) => figures.map((figure) => {
    const shapes = [...figure.querySelectorAll("svg path, svg rect, svg circle, svg line, svg text")];
    return {
      title: figure.querySelector("h3").textContent,
      shapes: shapes.length,
      width: figure.querySelector("svg")?.getBoundingClientRect().width ?? 0,
      broken: shapes.filter((shape) => ["d", "x", "y", "cx", "cy", "width", "height"].some((name) => /NaN|undefined/.test(shape.getAttribute(name) ?? ""))).length,
    };
  }));
  assert.ok(charts.length >= least, `${charts.length} charts`);
  for (const chart of charts) {
    assert.ok(chart.shapes > 5 && chart.width > 200, JSON.stringify(chart));
    assert.equal(chart.broken, 0, chart.title);
  }
  return charts.map((chart) => chart.title);
}

// The share of a mask's pixels that have the colour of kept blocks.
const keptShare = (page, index) => page.evaluate(async (i) => {
  const canvas = document.querySelectorAll(".mask canvas")[i];
  canvas.scrollIntoView();
  while (!canvas.dataset.drawn) await new Promise((resolve) => requestAnimationFrame(resolve));
  const copy = document.createElement("canvas");
  [copy.width, copy.height] = [canvas.width, canvas.height];
  const context = copy.getContext("2d", { willReadFrequently: true });
  context.drawImage(canvas, 0, 0);
  const { data } = context.getImageData(0, 0, copy.width, copy.height);
  const hex = getComputedStyle(document.documentElement).getPropertyValue("--kept").trim();
  const kept = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  let count = 0;
  for (let at = 0; at < data.length; at += 4) count += kept.every((value, k) => data[at + k] === value) ? 1 : 0;
  return count / (data.length / 4);
}, index);

// One real run; the others of the comparison are copies with other names and results.
const runs = path.join(folder, "sweep", "runs");
const single = path.join(runs, "sa-seed0");
hewn("train", "--quiet", "--data", tinyMnist(600, 100), "--widths", "128,128", "--block", "8", "--epochs", "4", "--batch", "50", "--log-every", "2",
  "--sparse-execution", "off", "--method", "sa++", "--compare-dense", "--out", single);
for (const [name, method, seed, accuracy] of [["sa-seed1", "sa++", 1, 88], ["acdc-seed0", "acdc", 0, 80], ["acdc-seed1", "acdc", 1, 78]]) {
  const copy = path.join(runs, name);
  cpSync(single, copy, { recursive: true });
  const edit = (file, change) => {
    const json = JSON.parse(readFileSync(path.join(copy, file), "utf8"));
    change(json);
    writeFileSync(path.join(copy, file), JSON.stringify(json));
  };
  const parts = method === "acdc" ? { score: "magnitude", schedule: "acdc/imagenet", drop: "zero", reset: "decompress" } : {};
  edit("config.json", (json) => Object.assign(json.options, { method, seed, ...parts }));
  edit("summary.json", (json) => {
    Object.assign(json, { method, seed });
    json.metrics.accuracy = accuracy;
  });
}
mkdirSync(path.join(folder, "sweep", "failed", "acdc-seed2"), { recursive: true });

const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });
let failed = false;
async function check(name, body) {
  try {
    await body();
    console.log(`ok      ${name}`);
  } catch (error) {
    failed = true;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}

await check("a report of one run", async () => {
  const file = path.join(folder, "report.html");
  hewn("report", single, "-o", file);
  assert.ok(statSync(file).size < 5 << 20);
  const context = await browser.newContext({ colorScheme: "light", viewport: { width: 1280, height: 900 }, offline: true });
  const { page, troubles } = await openPage(context, pathToFileURL(file).href);
  const titles = await expectCharts(page, 5);
  assert.deepEqual(titles.slice(0, 4), ["Loss", "Accuracy", "Active blocks", "Learning rate"]);
  assert.match(await page.textContent(".tiles"), /Faster than dense here.*batch/);
  assert.equal(await page.locator("#layers tbody tr").count(), 3);
  for (const index of [0, 1]) {
    const share = await keptShare(page, index);
    assert.ok(Math.abs(share - 0.1) < 0.01, `mask ${index}: ${share} kept`);
  }
  await expectAccessible(page, "light");
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page is wider than the window");

  // By keyboard alone: enlarge a mask, zoom, go back; show attention instead.
  await page.focus(".mask");
  await page.keyboard.press("Enter");
  const scale = () => page.$eval("dialog canvas", (canvas) => Number(canvas.dataset.scale));
  const before = await scale();
  await page.keyboard.press("+");
  assert.ok((await scale()) > before);
  await page.keyboard.press("PageDown");
  assert.equal(await page.textContent("#zoom-title"), "fc2");
  await expectAccessible(page, "dialog");
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => document.activeElement.className), "mask");
  // The page hears of the end a moment later; whoever moved on by then keeps the focus.
  await page.keyboard.press("Enter");
  assert.ok(await page.evaluate(async () => {
    const dialog = document.querySelector("dialog");
    const closed = new Promise((resolve) => dialog.addEventListener("close", resolve));
    dialog.close();
    const button = document.querySelector(".switch button:last-child");
    button.focus();
    await closed;
    return document.activeElement === button;
  }), "the focus was taken back");
  await page.keyboard.press("Space");
  await page.waitForSelector('.mask canvas[data-drawn="values"]', { state: "attached" });
  assert.ok((await keptShare(page, 0)) < 0.05, "attention is not shown");

  // On paper masks are drawn in light colours even where nobody scrolled to them.
  await page.emulateMedia({ colorScheme: "dark" });
  await page.reload();
  await page.waitForSelector("html[data-rendered]");
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.deepEqual(await page.$$eval(".mask canvas", (all) => all.map((canvas) => canvas.dataset.drawn)), ["kept", "kept"]);
  const corner = await page.$eval(".mask canvas", (canvas) => [...canvas.getContext("2d").getImageData(0, 0, 1, 1).data.slice(0, 3)].join());
  assert.ok(["29,95,191", "233,236,240"].includes(corner), corner);
  await page.reload();
  await page.waitForSelector("html[data-rendered]");
  await expectAccessible(page, "dark");
  await page.setViewportSize({ width: 420, height: 800 });
  await page.waitForTimeout(50);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "too wide for a telephone");
  assert.deepEqual(troubles, []);
  await context.close();
});

await check("a speed-up that a busy machine does not tell", async () => {
  const reason = "other programs held the processors in 28 of 28 rounds";
  const file = path.join(folder, "withheld.html");
  const text = readFileSync(path.join(folder, "report.html"), "utf8");
  writeFileSync(file, text.replace('"latency":{', `"latency":{"withheld":"${reason}",`));
  const context = await browser.newContext({ colorScheme: "light", offline: true });
  const { page, troubles } = await openPage(context, pathToFileURL(file).href);
  const tile = await page.textContent(".tiles div:last-child");
  assert.match(tile, new RegExp(`Faster than dense here.*withheld.*${reason}`));
  assert.doesNotMatch(tile, /×/);
  assert.deepEqual(troubles, []);
  await context.close();
});

await check("large networks, short runs and dense ones", async () => {
  const html = readFileSync(path.join(folder, "report.html"), "utf8");
  const [, before, json, after] = html.match(/^([^]*id="data">)([^]*?)(<\/script>[^]*)$/);
  const changed = async (name, change) => {
    const data = JSON.parse(json);
    change(data.runs[0]);
    const file = path.join(folder, `${name}.html`);
    writeFileSync(file, before + JSON.stringify(data).replaceAll("</", "<\\/") + after);
    const context = await browser.newContext({ colorScheme: "light", viewport: { width: 1280, height: 900 }, offline: true });
    const { page, troubles } = await openPage(context, pathToFileURL(file).href);
    assert.deepEqual(troubles, []);
    return { page, context };
  };

  const large = await changed("large", (run) => {
    run.layers = Array.from({ length: 20 }, (_, i) => ({ ...run.layers[0], name: `layer${i}.0.downsample.0`, shape: [2048, 512, 3, 3], grid: [288, 128], kept: 3686 }));
  });
  const [room, needed] = await large.page.$eval("#layers .scroll", (frame) => [frame.clientWidth, frame.scrollWidth]);
  assert.ok(needed <= room, `the table of layers needs ${needed} of ${room} pixels`);
  await large.context.close();

  for (const points of [1, 2]) {
    const short = await changed(`short${points}`, (run) => {
      run.step = run.steps = points;
      const cut = (series) => ({ x: Array.from({ length: points }, (_, i) => i + 1), y: series.y.slice(0, points) });
      for (const group of [run.train, run.test, run.dense_test]) for (const name of Object.keys(group)) group[name] = cut(group[name]);
      run.active = cut(run.active);
      run.phases = [["SPARSIFICATION", 1, points + 1]];
    });
    await expectCharts(short.page, 5);
    const dots = await short.page.$$eval("#training figure", (figures) => figures.map((figure) => figure.querySelectorAll("circle").length));
    assert.deepEqual(dots, [3 * points, 3 * points, 0, points]);
    const ticks = await short.page.$$eval("#training figure:first-child [aria-label='x-axis tick label'] text", (all) => all.map((one) => one.textContent));
    assert.deepEqual(ticks, points === 1 ? ["0", "1"] : ["0", "1", "2"]);
    await short.context.close();
  }

  const dense = await changed("dense", (run) => {
    run.method = "dense";
    run.masks = [];
    run.churn = [];
    run.notes = [];
    Object.assign(run.headline, { layers_pruned: 0, kept: 0, blocks: 0, realised: 0 });
    for (const layer of run.layers) Object.assign(layer, { pruned: false, kept: layer.blocks, requested: null, realised: 0 });
  });
  const text = (await dense.page.innerText("#top")) + (await dense.page.innerText("#main"));
  assert.doesNotMatch(text, /\b0 of|Kept blocks|block 8/);
  assert.match(text, /no layer is pruned/);
  await dense.context.close();
});

await check("a report of several runs", async () => {
  const file = path.join(folder, "sweep.html");
  hewn("report", path.join(folder, "sweep"), "-o", file, "--no-latency");
  for (const colorScheme of ["light", "dark"]) {
    const context = await browser.newContext({ colorScheme, offline: true });
    const { page, troubles } = await openPage(context, pathToFileURL(file).href);
    assert.match((await expectCharts(page, 6))[0], /accuracy against sparsity/);
    const row = await page.textContent("#comparison tbody tr");
    assert.match(row, /8×8.*90\.0\s%.*±.*by/);
    assert.match(await page.textContent("#main"), /1 run of the sweep has failed and is not counted/);
    assert.equal(await page.textContent("#better"), "higher is better");
    await page.selectOption("#metric", "loss");
    assert.equal(await page.textContent("#better"), "lower is better");
    assert.match(await page.textContent("#comparison h3"), /loss against sparsity/);
    const curves = () => page.$$eval("#curves svg [aria-label=line] path", (lines) => lines.map((line) => line.getAttribute("stroke")));
    assert.match(await page.textContent("#curves h3"), /^Training accuracy against step · mnist · mlp · blocks of 8×8, 90\.0\s% dropped/);
    assert.deepEqual((await curves()).sort(), ["var(--c1)", "var(--c1)", "var(--c2)", "var(--c2)"]);
    assert.deepEqual(await page.$$eval("#curves .legend li", (items) => items.map((item) => item.textContent)), ["acdc", "sa++"]);
    await page.selectOption("#curve", { label: "Test loss" });
    assert.match(await page.textContent("#curves h3"), /^Test loss against step/);
    assert.equal((await curves()).length, 4);
    await page.selectOption("#run", "0");
    assert.match(await page.textContent(".facts"), /method acdc/);
    assert.match(await page.textContent(".tiles"), /not measured/);
    await expectAccessible(page, colorScheme);
    await page.setViewportSize({ width: 400, height: 800 });
    await page.waitForTimeout(50);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "too wide for a telephone");
    assert.deepEqual(troubles, []);
    await context.close();
  }
});

await check("a run that is watched", async () => {
  // A run as it looks half-way: no summary, no model, half a log that ends inside a line.
  const copy = path.join(folder, "going");
  cpSync(single, copy, { recursive: true });
  for (const name of ["summary.json", "model.safetensors", "dense"]) rmSync(path.join(copy, name), { recursive: true });
  const log = path.join(copy, "metrics.jsonl");
  const text = readFileSync(log, "utf8");
  const half = Math.floor(text.length / 2);
  writeFileSync(log, text.slice(0, half));
  const { child, line } = await started("watch", copy, "--port", "0");
  const url = line.match(/http:\S+/)[0];
  const context = await browser.newContext({ colorScheme: "light" });
  const { page, troubles } = await openPage(context, url);
  await expectCharts(page, 4);
  assert.match(await page.textContent("main .notice"), /stopped after step/);
  const stepOf = () => page.textContent("main .notice").then((words) => Number(words.match(/step ([\d,]+)/)[1].replace(",", "")));
  const before = await stepOf();
  appendFileSync(log, text.slice(half));
  await page.waitForFunction((old) => Number(document.querySelector("main .notice").textContent.match(/step ([\d,]+)/)?.[1].replace(",", "")) > old, before);
  await expectCharts(page, 4);
  cpSync(path.join(single, "model.safetensors"), path.join(copy, "model.safetensors"));
  cpSync(path.join(single, "summary.json"), path.join(copy, "summary.json"));
  await page.waitForSelector(".chip.finished");
  await expectAccessible(page, "watch");
  assert.deepEqual(troubles, []);
  const ended = new Promise((resolve) => child.on("exit", resolve));
  child.kill("SIGINT");
  assert.equal(await ended, 0);
  await page.waitForSelector("text=hewn watch has ended");
  await context.close();
});

await browser.close();
rmSync(folder, { recursive: true });
process.exit(failed ? 1 : 0);
