/** For a served page: counters of the visible window, from all events of the store. */
import { Far } from "./far";
import { windowOf } from "./finer";
import type { JobBlock, Span } from "./model";

/** The server's names of counters, by the key that counters.ts has for the counter. */
const ASKED: Readonly<Record<string, string>> = { queue: "queue", copies: "copies", bandwidth: "collectives" };
/** Number of columns of a window. The view is at least a quarter of the window, so it has at least a quarter of the columns. This is more
 * than any screen has pixels. */
const COLUMNS = 16384;
/** If there are more pieces than this, those that are not in view are dropped. */
const KEPT = 128;

/** `ranks`: for each its number, then pairs of a column and the maximum in each column from this one up to the next pair's. */
type Answer = Readonly<{ next: number | null; ranks: readonly (readonly number[])[] }>;

/** A rank's maximum in each column of a window. */
type Piece = Span & Readonly<{ columns: Float32Array }>;

export class FarCounters {
  /** The pieces, by the key of the counter and the index of the rank. All of them are of the window that was requested last. */
  readonly #pieces = new Map<string, Piece>();
  readonly #most = new Map<string, number>();
  readonly #places: Map<number, number>;
  readonly #fars = new Map<string, { far: Far<Answer, Answer>; window: Span; asked: ReadonlySet<number> }>();

  constructor(
    readonly job: JobBlock,
    readonly changed: () => void,
  ) {
    this.#places = new Map(job.ranks.map(({ rank }, at) => [rank, at]));
  }

  /** Requests the counters in view. @param keys  keys of the shown counters @param places  indices of the visible ranks */
  look(span: Span, keys: readonly string[], places: ReadonlySet<number>): void {
    const window = windowOf(span);
    if (this.#pieces.size > KEPT) this.#forget(new Set(keys.flatMap((key) => [...places].map((at) => `${key} ${at}`))));
    for (const key of keys) {
      const what = ASKED[key];
      if (what === undefined) continue;
      const missing = [...places].filter((at) => this.of(key, at)?.begin !== window.begin || this.of(key, at)?.end !== window.end);
      let own = this.#fars.get(key);
      /* whether a request for this window is running, whose answer arrives in parts */
      const pending = own && !own.far.state?.done && own.window.begin === window.begin && own.window.end === window.end;
      if (missing.length === 0 || (pending && missing.every((at) => own!.asked.has(at)))) continue;
      if (!own) this.#fars.set(key, (own = { far: this.#farOf(key), window, asked: new Set() }));
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

  /** Returns the known values of a rank; undefined if no values are known. */
  of(key: string, at: number): Piece | undefined {
    return this.#pieces.get(`${key} ${at}`);
  }

  /** Returns the largest known value on any rank. */
  most(key: string): number {
    return this.#most.get(key) ?? 0;
  }

  #forget(inView: ReadonlySet<string>): void {
    for (const key of this.#pieces.keys()) if (!inView.has(key)) this.#pieces.delete(key);
  }

  #farOf(key: string): Far<Answer, Answer> {
    return new Far<Answer, Answer>("counter", (_, answer) => this.#keep(key, answer), this.changed);
  }

  #keep(key: string, answer: Answer): Answer {
    const { window } = this.#fars.get(key)!;
    for (const [rank, ...steps] of answer.ranks) {
      const at = this.#places.get(rank!),
        columns = new Float32Array(COLUMNS);
      for (let i = 0; i < steps.length; i += 2) columns.fill(steps[i + 1]!, steps[i], steps[i + 2]);
      if (at === undefined) continue;
      this.#pieces.set(`${key} ${at}`, { ...window, columns });
      for (let i = 1; i < steps.length; i += 2) this.#most.set(key, Math.max(this.most(key), steps[i]!));
    }
    return answer;
  }
}

/** Sets out[i] to the maximum of the counter in the i-th interval of @p width from @p from on. The maxima are from the columns of the
 * piece. */
export function fillFrom({ begin, end, columns }: Piece, from: number, width: number, out: Float32Array): void {
  const column = (end - begin) / columns.length;
  for (let i = 0; i < out.length; i++) {
    const first = Math.max(0, Math.floor((from + i * width - begin) / column)),
      last = Math.min(columns.length, Math.max(first + 1, Math.ceil((from + (i + 1) * width - begin) / column)));
    let most = 0;
    for (let k = first; k < last; k++) most = Math.max(most, columns[k]!);
    out[i] = most;
  }
}
