/** Input: do steps wait for batches, and which phases do steps have? */
import type { ColumnOf, Job, Table } from "../data";
import { h, type Child } from "../dom";
import * as f from "../format";
import { grid } from "../grid";
import { adviceState, hasSteps, ofXla, TO_MARK_STEPS, TO_RECORD_THE_HOST } from "../job";
import { stacks, type Part } from "../stack";
import { controls, empty, heading, legend, section, pick, chooser } from "../ui";
import { tablesNamed, type Context, type View } from "../view";
import { lacking } from "./part";

const STEPS_MAX = 64;
const RANKS_MAX = 24;

const LOADING: readonly Part[] = [
  { key: "stall", label: "Waiting for a batch, GPU idle" },
  { key: "hidden", label: "Waiting for a batch, GPU busy" },
  { key: "rest", label: "The rest of the step" },
];

/** Phases of a step: column of phases.step, and a word for it. */
const PHASES = [
  { key: "forward", label: "Forward", column: "forward_ns", word: "forward" },
  { key: "backward", label: "Backward", column: "backward_ns", word: "backward" },
  { key: "optimizer", label: "Optimizer", column: "optimizer_ns", word: "the optimizer" },
  { key: "stall", label: "Waiting for a batch", column: "data_ns", word: "waiting for data" },
  { key: "idle", label: "Other", column: "other_ns", word: "other" },
] as const;

function loadingOf(table: Table<"input.rank" | "input.step">, row: number): number[] {
  const load = table.amount(row, "load_ns"),
    stall = table.amount(row, "stall_ns");
  return [stall, load - stall, Math.max(0, table.amount(row, "step_ns") - load)];
}

/* Returns the rows that count. In an XLA job, if some ranks have steps, these are the rows of such ranks. */
function counted(job: Job, table: Table<"input.rank">): number[] {
  const pod = job.table("pod.rank"),
    all = table.all,
    stepped = new Set(pod.rows.map((_, row) => (pod.amount(row, "steps") > 0 ? pod.num(row, "rank") : null)));
  const own = all.filter((row) => table.num(row, "rank") !== null && stepped.has(table.num(row, "rank")));
  return own.length > 0 ? own : all;
}

/* Returns the row of the rank that waits longest for input; -1 if no rank waits. Only rows of counted() are considered. */
function longest(job: Job, table: Table<"input.rank">): number {
  const marked = table.rows.findIndex((_, row) => table.cell(row, "slowest") === true),
    rows = counted(job, table);
  if (marked < 0 || rows.includes(marked)) return marked;
  return rows.reduce((a, b) => (table.amount(b, "load_ns") > table.amount(a, "load_ns") ? b : a));
}

function sums(job: Job): { readonly step: number; readonly load: number; readonly stall: number } {
  const table = job.table("input.rank"),
    rows = counted(job, table),
    sum = (column: "step_ns" | "load_ns" | "stall_ns") => f.sum(rows.map((row) => table.num(row, column)));
  return { step: sum("step_ns"), load: sum("load_ns"), stall: sum("stall_ns") };
}

export function holdsUp(job: Job): boolean {
  const { step, stall } = sums(job);
  return stall / Math.max(1, step) >= 0.01;
}

function finding(job: Job): [string, string] {
  const table = job.table("input.rank"),
    rows = counted(job, table),
    { step, load, stall } = sums(job);
  if (table.sum("waits") === 0)
    return [
      "No wait for a batch was recorded",
      "The traces hold no call for a data loader’s next batch: batches were made in another way, or outside the recording.",
    ];
  const slowest = longest(job, table),
    known = table.known("stall_ns") > 0;
  const title = known
    ? holdsUp(job)
      ? `Loading data holds the GPUs up for ${f.percent(f.share(stall, step), 1)} of the steps’ time`
      : "Loading data does not hold the GPUs up"
    : `Steps wait for data for ${f.percent(f.share(load, step))} of their time`;
  return [
    title,
    `Of ${f.time(step)} in the steps of ${rows.length < table.n ? "the ranks that have any" : "all ranks"} a thread waited ${f.time(load)} for the next batch (${f.percent(f.share(load, step), 1)})` +
      (known
        ? `, ${f.time(stall)} of it while the GPU was idle, including before its first recorded event. `
        : "; without GPU events the cost of that is not known. ") +
      (slowest >= 0 && table.n > 1 ? `Rank ${table.num(slowest, "rank")} waited most, ${f.time(table.num(slowest, "load_ns"))}. ` : "") +
      (slowest >= 0 && hasSteps(job)
        ? `${table.n > 1 ? "Its" : "The"} slowest step was ${table.num(slowest, "slowest_step")}, with ${f.time(table.num(slowest, "slowest_step_load_ns"))}.`
        : ""),
  ];
}

/* Draws bars: one for each step of a rank, or one for each rank that loads long. */
const bars = <N extends "input.rank" | "input.step" | "phases.step">(
  table: Table<N>,
  rows: readonly number[],
  label: (row: number) => string,
  values: (table: Table<N>, row: number) => number[],
  parts: readonly Part[],
): HTMLElement =>
  stacks(
    rows.map((row) => ({
      label: label(row),
      values: values(table, row),
      data: {
        "data-rank": table.num(row, "rank") ?? "",
        ...((table as Table).place("step") >= 0 ? { "data-step": (table as Table).num(row, "step") ?? "" } : {}),
      },
    })),
    { parts, axis: true },
  );

function loading(context: Context, rank: number, all: boolean): HTMLElement {
  const { job } = context,
    ranks = job.table("input.rank"),
    steps = job.table("input.step");
  const title = "Waiting for batches";
  if (ranks.sum("waits") === 0)
    return section(
      title,
      empty(
        ofXla(job)
          ? "Such waits are TensorFlow’s IteratorGetNext, and stages of other libraries on the thread that marks the steps."
          : 'The profiler marks such waits where the program loops over a torch.utils.data.DataLoader (enumerate(DataLoader)#…) or a DataPipe. For another loader, wrap its next() in record_function("enumerate(DataLoader)#own").',
      ),
    );
  const own = steps.all.filter((row) => steps.num(row, "rank") === rank);
  const telling = counted(job, ranks),
    order = [...telling].sort((a, b) => ranks.amount(b, "load_ns") - ranks.amount(a, "load_ns"));
  const legends = legend(LOADING.map((part) => [part.key, part.label]));
  return section(
    title,
    legends,
    h("h3", `Steps of rank ${rank}`),
    bars(steps, own.slice(0, STEPS_MAX), (row) => `step ${steps.num(row, "step")}`, loadingOf, LOADING),
    own.length > STEPS_MAX &&
      `The first ${STEPS_MAX} of ${f.count(own.length, "step")}${steps.leftOut > 0 ? " that this page holds" : ""}; the table has all.`,
    ranks.n > 1 && [
      h("h3", order.length > RANKS_MAX ? `The ${RANKS_MAX} ranks that waited most, all their steps` : "Ranks, all their steps"),
      telling.length < ranks.n && "Without the ranks that have no marked steps.",
      bars(
        ranks,
        order.length > RANKS_MAX ? order.slice(0, RANKS_MAX) : telling,
        (row) => `rank ${ranks.num(row, "rank")}`,
        loadingOf,
        LOADING,
      ),
    ],
    tables(job, rank, all),
  );
}

function phases(job: Job, rank: number): HTMLElement {
  const table = job.table("phases.step"),
    title = "Phases of the steps";
  const own = table.all.filter((row) => table.num(row, "rank") === rank);
  if (own.length === 0)
    return section(
      title,
      empty(
        table.leftOut > 0 ? "No step of this rank is in this page." : `No step of this rank has a call on its host. ${TO_RECORD_THE_HOST}`,
      ),
    );
  const share = (column: ColumnOf<"phases.step">) =>
    f.share(f.sum(own.map((row) => table.num(row, column))), f.sum(own.map((row) => table.num(row, "step_ns"))));
  return section(
    title,
    `Rank ${rank}${table.leftOut > 0 ? `, in ${f.count(own.length, "step")} of its steps` : ""}: ${PHASES.map(({ column, word }) => `${word} ${share(column) === 0 && column !== "other_ns" ? "not recorded" : f.percent(share(column), 1)}`).join(", ")}. Time in which the GPU ran what the phase launched, or was idle while the host was in it.`,
    legend(PHASES.map((part) => [part.key, part.label])),
    bars(
      table,
      own.slice(0, STEPS_MAX),
      (row) => `step ${table.num(row, "step")}`,
      (of, row) => PHASES.map(({ column }) => of.amount(row, column)),
      PHASES,
    ),
    grid(
      table,
      { rows: own, first: 16 },
      "rank; step; step_ns: step time; forward_ns: forward; backward_ns: backward; optimizer_ns: optimizer; data_ns: data",
      "other_ns: other; gpu_idle_ns: GPU idle",
    ),
  );
}

function tables(job: Job, rank: number, all: boolean): Child {
  const ranks = job.table("input.rank"),
    steps = job.table("input.step");
  const columns = "step_ns: step time; load_ns: waited; load_pct: of the steps; stall_ns: GPU idle; stall_pct: of the steps";
  const rows = all ? steps.all : steps.all.filter((row) => steps.num(row, "rank") === rank);
  return [
    h("h3", all ? "Steps" : `Steps of rank ${rank}`),
    grid(steps, { rows, first: 16 }, `rank; step; ${columns}`),
    h("h3", "Ranks"),
    grid(
      ranks,
      { rows: counted(job, ranks), first: 16, ...(ranks.n > 1 ? { sort: "-load_ns" } : {}) },
      `rank; waits; ${columns}; slowest_step: slowest step; slowest_step_load_ns: waited in it`,
    ),
  ];
}

export const input: View = {
  id: "input",
  title: "Input",
  needs: tablesNamed("overlap.step input.rank input.step phases.step pod.rank"),
  of: ["input.rank"],
  shown: (job) => !ofXla(job) || job.rowsOf("pipeline.stage") > 0,
  state: (job) => adviceState(job, "input"),
  lacks: ({ job }) =>
    job.table("input.rank").n === 0 &&
    lacking("No step was recorded", "The traces hold no call on the host.", `${TO_RECORD_THE_HOST} ${TO_MARK_STEPS}`),
  parts: [
    (context) => {
      const { job, params } = context,
        table = job.table("input.rank"),
        ranks = table.values("rank"),
        telling = new Set(counted(job, table).map((row) => table.num(row, "rank"))),
        slowest = table.num(longest(job, table), "rank") ?? ranks[0]!,
        waits = table.sum("waits") > 0,
        about = (each: number) => (!telling.has(each) ? ", no steps" : waits && each === slowest ? ", waits most" : ""),
        wanted = params.has("rank") ? Number(params.get("rank")) : NaN,
        rank = ranks.includes(wanted) ? wanted : slowest,
        all = params.get("rows") === "all";
      return [
        heading(...finding(job)),
        !hasSteps(job) && `No steps marked: the whole trace counts as one. ${TO_MARK_STEPS}`,
        ranks.length > 1 &&
          controls(
            pick(context, "Rank", "rank", ranks, (each) => `rank ${each}${about(each)}`, rank),
            waits && chooser(context, "Table of steps", "rows", { one: "this rank", all: "all ranks" }, all ? "all" : "one"),
          ),
        loading(context, rank, all),
        !ofXla(job) && phases(job, rank),
      ];
    },
  ],
};
