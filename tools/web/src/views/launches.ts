/** Launches: does the host keep ahead of the GPU? */
import { inlineBar, strip, timeWriter } from "../cells";
import { Charts } from "../chart";
import type { Job, Table } from "../data";
import { h, name, type Child } from "../dom";
import * as f from "../format";
import { grid } from "../grid";
import { adviceState, severalRanks, TO_RECORD_THE_HOST } from "../job";
import type { ColumnOf } from "../names";
import { empty, heading, legend, note, section } from "../ui";
import { queueOverTime } from "./over_time";
import type { View } from "../view";

const FIRST = 24;
const HOST_BOUND = 50; // percent of events from which the host sets the pace

function finding(job: Job): [string, string] {
  const table = job.table("launches.rank");
  const events = table.sum("events"),
    bound = table.sum("host_bound_events"),
    short = table.sum("short_events");
  const share = f.share(bound, events) ?? 0;
  const order = [...table.rows.keys()].sort((a, b) => (table.num(b, "host_bound_pct") ?? 0) - (table.num(a, "host_bound_pct") ?? 0));
  const worst = order[0]!,
    middle = table.median("host_bound_pct") ?? 0;
  const most = table.num(worst, "host_bound_pct") ?? 0;
  return [
    share >= HOST_BOUND ? "The host sets the pace" : share >= 20 ? "The host is often late" : "The host keeps ahead of the GPUs",
    `${f.percent(share, 1)} of ${f.count(events, "event")} on the GPUs were launched when their stream had nothing left to do. ` +
      (severalRanks(job)
        ? most > 2 * middle && most >= 5
          ? `Rank ${table.num(worst, "rank")} has most such, ${f.percent(most, 1)}, the median rank ${f.percent(middle, 1)}. `
          : `By rank it is at most ${f.percent(most, 1)}. `
        : "") +
      (table.known("short_pct") > 0
        ? `${f.percent(f.share(short, events), 1)} run shorter than the call that launches them${short > 0 ? ": CUDA graphs or fused kernels save such calls" : ""}.`
        : ""),
  ];
}

/* From launch to begin: the median and the 95th percentile up to the longest. */
function latency(table: Table<"launches.rank">, row: number, scale: number): Child {
  const value = (column: ColumnOf<"launches.rank">) => table.num(row, column);
  return strip({
    from: 0,
    to: value("p95_latency_ns"),
    middle: value("median_latency_ns"),
    far: value("p95_latency_ns"),
    scale,
    label: `median ${f.time(value("median_latency_ns"))}, 95th percentile ${f.time(value("p95_latency_ns"))}`,
    tip: () => [
      h("b", null, `rank ${value("rank")}: from the call’s end to the begin on the GPU`),
      h("br"),
      `mean ${f.time(value("mean_latency_ns"))}, median ${f.time(value("median_latency_ns"))}`,
      h("br"),
      `p95 ${f.time(value("p95_latency_ns"))}, longest ${f.time(value("max_latency_ns"))}`,
    ],
  });
}

function ranks(job: Job): HTMLElement {
  const table = job.table("launches.rank");
  const scale = Math.max(1, table.most("p95_latency_ns") ?? 0);
  return section(
    "Ranks",
    legend([["hostwork", "Events that found an empty stream"]]),
    note(
      "Latency: from the end of the launching call to the begin on the GPU; of a busy GPU mostly time in the queue. Bar: median, dot: 95th percentile, on one scale. Queue: launched and not yet begun.",
    ),
    grid(table, {
      sort: severalRanks(job) ? "-host_bound_pct" : "",
      first: FIRST,
      columns: [
        { column: "rank" },
        {
          column: "host_bound_pct",
          label: "host bound",
          draw: (row) => inlineBar(table.num(row, "host_bound_pct"), 100, f.percent(table.num(row, "host_bound_pct"), 1), "hostwork"),
          write: String,
        },
        { column: "events" },
        { column: "launches" },
        { column: "mean_call_ns", label: "mean call" },
        { column: "p95_latency_ns", label: "latency", draw: (row) => latency(table, row, scale), write: f.time },
        { column: "median_latency_ns", label: "median latency" },
        { column: "mean_queue", label: "mean queue" },
        { column: "max_queue", label: "longest queue" },
        { column: "short_pct", label: "shorter than its call" },
        { column: "graph_events", label: "from graphs" },
        { column: "unlinked", label: "no launch known" },
      ],
    }),
  );
}

function calls(job: Job): HTMLElement {
  const table = job.table("launches.api");
  if (table.n === 0) return section("Calls of the runtime and driver", empty("None were recorded."));
  const most = Math.max(1, ...table.nums("total_ns").map((v) => v ?? 0)),
    write = timeWriter(table, [...table.rows.keys()], "total_ns");
  return section(
    "Calls of the runtime and driver",
    note(severalRanks(job) && "Time of all ranks’ hosts. ", "Calls that wait for the GPU take as long as the GPU makes them."),
    grid(table, {
      first: 20,
      columns: [
        { column: "name", draw: (row) => name(table.text(row, "name") ?? "") },
        {
          column: "total_ns",
          label: "total",
          draw: (row) => inlineBar(table.num(row, "total_ns"), most, write(table.num(row, "total_ns")), "host"),
        },
        { column: "calls" },
        { column: "mean_ns", label: "mean", write: f.time },
        { column: "max_ns", label: "longest", write: f.time },
        ...(severalRanks(job)
          ? ([
              { column: "median_rank_ns", label: "median rank" },
              { column: "max_rank_ns", label: "most of a rank" },
              { column: "max_rank", label: "rank" },
            ] as const)
          : []),
      ],
    }),
  );
}

export const launches: View = {
  id: "launches",
  title: "Launches",
  group: "Inside a rank",
  needs: ["launches.rank", "launches.queue", "launches.api"],
  state: (job) => adviceState(job, "launches"),
  render(root, context) {
    const { job } = context,
      charts = new Charts(),
      table = job.table("launches.rank");
    if (table.sum("events") === 0)
      return void root.append(
        heading(
          "No launches are known",
          table.sum("unlinked") > 0 ? "The traces do not say which call launched which kernel." : "The traces hold no kernel, copy or set.",
        ),
        empty(`${TO_RECORD_THE_HOST} Its calls and the kernels that they launch carry one number.`),
        calls(job),
      );
    root.append(heading(...finding(job)), ranks(job), queueOverTime(context, charts) ?? "", calls(job));
    return charts.dispose;
  },
};
