/** The timeline's data. decode.ts reads most of it from the page. All times are in nanoseconds from the job's begin. */
import { kindWord } from "../job";
import type { Track } from "./decode";

export type { JobBlock, Member, Operation, Part, Rank, Track } from "./decode";

/** Kinds, numbered as in src/report/timeline_coverage.h and timeline_events.h. */
export const COMPUTE = 0;
export const TRANSFER = 1;
export const WAIT = 2;
export const UNMATCHED = 3;
export const COPIES = 4;
export const LANE_KINDS = 5;
export const GPU_ANNOTATION = 5;
export const OPERATOR = 6;
export const ANNOTATION = 7;
export const PYTHON = 8;
export const CALL = 9;
export const OTHER = 10;

export const KIND_WORDS: readonly string[] = [
  "compute",
  "communication",
  "wait",
  "communication, not split into wait and transfer",
  "copy or set",
  "GPU annotation",
  "operator",
  "annotation",
  "Python function",
  "runtime or driver call",
  "other host event",
];

/** Kinds of collectives in words, numbered as in include/tmerge/timeline.h. */
export const COLLECTIVE_WORDS: readonly string[] =
  "collective allreduce allgather reducescatter broadcast reduce alltoall gather scatter send recv sendrecv barrier coalesced"
    .split(" ")
    .map(kindWord);

export const SEND = 9,
  RECV = 10;
/** Collectives that no rank can leave before all ranks have arrived, as in tm_collective_synchronises(). */
export const SYNCHRONISING: ReadonlySet<number> = new Set([1, 2, 3, 6, 12]);
/** Kinds for which it is unknown who waits for whom: unknown collectives, and several collectives in one kernel. */
export const UNREPORTED: ReadonlySet<number> = new Set([0, 13]);

/** Half-open: [begin, end). */
export type Span = Readonly<Record<"begin" | "end", number>>;

export const STREAM = 0;
export const ANNOTATIONS = 1;
export const THREAD = 2;

export const TIED = 1;
export const LAST = 2;

/** Columns of n events. `wait` and `operation` have a row only for each communication event, and their length is set later. */
export class Events {
  readonly begin: Float64Array;
  readonly duration: Float64Array;
  readonly name: Uint32Array;
  readonly kind: Uint8Array;
  readonly depth: Uint8Array;
  /** For each communication event, its row in `wait` and `operation`; 0 for other events. */
  readonly comm: Uint32Array;
  readonly tracks: Track[] = [];
  /** `wait`: of the event [ns]; `operation`: number of its operation. -1: unknown. Row 0 stands for all events except communication. */
  wait: Float64Array = new Float64Array(1);
  operation: Int32Array = new Int32Array(1);

  constructor(readonly n: number) {
    this.begin = new Float64Array(n);
    this.duration = new Float64Array(n);
    this.name = new Uint32Array(n);
    this.kind = new Uint8Array(n);
    this.depth = new Uint8Array(n);
    this.comm = new Uint32Array(n);
  }
}
