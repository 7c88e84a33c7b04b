/** Allocated device memory of the ranks over time, from the table memory.curve. */
import type { Job } from "../data";
import * as f from "../format";
import { fetchUnread } from "../served";
import { Curves, type Curve } from "./curves";

/** The allocated memory of one device. */
export type DeviceCurve = Curve & { readonly device: string };

/** Reads the memory curves of the ranks; null if no device memory was recorded. */
export async function memoryOf(job: Job, ranks: readonly { readonly rank: number }[]): Promise<Curves | null> {
  await job.load(["memory.curve", "memory.category_curve"]);
  await fetchUnread(job, ["memory.curve", "memory.category_curve"]);
  const table = job.table("memory.curve"),
    places = new Map(ranks.map(({ rank }, at) => [rank, at]));
  const rows = table.all.filter((row) => places.has(table.num(row, "rank") ?? -1) && (table.text(row, "device") ?? "cpu") !== "cpu"),
    devices = f.groupBy(rows, (row) => `${table.num(row, "rank")} ${table.text(row, "device")}`);
  const curves: DeviceCurve[][] = ranks.map(() => []);
  for (const own of devices.values()) {
    own.sort((a, b) => table.amount(a, "time_ns") - table.amount(b, "time_ns"));
    const column = (name: "time_ns" | "allocated_bytes"): Float64Array => Float64Array.from(own, (row) => table.amount(row, name));
    curves[places.get(table.amount(own[0]!, "rank"))!]!.push({
      device: table.text(own[0]!, "device")!,
      times: column("time_ns"),
      values: column("allocated_bytes"),
    });
  }
  return devices.size > 0 ? new Curves(curves) : null;
}
