/** The critical path on the lanes: found by time, and drawn as a line. */
import type { Piece } from "../path";
import { lowest, type RankLanes } from "./lanes";
import type { RankRow } from "./layout";
import { CALL, THREAD, type Span, type Track } from "./model";
import type { Scale } from "./span";

/** A piece of the path on the timeline. `at`: index of its rank. */
export type Placed = Readonly<{ piece: Piece; index: number; at: number; level: Level }>;

/** Where a piece is drawn in a rank's row: above the lanes (host), on a lane, or as a line between two pieces (lag). */
export type Level = "host" | "compute" | "communication" | "lag";

const LEVELS: Readonly<Record<string, Level>> = {
  compute: "compute",
  copy: "compute",
  comm: "communication",
  transfer: "communication",
  launch: "lag",
  gap: "lag",
  wait: "lag",
  sync: "lag",
};

export class Path {
  readonly list: readonly Placed[];
  readonly #threads = new WeakMap<Placed, Track | null>();

  constructor(pieces: readonly Piece[], ranks: readonly { readonly rank: number }[]) {
    const places = new Map(ranks.map(({ rank }, at) => [rank, at]));
    this.list = pieces
      .filter((piece) => places.has(piece.rank))
      .map((piece, index) => ({ piece, index, at: places.get(piece.rank)!, level: LEVELS[piece.kind] ?? "host" }));
  }

  /** Returns the pieces [first, end) that overlap the span. */
  range(span: Span): [number, number] {
    return [
      lowest(this.list.length, (i) => this.list[i]!.piece.end > span.begin),
      lowest(this.list.length, (i) => this.list[i]!.piece.begin >= span.end),
    ];
  }

  /** Returns the next piece, with @p hop on another rank; if @p from is null, the first or the last piece in view. */
  next(from: Placed | null, span: Span, forward: boolean, hop: boolean): Placed | null {
    const { list } = this,
      step = forward ? 1 : -1,
      [first, end] = this.range(span);
    if (!from) return list[forward ? first : end - 1] ?? null;
    let i = from.index + step;
    while (hop && list[i]?.at === from.at) i += step;
    return list[i] ?? null;
  }

  find(text: string | undefined): Placed | null {
    return this.list.find(({ piece }) => `${piece.step}.${piece.place}` === text) ?? null;
  }

  /** Returns the thread of a host piece: that of its call or, if it has none, of the next call. */
  threadOf(placed: Placed, lanes: RankLanes): Track | null {
    const kept = this.#threads.get(placed);
    if (kept !== undefined) return kept;
    let i = placed.index;
    while (i - placed.index < CALLS_MAX && this.list[i]?.at === placed.at && this.list[i]!.piece.kind !== "call") i++;
    const call = this.list[i],
      found = call?.at === placed.at && call.piece.kind === "call" ? threadAt(call.piece, lanes) : null;
    this.#threads.set(placed, found);
    return found;
  }

  /** Returns the path as horizontal runs; a pixel has the height of the longest piece in it. Lags are the lines between runs. */
  runs(scale: Scale, heightOf: (placed: Placed) => number) {
    /* A run is from x0 to x1 [px]. broken: the page lacks the piece before the run. */
    const runs: { x0: number; x1: number; readonly y: number; readonly broken: boolean }[] = [],
      [first, end] = this.range(scale.span);
    let column = -1,
      before = Infinity,
      broken = false,
      shares = new Map<number, number>();
    const add = (y: number, x0: number, x1: number): void => {
      const last = runs[runs.length - 1];
      if (last && !broken && last.y === y && x0 - last.x1 < 1.5) last.x1 = x1;
      else runs.push({ x0, x1, y, broken });
      broken = false;
    };
    const close = (): void => {
      let most: number | undefined;
      for (const [y, share] of shares) if (most === undefined || share > shares.get(most)!) most = y;
      if (most !== undefined) add(most, column, column + 1);
      shares = new Map();
    };
    for (let i = first; i < end; i++) {
      const placed = this.list[i]!,
        { piece, level } = placed;
      const [x0, x1] = scale.visible(piece);
      if (piece.begin > before) {
        close();
        column = -1;
        broken = true;
      }
      before = piece.end;
      if (level === "lag") continue;
      const y = heightOf(placed);
      if (x1 - x0 >= 2) {
        close();
        column = -1;
        add(y, x0, x1);
        continue;
      }
      if (Math.floor(x0) !== column) {
        close();
        column = Math.floor(x0);
      }
      shares.set(y, (shares.get(y) ?? 0) + x1 - x0);
    }
    close();
    return runs;
  }
}

/** If a host piece has no call, up to this many pieces after it are searched for a call, to find the thread. */
const CALLS_MAX = 8;
/** Largest rounding error [ns] of the begin of an event. It comes from the correction of clock drift. */
const ROUNDED = 2;

/* Returns the thread with a call that begins when the piece begins. */
function threadAt(piece: Piece, lanes: RankLanes): Track | null {
  for (const { track, list } of lanes.subLanes) {
    if (track.kind !== THREAD) continue;
    const { begin, kind } = list.events,
      first = lowest(list.n, (i) => begin[list.rows[i]!]! >= piece.begin - ROUNDED);
    for (let i = first; i < list.n && begin[list.rows[i]!]! <= piece.begin + ROUNDED; i++) if (kind[list.rows[i]!] === CALL) return track;
  }
  return null;
}

/** Height [px] of a host piece below the top of the rank's row or, if the rank is opened, its thread's first row. */
const HOST_Y = 2,
  THREAD_Y = -1;

/** Returns the height [px] at which a piece is drawn, in a rank's row or at a thread's first row. */
export function heightIn(row: RankRow, level: Level, thread?: { readonly y: number }): number {
  if (level === "host") return thread ? thread.y + THREAD_Y : row.y + HOST_Y;
  const lane = level === "communication" ? row.communication : row.compute;
  return lane.y + lane.height / 2;
}
