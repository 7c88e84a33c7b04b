/** Operators: which take most time, on the GPU and on the host, and which rank differs? */
import { strip } from "../cells";
import type { Job, Table } from "../data";
import { h, cut, visible, type Child } from "../dom";
import * as f from "../format";
import { type GridColumn, columns } from "../grid";
import { adviceState, ofXla, severalRanks, tellsTensorCores } from "../job";
import { empty, heading, legend, section, lines, chooser, setting } from "../ui";
import { tablesNamed, type Context, type View } from "../view";
import { filtered, part } from "./part";

type Calls = Table<"calls.call">;
type Side = "device" | "host";

const KINDS = [
  { key: "operator", what: "operators", label: "operators" },
  { key: "shape", what: "operators", label: "operators and shapes" },
  { key: "module", what: "modules", label: "modules" },
  { key: "annotation", what: "annotations", label: "annotations" },
] as const;
/* For each kind of calls: what to record if the store has none. */
const MISSING: Readonly<Record<Kind["key"], string>> = {
  operator: "Record with ProfilerActivity.CPU among the profiler’s activities: operators are events of the CPU.",
  shape: "Record with record_shapes=True: then operators are distinguished by the shapes of their inputs.",
  module: "Record with with_stack=True: then the profiler names the nn.Module of each call.",
  annotation: 'Mark parts of the program with torch.profiler.record_function("name").',
};
type Kind = (typeof KINDS)[number];
const LAUNCHED = "kernel";
export const COMMUNICATES = /^(record_param_comms$|(gloo|mpi|ucc|nccl|rccl):|c10d::)/; // same pattern as for idle.rank host_comm_ns

/* Returns the chosen side, GPU or host. If none is chosen, it is the GPU if there is GPU time. */
function sideOf(context: Context): Side {
  const wanted = context.params.get("time");
  if (wanted === "device" || wanted === "host") return wanted;
  return f.sum(context.job.level("calls.call", "operator").nums("device_self_ns")) > 0 ? "device" : "host";
}

function rankStrip(table: Calls, row: number, side: Side): Child {
  const value = (column: "min_ns" | "median_ns" | "max_ns" | "max_rank") => table.num(row, `${side}_${column}`);
  if (!value("max_ns")) return f.NONE;
  return strip(
    [value("min_ns"), value("max_ns"), value("median_ns"), value("max_ns")],
    Math.max(1, value("max_ns") ?? 0),
    `ranks from ${f.time(value("min_ns"))} to ${f.time(value("max_ns"))}, median ${f.time(value("median_ns"))}, most on rank ${value("max_rank")}`,
    () =>
      lines(
        `over ${f.count(table.amount(row, "ranks"), "rank")}`,
        `least ${f.time(value("min_ns"))}, median ${f.time(value("median_ns"))}`,
        `most ${f.time(value("max_ns"))}, rank ${value("max_rank")}`,
      ),
  );
}

function columnsOf(job: Job, table: Calls, kind: string, side: Side): GridColumn<"calls.call">[] {
  const other = side === "device" ? "host" : "device",
    where = (each: string) => (each === "device" ? "GPU" : "host"),
    barOf = (row: number) => (side === "host" ? "host" : COMMUNICATES.test(table.text(row, "name") ?? "") ? "comm" : "compute");
  return columns(
    table,
    "name<name>",
    kind === "shape" && "shapes<name>",
    { column: `${side}_self_ns`, label: `${where(side)}, itself`, bar: barOf },
    { column: `${side}_total_ns`, label: "with what it calls" },
    side === "device" && kind === "module" && "backward_device_total_ns: backward, likewise",
    "calls",
    severalRanks(job) && [
      { column: `${side}_max_ns`, label: "over the ranks", draw: (row: number) => rankStrip(table, row, side), write: f.time },
      {
        column: `${side}_max_rank`,
        label: "most on",
        draw: (row: number) => (table.num(row, `${side}_max_ns`) ? f.exact(table.num(row, `${side}_max_rank`)) : f.NONE),
      },
    ],
    { column: `${other}_self_ns`, label: `${where(other)}, itself` },
    "tensor_self_pct: on tensor cores",
  );
}

const unused = part(
  "calls.call",
  "Operators that could use tensor cores and did not",
  {
    level: "operator",
    note: "Tensor-core kernels exist for them; mixed precision (torch.autocast), TF32, or sizes that are multiples of 8 enable these.",
    rows: ({ table }) =>
      table
        .sorted("-device_self_ns")
        .filter(
          (row) =>
            table.cell(row, "tensor_cores_fit") === true &&
            table.num(row, "tensor_total_pct") === 0 &&
            table.amount(row, "device_self_ns") > 0,
        ),
    first: 5,
  },
  "name; device_self_ns: GPU, itself; calls",
  ({ several }) => several && "ranks",
);

function finding(job: Job, table: Calls, kind: Kind, side: Side): [Child, string] {
  const self = `${side}_self_ns` as const,
    rows = table.sorted(`-${self}`),
    own = rows.filter((row) => !COMMUNICATES.test(table.text(row, "name") ?? ""));
  const order = own.length > 0 ? own : rows,
    first = order[0]!,
    all = f.sum(order.map((row) => table.num(row, self)));
  let half = 0;
  for (let taken = 0; half < order.length && 2 * taken < all; half++) taken += table.amount(order[half]!, self);
  const what = side === "device" ? `of the GPU time that ${kind.what} launched` : `of the ${kind.what}’ time on the host`;
  const tensor = table.num(first, "tensor_self_pct");
  return [
    [
      h("bdi", cut(visible(table.text(first, "name") ?? ""), 60)),
      ` takes ${f.percent(f.share(table.amount(first, self), all), 1)} ${what}${order.length < rows.length ? ", without communication" : ""}`,
    ],
    (side === "device" && tensor !== null && tellsTensorCores(job)
      ? `${f.percent(tensor)} of its kernels’ time is on tensor cores. `
      : "") +
      `${f.grouped(half)} of ${f.count(order.length, "row")} ${half === 1 ? "makes" : "make"} up half of it.` +
      (severalRanks(job) ? "" : " One rank: there is nothing to compare it with."),
  ];
}

const launched = part(
  "kernels.launched",
  "Which kernels operators launch",
  {
    level: "operator",
    none: null,
    note: "By the innermost operator whose call put the kernel on its stream.",
    tools: ({ context }) => chosen(context).choose,
  },
  "operator<name>; kernel<kernel>",
  ({ table }) => ({
    column: "total_ns",
    label: "GPU",
    bar: (row) => (COMMUNICATES.test(table.text(row, "operator") ?? "") ? "comm" : "compute"),
  }),
  "share_pct: of the operator; calls; mean_ns: mean",
  ({ several }) => several && "ranks; median_rank_ns: median rank; max_rank_ns: max over ranks; max_rank: rank",
);

/* Returns what the address asks for. `kind`: a kind of calls. `pairs`: instead, operators with the kernels that they launch. */
function chosen(context: Context) {
  const { job, params } = context,
    kinds = ofXla(job) ? KINDS.filter(({ key }) => job.level("calls.call", key).n > 0) : KINDS,
    kind = kinds.find((each) => each.key === params.get("by")) ?? KINDS[0],
    pairs = params.get("by") === LAUNCHED && job.rowsOf("kernels.launched") > 0,
    all = [...kinds, { key: LAUNCHED, label: "operators and their kernels" } as const];
  return {
    kind,
    pairs,
    table: job.level("calls.call", kind.key),
    choose: chooser(context, "Rows", "by", all, pairs ? LAUNCHED : kind.key, "sort"),
  };
}

function calls(context: Context): Child {
  const { job } = context,
    { kind, table, choose } = chosen(context),
    side = sideOf(context);
  return section(
    "What costs most",
    side === "device" &&
      table.rows.some((_, row) => COMMUNICATES.test(table.text(row, "name") ?? "")) &&
      legend("compute: Kernels, copies, sets; comm: Communicates, and waits"),
    severalRanks(job)
      ? "The strip spans the ranks’ minimum to maximum; the bar is the median, the dot the rank with the maximum. Each has its own scale, from 0."
      : "Itself: without the time of what it calls.",
    filtered(
      context,
      table,
      { sort: `-${side}_self_ns` },
      [choose, setting(context, "Time", "time", { device: "GPU", host: "host" }, side, "sort")],
      columnsOf(job, table, kind.key, side),
    ),
  );
}

export const operators: View = {
  id: "operators",
  title: "Operators",
  needs: tablesNamed("calls.call kernels.launched"),
  of: tablesNamed("calls.call"),
  shown: (job) => !ofXla(job) || job.rowsOf("calls.call") > 0,
  state: (job) => adviceState(job, "operators"),
  lacks(context) {
    const { kind, table, choose } = chosen(context);
    return table.n === 0 && [heading(`No ${kind.label} were recorded`), h("div.controls", choose), empty(MISSING[kind.key])];
  },
  parts: [
    (context) => {
      const { kind, table, pairs } = chosen(context);
      return [
        heading(...finding(context.job, table, kind, sideOf(context))),
        pairs ? launched(context) : calls(context),
        !pairs && kind.key === "operator" && tellsTensorCores(context.job) && unused(context),
      ];
    },
  ],
};
