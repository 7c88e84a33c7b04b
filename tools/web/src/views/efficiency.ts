/** Efficiency: how much of the devices' peak does the model use, and which operators are far below the peak? */
import { band, tile } from "../cells";
import type { Job, Table } from "../data";
import { h, type Child } from "../dom";
import * as f from "../format";
import { type GridColumn, columns } from "../grid";
import { deviceWord, ofXla, severalRanks } from "../job";
import { rooflineChart, shapeLegend } from "../scatter";
import { empty, heading, section, chooser } from "../ui";
import { tablesNamed, type Context, type View } from "../view";
import { filtered, part } from "./part";

const LEVELS = [
  ["operator", "operators and shapes"],
  ["kernel", "kernels"],
  ["place", "modules and functions"],
] as const;
const POINTS_MAX = 400;
/** If operators with known FLOP take less than this share [%] of the computing time, the utilisation is only a lower bound. */
const MOSTLY_PCT = 80;
/** If utilisation in devices' windows is below this fraction of utilisation in steps, the host marks steps too early. */
const AHEAD = 0.98;
const SLOWEST = 1e4; // an operator slower than the fastest one by more than this factor is not drawn

/* Returns whether the host marks steps faster than the devices finish them. */
function runsAhead(table: Table<"efficiency.rank">): boolean {
  const window = table.median("mfu_window_pct"),
    marked = table.median("mfu_pct");
  return window !== null && marked !== null && window < AHEAD * marked;
}

function finding(job: Job): [Child, string] {
  const table = job.table("efficiency.rank"),
    shares = table.nums("mfu_pct").filter((value) => value !== null);
  const [least, median, most] = [f.least(shares), f.median(shares), f.most(shares)],
    device = deviceWord(job);
  const why = [...new Set(table.rows.map((_, row) => table.text(row, "reason")).filter((text): text is string => text !== null))];
  if (median === null)
    return [
      "How much of the peak is used is not known",
      why.length > 0
        ? `${why
            .map((text) => text.replace(/\.$/, ""))
            .join("; ")
            .replace(/^./, (c) => c.toUpperCase())}.`
        : "No operator’s FLOP can be counted from its recorded inputs.",
    ];
  const covered = table.median("coverage_pct"),
    counted = !ofXla(job)
      ? "operators with recorded shapes are"
      : device === "GPU"
        ? "products of matrices are"
        : "what the compiler counts is";
  const window = table.median("mfu_window_pct"),
    ahead = runsAhead(table);
  return [
    `The model uses ${covered !== null && covered < MOSTLY_PCT && !ahead ? "at least " : ""}${f.percent(median, 1)} of what the ${device}s can compute`,
    `Model FLOP utilisation${shares.length > 1 ? `, median over ranks${f.percent(least, 1) === f.percent(most, 1) ? "" : `, ${f.percent(least, 1)} to ${f.percent(most, 1)}`}` : ""}. Only ${counted} counted, ${f.percent(covered)} of all compute time. ` +
      (ahead
        ? `The time is that of the steps’ marks on the host, which may run ahead of the ${device}; of the ${device}s’ own windows it is ${f.percent(window, 1)}, which compares ranks better.`
        : "So it is a lower bound.") +
      (table.sum("at_most_flop") > 0
        ? ` Counting attention over packed sequences at its longest, it is ${f.percent(table.median("mfu_at_most_pct"), 1)}.`
        : ""),
  ];
}

function figures(job: Job): HTMLElement {
  const table = job.table("efficiency.rank"),
    rate = (value: number) => `${f.grouped(value, f.digitsOf(value))}${f.SPACE}TFLOP/s`,
    percent = (value: number) => f.percent(value, 1);
  const whole = table.known("mfu_pct") === 0 && table.known("mfu_window_pct") > 0,
    ofWindow = `${f.percent(table.median("mfu_window_pct"), 1)} of the ${deviceWord(job)}s’ whole time`;
  return band([
    tile(job, "efficiency.rank", "mfu_pct", "Model FLOP utilisation", percent, whole ? { below: ofWindow } : {}),
    tile(job, "efficiency.rank", "achieved_tflops", "In the steps", rate),
    tile(job, "efficiency.rank", "kernel_tflops", "While its kernels run", rate),
    tile(job, "efficiency.rank", "coverage_pct", "Counted of computing", percent),
  ]);
}

const ranks = part(
  "efficiency.rank",
  "Ranks",
  {
    none: null,
    note: "The peak is the device’s maximum for the number type, without sparsity.",
    first: 16,
    sort: ({ several }) => (several ? "mfu_pct" : ""),
  },
  "rank; device; type; peak_tflops: peak; mfu_pct<percent>: of the peak",
  ({ table }) => [
    runsAhead(table) && "mfu_window_pct: of the device’s window",
    table.sum("at_most_flop") > 0 && "mfu_at_most_pct: at most",
    table.sum("recomputed_flop") > 0 && "hfu_pct: with what is recomputed",
  ],
  "achieved_tflops: in the steps; kernel_tflops: while its kernels run; coverage_pct: counted; flop<flop>: operations",
  ({ table }) =>
    new Set(table.all.map((row) => table.text(row, "reason"))).size > 1 && {
      column: "reason",
      label: "why it is not known",
      draw: (row) => table.text(row, "reason") ?? "",
    },
);
/* Draws the rate against operations per byte. Lines show the peak of each number type. */
function roofline(job: Job): HTMLElement | null {
  const table = job.level("efficiency.work", "operator");
  const known = table.all.filter((row) => table.amount(row, "flop_per_byte") > 0 && table.amount(row, "achieved_tflops") > 0);
  const fastest = f.most(known.map((row) => table.amount(row, "achieved_tflops"))),
    rows = known.filter((row) => table.amount(row, "achieved_tflops") >= fastest / SLOWEST).slice(0, POINTS_MAX);
  if (rows.length === 0) return null;
  const num = (row: number, column: "flop_per_byte" | "achieved_tflops" | "total_ns") => table.amount(row, column);
  const peaks = new Map<string, number>();
  for (const row of rows) {
    const share = table.num(row, "peak_pct"),
      type = table.text(row, "type");
    if (share !== null && share > 0 && type !== null) peaks.set(type, (100 * num(row, "achieved_tflops")) / share);
  }
  const types = [...new Set(rows.map((row) => table.text(row, "type") ?? ""))];
  /* Number types with the same peak share a line. Neighbouring lines have their labels at opposite ends. */
  const rates = [...new Set([...peaks.values()].sort((a, b) => a - b).map((peak) => f.significant(peak)))],
    typesAt = (rate: string) => [...peaks].filter(([, peak]) => f.significant(peak) === rate);
  return section(
    "How near operators are to the peak",
    `A point is an operator with its shapes; a larger one takes more time. Far right: many operations per byte, so only computing can limit it. Lines: the ${deviceWord(job)}s’ peak for each number type.`,
    shapeLegend(
      types.map((type, shape) => ({ shape, label: type })),
      "compute",
    ),
    rooflineChart({
      label: `Rate of ${f.count(rows.length, "operator")} against operations per byte`,
      table,
      rows,
      name: "name",
      rate: ["achieved_tflops", 1],
      time: "total_ns",
      said: (row) => {
        const share = table.num(row, "peak_pct"),
          used = share === null ? "" : `, ${f.percent(share, 1)} of the peak`;
        return `${table.text(row, "type")}, ${f.significant(num(row, "achieved_tflops"))} TFLOP/s${used}`;
      },
      shape: (row) => types.indexOf(table.text(row, "type") ?? ""),
      hollow: (row) => table.cell(row, "at_most") === true,
      also: { y: [...peaks.values()] },
      roofs: (x) =>
        rates.map((rate, i) => {
          const [[, peak] = ["", 0]] = typesAt(rate);
          const points = [x.min, x.max].map((at): [number, number] => [at, peak]);
          const names = typesAt(rate).map(([type]) => type);
          return { labelled: i % 2 === 0 ? "end" : "begin", points, label: `${names.join(", ")}: ${rate} TFLOP/s` };
        }),
    }),
    rows.length < known.length && `Only in the table: ${f.count(known.length - rows.length, "operator")} with the lowest rate or time.`,
    table.known("at_most") > 0 && "Hollow: at most this much, because the lengths of packed sequences are not recorded.",
  );
}

function columnsOf(job: Job, table: Table<"efficiency.work">, level: string): GridColumn<"efficiency.work">[] {
  const rate = (value: number) => f.grouped(value, f.digitsOf(value));
  return columns(
    table,
    { column: "name", name: "narrow", label: level === "place" ? "inside" : level, kernel: level === "kernel" },
    level === "operator" && "shapes<narrow>",
    "total_ns<bar>: time; peak_pct<percent>: of the peak",
    {
      column: "achieved_tflops",
      label: "rate",
      after: (row) => (table.cell(row, "at_most") === true ? [" ", h("small", "at most")] : ""),
    },
    "type; flop<flop>: operations",
    { column: "flop_per_byte", label: "per byte", write: rate, spare: true },
    "calls",
    new Set(table.nums("ranks")).size > 1 && "ranks<spare>",
    severalRanks(job) && "max_rank: slowest rank",
  );
}

function work(context: Context): HTMLElement {
  const { job, params } = context,
    [level] = LEVELS.find(([key]) => key === params.get("by")) ?? LEVELS[0],
    table = job.level("efficiency.work", level);
  return section(
    "What is counted",
    filtered(context, table, { first: 20 }, chooser(context, "Rows", "by", LEVELS, level, "sort"), columnsOf(job, table, level)),
  );
}

export const efficiency: View = {
  id: "efficiency",
  title: "Efficiency",
  needs: tablesNamed("efficiency.rank efficiency.work"),
  shown: (job) => job.rowsOf("efficiency.work") > 0,
  lacks: ({ job }) =>
    job.rowsOf("efficiency.work") === 0 && [
      heading("Efficiency"),
      empty("No operator’s FLOP can be counted from its recorded inputs: record with record_shapes=True."),
    ],
  parts: [({ job }) => [heading(...finding(job)), figures(job), roofline(job)], work, ranks],
};
