/** Tables: every table of every analysis, with its definition. */
import type { ColumnOf, Sort, Table, TableName } from "../data";
import { h, fill, visible } from "../dom";
import * as f from "../format";
import { csvOf, download, grid, sortRows, isMemory } from "../grid";
import { leftOutNote, fetchRows, isServed } from "../served";
import { whereOf } from "../where";
import { controls, empty, folded, heading, note, pick, chooser, searchBox, section } from "../ui";
import { href, type Context, type View } from "../view";
import { bandOf, lineChart, LINES_MAX } from "../lines";
import { heatMap } from "../map";
import { stacks } from "../stack";

function chosenTable(context: Context): TableName | null {
  const { job, params } = context;
  const name = (params.get("name") ?? "") as TableName;
  return job.names.includes(name) ? name : null;
}

function index(context: Context): HTMLElement {
  const { job } = context;
  const analyses = f.groupBy(job.names, (name) => name.split(".")[0]!);
  const entry = (name: TableName) => [
    h("dt", h("a", { href: href("tables", { name }) }, name)),
    h("dd", h("b", f.count(job.allRowsOf(name), "row")), ` ${job.docOf(name)}`),
  ];
  return h(
    "div.table-index",
    [...analyses].map(([analysis, names]) => section(analysis, h("dl", names.map(entry)))),
  );
}

function draw(root: HTMLElement, context: Context, name: TableName): void {
  const { job, params } = context;
  const table = job.table(name);
  const exact = params.get("show") === "exact";
  const box = h("div"),
    search = searchBox(context, "filter", "rank > 3 or wait_ns > 2ms", "Filter", drawGrid);
  function drawGrid(): void {
    const sort = params.get("sort") as Sort<TableName> | undefined;
    fill(box, grid(table, { label: name, exact, filter: search.value, sort, onSort: (next) => context.set({ sort: next || null }) }));
  }
  root.append(
    controls(
      h("label.select", h("span.label", "Filter"), search),
      chooser(context, "Numbers", "show", { shown: "as shown", exact: "exact" }, exact ? "exact" : "shown"),
      h("button", { click: () => saveCsv(table, search.value, (params.get("sort") ?? "") as Sort<TableName>) }, "Save as CSV"),
    ),
    drawForm(table) ?? "",
    box,
    definitions(table),
  );
  drawGrid();
}

const BUSY = "aria-disabled"; // a button with the attribute "disabled" would lose the focus

/* In a served page, makes a button that loads all rows. */
function rest(context: Context, name: TableName): HTMLElement {
  const { job } = context,
    said = h("span", { role: "status" }),
    button = h("button", { click: fetchAll }, `Load all ${f.count(job.allRowsOf(name), "row")}`);
  function fetchAll(): void {
    if (button.hasAttribute(BUSY)) return;
    button.setAttribute(BUSY, "true");
    fetchRows(job, name, (n) => (said.textContent = ` ${f.grouped(n)} of ${f.grouped(job.allRowsOf(name))} …`)).then(
      () => button.isConnected && context.redraw({}),
      (error: Error) => {
        button.removeAttribute(BUSY);
        said.textContent = ` The rows cannot be loaded: ${error.message}.`;
      },
    );
  }
  return h("p.note", button, said);
}

function saveCsv(table: Table, filter: string, sort: Sort<TableName>): void {
  const rows = table.all.filter(whereOf(table, filter).takes);
  download(`${table.name}.csv`, "text/csv", csvOf(table, sortRows(table, rows, sort)));
}

const definitions = (table: Table): HTMLElement =>
  folded(
    "What the columns mean",
    h(
      "dl",
      table.columns.map((column) => [
        h("dt", column.name, column.unit && h("span.unit", ` ${column.unit}`)),
        h("dd", column.doc, column.epoch ? " Here counted from the job’s start." : ""),
      ]),
    ),
  );

type AnyColumn = ColumnOf<TableName>;

const BARS_MAX = 256;

function write(table: Table, column: AnyColumn, value: number | null): string {
  const unit = table.columns[table.place(column)]!.unit;
  if (unit === "ns") return f.time(value);
  if (unit === "B") return f.bytes(value, isMemory(table, column));
  if (unit === "%") return f.percent(value, 1);
  return value !== null && !Number.isInteger(value) ? `${f.significant(value)}${unit && f.SPACE}${unit}` : f.exact(value, unit);
}

/** Draws the chart that the table's definition names; null if it names none. The heading is the drawn column's name. */
function drawForm(table: Table): HTMLElement | null {
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

/* Draws lines over time. A line consists of the rows that have the same values in all key columns except time. */
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

export const tables: View = {
  id: "tables",
  title: "Tables",
  needs: [],
  render(root, context) {
    const { job } = context;
    const name = chosenTable(context);
    root.append(heading("Tables", "Every result, with its definition. A heading sorts; the filter takes conditions on columns, or text."));
    if (name === null) return void root.append(index(context));
    root.append(
      controls(
        h("a.go", { href: href("tables") }, "All tables"),
        pick(context, "Table", "name", job.names, (each) => `${each} (${f.grouped(job.allRowsOf(each))})`, name, "sort", "filter", "show"),
      ),
      note(job.docOf(name)),
    );
    const left = leftOutNote(job, [name]),
      box = h("div");
    root.append(left ?? "", left && isServed(job) ? rest(context, name) : "", box);
    if (job.rowsOf(name) === 0) return void box.append(empty("This job has no rows in it."), definitions(job.table(name)));
    job.load([name]).then(
      () => box.isConnected && draw(box, context, name),
      (error: Error) => fill(box, empty(`This table cannot be shown: ${error.message}.`)),
    );
  },
};
