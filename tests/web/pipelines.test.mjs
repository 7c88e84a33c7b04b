// Pipelines: the view of stages over time, which jobs without a pipeline lack.
import assert from "node:assert/strict";
import { before } from "node:test";
import { closeTo, FULL, listed, merge, open, show, synth, test, THEMES, visit, WIDTHS } from "./page.mjs";

const jobs = {};
before(() => {
  jobs.pipe = merge("pipe", synth("pipe-traces", { ranks: 8, pp: 4, microbatches: 6, layers: 8, steps: 3, cpu_ops: 2, slow: "4-5:1.5" }));
  jobs.plain = merge("plain", synth("plain-traces", { ranks: 2, steps: 2 }));
});

const cells = (page, section) =>
  page.$$eval("main section", (all, title) => {
    const found = all.find((each) => each.querySelector("h2")?.textContent === title);
    return [...(found?.querySelectorAll("tbody tr") ?? [])].map((row) => [...row.cells].map((cell) => cell.textContent));
  }, section);

/** Colours at positions on the canvas [CSS px], as texts. */
const colours = (page, places) =>
  page.evaluate((all) => {
    const canvas = document.querySelector("main canvas"), { data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return all.map(([x, y]) => {
      const at = 4 * (Math.floor(y * devicePixelRatio) * width + Math.floor(x * devicePixelRatio));
      return data.slice(at, at + 3).join(" ");
    });
  }, places);

test("a job without a pipeline has no view of it", async () => {
  const { page } = await open(jobs.plain.page);
  assert.ok(!(await listed(page)).includes("pipelines"));
  await visit(page, "#steps");
  assert.doesNotMatch(await page.textContent("main"), /traced back through earlier steps/, "nothing goes through others");
  const piped = await open(jobs.pipe.page, { hash: "#steps" });
  assert.match(await piped.page.textContent("main"), /traced back through earlier steps/);
  await visit(piped.page, "#summary");
  assert.match(await piped.page.textContent("main"), /Of these, the waiting of receivers for senders is counted separately: Pipelines/);
});

test("the bubble and the stage that makes the others wait are said, and are the tables'", async () => {
  const tables = show(jobs.pipe.store, "bubble.step", "bubble.stage");
  const whole = tables["bubble.step"].reduce((sum, row) => sum + row.span_ns * row.ranks, 0);
  const bubble = tables["bubble.step"].reduce((sum, row) => sum + row.span_ns * row.ranks * row.bubble_pct, 0) / whole;
  const { page } = await open(jobs.pipe.page, { hash: "#pipelines" });
  const title = await page.$eval("h1", (e) => e.textContent);
  // Six micro-batches on four stages: the ideal bubble is 3 of 6 + 3.
  assert.match(title, /^The pipeline’s bubble is [\d.]+\s% of its time, 33\.3\s% if all were even$/);
  assert.ok(Math.abs(Number(/is ([\d.]+)/.exec(title)[1]) - bubble) <= 0.0501, title);
  assert.match(await page.$eval("main header", (e) => e.textContent), /Stage 2 takes longest for a forward and a backward pass/, "ranks 4 and 5 are slow");
  const stages = await cells(page, "Stages");
  assert.equal(stages.length, 4);
  stages.forEach((row, i) => {
    const reported = tables["bubble.stage"][i];
    assert.deepEqual(row.slice(0, 2), [String(reported.stage), String(reported.ranks)]);
    for (const [at, column] of [[2, "forward_ns"], [3, "backward_ns"], [5, "late_sender_ns"], [6, "transfer_ns"]])
      assert.ok(closeTo(row[at], reported[column]), `${column}: ${row[at]}, not ${reported[column]}`);
  });
  const map = await page.$$eval(".map .cell", (all) => all.map((e) => Number(e.dataset.value)));
  assert.deepEqual(map, tables["bubble.step"].map((row) => row.bubble_pct));
  // The ramp's 20 levels span from the ideal bubble, 33.3 %, to 25 points above it or to the largest value.
  const levels = await page.$$eval(".map .cell", (all) => all.map((e) => Number(/\bs(\d+)/.exec(e.className)[1]))), end = Math.max(100 / 3 + 25, ...map);
  assert.deepEqual(levels, map.map((value) => Math.round((20 * (value - 100 / 3)) / (end - 100 / 3))));
});

test("passes stand where they ran, in every theme and width", async () => {
  for (const theme of THEMES)
    for (const width of FULL ? WIDTHS : [theme === "light" ? 1920 : 390]) {
      const { page } = await open(jobs.pipe.page, { theme, width, hash: "#pipelines/step=4" });
      const passes = show(jobs.pipe.store, "bubble.pass")["bubble.pass"].filter((row) => row.step === 4);
      const begin = Math.min(...passes.map((row) => row.begin_ns)), span = Math.max(...passes.map((row) => row.end_ns)) - begin;
      assert.equal(await page.$eval("main canvas", (e) => e.dataset.passes), String(passes.length));
      const [box] = await page.$$eval("main canvas", ([e]) => [e.clientWidth]), x = (ns) => 132 + ((ns - begin) / span) * (box - 140);
      const ranks = [...new Set(passes.map((row) => row.rank))].sort((a, b) => a - b), seen = { forward: new Set(), backward: new Set() };
      // The corner of a pass has the colour of the pass, because no number is there.
      const [idle, ...found] = await colours(page, [[x(begin + span) - 4, 26 * 3 + 13], ...passes.map((row) => [x(row.begin_ns) + 2, ranks.indexOf(row.rank) * 26 + 4])]);
      passes.forEach((row, i) => { if (x(row.end_ns) - x(row.begin_ns) > 8) seen[row.direction].add(found[i]); });
      assert.deepEqual([seen.forward.size, seen.backward.size], [1, 1], `${theme}, ${width}`);
      assert.equal(new Set([idle, ...seen.forward, ...seen.backward]).size, 3, "the last stage does nothing at the end");
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `${theme}, ${width}: ${over} px too wide`);
    }
});
