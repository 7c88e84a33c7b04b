/** The generic charts that a table's definition may name: bars by rank, a map of ranks and steps, lines over time. */
import type { ColumnOf, Table, TableName } from "./data";
import { h, visible } from "./dom";
import * as f from "./format";
import { isMemory } from "./grid";
import { bandOf, lineChart, LINES_MAX } from "./lines";
import { heatMap } from "./map";
import { stacks } from "./stack";

type AnyColumn = ColumnOf<TableName>;

const BARS_MAX = 256;

function write(table: Table, column: AnyColumn, value: number | null): string {
  const unit = table.columns[table.place(column)]!.unit;
  if (unit === "ns") return f.time(value);
  if (unit === "B") return f.bytes(value, isMemory(table, column));
  if (unit === "%") return f.percent(value, 1);
  return value !== null && !Number.isInteger(value) ? `${f.significant(value)}${unit && f.SPACE}${unit}` : f.exact(value, unit);
}

/** Draws the chart that the table's definition names, with the name of the drawn column as heading; null if the definition names none. */
export function drawForm(table: Table): HTMLElement | null {
  const column = table.columns[table.top]?.name ?? null,
    drawn = column && table.n > 0 && table.place("rank") >= 0 ? drawnOf(table, column) : null;
  return drawn && h("section.wide-ends", h("h2", column), drawn);
}

function drawnOf(table: Table, column: AnyColumn): HTMLElement | null {
  if (table.form === "bars")
    return stacks(
      table.rows
        .slice(0, BARS_MAX)
        .map((_, row) => ({ label: `rank ${table.num(row, "rank")}`, values: [Math.max(0, table.amount(row, column))] })),
      { parts: [{ key: "compute", label: column }], end: (_, total) => write(table, column, total) },
    );
  if (table.form === "map" && table.place("step") >= 0) return rankByStep(table, column);
  const time = table.columns.find((each) => each.epoch);
  if (table.form === "line" && time) return overTime(table, column, time.name);
  return null;
}

/* Draws lines over time. Rows with the same values in all key columns except time are one line. */
function overTime(table: Table, column: AnyColumn, time: AnyColumn): HTMLElement {
  const names = table.columns
    .slice(0, table.keys)
    .map((each) => each.name)
    .filter((name) => name !== time);
  const keyOf = (row: number) =>
    names.map((name) => (name === "rank" ? `rank ${table.num(row, name)}` : String(table.cell(row, name)))).join(", ");
  const known = table.all.filter((row) => table.num(row, time) !== null && table.num(row, column) !== null),
    point = (row: number): [number, number] => [table.amount(row, time), table.amount(row, column)],
    all = [...f.groupBy(known, keyOf)].map(([name, rows]) => ({
      name: visible(name),
      points: rows.map(point).sort(([a], [b]) => a - b),
    }));
  const values = table.nums(column),
    unit = table.columns[table.place(column)]!.unit;
  const scale = unit === "ns" ? f.timeUnit(values) : unit === "B" ? f.byteUnit(values, isMemory(table, column)) : { name: unit, factor: 1 };
  return lineChart({
    label: `${table.name} ${column} over time`,
    unit: scale,
    steps: true,
    write: (value) => write(table, column, value),
    lines: all.length > LINES_MAX ? [] : all,
    band: all.length > LINES_MAX ? bandOf(all.map((line) => line.points)) : undefined,
  });
}

function rankByStep(table: Table, column: AnyColumn): HTMLElement {
  const unique = (name: AnyColumn) => table.values(name);
  const ranks = unique("rank"),
    steps = unique("step");
  const rows = new Map(table.rows.map((_, row) => [`${table.num(row, "rank")}/${table.num(row, "step")}`, row]));
  return heatMap({
    label: `${table.name} ${column}`,
    rows: ranks.map((rank) => `rank ${rank}`),
    columns: steps.map((step) => `step ${step}`),
    ramp: "work",
    cell: (r, c) => {
      const row = rows.get(`${ranks[r]}/${steps[c]}`);
      if (row === undefined) return null;
      const value = table.num(row, column);
      return { value, text: write(table, column, value), tip: () => `rank ${ranks[r]}, step ${steps[c]}: ${write(table, column, value)}` };
    },
  });
}
