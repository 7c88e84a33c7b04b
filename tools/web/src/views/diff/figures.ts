/** Labels of the figures in a comparison, and which direction of change is better. */
import type { PlaceName, Table } from "../../data";
import { h } from "../../dom";
import * as f from "../../format";
import { columns, type GridColumn } from "../../grid";
import type { State } from "../../view";

export type Figures = Table<"diff.job" | "diff.rank">;

type Better = "less" | "more" | "neither";

const FIGURES: Readonly<Partial<Record<PlaceName, readonly [string, Better]>>> = {
  "overview.step.step_ns": ["Step time", "less"],
  "overview.step.kernel_ns": ["Of the step: kernels", "less"],
  "overview.step.comm_ns": ["Of the step: communication", "less"],
  "overview.step.memcpy_ns": ["Of the step: copies", "less"],
  "overview.step.memset_ns": ["Of the step: sets", "less"],
  "overview.step.runtime_ns": ["Of the step: calls of the runtime", "less"],
  "overview.step.input_ns": ["Of the step: input", "less"],
  "overview.step.cpu_ns": ["Of the step: other work of the host", "less"],
  "overview.step.other_ns": ["Of the step: nothing recorded", "less"],
  "overview.step.gpu_utilization_pct": ["GPU utilisation", "more"],
  "overview.job.sm_efficiency_pct": ["SM efficiency", "more"],
  "overview.job.occupancy_pct": ["Occupancy", "more"],
  "overview.job.tensor_core_pct": ["Computing on tensor cores", "more"],
  "overlap.step.compute_ns": ["Computing", "less"],
  "overlap.step.comm_ns": ["Communicating", "less"],
  "overlap.step.overlap_ns": ["Communication behind computation", "more"],
  "overlap.step.overlap_pct": ["Communication overlap", "more"],
  "overlap.step.exposed_comm_ns": ["Exposed communication", "less"],
  "overlap.step.idle_ns": ["GPU idle", "less"],
  "overlap.step.wait_ns": ["Waiting in collectives", "less"],
  "overlap.step.transfer_ns": ["Transfer in collectives", "less"],
  "overlap.step.comm_to_compute": ["Communication : compute", "less"],
  "imbalance.step.imbalance_pct": ["Imbalance of computation", "less"],
  "whatif.job.slowdown": ["Slowdown against its peers’ pace", "less"],
  "whatif.step.ideal_ns": ["Step at its peers’ pace", "less"],
  "criticalpath.step.compute_ns": ["Critical path: compute", "neither"],
  "criticalpath.step.copy_ns": ["Critical path: copies", "neither"],
  "criticalpath.step.comm_ns": ["Critical path: communication that joins no ranks", "neither"],
  "criticalpath.step.transfer_ns": ["Critical path: transfer in collectives", "neither"],
  "criticalpath.step.launch_ns": ["Critical path: lags after launches", "neither"],
  "criticalpath.step.gap_ns": ["Critical path: gaps on a stream", "neither"],
  "criticalpath.step.wait_ns": ["Critical path: waits for another stream", "neither"],
  "criticalpath.step.host_ns": ["Critical path: host, between calls", "neither"],
  "criticalpath.step.call_ns": ["Critical path: runtime and driver calls", "neither"],
  "criticalpath.step.sync_ns": ["Critical path: ends of calls that waited for the GPU", "neither"],
  "criticalpath.step.before_ns": ["Critical path: before anything recorded", "neither"],
  "phases.step.forward_ns": ["Forward", "less"],
  "phases.step.backward_ns": ["Backward", "less"],
  "phases.step.optimizer_ns": ["Optimizer", "less"],
  "phases.step.data_ns": ["Loading data", "less"],
  "phases.step.other_ns": ["No known phase", "less"],
  "input.step.stall_ns": ["GPU waiting for input", "less"],
  "memory.device.peak_bytes": ["Peak of allocated memory", "less"],
  "memory.device.peak_reserved_bytes": ["Peak of reserved memory", "less"],
  "memory.device.growth_bytes": ["Growth of memory", "less"],
  "transfers.size.count": ["Copies and sets", "less"],
  "transfers.size.bytes": ["Bytes copied or set", "less"],
  "transfers.allocation.step_calls": ["Allocations in steps", "less"],
  "launches.rank.launches": ["Launches", "neither"],
  "kernels.kernel.calls": ["Kernels run", "neither"],
  "kernels.kernel.short_calls": ["Short kernels run", "less"],
  "job.job.ranks": ["Ranks", "neither"],
  "job.job.hosts": ["Hosts", "neither"],
};

export const labelOf = (figure: string): string => FIGURES[figure as PlaceName]?.[0] ?? figure;

/** Returns the label of a row's figure, followed by the row's kind of steps. */
export function labelOfRow(table: Figures, row: number): string {
  const label = labelOf(table.text(row, "figure") ?? ""),
    kind = table.text(row, "kind");
  return kind === null ? label : `${label}, ${kind}`;
}

/* Returns the step time of A. If there are several kinds of steps, returns the step time of the row's kind. */
function stepOf(table: Figures, row: number, step: number): number {
  const kind = table.text(row, "kind"),
    own = kind === null ? -1 : table.find({ figure: "overview.step.step_ns" satisfies PlaceName, kind });
  return own < 0 ? step : (table.num(own, "a") ?? step);
}

const UNCHANGED = new Set(["same", "unclear", "too few steps"]);

export const isChange = (verdict: string | null): boolean => verdict !== null && !UNCHANGED.has(verdict);

export const isUnjudged = (verdict: string | null): boolean => verdict === "too few steps";

/** Returns the state of a changed figure: worse, better, or neither. */
export function stateOf(figure: string, verdict: string | null): State {
  const better = FIGURES[figure as PlaceName]?.[1] ?? "neither";
  if (better === "neither" || (verdict !== "higher" && verdict !== "lower")) return "note";
  return (verdict === "lower") === (better === "less") ? "good" : "warn";
}

/* Changes of less weight are not shown. weight() says what the unit is. */
const LEAST_WEIGHT = 0.1;

/** Returns a change's weight, by which changes are sorted. Time: % of A's step. Share: percentage points. Others: % of the figure. */
function weight(table: Figures, row: number, step: number): number {
  const change = table.num(row, "change"),
    unit = table.text(row, "unit");
  if (change === null) return 100; // only in A or only in B
  if (unit === "%") return Math.abs(change);
  const whole = stepOf(table, row, step);
  if (unit === "ns" && whole > 0) return (100 * Math.abs(change)) / whole;
  return Math.abs(table.num(row, "change_pct") ?? 100);
}

/* Returns whether a phase takes the whole step in A and in B. No other phase was recorded then, and the step time says the same. */
function isWhole(table: Figures, row: number): boolean {
  const whole = table.find({ figure: "overview.step.step_ns" satisfies PlaceName, kind: table.text(row, "kind") });
  return (
    table.text(row, "figure")!.startsWith("phases.") &&
    (["a", "b"] as const).every((side) => table.num(row, side) === table.num(whole, side))
  );
}

/** Returns the rows for which @p isOf is true (default: changed figures), most important first. Leaves out unimportant ones. */
export const changed = (table: Figures, rows: readonly number[], step: number, isOf = isChange): number[] =>
  rows
    .filter((row) => isOf(table.text(row, "verdict")) && weight(table, row, step) > LEAST_WEIGHT && !isWhole(table, row))
    .sort((x, y) => weight(table, y, step) - weight(table, x, step) || x - y);

export function write(value: number | null, unit: string | null, figure: string): string {
  if (unit === "ns") return f.time(value);
  if (unit === "%") return f.percent(value, 1);
  if (unit === "B") return f.bytes(value, figure.startsWith("memory."));
  return value === null ? f.NONE : f.grouped(value, Number.isInteger(value) ? 0 : f.digitsOf(value));
}

/** Writes a change with its sign. The change of a share is in percentage points. */
export function writeChange(value: number | null, unit: string | null, figure: string): string {
  if (value === null) return f.NONE;
  const size = unit === "%" ? `${f.grouped(Math.abs(value), 1)}${f.SPACE}points` : write(Math.abs(value), unit, figure);
  return signed(value, size);
}

/** Writes a change relative to A, such as "+12.3 %". If B is at least ten times A, writes a factor, such as "991 times". */
export const writePercent = (pct: number): string =>
  pct >= 900 ? `${f.significant(1 + pct / 100)} times` : signed(pct, `${f.grouped(Math.abs(pct), 1)}${f.SPACE}%`);

export const signed = (value: number, size: string): string => (value > 0 ? `+${size}` : value < 0 ? `−${size}` : size);

export function figureColumns<N extends Figures["name"]>(table: Table<N>): GridColumn<N>[] {
  const draw = (column: "a" | "b" | "change" | "noise") => figureCell(table, column);
  return columns(
    table,
    { column: "figure", draw: (row) => h("span", labelOfRow(table, row)) },
    { column: "a", label: "A", draw: draw("a") },
    { column: "b", label: "B", draw: draw("b") },
    { column: "change", draw: draw("change") },
    { column: "noise", draw: draw("noise") },
    "verdict",
  );
}

const figureCell =
  (table: Figures, column: "a" | "b" | "change" | "noise"): ((row: number) => string) =>
  (row) => {
    const of = [table.num(row, column), table.text(row, "unit"), table.text(row, "figure") ?? ""] as const;
    if (column === "a" || column === "b") return write(...of);
    return column === "change" ? writeChange(...of) : writeChange(...of).replace(/^[+]/, "±");
  };
