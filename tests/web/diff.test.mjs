// The page that compares two jobs: its numbers equal those of tmerge diff --json.
import assert from "node:assert/strict";
import { before } from "node:test";
import { closeTo, full, listed, merge, open, seldom, sweep, synth, test, THEMES, tmerge, visit, WIDTHS } from "./page.mjs";

const UNCHANGED = ["same", "unclear", "too few steps"];
const jobs = {};

/** Compares two stores; returns the page, and the rows by table. */
function compare(a, b, page) {
  const { tables } = JSON.parse(tmerge("diff", a, b, "--json", "--html", page));
  return { page, tables: Object.fromEntries(Object.entries(tables).map(([name, table]) => [name, table.rows])) };
}

before(() => {
  synth("a", { ranks: 8, steps: 6, pp: 4, tp: 2, ranks_per_host: 4 });
  synth("b", { ranks: 8, steps: 7, pp: 4, tp: 2, ranks_per_host: 4, slow_rank: 5, slow_factor: 1.3, fault: "small-kernels" });
  synth("c", { ranks: 8, steps: 2, pp: 4, tp: 2, ranks_per_host: 4 });
  const stores = ["a", "b", "c"].map((name) => merge(name, name, "--no-compress").store);
  jobs.slower = compare(stores[0], stores[1], "slower.html");
  jobs.faster = compare(stores[1], stores[0], "faster.html");
  jobs.same = compare(stores[0], stores[0], "same.html");
  jobs.few = compare(stores[0], stores[2], "few.html");
});

for (const [name, theme, width] of [...THEMES.flatMap((theme) => WIDTHS.map((width) => ["slower", theme, width])), ...["faster", "same", "few"].map((each) => [each, "light", 390])])
  (name !== "slower" || ["light 1280", "dark 390"].includes(`${theme} ${width}`) ? test : full)(`every view of the comparison ${name} opens, ${theme}, ${width} px`, async () => {
    const { page } = await open(jobs[name].page, { theme, width });
    assert.deepEqual(await listed(page), ["summary", "steps", "roles", "kernels", "operators", "tables", "about"]);
    await sweep(page);
  });

test("the title is the verdict, and the heading says what is compared", async () => {
  for (const [name, sign] of [["slower", "bad"], ["faster", "good"], ["same", "note"], ["few", "note"]]) {
    const { page, tables } = jobs[name];
    const { page: tab } = await open(page);
    const plain = (text) => text.replaceAll("→", "->").replaceAll("\u00a0", " ").replaceAll(" µs", " us");
    assert.equal(plain(await tab.textContent("h1")), tables["diff.remark"][0].text);
    assert.deepEqual((await tab.$$eval(".remarks li", (all) => all.map((e) => e.textContent))).map(plain), tables["diff.remark"].slice(1).map((r) => r.text));
    assert.equal(await tab.$eval(".verdict .sign", (e) => e.className), `sign ${sign}`, name);
    const [a, b] = tables["diff.side"];
    assert.equal(await tab.textContent("header .facts"), `A: ${a.ranks} ranks, ${a.steps} whole steps · B: ${b.ranks} ranks, ${b.steps} whole steps`);
    assert.equal(await tab.title(), "tmerge diff");
  }
});

test("every number that names its table, row and column is the one there", async () => {
  for (const { page, tables } of [jobs.slower, jobs.few]) {
    const { page: tab } = await open(page);
    for (const view of ["summary", "roles"]) {
      await visit(tab, `#${view}`);
      const shown = await tab.$$eval("[data-table][data-row][data-column]", (all) =>
        all.map((e) => ({ table: e.dataset.table, row: Number(e.dataset.row), column: e.dataset.column, text: e.textContent })));
      assert.ok(shown.length >= 10, `${view}: ${shown.length} numbers`);
      for (const { table, row, column, text } of shown)
        assert.ok(closeTo(text, tables[table][row][column]), `${view} ${table}[${row}].${column}: ${text}, not ${tables[table][row][column]}`);
    }
  }
});

seldom("what changed beyond noise is shown, the weightiest first, then what so few steps cannot judge, and the rest is not", async () => {
  for (const { page, tables } of [jobs.slower, jobs.faster, jobs.same, jobs.few]) {
    const step = tables["diff.side"][0].step_ns;
    const weight = (row) => row.change === null ? 100 : row.unit === "%" ? Math.abs(row.change) : row.unit === "ns" ? 100 * Math.abs(row.change) / step : Math.abs(row.change_pct ?? 100);
    const group = (row) => ["ns", "%"].indexOf(row.unit) < 0 ? 2 : ["ns", "%"].indexOf(row.unit);
    const of = (isOf) => tables["diff.job"].map((row, i) => ({ ...row, i })).filter((row) => isOf(row.verdict) && weight(row) > 0.1)
      .sort((x, y) => group(x) - group(y) || weight(y) - weight(x) || x.i - y.i);
    const rows = [...of((verdict) => !UNCHANGED.includes(verdict)), ...of((verdict) => verdict === "too few steps")];
    const { page: tab } = await open(page);
    assert.deepEqual(await tab.$$eval(".pair[data-figure]", (all) => all.map((e) => e.dataset.figure)), rows.map((row) => row.figure));
    for (const row of rows) {
      const pair = await tab.$(`.pair[data-figure="${row.figure}"]`);
      const bars = await pair.$$eval(".piece", (all) => all.map((e) => [e.dataset.side, Number(e.dataset.value), e.getBoundingClientRect().width]));
      assert.deepEqual(bars.map(([side, value]) => [side, value]), [["a", row.a], ["b", row.b]], row.figure);
      if (row.a > 0 && bars[0][2] > 20) assert.ok(Math.abs(bars[1][2] / bars[0][2] - row.b / row.a) < 0.02 * (row.b / row.a), `${row.figure}: bars of ${bars[0][2]} and ${bars[1][2]} px`);
      const whisker = await pair.$$eval(".whisker", (all) => all.map((e) => Number(e.dataset.noise)));
      assert.deepEqual(whisker, row.noise === null ? [] : [row.noise], row.figure);
    }
  }
});

seldom("the name, the bars and the values of a figure stand in one row", async () => {
  for (const view of ["summary", "roles", "steps"]) {
    const { page: tab } = await open(jobs.slower.page, { hash: `#${view}`, width: 1280 });
    const rows = await tab.$$eval(".pair:not(.head)", (all) => all.map((e) => [...e.children].map((child) => { const { top, bottom } = child.getBoundingClientRect(); return [top, bottom]; })));
    assert.ok(rows.length > 3, view);
    for (const cells of rows) {
      assert.equal(cells.length, 5, view);
      assert.ok(Math.max(...cells.map(([top]) => top)) < Math.min(...cells.map(([, bottom]) => bottom)), `${view}: ${JSON.stringify(cells)}`);
    }
  }
});

seldom("a whisker spans the noise around the end of A", async () => {
  const { page: tab } = await open(jobs.slower.page);
  const row = jobs.slower.tables["diff.job"].find((each) => each.figure === "overview.step.step_ns");
  const [a, whisker] = await tab.$eval('.pair[data-figure="overview.step.step_ns"]', (e) =>
    [".fill-a", ".whisker"].map((part) => { const box = e.querySelector(part).getBoundingClientRect(); return [box.left, box.right]; }));
  const scale = (a[1] - a[0]) / row.a;
  assert.ok(Math.abs((whisker[0] + whisker[1]) / 2 - a[1]) < 1, `middle: ${whisker}, end of A: ${a[1]}`);
  assert.ok(Math.abs(whisker[1] - whisker[0] - 2 * row.noise * scale) < 2.5, `${whisker[1] - whisker[0]} px for ${2 * row.noise} ns`);
});

seldom("steps stand beside each other by their place", async () => {
  const { page, tables } = jobs.slower;
  const { page: tab } = await open(page, { hash: "#steps" });
  const found = await tab.$$eval(".pair[data-place]", (all) => all.map((e) => [Number(e.dataset.place), ...["a", "b"].map((side) => {
    const piece = e.querySelector(`[data-side="${side}"]`);
    return piece ? Number(piece.dataset.value) : null;
  })]));
  assert.deepEqual(found, tables["diff.step"].map((row) => [row.place, row.a_ns, row.b_ns]));
  assert.equal(found.at(-1)[1], null, "B has one step more");
});

seldom("kernels and operators show each change, to the right where B takes more", async () => {
  for (const { page, tables } of [jobs.slower, jobs.faster])
    for (const [view, name] of [["kernels", "diff.kernel"], ["operators", "diff.operator"]]) {
      const { page: tab } = await open(page, { hash: `#${view}/all=1` });
      const rows = tables[name].map((row, i) => ({ ...row, i })).filter((row) => !UNCHANGED.includes(row.verdict));
      assert.ok(rows.length > 0);
      const found = await tab.$$eval(".change[data-row]", (all) => all.map((e) => {
        const bar = e.querySelector(".change-bar").getBoundingClientRect(), piece = e.querySelector(".piece").getBoundingClientRect();
        return { row: Number(e.dataset.row), value: Number(e.querySelector(".piece").dataset.value), verdict: e.querySelector(".change-verdict").textContent,
          left: piece.left - (bar.left + bar.right) / 2, right: piece.right - (bar.left + bar.right) / 2 };
      }));
      assert.deepEqual(found.map((each) => [each.row, each.verdict]), rows.map((row) => [row.i, row.verdict]));
      for (const [i, { value, left, right }] of found.entries()) {
        const { a_ns, b_ns, a_host_ns, b_host_ns } = rows[i];
        assert.equal(value, a_ns || b_ns || a_host_ns === undefined ? b_ns - a_ns : b_host_ns - a_host_ns);
        assert.ok(value >= 0 ? left > -1 && right > 0 : right < 1 && left < 0, `${rows[i].name}: ${value} from ${left} to ${right}`);
      }
    }
});

seldom("one verdict can be chosen, and is in the address", async () => {
  const { page, tables } = jobs.slower;
  const { page: tab } = await open(page, { hash: "#kernels" });
  await tab.click('[data-value="added"]');
  assert.equal(await tab.evaluate(() => location.hash), "#kernels/verdict=added");
  assert.deepEqual(await tab.$$eval(".change[data-row]", (all) => all.map((e) => Number(e.dataset.row))),
    tables["diff.kernel"].flatMap((row, i) => (row.verdict === "added" ? [i] : [])));
  await visit(tab, "#kernels/verdict=%3Cimg%3E");
  assert.equal(await tab.getAttribute('[data-value="all"]', "aria-pressed"), "true");
});

seldom("a comparison of equal jobs says that nothing changed", async () => {
  const { page: tab } = await open(jobs.same.page);
  assert.equal(await tab.$$eval(".pair", (all) => all.length), 0);
  assert.match(await tab.textContent("main"), /No figure of the job differs/);
  for (const view of ["kernels", "operators"]) {
    await visit(tab, `#${view}`);
    assert.match(await tab.textContent("main"), /None of \d+ changed beyond noise/);
  }
});

seldom("with too few steps it says that nothing is judged", async () => {
  const { page: tab } = await open(jobs.few.page);
  assert.match(await tab.textContent("h1"), /^Too few steps to judge/);
  assert.match(await tab.textContent("main"), /Under 3 whole steps in A or B \(6, 2\)/);
  assert.match(await tab.textContent("main"), /Changed, cannot be judged/);
  await visit(tab, "#kernels");
  assert.match(await tab.textContent("main"), /\d+ changed, but so few steps cannot show whether by chance\./);
});
