/** XLA: where do steps spend their time, which operations take most of it, and what bounds them? */
import { band, longName, tile } from "../cells";
import type { Job, Table, TableName } from "../data";
import type { Child } from "../dom";
import * as f from "../format";
import { grid, type GridColumn, columns } from "../grid";
import { deviceWord, severalRanks } from "../job";
import { rooflineChart, boundShapes } from "../scatter";
import { heading, link, note, section, chooser } from "../ui";
import type { Context, View } from "../view";
import { filtered } from "./part";
import { leading, POD, pod } from "./xla_pod";

const KINDS = [
  ["category", "categories"],
  ["op", "operations"],
  ["program", "programs"],
] as const;
const OPERATIONS: readonly TableName[] = ["hlo.rank", "hlo.work", "framework.work"];
const SIDES = [
  ["device", "on the devices"],
  ["host", "on the hosts"],
] as const;
const BOUNDS = ["compute", "memory", "communication"];

const rate = (value: number) => f.grouped(value, f.digitsOf(value));

const tellsWork = (job: Job): boolean => job.table("hlo.rank").sum("known_pct") > 0;

function kindsOf(job: Job) {
  const categories = job.level("hlo.work", "category");
  return KINDS.filter(([key]) => key !== "category" || categories.rows.some((_, row) => categories.text(row, "category") !== null));
}

function finding(job: Job): [Child, string] {
  const [kind] = kindsOf(job)[0]!,
    table = job.level("hlo.work", kind),
    ranks = job.table("hlo.rank"),
    device = deviceWord(job);
  const name = table.text(0, kind) ?? "What the trace does not name";
  const [flops, bytes] = [ranks.median("peak_pct"), ranks.median("peak_bw_pct")];
  return [
    `${name} takes ${f.percent(table.num(0, "share_pct"))} of the time of XLA’s operations`,
    !tellsWork(job)
      ? "The traces show neither what operations compute and move nor what the devices can do."
      : flops === null || bytes === null
        ? `The traces do not give the peak of the ${device}s.${device === "GPU" ? " FLOP count only products of matrices, by the shapes in the programs." : ""}`
        : `While they run, the ${device}s compute at ${f.percent(flops, 1)} of their peak and use ${f.percent(bytes, 1)} of their memory’s bandwidth.`,
  ];
}

function figures(job: Job): HTMLElement {
  const time = tile(job, "hlo.rank", "self_ns", "Operations run for", f.time);
  if (!tellsWork(job)) return band([time]);
  return band([
    time,
    tile(job, "hlo.rank", "achieved_tflops", "They compute", (value) => `${f.flop(value * 1e12)}/s`),
    tile(job, "hlo.rank", "bw_gbps", "They move", (value) => `${rate(value)}${f.SPACE}GB/s`),
    tile(job, "hlo.rank", "known_pct", "FLOP and bytes known of", (value) => f.percent(value, 1)),
  ]);
}

/* Returns the roofs that all devices share; null if they differ or are unknown. */
function roofs(job: Job): { tflops: number; gbps: number } | null {
  const table = job.table("hlo.rank"),
    [tflops, gbps] = [table.least("peak_tflops"), table.least("peak_bw_gbps")];
  const same = tflops !== null && gbps !== null && table.most("peak_tflops") === tflops && table.most("peak_bw_gbps") === gbps;
  return same && table.known("peak_tflops") === table.n ? { tflops, gbps } : null;
}

/* Draws rate against operations per byte. Points on the slope are bound by memory, points on the horizontal line by computing. */
function roofline(job: Job): HTMLElement | null {
  const table = job.level("hlo.work", "op"),
    num = (row: number, column: "flop_per_byte" | "achieved_tflops" | "self_ns") => table.amount(row, column);
  const rows = table.all.filter((row) => num(row, "flop_per_byte") > 0 && num(row, "achieved_tflops") > 0),
    peak = roofs(job);
  if (rows.length === 0 || !peak) return null;
  const ridge = (1e3 * peak.tflops) / peak.gbps;
  const { shape, legend } = boundShapes(table, rows, BOUNDS);
  return section(
    "What bounds operations",
    "A point is an operation; a larger one takes more time. No operation can be above the line: its slope is the limit of the device’s memory, its level that of computing, which only 16-bit numbers come near.",
    legend,
    rooflineChart({
      label: `Rate of ${f.count(rows.length, "operation")} against floating-point operations per byte`,
      table,
      rows,
      name: "op",
      rate: ["achieved_tflops", 1],
      time: "self_ns",
      said: (row) => {
        const memory = table.num(row, "peak_bw_pct"),
          bandwidth = memory === null ? "" : `, ${f.percent(memory, 1)} of the memory’s bandwidth`;
        return `${table.text(row, "category") ?? "no category"}, ${f.significant(num(row, "achieved_tflops"))} TFLOP/s${bandwidth}`;
      },
      shape,
      also: { x: [ridge], y: [peak.tflops] },
      roofs: (x, y) => {
        const bottom = Math.max(x.min, (1e3 * y.min) / peak.gbps);
        const points = [bottom, ridge, x.max].map((at): [number, number] => [at, Math.min(peak.tflops, (at * peak.gbps) / 1e3)]);
        return [{ points, labelled: "end", label: `${f.significant(peak.tflops)} TFLOP/s, ${f.significant(peak.gbps)} GB/s` }];
      },
    }),
  );
}

function columnsOf(job: Job, table: Table<"hlo.work">, name: "category" | "op" | "program"): GridColumn<"hlo.work">[] {
  const known = (column: "bound" | "peak_pct" | "peak_bw_pct" | "async_ns") =>
    table.rows.some((_, row) => table.cell(row, column) !== null);
  /* The table of operations has more names, so less room: it leaves out absolute values whose share is known. */
  const absolute = (share: "peak_pct" | "peak_bw_pct") => name !== "op" || !known(share);
  const text = (column: "category" | "op" | "program" | "origin" | "shape", label: string): GridColumn<"hlo.work"> => ({
    column,
    label,
    draw: (row) => longName(table.text(row, column), true),
  });
  const ranks = new Set(table.nums("ranks"));
  return columns(
    table,
    text(name, name === "op" ? "operation" : name),
    name === "op" && [text("origin", "from"), text("shape", "makes")],
    "self_ns<bar>: own time",
    name !== "op" && "share_pct<spare>: of all",
    "occurrences: runs",
    tellsWork(job) && [
      known("bound") && "bound: bound by",
      absolute("peak_pct") && { column: "achieved_tflops", label: "rate", write: (value: number) => `${f.flop(value * 1e12)}/s` },
      known("peak_pct") && "peak_pct: of the peak",
      absolute("peak_bw_pct") && { column: "bw_gbps", label: "memory", write: (value: number) => `${rate(value)}${f.SPACE}GB/s` },
      known("peak_bw_pct") && "peak_bw_pct: of its peak",
      known("async_ns") && "async_ns<spare>: beside others",
    ],
    name !== "op" && severalRanks(job) && ranks.size > 1 && "ranks",
    severalRanks(job) && "max_rank: slowest rank",
  );
}

function operations(context: Context): HTMLElement {
  const { job, params } = context,
    kinds = kindsOf(job),
    [kind] = kinds.find(([key]) => key === params.get("by")) ?? kinds[0]!,
    table = job.level("hlo.work", kind),
    categories = job.level("hlo.work", "category"),
    waits = categories.rows.some((_, row) => categories.text(row, "category")?.endsWith("-done"));
  return section(
    "Operations",
    note(
      "Own time leaves out what runs inside of a loop.",
      waits && " An operation that ends in -done waits for what its -start began: the core runs nothing else meanwhile.",
    ),
    filtered(context, table, { first: 20 }, chooser(context, "Rows", "by", kinds, kind, "sort"), columnsOf(job, table, kind)),
  );
}

function framework(context: Context): HTMLElement | null {
  const { job, params } = context,
    table = job.level("framework.work", "type");
  const sides = SIDES.filter(([side]) => table.rows.some((_, row) => table.text(row, "side") === side && table.text(row, "type") !== null));
  if (sides.length === 0) return null;
  const side = sides.find(([key]) => key === params.get("side"))?.[0] ?? sides[0]![0],
    rows = table.all.filter((row) => table.text(row, "side") === side);
  return section(
    "Operators of the framework",
    note("By type; on devices, what ran there for them. ", link("Individual ones", "tables", { name: "framework.work" })),
    sides.length > 1 ? chooser(context, "Where", "side", sides, side) : null,
    grid(
      table,
      { rows, first: 15 },
      { column: "type", draw: (row) => (table.text(row, "type") === null ? "none given" : longName(table.text(row, "type"))) },
      "self_ns<bar>: own time; share_pct: of all; total_ns: whole time; occurrences: runs; operators",
    ),
  );
}

export const xla: View = {
  id: "xla",
  title: "XLA",
  needs: [...OPERATIONS, ...POD, "job.rank"],
  shown: (job) => [...OPERATIONS, ...POD].some((name) => job.rowsOf(name) > 0),
  parts: [
    (context) => {
      const { job } = context,
        compiled = job.rowsOf("hlo.rank") > 0,
        types = framework(context),
        title: readonly [Child, string] = compiled
          ? finding(job)
          : types
            ? ["Operators of TensorFlow", "Nothing was compiled by XLA."]
            : [leading(job)?.text ?? "Input of hosts", "The traces hold no operations of XLA."];
      return [heading(...title), compiled && figures(job), pod(context), compiled && [roofline(job), operations(context)], types];
    },
  ],
};
