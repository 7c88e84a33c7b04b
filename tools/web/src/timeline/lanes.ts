/** Finds the events of a rank's lanes by time. */
import { ANNOTATIONS, COPIES, COMPUTE, STREAM, THREAD, TRANSFER, UNMATCHED, type Events, type Span, type Track } from "./model";

/** Events ordered by begin, with an index to find those that overlap a time range. */
export class EventList {
  readonly #ends: Float64Array; // #ends[i] is the latest end of the first i + 1 events

  constructor(
    readonly events: Events,
    readonly rows: Uint32Array,
  ) {
    this.#ends = new Float64Array(rows.length);
    let latest = -Infinity;
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i]!;
      latest = Math.max(latest, events.begin[row]! + events.duration[row]!);
      this.#ends[i] = latest;
    }
  }

  get n(): number {
    return this.rows.length;
  }

  /** Returns positions [first, end) that include all events that overlap the span. They may include others. */
  range(span: Span): [number, number] {
    const first = lowest(this.rows.length, (i) => this.#ends[i]! > span.begin);
    const end = lowest(this.rows.length, (i) => this.events.begin[this.rows[i]!]! >= span.end);
    return [Math.min(first, end), end];
  }

  /** Returns the row of the shortest event at a time. If there is none, returns the nearest event within `slack` [ns], else -1. */
  at(time: number, slack: number): number {
    const { begin, duration } = this.events;
    const [first, end] = this.range({ begin: time - slack, end: time + slack });
    let best = -1,
      bestDistance = Infinity,
      bestDuration = Infinity;
    for (let i = first; i < end; i++) {
      const row = this.rows[i]!,
        from = begin[row]!,
        to = from + duration[row]!;
      const distance = time < from ? from - time : time > to ? time - to : 0;
      if (distance > slack || distance > bestDistance) continue;
      if (distance === bestDistance && duration[row]! >= bestDuration) continue;
      best = row;
      bestDistance = distance;
      bestDuration = duration[row]!;
    }
    return best;
  }

  placeOf(row: number): number {
    const begin = this.events.begin[row]!;
    for (let i = lowest(this.n, (k) => this.events.begin[this.rows[k]!]! >= begin); i < this.n; i++) {
      if (this.rows[i] === row) return i;
      if (this.events.begin[this.rows[i]!]! > begin) return -1;
    }
    return -1;
  }
}

/** Returns the lowest i < n for which `fits` is true; n if there is none. `fits` must be true for all larger i, too. */
export function lowest(n: number, fits: (i: number) => boolean): number {
  let low = 0,
    high = n;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (fits(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** A row of events on an opened rank: either a whole stream, or the events at one depth of a thread or of a stream's annotations. */
export type SubLane = ReturnType<typeof byDepth>[number];

export class RankLanes {
  readonly compute: EventList;
  readonly communication: EventList;
  readonly tracks: readonly Track[];
  #subLanes: readonly SubLane[] | undefined;

  constructor(
    readonly events: Events,
    tracks: readonly Track[],
  ) {
    this.tracks = tracks;
    // a rank that works on the CPU has its computation and communication on threads instead of streams
    this.compute = gather(events, tracks, (kind) => kind === COMPUTE || kind === COPIES);
    this.communication = gather(events, tracks, (kind) => kind === TRANSFER || kind === UNMATCHED);
  }

  /** The rows of an opened rank. Streams come first, then threads. Of the threads, those with more events come first. */
  get subLanes(): readonly SubLane[] {
    if (!this.#subLanes) {
      const order = this.tracks
        .filter((track) => !track.continues)
        .sort((a, b) => group(a) - group(b) || a.stream - b.stream || a.kind - b.kind || b.n - a.n);
      this.#subLanes = order.flatMap((track) => byDepth(this.events, [track, ...this.tracks.filter((more) => more.continues === track)]));
    }
    return this.#subLanes;
  }
}

const group = (track: Track): number => (track.kind === THREAD ? 1 : 0);

/* Merges two lists of rows, each sorted by begin, then row. To sort both together would take as long as drawing a frame. */
function merge({ begin }: Events, one: readonly number[], two: readonly number[]): readonly number[] {
  if (one.length === 0 || two.length === 0) return one.length === 0 ? two : one;
  const out = new Array<number>(one.length + two.length);
  for (let i = 0, k = 0, to = 0; to < out.length; to++) {
    const a = one[i],
      b = two[k],
      first = b === undefined || (a !== undefined && (begin[a]! - begin[b]! || a - b) < 0);
    out[to] = first ? a! : b;
    if (first) i++;
    else k++;
  }
  return out;
}

function gather(events: Events, tracks: readonly Track[], fits: (kind: number) => boolean): EventList {
  let rows: readonly number[] = [];
  for (const track of tracks) {
    const own: number[] = [];
    for (let i = track.first; i < track.first + track.n; i++) if (fits(events.kind[i]!)) own.push(i);
    rows = merge(events, rows, own);
  }
  return new EventList(events, Uint32Array.from(rows));
}

/* Makes a list of events for each depth, or one list for a stream. The tracks after the first one continue the first one. */
function byDepth(events: Events, tracks: readonly Track[]) {
  const track = tracks[0]!;
  if (track.kind === STREAM) return [{ track, depth: 0, list: gather(events, tracks, () => true) }];
  const rows: (readonly number[])[] = [];
  for (const { first, n } of tracks) {
    const own: number[][] = [];
    for (let i = first; i < first + n; i++) (own[events.depth[i]!] ??= []).push(i);
    own.forEach((list, depth) => (rows[depth] = merge(events, rows[depth] ?? [], list)));
  }
  return rows.map((list, depth) => ({ track, depth, list: new EventList(events, Uint32Array.from(list)) }));
}

export function trackKey({ at, kind, device, stream, tid, name }: Track): string {
  return [at, kind, device, stream, tid, name].join();
}

export function trackName(track: Track, names: readonly string[]): string {
  if (track.kind === THREAD) return (names[track.name] ?? "") || `thread ${track.tid}`;
  const stream = track.stream >= 0 ? `stream ${track.stream}` : "stream";
  return track.kind === ANNOTATIONS ? `${stream} annotations` : stream;
}

export class Lanes {
  readonly #byRank: Track[][];
  readonly #made: (RankLanes | undefined)[];

  constructor(
    readonly events: Events,
    nRanks: number,
  ) {
    this.#byRank = Array.from({ length: nRanks }, () => []);
    for (const track of events.tracks) this.#byRank[track.at]?.push(track);
    this.#made = new Array<RankLanes | undefined>(nRanks);
  }

  of(at: number): RankLanes {
    return (this.#made[at] ??= new RankLanes(this.events, this.#byRank[at] ?? []));
  }

  spanOf(row: number): Span {
    return { begin: this.events.begin[row]!, end: this.events.begin[row]! + this.events.duration[row]! };
  }

  trackOf(row: number): Track | undefined {
    const tracks = this.events.tracks;
    return tracks[lowest(tracks.length, (i) => tracks[i]!.first + tracks[i]!.n > row)];
  }
}
