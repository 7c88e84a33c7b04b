/** Transfers: how fast are copies and sets on the GPU, and do they delay anything? */
import { barList, sumFigure } from "../cells";
import type { Job, Table } from "../data";
import { visible, type Child } from "../dom";
import * as f from "../format";
import type { GridColumn } from "../grid";
import { adviceState, total, TO_RECORD_DEVICES } from "../job";
import { bandwidthChart, spotSize, type Spot, shapeLegend } from "../scatter";
import { empty, heading, note, lines } from "../ui";
import { tablesNamed, type View } from "../view";
import { rateOverTime } from "./over_time";
import { lacking, part } from "./part";

const KINDS: readonly (readonly [string, string])[] = [
  ["htod", "Host to device"],
  ["dtoh", "Device to host"],
  ["dtod", "On one device"],
  ["ptop", "Between devices"],
  ["htoh", "On the host"],
  ["set", "Set"],
  ["other", "Other"],
];

const kindWord = (kind: string | null): string => KINDS.find(([key]) => key === kind)?.[1] ?? visible(kind ?? f.NONE);

const where = (kind: string | null, memory: string | null): string =>
  kindWord(kind) + (memory === null || memory === "device" ? "" : `, ${memory}`);

function finding(job: Job): [string, string] {
  const table = job.table("transfers.kind");
  const time = table.sum("union_ns"),
    held = table.sum("sync_ns"),
    exposed = total(job, "exposed_memory_ns"),
    window = total(job, "window_ns");
  const memories = table.groups(["host_memory"]),
    pageable = memories.find(({ texts: [memory] }) => memory === "pageable");
  const bytes = table.sum("bytes"),
    own = pageable?.sum("bytes") ?? 0,
    copies = pageable?.sum("count") ?? 0;
  const known = !memories.some(({ texts: [memory] }) => memory === "unknown");
  const inSteps = job.table("transfers.allocation").sum("step_calls");
  return [
    `Copies and sets take ${f.percent(f.share(exposed, window), 1)} of the GPUs’ time with nothing beside them`,
    `${f.count(table.sum("count"), "copy or set", "copies and sets")}${bytes > 0 ? `, ${f.bytes(bytes)} in all,` : ""} took ${f.time(time)} of GPU time. ` +
      (copies > 0
        ? `${f.count(copies, "copy", "copies")}${own > 0 ? ` (${f.bytes(own)})` : ""} used pageable memory, which is slower${held > 0 ? ": pin_memory=True and non_blocking=True avoid that" : "; they did not hold the host up"}. `
        : known
          ? "None used pageable memory. "
          : "") +
      (held > 0 ? `Copies held the host up for ${f.time(held)}. ` : "") +
      (inSteps > 0
        ? `${f.count(inSteps, "call")} within steps allocated or freed device memory, which a caching allocator should not need.`
        : ""),
  ];
}

const hostMemory = (table: Table<"transfers.kind" | "transfers.size">) =>
  [
    { column: "kind", draw: (row) => kindWord(table.text(row, "kind")) },
    {
      column: "host_memory",
      label: "host memory",
      draw: (row) => (table.text(row, "host_memory") === "device" ? f.NONE : (table.text(row, "host_memory") ?? f.NONE)),
    },
  ] as const satisfies readonly GridColumn<"transfers.kind">[];

function kindBars(table: Table<"transfers.kind">): HTMLElement {
  const sums = table
    .groups(["kind", "host_memory"])
    .map(({ texts: [kind, memory], sum, has }) => ({
      label: where(kind ?? null, memory ?? null),
      kept: `kind=${kind}, host_memory=${memory}`,
      time: sum("union_ns"),
      words: `${f.count(sum("count"), "time")}, ${has("bytes") ? `${f.bytes(sum("bytes"))} in all` : "sizes not known"}, ${f.percent(f.share(sum("overlap_ns"), sum("union_ns")))} of the time beside computation`,
    }))
    .sort((a, b) => b.time - a.time);
  const unit = f.timeUnit([1, ...sums.map(({ time }) => time)]);
  return barList(
    sums.map(({ label, kept, time, words }) => ({
      label,
      value: time,
      text: sumFigure(`${f.scaled(time, unit)} ${unit.name}`, { table: "transfers.kind", column: "union_ns", where: kept, value: time }),
      words,
    })),
    "copies",
    "wide",
  );
}

const byKind = part(
  "transfers.kind",
  "What is copied",
  { above: ({ table }) => kindBars(table), sort: "-total_ns", first: 12 },
  "rank",
  ({ table }) => hostMemory(table),
  "total_ns<bar copies>: GPU time; count; bytes<bytes>: bytes in all; bw_gbps<significant>: bandwidth, GB/s",
  "overlap_pct: beside computation; sync_count: that held the host up; sync_ns: host held up",
);

/* Draws a point for each kind and size class of copies of known size. */
function sizePoints(table: Table<"transfers.size">): Child {
  const of = (row: number) => where(table.text(row, "kind"), table.text(row, "host_memory"));
  const shape = (row: number) =>
    Math.max(
      0,
      KINDS.findIndex(([key]) => key === table.text(row, "kind")),
    );
  const hollow = (row: number) => table.text(row, "host_memory") === "pageable";
  const spots: Spot[] = table.all.flatMap((row) => {
    const bytes = table.num(row, "bytes"),
      count = table.amount(row, "count"),
      gbps = table.num(row, "bw_gbps");
    return bytes !== null && bytes > 0 && count > 0 && gbps !== null && gbps > 0
      ? [{ row, at: [bytes / count, gbps], size: spotSize(count), shape: shape(row), hollow: hollow(row) }]
      : [];
  });
  const tip = (row: number): Child =>
    lines(
      of(row),
      `${f.count(table.amount(row, "count"), "copy", "copies")} of ${f.bytes(table.amount(row, "bytes") / Math.max(1, table.num(row, "count") ?? 1))} in the mean`,
      `${f.significant(table.amount(row, "bw_gbps"))} GB/s, ${f.time(table.num(row, "total_ns"))} in all`,
    );
  const keys = [
    ...new Map(
      spots.map((spot) => [`${spot.shape} ${spot.hollow}`, { shape: spot.shape, label: of(spot.row), hollow: spot.hollow ?? false }]),
    ).values(),
  ];
  const several = spots.length > 1;
  return [
    note(
      several && "A point is a kind and size class; a larger one stands for more copies. ",
      "Small copies cost time that bandwidth does not explain. ",
      several && "Hollow: pageable memory.",
    ),
    spots.length === 0 && empty("The traces do not say how large the copies were."),
    several && [
      shapeLegend(keys, "copies"),
      bandwidthChart({ label: BY_SIZE, color: "copies", spots, tip }, "size of a copy", "bandwidth, GB/s"),
    ],
  ];
}

const BY_SIZE = "Bandwidth by size";

const bySize = part(
  "transfers.size",
  BY_SIZE,
  { none: null, above: ({ table }) => sizePoints(table), first: 12 },
  ({ table }) => hostMemory(table),
  "size_class_bytes<memory>: from; count; bytes<bytes>; total_ns: GPU time; bw_gbps<significant>: bandwidth, GB/s",
);

const allocations = part(
  "transfers.allocation",
  "Calls that allocate or free memory",
  {
    none: "None were recorded.",
    note: "Such calls may wait for the GPU; within steps a caching allocator should need none.",
    sort: "-total_ns",
    first: 12,
  },
  "rank; call; calls; step_calls: within steps; total_ns: total; max_ns: longest",
);

export const transfers: View = {
  id: "transfers",
  title: "Transfers",
  needs: tablesNamed("overlap.rank transfers.kind transfers.size transfers.rate transfers.allocation"),
  of: ["transfers.kind", "transfers.allocation"],
  state: (job) => adviceState(job, "transfers"),
  lacks: (context) =>
    context.job.table("transfers.kind").n === 0 && [
      lacking(
        "No copies were recorded",
        "The traces hold no copy and no set of memory on a GPU.",
        `${TO_RECORD_DEVICES}. A job may also have none: then there is nothing to fix.`,
      ),
      allocations(context),
    ],
  parts: [({ job }) => heading(...finding(job)), byKind, (context) => rateOverTime(context, KINDS), bySize, allocations],
};
