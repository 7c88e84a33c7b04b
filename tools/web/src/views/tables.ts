/** Tables: every table of every analysis, with its definition. */
import type { Sort, Table, TableName } from "../data";
import { h, fill } from "../dom";
import * as f from "../format";
import { csvOf, download, grid, sortRows } from "../grid";
import { drawForm } from "../forms";
import { leftOutNote } from "../left_out";
import { fetchRows, isServed } from "../served";
import { whereOf } from "../where";
import { controls, empty, folded, heading, note, pick, chooser, searchBox, section } from "../ui";
import { href, type Context, type View } from "../view";

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

/* In a served page: makes a button that loads all rows. */
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

function definitions(table: Table): HTMLElement {
  return folded(
    "What the columns mean",
    h(
      "dl",
      table.columns.map((column) => [
        h("dt", column.name, column.unit && h("span.unit", ` ${column.unit}`)),
        h("dd", column.doc, column.epoch ? " Here counted from the job’s start." : ""),
      ]),
    ),
  );
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
