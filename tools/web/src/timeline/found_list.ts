/** Events as a list, with sums by kind. They are the matches of a search or, without a search, the events in view. */
import { plainTable } from "../ui";
import { h, name, type Child } from "../dom";
import * as f from "../format";
import { HEAD } from "./chart";
import type { Controller } from "./controller";
import { KIND_WORDS, STREAM } from "./model";
import { addSum, type KindSum } from "./search";
import { missingParts } from "./sums";

/** LISTED: maximum number of matches in the list. BEFORE: how many of them come before the current match. */
const LISTED = 200,
  BEFORE = 20;

function sumsOf(rows: Iterable<number>, controller: Controller): Map<number, KindSum> {
  const { duration, kind } = controller.data.lanes!.events,
    sums = new Map<number, KindSum>();
  for (const row of rows) addSum(sums, kind[row]!, 1, duration[row]!, duration[row]!);
  return sums;
}

function byKind(sums: ReadonlyMap<number, KindSum>): HTMLElement {
  const table = plainTable(
    ["kind", "count", "sum of durations", "mean", "longest"],
    [...sums].map(([own, { count, sum, most }]) => [
      KIND_WORDS[own] ?? "",
      f.grouped(count),
      ...[sum, sum / count, most].map((ns) => f.time(ns)),
    ]),
  );
  table.classList.add("tl-kinds");
  return table;
}

/* `rows`: the events in the mark or in view. Those of threads are included only on opened ranks. `lacking`: the page lacks some. */
function inView({ state, chart, data }: Controller): { rows: number[]; lacking: boolean } {
  const { begin, end } = state.mark ?? state.span,
    places = state.marked ?? chart.drawnBetween(HEAD, chart.height).lanes,
    lanes = data.lanes!,
    { events } = lanes,
    rows: number[] = [];
  for (const at of places)
    for (const track of lanes.of(at).tracks.filter(({ kind }) => kind === STREAM || state.open.has(at)))
      for (let row = track.first; row < track.first + track.n && events.begin[row]! < end; row++)
        if (events.begin[row]! + events.duration[row]! > begin || events.begin[row]! >= begin) rows.push(row);
  const lacks = (at: number): boolean => missingParts(data.job, data.job.ranks[at]!, { begin, end }, state.open.has(at)).length > 0;
  return { rows, lacking: [...places].some(lacks) };
}

/* Returns the LISTED longest events, ordered by time. */
function longestOf(rows: readonly number[], { data }: Controller): number[] {
  const { begin, duration } = data.lanes!.events;
  return [...rows]
    .sort((a, b) => duration[b]! - duration[a]!)
    .slice(0, LISTED)
    .sort((a, b) => begin[a]! - begin[b]! || a - b);
}

const titleOf = (what: string, count: number, listed: number): string =>
  `${f.grouped(count)} ${what}${listed < count ? `; the ${f.grouped(listed)} longest` : ""}, in order of time`;

function rowItem(controller: Controller, row: number, current: boolean, choose: () => void) {
  const { job, lanes } = controller.data,
    { begin, duration, name: names } = lanes!.events,
    { rank } = job.ranks[lanes!.trackOf(row)!.at]!;
  return { rank, begin: begin[row]!, duration: duration[row]!, title: job.names[names[row]!] ?? "", current, choose };
}

/* The list of events in view. `n`: number of items. `first`: index of the first shown item. `kinds`: sums by kind, over all events in
 * view. */
function viewListing(controller: Controller) {
  const { rows, lacking } = inView(controller),
    shown = longestOf(rows, controller),
    { selected, mark } = controller.state,
    title = titleOf(mark ? "events in the mark" : "events in view", rows.length, shown.length),
    items = shown.map((row) => rowItem(controller, row, row === selected.event, () => controller.selectEvent(row)));
  return {
    title: title + (lacking ? "; others are not in this page: zoom in" : ""),
    n: shown.length,
    first: 0,
    items,
    kinds: sumsOf(rows, controller),
  };
}

function foundListing(controller: Controller) {
  const { found, everywhere } = controller.state,
    { ranks } = controller.data.job,
    far = everywhere?.done && !everywhere.failed ? everywhere : null,
    rows = found!.rows,
    n = far ? far.events.length : rows.length,
    at = controller.foundAt,
    first = Math.max(0, Math.min(at - BEFORE, n - LISTED)),
    choose = (i: number) => () => controller.selectFound(first + i);
  return {
    title: titleOf("found", far ? far.count : rows.length, n),
    n,
    first,
    items: far
      ? far.events.slice(first, first + LISTED).map(({ name: title, begin, duration, at: place }, i) => {
          return { rank: ranks[place]!.rank, begin, duration, title, current: first + i === at, choose: choose(i) };
        })
      : Array.from(rows.subarray(first, first + LISTED), (row, i) => rowItem(controller, row, first + i === at, choose(i))),
    kinds: far ? far.kinds : sumsOf(rows, controller),
  };
}

export function foundList(controller: Controller): Child {
  const { found, listed, arrangement } = controller.state;
  if (!listed || !controller.data.lanes || (!found && arrangement.map !== null)) return null;
  const { title, n, first, items, kinds } = found ? foundListing(controller) : viewListing(controller);
  const item = ({ rank, begin, duration, title: text, current, choose }: ReturnType<typeof rowItem>) =>
    h(
      "li",
      { class: current ? "tl-last" : "" },
      h(
        "button",
        { "aria-current": current ? "true" : undefined, click: choose },
        `rank ${rank}, ${f.time(duration)} at ${f.time(begin)} `,
        h("span", name(text, 90)),
      ),
    );
  return h(
    "div.tl-found",
    h("h2", title),
    n > 0 && byKind(kinds),
    n > LISTED && h("p.tl-exact", `No. ${f.grouped(first + 1)} to ${f.grouped(first + LISTED)}; Enter in the search continues.`),
    h("ol.tl-results", { start: first + 1 }, items.map(item)),
  );
}
