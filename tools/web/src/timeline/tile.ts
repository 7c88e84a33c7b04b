/** Decodes a window of the timeline, as src/serve/tile.c writes it. */
import { Bytes } from "./bytes";
import { decodeColumns, list } from "./decode";
import { LANE_KINDS } from "./model";

const VERSION = 2;
const GPU_IN = 1,
  HOST_IN = 2;

/* Decodes the shares of a rank, in units of 1/255. Each kind has n buckets, `width` [ns] wide, one kind after another. */
function decodeShares(bytes: Bytes, n: number) {
  const width = 2 ** bytes.number(),
    begin = bytes.signed();
  return { n, width, begin, shares: bytes.bytes(LANE_KINDS * n) };
}

export type Shares = ReturnType<typeof decodeShares>;

/* Reads whether the tile has the rank's GPU events, and its host events. */
function decodeRank(bytes: Bytes) {
  const flags = bytes.number(),
    n = bytes.number();
  return { gpu: (flags & GPU_IN) !== 0, host: (flags & HOST_IN) !== 0, shares: n > 0 ? decodeShares(bytes, n) : null };
}

export type Tile = ReturnType<typeof decodeTile>;

/** Decodes a tile. The ranks of the tile are in the order of the request, and a track names its rank by the index in this order (`at`). The
 * details are not decoded here, but in event_details.ts. */
export function decodeTile(data: Uint8Array) {
  const bytes = new Bytes(data),
    version = bytes.number();
  if (version !== VERSION) throw new Error(`the window has version ${version}, not ${VERSION}`);
  const ranks = list(bytes.number(), () => decodeRank(bytes)),
    names = list(bytes.number(), () => bytes.text()),
    n = bytes.number(),
    events = decodeColumns(new Bytes(bytes.bytes(bytes.number())), n);
  return { ranks, names, events, details: bytes.bytes(bytes.number()) };
}
