/** For a served page: searches all events of the store. The page has only some of them. */
import { askJson } from "../served";
import { writeRanges } from "./area";
import { Latest } from "./far";
import { GPU_ANNOTATION, type Rank } from "./model";
import { GROUPS, queryOf, type Query } from "./names";

/** An event that the page may lack. `at`: index of its rank. `begin`: [ns from the job's begin]. */
export type FarEvent = Readonly<Record<"at" | "begin" | "duration" | "kind", number> & { name: string }>;

export type KindSum = Readonly<Record<"count" | "sum" | "most", number>>;

export function addSum(sums: Map<number, KindSum>, kind: number, count: number, sum: number, most: number): void {
  const own = sums.get(kind) ?? { count: 0, sum: 0, most: 0 };
  sums.set(kind, { count: own.count + count, sum: own.sum + sum, most: Math.max(own.most, most) });
}

export type Everywhere = ReturnType<Gathered["result"]>;

const KEPT = 8192;
/** Limits on the list of names in one request. The server limits the size of a request's head. */
const MOST_RANGES = 1000,
  MOST_LETTERS = 6000;

type Name = readonly [id: number, text: string, events: number];
type Row = readonly [rank: number, begin: number, duration: number, name: number, kind: number];

type Answer = Readonly<{
  next: readonly [at: number, gpu: number, host: number] | null;
  kinds: readonly (readonly [kind: number, count: number, sum: number, most: number])[];
  once: readonly [gpu: number, host: number];
  events: readonly Row[];
}>;

async function fetchNames(): Promise<Name[]> {
  const names: Name[] = [];
  for (let first: number | null = 0; first !== null; ) {
    const part: { names: Name[]; next: number | null } = await askJson("names", { first });
    for (const name of part.names) names.push(name);
    first = part.next;
  }
  return names;
}

/** Returns the ids of matching names as ranges, in texts that each fit into a request. Ids without a name have no events. */
export function batchesOf(names: readonly Name[], fits: (name: string) => boolean): string[] {
  const runs: [number, number][] = [];
  let open = false;
  for (const [id, text] of names) {
    const fit = fits(text);
    if (fit && open) runs[runs.length - 1]![1] = id;
    else if (fit) runs.push([id, id]);
    open = fit;
  }
  const batches: string[] = [];
  let n = 0;
  for (const [first, last] of runs) {
    const text = first === last ? String(first) : `${first}-${last}`,
      before = batches[batches.length - 1];
    if (before === undefined || n === MOST_RANGES || before.length + text.length >= MOST_LETTERS) {
      batches.push(text);
      n = 1;
    } else {
      batches[batches.length - 1] = `${before},${text}`;
      n++;
    }
  }
  return batches;
}

function conditions(query: Query, ranks: readonly Rank[]): Record<string, string | number> {
  const wanted = ranks.map(({ rank }) => rank).filter((rank) => query.rank(rank));
  return {
    ranks: wanted.length === ranks.length ? "" : writeRanges(wanted),
    kinds: query.kinds ? writeRanges(query.kinds) : "",
    ...(query.least > 0 && { above: Math.floor(query.least) }),
    ...(query.most < 2 ** 53 && { below: Math.ceil(query.most) }),
  };
}

export class Search {
  result: Everywhere | null = null;
  #text = "";
  readonly #latest = new Latest(250);
  #names: Promise<Name[]> | null = null;

  /** @param changed called whenever more was found, and at the end */
  constructor(
    readonly ranks: readonly Rank[],
    readonly changed: () => void,
  ) {}

  /** Starts a new search, unless the text is empty or invalid. */
  look(text: string): void {
    if (text === this.#text) return;
    this.stop();
    this.#text = text;
    this.result = null;
    const query = queryOf(text);
    if (query && typeof query !== "string") this.#latest.start((signal) => this.#run(query, signal));
  }

  stop(): void {
    this.#latest.stop();
    this.#text = "";
  }

  async #run(query: Query, signal: AbortSignal): Promise<void> {
    const all = new Gathered(this.ranks);
    try {
      const names = await (this.#names ??= fetchNames()),
        batches = batchesOf(names, query.name);
      for (const batch of this.ranks.some(({ rank }) => query.rank(rank)) ? batches : []) {
        let next: Record<string, number> | null = {};
        while (next) {
          const answer: Answer = await askJson(
            "find",
            { names: batch, ...conditions(query, this.ranks), ...next, ...(all.least >= 0 && { longer: all.least }) },
            signal,
          );
          all.add(answer);
          if (signal.aborted) return;
          next = answer.next && { at: answer.next[0], gpu: answer.next[1], host: answer.next[2] };
          this.#tell(all.result(null, batches.length === 1));
        }
      }
      if (!signal.aborted) this.#tell(all.result(new Map(names.map(([id, text]) => [id, text])), batches.length <= 1));
    } catch (error) {
      if (signal.aborted) return;
      this.#names = null;
      this.#tell(all.result(null, false, (error as Error).message));
    }
  }

  #tell(result: Everywhere): void {
    this.result = result;
    this.changed();
  }
}

class Gathered {
  /** Duration of the shortest kept match [ns]; -1 until KEPT matches are kept. The server is asked only for longer ones. */
  least = -1;
  #events: Row[] = [];
  readonly #kinds = new Map<number, KindSum>();
  readonly #once = [0, 0];
  readonly #places: ReadonlyMap<number, number>;

  constructor(ranks: readonly Rank[]) {
    this.#places = new Map(ranks.map(({ rank }, at) => [rank, at]));
  }

  add({ kinds, once, events }: Answer): void {
    for (const each of kinds) addSum(this.#kinds, ...each);
    once.forEach((time, i) => (this.#once[i]! += time));
    this.#events = [...this.#events, ...events].sort((a, b) => b[2] - a[2]).slice(0, KEPT);
    if (this.#events.length === KEPT) this.least = this.#events[KEPT - 1]![2];
  }

  /** Returns the sums over all matches so far. `events` is empty until the end; then it has the longest matches, ordered by begin. @param
   * names texts by id; null: not at the end yet @param nested whether sums are known that count nested events once */
  result(names: ReadonlyMap<number, string> | null, nested: boolean, failed: string | null = null) {
    const groups = GROUPS.map(([what, kinds]) => {
      const own = kinds.map((kind) => this.#kinds.get(kind) ?? { count: 0, sum: 0 }),
        sum = own.reduce((all, each) => all + each.sum, 0),
        once = kinds[0]! < GPU_ANNOTATION ? sum : nested ? this.#once[kinds[0] === GPU_ANNOTATION ? 0 : 1]! : NaN;
      return { what, count: own.reduce((all, { count }) => all + count, 0), time: once };
    });
    return {
      count: groups.reduce((all, { count }) => all + count, 0),
      kinds: new Map<number, KindSum>([...this.#kinds].sort(([a], [b]) => a - b)),
      groups,
      events: (names ? this.#events : [])
        .map(([rank, begin, duration, name, kind]): FarEvent => {
          return { at: this.#places.get(rank) ?? -1, begin, duration, name: names?.get(name) ?? "", kind };
        })
        .filter(({ at }) => at >= 0)
        .sort((a, b) => a.begin - b.begin || a.at - b.at),
      done: names !== null,
      failed,
    };
  }
}

/** Returns whether events of this kind are on host tracks, which are drawn only on opened ranks. */
export const isOpened = (kind: number): boolean => kind >= GPU_ANNOTATION;
