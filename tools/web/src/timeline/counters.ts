/** Counters over time below each rank's lanes: memory, queue length, bandwidth, and recorded counters. */
import * as f from "../format";
import type { Page } from ".";
import type { ChartData } from "./chart";
import { fillFrom } from "./far_counter";
import { Curves, curveOf, type Change, type Curve } from "./memory";
import { COMPUTE, COPIES, type Span } from "./model";
import { missingParts } from "./sums";

/** `ofHost`: it is computed from host events, so it is unknown where the page lacks these. */
export type Counter = Readonly<Record<"key" | "label" | "doc", string> & { words: (value: number) => string; ofHost: boolean }>;

/** Values of a counter. `curves` is null for a counter that is a share of time. */
export type Values = Readonly<{ curves: Curves | null; most: number }>;

const rate = (value: number): string => `${f.grouped(value, f.digitsOf(value))}${f.SPACE}GB/s`;

/** The counters that the page itself computes. No profiler records them. */
const OWN: readonly Counter[] = [
  own("memory", "memory", "allocated device memory", (value) => f.bytes(value, true), false),
  own("queue", "queue", "kernels, copies and sets launched but not yet started, over all streams", (n) => f.grouped(Math.round(n)), true),
  own(
    "bandwidth",
    "collectives",
    "bytes of the matched collectives in transfer, over the time from the last arrival to the end",
    rate,
    false,
  ),
  own("copies", "copies", "bytes of the running copies and sets, over their durations", rate, true),
  own("compute", "compute", "share of the time in which the GPU computes", (value) => f.percent(100 * value), false),
];

function own(key: string, label: string, doc: string, words: Counter["words"], ofHost: boolean): Counter {
  return { key, label, doc, words, ofHost };
}

const RECORDED = "recorded:";

/* Writes "AI Core Freq, MHz". */
function titleOf(counter: string, series: string): string {
  return series && series !== "value" && series !== counter ? `${counter}, ${series}` : counter;
}

/** Returns the counters of a job. Counters that depend on events are included only after events are loaded. */
export function countersOf(data: ChartData, { memory, served }: Page["recorded"]): readonly Counter[] {
  const { reported, operations, job } = data,
    recorded = new Map<string, Counter>();
  let launched = false,
    copied = false;
  for (const at of reported ? job.ranks.keys() : []) {
    const own = reported!.page(at);
    launched ||= own.columns.launches.rows.length > 0;
    copied ||= own.columns.bytes.rows.length > 0;
    for (const { counter, series } of own.counters) {
      const title = titleOf(job.names[counter] ?? "", job.names[series] ?? ""),
        words = (value: number): string => f.significant(value);
      if (!recorded.has(title))
        recorded.set(title, { key: RECORDED + title, label: title, doc: `${title}, as recorded`, words, ofHost: false });
    }
  }
  const has: Readonly<Record<string, boolean>> = {
    memory,
    queue: launched,
    bandwidth: operations.some((each) => each.bytes > 0),
    copies: copied,
    compute: true,
    ...served,
  };
  return [...OWN.filter(({ key }) => has[key]), ...[...recorded.values()].sort((a, b) => a.label.localeCompare(b.label))];
}

function queueOf({ lanes, reported }: ChartData, at: number): Curve {
  const { begin, kind } = lanes!.events,
    { rows, values } = reported!.page(at).columns.launches,
    changes: Change[] = [];
  rows.forEach((row, i) => {
    const from = begin[values[i]!]!,
      to = begin[row]!;
    if (kind[row]! <= COPIES && to > from) changes.push({ time: from, by: 1 }, { time: to, by: -1 });
  });
  return curveOf(changes);
}

function copiesOf({ lanes, reported }: ChartData, at: number): Curve {
  const { begin, duration } = lanes!.events,
    { rows, values } = reported!.page(at).columns.bytes,
    changes: Change[] = [];
  rows.forEach((row, i) => {
    const by = duration[row]! > 0 ? values[i]! / duration[row]! : 0;
    if (by > 0) changes.push({ time: begin[row]!, by }, { time: begin[row]! + duration[row]!, by: -by });
  });
  return curveOf(changes);
}

/* Computes the bandwidth of each rank. The bytes of an operation move from the last arrival to the operation's end. If waits are unknown,
 * they move from the operation's begin. */
function bandwidths({ operations, job }: ChartData): Curve[] {
  const changes = job.ranks.map((): Change[] => []);
  for (const operation of operations.filter(({ fetched }) => !fetched)) {
    const from = operation.waits ? operation.last : operation.begin,
      by = operation.bytes > 0 && operation.end > from ? operation.bytes / (operation.end - from) : 0;
    if (by > 0) for (const { at } of operation.members) changes[at]!.push({ time: from, by }, { time: operation.end, by: -by });
  }
  return changes.map(curveOf);
}

function recordedOf({ reported, job }: ChartData, key: string, at: number): Curve[] {
  return reported!
    .page(at)
    .counters.filter(({ counter, series }) => RECORDED + titleOf(job.names[counter] ?? "", job.names[series] ?? "") === key)
    .map(({ times, values }) => ({ times, values }));
}

/** Computes the values of a counter, one rank in each iteration. Memory is in a table that is loaded separately. */
export function* valuesOf(key: string, data: ChartData): Generator<void, Values | null> {
  if (key === "compute") return { curves: null, most: 1 };
  if (key === "memory") return data.memory ? { curves: data.memory, most: data.memory.most } : null;
  if (!data.lanes || !data.reported) return null;
  const curves: (readonly Curve[])[] = key === "bandwidth" ? bandwidths(data).map((curve) => [curve]) : [];
  for (let at = 0; key !== "bandwidth" && at < data.job.ranks.length; at++) {
    curves.push(key === "queue" ? [queueOf(data, at)] : key === "copies" ? [copiesOf(data, at)] : recordedOf(data, key, at));
    yield;
  }
  const own = new Curves(curves, 0);
  return { curves: own, most: own.most };
}

/** Returns the value at the top of a counter's scale: its largest known value on any rank. */
export function topOf({ farCounters }: ChartData, { key }: Counter, { most }: Values): number {
  return Math.max(most, farCounters?.most(key) ?? 0);
}

/** Fills `out` for a rank: out[i] is the maximum of the counter in the i-th interval of @p width from @p from on, divided by the value at
 * the top of the scale. If the counter is a share of time, out[i] is the mean share. */
export function fillCounter(
  data: ChartData,
  counter: Counter,
  values: Values,
  at: number,
  from: number,
  width: number,
  out: Float32Array,
): void {
  const { curves } = values,
    top = topOf(data, counter, values),
    far = data.farCounters?.of(counter.key, at);
  out.fill(0);
  if (!curves) return data.pyramid.columns(at, COMPUTE, from, width, out.length, out);
  if (far) fillFrom(far, from, width, out);
  else curves.fill([at], from, width, out);
  const scale = far ? 1 / top : curves.most / top;
  for (let i = 0; i < out.length; i++) out[i] = out[i]! * scale;
}

export function unknownParts({ job, farCounters }: ChartData, { key, ofHost }: Counter, at: number, span: Span): readonly Span[] {
  const far = farCounters?.of(key, at);
  if (far)
    return [
      { begin: span.begin, end: Math.min(far.begin, span.end) },
      { begin: Math.max(far.end, span.begin), end: span.end },
    ].filter(({ begin, end }) => end > begin);
  /* The curves were computed without events from the server, so they lack the parts for which the page itself has no events. */
  return ofHost ? missingParts(job, { ...job.ranks[at]!, served: undefined }, span, true) : [];
}

export function isKnown({ farCounters }: ChartData, { key }: Counter, { curves }: Values, at: number): boolean {
  return !curves || farCounters?.of(key, at) !== undefined || (curves.curves[at] ?? []).some(({ times }) => times.length > 0);
}

/** Returns whether the shown value is only a lower bound. This is so if the page lacks events: some may have been launched before the
 * visible part, or may start after it. */
export function isLeast({ farCounters, job }: ChartData, { key, ofHost }: Counter, at: number): boolean {
  return ofHost && !job.complete && farCounters?.of(key, at) === undefined;
}
