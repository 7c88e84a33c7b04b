// XLA: the view of TensorFlow and JAX programs, which other jobs lack.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { before } from "node:test";
import { closeTo, FULL, listed, merge, open, seldom, show, SOURCE, synth, test, THEMES, visit, WIDTHS } from "./page.mjs";

const TRACES = join(SOURCE, "..", "shared", "traces", "xplane");
const jobs = {};
before(() => {
  if (!existsSync(TRACES)) return;
  for (const name of ["tpu-v6e", "jax-mi300-gemm", "gpu-multi-worker"]) jobs[name] = merge(name, join(TRACES, name));
});

const cells = (page, section) =>
  page.$$eval("main section", (all, title) => {
    const found = all.find((each) => each.querySelector("h2")?.textContent === title);
    return [...(found?.querySelectorAll("tbody tr") ?? [])].map((row) => [...row.cells].map((cell) => cell.textContent));
  }, section);

test("a job of PyTorch has no view of XLA", async () => {
  const { page } = await open(merge("torch", synth("torch-traces", { ranks: 2, steps: 2 })).page);
  assert.ok(!(await listed(page)).includes("xla"));
});

test("operations of a TPU stand by category, with what bounds them, and under the roof", async (t) => {
  const job = jobs["tpu-v6e"];
  if (!job) return t.skip("no real traces");
  const categories = show(job.store, "hlo.work/category")["hlo.work/category"];
  for (const theme of THEMES)
    for (const width of FULL ? WIDTHS : [theme === "light" ? 1280 : 390]) {
      const { page } = await open(job.page, { theme, width, hash: "#xla" });
      assert.match(await page.$eval("h1", (e) => e.textContent), /^copy-done takes 96\s% of the time of XLA’s operations$/);
      const rows = await cells(page, "Operations");
      assert.deepEqual(rows.map((row) => row[0]), categories.map((row) => row.category));
      assert.deepEqual(rows.map((row) => row[4]), categories.map((row) => row.bound ?? "–"));
      assert.equal(await page.$$eval("main canvas", (all) => all.length), 1, "the roofline");
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `${theme}, ${width}: ${over} px too wide`);
      for (const by of width < 800 ? [] : ["category", "op", "program"]) {
        await visit(page, `#xla/by=${by}`);
        const wider = await page.$$eval(".grid-scroll", (all) => all.map((each) => [each.getAttribute("aria-label"), each.scrollWidth - each.clientWidth]));
        assert.ok(wider.length >= 3 && wider.every(([, pixels]) => pixels <= 0), `${width}, ${by}: ${wider}`);
      }
    }
});

seldom("rows of operations and programs are those of their tables", async (t) => {
  const job = jobs["tpu-v6e"];
  if (!job) return t.skip("no real traces");
  const tables = show(job.store, "hlo.work/op", "hlo.work/program"), { page } = await open(job.page, { hash: "#xla" });
  for (const [by, column] of [["op", "op"], ["program", "program"]]) {
    await visit(page, `#xla/by=${by}`);
    assert.deepEqual((await cells(page, "Operations")).map((row) => row[0]), tables[`hlo.work/${by}`].map((row) => row[column]).slice(0, 20));
  }
});

seldom("of a GPU, whose peaks nothing tells, rates of products are shown, and no roof", async (t) => {
  const job = jobs["jax-mi300-gemm"];
  if (!job) return t.skip("no real traces");
  const { page } = await open(job.page, { hash: "#xla" });
  const text = await page.$eval("main", (e) => e.textContent);
  assert.match(text, /The traces do not give the peak of the GPUs/);
  assert.doesNotMatch(text, /What bounds operations|of the peak|of its peak/);
  const rates = show(job.store, "hlo.work/category")["hlo.work/category"].map((row) => (row.achieved_tflops === null ? "–" : row.achieved_tflops.toFixed(row.achieved_tflops < 100 ? 2 : 1)));
  assert.deepEqual((await cells(page, "Operations")).map((row) => row[5].split(/\s/)[0]), rates);
  assert.deepEqual((await cells(page, "Operators of the framework")).map((row) => row[0]), ["dot_general", "broadcast_in_dim", "none given"]);
});

seldom("what PyTorch alone has is neither shown nor asked for", async (t) => {
  if (!jobs["tpu-v6e"]) return t.skip("no real traces");
  for (const [name, without, within] of [["tpu-v6e", ["input"], ["memory", "efficiency", "operators"]], ["jax-mi300-gemm", ["input"], ["operators", "memory"]], ["gpu-multi-worker", ["efficiency"], ["input", "operators"]]]) {
    const { page } = await open(jobs[name].page), views = await listed(page);
    assert.deepEqual([without.filter((view) => views.includes(view)), within.filter((view) => !views.includes(view))], [[], []], name);
    for (const view of views.filter((each) => each !== "tables")) {
      await visit(page, `#${view}`);
      const text = await page.$eval("main", (e) => e.textContent);
      assert.doesNotMatch(text, /torch\.|record_shapes|ProfilerActivity\.CUDA|Phases of the steps|Backward|recorded shapes/, `${name}, ${view}`);
      // 10.8 %: 8.91 of 82.7 ms over all devices (in the other program, 2.39 of 21.31 ms on device 6); devices that only copy have no step
      if (view === "input") assert.match(text, /Loading data holds the GPUs up for 10\.8\s% of the steps’ time/, name);
      // the recording of 858 ms is not a step of ranks 0 and 3
      if (view === "input") assert.deepEqual(await page.$$eval("main select option", (all) => all.map((each) => each.textContent)),
        ["rank 0, no steps", "rank 1, waits most", "rank 2", "rank 3, no steps", "rank 4", "rank 5"]);
      if (name === "tpu-v6e" && view === "kernels") assert.doesNotMatch(text, /SM efficiency|[Oo]ccupancy|launch shapes/);
    }
  }
});

const sections = (page) => page.$$eval("main h2", (all) => all.map((each) => each.textContent));
const row = (page, name) => page.$$eval(".stack[role=listitem]", (all, wanted) => {
  const found = all.find((each) => each.firstChild.textContent === wanted);
  return [...found.querySelectorAll(".piece")].map((piece) => Number(piece.dataset.ns)).concat(found.querySelector(".row-end").textContent);
}, name);

seldom("what steps are spent on, and the device planted as slow among those of its hosts", async () => {
  const job = merge("pod", synth("pod-traces", { format: "xplane", ranks: 8, ranks_per_host: 4, steps: 3, layers: 4, jitter: 0, slow_rank: 6, slow_factor: 1.4 }));
  const { page } = await open(job.page, { hash: "#xla", width: 800 });
  assert.deepEqual(await sections(page), ["What steps are spent on", "Slow devices", "Collectives of programs"], "no pipeline, no operations");
  const collectives = show(job.store, "pod.collective")["pod.collective"].sort((a, b) => b.total_ns - a.total_ns);
  assert.deepEqual((await cells(page, "Collectives of programs")).map((each) => each.slice(0, 2)), collectives.map((each) => [each.operation, each.kind]));
  assert.match(await page.$eval("main section", (e) => e.textContent), /Computing takes the largest part of the steps’ time, \d+\s%\. So it is on every rank/);
  for (const of of show(job.store, "pod.rank")["pod.rank"]) {
    const parts = await row(page, `rank ${of.rank}`);
    assert.equal(parts.pop(), "computing", `rank ${of.rank}`);
    assert.equal(parts.reduce((sum, ns) => sum + ns, 0), of.step_ns, `rank ${of.rank}`);
  }
  const map = await page.$$eval(".map .cell", (all) => all.map((each) => [each.getAttribute("aria-label"), Number(each.dataset.value)]).filter(([, value]) => value > 0));
  const [slow] = show(job.store, "pod.rank")["pod.rank"].filter((each) => each.rank === 6);
  assert.equal(map.length, 1);
  assert.match(map[0][0], /^host1, GPU 2: computing \+/);
  assert.equal(map[0][1], slow.over_ns / 3);
  assert.deepEqual((await cells(page, "Slow devices")).map(([rank, , , n]) => [rank, n]).shift(), ["6", "3"]);
  assert.equal((await cells(page, "Slow devices")).length, 1 + 3, "the device, and each of its steps");
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, "too wide");
});

seldom("stages of the input pipeline of each host, with their whole and own time", async (t) => {
  const job = jobs["gpu-multi-worker"], title = "The input pipeline of hosts";
  if (!job) return t.skip("no real traces");
  const tables = show(job.store, "pipeline.host", "pipeline.stage"), { page } = await open(job.page, { hash: "#xla" });
  const map = await page.$$eval(".map .cell", (all) => all.map((each) => each.textContent));
  assert.deepEqual(map.map((cell) => cell === "–"), [true, false, false, true, false, false], "GPU 1 of each host only copies: not compared");
  for (const [i, host] of tables["pipeline.host"].entries()) {
    await visit(page, `#xla/host=${i}`);
    assert.ok(closeTo((await row(page, host.host)).pop(), host.self_ns), host.host);
    const shown = await cells(page, title), stages = tables["pipeline.stage"].filter((stage) => stage.host === host.host).sort((a, b) => b.self_ns - a.self_ns);
    assert.deepEqual(shown.map((stage) => stage[0]), stages.map((stage) => stage.stage));
    stages.forEach((stage, at) => assert.ok(closeTo(shown[at][3], stage.total_ns) && closeTo(shown[at][4], stage.self_ns), `${stage.stage}: ${shown[at]}`));
  }
});
