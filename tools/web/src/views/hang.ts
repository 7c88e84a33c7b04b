/** A job that hung, from the dumps of its flight recorders: which ranks are missing, and which only wait? */
import { longName } from "../cells";
import type { ColumnOf, Job, Table } from "../data";
import * as f from "../format";
import { grid } from "../grid";
import { heading, note, prose, section } from "../ui";
import type { View } from "../view";

type Timed = "hang.collective" | "hang.rank";

/* Returns the earliest time in the tables. Times are shown relative to it, so that they can be compared. */
function earliest(job: Job): number | null {
  const all = [
    job.table("hang.collective").nums("begin_ns"),
    job.table("hang.rank").nums("begin_ns"),
    job.table("hang.rank").nums("time_ns"),
  ];
  const reported = all.flat().filter((ns): ns is number => ns !== null);
  return reported.length > 0 ? f.least(reported) : null;
}

function after<N extends Timed>(table: Table<N>, row: number, column: ColumnOf<N>, from: number | null): string {
  const ns = table.num(row, column);
  return ns === null || from === null ? f.NONE : f.time(ns - from);
}

function operations(job: Job, from: number | null): HTMLElement {
  const table = job.table("hang.collective");
  return section(
    "Operations that hold ranks up",
    note(
      "The first operation of each group that some ranks have not reached, or that does not end. Absent: ranks with a dump that did not issue it. Times count from the earliest one on this page.",
    ),
    grid(
      table,
      {},
      { column: "cause", draw: (row) => (table.cell(row, "cause") === true ? "began here" : "follows") },
      "group; operation<narrow>; number; problem; absent; no_dump: no dump; waiting",
      { column: "begin_ns", label: "first issued", draw: (row) => after(table, row, "begin_ns", from) },
      "detail<narrow>",
    ),
  );
}

function ranks(job: Job, from: number | null): HTMLElement {
  const table = job.table("hang.rank"),
    has = (column: ColumnOf<"hang.rank">) => table.rows.some((_, row) => table.cell(row, column) !== null),
    traced = has("trace_end_ns"),
    dumped = has("dump");
  const waitsIn = (row: number): string | null => {
    const [operation, number] = [table.text(row, "operation"), table.num(row, "number")];
    return operation === null || number === null ? operation : `${operation} ${number}`;
  };
  const isNamed = (row: number) => table.text(row, "role") === "culprit";
  return section(
    "Ranks",
    note(
      dumped && "Where each rank waits, and what it recorded last. Times count from the earliest one on this page.",
      traced && " For ranks with a trace: the step and the call in which it ends.",
      has("advanced") && " Launched: collectives between the two answers of NCCL's RAS.",
    ),
    grid(
      table,
      { rows: [...table.all.filter(isNamed), ...table.all.filter((row) => !isNamed(row))] },
      "rank",
      dumped && "role",
      has("process") && "process",
      has("advanced") && "advanced: launched",
      dumped && [
        { column: "operation", label: "waits in", draw: (row) => longName(waitsIn(row), true) },
        { column: "begin_ns", label: "since", draw: (row) => after(table, row, "begin_ns", from) },
        "last_operation<narrow>: recorded last",
        { column: "time_ns", label: "at", draw: (row) => after(table, row, "time_ns", from) },
      ],
      traced && "step: last step; call<narrow>: last call",
      dumped && "frames<narrow>: issued at",
    ),
  );
}

function answer(job: Job): HTMLElement {
  const table = job.table("hang.ras");
  return section(
    "What NCCL's RAS reports",
    note("Each rank of a communicator that is missing, failed or behind."),
    grid(
      table,
      {},
      "communicator; size; member: its rank; rank: global rank; state; operation; launched; others",
      table.known("advanced") > 0 && "advanced: between answers",
      "host",
      { column: "pid", label: "process", draw: (row) => String(table.num(row, "pid") ?? f.NONE) },
      "gpu: GPU",
    ),
  );
}

/** Writes "Dumps of 3 of 4 ranks or more, none of rank 2". */
export function describeDumps(job: Job): string {
  const table = job.table("hang.job"),
    lost = table.text(0, "no_dump"),
    more = table.cell(0, "ranks_known") === false ? " or more" : "",
    dumps = table.amount(0, "dumps");
  if (dumps === 0) return "No dumps of flight recorders";
  return `Dumps of ${dumps} of ${f.count(table.amount(0, "ranks"), "rank")}${more}${lost === null ? "" : `, none of rank ${prose(lost)}`}`;
}

const SEVERAL = "The dumps do not show which of these ranks is the cause.";

export const hang: View = {
  id: "hang",
  title: "Hang",
  needs: ["hang.job", "hang.collective", "hang.rank", "hang.ras"],
  judges: ["hang.job"],
  shown: (job) => job.table("hang.job").n > 0,
  state: (job) => (job.table("hang.job").text(0, "state") === "hangs" ? "bad" : undefined),
  render(root, { job }) {
    const table = job.table("hang.job"),
      from = earliest(job),
      said = (column: "evidence" | "chain" | "ras") => (table.text(0, column) === null ? "" : `${prose(table.text(0, column))}.`);
    root.append(
      heading(prose(table.text(0, "verdict")), said("evidence")),
      said("chain") && note(said("chain")),
      table.text(0, "confidence") === "several" ? note(SEVERAL) : "",
      job.kind === "hang" ? "" : note(describeDumps(job), "."),
      said("ras") && note(said("ras")),
      job.table("hang.collective").n > 0 ? operations(job, from) : "",
      job.table("hang.ras").n > 0 ? answer(job) : "",
      job.table("hang.rank").n > 0 ? ranks(job, from) : "",
    );
  },
};
