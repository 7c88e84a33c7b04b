/** Sections described as data: a title, a note, what is above a table, and the table. */
import type { Job, Sort, Table, TableName } from "../data";
import { type Child, h, fill } from "../dom";
import { grid, type ColumnItem, type GridOptions } from "../grid";
import { severalRanks } from "../job";
import { empty, heading, note, section, controls, searchBox } from "../ui";
import type { Context, Part } from "../view";

/** The arguments of the functions in a description. `several`: the job has more than one rank. */
export type At<N extends TableName> = Readonly<{ job: Job; context: Context; table: Table<N>; several: boolean }>;

type Of<N extends TableName, T> = T | ((at: At<N>) => T);

interface Described<N extends TableName> {
  readonly level?: string; // the level of the table whose rows are shown; default: all rows
  /** Text in place of an empty table. If it is null, the empty table is shown. If it is not given, the section is left out. */
  readonly none?: Of<N, Child>;
  readonly note?: Of<N, Child>;
  readonly above?: Of<N, Child>; // controls, legends and charts between the note and the table
  /** Controls next to a filter for the rows. If they are not given, the section has no filter. */
  readonly tools?: Of<N, Child>;
  readonly rows?: (at: At<N>) => readonly number[];
  readonly sort?: Of<N, Sort<N>>;
  readonly link?: (row: number, at: At<N>) => string | undefined;
  readonly first?: number;
  readonly known?: boolean;
}

/** Makes a section with a table. @p items: its columns (grid.ts). */
export const part =
  <N extends TableName>(name: N, title: Of<N, string>, of: Described<N>, ...items: readonly Of<N, ColumnItem<N>>[]): Part =>
  (context) => {
    const { job } = context,
      table = of.level === undefined ? job.table(name) : job.level(name, of.level),
      at = { job, context, table, several: severalRanks(job) },
      said = <T>(each: Of<N, T>): T => (typeof each === "function" ? (each as (at: At<N>) => T)(at) : each);
    const { rows = () => table.all, link, note: about, tools, first, known } = of,
      options: GridOptions<N> = {
        rows: rows(at),
        sort: said(of.sort),
        ...(first !== undefined && { first }),
        ...(known && { known }),
        ...(link && { link: (row: number) => link(row, at) }),
      },
      columns = items.map(said),
      text = said(about),
      none = options.rows!.length === 0 && said(of.none);
    if (options.rows!.length === 0 && of.none === undefined) return null;
    if (none) return section(said(title), empty(none));
    return section(
      said(title),
      typeof text === "string" ? text : text && note(text),
      said(of.above),
      tools === undefined ? grid(table, options, ...columns) : filtered(context, table, options, said(tools), ...columns),
    );
  };

/** Makes the content of a view for which nothing was recorded: a heading, and how to record more. */
export const lacking = (title: string, lead: string, advice: string): Child => [heading(title, lead), empty(advice)];

/** Makes a table with a filter. @p tools  further controls; @p items  columns, as for grid() */
export function filtered<N extends TableName>(
  context: Context,
  table: Table<N>,
  options: Omit<GridOptions<N>, "filter" | "onSort">,
  tools: Child,
  ...items: readonly ColumnItem<N>[]
): HTMLElement {
  const box = h("div"),
    search = searchBox(context, "filter", "nvjet calls > 100", undefined, draw),
    sort = () => (context.params.get("sort") as Sort<N> | undefined) ?? options.sort;
  function draw(): void {
    const onSort = (by: Sort<N>) => context.set({ sort: by || null });
    fill(box, grid(table, { first: 30, ...options, filter: search.value, sort: sort(), onSort }, ...items));
  }
  draw();
  return h("div", controls(tools, h("label.select", h("span.label", "Filter"), search)), box);
}
