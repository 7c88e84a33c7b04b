/** Decodes the page's timeline blocks, as src/report/timeline*.c writes them, and windows from a server (src/serve/tile.c). */
import { Events, LANE_KINDS, LAST, STREAM, TRANSFER, UNMATCHED } from "./model";

export class Bytes {
  #at = 0;
  readonly #text = new TextDecoder();

  constructor(readonly data: Uint8Array) {}

  get done(): boolean {
    return this.#at >= this.data.length;
  }

  /** Reads a varint. The value is exact up to 2^53 ns, that is, 104 days from the job's begin. */
  number(): number {
    const data = this.data;
    let byte = data[this.#at++];
    if (byte === undefined) throw new Error("a block ends too early");
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    let scale = 0x80;
    do {
      byte = data[this.#at++];
      if (byte === undefined) throw new Error("a block ends too early");
      value += (byte & 0x7f) * scale;
      scale *= 0x80;
    } while (byte >= 0x80);
    return value;
  }

  /** Reads a zigzag varint. */
  signed(): number {
    const value = this.number();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  text(): string {
    return this.#text.decode(this.bytes(this.number()));
  }

  /** Returns the next n bytes without copying. */
  bytes(n: number): Uint8Array {
    if (this.#at + n > this.data.length) throw new Error("a block ends too early");
    this.#at += n;
    return this.data.subarray(this.#at - n, this.#at);
  }
}

const VERSION = 3;
const TRUNCATED = 1,
  NO_CLOCK = 2;
const PART_GPU = 1,
  PART_HOST = 2;

function list<T>(n: number, read: (i: number) => T): T[] {
  const out: T[] = [];
  for (let i = 0; i < n; i++) out.push(read(i));
  return out;
}

const decodeRecordings = (bytes: Bytes) =>
  list(bytes.number(), () => {
    const begin = bytes.signed();
    const end = begin + bytes.signed();
    return { begin, end, truncated: bytes.number() === 1 };
  });

/** A step of a rank's recording or, without steps, a slice. `gpu`: the page has its GPU events. `host`: the page has its host events. */
export type Part = ReturnType<typeof decodeParts>[number];

function decodeParts(bytes: Bytes) {
  let before = 0,
    number = 0;
  return list(bytes.number(), () => {
    number += bytes.signed();
    const begin = before + bytes.signed();
    const end = begin + bytes.signed();
    const flags = bytes.number();
    before = end;
    return { number, begin, end, gpu: (flags & PART_GPU) !== 0, host: (flags & PART_HOST) !== 0 };
  });
}

export type Rank = JobBlock["ranks"][number];
export type JobBlock = ReturnType<typeof decodeJob>;

export function decodeJob(data: Uint8Array) {
  const bytes = new Bytes(data);
  const version = bytes.number();
  if (version !== VERSION) throw new Error(`the timeline's data have version ${version}, not ${VERSION}`);
  const head = {
    duration: bytes.number(),
    buckets: bytes.number(),
    stripBuckets: bytes.number(),
    world: bytes.number() - 1, // world size that the traces state; -1: unknown
    complete: bytes.number() === 1, // whether the page has all events of the job
    steps: bytes.number() === 1, // whether parts are steps
    events: bytes.number(),
  };
  const allRanks = bytes.number(); // number of the job's ranks; the page may have fewer
  let host = "";
  const ranks = list(bytes.number(), () => {
    const firstOfHost = bytes.number() === 0;
    if (firstOfHost) host = bytes.text();
    const rank = bytes.number(),
      flags = bytes.number();
    return {
      rank,
      firstOfHost,
      host,
      truncated: (flags & TRUNCATED) !== 0,
      noClock: (flags & NO_CLOCK) !== 0, // its clock cannot be compared with other clocks
      domain: bytes.number(),
      uncertainty: bytes.number(),
      spread: bytes.number(),
      recordings: decodeRecordings(bytes),
      parts: decodeParts(bytes),
      served: undefined as Part | undefined, // the part fetched from a server
    };
  });
  const places: ReadonlyMap<number, number> = new Map(ranks.map(({ rank }, at) => [rank, at])); // index of each rank
  return { ...head, allRanks, ranks, places, names: list(bytes.number(), () => bytes.text()) as readonly string[] };
}

/** Decodes the block "timeline.strip": the shares of the first kind, then of the next kind, and so on. Units: 1/65,535. */
export function decodeStrip(data: Uint8Array, job: JobBlock): Uint16Array {
  const out = new Uint16Array(LANE_KINDS * job.stripBuckets);
  if (data.length !== 2 * out.length) throw new Error("the timeline's strip has the wrong size");
  for (let i = 0; i < out.length; i++) out[i] = data[2 * i]! | (data[2 * i + 1]! << 8);
  return out;
}

/** Checks the size of the block "timeline.coverage", which has shares in units of 1/255 for each rank and kind. */
export function checkCoverage(data: Uint8Array, job: JobBlock): Uint8Array {
  if (data.length !== job.ranks.length * LANE_KINDS * job.buckets) throw new Error("the timeline's coverage has the wrong size");
  return data;
}

/** A rank's part in an operation. `wait` is -1 if the operation's waits are unknown. */
export type Member = ReturnType<typeof decodeMembers>[number];

function decodeMembers(bytes: Bytes, n: number, first: number) {
  let place = 0;
  const at = list(n, () => (place += bytes.number()));
  const begin = list(n, () => first + bytes.number());
  const duration = list(n, () => bytes.number());
  const wait = list(n, () => bytes.number() - 1);
  return list(n, (i) => ({
    at: at[i]!,
    begin: begin[i]!,
    end: begin[i]! + duration[i]!,
    wait: wait[i]!,
    arrival: bytes.number(),
  }));
}

/* Decodes totals over all members of an operation, also over members on ranks that the page lacks. */
const decodeWhole = (bytes: Bytes, begin: number): ReturnType<typeof wholeOf> => ({
  size: bytes.number(),
  end: begin + bytes.number(),
  last: begin + bytes.number(),
  wait: bytes.number(),
  waits: bytes.number() === 1,
});

function wholeOf(members: readonly Member[], begin: number) {
  let end = begin,
    last = begin,
    wait = 0,
    waits = true;
  for (const member of members) {
    end = Math.max(end, member.end);
    last = Math.max(last, member.begin);
    wait += Math.max(0, member.wait);
    waits = waits && member.wait >= 0;
  }
  return { size: members.length, end, last, wait, waits };
}

type Reported = Pick<JobBlock, "names" | "allRanks"> & { readonly ranks: readonly Pick<Rank, "rank">[] };

/** Decodes the operation that src/serve/operation.c wrote, and gives it @p number in the page; null if there is none. */
export function decodeMeeting(data: Uint8Array, job: JobBlock, number: number): Operation | null {
  const bytes = new Bytes(data),
    ranks = list(bytes.number(), () => ({ rank: bytes.number() })),
    names = list(bytes.number(), () => bytes.text()),
    [operation] = readOperations(bytes, { ranks, names, allRanks: ranks.length });
  if (!operation) return null;
  const places = new Map(job.ranks.map(({ rank }, at) => [rank, at]));
  const members = operation.members.flatMap((member) => {
    const at = places.get(ranks[member.at]!.rank);
    return at === undefined ? [] : [{ ...member, at }];
  });
  return { ...operation, number, members, fetched: true, lastMember: members.find((m) => m.arrival === LAST) ?? null };
}

/** A matched operation. `members`: those with lanes. `last`: begin of the last member. `wait`: sum over all members. `lastMember`: null if
 * it has no lane. `lastRank`: null if other ranks may have been last, too. */
export type Operation = ReturnType<typeof readOperations>[number] & { readonly fetched?: true };

export function readOperations(bytes: Bytes, job: Reported) {
  const n = bytes.number();
  let begin = 0;
  bytes.number(); // number of all operations of the job; the page may have fewer
  return list(n, (number) => {
    begin += bytes.signed();
    const kind = bytes.number();
    const group = job.names[bytes.number()] ?? "",
      description = job.names[bytes.number()] ?? "";
    const size = bytes.number() - 1, // [bytes]; -1: unknown
      step = bytes.signed(); // -1: none
    const part = job.ranks.length < job.allRanks,
      reported = part ? decodeWhole(bytes, begin) : null;
    const members = decodeMembers(bytes, bytes.number(), begin),
      whole = reported ?? wholeOf(members, begin);
    const lastMember = members.find((m) => m.arrival === LAST) ?? null;
    const lastRank = part ? bytes.number() - 1 : lastMember ? job.ranks[lastMember.at]!.rank : -1;
    return {
      number,
      begin,
      kind,
      group,
      description,
      bytes: size,
      step,
      members,
      lastMember,
      ...whole,
      waits: whole.waits && whole.size > 1,
      lastRank: lastRank < 0 ? null : lastRank,
    };
  });
}

/** A stream, its annotations, or a CPU thread, with rows [first, first + n). `continues`: the page's own track, if this one is fetched. */
export type Track = ReturnType<typeof decodeTrack> & { readonly continues?: Track };

function decodeTrack(bytes: Bytes, out: Events, first: number, waits: number[], operations: number[]) {
  const at = bytes.number(),
    kind = bytes.number();
  const device = bytes.number() - 1,
    stream = bytes.number() - 1,
    tid = bytes.number(),
    name = bytes.number();
  const n = bytes.number(),
    end = first + n;
  if (end > out.n) throw new Error("the timeline has more events than it says");
  let time = 0;
  for (let i = first; i < end; i++) out.begin[i] = time += bytes.signed();
  for (let i = first; i < end; i++) out.duration[i] = bytes.number();
  for (let i = first; i < end; i++) out.name[i] = bytes.number();
  if (kind !== STREAM) out.depth.set(bytes.bytes(n), first);
  out.kind.set(bytes.bytes(n), first);
  for (let i = first; i < end; i++) {
    if (out.kind[i] !== TRANSFER && out.kind[i] !== UNMATCHED) continue;
    out.comm[i] = waits.length;
    waits.push(bytes.number() - 1);
    operations.push(bytes.number() - 1);
  }
  return { kind, at, device, stream, tid, name, first, n };
}

/** Decodes n events from the rest of the bytes. */
export function decodeColumns(bytes: Bytes, n: number): Events {
  const out = new Events(n);
  const waits = [-1],
    operations = [-1];
  let first = 0;
  while (!bytes.done) {
    const track = decodeTrack(bytes, out, first, waits, operations);
    out.tracks.push(track);
    first += track.n;
  }
  if (first !== out.n) throw new Error("the timeline has fewer events than it says");
  out.wait = Float64Array.from(waits);
  out.operation = Int32Array.from(operations);
  return out;
}

const TILE_VERSION = 2;
const GPU_IN = 1,
  HOST_IN = 2;

/* Decodes the shares of a rank: n buckets of the first kind, then of the next kind, and so on. Units: 1/255. Bucket width: `width` [ns]. */
function decodeShares(bytes: Bytes, n: number) {
  const width = 2 ** bytes.number(),
    begin = bytes.signed();
  return { n, width, begin, shares: bytes.bytes(LANE_KINDS * n) };
}

export type Shares = ReturnType<typeof decodeShares>;

/* Reads which of a rank's events the tile has: GPU events, host events. Then reads the rank's shares. */
function decodeRank(bytes: Bytes) {
  const flags = bytes.number(),
    n = bytes.number();
  return { gpu: (flags & GPU_IN) !== 0, host: (flags & HOST_IN) !== 0, shares: n > 0 ? decodeShares(bytes, n) : null };
}

export type Tile = ReturnType<typeof decodeTile>;

/** Decodes a tile. Its ranks are in the order of the request. A track names its rank by the index in this order (`at`). */
export function decodeTile(data: Uint8Array) {
  const bytes = new Bytes(data),
    version = bytes.number();
  if (version !== TILE_VERSION) throw new Error(`the window has version ${version}, not ${TILE_VERSION}`);
  const ranks = list(bytes.number(), () => decodeRank(bytes)),
    names = list(bytes.number(), () => bytes.text()),
    n = bytes.number(),
    events = decodeColumns(new Bytes(bytes.bytes(bytes.number())), n);
  return { ranks, names, events, details: bytes.bytes(bytes.number()) };
}
