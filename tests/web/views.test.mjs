// Every view opens in both themes and at four widths, says nothing on the console, asks for
// nothing and scrolls in one direction only.
import assert from "node:assert/strict";
import { listed, merge, open, realJob, synth, test, THEMES, visit, WIDTHS } from "./page.mjs";

async function everyView(path) {
  for (const theme of THEMES)
    for (const width of WIDTHS) {
      const { page } = await open(path, { theme, width });
      const views = await listed(page);
      assert.ok(views.length >= 6, `views: ${views}`);
      for (const view of [...views, "tables/name=ratio.rank"]) {
        const what = `${view}, ${theme}, ${width}`;
        await visit(page, `#${view}`);
        assert.equal(await page.$$eval("h1", (all) => all.length), 1, `one heading: ${what}`);
        assert.equal(await page.$$eval("main p.empty", (all) => all.filter((p) => p.textContent.includes("cannot be")).length), 0, what);
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(over <= 0, `${what} is ${over} px too wide`);
        const wider = view.startsWith("tables") || width < 800 ? [] : await page.$$eval(".grid-scroll", (all) => all.filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.getAttribute("aria-label")));
        assert.deepEqual(wider, [], `tables that have no room: ${what}`);
        const high = width < 800 ? [] : await page.$$eval("td", (all) => all.filter((e) => e.clientHeight > 150).map((e) => e.textContent));
        assert.deepEqual(high, [], `texts that are squeezed: ${what}`);
        assert.ok(await page.$eval("nav.rail [aria-current]", (e) => {
          const [own, all] = [e.getBoundingClientRect(), e.closest("nav").getBoundingClientRect()];
          return own.left >= all.left - 1 && own.right <= all.right + 1;
        }), `${view} in ${theme} at ${width} px: its link is out of sight`);
        const ticks = await page.$$eval(".stack.axis", (all) => all.map((axis) => [...axis.querySelectorAll(".tick")].map((e) => [parseFloat(e.style.left), Number(e.textContent.replaceAll("\u202f", ""))])));
        for (const of of ticks) for (const [at, value] of of.slice(2)) assert.ok(Math.abs(value / of[1][1] / (at / of[1][0]) - 1) < 1e-3, `${view}: a tick says ${value} at ${at} %`);
        const under = await page.$$eval("td .name, .row-label", (all) => all.filter((e) => e.offsetParent !== null && e.getBoundingClientRect().right > e.parentElement.closest("td, div").getBoundingClientRect().right + 1).map((e) => e.textContent));
        assert.deepEqual(under, [], `names that run out of their cells: ${what}`);
      }
    }
}

test("every view of a real job opens", async (t) => {
  if (!realJob()) return t.skip("no real traces");
  await everyView(realJob().page);
});

test("every view of a job of 64 ranks opens", async () => {
  synth("sixty-four", { ranks: 64, ranks_per_host: 8, steps: 4, slow_rank: 20, slow_factor: 1.3 });
  await everyView(merge("many", "sixty-four").page);
});

test("the page that a merge writes is the one that tmerge report makes", async () => {
  const { merge: both, text, tmerge } = await import("./page.mjs");
  synth("two", { ranks: 2, steps: 2 });
  const job = both("two-ranks", "two");
  tmerge("report", job.store, "-o", "again.html");
  assert.equal(text(job.page), text("again.html"));
  assert.ok(!/(src|href)\s*=\s*["']?https?:/i.test(text(job.page)), "an address of the web in it");
});
