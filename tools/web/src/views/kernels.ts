/** Kernels: which ones take most time on the GPU, how well is the GPU used, and which rank differs? */
import { band, spread, strip, type BandFigure } from "../cells";
import type { ColumnOf, Job, Table } from "../data";
import { h, cut, shortName, visible, type Child } from "../dom";
import * as f from "../format";
import { grid, columns, type GridColumn, type Write } from "../grid";
import { adviceState, hasGrids, severalRanks, tellsTensorCores, TO_RECORD_DEVICES, communicates } from "../job";
import { figure, folded, heading, legend, note, section, lines, chooser } from "../ui";
import { href, tablesNamed, type Context, type View } from "../view";
import { filtered, lacking, part } from "./part";
import { measured } from "./measured";
import { heatMap } from "../map";

const COSTLY = "What costs most";
const FIND_LENGTH = 100; // length of a name in a link to the timeline's search [characters]
const USE: readonly (readonly [ColumnOf<"overview.job"> & ColumnOf<"overview.rank">, string, string])[] = [
  ["gpu_utilization_pct", "GPU utilisation", "no GPU events in a step"],
  ["sm_efficiency_pct", "SM efficiency, estimated", "the traces do not say how many blocks kernels have"],
  ["occupancy_pct", "Occupancy, estimated", "the traces do not say it"],
  ["tensor_core_pct", "Computing on tensor cores", "no compute kernel, or names that do not show it"],
];

function use(job: Job): HTMLElement {
  const table = job.table("overview.job");
  const reported = USE.filter(([column]) =>
    column === "tensor_core_pct" ? tellsTensorCores(job) : column === "gpu_utilization_pct" || hasGrids(job),
  );
  const figures = reported.map(([column, label, why]): BandFigure => {
    const value = table.num(0, column),
      known = f.percent(table.num(0, "occupancy_known_pct"), 1);
    return [
      label,
      `overview.job ${column}: ${table.docOf(column)}`,
      value === null ? f.NONE : figure(job, f.percent(value, 1), { table: "overview.job", row: 0, column }),
      f.joined(
        " · ",
        value === null ? why : spread(job, "overview.rank", column, (v) => f.percent(v, 1)),
        column === "occupancy_pct" && value !== null ? `for ${known} of the kernels’ time; not known for the rest` : "",
      ),
    ];
  });
  return section(
    "How well the GPUs are used, in the steps",
    band(figures),
    severalRanks(job) &&
      folded(
        "The same by rank, as a table",
        grid(
          job.table("overview.rank"),
          { first: 20 },
          "rank; steps; step_ns: in steps; kernel_ns: kernels; comm_ns: communication",
          reported.map(([column, label]) => ({ column, label })),
        ),
      ),
  );
}
type Kernels = Table<"kernels.kernel" | "kernels.launch_shape">;

/* Draws a line from the shortest to the longest call of a kernel. Marks show the means of ranks. */
function meanStrip(table: Kernels, row: number): Child {
  const value = (column: ColumnOf<"kernels.kernel">) => table.num(row, column);
  return strip(
    [value("min_ns"), value("max_ns"), value("median_rank_ns"), value("slowest_rank_ns")],
    Math.max(1, value("max_ns") ?? 0),
    `calls from ${f.time(value("min_ns"))} to ${f.time(value("max_ns"))}, mean of the median rank ${f.time(value("median_rank_ns"))}, of rank ${value("slowest_rank")} ${f.time(value("slowest_rank_ns"))}`,
    () =>
      lines(
        "duration of a call",
        `shortest ${f.time(value("min_ns"))}, longest ${f.time(value("max_ns"))}`,
        `mean of the median rank ${f.time(value("median_rank_ns"))}`,
        `mean of rank ${value("slowest_rank")} ${f.time(value("slowest_rank_ns"))}: ${f.times(value("spread"))}`,
      ),
  );
}

/* Returns a function that returns the colour of a row's bar. The colour depends on the name of the row's kernel. */
function barOf(job: Job, name: (row: number) => string | null): (row: number) => string {
  const kernels = job.table("kernels.kernel"),
    own = kernels.by("name");
  return (row) => (kernels.cell(own.get(name(row))?.[0] ?? -1, "communication") === true ? "comm" : "compute");
}

function columnsOf(job: Job, table: Kernels): GridColumn<Kernels["name"]>[] {
  const shapes = table.name === "kernels.launch_shape";
  return columns(
    table,
    "name<kernel>",
    shapes && "grid; block",
    { column: "total_ns", label: "total", bar: barOf(job, (row) => table.text(row, "name")) },
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

const contention = part(
  "contention.kernel",
  "What communication slows down",
  {
    none: "No kernel ran at least five times beside communication and five times alone on a rank, so there is nothing to compare.",
    note: ({ table }) => {
      const lost = f.sum(table.nums("extra_ns"));
      return `Kernels that ran both beside communication and alone: ${lost > 0 ? `sharing the GPU cost ${f.time(lost)} of GPU time` : "together they took no longer beside it"}, by their means. The same name and shape may still have different work.`;
    },
    first: 10,
  },
  "name<kernel>; grid; extra_ns<bar>: cost; slowdown; beside_ns: median beside; alone_ns: median alone",
  "beside_calls: calls beside; alone_calls: calls alone; ranks",
);

/* Writes a text such as "gemm takes 12 % of the time of all kernels; communication 27 %, tensor cores 45 %.". */
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
  const slow = table
    .sorted("-total_ns")
    .find(
      (row) => table.cell(row, "communication") === false && table.amount(row, "spread") > 1.1 && table.amount(row, "share_pct") >= 0.5,
    );
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

/** Maximum number of rows of the map. If there are more ranks, the map shows those that differ most. */
const RANKS_MAX = 64;
const BITS = [
  ["bits8_ns", "in 8 bits"],
  ["bits16_ns", "in 16 bits"],
  ["tf32_ns", "in TF32"],
  ["bits32_ns", "in 32 bits"],
  ["bits64_ns", "in 64 bits"],
] as const;

/* The strongest colour stands for the largest difference [%], and at least for this one. */
const FULL_COLOUR_PCT = 10;

/* Makes a map of ranks by classes of kernels. It shows how much more time a class takes on a rank than on the median rank. */
function classMap(job: Job): HTMLElement | null {
  const kernels = job.level("classes.work", "class"),
    table = job.level("classes.work", "rank");
  if (!severalRanks(job) || table.n === 0) return null;
  const classes = kernels.all.filter((row) => kernels.amount(row, "ranks") > 1),
    name = (row: number) => kernels.text(row, "class") ?? "";
  const cells = new Map(table.rows.map((_, row) => [`${table.num(row, "rank")}/${table.text(row, "class")}`, row]));
  /* Means per call are compared, because ranks with longer recordings have more calls. */
  const mean = (at: number | undefined): number | null => {
    const calls = table.num(at ?? -1, "calls");
    return calls ? table.amount(at!, "total_ns") / calls : null;
  };
  const of = table.by("class"),
    middles = new Map(classes.map((row) => [row, f.median((of.get(name(row)) ?? []).map(mean).filter((value) => value !== null))]));
  const slower = (rank: number, row: number): number | null => {
    const own = mean(cells.get(`${rank}/${name(row)}`)),
      middle = middles.get(row);
    return own === null || !middle ? null : 100 * (own / middle - 1);
  };
  const work = classes.filter((row) => name(row) !== "communication"),
    weight = (rank: number) => f.sum(work.map((row) => Math.max(0, slower(rank, row) ?? 0) * kernels.amount(row, "share_pct")));
  const all = [...new Set(table.nums("rank"))].filter((rank) => rank !== null),
    weights = new Map(all.map((rank) => [rank, weight(rank)]));
  const order = [...all].sort((a, b) => weights.get(b)! - weights.get(a)! || a - b),
    ranks = all.length > RANKS_MAX ? order.slice(0, RANKS_MAX) : all.sort((a, b) => a - b);
  return h(
    "div",
    h("h3", "By rank, against the median rank"),
    note(
      `Percent by which the mean call of a class takes longer on a rank than on the median rank; the colours go from 0 to at least ${FULL_COLOUR_PCT}. For communication the rank that waits most takes longest.`,
      ranks.length < all.length && ` The ${ranks.length} of ${f.grouped(all.length)} ranks that take longest, not counting communication.`,
    ),
    heatMap({
      label: "Mean time of a kernel by rank and class against the median rank, percent",
      rows: ranks.map((rank) => `rank ${rank}`),
      columns: classes.map(name),
      ramp: "wait",
      to: FULL_COLOUR_PCT,
      cell: (r, c) => {
        const rank = ranks[r]!,
          row = classes[c]!,
          value = slower(rank, row),
          at = cells.get(`${rank}/${name(row)}`);
        if (value === null || at === undefined) return null;
        const size = Math.abs(value),
          own = `${f.time(mean(at))} a kernel, the median rank ${f.time(middles.get(row) ?? null)}`,
          all = `${f.time(table.num(at, "total_ns"))} in ${f.count(table.amount(at, "calls"), "call")}`;
        return {
          value: Math.max(0, value),
          text: size < 0.05 ? "0" : `${value < 0 ? "−" : "+"}${f.grouped(size, size < 9.95 ? 1 : 0)}`,
          tip: () => lines(`rank ${rank}, ${name(row)}`, `${own}; ${all}`),
        };
      },
    }),
  );
}

/** Makes the section about classes of kernels; null if no kernel's name shows a class. */
function classesOf(job: Job): HTMLElement | null {
  const table = job.level("classes.work", "class");
  if (table.n === 0) return null;
  return section(
    "Classes of work",
    "By words in the kernels’ names, which also give the number format of matrix multiplications, convolutions and attention.",
    grid(
      table,
      {},
      "class",
      { column: "total_ns", label: "total", bar: (row) => (table.text(row, "class") === "communication" ? "comm" : "compute") },
      "share_pct: share; calls; names: names; top_name<kernel narrow>: the largest",
      BITS.filter(([column]) => table.sum(column) > 0).map(([column, label]) => ({
        column,
        label,
        /* a dash if no kernel's name in this class shows the number format */
        draw: (row: number, write: Write) => (BITS.some(([each]) => table.amount(row, each) > 0) ? write(table.num(row, column)) : f.NONE),
      })),
      table.sum("flash_ns") > 0 && "flash_ns: flash attention",
      severalRanks(job) && "spread: total: max over ranks / median; slowest_rank: rank",
    ),
    classMap(job),
  );
}

export const kernels: View = {
  id: "kernels",
  title: "Kernels",
  needs: tablesNamed(
    "overview.job overview.rank kernels.kernel kernels.launch_shape kernels.launched classes.work",
    "contention.kernel kernels.roofline kernels.rule kernels.section",
  ),
  of: ["kernels.kernel"],
  state: (job) => adviceState(job, "kernels"),
  lacks: ({ job }) =>
    job.table("kernels.kernel").n === 0 &&
    lacking("No kernels were recorded", "The traces hold no kernel of a GPU.", `${TO_RECORD_DEVICES}; a CPU-only trace has none.`),
  parts: [({ job }) => heading(...finding(job)), ({ job }) => use(job), costly, measured, ({ job }) => classesOf(job), contention],
};

/* Lists what takes most time. The parameter "by" chooses kernels, their launch shapes, or the operators that launch them. */
function costly(context: Context): Child {
  const { job, params } = context,
    by = (["launcher", "shape"] as const).find((each) => each === params.get("by")),
    grids = hasGrids(job),
    shapes = by === "shape" && grids && job.table("kernels.launch_shape").n > 0,
    rows = { kernel: "kernels", ...(grids && { shape: "kernels and launch shapes" }), launcher: "kernels and who launches them" },
    choose = chooser<string>(context, "Rows", "by", rows as Record<string, string>, by ?? "kernel", "sort"),
    colours = legend(`compute: Computes${communicates(job) ? "; comm: Communicates, and waits" : ""}`),
    link = (of: Table<"kernels.kernel" | "kernels.launch_shape" | "kernels.launched">, column: "name" | "kernel") => (row: number) =>
      href("timeline", { find: (of.text(row, column) ?? "").slice(0, FIND_LENGTH) });
  if (by === "launcher") {
    const table = job.level("kernels.launched", "kernel");
    return section(
      COSTLY,
      colours,
      "Launched by: the innermost operator whose call put the kernel on its stream. Inside of: the function, module or annotation of the program around it. A name leads to its calls on the timeline.",
      filtered(
        context,
        table,
        { link: link(table, "kernel") },
        choose,
        "kernel<kernel narrow>; operator<narrow>: launched by; inside<narrow>: inside",
        { column: "total_ns", label: "total", bar: barOf(job, (row) => table.text(row, "kernel")) },
        "share_pct: of the kernel; calls; mean_ns: mean",
        severalRanks(job) && "ranks; median_rank_ns: median rank; max_rank_ns: max over ranks; max_rank: rank",
      ),
    );
  }
  const table = job.table(shapes ? "kernels.launch_shape" : "kernels.kernel");
  return section(
    COSTLY,
    colours,
    note(
      "A name leads to its calls on the timeline. ",
      !shapes &&
        `The thin line spans the shortest to the longest call; on it ${severalRanks(job) ? "the mean of the median rank (bar) and of the slowest rank (dot)" : "the mean"}. Each line has its own scale, from 0.`,
    ),
    filtered(context, table, { link: link(table, "name") }, choose, columnsOf(job, table)),
  );
}
