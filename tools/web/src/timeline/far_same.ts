/** For a served page: the same kernel or call elsewhere in the whole store. */
import { Far } from "./far";

type Times = readonly [begin: number, duration: number];

export interface SameAnswer {
  readonly next: number | null;
  readonly step: number | null;
  /** `place`: the event's occurrence index in its step, from 0; `times`: number of occurrences there, 0 if the event was not found. */
  readonly place: number;
  readonly times: number;
  /** `index`: the event's occurrence index on the whole rank; `all`: number of occurrences there. */
  readonly index: number;
  readonly all: number;
  readonly median: number;
  readonly before: Times | null;
  readonly behind: Times | null;
  /** Longest occurrence in the step on the ranks compared so far. */
  readonly longest: readonly [rank: number, begin: number, duration: number];
  /** The other ranks. If a rank has another number of occurrences, its begin and duration are missing. */
  readonly peers: readonly (readonly [rank: number, times: number, begin?: number, duration?: number])[];
}

export function askSame(changed: () => void): Far<SameAnswer, SameAnswer> {
  return new Far(
    "same",
    (before, answer) => ({
      ...answer,
      longest: before && before.longest[2] >= answer.longest[2] ? before.longest : answer.longest,
      peers: [...(before?.peers ?? []), ...answer.peers],
    }),
    changed,
  );
}
