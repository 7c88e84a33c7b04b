/** Draws time windows as bars. The parts of a bar add up to exactly the window [ns]. */
import type { ColumnOf, Table } from "./data";
import { h, type Child } from "./dom";
import * as f from "./format";
import { href } from "./view";
import { legend, tip, lines } from "./ui";

/** `short`: label in a legend. */
export type Part = Readonly<{ key: string; label: string; short?: string }>;

/** The parts of a rank's GPU time, in the order that all charts use. */
export const PARTS: readonly Part[] = [
  { key: "compute", label: "Compute" },
  { key: "overlap", label: "Compute over communication (overlap)", short: "Overlap" },
  { key: "transfer", label: "Exposed transfer", short: "Transfer" },
  { key: "wait", label: "Exposed wait", short: "Wait" },
  { key: "unmatched", label: "Exposed, not split", short: "Not split" },
  { key: "copies", label: "Exposed copies", short: "Copies" },
  { key: "idle", label: "Idle" },
];

/** Returns the values of PARTS [ns] in a row of overlap.rank or overlap.step. */
export function partsOf(overlap: Table<"overlap.rank" | "overlap.step">, row: number): number[] {
  const value = (column: ColumnOf<"overlap.rank" | "overlap.step">) => overlap.amount(row, column);
  return [
    value("compute_ns") - value("overlap_ns"),
    value("overlap_ns"),
    value("exposed_transfer_ns"),
    value("exposed_wait_ns"),
    value("exposed_unmatched_ns"),
    value("exposed_memory_ns"),
    value("idle_ns"),
  ];
}

export interface StackRow {
  readonly label: string;
  readonly short?: string; // text to the left of the bar; default: `label`. If it is "", there is no text.
  readonly values: readonly number[];
  readonly href?: string;
  readonly note?: string;
  readonly heading?: string; // heading above the row, such as the name of the next host
  readonly state?: "partial" | "torn" | "missing";
  readonly data?: Readonly<Record<string, string | number>>;
}

/** `shares`: all bars have the same length. `scale`: value of a bar of full width; default: the largest sum. `end`: text after a bar;
 * default: its sum. */
export type StackOptions = Readonly<{ parts?: readonly Part[]; shares?: boolean; axis?: boolean; scale?: number }> & {
  readonly end?: (row: StackRow, total: number) => Child;
};

export const partsLegend = (rows: readonly Pick<StackRow, "values">[], parts: readonly Part[] = PARTS): HTMLElement =>
  legend(parts.filter((_, p) => rows.some((row) => (row.values[p] ?? 0) > 0)).map((part) => [part.key, part.short ?? part.label]));

/** Makes the bar of a rank, with a link to its lanes in the timeline. */
export const rankRow = (rank: number, values: readonly number[]): StackRow & { readonly rank: number } => ({
  rank,
  label: `rank ${rank}`,
  values,
  href: href("timeline", { rank }),
  data: { "data-rank": rank },
});

/** Adds a heading to each row whose host differs from the previous row's. If all rows have the same host, adds none. */
export function byHost<R extends StackRow & { readonly rank: number }>(rows: readonly R[], host: ReadonlyMap<number, string>): R[] {
  let last = "";
  if (new Set(host.values()).size < 2) return [...rows];
  return rows.map((row) => {
    const own = host.get(row.rank) ?? "",
      first = own !== "" && own !== last;
    last = own || last;
    return first ? { ...row, heading: own } : row;
  });
}

export function stacks(rows: readonly StackRow[], options: StackOptions = {}): HTMLElement {
  const parts = options.parts ?? PARTS;
  const totals = rows.map((row) => f.sum(row.values));
  const most = options.scale ?? Math.max(1, ...totals);
  const box = h("div", { class: `stacks${options.axis ? " with-axis" : ""}` });
  let list: HTMLElement | undefined;
  rows.forEach((row, i) => {
    if (row.heading) box.append(h("div.stack-heading", row.heading));
    if (row.heading || !list) box.append((list = h("div", { role: "list" })));
    list.append(stack(row, totals[i]!, options.shares ? totals[i]! : most, parts, options));
  });
  if (options.axis) box.append(axis(options.shares ? null : most));
  return box;
}

function stack(row: StackRow, total: number, scale: number, parts: readonly Part[], options: StackOptions): HTMLElement {
  const bar = h("div", { class: `bar ${row.state ?? ""}` });
  row.values.forEach((value, p) => {
    if (value <= 0) return;
    const part = parts[p]!;
    const width = `${(100 * value) / (scale || 1)}%`,
      piece = h("span", { class: `piece fill-${part.key}`, "data-part": part.key, "data-ns": value, style: { width } }),
      words = `${f.time(value)}, ${f.percent(f.share(value, total), 1)}`;
    bar.append(tip(piece, () => lines(`${row.label}: ${part.label}`, words, f.exact(value, "ns"))));
  });
  if (row.state === "torn")
    bar.append(tip(h("span.cut-off", { "data-cut": "" }), () => `${row.label}: its trace is cut short here; what came after is not known`));
  if (row.state === "missing") bar.append(h("span.absent", row.note ?? "no trace"));
  const text = row.short ?? row.label,
    label = row.href && text ? h("a.row-label", { href: row.href, "aria-label": row.label }, text) : h("span.row-label", text),
    words =
      parts.flatMap((part, p) => ((row.values[p] ?? 0) > 0 ? [`${part.label} ${f.time(row.values[p]!)}`] : [])).join(", ") || "nothing",
    state = { torn: "; cut short", missing: ", no trace", partial: "" }[row.state ?? "partial"],
    end = options.end ? options.end(row, total) : row.state === "missing" ? f.NONE : f.time(total);
  if (row.short !== undefined) label.classList.add("number");
  return h(
    "div.stack",
    { role: "listitem", ...row.data },
    label,
    h("div.bar-box", { role: "img", "aria-label": `${row.label}: ${words}${state}` }, bar),
    h("span.row-end", end),
  );
}

/* Makes an axis with ticks at round values from 0 to @p most [ns]. If @p most is null, the axis is from 0 to 100 %. */
function axis(most: number | null): HTMLElement {
  const ticks: Child[] = [];
  const unit = most === null ? { name: "%", factor: 1 } : f.timeUnit([most]);
  const end = most === null ? 100 : most / unit.factor;
  const values = roundTicks(end, 5),
    step = values[1] ?? 1, // one more decimal for steps such as 0.25
    digits = [0, 1, 2, 3].find((each) => Math.abs(Number(step.toFixed(each)) - step) < 1e-6 * step) ?? 3;
  for (const value of values) ticks.push(h("span.tick", { style: { left: `${(100 * value) / end}%` } }, f.grouped(value, digits)));
  return h("div.stack.axis", { "aria-hidden": true }, h("span.row-label"), h("div.bar-box", ticks), h("span.row-end", unit.name));
}

/** Returns about @p n round values from 0 to @p end. */
export function roundTicks(end: number, n: number): number[] {
  const rough = end / n;
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough) ?? power * 10;
  const ticks: number[] = [];
  for (let value = 0; value <= end * 1.0001; value += step) ticks.push(value);
  return ticks;
}
