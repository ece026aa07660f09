// Bundles the page into one HTML file and writes it as a C++ source: node build.mjs NODE_MODULES OUTPUT
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";

const [modules, output] = process.argv.slice(2);
const { build } = createRequire(path.join(path.resolve(modules), "x.js"))("esbuild");
const source = path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), "src");

async function bundled(entry) {
  const result = await build({
    entryPoints: [path.join(source, entry)],
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2020",
    legalComments: "none",
    charset: "utf8",
    nodePaths: [path.resolve(modules)],
    write: false,
  });
  return result.outputFiles[0].text;
}

const script = (await bundled("main.js")).replaceAll("</script", "<\\/script");
const style = await bundled("style.css");
const html = (await readFile(path.join(source, "index.html"), "utf8"))
  .replace("/*STYLE*/", () => style)
  .replace("/*SCRIPT*/", () => script);

// Compilers read long text fastest as string literals; short ones keep within what they promise to take.
const bytes = Buffer.from(html, "utf8");
const lines = [];
for (let begin = 0; begin < bytes.length; begin += 4000) {
  let text = "";
  for (const byte of bytes.subarray(begin, begin + 4000)) {
    const plain = byte >= 32 && byte < 127 && byte !== 34 && byte !== 92 && byte !== 63;
    text += plain ? String.fromCharCode(byte) : "\\" + byte.toString(8).padStart(3, "0");
  }
  lines.push(`    "${text}"`);
}
await writeFile(
  output,
  `// Made by web/build.mjs.
#include "hewn/report/embedded_page.h"

namespace hewn::report {

std::string_view embedded_page() {
  static const char text[] =
${lines.join("\n")};
  return {text, sizeof text - 1};
}

}  // namespace hewn::report
`,
);
