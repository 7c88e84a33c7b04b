// Nothing from a trace or an address becomes markup, code, an address or a formula.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { before } from "node:test";
import { esbuild, kernel, listed, merge, moduleOf, open, seldom, SOURCE, sweep, synth, tablesIn, test, text, tmerge, trace, visit } from "./page.mjs";

// Each of these would run code or access the network if it were interpreted as markup.
const EVIL = [
  "</script><script>window.evil = 1; console.error('ran')</script>",
  "<img src=x onerror=\"window.evil = 1; console.error('ran')\">",
  "<svg/onload=window.evil=1><iframe src=//a.example></iframe>",
  "\"' onmouseover='window.evil=1' x=\"",
  "nul\u0000bel\u0007esc\u001b[31m",
  "turned\u202eround\u2066",
  "line\u2028and\u2029paragraph",
  "${window.evil=1}{{evil}}<!-- ]]> -->",
  "javascript:window.evil=1",
  "=HYPERLINK(\"http://a.example\")",
  "long<b>" + "x".repeat(64_000),
];

const host = (text) => ({ ph: "X", cat: "cpu_op", pid: 100, tid: 100, ts: 100, dur: 20, name: text });

/* Trace of a rank in which every name is hostile. */
function hostileTrace(path, rank) {
  const events = [];
  EVIL.forEach((name, i) => {
    const ts = 100 + 100 * i;
    events.push(
      { ...host(name), ts, args: { "External id": i } },
      { ...host(`module: ${name}`), cat: "python_function", ts, args: { "Python id": i, "Python module id": i } },
      { ...host(name), cat: "user_annotation", ts },
      { ...host("cudaLaunchKernel"), cat: "cuda_runtime", ts: ts + 1, dur: 5, args: { correlation: i + 1, "External id": i } },
      kernel(name, ts + 10, 30, { correlation: i + 1, "External id": i }),
      kernel(`ncclDevKernel_AllReduce_${name}`, ts + 50 + rank, 20, { "Collective name": "allreduce", "Process Group Name": name, "Process Group Description": name,
        "Process Group Ranks": "[0, 1]", "Group size": 2, "In msg nelems": 1000, "Out msg nelems": 1000, dtype: name, Seq: i }, 8),
      { ph: "i", cat: "cpu_instant_event", name: "[memory]", pid: 100, tid: 100, ts: ts + 3, s: "t", args: { "Total Allocated": 1000 + i, "Total Reserved": 2000, Bytes: 1000, Addr: i, "Device Type": 1, "Device Id": 0, name } },
      { ...host(`ProfilerStep#${i + 1}${i % 2 ? name : ""}`), cat: "user_annotation", ts: ts - 5, dur: 99 },
      { ph: "M", name: "thread_name", pid: 100, tid: 100 + i, args: { name } },
      { ph: "M", name: "process_name", pid: 100 + i, args: { name } });
  });
  return trace(path, events, { distributedInfo: { rank, world_size: 2, backend: EVIL[1] }, deviceProperties: [{ id: 0, name: EVIL[1], totalGlobalMem: 80e9 }], traceName: EVIL[0] });
}

const FOLDER = "<b onclick=evil()>&amp;<img src=x>"; // the job is named after it

let job;
before(() => {
  mkdirSync(FOLDER);
  const files = [hostileTrace(`${FOLDER}/<img src=x onerror=alert(1)>.json`, 0), hostileTrace(`${FOLDER}/=cmd\u202e rank1.json`, 1)];
  writeFileSync("hosts", `0 ${EVIL[1].replaceAll(" ", "/")}\n1 </script><script>window.evil=1</script>\n`);
  writeFileSync("ranks", `${files[0]} 0\n${files[1]} 1\n`);
  job = merge("hostile", files, "--host-map", "hosts", "--rank-map", "ranks");
});

/* Whether hostile code ran or became an element. Runs in the page. */
const harm = () => ({ evil: window.evil ?? 0, markup: document.querySelectorAll("img, iframe, svg, [onerror], [onload], [onmouseover], body > script:not([type]) ~ script:not([type])").length,
  addresses: [...document.querySelectorAll("a[href]")].map((a) => a.getAttribute("href")).filter((each) => !/^[#]|^blob:/.test(each)) });
const NONE = { evil: 0, markup: 0, addresses: [] };

/** Visits views and checks that no hostile code runs in them. */
async function harmless(page, views) {
  await page.evaluate(`window.probe = () => { const found = JSON.stringify((${harm})()); return found === '${JSON.stringify(NONE)}' ? null : found; }`);
  await sweep(page, undefined, views);
}

test("hostile names run nowhere, say nothing and ask for nothing", async () => {
  const { page } = await open(job.page);
  await harmless(page, await listed(page));
  for (const view of ["summary", "steps"]) {
    await visit(page, `#${view}`);
    await page.dispatchEvent("main .cell, main .piece, main .figure", "pointerenter");
    assert.deepEqual(await page.evaluate(harm), NONE, view);
  }
  await harmless(page, Object.keys(tablesIn(text(job.page)).tables).map((name) => `tables/name=${name}`));
});

test("names are shown as text: controls as escapes, long ones cut, in an element of their own", async () => {
  const { page } = await open(job.page, { hash: "#tables/name=kernels.kernel" });
  const shown = await page.$$eval('td[data-column="name"] bdi', (all) => all.map((e) => e.textContent));
  for (const expected of [EVIL[0], EVIL[1], "nul\\u0000bel\\u0007esc\\u001b[31m", "turned\\u202eround\\u2066", "line\\u2028and\\u2029paragraph"])
    assert.ok(shown.some((each) => each.replaceAll("\ufffd", "\\u0000").startsWith(expected.slice(0, 150))), `${expected} is not among ${shown.map((each) => each.slice(0, 60))}`);
  assert.ok(shown.every((each) => each.length <= 160), "a long name");
  assert.ok(shown.some((each) => each.startsWith("long<b>x") && each.endsWith("…")));
  const raw = await page.evaluate(() => /[\u0000-\u0008\u000b-\u001f\u202a-\u202e\u2066-\u2069]/.test(document.body.innerText));
  assert.equal(raw, false, "a character that controls");
});

test("the data of the file cannot end their element", () => {
  const file = text(job.page);
  assert.equal(file.match(/<script/gi).length, file.match(/<\/script>/gi).length);
  assert.match(file, /id="tables">[A-Za-z0-9+/]+=*<\/script>/);
  assert.ok(JSON.stringify(tablesIn(file)).includes("</script>"), "the fixture has lost its names");
  assert.equal(/<title>(.*)<\/title>/.exec(file)[1], `${FOLDER.replaceAll("&", "&amp;").replaceAll("<", "&lt;")} - tmerge`);
});

test("the policy's hashes are those of the script and the style", () => {
  const file = text(job.page);
  const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(file)[1];
  const hash = (part) => `'sha256-${createHash("sha256").update(part, "utf8").digest("base64")}'`;
  const between = (start, end) => { const at = file.indexOf(start) + start.length; return file.slice(at, file.indexOf(end, at)); };
  assert.deepEqual(policy.split("; "), ["default-src 'none'", `script-src ${hash(between("<script>", "</script>"))}`, `style-src ${hash(between("<style>", "</style>"))}`,
    "img-src data: blob:", "base-uri 'none'", "form-action 'none'"]);
});

const notices = (page) => /<script type="text\/plain" id="licences">([^]*?)<\/script>/.exec(page)[1];

test("every page brings the notices of the libraries in its program, and shows them", async () => {
  const modules = join(process.env.TMERGE_WEB, "node_modules");
  const { metafile } = await esbuild.build({ entryPoints: [join(SOURCE, "tools/web/src/main.ts")], bundle: true, write: false, metafile: true, nodePaths: [modules], logLevel: "silent" });
  const bundled = Object.keys(metafile.inputs).filter((path) => path.includes("node_modules/"));
  const own = notices(text(job.page));
  assert.equal(own === "The program of this page holds no library.", bundled.length === 0, bundled.slice(0, 3).join());
  const { page } = await open(job.page, { hash: "#about" });
  await page.click("text=Notices and licences");
  await page.waitForSelector(".licences");
  assert.equal(await page.textContent(".licences"), own);
});

test("what is bundled comes with its licence, and without one no page is built", () => {
  const write = (path, words) => { mkdirSync(join("library", path, ".."), { recursive: true }); writeFileSync(join("library", path), words); };
  mkdirSync("library/node_modules", { recursive: true });
  for (const name of ["esbuild", "@esbuild"]) symlinkSync(join(process.env.TMERGE_WEB, "node_modules", name), join("library/node_modules", name));
  write("node_modules/package.json", "{}");
  write("node_modules/lib/package.json", '{ "name": "lib", "version": "1.2.3", "main": "index.js" }');
  write("node_modules/lib/index.js", "export const x = 1;");
  write("web/src/main.ts", 'import { x } from "lib"; console.log(x);');
  write("web/src/style.css", ':root[data-theme="dark"] { --page: #000000; }');
  const build = () => execFileSync(process.execPath, [join(SOURCE, "tools/web/build.mjs"), "library/web", resolve("library/node_modules"), "library/page.c", "library/page.html"], { stdio: "pipe" });
  assert.throws(build, /lib has no licence beside it/);
  write("node_modules/lib/LICENSE.txt", "Do as you like.\r\nTell others.\n");
  write("node_modules/lib/NOTICE", "Made by lib.");
  build();
  assert.equal(notices(text("library/page.html")), "lib 1.2.3\n\nDo as you like.\nTell others.\n\nMade by lib.");
});

test("a script, a handler, a style and a request that get into the page are blocked", async () => {
  const { page } = await open(job.page, { loud: true });
  const blocked = await page.evaluate(async () => {
    const found = [];
    document.addEventListener("securitypolicyviolation", (event) => found.push(event.effectiveDirective));
    const script = document.createElement("script");
    script.textContent = "window.evil = 1";
    document.body.append(script);
    const button = document.createElement("button");
    button.setAttribute("onclick", "window.evil = 2");
    document.body.append(button);
    button.click();
    const box = document.createElement("div");
    box.setAttribute("style", "background: url(//a.example/x.png)");
    document.body.append(box);
    const image = document.createElement("img");
    image.src = "http://a.example/x.png";
    document.body.append(image);
    const base = document.createElement("base");
    base.href = "http://a.example/";
    document.head.append(base);
    await fetch("http://a.example/").catch(() => 0);
    for (const from = performance.now(); found.length < 6 && performance.now() - from < 5000; ) await new Promise(requestAnimationFrame);
    return { found: [...new Set(found)].sort(), evil: window.evil ?? 0, background: getComputedStyle(box).backgroundImage };
  });
  assert.deepEqual(blocked, { found: ["base-uri", "connect-src", "img-src", "script-src-attr", "script-src-elem", "style-src-attr"], evil: 0, background: "none" });
});

seldom("an address off the grammar is passed over", async () => {
  const { page } = await open(job.page);
  const heading = { summary: await page.textContent("h1") };
  await visit(page, "#tables");
  heading.tables = await page.textContent("h1");
  const views = await listed(page);
  const hashes = ["#tables/name=%3Cimg%20src=x%20onerror=alert(1)%3E", "#tables/name=__proto__", "#tables/name=constructor", "#tables/name=kernels.kernel/sort=%3Cb%3E/filter=%3Cimg%20src=x%3E",
    "#summary/x=%E0%A4%A", "#summary/__proto__=1", "#steps/metric=__proto__/sort=constructor", "#ranks/show=%00/sort=toString", "#kernels/verdict=%3Cimg%3E", "#timeline/t=NaN-Infinity/coll=-1/rank=1e99/open=x"];
  for (const hash of hashes.filter((each) => views.includes(each.slice(1).split("/")[0]))) {
    await visit(page, hash);
    assert.deepEqual(await page.evaluate(harm), NONE, hash);
    assert.equal(await page.$$eval("main p.empty", (all) => all.filter((p) => p.textContent.includes("cannot be")).length), 0, hash);
  }
  for (const name of ["%3Cimg%3E", "__proto__", "constructor"]) {
    await visit(page, `#tables/name=${name}`);
    assert.equal(await page.$$eval(".table-index", (all) => all.length), 1, `${name} is taken for a table`);
  }
  for (const hash of ["#__proto__", "#constructor/x=1", "#%3Cscript%3E", "##", "#nowhere"]) {
    await page.evaluate((h) => { document.body.removeAttribute("data-ready"); location.hash = h; }, hash);
    await page.waitForSelector("body[data-ready]");
    assert.equal(await page.textContent("h1"), heading.summary, hash);
  }
});

test("cells of CSV that begin a formula get a leading quote", async () => {
  const { csvOf } = await moduleOf("grid.ts");
  const { Table } = await moduleOf("data.ts");
  const columns = [["name", "text", "", "", 0], ["n", "int", "", "", 0]];
  const rows = [["=1+1", -5], ["+x", 1], ["-x", 2], ["@x", 3], ["\tx", 4], ["a=b", 5], ["say \"hi\", you", 6], ["", 7], [null, null], ["two\nlines", 8]];
  assert.equal(csvOf(new Table("t", { columns }, rows), rows.map((_, i) => i)),
    "name,n\r\n'=1+1,-5\r\n'+x,1\r\n'-x,2\r\n'@x,3\r\n'\tx,4\r\na=b,5\r\n\"say \"\"hi\"\", you\",6\r\n\"\",7\r\n,\r\n\"two\nlines\",8\r\n");
});

// Damage -------------------------------------------------------------------------------------------

let largePage;

/** Makes a page whose large tables are data blocks. Returns the file's text, and the name of a block. */
function large() {
  largePage ??= merge("large", synth("large-traces", { ranks: 64, ranks_per_host: 8, steps: 16, layers: 2, buckets: 2, cpu_ops: 1 })).page;
  const file = text(largePage);
  const [, id] = /<script type="application\/octet-stream" id="(table:[^"]+)"/.exec(file) ?? [];
  assert.ok(id, "no table is a block");
  return { file, id };
}

/** Checks what a table's view says if its block is damaged; the other views must open. */
async function damaged(path, file, table) {
  writeFileSync(path, file);
  const { page } = await open(path, { hash: "#about" });
  await visit(page, `#tables/name=${table}`);
  await page.waitForSelector("main .empty");
  const said = await page.$$eval("main .empty", (all) => all.map((e) => e.textContent));
  for (const view of ["summary", "tables", "about"]) {
    await visit(page, `#${view}`);
    assert.ok((await page.textContent("h1")).length > 0, view);
  }
  await visit(page, "#tables/name=job.rank");
  assert.equal(await page.$$eval('td[data-column="rank"]', (all) => all.length), 64);
  return said;
}

test("a damaged block gives one clear line, and the other views work", async () => {
  const { file, id } = large(), table = id.slice(6);
  const at = file.indexOf(`id="${id}"`), start = file.indexOf(">", at) + 1, end = file.indexOf("</script>", start);
  const middle = (start + end) >> 1, other = file[middle] === "A" ? "B" : "A";
  const line = [`This table cannot be shown: the block ${id} is damaged; the file may have been cut short.`];
  assert.deepEqual(await damaged("flipped.html", file.slice(0, middle) + other.repeat(8) + file.slice(middle + 8), table), line);
  assert.deepEqual(await damaged("no-base64.html", `${file.slice(0, middle)}!!!${file.slice(middle + 3)}`, table), line);
  assert.deepEqual(await damaged("short.html", file.slice(0, middle), table), line);
  assert.deepEqual(await damaged("gone.html", file.slice(0, file.lastIndexOf("<script", at)), table), [`This table cannot be shown: the block ${id} is missing.`]);
});

seldom("a damaged block of the timeline gives one clear line there", async () => {
  const { file } = large();
  for (const [id, spoil] of [["timeline.job", () => "!!!!"], ["timeline.coverage", () => "!!!!"], ["timeline.events", (own) => (own[0] === "A" ? "B" : "A") + own.slice(1)]]) {
    const start = file.indexOf(">", file.indexOf(`id="${id}"`)) + 1, middle = (start + file.indexOf("</script>", start)) >> 1;
    writeFileSync("timeline.html", file.slice(0, middle) + spoil(file.slice(middle, middle + 4)) + file.slice(middle + 4));
    const { page } = await open("timeline.html", { hash: "#timeline" });
    await page.waitForFunction((block) => document.querySelector("main").textContent.includes(`the block ${block} is damaged`), id);
    await visit(page, "#ranks");
    assert.ok(await page.$$eval(".stack", (all) => all.length) >= 64);
  }
});

test("a page whose tables are damaged says so", async () => {
  const file = text(job.page), at = file.indexOf('id="tables">') + 5000;
  writeFileSync("tables.html", `${file.slice(0, at)}!!!${file.slice(at + 3)}`);
  const { page } = await open("tables.html", { ready: null });
  await page.waitForSelector("text=This report cannot be opened: the block tables is damaged", { state: "visible" });
});

seldom("a page cut within its tables says so", async () => {
  const { file } = large();
  writeFileSync("stub.html", file.slice(0, file.indexOf('id="tables">') + 5000));
  const { page } = await open("stub.html", { ready: null });
  await page.waitForSelector("text=This report was cut short", { state: "visible" });
});

seldom("hostile names in a comparison run nowhere either", async () => {
  const other = merge("tame", [trace("a0.json", [kernel("gemm", 100, 50)], { distributedInfo: { rank: 0, world_size: 1 } })]);
  for (const sides of [[job.store, job.store], [other.store, job.store]]) {
    tmerge("diff", ...sides, "--html", "diff.html");
    const { page } = await open("diff.html");
    await harmless(page, await listed(page));
  }
});
