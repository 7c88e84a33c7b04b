/** The part of an event's panel about other runs of its kernel, and about the kernel itself. */
import { h, type Child } from "../dom";
import * as f from "../format";
import type { Controller } from "./controller";
import { COMPUTE, COPIES, LANE_KINDS, THREAD, type Events, STREAM, type JobBlock } from "./model";
import type { Lanes } from "./lanes";
import { hasEvents } from "./sums";

/** Maximum number of ranks in the list. Of more ranks, those with the longest durations are listed. */
const LISTED = 24;

/* Shows a run of the kernel or call. null: there is none, or it is unknown. */
type Go = (() => void) | null;

const button = (text: string, go: Go, label: string): HTMLElement =>
  h("button", { "aria-label": label, disabled: !go, click: () => go?.() }, text);

function ownPart({ index, count, median, slowest, ofAll, before, after, lacks }: Elsewhere): Child {
  const longest = slowest ? `longest ${ofAll} ${f.time(slowest.duration)} on rank ${slowest.rank}` : `the longest ${ofAll}`;
  return [
    h("p", `No. ${f.grouped(index + 1)} of ${f.grouped(count)} on this rank, median ${f.time(median)}; ${longest}${lacks}`),
    h(
      "p.tl-turn",
      button("Previous", before, "Previous run on this rank"),
      button("Next", after, "Next run on this rank"),
      button("Slowest", slowest?.go ?? null, ofAll === "of all" ? "The slowest run on all ranks" : `The slowest run ${ofAll}`),
    ),
  ];
}

/* Lists the ranks by duration, longest first, and counts the ranks that cannot be compared. */
function othersPart({ runs, unlike, whole, step, place, places }: Elsewhere, duration: number): Child {
  const known = [...runs].sort((a, b) => b.duration - a.duration || a.rank - b.rank),
    inStep = step === null ? "" : ` in step ${step}`,
    missing = `No other rank can be compared: it ran a different number of times there${inStep}${whole ? "" : ", or is not in this page"}.`;
  if (known.length === 0) return unlike > 0 && h("p", missing);
  const middle = f.median(known.map((run) => run.duration)) ?? 0,
    against = middle > 0 ? `, ${f.times(duration / middle)} as long as their median ${f.time(middle)}` : "",
    are = whole ? "" : `, or ${unlike === 1 ? "is" : "are"} not in this page`,
    words = f.joined(
      " ",
      `No. ${f.grouped(place + 1)} of ${f.grouped(places)}${inStep}${against}.`,
      unlike > 0 && `${f.count(unlike, "rank", "ranks")} ran it a different number of times${are}.`,
      known.length > LISTED && `The ${LISTED} that took longest:`,
    ),
    item = ({ rank, duration: own, go }: (typeof known)[number]): HTMLElement =>
      h("li", h("button", { title: f.exact(own, "ns"), click: () => go?.() }, `rank ${rank} `, h("span", f.time(own))));
  return [h("h2", "The same place on the other ranks"), h("p", words), h("ol.tl-arrivals.tl-peers", known.slice(0, LISTED).map(item))];
}

/* Other runs of the same kernel or call. `index`, `count`, `median`: of the runs on its rank. `slowest`: the longest of the runs that
 * `ofAll` names; null if it is this one. `place`, `places`: index and number of the runs in its step. `runs`: on other ranks. `unlike`:
 * number of ranks that cannot be compared. `whole`: no ranks are missing in the page. */
type Elsewhere = ReturnType<typeof inPage>;

function inPage(controller: Controller, same: Same, row: number) {
  const { job, lanes } = controller.data,
    { duration } = lanes!.events,
    goTo = (to: number | undefined): Go => (to === undefined ? null : () => controller.selectEvent(to)),
    run = (at: number, to: number) => ({ rank: job.ranks[at]!.rank, duration: duration[to]!, go: goTo(to) }),
    known = same.peers.filter((peer) => peer.row >= 0),
    { index, place, places, step } = same;
  return {
    index,
    place,
    places,
    step,
    count: same.own.length,
    median: f.median(same.own.map((each) => duration[each]!)),
    before: goTo(same.own[same.index - 1]),
    after: goTo(same.own[same.index + 1]),
    slowest: same.slowest === row ? null : run(lanes!.trackOf(same.slowest)!.at, same.slowest),
    ofAll: "of all",
    lacks: job.complete ? "." : ", of the events in this page.",
    runs: known.map((peer) => run(peer.at, peer.row)),
    unlike: same.peers.length - known.length,
    whole: job.complete,
  };
}

/* Returns the server's answer about the whole store. Until it has come, returns a text. Returns null if the page has all events. */
function inStore(controller: Controller, row: number): Elsewhere | string | null {
  const { job, lanes } = controller.data,
    { events } = lanes!,
    track = lanes!.trackOf(row)!,
    own = { rank: job.ranks[track.at]!.rank, begin: events.begin[row]!, duration: events.duration[row]! };
  if (!controller.farSame || own.begin < 0) return null;
  const state = controller.farSame.of({ ...own, host: track.kind === THREAD ? 1 : 0 });
  if (!state) return "Comparing with the other ranks …";
  if (state.failed) return `It cannot be compared: ${state.failed}.`;
  const { value } = state,
    name = job.names[events.name[row]!] ?? "",
    kind = events.kind[row]!,
    [slowest, slowestBegin, slowestDuration] = value.longest;
  if (value.times === 0) return null;
  const goTo = (rank: number, times: readonly [number, number] | null): Go => {
    const at = job.ranks.findIndex((each) => each.rank === rank);
    return times && at >= 0 ? () => controller.goTo({ at, begin: times[0], duration: times[1], name, kind }) : null;
  };
  const run = (rank: number, begin: number, duration: number) => ({ rank, duration, go: goTo(rank, [begin, duration]) }),
    runs = value.peers.flatMap(([of, , begin, lasted]) => (begin === undefined || lasted === undefined ? [] : [run(of, begin, lasted)])),
    seen = `. ${f.grouped(value.peers.length)} of ${f.count(job.allRanks - 1, "other rank")} so far …`;
  return {
    ...value,
    count: value.all,
    before: goTo(own.rank, value.before),
    after: goTo(own.rank, value.after),
    slowest: slowest === own.rank && slowestBegin === own.begin ? null : run(slowest, slowestBegin, slowestDuration),
    ofAll: value.step === null ? "of all" : `in step ${value.step}`,
    lacks: state.done ? "." : seen,
    places: value.times,
    runs,
    unlike: value.peers.length - runs.length,
    whole: true,
  };
}

/* Says whether the event is on the critical path, and how large its slack is; null if no slack is known in this job. */
function pathWords(controller: Controller, row: number, step: number | null): string | null {
  const { job, path, lanes, slacks } = controller.data,
    { events } = lanes!,
    track = lanes!.trackOf(row)!,
    name = job.names[events.name[row]!],
    begin = events.begin[row]!,
    end = begin + events.duration[row]!;
  if (!slacks?.any) return null;
  const own = path.list.filter(({ piece }) => step === null || piece.step === step),
    on = own.filter(({ at, piece }) => at === track.at && piece.name === name && piece.begin < end && piece.end > begin),
    time = f.sum(on.map(({ piece }) => Math.min(piece.end, end) - Math.max(piece.begin, begin))),
    slack = slacks.words(job.ranks[track.at]!.rank, track, begin);
  if (own.length === 0) return `${slack[0]!.toUpperCase()}${slack.slice(1)}.`;
  return `${time > 0 ? `On the critical path for ${f.time(time)}` : "Not on the critical path"}: ${slack}.`;
}

/* Describes a kernel: its class, and its mean rate of floating-point operations. */
function kernelWords(controller: Controller, row: number, events: Events): string | null {
  const { classes, rates } = controller.data,
    kind = events.kind[row]!,
    own = classes?.[events.name[row]!],
    rate = rates?.[events.name[row]!];
  if (kind !== COMPUTE && kind !== COPIES) return null;
  const of = rate && `${f.significant(rate.tflops)}${f.SPACE}TFLOP/s, mean of ${f.count(rate.calls, "call")} of this kernel`;
  return f.joined("; ", own !== undefined && `Class: ${own}`, of);
}

export function samePart(controller: Controller, row: number): { readonly own: Child; readonly others: Child } {
  const { job, lanes } = controller.data,
    { events } = lanes!,
    far = inStore(controller, row),
    same = sameAs(job, lanes!, row),
    kernel = kernelWords(controller, row, events),
    path = events.kind[row]! < LANE_KINDS ? pathWords(controller, row, same.step) : null,
    found = far ?? inPage(controller, same, row);
  return {
    own: [kernel && h("p", kernel), path && h("p", path), typeof found === "string" ? h("p", found) : ownPart(found)],
    others: typeof found === "string" ? null : othersPart(found, events.duration[row]!),
  };
}

/* Returns for each rank, by index, the events with the name and kind of the event in @p row, ordered by begin. */
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

/** Finds other runs of an event's kernel. `own`: all on its rank. `slowest`: the longest on any rank. `place`: the event's index among the
 * runs in its step or, without steps, on its rank. `peers`: for each other rank, `row` of the run with the same index. `row` is -1 if the
 * number of runs differs there, or if the page lacks these runs. */
export function sameAs(job: JobBlock, lanes: Lanes, row: number) {
  const { events } = lanes,
    { at } = lanes.trackOf(row)!,
    lists = alike(events, lanes, job.ranks.length, row),
    own = lists[at]!;
  const step = job.steps
    ? (job.ranks[at]!.parts.find((part) => part.begin <= events.begin[row]! && events.begin[row]! < part.end)?.number ?? null)
    : null;
  /* the runs on a rank in the event's step; null if the page lacks them */
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
