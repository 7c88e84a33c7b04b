/** Other runs of a kernel or call: earlier and later on its rank, and at the same occurrence index on other ranks. */
import type { Lanes } from "./lanes";
import { STREAM, type Events, type JobBlock } from "./model";
import { hasEvents } from "./sums";

/* Returns, by the index of the rank, the events with the name and kind of the given event, ascending by begin. */
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

export type Same = ReturnType<typeof sameAs>;

/** Finds other runs of the event's kernel or call. Returns all runs on the event's rank, and the event's index among them; the longest
 * run on all ranks; the event's occurrence index in its step (on the rank if there are no steps), and the number of occurrences; for
 * each other rank, the run with the same occurrence index, or -1 if the rank has another number of runs or if they are not in the page. */
export function sameAs(job: JobBlock, lanes: Lanes, row: number) {
  const { events } = lanes,
    { at } = lanes.trackOf(row)!,
    lists = alike(events, lanes, job.ranks.length, row),
    own = lists[at]!;
  const step = job.steps
    ? (job.ranks[at]!.parts.find((part) => part.begin <= events.begin[row]! && events.begin[row]! < part.end)?.number ?? null)
    : null;
  /* the runs on a rank in the event's step; null if they are not in the page */
  const inStep = (place: number): readonly number[] | null => {
    const rank = job.ranks[place]!,
      part = step === null ? null : rank.parts.find((each) => each.number === step);
    if (step !== null && !part) return null;
    if (!hasEvents(job, rank, part ?? { begin: 0, end: job.duration })) return null;
    return part ? lists[place]!.filter((each) => events.begin[each]! >= part.begin && events.begin[each]! < part.end) : lists[place]!;
  };
  const mine = inStep(at) ?? own,
    place = mine.indexOf(row);
  const peers = job.ranks.flatMap((_, other) => {
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
