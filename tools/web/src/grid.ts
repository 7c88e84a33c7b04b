/** A table of values, with units in the headings. The reader can sort and filter it. */
import { inlineBar, longName } from "./cells";
import type { Cell, Column, ColumnOf, Sort, Table, TableName } from "./data";
import { h, name, breakable, fill, cut, keepFocus, shortNames, tellApart, type Child } from "./dom";
import * as f from "./format";
import { kindWord } from "./job";
import { lines, tip, moreButton, note, section } from "./ui";
import { whereOf } from "./where";

export type Write = (value: Cell) => Child;

/** The columns of a table as a text, such as "rank; idle_ns: idle; lost_ns<bar sync>: the GPU lost". Each item is the name of a column, and
 * its heading after ":". A text in <> says how the column is drawn:
 * - `name` or `narrow`: at most two lines of a name from a trace;
 * - `kernel`: the shortened name of a kernel;
 * - `bar COLOUR`: a bar next to the value; `percent COLOUR`: a bar for a value from 0 to 100;
 * - `bytes`, `memory`, `significant` or `flop`: each number with its own unit;
 * - `kind`: the name of a kind of collective;
 * - `spare`: the column is left out on narrow pages.
 * The lint page_is_formatted_and_sound checks the names. An item may also be an object that describes a column, or a list of items. An item
 * that is false is left out. */
export type ColumnItem<N extends TableName> = string | false | GridColumn<N> | readonly (string | false | GridColumn<N>)[];

const WRITERS: Readonly<Record<string, (value: number) => string>> = {
  bytes: f.bytes,
  memory: (value) => f.bytes(value, true),
  significant: f.significant,
  flop: f.flop,
};

function parsed<N extends TableName>(table: Table<N>, text: string): GridColumn<N> {
  const [, column, how = "", label] = /^(\w+)(?:<([^>]*)>)?(?:: (.*))?$/.exec(text)!,
    [word, fill] = how.split(" "),
    write = WRITERS[how];
  return {
    column: column as ColumnOf<N>,
    ...(label === undefined ? {} : { label }),
    ...(word === "name" || word === "narrow" ? { name: word } : {}),
    ...(word === "kernel" ? { name: fill === "narrow" ? fill : "name", kernel: true } : {}),
    ...(word === "bar" ? { bar: () => fill } : {}),
    ...(word === "percent" ? { percent: fill ?? "compute" } : {}),
    ...(write ? { write } : {}),
    ...(how === "kind" ? { draw: (row: number) => kindWord(table.text(row, column as ColumnOf<N>)) } : {}),
    spare: how === "spare",
  };
}

export function columns<N extends TableName>(table: Table<N>, ...items: readonly ColumnItem<N>[]): GridColumn<N>[] {
  const flat = (item: ColumnItem<N>): readonly GridColumn<N>[] =>
    typeof item === "string"
      ? item.split("; ").map((text) => parsed<N>(table, text))
      : item === false
        ? []
        : "column" in item
          ? [item]
          : item.flatMap(flat);
  return items.flatMap(flat).filter(({ column }) => table.place(column) >= 0);
}

export interface GridColumn<N extends TableName = TableName> {
  readonly column: ColumnOf<N>;
  readonly label?: string; // heading; default: the name of the column
  /** Shows at most two lines of a name from a trace, and the whole name on hover. */
  readonly name?: "name" | "narrow";
  readonly kernel?: boolean; // the value is the name of a kernel, and is shortened
  /** Returns the colour of a bar next to the value, or undefined. The largest value of the column fills the bar. */
  readonly bar?: (row: number) => string | undefined;
  readonly percent?: string; // draws a value from 0 to 100 as a bar of this colour
  /** Draws the cell's content. @p write formats a value as the column does by default. */
  readonly draw?: (row: number, write: Write) => Child;
  /** Formats each number with its own unit, so that the heading has none. */
  readonly write?: (value: number) => string;
  readonly after?: (row: number) => Child;
  readonly spare?: boolean; // the column is left out on narrow pages
}

export interface GridOptions<N extends TableName = TableName> {
  readonly label?: string; // label for screen readers; default: the heading above the table
  readonly rows?: readonly number[];
  readonly sort?: Sort<N> | undefined; // "-idle_ns": largest first; default: the order of the table
  /** A filter that the reader types: conditions (where.ts), and text that must occur in at least one column of a row. */
  readonly filter?: string | undefined;
  readonly exact?: boolean; // shows exact integers instead of one unit per column
  readonly first?: number;
  readonly known?: boolean; // leaves out columns that have no value in any shown row
  readonly onSort?: (sort: Sort<N>) => void;
  readonly link?: (row: number) => string | undefined;
  /** Returns whether the row's details are shown next to the table. */
  readonly current?: (row: number) => boolean;
}

const FIRST = 100;
const sorts = new Map<string, string>(); // the reader's sorts that no address has, by table, columns and default sort
const LONG_NAME = 56; // a name up to this length fits in two lines, or next to a few short columns
const NAME_LEAST = 26; // texts up to this length are not broken
const NAME_SHORT = 12; // names up to this length are not broken

/** Returns whether a column has numbers. Integers beyond the precision of a double are stored as texts. */
const isNumeric = (column: Column): boolean => column.type === "int" || column.type === "real";
const amount = (value: Cell): Cell => (typeof value === "string" ? Number(value) : value);

const numbersOf = (values: readonly Cell[]): (number | null)[] =>
  values.map(amount).map((value) => (typeof value === "number" ? value : null));

/** Formats the values of a column, all in one unit and with the same number of decimals. */
export class Writer {
  readonly unit: string;
  readonly factor: number = 1; // one shown unit is this many of the column's own units
  readonly right: boolean;
  readonly #write: (value: Cell) => Child;

  /** @param options.time unit that the table's columns of times share; default: the unit that suits this column */
  constructor(column: Column, values: readonly Cell[], options: { exact: boolean; memory: boolean; time?: f.Unit | undefined }) {
    const exact = (value: Cell) => (typeof value === "boolean" ? exactCell(value) : f.exact(value));
    this.right = isNumeric(column);
    this.unit = column.unit;
    if (!this.right) this.#write = exactCell;
    else if (!options.exact && (column.unit === "ns" || column.unit === "B")) {
      const numbers = numbersOf(values),
        own = () =>
          column.unit === "B" ? f.byteColumnUnit(numbers, options.memory) : f.columnUnits([{ name: column.name, values: numbers }])[0]!,
        unit = (column.unit === "ns" && options.time) || own(),
        digits = f.columnDigits(numbers, unit, column.epoch);
      this.factor = unit.factor;
      this.unit = numbers.some((value) => value) ? unit.name : ""; // if all values are 0, no unit is shown
      this.#write = (value) => f.scaled(Number(value), unit, digits);
    } else if (!options.exact && column.type === "real") {
      const digits = column.unit === "%" ? 1 : 2,
        isSmall = (value: number) => value !== 0 && Math.abs(value) < 0.5 * 10 ** -digits, // such as 0.0005, which must not look like 0
        small = (value: number) =>
          column.unit === "%" && value > 0 && value < 0.005 ? `<${f.SPACE}0.01` : String(Number(value.toPrecision(1)));
      this.#write = (value) => (typeof value !== "number" ? exactCell(value) : isSmall(value) ? small(value) : f.grouped(value, digits));
    } else this.#write = exact;
  }

  write(value: Cell): Child {
    return value === null ? f.NONE : this.#write(value);
  }
}

function exactCell(value: Cell): Child {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return name(value);
  return f.exact(value);
}

export function isMemory(table: Table, column: ColumnOf<TableName>): boolean {
  return table.name.startsWith("memory.") && column.endsWith("bytes");
}

function headingOver(element: HTMLElement): string {
  const before = [...document.querySelectorAll("main :is(h1, h2, h3, h4)")].filter(
    (each) => element.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_PRECEDING,
  );
  return before.pop()?.textContent ?? "Table";
}

export const grid = <N extends TableName>(table: Table<N>, options: GridOptions<N>, ...items: readonly ColumnItem<N>[]): HTMLElement =>
  drawn(table, options, items.length > 0 ? columns(table, ...items) : table.columns.map(({ name: column }) => ({ column })));

export const tableSection = <N extends TableName>(
  title: string,
  about: Child,
  table: Table<N>,
  options: GridOptions<N>,
  ...items: readonly ColumnItem<N>[]
): HTMLElement => section(title, about && note(about), grid(table, options, ...items));

function drawn<N extends TableName>(table: Table<N>, options: GridOptions<N>, all: readonly GridColumn<N>[]): HTMLElement {
  const base = options.rows ?? table.all,
    hasValue = (column: ColumnOf<N>) => base.some((row) => (table.cell(row, column) ?? "") !== ""),
    columns = options.known ? all.filter(({ column }) => hasValue(column)) : all;
  let shown = options.first ?? FIRST;
  const place = [table.name, options.sort, ...all.map(({ column }) => column)].join();
  let sort = ((options.onSort ? undefined : sorts.get(place)) ?? options.sort ?? "") as Sort<N>;
  const box = h("div.grid-box"),
    scroll = h("div.grid-scroll", { tabindex: 0, role: "region", "data-of": table.name });
  /* The label is set later, because headingOver() works only after the element is in the document. */
  queueMicrotask(() => scroll.setAttribute("aria-label", options.label ?? headingOver(scroll)));
  /* Units that suit all rows, also rows that the filter hides. Otherwise, a filter would change the unit in which its own number is
   * read. */
  const units = timeUnits();
  const writers = columns.map(
    ({ column }) =>
      new Writer(
        table.columns[table.place(column)]!,
        base.map((row) => table.cell(row, column)),
        { exact: options.exact ?? false, memory: isMemory(table, column), time: units.get(column) },
      ),
  );
  const where = whereOf(
    table,
    options.filter ?? "",
    columns.flatMap(({ column, label, write }, c) => (label ? [{ column, label, factor: write ? 1 : writers[c]!.factor }] : [])),
  );
  const kept = base.filter(where.takes);

  function draw(): void {
    const rows = sortRows(table, kept, sort);
    const head = h(
      "tr",
      columns.map((column, c) => headCell(column, writers[c]!)),
    );
    const body = rows.slice(0, shown).map((row) =>
      h(
        "tr",
        { "aria-current": options.current?.(row) ? "true" : undefined },
        columns.map((column, c) => bodyCell(column, row, writers[c]!)),
      ),
    );
    columns.forEach(({ kernel }, c) => {
      const cells = body.map((row) => row.children[c]!);
      tellNames(cells, kernel ? shortNames : tellApart);
      alignBars(cells);
    });
    const rest = rows.length - shown;
    keepFocus(
      box,
      () => {
        fill(scroll, h("table.grid", h("thead", head), h("tbody", body)));
        drawBox(rows, rest);
      },
      scroll,
    );
  }

  /* Returns the unit of each time column. Times that are compared share a unit. Columns with points in time have a separate one. */
  function timeUnits(): Map<ColumnOf<N>, f.Unit> {
    const times = columns
      .filter(({ write }) => !write)
      .map(({ column }) => table.columns[table.place(column)]!)
      .filter((definition) => isNumeric(definition) && definition.unit === "ns");
    const shared = times.filter((definition) => !definition.epoch),
      moments = times.filter((definition) => definition.epoch);
    const valuesOf = (definition: Column) => numbersOf(base.map((row) => table.cell(row, definition.name as ColumnOf<N>)));
    const units = f.columnUnits(shared.map((definition) => ({ name: definition.name, values: valuesOf(definition) })));
    return new Map([
      ...shared.map((definition, i) => [definition.name, units[i]!] as const),
      ...moments.map((definition) => [definition.name, f.timeUnit(valuesOf(definition))] as const),
    ]);
  }

  function drawBox(rows: readonly number[], rest: number): void {
    fill(
      box,
      where.wrong !== null && h("p.note.wrong", { role: "status" }, where.wrong, " This part of the filter is ignored."),
      scroll,
      rows.length === 0 &&
        h(
          "p.empty",
          table.n === 0 ? "No rows." : "No row matches the filter. All words and conditions must hold; “a | b” finds rows with either.",
        ),
      rest > 0 &&
        moreButton(`Show more (${f.grouped(rest)} of ${f.grouped(rows.length)} left)`, () => {
          shown += Math.max(FIRST, shown);
          draw();
        }),
    );
  }

  function headCell(column: GridColumn<N>, writer: Writer): HTMLElement {
    const definition = table.columns[table.place(column.column)]!;
    const direction = sort === `-${column.column}` ? "descending" : sort === column.column ? "ascending" : undefined;
    const click = () => {
      sort = direction === "descending" ? column.column : direction === "ascending" ? "" : `-${column.column}`;
      sorts.set(place, sort);
      options.onSort?.(sort);
      draw();
    };
    const button = h(
      "button",
      { "data-name": column.column, click },
      column.label ?? column.column,
      writer.unit && !column.write && !column.percent && h("span.unit", ` ${writer.unit}`),
      h("span.arrow", { "aria-hidden": true }, direction === "descending" ? " ▼" : direction ? " ▲" : ""),
    );
    tip(button, () =>
      lines(`${table.name} ${column.column}`, [definition.doc, definition.epoch ? " Here counted from the job's start." : ""]),
    );
    return h("th", { class: classOf(column, writer), scope: "col", "aria-sort": direction }, button);
  }

  function classOf(column: GridColumn<N>, writer: Writer): string {
    return `${writer.right ? "right" : ""}${column.spare ? " spare" : ""}`;
  }

  function bodyCell(column: GridColumn<N>, row: number, writer: Writer): HTMLElement {
    const value = table.cell(row, column.column);
    const target = column === columns[0] ? options.link?.(row) : undefined;
    const own = column.write && typeof value === "number" ? column.write(value) : null;
    const draw = drawerOf(column);
    const content = draw ? draw(row, (cellValue) => writer.write(cellValue)) : [own ?? writer.write(value), column.after?.(row)];
    const cell = h(
      "td",
      { class: classOf(column, writer), "data-row": row, "data-column": column.column },
      target ? h("a", { href: target }, content) : content,
    );
    const drawn = draw !== undefined && typeof content !== "string"; // drawn content has a fixed width
    if (typeof content === "string" && content.length <= NAME_LEAST) cell.classList.add("whole");
    else if (typeof value === "string" && !drawn && value.length <= NAME_SHORT) cell.classList.add("whole");
    else if (typeof value === "string" && !drawn) cell.style.setProperty("--least", `${Math.min(NAME_LEAST, 1.25 * value.length)}ch`);
    if (typeof value === "number" && !options.exact && table.columns[table.place(column.column)]!.unit === "ns")
      cell.title = f.exact(value, "ns");
    return cell;
  }

  const largest = new Map<ColumnOf<N>, number>();

  /* Returns the function that draws a column's cells; undefined if the cells show only the value. */
  function drawerOf({ column, name: wide, bar, percent, draw }: GridColumn<N>): GridColumn<N>["draw"] {
    const value = (row: number) => table.num(row, column);
    if (wide) return (row) => longName(table.text(row, column), wide === "narrow");
    if (percent) return (row) => inlineBar(value(row), 100, f.percent(value(row), 1), percent);
    if (!bar) return draw;
    if (!largest.has(column)) largest.set(column, f.most([1, ...base.map((row) => table.amount(row, column))]));
    return (row, write) => inlineBar(value(row), largest.get(column)!, write(value(row)), bar(row));
  }

  draw();
  return box;
}

/* Makes the values next to a column's bars equally wide, so that all bars start at the same position. */
function alignBars(cells: readonly Element[]): void {
  const values = cells.map((cell) => cell.querySelector<HTMLElement>(".inline-value")).filter((each) => each !== null),
    longest = f.most(values.map((each) => each.textContent.length));
  for (const each of values) each.style.setProperty("--chars", `${longest}ch`);
}

/* Shortens a column's long names so that different names look different. The whole name is shown on hover. */
function tellNames(cells: readonly Element[], shorten: typeof tellApart): void {
  const names = cells.map((cell) => cell.querySelector<HTMLElement>(".name.long")).filter((each) => each !== null),
    whole = names.map((each) => each.title);
  shorten(whole, LONG_NAME).forEach((text, i) => {
    if (text === cut(whole[i]!, LONG_NAME)) return;
    fill(names[i]!, breakable(text));
    names[i]!.classList.add("reported");
  });
}

/** Sorts rows by one column, with nulls last. If @p sort is "-name", the largest value comes first. */
export function sortRows<N extends TableName>(table: Table<N>, rows: readonly number[], sort: Sort<N>): number[] {
  const down = sort.startsWith("-");
  const column = (down ? sort.slice(1) : sort) as ColumnOf<N>;
  if (table.place(column) < 0) return [...rows];
  const compare = (a: Cell, b: Cell): number => {
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    const order =
      typeof a === "string" || typeof b === "string" ? (String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0) : Number(a) - Number(b);
    return down ? -order : order;
  };
  return [...rows].sort((a, b) => compare(table.cell(a, column), table.cell(b, column)));
}

/** Returns rows as CSV (RFC 4180). If a spreadsheet would evaluate a text as a formula, puts a quote before it. */
export function csvOf(table: Table, rows: readonly number[]): string {
  const names = table.columns.map((column) => column.name);
  return csvText([names, ...rows.map((row) => names.map((name) => table.cell(row, name)))]);
}

export function csvText(lines: readonly (readonly Cell[])[]): string {
  const quote = (text: string) => (/[",\r\n]/.test(text) || text === "" ? `"${text.replace(/"/g, '""')}"` : text);
  const cell = (value: Cell) => (typeof value === "string" ? quote(/^[=+\-@\t\r]/.test(value) ? `'${value}` : value) : String(value ?? ""));
  return lines.map((line) => `${line.map(cell).join(",")}\r\n`).join("");
}

export function download(fileName: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const anchor = h("a", { href: url, download: fileName });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
