// Each item that the page must show, reached by keyboard only, at three widths, dark and light.
//
// Nothing here clicks, points or sets the focus: either Tab reaches a control or the test fails. The expected
// content of each item is worked out by hand from the job.
import assert from "node:assert/strict";
import { before } from "node:test";
import { closeTo, full, grave, kernel, merge, open, seldom, show, synth, text, THEMES, trace, visit } from "./page.mjs";
import { COMPLETE, custom as color, drawn, GUTTER, LANES_TOP, RIGHT } from "./timeline.mjs";

const RANKS = 18, BY_HOST = 6;

/** Trace of one of 18 ranks on 3 hosts. It takes 1,000 us; all times are in us. Rank r computes from 50 on, for 50 (r + 1). In an
 * all-reduce of all ranks, the last one, rank 17, arrives at 950, and all end at 958. Then each computes for 10 again, and ranks 0 to 11
 * have an all-reduce without a wait. */
function traceOf(rank) {
  const on = (cat, name, ts, dur, args = {}) => ({ ph: "X", cat, name, pid: 1, tid: 1, ts, dur, args }), ready = 100 + 50 * rank;
  const call = (name, ts, correlation) => on("cuda_runtime", name, ts, 2, { correlation });
  const mm = (ts, more) => on("cpu_op", "aten::mm", ts, 30, { "Input Dims": [[100, 1000], [1000, 1000]], "Input type": ["float", "float"], ...more });
  const gemm = (ts, dur, correlation) => kernel("sgemm_128x128", ts, dur, { correlation, grid: [128, 2, 1], block: [256, 1, 1] });
  const meet = (ts, end, correlation, group, n, of) => kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", ts, end - ts, { correlation, "Collective name": "allreduce",
    "In msg nelems": n, "Out msg nelems": n, dtype: "Float", "Group size": of, "Process Group Name": group, "Process Group Ranks": JSON.stringify([...Array(of).keys()]) });
  const memory = (ts, place, mib, all) => ({ ph: "i", cat: "cpu_instant_event", s: "t", name: "[memory]", pid: 1, tid: 1, ts,
    args: { "Device Type": 1, "Device Id": 0, Addr: place << 20, Bytes: mib * 2 ** 20, "Total Allocated": all * 2 ** 20, "Total Reserved": 2 ** 26 } });
  return trace(`made_rank_${rank}.json`, [
    on("python_function", "train.py(3): step", 0, 800), on("python_function", "nn.Module: Linear_0", 5, 60), on("cpu_op", "aten::linear", 8, 50),
    mm(10, { "Call stack": "train.py(3): step;model.py(7): forward" }), call("cudaLaunchKernel", 20, 1), gemm(50, 50 * (rank + 1), 1),
    call("cudaLaunchKernel", 62, 2), meet(ready, 958, 2, "0", 2000, RANKS),
    mm(70), call("cudaLaunchKernel", 80, 3), gemm(960, 10, 3),
    ...(rank < 2 * BY_HOST ? [call("cudaLaunchKernel", 104, 4), meet(975, 985, 4, "1", 500, 2 * BY_HOST)] : []),
    call("cudaLaunchKernel", 790, 5), kernel("vectorized_elementwise_kernel", 990, 10, { correlation: 5 }),
    ...[130, 400, 700].flatMap((ts, i) => [call("cudaMemcpyAsync", ts - 10, 11 + i), { ...kernel("Memcpy HtoD (Pinned -> Device)", ts, 4, { correlation: 11 + i, bytes: 8000 }, 8), cat: "gpu_memcpy" }]),
    /* 4 MiB that the layer allocates and frees, 2 MiB that stay */
    memory(15, 1, 4, 4), memory(35, 9, 2, 6), memory(45, 1, -4, 2),
    ...[[0, 1500], [500, 1200]].map(([ts, value]) => ({ ph: "C", name: "clock", pid: 0, tid: 0, ts, args: { MHz: value } })),
  ], { host_name: `host${Math.floor(rank / BY_HOST)}`, distributedInfo: { rank, world_size: RANKS },
    deviceProperties: [{ id: 0, name: "NVIDIA H100 80GB HBM3", totalGlobalMem: 85028372480, numSms: 132 }] });
}

const jobs = {};
before(() => {
  jobs.made = merge("made", Array.from({ length: RANKS }, (_, rank) => traceOf(rank)));
  jobs.episode = merge("episode", synth("episode-traces", { ranks: 8, ranks_per_host: 4, steps: 24, layers: 4, cpu_ops: 1, slow: "3:1.6:10-16" }));
  jobs.pipe = merge("pipe", synth("pipe-traces", { ranks: 4, pp: 2, microbatches: 2, steps: 3, layers: 4, cpu_ops: 1 }));
});

// What a reader does and sees -----------------------------------------------------------------------

const plain = (words) => words.replace(/[\u00a0\u202f]/g, " ");
const said = async (page, selector) => plain(await page.$eval(selector, (e) => e.textContent));
const details = (page) => said(page, ".tl-details");
const label = async (page) => plain(await page.evaluate(() => document.activeElement.getAttribute("aria-label")));
const all = async (page, selector) => (await page.$$eval(selector, (found) => found.map((e) => e.textContent))).map(plain);
const cells = async (page, table) => (await page.$$eval(`${table} tbody tr`, (rows) => rows.map((tr) => [...tr.cells].map((td) => td.textContent)))).map((row) => row.map(plain));

async function press(page, ...keys) {
  for (const key of keys) await page.keyboard.press(key);
}

/** Presses Tab until the focus is on a control that matches the selector and whose name matches the pattern; for a chart, waits until it
 * is drawn. */
async function reach(page, selector, pattern = /(?:)/, key = "Tab") {
  for (let i = 0; i < 150; i++) {
    await page.keyboard.press(key);
    const there = ([css, name]) => { const at = document.activeElement; return at.matches(css) && new RegExp(name).test(at.getAttribute("aria-label") ?? at.textContent); };
    if (await page.evaluate(there, [selector, pattern.source])) return page.waitForFunction(() => !document.activeElement.matches(".chart:not([data-drawn])"));
  }
  assert.fail(`Tab does not reach ${selector} ${pattern}`);
}

/** Reaches a control and presses a key: the control keeps the focus, or another gets it if the control is gone; checks the address. */
async function use(page, selector, { named, key = "Enter", tab = "Tab", then } = {}) {
  await reach(page, selector, named, tab);
  const name = await page.evaluate(() => (window.nameOf = (e) => e.dataset.value ?? e.dataset.name ?? e.getAttribute("aria-label") ?? e.textContent)(document.activeElement));
  await page.keyboard.press(key);
  const kept = ([css, own]) => { const at = document.activeElement, same = [...document.querySelectorAll(css)].filter((e) => !e.disabled && window.nameOf(e) === own); return same.length > 0 ? same.includes(at) : at !== document.body; };
  assert.ok(await page.evaluate(kept, [selector, name]), `${selector} ${name}: the focus is lost`);
  if (then) await at(page, then);
}

/** Checks that the address contains all of this; returns its parameters. */
async function at(page, expected) {
  await page.waitForSelector("body:not([data-address])");
  const own = Object.fromEntries((await page.evaluate(() => location.hash)).split("/").slice(1).map((part) => part.split("=").map(decodeURIComponent)));
  assert.deepEqual(Object.fromEntries(Object.keys(expected).map((key) => [key, own[key]])), expected);
  return own;
}

/** Window in the address [ns]. */
const span = async (page) => (await at(page, {})).t.split("-").map(Number);

/** Opens a link from another view, like somebody who was given the link. */
async function follow(page, hash) {
  await visit(page, "#about");
  await visit(page, hash);
  if (hash.startsWith("#timeline")) await page.waitForSelector(COMPLETE);
}

/** Checks that the link restores the same words at the same address. */
async function kept(page, selector) {
  const now = async () => { await at(page, {}); return [await page.evaluate(() => location.hash), await said(page, selector)]; }, before = await now();
  await follow(page, before[0]);
  assert.deepEqual(await now(), before);
}

/* Records the texts written on canvases. */
function noteTexts() {
  const { fillText } = CanvasRenderingContext2D.prototype;
  window.written = [];
  CanvasRenderingContext2D.prototype.fillText = function (...words) { window.written.push(words); return fillText.apply(this, words); };
}

/** Texts on the redrawn timeline: [text, x, y], from the top down. */
async function written(page) {
  await drawn(page);
  await page.evaluate(() => { window.written.length = 0; dispatchEvent(new Event("resize")); });
  await drawn(page);
  return (await page.evaluate(() => window.written)).map(([words, ...place]) => [plain(words), ...place]).sort((a, b) => a[2] - b[2]);
}

/** Colours down the timeline's canvas at a time [us]; reads a copy, because the browser warns when a canvas is read twice. */
async function column(page, time, shift = 0) {
  await drawn(page);
  return page.evaluate(([share, left, right, dx]) => {
    const canvas = document.querySelector("canvas"), { width, height } = canvas, context = new OffscreenCanvas(1, height).getContext("2d");
    context.drawImage(canvas, -Math.round(left + share * (width - left - right)) - dx, 0);
    const { data } = context.getImageData(0, 0, 1, height);
    return Array.from({ length: height }, (_, y) => `#${[...data.slice(4 * y, 4 * y + 3)].map((part) => part.toString(16).padStart(2, "0")).join("")}`);
  }, [time / 1000, GUTTER, RIGHT, shift]);
}

// Items ---------------------------------------------------------------------------------------------

const ROWS = [];
const item = (job, hash, name, act) => ROWS.push({ job, hash, name, act });

item("made", "#timeline/rank=3", "2: an event's panel, and from it to its like, to its launch and back", async (page) => {
  await press(page, "t", ".");
  /* The gemm of rank 3 takes 200 us and ends at 250; all wait for rank 17 until 950, which is 700 later. 36 gemms of 2 x 100 x 1000 x
   * 1000 operations take 50 (1 + ... + 18) + 18 x 10 = 8,730 us: 7.2e9 / 8.73e-3 s = 0.825 TFLOP/s. */
  const own = await details(page);
  for (const words of ["sgemm_128x128compute, rank 3, host0, stream 7", "200.0 µs from 50.0 µs", "Launched by cudaLaunchKernel at 20.0 µs, 30.0 µs before it began. Correlation 1.", "grid 128 × 2 × 1, block 256 × 1 × 1",
    "Operators: aten::mm in aten::linear", "Modules: Linear_0", "Python: train.py(3): step", "Inputs of aten::mm: [[100,1000],[1000,1000]]", "Class: matrix multiply; 0.825 TFLOP/s", "Not on the critical path: it could have ended 700.0 µs later",
    "No. 1 of 2 on this rank, median 105.0 µs; longest of all 900.0 µs on rank 17.", "No. 1 of 2, 0.40× as long as their median 500.0 µs."]) assert.ok(own.includes(words), `${words}: ${own}`);
  assert.deepEqual(await all(page, ".tl-peers li"), Array.from({ length: RANKS }, (_, i) => RANKS - 1 - i).filter((rank) => rank !== 3).map((rank) => `rank ${rank} ${50 * (rank + 1)}.0 µs`));
  /* The arrow ends left of the kernel, in its pinned row; without a selection there is no arrow. */
  const ink = await color(page, "ink"), arrow = async () => (await column(page, 50, -5)).slice(LANES_TOP, LANES_TOP + 30).includes(ink), there = await arrow();
  await press(page, "Escape");
  assert.deepEqual([there, await arrow()], [true, false]);
  await press(page, "Shift+ArrowDown", ".");
  await use(page, ".tl-details summary");
  assert.deepEqual(await all(page, ".tl-details details[open] li"), ["train.py(3): step", "model.py(7): forward"]);
  await use(page, ".tl-details button", { named: /^Next run/, then: { rank: "3", event: "0.0.960000.10000" } });
  await press(page, "l"); // each kernel of 10 us was launched at 80
  await at(page, { event: "9.2.80000.2000" });
  assert.match(await details(page), /^cudaLaunchKernel.*Launched 1 event: 10\.0 µs\./);
  await use(page, ".tl-launched button", { named: /^sgemm/, then: { event: "0.0.960000.10000" } });
  await use(page, ".tl-details button", { named: /^The slowest/, then: { rank: "17", event: "0.0.50000.900000" } });
  assert.match(await details(page), /On the critical path for 900\.0 µs: a later end would have delayed the job\..*the longest of all/);
  await use(page, ".tl-peers li:nth-child(2) button", { then: { rank: "15", event: "0.0.50000.800000" } });
});

item("made", "#timeline", "3: sums of an area over chosen lanes, in the link and as CSV", async (page) => {
  await press(page, "Shift+ArrowDown", "Shift+ArrowDown", "Shift+M", "Shift+ArrowDown", "Shift+M");
  await at(page, { lanes: "1-2", mark: "0-1000000" });
  const sums = async () => (await page.$$eval(".tl-sums tbody tr", (rows) => rows.map((tr) => [...tr.cells].map((td) => td.title || td.textContent)))).map(([name, ...values]) =>
    [name, ...values.map((value) => (/ns$/.test(value) ? 1e-3 : 1) * Number(value.replace(/[^0-9.]/g, "")))]);
  /* Ranks 1 and 2 [us]: gemms of 100 and 150, on each a second gemm and another kernel of 10; waits of 800 and 750 until 950; transfers
   * of 8 and 10; of three copies of 4, two are not hidden by a gemm. */
  assert.deepEqual(await sums(), [["1", 120, 18, 800, 0, 8], ["2", 170, 18, 750, 0, 8]]);
  await use(page, '.tl-details [data-value="kernels"]');
  // count, sum, share of the kernels' 1,900 us [%], mean, max, rank 1, rank 2, their difference
  const [nccl, gemm] = ["ncclDevKernel_AllReduce_Sum_f32_RING_LL", "sgemm_128x128"];
  assert.deepEqual(await sums(), [[nccl, 4, 1586, 83.5, 396.5, 808, 818, 768, 50], [gemm, 4, 270, 14.2, 67.5, 150, 110, 160, 50], ["Memcpy HtoD (Pinned -> Device)", 6, 24, 1.3, 4, 4, 12, 12, 0], ["vectorized_elementwise_kernel", 2, 20, 1.1, 10, 10, 10, 10, 0]]);
  const [download] = await Promise.all([page.waitForEvent("download"), use(page, ".tl-details button", { named: /^Save as CSV/ })]);
  await download.saveAs("area.csv");
  assert.deepEqual(text("area.csv").split("\r\n").slice(0, 3), ["kernel,count,sum_ns,self_ns,mean_ns,max_ns,rank_1_ns,rank_2_ns", `${nccl},4,1586000,1586000,396500,808000,818000,768000`, `${gemm},4,270000,270000,67500,150000,110000,160000`]);
  await use(page, '.tl-details [data-value="operators"]', { tab: "Shift+Tab" });
  // linear takes 50 and contains one of two mm of 30, so 20 itself; the self times sum to 160, of which mm has 75 %
  assert.deepEqual(await sums(), [["aten::mm", 4, 120, 120, 75, 30, 30, 60, 60, 0], ["aten::linear", 2, 100, 40, 25, 50, 50, 50, 50, 0]]);
  await use(page, '.tl-details [data-value="classes"]');
  assert.deepEqual((await sums()).map((row) => row.slice(0, 3)), [["communication", 4, 1586], ["matrix multiply", 4, 270], ["copy or set", 6, 24], ["elementwise", 2, 20]]);
  await kept(page, ".tl-details");
});

item("made", "#timeline", "4: lanes are pinned, moved, hidden, ordered and folded, and the link keeps it", async (page) => {
  const lanes = async (n) => (await written(page)).filter(([, x]) => x === 8).slice(0, n).map(([words]) => words.replace(/^[▸▾] (rank )?/, ""));
  assert.deepEqual(await lanes(4), ["host0", "0", "1", "2"]);
  await press(page, "Shift+ArrowDown", "t", "Shift+ArrowDown", "Shift+ArrowDown", "t", "<");
  await at(page, { pin: "2,0", rank: "2" });
  assert.deepEqual(await lanes(5), ["2", "0", "host0", "1", "3"]);
  await press(page, "Shift+ArrowDown", "Shift+ArrowDown", "x");
  assert.deepEqual(await lanes(4), ["2", "0", "host0", "3"]);
  for (const [order, by] of [["wait", 1], ["compute", -1]]) { // the lower the rank's number, the longer it waits
    await use(page, 'select[data-name="Order"]', { key: "ArrowDown", tab: order === "wait" ? "Tab" : "Shift+Tab" });
    await at(page, { pin: "2,0", hide: "1", order });
    const [first, second, ...rest] = (await lanes()).map(Number);
    assert.ok(first === 2 && second === 0 && rest.length > 2 && rest.every((rank, i) => rank === rest[0] + by * i), rest.join());
    await press(page, "Tab");
  }
  await kept(page, ".tl-arrange");
  for (const button of ["fold", "unpin"]) await use(page, `.tl-arrange [data-value="${button}"]`);
  await at(page, { pin: undefined, hide: "1", fold: "all" });
  assert.deepEqual((await lanes()).sort(), ["host0 (6)", "host1 (6)", "host2 (6)"]);
  for (const button of ["show", "unfold"]) await use(page, `.tl-arrange [data-value="${button}"]`);
  await at(page, { hide: undefined, fold: undefined });
});

item("made", "#timeline/pin=0", "4: counters below the lanes, and the link keeps them", async (page) => {
  await use(page, 'select[data-name="Counters"]', { key: "ArrowDown" });
  await press(page, ...Array(5).fill("ArrowDown")); // each key press adds the first counter not yet shown
  await at(page, { counters: "memory,queue,bandwidth,copies,compute,recorded:clock%2C MHz" });
  /* Maximum of each counter: 4 plus 2 MiB; from 120 to 130 a copy and three kernels launched earlier are queued; 8,000 bytes within 8 us
   * after the last arrival, and within the 4 us of a copy; 1,500 MHz until half of the time has passed. */
  let texts;
  do texts = await written(page); while (!texts.some(([words]) => words === "≤ 1 500")); // counters are computed in slices
  const own = ["memory", "queue", "collectives", "copies", "compute", "clock, MHz"].map((name) => texts.find(([words]) => words === name));
  assert.deepEqual(own.map(([, x, y]) => texts.find((each) => each[1] === x && each[2] === y + 12)[0]), ["≤ 6.00 MiB", "≤ 4", "≤ 1.00 GB/s", "≤ 2.00 GB/s", "≤ 100 %", "≤ 1 500"]);
  const ground = await color(page, "panel"), top = Math.round(own[5][2] - 6 + 2); // the lane begins 6 px above its name; later values fill four fifths of it
  assert.deepEqual([(await column(page, 300))[top] === ground, (await column(page, 800))[top] === ground], [false, true]);
  await kept(page, ".tl-arrange");
  await use(page, '.tl-arrange [data-value="copies"]', { key: " ", then: { counters: "memory,queue,bandwidth,compute,recorded:clock%2C MHz" } });
});

item("made", "#timeline/pin=17,0", "4: colours by kind, class and slowness", async (page) => {
  const seen = async (rank, time) => (await column(page, time))[Math.round((await written(page)).find(([words]) => words === `▸ rank ${rank}`)[2]) - 6];
  assert.equal(await seen(17, 500), await color(page, "compute"));
  await use(page, 'select[data-name="Colour"]', { key: "ArrowDown" });
  assert.equal(await seen(17, 500), await color(page, "class-0"));
  assert.match(await said(page, ".tl-legend"), /matrix multiplyelementwise/);
  await press(page, "ArrowDown");
  await page.waitForSelector('body[data-slowness="complete"]');
  /* rank 17 computes 900 us against a median of 450 of the others; rank 0 computes 50 against 500, and later 10 like all others */
  assert.deepEqual([await seen(17, 500), await seen(0, 75), await seen(0, 965)], [await color(page, "wait-17"), await color(page, "work-15"), await color(page, "work-5")]);
  await at(page, { color: "slowness" });
  await kept(page, ".tl-legend");
});

item("made", "#timeline/rank=2/t=0-110000", "4: call stacks are a flame chart", async (page) => {
  await press(page, ".", "l"); // goes to the call at 20, which is nested in a Python function, a module and two operators
  await at(page, { open: "2", event: "9.4.20000.2000" });
  const calls = (await written(page)).filter(([words, x]) => x > GUTTER && /^(train|nn\.M|aten::linear)/.test(words));
  assert.deepEqual(calls.map(([words, , y]) => [words.slice(0, 5), Math.round(y - calls[0][2])]), [["train", 0], ["nn.Mo", 12], ["aten:", 24]], "rows of 12 pixels");
  await kept(page, ".tl-details");
});

item("made", "#timeline", "5: a map of hosts and time, with its axes, that zooms in", async (page) => {
  await press(page, "v");
  await at(page, { map: "compute", fold: "all" });
  assert.match(await details(page), /^A map of ranks and time/);
  const texts = await written(page), y = (host) => Math.round(texts.find(([words]) => words.startsWith(`▸ host${host}`))[2]) - 6;
  const ticks = texts.filter(([words]) => / ms$/.test(words)), wide = (await page.$eval("canvas", (e) => e.clientWidth)) - GUTTER - RIGHT;
  assert.ok(ticks.length >= 2 && ticks.every(([words, x]) => Math.abs(x - 4 - GUTTER - parseFloat(words) * wide) <= 1), ticks.join(" "));
  /* At 225 us three of the first six ranks compute, and all ranks of the other hosts; the rest wait. */
  const shades = async (ramp, ...steps) => {
    const seen = await column(page, 225);
    assert.deepEqual([0, 1, 2].map((host) => seen[y(host)]), await Promise.all(steps.map((step) => color(page, `${ramp}-${step}`))));
  };
  await shades("work", 10, 20, 20);
  await use(page, 'select[data-name="Measure"]', { key: "ArrowDown" });
  await shades("wait", 10, 0, 0);
  await press(page, "ArrowDown", "ArrowDown");
  await at(page, { map: "memory" });
  assert.match(await said(page, ".tl-scale"), /allocated device memory/);
  await reach(page, "canvas");
  await press(page, "Shift+ArrowDown", "Shift+ArrowDown");
  assert.match(await details(page), /^Host host1.*6 ranks: 6–11\./);
  await press(page, "Enter", "Shift+ArrowDown", "Enter"); // unfolds, then opens the lanes: an eighth of the millisecond around its middle
  await at(page, { map: undefined, fold: "0,12", rank: "7", t: "437500-562500" });
});

item("episode", "#steps", "5: the trend of step times, with its episodes, leads to a step", async (page) => {
  /* As generated: steps are 3 to 26; in steps 10 to 16, rank 3 takes 1.6 times as long. */
  assert.equal(await page.$eval("[data-episodes]", (e) => e.dataset.episodes), "10-16");
  await reach(page, ".chart", /^Length of 24 steps.*marked: rank 3, steps 10 to 16/);
  const reported = [];
  for (let step = 3; step <= 10; step++) {
    await press(page, "ArrowRight");
    const [, number, time, unit, marked] = /^step (\d+): ([\d.]+) (ms|µs)(rank 3, steps 10 to 16)?/.exec(await said(page, "#tip"));
    assert.deepEqual([Number(number), marked !== undefined], [step, step === 10]);
    reported.push(Number(time) * (unit === "ms" ? 1000 : 1));
  }
  assert.ok(reported[7] > 1.2 * reported[6], `${reported}`);
  await press(page, "Enter");
  await page.waitForSelector(COMPLETE);
  const [begin, end] = await span(page);
  assert.ok(Math.abs((end - begin) / 1000 / reported[7] - 1) < 0.1, `${end - begin} ns, not ${reported[7]} us`);
});

item("pipe", "#pipelines", "6: stages and their micro-batches, the bubble against the ideal one, late senders against transfers", async (page, store) => {
  /* Two micro-batches on two stages: each stage is idle in one of three time slots. */
  assert.match(await said(page, "h1"), /^The pipeline’s bubble is 3\d\.\d % of its time, 33\.3 % if all were even$/);
  const { "bubble.pass": passes, "bubble.pair": pairs } = show(store, "bubble.pass", "bubble.pair"), late = await cells(page, '[data-of="bubble.pair"]');
  /* Each of two ranks sends 4 MiB forward, or backward, for 2 micro-batches in each of 3 steps. */
  assert.deepEqual(late.map((row) => row.slice(0, 6).join(" ")).sort(), ["0 2 0 1", "1 3 0 1", "2 0 1 0", "3 1 1 0"].map((ends) => `${ends} 6 25.2 MB`));
  for (const row of late) {
    const pair = pairs.find(({ from_rank }) => String(from_rank) === row[0]);
    assert.ok(closeTo(row[6], pair.late_sender_ns) && closeTo(row[8], pair.transfer_ns), row.join());
  }
  await use(page, 'select[data-name="Step"]', { key: "Home", then: { step: "3" } });
  await reach(page, "main canvas");
  const own = passes.filter(({ step }) => step === 3), begin = Math.min(...own.map((pass) => pass.begin_ns)), [from, to] = [0, 1].map((stage) => own.find((pass) => pass.stage === stage).rank);
  for (const [key, direction, number, rank] of [["ArrowRight", "forward", 1, from], ["ArrowRight", "forward", 2, from], ["ArrowDown", "forward", 1, to], ["ArrowRight", "forward", 2, to], ["ArrowRight", "backward", 1, to]]) {
    await press(page, key);
    const pass = own.find((each) => each.rank === rank && each.direction === direction && each.number === number), words = await said(page, ".flame-readout");
    const [, reported, took, after] = /^(.*, rank \d)([\d.]+ .s), from ([\d.]+ .?s) after/.exec(words);
    const near = (text, time) => Math.abs(parseFloat(text) * (/ms/.test(text) ? 1e6 : 1e3) - time) < 6000; // times since the epoch exceed a double's precision
    assert.ok(reported === `${direction} pass ${number}, rank ${rank}` && near(took, pass.end_ns - pass.begin_ns) && near(after, pass.begin_ns - begin), `${key}: ${words}`);
  }
  await press(page, "Enter");
  await page.waitForSelector(COMPLETE);
  const [first, last] = await span(page), { begin_ns, end_ns } = own.find(({ rank, direction, number }) => rank === to && direction === "backward" && number === 1);
  assert.ok(last - first >= end_ns - begin_ns && last - first < 3 * (end_ns - begin_ns), `${first}-${last}`);
});

item("made", "#timeline", "7: what a search finds is a list to step through, with sums by kind", async (page) => {
  await press(page, "/");
  await page.keyboard.type("/^sgemm/ kind:compute rank:4-17 dur>500us");
  await use(page, ".tl-find button", { named: /^List/ });
  /* 50 (r + 1) exceeds 500 from rank 10 on: 550 to 900 on 8 ranks, 5,800 in total. */
  assert.match(await details(page), /8 found, in order of time.*compute8.*5\.80 ms.*725\.0 µs.*900\.0 µs/);
  assert.deepEqual((await all(page, ".tl-results button")).map((words) => words.split(" at ")[0]), [10, 11, 12, 13, 14, 15, 16, 17].map((rank) => `rank ${rank}, ${50 * (rank + 1)}.0 µs`));
  for (const [rank, place] of [[12, 3], [13, 4]]) {
    await use(page, `.tl-results li:nth-child(${place}) button`);
    await at(page, { rank: String(rank), event: `0.0.50000.${50_000 * (rank + 1)}` });
    assert.match(await said(page, ".tl-find output"), new RegExp(`^${place} of 8 found: 8 kernels 5\\.80 ms`));
  }
  await press(page, "/", "Enter");
  await at(page, { rank: "14", list: "1" });
  await kept(page, ".tl-results");
  await press(page, "/");
  await page.keyboard.type("/(/");
  assert.match(await said(page, ".tl-find output"), /^Not understood: not a regular expression/);
});

item("made", "#kernels", "9: kernels with who launches them", async (page) => {
  await use(page, '[data-value="launcher"]');
  /* The first mm launches 18 gemms of 50 to 900, in a module; the second launches those of 10. 8,550 of 8,730 us are 97.9 %. */
  const rows = () => cells(page, '[data-of="kernels.launched"]');
  assert.deepEqual((await rows()).filter(([name]) => name.startsWith("sgemm")), [["sgemm_128x128", "aten::mm", "nn.Module: Linear_0", "8.55", "97.9", "18", "475.0", "18", "0.47", "0.90", "17"],
    ["sgemm_128x128", "aten::mm", "train.py(3): step", "0.18", "2.1", "18", "10.0", "18", "0.01", "0.01", "0"]]);
  await use(page, '[data-of="kernels.launched"] th button', { named: /^calls/ });
  assert.deepEqual((await rows()).map((row) => row[5]), ["54", "18", "18", "18", "18", "12"], "three copies of each rank");
  await kept(page, "main");
});

item("made", "#kernels", "9: classes of kernels by rank", async (page) => {
  await reach(page, '[aria-label^="Mean time of a kernel by rank and class"] .cell');
  /* The mean of rank r's two gemms is 25 (r + 1) + 5; the median is 242.5, between 230 and 255 of ranks 8 and 9. */
  for (const [down, words] of [[0, "rank 0, matrix multiply: −88"], [9, "rank 9, matrix multiply: +5.2"], [8, "rank 17, matrix multiply: +88"]]) {
    await press(page, ...Array(down).fill("ArrowDown"));
    assert.equal(await label(page), words);
  }
  await press(page, "ArrowUp", "ArrowRight"); // rank 16 arrives at 900, and all continue at 958
  assert.match(await said(page, "#tip"), /^rank 16, communication58\.0 µs a kernel/);
  while (!(await label(page)).includes("elementwise")) await press(page, "ArrowRight");
  assert.equal(await label(page), "rank 16, elementwise: 0", "as all others, and so without a sign");
});

item("made", "#stacks", "9: call stacks are a flame graph, and operators a tree", async (page) => {
  await reach(page, ".flame");
  const readout = async (key) => { await press(page, key); return said(page, ".flame-readout"); };
  /* All kernels take 8,730 + 7,794 + 120 + 180 and 54 x 4 = 17,040 us; the module launches 8,550 + 7,794 of this. */
  assert.match(await readout("ArrowDown"), /^train\.py\(3\): step17\.0 ms of GPU time that it launched, 100\.0 % of all; itself 0\.70 ms; 18 calls/);
  assert.match(await readout("ArrowDown"), /^nn\.Module: Linear_016\.3 ms of GPU time that it launched, 95\.9 % of all; itself 16\.3 ms; 18 calls/);
  assert.match(await readout("Enter"), /^nn\.Module: Linear_0/, "it fills the width");
  await at(page, { node: "1" });
  await press(page, "Escape"); // goes to its caller; works only if the graph has kept the focus
  await at(page, { node: "0" });
  await use(page, '[data-value="operator"]', { tab: "Shift+Tab" });
  // self time, total time, calls, host time [ms]
  assert.deepEqual((await cells(page, '[data-of="calls.tree"]')).map((row) => row.slice(0, 5)), [["aten::mmin aten::linear", "8.55", "8.55", "18", "0.54"], ["(outside of any operator)", "8.31", "8.31", "–", "–"], ["aten::mm", "0.18", "0.18", "18", "0.54"], ["aten::linear", "0.00", "8.55", "18", "0.90"]]);
});

item("made", "#memory/device=3%20cuda%3A0", "9: memory by category over time, and what lives at its peak", async (page) => {
  /* 4 of 6 MiB are freed within the operator that allocated them, 2 stay. */
  assert.deepEqual((await cells(page, '[data-of="memory.category"]')).map((row) => row.slice(0, 3)), [["temporary, within an operator", "4.00", "66.7"], ["other", "2.00", "33.3"]]);
  assert.deepEqual((await cells(page, '[data-of="memory.live"]')).map((row) => [row[1], row[3], row[5]]), [["aten::linear", "nn.Module: Linear_0", "4.00"], ["aten::linear", "nn.Module: Linear_0", "2.00"]]);
  await reach(page, ".chart", /^Memory over time by category, up to 6\.00\sMiB/);
  for (const [key, reported] of [["Home", "at 15.0 µstemporary, within an operator: 4.00 MiBother: 0 B"], ["End", "at 45.0 µstemporary, within an operator: 0 Bother: 2.00 MiB"]]) {
    await press(page, key);
    assert.equal(await said(page, "#tip"), reported);
  }
  assert.match(await page.getAttribute(".legend a", "href"), /^#timeline\/rank=3\/t=\d+-\d+$/);
});

item("made", "#efficiency", "9: a roofline", async (page) => {
  await reach(page, ".chart", /^Rate of 1 operator against operations per byte/);
  await press(page, "ArrowRight"); // 2e8 operations; 4 bytes for each of 100 x 1000, 1000 x 1000 and 100 x 1000 numbers, 4.8e6; a peak of 66.9 TFLOP/s
  assert.equal(await said(page, "#tip"), "aten::mmfp32, 0.825 TFLOP/s, 1.2 % of the peak41.7 operations per byte, 8.73 ms");
  assert.deepEqual(await cells(page, '[data-of="efficiency.work"]'), [["aten::mm", "[[100,1000],[1000,1000]]", "8.73", "1.2 %", "0.82", "fp32", "7.20 GFLOP", "41.7", "36", "17"]]);
});

/* Lines over time of the last rank, read in the 64th of the width with this index. From 790 to 950 the first collective, the second
 * gemm and the last kernel are queued; 8,000 bytes are copied in a 64th of 950 us. */
for (const [hash, name, chart, places, words] of [["#launches", "the length of the queue", /^Events launched and not yet started/, 55, "at 846.6 µsrank 17: 3.0least 2.0, median 3.0, most 3.0"],
  ["#transfers", "bandwidth", /^Copies, host to device, MB\/s/, 36, "at 403.9 µsrank 17: 538.9 MB/sleast 538.9 MB/s, median 538.9 MB/s, most 538.9 MB/s"]])
  item("made", hash, `9: ${name} over time`, async (page) => {
    await use(page, 'main select[data-name="Rank"]', { key: "End" });
    await at(page, { rank: "17" });
    await reach(page, ".chart", chart);
    await press(page, "Home", ...Array(places).fill("ArrowRight"));
    assert.equal(await said(page, "#tip"), words);
  });

item("made", "#communication", "9: who communicates with whom, host by host", async (page) => {
  await reach(page, '[aria-label^="Who communicates with whom"] .cell');
  /* Rank r waits and transfers for 858 - 50 r in the group of all ranks, 7,794 us in total; 12 ranks on two hosts for 10 each in their
   * group. */
  for (const [key, words] of [["ArrowRight", "host0, host1: 7.91 ms"], ["ArrowRight", "host0, host2: 7.79 ms"], ["ArrowDown", "host1, host2: 7.79 ms"], ["ArrowLeft", "host1, host1: not recorded"]]) {
    await press(page, key);
    assert.equal(await label(page), words);
  }
});

/* The landing set runs each item at one width, in turn, with every third seed, and in one of the two themes. */
for (const [i, { job, hash, name, act }] of ROWS.entries())
  for (const [turn, width] of [800, 1280, 1920].entries())
    (i % 3 === turn ? seldom : full)(`${name}, ${width} px`, async () => {
      const { page: path, store } = jobs[job], { page } = await open(path, { hash, width, theme: THEMES[(i + turn) % 2] });
      await page.evaluate(noteTexts);
      if (hash.startsWith("#timeline")) await page.waitForSelector(COMPLETE);
      await act(page, store);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `${over} px too wide`);
      assert.deepEqual(await grave(page), []);
    });
