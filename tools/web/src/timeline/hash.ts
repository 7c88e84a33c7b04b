/** Stores the state of the timeline in the address. */
import { addressOf } from "./path";
import { decoded, type Params } from "../view";
import { parseRanges, writeRanges } from "./area";
import { AREA_TABS } from "./area_panel";
import { MEASURES } from "./heat";
import { NOWHERE } from "./chart";
import { COLORINGS } from "./coloring";
import type { Controller } from "./controller";
import { flagsOf, flagsParam } from "./flags";
import type { Lanes } from "./lanes";
import type { Events, JobBlock, Span } from "./model";
import type { FarEvent } from "./search";
import { around, parse, write } from "./span";

/** `places`: row in collectives.worst of each operation. `numbers`: number of the operation that a text in an address names. A text is
 * a row in collectives.worst, or "e" and a row in collectives.instance. */
export type Worst = Readonly<{ places: ReadonlyMap<number, number>; numbers: ReadonlyMap<string, number> }>;

const MOST_COUNTERS = 8;

const wholeNumber = (text: string | undefined): number => (text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : -1);

/* Writes kind, depth, begin and duration [ns], such as "6.0.150370000.1200". On a rank, these identify the event. */
const addressOfEvent = (events: Events, row: number): string =>
  [events.kind[row]!, events.depth[row]!, events.begin[row]!, events.duration[row]!].join(".");

/* Returns a short hash of a name. It distinguishes nested events of equal duration. */
function lettersOf(name: string): string {
  let sum = 0x811c9dc5; // FNV-1a
  for (let i = 0; i < name.length; i++) sum = Math.imul(sum ^ name.charCodeAt(i), 0x01000193);
  return (sum >>> 0).toString(36);
}

/** Writes the address of an event of unknown depth. A hash of the event's name replaces the depth. */
export function addressOfFar({ kind, begin, duration, name }: FarEvent): string {
  return [kind, "", begin, duration, lettersOf(name)].join(".");
}

/** Returns the row of the event with this address; -1 if there is none. If the address lacks the depth, compares the hash of the name. */
export function findEvent(lanes: Lanes, names: readonly string[], at: number, text: string): number {
  const { events } = lanes,
    parts = text.split("."),
    anywhere = parts[1] === "",
    [kind, depth, begin, duration] = parts.map(Number);
  let found = -1;
  for (const { first, n } of lanes.of(at).tracks)
    for (let row = first; row < first + n; row++) {
      if (events.begin[row] !== begin || events.duration[row] !== duration || events.kind[row] !== kind) continue;
      if (anywhere ? lettersOf(names[events.name[row]!] ?? "") === parts[4] : events.depth[row] === depth) return row;
      if (anywhere && found < 0) found = row;
    }
  return found;
}

/* Writes "all", or the names separated by commas; null if there are no names. */
function listed(names: readonly (string | number)[], all: boolean): string | null {
  return all ? "all" : names.length > 0 ? names.join(",") : null;
}

function arrangementParams({ state: { arrangement }, data, chart }: Controller): Record<string, string | null> {
  const rank = (at: number): number => data.job.ranks[at]!.rank,
    { map, order, coloring, hidden, pinned } = arrangement,
    folded = [...arrangement.folded].sort((a, b) => a - b),
    first = folded.map((host) => rank(chart.hosts[host]!.members[0]!));
  return {
    map,
    order: order === "rank" ? null : order,
    color: coloring === "kind" ? null : coloring,
    counters: listed(
      arrangement.counters.map((key) => key.replace(/[%,]/g, encodeURIComponent)),
      false,
    ),
    fold: listed(first, folded.length > 0 && folded.length === chart.hosts.length),
    hide: writeRanges([...hidden].map(rank)) || null,
    pin: listed(pinned.map(rank), false),
  };
}

function namedBy(params: Params, key: string, { ranks }: JobBlock): number[] {
  const chosen = parseRanges(params.get(key) ?? "");
  return [...ranks.keys()].filter((at) => chosen(ranks[at]!.rank));
}

/* Applies the arrangement in the address. A host is named by its first rank. */
function applyArrangement({ state: { arrangement }, chart }: Controller, params: Params, placeOf: (text: string) => number): void {
  const places = (key: string): number[] => (params.get(key) ?? "").split(",").map(placeOf);
  arrangement.map = MEASURES.find(([measure]) => measure === params.get("map"))?.[0] ?? null;
  arrangement.order = (["wait", "compute"] as const).find((order) => order === params.get("order")) ?? "rank";
  arrangement.coloring = COLORINGS.find(([coloring]) => coloring === params.get("color"))?.[0] ?? "kind";
  arrangement.counters = (params.get("counters") ?? "")
    .split(",")
    .map((key) => decoded(key) ?? "") // commas separate the keys, so a comma in a key is percent-encoded
    .filter((key, i, all) => key !== "" && all.indexOf(key) === i)
    .slice(0, MOST_COUNTERS);
  const fold = places("fold");
  chart.hosts.forEach(({ members }, host) => {
    if (params.get("fold") === "all" || fold.includes(members[0]!)) arrangement.folded.add(host);
  });
  for (const at of namedBy(params, "hide", chart.data.job).slice(0, chart.data.job.ranks.length - 1)) arrangement.hidden.add(at);
  arrangement.pinned = [...new Set(places("pin").filter((at) => at >= 0))];
}

/* Returns whether the default ranks are open: none or, in a job of one rank, this rank. */
function isUsual({ state: { open }, data: { job } }: Controller): boolean {
  return open.size === (job.ranks.length === 1 ? 1 : 0);
}

/** Returns the state as parameters of the address. null removes a parameter. */
export function paramsOf(controller: Controller, worst: Worst): Record<string, string | null> {
  const { state, data } = controller,
    { operation, at, piece, event } = state.selected;
  const own = operation?.fetched ? null : operation, // a fetched operation's number is valid only in this open page
    place = operation ? worst.places.get(operation.number) : undefined;
  const open = writeRanges([...state.open].map((at) => data.job.ranks[at]!.rank));
  return {
    ...arrangementParams(controller),
    t: write(state.span) === write(controller.opening) ? null : write(state.span),
    mark: state.mark ? write(state.mark) : null,
    lanes: state.marked ? writeRanges([...state.marked].map((place) => data.job.ranks[place]!.rank)) : null,
    tracks: state.markedTracks ? [...state.markedTracks].join(";") : null,
    sums: state.mark && state.tab !== "ranks" ? state.tab : null,
    event: event >= 0 && !own && data.lanes ? addressOfEvent(data.lanes.events, event) : state.awaited,
    coll: place === undefined ? null : String(place),
    op: own && place === undefined ? String(own.number) : null,
    rank: at >= 0 ? String(data.job.ranks[at]!.rank) : null,
    open: isUsual(controller) ? null : open || "none",
    path: state.path && !piece ? "1" : null,
    piece: piece ? addressOf(piece.piece) : null,
    flags: flagsParam(state.flags),
    find: state.found ? state.found.text : null,
    list: state.listed ? "1" : null,
  };
}

/** Applies the parameters that need no events: window, rank, opened ranks. */
export function applyFirst(controller: Controller, params: Params): void {
  const { state, data, chart } = controller,
    { ranks } = data.job;
  const placeOf = (text: string): number => ranks.findIndex((rank) => rank.rank === wholeNumber(text));
  state.span = parse(params.get("t"), data.job.duration) ?? state.span;
  for (const at of namedBy(params, "open", data.job)) state.open.add(at);
  if (ranks.length === 1 && !params.has("open")) state.open.add(0);
  applyArrangement(controller, params, placeOf);
  state.mark = parse(params.get("mark"), data.job.duration);
  const marked = new Set(namedBy(params, "lanes", data.job));
  state.marked = state.mark && marked.size > 0 ? marked : null;
  state.markedTracks = state.marked && params.has("tracks") ? new Set(params.get("tracks")!.split(";")) : null;
  state.flags = flagsOf(params.get("flags"), data.job.duration);
  state.listed = params.has("list");
  state.tab = AREA_TABS.find(([tab]) => tab === params.get("sums"))?.[0] ?? "ranks";
  state.path = data.path.list.length > 0 && (params.has("path") || params.has("piece"));
  chart.arrange();
  const at = placeOf(params.get("rank") ?? "");
  if (at < 0) return;
  state.selected = { ...NOWHERE, at };
  controller.showRank(at, true);
}

function selectWanted(controller: Controller, wanted: string, span: Span | null): boolean {
  const { state, data } = controller,
    event = data.lanes ? findEvent(data.lanes, data.job.names, state.selected.at, wanted) : -1;
  if (event < 0) return false;
  controller.selectEvent(event);
  if (span) controller.setSpan(span);
  return true;
}

/* Waits for an event that the page lacks. Shows the event's time, which makes the page request the events there. */
function awaitEvent(controller: Controller, wanted: string, hasSpan: boolean): void {
  const { state, duration } = controller,
    [, , begin = NaN, lasts = NaN] = wanted.split(".").map(Number);
  if (!(begin >= 0 && begin < duration && lasts >= 0)) return;
  state.awaited = wanted;
  if (!hasSpan) controller.setSpan(around({ begin, end: begin + lasts }, duration, 2));
}

export function applyAwaited(controller: Controller): void {
  const { awaited, selected, span } = controller.state;
  if (awaited !== null && selected.at >= 0) selectWanted(controller, awaited, span);
}

/** Applies the parameters that need events. @param served whether more events may be fetched */
export function applyRest(controller: Controller, params: Params, worst: Worst, served: boolean): void {
  const { state, data } = controller;
  const number = worst.numbers.get(params.get("coll") ?? "") ?? wholeNumber(params.get("op"));
  const operation = data.operations[number],
    piece = data.path.find(params.get("piece")),
    find = params.get("find"),
    wanted = params.get("event"); // read before the address is rewritten
  controller.chart.arrange();
  const named = parse(params.get("t"), data.job.duration);
  if (operation) {
    controller.selectOperation(operation, state.selected.at);
    controller.setSpan(named ?? around({ begin: operation.begin, end: operation.end }, data.job.duration, 0.15));
  } else if (piece) {
    controller.selectPiece(piece);
    controller.setSpan(named ?? around(piece.piece, data.job.duration, 2));
  } else if (state.selected.at >= 0) {
    controller.showRank(state.selected.at, true);
    if (wanted !== undefined && !selectWanted(controller, wanted, named) && served) awaitEvent(controller, wanted, params.has("t"));
  }
  if (find) controller.search(find);
}
