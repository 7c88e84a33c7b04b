/** The state of the timeline as the address keeps it. */
import { addressOf } from "../path";
import type { Params } from "../view";
import { NOWHERE } from "./chart";
import type { Controller } from "./controller";
import { around, parse, write } from "./span";

/** Places in collectives.worst by number of operation, and back. */
export interface Worst {
  readonly places: ReadonlyMap<number, number>;
  readonly numbers: ReadonlyMap<number, number>;
}

const MOST_OPEN = 16;

function wholeNumber(text: string | undefined): number {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : -1;
}

/** What the address is to keep; null takes a key away. */
export function paramsOf(controller: Controller, worst: Worst): Record<string, string | null> {
  const { state, data } = controller, { operation, at, piece } = state.selected;
  const whole = state.span.end - state.span.begin >= data.job.duration * 0.9999;
  const place = operation ? worst.places.get(operation.number) : undefined;
  const open = [...state.open].map((rank) => data.job.ranks[rank]!.rank).sort((a, b) => a - b).slice(0, MOST_OPEN);
  return {
    t: whole ? null : write(state.span),
    coll: place === undefined ? null : String(place),
    op: operation && place === undefined ? String(operation.number) : null,
    rank: at >= 0 ? String(data.job.ranks[at]!.rank) : null,
    open: open.length > 0 ? open.join(",") : null,
    path: state.path && !piece ? "1" : null,
    piece: piece ? addressOf(piece.piece) : null,
    find: state.found ? state.found.text : null,
  };
}

/** Sets what needs no events: window, rank, opened ranks. */
export function applyFirst(controller: Controller, params: Params): void {
  const { state, data, chart } = controller, { ranks } = data.job;
  const placeOf = (text: string): number => ranks.findIndex((rank) => rank.rank === wholeNumber(text));
  state.span = parse(params.get("t"), data.job.duration) ?? state.span;
  for (const text of (params.get("open") ?? "").split(",").slice(0, MOST_OPEN)) {
    const at = placeOf(text);
    if (at >= 0) state.open.add(at);
  }
  state.path = data.path.list.length > 0 && (params.has("path") || params.has("piece"));
  chart.arrange();
  const at = placeOf(params.get("rank") ?? "");
  if (at < 0) return;
  state.selected = { ...NOWHERE, at };
  controller.showRank(at, true);
}

/** Sets what needs them: the operation, the search. */
export function applyRest(controller: Controller, params: Params, worst: Worst): void {
  const { state, data } = controller;
  const number = worst.numbers.get(wholeNumber(params.get("coll"))) ?? wholeNumber(params.get("op"));
  const operation = data.operations[number], piece = data.path.find(params.get("piece")), find = params.get("find"); // before the address is written again
  controller.chart.arrange();
  if (operation) {
    const span = parse(params.get("t"), data.job.duration) ?? around({ begin: operation.begin, end: operation.end }, data.job.duration, 0.15);
    const at = state.selected.at;
    controller.selectOperation(operation, at);
    controller.setSpan(span);
  } else if (piece) {
    const span = parse(params.get("t"), data.job.duration) ?? around(piece.piece, data.job.duration, 2);
    controller.selectPiece(piece);
    controller.setSpan(span);
  } else if (state.selected.at >= 0) controller.showRank(state.selected.at, true);
  if (find) controller.search(find);
}
