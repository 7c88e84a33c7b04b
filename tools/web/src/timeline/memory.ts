/** Allocated device memory of the ranks over time, from the table memory.curve. */
import type { Job } from "../data";
import { fetchUnread } from "../served";
import { Curves, type Curve } from "./curves";

/** Returns null if no device memory was recorded. */
export async function memoryOf(job: Job, ranks: readonly { readonly rank: number }[]): Promise<Curves | null> {
  await job.load(["memory.curve"]);
  await fetchUnread(job, ["memory.curve"]);
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
    found.list.push([table.amount(row, "time_ns"), table.amount(row, "allocated_bytes")]);
  }
  const curves: Curve[][] = ranks.map(() => []);
  for (const { at, list } of points.values()) {
    list.sort((a, b) => a[0] - b[0]);
    curves[at]!.push({ times: Float64Array.from(list, ([time]) => time), values: Float64Array.from(list, ([, value]) => value) });
  }
  return points.size > 0 ? new Curves(curves) : null;
}
