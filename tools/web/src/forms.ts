/** The generic charts that an analysis may name for its table: bars by rank, a map of ranks and
 * steps, lines over time. */
import type { Job, Table } from "./data";
import * as f from "./format";
import { heatMap } from "./map";
import { stacks } from "./stack";

const BARS_MAX = 256;

/** The column that the table is ranked by, which its chart is of; null where it has none. */
function measure(table: Table): string | null {
  return table.columns[table.top]?.name ?? null;
}

function write(table: Table, column: string, value: number | null): string {
  const unit = table.columns[table.place(column)]!.unit;
  return unit === "ns" ? f.time(value) : unit === "B" ? f.bytes(value) : unit === "%" ? f.percent(value, 1) : f.exact(value, unit);
}

/** Draws the chart that the table's definition names; null where it names none. */
export function drawForm(job: Job, table: Table): HTMLElement | null {
  void job;
  const column = measure(table);
  if (!column || table.n === 0 || table.place("rank") < 0) return null;
  if (table.form === "bars")
    return stacks(table.rows.slice(0, BARS_MAX).map((_, row) => ({ label: `rank ${table.num(row, "rank")}`, values: [Math.max(0, table.num(row, column) ?? 0)] })),
      { parts: [{ key: "compute", label: column }], end: (_, total) => write(table, column, total) });
  if (table.form === "map" && table.place("step") >= 0) return rankByStep(table, column);
  return null;
}

function rankByStep(table: Table, column: string): HTMLElement {
  const unique = (name: string) => [...new Set(table.nums(name))].filter((v): v is number => v !== null).sort((a, b) => a - b);
  const ranks = unique("rank"), steps = unique("step");
  const rows = new Map(table.rows.map((_, row) => [`${table.num(row, "rank")}/${table.num(row, "step")}`, row]));
  return heatMap({
    label: `${table.name} ${column}`, rows: ranks.map((rank) => `rank ${rank}`), columns: steps.map((step) => `step ${step}`), ramp: "work",
    cell: (r, c) => {
      const row = rows.get(`${ranks[r]}/${steps[c]}`);
      if (row === undefined) return null;
      const value = table.num(row, column);
      return { value, text: write(table, column, value), tip: () => `rank ${ranks[r]}, step ${steps[c]}: ${write(table, column, value)}` };
    },
  });
}
