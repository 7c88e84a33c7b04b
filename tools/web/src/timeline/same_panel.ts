/** What an event's panel says of the same kernel elsewhere, and of what is known of it. */
import { h, type Child } from "../dom";
import * as f from "../format";
import type { Controller } from "./controller";
import { COMPUTE, COPIES, LANE_KINDS, type Events } from "./model";
import { sameAs, type Peer, type Same } from "./same";

/** So many ranks are listed; of more those that took longest. */
const LISTED = 24;

function go(controller: Controller, text: string, row: number, label = text): HTMLElement {
  return h(
    "button",
    { attr: { type: "button", "aria-label": label, disabled: row < 0 }, on: { click: () => row >= 0 && controller.selectEvent(row) } },
    text,
  );
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
      null,
      `No. ${f.grouped(same.index + 1)} of ${f.grouped(same.own.length)} on this rank, median ${f.time(f.median(durations))}; ${slowest}`,
      job.complete ? "." : ", of the events in this page.",
    ),
    h(
      "p",
      { class: "tl-turn" },
      go(controller, "Previous", same.own[same.index - 1] ?? -1, "Previous of the same on this rank"),
      go(controller, "Next", same.own[same.index + 1] ?? -1, "Next of the same on this rank"),
      go(controller, "Slowest", same.slowest === row ? -1 : same.slowest, "The slowest of the same on all ranks"),
    ),
  ];
}

/* Each with its duration, the longest first; ranks that cannot be compared are counted. */
function onOthers(same: Same, controller: Controller, row: number): Child {
  const { job, lanes } = controller.data,
    { events } = lanes!;
  if (same.peers.length === 0) return null;
  const known = same.peers.filter((peer) => peer.row >= 0).sort((a, b) => events.duration[b.row]! - events.duration[a.row]! || a.at - b.at),
    unlike = same.peers.length - known.length;
  const where = `no. ${f.grouped(same.place + 1)} of ${f.grouped(same.places)}${same.step === null ? "" : ` in step ${same.step}`}`;
  if (known.length === 0)
    return h(
      "p",
      null,
      `No other rank can be compared: it ran another number of times there${same.step === null ? "" : ` in step ${same.step}`}, or is not in this page.`,
    );
  const middle = f.median(known.map((peer) => events.duration[peer.row]!)) ?? 0,
    against = middle > 0 ? `, ${f.times(events.duration[row]! / middle)} as long as their median ${f.time(middle)}` : "";
  const item = (peer: Peer): HTMLElement =>
    h(
      "li",
      null,
      h(
        "button",
        {
          attr: { type: "button" },
          title: f.exact(events.duration[peer.row]!, "ns"),
          on: { click: () => controller.selectEvent(peer.row) },
        },
        `rank ${job.ranks[peer.at]!.rank} `,
        h("span", null, f.time(events.duration[peer.row]!)),
      ),
    );
  return [
    h("h2", null, "The same place on the other ranks"),
    h(
      "p",
      null,
      `${where[0]!.toUpperCase()}${where.slice(1)}${against}.`,
      unlike > 0 &&
        ` ${f.count(unlike, "rank", "ranks")} ran it another number of times, or ${unlike === 1 ? "is" : "are"} not in this page.`,
      known.length > LISTED && ` The ${LISTED} that took longest:`,
    ),
    h("ol", { class: "tl-arrivals tl-peers" }, known.slice(0, LISTED).map(item)),
  ];
}

/* On the critical path or not, where the page holds that of its step, and its slack. */
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

/* Of a kernel: its class, and what its operators' shapes say that it computes. */
function kernelWords(controller: Controller, row: number, events: Events): string | null {
  const { classes, rates } = controller.data,
    kind = events.kind[row]!,
    own = classes?.[events.name[row]!],
    rate = rates?.[events.name[row]!];
  if (kind !== COMPUTE && kind !== COPIES) return null;
  return [
    own === undefined ? null : `Class: ${own}`,
    rate === undefined ? null : `${f.significant(rate)}${f.SPACE}TFLOP/s in the mean of all its calls`,
  ]
    .filter((part) => part !== null)
    .join("; ");
}

/** The parts of the panel: of its rank, and of the others. */
export function samePart(controller: Controller, row: number): { readonly own: Child; readonly others: Child } {
  const { job, lanes } = controller.data,
    { events } = lanes!,
    same = sameAs(job, lanes!, row),
    kernel = kernelWords(controller, row, events),
    path = events.kind[row]! < LANE_KINDS ? pathWords(controller, row, same.step) : null;
  return {
    own: [kernel ? h("p", null, kernel) : null, path && h("p", null, path), onRank(same, controller, row)],
    others: onOthers(same, controller, row),
  };
}
