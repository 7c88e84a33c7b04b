/** The critical path as it lies over the lanes: found by time, and as a line. */
import type { Piece } from "../path";
import { lowest } from "./lanes";
import type { RankRow } from "./layout";
import type { Span } from "./model";
import type { Scale } from "./scale";

/** A piece on the timeline. */
export interface Placed {
  readonly piece: Piece;
  /** Place of its rank. */
  readonly at: number;
  readonly level: Level;
}

/** Where in a rank's row: on the host above its lanes, in one of them, or on the way between two. */
export type Level = "host" | "compute" | "communication" | "lag";

const LEVELS: Readonly<Record<string, Level>> = {
  compute: "compute", copy: "compute", comm: "communication", transfer: "communication", launch: "lag", gap: "lag", wait: "lag", sync: "lag",
};

/** A level part of the line: from and to on the canvas [px], and the height in the rows. */
export interface Run {
  x0: number;
  x1: number;
  readonly at: number;
  readonly level: Level;
  /** What is before it is not in the page. */
  readonly broken: boolean;
}

export class Path {
  readonly list: readonly Placed[];

  constructor(pieces: readonly Piece[], ranks: readonly { readonly rank: number }[]) {
    const places = new Map(ranks.map(({ rank }, at) => [rank, at]));
    this.list = pieces.filter((piece) => places.has(piece.rank)).map((piece) => ({ piece, at: places.get(piece.rank)!, level: LEVELS[piece.kind] ?? "host" }));
  }

  /** Those of which a part lies in the span, as [first, end). */
  range(span: Span): [number, number] {
    return [lowest(this.list.length, (i) => this.list[i]!.piece.end > span.begin), lowest(this.list.length, (i) => this.list[i]!.piece.begin >= span.end)];
  }

  /** The next piece, or with `hop` the next stretch on another rank; from none, what is in view. */
  next(from: Placed | null, span: Span, forward: boolean, hop: boolean): Placed | null {
    const { list } = this, step = forward ? 1 : -1, [first, end] = this.range(span);
    if (!from) return list[forward ? first : end - 1] ?? null;
    let i = list.indexOf(from) + step;
    while (hop && list[i]?.at === from.at) i += step;
    return list[i] ?? null;
  }

  /** The piece that the address names by step and place. */
  find(text: string | undefined): Placed | null {
    return this.list.find(({ piece }) => `${piece.step}.${piece.place}` === text) ?? null;
  }

  /** What of it is in view, as level runs. Of pieces that share a pixel the longest level is drawn;
   * lags are no runs: the line goes straight over them. */
  runs(scale: Scale): Run[] {
    const runs: Run[] = [], [first, end] = this.range(scale.span);
    let column = -1, before = Infinity, broken = false, shares = new Map<string, [Placed, number]>();
    const add = ({ at, level }: Placed, x0: number, x1: number): void => {
      const last = runs[runs.length - 1];
      if (last && !broken && last.at === at && last.level === level && x0 - last.x1 < 1.5) last.x1 = x1;
      else runs.push({ x0, x1, at, level, broken });
      broken = false;
    };
    const close = (): void => {
      let most: [Placed, number] | undefined;
      for (const share of shares.values()) if (!most || share[1] > most[1]) most = share;
      if (most) add(most[0], column, column + 1);
      shares = new Map();
    };
    const right = scale.left + scale.width;
    for (let i = first; i < end; i++) {
      const placed = this.list[i]!, { piece, at, level } = placed;
      const x0 = Math.max(scale.left, scale.x(piece.begin)), x1 = Math.min(right, scale.x(piece.end));
      if (piece.begin > before) {
        close();
        column = -1;
        broken = true;
      }
      before = piece.end;
      if (level === "lag") continue;
      if (x1 - x0 >= 2) {
        close();
        column = -1;
        add(placed, x0, x1);
        continue;
      }
      if (Math.floor(x0) !== column) {
        close();
        column = Math.floor(x0);
      }
      const key = `${at}/${level}`, share = shares.get(key);
      if (share) share[1] += x1 - x0;
      else shares.set(key, [placed, x1 - x0]);
    }
    close();
    return runs;
  }
}

/** Above the lanes, where the line stands for the host [px]. */
const HOST_Y = 2;

/** The height of the line in a rank's row. */
export function heightOf(row: RankRow, level: Level): number {
  if (level === "host") return row.y + HOST_Y;
  const lane = level === "communication" ? row.communication : row.compute;
  return lane.y + lane.height / 2;
}
