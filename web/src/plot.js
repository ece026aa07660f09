// What the page uses of Observable Plot; the bundler leaves the rest out.
export { plot, lineY, areaY, rect, ruleX, ruleY, dot, tip, text, cell } from "@observablehq/plot";
export { pointerX, pointer } from "@observablehq/plot";
