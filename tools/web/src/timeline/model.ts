/** The timeline's data model. All times are in nanoseconds from the job's begin. */
import { kindWord } from "../job";

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

/** Kinds of collective in words, numbered as in include/tmerge/timeline.h. */
export const COLLECTIVE_WORDS: readonly string[] =
  "collective allreduce allgather reducescatter broadcast reduce alltoall gather scatter send recv sendrecv barrier coalesced"
    .split(" ")
    .map(kindWord);

export const SEND = 9,
  RECV = 10;
/** Collectives that no rank leaves before all have arrived: tm_collective_synchronises. */
export const SYNCHRONISING: ReadonlySet<number> = new Set([1, 2, 3, 6, 12]);
/** Kinds without a meaning of their own: unknown, and several collectives in one kernel. */
export const UNTOLD: ReadonlySet<number> = new Set([0, 13]);

/** Half-open: [begin, end). */
export interface Span {
  readonly begin: number;
  readonly end: number;
}

/** A step of one rank, or a slice of the job if there are no steps. */
export interface Part extends Span {
  readonly number: number;
  /** Whether the page holds its GPU events and its host threads. */
  readonly gpu: boolean;
  readonly host: boolean;
}

export interface Recording extends Span {
  readonly truncated: boolean;
}

export const STREAM = 0;
export const ANNOTATIONS = 1;
export const THREAD = 2;

/** Events [first, first + n) of a stream, of a stream's annotations, or of a CPU thread. */
export interface Track {
  readonly kind: number;
  readonly at: number;
  readonly device: number;
  readonly stream: number;
  readonly tid: number;
  readonly name: number;
  readonly first: number;
  readonly n: number;
  /** In a served page: the page's track that these events extend. */
  readonly continues?: Track;
}

export interface Rank {
  readonly rank: number;
  /** Whether it is the first rank of its host. */
  readonly firstOfHost: boolean;
  readonly host: string;
  readonly truncated: boolean;
  /** Whether its clock cannot be compared with others. */
  readonly noClock: boolean;
  readonly wallClock: boolean;
  readonly domain: number;
  readonly uncertainty: number;
  readonly spread: number;
  readonly recordings: readonly Recording[];
  readonly parts: readonly Part[];
  /** Part fetched from a server. */
  served?: Part | undefined;
}

export interface JobBlock {
  readonly duration: number;
  readonly buckets: number;
  readonly stripBuckets: number;
  /** World size according to the traces; -1 unknown. */
  readonly world: number;
  /** Whether the page holds every event of the job. */
  readonly complete: boolean;
  /** Whether parts are steps. */
  readonly steps: boolean;
  readonly events: number;
  /** Number of ranks of the job; the page may hold fewer. */
  readonly allRanks: number;
  readonly ranks: readonly Rank[];
  readonly names: readonly string[];
}

export const TIED = 1;
export const LAST = 2;

/** A rank's participation in an operation. */
export interface Member {
  /** Index of the rank. */
  readonly at: number;
  readonly begin: number;
  readonly end: number;
  /** -1 if the operation has no wait. */
  readonly wait: number;
  readonly arrival: number;
}

export interface Operation extends Span {
  readonly number: number;
  readonly kind: number;
  readonly group: string;
  readonly description: string;
  /** -1 unknown. */
  readonly bytes: number;
  /** -1 for none. */
  readonly step: number;
  /** Members that have lanes. */
  readonly members: readonly Member[];
  /** Number of all members. */
  readonly size: number;
  /** Begin of the last member. */
  readonly last: number;
  /** Whether the members waited for the last one. */
  readonly waits: boolean;
  /** Sum of the members' waits. */
  readonly wait: number;
  /** The last member, if it is known and has a lane. */
  readonly lastMember: Member | null;
  /** Its rank; null if unknown or if several may have been last. */
  readonly lastRank: number | null;
  /** Set if it came from a server because the page lacked it. */
  readonly fetched?: true;
}

/** Events as columns. Room for n of them; the columns of the communicating ones grow, because their number is not known in advance. */
export class Events {
  readonly begin: Float64Array;
  readonly duration: Float64Array;
  readonly name: Uint32Array;
  readonly kind: Uint8Array;
  readonly depth: Uint8Array;
  /** For communication: its row in wait and operation, else 0. */
  readonly comm: Uint32Array;
  readonly tracks: Track[] = [];
  /** -1 for none; row 0 stands for all events that do not communicate. */
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
