// Shared by the tests of the report page: jobs, pages, and a browser.
//
// Environment: the programs TMERGE and TMERGE_SYNTH, TMERGE_WEB (where playwright-core is installed), TMERGE_JOBS
// (real jobs, which may be absent), TMERGE_CHROMIUM; TMERGE_FULL=1 selects the full set.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, test as declare } from "node:test";
import { pathToFileURL } from "node:url";
import { deflateSync, inflateSync } from "node:zlib";

const environment = process.env;
const required = createRequire(join(environment.TMERGE_WEB, "package.json"));
const { chromium } = required("playwright-core");
export const esbuild = required("esbuild");
export const SOURCE = environment.TMERGE_SOURCE;

export const THEMES = ["light", "dark"];
export const WIDTHS = [1920, 1280, 800, 390];

// Tests --------------------------------------------------------------------------------------------

export const FULL = environment.TMERGE_FULL === "1";
export const SEED = Number(environment.TMERGE_SEED ?? 1);

let pages = []; // opened by the running test
let idle = 0; // checks by hangless() since a test last opened a page or view; not time, because a call of tmerge also blocks node's timers

/** Declares a test. Its pages must not have logged to the console, nor requested anything but themselves; a later test reuses them,
 * emptied. A test that opens nothing for this many seconds fails, and the others run in a new browser. */
export function test(name, run, { seconds = 60 } = {}) {
  declare(name, async (t) => {
    let clean = false;
    try {
      await hangless(run(t), seconds);
      for (const { address, noted, loud } of pages) if (!loud) quiet(noted, address);
      clean = true;
    } finally {
      const opened = pages;
      pages = [];
      if ((await within(10, Promise.allSettled(opened.map(({ page, special }) => leave(page, clean && !special))))) === null) abandon();
    }
  });
}

/** A test that runs only in the full set. */
export function full(name, run, limit) {
  if (FULL) test(name, run, limit);
  else declare(name, { skip: "of the full set" });
}

/** A slow test of something that no other test covers: in the landing set it runs with every third seed. */
export function seldom(name, run, limit) {
  ((SEED + name.length) % 3 === 0 ? test : full)(name, run, limit);
}

/** Resolves to the promise's value, or to null after the timeout. */
async function within(seconds, promise) {
  let timer;
  const late = new Promise((done) => { timer = setTimeout(done, 1000 * seconds, null); });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function hangless(running, seconds) {
  let timer;
  idle = 0;
  const hangs = new Promise((_, fail) => {
    timer = setInterval(async () => {
      if (++idle < 2 * seconds) return;
      clearInterval(timer);
      const states = await Promise.all(pages.map(({ page }) => within(2, page.evaluate(() => `${location.href} ${JSON.stringify(document.body.dataset)}`).catch(String))));
      abandon();
      fail(new Error(`hangs: no step for ${seconds} s; its pages: ${states.map((state) => state ?? "no answer").join("; ") || "none"}`));
    }, 500);
  });
  try {
    await Promise.race([running, hangs]);
  } finally {
    clearInterval(timer);
  }
}

// Jobs ---------------------------------------------------------------------------------------------

/** Runs tmerge and returns its output; throws if its exit status is not 0. */
export function tmerge(...parts) {
  return execFileSync(environment.TMERGE, parts.map(String), { encoding: "utf8", maxBuffer: 1 << 30, timeout: 180_000, stdio: ["ignore", "pipe", "pipe"] });
}

/** Generates the traces of a job: { ranks: 8, slow_rank: 3 } means --ranks=8 --slow-rank=3, { sharded: true } means --sharded. */
export function synth(folder, options) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const flags = Object.entries(options).map(([name, value]) => `--${name.replaceAll("_", "-")}${value === true ? "" : `=${value}`}`);
  execFileSync(environment.TMERGE_SYNTH, ["-o", folder, ...flags], { timeout: 180_000, stdio: ["ignore", "ignore", "inherit"] });
  return folder;
}

/** Merges traces into NAME.h5 and NAME.html: { store, page }. */
export function merge(name, traces, ...options) {
  const job = { store: `${name}.h5`, page: `${name}.html` };
  tmerge("merge", ...[traces].flat(), "-o", job.store, "--html", job.page, ...options);
  return job;
}

const servers = [];

/** Serves a store; returns the address and the process. */
export async function serve(store) {
  const server = spawn(environment.TMERGE, ["serve", store], { stdio: ["ignore", "pipe", "inherit"] });
  servers.push(server);
  const url = await within(60, new Promise((done, fail) => {
    let said = "";
    server.stdout.on("data", (part) => { if (/http:\S+\/\n/.test((said += part))) done(/http:\S+\//.exec(said)[0]); });
    server.on("exit", () => fail(new Error(`tmerge serve ${store} ended: ${said}`)));
  }));
  assert.ok(url, `tmerge serve ${store} does not start`);
  return { url, server };
}

/** A real job and its page, made once for all tests (tests/cli/jobs.py); null if there is none. */
export function realJob() {
  const name = join(environment.TMERGE_JOBS ?? "", "nanogpt8");
  return existsSync(`${name}.h5`) ? { store: `${name}.h5`, page: `${name}.html` } : null;
}

/** Tables of a store, as tmerge show --json prints them: rows by table name; "hlo.work/op" is the rows of a level. */
export function show(store, ...names) {
  const { tables } = JSON.parse(tmerge("show", store, ...new Set(names.map((name) => name.split("/")[0])), "--json"));
  const level = (name, word) => [`${name}/${word}`, tables[name].rows.filter((row) => row.level === word)];
  return Object.fromEntries([
    ...Object.entries(tables).map(([name, table]) => [name, table.rows]),
    ...names.filter((name) => name.includes("/")).map((name) => level(...name.split("/"))),
  ]);
}

/** Writes a trace as the profiler does: events with ts and dur in microseconds. */
export function trace(path, events, more = {}) {
  writeFileSync(path, JSON.stringify({ schemaVersion: 1, baseTimeNanoseconds: 1_700_000_000_000_000_000, ...more, traceEvents: events }));
  return path;
}

/** A kernel on a stream of GPU 0. */
export function kernel(name, ts, dur, args = {}, stream = 7) {
  return { ph: "X", cat: "kernel", name, pid: 0, tid: stream, ts, dur, args: { device: 0, stream, ...args } };
}

// Pages --------------------------------------------------------------------------------------------

let browser;
let spares = []; // pages reusable by later tests: a new page costs as much time as many views

async function launched() {
  browser ??= await chromium.launch({
    executablePath: environment.TMERGE_CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  return browser;
}

/* Drops a browser that may hang; Playwright ends it with this process at the latest. */
function abandon() {
  browser?.close().catch(() => {});
  browser = undefined;
  spares = [];
}

after(async () => {
  for (const server of servers) server.kill("SIGKILL");
  if (browser) await within(10, browser.close());
  setTimeout(() => process.exit(), 2000).unref(); // even if a hung test still waits for something
});

async function newPage(scale, init) {
  const context = await (await launched()).newContext({ deviceScaleFactor: scale, acceptDownloads: true });
  if (init) await context.addInitScript(init);
  return context.newPage();
}

/* Closes a page, or resets it for reuse. */
async function leave(page, again) {
  if (!again || page.context().pages().length > 1) return page.context().close();
  page.removeAllListeners();
  await page.context().unrouteAll();
  await page.unrouteAll();
  await page.evaluate(() => localStorage.clear());
  await page.goto("about:blank");
  for (const key of ["Shift", "Control"]) await page.keyboard.up(key);
  await page.mouse.move(0, 0);
  await page.emulateMedia({ media: null, reducedMotion: null, forcedColors: null });
  if (page.context().browser() === browser) spares.push(page);
}

/** Opens a page from disk or by address; unless it is `loud`, console output fails the test. */
export async function open(path, { hash = "", theme = "light", width = 1440, height = 900, scale = 1, ready, init, loud = false } = {}) {
  idle = 0;
  const special = init !== undefined || scale !== 1, noted = { console: [], requests: [] }, address = path.startsWith("http") ? path : pathToFileURL(path).href;
  const page = (special ? undefined : spares.pop()) ?? (await newPage(scale, init));
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: theme });
  const note = (words) => noted.console.push(`${words} at ${page.url()}`);
  pages.push({ page, noted, address, loud, special });
  page.on("console", (message) => note(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => note(`error: ${error.message}`));
  page.on("request", (request) => noted.requests.push(request.url()));
  inOneStep(page);
  await page.goto(`${address}${hash}`);
  if (ready !== null) await viewed(page, ready ?? (hash.slice(1).split("/")[0] || "summary"));
  return { page, noted };
}

/** Returns a function that declares tests run on the page of every job, or in the landing set on one job, in turn. */
export function testsOf(jobs, declared = test) {
  let turn = 0;
  return (name, options, check) => {
    const place = turn++;
    declared(name, async () => {
      for (const job of FULL ? jobs : [jobs[place % jobs.length]]) {
        const { page } = await open(job.page, options);
        await check(page, job);
      }
    });
  };
}

/** Playwright lists the elements in one call and reads them in the next. The page may redraw in between, and the style of a removed
 * element is empty. This does both in one call. */
function inOneStep(page) {
  page.$$eval = (selector, use, more) => page.evaluate(`(${use})([...document.querySelectorAll(${JSON.stringify(selector)})], ${JSON.stringify(more)})`);
}

/** Waits until a view is drawn. */
export async function viewed(page, view) {
  await page.waitForSelector(`body[data-ready="${view}"]`);
  idle = 0;
}

/** Goes to an address in the page and waits for the frame that draws it; until then data-detail and data-slowness are those of the
 * previous place. */
export async function visit(page, hash) {
  await page.evaluate((h) => {
    if (location.hash === h) return; // the page would not redraw
    document.body.removeAttribute("data-ready");
    location.hash = h;
  }, hash);
  await viewed(page, hash.slice(1).split("/")[0]);
  await drawn(page);
}

/** Waits until the next frame is drawn, in which the page's data attributes may change. */
export async function drawn(page) {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/** The views in the list, by their names in the address. */
export async function listed(page) {
  return page.$$eval("nav.rail a", (anchors) => anchors.flatMap((a) => a.dataset.views.split(" ")));
}

/** Checks that nothing was logged to the console and nothing requested except from the page itself and its server. */
function quiet(noted, address) {
  assert.deepEqual(noted.console, [], "console");
  const own = (url) => /^(blob|data):/.test(url) || url.split("#")[0] === address || (address.startsWith("http") && url.startsWith(address));
  assert.deepEqual(noted.requests.filter((url) => !own(url)), [], `requests beside ${address}`);
}

/* Visits views one by one and returns the faults found; window.probe may find more. Runs in the page. */
async function goThrough(views) {
  const wrong = [];
  for (const view of views) {
    await new Promise((done) => {
      if (location.hash === `#${view}`) return done();
      document.body.removeAttribute("data-ready");
      new MutationObserver((_, observer) => {
        if (document.body.dataset.ready !== view.split("/")[0]) return;
        observer.disconnect();
        done();
      }).observe(document.body, { attributes: true });
      location.hash = `#${view}`;
    });
    const headings = document.querySelectorAll("h1").length, over = document.documentElement.scrollWidth - innerWidth;
    if (headings !== 1) wrong.push(`${view}: ${headings} headings`);
    if (over > 0) wrong.push(`${view}: ${over} px too wide`);
    if (window.probe?.()) wrong.push(`${view}: ${window.probe()}`);
    const words = (view.startsWith("tables") ? /\b(NaN|Infinity|undefined)\b.{0,40}/ : /\b(NaN|Infinity|undefined|null)\b.{0,40}/).exec(document.querySelector("main").textContent);
    if (words) wrong.push(`${view}: ${words[0]}`);
    wrong.push(...[...document.querySelectorAll("main p.empty")].filter((e) => e.textContent.includes("cannot be")).map((e) => `${view}: ${e.textContent}`));
  }
  return wrong;
}

/** Visits all listed views, or some: each must be drawn, have one heading and scroll in one direction only; `check` may check more. */
export async function sweep(page, check, views) {
  const all = views ?? (await listed(page)), { width } = page.viewportSize();
  for (const part of check ? all.map((view) => [view]) : [all]) {
    assert.deepEqual(await page.evaluate(goThrough, part), [], `at ${width} px`);
    idle = 0;
    await check?.(part[0]);
  }
}

/** Whether the number in a text, in any unit of time, equals the value up to rounding. */
export function closeTo(text, value) {
  if (value === null) return text === "–";
  const match = /(−?)([\d\u202f]+(?:\.\d+)?)\s*(ns|µs|ms|s|%)?/.exec(text);
  if (!match) return false;
  const digits = (match[2].split(".")[1] ?? "").length;
  const number = Number(match[2].replaceAll("\u202f", "")) * (match[1] ? -1 : 1);
  const units = match[3] && match[3] !== "%" ? [{ ns: 1, "µs": 1e3, ms: 1e6, s: 1e9 }[match[3]]] : [1, 1e3, 1e6, 1e9];
  return units.some((unit) => Math.abs(number - value / unit) <= 0.5000001 * 10 ** -digits);
}

/** A module of the page's source, for tests that call it directly. */
export async function moduleOf(path) {
  const built = await esbuild.build({ entryPoints: [join(SOURCE, "tools/web/src", path)], bundle: true, format: "esm", write: false, nodePaths: [join(environment.TMERGE_WEB, "node_modules")] });
  return import(`data:text/javascript;base64,${Buffer.from(built.outputFiles[0].text).toString("base64")}`);
}

/** The JSON of the tables in a page's text or, with @p other, the text with the tables replaced. */
export function tablesIn(file, other) {
  const begin = file.indexOf('id="tables">') + 'id="tables">'.length, end = file.indexOf("</script>", begin);
  if (!other) return JSON.parse(inflateSync(Buffer.from(file.slice(begin, end), "base64")));
  return file.slice(0, begin) + deflateSync(JSON.stringify(other)).toString("base64") + file.slice(end);
}

/** Serious findings of axe: rule and elements of each. */
export async function grave(page) {
  await page.evaluate(text(join(environment.TMERGE_WEB, "node_modules/axe-core/axe.min.js")));
  const { violations, passes } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  assert.ok(passes.length > 10, "axe did not run");
  return violations.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(" ")}`);
}

export function text(path) {
  return readFileSync(path, "utf8");
}
