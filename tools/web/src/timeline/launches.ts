/** From events of the device to the calls that launched them, and back. */
import { lowest, type Lanes } from "./lanes";
import { THREAD, type Events, type Track } from "./model";
import type { Told } from "./told";

/** A call, and what it launched or what a thread took from the queue that it put it in. */
export interface Launch {
  readonly call: number;
  readonly row: number;
}

/** The events of a thread that an event lies in, the innermost first. */
export function around(events: Events, { first }: Track, row: number): number[] {
  const out: number[] = [];
  let depth = events.depth[row]!;
  for (let i = row - 1; i >= first && depth > 0; i--)
    if (events.depth[i] === depth - 1) {
      out.push(i);
      depth--;
    }
  return out;
}

/** Rows [row, end) of an event's thread that begin in it. */
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

/** Of an event of the device its launch; of one on the host the launches by calls in it. */
export function launchesOf(lanes: Lanes, told: Told, row: number): readonly Launch[] {
  const { events } = lanes,
    track = lanes.trackOf(row)!,
    own = told.of(track.at),
    call = own.launches.of(row),
    out: Launch[] = call >= 0 ? [{ call, row }] : [];
  if (track.kind !== THREAD) return out;
  for (const each of own.launched(row, inside(events, track, row))) out.push({ call: own.launches.of(each), row: each });
  return out;
}
