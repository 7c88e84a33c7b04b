/** Vertical positions of the rows: hosts, ranks with two lanes, and the sub-tracks of opened ranks. */
import { hostsOf, plain, type Arrangement } from "./arrange";
import type { Rank } from "./model";
import { lowest, type Lanes, type SubLane } from "./lanes";

export const HEADING_HEIGHT = 20;
export const SUB_HEIGHT = 16;
export const DEPTH_HEIGHT = 12;
export const ABSENT_HEIGHT = 20;
export const COUNTER_HEIGHT = 28;
const LEAST = 30,
  MOST = 64,
  MAP_LEAST = 5,
  MAP_MOST = 22,
  PINNED_LEAST = 16;

export type Box = Readonly<Record<"y" | "height", number>>;

type Place = Box & { readonly at: number };

/** A host's heading or, if the host is folded, the row of all its ranks. */
export interface HostRow extends Box {
  readonly kind: "host";
  readonly name: string;
  readonly host: number;
  /** The ranks and lanes of a folded host; null: the row is a heading. */
  readonly folded: { readonly members: readonly number[]; readonly compute: Box; readonly communication: Box } | null;
}

export interface RankRow extends Place {
  readonly kind: "rank";
  readonly compute: Box;
  readonly communication: Box;
  readonly pinned: boolean;
}

/** A row of a track of an opened rank. The first row of each track shows the track's name. */
export type SubRow = Place & { readonly kind: "sub"; readonly lane: SubLane; readonly named: boolean };

/** A counter below a rank's lanes. `counter`: index among the shown counters. */
export type CounterRow = Place & { readonly kind: "counter"; readonly counter: number };

/** The row of adjacent ranks without a trace, which shows that they are missing. */
export type AbsentRow = Box & Readonly<Record<"first" | "last", number>> & { readonly kind: "absent" };

export type Row = HostRow | RankRow | CounterRow | SubRow | AbsentRow;

export type Layout = ReturnType<Placing["place"]>;

export interface LayoutInput {
  readonly ranks: readonly Rank[];
  readonly world: number;
  readonly open: ReadonlySet<number>;
  readonly room: number;
  readonly lanes: Lanes | null;
  readonly arrangement?: Arrangement;
  /** true: no rank communicates, so each rank has only one lane. */
  readonly silent?: boolean;
  /** Indices of the ranks in the chosen order. */
  readonly order?: readonly number[];
}

/* Returns the boxes of the lanes in a row. "two" and "one" are the number of lanes, which have a margin below. "map" is a single lane
 * without a margin. */
function boxes(y: number, height: number, lanes: "map" | "one" | "two"): { compute: Box; communication: Box } {
  const inner = lanes === "map" ? height : height - Math.max(3, Math.round(height / 9)),
    compute = Math.round(inner * 0.58);
  if (lanes !== "two") return { compute: { y, height: inner }, communication: { y: y + inner, height: 0 } };
  return { compute: { y, height: compute }, communication: { y: y + compute + 1, height: inner - compute - 1 } };
}

/** Places the rows, from y = 0. If there are several hosts, each gets a heading. */
export function layout(input: LayoutInput): Layout {
  return new Placing(input).place();
}

class Placing {
  readonly #rows: Row[] = [];
  readonly #byPlace: RankRow[];
  readonly #hosts: ReturnType<typeof hostsOf>;
  readonly #pinned: readonly number[];
  readonly #height: number;
  readonly #arrangement: Arrangement;
  readonly #foldedRows = new Map<number, HostRow>();
  #y = 0;

  constructor(readonly input: LayoutInput) {
    const { ranks, arrangement = plain(), room } = input;
    this.#arrangement = arrangement;
    this.#hosts = hostsOf(ranks);
    this.#byPlace = new Array<RankRow>(ranks.length);
    this.#pinned = arrangement.pinned.filter((at) => !arrangement.hidden.has(at));
    const headings = this.#headed && arrangement.order === "rank" ? this.#hosts.hosts.length - arrangement.folded.size : 0;
    const n = ranks.filter((_, at) => !this.#isFolded(at) && !arrangement.hidden.has(at)).length + this.#foldedHosts();
    const [least, most] = this.#map ? [MAP_LEAST, MAP_MOST] : [LEAST, MOST];
    const rest = room - Math.max(0, headings) * HEADING_HEIGHT - n * this.#counters * COUNTER_HEIGHT;
    this.#height = Math.max(least, Math.min(most, Math.floor(rest / Math.max(1, n))));
  }

  get #map(): boolean {
    return this.#arrangement.map !== null;
  }

  get #lanes(): "map" | "one" | "two" {
    return this.#map ? "map" : this.input.silent ? "one" : "two";
  }

  get #headed(): boolean {
    return this.#hosts.hosts.length > 1;
  }

  get #counters(): number {
    return this.#map ? 0 : this.#arrangement.counters.length;
  }

  #isFolded(at: number): boolean {
    const { folded, pinned } = this.#arrangement;
    return this.#headed && folded.has(this.#hosts.of[at]!) && !pinned.includes(at);
  }

  #foldedHosts(): number {
    return this.#headed ? this.#arrangement.folded.size : 0;
  }

  /** Places all rows. Returns the rows, the row of each rank by its index, the total height, and the height of the pinned rows. Also
   * returns whether the rows are in the order of the ranks. */
  place() {
    const { ranks, order = ranks.keys(), world } = this.input,
      arrangement = this.#arrangement;
    for (const at of this.#pinned) this.#rank(at, true);
    const pinned = this.#y,
      plainly = arrangement.order === "rank",
      placed = new Set<number>();
    let next = 0,
      host = -1;
    for (const at of order) {
      const rank = ranks[at]!;
      if (plainly && world > 0) this.#absent(next, rank.rank);
      next = rank.rank + 1;
      const own = this.#hosts.of[at]!;
      const folded = arrangement.folded.has(own);
      if (this.#headed && own !== host && (folded ? !placed.has(own) : plainly)) this.#host(own);
      placed.add((host = own));
      if (arrangement.hidden.has(at) || this.#isFolded(at)) this.#under(at);
      else if (!this.#pinned.includes(at)) this.#rank(at, false);
    }
    if (plainly) this.#absent(next, world);
    const inOrder = plainly && this.#pinned.length === 0 && this.#hosts.of.every((own, i, all) => i === 0 || own >= all[i - 1]!);
    return { rows: this.#rows as readonly Row[], ranks: this.#byPlace as readonly RankRow[], height: this.#y, pinned, inOrder };
  }

  #absent(next: number, end: number): void {
    if (next >= end) return;
    this.#rows.push({ kind: "absent", first: next, last: end - 1, y: this.#y, height: ABSENT_HEIGHT });
    this.#y += ABSENT_HEIGHT;
  }

  #host(host: number): void {
    const { name, members } = this.#hosts.hosts[host]!,
      isFolded = this.#arrangement.folded.has(host),
      height = isFolded ? this.#height : HEADING_HEIGHT;
    const folded = isFolded ? { members, ...boxes(this.#y, height, this.#lanes) } : null;
    const row: HostRow = { kind: "host", name, host, folded, y: this.#y, height };
    this.#rows.push(row);
    if (isFolded) this.#foldedRows.set(host, row);
    this.#y += height;
  }

  #rank(at: number, pinned: boolean): void {
    const { open, lanes } = this.input,
      height = pinned ? Math.max(PINNED_LEAST, this.#height) : this.#height;
    const row: RankRow = { kind: "rank", at, y: this.#y, height, pinned, ...boxes(this.#y, height, this.#lanes) };
    this.#rows.push(row);
    this.#byPlace[at] = row;
    this.#y += height;
    for (let counter = 0; counter < this.#counters; counter++, this.#y += COUNTER_HEIGHT)
      this.#rows.push({ kind: "counter", at, counter, y: this.#y, height: COUNTER_HEIGHT });
    if (open.has(at) && lanes && !this.#map) this.#y = subRows(this.#rows, lanes.of(at).subLanes, at, this.#y);
  }

  /* Sets the position of a rank that has no row. If its host is folded, it is that of the host's row. If the rank is hidden, it is the
   * current position. */
  #under(at: number): void {
    const host = this.#isFolded(at) ? this.#foldedRows.get(this.#hosts.of[at]!) : undefined;
    const own = host?.folded ? { y: host.y, height: host.height, ...host.folded } : { y: this.#y, height: 0, ...boxes(this.#y, 0, "map") };
    const { y, height, compute, communication } = own;
    this.#byPlace[at] = { kind: "rank", at, pinned: false, y, height, compute, communication };
  }
}

function subRows(rows: Row[], lanes: readonly SubLane[], at: number, from: number): number {
  let y = from,
    before: SubLane | undefined;
  for (const lane of lanes) {
    const named = lane.track !== before?.track;
    if (named && before) y += 3;
    const height = lane.track.kind === 0 ? SUB_HEIGHT : DEPTH_HEIGHT;
    rows.push({ kind: "sub", at, lane, named, y, height });
    y += height;
    before = lane;
  }
  return y + (before ? 8 : 0);
}

/** Returns the rows [first, end) that overlap the vertical range [y, y + height). */
export function rowsIn(rows: readonly Row[], y: number, height: number): [number, number] {
  const first = lowest(rows.length, (i) => rows[i]!.y + rows[i]!.height > y);
  let end = first;
  while (end < rows.length && rows[end]!.y < y + height) end++;
  return [first, end];
}

export function rowAt(rows: readonly Row[], y: number): Row | undefined {
  const [first, end] = rowsIn(rows, y, 1);
  return first < end && rows[first]!.y <= y ? rows[first] : undefined;
}
