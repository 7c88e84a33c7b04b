/** How rows are arranged: folded, hidden and pinned rows, their order, and whether they show lanes or a map. */
import type { Coloring } from "./coloring";
import { COMPUTE, WAIT, type Rank } from "./model";
import type { Pyramid } from "./pyramid";

/** Orders of the ranks other than by number. An order sorts ranks by the share of time that they spend in this kind, largest first. */
export const ORDERS = { wait: WAIT, compute: COMPUTE } as const;

export type Order = "rank" | keyof typeof ORDERS;

/** Quantity that a map shows instead of lanes. */
export type Measure = "compute" | "wait" | "communication" | "memory";

/** Returns the default arrangement. `folded` has the indices of the hosts that are folded into one row. `hidden` has the indices of the
 * hidden ranks, and `pinned` those of the ranks that are pinned above the others. `counters` has the keys of the counters that are shown
 * below the lanes of each rank. */
export function plain() {
  return {
    folded: new Set<number>(),
    hidden: new Set<number>(),
    pinned: [] as number[],
    order: "rank" as Order,
    map: null as Measure | null, // null: lanes
    coloring: "kind" as Coloring,
    counters: [] as string[],
  };
}

export type Arrangement = ReturnType<typeof plain>;

export type Host = Readonly<{ name: string; members: readonly number[] }>;

/** Returns the hosts, in the order of their first ranks. Ranks with the same host name belong to one host, even if they are not
 * adjacent. */
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

/** Returns the indices of the ranks in this order. Of equal ranks, the lower index comes first. */
export function sorted(n: number, order: Order, pyramid: Pyramid): readonly number[] {
  const places = Array.from({ length: n }, (_, at) => at);
  if (order === "rank") return places;
  const share = places.map((at) => pyramid.base(at, ORDERS[order]).reduce((sum, own) => sum + own, 0));
  return places.sort((a, b) => share[b]! - share[a]! || a - b);
}
