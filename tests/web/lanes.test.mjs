// The timeline's map of ranks and time, and how lanes are arranged: by pointer, by keys, in the address.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { kernel, merge, open, quiet, settled, show, synth, text, THEMES, trace } from "./page.mjs";

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
    const { page, noted, close } = await timeline(jobs.stairs, "/map=compute", { theme, height: 1100 });
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
    quiet(noted);
    await close();
  }
});

test("a map begins with folded hosts; keys alone unfold, select and zoom in", async () => {
  const { page, noted, close } = await timeline(jobs.hosts);
  assert.deepEqual(await press(page, "v"), { map: "compute", fold: "all" });
  assert.match(await details(page), /^A map of ranks and time/);
  await press(page, "Shift+ArrowDown", "Shift+ArrowDown");
  assert.match(await details(page), /^Host host1.*8 ranks: 8–15\. A row shows their mean/);
  assert.deepEqual(await press(page, "Enter"), { map: "compute", fold: "0,16", rank: "8" });
  const { t, ...rest } = await press(page, "Shift+ArrowDown", "Enter");
  const [begin, end] = t.split("-").map(Number);
  assert.deepEqual(rest, { fold: "0,16", rank: "9" });
  assert.ok(end > begin, t);
  const kept = await page.evaluate(() => location.hash);
  await page.reload();
  await page.waitForSelector('body[data-timeline="complete"]');
  await params(page);
  assert.equal(await page.evaluate(() => location.hash), kept);
  quiet(noted);
  await close();
});

test("a click in a map goes to the lanes of that rank and time", async () => {
  const { page, close } = await timeline(jobs.stairs, "/map=wait", { height: 1100 });
  const { left, top, width } = await box(page);
  await page.mouse.click(left + GUTTER + 0.25 * (width - GUTTER - RIGHT), top + LANES_TOP + 4.5 * 22);
  const { t, map, rank } = await params(page), [begin, end] = t.split("-").map(Number);
  assert.deepEqual([map, rank], [undefined, "4"]);
  // an eighth of the millisecond around its quarter
  assert.ok(Math.abs(end - begin - 125_000) < 2 && Math.abs((begin + end) / 2 - 250_000) < 2000, t);
  await close();
});

test("lanes are pinned, moved, hidden and ordered, by keys and by buttons, and the address keeps it", async () => {
  const { page, noted, close } = await timeline(jobs.hosts);
  await page.focus("canvas");
  assert.equal((await press(page, "Shift+ArrowDown", "t")).pin, "0");
  assert.equal((await press(page, "Shift+ArrowDown", "Shift+ArrowDown", "t")).pin, "0,2");
  assert.equal((await press(page, "<")).pin, "2,0");
  assert.equal((await press(page, "x")).hide, "2");
  assert.match(await page.textContent(".tl-arrange"), /Show 1 hidden rank.*Unpin 2 ranks/);
  await page.click('.tl-arrange [data-value="show"]');
  await page.click('.tl-arrange [data-value="unpin"]');
  await page.click('.tl-arrange [data-value="fold"]');
  await page.selectOption(".tl-arrange select", "wait");
  const { hide, pin, fold, order } = await params(page);
  assert.deepEqual([hide, pin, fold, order], [undefined, undefined, "all", "wait"]);
  await page.click('.tl-arrange [data-value="unfold"]');
  /* who waits least comes last in an order by wait: the slow rank */
  await press(page, "Escape", "Shift+ArrowUp");
  assert.equal((await params(page)).rank, "13");
  quiet(noted);
  await close();
});

test("what is searched for comes out of a folded host and out of a map", async () => {
  const { page, close } = await timeline(jobs.hosts, "/map=wait/fold=all");
  await page.fill(".tl-find input", "flash");
  await page.press(".tl-find input", "Enter");
  const { map, fold, rank } = await params(page);
  assert.deepEqual([map, fold === "all", rank !== undefined], [undefined, false, true]);
  await close();
});

// Marked areas --------------------------------------------------------------------------------------

test("of the whole job the kernels of a marked area are those of kernels.kernel, also as CSV", async () => {
  const { page, noted, close } = await timeline(jobs.hosts);
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
  quiet(noted);
  await close();
});

test("an area drawn over some rows is of their ranks, and the address keeps it", async () => {
  const { page, close } = await timeline(jobs.stairs, "", { height: 1100 });
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
  const keys = await press(page, "Escape", "Shift+ArrowDown", "Shift+ArrowDown", "Shift+M");
  assert.equal(keys.lanes, "1");
  const two = await press(page, "Shift+ArrowDown", "Shift+M");
  assert.equal(two.lanes, "1-2");
  assert.match(await details(page), /rank 1.*rank 2.*rank 2 − rank 1/s);
  const gemm = await page.$eval(".tl-sums tbody tr", (tr) => [...tr.cells].slice(1).map((cell) => Number((cell.title || cell.textContent).replace(/[^0-9]/g, ""))));
  assert.deepEqual([gemm[0], gemm[1], gemm[4], gemm[5], gemm[6], gemm[7]], [2, 250_000, 150_000, 100_000, 150_000, 50_000]); // 100 and 150 us
  await close();
});

// Events --------------------------------------------------------------------------------------------

test("an event says what its kernel took elsewhere, and leads there", async () => {
  const { page, noted, close } = await timeline(jobs.stairs, "/rank=3");
  await press(page, ".");
  const said = await details(page);
  // the others take 50 to 900 us but for its own 200: the 9th of 17 is 500
  assert.match(said, /^gemmcompute, rank 3.*No\. 1 of 1 on this rank, median 200\.0\sµs; longest of all 900\.0\sµs on rank 17\./);
  assert.match(said, /No\. 1 of 1, 0\.40× as long as their median 500\.0\sµs\./);
  const peers = await page.$$eval(".tl-peers button", (all) => all.map((button) => [button.textContent.replaceAll("\u00a0", " "), button.title.replace(/[^0-9]/g, "")]));
  assert.deepEqual(peers, Array.from({ length: 18 }, (_, i) => 17 - i).filter((rank) => rank !== 3).map((rank) => [`rank ${rank} ${(50 * (rank + 1)).toFixed(1)} µs`, String(50_000 * (rank + 1))]));
  await page.click('[aria-label^="The slowest"]');
  assert.equal((await params(page)).rank, "17");
  assert.match(await details(page), /the longest of all/);
  await page.click(".tl-peers li:nth-child(2) button");
  assert.equal((await params(page)).rank, "15");
  quiet(noted);
  await close();
});

test("what is found is a list to step through, with sums by kind, by keys alone, and the address keeps it", async () => {
  const { page, noted, close } = await timeline(jobs.stairs);
  await press(page, "/");
  await page.keyboard.type("/^ge/ kind:compute rank:4-17 dur>500us");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  // ranks 10 to 17 take 550 to 900 us: 8 of them, 5.8 ms
  assert.match(await details(page), /8 found, in order of time.*compute8.*5\.80\sms.*725\.0\sµs.*900\.0\sµs/);
  const listed = await page.$$eval(".tl-results button", (all) => all.map((button) => button.textContent));
  assert.deepEqual(listed.map((each) => Number(/^rank (\d+), /.exec(each)[1])), [10, 11, 12, 13, 14, 15, 16, 17]);
  await page.click(".tl-results li:nth-child(3) button");
  assert.match(await page.textContent('.tl-results [aria-current="true"]'), /^rank 12, 650/);
  assert.match(await page.textContent(".tl-find output"), /^3 of 8 found/);
  const { find, list, rank } = await params(page);
  assert.deepEqual([find, list, rank], ["/^ge/ kind:compute rank:4-17 dur>500us", "1", "12"]);
  await page.reload();
  await page.waitForSelector('body[data-timeline="complete"]');
  await params(page);
  assert.equal(await page.$$eval(".tl-results button", (all) => all.length), 8);
  await page.fill(".tl-find input", "/(/");
  assert.match(await page.textContent(".tl-find output"), /^Not understood: not a regular expression/);
  quiet(noted);
  await close();
});
