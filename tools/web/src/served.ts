/** Asks the server for data that the page lacks. */
import { rowsOf, type Cell, type Job, type TableName } from "./data";

/** Returns whether the page comes from `tmerge serve`, not from a file. */
export function isServed(job: Job): boolean {
  return job.facts.served !== undefined;
}

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

/** Rows per answer. */
const SLICE = 16384;

/** Largest number of rows of a table whose missing rows a view fetches. The rows of 1,024 ranks in 146 steps take a few seconds. If a table
 * is larger, the view has only the rows in the page. */
export const READ_MAX = 150_000;

/** Returns the tables whose missing rows have to be fetched before a view of them can be drawn. */
export function unread(job: Job, names: readonly TableName[]): TableName[] {
  return isServed(job) ? names.filter((name) => job.leftOut(name) > 0 && job.allRowsOf(name) <= READ_MAX) : [];
}

export async function fetchUnread(job: Job, names: readonly TableName[]): Promise<void> {
  for (const name of unread(job, names)) await fetchRows(job, name, () => undefined);
}

const fetching = new Map<TableName, Promise<void>>();

/** Fetches all rows of a table that is not complete in the page. @param reported called with the number of rows fetched so far */
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
