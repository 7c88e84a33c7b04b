// How numbers are formatted: rounded first, then the unit is chosen.
import assert from "node:assert/strict";
import { moduleOf, test } from "./page.mjs";

const f = await moduleOf("format.ts");
const dom = await moduleOf("dom.ts");
const plain = (text) => text.replaceAll("\u00a0", " ").replaceAll("\u202f", "'");

test("times in prose", () => {
  for (const [ns, expected] of [
    [0, "0 ns"], [1, "1 ns"], [999, "999 ns"], [1000, "1.00 µs"], [9994, "9.99 µs"], [9995, "10.0 µs"], [9996, "10.0 µs"],
    [999_940, "999.9 µs"], [999_960, "1.00 ms"], [205_638_000, "205.6 ms"], [5_540_000, "5.54 ms"], [999_949_999, "999.9 ms"], [999_950_000, "1.00 s"],
    [119_000_000_000, "119.0 s"], [120_000_000_000, "2 min 0 s"], [3_723_000_000_000, "62 min 3 s"], [-1500, "−1.50 µs"], [null, "–"],
  ])
    assert.equal(plain(f.time(ns)), expected, String(ns));
});

test("names that differ look different where there is room for some letters", () => {
  const alike = "at::vectorized_elementwise_kernel<4, at::native::", names = [`${alike}Add>`, `${alike}Mul>`, `${alike}Add>`, "gemm", `${"x".repeat(40)}1`, "x".repeat(41)];
  const shown = dom.tellApart(names, 20);
  assert.deepEqual(shown, ["at::v…::native::Add>", "at::v…::native::Mul>", "at::v…::native::Add>", "gemm", "xxxxx…xxxxxxxxxxxxx1", "xxxxx…xxxxxxxxxxxxxx"], "the end tells them apart");
  for (const [i, text] of shown.entries()) for (const [k, other] of shown.entries()) assert.equal(text === other, names[i] === names[k], `${text}, ${other}`);
  const [a, b] = dom.tellApart([`${"y".repeat(90)}a${"z".repeat(90)}`, `${"y".repeat(90)}b${"z".repeat(90)}`], 20);
  assert.ok(a !== b && a.length <= 20 && b.length <= 20, `${a}, ${b}`);
});

test("a column has one unit and as many digits, from its largest value", () => {
  const values = [888_500, 37_400_000, null, 0];
  const unit = f.timeUnit(values);
  assert.equal(unit.name, "ms");
  const digits = f.columnDigits(values, unit);
  assert.deepEqual(values.map((v) => f.scaled(v, unit, digits)), ["0.9", "37.4", "–", "0.0"]);
  // values that would round to zero get three decimals in the same unit: 50,000 shows as 0.1, 49,000 as 0.049
  assert.deepEqual([50_000, 49_000, -3_100, 7].map((v) => plain(f.scaled(v, unit, digits))), ["0.1", "0.049", "−0.003", "<0.001"]);
  assert.deepEqual([2048, 3 << 20].map((v) => plain(f.scaled(v, f.byteUnit([1 << 30], true), 2))), ["<0.001", "0.003"]);
  // as in the terminal: 35 ms share a unit with 5 s, 60 µs do not, and means do not share one with sums
  const columns = { total_ns: [5e9, 2e9], idle_ns: [3.5e7, 900], far_ns: [60_000, 0], mean_ns: [100_000, 90_000], max_ns: [1e6, 400] };
  assert.deepEqual(f.columnUnits(Object.entries(columns).map(([name, values]) => ({ name, values }))).map((each) => each.name), ["ms", "ms", "µs", "µs", "µs"]);
  assert.deepEqual([37_400_000, 49_000, 0].map((v) => f.short(v, unit)), ["37.4", "<0.1", "0.0"]);
  // a map shows 1.1 s as 1,100 ms, so that 20 ms remain visible
  assert.equal(f.mapUnit([1_100_000_000, 20_000_000]).name, "ms");
  assert.deepEqual([1_100_400_000, 20_440_000, 99_960_000].map((v) => plain(f.short(v, f.mapUnit([1_100_000_000])))), ["1'100", "20.4", "100"]);
  assert.equal(f.timeUnit([999_960]).name, "ms");
  assert.equal(f.timeUnit([]).name, "ns");
});

test("a table's column has one unit, and none where there is none", async () => {
  const { Writer } = await moduleOf("grid.ts"), most = "9007199254740993"; // 2^53 + 1, which a double cannot hold
  for (const [type, unit, values, head, shown, exact] of [
    ["int", "ns", [1_500_000, 40_000, 300, null], "µs", ["1'500", "40", "0.300", "–"], ["1'500'000", "40'000", "300", "–"]],
    ["int", "ns", [0, null], "", ["0", "–"], ["0", "–"]],
    ["int", "B", [null], "", ["–"], ["–"]],
    ["int", "ns", [most, 9_000_000_000_000], "s", ["9'007'199", "9'000"], [most, "9'000'000'000'000"]],
    ["int", "B", [most, 9_000], "TB", ["9'007", "<0.001"], [most, "9'000"]],
    ["real", "%", [12.34, 0.0004, 0], "%", ["12.3", "< 0.01", "0.0"], ["12.34", "0.0004", "0"]],
    ["real", "", [1234.5], "", ["1'234.50"], ["1234.5"]],
    ["int", "", [most, 12_345], "", [most, "12'345"], [most, "12'345"]],
  ]) {
    const [as, whole] = [false, true].map((exact) => new Writer({ name: "n", type, unit }, values, { exact, memory: false }));
    assert.deepEqual([as.unit, values.map((v) => plain(as.write(v)))], [head, shown], `${type} ${unit} ${values}`);
    assert.deepEqual([whole.unit, values.map((v) => plain(whole.write(v)))], [unit, exact], `${type} ${unit} ${values}, exact`);
  }
});

test("shares are 0 and 100 % only where they are", () => {
  for (const [value, digits, expected] of [
    [0, 0, "0 %"], [100, 0, "100 %"], [99.96, 0, "> 99 %"], [0.04, 1, "< 0.1 %"], [0.05, 1, "0.1 %"], [78.4, 0, "78 %"], [15, 1, "15.0 %"], [99.96, 1, "> 99.9 %"], [null, 0, "–"],
  ])
    assert.equal(plain(f.percent(value, digits)), expected, `${value}`);
  assert.equal(f.share(1, 0), null);
});

test("an axis has round ticks, a logarithmic one powers of ten, and a place on it is read back", async () => {
  const { axisTicks, Scales } = await moduleOf("plot.ts");
  assert.deepEqual(axisTicks({ name: "", min: 0, max: 80 }, 5), [0, 20, 40, 60, 80]);
  assert.deepEqual(axisTicks({ name: "", min: -3, max: 4.2 }, 4), [-2, 0, 2, 4]);
  assert.deepEqual(axisTicks({ name: "", min: -0.5, max: 3.5, whole: true }, 9), [0, 1, 2, 3]);
  assert.deepEqual(axisTicks({ name: "", min: 1e-2, max: 1e4, log: true }, 9), [0.01, 0.1, 1, 10, 100, 1000, 10_000]);
  assert.deepEqual(axisTicks({ name: "", min: 1e-2, max: 1e4, log: true }, 4).map(Math.log10), [-2, 0, 2, 4]);
  // margins of 58 px left and 24 px right leave 200; 34 px above and 46 px below leave 100
  const scales = new Scales({ x: { name: "", min: 1, max: 1e4, log: true }, y: { name: "", min: 0, max: 50 }, marks: [{ at: [100, 25], size: 10 }, { at: [1e4, 50], size: 4 }] }, 282, 180);
  assert.deepEqual([scales.x(100), scales.y(25)].map(Math.round), [158, 84]);
  assert.deepEqual(scales.values(158, 84).map(Math.round), [100, 25]);
  assert.equal(scales.values(57, 84), null);
  assert.deepEqual([scales.markAt(158, 84), scales.markAt(163, 84), scales.markAt(166, 84), scales.markAt(258, 38)], [0, 0, -1, 1]);
});

test("digits go in threes, sizes by their units", () => {
  assert.equal(plain(f.grouped(145065)), "145'065");
  assert.equal(plain(f.grouped(-1234567.891, 2)), "−1'234'567.89");
  assert.equal(plain(f.bytes(77_300_000)), "77.3 MB");
  assert.equal(plain(f.bytes(192)), "192 B");
  assert.equal(plain(f.bytes(85 * 1024 ** 3, true)), "85.0 GiB");
  assert.equal(f.ranges([0, 1, 2, 5, 7, 8]), "0–2, 5, 7–8");
  assert.equal(f.ranges([0, 1, 2, 5, 7, 8], 2), "0–2, 5, …");
  assert.equal(f.times(0.868), "0.87×");
});

test("what stands beside an axis has room there, however small it is", async () => {
  const { drawPlot, Scales } = await moduleOf("plot.ts"), texts = [];
  const canvas = new Proxy({}, { get: (_, name) => (name === "measureText" ? () => ({ width: 40 }) : (text) => void (name === "fillText" && texts.push(text))), set: () => true });
  const axis = (max) => ({ name: "", min: 0, max });
  for (const most of [1.3e-8, 2e-6]) drawPlot(canvas, new Scales({ x: axis(0.1), y: axis(most) }, 800, 300), {});
  assert.ok(["0", "5e−9", "1e−8", "0.10", "1e−6", "1.5e−6", "2e−6"].every((text) => texts.includes(text)), texts.join());
});

test("characters that control or turn text are shown as escapes", () => {
  assert.equal(dom.visible("a\u0000b\u0007c\u202ed\u2028e\nf"), "a\\u0000b\\u0007c\\u202ed\\u2028e\\nf");
  assert.equal(dom.visible("plain ümläut 日本"), "plain ümläut 日本");
  assert.equal(dom.cut("x".repeat(200)).length, 160);
});

test("a change of ten times or more is a factor, and a process group has one name", async () => {
  const { writePercent } = await moduleOf("views/diff/figures.ts"), { groupWord } = await moduleOf("job.ts");
  assert.deepEqual([12.34, -50, 899.9, 900, 98955.6].map((pct) => writePercent(pct).replace("\u00a0", " ")), ["+12.3 %", "−50.0 %", "+899.9 %", "10.0 times", "991 times"]);
  assert.deepEqual([["0", "default_pg"], ["0", "undefined"], ["dp", "dp"], [null, "tp"], ["1", null]].map((own) => groupWord(...own)), ["0 (default_pg)", "0", "dp", "tp", "1"]);
});
