/** Steps: is the time due to a rank, to a step, or to chance? */
import type { ColumnOf, Job, Table } from "../data";
import type { Child } from "../dom";
import * as f from "../format";
import { firstStepsLess, hasSteps, lacksRanks, ranksOf, severalRanks, stepWord, TO_MARK_STEPS } from "../job";
import { heatMap, ROWS_NAMED, type MapCell } from "../map";
import { controls, empty, heading, note, section, lines, chooser, setting } from "../ui";
import { href, type Context, type View, tablesNamed } from "../view";
import { part } from "./part";
import { balanceFinding } from "./summary";
import { trend } from "./trend";
import { structure } from "./structure";

type Metrics = "stragglers.rank_step" | "overlap.step";

/** `column` is shown. Where the column `plus` has a value, it is added. */
type Metric = Readonly<Record<"key" | "label" | "doc", string> & { table: Metrics; ramp: "wait" | "work" } & MetricColumns>;
type MetricColumns = Readonly<{ column: ColumnOf<Metrics>; plus?: ColumnOf<Metrics> }>;

const BLAME = { table: "stragglers.rank_step", ramp: "wait" } as const,
  WORK = { table: "overlap.step", ramp: "work" } as const;
const CAUSED = "Waiting of other ranks that the rank causes, by itself or through others.",
  EXPOSED = "Communication with no computation beside it.";
const METRICS: readonly Metric[] = [
  { ...BLAME, key: "caused", label: "made others wait", column: "direct_ns", plus: "indirect_ns", doc: CAUSED },
  { ...BLAME, key: "wait", label: "waited", column: "wait_ns", doc: "Its waiting for the last rank of each collective." },
  { ...WORK, key: "compute", label: "compute", column: "compute_ns", doc: "Time in which the GPU computes." },
  { ...WORK, ramp: "wait", key: "exposed", label: "exposed communication", column: "exposed_comm_ns", doc: EXPOSED },
  { ...WORK, key: "idle", label: "idle", column: "idle_ns", doc: "Time in which the GPU is idle." },
  { ...WORK, key: "step", label: "step time", column: "window_ns", doc: "From the step’s start to its end." },
];
/** Keys of the metrics that exist only if steps are marked. Without marks, the host's whole recording counts as one step. */
const OF_STEPS: readonly string[] = ["idle", "step"];

const MANY = 64;
/** The colours cover at least this range of values, as a fraction of a step. */
const LEAST_OF_STEP = 0.02;
const OUTSTANDING = 16;

/* Returns whether the page has only some ranks in some steps. */
function cellsLeftOut(job: Job, name: Metric["table"]): boolean {
  return job.leftOut(name) > 0 || job.leftOut("overlap.step") > 0;
}

type Field = ReturnType<typeof fieldOf>;

/* Makes the rows and values of the map. A row is a rank. If @p byHost is set, a row is a host, and has the value of its worst rank.
 * `window` maps a rank and step to their row in overlap.step. */
function fieldOf(job: Job, metric: Metric, byHost: boolean, sort: string) {
  const { ranks: all, host, missing } = ranksOf(job),
    { cell_ranks: held, cell_steps: heldSteps, missing: apart } = job.facts,
    cut = cellsLeftOut(job, metric.table);
  const ranks = cut && held ? all.filter((rank) => held.includes(rank)) : all;
  const table = job.table(metric.table),
    windows = job.table("overlap.step");
  const keyOf = (of: Table<Metrics>, r: number): string => `${of.num(r, "rank")}/${of.num(r, "step")}`,
    shownOf = (r: number): number | null => {
      const own = table.num(r, metric.column);
      return own === null || !metric.plus ? own : own + table.amount(r, metric.plus);
    };
  const row = new Map(table.all.map((r) => [keyOf(table, r), r])),
    value = new Map(table.all.filter((r) => shownOf(r) !== null).map((r) => [keyOf(table, r), shownOf(r)!])),
    window = new Map(windows.all.map((r) => [keyOf(windows, r), r])),
    partial = new Set(windows.all.filter((r) => windows.cell(r, "partial") === true).map((r) => keyOf(windows, r)));
  const steps = [...new Set(windows.nums("step"))]
    .filter((s): s is number => s !== null && (!cut || (heldSteps?.includes(s) ?? true)))
    .sort((a, b) => a - b);
  let rows = byHost
    ? [...new Set(ranks.map((rank) => host.get(rank)!))].map((name) => ({
        label: name,
        ranks: ranks.filter((rank) => host.get(rank) === name),
      }))
    : [...ranks, ...(apart ? [] : missing)].sort((a, b) => a - b).map((rank) => ({ label: `rank ${rank}`, ranks: [rank] }));
  if (sort === "worst") {
    const cost = new Map(rows.map((r) => [r, Math.max(...r.ranks.map((rank) => f.sum(steps.map((s) => value.get(`${rank}/${s}`) ?? 0))))]));
    rows = rows.sort((a, b) => cost.get(b)! - cost.get(a)!);
  }
  return { rows, steps, value, row, partial, window };
}

function cellOf(job: Job, metric: Metric, field: Field, unit: f.Unit, r: number, c: number): MapCell | null {
  const { label, ranks } = field.rows[r]!,
    step = field.steps[c]!;
  const there = ranks.filter((rank) => field.row.has(`${rank}/${step}`));
  if (there.length === 0) return null;
  const worst = there.reduce((a, b) => ((field.value.get(`${b}/${step}`) ?? -1) > (field.value.get(`${a}/${step}`) ?? -1) ? b : a));
  const value = field.value.get(`${worst}/${step}`) ?? null,
    partial = field.partial.has(`${worst}/${step}`),
    window = windowOf(job, field.window.get(`${worst}/${step}`) ?? -1),
    words = [`${metric.label}: ${f.time(value)}`, ranks.length > 1 && ` (rank ${worst}, the largest)`],
    cut = partial && "The recording began or ended inside this step.";
  return {
    value,
    text: value === null ? f.NONE : f.short(value, unit),
    partial,
    ...(window ? { href: href("timeline", { rank: worst, t: `${window[0]}-${window[1]}` }) } : {}),
    tip: () => lines(`${label}, step ${step}`, words, cut),
  };
}

function windowOf(job: Job, row: number): [number, number] | null {
  const table = job.table("overlap.step");
  const begin = table.num(row, "begin_ns"),
    length = table.num(row, "window_ns");
  return begin === null || length === null ? null : [Math.max(0, begin), begin + length];
}

function median(values: Iterable<number>): number {
  return f.median([...values]) ?? 0;
}

/* Returns the values of all cells. The value of a host is the largest of its ranks. */
function cellsOf({ rows, steps, value }: Field): number[] {
  return rows.flatMap(({ ranks }) =>
    steps.flatMap((step) => {
      const own = ranks.map((rank) => value.get(`${rank}/${step}`)).filter((each) => each !== undefined);
      return own.length > 0 ? [f.most(own)] : [];
    }),
  );
}

function drawMap(context: Context, metric: Metric, byHost: boolean): Child {
  const { job, params } = context,
    field = fieldOf(job, metric, byHost, params.get("sort") ?? "name"),
    unit = f.mapUnit(field.value.values()),
    many = job.allRowsOf("job.rank") >= MANY,
    from = many ? median(cellsOf(field)) : 0,
    to = Math.max(f.most(field.value.values()), from + LEAST_OF_STEP * (job.table("overlap.step").median("window_ns") ?? 0)),
    worst = fieldOf(job, metric, byHost, "worst");
  const draw = (chosen: Field, more: string) =>
    heatMap({
      label: `${metric.label} by ${byHost ? "host" : "rank"} and step, ${unit.name}${more}`,
      rows: chosen.rows.map((row) => row.label),
      columns: chosen.steps.map((step) => stepWord(job, step)),
      ramp: metric.ramp,
      from,
      to,
      cell: (r, c) => cellOf(job, metric, chosen, unit, r, c),
    });
  return [
    draw(field, ""),
    field.rows.length > ROWS_NAMED &&
      section(
        `The ${OUTSTANDING} ${byHost ? "hosts" : "ranks"} with most`,
        draw({ ...worst, rows: worst.rows.slice(0, OUTSTANDING) }, ", largest first"),
      ),
    note(
      `${metric.label[0]!.toUpperCase()}${metric.label.slice(1)}, ${unit.name}. ${metric.doc}${metric.key === "caused" ? firstStepsLess(job) : ""} `,
      severalRanks(job) ? `A row that stands out is a ${byHost ? "host" : "rank"}, a column is a step. ` : "",
      field.partial.size > 0 ? "Hatched: the recording began or ended inside the step. " : "",
      `The colours go from ${many ? `the median cell, ${f.grouped(from / unit.factor, 2)}${f.SPACE}${unit.name},` : "0"} to ${f.time(to)}.`,
    ),
  ];
}

function map(context: Context): Child {
  const { job, params } = context,
    table = job.table("overlap.step"),
    several = severalRanks(job),
    canFold = ranksOf(job).hosts.length > 1 && !lacksRanks(job),
    byHost = canFold && (params.get("rows") ?? (job.allRowsOf("job.rank") >= MANY ? "hosts" : "ranks")) === "hosts",
    held = cellsLeftOut(job, "stragglers.rank_step") ? (job.facts.cell_ranks?.length ?? Infinity) : Infinity,
    some = held < job.allRowsOf("job.rank") ? ", of those that this page holds" : "",
    lead = heading(
      "Steps",
      several
        ? `Is it a ${byHost ? "host" : "rank"}, a step, or chance? Each cell is one ${byHost ? `host in one step: its rank with most${some}` : "rank in one step"}.`
        : "Each cell is one step.",
    );
  if (table.n === 0) return [lead, empty("No GPU events were recorded in a step.")];
  const metrics = METRICS.filter((metric) => job.table(metric.table).n > 0 && (hasSteps(job) || !OF_STEPS.includes(metric.key))),
    metric = metrics.find((m) => m.key === params.get("metric")) ?? metrics[0]!;
  return [
    lead,
    !hasSteps(job) && `No steps marked: the whole trace is one column. ${TO_MARK_STEPS}`,
    controls(
      chooser(context, "Metric", "metric", metrics, metric.key),
      several &&
        chooser(context, "Order", "sort", { name: "by name", worst: "worst first" }, params.get("sort") === "worst" ? "worst" : "name"),
      canFold && setting(context, "Rows", "rows", { hosts: "hosts", ranks: "ranks" }, byHost ? "hosts" : "ranks"),
    ),
    drawMap(context, metric, byHost),
    trend(job),
    structure(job),
    leaders(context),
    several && evenness(context),
  ];
}

const leaders = part(
  "stragglers.step",
  "Who made others wait most in each step",
  {},
  "step; rank; direct_ns: made others wait by itself; indirect_ns: through others; lateness_ns: later than the last but one",
);

const evenness = part(
  "imbalance.step",
  "How even the steps are",
  { none: null },
  "step; mean_compute_ns: mean compute; max_compute_ns: largest; max_rank: of rank; imbalance_pct: imbalance",
  "load_balance: load balance; step_ns: step; parallel_efficiency: parallel efficiency",
);

export const steps: View = {
  id: "steps",
  title: "Steps",
  needs: tablesNamed(
    "job.rank overlap.rank overlap.step stragglers.rank stragglers.rank_step stragglers.step imbalance.step",
    "structure.step stragglers.finding",
  ),
  state: (job) => balanceFinding(job).state,
  parts: [map],
};
