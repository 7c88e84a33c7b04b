// The timeline in a real browser: keys, pointer, search, address, sums and damaged data.
import assert from "node:assert/strict";
import { closeTo, merge, open, seldom, show, synth, test, tmerge, visit } from "./page.mjs";
import { address, box, colours, COMPLETE, details, drawn, GUTTER, hovered, LANES_TOP, params, placeOf, plain, press, reload, RIGHT, RULER_Y, settled, timeline as opened } from "./timeline.mjs";

const LANES_Y = LANES_TOP + 40;
const job = merge("job8", synth("job", { ranks: 8, ranks_per_host: 4, steps: 4, slow_rank: 3, slow_kind: "host", cpu_ops: 4, end_jitter_ns: 2000 }));
const timeline = (hash) => opened(job.page, hash);

/** Visible window [ns]. */
async function span(page) {
  const { t } = await params(page);
  const [begin, end] = t ? t.split("-").map(Number) : [0, duration];
  return { begin, end };
}

/** Rows of a table with integers as BigInt: times since the epoch exceed a double's precision. */
function exact(store, name) {
  const [head, ...lines] = tmerge("show", store, name, "--csv").trim().split(/\r?\n/).map((line) => line.split(","));
  return lines.map((cells) => Object.fromEntries(head.map((column, i) => [column, /^-?\d+$/.test(cells[i]) ? BigInt(cells[i]) : cells[i]])));
}

const begins = exact(job.store, "job.job")[0].begin_ns, duration = Number(exact(job.store, "job.job")[0].duration_ns);

seldom("w, s, a, d and 0 move the window", async () => {
  const { page } = await timeline();
  assert.deepEqual(await params(page), {});
  await press(page, "w");
  const zoomed = await span(page);
  assert.ok(Math.abs((zoomed.end - zoomed.begin) * 1.5 - duration) < 3, JSON.stringify(zoomed));
  await press(page, "d");
  const moved = await span(page);
  assert.ok(moved.begin > zoomed.begin && Math.abs(moved.end - moved.begin - (zoomed.end - zoomed.begin)) < 3);
  await press(page, "a");
  assert.deepEqual(await span(page), zoomed);
  await press(page, "s");
  assert.deepEqual(await params(page), {});
  await press(page, "w", "w", "0");
  assert.deepEqual(await params(page), {});
});

seldom("the wheel with Ctrl zooms at the pointer, with Shift moves", async () => {
  const { page } = await timeline();
  const { left, top, width } = await box(page), x = left + GUTTER + (width - GUTTER - RIGHT) * 0.25;
  await page.mouse.move(x, top + LANES_Y);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -240);
  await page.waitForFunction(() => location.hash.includes("/t="));
  await page.keyboard.up("Control");
  const zoomed = await span(page);
  assert.ok(zoomed.end - zoomed.begin < duration * 0.8, "it zooms in");
  const under = zoomed.begin + 0.25 * (zoomed.end - zoomed.begin);
  assert.ok(Math.abs(under - duration * 0.25) < duration * 0.002, "the time under the pointer stays");
  await page.keyboard.down("Shift");
  await page.mouse.wheel(0, 200);
  await page.waitForFunction((begin) => Number(/t=(\d+)/.exec(location.hash)[1]) > begin, zoomed.begin);
  await page.keyboard.up("Shift");
});

seldom("dragging moves, on the ruler it zooms to the range", async () => {
  const { page } = await timeline(`/t=${Math.round(duration * 0.4)}-${Math.round(duration * 0.6)}`);
  const before = await span(page), { left, top } = await box(page);
  const drag = async (from, to, y) => {
    const { begin, end } = await span(page), move = async (time) => page.mouse.move(left + await placeOf(page, time, [begin, end]), top + y);
    await move(from);
    await page.mouse.down();
    for (const time of [(from + to) / 2, to]) await move(time);
    await page.mouse.up();
  };
  await drag(duration * 0.5, duration * 0.45, LANES_Y);
  const moved = await span(page);
  assert.ok(Math.abs(moved.begin - before.begin - duration * 0.05) < duration * 0.002, JSON.stringify(moved));
  await drag(duration * 0.5, duration * 0.52, RULER_Y);
  const zoomed = await span(page);
  assert.ok(Math.abs(zoomed.begin - duration * 0.5) < duration * 0.002 && Math.abs(zoomed.end - duration * 0.52) < duration * 0.002, JSON.stringify(zoomed));
});

test("the details lie in a tray of a height that is set, and nothing moves when help, a selection or a legend comes", async () => {
  const { page } = await timeline();
  const places = () => page.evaluate(() => [...["canvas", ".tl-details"].map((each) => document.querySelector(each).getBoundingClientRect()).flatMap(({ top, height }) => [top, height]), scrollY]);
  const before = await places(), below = await page.evaluate(() => innerHeight);
  assert.ok(before[2] + before[3] <= below, `the tray ends at ${before[2] + before[3]} of ${below}`);
  for (const keys of ["?", "]", "m"]) {
    await press(page, keys);
    assert.deepEqual(await places(), before, keys);
  }
  await page.selectOption("select[data-name=Colour]", "class");
  await drawn(page);
  assert.deepEqual((await places())[0], before[0], "a longer legend");
  await page.focus(".tl-handle");
  await page.keyboard.press("ArrowUp");
  await drawn(page);
  const [top, height, , tray] = await places();
  assert.deepEqual([top, height < before[1], tray], [before[0], true, before[3] + 24]);
  await reload(page);
  assert.equal((await places())[3], tray, "the address keeps it");
  await press(page, "v");
  assert.ok(await page.isDisabled('[aria-label^="Critical path"]'), "a map draws no path");
});

test("what is under the pointer is said beside it, but not while it is dragged", async () => {
  const { page } = await timeline(), { left, top } = await box(page), tip = page.locator(".tip");
  const [x, y] = [left + await placeOf(page, duration / 2, duration), top + LANES_Y];
  await page.mouse.move(x, y);
  await page.focus("canvas");
  for (let i = 0; i < 12; i++) await page.keyboard.press("w");
  await page.mouse.move(x + 1, y);
  for (let i = 1; i < 40 && !(await tip.isVisible()); i++) await page.mouse.move(x + 10 * i, y);
  const said = plain(await tip.textContent()), words = plain(await page.textContent(".tl-hover"));
  assert.match(said, /rank \d, (kernel|copy or set), [\d.]+ (ns|µs|ms)/);
  assert.ok(words.includes(/rank \d/.exec(said)[0]), `${said} | ${words}`);
  await page.mouse.down();
  await page.mouse.move(x + 60, y);
  await drawn(page);
  assert.ok(!(await tip.isVisible()), "a tip that is dragged along");
  await page.mouse.up();
});

test("the sums of the whole job are those of overlap.rank", async () => {
  const { page } = await timeline();
  await press(page, "m");
  const found = await page.$$eval(".tl-sums tbody tr", (rows) => rows.map((row) => [...row.cells].map((cell) => cell.title || cell.textContent)));
  const table = show(job.store, "overlap.rank")["overlap.rank"];
  assert.equal(found.length, 8);
  const number = (cell) => Number(plain(cell).replace(/ ns$/, ""));
  found.forEach((cells, i) => {
    assert.equal(cells[0], String(table[i].rank));
    assert.equal(number(cells[1]), table[i].compute_ns, `compute of rank ${i}`);
    assert.equal(number(cells[2]) + number(cells[3]) + number(cells[4]), table[i].comm_ns, `communication of rank ${i}`);
  });
});

seldom("collectives are visited in time and by wait, with their arrivals", async () => {
  const { page } = await timeline();
  const worst = exact(job.store, "collectives.worst"), arrivals = exact(job.store, "collectives.arrival");
  await press(page, "Shift+]");
  assert.equal((await params(page)).coll, "0");
  const listed = await page.$$eval(".tl-arrivals:not(.tl-peers) button", (buttons) => buttons.map((b) => b.textContent));
  const order = arrivals.filter((a) => a.instance === 0n).sort((a, b) => Number(a.begin_ns - b.begin_ns || a.rank - b.rank));
  assert.deepEqual(listed.map((each) => Number(/rank (\d+)/.exec(each)[1])), order.map((a) => Number(a.rank)));
  assert.ok((await details(page)).includes(`begins at ${worst[0].begin_ns - begins} ns, released at ${worst[0].begin_ns + worst[0].skew_ns - begins} ns`));
  assert.match(await details(page), new RegExp(`rank ${worst[0].last_rank} came last`));
  await press(page, "Shift+]");
  assert.equal((await params(page)).coll, "1");
  await press(page, "Escape", "0", "]");
  const first = worst.map((row) => Number(row.begin_ns - begins)).sort((a, b) => a - b)[0];
  assert.ok((await details(page)).includes(`begins at ${first} ns`), "the first in time");
  await press(page, "f");
  const { begin, end } = await span(page);
  assert.ok(begin <= first && end - begin < duration / 4, "f fits it");
});

test("the address opens what it says, and a new load shows the same", async () => {
  const { page } = await timeline("/coll=2");
  const row = exact(job.store, "collectives.worst")[2];
  const window = await span(page), begin = Number(row.begin_ns - begins);
  assert.ok(window.begin < begin && window.end > begin + Number(row.skew_ns), "it is in view");
  await press(page, "w", "o");
  const kept = await address(page), words = await details(page);
  assert.match(kept, /\/open=\d/);
  await reload(page);
  assert.equal(await address(page), kept);
  assert.equal(await details(page), words);
  await visit(page, "#timeline/coll=1/find=flash");
  await page.waitForSelector(COMPLETE);
  assert.deepEqual([(await params(page)).coll, (await params(page)).find], ["1", "flash"]);
  const exposed = exact(job.store, "collectives.instance").findIndex((row) => row.wait_ns !== null);
  await visit(page, `#timeline/coll=e${exposed}`);
  await page.waitForSelector(COMPLETE);
  assert.ok((await details(page)).includes(`begins at ${exact(job.store, "collectives.instance")[exposed].begin_ns - begins} ns`), "by its place in the other table");
  await visit(page, "#timeline/t=x/coll=9999999999/rank=-1/open=a,b/op=77777");
  await page.waitForSelector(COMPLETE);
  assert.match(await details(page), /^Select an event/);
});

test("find counts over the whole job and goes from one to the next", async () => {
  const { page } = await timeline();
  const kernels = show(job.store, "kernels.kernel")["kernels.kernel"];
  const part = kernels.find((row) => row.name.includes("flash")).name.slice(0, 12).toLowerCase();
  const rows = kernels.filter((row) => row.name.toLowerCase().includes(part));
  const count = rows.reduce((sum, row) => sum + row.calls, 0);
  await press(page, "w", "w", "w", "/");
  await page.keyboard.type(part.toUpperCase());
  assert.equal((await params(page)).find, part);
  const time = rows.reduce((sum, row) => sum + row.total_ns, 0);
  const said = new RegExp(`^${count} found: ${count} kernels ([\\d.]+ .?s)$`).exec(plain(await page.textContent(".tl-find output")));
  assert.ok(said && closeTo(said[1], time), `${await page.textContent(".tl-find output")}, not ${time} ns`);
  await page.keyboard.press("Enter");
  const one = await details(page);
  assert.ok(one.toLowerCase().includes(part));
  await page.keyboard.press("Enter");
  assert.notEqual(await details(page), one);
  await page.keyboard.press("Shift+Enter");
  assert.equal(await details(page), one);
  await page.fill(".tl-find input", "flash");
  await settled(page);
  const [, all, gpu, host] = /^(\d+) found: (\d+) kernels .*, (\d+) on the host /.exec(plain(await page.textContent(".tl-find output")));
  const of = (table) => table.filter((row) => /flash/i.test(row.name)).reduce((sum, row) => sum + row.calls, 0), operators = of(show(job.store, "calls.call/operator")["calls.call/operator"]);
  assert.deepEqual([Number(gpu), Number(all)], [of(kernels), Number(gpu) + Number(host)]);
  assert.ok(Number(host) >= operators && operators > 0, `${host} on the host, ${operators} operators`);
  await page.keyboard.press("Escape");
  assert.equal((await params(page)).find, undefined);
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "CANVAS");
});

seldom("after a click on Timeline in the list the keys work, and those of a field or a button stay theirs", async () => {
  const { page } = await open(job.page);
  await page.click('nav.rail a[href="#timeline"]');
  await page.waitForSelector(COMPLETE);
  await page.keyboard.press("w");
  const { begin, end } = await span(page);
  assert.ok(Math.abs((end - begin) * 1.5 - duration) < 3);
  await page.focus(".tl-find input");
  await page.keyboard.type("sd0");
  assert.deepEqual(await span(page), { begin, end });
  await page.focus('button[aria-label^="Zoom in"]');
  await page.keyboard.press("Enter");
  assert.ok((await span(page)).end - (await span(page)).begin < (end - begin) * 0.6, "Enter presses the button");
});

seldom("an address keeps the selected event and the marked range", async () => {
  const { page } = await timeline("/rank=2");
  await press(page, "n", ".", ".", "o");
  const event = await details(page);
  assert.match(event, /, rank 2, host0, stream \d+, step 3/);
  const reloaded = async () => {
    const kept = await address(page);
    await reload(page);
    assert.equal(await address(page), kept);
  };
  await reloaded();
  assert.equal(await details(page), event);
  await press(page, "m");
  const marked = await details(page);
  assert.match(marked, /^Marked: /);
  await reloaded();
  assert.equal(await details(page), marked);
  await press(page, "Escape");
  assert.equal(await details(page), event);
  await press(page, "Escape");
  assert.deepEqual([(await params(page)).event, (await params(page)).mark], [undefined, undefined]);
  await visit(page, "#timeline/event=0.0.1.1/mark=9-5/rank=1");
  await page.waitForSelector(COMPLETE);
  assert.match(await details(page), /^Rank 1On host host0/);
});

seldom("the timeline says how many events the page holds, and so does About", async () => {
  const { page } = await timeline();
  const { events } = show(job.store, "job.job")["job.job"][0];
  const said = plain(await page.textContent(".tl-kept"));
  const [, kept, all] = /^(?:All|(\d+) of) (\d+) events are in this page\./.exec(said);
  assert.ok(Number(all) === events && (kept === undefined || (Number(kept) < events && / The others are instants/.test(said))), said);
  await visit(page, "#about");
  await page.waitForFunction(() => document.querySelector("[data-kept]").textContent !== "…");
  assert.equal(plain(await page.textContent("[data-kept]")), said);
});

test("of many ranks the one that holds the job up is in view at first", async () => {
  const many = merge("culprit", synth("culprit-traces", { ranks: 64, ranks_per_host: 8, steps: 3, layers: 4, cpu_ops: 1, slow_rank: 40 }));
  const { page } = await opened(many.page);
  const { height } = await box(page);
  const near = Number(/rank (\d+)/.exec(await hovered(page, GUTTER + 200, 120 + (height - 120) / 2))[1]);
  assert.ok(Math.abs(near - 40) <= 2, `rank ${near} is in the middle`);
});

seldom("events and steps follow each other", async () => {
  const { page } = await timeline("/rank=2");
  await press(page, "n");
  const steps = show(job.store, "overlap.step")["overlap.step"].filter((row) => row.rank === 0);
  const first = await span(page);
  // its clock drifts by up to 1,000 ppb from the job's: 23 ns in 23 ms
  assert.ok(Math.abs(first.end - first.begin - steps[0].window_ns) <= 25, `${first.end - first.begin}, not ${steps[0].window_ns}`);
  await press(page, "n");
  const { begin } = await span(page), since = begin - first.end;
  assert.ok(since >= 0 && since < 50_000, `the next step begins ${since} ns after the first`);
  await press(page, "p", ".");
  const one = await details(page);
  assert.match(one, /rank 2/);
  await press(page, ".");
  assert.notEqual(await details(page), one);
  await press(page, ",");
  assert.equal(await details(page), one);
});

seldom("a rank is opened by its name, and says what is selected", async () => {
  const { page } = await timeline();
  const { left, top } = await box(page);
  await page.mouse.click(left + 30, top + 130);
  assert.equal((await params(page)).open, "0");
  const canvas = await page.$eval("canvas", (c) => ({ role: c.getAttribute("role"), label: c.getAttribute("aria-label"), tab: c.tabIndex }));
  assert.deepEqual(canvas, { role: "application", label: "Timeline of all ranks", tab: 0 });
  await press(page, "Shift+]");
  assert.match(await page.textContent("#tl-spoken[aria-live]"), /came last/);
  await press(page, "?");
  assert.match(await details(page), /^Keys and gestures/);
});

seldom("the colours follow the theme", async () => {
  const { page } = await timeline(), corner = async () => (await drawn(page), colours(page, [[1, 1]]));
  assert.deepEqual(await corner(), ["#ffffff"]);
  await page.emulateMedia({ colorScheme: "dark" });
  assert.deepEqual(await corner(), ["#12161c"]);
});
