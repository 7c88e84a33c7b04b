/** The same kernel or call elsewhere: earlier and later on its rank, and at the same occurrence index on other ranks. */
import type { Lanes } from "./lanes";
import { STREAM, type Events, type JobBlock } from "./model";
import { hasEvents } from "./sums";

/** The event at the same occurrence index on another rank. */
export interface Peer {
  /** Index of the rank. */
  readonly at: number;
  /** -1 if that rank ran it a different number of times, or its events are not in the page. */
  readonly row: number;
}

export interface Same {
  /** Events of the name on its rank, in order of begin, and the event's index among them. */
  readonly own: readonly number[];
  readonly index: number;
  /** The longest event on all ranks. */
  readonly slowest: number;
  /** Number of events on all ranks. */
  readonly all: number;
  /** Occurrence index in its step, or on the rank if there are no steps, from 0; and the number of occurrences. */
  readonly place: number;
  readonly places: number;
  readonly step: number | null;
  /** One entry per other rank. */
  readonly peers: readonly Peer[];
}

/* Events with the same name and kind as the given one, by rank index, in order of begin. */
function alike(events: Events, lanes: Lanes, ranks: number, row: number): number[][] {
  const name = events.name[row]!,
    kind = events.kind[row]!,
    onStream = lanes.trackOf(row)!.kind === STREAM,
    out: number[][] = Array.from({ length: ranks }, () => []);
  for (const track of events.tracks) {
    if ((track.kind === STREAM) !== onStream) continue;
    for (let i = track.first; i < track.first + track.n; i++)
      if (events.name[i] === name && events.kind[i] === kind) out[track.at]!.push(i);
  }
  for (const list of out) list.sort((a, b) => events.begin[a]! - events.begin[b]! || a - b);
  return out;
}

/** Finds where else the event's kernel or call ran. */
export function sameAs(job: JobBlock, lanes: Lanes, row: number): Same {
  const { events } = lanes,
    { at } = lanes.trackOf(row)!,
    lists = alike(events, lanes, job.ranks.length, row),
    own = lists[at]!;
  const step = job.steps
    ? (job.ranks[at]!.parts.find((part) => part.begin <= events.begin[row]! && events.begin[row]! < part.end)?.number ?? null)
    : null;
  /* occurrences on a rank in that step; null if its events are not in the page */
  const inStep = (place: number): readonly number[] | null => {
    const rank = job.ranks[place]!,
      part = step === null ? null : rank.parts.find((each) => each.number === step);
    if (step !== null && !part) return null;
    if (!hasEvents(job, rank, part ?? { begin: 0, end: job.duration })) return null;
    return part ? lists[place]!.filter((each) => events.begin[each]! >= part.begin && events.begin[each]! < part.end) : lists[place]!;
  };
  const mine = inStep(at) ?? own,
    place = mine.indexOf(row);
  const peers = job.ranks.flatMap((_, other): Peer[] => {
    if (other === at) return [];
    const theirs = inStep(other);
    return [{ at: other, row: theirs?.length === mine.length && place >= 0 ? theirs[place]! : -1 }];
  });
  let slowest = row;
  for (const list of lists) for (const each of list) if (events.duration[each]! > events.duration[slowest]!) slowest = each;
  return {
    own,
    index: own.indexOf(row),
    slowest,
    all: lists.reduce((n, list) => n + list.length, 0),
    place,
    places: mine.length,
    step,
    peers,
  };
}
