// The timeline's map of ranks over time, and the arrangement of lanes: by pointer, by keys, in the address.
import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { before } from "node:test";
import { kernel, merge, seldom, synth, test, trace } from "./page.mjs";
import { address, box, colours, custom, details, hovered, LANES_TOP, mark, params, placeOf, plain, press, reload, timeline as opened } from "./timeline.mjs";

const jobs = {};

before(() => {
  jobs.hosts = merge("hosts", synth("hosts-traces", { ranks: 24, ranks_per_host: 8, steps: 3, layers: 4, cpu_ops: 1, slow_rank: 13 }));
  /* Within 1 ms, rank r computes for the first 50 (r + 1) us and the last 10 us. */
  jobs.stairs = merge("stairs", Array.from({ length: 18 }, (_, rank) =>
    trace(`stairs_rank_${rank}.json`, [kernel("gemm", 0, 50 * (rank + 1)), kernel("end", 990, 10)], { hostname: "h", distributedInfo: { rank, world_size: 18 } })));
  jobs.cpus = merge("cpus", [40, 80].map((late, rank) => onCpu(rank, late)));
});

/* Within 100 us, a rank computes until it calls gloo, rank 1 later than rank 0; both return at 90. */
function onCpu(rank, late) {
  const on = (cat, name, ts, dur, tid = 1) => ({ ph: "X", cat, name, pid: 1, tid, ts, dur, args: {} });
  const ranks = [0, 1], config = [{ pg_name: "0", pg_desc: "all", pg_size: 2, ranks }];
  return trace(`cpus_rank_${rank}.json`, [on("user_annotation", "ProfilerStep#1", 0, 100), on("cpu_op", "aten::mm", 0, late - 1),
    on("cpu_op", "c10d::allreduce_", late - 1, 1), on("user_annotation", "gloo:all_reduce", late, 90 - late, 2)],
  { deviceProperties: [], hostname: "h", distributedInfo: { backend: "gloo", rank, world_size: 2, pg_config: config } });
}

const timeline = (job, hash, more) => opened(job.page, hash, more);
const MS = 1_000_000;

test("a map's cell has the share of its rank and time, as colour and in words", async () => {
  const { page } = await timeline(jobs.stairs, "/map=compute", { theme: "dark", height: 1100 }), high = 22; // maximum height of a map's row
  const x = await placeOf(page, 0.49 * MS, MS); // half of the time has passed: ranks from 9 on compute
  for (const [rank, percent, shade] of [[0, 0, "work-0"], [8, 0, "work-0"], [10, 100, "work-20"], [17, 100, "work-20"]]) {
    const y = LANES_TOP + (rank + 0.5) * high;
    assert.match(await hovered(page, x, y), new RegExp(`rank ${rank} .*compute ${percent} %`));
    assert.deepEqual(await colours(page, [[x, y]]), [await custom(page, shade)], `rank ${rank}`);
  }
});

seldom("a click in a map goes to the lanes of that rank and time", async () => {
  const { page } = await timeline(jobs.stairs, "/map=wait", { height: 1100 });
  const { left, top } = await box(page);
  await page.mouse.click(left + await placeOf(page, 0.25 * MS, MS), top + LANES_TOP + 4.5 * 22);
  const { t, map, rank } = await params(page), [begin, end] = t.split("-").map(Number);
  assert.deepEqual([map, rank], [undefined, "4"]);
  // an eighth of the millisecond, around 0.25 ms
  assert.ok(Math.abs(end - begin - 125_000) < 2 && Math.abs((begin + end) / 2 - 250_000) < 2000, t);
});

seldom("what is searched for comes out of a folded host and out of a map", async () => {
  const { page } = await timeline(jobs.hosts, "/map=wait/fold=all");
  await page.fill(".tl-find input", "flash");
  await page.press(".tl-find input", "Enter");
  const { map, fold, rank } = await params(page);
  assert.deepEqual([map, fold === "all", rank !== undefined], [undefined, false, true]);
});

seldom("a rank that works on the CPU has its operators and what gloo does in its lanes", async () => {
  const { page } = await timeline(jobs.cpus, "");
  for (const [us, y, words] of [[20, 10, /aten::mm/], [60, 42, /AllReduce, step 1 · gloo:all_reduce \(communication\) · 50\.0 µs/], [60, 64 + 10, /aten::mm/]])
    assert.match(await hovered(page, await placeOf(page, us * 1000, 100_000), LANES_TOP + y), words, `${us} us`);
});

test("flags keep their notes: in the address, in other views and in a saved copy of the page", async () => {
  const { page } = await timeline(jobs.stairs, "/t=100000-300000"), evil = "why, 100 %? </script><script>window.evil=1</script><!--";
  const notes = (of) => of.$$eval(".tl-flags li", (all) => all.map((e) => [e.querySelector("button").textContent, e.querySelector("input").value]));
  const flag = async (note, ...keys) => {
    await press(page, ...keys, "g");
    await page.keyboard.type(note);
    await page.keyboard.press("Enter");
  };
  await flag(evil); // in the middle of the window
  await flag("range", "0", "m"); // the whole job
  await page.focus("canvas");
  await page.keyboard.press("Escape");
  const both = [["1.00 ms from 0 ns", "range"], ["200.0 µs", evil]];
  await reload(page);
  assert.deepEqual((await notes(page)).map((each) => each.map((text) => text.replace(/[\u00a0\u202f]/g, " "))), both, "the address");
  const [line, blue] = [await placeOf(page, 0.2 * MS, MS), await custom(page, "link")];
  assert.deepEqual(await colours(page, [[line + 1, LANES_TOP - 20], [line, LANES_TOP + 30]]), [blue, blue], "it is drawn");
  await page.click('nav.rail a[href="#summary"]');
  await page.click('nav.rail a[href="#timeline"]');
  await page.waitForSelector(".tl-flags li + li");
  const saved = page.waitForEvent("download");
  await page.click("text=Save a copy");
  copyFileSync(await (await saved).path(), "saved.html");
  const { page: copy } = await timeline({ page: "saved.html" }, "");
  assert.deepEqual([(await notes(copy)).map(([, note]) => note), await copy.evaluate(() => [window.evil ?? null, document.querySelectorAll("main").length])], [["range", evil], [null, 1]]);
  for (const n of [1, 0]) {
    await copy.click('[aria-label^="Remove the flag"]');
    assert.equal(await copy.locator(".tl-flags li").count(), n);
  }
  await reload(copy);
  assert.deepEqual([await notes(copy), (await params(copy)).flags], [[], "none"], "an address without any");
});

test("the list of events is that of the window, in step with it, and of a mark", async () => {
  const { page } = await timeline(jobs.stairs, "/t=980000-1000000/list=1", { height: 1100 });
  const said = (text) => page.waitForSelector(`.tl-found h2:text-is("${text}, in order of time")`);
  await said("18 events in view"); // the last 10 us of each rank
  assert.match(plain(await page.textContent(".tl-results")), /^rank 0, 10\.0 µs at 990\.0 µs endrank 1, /);
  await press(page, "0");
  await said("36 events in view");
  await press(page, "Shift+W"); // 375 to 625 us: rank r computes until 50 (r + 1) us
  await said("11 events in view");
  await press(page, "m", "0");
  await said("11 events in the mark");
  await page.click(".tl-results button");
  assert.equal((await params(page)).event, "0.0.0.400000"); // of rank 7
  await press(page, "e");
  assert.equal(await page.$(".tl-found"), null);
});

// Marked areas --------------------------------------------------------------------------------------

seldom("an area drawn over some rows is of their ranks, and the address keeps it", async () => {
  const { page } = await timeline(jobs.stairs, "", { height: 1100 });
  await mark(page, [[0.1 * MS, LANES_TOP + 5], [0.5 * MS, LANES_TOP + 30], [0.6 * MS, LANES_TOP + 50]], MS);
  const { lanes, mark: area } = await params(page), [begin, end] = area.split("-").map(Number);
  assert.equal(lanes, "0-1"); // rows of 30 px or more: 5 to 50 touches two of them
  assert.ok(Math.abs(begin - 100_000) < 2000 && Math.abs(end - 600_000) < 2000, area);
  await page.click('.tl-details [data-value="kernels"]');
  const kept = await address(page);
  await reload(page);
  assert.equal(await address(page), kept);
  /* Rank 0 computes until 50 us and rank 1 until 100 us, before the range. A gemm is in the range only if its begin is rounded down. */
  assert.match(await details(page), /ranks 0–1/);
  assert.match(await details(page), /No kernel is in this page there|gemm/);
});
