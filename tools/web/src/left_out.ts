/** Names what the page leaves out of a large job, and the command that shows it. */
import type { Job, TableName } from "./data";
import { h, type Child } from "./dom";
import * as f from "./format";
import { isServed, READ_MAX } from "./served";
import { href } from "./view";

/* Tables that leftOutNote() does not name, because the views that draw them say themselves what is missing. */
const SAID_BY_VIEWS: readonly TableName[] = ["criticalpath.piece", "collectives.arrival", "stragglers.pair"];
const TABLES_SAID = 3;

function joined(parts: readonly Child[], between: string): Child {
  return parts.map((part, i) => (i > 0 ? [between, part] : part));
}

/** Returns a sentence about rows of these tables that are in the store but not in the page; null if the page has all rows. */
export function leftOutNote(job: Job, names: readonly TableName[]): HTMLElement | null {
  const short = names.filter((name) => job.leftOut(name) > 0);
  const large = names.length > 1 ? short.filter((name) => !job.hasKeys(name, ["rank"]) && !job.hasKeys(name, ["step"])) : [],
    other = large.filter((name) => !SAID_BY_VIEWS.includes(name));
  if (short.length === large.length && other.length === 0) return null;
  const { ranks, ranks_kept: ranksKept, steps, steps_kept: stepsKept, cell_ranks: cellRanks, cell_steps: cellSteps } = job.facts;
  const parts: Child[] = [],
    cells = short.some((name) => job.hasKeys(name, ["rank", "step"]));
  if (ranks !== undefined && ranksKept !== undefined && ranksKept < ranks && short.some((name) => job.hasKeys(name, ["rank"])))
    parts.push(
      `${f.grouped(ranksKept)} of ${f.grouped(ranks)} ranks: those with the most and the least cost, wait, compute and idle time, the first, the last, and some between`,
    );
  if (steps !== undefined && stepsKept !== undefined && stepsKept < steps && short.some((name) => job.hasKeys(name, ["step"])))
    parts.push(
      `${f.grouped(stepsKept)} of ${f.grouped(steps)} steps: those with most waiting, the longest and the most uneven, the first, the last, and the longest of every few`,
    );
  if (cells && cellRanks && cellSteps && (cellRanks.length < (ranksKept ?? 0) || cellSteps.length < (stepsKept ?? 0)))
    parts.push(`${f.grouped(cellRanks.length)} ranks in ${f.grouped(cellSteps.length)} steps in tables with a row for each rank and step`);
  const some = (parts.length > 0 ? other : names.length > 1 ? short : [])
    .slice(0, TABLES_SAID)
    .map((name) => [`${f.grouped(job.rowsOf(name))} of ${f.grouped(job.allRowsOf(name))} rows of `, h("code", name)]);
  if (some.length > 0)
    parts.push([
      joined(some, ", "),
      `${other.length > some.length ? " and of other tables" : ""}${parts.length > 0 ? ", the largest" : ""}`,
    ]);
  const rows = names.length === 1 ? [`${f.grouped(job.rowsOf(names[0]!))} of ${f.grouped(job.allRowsOf(names[0]!))} rows`] : [];
  const said = [...rows, ...parts];
  const filter = job.hasKeys(short[0]!, ["rank"]) ? " --rank N" : job.hasKeys(short[0]!, ["step"]) ? " --step N" : "";
  return h(
    "p.note.left-out",
    "This page holds ",
    said.length > 0 ? joined(said, "; ") : "a part of what this view shows",
    ". Sums, medians and ranges cover all. The rest: ",
    isServed(job) && names.length > 1
      ? [
          h("a", { href: href("tables", { name: short[0]! }) }, "load all rows of ", h("code", short[0])),
          ` (a table of more than ${f.grouped(READ_MAX)} rows is loaded only on request; this view then has them, too)`,
        ]
      : h("code", `tmerge show ${storeName(job)} ${short[0]}${filter}`),
    isServed(job) ? "." : [", or in a page like this: ", h("code", `tmerge serve ${storeName(job)}`), "."],
  );
}

/** Returns the name of the store. A page from a file does not contain the name, so this guesses it from the name of the page's file. */
export function storeName(job: Job): string {
  const { served } = job.facts;
  if (served !== undefined) return /^[\w.-]+$/.test(served) ? served : "STORE";
  const file = decodeURIComponent(location.pathname.split("/").pop() ?? "");
  return /^[\w.-]+\.html$/.test(file) ? file.replace(/\.html$/, ".h5") : "STORE";
}
