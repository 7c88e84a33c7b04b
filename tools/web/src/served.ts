/** What the page lacks of the store: describes it, and requests it from the server. */
import { rowsOf, type Cell, type Job, type TableName } from "./data";
import { h, type Child } from "./dom";
import * as f from "./format";
import { href } from "./view";

/** Returns whether the page comes from `tmerge serve`, not from a file. */
export const isServed = (job: Job): boolean => job.facts.served !== undefined;

/** Returns the server's answer. Throws an error whose message is a sentence without a full stop. */
export async function ask(path: string, query: Readonly<Record<string, string | number>>, signal?: AbortSignal): Promise<Uint8Array> {
  const parts = Object.entries(query).map(([key, value]) => `${key}=${value}`);
  const answer = await fetch(`${path}?${parts.join("&")}`, {
    ...(signal && { signal }),
    cache: "no-store",
    referrerPolicy: "no-referrer",
  }).catch((error: Error) => {
    throw error.name === "AbortError" ? error : new Error("tmerge serve does not respond; it may have been stopped");
  });
  const bytes = new Uint8Array(await answer.arrayBuffer());
  if (!answer.ok) throw new Error(`tmerge serve says: ${new TextDecoder().decode(bytes).trim()}`);
  return bytes;
}

export async function askJson<T>(...of: Parameters<typeof ask>): Promise<T> {
  return JSON.parse(new TextDecoder().decode(await ask(...of))) as T;
}

const SLICE = 16384; // rows per answer

/** Views fetch the missing rows of tables with up to this many rows. 1,024 ranks in 146 steps (149,504 rows) take a few seconds. */
const READ_MAX = 150_000;

/** Returns the tables with missing rows that have to be fetched before a view of these tables is drawn. */
export const unread = (job: Job, names: readonly TableName[]): TableName[] =>
  isServed(job) ? names.filter((name) => job.leftOut(name) > 0 && job.allRowsOf(name) <= READ_MAX) : [];

export async function fetchUnread(job: Job, names: readonly TableName[]): Promise<void> {
  for (const name of unread(job, names)) await fetchRows(job, name, () => undefined);
}

const fetching = new Map<TableName, Promise<void>>();

/** Fetches all rows of a table of which the page has only some. @param reported called with the number of rows fetched so far */
export function fetchRows(job: Job, name: TableName, reported: (n: number) => void): Promise<void> {
  const before = fetching.get(name);
  if (before) return before;
  const fetched = fetchAll(job, name, reported).finally(() => fetching.delete(name));
  fetching.set(name, fetched);
  return fetched;
}

async function fetchAll(job: Job, name: TableName, reported: (n: number) => void): Promise<void> {
  const all = job.allRowsOf(name),
    rows: Cell[][] = [];
  while (rows.length < all) {
    const slice = rowsOf(await askJson<Cell[][]>("rows", { table: name, first: rows.length, n: SLICE }));
    if (slice.length === 0) throw new Error(`tmerge serve returned ${rows.length} of ${all} rows`);
    rows.push(...slice);
    reported(rows.length);
  }
  job.keepWhole(name, rows);
}

/* Tables that leftOutNote() does not mention, because the views that draw them say what is missing. */
const SAID_BY_VIEWS: readonly TableName[] = ["criticalpath.piece", "collectives.arrival", "stragglers.pair"];
const TABLES_SAID = 3;

function joined(parts: readonly Child[], between: string): Child {
  return parts.map((part, i) => (i > 0 ? [between, part] : part));
}

/** Returns a note on rows of these tables that are in the store but not in the page; null if the page has all rows. */
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

/** Returns the name of the store. A page from a file does not contain it, so it is guessed from the name of the page's file. */
export function storeName(job: Job): string {
  const { served } = job.facts;
  if (served !== undefined) return /^[\w.-]+$/.test(served) ? served : "STORE";
  const file = decodeURIComponent(location.pathname.split("/").pop() ?? "");
  return /^[\w.-]+\.html$/.test(file) ? file.replace(/\.html$/, ".h5") : "STORE";
}
