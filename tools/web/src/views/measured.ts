/** Kernels measured with Nsight Compute: the roofline, and the rules for the chosen kernel. */
import { longName } from "../cells";
import type { ColumnOf, Job, Table, TableName } from "../data";
import { fill, h, type Child } from "../dom";
import * as f from "../format";
import { grid, type GridColumn, columns } from "../grid";
import type { PlotLine } from "../plot";
import { rooflineChart, boundShapes } from "../scatter";
import { folded, link, note, prose, section, factsList } from "../ui";
import { href, type Context } from "../view";

const BOUNDS = ["compute", "memory", "latency"];
const FIND_LENGTH = 100; // length of a name in a link to the timeline's search [characters]
const SAME_ROOF = 1.25; // roofs within this factor count as one: clocks vary by less, number types by 2 or more

type Roofline = Table<"kernels.roofline">;
type Roof = ColumnOf<"kernels.roofline"> & `${string}roof${string}`;
type Keyed = TableName & ("kernels.rule" | "kernels.section");

const tera = (giga: number | null) => (giga === null ? f.NONE : `${f.significant(giga / 1e3)}${f.SPACE}TFLOP/s`);
const isPoint = (table: Roofline, row: number) => table.amount(row, "flop_per_byte") > 0 && table.amount(row, "achieved_gflops") > 0;

/* Returns the different roofs in a column, lowest first. Nearly equal values are one roof, which has their median. */
function roofsOf(table: Roofline, column: Roof): number[] {
  const alike: number[][] = [];
  for (const roof of table.nums(column).sort((a, b) => (a ?? 0) - (b ?? 0))) {
    const last = alike[alike.length - 1];
    if (roof === null || roof <= 0) continue;
    if (last && roof <= SAME_ROOF * last[0]!) last.push(roof);
    else alike.push([roof]);
  }
  return alike.map((values) => f.median(values)!);
}

function chart(table: Roofline, chosen: number, choose: (row: number) => void): HTMLElement | null {
  const rows = table.all.filter((row) => isPoint(table, row)).sort((a, b) => Number(a === chosen) - Number(b === chosen)), // the chosen row is last, so on top
    num = (row: number, column: "flop_per_byte" | "achieved_gflops" | "total_ns") => table.amount(row, column);
  if (rows.length === 0) return null;
  const bandwidth = f.most([0, ...roofsOf(table, "roof_bw_gbps")]),
    levels = [
      ...roofsOf(table, "roof_gflops").map((roof) => ({ roof, of: "single precision" })),
      ...roofsOf(table, "tensor_roof_gflops").map((roof) => ({ roof, of: "tensor cores" })),
    ];
  const ridges = bandwidth > 0 ? levels.map(({ roof }) => roof / bandwidth) : [];
  const { shape, legend } = boundShapes(table, rows, BOUNDS);
  return h(
    "div",
    note(
      "A point is a kernel with its launch shape; a larger one takes more time in the job. Operations and bytes are Nsight Compute’s; the rate uses the job’s durations. ",
      levels.length > 0 || bandwidth > 0
        ? `Lines: the limits of the memory${bandwidth > 0 ? ` (${f.significant(bandwidth)}${f.SPACE}GB/s)` : ""}, of single precision and of the tensor cores, at the device’s clocks under Nsight Compute: it keeps them low by default, so a kernel of the job can be above. `
        : "The file has no peaks, so there are no roofs: ncu’s section SpeedOfLight_RooflineChart has them. ",
      "Click a point, or a name in the table, for what Nsight Compute says about it; the chosen one has a thick edge.",
    ),
    legend,
    rooflineChart({
      label: `Rate of ${f.count(rows.length, "measured kernel")} against floating-point operations per byte`,
      table,
      rows,
      name: "name",
      rate: ["achieved_gflops", 1e-3],
      time: "total_ns",
      said: (row) =>
        `${tera(num(row, "achieved_gflops"))}, multiprocessors ${f.percent(table.num(row, "sm_pct"), 1)}, memory ${f.percent(table.num(row, "memory_pct"), 1)} of their peak`,
      shape,
      chosen,
      also: { x: ridges, y: levels.map(({ roof }) => roof / 1e3) },
      click: choose,
      roofs: (x, y) => {
        const lines: Omit<PlotLine, "color" | "width" | "dash">[] = levels.map(({ roof, of }) => ({
          points: [bandwidth > 0 ? roof / bandwidth : x.min, x.max].map((at) => [at, roof / 1e3] as const),
          labelled: "end",
          label: `${of}: ${tera(roof)}`,
        }));
        if (bandwidth === 0) return lines;
        const top = f.most([...ridges, ...(ridges.length > 0 ? [] : [Math.min(x.max, (1e3 * y.max) / bandwidth)])]),
          bottom = Math.max(x.min, (1e3 * y.min) / bandwidth);
        const slope: [number, number][] = [bottom, Math.max(bottom, top)].map((at) => [at, (at * bandwidth) / 1e3]);
        return [...lines, { points: slope }];
      },
    }),
  );
}

/* Returns the rows of the table @p name with the same kernel and shape as @p row. */
function rowsOf(job: Job, name: Keyed, table: Roofline, row: number): number[] {
  const other = job.table<Keyed>(name);
  return other.rows
    .map((_, at) => at)
    .filter((at) => (["name", "grid", "block"] as const).every((key) => other.cell(at, key) === table.cell(row, key)));
}

/* Writes the speedup that a rule estimates, and whether it is of the whole kernel or of a part. The two cannot be compared. */
function speedup(rules: Table<"kernels.rule">, row: number): string {
  const pct = rules.num(row, "speedup_pct"),
    type = rules.text(row, "speedup_type");
  if (pct === null) return "no speedup estimated";
  const of = type === "global" ? ", of the whole kernel" : type === "local" ? ", of only a part of it" : "";
  return `estimated speedup ${f.percent(pct, 1)}${of}`;
}

function panel(job: Job, table: Roofline, row: number): Child {
  const rules = job.table("kernels.rule"),
    said = rowsOf(job, "kernels.rule", table, row),
    sections = job.table("kernels.section"),
    lines = rowsOf(job, "kernels.section", table, row);
  const facts: readonly (readonly [string, string])[] = [
    ["grid and block", `${table.text(row, "grid") ?? f.NONE}; ${table.text(row, "block") ?? f.NONE}`],
    ["measured", f.count(table.amount(row, "launches"), "launch", "launches")],
    [
      "in the job",
      table.num(row, "calls") === null
        ? "no kernel of this name and shape"
        : `${f.count(table.amount(row, "calls"), "call")}, ${f.time(table.num(row, "total_ns"))}`,
    ],
    ["rate", `${tera(table.num(row, "achieved_gflops"))} in the job`],
    ["roofs", `single precision ${tera(table.num(row, "roof_gflops"))}, tensor cores ${tera(table.num(row, "tensor_roof_gflops"))}`],
  ];
  return [
    h("h3", longName(table.text(row, "name"))),
    factsList(facts),
    table.num(row, "calls") !== null &&
      h("p", link("Its calls on the timeline", "timeline", { find: (table.text(row, "name") ?? "").slice(0, FIND_LENGTH) })),
    said.length === 0
      ? note("The file has no rule about it: ncu’s page “details” has them.")
      : h(
          "ul.rules",
          said.map((at) =>
            h(
              "li",
              h("b", rules.text(at, "rule") ?? ""),
              ` (${f.joined("; ", rules.text(at, "section"), speedup(rules, at))}): `,
              prose(rules.text(at, "text")),
            ),
          ),
        ),
    lines.length > 0 &&
      folded(
        `Everything that was measured: ${f.count(lines.length, "line")}`,
        grid(
          sections,
          { rows: lines },
          "section; metric",
          { column: "value", write: (value) => f.grouped(value, f.digitsOf(value)) },
          "unit",
          lines.some((at) => sections.text(at, "text") !== null) && "text",
        ),
      ),
  ];
}

function columnsOf(table: Roofline): GridColumn<"kernels.roofline">[] {
  const rate = (value: number) => f.grouped(value, f.digitsOf(value));
  return columns(
    table,
    "name<kernel>; grid; block; total_ns<bar>: total in the job; calls; bound: bound by; sm_pct: multiprocessors",
    "memory_pct: memory; dram_pct: DRAM; occupancy_pct: occupancy",
    { column: "achieved_gflops", label: "rate", write: (value) => tera(value) },
    { column: "flop_per_byte", label: "per byte", write: rate },
  );
}

/** Makes the section of measured kernels; null if there are none. The parameter "measured" of the address is the chosen row. */
export function measured(context: Context): HTMLElement | null {
  const { job, params } = context,
    table = job.table("kernels.roofline");
  if (table.n === 0) return null;
  const box = h("div.chosen", { role: "region", "aria-label": "The chosen kernel", "aria-live": "polite" });
  const chosen = Number(params.get("measured") ?? NaN);
  const drawn = chart(table, chosen, (row) => context.redraw({ measured: String(row) }));
  if (chosen in table.rows) fill(box, panel(job, table, chosen));
  const apart = table.rows.filter((_, row) => !isPoint(table, row)).length;
  return section(
    "What Nsight Compute measured",
    drawn ?? "No measured kernel has both its operations and its bytes in the file and calls in the job: there is no roofline.",
    drawn !== null &&
      apart > 0 &&
      `Only in the table: ${f.count(apart, "kernel")} without operations or bytes in the file, without floating-point operations, or not in the job.`,
    box,
    grid(
      table,
      { first: 10, current: (row) => row === chosen, link: (row) => href("kernels", { ...Object.fromEntries(params), measured: row }) },
      columnsOf(table),
    ),
  );
}
