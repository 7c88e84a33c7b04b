/** Launches: does the host keep ahead of the GPU? */
import { strip } from "../cells";
import type { ColumnOf, Job, Table } from "../data";
import { name, type Child } from "../dom";
import * as f from "../format";
import { adviceState, severalRanks, TO_RECORD_THE_HOST } from "../job";
import { heading, legend, lines } from "../ui";
import { queueOverTime } from "./over_time";
import { lacking, part } from "./part";
import { tablesNamed, type View } from "../view";

const HOST_BOUND = 50; // if at least this percentage of events is host-bound, the host sets the pace
const LATE_PCT = 5; // if at least this percentage of a rank's events is host-bound, its host is late
const NAMED_MAX = 4;
const IDLE_PCT = 1; // if less than this percentage of time is idle, hosts do not count as the cause

/* Returns the rows of ranks whose host-bound share is at least LATE_PCT and above twice the median, largest first. */
function lateRanks(table: Table<"launches.rank">): number[] {
  const middle = table.median("host_bound_pct") ?? 0,
    own = (row: number) => table.amount(row, "host_bound_pct");
  return table.all.filter((row) => own(row) >= LATE_PCT && own(row) > 2 * middle).sort((a, b) => own(b) - own(a));
}

/* Returns the share of idle time [%] that hosts caused, over all ranks except `late`; 0 if there is little idle time. */
function idleByHosts(job: Job, late: ReadonlySet<number | null>): number {
  const table = job.table("idle.rank"),
    overlap = job.table("overlap.rank"),
    rows = table.all.filter((row) => !late.has(table.num(row, "rank")));
  const sum = (column: ColumnOf<"idle.rank">) => f.sum(rows.map((row) => table.num(row, column)));
  const idle = sum("idle_ns"),
    hosts = sum("input_ns") + sum("host_comm_ns") + sum("alloc_ns") + sum("sync_ns") + sum("host_work_ns"),
    window = f.sum(rows.map((row) => overlap.num(overlap.find({ rank: table.num(row, "rank") }), "window_ns")));
  return (f.share(idle, window) ?? 0) < IDLE_PCT ? 0 : (f.share(hosts, idle) ?? 0);
}

function title(job: Job, share: number, late: readonly (number | null)[]): string {
  if (share >= HOST_BOUND) return "The host sets the pace";
  if (share >= 20) return "The host is often late";
  const ahead = "The host keeps ahead of the GPUs";
  if (idleByHosts(job, new Set(late)) > 50) return `${f.percent(share, 1)} of events on the GPUs found an empty stream`;
  if (late.length === 0) return ahead;
  const ranks = late.filter((rank) => rank !== null);
  return ranks.length > NAMED_MAX
    ? `${ahead}, but not on all ranks`
    : `${ahead}, but not on ${ranks.length === 1 ? "rank" : "ranks"} ${f.ranges(ranks)}`;
}

function finding(job: Job): [string, string] {
  const table = job.table("launches.rank");
  const events = table.sum("events"),
    bound = table.sum("host_bound_events"),
    short = table.sum("short_events");
  const share = f.share(bound, events) ?? 0,
    late = lateRanks(table),
    idle = idleByHosts(job, new Set());
  const middle = table.median("host_bound_pct") ?? 0,
    most = table.most("host_bound_pct") ?? 0;
  return [
    title(
      job,
      share,
      late.map((row) => table.num(row, "rank")),
    ),
    `${f.percent(share, 1)} of ${f.count(events, "event")} on the GPUs were launched when their stream had nothing left to do. ` +
      (severalRanks(job)
        ? late.length > 0
          ? `Rank ${table.num(late[0]!, "rank")} has the most, ${f.percent(most, 1)}, the median rank ${f.percent(middle, 1)}. `
          : `By rank it is at most ${f.percent(most, 1)}. `
        : "") +
      (idle > 0 ? `${f.percent(idle)} of the GPUs’ idle time is because of the host: see Idle. ` : "") +
      (table.known("short_pct") > 0
        ? `${f.percent(f.share(short, events), 1)} run shorter than the call that launches them${short > 0 ? ": CUDA graphs or fused kernels save such calls" : ""}.`
        : ""),
  ];
}

/* Draws the delay from launch to begin: median, 95th percentile and maximum. */
function latency(table: Table<"launches.rank">, row: number, scale: number): Child {
  const value = (column: ColumnOf<"launches.rank">) => table.num(row, column);
  return strip(
    [0, value("p95_latency_ns"), value("median_latency_ns"), value("p95_latency_ns")],
    scale,
    `median ${f.time(value("median_latency_ns"))}, 95th percentile ${f.time(value("p95_latency_ns"))}`,
    () =>
      lines(
        `rank ${value("rank")}: from the call’s end to the start on the GPU`,
        `mean ${f.time(value("mean_latency_ns"))}, median ${f.time(value("median_latency_ns"))}`,
        `p95 ${f.time(value("p95_latency_ns"))}, longest ${f.time(value("max_latency_ns"))}`,
      ),
  );
}

const ranks = part(
  "launches.rank",
  "Ranks",
  {
    above: () => [
      legend("hostwork: Events that found an empty stream"),
      "Latency: from the end of the launching call to the start on the GPU; on a busy GPU mostly time in the queue. Bar: median, dot: 95th percentile, on one scale. Queue: launched but not yet started; the mean is over all streams, the longest is of one stream.",
    ],
    sort: ({ several }) => (several ? "-host_bound_pct" : ""),
    first: 24,
  },
  "rank; host_bound_pct<percent hostwork>: host bound; events; launches; mean_call_ns: mean call",
  ({ table }) => {
    const scale = Math.max(1, table.most("p95_latency_ns") ?? 0);
    return { column: "p95_latency_ns", label: "latency", draw: (row) => latency(table, row, scale), write: f.time };
  },
  "median_latency_ns: median latency; mean_queue: mean queue, all streams; max_queue: longest queue of one stream",
  "short_pct: shorter than its call; graph_events: from graphs; unlinked: no launch known",
);

const calls = part(
  "launches.api",
  "Calls of the runtime and driver",
  {
    none: "None were recorded.",
    note: ({ several }) => [several && "Time of all ranks’ hosts. ", "Calls that wait for the GPU take as long as the GPU makes them."],
    first: 20,
  },
  ({ table }) => ({ column: "name", draw: (row) => name(table.text(row, "name") ?? "") }),
  "total_ns<bar host>: total; calls; mean_ns: mean; max_ns: longest",
  ({ several }) => several && "median_rank_ns: median rank; max_rank_ns: max over ranks; max_rank: rank",
);

export const launches: View = {
  id: "launches",
  title: "Launches",
  needs: tablesNamed("launches.rank launches.queue launches.api idle.rank overlap.rank"),
  of: ["launches.queue", "launches.api"],
  state: (job) => adviceState(job, "launches"),
  lacks: (context) => {
    const table = context.job.table("launches.rank"),
      unlinked = table.sum("unlinked") > 0,
      what = unlinked ? "The traces do not say which call launched which kernel." : "The traces hold no kernel, copy or set.";
    if (table.sum("events") > 0) return null;
    return [
      lacking("No launches are known", what, `${TO_RECORD_THE_HOST} Its calls and the kernels that they launch share a number.`),
      calls(context),
    ];
  },
  parts: [({ job }) => heading(...finding(job)), ranks, queueOverTime, calls],
};
