/** For a served page: asks the server questions whose answers come in parts. */
import { ask } from "../served";

export interface FarState<T> {
  readonly value: T;
  readonly done: boolean;
  /** Message of the error that ended the answer early; null: no error. */
  readonly failed: string | null;
}

type Query = Readonly<Record<string, string | number>>;

/** Delay before a request [ms], so that quick changes of the selection do not each send one. */
const PATIENCE = 120;

/** Asks the server one question at a time, and collects the parts of its answer. A new question aborts the previous one. */
export class Far<A extends { readonly next: number | null }, T> {
  state: FarState<T> | null = null;
  #key = "";
  #timer = 0;
  #abort: AbortController | null = null;

  /** @param add adds a part of the answer to the value. @param changed called after each part and at the end */
  constructor(
    readonly path: string,
    readonly add: (before: T | null, answer: A) => T,
    readonly changed: () => void,
  ) {}

  /** Asks a question, unless it is the current one. Returns what has been answered so far. */
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
