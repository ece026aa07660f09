// Pictures of which blocks a layer keeps, and how important each was.
import { h, section } from "./dom.js";
import { percent, digits, whole } from "./format.js";

export function decoded(mask) {
  const text = atob(mask.cells);
  const cells = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) cells[i] = text.charCodeAt(i);
  return cells;
}

// "#1d5fbf" -> [29, 95, 191]
function colourOf(name) {
  const value = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const long = value.length === 4 ? value.replace(/[0-9a-f]/gi, "$&$&") : value;
  return [1, 3, 5].map((i) => parseInt(long.slice(i, i + 2), 16));
}

const mix = (from, to, share) => from.map((value, i) => Math.round(value + (to[i] - value) * share));

// Paper is light, whatever the screen was.
const onPaper = [[29, 95, 191], [233, 236, 240], [217, 144, 47], [255, 255, 255]];
let printing = false;

// A colour for each of the 256 bytes.
function palette(mask, mode) {
  const [kept, dropped, warm, paper] = printing ? onPaper : ["--kept", "--dropped", "--sparsification", "--paper"].map(colourOf);
  return Array.from({ length: 256 }, (_, byte) => {
    if (mask.merged > 1) return mix(dropped, kept, byte / 255);
    const isKept = byte >= 128;
    if (mode === "kept" || mask.low == null) return isKept ? kept : dropped;
    const level = (byte & 127) / 127;
    return isKept ? mix(paper, kept, 0.3 + 0.7 * level) : mix(dropped, warm, level);
  });
}

// The mask as an image of one pixel per cell.
function imageOf(mask, mode) {
  mask.bytes ??= decoded(mask);
  const colours = palette(mask, mode);
  const image = new ImageData(mask.cols, mask.rows);
  for (let i = 0; i < mask.bytes.length; ++i) {
    const [red, green, blue] = colours[mask.bytes[i]];
    image.data.set([red, green, blue, 255], 4 * i);
  }
  return image;
}

function drawn(canvas, mask, mode) {
  canvas.width = mask.cols;
  canvas.height = mask.rows;
  canvas.getContext("2d").putImageData(imageOf(mask, mode), 0, 0);
  canvas.dataset.drawn = mode;
}

const valueName = (run) => (run.score === "attention" ? "attention" : "importance");
// Attention is recorded as its logarithm.
const valueText = (run, value) => (run.score === "attention" ? digits(Math.exp(value)) : digits(value));

const layerText = (run, name) => {
  const row = run.layers.find((layer) => layer.name === name);
  return row ? `${whole(row.kept)} of ${whole(row.blocks)} kept` : "";
};

function describe(run, mask, index) {
  const row = Math.floor(index / mask.cols);
  const col = index % mask.cols;
  const byte = mask.bytes[index];
  if (mask.merged > 1) {
    return `blocks from row ${row * mask.merged}, column ${col * mask.merged}: ${percent(byte / 255, 0)} of ${mask.merged}×${mask.merged} kept`;
  }
  const value = mask.low == null ? "" : `, ${valueName(run)} about ${valueText(run, mask.low + ((byte & 127) / 127) * (mask.high - mask.low))}`;
  return `block row ${row}, column ${col}: ${byte >= 128 ? "kept" : "dropped"}${value}`;
}

function legendOf(run, mode) {
  const box = (style) => h("i", { style });
  if (mode === "kept") {
    return h("ul", { class: "legend" }, h("li", {}, box("background:var(--kept)"), "kept"), h("li", {}, box("background:var(--dropped)"), "dropped"));
  }
  const scale = (from, to) => h("span", { class: "scale", style: `background:linear-gradient(90deg,${from},${to})` });
  return h("ul", { class: "legend" },
    h("li", {}, `kept: low`, scale("color-mix(in srgb, var(--paper) 70%, var(--kept))", "var(--kept)"), "high"),
    h("li", {}, `dropped: low`, scale("var(--dropped)", "var(--sparsification)"), `high ${valueName(run)}`));
}

// The dialog with one mask, as large as one likes.
function zoomed(run, start, mode, focusAfter) {
  const dialog = document.getElementById("zoom");
  let number = start;
  let view = { scale: 1, x: 0, y: 0 };
  let picture = null;
  const canvas = h("canvas", { tabindex: "0", role: "img" });
  const title = h("h2", { id: "zoom-title", style: "margin:0" });
  const info = h("p", { class: "quiet small num", "aria-live": "polite", style: "margin:8px 0 0;min-height:1.5em" });
  const mask = () => run.masks[number];

  const fit = () => Math.min(canvas.clientWidth / mask().cols, canvas.clientHeight / mask().rows) * 0.96;
  const home = () => {
    const scale = fit();
    view = { scale, x: (canvas.clientWidth - scale * mask().cols) / 2, y: (canvas.clientHeight - scale * mask().rows) / 2 };
  };
  const paint = () => {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = canvas.clientWidth * ratio;
    canvas.height = canvas.clientHeight * ratio;
    const context = canvas.getContext("2d");
    context.imageSmoothingEnabled = false;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.drawImage(picture, view.x, view.y, view.scale * mask().cols, view.scale * mask().rows);
    if (view.scale >= 9) {
      context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--paper");
      context.lineWidth = 1;
      context.beginPath();
      for (let col = 0; col <= mask().cols; ++col) context.rect(view.x + col * view.scale, view.y, 0, mask().rows * view.scale);
      for (let row = 0; row <= mask().rows; ++row) context.rect(view.x, view.y + row * view.scale, mask().cols * view.scale, 0);
      context.stroke();
    }
    canvas.dataset.scale = view.scale.toFixed(3);
  };
  const zoom = (factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) => {
    const scale = Math.min(64, Math.max(fit() / 2, view.scale * factor));
    view = { scale, x: x - ((x - view.x) * scale) / view.scale, y: y - ((y - view.y) * scale) / view.scale };
    paint();
  };
  const move = (x, y) => {
    view.x += x;
    view.y += y;
    paint();
  };
  const open = (index) => {
    number = (index + run.masks.length) % run.masks.length;
    picture = h("canvas");
    drawn(picture, mask(), mode);
    title.textContent = mask().layer;
    const text = `${mask().rows} × ${mask().cols} ${mask().merged > 1 ? `cells of ${mask().merged}×${mask().merged} blocks` : "blocks"} of ${mask().block.join("×")} weights; ${layerText(run, mask().layer)}`;
    canvas.setAttribute("aria-label", `Blocks of ${mask().layer}: ${text}`);
    info.textContent = `${text}. Inputs run down, outputs across.`;
    home();
    paint();
  };

  const keys = { "+": () => zoom(1.5), "=": () => zoom(1.5), "-": () => zoom(1 / 1.5), 0: () => { home(); paint(); },
    ArrowLeft: () => move(60, 0), ArrowRight: () => move(-60, 0), ArrowUp: () => move(0, 60), ArrowDown: () => move(0, -60),
    PageDown: () => open(number + 1), PageUp: () => open(number - 1) };
  dialog.onkeydown = (event) => {
    if (!(event.key in keys) || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
  };
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });
  let last = null;
  canvas.addEventListener("pointerdown", (event) => { last = event; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointerup", () => { last = null; });
  canvas.addEventListener("pointermove", (event) => {
    if (last) {
      move(event.clientX - last.clientX, event.clientY - last.clientY);
      last = event;
      return;
    }
    const box = canvas.getBoundingClientRect();
    const col = Math.floor((event.clientX - box.left - view.x) / view.scale);
    const row = Math.floor((event.clientY - box.top - view.y) / view.scale);
    if (col >= 0 && row >= 0 && col < mask().cols && row < mask().rows) info.textContent = describe(run, mask(), row * mask().cols + col);
  });
  const button = (label, text, action) => h("button", { type: "button", "aria-label": label, title: label, onclick: action }, text);
  dialog.replaceChildren(
    h("div", { class: "row" }, title, h("span", { style: "flex:1" }),
      run.masks.length > 1 && button("Layer before", "‹", () => open(number - 1)), run.masks.length > 1 && button("Next layer", "›", () => open(number + 1)),
      button("Zoom out", "−", () => zoom(1 / 1.5)), button("Zoom in", "+", () => zoom(1.5)), button("Fit the whole layer", "fit", () => { home(); paint(); }),
      button("Close", "close", () => dialog.close())),
    h("div", { class: "stage" }, canvas), info,
    h("p", { class: "quiet small", style: "margin:0" }, "Wheel or + and − zoom, arrows or dragging move, 0 shows all, Page Up and Page Down change the layer, Esc closes."));
  const resized = () => { home(); paint(); };
  addEventListener("resize", resized);
  dialog.onclose = () => {
    removeEventListener("resize", resized);
    // Told a moment after the browser gave the focus back; by then the reader may have moved on.
    if (document.activeElement === document.body) focusAfter.focus();
  };
  dialog.showModal();
  open(start);
  canvas.focus();
}

export function maskSection(run) {
  const text = "Each square is a block of the weight matrix; inputs run down, outputs across. Choose a layer to enlarge it.";
  if (run.headline.layers_pruned === 0) return null;
  if (run.masks.length === 0) {
    const why = run.masks_left_out ? "Left out of a report on many runs; make one of this run alone to see them." : "No blocks were chosen yet.";
    return section("masks", "Kept blocks", why);
  }
  const valued = run.masks.some((mask) => mask.low != null);
  let mode = "kept";
  const legend = h("div", {}, legendOf(run, mode));
  const canvases = [];
  const items = run.masks.map((mask, index) => {
    const shape = run.masks.length <= 3 ? Math.min(2, Math.max(1, mask.cols / mask.rows)) : 1;
    const canvas = h("canvas", { "aria-hidden": "true", style: `aspect-ratio:${shape}` });
    canvases.push(canvas);
    const open = h("button", { type: "button", class: "mask", onclick: () => zoomed(run, index, mode, open) },
      canvas, h("span", { style: "margin-top:6px;font-weight:600" }, mask.layer), h("span", { class: "quiet small num" }, layerText(run, mask.layer), h("span", { class: "unseen" }, "; enlarge")));
    return h("li", {}, open);
  });
  // Drawn when they come near the screen, or all before printing.
  const waiting = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      waiting.unobserve(entry.target);
      drawn(entry.target, run.masks[canvases.indexOf(entry.target)], mode);
    }
  }, { rootMargin: "300px" });
  const again = (all) => {
    canvases.forEach((canvas, i) => {
      if (all || canvas.dataset.drawn) drawn(canvas, run.masks[i], mode);
    });
  };
  const buttons = ["kept", "values"].map((name) =>
    h("button", { type: "button", "aria-pressed": String(name === mode), onclick: () => {
      mode = name;
      buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(["kept", "values"][i] === mode)));
      legend.replaceChildren(legendOf(run, mode));
      again(false);
    } }, name === "kept" ? "kept or dropped" : valueName(run)));
  const element = section("masks", "Kept blocks", text,
    h("div", { class: "row" }, valued && h("div", { class: "switch no-print", role: "group", "aria-label": "What the colours show" }, buttons), legend),
    h("ul", { class: run.masks.length <= 3 ? "masks few" : "masks" }, items));
  element.draw = () => canvases.forEach((canvas) => waiting.observe(canvas));
  element.redraw = (paper) => {
    printing = paper;
    again(paper);
  };
  return element;
}
