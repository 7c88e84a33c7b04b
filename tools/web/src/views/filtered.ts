/** A table with a filter box. The address has the filter and the order. */
import type { Sort, Table, TableName } from "../data";
import { h, fill, type Child } from "../dom";
import { grid, type ColumnItem, type GridOptions } from "../grid";
import { controls } from "../ui";
import type { Context } from "../view";

/** @p tools further controls; @p items columns, as in grid() */
export function filtered<N extends TableName>(
  context: Context,
  table: Table<N>,
  options: Omit<GridOptions<N>, "filter" | "onSort">,
  tools: Child,
  ...items: readonly ColumnItem<N>[]
): HTMLElement {
  const { params } = context,
    box = h("div");
  const search = h("input", {
    type: "search",
    value: params.get("filter") ?? "",
    placeholder: "nvjet calls > 100",
    spellcheck: false,
    on: {
      input: () => {
        context.set({ filter: search.value || null });
        draw();
      },
    },
  });
  function draw(): void {
    fill(
      box,
      grid(
        table,
        {
          first: 30,
          ...options,
          filter: search.value,
          sort: (params.get("sort") as Sort<N> | undefined) ?? options.sort,
          onSort: (sort) => context.set({ sort: sort || null }),
        },
        ...items,
      ),
    );
  }
  draw();
  return h("div", controls(tools, h("label.select", h("span.label", "Filter"), search)), box);
}
