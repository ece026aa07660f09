// h("p", {class: "quiet"}, "text", node, ...): an element. Text is always text, never HTML.
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value == null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(3).filter((child) => child != null && child !== false));
  return element;
}

export const section = (id, title, text, ...children) =>
  h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), text && h("p", { class: "quiet" }, text), children);

// A table that may be wider than the page: its frame scrolls, also by keyboard.
export const scrolled = (label, table, tall = false) =>
  h("div", { class: tall ? "scroll tall" : "scroll", role: "region", tabindex: "0", "aria-label": label }, table);

export const legend = (items) =>
  h("ul", { class: "legend" },
    items.map(({ label, colour, stroke, dashed, opacity }) =>
      h("li", {},
        h("i", {
          class: stroke ? "stroke" : null,
          style: stroke
            ? `border-top-color:${colour};border-top-style:${dashed ? "dashed" : "solid"}`
            : `background:${colour};opacity:${opacity ?? 1}`,
        }), label)));
