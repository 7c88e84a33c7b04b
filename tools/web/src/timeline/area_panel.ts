/** The panel of a marked area: sums by rank, top kernels and operators, classes, comparison of ranks. */
import { h, name, type Child } from "../dom";
import * as f from "../format";
import { download } from "../grid";
import { segmented, plainTable } from "../ui";
import { acrossRanks, areaOf, csvOfArea, shareOf, writeRanges, type Area, type AreaRow } from "./area";
import type { Controller } from "./controller";
import { areaOfParts } from "./far";
import { trackKey, type Lanes } from "./lanes";
import { memoryPart } from "./memory";
import { THREAD, type JobBlock, type Span } from "./model";

type Classes = Parameters<typeof areaOf>[4];

export type AreaTab = "ranks" | "kernels" | "operators" | "classes" | "memory";

export const AREA_TABS: readonly (readonly [AreaTab, string])[] = [
  ["ranks", "by rank"],
  ["kernels", "kernels"],
  ["operators", "operators"],
  ["classes", "classes"],
  ["memory", "memory"],
];

const NO_AREA: Area = { kernels: [], classes: [], operators: [], lacking: 0, lackingHost: 0 };
const ROWS = 40,
  RANKS_BESIDE = 6;

/* `time` returns a row's time [ns]; null: the column has no times. All columns of times get one unit. */
type Column = Readonly<{ title: string; write: (row: AreaRow) => Child; time: ((row: AreaRow) => number) | null }>;

const time = (title: string, of: (row: AreaRow) => number): Column => ({ title, time: of, write: () => null });

/* Returns the columns that compare ranks. Few ranks: the time on each. Two ranks: also the difference. Many ranks: median and maximum. */
function rankColumns(ranks: readonly number[]): Column[] {
  if (ranks.length < 2) return [];
  if (ranks.length > RANKS_BESIDE)
    return [
      time("median rank", (row) => acrossRanks(row).median),
      time("most", (row) => acrossRanks(row).most),
      { title: "on rank", time: null, write: (row) => f.grouped(ranks[acrossRanks(row).at] ?? 0) },
    ];
  const beside = ranks.map((rank, i) => time(`rank ${rank}`, (row) => row.byRank[i]!));
  if (ranks.length === 2) beside.push(time(`rank ${ranks[1]} − rank ${ranks[0]}`, (row) => row.byRank[1]! - row.byRank[0]!));
  return beside;
}

function table(rows: readonly AreaRow[], what: string, ranks: readonly number[]): HTMLElement {
  const nested = what === "operator";
  const columns: readonly Column[] = [
    { title: "count", time: null, write: (row) => f.grouped(row.count) },
    time("sum", (row) => row.total),
    ...(nested ? [time("without nested operators", (row) => row.self)] : []),
    { title: "share", time: null, write: (row) => f.percent(shareOf(row, rows), 1) },
    time("mean", (row) => row.total / row.count),
    time("max", (row) => row.most),
    ...rankColumns(ranks),
  ];
  const shown = rows.slice(0, ROWS),
    units = columns.map(({ time: of }) => (of ? f.timeUnit(shown.map(of)) : null));
  const cell = ({ time: of, write }: Column, c: number, row: AreaRow) =>
    of
      ? { text: f.scaled(of(row), units[c]!, f.columnDigits(shown.map(of), units[c]!)), exact: f.exact(of(row), "ns") }
      : { text: write(row), exact: undefined };
  return h(
    "div.tl-sums",
    { tabindex: 0, role: "region", "aria-label": `Marked area by ${what}` },
    plainTable(
      [what, ...columns.map(({ title }, c) => [title, units[c] && h("span.unit", ` ${units[c].name}`)])],
      shown.map((row) => [name(row.label, 120), ...columns.map((column, c) => cell(column, c, row))]),
    ),
  );
}

function words(tab: AreaTab, rows: readonly AreaRow[], area: Area): string {
  const lacking = tab === "operators" ? area.lackingHost : area.lacking;
  return f.joined(
    " ",
    "Events that overlap the range, and their time within it.",
    tab === "operators" ? "An operator’s sum includes the operators that it calls; shares exclude them." : "",
    rows.length > ROWS ? `The first ${ROWS} of ${f.grouped(rows.length)}; the CSV has all.` : "",
    lacking > 0
      ? `${f.count(lacking, "rank lacks", "ranks lack")} events in a part of the range: not all are in this page; missing ones are not counted.`
      : "",
  );
}

const WHAT = { kernels: "kernel", operators: "operator", classes: "class" } as const;

/** Returns the tab to show. If single streams or threads are marked, there are no sums by rank. */
export function areaTab({ state: { tab, markedTracks }, data }: Controller): AreaTab {
  const threads = markedTracks && data.lanes?.events.tracks.every((track) => track.kind === THREAD || !markedTracks.has(trackKey(track)));
  return markedTracks && (tab === "ranks" || threads) ? (threads ? "operators" : "kernels") : tab;
}

export function areaTabs(controller: Controller): HTMLElement {
  const { markedTracks } = controller.state,
    { memory } = controller.listener.recorded,
    tabs = AREA_TABS.filter(([tab]) => (tab !== "ranks" || !markedTracks) && (tab !== "memory" || memory));
  return segmented("Show", tabs, areaTab(controller), (tab) => controller.change((state) => (state.tab = tab)));
}

/* The last area. Its sums are computed again only if an input in `of` changes. */
let last: { readonly of: readonly unknown[]; readonly area: Area } | null = null;

function keptArea(job: JobBlock, lanes: Lanes, mark: Span, chosen: Parameters<typeof areaOf>[3], classes: Classes): Area {
  const of = [lanes, mark.begin, mark.end, chosen.places.join(), chosen.tracks, classes];
  if (!last || last.of.some((each, i) => each !== of[i])) last = { of, area: areaOf(job, lanes, mark, chosen, classes) };
  return last.area;
}

/* Asks the server for the sums of the marked area. `area`: the sums so far. `words`: progress, or an error. */
function farArea(controller: Controller, places: readonly number[]): { area: Area | null; words: string } {
  const { job, classes } = controller.data,
    { mark } = controller.state,
    ranks = places.map((at) => job.ranks[at]!.rank),
    state = controller.farArea!.of({
      from: Math.floor(mark!.begin),
      to: Math.ceil(mark!.end),
      ranks: places.length === job.ranks.length && job.ranks.length === job.allRanks ? "" : writeRanges(ranks),
      host: areaTab(controller) === "operators" ? 1 : 0,
    });
  if (state?.failed) return { area: null, words: `The store cannot be summed: ${state.failed}.` };
  const of = state?.value,
    classOf = (name: string): string | undefined => classes?.[job.names.indexOf(name)];
  return {
    area: of ? areaOfParts(of, ranks, classOf) : null,
    words: state?.done ? "" : `Summing the store … ${f.grouped(of?.seen ?? 0)} of ${f.count(places.length, "rank")} so far.`,
  };
}

/** Makes the content of the chosen tab. The tab with the sums by rank is made elsewhere. */
export function areaPart(controller: Controller, places: readonly number[]): Child {
  const { job, lanes, classes } = controller.data,
    { mark, markedTracks: tracks } = controller.state,
    tab = areaTab(controller);
  if (!lanes || !mark || tab === "ranks") return null;
  if (tab === "memory") return memoryPart(controller, places, mark);
  const own = keptArea(job, lanes, mark, { places, tracks }, classes),
    lacks = !tracks && (tab === "operators" ? own.lackingHost : own.lacking) > 0,
    far = lacks && controller.farArea ? farArea(controller, places) : null,
    area = far ? (far.area ?? NO_AREA) : own,
    rows = area[tab],
    ranks = places.map((at) => job.ranks[at]!.rank);
  const what = WHAT[tab],
    none = (!far || far.area) && h("p", `No ${tab === "operators" ? "operator" : "kernel"} is ${far ? "" : "in this page "}there.`),
    save = () => download(`area-${tab}.csv`, "text/csv", csvOfArea(rows, what, ranks));
  return [
    h("p.tl-exact", far?.words && `${far.words} `, words(tab, rows, area)),
    rows.length === 0 ? none : [table(rows, what, ranks), h("p", h("button", { click: save }, "Save as CSV"))],
  ];
}
