/** Decodes details of events that are not columns of the timeline (src/report/timeline_details.c). Finds launches with them. */
import { Bytes } from "./decode";
import { lowest, type Lanes } from "./lanes";
import { THREAD, type Events, type Track } from "./model";

export class Column {
  constructor(
    /** Rows of events, ascending. */
    readonly rows: Uint32Array,
    readonly values: Float64Array,
  ) {}

  /** Returns the value of the event in this row; -1 if it has none. */
  of(row: number): number {
    const i = lowest(this.rows.length, (k) => this.rows[k]! >= row);
    return this.rows[i] === row ? this.values[i]! : -1;
  }
}

const NONE: readonly number[] = [];

/* The columns of a rank's details, in the order of the block. `launches`: row of the launching call. `bytes`: size of a copy or set.
 * `inputs`: shapes of an operator's inputs. `stacks`: its call stack. Rows and numbers are stored as differences, a name as its number. */
const COLUMNS = {
  launches: "row",
  correlations: "number",
  shape: "number",
  bytes: "number",
  inputs: "name",
  stacks: "name",
} as const;

type Columns = Readonly<Record<keyof typeof COLUMNS, Column>>;

/** Makes all columns. Calls `make` with the name of each column and the type of its values. */
export function columnsBy(make: (name: keyof Columns, values: (typeof COLUMNS)[keyof Columns]) => Column): Columns {
  const entries = Object.entries(COLUMNS) as [keyof Columns, (typeof COLUMNS)[keyof Columns]][];
  return Object.fromEntries(entries.map(([name, values]) => [name, make(name, values)])) as unknown as Columns;
}

export class RankReported {
  /** Indices into the column `launches`, ordered by the row of the launching call. */
  #byCall: Uint32Array | undefined;

  constructor(
    readonly columns: Columns,
    readonly shapes: readonly Shape[],
    readonly counters: readonly ReturnType<typeof seriesOf>[],
  ) {}

  /** Returns the rows of the events that were launched by the calls in rows [first, end), in the order of the calls. */
  launched(first: number, end: number): readonly number[] {
    const { rows, values } = this.columns.launches;
    if (rows.length === 0) return NONE;
    this.#byCall ??= Uint32Array.from(rows.keys()).sort((a, b) => values[a]! - values[b]! || a - b);
    const order = this.#byCall,
      out: number[] = [];
    for (let i = lowest(order.length, (k) => values[order[k]!]! >= first); i < order.length && values[order[i]!]! < end; i++)
      out.push(rows[order[i]!]!);
    return out;
  }
}

const UNREPORTED = new RankReported(
  columnsBy(() => new Column(new Uint32Array(0), new Float64Array(0))),
  [],
  [],
);

/** `of`, `page`: details of a rank's events, by the index of the rank. `page` leaves out events that were fetched from the server. */
export type Reported = Readonly<Record<"of" | "page", (at: number) => RankReported>>;

/** Reads the block "timeline.details". Decodes it only when details of an event are needed. */
export function pageReported(data: Uint8Array, events: Events): Reported {
  let ranks: Map<number, RankReported> | undefined;
  const of = (at: number) => (ranks ??= reportedOf(data, events)).get(at) ?? UNREPORTED;
  return { of, page: of };
}

/** Decodes a column. @param base row of the rank's first event @param from added to the first difference; null: values are not
 * differences */
function column(bytes: Bytes, base: number, from: number | null): Column {
  const n = bytes.number(),
    rows = new Uint32Array(n),
    values = new Float64Array(n);
  for (let i = 0, row = base; i < n; i++) rows[i] = row += bytes.number();
  for (let i = 0, value = from ?? 0; i < n; i++) values[i] = from === null ? bytes.number() : (value += bytes.signed());
  return new Column(rows, values);
}

/* Decodes launch parameters of a kernel. `shared`: shared memory per block [B]. `occupancy`: [%]. -1: unknown. */
function shapeOf(bytes: Bytes) {
  const next = (): number => bytes.number() - 1,
    grid = [next(), next(), next()],
    block = [next(), next(), next()],
    [registers, shared, occupancy] = [next(), next(), next()];
  return { grid, block, registers, shared, occupancy: occupancy < 0 ? -1 : occupancy / 100 };
}

export type Shape = ReturnType<typeof shapeOf>;

/* Decodes a recorded counter. `counter` and `series` are numbers of names. */
function seriesOf(bytes: Bytes) {
  const counter = bytes.number(),
    series = bytes.number(),
    times = new Float64Array(bytes.number());
  for (let i = 0, time = 0; i < times.length; i++) times[i] = time += bytes.signed();
  const raw = bytes.bytes(4 * times.length),
    view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
  return { counter, series, times, values: Float64Array.from(times, (_, i) => view.getFloat32(4 * i, true)) };
}

export function reportedOf(data: Uint8Array, events: Events): Map<number, RankReported> {
  const bytes = new Bytes(data),
    out = new Map<number, RankReported>(),
    first = new Map<number, number>();
  for (const track of events.tracks) if (!first.has(track.at)) first.set(track.at, track.first);
  while (!bytes.done) {
    const at = bytes.number(),
      base = first.get(at) ?? 0,
      shapes = Array.from({ length: bytes.number() }, () => shapeOf(bytes));
    const columns = columnsBy((_, values) => column(bytes, base, values === "name" ? null : values === "row" ? base : 0)),
      counters = Array.from({ length: bytes.number() }, () => seriesOf(bytes));
    out.set(at, new RankReported(columns, shapes, counters));
  }
  return out;
}

/** `call`: row of a call. `row`: row of an event that the call launched, or that it queued for another thread to run. */
export type Launch = Readonly<Record<"call" | "row", number>>;

/* Returns those events in rows [first, end) that enclose the event in @p row, innermost first. @p deep: depth of this event. */
function enclosing(events: Events, first: number, end: number, row: number, deep: number): number[] {
  const out: number[] = [];
  let depth = deep;
  for (let i = end - 1; i >= first && depth > 0; i--)
    if (events.depth[i]! < depth && events.begin[i]! + events.duration[i]! > events.begin[row]!) {
      out.push(i);
      depth = events.depth[i]!;
    }
  return out;
}

/** Returns the events of a thread that enclose an event, innermost first. Also searches the track that this track continues. */
export function around(events: Events, { first, continues }: Track, row: number): number[] {
  const { begin, duration, depth } = events,
    own = enclosing(events, first, row, row, depth[row]!);
  if (!continues) return own;
  const end = continues.first + lowest(continues.n, (i) => begin[continues.first + i]! > begin[row]!),
    others = enclosing(events, continues.first, end, row, Infinity);
  return [...own, ...others].sort((a, b) => begin[b]! - begin[a]! || duration[a]! - duration[b]!);
}

/** Returns the first later row whose event begins at or after the end of the event in @p row. All rows are of one thread. */
function inside(events: Events, track: Track, row: number): number {
  const end = events.begin[row]! + events.duration[row]!,
    n = track.first + track.n - row;
  return (
    row +
    Math.max(
      1,
      lowest(n, (i) => events.begin[row + i]! >= end),
    )
  );
}

/** Returns the launch of a device event. For a host event, returns the launches by all calls in it. */
export function launchesOf(lanes: Lanes, reported: Reported, row: number): readonly Launch[] {
  const { events } = lanes,
    track = lanes.trackOf(row)!,
    own = reported.of(track.at),
    call = own.columns.launches.of(row),
    out: Launch[] = call >= 0 ? [{ call, row }] : [];
  if (track.kind !== THREAD) return out;
  for (const each of own.launched(row, inside(events, track, row))) out.push({ call: own.columns.launches.of(each), row: each });
  return out;
}
