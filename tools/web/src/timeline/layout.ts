/** Where the rows stand: hosts, ranks with their two lanes, and what opening a rank adds. */
import type { Rank } from "./model";
import type { Lanes, SubLane } from "./lanes";

export const HEADING_HEIGHT = 20;
export const SUB_HEIGHT = 16;
export const DEPTH_HEIGHT = 12;
export const ABSENT_HEIGHT = 20;
const LEAST = 30,
  MOST = 64;

export interface Box {
  readonly y: number;
  readonly height: number;
}

interface Place extends Box {
  /** Place of the rank. */
  readonly at: number;
}

export interface HostRow extends Box {
  readonly kind: "host";
  readonly name: string;
}

export interface RankRow extends Place {
  readonly kind: "rank";
  readonly compute: Box;
  readonly communication: Box;
}

export interface SubRow extends Place {
  readonly kind: "sub";
  readonly lane: SubLane;
  /** The first of its track: it carries the name. */
  readonly named: boolean;
}

/** Ranks that gave no trace; the row stays, so that nothing closes up. */
export interface AbsentRow extends Box {
  readonly kind: "absent";
  readonly first: number;
  readonly last: number;
}

export type Row = HostRow | RankRow | SubRow | AbsentRow;

export interface Layout {
  readonly rows: readonly Row[];
  /** Of the ranks, by place. */
  readonly ranks: readonly RankRow[];
  readonly height: number;
}

export interface LayoutInput {
  readonly ranks: readonly Rank[];
  readonly world: number;
  readonly open: ReadonlySet<number>;
  /** Height that the rows may fill. */
  readonly room: number;
  /** Events, once they are there. */
  readonly lanes: Lanes | null;
}

/* A rank's row of this height from y on: two lanes with a little air below. */
function rankRow(at: number, y: number, height: number): RankRow {
  const inner = height - Math.max(3, Math.round(height / 9));
  const compute = Math.round(inner * 0.58);
  return {
    kind: "rank",
    at,
    y,
    height,
    compute: { y, height: compute },
    communication: { y: y + compute + 1, height: inner - compute - 1 },
  };
}

/** Rows from 0 on. Several hosts get headings; one host needs none. */
export function layout(input: LayoutInput): Layout {
  const { ranks, open, lanes } = input;
  const rows: Row[] = [];
  const byPlace: RankRow[] = [];
  const hosts = ranks.filter((rank) => rank.firstOfHost).length;
  const fixed = hosts > 1 ? hosts * HEADING_HEIGHT : 0;
  const height = Math.max(LEAST, Math.min(MOST, Math.floor((input.room - fixed) / Math.max(1, ranks.length))));
  let y = 0,
    next = 0;
  const absent = (end: number): void => {
    if (next >= end) return;
    rows.push({ kind: "absent", first: next, last: end - 1, y, height: ABSENT_HEIGHT });
    y += ABSENT_HEIGHT;
  };
  ranks.forEach((rank, at) => {
    if (input.world > 0) absent(rank.rank);
    next = rank.rank + 1;
    if (rank.firstOfHost && hosts > 1) {
      rows.push({ kind: "host", name: rank.host, y, height: HEADING_HEIGHT });
      y += HEADING_HEIGHT;
    }
    const row = rankRow(at, y, height);
    rows.push(row);
    byPlace.push(row);
    y += height;
    if (open.has(at) && lanes) y = subRows(rows, lanes.of(at).subLanes, at, y);
  });
  absent(input.world);
  return { rows, ranks: byPlace, height: y };
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

/** Rows [first, end) that lie in [y, y + height). */
export function rowsIn(rows: readonly Row[], y: number, height: number): [number, number] {
  let first = 0,
    high = rows.length;
  while (first < high) {
    const middle = (first + high) >> 1,
      row = rows[middle]!;
    if (row.y + row.height <= y) first = middle + 1;
    else high = middle;
  }
  let end = first;
  while (end < rows.length && rows[end]!.y < y + height) end++;
  return [first, end];
}

/** The row at a height, or undefined. */
export function rowAt(rows: readonly Row[], y: number): Row | undefined {
  const [first, end] = rowsIn(rows, y, 1);
  return first < end && rows[first]!.y <= y ? rows[first] : undefined;
}
