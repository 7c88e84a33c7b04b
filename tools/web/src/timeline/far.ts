/** In a page that is served: asks for what one answer after the other tells of the whole store. */
import { ask } from "../served";

/** What is known so far. */
export interface FarState<T> {
  readonly value: T;
  readonly done: boolean;
  /** Why it ended before; null: it did not. */
  readonly failed: string | null;
}

type Query = Readonly<Record<string, string | number>>;

/** Before it asks, so that who goes through many is not answered at each [ms]. */
const PATIENCE = 120;

/** One question at a time, in parts: a new one ends the one before. */
export class Far<A extends { readonly next: number | null }, T> {
  state: FarState<T> | null = null;
  #key = "";
  #timer = 0;
  #abort: AbortController | null = null;

  /** @param add  what is known with one more answer.  @param changed  more is known, or it ended */
  constructor(
    readonly path: string,
    readonly add: (before: T | null, answer: A) => T,
    readonly changed: () => void,
  ) {}

  /** Asks, if that was not asked last; what is known of it. */
  of(query: Query): FarState<T> | null {
    const key = JSON.stringify(query);
    if (key !== this.#key) {
      this.stop();
      this.#key = key;
      this.#timer = setTimeout(() => void this.#run(query), PATIENCE);
    }
    return this.state;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#abort?.abort();
    this.#abort = null;
    this.#key = "";
    this.state = null;
  }

  async #run(query: Query): Promise<void> {
    const abort = (this.#abort = new AbortController());
    let value: T | null = null,
      failed: string | null = null;
    try {
      for (let at: number | null = 0; at !== null; ) {
        const bytes = await ask(this.path, { ...query, at }, abort.signal),
          answer = JSON.parse(new TextDecoder().decode(bytes)) as A;
        if (abort.signal.aborted) return;
        value = this.add(value, answer);
        at = answer.next;
        this.state = { value, done: at === null, failed };
        this.changed();
      }
    } catch (error) {
      if (abort.signal.aborted) return;
      failed = (error as Error).message;
      this.state = { value: value as T, done: true, failed };
      this.changed();
    }
  }
}
