/** Sums the time of each rank by kind, within a time range. */
import { COMPUTE, COPIES, LANE_KINDS, TRANSFER, UNMATCHED, WAIT, type JobBlock, type Part, type Rank, type Span } from "./model";
import type { Lanes, EventList } from "./lanes";
import type { Pyramid } from "./pyramid";

/** Returns whether the page has all GPU events of a rank in this span. */
export function hasEvents(job: JobBlock, rank: Rank, span: Span): boolean {
  return job.complete || missingParts(job, rank, span).length === 0;
}

/* Returns the parts of a rank's recording, ordered by begin. The fetched window is one of them. */
function partsOf({ parts, served }: Rank): readonly Part[] {
  return served ? [...parts, served].sort((a, b) => a.begin - b.begin) : parts;
}

/** Returns the parts of a span for which the page lacks a rank's GPU events or, with @p host, its host events. */
export function missingParts(job: JobBlock, rank: Rank, span: Span, host = false): Span[] {
  if (job.complete) return [];
  const out: Span[] = [];
  let at = span.begin;
  for (const part of partsOf(rank)) {
    if (!(host ? part.host : part.gpu) || part.end <= at || part.begin >= span.end) continue;
    if (part.begin > at) out.push({ begin: at, end: part.begin });
    at = Math.max(at, part.end);
  }
  if (at < span.end) out.push({ begin: at, end: span.end });
  return out;
}

/** Returns the parts of a span for which the page has a rank's GPU events. It is the complement of missingParts(). */
export function detailedParts(job: JobBlock, rank: Rank, span: Span): Span[] {
  if (job.complete) return [span];
  const out: Span[] = [];
  for (const part of partsOf(rank)) {
    const begin = Math.max(part.begin, span.begin),
      end = Math.min(part.end, span.end);
    if (part.gpu && end > begin) out.push({ begin, end });
  }
  return out;
}

function unite(intervals: [number, number][]): [number, number][] {
  intervals.sort((a, b) => a[0] - b[0]);
  const out: [number, number][] = [];
  for (const [begin, end] of intervals) {
    const last = out[out.length - 1];
    if (last && begin <= last[1]) last[1] = Math.max(last[1], end);
    else if (end > begin) out.push([begin, end]);
  }
  return out;
}

function length(intervals: readonly [number, number][]): number {
  return intervals.reduce((sum, [begin, end]) => sum + (end - begin), 0);
}

/* Returns the parts of the spans @p a that are outside of the spans @p b. Each list must be ascending and without overlaps. */
function subtract(a: readonly [number, number][], b: readonly [number, number][]): [number, number][] {
  const out: [number, number][] = [];
  let j = 0;
  for (const [from, to] of a) {
    let begin = from;
    while (j < b.length && b[j]![1] <= begin) j++;
    for (let k = j; k < b.length && b[k]![0] < to; k++) {
      if (b[k]![0] > begin) out.push([begin, b[k]![0]]);
      begin = Math.max(begin, b[k]![1]);
    }
    if (begin < to) out.push([begin, to]);
  }
  return out;
}

function clipped(list: EventList, span: Span, into: (row: number, begin: number, end: number) => void): void {
  const [first, end] = list.range(span),
    { begin, duration } = list.events;
  for (let i = first; i < end; i++) {
    const row = list.rows[i]!,
      from = Math.max(begin[row]!, span.begin),
      to = Math.min(begin[row]! + duration[row]!, span.end);
    if (to > from) into(row, from, to);
  }
}

function exactSums(lanes: Lanes, at: number, span: Span): number[] {
  const sets: [number, number][][] = Array.from({ length: LANE_KINDS }, () => []);
  const { events } = lanes,
    own = lanes.of(at);
  clipped(own.compute, span, (row, from, to) => sets[events.kind[row]!]!.push([from, to]));
  clipped(own.communication, span, (row, from, to) => {
    const wait = events.wait[events.comm[row]!]!;
    if (wait < 0) return void sets[UNMATCHED]!.push([from, to]);
    const last = events.begin[row]! + wait;
    if (last > from) sets[WAIT]!.push([from, Math.min(last, to)]);
    if (last < to) sets[TRANSFER]!.push([Math.max(last, from), to]);
  });
  const united = sets.map(unite);
  united[COPIES] = subtract(united[COPIES]!, united[COMPUTE]!);
  united[WAIT] = subtract(united[WAIT]!, united[TRANSFER]!);
  united[UNMATCHED] = subtract(subtract(united[UNMATCHED]!, united[TRANSFER]!), united[WAIT]);
  return united.map(length);
}

export type RankSums = ReturnType<typeof sumsOf>[number];

/** Returns each rank's time in each kind. Overlapping events count once. `exact`: times are from events; otherwise, from shares. */
export const sumsOf = (job: JobBlock, lanes: Lanes | null, pyramid: Pyramid, span: Span) =>
  job.ranks.map((rank, at) => {
    const exact = lanes !== null && hasEvents(job, rank, span);
    const kinds = exact
      ? exactSums(lanes, at, span)
      : Array.from({ length: LANE_KINDS }, (_, kind) => pyramid.sum(at, kind, span.begin, span.end));
    return { at, kinds, exact };
  });
