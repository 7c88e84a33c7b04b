// Makes the pictures of the documents again: node make.mjs TMERGE MODULES TRACE...
//
// TMERGE is the program. MODULES is the folder in which playwright-core is installed: node_modules in the build's folder web. The traces
// are of a job with a few ranks. The environment variable CHROMIUM names the browser.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [tmerge, modules, ...traces] = process.argv.slice(2);
const { chromium } = createRequire(join(modules, "package.json"))("playwright-core");
const here = dirname(fileURLToPath(import.meta.url)), BYTES_MOST = 100_000;
const WORST = "main section:has(h2:text-is('The operations with the most waiting')) a[href^='#timeline']";

const folder = mkdtempSync(join(tmpdir(), "pictures-")), name = basename(dirname(traces[0]));
const page = join(folder, `${name}.html`);
execFileSync(tmerge, ["merge", ...traces, "-o", join(folder, `${name}.h5`), "--html", page, "--progress=never"], { stdio: "ignore" });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });

async function picture(file, theme, find) {
  const tab = await (await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: theme })).newPage();
  await tab.goto(`file://${page}`);
  await tab.waitForSelector('body[data-ready="summary"]');
  await find(tab);
  await tab.mouse.move(0, 0);
  const bytes = await asWebp(await tab.screenshot());
  if (bytes.length > BYTES_MOST) throw new Error(`${file} would have ${bytes.length} bytes`);
  writeFileSync(join(here, file), bytes);
  console.log(`${file}: ${bytes.length} bytes`);
}

/* Converts a picture to WebP, which takes a third of the bytes. The browser does this, because it has an encoder. */
async function asWebp(png) {
  const tab = await browser.newPage();
  const url = await tab.evaluate(async (source) => {
    const image = new Image();
    image.src = source;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
    canvas.getContext("2d").drawImage(image, 0, 0);
    return canvas.toDataURL("image/webp", 0.8);
  }, `data:image/png;base64,${png.toString("base64")}`);
  await tab.close();
  return Buffer.from(url.split(",")[1], "base64");
}

await picture("summary.webp", "light", async () => undefined);
await picture("timeline.webp", "dark", async (tab) => {
  await tab.goto(`file://${page}#communication`);
  await tab.waitForSelector('body[data-ready="communication"]');
  await tab.click(WORST);
  await tab.waitForSelector('body[data-timeline="complete"]');
  await tab.waitForTimeout(500); // details are drawn after the lanes
});
await browser.close();
rmSync(folder, { recursive: true });
