// Parts of the timeline that need no browser: bytes, shares, windows, keys, and painting.
import assert from "node:assert/strict";
import { moduleOf, test } from "./page.mjs";

const MODULES = ["decode", "pyramid", "area", "same_panel", "memory", "counters", "input", "lanes", "layout", "paint_lane", "paint_over",
  "operations", "details", "span", "paint_head", "path", "names", "sums", "hash", "../dom"];
const { acrossRanks, addressOfFar, areaOf, Bytes, clocksArePoor, commandOf, csvOfArea, curveOf, Curves, detailedParts, EventList, find, findEvent,
  HostPyramid, hostsOf, labelled, Lanes, lastWords, layout, membersOutside, missingParts, OperationIndex, overSpan, paintArrivals, paintEvents, paintShares,
  parseRanges, Path, plain, Pyramid, queryOf, Rects, rowAt, rowsIn, sameAs, Scale, shortName, sorted, sumsOf, valuesOf, writeRanges } =
  Object.assign({}, ...(await Promise.all(MODULES.map((name) => moduleOf(`timeline/${name}.ts`)))));
const span = await moduleOf("timeline/span.ts");

const COMPUTE = 0, TRANSFER = 1, WAIT = 2, UNMATCHED = 3, COPIES = 4, CALL = 9;

// Bytes and shares -----------------------------------------------------------------------------------

test("varints, zigzag and texts are read as they are written", () => {
  // 300 = 2 x 128 + 44; 2^35 = 128^5: five groups of 0, then a 1
  const bytes = new Bytes(Uint8Array.from([0, 127, 0x80 | 44, 2, 0x80, 0x80, 0x80, 0x80, 0x80, 1, 1, 2, 3, 0xc3, 0xa4, 65]));
  assert.deepEqual([bytes.number(), bytes.number(), bytes.number(), bytes.number()], [0, 127, 300, 2 ** 35]);
  assert.deepEqual([bytes.signed(), bytes.signed()], [-1, 1]);
  assert.equal(bytes.text(), "äA");
  assert.ok(bytes.done);
  assert.throws(() => bytes.number(), /ends too early/);
  assert.throws(() => new Bytes(Uint8Array.from([5, 65])).text(), /ends too early/);
});

function pyramidOf(shares, duration) {
  const coverage = new Uint8Array(5 * shares.length);
  coverage.set(shares);
  return new Pyramid(coverage, shares.length, duration);
}

test("a column shows what of the time in it was busy, at any width", () => {
  // eight buckets of 100 ns: full, empty, full, empty, then a quarter each
  const pyramid = pyramidOf([255, 0, 255, 0, 51, 51, 51, 51], 800);
  const columns = (from, width, n) => {
    const out = new Float32Array(n);
    pyramid.columns(0, COMPUTE, from, width, n, out);
    return [...out].map((v) => Math.round(v * 1e4) / 1e4);
  };
  assert.deepEqual(columns(0, 100, 4), [1, 0, 1, 0]);
  assert.deepEqual(columns(0, 200, 4), [0.5, 0.5, 0.2, 0.2]);
  assert.deepEqual(columns(0, 400, 2), [0.5, 0.2]);
  assert.deepEqual(columns(0, 800, 1), [0.35]);
  assert.deepEqual(columns(50, 100, 3), [0.5, 0.5, 0.5]);
  assert.deepEqual(columns(25, 50, 2), [1, 0.5]);
  assert.deepEqual(columns(-100, 100, 1), [0]);
  // half of the last column is after the job's end, where nothing is busy
  assert.deepEqual(columns(700, 200, 1), [0.1]);
});

test("zooming out neither invents nor loses work", () => {
  let seed = 1;
  const random = () => (seed = (seed * 1103515245 + 12345) % 2 ** 31) / 2 ** 31;
  const shares = Array.from({ length: 1000 }, () => (random() < 0.7 ? 0 : Math.floor(random() * 256)));
  const pyramid = pyramidOf(shares, 1_000_000);
  const exact = shares.reduce((sum, share) => sum + (share / 255) * 1000, 0);
  for (const n of [1, 3, 17, 100, 999]) {
    const out = new Float32Array(n);
    pyramid.columns(0, COMPUTE, 0, 1_000_000 / n, n, out);
    const sum = [...out].reduce((total, share) => total + share * (1_000_000 / n), 0);
    assert.ok(Math.abs(sum - exact) < 0.002 * exact + 1, `${n} columns: ${sum}, not ${exact}`);
  }
  assert.ok(Math.abs(pyramid.sum(0, COMPUTE, 0, 1_000_000) - exact) < 1);
  const half = shares.slice(0, 500).reduce((sum, share) => sum + (share / 255) * 1000, 0);
  assert.ok(Math.abs(pyramid.sum(0, COMPUTE, 0, 500_000) - half) < 1);
});

test("a host's shares are the mean of its ranks', and nothing that is there becomes none", () => {
  const coverage = new Uint8Array(3 * 5 * 2);
  coverage.set([255, 1], 0); // compute of the first rank; the second has none
  coverage.set([100, 200], 2 * 5 * 2); // the third rank, on a host of its own
  const hosts = new HostPyramid(new Pyramid(coverage, 2, 200), [[0, 1], [2]]);
  assert.deepEqual([[...hosts.base(0, COMPUTE)], [...hosts.base(1, COMPUTE)]], [[128, 1], [100, 200]]); // 127.5 is rounded, 0.5 becomes 1
  assert.ok(Math.abs(hosts.sum(1, COMPUTE, 0, 200) - ((100 + 200) / 255) * 100) < 1e-4);
});

test("memory in a stretch of time is the most of it, a value holding until the next", () => {
  const curve = (points) => ({ times: Float64Array.from(points, ([t]) => t), values: Float64Array.from(points, ([, b]) => b) });
  const memory = new Curves([[curve([[10, 40], [25, 80], [30, 20]])], [curve([[0, 100]])], []]);
  const of = (ranks) => { const out = new Float32Array(4); memory.fill(ranks, 0, 10, out); return [...out].map((v) => Math.round(100 * v)); };
  assert.deepEqual([memory.most, of([0]), of([0, 1]), of([2])], [100, [0, 40, 80, 20], [100, 100, 100, 100], [0, 0, 0, 0]]);
});

test("memory over a span is what held at its begin and its end, and the most in between", () => {
  const curve = { times: [10, 25, 30], values: [40, 80, 20] };
  const of = (begin, end) => { const found = overSpan(curve, { begin, end }); return found && [found.begin, found.end, found.most, found.time]; };
  assert.deepEqual([[12, 28], [5, 12], [26, 40], [26, 29], [0, 9]].map((each) => of(...each)), [[40, 80, 80, 25], [null, 40, 40, 10], [80, 20, 80, 26], [80, 80, 80, 26], null]);
});

test("what rises and falls is summed, and is 0 where all has fallen", () => {
  const { times, values } = curveOf([{ time: 10, by: 0.1 }, { time: 40, by: -0.1 }, { time: 20, by: 0.2 }, { time: 40, by: -0.2 }, { time: 20, by: 1 }, { time: 30, by: -1 }]);
  assert.deepEqual([[...times], [...values].map((v) => Math.round(1e9 * v) / 1e9)], [[10, 20, 30, 40], [0.1, 1.3, 0.3, 0]]);
});

test("a collective moves its bytes from its last arrival on", () => {
  // 6 kB move within 60 ns, from 40 to 100, on both ranks; the waits of the operation with 1 kB are unknown, so this moves within all of its 100 ns
  const operation = (bytes, more) => ({ bytes, begin: 0, end: 100, last: 40, members: [{ at: 0 }, { at: 1 }], ...more });
  const data = { lanes: {}, reported: {}, operations: [operation(6000, { waits: true }), operation(1000, { waits: false, members: [{ at: 1 }] }), operation(-1, { waits: true })], job: { ranks: [{}, {}] } };
  const { value } = valuesOf("bandwidth", data).next(), at = (rank) => value.curves.curves[rank].map(({ times, values }) => [...times].map((time, i) => [time, values[i]]));
  assert.deepEqual([value.most, at(0), at(1)], [110, [[[40, 100], [100, 0]]], [[[0, 10], [40, 110], [100, 0]]]]);
});

// Painting -------------------------------------------------------------------------------------------

/** A drawing context that records filled rectangles with their colours, and paths. */
function recorder() {
  const rects = [], paths = [];
  let points = 0;
  const ctx = {
    fillStyle: "", strokeStyle: "", globalAlpha: 1, lineWidth: 1, font: "",
    fillRect: (x, y, width, height) => rects.push({ x, y, width, height, color: ctx.fillStyle }),
    beginPath: () => (points = 0), moveTo: () => points++, lineTo: () => points++, arc: () => paths.push("ring"),
    fill: () => points === 3 && paths.push("triangle"),
    measureText: (text) => ({ width: 6 * text.length }),
  };
  for (const name of ["closePath", "stroke", "strokeRect", "fillText", "setLineDash", "save", "restore", "clip", "rect"]) ctx[name] = () => {};
  return { ctx, rects, paths };
}

const theme = {
  page: "#ffffff", ink: "#000000", ink3: "#888888", edge: "transparent", font: "x",
  fills: ["compute", "transfer", "wait", "unmatched", "copies"], onFills: ["", "", "", "", ""], alphas: [1, 1, 1, 1, 1],
};

function canvasOf(window, width = 10) {
  const { ctx, rects, paths } = recorder();
  return { canvas: { ctx, theme, scale: new Scale(window, 0, width), ratio: 1 }, rects, paths };
}

/** Events as [begin, duration, kind, wait] of one stream. */
function eventsOf(rows) {
  const comm = rows.map((row, i) => (row[2] === TRANSFER || row[2] === UNMATCHED ? i + 1 : 0));
  return {
    n: rows.length, begin: Float64Array.from(rows, (r) => r[0]), duration: Float64Array.from(rows, (r) => r[1]),
    name: new Uint32Array(rows.length), kind: Uint8Array.from(rows, (r) => r[2]), depth: new Uint8Array(rows.length),
    comm: Uint32Array.from(comm), wait: Float64Array.from([-1, ...rows.map((r) => r[3] ?? -1)]),
    operation: Int32Array.from([-1, ...rows.map(() => -1)]),
    tracks: [{ kind: 0, at: 0, device: 0, stream: 7, tid: 0, name: 0, first: 0, n: rows.length }],
  };
}

function painted(rows, window, width) {
  const { canvas, rects } = canvasOf(window, width);
  const events = eventsOf(rows), list = new EventList(events, Uint32Array.from(rows.keys()));
  paintEvents(canvas, list, list.range(window), { y: 0, height: 20 }, { found: null, label: () => "", labels: 0 });
  return rects;
}

test("a half busy pixel is half as high, and what is busy at all is seen", () => {
  const { canvas, rects } = canvasOf({ begin: 0, end: 100 });
  const shares = new Float32Array(10);
  shares[2] = 0.5;
  shares[4] = 1e-6;
  paintShares(canvas, [shares], { y: 100, height: 20 });
  assert.deepEqual(rects.map(({ x, y, width, height }) => [x, y, width, height]), [[2, 110, 1, 10], [4, 119, 1, 1]]);
});

test("kinds of a lane stand upon one another, and equal neighbours are one", () => {
  const { canvas, rects } = canvasOf({ begin: 0, end: 100 });
  const transfer = new Float32Array(10).fill(0.25, 0, 4), wait = new Float32Array(10).fill(0.5, 2, 4);
  paintShares(canvas, [undefined, transfer, wait], { y: 0, height: 20 });
  assert.deepEqual(rects.map(({ x, y, width, height, color }) => [color, x, y, width, height]),
    [["transfer", 0, 15, 4, 5], ["wait", 2, 5, 2, 10]]);
});

test("events narrower than a pixel fill it by their time", () => {
  // 10 ns per pixel: two events of 2.5 ns in pixel 3 fill half of it
  const rects = painted([[30, 2.5, COMPUTE], [35, 2.5, COMPUTE]], { begin: 0, end: 100 }, 10);
  assert.deepEqual(rects.map(({ x, y, width, height }) => [x, y, width, height]), [[3, 10, 1, 10]]);
});

test("communication has two colours, divided where the last rank came", () => {
  // waits in [20, 50), transfers in [50, 60); unmatched communication has one colour
  const rects = painted([[20, 40, TRANSFER, 30], [70, 20, UNMATCHED]], { begin: 0, end: 100 }, 100);
  const bars = rects.filter((r) => r.height === 20).map(({ color, x, width }) => [color, x, Math.round(x + width + 0.4)]);
  assert.deepEqual(bars, [["unmatched", 70, 90], ["wait", 20, 50], ["transfer", 50, 60]]);
});

test("very many rectangles are drawn as one picture of the same pixels", () => {
  let image;
  globalThis.document = { createElement: () => ({ getContext: () => ({
    createImageData: (width, height) => ({ width, height, data: new Uint8ClampedArray(4 * width * height) }), putImageData: (made) => (image = made) }) }) };
  // 600 columns from (92, 50) on; the i-th is i % 4 + 1 pixels high on a baseline of 10; then one across two of them, at half opacity
  const rects = new Rects(), drawn = [];
  rects.color("#123456", 1);
  for (let i = 0; i < 600; i++) rects.add(92 + i, 60 - (i % 4) - 1, 1, (i % 4) + 1);
  rects.color("#ff0000", 0.5);
  rects.add(92 + 1.6, 50, 2, 10);
  rects.draw({ drawImage: (_, ...place) => drawn.push(place) }, { left: 92, top: 50, width: 600, height: 10, ratio: 1 });
  assert.deepEqual(drawn, [[92, 50, 600, 10]]);
  const pixel = (x, y) => [...image.data.slice(4 * (y * 600 + x), 4 * (y * 600 + x) + 4)];
  for (const x of [0, 1, 4, 7, 599])
    for (let y = 0; y < 10; y++) assert.deepEqual(pixel(x, y), y >= 10 - (x % 4) - 1 ? [0x12, 0x34, 0x56, 255] : [0, 0, 0, 0], `${x}, ${y}`);
  assert.deepEqual([2, 3].map((x) => pixel(x, 0)), [[255, 0, 0, 128], [255, 0, 0, 128]]);
});

// Operations -----------------------------------------------------------------------------------------

/** An operation whose ranks begin at these times; the last one is the only last unless it is tied. */
function operationOf(begins, { tied = false, number = 0, end = 100 } = {}) {
  const last = Math.max(...begins);
  const members = begins.map((begin, at) => ({ at, begin, end, wait: last - begin, arrival: begin !== last ? 0 : tied ? 1 : 2 }));
  return { number, begin: Math.min(...begins), end, members, last, waits: true, wait: 0, lastMember: tied ? null : members.find((m) => m.begin === last) };
}

const RANKS = [0, 1, 2].map((rank) => ({ rank, domain: rank, uncertainty: 1, spread: 1, parts: [], recordings: [], firstOfHost: rank === 0, host: "h" }));

function arrivalsOf(operation, poor) {
  const { canvas, paths } = canvasOf({ begin: 0, end: 100 }, 100);
  const rows = layout({ ranks: RANKS, world: -1, open: new Set(), room: 300, lanes: null }).ranks;
  paintArrivals(canvas, operation, { rows, ranks: RANKS, top: 0, bottom: 300, offset: 0 }, true, poor);
  return paths;
}

test("a triangle points at the last rank, and at none where it is a tie or clocks are poor", () => {
  assert.deepEqual(arrivalsOf(operationOf([10, 20, 50]), false), ["triangle"]);
  const tied = operationOf([10, 50, 50], { tied: true });
  assert.deepEqual(arrivalsOf(tied, false), ["ring", "ring"]);
  assert.deepEqual(arrivalsOf(operationOf([10, 20, 50]), true), ["ring"]);
});

test("clocks are poor where they may be wrong by more than arrivals differ", () => {
  const operations = [operationOf([10, 20, 50])];
  // 2 sqrt(u1^2 + u2^2): u = 1 gives 2.8 ns, less than 40 ns; u = 20 gives 57 ns
  assert.equal(clocksArePoor(operations, RANKS), false);
  assert.equal(clocksArePoor(operations, RANKS.map((rank) => ({ ...rank, uncertainty: 20 }))), true);
});

test("members outside the view are counted", () => {
  const rows = layout({ ranks: RANKS, world: -1, open: new Set(), room: 90, lanes: null }).ranks;
  const input = { rows, ranks: RANKS, offset: 0, top: rows[1].y, bottom: rows[2].y };
  assert.deepEqual(membersOutside(operationOf([10, 20, 50]), input), { above: 1, below: 1 });
});

test("operations are found by time and in order of wait", () => {
  const list = [0, 1, 2].map((number) => ({ ...operationOf([10 + 100 * number, 50 + 100 * number], { number, end: 90 + 100 * number }), wait: [5, 9, 7][number] }));
  const index = new OperationIndex(list);
  assert.deepEqual(index.within({ begin: 95, end: 200 }).map((o) => o.number), [1]);
  assert.deepEqual(index.within({ begin: 0, end: 1000 }).map((o) => o.number), [0, 1, 2]);
  const window = { begin: 100, end: 200 };
  assert.equal(index.next(null, window, true, false).number, 1);
  assert.equal(index.next(null, window, false, false).number, 0);
  assert.equal(index.next(list[1], window, true, true).number, 2);
  assert.equal(index.next(null, window, true, true).number, 1);
  assert.equal(index.next(list[2], window, true, false), null);
  assert.equal(index.find(110, 9).number, 1);
  assert.equal(index.find(110, 8), null);
});

test("of more than forty operations only those are joined whose arrivals are pixels apart", () => {
  const many = Array.from({ length: 41 }, (_, number) => operationOf([number, number + (number === 7 ? 60 : 5)], { number }));
  assert.deepEqual(new OperationIndex(many).joined({ begin: 0, end: 10_000 }, 0.1).map((o) => o.number), [7]);
  assert.equal(new OperationIndex(many.slice(0, 40)).joined({ begin: 0, end: 10_000 }, 0.1).length, 40);
  // of 90 wide operations, the 40 with the longest waits are joined
  const wide = Array.from({ length: 90 }, (_, number) => ({ ...operationOf([number, number + 60], { number }), wait: (number * 7) % 90 }));
  assert.deepEqual(new OperationIndex(wide).joined({ begin: 0, end: 10_000 }, 0.1).map((o) => o.wait).sort((a, b) => b - a), Array.from({ length: 40 }, (_, i) => 89 - i));
  // a quarter of the width has room for a quarter of the 40
  assert.equal(new OperationIndex(many.slice(0, 10)).joined({ begin: 0, end: 2_500 }, 0.1).length, 10);
  assert.equal(new OperationIndex(many.slice(0, 11)).joined({ begin: 0, end: 2_500 }, 0.1).length, 1);
});

// The critical path ----------------------------------------------------------------------------------

const heightOf = ({ at, level }) => 10 * at + ["host", "compute", "communication"].indexOf(level);

/* [begin, end, rank, kind] each; ranks 4 and 7 have indices 0 and 1. */
function pathOf(...rows) {
  return new Path(rows.map(([begin, end, rank, kind], index) => ({ index, step: 1, place: index, rank, kind, name: null, begin, end })), [{ rank: 4 }, { rank: 7 }]);
}

test("the path is drawn as runs on the host and in lanes; lags are gone straight over", () => {
  // 1 ns per pixel: 20 on the host of rank 4, a lag of 10, 30 in a kernel, then a transfer on rank 7
  const path = pathOf([0, 20, 4, "host"], [20, 30, 4, "launch"], [30, 60, 4, "compute"], [60, 90, 7, "transfer"]);
  assert.deepEqual(path.runs(new Scale({ begin: 0, end: 100 }, 0, 100), heightOf).map(({ x0, x1, y }) => [x0, x1, y]), [[0, 20, 0], [30, 60, 1], [60, 90, 12]]);
  // 10 ns per pixel: in pixel 0 the host has 6 ns, the kernel 4; the next 40 ns are the kernel's
  const fine = pathOf([0, 3, 4, "call"], [3, 7, 4, "compute"], [7, 10, 4, "host"], [10, 50, 4, "compute"]);
  assert.deepEqual(fine.runs(new Scale({ begin: 0, end: 1000 }, 0, 100), heightOf).map(({ x0, x1, y }) => [x0, x1, y]), [[0, 1, 0], [1, 5, 1]]);
});

test("the line is broken where the page has no piece", () => {
  const path = pathOf([0, 20, 4, "host"], [50, 80, 4, "host"], [80, 90, 7, "host"]);
  assert.deepEqual(path.runs(new Scale({ begin: 0, end: 100 }, 0, 100), heightOf).map((run) => [run.x0, run.broken]), [[0, false], [50, true], [80, false]]);
});

test("what is on the host belongs to the thread of its call, or of the next one", () => {
  // calls begin at 20 on the first thread and at 50, rounded to 51 by a clock, on the second
  const events = eventsOf([[20, 10, CALL], [51, 9, CALL]]);
  const tracks = [0, 1].map((first) => ({ kind: 2, at: 0, device: -1, stream: -1, tid: first, name: 0, first, n: 1 }));
  const lanes = new Lanes({ ...events, tracks }, 2).of(0);
  const path = pathOf([0, 20, 4, "host"], [20, 30, 4, "call"], [30, 50, 4, "host"], [50, 60, 4, "call"], [60, 70, 4, "host"], [70, 80, 7, "call"]);
  assert.deepEqual(path.list.map((placed) => path.threadOf(placed, lanes)?.tid ?? null), [0, 0, 1, 1, null, null]);
});

test("pieces of the path follow each other, and with a hop those on another rank", () => {
  const path = pathOf([0, 20, 4, "host"], [20, 30, 4, "call"], [30, 60, 7, "compute"], [60, 90, 7, "call"]), window = { begin: 25, end: 70 };
  const next = (from, forward, hop) => path.next(from === null ? null : path.list[from], window, forward, hop)?.piece.place ?? null;
  assert.deepEqual([next(null, true, false), next(null, false, false)], [1, 3], "from what is in view");
  assert.deepEqual([next(0, true, false), next(1, false, false), next(3, true, false), next(0, false, false)], [1, 0, null, null]);
  assert.deepEqual([next(0, true, true), next(3, false, true), next(2, true, true)], [2, 1, null]);
  assert.equal(path.find("1.2").piece.rank, 7);
  assert.equal(path.find("1.9"), null);
});

// Windows and keys -----------------------------------------------------------------------------------

test("zooming keeps the time under the pointer, and no window leaves the job", () => {
  const zoomed = span.zoom({ begin: 100, end: 1100 }, 350, 0.5, 10_000);
  assert.deepEqual(zoomed, { begin: 225, end: 725 });
  assert.deepEqual(span.zoom({ begin: 0, end: 1000 }, 0, 100, 10_000), { begin: 0, end: 10_000 });
  assert.deepEqual(span.clamp({ begin: 9_900, end: 10_400 }, 10_000), { begin: 9_500, end: 10_000 });
  assert.deepEqual(span.pan({ begin: 0, end: 100 }, -0.5, 1000), { begin: 0, end: 100 });
  assert.equal(span.zoom({ begin: 0, end: 30 }, 10, 0.01, 1000).end - span.zoom({ begin: 0, end: 30 }, 10, 0.01, 1000).begin, span.NARROWEST);
});

test("what is revealed keeps the zoom where it fits", () => {
  assert.deepEqual(span.reveal({ begin: 0, end: 100 }, { begin: 40, end: 50 }, 1000), { begin: 0, end: 100 });
  assert.deepEqual(span.reveal({ begin: 0, end: 100 }, { begin: 200, end: 210 }, 1000), { begin: 115, end: 215 });
  const fitted = span.reveal({ begin: 0, end: 100 }, { begin: 200, end: 400 }, 1000);
  assert.ok(fitted.begin <= 200 && fitted.end >= 400);
});

test("labels of steps do not touch, however many and uneven they are", () => {
  const even = Array.from({ length: 100 }, (_, i) => [100 + 8 * i, 108 + 8 * i]); // 46 pixels hold 5.75 of these places
  assert.deepEqual(labelled(even, 46).flatMap((shown, i) => (shown ? [i] : [])), [0, 6, 12, 18, 24, 30, 36, 42, 48, 54, 60, 66, 72, 78, 84, 90, 96]);
  const uneven = [[0, 46], [46, 92], [92, 93], [93, 200]]; // the third is too narrow for its label
  assert.deepEqual(labelled(uneven, 46), [true, true, false, true]);
  const crammed = [[0, 1], [1, 2], [2, 3], [3, 92]]; // 23 px on average: every second label, but the third would overlap
  assert.deepEqual(labelled(crammed, 46), [true, false, false, false]);
});

test("ticks are round and few", () => {
  assert.deepEqual(span.ticks({ begin: 0, end: 1000 }, 5), { at: [0, 200, 400, 600, 800, 1000], step: 200 });
  assert.deepEqual(span.ticks({ begin: 12, end: 30 }, 4).at, [15, 20, 25, 30]);
});

test("a window is written to the address and read back; anything else is none", () => {
  assert.equal(span.write({ begin: 150370000.4, end: 157430000 }), "150370000-157430000");
  assert.deepEqual(span.parse("150370000-157430000", 2e8), { begin: 150370000, end: 157430000 });
  for (const text of [undefined, "", "5", "9-5", "5-5", "-5-9", "1e3-2e3", "500-900", "1-2-3"]) assert.equal(span.parse(text, 500), null, text);
});

test("every key has its command", () => {
  const press = (key, more = {}) => {
    const calls = [], to = new Proxy({ state: { path: false }, listener: { asked: (what) => calls.push(["asked", what]) }, rankInQuestion: () => 3 }, {
      get: (own, name) => own[name] ?? ((...args) => void calls.push([name, ...args])) });
    commandOf({ key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...more })?.(to);
    return calls[0] ?? null;
  };
  assert.ok(press("w")[1] < 1 && press("W", { shiftKey: true })[1] < press("w")[1] && press("s")[1] > 1);
  assert.ok(press("a")[1] < 0 && press("d")[1] > 0 && press("D", { shiftKey: true })[1] > press("d")[1]);
  assert.deepEqual(press("]"), ["nextOperation", true, false]);
  assert.deepEqual(press("{", { shiftKey: true }), ["nextOperation", false, true]);
  assert.deepEqual([press("/"), press("?"), press("t"), press("c")], [["asked", "find"], ["asked", "help"], ["togglePin", 3], ["setPath", true]]);
  const named = { f: "fit", 0: "showAll", Home: "showAll", m: "markAll", o: "open", Escape: "clear", Enter: "details", ",": "nextEvent", ".": "nextEvent", n: "nextStep",
    p: "nextStep", j: "nextPiece", k: "nextPiece", v: "switchMap", h: "fold", "<": "movePinned", x: "hide", l: "followLaunch", ArrowUp: "scrollRows", PageDown: "scrollPages" };
  for (const [key, what] of Object.entries(named)) assert.equal(press(key)[0], what, key);
  for (const key of ["Tab", "q", "F5"]) assert.equal(press(key), null, key);
  assert.equal(press("f", { ctrlKey: true }), null); // left to the browser's own search
});

// Rows, names, sums ----------------------------------------------------------------------------------

test("rows keep the place of ranks without a trace", () => {
  const ranks = [0, 1, 4].map((rank) => ({ rank, firstOfHost: rank !== 1, host: `h${rank}` }));
  const { rows } = layout({ ranks, world: 6, open: new Set(), room: 400, lanes: null });
  assert.deepEqual(rows.map((row) => (row.kind === "host" ? row.name : row.kind === "absent" ? `${row.first}-${row.last}` : row.at)),
    ["h0", 0, 1, "2-3", "h4", 2, "5-5"]);
  for (let i = 1; i < rows.length; i++) assert.equal(rows[i].y, rows[i - 1].y + rows[i - 1].height);
  assert.equal(rowAt(rows, rows[3].y + 1), rows[3]);
  assert.deepEqual(rowsIn(rows, rows[2].y, 1), [2, 3]);
});

test("hosts fold, ranks are pinned, hidden and ordered", () => {
  const ranks = [0, 1, 2, 3, 4].map((rank) => ({ rank, firstOfHost: rank % 2 === 0, host: `h${rank >> 1}` })), open = new Set();
  const laid = (change, order) => layout({ ranks, world: -1, open, room: 400, lanes: null, arrangement: Object.assign(plain(), change), order });
  const words = ({ rows }) => rows.map((row) => (row.kind === "host" ? `${row.name}${row.folded ? ` of ${row.folded.members}` : ""}` : row.at));
  assert.deepEqual(hostsOf(ranks), { hosts: [{ name: "h0", members: [0, 1] }, { name: "h1", members: [2, 3] }, { name: "h2", members: [4] }], of: [0, 0, 1, 1, 2] });
  assert.deepEqual(words(laid({ folded: new Set([1]) })), ["h0", 0, 1, "h1 of 2,3", "h2", 4]);
  assert.deepEqual(words(laid({ folded: new Set([1]), pinned: [3, 0] })), [3, 0, "h0", 1, "h1 of 2,3", "h2", 4]);
  assert.deepEqual(words(laid({ hidden: new Set([0, 4]) })), ["h0", 1, "h1", 2, 3, "h2"]);
  const order = { order: "wait", folded: new Set([1]) }, byWait = laid(order, [3, 4, 0, 2, 1]);
  assert.deepEqual(words(byWait), ["h1 of 2,3", 4, 0, 1]);
  // a rank without its own row is placed in its host's row; pinned ranks are above the others
  const { ranks: rows, pinned, inOrder } = laid({ folded: new Set([1]), pinned: [4] });
  assert.deepEqual([rows[2].y === rows[3].y, rows[4].y, pinned === rows[4].height, inOrder, laid({}).inOrder, byWait.inOrder], [true, 0, true, false, true, false]);
  // 5 planes of 2 buckets per rank; wait is the third plane: the ranks' shares are 1, 3, 2, 3, 0
  const coverage = new Uint8Array(5 * 5 * 2);
  [1, 3, 2, 3, 0].forEach((share, at) => (coverage[(at * 5 + WAIT) * 2] = share));
  assert.deepEqual(sorted(5, "wait", new Pyramid(coverage, 2, 200)), [1, 3, 2, 0, 4]);
});

test("a rank's row is 30 to 64 pixels high", () => {
  const ranks = (n) => Array.from({ length: n }, (_, rank) => ({ rank, firstOfHost: rank === 0, host: "h" }));
  const height = (n, room) => layout({ ranks: ranks(n), world: -1, open: new Set(), room, lanes: null }).ranks[0].height;
  assert.deepEqual([height(1, 500), height(10, 500), height(1000, 500)], [64, 50, 30]);
});

test("kernels are called by what tells them", () => {
  assert.equal(shortName("void at::native::vectorized_elementwise_kernel<4, at::native::F>(int, F)"), "vectorized_elementwise_kernel");
  assert.equal(shortName("void (anonymous namespace)::elementwise<1>(int)"), "elementwise");
  assert.equal(shortName("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"), "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  assert.equal(shortName("aten::mm"), "mm");
});

test("a search counts events over the whole job and adds up their time where they ran", () => {
  const events = eventsOf([[50, 5, COMPUTE], [10, 3, COMPUTE], [90, 7, COMPUTE], [20, 4, COPIES]]);
  events.name.set([0, 1, 0, 0]);
  const found = (text, names, of) => { const { count, rows, groups } = find(text, names, of); return [count, [...rows], groups.map((group) => [group.count, group.time])]; };
  assert.deepEqual(found(" FLASH ", ["my_flash_fwd", "gemm"], events), [3, [3, 0, 2], [[2, 12], [1, 4], [0, 0], [0, 0]]]);
  assert.equal(find("  ", ["x"], events), null);
  // one thread has [0, 50), which contains [10, 20), then [60, 70); another has [0, 30): 50 + 10 + 30
  const host = eventsOf([[0, 50, CALL], [10, 10, CALL], [60, 10, CALL], [0, 30, CALL]]);
  const tracks = [[0, 3], [3, 1]].map(([first, n]) => ({ kind: 2, at: 0, first, n }));
  assert.deepEqual(found("x", ["x"], { ...host, tracks }), [4, [0, 3, 1, 2], [[0, 0], [0, 0], [0, 0], [4, 90]]]);
});

test("what is missing and what is there make the window", () => {
  const rank = { parts: [{ begin: 0, end: 10, gpu: true, host: false }, { begin: 10, end: 20, gpu: false }, { begin: 20, end: 30, gpu: true, host: true }] };
  const job = { complete: false };
  assert.deepEqual(missingParts(job, rank, { begin: 5, end: 40 }), [{ begin: 10, end: 20 }, { begin: 30, end: 40 }]);
  assert.deepEqual(detailedParts(job, rank, { begin: 5, end: 40 }), [{ begin: 5, end: 10 }, { begin: 20, end: 30 }]);
  assert.deepEqual(missingParts(job, rank, { begin: 5, end: 25 }, true), [{ begin: 5, end: 20 }]);
  assert.deepEqual(missingParts({ complete: true }, rank, { begin: 5, end: 40 }), []);
});

test("sums of a range count time of a kind once", () => {
  // compute [0, 30) and [20, 50); copies [40, 60), of which 10 are hidden by compute; an operation waits in [60, 70) and transfers until
  // 90; the range is [10, 80)
  const events = eventsOf([[0, 30, COMPUTE], [20, 30, COMPUTE], [40, 20, COPIES], [60, 30, TRANSFER, 10]]);
  const job = { complete: true, ranks: [{ parts: [] }] };
  const [sums] = sumsOf(job, new Lanes(events, 1), pyramidOf([0], 100), { begin: 10, end: 80 });
  assert.deepEqual([...sums.kinds], [40, 10, 10, 0, 10]);
  assert.equal(sums.exact, true);
});

test("a long event is found under the events that begin after it", () => {
  const list = new EventList(eventsOf([[0, 100, COMPUTE], [10, 5, COMPUTE], [30, 5, COMPUTE]]), Uint32Array.from([0, 1, 2]));
  assert.deepEqual(list.range({ begin: 50, end: 60 }), [0, 3]);
  assert.deepEqual([list.at(32, 1), list.at(50, 1), list.at(103, 1), list.at(101, 2)], [2, 0, -1, 0]);
  assert.equal(list.placeOf(2), 2);
});

test("an area counts what lies in it, of the chosen ranks, operators without those inside of them", () => {
  /* Two ranks with a stream and a thread each. In [100, 200), rank 0 has kernel a for 50, b for 20 and a copy for 5; rank 1 has a twice,
   * for 40 and 60. */
  const OPERATOR = 6, columns = { begin: [50, 160, 190, 90, 100, 110, 100, 145, 120], duration: [100, 20, 5, 200, 60, 20, 40, 60, 10],
    kind: [COMPUTE, TRANSFER, COPIES, OPERATOR, OPERATOR, OPERATOR, COMPUTE, COMPUTE, OPERATOR], name: [0, 1, 2, 3, 4, 3, 0, 0, 4], depth: [0, 0, 0, 0, 1, 2, 0, 0, 0] };
  const track = (kind, at, first, n) => ({ kind, at, device: 0, stream: 7, tid: 1, name: 0, first, n });
  const events = { n: 9, begin: Float64Array.from(columns.begin), duration: Float64Array.from(columns.duration), name: Uint32Array.from(columns.name), kind: Uint8Array.from(columns.kind),
    depth: Uint8Array.from(columns.depth), comm: new Uint32Array(9), wait: Float64Array.of(-1), operation: Int32Array.of(-1),
    tracks: [track(0, 0, 0, 3), track(2, 0, 3, 3), track(0, 1, 6, 2), track(2, 1, 8, 1)] };
  const job = { names: ["a", "b", "copy", "outer", '=in,"ner"'], complete: true, ranks: [{ rank: 4 }, { rank: 9 }] };
  const area = (places) => areaOf(job, new Lanes(events, 2), { begin: 100, end: 200 }, { places, tracks: null }, ["gemm", "communication"]);
  const of = (rows) => rows.map(({ label, count, total, self, most, byRank }) => [label, count, total, self, most, [...byRank]]);
  assert.deepEqual(of(area([0, 1]).kernels), [["a", 3, 145, 145, 55, [50, 95]], ["b", 1, 20, 20, 20, [20, 0]], ["copy", 1, 5, 5, 5, [5, 0]]]);
  assert.deepEqual(of(area([0, 1]).classes), [["gemm", 3, 145, 145, 55, [50, 95]], ["communication", 1, 20, 20, 20, [20, 0]], ["copy or set", 1, 5, 5, 5, [5, 0]]]);
  /* The outer operator spans the area and calls one of 60, which calls the outer one again for 20. */
  assert.deepEqual(of(area([0]).operators), [["outer", 2, 120, 60, 100, [120]], ['=in,"ner"', 1, 60, 40, 60, [60]]]);
  assert.deepEqual(of(area([1]).kernels), [["a", 2, 95, 95, 55, [95]]]);
  assert.deepEqual(acrossRanks(area([0, 1]).kernels[0]), { median: 72.5, most: 95, at: 1 });
  assert.equal(csvOfArea(area([0]).operators, "operator", [4]), 'operator,count,sum_ns,self_ns,mean_ns,max_ns,rank_4_ns\r\nouter,2,120,60,60,100,120\r\n"\'=in,""ner""",1,60,40,60,60,60\r\n');
});

test("ranks in an address are ranges, and what is none fits nothing", () => {
  assert.equal(writeRanges([3, 0, 1, 2, 9]), "0-3,9");
  const fits = (text) => [0, 3, 4, 9].filter(parseRanges(text));
  assert.deepEqual(["0-3,9", "4", "", "a", "0-", "3-3,,9"].map(fits), [[0, 3, 9], [4], [], [], [], []]);
});

test("a search takes patterns, kinds, ranks and durations, and says what it cannot understand", () => {
  const events = eventsOf([[0, 5000, COMPUTE], [10, 900, COMPUTE], [20, 2000, TRANSFER], [30, 1000, COPIES], [40, 5000, COMPUTE]]);
  events.name.set([0, 1, 2, 3, 0]);
  events.tracks = [[0, 3, 0], [3, 2, 1]].map(([first, n, at]) => ({ kind: 0, at, first, n }));
  const found = (text) => [...find(text, ["Gemm_a", "gemm_b", "ncclReduce", "Memcpy (HtoD)"], events, [{ rank: 2 }, { rank: 5 }]).rows];
  const table = { "gemm": [0, 1, 4], "/^gemm_[ab]$/": [0, 1, 4], "/^G.*a$/ rank:5": [4], "kind:kernel": [0, 1, 2, 4], "kind:copy": [3], "rank:0-4": [0, 1, 2], "rank:5 kind:compute": [4],
    "dur>1us": [0, 2, 4], "dur<1us": [1], "gemm dur>0.9us dur<1ms": [0, 4], "memcpy (htod)": [3], "nothing": [] };
  for (const [text, rows] of Object.entries(table)) assert.deepEqual(found(text), rows, text);
  assert.deepEqual(["/(/", "kind:nothing", "rank:x"].map((text) => [typeof queryOf(text), find(text, ["x"], events).count]), [["string", 0], ["string", 0], ["string", 0]]);
});

test("the same kernel elsewhere: in order on its rank, at the same place of the step on others", () => {
  /* On each rank step 7 is [0, 100) and step 8 [100, 200). Ranks 0 and 1 run it twice in step 8, rank 2 once; each runs it once in step
   * 7. */
  const begins = [[10, 110, 150], [20, 120, 160], [30, 130]], durations = [[5, 6, 7], [50, 8, 9], [5, 5]], ranks = [0, 1, 2].map(() => ({ parts: [{ number: 7, begin: 0, end: 100, gpu: true }, { number: 8, begin: 100, end: 200, gpu: true }] }));
  const n = 8, events = { n, begin: Float64Array.from(begins.flat()), duration: Float64Array.from(durations.flat()), name: new Uint32Array(n), kind: new Uint8Array(n), depth: new Uint8Array(n),
    comm: new Uint32Array(n), wait: Float64Array.of(-1), operation: Int32Array.of(-1), tracks: [[0, 3], [3, 3], [6, 2]].map(([first, many], at) => ({ kind: 0, at, device: 0, stream: 7, tid: 0, name: 0, first, n: many })) };
  const job = { steps: true, complete: true, duration: 200, ranks, names: ["k"] };
  assert.deepEqual(sameAs(job, new Lanes(events, 3), 2), { own: [0, 1, 2], index: 2, slowest: 3, all: 8, place: 1, places: 2, step: 8, peers: [{ at: 1, row: 5 }, { at: 2, row: -1 }] });
  assert.deepEqual(sameAs(job, new Lanes(events, 3), 0).peers, [{ at: 1, row: 3 }, { at: 2, row: 6 }]);
  /* Ranks whose events are not in the page are not compared. */
  const part = { ...job, complete: false, ranks: ranks.map((rank, at) => ({ parts: rank.parts.map((each) => ({ ...each, gpu: at !== 1 })) })) };
  assert.deepEqual(sameAs(part, new Lanes(events, 3), 0).peers, [{ at: 1, row: -1 }, { at: 2, row: 6 }]);
});

test("what was found is the event of its name, also where it is as long as what it is nested in", () => {
  const of = (row) => ({ at: 0, begin: 70, duration: 9, kind: 6, name: ["aten::linear", "aten::addmm"][row] });
  const events = { begin: [70, 70], duration: [9, 9], kind: [6, 6], depth: [0, 1], name: [0, 1] }, lanes = { events, of: () => ({ tracks: [{ first: 0, n: 2 }] }) };
  const names = [of(0).name, of(1).name];
  assert.deepEqual([0, 1].map((row) => findEvent(lanes, names, 0, addressOfFar(of(row)))), [0, 1]);
  assert.equal(findEvent(lanes, names, 0, "6.1.70.9"), 1, "by its depth");
  assert.equal(findEvent(lanes, [names[0], "cut"], 0, addressOfFar(of(1))), 0, "a link of another page still finds something there");
  assert.equal(findEvent(lanes, names, 0, addressOfFar({ ...of(1), begin: 71 })), -1);
});

// Words ----------------------------------------------------------------------------------------------

test("an operation without a wait says why, and a receiver how long it waited for its sender", () => {
  const ALLREDUCE = 1, BROADCAST = 4, SEND = 9, RECV = 10;
  const words = (kind, begins, { size = begins.length, waits = false, noWaits = null, noClock = false, spread = 0 } = {}) => {
    const members = begins.map((begin, at) => ({ at, begin, end: 900_000, wait: -1, arrival: 0 }));
    const ranks = begins.map((_, at) => ({ rank: 3 + at, domain: at, noClock: noClock && at > 0, uncertainty: spread, spread }));
    return plainText(lastWords({ kind, members, size, waits, wait: 0, lastRank: null, bytes: 8 }, { job: { ranks }, noWaits }, false));
  };
  const plainText = (text) => text.replace(/[\u00a0\u202f]/g, " ");
  assert.equal(words(RECV, [100_000, 400_000]), "The receiver, rank 3, waited 300.0 µs for the sender, rank 4.");
  assert.equal(words(SEND, [400_000, 100_000]), "The receiver, rank 4, waited 300.0 µs for the sender, rank 3.");
  assert.equal(words(SEND, [100_000, 400_000], { spread: 5000 }),
    "The receiver, rank 4, arrived 300.0 µs (±10.0 µs) after the sender, rank 3, and did not wait for it.");
  assert.equal(words(RECV, [100_000, 950_000]), "The receiver, rank 3, waited 800.0 µs for the sender, rank 4."); // the receiver ended before the last arrival, so its wait counts until its end
  assert.match(words(SEND, [100_000]), /^No wait is known: the other rank’s kernel is missing/);
  assert.match(words(SEND, [100_000], { size: 2 }), /only one of the two ranks is in this page/);
  assert.match(words(SEND, [0, 1], { noClock: true }), /^No wait is known: the clocks of its ranks cannot be compared\.$/);
  assert.match(words(SEND, [0, 1], { noWaits: "these traces hold only transfers" }), /: these traces hold only transfers\.$/);
  assert.match(words(BROADCAST, [0, 1], { noClock: true }), /: a rank may leave a Broadcast before all have arrived\.$/);
  assert.match(words(ALLREDUCE, [0, 1], { noClock: true }), /: the clocks of its ranks cannot be compared\.$/);
  assert.match(words(ALLREDUCE, [0, 1]), /: kernels of some ranks of its group are missing from the traces, were not matched/);
  assert.match(words(ALLREDUCE, [0]), /: no other rank’s kernel was matched with it/);
  assert.match(words(13, [0, 1]), /: the kind of this operation is not known\.$/);
});
