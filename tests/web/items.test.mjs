// What the page has to show, each item by the keyboard alone, at three widths, dark and light.
//
// Nothing here clicks, points or sets the focus: Tab reaches a control or a test fails. What an item has to say is
// worked out by hand from the job.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, before, test } from "node:test";
import { closeTo, grave, kernel, merge, open, quiet, show, synth, text, THEMES, tmerge, trace, visit } from "./page.mjs";

const GUTTER = 92, RIGHT = 10, LANES_TOP = 90, RANKS = 18, BY_HOST = 6;

/**
 * One of 18 ranks on 3 hosts, in microseconds of 1,000. Rank r computes from 50 on for 50 (r + 1), and all of them meet
 * when the last of them, rank 17, is ready at 950, until 958; then again for 10 each: ranks 0 to 11 meet without a wait.
 */
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
    /* 4 MiB that the layer takes and gives back, 2 that stay */
    memory(15, 1, 4, 4), memory(35, 9, 2, 6), memory(45, 1, -4, 2),
    ...[[0, 1500], [500, 1200]].map(([ts, value]) => ({ ph: "C", name: "clock", pid: 0, tid: 0, ts, args: { MHz: value } })),
  ], { host_name: `host${Math.floor(rank / BY_HOST)}`, distributedInfo: { rank, world_size: RANKS },
    deviceProperties: [{ id: 0, name: "NVIDIA H100 80GB HBM3", totalGlobalMem: 85028372480, numSms: 132 }] });
}

const jobs = {};
const servers = [];

/** Serves a store, as a job whose page is its address. */
async function serve(name, options) {
  const { store } = merge(name, synth(`${name}-traces`, options)), server = spawn(process.env.TMERGE, ["serve", store], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  servers.push(server);
  for await (const part of server.stdout) if (/http:\S+\//.test((said += part))) break;
  return { store, page: /http:\S+\//.exec(said)[0] };
}

before(async () => {
  jobs.made = merge("made", Array.from({ length: RANKS }, (_, rank) => traceOf(rank)));
  jobs.episode = merge("episode", synth("episode-traces", { ranks: 8, ranks_per_host: 4, steps: 24, layers: 4, cpu_ops: 1, slow: "3:1.6:10-16" }));
  jobs.pipe = merge("pipe", synth("pipe-traces", { ranks: 4, pp: 2, microbatches: 2, steps: 3, layers: 4, cpu_ops: 1 }));
  jobs.served = await serve("served", { ranks: 2, steps: 40, layers: 24, cpu_ops: 1 }); // more rows than a page holds
  jobs.large = await serve("large", { ranks: 2, steps: 400, layers: 24, cpu_ops: 1 }); // more events
});
after(() => servers.forEach((server) => server.kill()));

// What a reader does and sees -----------------------------------------------------------------------

const plain = (words) => words.replace(/[\u00a0\u202f]/g, " ");
const said = async (page, selector) => plain(await page.$eval(selector, (e) => e.textContent));
const details = (page) => said(page, ".tl-details");
const active = (page, selector) => page.evaluate((css) => document.activeElement.matches(css), selector);

async function press(page, ...keys) {
  for (const key of keys) await page.keyboard.press(key);
}

/** Presses Tab until a control has the focus: that of a selector, whose name is as a pattern says. */
async function reach(page, selector, pattern = /(?:)/, key = "Tab") {
  for (let i = 0; i < 150; i++) {
    await page.keyboard.press(key);
    if (await page.evaluate(([css, name]) => { const at = document.activeElement; return at.matches(css) && new RegExp(name).test(at.getAttribute("aria-label") ?? at.textContent); }, [selector, pattern.source])) return;
  }
  assert.fail(`Tab does not reach ${selector} ${pattern}`);
}

/** The same of a chart, whose keys mean something once it is drawn. */
async function reachChart(page, selector, pattern) {
  await reach(page, selector, pattern);
  await page.waitForFunction(() => document.activeElement.dataset.drawn);
}

/** The address without the view, as far as it says what is asked for. */
async function params(page, ...keys) {
  await page.waitForSelector("body:not([data-address])");
  const all = Object.fromEntries((await page.evaluate(() => location.hash)).split("/").slice(1).map((part) => part.split("=").map(decodeURIComponent)));
  return keys.length > 0 ? keys.map((key) => all[key]) : all;
}

/** Opens a link anew, as somebody does who was given it. */
async function follow(page, hash) {
  await visit(page, "#about");
  await visit(page, hash);
  if (hash.startsWith("#timeline")) await page.waitForSelector('body[data-timeline="complete"]', { timeout: 60_000 });
}

/** What the link says is there again: the same words at the same address. */
async function kept(page, selector) {
  await params(page);
  const [hash, words] = [await page.evaluate(() => location.hash), await said(page, selector)];
  await follow(page, hash);
  await params(page);
  assert.deepEqual([await page.evaluate(() => location.hash), await said(page, selector)], [hash, words]);
}

/* Notes what is written on a canvas. */
function noteTexts() {
  const { fillText } = CanvasRenderingContext2D.prototype;
  window.written = [];
  CanvasRenderingContext2D.prototype.fillText = function (...all) {
    window.written.push(all);
    return fillText.apply(this, all);
  };
}

const frames = (page) => page.evaluate(async () => { for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame); });

/** What stands on the timeline, drawn anew: [text, x, y] from above. */
async function written(page) {
  await frames(page);
  await page.evaluate(() => { window.written.length = 0; dispatchEvent(new Event("resize")); });
  await frames(page);
  const all = await page.evaluate(() => window.written);
  return all.map(([words, ...place]) => [plain(words), ...place]).sort((a, b) => a[2] - b[2]);
}

/** The colours of the timeline's canvas down a column at a time of the millisecond [us]; read of a copy, for reading it twice is warned of. */
async function column(page, time, shift = 0) {
  await frames(page);
  return page.evaluate(([share, left, right, dx]) => {
    const canvas = document.querySelector("canvas"), { width, height } = canvas, x = Math.round(left + share * (width - left - right)) + dx;
    const context = new OffscreenCanvas(1, height).getContext("2d");
    context.drawImage(canvas, -x, 0);
    const { data } = context.getImageData(0, 0, 1, height);
    return Array.from({ length: height }, (_, y) => `#${[...data.slice(4 * y, 4 * y + 3)].map((part) => part.toString(16).padStart(2, "0")).join("")}`);
  }, [time / 1000, GUTTER, RIGHT, shift]);
}

const color = (page, name) => page.evaluate((key) => getComputedStyle(document.documentElement).getPropertyValue(key).trim(), `--${name}`);
const cells = (page, table) => page.$$eval(`[aria-label="${table}"] tbody tr`, (all) => all.map((tr) => [...tr.cells].map((td) => td.textContent)));
const sums = (page) => page.$$eval(".tl-sums tbody tr", (all) => all.map((tr) => [tr.cells[0].textContent, ...[...tr.cells].slice(1).map((td) => Number((td.title || td.textContent).replace(/[^0-9.]/g, "")))]));

// Items ---------------------------------------------------------------------------------------------

const ROWS = [];
const item = (job, hash, name, act) => ROWS.push({ job, hash, name, act });

item("made", "#timeline/rank=3", "2: an event's panel, and from it to its like, to its launch and back", async (page) => {
  await press(page, "t", ".");
  /* The gemm of rank 3 takes 200 us until 250, and nobody goes on before rank 17 is there at 950: 700 later. 36 gemms of
   * 2 x 100 x 1000 x 1000 operations take 50 (1 + ... + 18) + 18 x 10 = 8,730 us: 7.2e9 / 8.73e-3 s = 0.825 TFLOP/s. */
  const own = await details(page);
  for (const words of ["sgemm_128x128compute, rank 3, host0, stream 7", "200.0 µs from 50.0 µs", "Launched by cudaLaunchKernel at 20.0 µs, 30.0 µs before it began. Correlation 1.", "grid 128 × 2 × 1, block 256 × 1 × 1",
    "Operators: aten::mm in aten::linear", "Modules: Linear_0", "Python: train.py(3): step", "Inputs of aten::mm: [[100,1000],[1000,1000]]", "Class: matrix multiply; 0.825 TFLOP/s", "Not on the critical path: it could have ended 700.0 µs later",
    "No. 1 of 2 on this rank, median 105.0 µs; longest of all 900.0 µs on rank 17.", "No. 1 of 2, 0.40× as long as their median 500.0 µs."]) assert.ok(own.includes(words), `${words}: ${own}`);
  const peers = Array.from({ length: RANKS }, (_, i) => RANKS - 1 - i).filter((rank) => rank !== 3).map((rank) => `rank ${rank} ${50 * (rank + 1)}.0 µs`);
  assert.deepEqual((await page.$$eval(".tl-peers li", (all) => all.map((e) => e.textContent))).map(plain), peers);
  /* The arrow ends left of the kernel, in its pinned row; there is none to the kernel before it is chosen. */
  const ink = await color(page, "ink"), inked = async () => (await column(page, 50, -5)).slice(LANES_TOP, LANES_TOP + 30).includes(ink);
  assert.ok(await inked(), "an arrow from the launch");
  await press(page, "Escape");
  assert.ok(!(await inked()), "no arrow");
  await press(page, "Shift+ArrowDown", ".");
  await reach(page, ".tl-details summary");
  await press(page, "Enter");
  assert.deepEqual(await page.$$eval(".tl-details details[open] li", (all) => all.map((e) => e.textContent)), ["train.py(3): step", "model.py(7): forward"]);
  await reach(page, ".tl-details button", /^Next of/);
  await press(page, "Enter");
  assert.deepEqual(await params(page, "rank", "event"), ["3", "0.0.960000.10000"]);
  await press(page, "l"); // each of 10 us was launched at 80
  assert.deepEqual(await params(page, "event"), ["9.2.80000.2000"]);
  assert.match(await details(page), /^cudaLaunchKernel.*Launched 1 event: 10\.0 µs\./);
  await reach(page, ".tl-launched button", /^sgemm/);
  await press(page, "Enter");
  assert.deepEqual(await params(page, "event"), ["0.0.960000.10000"]);
  assert.ok(await page.evaluate(() => document.activeElement.closest(".tl-details") !== null), "the focus is lost");
  await reach(page, ".tl-details button", /^The slowest/);
  await press(page, "Enter");
  assert.deepEqual(await params(page, "rank", "event"), ["17", "0.0.50000.900000"]);
  assert.match(await details(page), /On the critical path for 900\.0 µs: had it ended later, the job would have\..*the longest of all/);
  await reach(page, ".tl-peers li:nth-child(2) button");
  await press(page, "Enter");
  assert.deepEqual(await params(page, "rank", "event"), ["15", "0.0.50000.800000"]);
});

item("made", "#timeline", "3: sums of an area over chosen lanes, in the link and as CSV", async (page) => {
  await press(page, "Shift+ArrowDown", "Shift+ArrowDown", "Shift+M", "Shift+ArrowDown", "Shift+M");
  assert.deepEqual(await params(page, "lanes", "mark"), ["1-2", "0-1000000"]);
  const us = (rows) => rows.map(([name, ...values]) => [name, ...values.map((value) => (value >= 1000 ? value / 1000 : value))]);
  /* Of ranks 1 and 2: gemms of 100 and 150 and two of 10, all of it computing with 10 more; waits of 800 and 750 until
   * 950; a transfer of 8 and one of 10; of three copies of 4 two that no gemm hides. */
  assert.deepEqual(us(await sums(page)), [["1", 120, 18, 800, 0, 8], ["2", 170, 18, 750, 0, 8]]);
  const tab = async (name, key) => {
    await reach(page, `.tl-details [data-value="${name}"]`, undefined, key);
    await press(page, "Enter");
    assert.ok(await active(page, `.tl-details [data-value="${name}"]`), "the focus is lost");
    return us(await sums(page));
  };
  // count, sum, share of the kernels' 1,900 us [%], mean, max, rank 1, rank 2, their difference
  const [nccl, gemm, copies, point] = [["ncclDevKernel_AllReduce_Sum_f32_RING_LL", 4, 1586, 83.5, 396.5, 808, 818, 768, 50], ["sgemm_128x128", 4, 270, 14.2, 67.5, 150, 110, 160, 50],
    ["Memcpy HtoD (Pinned -> Device)", 6, 24, 1.3, 4, 4, 12, 12, 0], ["vectorized_elementwise_kernel", 2, 20, 1.1, 10, 10, 10, 10, 0]];
  assert.deepEqual(await tab("kernels"), [nccl, gemm, copies, point]);
  const [download] = await Promise.all([page.waitForEvent("download"), reach(page, ".tl-details button", /^Save as CSV/).then(() => press(page, "Enter"))]);
  await download.saveAs("area.csv");
  assert.deepEqual(text("area.csv").trimEnd().split("\r\n").slice(0, 3), ["kernel,count,sum_ns,self_ns,mean_ns,max_ns,rank_1_ns,rank_2_ns", `${nccl[0]},4,1586000,1586000,396500,808000,818000,768000`, `${gemm[0]},4,270000,270000,67500,150000,110000,160000`]);
  // linear holds one of two mm of 30 in its 50: by itself 20; a sum of 220, without what is inside 160
  assert.deepEqual(await tab("operators", "Shift+Tab"), [["aten::mm", 4, 120, 120, 75, 30, 30, 60, 60, 0], ["aten::linear", 2, 100, 40, 25, 50, 50, 50, 50, 0]]);
  assert.deepEqual((await tab("classes")).map((row) => row.slice(0, 3)), [["communication", 4, 1586], ["matrix multiply", 4, 270], ["copy or set", 6, 24], ["elementwise", 2, 20]]);
  await kept(page, ".tl-details");
});

item("made", "#timeline", "4: lanes are pinned, moved, hidden, ordered and folded, and the link keeps it", async (page) => {
  const lanes = async () => (await written(page)).flatMap(([words, x]) => (x === 8 ? [words.replace(/^[▸▾] /, "")] : []));
  assert.deepEqual((await lanes()).slice(0, 4), ["host0", "rank 0", "rank 1", "rank 2"]);
  await press(page, "Shift+ArrowDown", "t", "Shift+ArrowDown", "Shift+ArrowDown", "t", "<");
  assert.deepEqual(await params(page), { pin: "2,0", rank: "2" });
  assert.deepEqual((await lanes()).slice(0, 5), ["rank 2", "rank 0", "host0", "rank 1", "rank 3"]);
  await press(page, "Shift+ArrowDown", "Shift+ArrowDown", "x");
  assert.deepEqual(await params(page), { pin: "2,0", hide: "1" });
  assert.deepEqual((await lanes()).slice(0, 4), ["rank 2", "rank 0", "host0", "rank 3"]);
  await reach(page, 'select[data-name="Order"]');
  await press(page, "ArrowDown"); // most wait first: the lower its number, the longer a rank waits
  const run = async (by) => (await lanes()).slice(2).map((words) => Number(words.slice(5))).every((rank, i, all) => rank === all[0] + by * i && all.length > 2);
  assert.ok(await run(1), (await lanes()).join());
  await press(page, "ArrowDown"); // most compute first
  assert.ok(await active(page, 'select[data-name="Order"]'), "the focus is lost");
  assert.deepEqual(await params(page), { pin: "2,0", hide: "1", order: "compute" });
  assert.ok(await run(-1), (await lanes()).join());
  assert.deepEqual((await lanes()).slice(0, 2), ["rank 2", "rank 0"]);
  await kept(page, ".tl-arrange");
  await reach(page, '.tl-arrange [data-value="fold"]');
  await press(page, "Enter");
  await reach(page, '.tl-arrange [data-value="unpin"]');
  await press(page, "Enter");
  assert.ok(await active(page, "canvas"), "the focus is lost");
  assert.deepEqual(await params(page), { hide: "1", order: "compute", fold: "all" });
  assert.deepEqual((await lanes()).sort(), ["host0 (6)", "host1 (6)", "host2 (6)"]);
  for (const button of ["show", "unfold"]) {
    await reach(page, `.tl-arrange [data-value="${button}"]`);
    await press(page, "Enter");
  }
  assert.deepEqual(await params(page), { order: "compute" });
});

item("made", "#timeline/pin=0", "4: counters below the lanes, and the link keeps them", async (page) => {
  await reach(page, 'select[data-name="Counters"]');
  for (let i = 0; i < 6; i++) await press(page, "ArrowDown"); // each adds the first that is not there
  assert.ok(await active(page, 'select[data-name="Counters"]'), "the focus is lost");
  assert.deepEqual(await params(page, "counters"), ["memory,queue,bandwidth,copies,compute,recorded:clock%2C MHz"]);
  await page.waitForTimeout(100);
  /* The most of each: 4 and 2 MiB; from 120 to 130 a copy and three that were launched before wait; 8,000 bytes in the 8 us behind the last arrival, and in
   * the 4 of a copy; 1,500 MHz until half of the time is over. */
  const all = await written(page), own = ["memory", "queue", "collectives", "copies", "compute", "clock, MHz"].map((name) => all.find(([words]) => words === name));
  assert.deepEqual(own.map(([, x, y]) => all.find((each) => each[1] === x && each[2] === y + 12)[0]), ["≤ 6.00 MiB", "≤ 4", "≤ 1.00 GB/s", "≤ 2.00 GB/s", "≤ 100 %", "≤ 1 500"]);
  const ground = await color(page, "panel"), top = own[5][2] - 6 + 2; // the lane begins 6 above its name
  assert.notEqual((await column(page, 300))[Math.round(top)], ground);
  assert.equal((await column(page, 800))[Math.round(top)], ground, "at four fifths of its most");
  await kept(page, ".tl-arrange");
  await reach(page, '.tl-arrange [data-value="copies"]');
  await press(page, " ");
  assert.deepEqual(await params(page, "counters"), ["memory,queue,bandwidth,compute,recorded:clock%2C MHz"]);
});

item("made", "#timeline/pin=17,0", "4: colours by kind, class and slowness", async (page) => {
  const seen = async (rank, time) => {
    const y = (await written(page)).find(([words]) => words === `▸ rank ${rank}`)[2];
    return (await column(page, time))[Math.round(y) - 6];
  };
  assert.equal(await seen(17, 500), await color(page, "compute"));
  await reach(page, 'select[data-name="Colour"]');
  await press(page, "ArrowDown");
  assert.equal(await seen(17, 500), await color(page, "class-0"));
  assert.match(await said(page, ".tl-legend"), /matrix multiplyelementwise/);
  await press(page, "ArrowDown");
  await page.waitForSelector('body[data-slowness="complete"]');
  /* 900 us against a median of 450 of the others; 50 against 500; then 10 as all */
  assert.deepEqual([await seen(17, 500), await seen(0, 75), await seen(0, 965)], [await color(page, "wait-17"), await color(page, "work-15"), await color(page, "work-5")]);
  assert.deepEqual(await params(page, "color"), ["slowness"]);
  await kept(page, ".tl-legend");
});

item("made", "#timeline/rank=2/t=0-110000", "4: call stacks are a flame chart", async (page) => {
  await press(page, ".", "l"); // to the call at 20, which a Python function, a module and two operators hold
  assert.deepEqual(await params(page, "open", "event"), ["2", "9.4.20000.2000"]);
  const all = (await written(page)).filter(([words, x]) => x > GUTTER && /^(train|nn\.M|aten::linear)/.test(words));
  assert.deepEqual(all.map(([words]) => words.slice(0, 5)), ["train", "nn.Mo", "aten:"]);
  assert.deepEqual(all.map(([, , y]) => Math.round(y - all[0][2])), [0, 12, 24], "rows of 12 pixels");
  await kept(page, ".tl-details");
});

item("made", "#timeline", "5: a map of hosts and time, with its axes, that zooms in", async (page) => {
  await press(page, "v");
  assert.deepEqual(await params(page), { map: "compute", fold: "all" });
  assert.match(await details(page), /^A map of ranks and time/);
  const all = await written(page), y = (host) => Math.round(all.find(([words]) => words.startsWith(`▸ host${host}`))[2]) - 6, ticks = all.filter(([words]) => / ms$/.test(words));
  const wide = (await page.$eval("canvas", (e) => e.clientWidth)) - GUTTER - RIGHT;
  assert.ok(ticks.length >= 2 && ticks.every(([words, x]) => Math.abs(x - 4 - GUTTER - parseFloat(words) * wide) <= 1), ticks.join(" "));
  /* At 225 us three of the first six ranks compute, all of the others; who does not waits. */
  const shades = async (ramp) => Promise.all([0, 1, 2].map(async (host) => { const own = (await column(page, 225))[y(host)]; return (await Promise.all([0, 10, 20].map((step) => color(page, `${ramp}-${step}`)))).indexOf(own); }));
  assert.deepEqual(await shades("work"), [1, 2, 2]);
  await reach(page, 'select[data-name="Measure"]');
  await press(page, "ArrowDown");
  assert.deepEqual(await shades("wait"), [1, 0, 0]);
  await press(page, "ArrowDown", "ArrowDown");
  assert.deepEqual(await params(page, "map"), ["memory"]);
  assert.match(await said(page, ".tl-scale"), /allocated device memory/);
  await press(page, "Shift+Tab", "Escape");
  await press(page, "Shift+ArrowDown", "Shift+ArrowDown");
  assert.match(await details(page), /^Host host1.*6 ranks: 6–11\./);
  await reach(page, "canvas");
  await press(page, "Enter", "Shift+ArrowDown", "Enter"); // unfolds; an eighth of the millisecond around its middle
  assert.deepEqual(await params(page), { fold: "0,12", rank: "7", t: "437500-562500" });
});

item("episode", "#steps", "5: the trend of step times, with its episodes, leads to a step", async (page) => {
  /* Made: rank 3 takes 1.6 times as long in steps 10 to 16 of 3 to 26. */
  assert.equal(await page.$eval("[data-episodes]", (e) => e.dataset.episodes), "10-16");
  await reachChart(page, ".chart", /^Length of 24 steps.*marked: rank 3, steps 10 to 16/);
  const told = [];
  for (let step = 3; step <= 10; step++) {
    await press(page, "ArrowRight");
    const [, number, time, unit, rest] = /^step (\d+): ([\d.]+) (ms|µs)(.*)$/.exec(await said(page, "#tip"));
    told.push([Number(number), Number(time) * (unit === "ms" ? 1000 : 1), /^rank 3, steps 10 to 16/.test(rest)]);
  }
  assert.deepEqual(told.map(([step, , marked]) => [step, marked]), [3, 4, 5, 6, 7, 8, 9, 10].map((step) => [step, step === 10]));
  assert.ok(told[7][1] > 1.2 * told[6][1], `${told}`);
  await press(page, "Enter");
  await page.waitForSelector('body[data-timeline="complete"]');
  const [begin, end] = (await params(page, "t"))[0].split("-").map(Number);
  assert.ok(Math.abs((end - begin) / 1000 / told[7][1] - 1) < 0.1, `${end - begin} ns, not ${told[7][1]} us`);
});

item("pipe", "#pipelines", "6: stages and their micro-batches, the bubble against the ideal one, late senders against transfers", async (page, { store }) => {
  /* Two micro-batches on two stages: of three places in time each stage is in one without anything to do. */
  assert.match(await said(page, "h1"), /^The pipeline’s bubble is 3\d\.\d % of its time, 33\.3 % where all is even$/);
  const { "bubble.pass": passes, "bubble.pair": pairs } = show(store, "bubble.pass", "bubble.pair");
  /* Each of two ranks sends 4 MiB forward, or back, for 2 micro-batches in each of 3 steps. */
  const late = await cells(page, "bubble.pair");
  assert.deepEqual(late.map((row) => row.slice(0, 6).map(plain)).sort(), [["0", "2", "0", "1"], ["1", "3", "0", "1"], ["2", "0", "1", "0"], ["3", "1", "1", "0"]].map((ends) => [...ends, "6", "25.2 MB"]));
  for (const row of late) {
    const own = pairs.find(({ from_rank }) => String(from_rank) === row[0]);
    assert.ok(closeTo(row[6], own.late_sender_ns) && closeTo(row[8], own.transfer_ns), row.join());
  }
  await reach(page, 'select[data-name="Step"]');
  await press(page, "Home");
  assert.deepEqual(await params(page, "step"), ["3"]);
  assert.ok(await active(page, 'select[data-name="Step"]'), "the focus is lost");
  await reach(page, "main canvas");
  const own = passes.filter(({ step }) => step === 3), begin = Math.min(...own.map((pass) => pass.begin_ns)), [from, to] = [0, 1].map((stage) => own.find((pass) => pass.stage === stage).rank);
  const readout = async (key) => { await press(page, key); return said(page, ".flame-readout"); };
  for (const [key, direction, number, rank] of [["ArrowRight", "forward", 1, from], ["ArrowRight", "forward", 2, from], ["ArrowDown", "forward", 1, to], ["ArrowRight", "forward", 2, to], ["ArrowRight", "backward", 1, to]])
    assert.ok((await readout(key)).startsWith(`${direction} pass ${number}, rank ${rank}`), `${key}: ${direction} pass ${number}, rank ${rank}, not ${await said(page, ".flame-readout")}`);
  const pass = own.find(({ rank, direction, number }) => rank === to && direction === "backward" && number === 1);
  const [, took, after] = /, rank \d([\d.]+ .s), from ([\d.]+ .s) after/.exec(await said(page, ".flame-readout"));
  assert.ok(closeTo(took, pass.end_ns - pass.begin_ns) && closeTo(after, pass.begin_ns - begin), `${took}, ${after}`);
  await press(page, "Enter");
  await page.waitForSelector('body[data-timeline="complete"]');
  const [first, last] = (await params(page, "t"))[0].split("-").map(Number);
  assert.ok(last - first >= pass.end_ns - pass.begin_ns && last - first < 3 * (pass.end_ns - pass.begin_ns), `${first}-${last}`);
});

item("made", "#timeline", "7: what a search finds is a list to step through, with sums by kind", async (page) => {
  await press(page, "/");
  await page.keyboard.type("/^sgemm/ kind:compute rank:4-17 dur>500us");
  await reach(page, ".tl-find button", /^List/);
  await press(page, "Enter");
  /* 50 (r + 1) is more than 500 from rank 10 on: 550 to 900, of 8 ranks, together 5,800. */
  assert.match(await details(page), /8 found, in order of time.*compute8.*5\.80 ms.*725\.0 µs.*900\.0 µs/);
  assert.deepEqual((await page.$$eval(".tl-results button", (all) => all.map((e) => e.textContent))).map((words) => plain(words).split(" at ")[0]), [10, 11, 12, 13, 14, 15, 16, 17].map((rank) => `rank ${rank}, ${50 * (rank + 1)}.0 µs`));
  for (const [rank, place] of [[12, 3], [13, 4]]) {
    await reach(page, `.tl-results li:nth-child(${place}) button`);
    await press(page, "Enter");
    assert.deepEqual(await params(page, "rank", "event"), [String(rank), `0.0.50000.${50_000 * (rank + 1)}`]);
    assert.match(await said(page, ".tl-find output"), new RegExp(`^${place} of 8 found: 8 kernels 5\\.80 ms`));
    assert.ok(await active(page, '.tl-results [aria-current="true"]'), "the focus is lost");
  }
  await press(page, "/", "Enter");
  assert.deepEqual(await params(page, "rank", "list"), ["14", "1"]);
  await kept(page, ".tl-results");
  await press(page, "/");
  await page.keyboard.type("/(/");
  assert.match(await said(page, ".tl-find output"), /^Not understood: not a regular expression/);
});

const asked = (noted, what) => noted.requests.filter((url) => url.includes(`/${what}?`)).length;

item("large", "#timeline", "8: what is served brings its events when they are looked at", async (page, { noted, store }) => {
  const before = asked(noted, "tile"), from = 6_000_000_000;
  await follow(page, `#timeline/t=${from}-${from + 300_000_000}/rank=1`);
  await page.waitForSelector('body[data-detail="complete"]', { timeout: 60_000 });
  assert.ok(asked(noted, "tile") > before, "nothing was asked for");
  await press(page, ".");
  const first = tmerge("show", store, "job.job", "--columns", "begin_ns", "--csv").split("\n")[1].trim();
  const [, begin, lasts] = tmerge("query", store, `SELECT begin_ns - ${first} AS begin, duration_ns AS lasts FROM events WHERE rank = 1 AND role = 'compute' AND begin_ns - ${first} + duration_ns > ${from} ORDER BY begin_ns LIMIT 1`, "--csv").match(/\n(\d+),(\d+)/);
  assert.deepEqual(await params(page, "event"), [`0.0.${begin}.${lasts}`]);
});

item("served", "#tables/name=criticalpath.piece", "8: all rows of a table come when they are asked for", async (page, { noted, store }) => {
  const before = asked(noted, "rows"), [, all] = /^This page holds \d+ of (\d+) rows/.exec((await said(page, ".left-out")).replaceAll(/(\d) (?=\d{3})/g, "$1"));
  await reach(page, "main button", /^Load all/);
  await press(page, "Enter");
  await page.waitForSelector(".left-out", { state: "detached" });
  await page.waitForSelector("main .more");
  assert.equal(/of ([\d ]+) left/.exec(await said(page, "main .more"))[1].replaceAll(" ", ""), all);
  assert.ok(asked(noted, "rows") > before, "the rows were asked for");
});

item("served", "#timeline/t=10000000-12000000", "8: the served page opens what is in view in Perfetto", async (page, { noted }) => {
  await page.context().route("https://ui.perfetto.dev/**", (route) => route.fulfill({ contentType: "text/html", body: `<!doctype html><title>Perfetto</title><script>
    addEventListener("message", ({ data, source, origin }) => { if (data === "PING") source.postMessage("PONG", origin); else window.got = data.perfetto.buffer.byteLength; });</script>` }));
  await reach(page, ".tl-tools button", /^Open in Perfetto/);
  const [tab] = await Promise.all([page.context().waitForEvent("page"), press(page, "Enter")]);
  await tab.waitForFunction(() => window.got > 1000, null, { timeout: 30_000 });
  const { searchParams: query } = new URL(noted.requests.findLast((url) => url.includes("/trace?")));
  assert.deepEqual(["from", "to", "ranks"].map((key) => query.get(key)), ["10000000", "12000000", "0,1"]);
  await tab.close();
});

item("made", "#kernels", "9: kernels with who launches them", async (page) => {
  await reach(page, '[data-value="launcher"]');
  await press(page, "Enter");
  assert.ok(await active(page, '[data-value="launcher"]'), "the focus is lost");
  /* The first mm launches 18 gemms of 50 to 900, in a module; the second those of 10. 8,550 of 8,730 us are 97.9 %. */
  const rows = async () => (await cells(page, "kernels.launcher")).map((row) => row.map(plain));
  assert.deepEqual((await rows()).filter(([name]) => name.startsWith("sgemm")), [["sgemm_128x128", "aten::mm", "nn.Module: Linear_0", "8.55", "97.9", "18", "475.0 µs", "18", "475.0", "900.0", "17"],
    ["sgemm_128x128", "aten::mm", "train.py(3): step", "0.18", "2.1", "18", "10.0 µs", "18", "10.0", "10.0", "0"]]);
  await reach(page, '[aria-label="kernels.launcher"] th button', /^calls/);
  await press(page, "Enter");
  assert.deepEqual((await rows()).map((row) => row[5]), ["54", "18", "18", "18", "18", "12"], "three copies of each rank");
  assert.ok(await active(page, 'th[aria-sort="descending"] button'), "the focus is lost");
  await kept(page, "main");
});

item("made", "#kernels", "9: classes of kernels by rank", async (page) => {
  await reach(page, '[aria-label^="Mean time of a kernel by rank and class"] .cell');
  /* The two gemms of rank r take 25 (r + 1) + 5 in the mean; of ranks 8 and 9, 230 and 255, the middle is 242.5. */
  for (const [down, label] of [[0, "rank 0, matrix multiply: −88"], [9, "rank 9, matrix multiply: +5.2"], [8, "rank 17, matrix multiply: +88"]]) {
    for (let i = 0; i < down; i++) await press(page, "ArrowDown");
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), label);
  }
  await press(page, "ArrowUp", "ArrowRight"); // who takes longest waits least: 58 of 858 us, of one meeting as the five after rank 11
  assert.match(await said(page, "#tip"), /^rank 16, communication58\.0 µs a kernel/);
});

item("made", "#stacks", "9: call stacks are a flame graph, and operators a tree", async (page) => {
  await reach(page, ".flame");
  const readout = async (key) => { await press(page, key); return said(page, ".flame-readout"); };
  /* All kernels take 8,730 + 7,794 + 120 + 180 and 54 x 4 = 17,040 us; the module launches 8,550 + 7,794 of it. */
  assert.match(await readout("ArrowDown"), /^train\.py\(3\): step17\.0 ms of GPU time that it launched, 100\.0 % of all; itself 696\.0 µs; 18 calls/);
  const inner = /^nn\.Module: Linear_016\.3 ms of GPU time that it launched, 95\.9 % of all; itself 16\.3 ms; 18 calls/;
  assert.match(await readout("ArrowDown"), inner);
  await press(page, "Enter"); // fills the width
  assert.deepEqual(await params(page), { node: "1" });
  assert.ok(await active(page, ".flame"), "the focus is lost");
  assert.match(await said(page, ".flame-readout"), inner);
  await press(page, "Escape"); // to its caller
  assert.deepEqual(await params(page), { node: "0" });
  await reach(page, '[data-value="operator"]', undefined, "Shift+Tab");
  await press(page, "Enter");
  assert.ok(await active(page, '[data-value="operator"]'), "the focus is lost");
  // itself and with what it calls [ms], calls, on the host [us]
  assert.deepEqual((await cells(page, "operators.tree")).map((row) => row.slice(0, 5)), [["aten::mmin aten::linear", "8.55", "8.55", "18", "540.0"], ["(outside of any operator)", "8.31", "8.31", "–", "–"], ["aten::mm", "0.18", "0.18", "18", "540.0"], ["aten::linear", "0.00", "8.55", "18", "900.0"]]);
});

item("made", "#memory/device=3%20cuda%3A0", "9: memory by category over time, and what lives at its peak", async (page) => {
  /* 4 MiB of 6 are given back in the operator that took them, 2 stay. */
  assert.deepEqual((await cells(page, "memory.category")).map((row) => row.slice(0, 3)), [["temporary, within an operator", "4.00", "66.7"], ["other", "2.00", "33.3"]]);
  assert.deepEqual((await cells(page, "memory.live")).map((row) => [row[1], row[3], row[5]]), [["aten::linear", "nn.Module: Linear_0", "4.00"], ["aten::linear", "nn.Module: Linear_0", "2.00"]]);
  for (const [name, ...ends] of [["temporary, within an operator", "4.00 MiB", "0 B"], ["other", "0 B", "2.00 MiB"]]) {
    await reachChart(page, ".multiples .chart", new RegExp(`, ${name}`));
    for (const [key, time, size] of [["Home", 15, ends[0]], ["End", 45, ends[1]]]) {
      await press(page, key);
      assert.equal(await said(page, "#tip"), `at ${time}.0 µs${name}: ${size}`);
    }
  }
});

item("made", "#efficiency", "9: a roofline", async (page) => {
  await reachChart(page, ".chart", /^Rate of 1 operator against operations a byte/);
  await press(page, "ArrowRight"); // 2e8 operations; 4 bytes of 100 x 1000, 1000 x 1000 and 100 x 1000 numbers, 4.8e6
  assert.equal(await said(page, "#tip"), "aten::mmfp32, 0.825 TFLOP/s, 1.2 % of the peak41.7 operations a byte, 8.73 ms"); // of 66.9
  assert.deepEqual((await cells(page, "efficiency.operator")).map((row) => row.map(plain)), [["aten::mm", "[[100,1000],[1000,1000]]", "8.73", "1.2 %", "0.82", "fp32", "7.20 GFLOP", "41.7", "36", "17"]]);
});

/** Chooses the last rank of a chart of lines, and reads it at so many 64ths of its width. */
async function read(page, chart, places) {
  await reach(page, 'main select[data-name="Rank"]');
  await press(page, "End");
  assert.deepEqual(await params(page, "rank"), ["17"]);
  assert.ok(await active(page, 'select[data-name="Rank"]'), "the focus is lost");
  await reachChart(page, ".chart", chart);
  await press(page, "Home");
  for (let i = 0; i < places; i++) await press(page, "ArrowRight");
  return said(page, "#tip");
}

item("made", "#launches", "9: the length of the queue over time", async (page) => {
  /* From 790 to 950 the second gemm and the last kernel have not begun; of the last rank the first meeting neither. */
  assert.equal(await read(page, /^Events launched and not yet begun/, 55), "at 846.6 µsrank 17: 3.0least 2.0, median 3.0, most 3.0");
});

item("made", "#transfers", "9: bandwidth over time", async (page) => {
  /* 8,000 bytes in a 64th of the 950 us from the first event of a GPU to the last */
  assert.equal(await read(page, /^Copies, host to device, MB\/s/, 36), "at 403.9 µsrank 17: 538.9 MB/sleast 538.9 MB/s, median 538.9 MB/s, most 538.9 MB/s");
});

item("made", "#communication", "9: who communicates with whom, host by host", async (page) => {
  await reach(page, '[aria-label^="Who communicates with whom"] .cell');
  /* Rank r waits and transfers for 858 - 50 r in the group of all: 7,794 us; 12 ranks of two hosts 10 in theirs. */
  for (const [key, label] of [["ArrowRight", "host0, host1: 7.91 ms"], ["ArrowRight", "host0, host2: 7.79 ms"], ["ArrowDown", "host1, host2: 7.79 ms"], ["ArrowLeft", "host1, host1: not recorded"]]) {
    await press(page, key);
    assert.equal(plain(await page.evaluate(() => document.activeElement.getAttribute("aria-label"))), label);
  }
});

// Runs ----------------------------------------------------------------------------------------------

/* In turn in one theme and the other: of an odd number of items each is seen in both. */
let turn = ROWS.length % 2 - 1;
for (const width of [800, 1280, 1920])
  test(`${width} px`, async (t) => {
    for (const [job, { page: path, store }] of Object.entries(jobs)) {
      const { page, noted, close } = await open(path, { width, init: noteTexts });
      for (const { hash, name, act } of ROWS.filter((row) => row.job === job))
        await t.test(name, async () => {
          await page.emulateMedia({ colorScheme: THEMES[turn++ % 2] });
          await follow(page, hash);
          await act(page, { noted, store });
          const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          assert.ok(over <= 0, `${over} px too wide`);
          assert.deepEqual(await grave(page), []);
          if (path.startsWith("http")) assert.deepEqual([noted.console, noted.requests.filter((url) => !/^(blob|data):/.test(url) && !url.startsWith(path))], [[], []]);
          else quiet(noted);
        });
      await close();
    }
  });
