// Numbers as people read them.

export const percent = (share, digits = 1) => (share == null ? "–" : `${(100 * share).toFixed(digits)}\u00a0%`);

export const whole = (value) => (value == null ? "–" : Math.round(value).toLocaleString("en-GB"));

export function bytes(value) {
  if (value == null) return "–";
  const units = ["B", "KiB", "MiB", "GiB"];
  let unit = 0;
  while (value >= 1023.5 && unit < units.length - 1) {
    value /= 1024;
    ++unit;
  }
  return `${unit === 0 ? value : value.toPrecision(value < 999.5 ? 3 : 4)}\u00a0${units[unit]}`;
}

// 1.57e6 -> "1.57 M"
export function count(value) {
  if (value == null) return "–";
  const units = ["", "\u00a0K", "\u00a0M", "\u00a0G", "\u00a0T"];
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    ++unit;
  }
  return `${unit === 0 ? Math.round(value) : value.toPrecision(3)}${units[unit]}`;
}

export const milliseconds = (value) =>
  value == null ? "–" : `${value < 10 ? value.toPrecision(3) : value.toFixed(1)}\u00a0ms`;

export const times = (value) => (value == null ? "–" : `${value.toFixed(value < 10 ? 2 : 1)}×`);

export function clock(seconds) {
  if (seconds == null) return "–";
  const all = Math.round(seconds);
  const two = (value) => String(value).padStart(2, "0");
  const hours = Math.floor(all / 3600);
  const rest = `${two(Math.floor((all % 3600) / 60))}:${two(all % 60)}`;
  return hours > 0 ? `${hours}:${rest}` : rest.replace(/^0/, "");
}

// What the metrics were taken on.
export const heldOut = (run) => (run.options["eval-on"] === "validation" ? "Validation" : "Test");

export const metric = (name, value) =>
  value == null ? "–" : name === "accuracy" ? `${value.toFixed(2)}\u00a0%` : name === "rmse" ? String(Number(value.toPrecision(5))) : value.toFixed(4);

// Click logs are judged by their loss, text by its bits per character, classes by their accuracy, numbers by their root mean squared error.
export const mainMetric = (metrics) =>
  "auc" in metrics ? "loss" : ["bpc", "accuracy", "rmse"].find((name) => name in metrics) ?? Object.keys(metrics)[0];

// "mnist:/a/b" -> "mnist"
export const withoutPaths = (text) => String(text).replace(/:[^\s]*/g, "");

export const digits = (value) => Number(value.toPrecision(3)).toString();
