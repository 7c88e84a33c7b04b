/** Finds matched operations by time. */
import { lowest } from "./lanes";
import type { Operation, Rank, Span } from "./model";

/** In a view WIDE px wide, lines between ranks are drawn for at most this many operations. In a narrower view, for fewer. */
export const ALL_JOINED = 40;
const WIDE = 1000;
const LEAST_WIDTH = 6;

export class OperationIndex {
  readonly #ends: Float64Array;
  readonly #byWait: readonly Operation[]; // ordered by wait, longest first

  readonly list: readonly Operation[]; // ordered by begin

  constructor(all: readonly Operation[]) {
    const list = (this.list = [...all].sort((a, b) => a.begin - b.begin || a.number - b.number));
    this.#ends = new Float64Array(list.length);
    let latest = -Infinity;
    list.forEach((operation, i) => (this.#ends[i] = latest = Math.max(latest, operation.end)));
    this.#byWait = [...list].sort((a, b) => b.wait - a.wait || a.number - b.number);
  }

  within(span: Span): Operation[] {
    const first = lowest(this.list.length, (i) => this.#ends[i]! > span.begin);
    const end = lowest(this.list.length, (i) => this.list[i]!.begin >= span.end);
    return this.list.slice(Math.min(first, end), end).filter((operation) => operation.end > span.begin);
  }

  /** Returns the operations for which lines between ranks are drawn. If they are too many, takes the wide ones. If these are too many,
   * takes those with the longest waits. */
  joined(span: Span, pixelsPerNs: number): Operation[] {
    const all = this.within(span).filter((operation) => operation.members.length > 1);
    const most = Math.floor(ALL_JOINED * Math.min(1, ((span.end - span.begin) * pixelsPerNs) / WIDE));
    if (all.length <= most) return all;
    const wide = all.filter((operation) => isWide(operation, pixelsPerNs));
    if (wide.length <= most) return wide;
    const chosen = new Set(wide.sort((a, b) => b.wait - a.wait || a.number - b.number).slice(0, most));
    return all.filter((operation) => chosen.has(operation));
  }

  /** Returns the operation after or before @p from, by time or wait. If @p from is null: the first by wait, or the nearest to the view's
   * begin. */
  next(from: Operation | null, span: Span, forward: boolean, byWait: boolean): Operation | null {
    const order = byWait ? this.#byWait : this.list;
    if (order.length === 0) return null;
    if (from) return order[order.indexOf(from) + (forward ? 1 : -1)] ?? null;
    if (byWait) return order[0]!;
    const at = lowest(this.list.length, (i) => this.list[i]!.begin >= span.begin);
    return this.list[forward ? at : at - 1] ?? null;
  }

  /** Finds an operation by its begin and wait [ns], which are values of a row of collectives.worst. */
  find(begin: number | null, wait: number | null): Operation | null {
    if (begin === null) return null;
    const at = lowest(this.list.length, (i) => this.list[i]!.begin >= begin - 1);
    for (let i = at; i < this.list.length && this.list[i]!.begin <= begin + 1; i++)
      if (wait === null || this.list[i]!.wait === wait) return this.list[i]!;
    return null;
  }
}

export function isWide(operation: Operation, pixelsPerNs: number): boolean {
  return (operation.last - operation.begin) * pixelsPerNs >= LEAST_WIDTH;
}

/** Returns the uncertainty [ns] of a rank's arrival compared with the arrivals of the other members. */
export function doubt(operation: Operation, at: number, ranks: readonly Rank[]): number {
  const own = ranks[at];
  if (!own) return 0;
  const together =
    operation.size === operation.members.length && operation.members.every((member) => ranks[member.at]?.domain === own.domain);
  return 2 * (together ? own.spread : own.uncertainty);
}

/** Returns whether the median skew of arrivals is below the median uncertainty of the clocks. */
export function clocksArePoor(list: readonly Operation[], ranks: readonly Rank[]): boolean {
  const waiting = list.filter((operation) => operation.waits && !operation.fetched); // without fetched ones, which depend on the selection
  if (waiting.length === 0) return false;
  const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1]!;
  const skew = median(waiting.map((operation) => operation.last - operation.begin));
  const joint = median(
    waiting.map((operation) => {
      const ends = [operation.members[0]!, operation.members[operation.members.length - 1]!];
      return Math.SQRT2 * Math.max(...ends.map(({ at }) => doubt(operation, at, ranks)));
    }),
  );
  return joint > skew;
}
