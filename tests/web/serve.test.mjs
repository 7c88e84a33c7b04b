// The page as tmerge serve gives it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, before, test } from "node:test";
import { merge, open, synth, visit } from "./page.mjs";

let job, served;
const servers = [];

/** Serves a store: its address. */
async function serve(store) {
  const server = spawn(process.env.TMERGE, ["serve", store], { stdio: ["ignore", "pipe", "inherit"] });
  servers.push(server);
  let said = "";
  for await (const part of server.stdout) {
    said += part;
    const [url] = /http:\S+\//.exec(said) ?? [];
    if (url) return url;
  }
  throw new Error("it did not start");
}

before(async () => {
  job = merge("job", synth("traces", { ranks: 8, ranks_per_host: 4, steps: 4, layers: 4, slow_rank: 5, slow_factor: 1.3 }));
  served = await serve(job.store);
});
after(() => servers.forEach((server) => server.kill()));

/** Nothing was said on the console, and nobody was asked but the server. */
function quietBut(noted, url) {
  assert.deepEqual(noted.console, []);
  assert.deepEqual(noted.requests.filter((each) => !each.startsWith(url) && !each.startsWith("blob:") && !each.startsWith("data:")), []);
}

test("the page is opened from the server, and asks nobody else", async () => {
  const { page, noted, close } = await open(served);
  for (const view of ["timeline", "tables", "summary"]) await visit(page, `#${view}`);
  assert.match(await page.textContent("h1"), /Rank 5/);
  quietBut(noted, served);
  await close();
});
