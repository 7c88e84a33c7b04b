/** Details of events after a window came from the server: merges those of the page with those of the window. */
import type { Events, Track } from "./model";
import { Column, columnsBy, RankReported, reportedOf, type Reported } from "./event_details";
import type { Tile } from "./tile";

/** Where the merged data has the events of a tile's track. */
export interface Placed {
  /** The tile's track. */
  readonly track: Track;
  /** Rows of the tile that the page lacked. In the merged data, they are first, first + 1 and so on. */
  readonly rows: readonly number[];
  readonly first: number;
  /** The page's track that has the track's other events. */
  readonly base: Track | undefined;
}

/** A rank of a tile. */
export interface Fetched {
  readonly tile: Tile;
  readonly place: number;
  /** Maps the tile's name numbers to the page's. */
  readonly numbers: readonly number[];
  readonly placed: readonly Placed[];
}

/* Maps each event of a tile to its row in the page; -1 for events of other ranks. */
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

/** A sort key is row * PLACES + position. PLACES is more than the number of values in two columns, and row * PLACES stays below 2^53. */
const PLACES = 2 ** 22;

/** Merges two columns. If both have a value for an event, takes that of the first. `row` and `value` convert rows and values of the
 * second; a result below 0 leaves the event or value out. */
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

/** Merged details, decoded for each rank when details of one of its events are first needed. */
export class JoinedReported implements Reported {
  readonly #ranks = new Map<number, RankReported>();

  constructor(
    readonly base: Reported,
    readonly events: Events,
    readonly fetched: ReadonlyMap<number, Fetched>,
  ) {}

  page(at: number): RankReported {
    return this.base.page(at);
  }

  of(at: number): RankReported {
    const own = this.fetched.get(at);
    let reported = this.#ranks.get(at);
    if (reported || !own) return reported ?? this.base.of(at);
    const more = reportedOf(own.tile.details, own.tile.events).get(own.place);
    reported = more ? join(this.base.page(at), more, rowsOf(own, this.events), own.numbers) : this.base.page(at);
    this.#ranks.set(at, reported);
    return reported;
  }
}
