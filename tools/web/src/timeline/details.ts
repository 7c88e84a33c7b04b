/** The panel below the canvas: the selection, the marked range, the keys. */
import { plainTable } from "../ui";
import { h, name, fill, keepFocus, visible, type Child } from "../dom";
import * as f from "../format";
import { groupWord } from "../job";
import { kindOf, nameOf, type Placed } from "./path";
import { trackKey, trackName } from "./lanes";
import { HELP } from "./input";
import * as model from "./model";
import type { Controller } from "./controller";
import { areaPart, areaTab, areaTabs } from "./area_panel";
import { flagList } from "./flags";
import { foundList } from "./found_list";
import { launchPart } from "./launch_panel";
import { samePart } from "./same_panel";
import { sumsOf, type RankSums } from "./sums";
import type { ChartData } from "./chart";
import { doubt } from "./operations";

/** Up to ALL_ARRIVALS arrivals are all listed. Of more, only the first FIRST and the last LAST are listed. */
const ALL_ARRIVALS = 32,
  FIRST = 4,
  LAST = 16;
const SUM_ROWS = 256;
const NOTHING = "Nothing selected";

/** `element`: the panel. `spoken`: the same in one sentence, for screen readers. */
type Words = Readonly<{ element: HTMLElement; spoken: string }>;

/** Writes a title such as "ReduceScatter, step 12". */
export const operationTitle = (operation: model.Operation): string =>
  `${model.COLLECTIVE_WORDS[operation.kind] ?? model.COLLECTIVE_WORDS[0]!}${operation.step >= 0 ? `, step ${operation.step}` : ""}`;

type Reported = Pick<ChartData, "job" | "noWaits">;

const rankNumber = (job: model.JobBlock, member: model.Member): number => job.ranks[member.at]!.rank;

const inOrder = (operation: model.Operation): model.Member[] => [...operation.members].sort((a, b) => a.begin - b.begin || a.at - b.at);

/* Returns why the begins of an operation's members cannot be compared; null if they can. */
function notComparable(operation: model.Operation, { job, noWaits }: Reported): string | null {
  if (noWaits !== null) return noWaits;
  const ranks = operation.members.map((member) => job.ranks[member.at]!),
    apart = new Set(ranks.map((rank) => rank.domain)).size > 1;
  return apart && ranks.some((rank) => rank.noClock) ? "the clocks of its ranks cannot be compared" : null;
}

/* Says which rank of a transfer waited. A receiver waits for its sender, but a sender may finish before its receiver arrives. */
function transferWords(operation: model.Operation, reported: Reported): string {
  const { job } = reported;
  if (operation.size < 2) return "No wait is known: the other rank’s kernel is missing from its trace or was not matched.";
  const why = notComparable(operation, reported);
  if (why !== null) return `No wait is known: ${why}.`;
  const [low, high] = [...operation.members].sort((a, b) => rankNumber(job, a) - rankNumber(job, b));
  if (!low || !high) return "How long the receiver waited is not known here: only one of the two ranks is in this page.";
  const [sender, receiver] = operation.kind === model.SEND ? [low, high] : [high, low],
    late = sender.begin - receiver.begin,
    doubted = doubt(operation, receiver.at, job.ranks),
    about = doubted > 0 ? ` (±${f.time(doubted)})` : "",
    [from, to] = [rankNumber(job, sender), rankNumber(job, receiver)];
  if (late <= 0)
    return `The receiver, rank ${to}, arrived ${f.time(-late)}${about} after the sender, rank ${from}, and did not wait for it.`;
  return `The receiver, rank ${to}, waited ${f.time(Math.min(late, receiver.end - receiver.begin))}${about} for the sender, rank ${from}.`;
}

function whyNoWait(operation: model.Operation, reported: Reported): string {
  if (model.UNREPORTED.has(operation.kind)) return "No wait is known: the kind of this operation is not known.";
  if (!model.SYNCHRONISING.has(operation.kind))
    return `No wait is known: a rank may leave a ${model.COLLECTIVE_WORDS[operation.kind] ?? model.COLLECTIVE_WORDS[0]!} before all have arrived.`;
  const why = notComparable(operation, reported);
  if (why !== null) return `No wait is known: ${why}.`;
  return operation.size < 2
    ? "No wait is known: no other rank’s kernel was matched with it; they are missing from the traces or cannot be identified."
    : "No wait is known: kernels of some ranks of its group are missing from the traces, were not matched, or contradict one another.";
}

/** Returns which rank came last. @p poor: the clocks are too inaccurate to know this. */
export function lastWords(operation: model.Operation, reported: Reported, poor: boolean): string {
  const { job } = reported;
  if (!operation.waits)
    return operation.kind === model.SEND || operation.kind === model.RECV
      ? transferWords(operation, reported)
      : whyNoWait(operation, reported);
  const order = inOrder(operation),
    last = order[order.length - 1]!,
    before = order[order.length - 2];
  const together = `Waited ${f.time(operation.wait)} in total`;
  if (poor)
    return `${together}; which rank came last is not known: arrivals differ by less than the clocks can resolve (±${f.time(doubt(operation, last.at, job.ranks))}).`;
  const left = operation.size - order.length;
  if (operation.lastRank !== null)
    return `${together}; rank ${operation.lastRank} came last${left === 0 && before ? `, ${f.time(last.begin - before.begin)} after the one before` : ""}.`;
  if (left > 0)
    return `${together}; several came last within the error of their clocks, and ${f.count(left, "rank is", "ranks are")} not in this page.`;
  const tied = order.filter((member) => member.arrival === model.TIED).map((member) => rankNumber(job, member));
  return `${together}; ranks ${f.ranges(tied)} came last within the error of their clocks.`;
}

/* Says which place an operation has in the order of waits. @param place row of collectives.worst, from 0 */
const placeWords = (place: number): string => (place === 0 ? "waited longest of all" : `no. ${place + 1} by wait`);

function arrivals(operation: model.Operation, job: model.JobBlock, choose: (member: model.Member) => void): Child {
  const order = inOrder(operation),
    first = order[0]!;
  const shown = order.length > ALL_ARRIVALS ? [...order.slice(0, FIRST), null, ...order.slice(-LAST)] : order;
  const item = (member: model.Member) => {
    const later = member.begin - first.begin,
      tied = member.arrival === model.TIED && " (tied)";
    return h(
      "li",
      { class: member === operation.lastMember ? "tl-last" : "" },
      h(
        "button",
        { title: `${f.exact(later, "ns")} after the first`, click: () => choose(member) },
        `rank ${rankNumber(job, member)} `,
        h("span", member === first ? "first" : `+${f.time(later)}`, tied),
      ),
    );
  };
  return h(
    "ol.tl-arrivals",
    operation.size > order.length && h("li.tl-more", `${f.grouped(operation.size - order.length)} not in this page; of the others:`),
    shown.map((member) => (member ? item(member) : h("li.tl-more", `… ${f.grouped(order.length - FIRST - LAST)} more …`))),
  );
}

function operationWords(operation: model.Operation, controller: Controller, worst: ReadonlyMap<number, number>): Words {
  const { job, lanes } = controller.data,
    last = lastWords(operation, controller.data, controller.chart.poor);
  const group = groupWord(operation.group, operation.description),
    place = worst.get(operation.number),
    { at, event } = controller.state.selected,
    title = event >= 0 ? (job.names[lanes!.events.name[event]!] ?? "") : "";
  const facts = f.joined(
    ", ",
    operation.bytes >= 0 ? f.bytes(operation.bytes) : "size unknown",
    f.count(operation.size, "rank"),
    operation.waits ? `transfer ${f.time(operation.end - operation.last)}` : null,
    place === undefined ? null : placeWords(place),
  );
  const times = `begins at ${f.exact(operation.begin, "ns")}, released at ${f.exact(operation.last, "ns")}, ends at ${f.exact(operation.end, "ns")}`,
    list = arrivals(operation, job, (member) => controller.selectOperation(operation, member.at)),
    element = h(
      "div.tl-two",
      h(
        "div",
        h("h2", operationTitle(operation)),
        h("p", facts, group ? [", group ", name(group, 60)] : ""),
        h("p", last),
        h("p.tl-exact", times),
      ),
      h("div", h("h2", "Arrivals, after the first"), list),
    );
  const kernel = event >= 0 && h("div.tl-parts", eventParts(event, controller, h("h2", `Rank ${job.ranks[at]!.rank}: `, name(title, 400))));
  return { element: h("div", element, kernel), spoken: `${operationTitle(operation)}, ${facts}. ${last}` };
}

export function stepAt(job: model.JobBlock, at: number, time: number): number | null {
  if (!job.steps) return null;
  return job.ranks[at]?.parts.find((part) => part.begin <= time && time < part.end)?.number ?? null;
}

function eventWords(row: number, controller: Controller): Words {
  const { job } = controller.data,
    lanes = controller.data.lanes!,
    { events } = lanes,
    track = lanes.trackOf(row)!;
  const rank = job.ranks[track.at]!,
    begin = events.begin[row]!,
    duration = events.duration[row]!;
  const step = track.kind === model.THREAD ? null : stepAt(job, track.at, begin), // on a thread, an annotation shows the step
    title = job.names[events.name[row]!] ?? "";
  const where = f.joined(
    ", ",
    `rank ${rank.rank}`,
    rank.host && visible(rank.host),
    visible(trackName(track, job.names)),
    step === null ? null : `step ${step}`,
    rank.noClock ? "on a clock that cannot be compared" : null,
  );
  const kind = model.KIND_WORDS[events.kind[row]!] ?? "";
  return {
    element: h("div.tl-parts", eventParts(row, controller, [h("h2", name(title, 400)), h("p", `${kind}, ${where}`)])),
    spoken: `${visible(title).slice(0, 120)}, ${kind}, ${where}, ${f.time(duration)} from ${f.time(begin)}`,
  };
}

/* Makes the parts of an event's panel: its time, its launch, and the same event on other ranks. */
function eventParts(row: number, controller: Controller, title: Child): Child {
  const { lanes } = controller.data,
    { begin, duration } = lanes!.events,
    { own, others } = samePart(controller, row),
    counters = controller.chart.countersAt(lanes!.trackOf(row)!.at, begin[row]!);
  return [
    h(
      "div",
      title,
      h("p", h("b", f.time(duration[row]!)), ` from ${f.time(begin[row]!)}`),
      h("p.tl-exact", `${f.exact(duration[row]!, "ns")} from ${f.exact(begin[row]!, "ns")}`),
      own,
      counters && h("p", { title: "the maximum within a pixel" }, `When it began: ${counters}.`),
    ),
    h("div", launchPart(controller, row)),
    h("div", others),
  ];
}

function pieceWords({ piece }: Placed, controller: Controller): Words {
  const { job, path } = controller.data,
    own = path.list.filter((each) => each.piece.step === piece.step).map((each) => each.piece);
  const length = piece.end - piece.begin,
    whole = f.sum(own.map((each) => each.end - each.begin)),
    there = f.sum(own.filter((each) => each.rank === piece.rank).map((each) => each.end - each.begin));
  const title = nameOf(piece),
    kind = kindOf(piece),
    where = f.joined(", ", `rank ${piece.rank}`, job.steps ? `step ${piece.step}` : null);
  const share = `${f.percent(f.share(length, whole), 1)} of ${job.steps ? "the step" : "the recording"}`,
    turn = (text: string, forward: boolean, hop: boolean): HTMLElement =>
      h("button", { click: () => controller.nextPiece(forward, hop) }, text);
  const exact = `${f.exact(length, "ns")} from ${f.exact(piece.begin, "ns")}, piece ${f.grouped(piece.place + 1)} of ${f.grouped(own.length)}`;
  return {
    element: h(
      "div.tl-two",
      h("div", h("h2", "Critical path: ", kind), title && h("p", name(title, 400)), h("p", where)),
      h(
        "div",
        h("p", h("b", f.time(length)), ` from ${f.time(piece.begin)}, ${share}`),
        h("p", `${f.percent(f.share(there, whole))} of its path is on rank ${piece.rank}`),
        h("p.tl-exact", exact),
        h("p.tl-turn", turn("Previous piece", false, false), turn("Next piece", true, false), turn("Next rank", true, true)),
      ),
    ),
    spoken: `Critical path, ${kind} ${visible(title).slice(0, 120)}, ${where}, ${f.time(length)}, ${share}`,
  };
}

const SUM_COLUMNS: readonly (readonly [string, number])[] = [
  ["Compute", model.COMPUTE],
  ["Transfer", model.TRANSFER],
  ["Wait", model.WAIT],
  ["Not split", model.UNMATCHED],
  ["Copies", model.COPIES],
];

function sumTable(sums: readonly RankSums[], job: model.JobBlock): HTMLElement {
  const values = sums.flatMap((row) => row.kinds),
    unit = f.timeUnit(values),
    digits = f.columnDigits(values, unit);
  return h(
    "div.tl-sums",
    { tabindex: 0, role: "region", "aria-label": "Sums per rank" },
    plainTable(
      ["Rank", ...SUM_COLUMNS.map(([title]) => [title, h("span.unit", ` ${unit.name}`)])],
      sums.slice(0, SUM_ROWS).map(({ at, exact, kinds }) => [
        `${exact ? "" : "≈ "}${job.ranks[at]!.rank}`,
        ...SUM_COLUMNS.map(([, kind]) => ({
          text: f.scaled(kinds[kind]!, unit, digits),
          exact: exact ? f.exact(kinds[kind]!, "ns") : undefined,
        })),
      ]),
    ),
  );
}

function markWords(mark: model.Span, controller: Controller): Words {
  const { job, lanes, pyramid } = controller.data,
    { marked, markedTracks } = controller.state,
    tab = areaTab(controller),
    tracks = markedTracks ? (lanes?.events.tracks.filter((track) => !track.continues && markedTracks.has(trackKey(track))) ?? []) : [],
    places = [...job.ranks.keys()].filter((at) => marked?.has(at) ?? true);
  const length = f.time(mark.end - mark.begin),
    numbers = places.map((at) => job.ranks[at]!.rank),
    named = tracks.map((track) => `, ${visible(trackName(track, job.names))}`).join(""),
    of = marked ? `, ${marked.size === 1 ? "rank" : "ranks"} ${f.ranges(numbers, 6)}${named}` : "";
  const sums = tab === "ranks" || !lanes ? sumsOf(job, lanes, pyramid, mark).filter((row) => marked?.has(row.at) ?? true) : [],
    rough = sums.some((row) => !row.exact);
  const said = `${length} from ${f.time(mark.begin)}${of}`,
    about = f.joined(
      " ",
      "Sums of each lane, so hidden communication counts as well.",
      rough && "≈ from shares: not all events of the rank are in this page.",
      sums.length > SUM_ROWS && `The first ${SUM_ROWS} ranks of ${f.grouped(sums.length)}.`,
    ),
    content = sums.length > 0 ? [h("p.tl-exact", about), sumTable(sums, job)] : areaPart(controller, places);
  return { element: h("div", h("h2", `Marked: ${said}`), lanes && areaTabs(controller), content), spoken: `Marked ${said}` };
}

/* Makes two columns: a heading with a paragraph, and keys. @p keys is a text such as "a d: move; f: fit". */
function withKeys(title: Child, text: Child, keys: string): HTMLElement {
  const lines = keys.split("; ").map((each) => each.split(": "));
  return h(
    "div.tl-two",
    h("div", h("h2", title), h("p", text)),
    h(
      "p.tl-keys",
      lines.map(([names, does]) => [names!.split(" ").map((name) => h("kbd", name)), ` ${does} `]),
    ),
  );
}

export const help = (): HTMLElement =>
  h(
    "div",
    h("h2", "Keys and gestures"),
    h(
      "dl.tl-help",
      HELP.map(([keys, does]) => [h("dt", keys), h("dd", does)]),
    ),
  );

function nothing({ data }: Controller): Words {
  const joins = data.job.ranks.length > 1,
    text = `Click a bar.${joins ? " A line through the ranks joins one collective; its dashed end is the last arrival, which releases all ranks." : ""}`,
    keys = "w s: zoom; a d: move; [ ]: collectives; f: fit; 0: whole job; /: find; m: sums; ?: all keys";
  return { element: withKeys(joins ? "Select an event or a collective" : "Select an event", text, keys), spoken: NOTHING };
}

/* Describes a folded host, or a rank without a selected event. */
function rowWords({ at, host }: Controller["state"]["selected"], { chart, data }: Controller): Words {
  const { ranks } = data.job,
    own = host >= 0 ? chart.hosts[host]! : null,
    title = own ? `Host ${own.name}` : `Rank ${ranks[at]!.rank}`;
  const numbers = own ? f.ranges(own.members.map((member) => ranks[member]!.rank)) : "";
  const text = own
    ? `${f.count(own.members.length, "rank")}: ${numbers}. A row shows their mean.`
    : f.joined(" ", ranks[at]!.host && `On host ${visible(ranks[at]!.host)}.`, ranks[at]!.truncated && "Its trace was cut short.");
  const keys = own ? "h: unfold" : `o: open; t: pin; x: hide${chart.hosts.length > 1 ? "; h: fold its host" : ""}`;
  return { element: withKeys(visible(title), visible(text), keys), spoken: `${visible(title)}. ${visible(text)}` };
}

function aboutMap(): Words {
  const text = "A row for each rank or folded host; a colour for each stretch of time. Click a rank to zoom in, a host to unfold it.",
    keys = "Shift+↑\u00a0↓: select a row; Enter: zoom in or unfold; h: fold its host; v: lanes; ?: all keys";
  return { element: withKeys("A map of ranks and time", text, keys), spoken: text };
}

/** Writes the details of the selection or mark into @p box. Returns the text for screen readers. */
export function writeDetails(box: HTMLElement, controller: Controller, worst: ReadonlyMap<number, number>): string {
  const { selected, mark } = controller.state;
  const words = mark
    ? markWords(mark, controller)
    : selected.piece
      ? pieceWords(selected.piece, controller)
      : selected.operation
        ? operationWords(selected.operation, controller, worst)
        : selected.event >= 0 && controller.data.lanes
          ? eventWords(selected.event, controller)
          : selected.at >= 0 || selected.host >= 0
            ? rowWords(selected, controller)
            : controller.state.arrangement.map !== null
              ? aboutMap()
              : nothing(controller);
  const only = controller.state.listed && words.spoken === NOTHING; // if nothing is selected, the list takes the place of the panel
  keepFocus(box, () => fill(box, !only && words.element, foundList(controller), flagList(controller)), box);
  return words.spoken;
}
