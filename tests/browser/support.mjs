// Small runs to look at, and a browser to look with.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";

export const { HEWN_PROGRAM, HEWN_MODULES } = process.env;
const require = createRequire(path.join(HEWN_MODULES, "x.js"));
export const { chromium } = require("playwright-core");
export const axePath = require.resolve("axe-core/axe.min.js");

export function findChromium() {
  return [process.env.HEWN_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((one) => one && existsSync(one));
}

export const folder = mkdtempSync(path.join(tmpdir(), "hewn-browser-"));
// Measurements of this machine stay inside the test.
const environment = { ...process.env, XDG_CACHE_HOME: path.join(folder, "cache") };

export const hewn = (...words) => execFileSync(HEWN_PROGRAM, words, { encoding: "utf8", env: environment, stdio: ["ignore", "pipe", "pipe"] });

// Starts hewn and resolves with the process and the first line that it prints.
export function started(...words) {
  const child = spawn(HEWN_PROGRAM, words, { env: environment, stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (piece) => {
      text += piece;
      if (text.includes("\n")) resolve({ child, line: text.split("\n")[0] });
    });
    child.on("exit", (code) => reject(new Error(`hewn ended with ${code}`)));
  });
}

// A data set in MNIST's format that can be learned: each class lights up its own rows.
export function tinyMnist(train, test) {
  const place = path.join(folder, "data");
  mkdirSync(place, { recursive: true });
  const part = (name, count) => {
    const images = Buffer.alloc(16 + count * 784);
    images.writeUInt32BE(0x803, 0);
    [count, 28, 28].forEach((value, i) => images.writeUInt32BE(value, 4 + 4 * i));
    const labels = Buffer.alloc(8 + count);
    labels.writeUInt32BE(0x801, 0);
    labels.writeUInt32BE(count, 4);
    for (let i = 0; i < count; ++i) {
      const label = (i * 7) % 10;
      labels[8 + i] = label;
      for (let pixel = 0; pixel < 784; ++pixel) {
        const lit = Math.floor(pixel / 78) === label ? 150 : 20;
        images[16 + i * 784 + pixel] = lit + ((i * 31 + pixel * 17) % 90);
      }
    }
    writeFileSync(path.join(place, `${name}-images-idx3-ubyte`), images);
    writeFileSync(path.join(place, `${name}-labels-idx1-ubyte`), labels);
  };
  part("train", train);
  part("t10k", test);
  return `mnist:${place}`;
}

// Opens a page and keeps a list of everything that should not happen: errors, and requests that leave.
export async function openPage(context, url) {
  const page = await context.newPage();
  const troubles = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") troubles.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => troubles.push(`error: ${error.message}`));
  const own = new URL(url);
  page.on("request", (request) => {
    const asked = new URL(request.url());
    const inside = asked.protocol === "data:" || (asked.protocol === own.protocol && asked.host === own.host);
    if (!inside || (own.protocol === "file:" && asked.pathname !== own.pathname && asked.protocol !== "data:")) troubles.push(`request: ${request.url()}`);
  });
  await page.goto(url);
  await page.waitForSelector("html[data-rendered]");
  return { page, troubles };
}
