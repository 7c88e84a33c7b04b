// The timeline's events: what launched them, what their colours mean, and the counters below them.
import assert from "node:assert/strict";
import { before } from "node:test";
import { ciede2000, lab, parsed, SIGHTS } from "./colour.mjs";
import { grave, kernel, merge, open, settled, test, THEMES, trace, WIDTHS } from "./page.mjs";

const GUTTER = 92, RIGHT = 10, LANES_TOP = 90;
const jobs = {};

/* An event of a thread. */
const host = (cat, name, ts, dur, args = {}) => ({ ph: "X", cat, name, pid: 1, tid: 1, ts, dur, args });

before(() => {
  /* 100 us: mm and its call launch the gemm at 70 us; a call of no operator the copy at 60 us; nobody the last kernel. */
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
  /* Rank 3 takes 50 us where the others take 20; rank 0 runs one kernel twice. */
  jobs.ranks = merge("ranks", [0, 1, 2, 3].map((rank) => trace(`ranks_rank_${rank}.json`, [
    kernel("sgemm_128x128", 0, rank === 3 ? 50 : 20),
    kernel("vectorized_elementwise_kernel", 60, 20),
    kernel("odd_kernel", 90, 4),
    ...(rank === 0 ? [kernel("odd_kernel", 95, 5)] : [kernel("end", 99, 1)]),
  ], { hostname: "h", distributedInfo: { rank, world_size: 4 } })));
});

async function timeline(job, hash = "", more = {}) {
  const opened = await open(job.page, { hash: `#timeline${hash}`, ...more });
  await opened.page.waitForSelector('body[data-timeline="complete"]', { timeout: 20_000 });
  return opened;
}

async function press(page, ...keys) {
  await page.focus("canvas");
  for (const key of keys) await page.keyboard.press(key);
}

/** The address without the view. */
async function address(page) {
  await settled(page);
  return (await page.evaluate(() => location.hash)).replace(/^#timeline/, "");
}

const plain = (words) => words.replace(/[\u00a0\u202f]/g, " ");
const details = async (page) => plain(await page.$eval(".tl-details", (element) => element.textContent));

/** The colour of the canvas at a place, as #rrggbb. */
async function colorAt(page, x, y) {
  const [r, g, b] = await page.evaluate(({ x, y }) => { // of a copy: reading the canvas itself twice is warned of
    const context = new OffscreenCanvas(1, 1).getContext("2d");
    context.drawImage(document.querySelector("canvas"), -x, -y);
    return [...context.getImageData(0, 0, 1, 1).data];
  }, { x: Math.round(x), y: Math.round(y) });
  return `#${[r, g, b].map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

const custom = (page, name) => page.evaluate((key) => getComputedStyle(document.documentElement).getPropertyValue(key).trim(), `--${name}`);

/** Where a time of a job of `whole` is when all of it is in view. */
async function placeOf(page, time, whole) {
  const width = await page.$eval("canvas", (canvas) => canvas.getBoundingClientRect().width);
  return GUTTER + (time / whole) * (width - GUTTER - RIGHT);
}

// Launches ------------------------------------------------------------------------------------------

test("a kernel says what launched it, where in the program and with what, and leads there and back by keys", async () => {
  const { page } = await timeline(jobs.launched, "/rank=0");
  await press(page, ".", ".");
  assert.match(await details(page), /^gemm.*Launched by cudaLaunchKernel at 20\.0 µs, 50\.0 µs before it began\. Correlation 41\./);
  assert.match(await details(page), /Launched with grid 128 × 2 × 1, block 256 × 1 × 1, 40 registers a thread, 2\.00 KiB of shared memory a block, estimated occupancy 37 %\./);
  assert.match(await details(page), /Operators: aten::mm in aten::linearModules: Linear_0Python: train\.py\(3\): stepInputs of aten::mm: \[\[8,16\],\[16,4\]\]/);
  await press(page, "l");
  assert.match(await details(page), /^cudaLaunchKernelruntime or driver call.*Launched 1 event: 10\.0 µs\.gemm 10\.0 µsOperators: aten::mm in aten::linear/);
  const kept = await address(page);
  assert.match(kept, /event=9\.4\.20000\.5000\/rank=0/); // the only rank is open
  await page.reload();
  await page.waitForSelector('body[data-timeline="complete"]');
  assert.equal(await address(page), kept);
  await press(page, "l");
  assert.match(await details(page), /^gemm/);
  await press(page, ",");
  assert.match(await details(page), /^Memcpy DtoH.*Launched by cudaMemcpyAsync.*Correlation 39\.4\.00 kB at 2\.00 GB\/s\.Python: train/); // 4000 B in 2 us
  await press(page, ".", ".");
  assert.match(await details(page), /^lost.*Which call launched it was not recorded\. Correlation 77\./);
});

test("an arrow leads from the selected call to what it launched", async () => {
  for (const theme of THEMES) {
    const { page } = await timeline(jobs.launched, "/open=none/rank=0", { theme });
    const ink = await custom(page, "ink"), x = await placeOf(page, 70_000, 100_000);
    /* the only rank, closed, is 64 px high, of which 57 are its one lane; the head is 4 above the ground */
    const head = () => colorAt(page, x - 3, LANES_TOP + 57 - 4);
    await press(page, ".");
    assert.notEqual(await head(), ink, "of the copy there is none there");
    await press(page, ".");
    await page.waitForTimeout(60);
    assert.equal(await head(), ink, theme);
  }
});

test("an opened rank shows what called what as a flame chart, a row for each depth", async () => {
  const { page } = await timeline(jobs.launched, "/open=0");
  const { left, top } = await page.$eval("canvas", (canvas) => { const { left, top } = canvas.getBoundingClientRect(); return { left, top }; });
  const found = [];
  for (const depth of [0, 1, 2, 3, 4]) { // below lanes of 64 px, the stream's row of 16 and some air: rows of 12
    await page.mouse.move(left + await placeOf(page, 22_000, 100_000), top + LANES_TOP + 64 + 16 + 3 + 12 * depth + 6);
    await page.waitForTimeout(60);
    found.push(plain(await page.textContent(".tl-hover")).split(" · ").find((part) => / \(.*\)$/.test(part)));
  }
  assert.deepEqual(found, ["train.py(3): step (Python function)", "nn.Module: Linear_0 (Python function)", "aten::linear (operator)", "aten::mm (operator)", "cudaLaunchKernel (runtime or driver call)"]);
});

test("an area drawn over rows of a thread is of that thread, and the address keeps it", async () => {
  const { page } = await timeline(jobs.launched, "/open=0");
  const { left, top } = await page.$eval("canvas", (canvas) => { const { left, top } = canvas.getBoundingClientRect(); return { left, top }; });
  const y = top + LANES_TOP + 64 + 16 + 3 + 2 * 12;
  await page.keyboard.down("Shift");
  await page.mouse.move(left + await placeOf(page, 2_000, 100_000), y + 2);
  await page.mouse.down();
  for (const [at, more] of [[50_000, 10], [80_000, 22]]) await page.mouse.move(left + await placeOf(page, at, 100_000), y + more);
  await page.mouse.up();
  await page.keyboard.up("Shift");
  const told = async () => [await page.textContent(".tl-details h2"), await page.$$eval(".tl-sums tbody tr", (rows) => rows.map((row) => [...row.cells].slice(0, 4).map((cell) => cell.textContent)))];
  const expected = ["aten::linear", "1", "40.0", "10.0"], first = await told();
  assert.match(first[0], /^Marked: .*, rank 0, thread \d+$/);
  assert.deepEqual(first[1], [expected, ["aten::mm", "1", "30.0", "30.0"]]); // sum, and without operators inside [us]
  assert.equal(await page.$$eval('.tl-details [data-value="ranks"]', (all) => all.length), 0, "of a thread there are no sums by rank");
  await settled(page);
  await page.reload();
  await page.waitForSelector('body[data-timeline="complete"]');
  assert.deepEqual(await told(), first);
});

// Colours -------------------------------------------------------------------------------------------

test("kernels are coloured by class, or by slowness against the other ranks, and the address keeps it", async () => {
  for (const theme of THEMES) {
    const { page } = await timeline(jobs.ranks, "", { theme });
    const colors = async (...times) => {
      await page.waitForTimeout(60);
      const out = []; // four ranks have rows of 64 px
      for (const [rank, time] of times) out.push(await colorAt(page, await placeOf(page, time * 1000, 100_000), LANES_TOP + 64 * rank + 10));
      return out;
    };
    const [plainly] = await colors([0, 10]);
    assert.equal(plainly, await custom(page, "compute"));
    await page.focus('[data-name="Colour"]');
    await page.keyboard.press("ArrowDown");
    assert.equal(await address(page), "/color=class");
    assert.equal(await page.evaluate(() => document.activeElement.dataset.name), "Colour", "the control keeps the focus");
    assert.deepEqual(await colors([0, 10], [0, 70]), [await custom(page, "class-0"), await custom(page, "class-1")]);
    assert.match(plain(await page.textContent(".tl-legend")), /matrix multiplyelementwise/);
    await page.selectOption('[data-name="Colour"]', "slowness");
    await page.waitForSelector('body[data-slowness="complete"]');
    const equal = await custom(page, "work-5"), grey = await custom(page, "ink-3");
    assert.deepEqual(await colors([0, 10], [3, 10], [1, 70], [0, 92], [1, 92]), [equal, await custom(page, "wait-17"), equal, grey, equal], theme);
    const { left, top } = await page.$eval("canvas", (canvas) => { const { left, top } = canvas.getBoundingClientRect(); return { left, top }; });
    await page.mouse.move(left + await placeOf(page, 10_000, 100_000), top + LANES_TOP + 64 * 3 + 10);
    await page.waitForTimeout(60);
    assert.match(plain(await page.textContent(".tl-hover")), /sgemm.*50\.0 µs · 2\.50× the other ranks’ median/);
    assert.equal(await address(page), "/color=slowness");
    await page.reload();
    await page.waitForSelector('body[data-slowness="complete"]');
    assert.deepEqual([await address(page), await colors([3, 10])], ["/color=slowness", [await custom(page, "wait-17")]]);
  }
});

test("the colours of classes are told apart by every sight", async () => {
  for (const theme of THEMES) {
    const { page } = await timeline(jobs.ranks, "", { theme }), colors = [];
    for (let i = 0; i < 8; i++) colors.push(parsed(await custom(page, `class-${i}`)));
    for (const sight of Object.keys(SIGHTS))
      colors.forEach((a, i) => colors.slice(0, i).forEach((b) => assert.ok(ciede2000(lab(a, sight), lab(b, sight)) > 8, `${theme}, ${sight}: ${a} and ${b}`)));
  }
});

// Counters ------------------------------------------------------------------------------------------

test("counters stand below a rank's lanes, chosen by keys, with their values in words, and the address keeps them", async () => {
  for (const theme of THEMES) {
    const { page } = await timeline(jobs.launched, "", { theme });
    for (const key of ["queue", "copies", "recorded:clock, of the SMs, MHz"]) {
      await page.focus('[data-name="Counters"]');
      await page.selectOption('[data-name="Counters"]', key);
    }
    const kept = await address(page);
    assert.equal(decodeURIComponent(kept), "/counters=queue,copies,recorded:clock%2C of the SMs%2C MHz");
    const { left, top } = await page.$eval("canvas", (canvas) => { const { left, top } = canvas.getBoundingClientRect(); return { left, top }; });
    const row = (counter) => LANES_TOP + 64 + 28 * counter; // below lanes of 64 px, 28 each
    const said = async (counter, time) => {
      await page.mouse.move(left + await placeOf(page, time * 1000, 100_000), top + row(counter) + 10);
      await page.waitForTimeout(60);
      return plain(await page.textContent(".tl-hover")).split(": ").pop();
    };
    /* the gemm is launched at 20 and begins at 70, the copy at 56 and 60; it moves 4000 bytes in 2 us */
    assert.deepEqual([await said(0, 10), await said(0, 30), await said(0, 58), await said(0, 65), await said(0, 80)], ["0", "1", "2", "1", "0"]);
    assert.deepEqual([await said(1, 61), await said(1, 65)], ["2.00 GB/s", "0.00 GB/s"]);
    assert.deepEqual([await said(2, 30), await said(2, 80)], ["1 500", "1 200"]);
    /* the clock falls to four fifths: at a tenth from its top there is something before, and nothing after */
    const ground = await custom(page, "panel"), high = async (time) => colorAt(page, await placeOf(page, time * 1000, 100_000), row(2) + 2.5);
    assert.notEqual(await high(30), ground);
    assert.equal(await high(80), ground, theme);
    await page.reload();
    await page.waitForSelector('body[data-timeline="complete"]');
    assert.equal(await address(page), kept);
    await press(page, "."); // the copy, at 60
    assert.match(await details(page), /When it began: queue 1, copies 2\.00 GB\/s, clock, of the SMs, MHz 1 200\./);
    await press(page, "Escape");
    await page.click('[data-value="copies"]');
    assert.equal(decodeURIComponent(await address(page)), "/counters=queue,recorded:clock%2C of the SMs%2C MHz");
  }
});

// All of them ---------------------------------------------------------------------------------------

test("what is selected or chosen fits at every width, and axe finds nothing serious", async () => {
  for (const [job, hash] of [["launched", "/event=0.0.70000.10000/rank=0"], ["launched", "/event=6.3.10000.30000/open=0/rank=0"], ["ranks", "/color=slowness"], ["launched", "/counters=queue,copies/open=0"],
    ["ranks", "/map=compute"], ["ranks", "/mark=0-200000/sums=kernels"], ["ranks", "/mark=0-200000/lanes=0-1/sums=classes"], ["ranks", "/find=gemm/list=1"]])
    for (const theme of THEMES)
      for (const width of WIDTHS) {
        const { page } = await timeline(jobs[job], hash, { theme, width }), what = `${hash}, ${theme}, ${width}`;
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(over <= 0, `${what} is ${over} px too wide`);
        if (width === 800) {
          assert.deepEqual(await grave(page), [], what);
        }
      }
});
