/** The critical path on the lanes, and the slack of other events: how much later they could have ended. */
import { lowest, type RankLanes } from "./lanes";
import type { RankRow } from "./layout";
import { CALL, THREAD, type Span, type Track } from "./model";
import type { Scale } from "./span";
import type { Job } from "../data";
import * as f from "../format";

const KINDS: Readonly<Record<string, string>> = {
  compute: "compute kernel",
  copy: "copy or set",
  comm: "communication that joins no ranks",
  transfer: "transfer",
  launch: "from the launch to the start",
  gap: "between two events of a stream",
  wait: "after an event of another stream",
  host: "host, between calls",
  call: "runtime or driver call",
  sync: "end of a call that waited for the GPU",
  before: "nothing recorded",
};

export const kindOf = (piece: Piece): string => KINDS[piece.kind] ?? piece.kind;

/** Returns the name of a call or kernel. For waiting and host time, returns "before" and the name of the next event. */
export function nameOf(piece: Piece): string {
  const isBetween =
    piece.kind === "host" || piece.kind === "launch" || piece.kind === "gap" || piece.kind === "wait" || piece.kind === "before";
  return piece.name === null ? "" : isBetween ? `before ${piece.name}` : piece.name;
}

export const addressOf = (piece: Piece): string => `${piece.step}.${piece.place}`;

/** A piece of the path, from `begin` to `end` [ns from the job's begin]. `place`: its index in its step. */
export type Piece = ReturnType<typeof pathOf>[number];

/** Returns the pieces of the path in the page, ordered by time. The table must be loaded. */
export function pathOf(job: Job) {
  const table = job.table("criticalpath.piece");
  const at = (["step", "place", "rank", "kind", "name", "begin_ns", "duration_ns"] as const).map((column) => table.place(column));
  const [step, place, rank, kind, name, begin, duration] = at as [number, number, number, number, number, number, number];
  const all = table.rows.map((row) => ({
    step: Number(row[step]),
    place: Number(row[place]),
    rank: Number(row[rank]),
    kind: String(row[kind]),
    name: row[name] === null ? null : String(row[name]), // for a lag, the event after it; for host time, the call after it
    begin: Number(row[begin]),
    end: Number(row[begin]) + Number(row[duration]),
  }));
  return all.sort((a, b) => a.begin - b.begin || a.step - b.step || a.place - b.place);
}

/** A piece of the path on the timeline. `index`: its index in the path. `at`: index of its rank. */
export type Placed = Readonly<{ piece: Piece; index: number; at: number; level: Level }>;

/** Where a piece is drawn in a rank's row: above the lanes (host), on a lane, or as a line between two pieces (lag). */
type Level = "host" | "compute" | "communication" | "lag";

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

  /** Returns the indices [first, end) of the pieces that overlap the span. */
  range(span: Span): [number, number] {
    return [
      lowest(this.list.length, (i) => this.list[i]!.piece.end > span.begin),
      lowest(this.list.length, (i) => this.list[i]!.piece.begin >= span.end),
    ];
  }

  /** Returns the next piece or, with @p hop, the next on another rank. If @p from is null, returns the first or last piece in view. */
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

  /** Returns the thread of a host piece: the thread of its call or, if it has no call, of the next call on the path. */
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

  /** Returns the path as horizontal runs. A pixel with many pieces has the height of the longest one. Runs leave out lags. */
  runs(scale: Scale, heightOf: (placed: Placed) => number) {
    /* A run goes from x0 to x1 [px]. `broken`: the page lacks the piece before the run. */
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

/** If a host piece has no call, its thread is that of the next call. This many pieces are searched for the call. */
const CALLS_MAX = 8;
/** Largest rounding error of an event's begin [ns]. It comes from the correction of clock drift. */
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

/** Heights of a host piece [px]. HOST_Y: below the top of the rank's row. THREAD_Y: on an opened rank, below the top of its thread's
 * rows. */
const HOST_Y = 2,
  THREAD_Y = -1;

/** Returns the height at which a piece is drawn [px]. @p thread: on an opened rank, the first row of a host piece's thread. */
export function heightIn(row: RankRow, level: Level, thread?: { readonly y: number }): number {
  if (level === "host") return thread ? thread.y + THREAD_Y : row.y + HOST_Y;
  const lane = level === "communication" ? row.communication : row.compute;
  return lane.y + lane.height / 2;
}

/** Bounds of an event's slack [ns]. null: no end of a step depends on the event. */
type Slack = Readonly<Record<"least" | "most", number | null>>;

type Run = Slack & Readonly<{ begin: number }>;

/** Slack of all ranks' events. Adjacent events of a stream with similar slack are one run, and have the same bounds. */
export class Slacks {
  readonly #runs: ReadonlyMap<string, readonly Run[]>;
  readonly #leftOut: number;
  readonly #sure: boolean; // whether the replay, from which the slack comes, is reliable

  constructor(job: Job) {
    const table = job.table("criticalpath.slack");
    const runs = table.all.flatMap((row) => {
      const begin = table.num(row, "begin_ns"),
        key = keyOf(table.num(row, "rank"), table.num(row, "device"), table.num(row, "stream"));
      return begin === null ? [] : [{ key, begin, least: table.num(row, "slack_ns"), most: table.num(row, "slack_most_ns") }];
    });
    this.#runs = f.groupBy(runs, ({ key }) => key);
    this.#leftOut = table.leftOut;
    this.#sure = job.table("whatif.job").cell(0, "sure") !== false;
  }

  get any(): boolean {
    return this.#runs.size > 0 || this.#leftOut > 0;
  }

  at(rank: number, { device, stream }: Track, begin: number): Slack | undefined {
    const runs = this.#runs.get(keyOf(rank, device < 0 ? null : device, stream < 0 ? null : stream)) ?? [],
      after = lowest(runs.length, (i) => runs[i]!.begin > begin),
      last = runs[after - 1];
    if (!last) return undefined;
    /* If several runs begin at this time, it is unknown which one has the event. So the result covers the bounds of all of them. */
    const first = last.begin < begin ? after - 1 : lowest(after, (i) => runs[i]!.begin >= begin);
    return runs.slice(first, after).reduce<Slack>(joined, last);
  }

  /** Writes how large the slack is, as words that can follow a colon. */
  words(rank: number, track: Track, begin: number): string {
    const slack = this.at(rank, track, begin);
    if (!slack) return this.#leftOut > 0 ? "its slack is not in this page" : "its slack is not known";
    const { least, most } = slack;
    if (least === null) return "no step's end depends on it";
    if (most === 0) return "a later end would have delayed the job";
    const by = most === null ? `at least ${f.time(least)}` : least === most ? f.time(least) : `${f.time(least)} to ${f.time(most)}`;
    return `it could have ended ${by} later without delaying the job${this.#sure ? "" : ", by an uncertain replay (see What if)"}`;
  }
}

const keyOf = (rank: number | null, device: number | null, stream: number | null): string => `${rank}.${device}.${stream}`;

const joined = (a: Slack, b: Slack): Slack => ({
  least: a.least === null || b.least === null ? (a.least ?? b.least) : Math.min(a.least, b.least),
  most: a.most === null || b.most === null ? null : Math.max(a.most, b.most),
});
