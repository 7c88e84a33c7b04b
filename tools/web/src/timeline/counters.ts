/** Counters over time below each rank's lanes: memory, queue length, bandwidth, and recorded counters. */
import * as f from "../format";
import type { Page } from ".";
import type { ChartData } from "./chart";
import { Curves, curveOf, type Change, type Curve } from "./memory";
import { COMPUTE, COPIES, type Span, type JobBlock } from "./model";
import { missingParts } from "./sums";
import { Far } from "./far";
import { windowOf } from "./finer";

/** `words` formats a value. `ofHost`: computed from host events, so unknown where the page lacks them. */
export type Counter = Readonly<Record<"key" | "label" | "doc", string> & { words: (value: number) => string; ofHost: boolean }>;

/** Values of a counter. `curves`: null for a counter that is a share of time. `most`: the largest value. */
export type Values = Readonly<{ curves: Curves | null; most: number }>;

const rate = (value: number): string => `${f.grouped(value, f.digitsOf(value))}${f.SPACE}GB/s`;

/** The counters that the page computes, because no profiler records them. */
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

/* Writes a title such as "AI Core Freq, MHz". */
const titleOf = (counter: string, series: string): string =>
  series && series !== "value" && series !== counter ? `${counter}, ${series}` : counter;

/** Returns the counters of a job. Counters that need events are included only once events are loaded. */
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

/* Returns the bandwidth of each rank. Bytes move from the last arrival to the end. If waits are unknown, they move from the begin. */
function bandwidths({ operations, job }: ChartData): Curve[] {
  const changes = job.ranks.map((): Change[] => []);
  for (const operation of operations.filter(({ fetched }) => !fetched)) {
    const from = operation.waits ? operation.last : operation.begin,
      by = operation.bytes > 0 && operation.end > from ? operation.bytes / (operation.end - from) : 0;
    if (by > 0) for (const { at } of operation.members) changes[at]!.push({ time: from, by }, { time: operation.end, by: -by });
  }
  return changes.map(curveOf);
}

const recordedOf = ({ reported, job }: ChartData, key: string, at: number): Curve[] =>
  reported!
    .page(at)
    .counters.filter(({ counter, series }) => RECORDED + titleOf(job.names[counter] ?? "", job.names[series] ?? "") === key)
    .map(({ times, values }) => ({ times, values }));

/** Computes the values of a counter, one rank in each iteration. Returns null if events or the table of memory are not loaded yet. */
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

/** Returns the value at the top of a counter's scale, which is the largest known value on any rank. */
export function topOf({ farCounters }: ChartData, { key }: Counter, { most }: Values): number {
  return Math.max(most, farCounters?.most(key) ?? 0);
}

/** Sets out[i] to the maximum of a rank's counter in the i-th interval, as a fraction of topOf(). If the counter is a share of time, sets
 * it to the mean share. Interval i begins at from + i * width [ns]. */
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
  /* The curves were computed without events from the server. So they lack the parts for which the page itself has no events. */
  return ofHost ? missingParts(job, { ...job.ranks[at]!, served: undefined }, span, true) : [];
}

export const isKnown = ({ farCounters }: ChartData, { key }: Counter, { curves }: Values, at: number): boolean =>
  !curves || farCounters?.of(key, at) !== undefined || (curves.curves[at] ?? []).some(({ times }) => times.length > 0);

/** Returns whether the value is a lower bound: events that the page lacks may have been launched before the view. */
export const isLeast = ({ farCounters, job }: ChartData, { key, ofHost }: Counter, at: number): boolean =>
  ofHost && !job.complete && farCounters?.of(key, at) === undefined;

/** The server's names of counters, by the counter's key in this page. */
const ASKED: Readonly<Record<string, string>> = { queue: "queue", copies: "copies", bandwidth: "collectives" };
/** Number of columns in a window. At least a quarter of them is in view, which is more than the pixels of any screen. */
const COLUMNS = 16384;
const KEPT = 128; // if there are more pieces, those that are not in view are dropped

/** `ranks`: for each rank its number, then pairs of column and maximum. A maximum holds up to the column of the next pair. */
type Answer = Readonly<{ next: number | null; ranks: readonly (readonly number[])[] }>;

type Piece = Span & Readonly<{ columns: Float32Array }>;

export class FarCounters {
  /** The pieces by counter and rank: "KEY INDEX". All pieces are of the window that was requested last. */
  readonly #pieces = new Map<string, Piece>();
  readonly #most = new Map<string, number>();
  readonly #fars = new Map<string, { far: Far<Answer, Answer>; window: Span; asked: ReadonlySet<number> }>();

  constructor(
    readonly job: JobBlock,
    readonly changed: () => void,
  ) {}

  /** Requests the counters in view. @param keys  keys of the shown counters @param places  indices of the visible ranks */
  look(span: Span, keys: readonly string[], places: ReadonlySet<number>): void {
    const window = windowOf(span);
    const inView = new Set(keys.flatMap((key) => [...places].map((at) => `${key} ${at}`)));
    if (this.#pieces.size > KEPT) for (const key of this.#pieces.keys()) if (!inView.has(key)) this.#pieces.delete(key);
    for (const key of keys) {
      const what = ASKED[key];
      if (what === undefined) continue;
      const missing = [...places].filter((at) => this.of(key, at)?.begin !== window.begin || this.of(key, at)?.end !== window.end);
      let own = this.#fars.get(key);
      /* whether a request for this window still runs; its answer comes in parts */
      const pending = own && !own.far.state?.done && own.window.begin === window.begin && own.window.end === window.end;
      if (missing.length === 0 || (pending && missing.every((at) => own!.asked.has(at)))) continue;
      const far = own?.far ?? new Far<Answer, Answer>("counter", (_, answer) => this.#keep(key, answer), this.changed);
      if (!own) this.#fars.set(key, (own = { far, window, asked: new Set() }));
      own.window = window;
      own.asked = new Set(missing);
      const ranks = missing.map((at) => this.job.ranks[at]!.rank).sort((a, b) => a - b);
      own.far.of({ what, from: window.begin, to: window.end, n: COLUMNS, ranks: ranks.join() });
    }
  }

  stop(): void {
    for (const { far } of this.#fars.values()) far.stop();
  }

  get loading(): boolean {
    return [...this.#fars.values()].some(({ far }) => !far.state?.done);
  }

  /** Error message; "" if nothing failed. */
  get words(): string {
    const failed = [...this.#fars.values()].map(({ far }) => far.state?.failed).find((why) => why);
    return failed ? `Counters cannot be read: ${failed}.` : "";
  }

  of(key: string, at: number): Piece | undefined {
    return this.#pieces.get(`${key} ${at}`);
  }

  most(key: string): number {
    return this.#most.get(key) ?? 0;
  }

  #keep(key: string, answer: Answer): Answer {
    const { window } = this.#fars.get(key)!;
    for (const [rank, ...steps] of answer.ranks) {
      const at = this.job.places.get(rank!),
        columns = new Float32Array(COLUMNS);
      for (let i = 0; i < steps.length; i += 2) columns.fill(steps[i + 1]!, steps[i], steps[i + 2]);
      if (at === undefined) continue;
      this.#pieces.set(`${key} ${at}`, { ...window, columns });
      for (let i = 1; i < steps.length; i += 2) this.#most.set(key, Math.max(this.most(key), steps[i]!));
    }
    return answer;
  }
}

/** Sets out[i] to the maximum of the piece's columns in the i-th interval, which begins at from + i * width [ns]. */
function fillFrom({ begin, end, columns }: Piece, from: number, width: number, out: Float32Array): void {
  const column = (end - begin) / columns.length;
  for (let i = 0; i < out.length; i++) {
    const first = Math.max(0, Math.floor((from + i * width - begin) / column)),
      last = Math.min(columns.length, Math.max(first + 1, Math.ceil((from + (i + 1) * width - begin) / column)));
    let most = 0;
    for (let k = first; k < last; k++) most = Math.max(most, columns[k]!);
    out[i] = most;
  }
}
