/** Links device events to the calls that launched them. */
import { lowest, type Lanes } from "./lanes";
import { THREAD, type Events, type Track } from "./model";
import type { Reported } from "./event_details";

/** Rows of a call, and of an event that it launched or put into a queue, from which another thread took it. */
export type Launch = Readonly<Record<"call" | "row", number>>;

/* Returns the events in rows [first, end) that enclose an event of depth @p deep, innermost first. */
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

/** Returns the events of a thread that enclose an event, innermost first; also those in the track that its track continues. */
export function around(events: Events, { first, continues }: Track, row: number): number[] {
  const { begin, duration, depth } = events,
    own = enclosing(events, first, row, row, depth[row]!);
  if (!continues) return own;
  const end = continues.first + lowest(continues.n, (i) => begin[continues.first + i]! > begin[row]!),
    others = enclosing(events, continues.first, end, row, Infinity);
  return [...own, ...others].sort((a, b) => begin[b]! - begin[a]! || duration[a]! - duration[b]!);
}

/** Returns the first row after an event that does not begin during the event; the rows are those of the event's thread. */
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

/** Returns the launch of a device event. For a host event, returns the launches by all calls within it. */
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
