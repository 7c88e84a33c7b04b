/** For a served page: asks the server questions whose answers come in parts. */
import { askJson } from "../served";
import { areaFrom, type Area, type AreaPart } from "./area";

/** `failed`: message of the error that cut the answer short; null: none. */
export type FarState<T> = Readonly<{ value: T; done: boolean; failed: string | null }>;

type Query = Readonly<Record<string, string | number>>;

/** Runs only the last of several tasks that start shortly after one another. Each task starts after a delay. */
export class Latest {
  #timer = 0;
  #abort: AbortController | null = null;

  /** @param patience  the delay [ms] */
  constructor(readonly patience: number) {}

  start(run: (signal: AbortSignal) => Promise<void>): void {
    this.stop();
    this.#timer = setTimeout(() => void run((this.#abort = new AbortController()).signal), this.patience);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#abort?.abort();
    this.#abort = null;
  }
}

/** Asks the server one question at a time, and collects the parts of the answer. A new question aborts the previous one. */
export class Far<A extends { readonly next: number | null }, T> {
  state: FarState<T> | null = null;
  #key = "";
  readonly #latest = new Latest(120);

  /** @param add adds a part of the answer to the value @param changed called after each part and at the end */
  constructor(
    readonly path: string,
    readonly add: (before: T | null, answer: A) => T,
    readonly changed: () => void,
  ) {}

  /** Returns the answer so far. If the question differs from the current one, first asks it. */
  of(query: Query): FarState<T> | null {
    const key = JSON.stringify(query);
    if (key !== this.#key) {
      this.stop();
      this.#key = key;
      this.#latest.start((signal) => this.#run(query, signal));
    }
    return this.state;
  }

  stop(): void {
    this.#latest.stop();
    this.#key = "";
    this.state = null;
  }

  async #run(query: Query, signal: AbortSignal): Promise<void> {
    let value: T | null = null,
      failed: string | null = null;
    try {
      for (let at: number | null = 0; at !== null; ) {
        const answer: A = await askJson<A>(this.path, { ...query, at }, signal);
        if (signal.aborted) return;
        value = this.add(value, answer);
        at = answer.next;
        this.state = { value, done: at === null, failed };
        this.changed();
      }
    } catch (error) {
      if (signal.aborted) return;
      failed = (error as Error).message;
      this.state = { value: value as T, done: true, failed };
      this.changed();
    }
  }
}

interface AreaAnswer {
  readonly next: number | null;
  readonly seen: number; // number of ranks in this part of the answer
  readonly names: readonly (readonly [id: number, text: string])[];
  readonly sums: readonly (readonly [rank: number, name: number, kind: number, count: number, total: number, self: number, most: number])[];
}

export type FarParts = Readonly<{ seen: number; parts: readonly AreaPart[] }>;

export type FarArea = Far<AreaAnswer, FarParts>;

export const askArea = (changed: () => void): FarArea =>
  new Far(
    "area",
    (before, { seen, names, sums }) => {
      const texts = new Map(names),
        textOf = (name: number): string => texts.get(name) ?? "",
        parts = sums.map(([rank, name, kind, count, total, self, most]) => ({ rank, name: textOf(name), kind, count, total, self, most }));
      return { seen: (before?.seen ?? 0) + seen, parts: [...(before?.parts ?? []), ...parts] };
    },
    changed,
  );

let last: { readonly of: FarParts; readonly area: Area } | null = null;

/** Builds the area from the parts of an answer. The result is kept until a further part arrives. */
export function areaOfParts(of: FarParts, ranks: readonly number[], classOf: (name: string) => string | undefined): Area {
  if (last?.of !== of) last = { of, area: areaFrom(of.parts, ranks, classOf) };
  return last.area;
}

type Times = readonly [begin: number, duration: number];

/** `times`: number of runs in the event's step; `place`: its index among these. `all`, `index`: the same over the rank's whole recording.
 * `longest`: longest run in the step on any rank so far. `peers`: other ranks; without begin and duration if their number of runs
 * differs. */
export type SameAnswer = Readonly<Record<"place" | "times" | "index" | "all" | "median", number> & Record<"next" | "step", number | null>> &
  Readonly<Record<"before" | "after", Times | null> & { longest: readonly [rank: number, ...Times]; peers: readonly Peer[] }>;
type Peer = readonly [rank: number, times: number, begin?: number, duration?: number];

export const askSame = (changed: () => void): Far<SameAnswer, SameAnswer> =>
  new Far(
    "same",
    (before, answer) => ({
      ...answer,
      longest: before && before.longest[2] >= answer.longest[2] ? before.longest : answer.longest,
      peers: [...(before?.peers ?? []), ...answer.peers],
    }),
    changed,
  );
