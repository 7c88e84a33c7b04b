/** Idle: why are the GPUs idle? */
import { longName } from "../cells";
import type { Job, Table } from "../data";
import { h, type Child } from "../dom";
import * as f from "../format";
import { adviceState, onTimeline, ranksOf, severalRanks, TO_RECORD_DEVICES } from "../job";
import { partsLegend, stacks, type StackRow, rankRow, byHost } from "../stack";
import { controls, heading, chooser } from "../ui";
import { href, type View, tablesNamed } from "../view";
import { holdsUp } from "./input";
import { lacking, part } from "./part";

/* Causes of idle time. Each has its colour, its name in idle.gap, its heading, its label and its sentence. */
const CAUSES = (
  [
    ["stall", "input", "input", "Waiting for a batch", "the host waits for the next batch"],
    ["hostcomm", "host_comm", "host comm.", "Communication on the host", "the host is in a call that communicates"],
    [
      "alloc",
      "alloc",
      "memory",
      "Allocating memory, loading code",
      "the host allocates or frees memory, or loads code: do both between steps",
    ],
    [
      "sync",
      "sync",
      "sync.",
      "Host waited for the GPU",
      "the host waited for the GPU and came back to an empty queue: look for .item(), copies, synchronisation",
    ],
    ["hostwork", "host_work", "host work", "Other host work", "the host is busy with other work and launches too late"],
    [
      "between",
      "kernel_wait",
      "between kernels",
      "Between queued kernels",
      "the GPU itself takes time between queued kernels: fewer, larger kernels or graphs help",
    ],
    ["idle", "other", "other", "Other", "the next event was queued and waited for something else, or its launch is not in the trace"],
  ] as const
).map(([key, word, short, label, text]) => ({ key, word, short, label, text, column: `${word}_ns` as const }));
const NO_LAUNCHES = "of unknown cause: the traces hold no launch";
const RANKS_MAX = 32;
const LITTLE = 1.25; // if the longest idle time is at most this many times the median, ranks differ little

function finding(job: Job): [string, string] {
  const table = job.table("idle.rank"),
    overlap = job.table("overlap.rank");
  const idle = table.sum("idle_ns"),
    window = overlap.sum("window_ns");
  const sums = CAUSES.map((cause) => table.sum(cause.column));
  const top = sums.indexOf(f.most(sums)),
    cause = CAUSES[top]!;
  const order = table.sorted("-idle_ns");
  const worst = order[0]!,
    middle = table.median("idle_ns") ?? 0;
  const why =
    cause.key === "idle" && f.sum(job.table("launches.rank").nums("launches")) === 0
      ? NO_LAUNCHES
      : `because ${cause.text}${cause.key === "stall" && holdsUp(job) ? ": look at the data loader" : ""}`;
  const most = table.amount(worst, "idle_ns");
  return [
    `The GPUs are idle ${f.percent(f.share(idle, window), 1)} of their time`,
    idle === 0
      ? "Something runs on every GPU from its first event to its last."
      : `${f.time(idle)} of GPU time, ${f.percent(f.share(sums[top]!, idle))} of it ${why}. ` +
        (severalRanks(job)
          ? most > 2 * middle
            ? `Rank ${table.num(worst, "rank")} is idle for ${f.time(most)}, the median rank for ${f.time(middle)}.`
            : `${most > LITTLE * middle ? "By rank it is" : "Ranks differ little: it is"} at most ${f.time(most)}, in the median ${f.time(middle)}.`
          : ""),
  ];
}

/* Makes a row for each rank, in rank order and grouped by host. Of many ranks, only those that idle longest have rows. */
function rows(job: Job, sorted: boolean): StackRow[] {
  const table = job.table("idle.rank"),
    row = (each: number) =>
      rankRow(
        table.num(each, "rank") ?? -1,
        CAUSES.map((cause) => table.amount(each, cause.column)),
      );
  const worst = table.sorted("-idle_ns");
  return sorted ? worst.slice(0, RANKS_MAX).map(row) : byHost(table.all.map(row), ranksOf(job).host);
}

const byCause = part(
  "idle.rank",
  "Idle time by cause",
  {
    above: ({ job, context, table, several }) => {
      const many = table.n > RANKS_MAX,
        sorted = many || context.params.get("sort") === "idle",
        shares = context.params.get("show") === "share",
        shown = rows(job, sorted);
      return [
        controls(
          chooser(context, "Show", "show", { time: "time", share: "share" }, shares ? "share" : "time"),
          several && !many && chooser(context, "Sort by", "sort", { rank: "rank", idle: "idle" }, sorted ? "idle" : "rank"),
        ),
        partsLegend(shown, CAUSES),
        stacks(shown, { parts: CAUSES, shares, axis: true }),
        many && `The ${RANKS_MAX} ranks that are idle longest; the table has all.`,
        several && "A kernel that waits for other ranks is not idle: that is exposed wait, under Ranks and Stragglers.",
      ];
    },
    first: 16,
    sort: ({ table }) => (table.n > RANKS_MAX ? "-idle_ns" : ""),
    link: (row, { table }) => href("timeline", { rank: table.amount(row, "rank") }),
  },
  "rank; idle_ns: idle; idle_pct: of its time",
  CAUSES.map((cause) => ({ column: cause.column, label: cause.short })),
  "gaps; longest_ns: longest",
);

/* Describes what the host did during a gap. */
function meanwhile(table: Table<"idle.gap">, row: number): Child {
  const host = table.text(row, "host"),
    unrecorded = table.amount(row, "unrecorded_ns");
  return [
    host !== null && [longName(host, true), h("small", f.time(table.num(row, "host_ns")))],
    unrecorded > 0 && h("small", `${host === null ? "" : "; "}${f.time(unrecorded)} in no recorded call`),
  ];
}

const causeOf = (table: Table<"idle.gap">, row: number) => CAUSES.find((cause) => cause.word === table.text(row, "cause"));

const gaps = part(
  "idle.gap",
  "The longest gaps",
  {
    none: "There is no gap: something runs on every GPU from its first event to its last.",
    note: "At most 10 of a rank. The first column leads to the gap on the timeline, with what the host did.",
    first: 12,
    link: (row, { table }) => {
      const begin = table.amount(row, "begin_ns"),
        rank = table.amount(row, "rank");
      return onTimeline(begin, begin + table.amount(row, "duration_ns"), { rank, open: rank });
    },
  },
  "begin_ns: begin; rank; step",
  ({ table }) => [
    { column: "duration_ns", label: "gap", bar: (row) => causeOf(table, row)?.key ?? "idle" },
    { column: "cause", draw: (row) => causeOf(table, row)?.short ?? table.text(row, "cause") },
  ],
  "after<kernel narrow>; before<kernel narrow>",
  ({ table }) => ({ column: "host", label: "meanwhile, on the host", draw: (row) => meanwhile(table, row) }),
);

const syncs = part(
  "sync.call",
  "Calls that wait for the GPU",
  {
    note: "The host waits in them until the GPU has finished what was launched; a GPU that runs dry meanwhile is idle until the host launches again. Copies and allocations may wait, too.",
    first: 12,
  },
  "call<narrow>; operator<narrow>: made by; inside<narrow>: inside; lost_ns<bar sync>: the GPU lost; calls",
  "calls_per_step: a step, a rank; total_ns: host waited; mean_ns<spare>: mean; max_ns: longest",
  ({ table, several }) =>
    several && [
      "max_rank_lost_ns: most lost",
      {
        column: "max_rank",
        label: "by rank",
        draw: (row) => (table.num(row, "max_rank_lost_ns") ? String(table.num(row, "max_rank")) : f.NONE),
      },
    ],
);

const streams = part(
  "idle.stream",
  "Streams",
  { none: null, note: "Between the events of one stream; others may have been busy.", sort: "-idle_ns", first: 10 },
  "rank; device; stream; events; idle_ns: between events; host_wait_ns: launched late; kernel_wait_ns: between kernels",
  "other_ns: other",
);

export const idle: View = {
  id: "idle",
  title: "Idle",
  needs: tablesNamed("job.rank launches.rank overlap.rank idle.rank idle.stream idle.gap sync.call input.rank pod.rank"),
  of: ["idle.stream"],
  state: (job) => adviceState(job, "idle"),
  lacks: ({ job }) =>
    (job.table("idle.rank").n === 0 || job.table("overlap.rank").sum("window_ns") === 0) &&
    lacking("No GPU events were recorded", "Without them idle gaps are not known.", `${TO_RECORD_DEVICES}.`),
  parts: [({ job }) => heading(...finding(job)), byCause, gaps, syncs, streams],
};
