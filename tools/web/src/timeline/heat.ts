/** The map of ranks over time. It has a row for each rank or folded host, and a colour for each interval of time. */
import * as f from "../format";
import type { Measure } from "./layout";
import type { Chart } from "./chart";
import { COMPUTE, TRANSFER, UNMATCHED, WAIT } from "./model";
import { pixelOf, type Canvas } from "./paint_lane";

const CELL = 2; // width of a cell [px]

/** A row of the map. `y`, `height`: [px]. `at`: index of a rank or, if `host` is true, number of a folded host. */
export type MapRow = Readonly<Record<"y" | "height" | "at", number> & Record<"host", boolean>>;

type Place = Pick<MapRow, "at" | "host">;

export type MapData = Chart["mapData"];

const KINDS: Readonly<Record<Exclude<Measure, "memory">, readonly number[]>> = {
  compute: [COMPUTE],
  wait: [WAIT],
  communication: [TRANSFER, WAIT, UNMATCHED],
};

/** The quantities that a map can show: key, label, meaning of the colours. */
export const MEASURES: readonly (readonly [Measure, string, string])[] = [
  ["compute", "Compute", "share of the time in which the GPU computes"],
  ["wait", "Wait", "share of the time spent waiting for other ranks in collectives"],
  ["communication", "Communication", "share of the time in communication, waiting included"],
  ["memory", "Memory", "allocated device memory, as a share of the highest of any rank"],
];

export function rampOf(measure: Measure): "wait" | "work" {
  return measure === "compute" || measure === "memory" ? "work" : "wait";
}

let part = new Float32Array(0);

/* Sets out[i] to the value (0 to 1) of a row in the i-th interval, which begins at from + i * width [ns]. */
function fillShares(data: MapData, measure: Measure, row: Place, from: number, width: number, out: Float32Array): void {
  out.fill(0);
  if (measure === "memory") return data.memory?.fill(row.host ? data.hostShares.members[row.at]! : [row.at], from, width, out);
  const shares = row.host ? data.hostShares : data.pyramid,
    kinds = KINDS[measure];
  if (kinds.length === 1) return shares.columns(row.at, kinds[0]!, from, width, out.length, out);
  if (part.length !== out.length) part = new Float32Array(out.length);
  for (const kind of kinds) {
    shares.columns(row.at, kind, from, width, out.length, part);
    for (let i = 0; i < out.length; i++) out[i] = Math.min(1, out[i]! + part[i]!);
  }
}

/** Writes the value of a cell: "71 %" or, for memory, "12.3 GiB". */
export function cellWords(data: MapData, measure: Measure, row: Place, from: number, width: number): string {
  const out = new Float32Array(1);
  fillShares(data, measure, row, from, width, out);
  if (measure !== "memory") return f.percent(100 * out[0]!);
  const { memory } = data,
    ranks = row.host ? data.hostShares.members[row.at]! : [row.at];
  if (!ranks.some((at) => (memory?.curves[at]?.length ?? 0) > 0)) return "not in this page";
  return f.bytes(out[0]! * memory!.most, true);
}

let picture: HTMLCanvasElement | undefined;

export const cellTime = (canvas: Pick<Canvas, "scale">): number => CELL / canvas.scale.k;

export function paintMap({ ctx, theme, scale }: Canvas, rows: readonly MapRow[], measure: Measure, data: MapData): void {
  const n = Math.max(1, Math.ceil(scale.width / CELL)),
    height = Math.max(1, rows.length);
  picture ??= document.createElement("canvas");
  if (picture.width !== n || picture.height !== height) Object.assign(picture, { width: n, height });
  const own = picture.getContext("2d")!,
    image = own.createImageData(n, height),
    pixels = new Uint32Array(image.data.buffer);
  const colors = theme.ramps[rampOf(measure)].map((color) => pixelOf(color, 1)),
    shares = new Float32Array(n),
    top = colors.length - 1;
  rows.forEach((row, r) => {
    fillShares(data, measure, row, scale.span.begin, CELL / scale.k, shares);
    for (let c = 0; c < n; c++) pixels[r * n + c] = colors[shares[c]! > 0 ? Math.max(1, Math.round(shares[c]! * top)) : 0]!;
  });
  own.putImageData(image, 0, 0);
  ctx.imageSmoothingEnabled = false;
  rows.forEach((row, r) =>
    ctx.drawImage(picture!, 0, r, n, 1, scale.left, row.y, n * CELL, Math.max(1, row.height > 7 ? row.height - 1 : row.height)),
  );
  ctx.imageSmoothingEnabled = true;
}
