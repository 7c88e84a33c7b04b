/** The order of rows and their vertical positions: hosts, ranks with two lanes, and the rows of opened ranks. */
import { COMPUTE, WAIT, type Rank } from "./model";
import { lowest, type Lanes, type SubLane } from "./lanes";
import type { Coloring } from "./coloring";
import type { Pyramid } from "./pyramid";

const HEADING_HEIGHT = 20;
const SUB_HEIGHT = 16;
const DEPTH_HEIGHT = 12;
const ABSENT_HEIGHT = 20;
const COUNTER_HEIGHT = 28;
const LEAST = 30,
  MOST = 64,
  MAP_LEAST = 5,
  MAP_MOST = 22,
  PINNED_LEAST = 16;

export type Box = Readonly<Record<"y" | "height", number>>;

type Place = Box & { readonly at: number };

/** The heading of a host or, if the host is folded, one row for all its ranks. `folded`: these ranks and the lanes; null: not folded. */
export type HostRow = Box & Readonly<{ kind: "host"; name: string; host: number; folded: FoldedHost | null }>;
type FoldedHost = Readonly<{ members: readonly number[] } & Record<"compute" | "communication", Box>>;

export type RankRow = Place & Readonly<{ kind: "rank"; pinned: boolean } & Record<"compute" | "communication", Box>>;

/** A row of an opened rank. `named`: it is the first row of its track, and shows the track's name. */
export type SubRow = Place & { readonly kind: "sub"; readonly lane: SubLane; readonly named: boolean };

/** A counter below a rank's lanes. `counter`: index among the shown counters. */
export type CounterRow = Place & { readonly kind: "counter"; readonly counter: number };

/** The row that stands for adjacent ranks without a trace, from rank `first` to `last`. */
export type AbsentRow = Box & Readonly<Record<"first" | "last", number>> & { readonly kind: "absent" };

export type Row = HostRow | RankRow | CounterRow | SubRow | AbsentRow;

export type Layout = ReturnType<typeof layout>;

interface LayoutInput {
  readonly ranks: readonly Rank[];
  readonly world: number;
  readonly open: ReadonlySet<number>;
  readonly room: number;
  readonly lanes: Lanes | null;
  readonly arrangement?: Arrangement;
  readonly silent?: boolean; // no rank communicates, so each rank has only one lane
  readonly order?: readonly number[]; // indices of the ranks in the chosen order
}

/* Returns the boxes of two lanes, or of one lane and an empty box. Lanes have a margin below; the row of a map has none. */
function boxes(y: number, height: number, lanes: "map" | "one" | "two"): { compute: Box; communication: Box } {
  const inner = lanes === "map" ? height : height - Math.max(3, Math.round(height / 9)),
    compute = Math.round(inner * 0.58);
  if (lanes !== "two") return { compute: { y, height: inner }, communication: { y: y + inner, height: 0 } };
  return { compute: { y, height: compute }, communication: { y: y + compute + 1, height: inner - compute - 1 } };
}

/** Places the rows, from y = 0. Several hosts have headings. `rows`: all rows. `ranks`: rows of ranks, by index. `height`: of all rows.
 * `pinned`: height of the pinned rows. `inOrder`: the rows are in rank order. */
export function layout({ ranks, world, open, room, lanes, arrangement = plain(), silent, order }: LayoutInput) {
  const rows: Row[] = [],
    byPlace = new Array<RankRow>(ranks.length),
    foldedRows = new Map<number, HostRow>(),
    { hosts, of } = hostsOf(ranks),
    { hidden, folded } = arrangement,
    map = arrangement.map !== null,
    kind = map ? "map" : silent ? "one" : "two",
    plainly = arrangement.order === "rank",
    headed = hosts.length > 1,
    counters = map ? 0 : arrangement.counters.length,
    pinned = arrangement.pinned.filter((at) => !hidden.has(at)),
    isFolded = (at: number): boolean => headed && folded.has(of[at]!) && !arrangement.pinned.includes(at);
  const headings = headed && plainly ? hosts.length - folded.size : 0,
    n = ranks.filter((_, at) => !isFolded(at) && !hidden.has(at)).length + (headed ? folded.size : 0),
    [least, most] = map ? [MAP_LEAST, MAP_MOST] : [LEAST, MOST],
    rest = room - Math.max(0, headings) * HEADING_HEIGHT - n * counters * COUNTER_HEIGHT,
    size = Math.max(least, Math.min(most, Math.floor(rest / Math.max(1, n))));
  let y = 0;

  function absent(next: number, end: number): void {
    if (next >= end) return;
    rows.push({ kind: "absent", first: next, last: end - 1, y, height: ABSENT_HEIGHT });
    y += ABSENT_HEIGHT;
  }
  function host(number: number): void {
    const { name, members } = hosts[number]!,
      height = folded.has(number) ? size : HEADING_HEIGHT,
      row: HostRow = {
        kind: "host",
        name,
        host: number,
        folded: folded.has(number) ? { members, ...boxes(y, size, kind) } : null,
        y,
        height,
      };
    rows.push(row);
    if (row.folded) foldedRows.set(number, row);
    y += height;
  }
  function rank(at: number, isPinned: boolean): void {
    const height = isPinned ? Math.max(PINNED_LEAST, size) : size,
      row: RankRow = { kind: "rank", at, y, height, pinned: isPinned, ...boxes(y, height, kind) };
    rows.push(row);
    byPlace[at] = row;
    y += height;
    for (let counter = 0; counter < counters; counter++, y += COUNTER_HEIGHT)
      rows.push({ kind: "counter", at, counter, y, height: COUNTER_HEIGHT });
    if (open.has(at) && lanes && !map) y = subRows(rows, lanes.of(at).subLanes, at, y);
  }
  /* Places a rank without a row. If its host is folded, it is at the host's row. If it is hidden, it has height 0 at the current
   * position. */
  function under(at: number): void {
    const own = isFolded(at) ? foldedRows.get(of[at]!) : undefined,
      { compute, communication } = own?.folded ?? boxes(y, 0, "map");
    byPlace[at] = { kind: "rank", at, pinned: false, y: own?.y ?? y, height: own?.height ?? 0, compute, communication };
  }

  for (const at of pinned) rank(at, true);
  const above = y,
    placed = new Set<number>();
  let next = 0,
    last = -1;
  for (const at of order ?? ranks.keys()) {
    const own = of[at]!;
    if (plainly && world > 0) absent(next, ranks[at]!.rank);
    next = ranks[at]!.rank + 1;
    if (headed && own !== last && (folded.has(own) ? !placed.has(own) : plainly)) host(own);
    placed.add((last = own));
    if (hidden.has(at) || isFolded(at)) under(at);
    else if (!pinned.includes(at)) rank(at, false);
  }
  if (plainly) absent(next, world);
  const inOrder = plainly && pinned.length === 0 && of.every((own, i, all) => i === 0 || own >= all[i - 1]!);
  return { rows: rows as readonly Row[], ranks: byPlace as readonly RankRow[], height: y, pinned: above, inOrder };
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

/** For each order but "rank": the kind of time by whose share ranks are sorted, largest share first. */
const ORDERS = { wait: WAIT, compute: COMPUTE } as const;

export type Order = "rank" | keyof typeof ORDERS;

export type Measure = "compute" | "wait" | "communication" | "memory";

/** The default arrangement. `folded`: indices of hosts. `hidden`, `pinned`: indices of ranks. `counters`: keys of shown counters. */
export const plain = () => ({
  folded: new Set<number>(),
  hidden: new Set<number>(),
  pinned: [] as number[],
  order: "rank" as Order,
  map: null as Measure | null, // null: lanes
  coloring: "kind" as Coloring,
  counters: [] as string[],
});

export type Arrangement = ReturnType<typeof plain>;

export type Host = Readonly<{ name: string; members: readonly number[] }>;

/** Returns the hosts in the order of their first ranks. Ranks of one host need not be adjacent. */
export function hostsOf(ranks: readonly Rank[]): { hosts: readonly Host[]; of: readonly number[] } {
  const hosts: { name: string; members: number[] }[] = [],
    of: number[] = [],
    numbers = new Map<string, number>();
  ranks.forEach((rank, at) => {
    let number = rank.firstOfHost ? numbers.get(rank.host) : of[at - 1];
    if (number === undefined) {
      number = hosts.length;
      hosts.push({ name: rank.host, members: [] });
      numbers.set(rank.host, number);
    }
    hosts[number]!.members.push(at);
    of.push(number);
  });
  return { hosts, of };
}

/** Returns the indices of the ranks in this order. If ranks are equal, the lower index comes first. */
export function sorted(n: number, order: Order, pyramid: Pyramid): readonly number[] {
  const places = Array.from({ length: n }, (_, at) => at);
  if (order === "rank") return places;
  const share = places.map((at) => pyramid.base(at, ORDERS[order]).reduce((sum, own) => sum + own, 0));
  return places.sort((a, b) => share[b]! - share[a]! || a - b);
}
