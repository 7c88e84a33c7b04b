/** Allocated device memory of the ranks over time, from the table memory.curve. */
import type { Job } from "../data";
import { lowest } from "./lanes";

/** Values that hold until the next. */
export interface Curve {
  readonly times: Float64Array;
  readonly bytes: Float64Array;
}

export class MemoryCurves {
  /** The most of any rank. */
  readonly most: number;

  constructor(
    /** By place of the rank; those of its devices. */
    readonly curves: readonly (readonly Curve[])[],
  ) {
    let most = 1;
    for (const { bytes } of curves.flat()) for (const value of bytes) most = Math.max(most, value);
    this.most = most;
  }

  /** The most of some ranks' devices in each stretch, of the most of all, 0 to 1. */
  fill(ranks: readonly number[], from: number, width: number, out: Float32Array): void {
    for (const { times, bytes } of ranks.flatMap((at) => this.curves[at] ?? [])) {
      let i = Math.max(0, lowest(times.length, (k) => times[k]! > from) - 1);
      for (let c = 0; c < out.length; c++) {
        const end = from + (c + 1) * width;
        while (i + 1 < times.length && times[i + 1]! <= end - width) i++;
        let most = times[i]! < end ? bytes[i]! : 0;
        while (i + 1 < times.length && times[i + 1]! < end) most = Math.max(most, bytes[++i]!);
        out[c] = Math.max(out[c]!, most / this.most);
      }
    }
  }
}

/** Null where no device's memory was recorded. */
export async function memoryOf(job: Job, ranks: readonly { readonly rank: number }[]): Promise<MemoryCurves | null> {
  await job.load(["memory.curve"]);
  const table = job.table("memory.curve"),
    places = new Map(ranks.map(({ rank }, at) => [rank, at]));
  const points = new Map<string, { at: number; list: [number, number][] }>();
  for (let row = 0; row < table.n; row++) {
    const at = places.get(table.num(row, "rank") ?? -1),
      device = table.text(row, "device") ?? "cpu";
    if (at === undefined || device === "cpu") continue;
    const key = `${at} ${device}`,
      found = points.get(key) ?? { at, list: [] };
    points.set(key, found);
    found.list.push([table.num(row, "time_ns") ?? 0, table.num(row, "allocated_bytes") ?? 0]);
  }
  const curves: Curve[][] = ranks.map(() => []);
  for (const { at, list } of points.values()) {
    list.sort((a, b) => a[0] - b[0]);
    curves[at]!.push({ times: Float64Array.from(list, ([time]) => time), bytes: Float64Array.from(list, ([, value]) => value) });
  }
  return points.size > 0 ? new MemoryCurves(curves) : null;
}
