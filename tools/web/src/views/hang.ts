/** A job that hung, from the dumps of its flight recorders: who is missing, and who only waits? */
import { longName } from "../cells";
import type { Job, Table } from "../data";
import type { Child } from "../dom";
import * as f from "../format";
import { grid } from "../grid";
import type { ColumnOf } from "../names";
import { heading, note, prose, section } from "../ui";
import type { View } from "../view";

type Timed = "hang.collective" | "hang.rank";

/* Earliest time in the tables; times are shown relative to it, so that they can be compared. */
function earliest(job: Job): number | null {
  const all = [
    job.table("hang.collective").nums("begin_ns"),
    job.table("hang.rank").nums("begin_ns"),
    job.table("hang.rank").nums("time_ns"),
  ];
  const told = all.flat().filter((ns): ns is number => ns !== null && ns > 0);
  return told.length > 0 ? f.least(told) : null;
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
    grid(table, {
      columns: [
        { column: "cause", draw: (row) => (table.cell(row, "cause") === true ? "began here" : "follows") },
        { column: "group" },
        { column: "operation", draw: (row) => longName(table.text(row, "operation"), true) },
        { column: "number" },
        { column: "problem" },
        { column: "absent" },
        { column: "no_dump", label: "no dump" },
        { column: "waiting" },
        { column: "begin_ns", label: "first issued", draw: (row) => after(table, row, "begin_ns", from) },
        { column: "detail", draw: (row) => longName(table.text(row, "detail"), true) },
      ],
    }),
  );
}

function ranks(job: Job, from: number | null): HTMLElement {
  const table = job.table("hang.rank"),
    traced = table.nums("trace_end_ns").some((ns) => ns !== null);
  const waitsIn = (row: number): string | null => {
    const [operation, number] = [table.text(row, "operation"), table.num(row, "number")];
    return operation === null || number === null ? operation : `${operation} ${number}`;
  };
  const code = (row: number, column: "call" | "frames"): Child => longName(table.text(row, column), true);
  return section(
    "Ranks",
    note(
      "Where each rank waits, and what it recorded last. Times count from the earliest one on this page.",
      traced && " For ranks with a trace: the step and the call in which it ends.",
    ),
    grid(table, {
      columns: [
        { column: "rank" },
        { column: "role" },
        { column: "operation", label: "waits in", draw: (row) => longName(waitsIn(row), true) },
        { column: "begin_ns", label: "since", draw: (row) => after(table, row, "begin_ns", from) },
        { column: "last_operation", label: "recorded last", draw: (row) => longName(table.text(row, "last_operation"), true) },
        { column: "time_ns", label: "at", draw: (row) => after(table, row, "time_ns", from) },
        ...(traced
          ? ([
              { column: "step", label: "last step" },
              { column: "call", label: "last call", draw: (row: number) => code(row, "call") },
            ] as const)
          : []),
        { column: "frames", label: "issued at", draw: (row) => code(row, "frames") },
      ],
    }),
  );
}

function answer(job: Job): HTMLElement {
  const table = job.table("hang.ras");
  return section(
    "What NCCL's RAS reports",
    note("Each rank of a communicator that is missing, failed or behind."),
    grid(table, {
      columns: [
        { column: "communicator" },
        { column: "size" },
        { column: "member", label: "its rank" },
        { column: "rank", label: "global rank" },
        { column: "state" },
        { column: "operation" },
        { column: "launched" },
        { column: "others" },
        { column: "host" },
        { column: "pid", label: "process", draw: (row) => String(table.num(row, "pid") ?? f.NONE) },
        { column: "gpu", label: "GPU" },
      ],
    }),
  );
}

const SEVERAL = "The dumps do not show which of these it is.";

export const hang: View = {
  id: "hang",
  title: "Hang",
  needs: ["hang.job", "hang.collective", "hang.rank", "hang.ras"],
  judges: ["hang.job"],
  shown: (job) => job.table("hang.job").n > 0,
  state: (job) => (job.table("hang.job").text(0, "state") === "hangs" ? "bad" : undefined),
  render(root, { job }) {
    const table = job.table("hang.job"),
      from = earliest(job);
    root.append(
      heading(prose(table.text(0, "verdict")), prose(table.text(0, "evidence"))),
      table.text(0, "chain") === null ? "" : note(prose(table.text(0, "chain"))),
      table.text(0, "confidence") === "several" ? note(SEVERAL) : "",
      table.num(0, "dumps") === 0
        ? note("No dumps of flight recorders.")
        : note(
            `Of ${f.count(table.num(0, "dumps") ?? 0, "dump")} of ${f.count(table.num(0, "ranks") ?? 0, "rank")}`,
            table.text(0, "no_dump") !== null && `; none of rank ${prose(table.text(0, "no_dump"))}`,
            ".",
          ),
      table.text(0, "ras") === null ? "" : note(prose(table.text(0, "ras"))),
      job.table("hang.collective").n > 0 ? operations(job, from) : "",
      job.table("hang.ras").n > 0 ? answer(job) : "",
      ranks(job, from),
    );
  },
};
