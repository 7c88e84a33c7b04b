/** Kernels: which take most time on the GPU, how well is the GPU used, and which rank differs? */
import { band, spread, strip, type BandFigure } from "../cells";
import type { ColumnOf, Job, Table } from "../data";
import { h, cut, shortName, visible, type Child } from "../dom";
import * as f from "../format";
import { grid, type GridColumn, columns, tableSection } from "../grid";
import { adviceState, hasGrids, severalRanks, tellsTensorCores, communicates } from "../job";
import { empty, figure, heading, legend, note, section, lines, chooser } from "../ui";
import { href, type View, tablesNamed } from "../view";
import { classesOf } from "./classes";
import { filtered } from "./filtered";
import { measured } from "./measured";

const CONTENTION_FIRST = 10;
const FIND_LENGTH = 100; // characters of a name in a link to the timeline's search

// GPU utilisation, as in TensorBoard's overview ----------------------------------------------------

const USE: readonly (readonly [ColumnOf<"overview.job"> & ColumnOf<"overview.rank">, string, string])[] = [
  ["gpu_utilization_pct", "GPU utilisation", "no GPU events in a step"],
  ["sm_efficiency_pct", "SM efficiency, estimated", "the traces do not say how many blocks kernels have"],
  ["occupancy_pct", "Occupancy, estimated", "the traces do not say it"],
  ["tensor_core_pct", "Computing on tensor cores", "no compute kernel, or names that do not show it"],
];

function use(job: Job): HTMLElement {
  const table = job.table("overview.job"),
    known = table.num(0, "occupancy_known_pct");
  const reported = USE.filter(([column]) =>
    column === "tensor_core_pct" ? tellsTensorCores(job) : column === "gpu_utilization_pct" || hasGrids(job),
  );
  const figures: BandFigure[] = reported.map(([column, label, why]) => {
    const value = table.num(0, column);
    const definition = table.docOf(column);
    return {
      label,
      doc: `overview.job ${column}: ${definition}`,
      value: value === null ? f.NONE : figure(job, f.percent(value, 1), { table: "overview.job", row: 0, column }),
      below: [
        value === null ? why : spread(job, "overview.rank", column, (v) => f.percent(v, 1)),
        column === "occupancy_pct" && value !== null ? `for ${f.percent(known, 1)} of the kernels’ time; not known for the rest` : "",
      ]
        .filter(Boolean)
        .join(" · "),
    };
  });
  return section(
    "How well the GPUs are used, in the steps",
    band(figures),
    severalRanks(job) &&
      h(
        "details.definitions",
        h("summary", "The same by rank, as a table"),
        grid(
          job.table("overview.rank"),
          { first: 20 },
          "rank; steps; step_ns: in steps; kernel_ns: kernels; comm_ns: communication",
          reported.map(([column, label]) => ({ column, label })),
        ),
      ),
  );
}

// The tables ----------------------------------------------------------------------------------------

type Kernels = Table<"kernels.kernel" | "kernels.launch_shape">;

/* Draws a line from the shortest to the longest call of a kernel, with marks at the means of ranks. */
function meanStrip(table: Kernels, row: number): Child {
  const value = (column: ColumnOf<"kernels.kernel">) => table.num(row, column);
  return strip({
    from: value("min_ns"),
    to: value("max_ns"),
    middle: value("median_rank_ns"),
    far: value("slowest_rank_ns"),
    scale: Math.max(1, value("max_ns") ?? 0),
    label: `calls from ${f.time(value("min_ns"))} to ${f.time(value("max_ns"))}, mean of the median rank ${f.time(value("median_rank_ns"))}, of rank ${value("slowest_rank")} ${f.time(value("slowest_rank_ns"))}`,
    tip: () =>
      lines(
        "duration of a call",
        `shortest ${f.time(value("min_ns"))}, longest ${f.time(value("max_ns"))}`,
        `mean of the median rank ${f.time(value("median_rank_ns"))}`,
        `mean of rank ${value("slowest_rank")} ${f.time(value("slowest_rank_ns"))}: ${f.times(value("spread"))}`,
      ),
  });
}

function columnsOf(job: Job, table: Kernels): GridColumn<Kernels["name"]>[] {
  const all = job.table("kernels.kernel").by("name");
  const communicates = (row: number) => {
    const own = all.get(table.cell(row, "name"))?.[0];
    return own !== undefined && job.table("kernels.kernel").cell(own, "communication") === true;
  };
  const shapes = table.name === "kernels.launch_shape";
  return columns(
    table,
    "name<kernel>",
    shapes && "grid; block",
    { column: "total_ns", label: "total", bar: (row) => (communicates(row) ? "comm" : "compute") },
    "share_pct: share; calls; mean_ns: mean",
    shapes
      ? "min_ns: shortest; max_ns: longest"
      : {
          column: "max_ns",
          label: severalRanks(job) ? "calls and ranks" : "calls, least to most",
          draw: (row: number) => meanStrip(table, row),
          write: f.time,
        },
    severalRanks(job) && !shapes && "spread: spread; slowest_rank: rank",
    tellsTensorCores(job) && "tensor_cores: tensor cores",
    hasGrids(job) && "occupancy_pct: occupancy",
    shapes ? "blocks_per_sm: blocks per SM; registers; shared_memory_bytes<bytes>: shared memory" : "short_pct: under 100 µs",
  );
}

/* What launches each kernel: the operator, and its context in the program. */
function launcherColumns(job: Job): GridColumn<"kernels.launched">[] {
  const table = job.level("kernels.launched", "kernel");
  const own = job.table("kernels.kernel").by("name");
  const communicates = (row: number) => {
    const at = own.get(table.cell(row, "kernel"))?.[0];
    return at !== undefined && job.table("kernels.kernel").cell(at, "communication") === true;
  };
  return columns(
    table,
    "kernel<kernel narrow>; operator<narrow>: launched by; inside<narrow>: inside",
    { column: "total_ns", label: "total", bar: (row) => (communicates(row) ? "comm" : "compute") },
    "share_pct: of the kernel; calls; mean_ns: mean",
    severalRanks(job) && "ranks; median_rank_ns: median rank; max_rank_ns: max over ranks; max_rank: rank",
  );
}

function contention(job: Job): HTMLElement {
  const table = job.table("contention.kernel");
  const title = "What communication slows down";
  if (table.n === 0)
    return section(
      title,
      empty("No kernel ran at least five times beside communication and five times alone on a rank, so there is nothing to compare."),
    );
  const lost = f.sum(table.nums("extra_ns").map((v) => v ?? 0));
  return tableSection(
    title,
    `Kernels that ran both beside communication and alone: ${lost > 0 ? `sharing the GPU cost ${f.time(lost)} of GPU time` : "together they took no longer beside it"}, by their means. The same name and shape may still have different work.`,
    table,
    { first: CONTENTION_FIRST },
    "name<kernel>; grid; extra_ns<bar>: cost; slowdown; beside_ns: median beside; alone_ns: median alone",
    "beside_calls: calls beside; alone_calls: calls alone; ranks",
  );
}

/* Writes "gemm takes 12 % of the time of all kernels; communication 27 %, tensor cores 45 %.". */
function finding(job: Job): [Child, string] {
  const table = job.table("kernels.kernel");
  const share = (column: ColumnOf<"kernels.kernel">) =>
    f.sum(table.rows.map((_, row) => (table.cell(row, column) === true ? table.num(row, "share_pct") : 0)));
  const own = table.rows.findIndex((_, row) => table.cell(row, "communication") === false);
  const rest =
    `Of the kernels’ time ${f.percent(share("communication"))} is communication, including its waiting` +
    (tellsTensorCores(job) ? `, and ${f.percent(share("tensor_cores"))} runs on tensor cores.` : ".");
  if (own < 0) return ["All kernels communicate", rest];
  const text = visible(table.text(own, "name") ?? ""),
    short = (row: number) => cut(visible(shortName(table.text(row, "name") ?? "")), 60);
  const slow = table.all
    .filter(
      (row) => table.cell(row, "communication") === false && table.amount(row, "spread") > 1.1 && table.amount(row, "share_pct") >= 0.5,
    )
    .sort((a, b) => table.amount(b, "total_ns") - table.amount(a, "total_ns"))[0];
  const differ =
    slow === undefined
      ? severalRanks(job)
        ? " No kernel that matters is over 10 % slower on one rank than on the median one."
        : ""
      : ` On rank ${table.num(slow, "slowest_rank")} ${short(slow)} takes ${f.times(table.num(slow, "spread"))} what it takes on the median rank.`;
  return [
    [
      h("bdi.name", { title: text }, short(own)),
      ` takes ${f.percent(table.num(own, "share_pct"), 1)} of the kernels’ time, the most of those that compute`,
    ],
    rest + differ,
  ];
}

export const kernels: View = {
  id: "kernels",
  title: "Kernels",
  needs: tablesNamed(
    "overview.job overview.rank kernels.kernel kernels.launch_shape kernels.launched classes.kernel classes.rank",
    "contention.kernel kernels.roofline kernels.rule kernels.section",
  ),
  of: ["kernels.kernel"],
  state: (job) => adviceState(job, "kernels"),
  render(root, context) {
    const { job, params } = context;
    if (job.table("kernels.kernel").n === 0)
      return void root.append(
        heading("No kernels were recorded", "The traces hold no kernel of a GPU."),
        empty("Record with ProfilerActivity.CUDA among the profiler’s activities; a CPU-only trace has none."),
      );
    root.append(heading(...finding(job)), use(job));
    const by = (["launcher", "shape"] as const).find((each) => each === params.get("by")),
      launchers = job.level("kernels.launched", "kernel");
    const shapes = by === "shape" && hasGrids(job) && job.table("kernels.launch_shape").n > 0;
    const choose = chooser(
      context,
      "Rows",
      "by",
      [
        ["kernel", "kernels"],
        ...(hasGrids(job) ? ([["shape", "kernels and launch shapes"]] as const) : []),
        ["launcher", "kernels and who launches them"],
      ],
      by ?? "kernel",
      "sort",
    );
    const link = (of: Table<"kernels.kernel" | "kernels.launch_shape" | "kernels.launched">, column: "name" | "kernel") => (row: number) =>
      href("timeline", { find: (of.text(row, column) ?? "").slice(0, FIND_LENGTH) });
    const byLauncher = by === "launcher",
      table = job.table(shapes ? "kernels.launch_shape" : "kernels.kernel");
    root.append(
      section(
        "What costs most",
        legend([["compute", "Computes"], ...(communicates(job) ? ([["comm", "Communicates, and waits"]] as const) : [])]),
        byLauncher
          ? note(
              "Launched by: the innermost operator whose call put the kernel on its stream. Inside of: the function, module or annotation of the program around it. A name leads to its calls on the timeline.",
            )
          : note(
              "A name leads to its calls on the timeline. ",
              !shapes &&
                `The thin line spans the shortest to the longest call; on it ${severalRanks(job) ? "the mean of the median rank (bar) and of the slowest rank (dot)" : "the mean"}. Each line has its own scale, from 0.`,
            ),
        byLauncher
          ? filtered(context, launchers, { link: link(launchers, "kernel") }, choose, launcherColumns(job))
          : filtered(context, table, { link: link(table, "name") }, choose, columnsOf(job, table)),
      ),
      measured(context) ?? "",
      classesOf(job) ?? "",
      contention(job),
    );
  },
};
