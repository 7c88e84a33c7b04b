/** How the lanes are arranged: what is folded, hidden or pinned, in which order, as lanes or as a map. */
import type { Coloring } from "./coloring";
import { COMPUTE, WAIT, type Rank } from "./model";
import type { Pyramid } from "./pyramid";

/** Orders of the ranks other than by number: those with most of a kind first. */
export const ORDERS = { wait: WAIT, compute: COMPUTE } as const;

export type Order = "rank" | keyof typeof ORDERS;

/** What a map shows instead of lanes. */
export type Measure = "compute" | "wait" | "communication" | "memory";

export interface Arrangement {
  /** Numbers of hosts whose ranks are one row. */
  readonly folded: Set<number>;
  /** Places of ranks that are not shown. */
  readonly hidden: Set<number>;
  /** Places of ranks above the others, which stay there. */
  pinned: number[];
  order: Order;
  /** Null: lanes. */
  map: Measure | null;
  /** What the colours of kernels mean. */
  coloring: Coloring;
  /** Keys of the counters below each rank's lanes. */
  counters: string[];
}

export function plain(): Arrangement {
  return { folded: new Set(), hidden: new Set(), pinned: [], order: "rank", map: null, coloring: "kind", counters: [] };
}

/** A host and the places of its ranks. */
export interface Host {
  readonly name: string;
  readonly members: readonly number[];
}

/** The hosts in the order of their ranks; a name that comes again later is of the same host. */
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

/** Places of the ranks in an order; of equals the lower number first. */
export function sorted(n: number, order: Order, pyramid: Pyramid): readonly number[] {
  const places = Array.from({ length: n }, (_, at) => at);
  if (order === "rank") return places;
  const share = places.map((at) => pyramid.base(at, ORDERS[order]).reduce((sum, own) => sum + own, 0));
  return places.sort((a, b) => share[b]! - share[a]! || a - b);
}
