/** Structure of a step: micro-batches, recomputation, and phases compared with their usual ranges. */
import { band, type BandFigure } from "../cells";
import type { Job, Table } from "../data";
import { h, type Child } from "../dom";
import * as f from "../format";
import { grid, type GridColumn, columns } from "../grid";
import { hasSteps } from "../job";
import { note, prose, section, sign, tip, lines } from "../ui";

type Steps = Table<"structure.step">;

/** Usual ranges of the phases [% of a step]. They are from guides, as the definitions of the columns say. */
export const PHASES = [
  { label: "Forward", column: "forward_pct", least: 35, most: 40 },
  { label: "Backward", column: "backward_pct", least: 40, most: 45 },
  { label: "Optimizer", column: "optimizer_pct", least: 0, most: 15 },
  { label: "Waiting for a batch", column: "data_pct", least: 0, most: 10 },
  { label: "Other", column: "other_pct", least: 0, most: 10 },
] as const;

type Phase = (typeof PHASES)[number];

/** Exposed communication is mentioned from this share on [% of GPU time]. */
const EXPOSED_SAID = 5;

function usual({ least, most }: Phase): string {
  return least > 0 ? `${least} to ${most}${f.SPACE}%` : `at most ${most}${f.SPACE}%`;
}

/* Writes a range over steps: "23.0 % to 42.3 %". If both ends round to the same text, writes a single value. */
function range(table: Steps, column: Phase["column"] | "recomputed_pct"): string {
  const low = f.percent(table.least(column), 1),
    high = f.percent(table.most(column), 1);
  return low === high ? low : `${low} to ${high}`;
}

/* Returns whether a phase was recorded: it is "other", or it took time in at least one step. */
function isRecorded(table: Steps, { column }: Phase): boolean {
  return column === "other_pct" || table.most(column) !== 0;
}

/* Returns whether the guides' usual ranges apply: steps are marked, and have all passes and updates. */
function isComparable(job: Job, table: Steps): boolean {
  return hasSteps(job) && PHASES.every((phase) => phase.column === "data_pct" || isRecorded(table, phase));
}

/* Draws a line for the phase in each step, a stronger mark at the median, and the usual range behind them. */
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

/* Omits columns that are the same on all ranks, or 0 in all steps. */
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

/** Makes this part of the steps view; null if no trace shows a backward pass or an update. */
export function structure(job: Job): HTMLElement | null {
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
