/** Shares at several resolutions. The buckets of each level are twice as wide as those of the level below. So a column of any width can be
 * computed from a few buckets. */
import { LANE_KINDS, type Span } from "./model";

/** Level 0 has the page's shares in units of 1/255. Higher levels have units of 1/FULL, which are FINE times smaller. */
const FINE = 256;
const FULL = 255 * FINE;

class Plane {
  /** The buckets of levels[i] are 2^i times as wide as those of level 0. */
  readonly levels: (Uint8Array | Uint16Array)[];

  constructor(base: Uint8Array) {
    this.levels = [base];
    /* The highest level has an odd number of buckets. With one more level, the last bucket would extend beyond the job. */
    for (let below: Uint8Array | Uint16Array = base; below.length > 1 && below.length % 2 === 0; ) {
      const scale = below === base ? FINE : 1,
        n: number = below.length / 2;
      const level: Uint16Array = new Uint16Array(n);
      for (let i = 0; i < n; i++) {
        const a = below[2 * i]!,
          b = below[2 * i + 1]!,
          mean = ((a + b) * scale) / 2;
        level[i] = mean > 0 && mean < 1 ? 1 : mean;
      }
      this.levels.push(level);
      below = level;
    }
  }

  share(level: number, i: number): number {
    const value = this.levels[level]![i] ?? 0;
    return level === 0 ? value / 255 : value / FULL;
  }
}

/** Shares in a window, at a finer resolution than in the page. */
export interface FineShares {
  /** Returns the width of a rank's buckets [ns]; null if they do not cover the whole span. */
  widthIn(at: number, span: Span): number | null;
  /** Writes the shares of the columns that the window covers. Leaves the others as they are. */
  columns(at: number, kind: number, from: number, width: number, out: Float32Array): void;
  /** Returns mean shares over groups of ranks, indexed by group. If a rank of a group has no shares, its group has none. */
  meansOf(groups: readonly (readonly number[])[]): FineShares;
}

/** Shares of all ranks. The levels of a rank are built when it is first drawn. */
export class Pyramid {
  fine: FineShares | null = null; // in a served page: finer shares in the view
  readonly #planes: (Plane | undefined)[];
  readonly width: number;

  constructor(
    readonly coverage: Uint8Array,
    readonly buckets: number,
    readonly duration: number,
    n = coverage.length / Math.max(1, LANE_KINDS * buckets),
  ) {
    this.#planes = new Array<Plane | undefined>(LANE_KINDS * n);
    this.width = duration / buckets;
  }

  #plane(at: number, kind: number): Plane {
    return (this.#planes[at * LANE_KINDS + kind] ??= new Plane(this.base(at, kind)));
  }

  get finer(): FineShares | null {
    return this.fine;
  }

  /** Returns the width of a rank's narrowest buckets in a span [ns]. */
  widthIn(at: number, span: Span): number {
    return Math.min(this.width, this.finer?.widthIn(at, span) ?? Infinity);
  }

  base(at: number, kind: number): Uint8Array {
    const which = at * LANE_KINDS + kind;
    return this.coverage.subarray(which * this.buckets, (which + 1) * this.buckets);
  }

  has(kind: number): boolean {
    for (let at = 0; at * LANE_KINDS * this.buckets < this.coverage.length; at++)
      if (this.base(at, kind).some((share) => share > 0)) return true;
    return false;
  }

  /** Returns the highest level with buckets of at most this width [ns]. */
  levelFor(width: number): number {
    let level = 0;
    while (this.width * 2 ** (level + 1) <= width && 2 ** level < this.buckets) level++;
    return level;
  }

  /** Sets out[i], i < n, to a rank's share (0 to 1) of a kind in the i-th interval, which begins at from + i * width [ns]. */
  columns(at: number, kind: number, from: number, width: number, n: number, out: Float32Array): void {
    const plane = this.#plane(at, kind);
    const level = Math.min(this.levelFor(width), plane.levels.length - 1);
    const bucket = this.width * 2 ** level;
    for (let i = 0; i < n; i++) {
      const begin = Math.max(0, from + i * width),
        end = Math.min(this.duration, from + (i + 1) * width);
      let busy = 0;
      for (let b = Math.floor(begin / bucket); b * bucket < end; b++) {
        const share = plane.share(level, b);
        if (share > 0) busy += share * (Math.min(end, (b + 1) * bucket) - Math.max(begin, b * bucket));
      }
      out[i] = end > begin ? Math.min(1, busy / width) : 0;
    }
    if (width < this.width) this.finer?.columns(at, kind, from, width, n < out.length ? out.subarray(0, n) : out);
  }

  /** Returns a rank's time in a kind [ns], computed from level 0. */
  sum(at: number, kind: number, begin: number, end: number): number {
    const one = new Float32Array(1);
    let total = 0;
    const from = Math.max(0, begin),
      to = Math.min(this.duration, end);
    for (let t = from; t < to; ) {
      const next = Math.min(to, (Math.floor(t / this.width + 1e-9) + 1) * this.width);
      this.columns(at, kind, t, next - t, 1, one);
      total += one[0]! * (next - t);
      t = next;
    }
    return total;
  }
}

/** Mean shares over the ranks of each host. They are computed when a host is first drawn. */
export class HostPyramid extends Pyramid {
  /* The shares of ranks from which `fine` was computed. */
  #of: FineShares | null = null;

  constructor(
    readonly ranks: Pyramid,
    readonly members: readonly (readonly number[])[],
  ) {
    super(new Uint8Array(0), ranks.buckets, ranks.duration, members.length);
  }

  override get finer(): FineShares | null {
    const { fine } = this.ranks;
    if (this.#of !== fine) {
      this.#of = fine;
      this.fine = fine && fine.meansOf(this.members);
    }
    return this.fine;
  }

  override base(at: number, kind: number): Uint8Array {
    const own = this.members[at]!,
      sums = new Uint32Array(this.buckets),
      out = new Uint8Array(this.buckets);
    for (const rank of own) {
      const shares = this.ranks.base(rank, kind);
      for (let i = 0; i < sums.length; i++) sums[i] = sums[i]! + shares[i]!;
    }
    for (let i = 0; i < out.length; i++) out[i] = sums[i]! > 0 ? Math.max(1, Math.round(sums[i]! / own.length)) : 0;
    return out;
  }
}
