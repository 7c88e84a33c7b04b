// Builds the report page: node build.mjs SOURCE_DIR MODULES_DIR OUTPUT.c [PAGE.html]
//
// The page is one text with four marks. At each mark, tmerge inserts something:
// - an addition to the content security policy, if the page is served;
// - the title;
// - before the program, the tables;
// - after the program, the blocks of data.
// The policy names the program and the style by their hashes, so nothing else runs, whatever the data contain.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { rampStyle } from "./ramps.mjs";

const [source, modules, output, page] = process.argv.slice(2);
const { build } = createRequire(join(modules, "package.json"))("esbuild");

const common = {
  bundle: true,
  minify: true,
  write: false,
  metafile: true,
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
  nodePaths: [modules],
  target: ["chrome90", "firefox113", "safari16.4"],
};

const packages = new Set();

async function bundle(entry, more) {
  const result = await build({ ...common, ...more, entryPoints: [join(source, "src", entry)] });
  for (const input of Object.keys(result.metafile.inputs)) {
    const [, name] = /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(input) ?? [];
    if (name) packages.add(name);
  }
  return result.outputFiles[0].text.trim();
}

/* Returns the notices that a library's licences require: the complete text of its licence files. */
function noticesOf(name) {
  const folder = join(modules, name), { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const files = [".", "licenses"].filter((part) => existsSync(join(folder, part))).flatMap((part) => readdirSync(join(folder, part)).sort().map((file) => join(part, file)));
  const texts = files.filter((file) => /^(licenses[\\/])?(licen[cs]e|notice|copying|copyright)/i.test(file) && !/\.(js|ts)$/.test(file)).filter((file) => file !== "licenses")
    .map((file) => readFileSync(join(folder, file), "utf8").replaceAll("\r\n", "\n").trim());
  if (texts.length === 0) throw new Error(`${name} has no licence beside it`);
  return `${name} ${version}\n\n${texts.join("\n\n")}`;
}

const script = await bundle("main.ts", { format: "iife" });
const rules = await bundle("style.css");
const dark = /:root\[data-theme=dark\]\{([^}]*)\}/.exec(rules);
if (!dark) throw new Error("style.css has no dark colours");
const preferred = `@media screen and (prefers-color-scheme:dark){:root:not([data-theme=light]){${dark[1]}}}`;
const style = rules + preferred + rampStyle();
const notices = packages.size === 0 ? "The program of this page holds no library." : [...packages].sort().map(noticesOf).join(`\n\n${"-".repeat(80)}\n\n`);
for (const [text, end] of [[script, "</script"], [style, "</style"], [notices, "</script"], [notices, "<!--"]])
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
<meta http-equiv="Content-Security-Policy" content="${policy}`,
  `">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>`,
  `</title>
<style>${style}</style>
</head>
<body>
<noscript>This report needs JavaScript; it loads nothing from outside.</noscript>
<p class="unopened">This report was cut short: its program is missing.</p>
<script type="application/octet-stream" id="tables">`,
  `</script>
<script>${script}</script>
`,
  `<script type="text/plain" id="licences">${notices}</script>
</body>
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

const names = ["head", "title", "body", "program", "end"];
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
