// Builds the report page: node build.mjs SOURCE_DIR MODULES_DIR OUTPUT.c [PAGE.html]
//
// The page is one text with three marks, at which tmerge puts the title, the tables before the
// program, and the blocks of data behind it. The content security policy names the program and the
// style by their hashes, so whatever the data are, nothing else runs.
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { rampStyle } from "./ramps.mjs";

const [source, modules, output, page] = process.argv.slice(2);
const { build } = createRequire(join(modules, "package.json"))("esbuild");

/* Parts of ECharts that no chart of ours comes to, though its core names them: the dark theme, the
 * options of older versions, axes of dates, patterns, data made of other data, scatters of more
 * than a browser draws one by one. */
const UNUSED = new Map([
  ["theme/dark.js", "export default {};"],
  ["preprocessor/backwardCompat.js", "export default () => {};"],
  ["scale/Time.js", "export default class {}; export const calcNiceForTimeScale = () => {};"],
  ["util/decal.js", "export const createOrUpdatePatternFromDecal = () => null;"],
  ["data/helper/transform.js", "export const registerExternalTransform = () => {}, applyDataTransform = () => {}; export class ExternalSource {}"],
  ["chart/helper/LargeSymbolDraw.js", "export default class {}"],
]);
const met = new Set();
const trimmed = {
  name: "trimmed",
  setup: (made) => made.onLoad({ filter: /[\\/]echarts[\\/]lib[\\/].*\.js$/ }, ({ path }) => {
    const part = path.replaceAll("\\", "/").replace(/.*\/echarts\/lib\//, "");
    if (!UNUSED.has(part)) return undefined;
    met.add(part);
    return { contents: UNUSED.get(part), loader: "js" };
  }),
};

const common = {
  bundle: true,
  minify: true,
  write: false,
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
  nodePaths: [modules],
  plugins: [trimmed],
  target: ["chrome90", "firefox113", "safari16.4"],
};

async function bundle(entry, more) {
  const result = await build({ ...common, ...more, entryPoints: [join(source, "src", entry)] });
  return result.outputFiles[0].text.trim();
}

const script = await bundle("main.ts", { format: "iife" });
for (const part of UNUSED.keys()) if (!met.has(part)) throw new Error(`ECharts has no ${part}`);
const rules = await bundle("style.css");
const dark = /:root\[data-theme=dark\]\{([^}]*)\}/.exec(rules);
if (!dark) throw new Error("style.css has no dark colours");
const preferred = `@media screen and (prefers-color-scheme:dark){:root:not([data-theme=light]){${dark[1]}}}`;
const style = rules + preferred + rampStyle();
for (const [text, end] of [[script, "</script"], [style, "</style"]])
  if (text.toLowerCase().includes(end)) throw new Error(`${end} would end the element`);

const hash = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;
const policy =
  `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; ` +
  `img-src data: blob:; base-uri 'none'; form-action 'none'`;
const parts = [
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="tmerge" content="report">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>`,
  `</title>
<style>${style}</style>
</head>
<body>
<noscript>This report needs JavaScript; it loads nothing from outside.</noscript>
<p class="unopened">This report was cut short: its program is missing.</p>
<script type="application/json" id="tables">
`,
  `</script>
<script>${script}</script>
`,
  `</body>
</html>
`,
];

const bytes = (text) => [...Buffer.from(text, "utf8")];
function array(name, text) {
  const rows = [];
  const all = bytes(text);
  for (let i = 0; i < all.length; i += 32) rows.push(all.slice(i, i + 32).join(",") + ",");
  return `static const unsigned char ${name}[] = {\n${rows.join("\n")}\n};\n`;
}

const names = ["head", "body", "program", "end"];
writeFileSync(
  output,
  `/* Made by tools/web/build.mjs. */
#include "report/built.h"

${parts.map((text, i) => array(names[i], text)).join("\n")}
const tm_built_part tm_built_page[TM_BUILT_PARTS] = {
${names.map((name) => `    {${name}, sizeof ${name}},`).join("\n")}
};
`,
);
if (page) writeFileSync(page, parts.join("<!-- data -->\n"));
const size = parts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
console.log(`report page: ${(size / 1000).toFixed(0)} kB without data`);
