// The page as served by tmerge serve.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { before } from "node:test";
import { closeTo, drawn, FULL, full, grave, merge, moduleOf, open, seldom, serve, show, synth, test, tmerge, visit } from "./page.mjs";
import { box, details, GUTTER, hovered, params, placeOf, plain, press, RIGHT, timeline as opened } from "./timeline.mjs";

const LANES_Y = 130;
let job, served, large, all, server;

before(async () => {
  job = merge("job", synth("traces", { ranks: 8, ranks_per_host: 4, steps: 4, layers: 4, slow_rank: 5, slow_factor: 1.3 }));
  served = (await serve(job.store)).url;
  large = merge("large", synth("more", { ranks: 8, ranks_per_host: 4, steps: 230, layers: 24, cpu_ops: 1, slow_rank: 3, compress: "zstd" })); // more events than fit in a page
  ({ url: all, server } = await serve(large.store));
});

test("the page is opened from the server, and asks nobody else", async () => {
  const { page, noted } = await open(served);
  for (const view of ["timeline", "tables", "summary"]) await visit(page, `#${view}`);
  assert.match(await page.textContent("h1"), /Rank 5/);
});

// The timeline -------------------------------------------------------------------------------------

/** Opens the timeline at a window [ns], or the whole job, and waits until all detail has loaded. */
async function timeline(url, [begin, end] = [], more = "", options = {}) {
  const found = await opened(url, `${begin === undefined ? "" : `/t=${begin}-${end}`}${more}`, options);
  await found.page.waitForSelector('body[data-detail="complete"]');
  return found;
}

let lastY = LANES_Y;

/** Moves down the rows at an x position until the status line matches the pattern; begins at the last row found, because rows keep their
 * positions. */
async function lookFor(page, x, pattern) {
  const rows = Array.from({ length: 72 }, (_, i) => LANES_Y + 8 * i);
  for (const y of [lastY, ...rows]) {
    const words = await hovered(page, x, y);
    lastY = y;
    if (pattern.test(words)) return words;
  }
  assert.fail(`no row says ${pattern}`);
}

const zstdText = (path) => execFileSync("zstd", ["-dc", path], { encoding: "utf8", maxBuffer: 2 ** 29 });
const asked = (noted) => noted.requests.filter((url) => url.includes("/tile?"));

const queried = new Map();

/** Events of the large job from its store, in times from the job's begin. */
function events(where) {
  if (!queried.has(where)) {
    const [, begin] = tmerge("show", large.store, "job.job", "--columns", "begin_ns", "--csv").split(/\s+/);
    const text = `SELECT begin_ns - ${begin} AS begin_ns, duration_ns, name, stream, event, launch FROM events WHERE ${where}`;
    queried.set(where, JSON.parse(tmerge("query", large.store, text, "--json")).tables.query.rows);
  }
  return queried.get(where);
}

test("a page that holds all asks for nothing", async () => {
  const { page, noted } = await timeline(served, [20_000_000, 20_050_000]);
  await page.keyboard.press("w");
  await page.waitForFunction(() => !location.hash.includes("20000000-20050000")); // windows are requested before the address is written
  assert.deepEqual(asked(noted), []);
});

seldom("what the page left out comes when it is looked at, is what the store has, and is compared with all of it", async () => {
  const { page, noted } = await timeline(all);
  assert.deepEqual(asked(noted), [], "the whole job is in the page");
  const ranks = [...Array(8).keys()].map((rank) => events(`rank = ${rank} AND role = 'compute'`)), own = ranks[2], middle = own.filter((_, i) => i % 400 === 7);
  for (const event of middle.slice(0, FULL ? 12 : 3)) {
    const begin = event.begin_ns - 3 * event.duration_ns, end = event.begin_ns + 4 * event.duration_ns;
    await visit(page, `#timeline/color=slowness/t=${begin}-${end}/rank=2`);
    for (const what of ["timeline", "detail", "slowness"]) {
      await page.waitForSelector(`body[data-${what}="complete"]`);
      await drawn(page); // detail that came is compared in the next frame
    }
    const shown = await lookFor(page, await placeOf(page, event.begin_ns + event.duration_ns / 2, [begin, end]), / rank 2 .*\(compute\)/);
    const [duration, times] = shown.split("·").slice(-2), place = own.filter(({ name }) => name === event.name).indexOf(event);
    assert.ok(shown.includes(event.name.slice(0, 100)) && closeTo(duration, event.duration_ns), `${event.name} at ${event.begin_ns}: ${shown}`);
    /* every rank runs it equally often in each step; the median of seven others is the fourth */
    const others = ranks.filter((each) => each !== own).map((each) => each.filter(({ name }) => name === event.name)[place].duration_ns).sort((a, b) => a - b);
    assert.ok(Math.abs(parseFloat(times) - event.duration_ns / others[3]) < 0.0051 && times.includes("× the other ranks’ median"), `${event.duration_ns} of ${others}: ${times}`);
  }
  const begin = middle[FULL ? 11 : 2].begin_ns - 3 * middle[FULL ? 11 : 2].duration_ns, first = own.find((event) => event.begin_ns + event.duration_ns > begin);
  await press(page, ".");
  assert.equal((await params(page)).event, `0.0.${first.begin_ns}.${first.duration_ns}`, "keys go to what came");
  assert.ok(asked(noted).length > 0, "something was asked for");
});

seldom("counters of a window that came are of the whole store", async () => {
  const span = [6_000_000_000, 6_040_000_000], rank = 2, own = events(`rank = ${rank}`);
  const begins = new Map(own.map(({ event, begin_ns }) => [event, begin_ns]));
  const waits = own.filter(({ launch, stream }) => launch !== null && stream !== null).map((event) => [begins.get(event.launch), event.begin_ns]);
  const queue = (from, to) => [from, ...waits.flat().filter((time) => time > from && time < to)].map((time) => waits.filter(([call, begin]) => call <= time && time < begin).length);
  const { page } = await timeline(all, span, `/rank=${rank}/counters=queue`);
  await page.waitForSelector('body[data-counters="complete"]');
  const { width } = await box(page);
  const pixel = (span[1] - span[0]) / (width - GUTTER - RIGHT), seen = new Set();
  for (let x = 20; x < width - 200; x += FULL ? 90 : 180) {
    const time = span[0] + x * pixel, near = queue(time - 2 * pixel, time + 3 * pixel);
    const shown = await lookFor(page, GUTTER + x, new RegExp(` rank ${rank} .*not yet started`));
    const said = Number(/over all streams: (\d+)/.exec(shown)[1]);
    assert.ok(said >= Math.min(...near) && said <= Math.max(...near), `${said}, not one of ${near} at ${time}`);
    seen.add(said);
  }
  assert.ok(seen.size > 2, `it changes: ${[...seen]}`);
});

seldom("a map gets finer as one zooms in, of ranks and of folded hosts", async () => {
  const span = [6_000_000_000, 6_020_000_000]; // within steps of 45 ms, in which seven ranks wait 15 ms for the eighth; the store's coarsest level has buckets of 4 ms
  const own = [0, 4, 5, 6, 7].map((rank) => events(`rank = ${rank} AND role = 'compute'`).filter((event) => event.begin_ns < span[1] && event.begin_ns + event.duration_ns > span[0]));
  const busy = (list, from, to) => list.reduce((sum, event) => sum + Math.max(0, Math.min(to, event.begin_ns + event.duration_ns) - Math.max(from, event.begin_ns)), 0) / (to - from);
  const { page, noted } = await timeline(all, span, "/map=compute/fold=none");
  const { width } = await box(page);
  const cell = (2 * (span[1] - span[0])) / (width - GUTTER - RIGHT);
  for (const [lists, where] of [[own.slice(0, 1), /rank 0 .* compute (\d+) %/], [own.slice(1), /host1 .* compute (\d+) %/]]) {
    const seen = new Set();
    if (lists.length > 1) await page.keyboard.press("Shift+H");
    await page.waitForSelector('body[data-detail="complete"]');
    for (let at = 6; at < 500 && seen.size < 2; at++) { // a bucket may be wider than a cell; if nine cells in a row are busy (or idle), so are all buckets inside them
      const from = span[0] + at * cell, shares = lists.map((list) => busy(list, from - 4 * cell, from + 5 * cell));
      const is = shares.every((share) => share > 0.98) ? "busy" : shares.every((share) => share === 0) ? "idle" : null;
      if (is === null || seen.has(is)) continue;
      const words = await hovered(page, GUTTER + 2 * at + 1, LANES_Y), share = Number(where.exec(words)?.[1] ?? assert.fail(words));
      assert.ok(is === "idle" ? share === 0 : share >= 96, `${is}: ${words}`);
      seen.add(is);
    }
    assert.equal(seen.size, 2, `both busy and idle: ${where}`);
  }
  assert.ok(asked(noted).length > 0 && asked(noted).every((url) => url.includes("&shares=1")), "shares alone were asked for");
});

seldom("the panel of an event that came tells its launch, and a link to it opens it again", async () => {
  const span = [6_000_000_000, 6_000_400_000]; // after the consecutive steps that the page holds
  const own = events(`rank = 2 AND track = 'gpu' AND role = 'compute'`), at = own.findIndex(({ begin_ns }) => begin_ns > span[0] + 100_000);
  const { name, begin_ns, duration_ns, event, launch } = own[at];
  const [call] = events(`rank = 2 AND event = ${launch}`);
  const recorded = JSON.parse(zstdText("more/profile_rank_2.json.zst")).traceEvents.filter((each) => each.cat === "kernel" && each.name === name)[own.filter((each, i) => i < at && each.name === name).length].args;
  const { page, noted } = await timeline(all, span, `/rank=2/open=2/event=0.0.${begin_ns}.${duration_ns}`);
  await page.waitForSelector(".tl-details .tl-chain");
  const panel = await details(page);
  for (const words of [call.name, `Correlation ${recorded.correlation}.`, `grid ${recorded.grid.join(" × ")}, block ${recorded.block.join(" × ")}`]) assert.ok(panel.includes(words), `${words}: ${panel}`);
  assert.ok(asked(noted).length > 0 && event !== undefined, "it was fetched");
  await page.click('.tl-details .tl-chain:has-text("Launched by") button'); // goes to the call, and from there back
  await page.waitForFunction(() => /event=9\./.test(location.hash)); // the address is written after a delay
  await page.waitForSelector('body[data-detail="complete"]'); // a window around only the call, because the call came much earlier
  await page.click(".tl-launched button");
  await page.waitForSelector(`text=Correlation ${recorded.correlation}.`);
  await page.waitForFunction((address) => location.hash.includes(address), `event=0.0.${begin_ns}.${duration_ns}`);
});

seldom("a kernel that came is compared with all ranks, and a marked area is summed, from the whole store", async () => {
  const near = events("track = 'gpu' AND role IS NOT NULL AND step BETWEEN 136 AND 146"), [{ name }] = events("rank = 2 AND role = 'compute' AND step = 140 AND event > 10");
  const alike = [0, 1, 2, 3, 4, 5, 6, 7].map((rank) => events(`rank = ${rank} AND step = 140 AND name = '${name.replaceAll("'", "''")}'`));
  assert.ok(alike.every(({ length }) => length > 2 && length === alike[0].length), "as often on every rank");
  const at = (rank) => alike[rank][2], mine = at(2), begin = mine.begin_ns;
  const { page } = await timeline(all, [begin - 100_000, begin + 200_000], `/rank=2/event=0.0.${begin}.${mine.duration_ns}`);
  await page.waitForSelector(".tl-peers li:nth-child(7)");
  const said = (await page.$$eval(".tl-peers li", (items) => items.map((item) => item.textContent))).map((words) => /^rank (\d) (.*)$/.exec(plain(words)).slice(1));
  assert.deepEqual(said.map(([rank]) => Number(rank)).sort(), [0, 1, 3, 4, 5, 6, 7]);
  for (const [rank, time] of said) assert.ok(closeTo(time, at(Number(rank)).duration_ns), `rank ${rank}: ${time}`);
  await page.click(".tl-peers button");
  await page.waitForFunction((rank) => location.hash.includes(`/rank=${rank}`), said[0][0]);
  await page.waitForSelector(`.tl-details:has-text("rank ${said[0][0]}, host")`);

  const span = [begin - 30_000_000, begin + 90_000_000]; // longer than any window
  await visit(page, `#timeline/mark=${span[0]}-${span[1]}/sums=kernels`);
  await page.waitForSelector('body[data-timeline="complete"]');
  const sums = new Map();
  for (const event of near) if (event.begin_ns < span[1] && event.begin_ns + event.duration_ns > span[0]) sums.set(event.name, (sums.get(event.name) ?? 0) + 1);
  await page.waitForFunction(() => /Marked/.test(document.querySelector(".tl-details").textContent) && !/Summing|lack/.test(document.querySelector(".tl-details").textContent) && document.querySelector(".tl-sums tbody tr"));
  const shown = await page.$$eval(".tl-sums tbody tr", (lines) => lines.map((line) => [line.cells[0].textContent, line.cells[1].textContent]));
  assert.deepEqual(shown.map(([, n]) => Number(n.replace(/\D/g, ""))).sort((a, b) => a - b), [...sums.values()].sort((a, b) => a - b));
});

seldom("of an event in a closed rank the launch is fetched, too", async () => {
  const own = events("rank = 3 AND track = 'gpu' AND role = 'compute'"), { begin_ns, duration_ns, launch } = own.find((each) => each.begin_ns > 7_000_000_000 && each.launch !== null);
  const [call] = events(`rank = 3 AND event = ${launch}`);
  const { page, noted } = await timeline(all, [begin_ns - 100_000, begin_ns + 100_000], `/rank=3/event=0.0.${begin_ns}.${duration_ns}`);
  await page.waitForSelector(".tl-details .tl-chain");
  assert.ok((await details(page)).includes(`Launched by ${call.name}`));
  assert.ok(asked(noted).some((url) => new URL(url).searchParams.get("hosts") === "3"), "the host of that rank");
  assert.doesNotMatch(page.url(), /open=/, "it stays closed");
});

seldom("who met at a kernel is asked of the server where the page does not know it", async () => {
  const text = "SELECT rank, operation, begin_ns, duration_ns, wait_ns FROM events WHERE role = 'communication' AND begin_ns >= (SELECT max(begin_ns) - 100000000 FROM events) ORDER BY rank";
  const rows = JSON.parse(tmerge("query", large.store, text, "--json").replace(/("begin_ns":\s*)(\d+)/g, '$1"$2"')).tables.query.rows;
  const begin = BigInt(JSON.parse(tmerge("show", large.store, "job.job", "--json").replace(/("begin_ns":\s*)(\d+)/g, '$1"$2"')).tables["job.job"].rows[0].begin_ns);
  const { Finer } = await moduleOf("timeline/finer.ts"), { Lanes } = await moduleOf("timeline/lanes.ts"), asks = [];
  const own = rows.filter(({ operation }) => operation === rows[0].operation).map((row) => ({ ...row, begin_ns: Number(BigInt(row.begin_ns) - begin) }));
  assert.equal(own.length, 8);
  const ranks = own.map(({ rank }) => ({ rank })), n = ranks.length; // a page with only these kernels, each on a stream of its rank, and no operation
  const events = { n, begin: Float64Array.from(own, (each) => each.begin_ns), duration: Float64Array.from(own, (each) => each.duration_ns), name: new Uint32Array(n), kind: new Uint8Array(n).fill(1), depth: new Uint8Array(n), comm: Uint32Array.from(own, (_, i) => i + 1), wait: new Float64Array(n + 1), operation: new Int32Array(n + 1).fill(-1), tracks: own.map((_, at) => ({ at, kind: 0, name: 0, first: at, n: 1 })) };
  const data = { job: { names: [""], ranks, allRanks: n }, operations: [], lanes: new Lanes(events, n), reported: null }, finer = new Finer(data);
  const fetched = globalThis.fetch;
  globalThis.fetch = (path) => (asks.push(path), fetched(all + path));
  const met = await finer.meet(2, 2), again = await finer.meet(2, 2);
  globalThis.fetch = fetched;
  assert.deepEqual([again, asks.length, data.operations], [null, 1, [met]]);
  assert.deepEqual(met.members.map(({ at, begin, end, wait }) => [at, begin, end - begin, wait]), own.map((each, at) => [at, each.begin_ns, each.duration_ns, each.wait_ns]));
  assert.deepEqual([met.size, met.wait, met.lastRank, met.last], [8, own.reduce((sum, { wait_ns }) => sum + wait_ns, 0), 3, Math.max(...own.map((each) => each.begin_ns))]);
  assert.deepEqual([...events.operation], [-1, 0, 0, 0, 0, 0, 0, 0, 0], "all its kernels know it");
});

test("the find box looks through the whole store, and goes to what it finds", async () => {
  const own = events("rank = 2 AND role = 'compute'"), least = own.map(({ duration_ns }) => duration_ns).sort((a, b) => b - a)[60];
  const found = own.filter(({ duration_ns }) => duration_ns > least).sort((a, b) => a.begin_ns - b.begin_ns), n = found.length;
  const { page, noted } = await timeline(all);
  await page.fill(".tl-find input", `rank:2 kind:compute dur>${least}ns`);
  await page.waitForSelector('body[data-search="complete"] .tl-find output:has-text("found:")');
  assert.match(plain(await page.textContent(".tl-find output")), new RegExp(`^${n} found: ${n} kernels`));
  await page.click("text=List");
  assert.equal(await page.locator(".tl-results li").count(), n);
  for (const place of [n - 1, Math.floor(n / 2), 0]) { // far apart, so that the page cannot hold all of them
    const { begin_ns, duration_ns, name } = found[place];
    await page.click(`.tl-results li:nth-child(${place + 1}) button`);
    await page.waitForFunction((address) => location.hash.includes(address), `event=0.0.${begin_ns}.${duration_ns}`);
    assert.ok((await details(page)).includes(name.slice(0, 60)), name);
    assert.match(plain(await page.textContent(".tl-find output")), new RegExp(`^${place + 1} of ${n} found`), "its place is kept");
  }
  await page.press(".tl-find input", "Enter"); // goes to the next match
  await page.waitForFunction((address) => location.hash.includes(address), `event=0.0.${found[1].begin_ns}.${found[1].duration_ns}`);
  assert.ok(asked(noted).length > 0, "windows were fetched");
  const text = found[0].name, kinds = JSON.parse(tmerge("query", large.store, `SELECT count(*) AS n FROM events WHERE name = '${text}' AND kind = 'duration'`, "--json")).tables.query.rows[0].n;
  await page.fill(".tl-find input", `/^${text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$/`);
  await page.waitForFunction(() => document.querySelector(".tl-find output").textContent.match(/^[\d\s,]+ found: /)); // "loading" may be too short to be seen
  await page.waitForSelector('body[data-search="complete"]');
  assert.match(plain(await page.textContent(".tl-find output")).replaceAll(/(\d)[ ,](?=\d{3})/g, "$1"), new RegExp(`^${kinds} found: ${kinds} kernels`), "a pattern, of all ranks");
});

for (const [theme, width, declared] of [["light", 800, seldom], ["dark", 1280, full], ["light", 1920, full]])
  declared(`what is served, found and listed fits ${width} px, and axe finds nothing serious`, async () => {
    const { page } = await open(all, { theme, width, hash: "#timeline/t=6000000000-6000400000/rank=2/open=2/find=rank:2 kind:communication/list=1" });
    for (const what of ["detail", "search"]) await page.waitForSelector(`body[data-${what}="complete"]`);
    await page.click(".tl-results li button");
    await page.waitForSelector(".tl-details .tl-chain");
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, "wider than the screen");
    assert.deepEqual(await grave(page), []);
  });

test("names that fit become ranges, short enough for a request", async () => {
  const { batchesOf } = await moduleOf("timeline/search.ts");
  const names = [[0, "a", 1], [3, "ab", 1], [4, "b", 1], [9, "ac", 1], [11, "ad", 1]];
  assert.deepEqual(batchesOf(names, (name) => name.startsWith("a")), ["0-3,9-11"]); // no name has an id between these
  assert.deepEqual(batchesOf(names, (name) => name === "b"), ["4"]);
  assert.deepEqual(batchesOf(names, () => false), []);
  const many = batchesOf(Array.from({ length: 30_000 }, (_, id) => [id, String(id % 2), 1]), (name) => name === "1");
  assert.deepEqual(many.join().split(",").map(Number), Array.from({ length: 15_000 }, (_, i) => 2 * i + 1));
  assert.ok(many.every((text) => text.length <= 6000 && text.split(",").length <= 1000));
});

seldom("a table that the page cuts offers all of its rows", async () => {
  const name = "criticalpath.piece", rows = show(large.store, name)[name];
  const { page } = await open(all, { hash: `#tables/name=${name}` });
  await page.waitForSelector("tbody tr");
  assert.match(plain(await page.textContent(".left-out")), new RegExp(`This page holds \\d+ of ${rows.length} rows`));
  await page.press("text=/Load all .* rows/", "Enter");
  await page.waitForSelector(".left-out", { state: "detached" });
  assert.ok(await page.evaluate(() => document.activeElement !== document.body), "the focus is not lost");
  const saved = page.waitForEvent("download");
  await page.click("text=Save as CSV");
  const [head, ...lines] = readFileSync(await (await saved).path(), "utf8").trim().split(/\r?\n/).map((line) => line.split(","));
  const at = (column) => head.findIndex((text) => text.startsWith(column));
  assert.deepEqual(lines.map((cells) => [cells[at("rank")], cells[at("step")], cells[at("kind")]]), rows.map((row) => [String(row.rank), String(row.step), row.kind]));
  assert.ok(rows.length > 8 * 16384, "several answers");
});

seldom("a view whose tables the page cuts reads the rest, and draws all ranks and steps", async () => {
  const { store } = merge("long", synth("long-traces", { ranks: 8, ranks_per_host: 4, steps: 645, layers: 1, buckets: 1, cpu_ops: 1, no_instances: true })), { url } = await serve(store);
  const { page, noted } = await open(url, { hash: "#steps/rows=ranks", loud: true }); // loud because the second answer is an error
  await page.waitForSelector(".left-out", { state: "detached" });
  assert.match(await page.getAttribute(".map-canvas", "aria-label"), /8 rows by 645 columns/);
  assert.ok(noted.requests.some((each) => each.includes("rows?table=overlap.step")), "rows were asked for");
  await page.route("**/rows?*", (route) => route.fulfill({ status: 500, body: "no" }));
  await visit(page, "#input");
  await page.waitForSelector("text=The rest cannot be read: tmerge serve says: no.");
  assert.match(plain(await page.textContent(".left-out")), /This page holds 384 of 645 steps/);
});

test("a window is asked for with its surroundings", async () => {
  const { windowOf } = await moduleOf("timeline/finer.ts");
  for (const [begin, end, from, to] of [
    [1000, 2000, 0, 2048], // 1,000 fits in 1,024, and the window is twice as long; it begins at a multiple of 512, at least 512 before 1,000
    [0, 1, 0, 2048], // minimum length
    [5000, 13000, 0, 16384], // 8,192
    [100_000, 100_100, 99_328, 101_376],
  ]) assert.deepEqual(windowOf({ begin, end }), { begin: from, end: to });
  for (let i = 0; i < 1000; i++) {
    const begin = Math.random() * 1e9, end = begin + 10 ** (Math.random() * 9), window = windowOf({ begin, end });
    assert.ok(window.begin <= begin && window.end >= end, `${begin} ${end}`);
  }
});

test("a query runs, its rows lead to the timeline, and what is wrong with it is said", async () => {
  const text = "SELECT rank, begin_ns, duration_ns, name FROM events WHERE role = 'compute' ORDER BY duration_ns DESC, begin_ns LIMIT 3 -- 100 %/é";
  const rows = JSON.parse(tmerge("query", job.store, text.replace("begin_ns,", "begin_ns - (SELECT begin_ns FROM job.job) AS begin_ns,"), "--json")).tables.query.rows;
  const { page } = await open(served, { hash: "#sql", width: 800, loud: true }); // loud because an answer is an error
  await page.fill("textarea", "SELECT * FROM events_");
  await page.press("textarea", "Control+Enter");
  await page.waitForSelector("text=tmerge serve says: no such table: events_.");
  await page.fill("textarea", text);
  await page.click('button:text-is("Run")');
  await page.waitForSelector("tbody tr:nth-child(3)");
  assert.deepEqual(await page.$$eval("tbody tr", (all) => all.map(({ cells }) => [cells[0].textContent, Number(cells[2].title.replace(/\D/g, "")), cells[3].textContent.slice(0, 40)])), rows.map((row) => [String(row.rank), row.duration_ns, row.name.slice(0, 40)]));
  assert.deepEqual(await grave(page), []);
  await page.click("tbody tr a");
  await page.waitForSelector('body[data-timeline="complete"]');
  assert.deepEqual([(await params(page)).mark, (await params(page)).lanes], [`${rows[0].begin_ns}-${rows[0].begin_ns + rows[0].duration_ns}`, String(rows[0].rank)]);
  await page.goBack();
  await page.waitForSelector("tbody tr:nth-child(3)");
  assert.equal(await page.inputValue("textarea"), text, "the address keeps it");
});

// Perfetto -----------------------------------------------------------------------------------------

/* Replaces ui.perfetto.dev: answers PING and keeps the trace handed to it. */
const STAND_IN = `<!doctype html><title>waiting</title><script>
  addEventListener("message", ({ data, source, origin }) => {
    if (data === "PING") return void source.postMessage("PONG", origin);
    const { buffer, title, fileName } = data.perfetto;
    window.got = { bytes: [...new Uint8Array(buffer)], title, fileName, origin };
    document.title = "got it";
  });
</script>`;

const openIn = (page) => page.press('button:has-text("Open in Perfetto")', "Enter");

seldom("the window in view is handed to Perfetto", async () => {
  const { page, noted } = await timeline(served, [10_000_000, 20_000_000]);
  await page.context().route("https://ui.perfetto.dev/**", (route) => route.fulfill({ contentType: "text/html", body: STAND_IN }));
  const [tab] = await Promise.all([page.context().waitForEvent("page"), openIn(page)]);
  await tab.waitForFunction(() => document.title === "got it");
  const got = await tab.evaluate(() => window.got);
  assert.equal(`${got.origin}/`, served.replace(/[0-9a-f]{32}\/$/, ""));
  assert.equal(got.fileName, "tmerge.perfetto-trace");
  const address = noted.requests.find((url) => url.includes("/trace?")), query = new URL(address).searchParams;
  assert.deepEqual(["from", "to", "ranks"].map((key) => query.get(key)), ["10000000", "20000000", "0,1,2,3,4,5,6,7"]);
  const given = new Uint8Array(await (await fetch(address)).arrayBuffer()); // tests/cli/cli_serve.py compares this with tmerge export
  assert.ok(given.length > 1000 && Buffer.from(got.bytes).equals(Buffer.from(given)), "the bytes");
});

seldom("that the browser blocks the tab is said, and so is a window of too many events", async () => {
  const { page } = await timeline(served);
  const opened = await page.evaluate(() => { const before = window.open; window.open = () => null; return before.name; });
  assert.equal(opened, "open");
  await openIn(page);
  await page.waitForSelector("text=Perfetto was not opened: the browser blocked the new tab; allow pop-ups for this page, and try again.");
  const large = await timeline(all, [], "", { loud: true }); // loud because the answer is an error
  await large.page.context().route("https://ui.perfetto.dev/**", (route) => route.fulfill({ contentType: "text/html", body: STAND_IN }));
  await openIn(large.page);
  await large.page.waitForSelector("text=/Perfetto was not opened: tmerge serve says: too many events for one answer: zoom in/");
});

seldom("a page from the disk offers no Perfetto: its window can not be handed over", async () => {
  const { page } = await opened(job.page);
  assert.equal(await page.$('button:has-text("Open in Perfetto")'), null);
});

// Last, because it ends the server ---------------------------------------------------------------------

test("that the server is gone is said, and may be asked again", async () => {
  const { page } = await timeline(all, [], "", { loud: true });
  server.kill();
  await once(server, "exit");
  await visit(page, "#timeline/t=6000000000-6300000000"); // more consecutive steps than the page holds
  await page.waitForSelector('body[data-detail="failed"]');
  assert.match(await page.textContent(".tl-left-out"), /Detail cannot be loaded: tmerge serve does not respond; it may have been stopped\. Try again/);
  await Promise.all([page.waitForRequest("**/tile?*"), page.click("text=Try again")]);
});
