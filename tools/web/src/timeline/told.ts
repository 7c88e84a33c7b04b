/** Details of events that their columns lack, as src/report/timeline_details.c writes them. */
import { Bytes } from "./bytes";
import { lowest } from "./lanes";
import type { Events } from "./model";

/** Launch parameters of a kernel; -1 unknown. */
export interface Shape {
  readonly grid: readonly number[];
  readonly block: readonly number[];
  readonly registers: number;
  /** Shared memory per block [bytes]. */
  readonly shared: number;
  /** Estimated occupancy [%]. */
  readonly occupancy: number;
}

/** A number for some of the events. */
export class Column {
  constructor(
    /** Event rows, ascending. */
    readonly rows: Uint32Array,
    readonly values: Float64Array,
  ) {}

  /** Value of an event; -1: none. */
  of(row: number): number {
    const i = lowest(this.rows.length, (k) => this.rows[k]! >= row);
    return this.rows[i] === row ? this.values[i]! : -1;
  }
}

/** A recorded counter; `counter` and `series` are name numbers. */
export interface Series {
  readonly counter: number;
  readonly series: number;
  readonly times: Float64Array;
  readonly values: Float64Array;
}

const NONE: readonly number[] = [];

/** Details of one rank's events. */
export class RankTold {
  /** Indices into the column of launches, sorted by row of the call. */
  #byCall: Uint32Array | undefined;

  constructor(
    readonly launches: Column,
    readonly correlations: Column,
    readonly shapes: readonly Shape[],
    readonly shape: Column,
    /** Bytes of copies and sets. */
    readonly bytes: Column,
    /** Name numbers of an operator's input shapes, and of its call stack. */
    readonly inputs: Column,
    readonly stacks: Column,
    readonly counters: readonly Series[],
  ) {}

  /** Rows launched by calls [first, end), in order of the calls. */
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

/** Details of events, by rank index. */
export interface Told {
  of(at: number): RankTold;
  /** Details in the page only, without those fetched. */
  page(at: number): RankTold;
}

/** The block "timeline.details", decoded when an event is first asked about. */
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

/** @param base row of the rank's first event @param from initial value for difference-coded values; null: values
 * are name numbers */
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

/** Decodes the details of each rank in the block. */
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
