/** The tables in the page, in the form in which tmerge writes them. The build makes the module "definitions", which lists all tables and
 * their columns. So a misspelt table or column is a compile error. */
import type { Tables } from "definitions";
import { entry, groupBy, median, sum } from "./format";

export type TableName = keyof Tables;

/** The columns of a table. If N is a union of tables: the columns of any of them. */
export type ColumnOf<N extends TableName> = Tables[N];

export type Place = { [N in TableName]: { readonly table: N; readonly column: ColumnOf<N> } }[TableName];

/** A table and column as one name: "overlap.rank.comm_ns". */
export type PlaceName = { [N in TableName]: `${N}.${ColumnOf<N>}` }[TableName];

/** A sort order: the name of a column, "-name" for largest first, or "" for the table's own order. */
export type Sort<N extends TableName> = ColumnOf<N> | `-${ColumnOf<N>}` | "";

/** A value; null if the table has none. Integers beyond 2^53 are strings of digits. */
export type Cell = number | string | boolean | null;

export interface Column<N extends TableName = TableName> {
  readonly name: ColumnOf<N>;
  readonly type: "int" | "real" | "text" | "bool";
  readonly unit: string;
  readonly doc: string;
  /** true: the column's times in the store count from the epoch. In the page, they count from the job's begin. */
  readonly epoch: boolean;
}

interface RawTable<N extends TableName> {
  doc: string;
  keys: number;
  top: number;
  prose: number;
  form?: Form;
  columns: [ColumnOf<N>, Column["type"], string, string, number][];
  cells?: Cell[][];
  n: number;
  left_out?: number;
  all?: RawWhole;
  block?: string;
}

/** Totals over all rows of a table, if the page has only some of the rows (src/report/top_rows.h). */
interface RawWhole {
  n: number;
  /** For each column: number of values, sum, minimum, median, maximum, number of distinct values. Booleans have only the first two. */
  columns: (readonly number[] | null)[];
  by?: string[];
  /** For each group of rows: its texts in the columns `by`, then its number of rows, then the sum of each column. */
  groups?: (string | null | number | (number | null)[])[][];
}

/** The kind of chart that a table without a view of its own gets. */
export type Form = "bars" | "map" | "line";

/** Facts that are in no table (src/report/facts.c).
 * `ranks`, `steps`: numbers of the job. `ranks_kept`, `steps_kept`: how many of them the page has. `missing`: runs of ranks without a
 * trace, as first and last rank. `cell_ranks`, `cell_steps`: ranks and steps in tables with a row for each rank and step. `served`: name of
 * the store. */
export type Facts = Readonly<
  Record<string, string | number | null | undefined | readonly number[] | readonly (readonly [number, number])[] | readonly Host[]> &
    Partial<Record<"world_size" | "ranks" | "ranks_kept" | "steps" | "steps_kept" | "missing_count" | "host_count", number>> &
    Partial<Record<`step_${"median" | "least" | "most"}_ns`, number> & Record<"cell_ranks" | "cell_steps", readonly number[]>> & {
      served?: string;
      missing?: readonly (readonly [number, number])[];
      hosts?: readonly Host[];
    }
>;

/** A host: name, number of ranks, first rank; sums of compute, idle, wait, and caused wait [ns]; the rank that causes most wait. */
export type Host = readonly [string, number, number, number, number, number, number, number];

type RawPage = Readonly<Record<"version" | "name" | "begin", string> & { kind: "report" | "diff" | "hang"; facts: Facts }> & {
  tables: { [N in TableName]?: RawTable<N> };
};

/** A result table. If N is a union of names, it is any one of these tables. */
export class Table<N extends TableName = TableName> {
  readonly columns: readonly Column<N>[];
  readonly doc: string;
  readonly keys: number;
  readonly top: number;
  readonly prose: number;
  readonly form: Form | undefined;
  readonly leftOut: number; // number of rows that are only in the store
  readonly #whole: RawWhole | undefined;
  readonly #places: ReadonlyMap<string, number>;

  constructor(
    readonly name: N,
    raw: RawTable<N> | undefined,
    readonly rows: Cell[][],
  ) {
    this.columns = (raw?.columns ?? []).map(([name, type, unit, doc, epoch]) => ({ name, type, unit, doc, epoch: epoch === 1 }));
    ({ doc: this.doc = "", keys: this.keys = 0, top: this.top = -1, prose: this.prose = 0, left_out: this.leftOut = 0 } = raw ?? {});
    this.form = raw?.form;
    this.#whole = raw?.all;
    this.#places = new Map(this.columns.map((column, i) => [column.name, i]));
  }

  get n(): number {
    return this.rows.length;
  }

  /** Index of a column, or -1. */
  place(column: ColumnOf<N>): number {
    return this.#places.get(column) ?? -1;
  }

  cell(row: number, column: ColumnOf<N>): Cell {
    return this.rows[row]?.[this.place(column)] ?? null;
  }

  /** A number; null if the value or the row does not exist. */
  num(row: number, column: ColumnOf<N>): number | null {
    const value = this.cell(row, column);
    return typeof value === "number" ? value : null;
  }

  text(row: number, column: ColumnOf<N>): string | null {
    const value = this.cell(row, column);
    return typeof value === "string" ? value : null;
  }

  nums(column: ColumnOf<N>): (number | null)[] {
    return this.rows.map((_, row) => this.num(row, column));
  }

  /** A number; 0 if the value or the row does not exist. */
  amount(row: number, column: ColumnOf<N>): number {
    return this.num(row, column) ?? 0;
  }

  get all(): number[] {
    return [...this.rows.keys()];
  }

  /** Returns rows sorted by one column, in ascending order. With "-name", in descending order. null counts as 0. */
  sorted(sort: Exclude<Sort<N>, "">, rows: readonly number[] = this.all): number[] {
    const down = sort.startsWith("-"),
      column = (down ? sort.slice(1) : sort) as ColumnOf<N>;
    return [...rows].sort((a, b) => (this.amount(a, column) - this.amount(b, column)) * (down ? -1 : 1));
  }

  docOf(column: ColumnOf<N>): string {
    return this.columns[this.place(column)]?.doc ?? "";
  }

  /** Distinct numbers of a column, in ascending order. */
  values(column: ColumnOf<N>): number[] {
    return [...new Set(ordered(this.nums(column)))];
  }

  /** Row numbers for each value of a column. */
  by(column: ColumnOf<N>): Map<Cell, number[]> {
    return groupBy(this.rows.keys(), (row) => this.cell(row, column));
  }
  #of(column: ColumnOf<N>, what: number): number | null {
    return this.#whole?.columns[this.place(column)]?.[what] ?? null;
  }

  /** Number of rows with a value; for a boolean column, number of rows that are true. */
  known(column: ColumnOf<N>): number {
    const flags = this.columns[this.place(column)]?.type === "bool";
    if (this.#whole) return this.#of(column, flags ? 1 : 0) ?? 0;
    return this.rows.filter((_, row) => (flags ? this.cell(row, column) === true : this.cell(row, column) !== null)).length;
  }
  sum(column: ColumnOf<N>): number {
    return this.#whole ? (this.#of(column, 1) ?? 0) : sum(this.nums(column));
  }
  least(column: ColumnOf<N>): number | null {
    return this.#whole ? this.#of(column, 2) : (ordered(this.nums(column))[0] ?? null);
  }
  median(column: ColumnOf<N>): number | null {
    return this.#whole ? this.#of(column, 3) : median(this.nums(column).filter((value) => value !== null));
  }
  most(column: ColumnOf<N>): number | null {
    return this.#whole ? this.#of(column, 4) : (ordered(this.nums(column)).pop() ?? null);
  }
  different(column: ColumnOf<N>): number {
    return this.#whole ? (this.#of(column, 5) ?? 0) : new Set(this.nums(column)).size;
  }

  /** Groups the rows by their texts in these columns. A group has its number of rows, and functions for its sum of a column. */
  groups(by: readonly ColumnOf<N>[]) {
    const whole = this.#whole?.by,
      isWhole = whole !== undefined && by.every((column) => whole.includes(column)),
      ofPage = () => this.rows.map((row, at) => ({ texts: by.map((column) => this.text(at, column)), n: 1, cells: row })),
      ofAll = () =>
        (this.#whole?.groups ?? []).map((row) => {
          const texts = by.map((column) => row[whole!.indexOf(column)] as string | null);
          return { texts, n: row[whole!.length] as number, cells: row[whole!.length + 1] as (number | null)[] };
        });
    return [...groupBy(isWhole ? ofAll() : ofPage(), ({ texts }) => JSON.stringify(texts)).values()].map((own) => {
      const of = (column: ColumnOf<TableName>) =>
        own.map(({ cells }) => cells[this.#places.get(column) ?? -1]).filter((cell) => typeof cell === "number");
      return {
        texts: own[0]!.texts,
        n: sum(own.map(({ n }) => n)),
        sum: (column: ColumnOf<TableName>) => sum(of(column)),
        has: (column: ColumnOf<TableName>) => of(column).length > 0,
      };
    });
  }

  /** Index of the first row with these values; -1 if there is none. */
  find(wanted: Readonly<Partial<Record<ColumnOf<N>, Cell>>>): number {
    const parts = Object.entries(wanted) as [ColumnOf<N>, Cell][];
    return this.rows.findIndex((_, row) => parts.every(([column, value]) => this.cell(row, column) === value));
  }
}

function ordered(values: readonly (number | null)[]): number[] {
  return values.filter((value) => value !== null).sort((a, b) => a - b);
}

/** Converts a list of columns, the form in the page, to a list of rows. */
export function rowsOf(columns: readonly Cell[][]): Cell[][] {
  return (columns[0] ?? []).map((_, row) => columns.map((cells) => cells[row]!));
}

/** Returns the table in a server's answer to a query. If `more` is true, the answer has only the first rows. */
export function tableFrom(text: string) {
  const raw = JSON.parse(text) as RawTable<TableName> & { cells: Cell[][]; more?: boolean };
  return { table: new Table<TableName>("query" as TableName, raw, rowsOf(raw.cells)), more: raw.more ?? false };
}

/** Returns the bytes of a data block in the page. Throws if the block is missing or damaged. */
export async function block(id: string): Promise<Uint8Array> {
  await parsed();
  const element = document.getElementById(id);
  if (!element) throw new Error(`the block ${id} is missing`);
  return unpacked(element);
}

/** Decodes an element's content: base64 of a zlib stream. */
export async function unpacked(element: HTMLElement): Promise<Uint8Array> {
  if (typeof DecompressionStream === "undefined") throw new Error("this browser cannot decompress data (it has no DecompressionStream)");
  try {
    const binary = atob(element.textContent.trim());
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    throw new Error(`the block ${element.id} is damaged; the file may have been cut short`);
  }
}

/* Resolves when the document has been parsed. The script starts earlier, because the data blocks come after it in the document. */
function parsed(): Promise<void> {
  if (document.readyState !== "loading") return Promise.resolve();
  return new Promise((done) => {
    document.addEventListener("DOMContentLoaded", () => done(), { once: true });
  });
}

export class Job {
  readonly #raw: RawPage;
  readonly kind: RawPage["kind"];
  readonly version: string;
  readonly name: string;
  readonly begin: bigint | null; // the job's begin [ns since the epoch]; null if no event exists
  readonly facts: Facts; // how the store was made: options, world size and so on
  readonly #tables = new Map<string, Table>();
  readonly #loading = new Map<string, Promise<void>>();

  constructor(text: string) {
    const raw = (this.#raw = JSON.parse(text) as RawPage);
    ({ kind: this.kind, version: this.version, name: this.name, facts: this.facts } = raw);
    this.begin = raw.begin ? BigInt(raw.begin) : null;
    for (const [name, table] of Object.entries(raw.tables) as [TableName, RawTable<TableName>][])
      if (table.cells) this.#tables.set(name, new Table(name, table, rowsOf(table.cells)));
  }

  /** Names of all tables, in the order of the analyses. */
  get names(): TableName[] {
    return Object.keys(this.#raw.tables) as TableName[];
  }
  rowsOf(name: TableName): number {
    return this.#raw.tables[name]?.n ?? 0;
  }
  allRowsOf(name: TableName): number {
    return this.rowsOf(name) + this.leftOut(name);
  }
  leftOut(name: TableName): number {
    return this.#raw.tables[name]?.left_out ?? 0;
  }
  hasKeys(name: TableName, columns: readonly string[]): boolean {
    /* Here, all tables have one type. With a separate type for each table, the compiler would take 6 s. */
    const raw: { keys: number; columns: [string, ...unknown[]][] } | undefined = this.#raw.tables[name];
    const keys = raw?.columns.slice(0, raw.keys).map(([key]) => key) ?? [];
    return columns.every((column) => keys.includes(column));
  }
  docOf(name: TableName): string {
    return this.#raw.tables[name]?.doc ?? "";
  }

  /** Returns a table. It is empty if the store lacks the table, or if the table is not loaded yet. */
  table<N extends TableName>(name: N): Table<N> {
    return (this.#tables.get(name) as Table<N> | undefined) ?? new Table(name, this.#raw.tables[name], []);
  }

  /** The rows of one level of a table. If the page lacks some rows of the table, these are only the rows in the page. */
  level<N extends TableName>(name: N, level: string): Table<N> {
    const raw: RawTable<N> | undefined = this.#raw.tables[name];
    const rows = this.table(name).rows.filter((row) => row[0] === level);
    return new Table(name, raw && { ...raw, all: undefined }, rows);
  }

  keepWhole(name: TableName, rows: Cell[][]): void {
    const raw = this.#raw.tables[name];
    if (!raw) return;
    raw.n = rows.length;
    delete raw.left_out;
    delete raw.all;
    this.#tables.set(name, new Table<TableName>(name, raw as RawTable<TableName>, rows));
  }

  /** Unpacks these tables, if they are large. Resolves when they are loaded. */
  async load(names: readonly TableName[]): Promise<void> {
    await Promise.all(names.map((name) => this.#loadOne(name)));
  }

  #loadOne(name: TableName): Promise<void> {
    const raw = this.#raw.tables[name],
      id = raw?.block;
    if (!id || this.#tables.has(name)) return Promise.resolve();
    return entry(this.#loading, name, async () => {
      const rows = rowsOf(JSON.parse(new TextDecoder().decode(await block(id))) as Cell[][]);
      if (!this.#tables.has(name)) this.#tables.set(name, new Table(name, raw, rows)); // skipped if all rows were fetched meanwhile
    });
  }
}
