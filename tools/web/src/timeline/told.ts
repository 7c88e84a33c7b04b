/** What panels tell of events besides their columns, as src/report/timeline_details.c writes it. */
import { Bytes } from "./bytes";
import { lowest } from "./lanes";
import type { Events } from "./model";

/** What a kernel was launched with; -1 unknown. */
export interface Shape {
  readonly grid: readonly number[];
  readonly block: readonly number[];
  readonly registers: number;
  /** Shared memory of a block [bytes]. */
  readonly shared: number;
  /** Estimated occupancy [%]. */
  readonly occupancy: number;
}

/** Of some events a number. */
export class Column {
  constructor(
    /** Rows of events, ascending. */
    readonly rows: Uint32Array,
    readonly values: Float64Array,
  ) {}

  /** -1: nothing is told of it. */
  of(row: number): number {
    const i = lowest(this.rows.length, (k) => this.rows[k]! >= row);
    return this.rows[i] === row ? this.values[i]! : -1;
  }
}

/** A recorded counter; the numbers of its names. */
export interface Series {
  readonly counter: number;
  readonly series: number;
  readonly times: Float64Array;
  readonly values: Float64Array;
}

const NONE: readonly number[] = [];

/** What is told of one rank's events. */
export class RankTold {
  /** Places in the column of launches, by row of the call. */
  #byCall: Uint32Array | undefined;

  constructor(
    readonly launches: Column,
    readonly correlations: Column,
    readonly shapes: readonly Shape[],
    readonly shape: Column,
    /** Of copies and sets. */
    readonly bytes: Column,
    /** Numbers of the names that are shapes of an operator's inputs, and its call stack. */
    readonly inputs: Column,
    readonly stacks: Column,
    readonly counters: readonly Series[],
  ) {}

  /** Rows that calls [first, end) launched, in order of the calls. */
  launched(first: number, end: number): readonly number[] {
    const { rows, values } = this.launches;
    if (rows.length === 0) return NONE;
    this.#byCall ??= Uint32Array.from(rows.keys()).sort((a, b) => values[a]! - values[b]! || a - b);
    const order = this.#byCall,
      out: number[] = [];
    for (let i = lowest(order.length, (k) => values[order[k]!]! >= first); i < order.length && values[order[i]!]! < end; i++)
      out.push(rows[order[i]!]!);
    return out;
  }
}

const UNTOLD = new RankTold(
  ...([0, 0].map(() => new Column(new Uint32Array(0), new Float64Array(0))) as [Column, Column]),
  [],
  ...([0, 0, 0, 0].map(() => new Column(new Uint32Array(0), new Float64Array(0))) as [Column, Column, Column, Column]),
  [],
);

/** What is told of events, by the places of their ranks. */
export interface Told {
  of(at: number): RankTold;
  /** What the page tells without what was fetched besides. */
  page(at: number): RankTold;
}

/** The block "timeline.details", read when an event is first asked about. */
export class PageTold implements Told {
  #ranks: Map<number, RankTold> | undefined;

  constructor(
    readonly data: Uint8Array,
    readonly events: Events,
  ) {}

  of(at: number): RankTold {
    this.#ranks ??= toldOf(this.data, this.events);
    return this.#ranks.get(at) ?? UNTOLD;
  }

  page(at: number): RankTold {
    return this.of(at);
  }
}

/** @param base  row of the rank's first event  @param from  what values are counted from; null: names */
function column(bytes: Bytes, base: number, from: number | null): Column {
  const n = bytes.number(),
    rows = new Uint32Array(n),
    values = new Float64Array(n);
  for (let i = 0, row = base; i < n; i++) rows[i] = row += bytes.number();
  for (let i = 0, value = from ?? 0; i < n; i++) values[i] = from === null ? bytes.number() : (value += bytes.signed());
  return new Column(rows, values);
}

function shapeOf(bytes: Bytes): Shape {
  const [x, y, z, bx, by, bz, registers, shared, occupancy] = Array.from({ length: 9 }, () => bytes.number() - 1) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  return { grid: [x, y, z], block: [bx, by, bz], registers, shared, occupancy: occupancy < 0 ? -1 : occupancy / 100 };
}

function seriesOf(bytes: Bytes): Series {
  const counter = bytes.number(),
    series = bytes.number(),
    times = new Float64Array(bytes.number());
  for (let i = 0, time = 0; i < times.length; i++) times[i] = time += bytes.signed();
  const raw = bytes.bytes(4 * times.length),
    view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
  return { counter, series, times, values: Float64Array.from(times, (_, i) => view.getFloat32(4 * i, true)) };
}

/** What is told of each rank of the block. */
export function toldOf(data: Uint8Array, events: Events): Map<number, RankTold> {
  const bytes = new Bytes(data),
    out = new Map<number, RankTold>(),
    first = new Map<number, number>();
  for (const track of events.tracks) if (!first.has(track.at)) first.set(track.at, track.first);
  while (!bytes.done) {
    const at = bytes.number(),
      base = first.get(at) ?? 0,
      shapes = Array.from({ length: bytes.number() }, () => shapeOf(bytes));
    const launches = column(bytes, base, base),
      correlations = column(bytes, base, 0),
      shape = column(bytes, base, 0),
      sizes = column(bytes, base, 0),
      inputs = column(bytes, base, null),
      stacks = column(bytes, base, null),
      counters = Array.from({ length: bytes.number() }, () => seriesOf(bytes));
    out.set(at, new RankTold(launches, correlations, shapes, shape, sizes, inputs, stacks, counters));
  }
  return out;
}
