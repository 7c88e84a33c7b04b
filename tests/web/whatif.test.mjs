// What if, and the critical path on the timeline: bars, counts and pieces match the tables.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { closeTo, FULL, listed, merge, open, realJob, seldom, show, synth, tablesIn, test, text, tmerge, visit } from "./page.mjs";
import { parsed } from "./colour.mjs";
import { box, colours, COMPLETE, details, GUTTER, LANES_TOP, params, press, reload, RIGHT } from "./timeline.mjs";

synth("slow", { ranks: 8, ranks_per_host: 4, steps: 4, slow_rank: 3, slow_kind: "host", slow_factor: 2 });
synth("stages", { ranks: 8, tp: 2, pp: 2, microbatches: 2, steps: 3, slow_rank: 5 });
const slow = merge("slow8", "slow"), stages = merge("stages8", "stages");

const jobs = [slow, stages, realJob()].filter(Boolean);
let turn = 0;
const some = () => (FULL ? jobs : [jobs[turn++ % jobs.length]]); // in the landing set one job, in turn

function csv(store, table) {
  const [head, ...lines] = tmerge("show", store, table, "--csv").trim().split(/\r?\n/).map((line) => line.split(","));
  return { head, lines };
}

/** Pieces of the path, with begins from the job's begin. */
function pathOf(store) {
  const job = csv(store, "job.job"), zero = BigInt(job.lines[0][job.head.indexOf("begin_ns")]);
  // names may contain commas, so the columns after them are counted from the end
  return csv(store, "criticalpath.piece").lines.map((cells) => ({ step: Number(cells[0]), place: Number(cells[1]), rank: Number(cells[2]), kind: cells[3],
    begin: Number(BigInt(cells[cells.length - 2]) - zero), duration: Number(cells[cells.length - 1]) }));
}

const GROUPS = ["plan", "rank", "host", "stage", "kind", "kernel"];

/* Rows of whatif.item that get a bar: at least 0.1 % of a step, largest saving first, eight per group. */
function bars(store) {
  const { "whatif.item": items, "whatif.job": [whole] } = show(store, "whatif.item", "whatif.job");
  return GROUPS.flatMap((what) => {
    const rows = items.map((item, row) => ({ ...item, row })).filter((item) => item.what === what && item.saved_ns !== null && item.saved_ns >= whole.step_ns / 1000);
    return (what === "plan" ? rows : rows.sort((a, b) => b.saved_ns - a.saved_ns || a.row - b.row)).slice(0, 8);
  });
}

test("bars are what would help most, as long as what is saved, hatched where not sure", async () => {
  for (const job of some()) {
    const { page } = await open(job.page, { hash: "#whatif" });
    const shown = await page.$$eval(".saving[data-what]", (all) => all.map((e) => ({
      what: e.dataset.what, ns: Number(e.querySelector(".piece").dataset.ns), row: Number(e.querySelector("[data-row]").dataset.row), sure: e.dataset.sure === "true",
      hatched: getComputedStyle(e.querySelector(".piece")).backgroundImage.includes("gradient"),
      width: e.querySelector(".piece").getBoundingClientRect().width, room: e.querySelector(".bar-box").getBoundingClientRect().width,
    })));
    const expected = bars(job.store), most = Math.max(...expected.flatMap((item) => [item.saved_ns, item.saved_most_ns]));
    assert.ok(expected.length > 3);
    assert.deepEqual(shown.map(({ what, ns, row, sure }) => [what, ns, row, sure]), expected.map((item) => [item.what, item.saved_ns, item.row, item.sure]));
    for (const bar of shown) {
      assert.equal(bar.hatched, !bar.sure);
      assert.ok(Math.abs(bar.width - Math.max(2, (bar.room * bar.ns) / most)) < 1, `${bar.ns} ns of ${most}: ${bar.width} of ${bar.room} px`);
    }
  }
});

test("the summary says what the terminal says: the headline, what fixing saves, and the advice in its order", async () => {
  for (const job of some()) {
    const { "whatif.job": [whole], "stragglers.job": [verdict], "advice.item": advice } = show(job.store, "whatif.job", "stragglers.job", "advice.item");
    const { page } = await open(job.page);
    assert.equal((await page.textContent("h1")).replaceAll("\u00a0", " "), verdict.headline);
    const shown = await page.$$eval(".advice li", (all) => all.map((e) => [e.querySelector(".sign").className, Number(e.querySelector(".figure")?.dataset.row ?? -1)]));
    const signs = { critical: "sign bad", warning: "sign warn", note: "sign note" };
    assert.deepEqual(shown, advice.slice(0, shown.length).map((item, row) => [signs[item.severity], item.saved_ns ?? item.cost_ns ? row : -1]));
    const words = (text) => text.replaceAll("\u00a0", " ").replaceAll("µs", "us").replace(/\.$/, "");
    const more = whole.headline.replace(`${verdict.headline}. `, ""); // a leading kind of work is mentioned only once
    assert.equal(words(await page.textContent(".verdict .saved")), more);
  }
});

seldom("what is no bar is counted", async () => {
  const { "whatif.item": items } = show(slow.store, "whatif.item"), ranks = items.filter((item) => item.what === "rank");
  const untried = ranks.filter((item) => item.saved_ns === null).length;
  assert.ok(untried > 0);
  const { page } = await open(slow.page, { hash: "#whatif" });
  assert.match(await page.innerText(".savings"), new RegExp(`(^|\\n|; )${untried} ranks? would (?:each )?save under 0\\.05\\s%`));
});

seldom("columns are the steps and what is left of them, and lead to their paths", async () => {
  const { "whatif.step": steps } = show(slow.store, "whatif.step"), { page } = await open(slow.page, { hash: "#whatif" });
  const shown = await page.$$eval(".step-column", (all) => all.map((e) => [Number(e.dataset.step), Number(e.dataset.ns), Number(e.dataset.ideal), e.querySelector(".fill-saved").getBoundingClientRect().height / e.getBoundingClientRect().height]));
  const most = Math.max(...steps.map((step) => step.step_ns));
  assert.deepEqual(shown.map((each) => each.slice(0, 3)), steps.map((step) => [step.step, step.step_ns, step.ideal_ns]));
  shown.forEach(([, ns, ideal, share]) => assert.ok(Math.abs(share - (ns - ideal) / most) < 0.02, `${share}`));
  await page.click(`.step-column[data-step="${steps[1].step}"]`);
  await page.waitForSelector(COMPLETE);
  const own = pathOf(slow.store).filter((piece) => piece.step === steps[1].step), [begin, end] = (await params(page)).t.split("-").map(Number);
  const from = own[0].begin, to = own[own.length - 1].begin + own[own.length - 1].duration;
  assert.ok(begin <= from && end >= to && end - begin < 1.1 * (to - from), `${begin}-${end}, not ${from}-${to}`);
});

seldom("a bar opens its path at its longest piece, and keys go along it", async () => {
  const path = pathOf(slow.store), own = path.filter((piece) => piece.rank === 3), sums = new Map();
  for (const piece of own) sums.set(piece.step, (sums.get(piece.step) ?? 0) + piece.duration);
  const step = [...sums].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0][0];
  const longest = own.filter((piece) => piece.step === step).sort((a, b) => b.duration - a.duration || a.place - b.place)[0];
  const { page } = await open(slow.page, { hash: "#whatif" });
  await page.click('.saving[data-what="rank"] a');
  await page.waitForSelector(COMPLETE);
  assert.equal((await params(page)).piece, `${longest.step}.${longest.place}`);
  assert.match(await details(page), /^Critical path: .*rank 3, step/);
  const at = path.indexOf(longest);
  for (const [key, expected] of [["j", path[at + 1]], ["k", longest], ["k", path[at - 1]]]) {
    await press(page, key);
    assert.equal((await params(page)).piece, `${expected.step}.${expected.place}`, key);
  }
  const kept = await page.evaluate(() => location.hash), words = await details(page);
  await reload(page);
  assert.deepEqual([await page.evaluate(() => location.hash), await details(page)], [kept, words], "the address keeps it");
  await press(page, "c");
  assert.deepEqual([(await params(page)).piece, (await params(page)).path], [undefined, undefined]);
});

seldom("the path lies over the lane of its kernel, and says what it is under the pointer", async () => {
  const kernel = pathOf(stages.store).filter((piece) => piece.kind === "compute" && piece.rank === 0).sort((a, b) => b.duration - a.duration)[0];
  const t = `${kernel.begin - kernel.duration}-${kernel.begin + 2 * kernel.duration}`;
  const { page } = await open(stages.page, { hash: `#timeline/path=1/t=${t}` });
  await page.waitForSelector(COMPLETE);
  const { left, top, width } = await box(page), middle = Math.round((width + GUTTER - RIGHT) / 2), first = [...Array(40).keys()].map((y) => LANES_TOP + 1 + y);
  const inked = async () => (await colours(page, first.map((y) => [middle, y]))).flatMap((color, i) => (Math.max(...parsed(color)) < 60 ? [first[i]] : [])); // down the first rank's row
  const ys = await inked();
  assert.ok(ys.length >= 1 && ys[ys.length - 1] - ys[0] <= 4, `ink at ${ys}`);
  await page.mouse.move(left + middle, top + ys[0]);
  await page.waitForSelector(".tip:not([hidden])");
  assert.match(await page.textContent(".tip"), /^compute kernel.*rank 0, [\d.]+\s(µs|ms)$/);
  await page.mouse.move(left + middle, top + 5);
  await page.waitForSelector(".tip", { state: "hidden" });
  await press(page, "c");
  assert.deepEqual(await inked(), [], "hidden");
});

seldom("the panel of an event says how long it is on the path, and how much later it could have ended", async () => {
  const job = csv(slow.store, "job.job"), begins = job.lines[0][job.head.indexOf("begin_ns")], pieces = pathOf(slow.store).filter(({ kind }) => kind === "compute");
  const text = `SELECT rank, stream, begin_ns - ${begins} AS begin, duration_ns AS duration FROM events WHERE role = 'compute' AND step > 3`;
  const events = JSON.parse(tmerge("query", slow.store, text, "--json")).tables.query.rows, { "criticalpath.slack": runs } = show(slow.store, "criticalpath.slack");
  const slackOf = ({ rank, stream, begin }) => runs.filter((run) => run.rank === rank && run.stream === stream && BigInt(run.begin_ns) - BigInt(begins) <= begin).at(-1);
  const onPath = (event) => pieces.filter((piece) => piece.rank === event.rank && piece.begin < event.begin + event.duration && piece.begin + piece.duration > event.begin);
  const { page } = await open(slow.page, { hash: "#timeline" });
  const said = async ({ rank, begin, duration }) => {
    await visit(page, `#timeline/event=0.0.${begin}.${duration}/rank=${rank}`);
    await page.waitForSelector(COMPLETE);
    await page.waitForSelector(".tl-details:has-text('critical path')");
    return details(page);
  };
  const on = events.find((event) => onPath(event).some(({ begin }) => begin === event.begin)), [{ duration }] = onPath(on), words = await said(on);
  const [, time] = /On the critical path for (.*?s): a later end would have delayed the job\./.exec(words) ?? assert.fail(words);
  assert.ok(closeTo(time, duration), `${duration}: ${words}`);
  assert.equal(slackOf(on).slack_most_ns, 0);
  for (const rank of [0, 2]) {
    const off = events.findLast((event) => event.rank === rank && onPath(event).length === 0 && slackOf(event).slack_ns > 0), reported = await said(off);
    const [, by] = /Not on the critical path: it could have ended (.*?s) later without delaying the job\./.exec(reported) ?? assert.fail(reported);
    assert.ok(closeTo(by, slackOf(off).slack_ns), `${slackOf(off).slack_ns}: ${reported}`);
  }
});

test("a page of a store without these tables shows neither", async () => {
  const page = text(slow.page), document = tablesIn(page);
  for (const name of Object.keys(document.tables)) if (/^(whatif|criticalpath)\./.test(name)) Object.assign(document.tables[name], { cells: [], n: 0, block: undefined });
  writeFileSync("older.html", tablesIn(page, document));
  const { page: older } = await open("older.html");
  assert.ok(!(await listed(older)).includes("whatif"));
  await visit(older, "#timeline/path=1/piece=3.1");
  await older.waitForSelector(COMPLETE);
  assert.equal(await older.$$eval('[aria-label^="Critical path"]', (all) => all.length), 0);
  assert.match(await details(older), /^Select an event/);
});
