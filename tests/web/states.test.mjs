// What the page shows if something is missing: each state has its own job.
import assert from "node:assert/strict";
import { state } from "./jobs.mjs";
import { closeTo, FULL, listed, merge, open, seldom, show, sweep, synth, tablesIn, test, text, THEMES, visit } from "./page.mjs";

let turn = 0;

/* Opens the page of a state at a phone's width, in one theme (landing set) or both (full set), visits its views, then checks it. */
async function of(name, check) {
  const job = state(name), themes = FULL ? THEMES : [THEMES[turn++ % 2]];
  for (const theme of themes) {
    const { page } = await open(job.page, { theme, width: 390 });
    await sweep(page);
    if (theme !== themes.at(-1)) continue;
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.emulateMedia({ colorScheme: "light" });
    await visit(page, "#summary");
    await check(page, job);
  }
}

const h1 = (page) => page.textContent("h1");
const main = async (page) => {
  await page.$$eval("main details", (all) => all.forEach((e) => { e.open = true; }));
  return page.innerText("main");
};
/** Value and subtitle of a figure on the summary. */
const figure = (page, label) => page.$$eval(".figures > div", (all, wanted) => {
  const found = all.find((e) => e.querySelector("dt").textContent === wanted);
  return [found.querySelector(".value").textContent, found.querySelector(".below").textContent];
}, label);

test("one rank: nothing is compared", () => of("one-rank", async (page) => {
  assert.ok(!(await listed(page)).includes("stragglers"));
  assert.match(await h1(page), /^One rank: its GPU computes for \d+(\.\d)?\s% of the .* from its first work to its last/);
  assert.deepEqual(await figure(page, "Load balance"), ["–", "one rank"]);
  assert.match(await main(page), /step’s time goes\s+Compute\s[^,]*step 0\s/);
  assert.doesNotMatch(await main(page), /across ranks/);
  await visit(page, "#steps");
  assert.ok(!/How even|Who made|made others wait/.test(await main(page)), "a comparison of one rank");
  await visit(page, "#ranks");
  assert.deepEqual(await page.$$eval(".legend li", (all) => all.map((e) => e.textContent).filter((text) => /wait|transfer|split/i.test(text))), ["Not split"], "no rank waits for another");
  await visit(page, "#timeline");
  assert.doesNotMatch(await page.textContent("main"), /releases all|Wait\b(?! and transfer)/);
  if (!(await listed(page)).includes("whatif")) return;
  await visit(page, "#whatif");
  assert.doesNotMatch(await main(page), /rank after rank|at its peers’ pace|at the others’ pace/);
}));

test("no steps: the whole trace is one column", () => of("no-steps", async (page) => {
  assert.deepEqual(await figure(page, "Step time"), ["–", "no steps marked"]);
  assert.match(await page.textContent("header .facts"), / · no steps marked$/);
  for (const view of ["steps", "stragglers"]) {
    await visit(page, `#${view}`);
    const columns = await page.$$eval(".map-column", (all) => all.map((e) => e.textContent).filter((text) => !/^\d+$/.test(text)));
    assert.deepEqual(columns, ["whole trace"], view);
    assert.ok(!(await main(page)).includes("step 0"), view);
  }
  await visit(page, "#steps");
  assert.match(await main(page), /No steps marked.*To mark them, use prof\.step\(\) in PyTorch, StepTraceAnnotation/);
  /* The duration of the host's recording is neither a GPU's idle time nor a step's time. */
  assert.deepEqual(await page.$$eval('[aria-label="Metric"] button', (all) => all.map((e) => e.textContent)), ["made others wait", "waited", "compute", "exposed communication"]);
}));

test("traces of two jobs: said first, in the words of the terminal", () => of("two-jobs", async (page) => {
  const text = await main(page);
  assert.match(text, /^!\s*These traces may not be of one job\s*the traces give different numbers of ranks: 2 \(ranks 0,1\), 4 \(ranks 2,3\)\./);
}));

seldom("a partial step is hatched, left out of the median, and said", () => of("partial-step", async (page, job) => {
  const { "overlap.step": windows, "overview.step": steps } = show(job.store, "overlap.step", "overview.step");
  const partial = windows.filter((row) => row.partial).map((row) => [row.rank, row.step]);
  assert.deepEqual(partial, [[0, 3]], "the fixture");
  const own = (step) => steps.filter((row) => row.step === step && !(row.rank === 0 && step === 3)).map((row) => row.step_ns);
  const means = [3, 4, 5, 6].map((step) => own(step).reduce((a, b) => a + b) / own(step).length).sort((a, b) => a - b);
  assert.ok(Math.abs(await page.$eval(".figures .figure", (e) => Number(e.dataset.value)) - (means[1] + means[2]) / 2) < 1);
  await visit(page, "#steps");
  assert.deepEqual(await page.$$eval(".cell.partial", (all) => all.map((e) => e.getAttribute("aria-label").split(":")[0])), ["rank 0, step 3"]);
  assert.match(await page.$eval(".cell.partial", (e) => getComputedStyle(e).backgroundImage), /repeating-linear-gradient/);
  assert.match(await main(page), /Hatched: the recording began or ended inside the step/);
}));

seldom("no communication is never 0 % or 100 %, and what was looked for is named", () => of("no-communication", async (page) => {
  for (const label of ["Exposed communication", "Communication overlap", "Communication : compute"])
    assert.deepEqual(await figure(page, label), ["–", "no communication recorded"], label);
  assert.match(await page.textContent(".findings"), /No communication recorded.*--comm-pattern/);
  await visit(page, "#stragglers");
  assert.equal(await h1(page), "No communication recorded");
  assert.match(await main(page), /NCCL.*--comm-pattern/);
  assert.ok(!/Of 0 ns/.test(await main(page)));
}));

seldom("without an all-reduce the other kinds are shown", () => of("no-allreduce", async (page, job) => {
  const kinds = new Set(show(job.store, "overlap.kind")["overlap.kind"].map((row) => row.kind));
  assert.deepEqual([...kinds].sort(), ["allgather", "reducescatter"], "the fixture");
  assert.equal((await figure(page, "Communication overlap"))[1], "AllReduce: none in this job");
  assert.match(await page.textContent(".finding"), /ReduceScatter hides \d+\s% *, AllGather hides \d+\s% behind computation\. The job has no AllReduce\./);
}));

seldom("what was not recorded stands at the head, and nothing is concluded from the rest", () => of("holes", async (page, job) => {
  const { "job.job": [{ integrity }], "stragglers.job": [verdict], "advice.item": items } = show(job.store, "job.job", "stragglers.job", "advice.item");
  assert.match(integrity, /^On 4 of 4 ranks, most on rank \d: \d+ of \d+ launches have no kernel/);
  assert.deepEqual([verdict.verdict, verdict.rank, items.map((item) => item.rule)], ["inconclusive", null, ["recording"]]);
  const heads = await page.$$eval("main h1, main h2", (all) => all.map((e) => e.textContent.replace(/\u00a0/g, " ")));
  assert.deepEqual([heads[0], heads[1]], [integrity.split("; ")[0], verdict.headline]);
  assert.deepEqual(await page.$$eval(".findings .sign, .checks .sign", (all) => all.map((e) => e.className)), ["sign bad", ...Array(6).fill("sign note")]);
}));

seldom("kernels whose names tell no kind are not said to be no all-reduce", () => of("unreported-kinds", async (page) => {
  assert.equal((await figure(page, "Communication overlap"))[1], "AllReduce: none identified by name");
  assert.match(await page.textContent(".findings"), /No name shows which of it is AllReduce\./);
  await visit(page, "#communication");
  assert.match(await main(page), /none identified by name/);
  await visit(page, "#idle"); // from 30 to 400 us, between two kernels without launches
  assert.match((await main(page)).replace(/\u00a0/g, " "), /370\.0 µs of GPU time, 100 % of it of unknown cause: the traces hold no launch/);
}));

seldom("where most communication is not matched nobody is called late for sure, and the share is said", () => of("unmatched", async (page, job) => {
  const { "stragglers.job": [verdict], "clock.check": [check] } = show(job.store, "stragglers.job", "clock.check");
  assert.match((await main(page)).replace(/[\u00a0\u202f]/g, " "), new RegExp(`kernels \\(\\d+ %\\) were matched between ranks, to ${check.collectives} operations; (all|${check.matched}) of these are complete`));
  assert.ok(verdict.matched_share < 0.5 && verdict.certainty === "likely", "the fixture");
  const share = `Only ${Math.round(100 * verdict.matched_share)} % of the communication could be compared`;
  assert.ok(verdict.headline.startsWith(share), verdict.headline);
  assert.equal((await h1(page)).replace(/\u00a0/g, " "), verdict.headline);
  assert.equal(await page.$eval(".verdict .sign", (e) => e.className), "sign warn");
  assert.ok(await page.$$eval('.piece[data-part="unmatched"]', (all) => all.length) > 0, "a colour of its own");
  assert.match(await page.$eval(".piece.fill-unmatched", (e) => getComputedStyle(e).backgroundImage), /radial-gradient/);
  await visit(page, "#stragglers");
  assert.equal((await h1(page)).replace(/\u00a0/g, " "), verdict.headline);
}));

seldom("who may be late by chance is said first, as in the terminal, and what costs much below", () => of("chance", async (page, job) => {
  const { "stragglers.job": [verdict], "advice.item": [first] } = show(job.store, "stragglers.job", "advice.item");
  assert.deepEqual([verdict.verdict, first.rule, first.severity], ["inconclusive", "communication", "critical"], "the fixture");
  assert.equal((await h1(page)).replace(/\u00a0/g, " "), verdict.headline);
  assert.match(await page.textContent(".verdict .evidence"), /^Rank 1 costs most/);
  assert.equal(await page.textContent(".advice li a"), "Shorten communication");
  await visit(page, "#stragglers");
  assert.equal((await h1(page)).replace(/\u00a0/g, " "), verdict.headline);
}));

seldom("poor clocks: arrivals have whiskers, ties are hollow, nobody is last", () => of("poor-clocks", async (page, job) => {
  const { "clock.rank": clocks, "collectives.kind": kinds, "collectives.worst": worst, "collectives.arrival": arrivals } = show(job.store, "clock.rank", "collectives.kind", "collectives.worst", "collectives.arrival");
  const u = Math.max(...clocks.map((row) => row.uncertainty_ns));
  assert.ok(2 * Math.SQRT2 * u > Math.max(...kinds.map((row) => row.median_skew_ns)), "the fixture");
  const shown = show(job.store, "stragglers.job")["stragglers.job"][0].headline;
  assert.equal(await page.$$eval(".finding", (all) => all[2].querySelector("h2").textContent), "Clocks are coarse");
  await visit(page, "#stragglers");
  assert.equal((await h1(page)).replace(/\u00a0/g, " "), shown);
  const lanes = await page.$$eval(".instance", (all) => all.map((e) => ({ lanes: e.querySelectorAll(".arrival-whisker").length, last: e.querySelectorAll(".last-mark").length, tied: e.querySelectorAll(".tied-mark").length })));
  assert.equal(lanes.length, worst.length);
  for (const [i, lane] of lanes.entries()) {
    const begins = arrivals.filter((row) => row.instance === i).map((row) => row.begin_ns), last = Math.max(...begins);
    const alone = begins.filter((begin) => last - begin <= 2 * Math.SQRT2 * u).length === 1;
    assert.deepEqual([worst[i].last_rank === null, lane.lanes], [!alone, begins.length], `instance ${i}`);
    assert.deepEqual([lane.last, lane.tied], alone ? [1, 0] : [0, begins.filter((begin) => last - begin <= 2 * Math.SQRT2 * u).length], `instance ${i}`);
  }
  assert.ok(lanes.some((lane) => lane.tied > 1), "the fixture has no tie");
}));

seldom("clocks that are not compared: what rests on them is left out and said", () => of("no-clocks", async (page, job) => {
  assert.match(await h1(page), /^No verdict: the traces do not show who waits for whom/);
  assert.match(await page.textContent(".verdict .evidence"), /^Clocks are not compared/);
  assert.equal((await figure(page, "Exposed communication"))[1], "wait not known");
  await visit(page, "#stragglers");
  assert.equal(await h1(page), "Nothing could be compared between ranks");
  assert.match(await main(page), /Clocks are not compared \(--align=none\)/);
  const { "whatif.job": [whole] } = show(job.store, "whatif.job");
  assert.equal((await listed(page)).includes("whatif"), whole !== undefined);
  if (!whole) return;
  await visit(page, "#whatif");
  if (whole.ideal_ns === null) assert.match(await main(page), /^What fixing would save is not known/);
  assert.doesNotMatch(await main(page), /ranks? takes? under/);
}));

seldom("a job of several formats says so", () => of("two-formats", async (page) => {
  assert.match(await main(page), /Traces of several kinds \(kineto of 3 ranks, nsys of 1 rank\)/);
}));

seldom("ranks without a trace keep their places", () => of("missing-ranks", async (page) => {
  const rows = () => page.$$eval(".stacks .stack:not(.axis)", (all) => all.map((e) => [e.querySelector(".row-label").textContent, e.querySelector(".bar").classList.contains("missing")]));
  const expected = [0, 1, 2, 3, 4, 5].map((rank) => [`rank ${rank}`, rank === 1 || rank === 5]);
  assert.deepEqual((await rows()).slice(0, 6), expected.map(([label, missing], rank) => [rank === 0 ? label : `${rank}`, missing]));
  assert.match(await main(page), /2 ranks of 6 gave no trace: 1, 5\./);
  assert.ok(await page.$$eval(".figures sup", (all) => all.length) === 6, "a dagger at each figure");
  await visit(page, "#ranks");
  assert.deepEqual(await rows(), expected);
  assert.equal(await page.$eval(".bar.missing", (e) => e.textContent), "no trace");
  await visit(page, "#steps");
  assert.deepEqual(await page.$$eval('[role="grid"] .map-row', (all) => all.slice(1).map((e) => [e.querySelector(".row-label").textContent, e.textContent.includes("no trace")])), expected);
  await visit(page, "#about");
  assert.match(await main(page), /Ranks without a trace\s+1, 5/);
}));

seldom("ranks with other steps keep empty cells", () => of("unequal-steps", async (page, job) => {
  const rows = show(job.store, "overlap.step")["overlap.step"];
  await visit(page, "#steps/metric=step");
  const steps = [...new Set(rows.map((row) => row.step))].sort((a, b) => a - b);
  const found = await page.$$eval('[role="grid"] .map-row', (all) => all.slice(1).map((e) => [...e.querySelectorAll(".cell")].map((cell) => !cell.classList.contains("none"))));
  assert.deepEqual(found, [0, 1, 2, 3].map((rank) => steps.map((step) => rows.some((row) => row.rank === rank && row.step === step))));
  assert.ok(found.some((row) => row.includes(false)), "the fixture");
}));

seldom("a trace that was cut short has a torn edge, and what follows is hatched", () => of("truncated", async (page) => {
  for (const view of ["summary", "ranks"]) {
    await visit(page, `#${view}`);
    const cut = await page.$$eval(".stacks [data-rank]", (all) => all.map((e) => {
      const edge = e.querySelector(".cut-off"), bar = e.querySelector(".bar").getBoundingClientRect();
      if (!edge) return [e.dataset.rank, false];
      const box = edge.getBoundingClientRect(), idle = e.querySelector(".piece:nth-last-child(2)").getBoundingClientRect();
      return [e.dataset.rank, Math.abs(box.left - idle.right) < 1 && Math.abs(box.right - bar.right) < 1 && box.width > 20 && getComputedStyle(edge).backgroundImage.includes("repeating-linear-gradient")];
    }));
    assert.deepEqual(cut, [["0", false], ["1", false], ["2", true], ["3", false]], view);
  }
  await visit(page, "#summary");
  assert.match(await main(page), /† 1 trace is cut short/);
  assert.ok(await page.$$eval(".figures sup", (all) => all.length) === 6, "a dagger at each figure");
}));

for (const name of ["no-events", "mostly-skipped"])
  test(`${name}: the page says first that no device was recorded, and what was read`, () => of(name, async (page, job) => {
    assert.match(await h1(page), /^No GPU events: /);
    assert.deepEqual(await page.$$eval("nav.rail a", (all) => all.slice(all.findIndex((e) => e.classList.contains("blank"))).map((e) => e.textContent)),
      ["Idle, launches", "Memory, transfers", "Operators", "Kernels"], "what was not recorded stands last");
    assert.match(await main(page), /let the profiler record them/);
    assert.ok(!/100\s%|\b0\s%/.test(await page.innerText(".figures")), "a share of nothing");
    await visit(page, "#ranks");
    assert.match(await main(page), /No GPU events were recorded/);
    await visit(page, "#about");
    assert.equal(await h1(page), "About the data");
    assert.match(await main(page), /Events\s+1/);
    if (name === "mostly-skipped") {
      assert.equal(show(job.store, "job.rank")["job.rank"][0].skipped_events, 2, "the fixture");
      assert.match(await main(page), /negative_duration/);
      assert.match(await main(page), /mostly_skipped/);
    }
  }));

seldom("of 64 ranks maps show hosts that open, and the scale begins at the median", async () => {
  const job = merge("many", synth("many-traces", { ranks: 64, ranks_per_host: 8, steps: 3, layers: 4, cpu_ops: 1, slow_rank: 20, slow_factor: 1.3 }));
  const { page } = await open(job.page);
  assert.equal(await page.$$eval(".stacks [data-rank]", (all) => all.length), 13, "worst 8, median, best 4");
  assert.match(await main(page), /51 more ranks/);
  await visit(page, "#steps/metric=caused");
  const labels = () => page.$$eval('[role="grid"] .map-row .row-label', (all) => all.map((e) => e.textContent));
  assert.deepEqual(await labels(), [0, 1, 2, 3, 4, 5, 6, 7].map((host) => `host${host}`));
  const rows = show(job.store, "stragglers.rank_step")["stragglers.rank_step"];
  const cells = await page.$$eval(".cell[data-value]", (all) => all.map((e) => Number(e.dataset.value)));
  const worst = (host, step) => Math.max(...rows.filter((row) => row.step === step && Math.floor(row.rank / 8) === host).map((row) => row.direct_ns + row.indirect_ns));
  assert.deepEqual(cells, [0, 1, 2, 3, 4, 5, 6, 7].flatMap((host) => [3, 4, 5].map((step) => worst(host, step))));
  const middle = (all) => (all[(all.length - 1) >> 1] + all[all.length >> 1]) / 2, [, from, unit] = /The colours go from the median cell, ([\d.]+)\s(ns|µs|ms)/.exec(await main(page));
  assert.ok(closeTo(`${from} ${unit}`, middle(cells.sort((a, b) => a - b))), from);
  await page.click('[data-value="ranks"]');
  assert.equal((await labels()).length, 64);
  await visit(page, "#stragglers");
  const costs = show(job.store, "stragglers.rank")["stragglers.rank"].map((row) => [row.rank, row.direct_ns + row.indirect_ns]).sort(([a, x], [b, y]) => y - x || a - b).slice(0, 32).map(([rank]) => `rank ${rank}`);
  const column = (name) => page.$$eval(`[data-of="stragglers.rank"] td[data-column="${name}"]`, (all) => all.map((e) => e.textContent));
  const flies = async () => (await column("rank")).map((rank) => `rank ${rank}`);
  assert.equal((await column("last_arrivals"))[0], String(show(job.store, "stragglers.rank")["stragglers.rank"][20].last_arrivals), "what decides is in the table");
  assert.equal(costs[0], "rank 20");
  assert.deepEqual(await flies(), costs, "who costs most stands first");
  assert.deepEqual(await page.$$eval('[aria-label^="Who made"] .row-label', (all) => all.map((e) => e.textContent)), costs);
  await page.focus('[aria-label="Order"] [data-value="rank"]');
  await page.keyboard.press("Enter");
  assert.deepEqual((await flies()).map((label) => Number(label.slice(5))), costs.map((label) => Number(label.slice(5))).sort((a, b) => a - b));
  assert.match(page.url(), /#stragglers\/order=rank$/);
  assert.deepEqual(await page.$$eval('[aria-label^="Who waits"] .row-label', (all) => all.map((e) => e.textContent)), [0, 1, 2, 3, 4, 5, 6, 7].map((host) => `host${host}`));
});

seldom("of more pairs than the page holds those that waited most make the matrix of hosts", async () => {
  const job = merge("pairs", synth("pairs-traces", { ranks: 256, ranks_per_host: 8, steps: 2, layers: 4, cpu_ops: 1, slow_rank: 20 }));
  const { page } = await open(job.page, { hash: "#stragglers" });
  const waits = show(job.store, "stragglers.pair")["stragglers.pair"].map((row) => row.wait_ns).sort((a, b) => b - a), kept = 1 << 15;
  assert.ok(waits.length > kept, "the fixture");
  const sum = (values) => values.reduce((a, b) => a + b, 0), cells = await page.$$eval('[aria-label^="Who waits"] .cell[data-value]', (all) => all.map((e) => Number(e.dataset.value)));
  assert.deepEqual([cells.length, sum(cells)], [32 * 32, sum(waits.slice(0, kept))]);
  assert.deepEqual(await page.$$eval('[aria-label^="Who waits"] .map-column', (all) => all.slice(0, 3).map((e) => e.textContent)), ["0", "", "2"]);
  const share = 100 * sum(waits.slice(0, kept)) / sum(waits);
  assert.ok((await main(page)).replace(/[\u00a0\u202f]/g, " ").includes(`the 32 768 that waited most, ${share.toFixed(1)} % of all waiting`), `${share}`);
});

seldom("of more ranks in steps than the page holds with all ranks, hosts are still compared", async () => {
  const job = merge("cells", synth("cells-traces", { ranks: 640, steps: 9, layers: 2, buckets: 1, cpu_ops: 1, no_instances: true }));
  const { page } = await open(job.page, { hash: "#communication" });
  const { ranks, ranks_kept, cell_ranks } = tablesIn(text(job.page)).facts, kept = [ranks, ranks_kept, cell_ranks.length < ranks];
  assert.deepEqual(kept, [640, 640, true], "the fixture");
  assert.match(await main(page), /All hosts with all others: every group has ranks on all 80 of them/);
  await visit(page, "#steps");
  assert.match(await main(page), /Each cell is one host in one step: its rank with most, of those that this page holds\./);
  await page.click('[data-value="ranks"]');
  assert.match(await main(page), /Each cell is one rank in one step/);
});

seldom("a map of very many rows has labels on both sides, and is read by arrow keys", async () => {
  const job = merge("tall", synth("tall-traces", { ranks: 104, ranks_per_host: 8, steps: 3, layers: 4, cpu_ops: 1, slow_rank: 20 }));
  const { page } = await open(job.page, { hash: "#steps/rows=ranks/metric=compute" });
  await page.waitForSelector(".map-top span");
  const found = await page.evaluate(() => {
    const box = (e) => e.getBoundingClientRect(), field = box(document.querySelector("canvas"));
    const share = (e, from, size) => (box(e)[from] + box(e)[size] / 2 - field[from]) / field[size];
    return [["left", "top", "height"], ["top", "left", "width"]].map(([side, from, size]) =>
      [...document.querySelectorAll(`.map-${side} span`)].map((e) => [e.textContent, share(e, from, size), box(e)[from], box(e)[from] + box(e)[size]]));
  });
  for (const [labels, word, first, n] of [[found[0], "rank", 0, 104], [found[1], "", 3, 3]]) {
    assert.ok(labels.length >= 3, `${labels}`);
    labels.forEach(([label, at, from], i) => {
      const number = Number(label.slice(word.length)) - first;
      assert.ok(Math.abs(at - (number + 0.5) / n) < 0.002, `${label} stands at ${at}`);
      assert.ok(i === 0 || from >= labels[i - 1][3] - 1, `${label} lies on the one before`);
    });
  }
  await page.focus("canvas");
  for (const key of ["ArrowDown", "ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
  assert.match(await page.textContent(".map-readout"), /^rank 2, step 4compute: \d/);
  await page.keyboard.press("Enter");
  await page.waitForSelector('body[data-ready="timeline"]');
  assert.match(await page.evaluate(() => location.hash), /^#timeline\/rank=2\//);
});
