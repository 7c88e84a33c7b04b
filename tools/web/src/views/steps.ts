/** Steps: is the lost time due to a rank, to a step, or to chance? */
import type { ColumnOf, Job, Table } from "../data";
import { h, type Child } from "../dom";
import * as f from "../format";
import { firstStepsLess, hasSteps, lacksRanks, ranksOf, severalRanks, stepWord, TO_MARK_STEPS } from "../job";
import { heatMap, ROWS_NAMED, type MapCell } from "../map";
import { controls, empty, heading, note, section, lines, chooser, setting, link, prose, sign, tip } from "../ui";
import { href, tablesNamed, type Context, type View } from "../view";
import { part } from "./part";
import { balanceFinding } from "./summary";
import { drawChart } from "../chart";
import { roundUp } from "../lines";
import { band, type BandFigure } from "../cells";
import { grid, columns, type GridColumn } from "../grid";

type Metrics = "stragglers.rank_step" | "overlap.step";

/** The map shows `column`, plus the column `plus` in rows in which it has a value. */
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
/** Metrics that exist only if steps are marked. Without marks, the host's whole recording would count as one step. */
const OF_STEPS: readonly string[] = ["idle", "step"];

const MANY = 64;
/** The colours cover at least this range of values [fraction of a step]. */
const LEAST_OF_STEP = 0.02;
const OUTSTANDING = 16;

const cellsLeftOut = (job: Job, name: Metric["table"]): boolean => job.leftOut(name) > 0 || job.leftOut("overlap.step") > 0;

type Field = ReturnType<typeof fieldOf>;

/* Makes the rows and values of the map. A host has the value of its worst rank. `window`: rows of overlap.step. */
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

/* Returns the values of all cells. The value of a host is the largest of its ranks. */
const cellsOf = ({ rows, steps, value }: Field): number[] =>
  rows.flatMap(({ ranks }) =>
    steps.flatMap((step) => {
      const own = ranks.map((rank) => value.get(`${rank}/${step}`)).filter((each) => each !== undefined);
      return own.length > 0 ? [f.most(own)] : [];
    }),
  );

function drawMap(context: Context, metric: Metric, byHost: boolean): Child {
  const { job, params } = context,
    field = fieldOf(job, metric, byHost, params.get("sort") ?? "name"),
    unit = f.mapUnit(field.value.values()),
    many = job.allRowsOf("job.rank") >= MANY,
    from = many ? (f.median(cellsOf(field)) ?? 0) : 0,
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

const HEIGHT = 260,
  STEPS_LEAST = 3,
  LISTED = 8;

/* Writes who a finding is about, such as "rank 3" or "host host0". */
function who(table: Table<"stragglers.finding">, row: number): string {
  const rank = table.num(row, "rank"),
    level = table.text(row, "level");
  if (level === "host") return `host ${table.text(row, "host")}`;
  return level === "rank" || table.num(row, "ranks") === 1 ? `rank ${rank}` : f.count(table.amount(row, "ranks"), "rank");
}

/* Returns the findings that apply to only some of the steps. */
function episodesOf(job: Job) {
  const table = job.table("stragglers.finding");
  return table.rows.flatMap((_, row) => {
    const from = table.num(row, "from"),
      to = table.num(row, "to"),
      excess = table.num(row, "excess_pct");
    if (table.text(row, "unit") !== "step" || table.text(row, "shape") === "throughout" || from === null || to === null) return [];
    const length = excess === null ? "" : `, ${f.percent(excess, 1)} of all steps’ time`;
    return [{ from, to, words: `${who(table, row)}, ${from === to ? `step ${from}` : `steps ${from} to ${to}`}${length}` }];
  });
}

/* Returns the address of a step on the timeline, over all ranks that have the step. */
function wholeStep(job: Job, step: number): string | null {
  const table = job.table("overlap.step");
  const rows = table.all.filter((row) => table.num(row, "step") === step && table.num(row, "begin_ns") !== null),
    begin = f.least(rows.map((row) => table.amount(row, "begin_ns"))),
    end = f.most(rows.map((row) => table.amount(row, "begin_ns") + table.amount(row, "window_ns")));
  return end > begin ? href("timeline", { t: `${Math.max(0, begin)}-${end}` }) : null;
}

/** Draws steps over time; null if there are fewer than three marked steps. */
function trend(job: Job): HTMLElement | null {
  const table = job.table("imbalance.step");
  const points = table.rows
    .map((_, row): [number, number] => [table.amount(row, "step"), table.amount(row, "step_ns")])
    .filter(([, length]) => length > 0)
    .sort((a, b) => a[0] - b[0]);
  if (!hasSteps(job) || points.length < STEPS_LEAST) return null;
  const episodes = episodesOf(job),
    unit = f.timeUnit(points.map(([, length]) => length)),
    middle = f.median(points.map(([, length]) => length)) ?? 0,
    top = roundUp(f.most(points.map(([, length]) => length)) / unit.factor);
  const first = points[0]![0] - 0.5,
    last = points[points.length - 1]![0] + 0.5;
  const tip = (mark: number): Child => {
    const [step, length] = points[mark]!,
      there = episodes.filter((each) => each.from <= step && step <= each.to);
    return [h("b", `step ${step}: ${f.time(length)}`), there.map((each) => [h("br"), each.words])];
  };
  const chart = drawChart({
    label: `Length of ${f.count(points.length, "step")}, median ${f.time(middle)}; ${episodes.length > 0 ? `marked: ${episodes.map((each) => each.words).join("; ")}` : "none stands out"}`,
    height: HEIGHT,
    tip,
    click: (mark) => {
      const target = wholeStep(job, points[mark]![0]);
      if (target !== null) location.hash = target;
    },
    plot: (theme) => ({
      x: { name: "step", min: first, max: last, whole: true },
      y: { name: `longest rank’s step, ${unit.name}`, min: 0, max: top },
      areas: episodes.map(({ from, to }) => ({
        points: [Math.max(first, from - 0.5), Math.min(last, to + 0.5)].map((step) => [step, 0, top] as const),
        color: theme.wait,
        opacity: 0.16,
      })),
      lines: [
        {
          points: [first, last].map((step) => [step, middle / unit.factor] as const),
          color: theme["ink-3"],
          width: 1,
          dash: [5, 4],
          label: "median",
        },
        { points: points.map(([step, length]) => [step, length / unit.factor]), color: theme.compute, width: 1.5 },
      ],
      marks: points.map(([step, length]) => ({ at: [step, length / unit.factor], size: points.length > 128 ? 4 : 7, fill: theme.compute })),
    }),
  });
  return section(
    "Step time",
    chart,
    episodes.length > 0 && [
      h("p.note", "Marked: steps in which a rank or host took longer than chance explains. ", link("What stands out", "stragglers")),
      h(
        "ul.plain",
        { "data-episodes": episodes.map(({ from, to }) => `${from}-${to}`).join(",") },
        episodes.slice(0, LISTED).map((each) => h("li", each.words)),
        episodes.length > LISTED && h("li", `and ${f.grouped(episodes.length - LISTED)} more`),
      ),
    ],
    table.leftOut > 0 && `${f.count(points.length, "step")} of ${f.grouped(table.n + table.leftOut)} are in this page.`,
  );
}

type Steps = Table<"structure.step">;

/** `least`, `most`: usual range of the phase [% of a step], from guides that the columns' definitions name. */
const PHASES = [
  { label: "Forward", column: "forward_pct", least: 35, most: 40 },
  { label: "Backward", column: "backward_pct", least: 40, most: 45 },
  { label: "Optimizer", column: "optimizer_pct", least: 0, most: 15 },
  { label: "Waiting for a batch", column: "data_pct", least: 0, most: 10 },
  { label: "Other", column: "other_pct", least: 0, most: 10 },
] as const;

type Phase = (typeof PHASES)[number];

const EXPOSED_SAID = 5; // from this share on [% of GPU time], exposed communication is mentioned

function usual({ least, most }: Phase): string {
  return least > 0 ? `${least} to ${most}${f.SPACE}%` : `at most ${most}${f.SPACE}%`;
}

/* Writes a range over steps, such as "23.0 % to 42.3 %". If both ends round to the same text, writes a single value. */
function range(table: Steps, column: Phase["column"] | "recomputed_pct"): string {
  const low = f.percent(table.least(column), 1),
    high = f.percent(table.most(column), 1);
  return low === high ? low : `${low} to ${high}`;
}

/* Returns whether a phase was recorded: it is "other", or it took time in at least one step. */
const isRecorded = (table: Steps, { column }: Phase): boolean => column === "other_pct" || table.most(column) !== 0;

/* Returns whether the guides' usual ranges apply: steps are marked, and have all passes and updates. */
const isComparable = (job: Job, table: Steps): boolean =>
  hasSteps(job) && PHASES.every((phase) => phase.column === "data_pct" || isRecorded(table, phase));

/* Draws a line for each step's share, a thicker mark at the median, and the usual range behind them. */
function phaseRow(table: Steps, phase: Phase, comparable: boolean): HTMLElement | null {
  const middle = table.median(phase.column);
  if (middle === null) return null;
  const row = (track: HTMLElement, value: string, ...words: Child[]) =>
    h("div.usual", h("span.row-label", phase.label), track, h("span.usual-value", value), h("span.usual-words", words));
  if (!isRecorded(table, phase)) return row(h("span.usual-track", { "data-phase": phase.column }), f.NONE, "not recorded");
  const at = (value: number): string => `${Math.max(0, Math.min(100, value))}%`,
    over = comparable && middle > phase.most,
    several = table.n + table.leftOut > 1;
  const words = `${f.percent(middle, 1)}${comparable ? `, usual ${usual(phase)}` : ""}`;
  const track = h(
    "span.usual-track",
    { role: "img", "aria-label": `${phase.label}: ${words}`, "data-phase": phase.column },
    comparable && h("span.usual-range", { style: { left: at(phase.least), width: at(phase.most - phase.least) } }),
    table.nums(phase.column).map((value) => value !== null && h("span.usual-step", { "data-value": value, style: { left: at(value) } })),
    h("span", { class: `usual-middle ${over ? "over" : ""}`, style: { left: at(middle) } }),
  );
  const content = () =>
    lines(
      `${phase.label}: ${words}`,
      several ? `Median over steps; they are ${range(table, phase.column)}.` : "Of the one step.",
      table.docOf(phase.column),
    );
  return row(tip(track, content), f.percent(middle, 1), comparable && `usual ${usual(phase)}`, over && [" ", sign("warn"), " more"]);
}

function figures(table: Steps): readonly BandFigure[] {
  const figure = (label: string, column: Parameters<Steps["place"]>[0], value: string, below: string): BandFigure => {
    return [label, table.docOf(column), value, below];
  };
  const passes = table.median("micro_batches"),
    most = table.most("max_micro_batches"),
    at = table.all.findIndex((row) => table.num(row, "max_micro_batches") === most),
    again = table.median("recomputed_pct"),
    none = table.most("recomputed_ns") === 0,
    updates = table.known("micro_batches_per_update") === 0 ? f.NONE : f.grouped(table.median("micro_batches_per_update") ?? 0, 2),
    host = (column: "logging_ns" | "saving_ns") => (table.sum(column) === 0 ? "none seen" : f.time(table.sum(column))),
    all = "of the hosts, all steps and ranks",
    of =
      passes === null
        ? "no numbers of autograd were recorded"
        : most !== null && most > passes
          ? `at most ${f.grouped(most)}${at >= 0 ? `, on rank ${table.num(at, "max_rank")}` : ""}`
          : "of a rank, median";
  return [
    figure("Micro-batches a step", "micro_batches", passes === null ? f.NONE : f.grouped(passes), of),
    figure("Micro-batches an update", "micro_batches_per_update", updates, `${f.count(table.median("updates") ?? 0, "update")} a step`),
    figure(
      "Computed again",
      "recomputed_pct",
      again === null ? f.NONE : none ? "none seen" : f.percent(again, 1),
      none ? "a compiled graph does not show it" : `of the work launched; by step ${range(table, "recomputed_pct")}`,
    ),
    figure("Logging", "logging_ns", host("logging_ns"), all),
    figure("Saving checkpoints", "saving_ns", host("saving_ns"), all),
  ];
}

/* Returns the columns of the table. Leaves out columns that are the same on all ranks, or 0 in all steps. */
function columnsOf(table: Steps, comparable: boolean): readonly GridColumn<"structure.step">[] {
  const uneven = (table.most("max_micro_batches") ?? 0) > (table.least("micro_batches") ?? 0),
    again = (table.most("recomputed_ns") ?? 0) > 0;
  return columns(
    table,
    "step; micro_batches: micro-batches",
    uneven && "max_micro_batches: at most; max_rank: on rank",
    "updates",
    again && "recomputed_ns: computed again; recomputed_pct: of the work",
    PHASES.filter((phase) => isRecorded(table, phase)).map(({ column, label }) => ({ column, label: label.toLowerCase() })),
    comparable && {
      column: "beyond" as const,
      label: "more than usual",
      draw: (row: number) => prose(table.text(row, "beyond")).replace("data", "waiting for a batch"),
    },
  );
}

/** Makes the part about the phases of steps; null if no trace shows a backward pass or an update. */
function structure(job: Job): HTMLElement | null {
  const table = job.table("structure.step"),
    overlap = job.table("overlap.rank"),
    exposed = f.share(overlap.sum("exposed_comm_ns"), overlap.sum("window_ns"));
  if (table.n === 0) return null;
  const comparable = isComparable(job, table),
    phases = PHASES.map((phase) => phaseRow(table, phase, comparable)).filter((row) => row !== null);
  return section(
    "What a step is made of",
    band(figures(table)),
    phases.length > 0 && [
      h("h3", "Phases, share of the step’s time"),
      h("div.usual-rows", phases),
      note(
        comparable
          ? "The filled range is what published guides call usual; each thin line is a step, the bar is their median. "
          : "Each thin line is a step, the bar is their median. What is usual is not compared where steps are not marked or a phase was not recorded. ",
        "All ranks together: the time in which the GPU ran what a phase launched, or was idle while the host was in it. ",
        exposed !== null && exposed >= EXPOSED_SAID
          ? `A phase includes the communication that it launches and the waiting in it: ${f.percent(exposed, 1)} of all GPU time is communication that nothing hides.`
          : "",
      ),
    ],
    grid(table, { first: 12 }, columnsOf(table, comparable)),
  );
}

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
