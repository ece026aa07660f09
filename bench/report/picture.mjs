// The picture in the README: the report of a run, as Chromium shows it.
//   HEWN_PROGRAM=... HEWN_MODULES=... node bench/report/picture.mjs RUN docs/images/report.png
import path from "node:path";
import { pathToFileURL } from "node:url";
import { chromium, findChromium, folder, hewn, openPage } from "../../tests/browser/support.mjs";

const [run, picture] = process.argv.slice(2);
const file = path.join(folder, "report.html");
hewn("report", run, "-o", file);
const browser = await chromium.launch({ executablePath: findChromium(), args: ["--no-sandbox"] });
const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, colorScheme: "light" });
const { page } = await openPage(context, pathToFileURL(file).href);
await page.waitForSelector("html[data-rendered]");
for (const mask of await page.$$(".mask canvas")) await mask.scrollIntoViewIfNeeded();
await page.waitForFunction(() => [...document.querySelectorAll(".mask canvas")].every((canvas) => canvas.dataset.drawn));
// Down to the pictures of the kept blocks.
const end = await page.$eval("#masks", (section) => section.getBoundingClientRect().bottom + scrollY);
await page.screenshot({ path: picture, fullPage: true, clip: { x: 0, y: 0, width: 1200, height: Math.ceil(end) + 16 } });
await browser.close();
