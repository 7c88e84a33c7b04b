/** A table with a filter box; filter and order are stored in the address. */
import type { Sort, Table, TableName } from "../data";
import { h, fill, type Child } from "../dom";
import { grid, type ColumnItem, type GridOptions } from "../grid";
import { controls, searchBox } from "../ui";
import type { Context } from "../view";

/** @p tools  further controls; @p items  columns, as of grid() */
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
