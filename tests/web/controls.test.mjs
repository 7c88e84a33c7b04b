// What a reader does: sorts, filters, saves, follows links, uses the keyboard, or has impaired vision.
import assert from "node:assert/strict";
import { before } from "node:test";
import { ciede2000, contrast, lab, parsed, SIGHTS } from "./colour.mjs";
import { merge, moduleOf, open, seldom, show, synth, test, text, THEMES, visit } from "./page.mjs";

let job;
before(() => {
  job = merge("job", synth("traces", { ranks: 8, ranks_per_host: 4, steps: 4, layers: 4, slow_rank: 5, slow_factor: 1.3 }));
});

// Tables -------------------------------------------------------------------------------------------

const column = (page, name) => page.$$eval(`tbody td[data-column="${name}"]`, (all) => all.map((e) => Number(e.closest("td").dataset.row)));

test("a heading sorts: largest first, smallest first, as it was; nulls last", async () => {
  const rows = show(job.store, "overlap.rank")["overlap.rank"];
  const { page } = await open(job.page, { hash: "#tables/name=overlap.rank" });
  const by = (sign) => rows.map((_, i) => i).sort((a, b) => sign * (rows[a].idle_ns - rows[b].idle_ns) || a - b);
  const heading = 'th button:has-text("idle_ns")';
  for (const [order, sort, hash] of [[by(-1), "descending", "/sort=-idle_ns"], [by(1), "ascending", "/sort=idle_ns"], [rows.map((_, i) => i), null, ""]]) {
    await page.click(heading);
    assert.deepEqual(await column(page, "idle_ns"), order, sort);
    assert.equal(await page.$eval(heading, (e) => e.closest("th").getAttribute("aria-sort")), sort);
    await page.waitForFunction((wanted) => location.hash === wanted, `#tables/name=overlap.rank${hash}`);
  }
  const { sortRows } = await moduleOf("grid.ts"), { Table } = await moduleOf("data.ts");
  const table = new Table("t", { columns: [["n", "int", "", "", 0]] }, [[2], [null], [9], [null], [-1]]);
  assert.deepEqual(["-n", "n", "", "other"].map((sort) => sortRows(table, [0, 1, 2, 3, 4], sort)), [[2, 0, 4, 1, 3], [4, 0, 2, 1, 3], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]], "nulls last");
});

test("a table keeps its sort when the reader comes back, and the list of views stays in sight", async () => {
  const { page } = await open(job.page, { hash: "#communication", height: 420 });
  const sorted = () => page.$eval("[data-of='collectives.instance'] th[aria-sort] button", (e) => e.dataset.name);
  assert.equal(await sorted(), "exposed_ns");
  await page.click("[data-of='collectives.instance'] button[data-name='wait_ns']");
  for (const view of ["#summary", "#communication"]) await visit(page, view);
  assert.equal(await sorted(), "wait_ns");
  await page.evaluate(() => scrollTo(0, 1000));
  const list = await page.$eval("nav.rail", (e) => [e.getBoundingClientRect().top, e.getBoundingClientRect().bottom, e.scrollHeight > e.clientHeight]);
  assert.deepEqual(list, [0, 420, true], "with its own scroll");
});

test("kernels' names are short where they differ, whole on hover, and copied whole by a key", async () => {
  const { shortNames } = await moduleOf("dom.ts"), gemm = (n) => `void at::native::gemm<${n}>(int)`;
  assert.deepEqual(shortNames(["void a::b<1>(int)", gemm(1), gemm(2), gemm(1), "Memcpy HtoD (Pinned -> Device)"], 56),
    ["b", "gemm<1>(int)", "gemm<2>(int)", "gemm<1>(int)", "Memcpy HtoD (Pinned -> Device)"]);
  const { page } = await open(job.page, { hash: "#kernels" }), cell = '[data-of="kernels.kernel"] td[data-column="name"] .name';
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.copied = text; } } }));
  await page.hover(cell);
  await page.keyboard.press("y");
  await page.waitForSelector(".tip >> text=Copied the whole name");
  assert.equal(await page.evaluate(() => window.copied), show(job.store, "kernels.kernel")["kernels.kernel"][0].name);
});

test("the filter takes conditions and text", async () => {
  const rows = show(job.store, "overlap.step")["overlap.step"], kinds = show(job.store, "overlap.kind")["overlap.kind"];
  const { page } = await open(job.page, { hash: "#tables/name=overlap.step" });
  const left = async (filter) => { await page.fill('input[type="search"]', filter); return column(page, "rank"); };
  const where = (test) => rows.flatMap((row, i) => (test(row) ? [i] : []));
  assert.deepEqual(await left("rank>3"), where((r) => r.rank > 3));
  assert.deepEqual(await left("rank>=2 step=4"), where((r) => r.rank >= 2 && r.step === 4));
  assert.deepEqual(await left("rank!=5; window_ns<0"), []);
  assert.match(await page.innerText("main"), /No row matches the filter\./);
  assert.deepEqual(await left("partial=no rank<1"), where((r) => !r.partial && r.rank < 1));
  assert.deepEqual(await left(""), where(() => true));
  await visit(page, "#tables/name=overlap.kind");
  assert.deepEqual(await left("ALLRED"), kinds.flatMap((row, i) => (row.kind.includes("allred") ? [i] : [])));
});

test("a filter has the grammar of --where, with units and headings, and says what it does not know", async () => {
  const { whereOf } = await moduleOf("where.ts"), { Table } = await moduleOf("data.ts");
  const table = new Table("t", { columns: [["name", "text", "", "", 0], ["calls", "int", "", "", 0], ["total_ns", "int", "ns", "", 0], ["size_bytes", "int", "B", "", 0], ["part", "bool", "", "", 0]] },
    [["nvjet_tst<4>", 100, 99_000_000, 4096, true], ["nvjet_nn", 101, 100_000_000, null, false], ["gemm or two", 500, 101_000_000, 5e6, null]]);
  const shown = [{ column: "total_ns", label: "total time", factor: 1e6 }];
  for (const [text, rows, wrong = null] of [
    ["", [0, 1, 2]], ["nvjet", [0, 1]], ["calls>100 nvjet", [1]], ["nvjet calls > 100", [1]], ["calls > 100", [1, 2]], ["total_ns > 100ms", [2]], ["total_ns >= 100 ms", [1, 2]],
    ["total_ns > 10", [0, 1, 2]], ["total time > 100", [2]], ["Total time>0.1s", [2]], ["size_bytes >= 4KiB and size_bytes < 5MB", [0]], ["size_bytes = null", [1]],
    ["calls=100 or calls = 500", [0, 2]], ["calls=100 and part=no or name~GEMM", [2]], ["part=yes; calls>1", [0]], ["name = \"gemm or two\"", [2]], ["gemm or two", [2]], ["tst<4", [0]], ["calls != 100 & nvjet", [1]], ["tst|gemm", [0, 2]], ["calls > 100 nn | part=yes", [0, 1]],
    ["call > 100", [0, 1, 2], /^No column is called “call”\. Similar: calls\.$/], ["total > 3", [0, 1, 2], /Similar: total_ns, total time\./], ["calls > 5ms", [0, 1, 2], /calls is compared with a number, not with “5ms”/],
    ["total_ns > 5MB", [0, 1, 2], /with or without a unit \(ns, us/], ["calls >", [0, 1, 2], /A value is missing after/], ["calls > null", [0, 1, 2], /can only be compared/], ["colour > 1 nvjet", [0, 1], /No column is called “colour”/],
  ]) {
    const where = whereOf(table, text, shown);
    assert.deepEqual([0, 1, 2].filter(where.takes), rows, text);
    if (wrong) assert.match(where.wrong ?? "", wrong, text);
    else assert.equal(where.wrong, null, text);
  }
  const { page } = await open(job.page, { hash: "#kernels/filter=cals%20%3E%203" });
  assert.match(await page.textContent('main [role="status"]'), /^No column is called “cals”\. Similar: calls\b/);
});

test("what is saved as CSV is what the filter and the order leave, exact", async () => {
  const rows = show(job.store, "overlap.step")["overlap.step"];
  const { page } = await open(job.page, { hash: "#tables/name=overlap.step/sort=-idle_ns/filter=rank%3E3" });
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("text=Save as CSV")]);
  assert.equal(download.suggestedFilename(), "overlap.step.csv");
  await download.saveAs("saved.csv");
  const [head, ...lines] = text("saved.csv").trimEnd().split("\r\n").map((line) => line.split(","));
  assert.deepEqual(head, Object.keys(rows[0]));
  const begin = show(job.store, "job.job")["job.job"][0].begin_ns;
  const expected = rows.filter((row) => row.rank > 3).map((row, i) => [row, i]).sort(([a, i], [b, j]) => b.idle_ns - a.idle_ns || i - j);
  // Begins are relative to the job's begin. Beyond 2^53 JSON numbers are not exact in JavaScript, so they are left out.
  const cells = (row) => head.filter((name) => name !== "begin_ns").map((name) => (row[name] === null ? "" : String(row[name])));
  assert.deepEqual(lines.map((line) => line.filter((_, i) => head[i] !== "begin_ns")), expected.map(([row]) => cells(row)));
  assert.ok(lines.every((line) => Number(line[head.indexOf("begin_ns")]) < 1e10), `from ${begin}`);
});

// Addresses ----------------------------------------------------------------------------------------

test("an address opens the state that it names, follows changes, and is the same after a reload", async () => {
  const { page } = await open(job.page, { hash: "#ranks/show=share/sort=idle" });
  const pressed = () => page.$$eval('[aria-pressed="true"]', (all) => all.map((e) => e.textContent));
  const order = () => page.$$eval(".stack[data-rank]", (all) => all.map((e) => e.dataset.rank));
  assert.deepEqual(await pressed(), ["share", "idle", "whole job"]);
  const ranks = show(job.store, "overlap.rank")["overlap.rank"];
  assert.deepEqual(await order(), [...ranks].sort((a, b) => b.idle_ns - a.idle_ns || a.rank - b.rank).map((row) => String(row.rank)));
  await page.click('[data-value="compute"]');
  assert.equal(await page.evaluate(() => location.hash), "#ranks/show=share/sort=compute");
  await page.click('[data-value="steps"]');
  assert.equal(await page.evaluate(() => location.hash), "#ranks/of=steps/show=share/sort=compute", "keys in order");
  const state = [await pressed(), await order(), await page.innerText("main")];
  await page.reload();
  await page.waitForSelector('body[data-ready="ranks"]');
  assert.deepEqual([await pressed(), await order(), await page.innerText("main")], state);
});

seldom("a link is followed also while the address is behind", async () => {
  const { page } = await open(job.page, { hash: "#kernels" });
  await page.$eval('input[type="search"]', (input) => {
    input.value = "gemm";
    input.dispatchEvent(new Event("input", { bubbles: true }));
    setTimeout(() => { location.hash = "#ranks"; }, 100);
    for (const begin = performance.now(); performance.now() - begin < 300; ); // busy loop, so that saving the address is due before the link is followed
  });
  await page.waitForSelector('body[data-ready="ranks"]', { timeout: 5_000 });
});

seldom("a change of view is an entry in the history, a change inside a view is none", async () => {
  const { page } = await open(job.page);
  for (const view of ["communication", "steps"]) {
    await page.click(`nav.rail a[href="#${view}"]`);
    await page.waitForSelector(`body[data-ready="${view}"]`);
    assert.equal(await page.getAttribute(`nav.rail a[href="#${view}"]`, "aria-current"), "page");
    assert.equal(await page.evaluate(() => document.activeElement.tagName), "H1", "the new heading has the focus");
  }
  await page.click('[data-value="idle"]');
  await page.click('[data-value="worst"]');
  assert.equal(await page.evaluate(() => location.hash), "#steps/metric=idle/sort=worst");
  await page.evaluate(() => scrollTo(0, 120));
  await page.goBack();
  await page.waitForSelector('body[data-ready="communication"]');
  await page.goBack();
  await page.waitForSelector('body[data-ready="summary"]');
  await page.goForward();
  await page.goForward();
  await page.waitForSelector('body[data-ready="steps"]');
  assert.equal(await page.evaluate(() => location.hash), "#steps/metric=idle/sort=worst");
  assert.equal(await page.evaluate(() => scrollY), 120, "the place is kept");
  assert.deepEqual(await page.$$eval('[aria-pressed="true"]', (all) => all.map((e) => e.dataset.value).slice(0, 2)), ["idle", "worst"]);
});

// Keyboard -----------------------------------------------------------------------------------------

seldom("the button changes the theme and back", async () => {
  for (const theme of THEMES) {
    const { page } = await open(job.page, { theme });
    const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const [light, dark] = ["rgb(255, 255, 255)", "rgb(18, 22, 28)"];
    const expected = theme === "light" ? [light, dark, light] : [dark, light, dark];
    const found = [await back()];
    for (let i = 0; i < 2; i++) { await page.click("text=Light / dark"); found.push(await back()); }
    assert.deepEqual(found, expected);
  }
});

seldom("arrow keys walk over a map, Tab leaves it", async () => {
  const { page } = await open(job.page, { hash: "#steps/rows=ranks" });
  const at = () => page.evaluate(() => [document.activeElement.dataset.row, document.activeElement.dataset.column].map(Number));
  await page.focus('.cell[tabindex="0"]');
  const walk = async (key, expected) => { await page.keyboard.press(key); assert.deepEqual(await at(), expected, key); };
  await walk("ArrowRight", [0, 1]);
  await walk("ArrowDown", [1, 1]);
  await walk("ArrowDown", [2, 1]);
  await walk("ArrowLeft", [2, 0]);
  await walk("ArrowUp", [1, 0]);
  assert.equal(await page.$$eval('[role="grid"] [tabindex="0"]', (all) => all.length), 1, "one place for Tab");
  assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), /^rank 1, step 3: /);
  assert.ok(await page.isVisible(".tip"), "the cell says what it holds");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.closest('[role="grid"]')), null);
});

const FOCUSABLE = 'a[href], button, input, select, summary, [tabindex="0"]';

seldom("Tab reaches every control, in the order of the page, with a ring that is seen", async () => {
  const { page } = await open(job.page);
  for (const view of ["summary", "ranks", "stragglers", "tables", "about"]) {
    await visit(page, `#${view}`);
    const all = await page.$$eval(FOCUSABLE, (found) => {
      const shown = found.filter((e) => e.checkVisibility() && e.getAttribute("tabindex") !== "-1");
      shown.forEach((e, i) => (e.dataset.order = i));
      return shown.length;
    });
    await page.evaluate(() => { document.activeElement.blur(); scrollTo(0, 0); });
    await page.focus(".skip");
    const seen = [];
    for (let i = 0; i < all; i++) {
      const [order, ring] = await page.evaluate(() => {
        const style = getComputedStyle(document.activeElement);
        return [Number(document.activeElement.dataset.order ?? -1), style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2];
      });
      seen.push(order);
      if (i > 0) assert.ok(ring, `${view}: no ring around ${await page.evaluate(() => document.activeElement.outerHTML.slice(0, 120))}`);
      await page.keyboard.press("Tab");
    }
    assert.deepEqual(seen, [...Array(all).keys()], view);
  }
});

test("the first Tab offers to skip to the content", async () => {
  const { page } = await open(job.page);
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the content");
  assert.ok(await page.evaluate(() => document.activeElement.getBoundingClientRect().left >= 0), "it is not seen");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
});

// Vision -------------------------------------------------------------------------------------------

/* Expected colours of the style's section "Colours", with their contrast against the page. */
const CONTRASTS = {
  light: { page: "#ffffff", compute: 4.82, transfer: 3.07, wait: 6.13, unmatched: 2.42, copies: 9.66, idle: 1.29, good: 5.3, warn: 5.9, bad: 6.6, ink: 16.2, "ink-2": 7.4, "ink-3": 5.0, link: 6.7 },
  dark: { page: "#12161c", compute: 6.22, transfer: 12.4, wait: 5.17, unmatched: 3.79, copies: 3.95, idle: 1.81, good: 8.4, warn: 9.2, bad: 7.3, ink: 15.3, "ink-2": 9.5, "ink-3": 6.4, link: 8.4 },
};
const variables = (page, names) => page.evaluate((all) => all.map((name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()), names);

test("the measure of distance is CIEDE2000", () => {
  // Test data of Sharma, Wu and Dalal.
  for (const [a, b, expected] of [
    [[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425], [[50, -1.3802, -84.2814], [50, 0, -82.7485], 1], [[50, 2.5, 0], [73, 25, -18], 27.1492],
    [[60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644], [[2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082], [[50, -1, 2], [50, 0, 0], 2.3669],
  ]) assert.ok(Math.abs(ciede2000(a, b) - expected) < 1e-4, `${ciede2000(a, b)}, not ${expected}`);
});

/* Colours used next to each other, and the minimum distance of any two for every kind of colour vision. */
const REPORTED_APART = [[["compute", "overlap", "transfer", "wait", "unmatched", "copies", "idle"], 12], [[0, 1, 2, 3, 4, 5, 6, 7].map((i) => `class-${i}`), 8]];

for (const theme of THEMES)
  seldom(`colours contrast as designed, ramps are monotone, and all are told apart by every sight: ${theme}`, async () => {
    const { page } = await open(job.page, { theme }), { page: back, ...expected } = CONTRASTS[theme];
    assert.deepEqual(await variables(page, ["page"]), [back]);
    assert.deepEqual(parsed(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)), parsed(back));
    const colors = await variables(page, Object.keys(expected));
    Object.entries(expected).forEach(([name, value], i) => {
      const found = contrast(parsed(colors[i]), parsed(back));
      assert.ok(Math.abs(found - value) <= (value < 10 && !Number.isInteger(value * 10) ? 0.006 : 0.06), `${name}: ${found.toFixed(2)}, not ${value}`);
    });
    for (const ramp of ["wait", "work"]) {
      const cells = await page.evaluate((name) => [...Array(21).keys()].map((s) => {
        const probe = document.body.appendChild(document.createElement("span"));
        probe.className = `cell ${name} s${s}`;
        const style = getComputedStyle(probe);
        return [style.color, style.backgroundColor];
      }), ramp);
      cells.forEach((pair, s) => assert.ok(contrast(...pair.map(parsed)) >= 4.5, `${ramp} ${s}: ${pair}`));
      const light = cells.map(([, ground]) => lab(parsed(ground))[0]);
      assert.ok(light.every((l, i) => i === 0 || (theme === "light" ? l < light[i - 1] : l > light[i - 1])), `${ramp}: ${light}`);
    }
    for (const [names, least] of REPORTED_APART) {
      const all = (await variables(page, names)).map(parsed);
      for (const sight of Object.keys(SIGHTS))
        all.forEach((a, i) => all.slice(0, i).forEach((b, j) => assert.ok(ciede2000(lab(a, sight), lab(b, sight)) >= least, `${sight}: ${names[i]} and ${names[j]}`)));
    }
  });

seldom("where colours are forced, bars and maps keep theirs", async () => {
  const { page } = await open(job.page, { hash: "#stragglers" });
  const grounds = () => page.$$eval(".piece, .cell, .swatch", (all) => all.map((e) => getComputedStyle(e).backgroundColor));
  const before = await grounds();
  const body = () => page.evaluate(() => getComputedStyle(document.querySelector("nav.rail")).backgroundColor);
  const rail = await body();
  await page.emulateMedia({ forcedColors: "active" });
  assert.notEqual(await body(), rail, "colours are not forced");
  assert.ok(new Set(before).size > 5);
  assert.deepEqual(await grounds(), before);
});
