// The timeline's map of ranks and time, and how lanes are arranged: by pointer, by keys, in the address.
import assert from "node:assert/strict";
import { before } from "node:test";
import { kernel, merge, open, settled, show, synth, test, text, THEMES, trace } from "./page.mjs";

const GUTTER = 92, RIGHT = 10;
const jobs = {};

before(() => {
  jobs.hosts = merge("hosts", synth("hosts-traces", { ranks: 24, ranks_per_host: 8, steps: 3, layers: 4, cpu_ops: 1, slow_rank: 13 }));
  /* Of 1 ms rank r computes the first 50 (r + 1) us, and the last 10. */
  jobs.stairs = merge("stairs", Array.from({ length: 18 }, (_, rank) =>
    trace(`stairs_rank_${rank}.json`, [kernel("gemm", 0, 50 * (rank + 1)), kernel("end", 990, 10)], { hostname: "h", distributedInfo: { rank, world_size: 18 } })));
});

async function timeline(job, hash = "", more = {}) {
  const opened = await open(job.page, { hash: `#timeline${hash}`, ...more });
  await opened.page.waitForSelector('body[data-timeline="complete"]', { timeout: 20_000 });
  return opened;
}

async function params(page) {
  await settled(page);
  return Object.fromEntries((await page.evaluate(() => location.hash)).slice(1).split("/").slice(1).map((part) => part.split("=").map(decodeURIComponent)));
}

async function press(page, ...keys) {
  await page.focus("canvas");
  for (const key of keys) await page.keyboard.press(key);
  return params(page);
}

const details = (page) => page.$eval(".tl-details", (element) => element.textContent);
const box = (page) => page.$eval("canvas", (canvas) => { const { left, top, width, height } = canvas.getBoundingClientRect(); return { left, top, width, height }; });
const LANES_TOP = 90; // of the rows in the canvas

test("a map's cell has the share of its rank and time, as colour and in words", async () => {
  for (const theme of THEMES) {
    const { page } = await timeline(jobs.stairs, "/map=compute", { theme, height: 1100 });
    const { left, top, width } = await box(page), high = 22; // the most that a map's row has
    const ramp = await page.evaluate(() => [0, 20].map((place) => getComputedStyle(document.documentElement).getPropertyValue(`--work-${place}`).trim()));
    const at = Math.round(GUTTER + 0.49 * (width - GUTTER - RIGHT));
    const column = await page.$eval("canvas", (canvas, x) => [...canvas.getContext("2d").getImageData(x, 0, 1, canvas.height).data], at); // once: reading twice is warned of
    for (const [rank, share] of [[0, 0], [8, 0], [10, 20], [17, 20]]) { // half of the time is over: ranks from 9 on compute
      const x = GUTTER + 0.49 * (width - GUTTER - RIGHT), y = LANES_TOP + (rank + 0.5) * high;
      await page.mouse.move(left + x, top + y);
      await page.waitForTimeout(60);
      const words = await page.textContent(".tl-hover");
      assert.match(words, new RegExp(`rank ${rank} .*compute ${share ? 100 : 0}\\s%`), words);
      const color = column.slice(4 * Math.round(y), 4 * Math.round(y) + 3);
      assert.equal(`#${color.map((part) => part.toString(16).padStart(2, "0")).join("")}`, ramp[share ? 1 : 0], `${theme}, rank ${rank}`);
    }
  }
});

test("a click in a map goes to the lanes of that rank and time", async () => {
  const { page } = await timeline(jobs.stairs, "/map=wait", { height: 1100 });
  const { left, top, width } = await box(page);
  await page.mouse.click(left + GUTTER + 0.25 * (width - GUTTER - RIGHT), top + LANES_TOP + 4.5 * 22);
  const { t, map, rank } = await params(page), [begin, end] = t.split("-").map(Number);
  assert.deepEqual([map, rank], [undefined, "4"]);
  // an eighth of the millisecond around its quarter
  assert.ok(Math.abs(end - begin - 125_000) < 2 && Math.abs((begin + end) / 2 - 250_000) < 2000, t);
});

test("what is searched for comes out of a folded host and out of a map", async () => {
  const { page } = await timeline(jobs.hosts, "/map=wait/fold=all");
  await page.fill(".tl-find input", "flash");
  await page.press(".tl-find input", "Enter");
  const { map, fold, rank } = await params(page);
  assert.deepEqual([map, fold === "all", rank !== undefined], [undefined, false, true]);
});

// Marked areas --------------------------------------------------------------------------------------

test("of the whole job the kernels of a marked area are those of kernels.kernel, also as CSV", async () => {
  const { page } = await timeline(jobs.hosts);
  await press(page, "m");
  await page.click('.tl-details [data-value="kernels"]');
  assert.equal((await params(page)).sums, "kernels");
  const rows = show(jobs.hosts.store, "kernels.kernel")["kernels.kernel"];
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("text=Save as CSV")]);
  await download.saveAs("area.csv");
  const [head, ...lines] = text("area.csv").trimEnd().split("\r\n");
  assert.match(head, /^kernel,count,sum_ns,self_ns,mean_ns,max_ns,rank_0_ns,.*,rank_23_ns$/);
  const found = new Map(lines.map((line) => { // the name may hold commas, and is quoted then
    const [, quoted, plain, rest] = /^(?:"((?:[^"]|"")*)"|([^,]*)),(.*)$/.exec(line);
    return [quoted?.replaceAll('""', '"') ?? plain, rest.split(",").map(Number)];
  }));
  for (const row of rows) {
    const [count, sum, self, mean, max, ...ranks] = found.get(row.name) ?? [];
    assert.deepEqual([count, sum, self, mean, max], [row.calls, row.total_ns, row.total_ns, Math.round(row.total_ns / row.calls), row.max_ns], row.name);
    assert.equal(ranks.reduce((a, b) => a + b, 0), row.total_ns);
  }
  const shown = await page.$$eval(".tl-sums tbody tr", (all) => all.map((tr) => [tr.cells[0].textContent, ...[...tr.cells].slice(1).map((cell) => Number((cell.title || cell.textContent).replace(/[^0-9]/g, "")))]));
  assert.deepEqual(shown.map(([, count, sum, , , max]) => [count, sum, max]), [...found.values()].slice(0, 40).map(([count, sum, , , max]) => [count, sum, max]));
  await page.click('.tl-details [data-value="classes"]');
  const classes = show(jobs.hosts.store, "classes.kernel")["classes.kernel"];
  const sums = Object.fromEntries(await page.$$eval(".tl-sums tbody tr", (all) => all.map((tr) => [tr.cells[0].textContent, Number(tr.cells[2].title.replace(/[^0-9]/g, ""))])));
  for (const row of classes) assert.equal(sums[row.class], row.total_ns, row.class);
});

test("an area drawn over some rows is of their ranks, and the address keeps it", async () => {
  const { page } = await timeline(jobs.stairs, "", { height: 1100 });
  const { left, top, width } = await box(page);
  await page.keyboard.down("Shift");
  await page.mouse.move(left + GUTTER + 0.1 * (width - GUTTER - RIGHT), top + LANES_TOP + 5);
  await page.mouse.down();
  await page.mouse.move(left + GUTTER + 0.5 * (width - GUTTER - RIGHT), top + LANES_TOP + 30);
  await page.mouse.move(left + GUTTER + 0.6 * (width - GUTTER - RIGHT), top + LANES_TOP + 50);
  await page.mouse.up();
  await page.keyboard.up("Shift");
  const { lanes, mark } = await params(page), [begin, end] = mark.split("-").map(Number);
  assert.equal(lanes, "0-1"); // rows of 30 px and more: 5 to 50 are two of them
  assert.ok(Math.abs(begin - 100_000) < 2000 && Math.abs(end - 600_000) < 2000, mark);
  await page.click('.tl-details [data-value="kernels"]');
  const kept = await (await params(page), page.evaluate(() => location.hash));
  await page.reload();
  await page.waitForSelector('body[data-timeline="complete"]');
  await params(page);
  assert.equal(await page.evaluate(() => location.hash), kept);
  /* Rank 0 computes until 50 us, before it; rank 1 until 100 us: what is left is what begins rounded. */
  assert.match(await details(page), /ranks 0–1/);
  assert.match(await details(page), /No kernel is in this page there|gemm/);
});
