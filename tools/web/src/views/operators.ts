/** Operators: which cost most, on the GPU and on the host, and which rank differs? */
import { inlineBar, strip } from "../cells";
import type { Job, Table } from "../data";
import { h, cut, visible, type Child } from "../dom";
import * as f from "../format";
import { type GridColumn, columns, tableSection } from "../grid";
import { adviceState, ofXla, severalRanks, tellsTensorCores } from "../job";
import { empty, heading, legend, note, section, lines, chooser, setting } from "../ui";
import { tablesNamed, type Context, type View } from "../view";
import { filtered } from "./filtered";

type Calls = Table<"calls.call">;
type Side = "device" | "host";

/* The kinds of calls. Each has advice on what to record, for a store without rows of that kind. */
const KINDS = [
  {
    key: "operator",
    what: "operators",
    label: "operators",
    missing: "Record with ProfilerActivity.CPU among the profiler’s activities: operators are events of the CPU.",
  },
  {
    key: "shape",
    what: "operators",
    label: "operators and shapes",
    missing: "Record with record_shapes=True: then operators are distinguished by the shapes of their inputs.",
  },
  {
    key: "module",
    what: "modules",
    label: "modules",
    missing: "Record with with_modules=True (and with_stack=True): then the profiler names the nn.Module of each call.",
  },
  {
    key: "annotation",
    what: "annotations",
    label: "annotations",
    missing: 'Mark parts of the program with torch.profiler.record_function("name").',
  },
] as const;
type Kind = (typeof KINDS)[number];
const LAUNCHED = "kernel";
const UNUSED_FIRST = 5;
/** Names of calls that communicate. */
export const COMMUNICATES = /^(record_param_comms$|(gloo|mpi|ucc|nccl|rccl):|c10d::)/; // same pattern as for idle.rank host_comm_ns

/* Returns the chosen side, GPU or host. The default is the GPU if there is device time. */
function sideOf(context: Context): Side {
  const wanted = context.params.get("time");
  if (wanted === "device" || wanted === "host") return wanted;
  return hasDevice(context.job) ? "device" : "host";
}

function hasDevice(job: Job): boolean {
  return f.sum(job.level("calls.call", "operator").nums("device_self_ns")) > 0;
}

function rankStrip(table: Calls, row: number, side: Side): Child {
  const value = (column: "min_ns" | "median_ns" | "max_ns" | "max_rank") => table.num(row, `${side}_${column}`);
  if (!value("max_ns")) return f.NONE;
  return strip({
    from: value("min_ns"),
    to: value("max_ns"),
    middle: value("median_ns"),
    far: value("max_ns"),
    scale: Math.max(1, value("max_ns") ?? 0),
    label: `ranks from ${f.time(value("min_ns"))} to ${f.time(value("max_ns"))}, median ${f.time(value("median_ns"))}, most on rank ${value("max_rank")}`,
    tip: () =>
      lines(
        `over ${f.count(table.amount(row, "ranks"), "rank")}`,
        `least ${f.time(value("min_ns"))}, median ${f.time(value("median_ns"))}`,
        `most ${f.time(value("max_ns"))}, rank ${value("max_rank")}`,
      ),
  });
}

function columnsOf(job: Job, table: Calls, kind: string, side: Side): GridColumn<"calls.call">[] {
  const self = `${side}_self_ns` as const,
    most = Math.max(1, ...table.nums(self).map((v) => v ?? 0));
  const other = side === "device" ? "host" : "device";
  const where = (each: string) => (each === "device" ? "GPU" : "host");
  return columns(
    table,
    "name<name>",
    kind === "shape" && "shapes<name>",
    {
      column: self,
      label: `${where(side)}, itself`,
      draw: (row, write) =>
        inlineBar(
          table.num(row, self),
          most,
          write(table.num(row, self)),
          side === "host" ? "host" : COMMUNICATES.test(table.text(row, "name") ?? "") ? "comm" : "compute",
        ),
    },
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

function unused(job: Job): HTMLElement | null {
  const table = job.level("calls.call", "operator");
  const rows = table.all
    .filter(
      (row) =>
        table.cell(row, "tensor_cores_fit") === true && table.num(row, "tensor_total_pct") === 0 && table.amount(row, "device_self_ns") > 0,
    )
    .sort((a, b) => table.amount(b, "device_self_ns") - table.amount(a, "device_self_ns"));
  if (rows.length === 0 || !tellsTensorCores(job)) return null;
  return tableSection(
    "Operators that could use tensor cores and did not",
    "Tensor-core kernels exist for them; mixed precision (torch.autocast), TF32, or sizes that are multiples of 8 enable these.",
    table,
    { rows, first: UNUSED_FIRST },
    "name; device_self_ns: GPU, itself; calls",
    severalRanks(job) && "ranks",
  );
}

function finding(job: Job, table: Calls, kind: Kind, side: Side): [Child, string] {
  const self = `${side}_self_ns` as const,
    rows = table.all.sort((a, b) => table.amount(b, self) - table.amount(a, self)),
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

function launched(context: Context, choose: Child): HTMLElement {
  const { job } = context,
    table = job.level("kernels.launched", "operator");
  return section(
    "Which kernels operators launch",
    note("By the innermost operator whose call put the kernel on its stream."),
    filtered(
      context,
      table,
      {},
      choose,
      "operator<name>; kernel<kernel>",
      { column: "total_ns", label: "GPU", bar: (row) => (COMMUNICATES.test(table.text(row, "operator") ?? "") ? "comm" : "compute") },
      "share_pct: of the operator; calls; mean_ns: mean",
      severalRanks(job) && "ranks; median_rank_ns: median rank; max_rank_ns: max over ranks; max_rank: rank",
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
  render(root, context) {
    const { job, params } = context;
    const kinds = ofXla(job) ? KINDS.filter(({ key }) => job.level("calls.call", key).n > 0) : KINDS;
    const kind = kinds.find((each) => each.key === params.get("by")) ?? KINDS[0];
    const table = job.level("calls.call", kind.key),
      side = sideOf(context);
    const wants = params.get("by") === LAUNCHED && job.rowsOf("kernels.launched") > 0;
    const choose = chooser(
      context,
      "Rows",
      "by",
      [...kinds, { key: LAUNCHED, label: "operators and their kernels" }],
      wants ? LAUNCHED : kind.key,
      "sort",
    );
    if (table.n === 0) return void root.append(heading(`No ${kind.label} were recorded`), h("div.controls", choose), empty(kind.missing));
    root.append(heading(...finding(job, table, kind, side)));
    if (wants) return void root.append(launched(context, choose));
    const list = section(
      "What costs most",
      side === "device" &&
        table.rows.some((_, row) => COMMUNICATES.test(table.text(row, "name") ?? "")) &&
        legend([
          ["compute", "Kernels, copies, sets"],
          ["comm", "Communicates, and waits"],
        ]),
      note(
        severalRanks(job)
          ? "The strip spans the ranks’ minimum to maximum; the bar is the median, the dot the rank with the maximum. Each has its own scale, from 0."
          : "Itself: without the time of what it calls.",
      ),
      filtered(
        context,
        table,
        { sort: `-${side}_self_ns` },
        [choose, setting(context, "Time", "time", { device: "GPU", host: "host" }, side, "sort")],
        columnsOf(job, table, kind.key, side),
      ),
    );
    root.append(list, (kind.key === "operator" && unused(job)) || "");
  },
};
