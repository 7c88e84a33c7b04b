/** Memory over time: the curves of devices, and the memory of devices in a marked time range. */
import type { Job } from "../data";
import * as f from "../format";
import { fetchUnread } from "../served";
import { lowest } from "./lanes";
import { h, visible, type Child } from "../dom";
import { plainTable } from "../ui";
import { categoriesAt } from "../views/memory";
import type { Controller } from "./controller";
import type { Span } from "./model";

export type DeviceCurve = Curve & { readonly device: string };

/** Returns the memory curves of the ranks; null if no device memory was recorded. */
export async function memoryOf(job: Job, ranks: readonly { readonly rank: number }[]): Promise<Curves | null> {
  await job.load(["memory.curve"]);
  await fetchUnread(job, ["memory.curve"]);
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

/** A curve: values[i] applies from times[i] to times[i + 1]. */
export type Curve = Readonly<Record<"times" | "values", Float64Array>>;

/** The curves of all ranks on one scale. */
export class Curves {
  readonly most: number;

  constructor(
    /** Indexed by rank, then by device. */
    readonly curves: readonly (readonly Curve[])[],
    /** The scale reaches at least to this value. */
    least = 1,
  ) {
    let most = least;
    for (const { values } of curves.flat()) for (const value of values) most = Math.max(most, value);
    this.most = most;
  }

  /** Raises out[i] to the maximum of these ranks in the i-th interval, divided by `most`. Interval i begins at from + i * width [ns]. */
  fill(ranks: readonly number[], from: number, width: number, out: Float32Array): void {
    for (const { times, values } of ranks.flatMap((at) => this.curves[at] ?? [])) {
      let i = Math.max(0, lowest(times.length, (k) => times[k]! > from) - 1);
      for (let c = 0; c < out.length; c++) {
        const end = from + (c + 1) * width;
        while (i + 1 < times.length && times[i + 1]! <= end - width) i++;
        let most = times[i]! < end ? values[i]! : 0;
        while (i + 1 < times.length && times[i + 1]! < end) most = Math.max(most, values[++i]!);
        out[c] = Math.max(out[c]!, most / this.most);
      }
    }
  }
}

/** At `time`, the value changes by `by`. */
export type Change = Readonly<Record<"time" | "by", number>>;

/** Builds a curve that starts at 0. After as many falls as rises, it is set to exactly 0. So rounding errors do not add up. */
export function curveOf(changes: readonly Change[]): Curve {
  const order = [...changes].sort((a, b) => a.time - b.time),
    times: number[] = [],
    values: number[] = [];
  let value = 0,
    open = 0;
  for (const { time, by } of order) {
    open += Math.sign(by);
    value = open === 0 ? 0 : value + by;
    if (times[times.length - 1] !== time) times.push(time);
    values[times.length - 1] = Math.max(0, value);
  }
  return { times: Float64Array.from(times), values: Float64Array.from(values) };
}

const CATEGORIES = 3; // maximum number of categories that are named

/** `begin`, `end`: values at the ends of a span. `most`: maximum in it. `time`: time of the maximum. null: the curve starts after the
 * span. */
export function overSpan({ times, values }: Curve, { begin, end }: Span) {
  const [first, last] = [begin, end].map((time) => lowest(times.length, (i) => times[i]! > time) - 1) as [number, number];
  if (last < 0) return null;
  let most = Math.max(0, first);
  for (let i = most; i <= last; i++) if (values[i]! > values[most]!) most = i;
  return { begin: first < 0 ? null : values[first]!, end: values[last]!, most: values[most]!, time: Math.max(begin, times[most]!) };
}

function row(job: Job, rank: number, curve: DeviceCurve, mark: Span): [string, ...Child[]] | null {
  const own = overSpan(curve, mark);
  if (!own) return null;
  const change = own.begin === null ? null : own.end - own.begin,
    parts = categoriesAt(job, { rank, device: curve.device }, mark).slice(0, CATEGORIES);
  return [
    `${rank}, ${visible(curve.device)}`,
    f.bytes(own.begin, true),
    f.bytes(own.end, true),
    change === null ? f.NONE : `${change > 0 ? "+" : change < 0 ? "−" : ""}${f.bytes(Math.abs(change), true)}`,
    f.bytes(own.most, true),
    f.time(own.time),
    parts.map(([word, bytes]) => `${word} ${f.bytes(bytes, true)}`).join(", ") || f.NONE,
  ];
}

/** Makes the tab "memory" of a mark. The curves are fetched when the tab is first shown. */
export function memoryPart(controller: Controller, places: readonly number[], mark: Span): Child {
  const { memory, job } = controller.data,
    source = controller.listener.context.job;
  if (!memory) {
    controller.listener.fetchMemory();
    return h("p", "Unpacking …");
  }
  const rows = places.flatMap((at) =>
    (memory.curves[at] as readonly DeviceCurve[]).map((curve) => row(source, job.ranks[at]!.rank, curve, mark)),
  );
  return [
    h("p.tl-exact", "Of long recordings the page has the smallest and the largest value in each 128th of the time."),
    h(
      "div.tl-sums",
      { tabindex: 0, role: "region", "aria-label": "Memory in the mark" },
      plainTable(
        ["rank, device", "at its begin", "at its end", "change", "most", "at", "mostly"],
        rows.filter((each) => each !== null),
      ),
    ),
  ];
}
