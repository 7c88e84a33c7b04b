// Communication, Clocks and the views inside a rank: their figures equal those of tmerge show --json, they sort, filter and link, and
// they give a reason if there is nothing to draw.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { before } from "node:test";
import { FULL, grave, kernel, merge, moduleOf, open, realJob, seldom, show, sweep, synth, test, testsOf, tmerge, trace, visit } from "./page.mjs";

const OWN = ["communication", "operators", "kernels", "memory", "input", "idle", "launches", "transfers", "clocks"];
const jobs = [];
before(() => {
  synth("job", { ranks: 8, ranks_per_host: 4, steps: 4, tp: 2, slow_rank: 5, offset_us: 200, lost_percent: 3 });
  jobs.push(merge("synthetic", "job"));
  if (realJob()) jobs.push(realJob());
});

const each = testsOf(jobs, seldom);

const sum = (rows, column) => rows.reduce((total, row) => total + (row[column] ?? 0), 0);
const group = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");

/** Cells of a table on the page: [row of the table, column, text]. */
function cells(page, table) {
  return page.$$eval(`[data-of="${table}"] td[data-row]`, (all) => all.map((e) => [Number(e.dataset.row), e.dataset.column, e.textContent]));
}

each("every number that names its table, row and column is the one there", {}, async (page, job) => {
  for (const view of OWN) {
    await visit(page, `#${view}`);
    const shown = await page.$$eval("[data-table][data-row][data-column]", (all) =>
      all.map((e) => ({ table: e.dataset.table, row: Number(e.dataset.row), column: e.dataset.column, text: e.textContent })));
    const tables = shown.length > 0 ? show(job.store, ...new Set(shown.map((each) => each.table))) : {};
    for (const { table, row, column, text } of shown) assert.ok(near(text, tables[table][row][column]), `${view} ${table}[${row}].${column}: ${text}`);
    if (["kernels", "clocks"].includes(view)) assert.ok(shown.length >= 3, `${view} names no number`);
  }
});

each("who is late and why come before what fixing saves, and no sentence names a command", { hash: "#stragglers" }, async (page, job) => {
  const { headline, evidence } = show(job.store, "stragglers.job")["stragglers.job"][0], saves = / saves /.test(headline);
  const plain = async (selector) => (await page.textContent(selector)).replaceAll("\u00a0", " ").replaceAll("µs", "us"), text = await plain("main");
  assert.equal(await plain("main h1"), saves ? evidence.split(". ")[0] : headline);
  if (saves) assert.ok(text.indexOf(headline) > text.indexOf(evidence.split(". ")[1].slice(0, 40)), "the saving comes last");
  assert.doesNotMatch(text, /tmerge show/);
  const dots = await page.$$eval(".rail .dot", (all) => all.map((e) => e.title));
  assert.ok(dots.length > 0 && dots.every((title) => /^(problem|worth a look|fine)$/.test(title)), `dots are explained: ${dots}`);
});

/* Whether the first number in a text, with its unit if any, equals the value up to rounding. */
function near(text, value) {
  if (value === null) return text === "–";
  const match = /(−?)([\d\u202f]+(?:\.\d+)?)\s*(ns|µs|ms|s|%|B|KiB|MiB|GiB)?/.exec(text);
  if (!match) return false;
  const digits = (match[2].split(".")[1] ?? "").length;
  const number = Number(match[2].replaceAll("\u202f", "")) * (match[1] ? -1 : 1);
  const unit = { ns: 1, "µs": 1e3, ms: 1e6, s: 1e9, B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }[match[3]] ?? 1;
  return Math.abs(number - value / unit) <= 0.5000001 * 10 ** -digits;
}

each("queues over time are those of the rank whose queue is shortest, and copies those that the address names", { hash: "#launches" }, async (page, job) => {
  const { "launches.queue": queue } = show(job.store, "launches.queue"), ranks = [...new Set(queue.map((row) => row.rank))];
  const mean = (rank) => sum(queue.filter((row) => row.rank === rank), "mean_queue"), least = ranks.reduce((a, b) => (mean(b) < mean(a) ? b : a));
  const chart = async (title) => (await page.waitForSelector(`main section:has(h2:text-is("${title}")) .chart[data-drawn]`)).getAttribute("aria-label");
  assert.equal(await chart("Queue over time"), `Events launched and not yet started, of all streams, rank ${least}, over time`);
  await visit(page, "#transfers/kind=htod/rank=2");
  assert.equal(await chart("Bandwidth over time"), "Copies, host to device, MB/s, rank 2, over time");
});

seldom("hosts that communicate are the tables', folded by host", async () => {
  const { membersOf } = await moduleOf("views/matrix.ts");
  assert.deepEqual(["3", "0-2,7", "0-6:2,9", "0-3,..."].map(membersOf), [[3], [0, 1, 2, 7], [0, 2, 4, 6, 9], null]);
  // Ranks 0 to 3 are on host0, 4 to 7 on host1, 8 to 11 on host2; a pipeline stage has four ranks, so it is one host.
  const job = merge("hosts", synth("hosts-traces", { ranks: 12, ranks_per_host: 4, tp: 2, pp: 3, microbatches: 2, steps: 2, layers: 6 }));
  const tables = show(job.store, "groups.group", "bubble.pair"), { page } = await open(job.page, { hash: "#communication", width: 800 });
  const cells = async () => Object.fromEntries(await page.$$eval(".map .cell[data-value]", (all) => all.map((e) => [`${e.dataset.row} ${e.dataset.column}`, Number(e.dataset.value)])));
  const expected = {}, hosts = (text) => [0, 1, 2].filter((host) => membersOf(text).some((rank) => Math.floor(rank / 4) === host));
  for (const row of tables["groups.group"]) {
    const of = hosts(row.members);
    for (const a of of) for (const b of of) if (a !== b || of.length === 1) expected[`${a} ${b}`] = (expected[`${a} ${b}`] ?? 0) + row.comm_ns;
  }
  assert.deepEqual(await cells(), expected);
  assert.equal(Object.keys(expected).length, 9, "some of each pair");
  const groups = await page.$$eval('[data-of="collectives.kind"] td[data-column="group"]', (all) => all.map((e) => parseInt(e.textContent)));
  assert.deepEqual(groups, [0, ...Array.from({ length: 13 }, (_, i) => i), 7, 8, 11, 12, 13, 14], "2 stands before 10");
  await page.click('button:has-text("sends, by host")');
  // 2 micro-batches of 4 MiB in each of 2 steps, from 4 ranks, to the next stage and back.
  assert.deepEqual(await cells(), Object.fromEntries(["0 1", "1 0", "1 2", "2 1"].map((pair) => [pair, 16 << 22])));
  await page.click('button:has-text("sends, by rank")');
  assert.deepEqual(await cells(), Object.fromEntries(tables["bubble.pair"].map((row) => [`${row.from_rank} ${row.to_rank}`, row.bytes])));
  assert.match(page.url(), /pairs=ranks/);
  await page.reload();
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, "too wide");
});

test("what all-to-alls send is drawn by pair of ranks", async () => {
  // Rank 0 sends 30 and 10 of 40 floats to ranks 0 and 1, rank 1 sends 0 and 40.
  const exchange = (rank, sizes) => trace(`exchange_rank_${rank}.json`, [kernel("gemm", 1, 100), kernel("ncclDevKernel_SendRecv", 200, 50, {
    "Collective name": "all_to_allv", "In msg nelems": 40, "Out msg nelems": 40, dtype: "Float", "In split size": sizes, "Group size": 2, "Process Group Ranks": "[0, 1]" }, 20)]);
  const job = merge("exchange", exchange(0, "[3, 1]"), exchange(1, "[0, 4]")), { page } = await open(job.page, { hash: "#communication/pairs=exchanges" });
  const cells = await page.$$eval(".map .cell[data-value]", (all) => all.map((e) => [e.dataset.row, e.dataset.column, Number(e.dataset.value)].join(" ")));
  assert.deepEqual(cells, ["0 0 120", "0 1 40", "1 0 0", "1 1 160"]);
});

each("each kind of communication has its hidden and its exposed part, AllReduce first", { hash: "#communication" }, async (page, job) => {
  const kinds = [...new Set(show(job.store, "overlap.kind")["overlap.kind"].map((row) => row.kind))];
  const shown = await page.$$eval(".overlaps [data-sum]", (all) => all.map((e) => e.dataset.where));
  assert.deepEqual(shown.sort(), kinds.flatMap((kind) => [`kind=${kind}`, `kind=${kind}`]).sort());
  assert.match(await page.textContent(".overlaps .row-label"), /^AllReduce/);
  assert.deepEqual(await page.$$eval(".overlap-none", (all) => all.map((e) => e.textContent)), kinds.includes("allreduce") ? [] : ["none in this job"]);
});

each("every sum over rows is that of the rows that it names", {}, async (page, job) => {
  let found = 0;
  for (const view of ["communication", "transfers"]) {
    await visit(page, `#${view}`);
    for (const [name, where, value] of await page.$$eval("[data-sum]", (all) => all.map((e) => [e.dataset.sum, e.dataset.where, Number(e.dataset.value)]))) {
      const [table, column] = name.split(" "), wanted = where.split(", ").map((each) => each.split("="));
      const rows = show(job.store, table)[table].filter((row) => wanted.every(([key, text]) => String(row[key]) === text));
      assert.ok(rows.length > 0 && value === sum(rows, column), `${view} ${name} ${where}: ${value}`);
      found++;
    }
  }
  assert.ok(found >= 5, `${found} sums`);
});

each("the table of sizes has the rows of collectives.kind, and p95 is called worst of fewer than 20", { hash: "#communication" }, async (page, job) => {
  const { "collectives.kind": rows } = show(job.store, "collectives.kind");
  const shown = await cells(page, "collectives.kind");
  const counts = shown.filter(([, column]) => column === "count");
  assert.equal(counts.length, Math.min(20, rows.length));
  for (const [row, , text] of counts) assert.equal(text, group(rows[row].count));
  const all = rows.every((row) => row.count < 20);
  const heading = await page.$$eval('[data-of="collectives.kind"] th', (heads) => heads.map((e) => e.textContent).join("|"));
  assert.equal(/\|worst/.test(heading), all, heading);
  if (!all)
    for (const [row, , text] of shown.filter(([, column]) => column === "p95_transfer_ns")) assert.equal(text.endsWith(" worst"), rows[row].count < 20, text);
});

seldom("a point of the bandwidth chart lists its operations, which lead to the timeline", async () => {
  const job = jobs[0];
  const { "collectives.kind": rows, "collectives.worst": worst } = show(job.store, "collectives.kind", "collectives.worst");
  const { page } = await open(job.page, { hash: "#communication" });
  await page.waitForSelector(".chart[data-drawn] canvas");
  const at = rows.findIndex((row) => worst.some((w) => w.kind === row.kind && w.group === row.group && w.bytes >= row.size_class_bytes && w.bytes < 2 * row.size_class_bytes));
  await page.click(`[data-of="collectives.kind"] td[data-row="${at}"] a`);
  await page.waitForSelector(".point");
  assert.ok(page.url().includes(`point=${at}`), page.url());
  const own = worst.flatMap((w, i) => (w.kind === rows[at].kind && w.group === rows[at].group && w.bytes >= rows[at].size_class_bytes && w.bytes < 2 * rows[at].size_class_bytes ? [i] : []));
  const listed = await page.$$eval(".point td[data-column=kind]", (all) => all.map((e) => Number(e.dataset.row)));
  assert.deepEqual(listed, own.slice(0, 8));
  const links = await page.$$eval(".point a", (all) => all.map((e) => e.getAttribute("href")));
  assert.ok(links.every((link, i) => new RegExp(`^#timeline/coll=${listed[i]}/t=\\d+-\\d+$`).test(decodeURIComponent(link))), links.join());
});

seldom("operations are listed by exposed time, sorted by a heading, each a link to the timeline", async () => {
  const job = jobs[0], { "collectives.instance": rows } = show(job.store, "collectives.instance");
  const { page } = await open(job.page, { hash: "#communication" });
  const listed = () => page.$$eval('[data-of="collectives.instance"] td[data-column="kind"]', (all) => all.map((e) => Number(e.dataset.row)));
  const exposed = rows.flatMap((row, i) => (row.exposed_ns > 0 ? [i] : []));
  assert.ok(exposed.length > 10, `${exposed.length} exposed`);
  assert.deepEqual(await listed(), exposed.slice(0, 10));
  await page.click('[data-of="collectives.instance"] th button[data-name="longest_exposed_ns"]');
  const [longest] = await listed();
  assert.equal(rows[longest].longest_exposed_ns, Math.max(...rows.map((row) => row.longest_exposed_ns)));
  const link = await page.getAttribute(`[data-of="collectives.instance"] td[data-row="${longest}"] a`, "href");
  assert.match(decodeURIComponent(link), new RegExp(`^#timeline/coll=e${longest}/rank=${rows[longest].longest_rank}/t=\\d+-\\d+$`), "the rank that the row names");
  assert.equal(await page.$$eval('[data-of="collectives.worst"] .arrow', (all) => all.map((e) => e.textContent).join("")), " ▼", "sorted by waiting");
});

seldom("what is drawn on a canvas answers the pointer", async () => {
  const job = jobs[0];
  const { page } = await open(job.page, { hash: "#communication" });
  const chart = await page.waitForSelector(".chart[data-drawn]");
  await chart.scrollIntoViewIfNeeded();
  const box = await chart.boundingBox(), found = await page.evaluate(async ({ x, y, width, height }) => {
    for (let i = 60; i < width; i += 4)
      for (let j = 30; j < height - 40; j += 4) {
        document.elementFromPoint(x + i, y + j)?.dispatchEvent(new MouseEvent("mousemove", { bubbles: true, clientX: x + i, clientY: y + j }));
        const tip = document.querySelector(".tip:not([hidden])");
        if (tip && /bus bandwidth/.test(tip.textContent)) return tip.textContent;
      }
    return null;
  }, box);
  assert.ok(found && /operations?: transfer/.test(found), String(found));
});

each("tables filter and sort by what is typed and clicked", { hash: "#kernels" }, async (page, job) => {
  const { "kernels.kernel": kernels, "calls.call/operator": operators } = show(job.store, "kernels.kernel", "calls.call/operator");
  await page.fill('input[type="search"]', "ncclDevKernel");
  const own = kernels.flatMap((row, i) => (row.name.toLowerCase().includes("nccldevkernel") ? [i] : []));
  const rows = async (table, column) => (await cells(page, table)).filter(([, c]) => c === column).map(([row]) => row);
  assert.deepEqual(await rows("kernels.kernel", "calls"), own.slice(0, 30));
  const found = await page.$$eval('[data-of="kernels.kernel"] td a', (all) => all.map((e) => decodeURIComponent(e.getAttribute("href"))));
  assert.deepEqual(found, own.slice(0, 30).map((row) => `#timeline/find=${kernels[row].name.slice(0, 100)}`));
  await visit(page, "#operators/time=host");
  const byHost = operators.map((_, i) => i).sort((a, b) => operators[b].host_self_ns - operators[a].host_self_ns || a - b);
  assert.deepEqual(await rows("calls.call", "calls"), byHost.slice(0, 30));
  await page.click('[data-of="calls.call"] th button:text-matches("^calls")');
  const calls = (await rows("calls.call", "calls")).map((row) => operators[row].calls);
  assert.deepEqual(calls, [...operators.map((row) => row.calls)].sort((a, b) => b - a).slice(0, 30));
});

each("idle time by cause, loading and phases are drawn as their tables have them", { hash: "#idle" }, async (page, job) => {
  const { "idle.rank": idle, "phases.step": phases } = show(job.store, "idle.rank", "phases.step");
  const bars = (selector) => page.$$eval(selector, (all) => all.map((bar) => ({ rank: Number(bar.dataset.rank), step: Number(bar.dataset.step),
    parts: Object.fromEntries([...bar.querySelectorAll(".piece")].map((p) => [p.dataset.part, Number(p.dataset.ns)])) })));
  const drawn = await bars(".stack[data-rank]");
  assert.equal(drawn.length, idle.length);
  for (const { rank, parts } of drawn) {
    const row = idle.find((each) => each.rank === rank);
    const expected = { stall: row.input_ns, hostcomm: row.host_comm_ns, alloc: row.alloc_ns, sync: row.sync_ns, hostwork: row.host_work_ns, between: row.kernel_wait_ns, idle: row.other_ns };
    assert.deepEqual(parts, Object.fromEntries(Object.entries(expected).filter(([, ns]) => ns > 0)), `rank ${rank}`);
    assert.equal(Object.values(parts).reduce((a, b) => a + b, 0), row.idle_ns);
  }
  await visit(page, "#input/rank=3");
  const steps = (await bars(".stack[data-step]")).filter(({ parts }) => "forward" in parts);
  const own = phases.filter((row) => row.rank === 3);
  assert.equal(steps.length, own.length);
  for (const { step, parts } of steps) {
    const row = own.find((each) => each.step === step);
    assert.equal(parts.forward, row.forward_ns);
    assert.equal(Object.values(parts).reduce((a, b) => a + b, 0), row.step_ns, `step ${step}`);
  }
});

seldom("the longest gaps lead to their rank and time", async () => {
  const { "idle.gap": gaps } = show(jobs[0].store, "idle.gap");
  const { page } = await open(jobs[0].page, { hash: "#idle" });
  const links = await page.$$eval('[data-of="idle.gap"] td a', (all) => all.map((e) => decodeURIComponent(e.getAttribute("href"))));
  assert.equal(links.length, Math.min(12, gaps.length));
  links.forEach((link, i) => {
    const [, opened, rank, from, to] = /^#timeline\/open=(\d+)\/rank=(\d+)\/t=(\d+)-(\d+)$/.exec(link).map(Number);
    assert.deepEqual([opened, rank], [gaps[i].rank, gaps[i].rank]);
    assert.ok(to - from > gaps[i].duration_ns && to - from < 1.3 * gaps[i].duration_ns + 2000, link);
  });
});

test("a bar's value is in the unit of its heading, also where values are far apart", async () => {
  let total = 0;
  const record = (ts, Bytes, Addr) => ({ ph: "i", s: "t", name: "[memory]", pid: 1, tid: 1, ts, args: { "Total Allocated": (total += Bytes), "Total Reserved": 5 * 2 ** 30, Bytes, Addr, "Device Id": 0, "Device Type": 1 } });
  const job = merge("far-apart", trace("far_rank_0.json", [kernel("gemm", 1, 100), record(10, 3.75 * 2 ** 30, 4096), record(20, 2 ** 20, 8192)]));
  const { "memory.live": live } = show(job.store, "memory.live"), { page } = await open(job.page, { hash: "#memory" });
  assert.deepEqual(live.map((row) => row.bytes), [3.75 * 2 ** 30, 2 ** 20], "the fixture");
  const [unit, ...values] = await page.$eval('[data-of="memory.live"] table', (e) => [...e.querySelectorAll('[data-name="bytes"] .unit, td[data-column="bytes"] .inline-value')].map((each) => each.textContent.trim().replaceAll("\u202f", "")));
  assert.deepEqual(values.map((value) => Number(value) * { MiB: 2 ** 20, GiB: 2 ** 30 }[unit]), live.map((row) => row.bytes), `${values} ${unit}`);
  await visit(page, "#timeline/mark=12000-25000/sums=memory"); // 10 us is the trace's begin plus 9 us
  await page.waitForSelector(".tl-sums tbody");
  const held = await page.$$eval(".tl-sums td", (all) => all.map((e) => e.textContent.replace(/[\u00a0\u202f]/g, " ")));
  assert.deepEqual(held.slice(0, 6), ["0, cuda:0", "3.75 GiB", "3.75 GiB", "+1.00 MiB", "3.75 GiB", "19.0 µs"]);
});

seldom("memory over time: a line by device to twelve, a band beyond, and the capacity when asked", async () => {
  synth("sixteen", { ranks: 16, steps: 3, fault: "leak" });
  const job = merge("sixteen", "sixteen");
  const { "memory.device": devices } = show(job.store, "memory.device");
  const { page } = await open(job.page, { hash: "#memory" });
  await page.waitForSelector(".chart[data-drawn] canvas");
  assert.match(await page.textContent("h1"), /^Memory grows in step after step on 16 devices$/);
  assert.match(await page.textContent("main"), /minimum to maximum of 16 devices/);
  const peak = (await cells(page, "memory.device")).find(([row, column]) => row === 0 && column === "peak_bytes");
  assert.ok(Math.abs(Number(peak[2]) * 1024 ** 3 - devices[0].peak_bytes) < 0.01 * 1024 ** 3, peak[2]);
  await visit(page, "#memory/to=used");
  assert.match(await page.textContent("main"), / times this chart’s highest value/);
});

seldom("the clocks view says what clock.check and clock.rank say", async () => {
  const { "clock.check": [check], "clock.rank": clocks } = show(jobs[0].store, "clock.check", "clock.rank");
  const { page } = await open(jobs[0].page, { hash: "#clocks" });
  const hosts = await page.$$eval(".offset[data-host]", (all) => all.map((e) => [e.dataset.host, e.querySelector(".row-end").textContent]));
  assert.deepEqual(hosts.map(([host]) => host), [...new Set(clocks.map((row) => row.host))]);
  for (const [host, text] of hosts) assert.ok(near(text, clocks.find((row) => row.host === host).offset_ns), `${host}: ${text}`);
  assert.ok(check.violations_before > 0, "the fixture has no violation");
  assert.equal(await page.textContent('[data-column="violations_before"]'), group(check.violations_before));
});

seldom("charts take the colours of the theme and of print, and are drawn again for each", async () => {
  const { page } = await open(jobs[0].page, { hash: "#communication" });
  await page.waitForSelector(".chart[data-drawn] canvas");
  const picture = () => page.$eval(".chart canvas", (canvas) => canvas.toDataURL());
  const light = await picture();
  await page.click("text=Light / dark");
  const dark = await picture();
  assert.notEqual(dark, light);
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  const width = await page.$eval(".chart canvas", (canvas) => [canvas.width, parseFloat(canvas.style.width)]);
  assert.ok(width[1] <= 680 && width[0] === 2 * width[1], `${width}`);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  assert.equal(await picture(), dark);
});

seldom("operators have which kernels they launch, and calls what they made the GPU lose", async () => {
  for (const job of jobs)
    for (const [hash, name, shown] of [["#operators/by=kernel", "kernels.launched/operator", { total_ns: near, calls: (text, value) => text === group(value) }], ["#idle", "sync.call", { lost_ns: near, total_ns: near, calls: (text, value) => text === group(value) }]]) {
      const rows = show(job.store, name)[name], { page } = await open(job.page, { hash });
      const of = name.split("/")[0], own = await cells(page, of), units = Object.fromEntries(await page.$$eval(`[data-of="${of}"] th`, (all, columns) => all.map((e, i) => [columns[i], e.querySelector(".unit")?.textContent ?? ""]), [...new Set(own.map(([, column]) => column))]));
      assert.ok(own.length >= 6 * Math.min(rows.length, 2), `${name}: ${own.length} cells of ${rows.length} rows`);
      for (const [row, column, text] of own)
        if (shown[column]) assert.ok(shown[column](/[a-zµ%]$/.test(text) ? text : text + units[column], rows[row][column]), `${name}[${row}].${column}: ${text}, not ${rows[row][column]}`);
    }
});

seldom("calls of a flame graph lie below their callers, side by side, and fill the width when chosen", async () => {
  const { flameLayout } = await moduleOf("flame.ts");
  // call 0 takes 100 and calls 1 (60) and 3 (30); 1 calls 2 (20); 4 is next to 0 and takes 100
  const tree = { n: 5, parent: [-1, 0, 1, 0, -1], time: [100, 60, 20, 30, 100], name: [], color: [] };
  const boxes = (root, least = 0) => flameLayout(tree, root, least).map(({ row, depth, from, to }) => [row, depth, ...[from, to].map((place) => Math.round(1e6 * place) / 1e6)]);
  assert.deepEqual(boxes(-1), [[0, 0, 0, 0.5], [1, 1, 0, 0.3], [2, 2, 0, 0.1], [3, 1, 0.3, 0.45], [4, 0, 0.5, 1]]);
  assert.deepEqual(boxes(1), [[0, 0, 0, 1], [1, 1, 0, 1], [2, 2, 0, 0.333333]]);
  assert.deepEqual(boxes(-1, 0.2).map(([row]) => row), [0, 1, 4]);
});

seldom("operators lie in one another as in the trace, and are a tree over all ranks", async () => {
  // on each of 2 ranks: linear [0, 100) contains addmm [10, 60), which launches 40 us; copy [200, 230) launches 5 us
  const op = (name, ts, dur) => ({ ph: "X", cat: "cpu_op", name, pid: 1, tid: 1, ts, dur, args: {} });
  const call = (ts, correlation) => ({ ph: "X", cat: "cuda_runtime", name: "cudaLaunchKernel", pid: 1, tid: 1, ts, dur: 2, args: { correlation } });
  const files = [0, 1].map((rank) => trace(`tree_rank_${rank}.json`, [op("aten::linear", 0, 100), op("aten::addmm", 10, 50), call(20, 1), kernel("gemm", 30, 40, { correlation: 1 }),
    op("aten::copy_", 200, 30), call(210, 2), kernel("copy", 220, 5, { correlation: 2 })], { distributedInfo: { rank, world_size: 2 } }));
  const job = merge("tree", files), { page } = await open(job.page, { hash: "#stacks" });
  assert.deepEqual(show(job.store, "calls.tree/operator")["calls.tree/operator"].map((row) => [row.name, row.depth, row.calls, row.host_total_ns, row.host_self_ns, row.device_total_ns, row.device_self_ns]),
    [["aten::linear", 0, 2, 200_000, 100_000, 80_000, 0], ["aten::addmm", 1, 2, 100_000, 100_000, 80_000, 80_000], ["aten::copy_", 0, 2, 60_000, 60_000, 10_000, 10_000]]);
  assert.equal((await page.textContent("h1")).replaceAll("\u00a0", " "), "aten::addmm itself takes 88.9 % of the GPU time that operators launched");
  await page.waitForSelector('.flame[data-boxes="3"]');
  await page.focus(".flame");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.match(await page.textContent(".flame-readout"), /^aten::addmm80\.0\sµs of GPU time/);
});

seldom("call stacks of several ranks are one flame graph, coloured by the slowest, or by their own time, which opens and closes", async () => {
  // on ranks 0 and 1: main takes 1 000 us each and calls f (200 and 400) and g (400 and 350); g takes 750 of 2 000 us
  const call = (name, ts, dur) => ({ ph: "X", cat: "python_function", name, pid: 1, tid: 1, ts, dur, args: {} });
  const files = [[[100, 200], [400, 400]], [[100, 400], [550, 350]]].map(([f, g], rank) => trace(`stacks_rank_${rank}.json`,
    [call("a.py(1): main", 0, 1000), call("a.py(2): f", ...f), call("a.py(3): g", ...g), kernel("gemm", 100, 50)], { distributedInfo: { rank, world_size: 2 } }));
  const job = merge("stacks", files), { page } = await open(job.page, { hash: "#stacks" });
  assert.equal((await page.textContent("h1")).replaceAll("\u00a0", " "), "a.py(3): g itself takes 37.5 % of the host time of all recorded calls");
  await page.waitForSelector('.flame[data-boxes="3"]');
  const { x, y, width } = await (await page.$(".flame")).boundingBox();
  // f's maximum over ranks is 400 us against a median of 300, g's is 400 against 375: f stands out more, main not at all
  // longer calls come first: g up to 0.375 of the width, then f
  const colours = () => page.$eval(".flame", (canvas) => {
    const { data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return [[0.5, 0], [0.5, 1], [0.2, 1], [0.99, 1]].map(([x, depth]) => data.slice(4 * ((depth * 19 + 3) * width + Math.floor(x * width))).slice(0, 4).join());
  });
  const [main, f, g, beside] = await colours();
  const level = (color) => color.split(",").slice(0, 3).reduce((a, b) => a + Number(b), 0);
  assert.ok(level(f) < level(g) && level(g) < level(main), `${main} ${f} ${g}`);
  assert.equal(beside, "0,0,0,0", "beside what main itself does nothing lies");
  await visit(page, "#stacks/color=self"); // g takes 750 us itself, main 650, f 600
  await page.waitForSelector('.flame[data-boxes="3"]');
  const [ownMain, ownF, ownG] = (await colours()).map(level);
  assert.ok(ownG < ownMain && ownMain < ownF, `${ownMain} ${ownF} ${ownG}`);
  await page.click('[data-value="module"]'); // all three are of a.py, and the address keeps the choice
  await page.waitForFunction(() => location.hash === "#stacks/color=module");
  await page.waitForSelector('.flame[data-boxes="3"]');
  assert.equal(new Set((await colours()).slice(0, 3)).size, 1);
  assert.deepEqual(await page.$$eval(".legend.below li", (all) => all.map((e) => e.textContent)), ["a.py", "all others"]);
  await visit(page, "#stacks");
  await page.waitForSelector('.flame[data-boxes="3"]');
  await page.mouse.move(x + 0.5 * width, y + 25);
  assert.match((await page.textContent(".tip")).replaceAll("\u00a0", " "), /a\.py\(2\): f600\.0 µs on the host, 30\.0 % of all; itself 600\.0 µs; 2 callson 2 ranks: median 300\.0 µs, most 400\.0 µs on rank 1/);
  await page.mouse.click(x + 0.5 * width, y + 25);
  await page.waitForSelector('.flame[data-boxes="2"]');
  assert.match(page.url(), /#stacks\/node=\d+$/);
  assert.deepEqual(await page.$$eval(".trail button", (all) => all.map((e) => e.textContent)), ["All calls", "a.py(1): main", "a.py(2): f"]);
  await page.focus(".flame");
  await page.keyboard.press("Escape");
  await page.waitForSelector('.flame[data-boxes="3"]');
  await page.focus(".flame");
  for (const key of ["ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
  assert.match(await page.textContent(".flame-readout"), /^a\.py\(2\): f/);
  /* g takes 750 of 2 000 us; main contains all calls, so it takes all, and its nested matches do not count again */
  for (const [find, reported] of [["): G", "1 path, 37.5 % of all"], ["a.py", "3 paths, 100.0 % of all"], ["none", "0 paths, 0.0 % of all"]]) {
    await page.fill('[aria-label="Find calls"]', find);
    assert.equal((await page.textContent("main output")).replaceAll("\u00a0", " "), reported);
  }
});

seldom("calls of one name are told apart by the callers in which they differ", async () => {
  const call = (name, ts, dur) => ({ ph: "X", cat: "python_function", name, pid: 1, tid: 1, ts, dur, args: {} });
  // conv runs twice, in layers A and B, through the same _call; add is called once
  const events = [call("main", 0, 1000), ...["A", "B"].flatMap((layer, i) => [call(`layer ${layer}`, 400 * i, 300), call("_call", 400 * i, 300), call("conv", 400 * i, 200)]), call("add", 900, 50)];
  const job = merge("apart", trace("apart_rank_0.json", events)), { page } = await open(job.page, { hash: "#stacks" });
  const rows = await page.$$eval('td[data-column="name"]', (all) => all.map((e) => [e.querySelector(".name").textContent, e.querySelector("small")?.textContent ?? ""]));
  assert.deepEqual(rows.sort().map((row) => row.join(" ").trim()), ["_call in layer A", "_call in layer B", "add", "conv in layer A", "conv in layer B", "layer A", "layer B", "main"]);
});

seldom("efficiency says how much of the peak is used, by rank and by operator", async (t) => {
  if (!realJob()) return t.skip("no real traces");
  const { "efficiency.rank": ranks, "efficiency.work/operator": operators } = show(realJob().store, "efficiency.rank", "efficiency.work/operator");
  const shares = ranks.map((row) => row.mfu_pct).sort((a, b) => a - b), middle = (shares[3] + shares[4]) / 2;
  assert.ok(Math.abs(ranks[0].mfu_pct - 23.1) < 0.05, "at the peaks its operations take 37.97 of 164.42 ms");
  const { page } = await open(realJob().page, { hash: "#efficiency" });
  assert.equal((await page.textContent("h1")).replaceAll("\u00a0", " "), `The model uses ${middle.toFixed(1)} % of what the GPUs can compute`);
  const own = await cells(page, "efficiency.rank"), order = ranks.map((_, i) => i).sort((a, b) => ranks[a].mfu_pct - ranks[b].mfu_pct);
  assert.deepEqual(own.filter(([, column]) => column === "mfu_pct").map(([row, , text]) => [row, text.replaceAll("\u00a0", " ")]), order.map((row) => [row, `${ranks[row].mfu_pct.toFixed(1)} %`]));
  for (const [row, column, text] of await cells(page, "efficiency.work"))
    if (column === "peak_pct" && operators[row].peak_pct >= 0.1) assert.ok(near(text, operators[row].peak_pct), `${row}: ${text}`);
  assert.ok(await page.$(".chart[data-drawn]"), "the rates against operations a byte");
});

test("where nothing was recorded a view says why and what to record", async () => {
  const events = [kernel("gemm", 1000, 50), kernel("relu", 1100, 20)];
  const job = merge("bare", trace("bare.json", events, { distributedInfo: { rank: 0, world_size: 1 } }));
  const { page } = await open(job.page);
  for (const [view, pattern] of [["communication", /--comm-pattern REGEX/], ["memory", /profile_memory=True/], ["operators", /ProfilerActivity\.CPU/], ["operators/by=shape", /record_shapes=True/],
    ["operators/by=module", /with_stack=True/], ["launches", /ProfilerActivity\.CPU in PyTorch, -t cuda in nsys, --hip-trace in rocprofv3/], ["transfers", /ProfilerActivity\.CUDA/], ["input", /./], ["clocks", /all ranks/]]) {
    await visit(page, `#${view}`);
    assert.match((await page.$$eval(".empty", (all) => all.map((e) => e.textContent))).join(" "), pattern, view);
    assert.doesNotMatch(await page.textContent("main"), /\b(NaN|Infinity|undefined|null)\b/, view);
  }
  const searched = merge("searched", "bare.json", "--comm-pattern", "my_ring");
  const own = await open(searched.page, { hash: "#communication" });
  assert.match(await own.page.textContent(".empty"), /my_ring/);
});

test("a trace of the CPU alone opens every view", async () => {
  const { page } = await open(merge("cpu", trace("cpu.json", [
    { ph: "X", cat: "user_annotation", name: "ProfilerStep#1", pid: 1, tid: 1, ts: 1000, dur: 100 },
    { ph: "X", cat: "cpu_op", name: "aten::mm", pid: 1, tid: 1, ts: 1010, dur: 50 },
  ], { distributedInfo: { rank: 0, world_size: 1 } })).page);
  await sweep(page, undefined, OWN);
});

/* Writes ncu's details and raw page as CSV, with a row for each launch. @p rows: name, grid, block and values of each launch. */
function ncuFiles(rows, rules) {
  const csv = (records) => records.map((record) => record.map((field) => `"${String(field).replaceAll('"', '""')}"`).join(",")).join("\n") + "\n";
  const head = ["ID", "Process ID", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "Device", "CC"];
  const launch = ({ name, grid, block }, i) => [i, 77, name, 1, 7, `(${block.replaceAll(",", ", ")})`, `(${grid.replaceAll(",", ", ")})`, 0, "9.0"];
  const [add, tensor] = ["smsp__sass_thread_inst_executed_op_fadd_pred_on", "sm__ops_path_tensor_src_bf16_dst_fp32"], peak = ".sum.peak_sustained";
  const columns = [["dram__bytes.sum", "byte"], [`${add}.sum`, "inst"], [`${tensor}.sum`, ""], [`${tensor}${peak}`, "1/cycle"], [`sm__sass_thread_inst_executed_op_ffma_pred_on${peak}`, "inst/cycle"],
    [`dram__bytes${peak}`, "byte/cycle"], ["sm__cycles_elapsed.avg.per_second", "cycle/second"], ["dram__cycles_elapsed.avg.per_second", "cycle/second"]];
  writeFileSync("raw.csv", csv([[...head, ...columns.map(([name]) => name)], [...head.map(() => ""), ...columns.map(([, unit]) => unit)],
    ...rows.map((row, i) => [...launch(row, i), row.bytes, row.adds, row.tensor, 540_000, 16_896, 1_280, 1_500_000_000, 2_600_000_000])]));
  writeFileSync("details.csv", csv([[...head, "Section Name", "Metric Name", "Metric Unit", "Metric Value", "Rule Name", "Rule Type", "Rule Description", "Estimated Speedup Type", "Estimated Speedup"],
    ...rows.map((row, i) => [...launch(row, i), "GPU Speed Of Light Throughput", "Compute (SM) Throughput", "%", row.sm, "", "", "", "", ""]),
    ...rules.map(([at, ...rule]) => [...launch(rows[at], at), "SpeedOfLight", "", "", "", ...rule])]));
  return "details.csv,raw.csv";
}

seldom("what Nsight Compute measured stands under its roofs, with its rules, and only where it did", async () => {
  const { store } = merge("measured", synth("measured-traces", { ranks: 2, steps: 2 })), shapes = show(store, "kernels.launch_shape")["kernels.launch_shape"];
  const [first, second] = shapes.filter((row) => row.grid !== null && !/nccl/.test(row.name));
  const unknown = { name: "not <b>here</b>", grid: "1,1,1", block: "32,1,1" };
  const ncu = ncuFiles([{ ...first, bytes: 5e7, adds: 0, tensor: 1e10, sm: 82 }, { ...second, bytes: 2e8, adds: 2e7, tensor: 0, sm: 30 }, { ...unknown, bytes: 1, adds: 1, tensor: 0, sm: 1 }],
    [[0, "TileRule", "OPT", "use <i>larger</i> tiles", "local", "12.5"], [0, "WaveRule", "OPT", "a tail of waves", "global", "7.25"], [1, "SlowRule", "WRN", "few warps", "", ""]]);
  const plain = await open("measured.html", { hash: "#kernels" });
  assert.ok(!(await plain.page.$$eval("main h2", (all) => all.map((e) => e.textContent))).includes("What Nsight Compute measured"));
  tmerge("analyze", store, "--ncu", ncu);
  tmerge("report", store, "-o", "measured.html");
  for (const [theme, width] of FULL ? [["light", 1280], ["dark", 800]] : [["dark", 800]]) {
    const { page } = await open("measured.html", { hash: "#kernels", theme, width });
    await page.waitForSelector("main .chart[data-drawn]");
    assert.match(await page.$eval("main .chart", (e) => e.getAttribute("aria-label")), /^Rate of 2 measured kernels /);
    const own = 'main section:has(h2:text-is("What Nsight Compute measured"))', chosen = '[aria-label="The chosen kernel"]';
    assert.match(await page.$eval(own, (e) => e.textContent), /Only in the table: 1 kernel /);
    assert.equal(await page.$eval(chosen, (e) => e.textContent), "");
    /* Clicks all over the chart: points must be where the axes put them. */
    const reported = await page.$eval("main .chart canvas", async (e) => {
      const { width, height } = e.getBoundingClientRect(), found = new Set();
      for (let x = 0; x < width; x += 6)
        for (let y = 0; y < height; y += 6) {
          while (!document.querySelector("main .chart[data-drawn]")) await new Promise(requestAnimationFrame); // waits until the chosen point is marked
          const canvas = document.querySelector("main .chart canvas"), { left, top } = canvas.getBoundingClientRect();
          canvas.dispatchEvent(new MouseEvent("click", { clientX: left + x, clientY: top + y }));
          found.add(document.querySelector('[aria-label="The chosen kernel"] h3')?.textContent);
        }
      return [...found];
    });
    assert.deepEqual(reported.filter((name) => name !== undefined).sort(), [first.name, second.name].sort());
    const row = show(store, "kernels.roofline")["kernels.roofline"].findIndex((each) => each.name === first.name);
    await page.click(`${own} td[data-row="${row}"][data-column="name"] a`);
    await page.waitForSelector(`${chosen} li`);
    assert.deepEqual(await page.$$eval('main tr[aria-current="true"] td[data-column="name"]', (all) => all.map((e) => Number(e.dataset.row))), [row], "the chosen one is marked");
    const rules = await page.$$eval(`${chosen} li`, (all) => all.map((e) => e.textContent.replaceAll("\u00a0", " ")));
    assert.deepEqual(rules, ["TileRule (SpeedOfLight; estimated speedup 12.5 %, of only a part of it): use <i>larger</i> tiles",
      "WaveRule (SpeedOfLight; estimated speedup 7.3 %, of the whole kernel): a tail of waves"]);
    // FP32: 2 x 16,896 FLOP per cycle x 1.5e9 cycles/s = 50.7e12; tensor cores: 540,000 x 1.5e9 = 810e12
    assert.match((await page.$eval(chosen, (e) => e.textContent)).replaceAll("\u00a0", " "), /single precision 50\.7 TFLOP\/s, tensor cores 810 TFLOP\/s/);
    assert.deepEqual(await grave(page), []);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, `${theme}, ${width}: too wide`);
  }
});
