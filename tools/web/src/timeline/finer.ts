/** For a served page: requests more detail for the visible window than the page has, and merges it into the data. */
import * as f from "../format";
import { ask } from "../served";
import type { Page } from ".";
import type { ChartData } from "./chart";
import { Lanes, trackKey } from "./lanes";
import { Events, THREAD, UNMATCHED, type Operation, type Part, type Rank, type Span, type Track } from "./model";
import type { FineShares } from "./pyramid";
import { hasEvents, missingParts } from "./sums";
import { decodeMeeting, decodeTile, type Shares, type Tile } from "./decode";
import { Column, columnsBy, RankReported, reportedOf, type Reported } from "./event_details";

/** Delay before a request [ms]. Without it, each notch of the wheel would send one. */
const PATIENCE = 60;
const KEPT = 12; // number of windows that are kept, including the shown one

export type Sight = Page["sight"];

/** `changed` is called after events were replaced. `renamed` maps old rows to new ones (-1: gone). `said`: after the status changed. */
export type FinerListener = Readonly<{ changed: (renamed: (row: number) => number) => void; said: () => void }>;

/** A rank's data in a window. `whole`: not only shares. `gpu`, `host`: these events were received. `asked`: host events were requested. */
type Piece = Readonly<{ tile: Tile; place: number } & Record<"whole" | "gpu" | "asked" | "host", boolean>>;

/** Rows of a track in a tile. `at`: index of the track's rank in the page. */
type More = Readonly<{ tile: Tile; track: Track; rows: readonly number[]; at: number }>;

type Window = Readonly<{ span: Span; pieces: Map<number, Piece> }>;

/** Returns the window to request for a view. It begins before the view, and is twice as long as the power of two [ns] that holds the
 * view. */
export function windowOf({ begin, end }: Span): Span {
  const half = 2 ** Math.max(9, Math.ceil(Math.log2(Math.max(1, end - begin))) - 1),
    first = Math.max(0, (Math.floor(begin / half) - 1) * half);
  return { begin: first, end: Math.max(first + 4 * half, Math.ceil(end)) };
}

class WindowShares implements FineShares {
  constructor(
    readonly span: Span,
    readonly ranks: ReadonlyMap<number, Shares>,
  ) {}

  widthIn(at: number, span: Span): number | null {
    const shares = this.ranks.get(at);
    return shares && span.begin >= this.span.begin && span.end <= this.span.end ? shares.width : null;
  }

  columns(at: number, kind: number, from: number, width: number, out: Float32Array): void {
    const own = this.ranks.get(at);
    if (!own) return;
    const last = own.begin + own.n * own.width;
    for (let i = 0; i < out.length; i++) {
      const begin = from + i * width,
        end = begin + width;
      if (begin < own.begin || end > last) continue;
      let busy = 0;
      for (let b = Math.floor((begin - own.begin) / own.width); b < own.n && own.begin + b * own.width < end; b++) {
        const at = own.begin + b * own.width;
        busy += (own.shares[kind * own.n + b]! / 255) * (Math.min(end, at + own.width) - Math.max(begin, at));
      }
      out[i] = Math.min(1, busy / width);
    }
  }

  meansOf(groups: readonly (readonly number[])[]): FineShares {
    const means = new Map<number, Shares>();
    groups.forEach((group, number) => {
      const own = group.map((at) => this.ranks.get(at)).filter((shares) => shares !== undefined);
      if (own.length > 0 && own.length === group.length) means.set(number, meanOf(own));
    });
    return new WindowShares(this.span, means);
  }
}

/* Returns the mean shares of several ranks. The result has the widest buckets of any of them. All widths are powers of two. */
function meanOf(all: readonly Shares[]): Shares {
  const widest = all.reduce((a, b) => (b.width > a.width ? b : a)),
    { begin, width, n } = widest,
    kinds = widest.shares.length / n,
    sums = new Float32Array(widest.shares.length),
    shares = new Uint8Array(sums.length);
  for (const own of all)
    for (let i = 0; i < own.n; i++) {
      const to = Math.floor((own.begin + i * own.width - begin) / width);
      if (to < 0 || to >= n) continue;
      for (let kind = 0; kind < kinds; kind++)
        sums[kind * n + to] = sums[kind * n + to]! + (own.shares[kind * own.n + i]! * own.width) / (width * all.length);
    }
  sums.forEach((sum, i) => (shares[i] = sum > 0 ? Math.max(1, Math.round(sum)) : 0));
  return { begin, width, n, shares };
}

export class Finer {
  listener: FinerListener | null = null;
  failed: string | null = null; // error of the last request; null: none
  readonly #base: Events;
  readonly #reported: Reported;
  readonly #windows = new Map<string, Window>();
  readonly #names: Map<string, number>;
  readonly #operations = new Map<string, number>();
  /** Results of meet(), also of calls that are still running. The key is the index of the rank and the begin of the kernel. */
  readonly #met = new Map<string, Promise<Operation | null>>();
  #shown: Window | null = null;
  #key = "";
  #asked: { key: string; abort: AbortController } | null = null;
  #timer = 0;

  constructor(readonly data: ChartData) {
    this.#base = data.lanes!.events;
    this.#reported = data.reported!;
    this.#names = new Map(data.job.names.map((name, i) => [name, i]));
    for (const { number, members } of data.operations) for (const { at, begin } of members) this.#operations.set(`${at} ${begin}`, number);
  }

  get loading(): boolean {
    return this.#timer !== 0 || this.#asked !== null;
  }

  /** Requests what the view lacks. Call it whenever the view may have changed. */
  look(sight: Sight): void {
    const span = windowOf(sight.span),
      key = `${span.begin}-${span.end}`,
      window = this.#windows.get(key),
      wanted = this.wanted(sight, window);
    if (window && window !== this.#shown && sight.lanes.size + sight.shares.size > 0) this.#show(window);
    const want = `${key} ${wanted.ranks.join()} ${wanted.hosts.join()} ${wanted.shares.join()}`;
    if (want === this.#key) return;
    this.#key = want;
    this.#drop();
    this.failed = null;
    if (wanted.ranks.length + wanted.shares.length > 0) this.#timer = setTimeout(() => void this.#ask(key, span, wanted), PATIENCE);
    this.listener?.said();
  }

  /** Fetches the operation of an event, with all members. Returns null if the page already has all that is known. */
  async meet(at: number, row: number): Promise<Operation | null> {
    const { begin, kind, comm, operation } = this.data.lanes!.events,
      key = `${at} ${begin[row]!}`;
    if (comm[row] === 0 || kind[row] === UNMATCHED || operation[comm[row]!]! >= 0 || begin[row]! < 0) return null;
    try {
      return await f.entry(this.#met, key, () => this.#askWho(at, begin[row]!));
    } catch {
      this.#met.delete(key); // the next selection tries again; until then, the page shows the event's own wait
      return null;
    }
  }

  async #askWho(at: number, begin: number): Promise<Operation | null> {
    const { data } = this,
      bytes = await ask("operation", { rank: data.job.ranks[at]!.rank, begin }),
      known = this.#operations.get(`${at} ${begin}`); // set if it was fetched meanwhile for another member
    if (known !== undefined) return data.operations[known]!;
    const found = decodeMeeting(bytes, data.job, data.operations.length);
    if (found) this.#know(found);
    return found;
  }

  #know(found: Operation): void {
    const { data } = this;
    data.operations = [...data.operations, found];
    for (const { at, begin } of found.members) {
      this.#operations.set(`${at} ${begin}`, found.number);
      const list = data.lanes!.of(at).communication,
        { rows, events } = list,
        [first, end] = list.range({ begin, end: begin + 1 });
      for (let i = first; i < end; i++) {
        const row = rows[i]!;
        if (events.begin[row] !== begin) continue;
        events.operation[events.comm[row]!] = found.number;
        if (row < this.#base.n) this.#base.operation[events.comm[row]!] = found.number;
      }
    }
  }

  again(sight: Sight): void {
    this.#key = "";
    this.look(sight);
  }

  leave(): void {
    this.listener = null;
    this.#key = "";
    this.#drop();
  }

  #drop(): void {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#asked?.abort.abort();
    this.#asked = null;
  }

  /** Returns the ranks to request. `ranks`: with GPU events. `hosts`: those of them with host events, too. `shares`: only with shares. */
  wanted({ span, width, lanes, shares, open }: Sight, window: Window | undefined) {
    const { job, pyramid } = this.data,
      ranks: number[] = [],
      hosts: number[] = [],
      coarse = (pyramid.width * width) / (span.end - span.begin) > 1;
    for (const at of [...lanes].sort((a, b) => a - b)) {
      const rank = job.ranks[at]!,
        piece = window?.pieces.get(at),
        host = open.has(at) && missingParts(job, bare(rank), span, true).length > 0;
      if (!host && (!coarse || hasEvents(job, bare(rank), span))) continue;
      if (piece?.whole && (!host || piece.asked)) continue;
      ranks.push(at);
      if (host) hosts.push(at);
    }
    const rough = coarse ? [...shares].filter((at) => !window?.pieces.has(at)).sort((a, b) => a - b) : [];
    return { ranks, hosts, shares: rough };
  }

  async #ask(key: string, span: Span, { ranks, hosts, shares }: ReturnType<Finer["wanted"]>): Promise<void> {
    const abort = new AbortController(),
      window = this.#windows.get(key) ?? { span, pieces: new Map<number, Piece>() };
    const take = async (places: readonly number[], whole: boolean): Promise<void> => {
      const numbers = (of: readonly number[]): string => of.map((at) => this.data.job.ranks[at]!.rank).join(),
        more: Readonly<Record<string, string | number>> = whole ? { hosts: numbers(hosts) } : { hosts: "", shares: 1 };
      const tile = decodeTile(await ask("tile", { from: span.begin, to: span.end, ranks: numbers(places), ...more }, abort.signal));
      places.forEach((at, place) => {
        const { gpu, host } = tile.ranks[place]!;
        window.pieces.set(at, { tile, place, whole, gpu, host, asked: hosts.includes(at) });
      });
    };
    this.#timer = 0;
    this.#asked = { key, abort };
    try {
      if (shares.length > 0) await take(shares, false);
      if (ranks.length > 0) await take(ranks, true);
      if (abort.signal.aborted) return;
      this.#keep(key, window);
      this.#asked = null;
      this.#show(window);
    } catch (error) {
      if (abort.signal.aborted) return;
      this.#asked = null;
      this.failed = (error as Error).message;
    }
    this.listener?.said();
  }

  #keep(key: string, window: Window): void {
    this.#windows.delete(key);
    this.#windows.set(key, window);
    for (const old of this.#windows.keys()) {
      if (this.#windows.size <= KEPT) break;
      this.#windows.delete(old);
    }
  }

  #number(name: string): number {
    return f.entry(this.#names, name, () => (this.data.job.names as string[]).push(name) - 1);
  }

  /* Returns the rows of a track outside of @p parts. These are the rank's parts for which the page has the events. */
  #rows(events: Events, track: Track, parts: readonly Part[]): number[] {
    const rows: number[] = [];
    for (let row = track.first; row < track.first + track.n; row++) {
      const begin = events.begin[row]!,
        end = begin + Math.max(1, events.duration[row]!);
      if (!parts.some((part) => part.begin < end && part.end > begin)) rows.push(row);
    }
    return rows;
  }

  #show(window: Window): void {
    const { data } = this,
      before = data.lanes!.events,
      last = this.#shown;
    this.#shown = window;
    for (const at of last?.pieces.keys() ?? []) delete data.job.ranks[at]!.served;
    const shares = new Map<number, Shares>(),
      more: More[] = [];
    for (const [at, { tile, place, gpu, host }] of window.pieces) {
      const rank = data.job.ranks[at]!,
        own = tile.ranks[place]!.shares;
      if (own) shares.set(at, own);
      if (!data.job.complete) rank.served = { ...window.span, number: -1, gpu, host };
      for (const track of data.job.complete ? [] : tile.events.tracks) {
        if (track.at !== place) continue;
        const has = track.kind === THREAD ? (part: Part) => part.host : (part: Part) => part.gpu,
          near = rank.parts.filter((part) => has(part));
        more.push({ tile, track, rows: this.#rows(tile.events, track, near), at });
      }
    }
    data.pyramid.fine = shares.size > 0 ? new WindowShares(window.span, shares) : null;
    const { events, fetched } = this.#join(more, window);
    data.reported = joinedReported(this.#reported, events, fetched);
    data.lanes = new Lanes(events, data.job.ranks.length);
    this.listener?.changed((row) => (row < this.#base.n ? row : sameEvent(before, row, events, this.#base.n)));
  }

  #join(more: readonly More[], window: Window): { events: Events; fetched: Map<number, Fetched> } {
    const base = this.#base,
      out = new Events(more.reduce((sum, { rows }) => sum + rows.length, base.n)),
      waits = [...base.wait],
      operations = [...base.operation],
      names = new Map<Tile, number[]>(),
      fetched = new Map<number, Fetched & { readonly placed: Placed[] }>(),
      known = byKey(base.tracks);
    let first = base.n;
    for (const column of ["begin", "duration", "name", "kind", "depth", "comm"] as const) out[column].set(base[column]);
    out.tracks.push(...base.tracks);
    for (const { tile, rows, track, at } of more) {
      const { events } = tile;
      const numbers = f.entry(names, tile, () => tile.names.map((text) => this.#number(text))),
        { placed } = f.entry(fetched, at, () => ({ tile, place: window.pieces.get(at)!.place, numbers, placed: [] }));
      rows.forEach((row, i) => {
        const to = first + i,
          comm = events.comm[row]!;
        out.begin[to] = events.begin[row]!;
        out.duration[to] = events.duration[row]!;
        out.name[to] = numbers[events.name[row]!]!;
        out.kind[to] = events.kind[row]!;
        out.depth[to] = events.depth[row]!;
        if (comm === 0) return;
        out.comm[to] = waits.length;
        waits.push(events.wait[comm]!);
        operations.push(this.#operations.get(`${at} ${events.begin[row]!}`) ?? -1);
      });
      const name = numbers[track.name]!,
        own = { ...track, at, name, first, n: rows.length },
        continues = known.get(trackKey(own));
      placed.push({ track, rows, first, base: continues });
      if (rows.length > 0) out.tracks.push(continues ? { ...own, continues } : own);
      first += rows.length;
    }
    out.wait = Float64Array.from(waits);
    out.operation = Int32Array.from(operations);
    return { events: out, fetched };
  }
}

/* Returns a rank as in the page, without the part fetched from the server. */
const bare = (rank: Rank): Rank => (rank.served ? { ...rank, served: undefined } : rank);

/* Returns the page's tracks by key. If several tracks have the same key, its value is undefined. */
function byKey(tracks: readonly Track[]): Map<string, Track | undefined> {
  const out = new Map<string, Track | undefined>();
  for (const track of tracks) {
    const key = trackKey(track);
    out.set(key, out.has(key) ? undefined : track);
  }
  return out;
}

/* Returns the new row of an event that was fetched earlier; -1 if it is gone. @param from first row of fetched events */
function sameEvent(before: Events, row: number, now: Events, from: number): number {
  const track = before.tracks.find(({ first, n }) => row >= first && row < first + n);
  if (!track) return -1;
  for (const { at, first, n, kind } of now.tracks) {
    if (first < from || at !== track.at || kind !== track.kind) continue;
    for (let i = first; i < first + n; i++)
      if (now.begin[i] === before.begin[row] && now.duration[i] === before.duration[row] && now.name[i] === before.name[row]) return i;
  }
  return -1;
}

/** A tile's track in the page. `rows`: its rows that the page lacked; they are now at `first`, `first` + 1, ... `base`: the page's own
 * track. */
export type Placed = Readonly<{ track: Track; rows: readonly number[]; first: number; base: Track | undefined }>;

/** A rank of a tile. `numbers`: number of a name in the page, by its number in the tile. */
export type Fetched = Readonly<{ tile: Tile; place: number; numbers: readonly number[]; placed: readonly Placed[] }>;

/* Returns the row in the page of each event of a tile; -1 for events of other ranks. */
function rowsOf({ tile, placed, numbers }: Fetched, page: Events): Int32Array {
  const { events } = tile,
    out = new Int32Array(events.n).fill(-1);
  for (const { track, rows, first, base } of placed) {
    rows.forEach((row, i) => (out[row] = first + i));
    const end = base ? base.first + base.n : 0;
    for (let row = track.first, i = base?.first ?? 0; i < end && row < track.first + track.n; row++) {
      if (out[row]! >= 0) continue;
      const begin = events.begin[row]!;
      while (i < end && page.begin[i]! < begin) i++;
      for (let k = i; k < end && page.begin[k] === begin && out[row]! < 0; k++)
        if (page.duration[k] === events.duration[row] && page.name[k] === numbers[events.name[row]!]) out[row] = k;
    }
  }
  return out;
}

/** joinColumns() sorts by row * PLACES + index, which stays below 2^53. Two columns together have fewer than PLACES values. */
const PLACES = 2 ** 22;

/** Merges two columns. Where both have a row, @p one wins. @p row and @p value convert rows and values of @p two; a result below 0 is
 * skipped. */
export function joinColumns(one: Column, two: Column, row: (row: number) => number, value: (value: number) => number): Column {
  const n = one.rows.length,
    keys = new Float64Array(n + two.rows.length),
    values = new Float64Array(keys.length);
  let kept = n;
  one.rows.forEach((each, i) => (keys[i] = each * PLACES + i));
  values.set(one.values);
  two.rows.forEach((each, i) => {
    const to = row(each),
      is = value(two.values[i]!);
    if (to < 0 || is < 0) return;
    values[kept] = is;
    keys[kept] = to * PLACES + kept++;
  });
  const order = keys.subarray(0, kept).sort(),
    rows = order.map((key) => Math.floor(key / PLACES)),
    first = Uint32Array.from(order.keys()).filter((i) => i === 0 || rows[i] !== rows[i - 1]);
  return new Column(
    first.map((i) => rows[i]!),
    Float64Array.from(first, (i) => values[order[i]! % PLACES]!),
  );
}

function join(page: RankReported, own: RankReported, rows: Int32Array, numbers: readonly number[]): RankReported {
  const row = (each: number): number => rows[each] ?? -1,
    valueOf = { row, number: (value: number): number => value, name: (number: number): number => numbers[number] ?? -1 };
  const columns = columnsBy((name, values) =>
    joinColumns(page.columns[name], own.columns[name], row, name === "shape" ? (shape) => page.shapes.length + shape : valueOf[values]),
  );
  return new RankReported(columns, [...page.shapes, ...own.shapes], page.counters);
}

/* Merges the details from the page and the server. Those of a rank are decoded when one of its events needs them. */
function joinedReported({ page }: Reported, events: Events, fetched: ReadonlyMap<number, Fetched>): Reported {
  const ranks = new Map<number, RankReported>();
  const of = (at: number): RankReported => {
    const own = fetched.get(at),
      known = own ? ranks.get(at) : page(at);
    if (known || !own) return known!;
    const more = reportedOf(own.tile.details, own.tile.events).get(own.place),
      reported = more ? join(page(at), more, rowsOf(own, events), own.numbers) : page(at);
    ranks.set(at, reported);
    return reported;
  };
  return { of, page };
}
