/** What the timeline is drawn from. All times are nanoseconds from the job's begin. */

/** Kinds as src/report/timeline_coverage.h and timeline_events.h number them. */
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

/** Kinds in words, by number. */
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

/** Kinds of collective, as include/tmerge/timeline.h numbers them. */
export const COLLECTIVE_WORDS: readonly string[] = [
  "Collective",
  "AllReduce",
  "AllGather",
  "ReduceScatter",
  "Broadcast",
  "Reduce",
  "AllToAll",
  "Gather",
  "Scatter",
  "Send",
  "Recv",
  "SendRecv",
  "Barrier",
  "Coalesced",
];

export const SEND = 9,
  RECV = 10;
/** Those that no rank leaves before all have come: tm_collective_synchronises. */
export const SYNCHRONISING: ReadonlySet<number> = new Set([1, 2, 3, 6, 12]);
/** Those that do not say what they are: a kind that is not known, and several in one kernel. */
export const UNTOLD: ReadonlySet<number> = new Set([0, 13]);

/** Half open. */
export interface Span {
  readonly begin: number;
  readonly end: number;
}

/** A step of one rank, or where there are none a slice of the job. */
export interface Part extends Span {
  readonly number: number;
  /** Whether its GPU events and its host threads are in the page. */
  readonly gpu: boolean;
  readonly host: boolean;
}

export interface Recording extends Span {
  readonly truncated: boolean;
}

export const STREAM = 0;
export const ANNOTATIONS = 1;
export const THREAD = 2;

/** Events [first, first + n) of a stream, of the annotations of one, or of a CPU thread. */
export interface Track {
  readonly kind: number;
  /** Place of its rank. */
  readonly at: number;
  readonly device: number;
  readonly stream: number;
  readonly tid: number;
  /** Number of its name. */
  readonly name: number;
  readonly first: number;
  readonly n: number;
  /** The track of the page of which these are further events, where the page is served. */
  readonly continues?: Track;
}

export interface Rank {
  readonly rank: number;
  /** A new host begins with it. */
  readonly firstOfHost: boolean;
  readonly host: string;
  readonly truncated: boolean;
  /** Its clock cannot be compared with others. */
  readonly noClock: boolean;
  readonly wallClock: boolean;
  readonly domain: number;
  readonly uncertainty: number;
  readonly spread: number;
  readonly recordings: readonly Recording[];
  readonly parts: readonly Part[];
  /** What a server gave of it besides. */
  served?: Part | undefined;
}

export interface JobBlock {
  readonly duration: number;
  readonly buckets: number;
  readonly stripBuckets: number;
  /** Ranks that the job had as its traces say; -1 unknown. */
  readonly world: number;
  /** Every event of the job is in the page. */
  readonly complete: boolean;
  /** Parts are steps. */
  readonly steps: boolean;
  readonly events: number;
  /** Ranks that the job has; the page may hold fewer. */
  readonly allRanks: number;
  readonly ranks: readonly Rank[];
  readonly names: readonly string[];
}

export const BEFORE = 0;
export const TIED = 1;
export const LAST = 2;

/** A rank's part in an operation. */
export interface Member {
  /** Place of the rank. */
  readonly at: number;
  readonly begin: number;
  readonly end: number;
  /** -1 where the operation has no wait. */
  readonly wait: number;
  readonly arrival: number;
}

/** A matched operation. */
export interface Operation extends Span {
  readonly number: number;
  readonly kind: number;
  readonly group: string;
  readonly description: string;
  /** -1 unknown. */
  readonly bytes: number;
  /** -1 for none. */
  readonly step: number;
  /** Those that have lanes. */
  readonly members: readonly Member[];
  /** How many members it has. */
  readonly size: number;
  /** Begin of the last member. */
  readonly last: number;
  /** Whether its members waited for the last one. */
  readonly waits: boolean;
  /** Their waits together. */
  readonly wait: number;
  /** The member that came last alone, where it has a lane. */
  readonly lastMember: Member | null;
  /** Its rank; null where several may have, or nobody knows. */
  readonly lastRank: number | null;
  /** It came from a server: the page did not have it. */
  readonly fetched?: true;
}

export interface Operations {
  /** Ascending in begin. */
  readonly list: readonly Operation[];
  /** How many the job has, with those that are left out. */
  readonly total: number;
}

/** Events as columns. */
export interface Events {
  readonly n: number;
  readonly begin: Float64Array;
  readonly duration: Float64Array;
  /** Number of the name. */
  readonly name: Uint32Array;
  readonly kind: Uint8Array;
  readonly depth: Uint8Array;
  /** Of communication: its row in wait and operation, else 0. */
  readonly comm: Uint32Array;
  /** -1 where it has none; row 0 stands for all other events. */
  readonly wait: Float64Array;
  readonly operation: Int32Array;
  readonly tracks: readonly Track[];
}
