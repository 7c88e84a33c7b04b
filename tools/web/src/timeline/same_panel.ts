/** The part of an event's panel on the same kernel elsewhere, and on the kernel itself. */
import { h, type Child } from "../dom";
import * as f from "../format";
import type { Controller } from "./controller";
import { COMPUTE, COPIES, LANE_KINDS, THREAD, type Events } from "./model";
import { sameAs, type Same } from "./same";

/** Maximum number of ranks listed; of more those with the longest durations. */
const LISTED = 24;

function go(controller: Controller, text: string, row: number, label = text): HTMLElement {
  return h("button", { "aria-label": label, disabled: row < 0, on: { click: () => row >= 0 && controller.selectEvent(row) } }, text);
}

function onRank(same: Same, controller: Controller, row: number): Child {
  const { job, lanes } = controller.data,
    { events } = lanes!,
    rankOf = (each: number): number => job.ranks[lanes!.trackOf(each)!.at]!.rank;
  const durations = same.own.map((each) => events.duration[each]!);
  const slowest =
    same.slowest === row
      ? "the longest of all"
      : `longest of all ${f.time(events.duration[same.slowest]!)} on rank ${rankOf(same.slowest)}`;
  return [
    h(
      "p",
      `No. ${f.grouped(same.index + 1)} of ${f.grouped(same.own.length)} on this rank, median ${f.time(f.median(durations))}; ${slowest}`,
      job.complete ? "." : ", of the events in this page.",
    ),
    h(
      "p.tl-turn",
      go(controller, "Previous", same.own[same.index - 1] ?? -1, "Previous run on this rank"),
      go(controller, "Next", same.own[same.index + 1] ?? -1, "Next run on this rank"),
      go(controller, "Slowest", same.slowest === row ? -1 : same.slowest, "The slowest run on all ranks"),
    ),
  ];
}

/* Duration of the same event on another rank. */
interface Run {
  readonly rank: number;
  readonly duration: number;
  readonly choose: () => void;
}

/* Position of the event among its peers. */
interface Standing {
  readonly place: number;
  readonly places: number;
  readonly step: number | null;
  /** Number of ranks that cannot be compared. */
  readonly unlike: number;
}

function onOthers(same: Same, controller: Controller, row: number): Child {
  const { job, lanes } = controller.data,
    { events } = lanes!,
    known = same.peers
      .filter((peer) => peer.row >= 0)
      .map((peer) => ({
        rank: job.ranks[peer.at]!.rank,
        duration: events.duration[peer.row]!,
        choose: () => controller.selectEvent(peer.row),
      }));
  return compared(known, { ...same, unlike: same.peers.length - known.length }, events.duration[row]!, job.complete);
}

/* Lists the ranks by duration, longest first; counts those that cannot be compared. @param all whether all ranks
 * are known, from the page or the server */
function compared(runs: readonly Run[], same: Standing, duration: number, all: boolean): Child {
  const known = [...runs].sort((a, b) => b.duration - a.duration || a.rank - b.rank),
    { unlike } = same,
    elsewhere = all ? "" : ", or is not in this page",
    are = all ? "" : `, or ${unlike === 1 ? "is" : "are"} not in this page`,
    inStep = same.step === null ? "" : ` in step ${same.step}`;
  if (known.length + unlike === 0) return null;
  const where = `no. ${f.grouped(same.place + 1)} of ${f.grouped(same.places)}${inStep}`;
  if (known.length === 0) return h("p", `No other rank can be compared: it ran a different number of times there${inStep}${elsewhere}.`);
  const middle = f.median(known.map((run) => run.duration)) ?? 0,
    against = middle > 0 ? `, ${f.times(duration / middle)} as long as their median ${f.time(middle)}` : "";
  const item = (run: Run): HTMLElement =>
    h(
      "li",
      h("button", { title: f.exact(run.duration, "ns"), on: { click: run.choose } }, `rank ${run.rank} `, h("span", f.time(run.duration))),
    );
  return [
    h("h2", "The same place on the other ranks"),
    h(
      "p",
      `${where[0]!.toUpperCase()}${where.slice(1)}${against}.`,
      unlike > 0 && ` ${f.count(unlike, "rank", "ranks")} ran it a different number of times${are}.`,
      known.length > LISTED && ` The ${LISTED} that took longest:`,
    ),
    h("ol.tl-arrivals.tl-peers", known.slice(0, LISTED).map(item)),
  ];
}

/* The same from the server, over the whole store, if the page lacks events. */
function farParts(controller: Controller, row: number): { own: Child; others: Child } | null {
  const { job, lanes } = controller.data,
    { events } = lanes!,
    track = lanes!.trackOf(row)!,
    duration = events.duration[row]!,
    { rank } = job.ranks[track.at]!;
  if (!controller.farSame || events.begin[row]! < 0) return null;
  const state = controller.farSame.of({ rank, begin: events.begin[row]!, duration, host: track.kind === THREAD ? 1 : 0 });
  if (!state) return { own: h("p", "Comparing with the other ranks …"), others: null };
  if (state.failed) return { own: h("p", `It cannot be compared: ${state.failed}.`), others: null };
  const { value } = state,
    name = job.names[events.name[row]!] ?? "",
    kind = events.kind[row]!,
    [slowest, slowestBegin, slowestDuration] = value.longest;
  if (value.times === 0) return null;
  const goTo = (of: number, times: readonly [number, number] | null, text: string, label: string): HTMLElement => {
    const at = job.ranks.findIndex((each) => each.rank === of);
    return h(
      "button",
      {
        "aria-label": label,
        disabled: !times || at < 0,
        on: { click: () => times && controller.goTo({ at, begin: times[0], duration: times[1], name, kind }) },
      },
      text,
    );
  };
  const isSlowest = slowest === rank && slowestBegin === events.begin[row],
    inStep = value.step === null ? "of all" : `in step ${value.step}`;
  const own = [
    h(
      "p",
      `No. ${f.grouped(value.index + 1)} of ${f.grouped(value.all)} on this rank, median ${f.time(value.median)}; `,
      isSlowest ? `the longest ${inStep}.` : `longest ${inStep} ${f.time(slowestDuration)} on rank ${slowest}.`,
      !state.done && ` ${f.grouped(value.peers.length)} of ${f.count(job.allRanks - 1, "other rank")} so far …`,
    ),
    h(
      "p.tl-turn",
      goTo(rank, value.before, "Previous", "Previous run on this rank"),
      goTo(rank, value.behind, "Next", "Next run on this rank"),
      goTo(slowest, isSlowest ? null : [slowestBegin, slowestDuration], "Slowest", `The slowest run ${inStep}`),
    ),
  ];
  const runs = value.peers.flatMap(([of, , begin, lasted]): Run[] =>
    begin === undefined || lasted === undefined
      ? []
      : [
          {
            rank: of,
            duration: lasted,
            choose: () => controller.goTo({ at: job.ranks.findIndex((each) => each.rank === of), begin, duration: lasted, name, kind }),
          },
        ],
  );
  const standing = { place: value.place, places: value.times, step: value.step, unlike: value.peers.length - runs.length };
  return { own, others: compared(runs, standing, duration, true) };
}

/* Whether the event is on the critical path, if the page holds that of its step, and its slack. */
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

/* For a kernel: its class, and what it computes according to its operators' shapes. */
function kernelWords(controller: Controller, row: number, events: Events): string | null {
  const { classes, rates } = controller.data,
    kind = events.kind[row]!,
    own = classes?.[events.name[row]!],
    rate = rates?.[events.name[row]!];
  if (kind !== COMPUTE && kind !== COPIES) return null;
  return [
    own === undefined ? null : `Class: ${own}`,
    rate === undefined ? null : `${f.significant(rate.tflops)}${f.SPACE}TFLOP/s, mean of ${f.count(rate.calls, "call")} of this kernel`,
  ]
    .filter((part) => part !== null)
    .join("; ");
}

/** The parts of the panel: on its own rank, and on the others. */
export function samePart(controller: Controller, row: number): { readonly own: Child; readonly others: Child } {
  const { job, lanes } = controller.data,
    { events } = lanes!,
    far = farParts(controller, row),
    same = sameAs(job, lanes!, row),
    kernel = kernelWords(controller, row, events),
    path = events.kind[row]! < LANE_KINDS ? pathWords(controller, row, same.step) : null;
  return {
    own: [kernel ? h("p", kernel) : null, path && h("p", path), far ? far.own : onRank(same, controller, row)],
    others: far ? far.others : onOthers(same, controller, row),
  };
}
