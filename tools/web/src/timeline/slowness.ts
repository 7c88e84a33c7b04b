/** Slowness of kernels: a kernel's duration divided by the median duration on the other ranks. The n-th run of a kernel in a step is
 * compared with the n-th run on each other rank. */
import type { Lanes } from "./lanes";
import type { JobBlock, Span } from "./model";
import * as f from "../format";
import { Far } from "./far";
import { windowOf } from "./finer";
import { hasEvents } from "./sums";

/* Groups kernels by step and name. A group has a list of rows, ordered by begin, for each rank that recorded the whole step. */
function* gathered(job: JobBlock, lanes: Lanes): Generator<void, Map<number, number[][]>> {
  const { begin, name } = lanes.events,
    out = new Map<number, number[][]>();
  for (const [at, rank] of job.ranks.entries()) {
    const { rows } = lanes.of(at).compute,
      own = new Map<number, number[]>(); // by step and name
    let part = 0;
    for (const row of rows) {
      while (job.steps && part < rank.parts.length && rank.parts[part]!.end <= begin[row]!) part++;
      const step = job.steps ? rank.parts[part] : undefined;
      if (job.steps ? !step || step.begin > begin[row]! || !(job.complete || step.gpu) : !job.complete) continue;
      f.entry(own, (step?.number ?? 0) * job.names.length + name[row]!, () => []).push(row);
    }
    for (const [key, list] of own) f.entry(out, key, () => []).push(list);
    yield;
  }
  return out;
}

/* Returns the median of ascending values, leaving out the value at index @p place. */
function medianWithout(values: Float64Array, place: number): number {
  const n = values.length - 1,
    at = (i: number): number => values[i < place ? i : i + 1]!;
  return n % 2 === 1 ? at((n - 1) / 2) : (at(n / 2 - 1) + at(n / 2)) / 2;
}

/* Divides the duration of each event by the median of the events at the same index in the other ranks' lists. */
function compare(lists: readonly (readonly number[])[], duration: Float64Array, out: Float32Array): void {
  const times = lists[0]!.length;
  if (lists.length < 2) return;
  for (let k = 0; k < times; k++) {
    const sorted = Float64Array.from(lists, (list) => duration[list[k]!]!).sort();
    for (const list of lists) {
      const own = duration[list[k]!]!,
        middle = medianWithout(sorted, sorted.indexOf(own));
      if (middle > 0) out[list[k]!] = own / middle;
    }
  }
}

/** Computes each event's slowness; 0 if it cannot be compared. Yields often, so that the caller can pause. */
export function* slownessBy(job: JobBlock, lanes: Lanes): Generator<void, Float32Array> {
  const out = new Float32Array(lanes.events.n),
    groups = yield* gathered(job, lanes);
  for (const all of groups.values()) {
    const byCount = f.groupBy(all, (list) => list.length);
    for (const lists of byCount.values()) compare(lists, lanes.events.duration, out);
    yield;
  }
  return out;
}

const SLICE = 10; // [ms]; after this time, the page may draw a frame

/** Runs the generator to its end. Pauses only where it yields. */
export async function inSlices<T>(work: Generator<void, T>): Promise<T> {
  for (let until = performance.now() + SLICE; ; ) {
    const next = work.next();
    if (next.done) return next.value;
    if (performance.now() < until) continue;
    await new Promise((done) => setTimeout(done, 0));
    until = performance.now() + SLICE;
  }
}

/** Ranks read so far: `seen` of `of`. `ranks`: for each rank its number, then begin, duration and slowness [1e-6] of each event. */
type Answer = Readonly<{ next: number | null; ranks: readonly (readonly number[])[] } & Record<"step" | "seen" | "of", number>>;

const KEPT = 1_000_000; // if the slowness of more events than this is known, all is dropped

/** Requests the slowness of kernels as they come into view. */
export class FarSlowness {
  /** Known slowness by index of the rank, then by begin. Events with this begin have [duration, slowness, ...]. */
  readonly #known = new Map<number, Map<number, number[]>>();
  /** Keys of pairs of a window and a rank for which all slowness is known. */
  readonly #asked = new Set<string>();
  readonly #far: Far<Answer, Answer>;
  #n = 0;
  #version = 0; // incremented by each answer
  #lanes: Lanes | null = null;
  filled = ""; // key of the inputs of the last result
  #ratios = new Float32Array(0);
  #pending: readonly string[] = [];

  constructor(
    readonly job: JobBlock,
    readonly changed: () => void,
  ) {
    this.#far = new Far<Answer, Answer>(
      "slow",
      (_, answer) => this.#keep(answer),
      () => {
        this.#version++;
        if (this.#far.state?.done && this.#far.state.failed === null) for (const key of this.#pending) this.#asked.add(key);
        changed();
      },
    );
  }

  /** Returns each event's slowness; 0 if it was not compared or is not known yet. Requests what is missing on the ranks @p places, whose
   * events are drawn. */
  look(lanes: Lanes, span: Span, places: ReadonlySet<number>): Float32Array {
    const window = windowOf(span),
      key = `${window.begin} ${window.end} ${[...places].join()} ${this.#version}`;
    if (lanes !== this.#lanes) this.#ratios = new Float32Array(lanes.events.n);
    else if (key === this.filled) return this.#ratios;
    this.#lanes = lanes;
    this.filled = key;
    for (const at of places) this.#fill(lanes, at, window);
    this.#ask(window, span, places);
    return this.#ratios;
  }

  #ask(window: Span, span: Span, places: ReadonlySet<number>): void {
    const own = (at: number): string => `${window.begin} ${window.end} ${at}`,
      missing = [...places]
        .filter((at) => !this.#asked.has(own(at)) && hasEvents(this.job, this.job.ranks[at]!, span))
        .sort((a, b) => a - b);
    if (missing.length === 0) return;
    this.#pending = missing.map(own);
    this.#far.of({ from: window.begin, to: window.end, ranks: missing.map((at) => this.job.ranks[at]!.rank).join() });
  }

  #fill(lanes: Lanes, at: number, window: Span): void {
    const { begin, duration } = lanes.events,
      { compute } = lanes.of(at),
      known = this.#known.get(at),
      [first, end] = known ? compute.range(window) : [0, 0];
    for (let i = first; i < end; i++) {
      const row = compute.rows[i]!,
        all = known!.get(begin[row]!) ?? [];
      for (let k = 0; k < all.length; k += 2) if (all[k] === duration[row]) this.#ratios[row] = all[k + 1]!;
    }
  }

  stop(): void {
    this.#far.stop();
  }

  /** Progress or error as a text; "" if no request is running. */
  get words(): string {
    const { state } = this.#far;
    if (state?.failed) return `Kernels cannot be compared: ${state.failed}.`;
    if (!this.loading) return "";
    return state
      ? `Comparing kernels, ${f.grouped(state.value.seen)} of ${f.count(state.value.of, "rank")} of step ${state.value.step} read …`
      : "";
  }

  get loading(): boolean {
    return this.#pending.some((key) => !this.#asked.has(key)) && !this.#far.state?.done;
  }

  #keep(answer: Answer): Answer {
    if (this.#n > KEPT) {
      this.#known.clear();
      this.#asked.clear();
      this.#n = 0;
    }
    for (const [rank, ...events] of answer.ranks) {
      const at = this.job.places.get(rank!);
      if (at === undefined) continue;
      const known = f.entry(this.#known, at, () => new Map<number, number[]>());
      for (let i = 0; i < events.length; i += 3) f.entry(known, events[i]!, () => []).push(events[i + 1]!, events[i + 2]! / 1e6);
      this.#n += events.length / 3;
    }
    return answer;
  }
}
