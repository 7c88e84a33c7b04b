// What a reader does: sorts, filters, saves, follows links, uses the keyboard, sees badly.
import assert from "node:assert/strict";
import { before } from "node:test";
import { ciede2000, contrast, lab, parsed, SIGHTS } from "./colour.mjs";
import { grave, listed, merge, moduleOf, open, show, synth, test, text, THEMES, trace, visit } from "./page.mjs";

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

test("the filter takes conditions and text", async () => {
  const rows = show(job.store, "overlap.step")["overlap.step"], kinds = show(job.store, "overlap.kind")["overlap.kind"];
  const { page } = await open(job.page, { hash: "#tables/name=overlap.step" });
  const left = async (filter) => { await page.fill('input[type="search"]', filter); return column(page, "rank"); };
  const where = (test) => rows.flatMap((row, i) => (test(row) ? [i] : []));
  assert.deepEqual(await left("rank>3"), where((r) => r.rank > 3));
  assert.deepEqual(await left("rank>=2 step=4"), where((r) => r.rank >= 2 && r.step === 4));
  assert.deepEqual(await left("rank!=5; window_ns<0"), []);
  assert.match(await page.innerText("main"), /No row fits the filter\./);
  assert.deepEqual(await left("partial=no rank<1"), where((r) => !r.partial && r.rank < 1));
  assert.deepEqual(await left(""), where(() => true));
  await visit(page, "#tables/name=overlap.kind");
  assert.deepEqual(await left("ALLRED"), kinds.flatMap((row, i) => (row.kind.includes("allred") ? [i] : [])));
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
  // Begins are counted from the job's; beyond 2^53 JSON's numbers are not exact here, so they are left out.
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

test("a link is followed also while the address is behind", async () => {
  const { page } = await open(job.page, { hash: "#kernels" });
  await page.$eval('input[type="search"]', (input) => {
    input.value = "gemm";
    input.dispatchEvent(new Event("input", { bubbles: true }));
    setTimeout(() => { location.hash = "#ranks"; }, 100);
    for (const begin = performance.now(); performance.now() - begin < 300; ); // so the address is due before what the link leads to
  });
  await page.waitForSelector('body[data-ready="ranks"]', { timeout: 5_000 });
});

test("a change of view is an entry in the history, a change inside a view is none", async () => {
  const { page } = await open(job.page);
  for (const view of ["ranks", "steps"]) {
    await page.click(`nav.rail a[href="#${view}"]`);
    await page.waitForSelector(`body[data-ready="${view}"]`);
    assert.equal(await page.getAttribute(`nav.rail a[href="#${view}"]`, "aria-current"), "page");
    assert.equal(await page.evaluate(() => document.activeElement.tagName), "H1", "the new heading has the focus");
  }
  await page.click('[data-value="idle"]');
  await page.click('[data-value="worst"]');
  assert.equal(await page.evaluate(() => location.hash), "#steps/metric=idle/sort=worst");
  await page.goBack();
  await page.waitForSelector('body[data-ready="ranks"]');
  await page.goBack();
  await page.waitForSelector('body[data-ready="summary"]');
  await page.goForward();
  await page.goForward();
  await page.waitForSelector('body[data-ready="steps"]');
  assert.equal(await page.evaluate(() => location.hash), "#steps/metric=idle/sort=worst");
  assert.deepEqual(await page.$$eval('[aria-pressed="true"]', (all) => all.map((e) => e.dataset.value).slice(0, 2)), ["idle", "worst"]);
});

test("every link of every view leads to a view that there is", async () => {
  const { page } = await open(job.page);
  const views = await listed(page), lost = [];
  for (const view of views) {
    await visit(page, `#${view}`);
    for (const link of new Set(await page.$$eval("main a[href]", (all) => all.map((a) => a.getAttribute("href")))))
      if (!views.includes(link.slice(1).split("/")[0])) lost.push(`${view}: ${link}`);
  }
  assert.deepEqual(lost, []);
});

// Keyboard -----------------------------------------------------------------------------------------

test("the button changes the theme and back", async () => {
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

test("choices work from the keyboard and keep the focus", async () => {
  const { page } = await open(job.page, { hash: "#ranks" });
  for (const [value, key] of [["share", "Enter"], ["time", " "], ["wait", "Enter"]]) {
    await page.focus(`[data-value="${value}"]`);
    await page.keyboard.press(key);
    assert.equal(await page.getAttribute(`[data-value="${value}"]`, "aria-pressed"), "true");
    assert.equal(await page.evaluate(() => document.activeElement.dataset.value), value, "the focus is lost");
  }
});

test("arrow keys walk over a map, Tab leaves it", async () => {
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

test("Tab reaches every control, in the order of the page, with a ring that is seen", async () => {
  const { page } = await open(job.page);
  for (const view of ["summary", "ranks", "stragglers", "tables", "about"]) {
    await visit(page, `#${view}`);
    const all = await page.$$eval(FOCUSABLE, (found) => {
      const shown = found.filter((e) => (e.offsetParent !== null || e.classList.contains("skip")) && e.getAttribute("tabindex") !== "-1");
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

test("whatever takes the focus has a name, and headings are in order", async () => {
  const { page } = await open(job.page);
  const client = await page.context().newCDPSession(page);
  for (const view of await listed(page)) {
    await visit(page, `#${view}`);
    const { nodes } = await client.send("Accessibility.getFullAXTree");
    const focusable = nodes.filter((node) => !node.ignored && node.properties?.some((p) => p.name === "focusable" && p.value.value));
    assert.ok(focusable.length > 8, `${view}: ${focusable.length}`);
    const nameless = focusable.filter((node) => node.role.value !== "RootWebArea" && node.role.value !== "main" && !node.name?.value?.trim());
    assert.deepEqual(nameless.map((node) => node.role.value), [], view);
    const levels = await page.$$eval("main h1, main h2, main h3, main h4", (all) => all.map((e) => Number(e.tagName[1])));
    assert.equal(levels[0], 1, view);
    levels.forEach((level, i) => assert.ok(i === 0 || level <= levels[i - 1] + 1, `${view}: h${level} after h${levels[i - 1]}`));
    for (const landmark of ["header", "nav", "main"]) assert.equal(await page.$$eval(`body > ${landmark}, .frame > ${landmark}`, (all) => all.length), 1, landmark);
  }
});

test("targets are 24 pixels and larger, but for links in running text", async () => {
  const { page } = await open(job.page);
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 });
    for (const view of await listed(page)) {
      await visit(page, `#${view}`);
      const small = await page.$$eval("a[href], button, input, select, summary, .cell[tabindex]", (all) => all
        .filter((e) => e.offsetParent !== null && !e.closest("p, td, dd, .instance-words, .note") && !e.classList.contains("skip"))
        .map((e) => [e, e.getBoundingClientRect()]).filter(([e, box]) => box.height < 23.99 || (box.width < 23.99 && !e.classList.contains("cell")))
        .map(([e, box]) => `${e.outerHTML.slice(0, 90)}: ${box.width.toFixed(0)} x ${box.height.toFixed(1)}`));
      assert.deepEqual(small.slice(0, 5), [], `${view} at ${width}`);
    }
  }
});

/* Jobs that together have every view. */
function jobsOfAllViews() {
  const small = { steps: 2, layers: 4 };
  const call = (name, ts, dur, id) => ({ ph: "X", cat: "python_function", name, pid: 1, tid: 1, ts, dur, args: { "Python id": id } });
  return [
    job,
    merge("pipeline", synth("pipeline-traces", { ranks: 4, pp: 2, microbatches: 3, ...small })),
    merge("compiled", synth("compiled-traces", { ranks: 4, format: "xplane", ...small })),
    merge("stack", trace("stack_rank_0.json", [call("f", 0, 100, 1), call("g", 10, 50, 2)])),
  ];
}

test("axe finds nothing serious on any view", async () => {
  const all = new Set(jobsOfAllViews()), seen = new Set();
  for (const [theme, width] of [["light", 800], ["dark", 1280], ["light", 1920]]) {
    seen.clear();
    for (const each of all) {
      const { page } = await open(each.page, { theme, width, ready: null });
      await page.waitForSelector("body[data-ready]");
      for (const view of (await listed(page)).filter((id) => !seen.has(id))) {
        seen.add(view);
        await visit(page, `#${view}`);
        if (view === "timeline") await page.waitForSelector('body[data-timeline="complete"]');
        assert.deepEqual(await grave(page), [], `${view}, ${theme}, ${width}`);
      }
    }
  }
  const { reportViews } = await moduleOf("views/index.ts");
  assert.deepEqual(reportViews.map(({ id }) => id).filter((id) => !seen.has(id)), [], "views that no job has");
});

test("no name of a column or a table stands where a person reads a sentence", async () => {
  const texts = "main h1, main h2, main h3, main p, main th, main dt, main dd, main li, main label, main button, main summary";
  for (const each of jobsOfAllViews()) {
    const { page } = await open(each.page, { ready: null });
    await page.waitForSelector("body[data-ready]");
    const names = new Set(await page.evaluate(() => Object.values(JSON.parse(document.getElementById("tables").textContent).tables).flatMap(({ columns }) => columns.map(([name]) => name)).filter((name) => name.includes("_"))));
    const tables = new Set(await page.evaluate(() => Object.keys(JSON.parse(document.getElementById("tables").textContent).tables)));
    assert.ok(names.has("host_bound_pct") && names.size > 100 && tables.has("overlap.rank"), "the names were not found");
    for (const view of (await listed(page)).filter((id) => id !== "tables")) { // which names them on purpose
      await visit(page, `#${view}`);
      const words = await page.$$eval(texts, (all) => all.flatMap((e) => [...e.textContent.matchAll(/[a-z][a-z0-9]*(?:_[a-z0-9]+)+/g)].map(([word]) => word)));
      assert.deepEqual(words.filter((word) => names.has(word)), [], view);
      const dotted = await page.$$eval(texts, (all) => all.flatMap((e) => { // but for commands
        const own = e.cloneNode(true);
        for (const code of own.querySelectorAll("code")) code.remove();
        return [...own.textContent.matchAll(/(?<!tmerge show )(?<![\w.])[a-z]+\.[a-z_]+/g)].map(([word]) => word);
      }));
      assert.deepEqual(dotted.filter((word) => tables.has(word)), [], view);
      const named = await page.$$eval("main [aria-label]", (all) => all.map((e) => e.getAttribute("aria-label")));
      assert.deepEqual(named.filter((words) => (words.match(/[a-z][\w.]*\w/g) ?? []).some((word) => names.has(word) || tables.has(word))), [], view);
    }
  }
});

// Sight --------------------------------------------------------------------------------------------

/* Section "colours" of the style: what stands in it, and its contrast against the page. */
const CONTRASTS = {
  light: { page: "#ffffff", compute: 4.82, transfer: 3.07, wait: 6.13, unmatched: 2.42, copies: 9.66, idle: 1.29, good: 5.3, warn: 5.9, bad: 6.6, ink: 16.2, "ink-2": 7.4, "ink-3": 5.0, link: 6.7 },
  dark: { page: "#12161c", compute: 6.22, transfer: 12.4, wait: 5.17, unmatched: 3.79, copies: 3.95, idle: 1.81, good: 8.4, warn: 9.2, bad: 7.3, ink: 15.3, "ink-2": 9.5, "ink-3": 6.4, link: 8.4 },
};
const SEVEN = ["compute", "overlap", "transfer", "wait", "unmatched", "copies", "idle"];
const variables = (page, names) => page.evaluate((all) => all.map((name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()), names);

test("the measure of distance is CIEDE2000", () => {
  // From the data of Sharma, Wu and Dalal.
  for (const [a, b, expected] of [
    [[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425], [[50, -1.3802, -84.2814], [50, 0, -82.7485], 1], [[50, 2.5, 0], [73, 25, -18], 27.1492],
    [[60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644], [[2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082], [[50, -1, 2], [50, 0, 0], 2.3669],
  ]) assert.ok(Math.abs(ciede2000(a, b) - expected) < 1e-4, `${ciede2000(a, b)}, not ${expected}`);
});

test("colours contrast with the page as designed", async () => {
  for (const theme of THEMES) {
    const { page } = await open(job.page, { theme });
    const { page: back, ...expected } = CONTRASTS[theme];
    assert.deepEqual(await variables(page, ["page"]), [back]);
    assert.deepEqual(parsed(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)), parsed(back));
    const colors = await variables(page, Object.keys(expected));
    Object.entries(expected).forEach(([name, value], i) => {
      const found = contrast(parsed(colors[i]), parsed(back));
      assert.ok(Math.abs(found - value) <= (value < 10 && !Number.isInteger(value * 10) ? 0.006 : 0.06), `${theme} ${name}: ${found.toFixed(2)}, not ${value}`);
    });
  }
});

test("text on every ground contrasts 4.5 or more", async () => {
  for (const theme of THEMES) {
    const { page } = await open(job.page, { theme });
    for (const view of await listed(page)) {
      await visit(page, `#${view}`);
      const pairs = await page.evaluate(() => {
        const found = new Map();
        for (const e of document.querySelectorAll("body *")) {
          if (e.offsetParent === null || ![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
          let ground = e;
          while (ground && getComputedStyle(ground).backgroundColor === "rgba(0, 0, 0, 0)") ground = ground.parentElement;
          found.set(`${getComputedStyle(e).color} on ${ground ? getComputedStyle(ground).backgroundColor : "rgb(255, 255, 255)"}`, e.outerHTML.slice(0, 100));
        }
        return [...found];
      });
      assert.ok(pairs.length > 4);
      for (const [pair, where] of pairs) {
        const found = contrast(...pair.split(" on ").map(parsed));
        assert.ok(found >= 4.495, `${theme} ${view}: ${found.toFixed(2)}, ${pair}: ${where}`);
      }
    }
  }
});

test("text on every step of the maps' ramps contrasts 4.5 or more, and ramps are monotone", async () => {
  for (const theme of THEMES) {
    const { page } = await open(job.page, { theme });
    for (const ramp of ["wait", "work"]) {
      const cells = await page.evaluate((name) => [...Array(21).keys()].map((s) => {
        const probe = document.body.appendChild(document.createElement("span"));
        probe.className = `cell ${name} s${s}`;
        const style = getComputedStyle(probe);
        return [style.color, style.backgroundColor];
      }), ramp);
      cells.forEach((pair, s) => assert.ok(contrast(...pair.map(parsed)) >= 4.5, `${theme} ${ramp} ${s}: ${pair}`));
      const light = cells.map(([, ground]) => lab(parsed(ground))[0]);
      assert.ok(light.every((l, i) => i === 0 || (theme === "light" ? l < light[i - 1] : l > light[i - 1])), `${theme} ${ramp}: ${light}`);
    }
  }
});

test("the seven colours are told apart by every sight", async (t) => {
  for (const theme of THEMES) {
    const { page } = await open(job.page, { theme });
    const colors = (await variables(page, SEVEN)).map(parsed);
    let least = [Infinity];
    for (const sight of Object.keys(SIGHTS))
      for (let i = 0; i < SEVEN.length; i++)
        for (let j = 0; j < i; j++) {
          const distance = ciede2000(lab(colors[i], sight), lab(colors[j], sight));
          if (distance < least[0]) least = [distance, sight, SEVEN[i], SEVEN[j]];
        }
    t.diagnostic(`${theme}: least CIEDE2000 ${least[0].toFixed(1)} (${least.slice(1).join(", ")})`);
    assert.ok(least[0] >= 12, `${theme}: ${least}`);
  }
});

test("nothing moves", async () => {
  const { page } = await open(job.page);
  await page.emulateMedia({ reducedMotion: "reduce" });
  for (const view of await listed(page)) {
    await visit(page, `#${view}`);
    const moving = await page.$$eval("body *", (all) => all.filter((e) => { const s = getComputedStyle(e); return /[1-9]/.test(s.transitionDuration) || s.animationName !== "none" || s.scrollBehavior === "smooth"; }).map((e) => e.outerHTML.slice(0, 90)));
    assert.deepEqual(moving, [], view);
  }
});

test("at 200 % nothing scrolls sideways", async () => {
  const { page } = await open(job.page, { width: 720, height: 450, scale: 2 });
  assert.equal(await page.evaluate(() => devicePixelRatio), 2);
  for (const view of await listed(page)) {
    await visit(page, `#${view}`);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(over <= 0, `${view} is ${over} px too wide`);
  }
});

test("where colours are forced, bars and maps keep theirs", async () => {
  const { page } = await open(job.page, { hash: "#steps" });
  const grounds = () => page.$$eval(".piece, .cell, .swatch", (all) => all.map((e) => getComputedStyle(e).backgroundColor));
  const before = await grounds();
  const body = () => page.evaluate(() => getComputedStyle(document.querySelector("nav.rail")).backgroundColor);
  const rail = await body();
  await page.emulateMedia({ forcedColors: "active" });
  assert.notEqual(await body(), rail, "colours are not forced");
  assert.ok(new Set(before).size > 5);
  assert.deepEqual(await grounds(), before);
});
