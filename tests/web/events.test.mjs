// The timeline's events: their launches, the meanings of colours, and the counters below them.
import assert from "node:assert/strict";
import { before } from "node:test";
import { FULL, grave, kernel, merge, seldom, test, THEMES, trace, WIDTHS } from "./page.mjs";
import { address, colours, custom, details, hovered, LANES_TOP, mark, placeOf, press, reload, timeline as opened } from "./timeline.mjs";

const WHOLE = 100_000; // duration of both jobs [ns]
const jobs = {};

/* A host event of a thread. */
const host = (cat, name, ts, dur, args = {}) => ({ ph: "X", cat, name, pid: 1, tid: 1, ts, dur, args });

before(() => {
  /* Within 100 us: mm and its call launch the gemm at 70 us; a call without an operator launches the copy at 60 us; the last kernel has
   * no launch. */
  jobs.launched = merge("launched", trace("launched_rank_0.json", [
    host("python_function", "train.py(3): step", 0, 100),
    host("python_function", "nn.Module: Linear_0", 5, 50),
    host("cpu_op", "aten::linear", 8, 40),
    host("cpu_op", "aten::mm", 10, 30, { "Input Dims": [[8, 16], [16, 4]], "Input type": ["float", "float"] }),
    host("cuda_runtime", "cudaLaunchKernel", 20, 5, { correlation: 41 }),
    host("cuda_runtime", "cudaMemcpyAsync", 56, 2, { correlation: 39 }),
    { ...kernel("Memcpy DtoH", 60, 2, { correlation: 39, bytes: 4000 }), cat: "gpu_memcpy" },
    kernel("gemm", 70, 10, { correlation: 41, grid: [128, 2, 1], block: [256, 1, 1], "registers per thread": 40, "shared memory": 2048, "est. achieved occupancy %": 37 }),
    kernel("lost", 90, 5, { correlation: 77 }),
    ...[[10, 1500], [50, 1200]].map(([ts, value]) => ({ ph: "C", name: "clock, of the SMs", pid: 0, tid: 0, ts, args: { MHz: value } })),
  ]));
  /* The gemm takes 50 us on rank 3 and 20 us on the others; rank 0 runs odd_kernel twice. */
  jobs.ranks = merge("ranks", [0, 1, 2, 3].map((rank) => trace(`ranks_rank_${rank}.json`, [
    kernel("sgemm_128x128", 0, rank === 3 ? 50 : 20),
    kernel("vectorized_elementwise_kernel", 60, 20),
    kernel("odd_kernel", 90, 4),
    ...(rank === 0 ? [kernel("odd_kernel", 95, 5)] : [kernel("end", 99, 1)]),
  ], { hostname: "h", distributedInfo: { rank, world_size: 4 } })));
});

const timeline = (job, hash, more) => opened(job.page, hash, more);

// Launches ------------------------------------------------------------------------------------------

test("a kernel says with what it was launched, a copy how fast it was, and what no call is known of that", async () => {
  const { page } = await timeline(jobs.launched, "/rank=0");
  await press(page, ".", ".");
  assert.match(await details(page), /Launched with grid 128 × 2 × 1, block 256 × 1 × 1, 40 registers per thread, 2\.00 KiB of shared memory per block, estimated occupancy 37 %\./);
  await press(page, ",");
  assert.match(await details(page), /^Memcpy DtoH.*Python: train.*Launched by cudaMemcpyAsync.*Correlation 39\.4\.00 kB at 2\.00 GB\/s\./); // 4000 B in 2 us
  await press(page, ".", ".");
  assert.match(await details(page), /^lost.*Which call launched it was not recorded\. Correlation 77\./);
});

seldom("an opened rank shows what called what as a flame chart, a row for each depth", async () => {
  const { page } = await timeline(jobs.launched, "/open=0");
  const found = [], x = await placeOf(page, 22_000, WHOLE);
  for (const depth of [0, 1, 2, 3, 4]) // below lanes of 64 px, the stream's row of 16 px and a margin: rows of 12 px
    found.push((await hovered(page, x, LANES_TOP + 64 + 16 + 3 + 12 * depth + 6)).split(" · ").find((part) => / \(.*\)$/.test(part)));
  assert.deepEqual(found, ["train.py(3): step (Python function)", "nn.Module: Linear_0 (Python function)", "aten::linear (operator)", "aten::mm (operator)", "cudaLaunchKernel (runtime or driver call)"]);
});

seldom("an area drawn over rows of a thread is of that thread, and the address keeps it", async () => {
  const { page } = await timeline(jobs.launched, "/open=0");
  const y = LANES_TOP + 64 + 16 + 3 + 2 * 12;
  await mark(page, [[2_000, y + 2], [50_000, y + 10], [80_000, y + 22]], WHOLE);
  const reported = async () => [await page.textContent(".tl-details h2"), await page.$$eval(".tl-sums tbody tr", (rows) => rows.map((row) => [...row.cells].slice(0, 4).map((cell) => cell.textContent)))];
  const expected = ["aten::linear", "1", "40.0", "10.0"], first = await reported();
  assert.match(first[0], /^Marked: .*, rank 0, thread \d+$/);
  assert.deepEqual(first[1], [expected, ["aten::mm", "1", "30.0", "30.0"]]); // total, and without nested operators [us]
  assert.equal(await page.$$eval('.tl-details [data-value="ranks"]', (all) => all.length), 0, "of a thread there are no sums by rank");
  await reload(page);
  assert.deepEqual(await reported(), first);
});

// Colours -------------------------------------------------------------------------------------------

seldom("kernels are coloured by class, or by slowness against the other ranks, and the address keeps it", async () => {
  const { page } = await timeline(jobs.ranks, "", { theme: "dark" });
  const seen = async (...places) => colours(page, await Promise.all(places.map(async ([rank, time]) => [await placeOf(page, time * 1000, WHOLE), LANES_TOP + 64 * rank + 10]))); // rows of 64 px
  assert.deepEqual(await seen([0, 10]), [await custom(page, "compute")]);
  await page.selectOption('[data-name="Colour"]', "class");
  assert.equal(await address(page), "/color=class");
  assert.deepEqual(await seen([0, 10], [0, 70]), [await custom(page, "class-0"), await custom(page, "class-1")]);
  await page.selectOption('[data-name="Colour"]', "slowness");
  await page.waitForSelector('body[data-slowness="complete"]');
  await address(page);
  const equal = await custom(page, "work-5"), grey = await custom(page, "ink-3"), slow = await custom(page, "wait-17");
  assert.deepEqual(await seen([0, 10], [3, 10], [1, 70], [0, 92], [1, 92]), [equal, slow, equal, grey, equal]);
  assert.match(await hovered(page, await placeOf(page, 10_000, WHOLE), LANES_TOP + 64 * 3 + 10), /sgemm.*50\.0 µs · 2\.50× the other ranks’ median/);
  assert.equal(await address(page), "/color=slowness");
  await page.reload();
  await page.waitForSelector('body[data-slowness="complete"]');
  assert.deepEqual([await address(page), await seen([3, 10])], ["/color=slowness", [slow]]);
});

// Counters ------------------------------------------------------------------------------------------

seldom("counters stand below a rank's lanes, with their values in words, and the address keeps them", async () => {
  const { page } = await timeline(jobs.launched, "", { theme: "dark" });
  for (const key of ["queue", "copies", "recorded:clock, of the SMs, MHz"]) await page.selectOption('[data-name="Counters"]', key);
  const kept = await address(page);
  assert.equal(decodeURIComponent(kept), "/counters=queue,copies,recorded:clock%2C of the SMs%2C MHz");
  const row = (counter) => LANES_TOP + 64 + 28 * counter; // below lanes of 64 px, rows of 28 px
  /* the gemm is launched at 20 us and begins at 70, the copy is launched at 56 and begins at 60; the copy moves 4000 bytes in 2 us */
  for (const [counter, time, value] of [[0, 10, "0"], [0, 30, "1"], [0, 58, "2"], [0, 65, "1"], [0, 80, "0"], [1, 61, "2.00 GB/s"], [1, 65, "0.00 GB/s"], [2, 30, "1500"], [2, 80, "1200"]])
    assert.equal((await hovered(page, await placeOf(page, time * 1000, WHOLE), row(counter) + 10)).split(": ").pop(), value, `${counter} at ${time} us`);
  await reload(page);
  assert.equal(await address(page), kept);
  await press(page, "."); // selects the copy at 60
  assert.match(await details(page), /When it began: queue 1, copies 2\.00 GB\/s, clock, of the SMs, MHz 1200\./);
});

// Width and accessibility ---------------------------------------------------------------------------

const STATES = [["launched", "/event=0.0.70000.10000/rank=0"], ["launched", "/event=6.3.10000.30000/open=0/rank=0"], ["ranks", "/color=slowness"], ["launched", "/counters=queue,copies/open=0"],
  ["ranks", "/map=compute"], ["ranks", "/mark=0-200000/sums=kernels"], ["ranks", "/mark=0-200000/lanes=0-1/sums=classes"], ["ranks", "/find=gemm/list=1"]];
for (const [i, [job, hash]] of STATES.entries())
  seldom(`what is selected or chosen fits at every width, and axe finds nothing serious: ${hash}`, async () => {
    for (const theme of FULL ? THEMES : [THEMES[i % 2]]) {
      const { page } = await timeline(jobs[job], hash, { theme });
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, `${theme}, ${width}: too wide`);
        if (width === 800) assert.deepEqual(await grave(page), [], theme);
      }
    }
  });
