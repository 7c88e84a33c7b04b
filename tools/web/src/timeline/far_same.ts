/** In a page that is served: the same kernel or call elsewhere in the whole store. */
import { Far, type FarState } from "./far";

type Times = readonly [begin: number, duration: number];

export interface SameAnswer {
  readonly next: number | null;
  readonly step: number | null;
  /** In the step, from 0; of so many: 0 where there is no such event. */
  readonly place: number;
  readonly times: number;
  /** On the rank. */
  readonly index: number;
  readonly all: number;
  readonly median: number;
  readonly before: Times | null;
  readonly behind: Times | null;
  /** Of the step, on all ranks that were seen. */
  readonly longest: readonly [rank: number, begin: number, duration: number];
  /** Those that ran it another number of times have no times. */
  readonly peers: readonly (readonly [rank: number, times: number, begin?: number, duration?: number])[];
}

export type FarSame = FarState<SameAnswer>;

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
