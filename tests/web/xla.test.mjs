// XLA: the view of programs of TensorFlow and JAX, which other jobs do not have.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { listed, merge, open, quiet, show, SOURCE, synth, THEMES, visit, WIDTHS } from "./page.mjs";

const TRACES = join(SOURCE, "..", "shared", "traces", "xplane");
const jobs = {};
before(() => {
  if (!existsSync(TRACES)) return;
  for (const name of ["tpu-v6e", "jax-mi300-gemm"]) jobs[name] = merge(name, join(TRACES, name));
});

const cells = (page, section) =>
  page.$$eval("main section", (all, title) => {
    const found = all.find((each) => each.querySelector("h2")?.textContent === title);
    return [...(found?.querySelectorAll("tbody tr") ?? [])].map((row) => [...row.cells].map((cell) => cell.textContent));
  }, section);

test("a job of PyTorch has no view of XLA", async () => {
  const { page, close } = await open(merge("torch", synth("torch-traces", { ranks: 2, steps: 2 })).page);
  assert.ok(!(await listed(page)).includes("xla"));
  await close();
});

test("operations of a TPU stand by category, with what bounds them, and under the roof", async (t) => {
  const job = jobs["tpu-v6e"];
  if (!job) return t.skip("no real traces");
  const categories = show(job.store, "hlo.category")["hlo.category"];
  for (const theme of THEMES)
    for (const width of WIDTHS) {
      const { page, noted, close } = await open(job.page, { theme, width, hash: "#xla" });
      assert.match(await page.$eval("h1", (e) => e.textContent), /^copy-done takes 96\s% of the time of XLA’s operations$/);
      const rows = await cells(page, "Operations");
      assert.deepEqual(rows.map((row) => row[0]), categories.map((row) => row.category));
      assert.deepEqual(rows.map((row) => row[4]), categories.map((row) => row.bound ?? "–"));
      assert.equal(await page.$$eval("main canvas", (all) => all.length), 1, "the roofline");
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `${theme}, ${width}: ${over} px too wide`);
      quiet(noted, `${theme}, ${width}`);
      await close();
    }
});

test("rows of operations and programs are those of their tables", async (t) => {
  const job = jobs["tpu-v6e"];
  if (!job) return t.skip("no real traces");
  const tables = show(job.store, "hlo.op", "hlo.program"), { page, close } = await open(job.page, { hash: "#xla" });
  for (const [by, column] of [["op", "op"], ["program", "program"]]) {
    await visit(page, `#xla/by=${by}`);
    assert.deepEqual((await cells(page, "Operations")).map((row) => row[0]), tables[`hlo.${by}`].map((row) => row[column]).slice(0, 20));
  }
  await close();
});

test("where nothing tells FLOP, no rate is shown and no roof", async (t) => {
  const job = jobs["jax-mi300-gemm"];
  if (!job) return t.skip("no real traces");
  const { page, noted, close } = await open(job.page, { hash: "#xla" });
  const text = await page.$eval("main", (e) => e.textContent);
  assert.match(text, /The traces tell neither what operations compute and move/);
  assert.doesNotMatch(text, /bound by|What bounds operations|GB\/s/);
  assert.deepEqual((await cells(page, "Operators of the framework")).map((row) => row[0]), ["dot_general", "broadcast_in_dim", "none told"]);
  quiet(noted);
  await close();
});
