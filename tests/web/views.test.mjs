// Every view, on jobs that together show all of them: fits, says what it is, is accessible, and logs nothing to the console.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { before } from "node:test";
import { contrast, parsed } from "./colour.mjs";
import { FULL, full, grave, listed, merge, moduleOf, open, realJob, SEED, seldom, sweep, synth, tablesIn, test, text, THEMES, tmerge, trace, WIDTHS } from "./page.mjs";

const small = { steps: 2, layers: 4 }, jobs = {};
const call = (name, ts, dur, id) => ({ ph: "X", cat: "python_function", name, pid: 1, tid: 1, ts, dur, args: { "Python id": id } });
before(() => {
  jobs.real = realJob();
  jobs.many = merge("many", synth("sixty-four", { ranks: 64, ranks_per_host: 8, steps: 4, slow_rank: 20, slow_factor: 1.3 }));
  jobs.pipeline = merge("pipeline", synth("pipeline-traces", { ranks: 4, pp: 2, microbatches: 3, ...small }));
  jobs.compiled = merge("compiled", synth("compiled-traces", { ranks: 4, format: "xplane", ...small }));
  jobs.stack = stuck("stack", trace("stack_rank_0.json", [call("f", 0, 100, 1), call("g", 10, 50, 2)]));
  jobs.dumps = stuck("dumps");
});

/* Rank 1 has not reached the second all_reduce: a store with flight recorder dumps and what RAS reports, and its page. */
function stuck(name, ...traced) {
  const entry = (n) => ({ record_id: n, frames: [{ name: "step", filename: "/home/me/train.py", line: 10 }], process_group: ["0", "default_pg"], collective_seq_id: n, p2p_seq_id: 0, profiling_name: "nccl:all_reduce", time_created_ns: 1_700_000_000_000_000_000 + n * 1000,
    state: n > 1 ? "started" : "completed", retired: n === 1, input_sizes: [[4]], input_dtypes: ["Float"], output_sizes: [[4]], output_dtypes: ["Float"], is_p2p: false });
  for (const rank of [0, 1]) writeFileSync(`trace_rank_${rank}`, JSON.stringify({ version: "2.10", pg_config: { 0: { name: "0", desc: "default_pg", ranks: "[0, 1]" } }, pg_status: {}, entries: rank === 0 ? [entry(1), entry(2)] : [entry(1)] }));
  const member = (rank) => ({ rank, host: "10.137.190.124", pid: 323032 + rank, cuda_dev: rank, nvml_dev: rank, status: { init_state: 0, async_error: 0 }, collective_counts: { ReduceScatter: 2 - rank } });
  writeFileSync("ras.json", JSON.stringify({ nccl_version: "2.30.4", communicators_count: 1, communicators: [{ hash: "0x6c1f4a9d2b7e8305", size: 2, ranks: [member(0), member(1)], missing_ranks: [] }] }));
  const job = { store: `${name}.h5`, page: `${name}.html` };
  tmerge("hang", "trace_rank_0", "trace_rank_1", "ras.json", ...traced, "-o", job.store);
  tmerge("report", job.store, "-o", job.page);
  return job;
}

/* Faults of the view shown: each list must be empty. Runs in the page. */
function faults() {
  const shown = (selector) => [...document.querySelectorAll(selector)].filter((e) => e.offsetParent !== null);
  const words = (all) => all.map((e) => e.outerHTML.slice(0, 120)), box = (e) => e.getBoundingClientRect(), roomy = innerWidth >= 800;
  const link = document.querySelector("nav.rail [aria-current]"), [own, rail] = [box(link), box(link.closest("nav"))];
  const levels = [...document.querySelectorAll("main h1, main h2, main h3, main h4")].map((e) => Number(e.tagName[1]));
  const ticks = [...document.querySelectorAll(".stack.axis")].map((axis) => [...axis.querySelectorAll(".tick")].map((e) => [parseFloat(e.style.left), Number(e.textContent.replaceAll("\u202f", ""))]));
  return {
    "tables that have no room": roomy && !location.hash.startsWith("#tables") ? words(shown(".grid-scroll").filter((e) => e.scrollWidth > e.clientWidth)) : [],
    "texts that are squeezed": roomy ? words(shown("td").filter((e) => e.clientHeight > 150)) : [],
    "names that run out of their cells": words(shown("td .name, .row-label").filter((e) => box(e).right > box(e.parentElement.closest("td, div")).right + 1)),
    "links of views out of sight": own.left >= rail.left - 1 && own.right <= rail.right + 1 ? [] : [link.textContent],
    "ticks at a wrong place": ticks.flatMap((of) => of.slice(2).filter(([at, value]) => Math.abs(value / of[1][1] / (at / of[1][0]) - 1) >= 1e-3)),
    "headings out of order": levels.filter((level, i) => (i === 0 ? level !== 1 : level > levels[i - 1] + 1)),
    "landmarks": ["header", "nav", "main"].filter((name) => document.querySelectorAll(`body > ${name}, .frame > ${name}`).length !== 1),
    /* except links in running text */
    "targets of less than 24 pixels": words(shown("a[href], button, input, select, summary, .cell[tabindex]").filter((e) => !e.closest("p, td, dd, .instance-words, .note") && !e.classList.contains("skip"))
      .filter((e) => box(e).height < 23.99 || (box(e).width < 23.99 && !e.classList.contains("cell")))),
    "what moves, though that is not wanted": words([...document.querySelectorAll("body *")].filter((e) => { const s = getComputedStyle(e); return /[1-9]/.test(s.transitionDuration) || s.animationName !== "none" || s.scrollBehavior === "smooth"; })),
  };
}

/* Text and background colours, with an element for each pair. Runs in the page. */
function grounds() {
  const found = new Map();
  for (const e of document.querySelectorAll("body *")) {
    if (e.offsetParent === null || ![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
    let ground = e;
    while (ground && getComputedStyle(ground).backgroundColor === "rgba(0, 0, 0, 0)") ground = ground.parentElement;
    found.set(`${getComputedStyle(e).color} on ${ground ? getComputedStyle(ground).backgroundColor : "rgb(255, 255, 255)"}`, e.outerHTML.slice(0, 100));
  }
  return [...found];
}

/* Column and table names in prose, except in commands. Runs in the page. */
function namesOfData(names) {
  const isName = (word) => names.includes(word);
  const texts = [...document.querySelectorAll("main h1, main h2, main h3, main p, main th, main dt, main dd, main li, main label, main button, main summary")].flatMap((e) => {
    const own = e.cloneNode(true);
    for (const code of own.querySelectorAll("code")) code.remove();
    const dotted = [...own.textContent.matchAll(/(?<!tmerge show )(?<![\w.])[a-z]+\.[a-z_]+/g)], plain = [...e.textContent.matchAll(/[a-z][a-z0-9]*(?:_[a-z0-9]+)+/g)];
    return [...dotted, ...plain].map(([word]) => word);
  });
  const labels = [...document.querySelectorAll("main [aria-label]")].flatMap((e) => e.getAttribute("aria-label").match(/[a-z][\w.]*\w/g) ?? []);
  return [...texts, ...labels].filter(isName);
}

/* Checks that everything focusable has a name. */
async function named(page, client, what) {
  const { nodes } = await client.send("Accessibility.getFullAXTree");
  const focusable = nodes.filter((node) => !node.ignored && node.properties?.some((p) => p.name === "focusable" && p.value.value));
  assert.ok(focusable.length > 8, `${what}: ${focusable.length}`);
  const nameless = focusable.filter((node) => node.role.value !== "RootWebArea" && node.role.value !== "main" && !node.name?.value?.trim());
  assert.deepEqual(nameless.map((node) => node.role.value), [], `${what}: without a name`);
}

/* Axe checks each view once per theme and width. */
const looked = new Set();

async function everyView(t, name, { theme, width, ...more }) {
  if (jobs[name] === null) return t.skip("no real traces");
  const { page } = await open(jobs[name].page, { theme, width, ready: null, ...more });
  await page.waitForSelector("body[data-ready]");
  const { tables } = tablesIn(text(jobs[name].page)), columns = new Set(Object.values(tables).flatMap((table) => table.columns.map(([column]) => column)).filter((column) => column.includes("_")));
  assert.ok(columns.has("host_bound_pct") && columns.size > 100 && "overlap.rank" in tables, "the names were found");
  await page.emulateMedia({ reducedMotion: "reduce" });
  const client = await page.context().newCDPSession(page), views = await listed(page), lost = new Set();
  assert.ok(views.length >= 6, `views: ${views}`);
  await sweep(page, async (view) => {
    const what = `${view}, ${theme}, ${width}`, found = await page.evaluate(faults);
    assert.deepEqual(found, Object.fromEntries(Object.keys(found).map((each) => [each, []])), what);
    const pairs = await page.evaluate(grounds), seen = FULL ? `${view} ${theme} ${width}` : view;
    assert.ok(pairs.length > 4, what);
    for (const [pair, where] of pairs) assert.ok(contrast(...pair.split(" on ").map(parsed)) >= 4.495, `${what}: ${pair}: ${where}`);
    if (!view.startsWith("tables")) assert.deepEqual(await page.evaluate(namesOfData, [...columns, ...Object.keys(tables)]), [], `${what}: names of data`); // the tables view shows them on purpose
    await named(page, client, what);
    for (const link of await page.$$eval("main a[href]", (all) => all.map((a) => a.getAttribute("href")))) if (!views.includes(link.slice(1).split("/")[0])) lost.add(`${view}: ${link}`);
    if (looked.has(seen)) return;
    looked.add(seen);
    if (view === "timeline") await page.waitForSelector('body[data-timeline="complete"]');
    assert.deepEqual(await grave(page), [], what);
  }, [...views, "tables/name=job.rank"]);
  assert.deepEqual([...lost], [], "links to views that are not there");
}

/* The landing set runs each job in one of these, so that each theme and width is covered. */
const SOME = { real: [SEED % 2 ? "light 1920" : "dark 390"], many: ["dark 1280"], pipeline: ["light 1280"], compiled: ["dark 800"], stack: ["light 390"] };
for (const [job, some] of Object.entries(SOME))
  for (const theme of THEMES)
    for (const width of WIDTHS)
      (some.includes(`${theme} ${width}`) ? test : full)(`every view of the job ${job}, ${theme}, ${width} px`, (t) => everyView(t, job, { theme, width }));
seldom("every view where the page is enlarged to 200 %", (t) => everyView(t, "many", { theme: "dark", width: 720, height: 450, scale: 2 }));

test("dumps without traces have a page of two views", async () => {
  const { page } = await open(jobs.dumps.page, { width: 800, ready: "hang" });
  assert.deepEqual(await listed(page), ["hang", "tables"]);
  assert.match(await page.textContent("h1"), /rank 1 has not come to all_reduce, number 2/);
  const found = await page.evaluate(faults);
  assert.deepEqual(found, Object.fromEntries(Object.keys(found).map((each) => [each, []])));
  assert.deepEqual(await page.$$eval(".grid-scroll[data-of='hang.rank'] tbody tr td:first-child", (all) => all.map((e) => e.textContent.trim())), ["1", "0"], "who is named comes first");
});

test("these are all views", async () => {
  const { reportTabs, reportViews } = await moduleOf("views/index.ts");
  assert.ok(reportTabs.length <= 13 && new Set(reportTabs.map(({ group }) => group).filter(Boolean)).size === 4, "more entries in the list than can be looked over");
  assert.deepEqual(reportViews.map(({ id }) => id).filter((id) => id !== "sql" /* serve.test.mjs */ && ![...looked].some((each) => each.split(" ")[0] === id)), [], "views that no job has");
});

test("the page that a merge writes is the one that tmerge report makes", () => {
  const job = merge("two-ranks", synth("two", { ranks: 2, steps: 2 }));
  tmerge("report", job.store, "-o", "again.html");
  assert.equal(text(job.page), text("again.html"));
  assert.ok(!/(src|href)\s*=\s*["']?https?:/i.test(text(job.page)), "an address of the web in it");
});
