/** A job that hung, from the dumps of its flight recorders: which ranks are missing, and which ones only wait? */
import { longName } from "../cells";
import type { ColumnOf, Job, Table } from "../data";
import * as f from "../format";
import { heading, prose } from "../ui";
import type { View } from "../view";
import { part } from "./part";

type Timed = "hang.collective" | "hang.rank";

function earliest(job: Job): number | null {
  const ranks = job.table("hang.rank"),
    all = [...job.table("hang.collective").nums("begin_ns"), ...ranks.nums("begin_ns"), ...ranks.nums("time_ns")],
    reported = all.filter((ns) => ns !== null);
  return reported.length > 0 ? f.least(reported) : null;
}

function after<N extends Timed>(table: Table<N>, row: number, column: ColumnOf<N>, from: number | null): string {
  const ns = table.num(row, column);
  return ns === null || from === null ? f.NONE : f.time(ns - from);
}

const operations = part(
  "hang.collective",
  "Operations that hold ranks up",
  {
    note: "The first operation of each group that some ranks have not reached, or that does not end. Absent: ranks with a dump that did not issue it. Times count from the earliest one on this page.",
  },
  ({ table }) => ({ column: "cause", draw: (row) => (table.cell(row, "cause") === true ? "began here" : "follows") }),
  "group; operation<narrow>; number; problem; absent; no_dump: no dump; waiting",
  ({ table, job }) => ({ column: "begin_ns", label: "first issued", draw: (row) => after(table, row, "begin_ns", earliest(job)) }),
  "detail<narrow>",
);

const has = (table: Table<"hang.rank">, column: ColumnOf<"hang.rank">) => table.all.some((row) => table.cell(row, column) !== null);

const ranks = part(
  "hang.rank",
  "Ranks",
  {
    note: ({ table }) => [
      has(table, "dump") && "Where each rank waits, and what it recorded last. Times count from the earliest one on this page.",
      has(table, "trace_end_ns") && " For ranks with a trace: the step and the call in which it ends.",
      has(table, "advanced") && " Launched: collectives between the two answers of NCCL's RAS.",
    ],
    rows: ({ table }) => {
      const isNamed = (row: number) => table.text(row, "role") === "culprit";
      return [...table.all.filter(isNamed), ...table.all.filter((row) => !isNamed(row))];
    },
  },
  "rank",
  ({ table, job }) => {
    const dumped = has(table, "dump"),
      from = earliest(job),
      waitsIn = (row: number) =>
        table.text(row, "operation") && f.joined(" ", table.text(row, "operation"), String(table.num(row, "number") ?? ""));
    return [
      dumped && "role",
      has(table, "process") && "process",
      has(table, "advanced") && "advanced: launched",
      ...(dumped
        ? [
            { column: "operation", label: "waits in", draw: (row: number) => longName(waitsIn(row), true) } as const,
            { column: "begin_ns", label: "since", draw: (row: number) => after(table, row, "begin_ns", from) } as const,
            "last_operation<narrow>: recorded last",
            { column: "time_ns", label: "at", draw: (row: number) => after(table, row, "time_ns", from) } as const,
          ]
        : []),
      has(table, "trace_end_ns") && "step: last step; call<narrow>: last call",
      dumped && "frames<narrow>: issued at",
    ];
  },
);

const answer = part(
  "hang.ras",
  "What NCCL's RAS reports",
  { note: "Each rank of a communicator that is missing, failed or behind." },
  "communicator; size; member: its rank; rank: global rank; state; operation; launched; others",
  ({ table }) => [
    table.known("advanced") > 0 && "advanced: between answers",
    "host",
    { column: "pid", label: "process", draw: (row) => String(table.num(row, "pid") ?? f.NONE) },
    "gpu: GPU",
  ],
);

/** Writes a text such as "Dumps of 3 of 4 ranks or more, no dump of rank 2". */
export function describeDumps(job: Job): string {
  const table = job.table("hang.job"),
    lost = table.text(0, "no_dump"),
    more = table.cell(0, "ranks_known") === false ? " or more" : "",
    dumps = table.amount(0, "dumps");
  if (dumps === 0) return "No dumps of flight recorders";
  return `Dumps of ${dumps} of ${f.count(table.amount(0, "ranks"), "rank")}${more}${lost === null ? "" : `, no dump of rank ${prose(lost)}`}`;
}

export const hang: View = {
  id: "hang",
  title: "Hang",
  needs: ["hang.job", "hang.collective", "hang.rank", "hang.ras"],
  judges: ["hang.job"],
  shown: (job) => job.table("hang.job").n > 0,
  state: (job) => (job.table("hang.job").text(0, "state") === "hangs" ? "bad" : undefined),
  parts: [
    ({ job }) => {
      const table = job.table("hang.job"),
        said = (column: "evidence" | "chain" | "ras") => (table.text(0, column) === null ? "" : `${prose(table.text(0, column))}.`);
      return [
        heading(prose(table.text(0, "verdict")), said("evidence")),
        said("chain"),
        table.text(0, "confidence") === "several" && "The dumps do not show which of these ranks is the cause.",
        job.kind !== "hang" && `${describeDumps(job)}.`,
        said("ras"),
      ];
    },
    operations,
    answer,
    ranks,
  ],
};
