// The numbers on Summary, Ranks and Steps equal those of tmerge show --json, and add up.
import assert from "node:assert/strict";
import { before } from "node:test";
import { closeTo, merge, open, realJob, show, synth, tablesIn, test, testsOf, text, visit } from "./page.mjs";

const jobs = [];
before(() => {
  synth("job", { ranks: 8, ranks_per_host: 4, steps: 4, slow_rank: 5, slow_factor: 1.2 });
  jobs.push(merge("synthetic", "job", "--samples-per-step=4096", "--tokens-per-step=8"));
  if (realJob()) jobs.push(realJob());
});

const each = testsOf(jobs);

const sum = (rows, column) => rows.reduce((total, row) => total + (row[column] ?? 0), 0);
const PARTS = (row) => ({
  compute: row.compute_ns - row.overlap_ns, overlap: row.overlap_ns, transfer: row.exposed_transfer_ns ?? 0,
  wait: row.exposed_wait_ns ?? 0, unmatched: row.exposed_unmatched_ns ?? 0, copies: row.exposed_memory_ns, idle: row.idle_ns,
});

/** Pieces of the bars below an element: { part: ns }, without zeros. */
function pieces(bar) {
  return bar.$$eval(".piece", (all) => Object.fromEntries(all.map((p) => [p.dataset.part, Number(p.dataset.ns)])));
}

function without0(parts) {
  return Object.fromEntries(Object.entries(parts).filter(([, ns]) => ns > 0));
}

each("every number that names its table, row and column is the one there", {}, async (page, job) => {
  for (const view of ["summary", "ranks", "steps", "stragglers", "whatif"]) {
    await visit(page, `#${view}`);
    const shown = await page.$$eval("[data-table][data-row][data-column]", (all) =>
      all.map((e) => ({ table: e.dataset.table, row: Number(e.dataset.row), column: e.dataset.column, text: e.textContent })));
    const tables = show(job.store, ...new Set(shown.map((each) => each.table)));
    if (view === "summary") assert.ok(shown.length > 0, "no number names its origin");
    for (const { table, row, column, text } of shown) {
      const value = tables[table][row][column];
      if (/^(worker|stage)_share$/.test(column)) assert.ok(value === null ? text === "–" : Math.abs(parseFloat(text) - 100 * value) <= 0.5, `${column}: ${text}, not ${value}`);
      else assert.ok(closeTo(text, value), `${view} ${table}[${row}].${column}: ${text}, not ${value}`);
    }
  }
});

/** Checks that few words and numbers of the page are in sight, header and list of views included. */
async function isShort(page) {
  const text = await page.evaluate(() => {
    const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
    for (let text = words.nextNode(); text; text = words.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(text);
      const [box] = range.getClientRects();
      if (box && box.top < innerHeight && box.right > 0 && text.parentElement.checkVisibility()) found.push(text.textContent);
    }
    return found.join(" ");
  });
  const [words, numbers] = [/[A-Za-z][\w’'-]*/g, /\d[\d.\u202f]*/g].map((each) => text.match(each).length);
  assert.ok(words > 40 && words <= 120 && numbers > 8 && numbers <= 25, `${words} words, ${numbers} numbers`);
}

test("the first screen is an answer: the finding, what to do, what it saves, and a bar a rank, in few words", async () => {
  for (const job of jobs) {
    const { page } = await open(job.page);
    await isShort(page);
    const bars = await page.$$eval("main .bar", (all) => all.filter((e) => e.checkVisibility() && e.getBoundingClientRect().bottom < innerHeight).length);
    assert.equal(bars, 8);
    assert.match(await page.textContent("header .facts"), /\d steps of [\d.]+\u00a0ms$/);
    const labels = await page.$$eval(".stack[data-rank] .row-label", (all) => all.map((e) => [e.textContent, e.getAttribute("aria-label")]));
    assert.deepEqual(labels, [0, 1, 2, 3, 4, 5, 6, 7].map((rank) => [rank === 0 ? "rank 0" : `${rank}`, `rank ${rank}`]));
  }
});

test("of 16 bars every fourth and that of the named rank are labelled; words are few", async () => {
  const { page } = await open(merge("sixteen", synth("sixteen-traces", { ranks: 16, ranks_per_host: 4, steps: 4, layers: 4, cpu_ops: 1, slow_rank: 6, slow_factor: 1.3 })).page);
  const labels = await page.$$eval(".stack .row-label", (all) => all.map((e) => e.textContent));
  assert.deepEqual(labels.slice(0, 16), ["rank 0", "", "", "", "4", "", "6", "", "8", "", "", "", "12", "", "", ""]);
  await isShort(page);
});

test("what a step holds gives rates beside its time, and else nothing", async () => {
  const { page } = await open(jobs[0].page);
  const shown = await page.$$eval(".figures [data-table='overview.job']", (all) => all.map((e) => e.dataset.column));
  assert.deepEqual(shown, ["samples_per_s", "device_samples_per_s", "tokens_per_s", "device_tokens_per_s"]);
  for (const job of jobs.slice(1)) {
    const other = await open(job.page);
    assert.equal(await other.page.$(".figures [data-table='overview.job']"), null);
  }
});

each("sums on the summary are those of the columns", {}, async (page, job) => {
  const { "overlap.rank": ranks } = show(job.store, "overlap.rank");
  const found = await page.$$eval("[data-sum]", (all) => all.map((e) => [e.dataset.sum, Number(e.dataset.value)]));
  assert.equal(found.length, 4);
  for (const [name, value] of found) {
    const [, part, whole] = name.split(" ");
    const expected = sum(ranks, part) / sum(ranks, whole) * (whole === "compute_ns" ? 1 : 100);
    assert.ok(Math.abs(value - expected) < 1e-9, `${name}: ${value}, not ${expected}`);
  }
});

each("the parts of each rank's bar are those of overlap.rank and sum to its window", { hash: "#ranks" }, async (page, job) => {
  const rows = show(job.store, "overlap.rank")["overlap.rank"], bars = await page.$$(".stack[data-rank]");
  assert.equal(bars.length, rows.length);
  for (const bar of bars) {
    const rank = await bar.evaluate((e) => Number(e.dataset.rank)), row = rows.find((r) => r.rank === rank), found = await pieces(bar);
    assert.deepEqual(found, without0(PARTS(row)), `rank ${rank}`);
    assert.equal(Object.values(found).reduce((a, b) => a + b, 0), row.window_ns);
  }
});

each("the map of steps has the cells of its tables", { hash: "#steps/rows=ranks" }, async (page, job) => {
  const { "stragglers.rank_step": costs, "overlap.step": windows } = show(job.store, "stragglers.rank_step", "overlap.step");
  const ranks = [...new Set(windows.map((w) => w.rank))].sort((a, b) => a - b), steps = [...new Set(windows.map((w) => w.step))].sort((a, b) => a - b);
  for (const [metric, rows, value] of [["caused", costs, (r) => r.direct_ns + r.indirect_ns], ["wait", costs, (r) => r.wait_ns], ["idle", windows, (r) => r.idle_ns], ["step", windows, (r) => r.window_ns]]) {
    await visit(page, `#steps/metric=${metric}/rows=ranks`);
    const cells = await page.$$eval(".cell[data-value]", (all) => all.map((e) => [Number(e.dataset.row), Number(e.dataset.column), Number(e.dataset.value)]));
    assert.deepEqual(cells, ranks.flatMap((rank, r) => steps.flatMap((step, c) => {
      const row = rows.find((each) => each.rank === rank && each.step === step);
      return row ? [[r, c, value(row)]] : [];
    })), metric);
  }
});

test("the phases of a step stand where structure.step has them, beside the range that its columns name", async () => {
  const middle = (values) => { const all = values.sort((a, b) => a - b); return (all[(all.length - 1) >> 1] + all[all.length >> 1]) / 2; };
  for (const job of jobs) {
    const { "structure.step": rows } = show(job.store, "structure.step");
    const { page } = await open(job.page, { hash: "#steps" });
    const docs = Object.fromEntries(tablesIn(text(job.page)).tables["structure.step"].columns.map(([name, , , doc]) => [name, doc]));
    const shown = await page.$$eval(".usual", (all) => all.map((e) => ({
      column: e.querySelector("[data-phase]").dataset.phase, words: e.querySelector(".usual-words").textContent, value: e.querySelector(".usual-value").textContent,
      steps: [...e.querySelectorAll("[data-value]")].map((line) => [Number(line.dataset.value), parseFloat(line.style.left)]),
    })));
    assert.deepEqual(shown.map((each) => each.column), ["forward_pct", "backward_pct", "optimizer_pct", "data_pct", "other_pct"]);
    for (const { column, words, value, steps } of shown) {
      if (column !== "other_pct" && rows.every((row) => row[column] === 0)) {
        assert.deepEqual([value, words], ["–", "not recorded"], column);
        continue;
      }
      const wanted = middle(rows.map((row) => row[column])), range = /(?:(\d+) to )?(\d+) % is usual|(?:under|up to) (\d+) %/i.exec(docs[column]);
      assert.deepEqual(steps.map(([own]) => own), rows.map((row) => row[column]));
      for (const [own, left] of steps) assert.ok(Math.abs(own - left) < 0.01, `${column}: ${own} % stands at ${left} %`);
      assert.ok(closeTo(value, wanted), `${column}: ${value}, not ${wanted}`);
      assert.ok(range && words.replaceAll("\u00a0", " ").startsWith(range[1] ? `usual ${range[1]} to ${range[2]} %` : `usual at most ${range[3]} %`), `${words}, not ${docs[column]}`);
      assert.equal(/more$/.test(words), wanted > Number(range[2] ?? range[3]), `${column}: ${words}`);
    }
  }
});

each("caused equals waited, and the matrix sums to both", { hash: "#stragglers" }, async (page, job) => {
  const { "stragglers.rank": ranks, "stragglers.pair": pairs } = show(job.store, "stragglers.rank", "stragglers.pair");
  const waited = sum(ranks, "wait_ns");
  assert.ok(waited > 0 && Math.abs(sum(ranks, "direct_ns") + sum(ranks, "indirect_ns") - waited) <= 2 * ranks.length);
  const cells = await page.$$eval('[aria-label^="Who waits"] .cell[data-value]', (all) => all.map((e) => [e.dataset.row, e.dataset.column, Number(e.dataset.value)]));
  assert.equal(cells.reduce((total, [, , value]) => total + value, 0), sum(pairs, "wait_ns"));
  for (const { rank, for_rank, wait_ns } of pairs)
    assert.deepEqual(cells.find(([row, column]) => Number(row) === for_rank && Number(column) === rank)[2], wait_ns);
});
