/** The same kernel or call elsewhere: before and after on its rank, and at its place on the other ranks. */
import type { Lanes } from "./lanes";
import { STREAM, type Events, type JobBlock } from "./model";
import { hasEvents } from "./sums";

/** The event at the same place of another rank. */
export interface Peer {
  /** Place of the rank. */
  readonly at: number;
  /** -1: it ran there another number of times, or its events are not in the page. */
  readonly row: number;
}

export interface Same {
  /** Events of the name on its rank, in order of begin, and the place of the event among them. */
  readonly own: readonly number[];
  readonly index: number;
  /** The longest on all ranks. */
  readonly slowest: number;
  /** Number of all. */
  readonly all: number;
  /** Its place in its step, from 0, or without steps on the rank; of so many. */
  readonly place: number;
  readonly places: number;
  readonly step: number | null;
  /** One for each of the other ranks. */
  readonly peers: readonly Peer[];
}

/* Events that have the name and kind of one, by place of the rank, in order of begin. */
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

/** Where else the event's kernel or call ran. */
export function sameAs(job: JobBlock, lanes: Lanes, row: number): Same {
  const { events } = lanes,
    { at } = lanes.trackOf(row)!,
    lists = alike(events, lanes, job.ranks.length, row),
    own = lists[at]!;
  const step = job.steps
    ? (job.ranks[at]!.parts.find((part) => part.begin <= events.begin[row]! && events.begin[row]! < part.end)?.number ?? null)
    : null;
  /* of a rank in that step; null where its events are not in the page */
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
