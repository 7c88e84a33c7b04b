/** Sums the events in an area of the timeline. An area is a time range on chosen ranks. */
import { runsOf, sum } from "../format";
import { csvText } from "../grid";
import { CALL, COPIES, OPERATOR, type JobBlock, type Span, type Track } from "./model";
import { trackKey, type Lanes } from "./lanes";
import { missingParts } from "./sums";

/** Sums [ns] over the events of one name or class in the area. Of an event, only the time inside of the area counts. */
export interface AreaRow {
  readonly label: string;
  count: number; // number of events that overlap the area
  total: number;
  self: number; // for operators: time without nested operators; otherwise the same as `total`
  most: number;
  readonly byRank: Float64Array; // total per rank, in the order of the chosen ranks
}

class Sums {
  readonly rows = new Map<number | string, AreaRow>();

  constructor(readonly n: number) {}

  add(key: number | string, label: string, rank: number, time: number): AreaRow {
    return this.put(key, label, rank, { count: 1, total: time, self: time, most: time });
  }

  put(key: number | string, label: string, rank: number, sum: Pick<AreaRow, "count" | "total" | "self" | "most">): AreaRow {
    let row = this.rows.get(key);
    if (!row) this.rows.set(key, (row = { label, count: 0, total: 0, self: 0, most: 0, byRank: new Float64Array(this.n) }));
    row.count += sum.count;
    row.total += sum.total;
    row.self += sum.self;
    row.most = Math.max(row.most, sum.most);
    row.byRank[rank] = row.byRank[rank]! + sum.total;
    return row;
  }

  list(): AreaRow[] {
    return [...this.rows.values()].sort((a, b) => b.total - a.total || (a.label < b.label ? -1 : 1));
  }
}

const NO_CLASS = "class not known";

/** Sums over the events of an area. `lacking`: number of ranks that lack GPU events in it. `lackingHost`: number that lack host events. */
export type Area = ReturnType<typeof areaOf>;

/** Sums the events of chosen ranks on chosen streams and threads. @param places indices of ranks @param tracks keys; null: all @param
 * classes class of each kernel, by the number of its name; null if classes are unknown */
export function areaOf(
  job: JobBlock,
  lanes: Lanes,
  span: Span,
  { places, tracks }: { readonly places: readonly number[]; readonly tracks: ReadonlySet<string> | null },
  classes: readonly (string | undefined)[] | null,
) {
  const kernels = new Sums(places.length),
    byClass = new Sums(places.length),
    operators = new Sums(places.length),
    { begin, duration, kind, name, depth } = lanes.events;
  const inside = (row: number): number => Math.min(begin[row]! + duration[row]!, span.end) - Math.max(begin[row]!, span.begin);
  const label = (row: number): string => job.names[name[row]!] ?? "";
  const operatorsOf = ({ first, n }: Track, rank: number): void => {
    const open: { row: AreaRow; end: number; depth: number }[] = [];
    for (let row = first; row < first + n && begin[row]! < span.end; row++) {
      if (kind[row] !== OPERATOR || inside(row) <= 0) continue;
      while (open.length > 0 && (open[open.length - 1]!.depth >= depth[row]! || open[open.length - 1]!.end <= begin[row]!)) open.pop();
      const time = inside(row),
        own = operators.add(name[row]!, label(row), rank, time),
        caller = open[open.length - 1];
      if (caller) caller.row.self -= time;
      open.push({ row: own, end: begin[row]! + duration[row]!, depth: depth[row]! });
    }
  };
  places.forEach((at, rank) => {
    for (const track of lanes.of(at).tracks) {
      if (tracks && !tracks.has(trackKey(track))) continue;
      if (track.kind !== 0) {
        operatorsOf(track, rank);
        continue;
      }
      for (let row = track.first; row < track.first + track.n && begin[row]! < span.end; row++) {
        const time = inside(row);
        if (kind[row]! > COPIES || kind[row] === CALL || time <= 0) continue;
        kernels.add(name[row]!, label(row), rank, time);
        const own = kind[row] === COPIES ? "copy or set" : (classes?.[name[row]!] ?? NO_CLASS);
        byClass.add(own, own, rank, time);
      }
    }
  });
  const lacks = (host: boolean): number => places.filter((at) => missingParts(job, job.ranks[at]!, span, host).length > 0).length;
  return { kernels: kernels.list(), classes: byClass.list(), operators: operators.list(), lacking: lacks(false), lackingHost: lacks(true) };
}

export type AreaPart = Pick<AreaRow, "count" | "total" | "self" | "most"> &
  Readonly<Record<"rank" | "kind", number> & Record<"name", string>>;

/** Builds the area from a server's sums, one for each rank and name. No events are lacking. */
export function areaFrom(parts: readonly AreaPart[], ranks: readonly number[], classOf: (name: string) => string | undefined): Area {
  const kernels = new Sums(ranks.length),
    classes = new Sums(ranks.length),
    operators = new Sums(ranks.length),
    places = new Map(ranks.map((rank, place) => [rank, place]));
  for (const part of parts) {
    const place = places.get(part.rank);
    if (place === undefined) continue;
    if (part.kind === OPERATOR) operators.put(part.name, part.name, place, part);
    if (part.kind > COPIES) continue;
    const own = part.kind === COPIES ? "copy or set" : (classOf(part.name) ?? NO_CLASS);
    kernels.put(part.name, part.name, place, part);
    classes.put(own, own, place, part);
  }
  return { kernels: kernels.list(), classes: classes.list(), operators: operators.list(), lacking: 0, lackingHost: 0 };
}

/** Returns the median and the maximum of a row's times over ranks, and at which index of `byRank` the maximum is. */
export function acrossRanks(row: AreaRow): { median: number; most: number; at: number } {
  const order = [...row.byRank].sort((a, b) => a - b),
    n = order.length;
  const most = order[n - 1] ?? 0;
  return { median: ((order[(n - 1) >> 1] ?? 0) + (order[n >> 1] ?? 0)) / 2, most, at: row.byRank.indexOf(most) };
}

/** Returns rows as CSV [ns], with a column for each rank. */
export function csvOfArea(rows: readonly AreaRow[], what: string, ranks: readonly number[]): string {
  const head = [what, "count", "sum_ns", "self_ns", "mean_ns", "max_ns", ...ranks.map((rank) => `rank_${rank}_ns`)];
  const line = ({ label, count, total, self, most, byRank }: AreaRow) => [
    label,
    count,
    total,
    self,
    Math.round(total / count),
    most,
    ...byRank,
  ];
  return csvText([head, ...rows.map(line)]);
}

/** Writes ascending numbers as ranges, such as "0-7,12". */
export const writeRanges = (numbers: readonly number[]): string =>
  runsOf(numbers)
    .map(([first, last]) => (first === last ? String(first) : `${first}-${last}`))
    .join(",");

/** Returns a test for the numbers in a text that writeRanges() wrote. If the text is malformed, the test rejects all numbers. */
export function parseRanges(text: string): (number: number) => boolean {
  if (!/^\d{1,9}(-\d{1,9})?(,\d{1,9}(-\d{1,9})?)*$/.test(text)) return () => false;
  const runs = text.split(",").map((part) => part.split("-").map(Number));
  return (number) => runs.some(([first, last]) => number >= first! && number <= (last ?? first!));
}

export function shareOf(row: AreaRow, all: readonly AreaRow[]): number {
  const whole = sum(all.map((each) => each.self));
  return whole > 0 ? (100 * row.self) / whole : 0;
}
