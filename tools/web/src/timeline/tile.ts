/** Decodes a window of the timeline, as src/serve/tile.c writes it. */
import { Bytes } from "./bytes";
import { decodeColumns } from "./decode";
import { LANE_KINDS, type Events } from "./model";

/** Shares of a rank in units of 1/255, kind by kind, in buckets `width` [ns] wide. */
export interface Shares {
  readonly begin: number;
  readonly width: number;
  readonly n: number;
  readonly shares: Uint8Array;
}

export interface TileRank {
  /** Whether the tile holds its GPU events and its host events. */
  readonly gpu: boolean;
  readonly host: boolean;
  readonly shares: Shares | null;
}

export interface Tile {
  /** In the order of the request; a track's `at` is an index into it. */
  readonly ranks: readonly TileRank[];
  readonly names: readonly string[];
  readonly events: Events;
  /** Details of the events (told.ts). */
  readonly details: Uint8Array;
}

const VERSION = 2;
const GPU_IN = 1,
  HOST_IN = 2;

function decodeRank(bytes: Bytes): TileRank {
  const flags = bytes.number(),
    n = bytes.number();
  let shares: Shares | null = null;
  if (n > 0) {
    const width = 2 ** bytes.number(),
      begin = bytes.signed();
    shares = { n, width, begin, shares: bytes.bytes(LANE_KINDS * n) };
  }
  return { gpu: (flags & GPU_IN) !== 0, host: (flags & HOST_IN) !== 0, shares };
}

export function decodeTile(data: Uint8Array): Tile {
  const bytes = new Bytes(data),
    version = bytes.number();
  if (version !== VERSION) throw new Error(`the window has version ${version}, not ${VERSION}`);
  const ranks: TileRank[] = [],
    names: string[] = [];
  for (let n = bytes.number(); n > 0; n--) ranks.push(decodeRank(bytes));
  for (let n = bytes.number(); n > 0; n--) names.push(bytes.text());
  const n = bytes.number(),
    events = decodeColumns(new Bytes(bytes.bytes(bytes.number())), n);
  return { ranks, names, events, details: bytes.bytes(bytes.number()) };
}
