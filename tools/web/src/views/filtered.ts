/** A table with a filter box; filter and order are stored in the address. */
import type { Table } from "../data";
import { h, fill } from "../dom";
import { grid, type GridOptions } from "../grid";
import type { Sort, TableName } from "../names";
import { controls } from "../ui";
import type { Context } from "../view";

/** @p options  columns etc. of the table, shared with the filter; @p more  further controls. */
export function filtered<N extends TableName>(
  context: Context,
  table: Table<N>,
  options: Omit<GridOptions<N>, "filter" | "onSort">,
  ...more: readonly (Node | null)[]
): HTMLElement {
  const { params } = context,
    box = h("div");
  const search = h("input", {
    attr: {
      type: "search",
      value: params.get("filter") ?? "",
      placeholder: "nvjet calls > 100",
      spellcheck: false,
    },
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
      grid(table, {
        first: 30,
        ...options,
        filter: search.value,
        sort: (params.get("sort") as Sort<N> | undefined) ?? options.sort,
        onSort: (sort) => context.set({ sort: sort || null }),
      }),
    );
  }
  draw();
  return h("div", null, controls(...more, h("label", { class: "select" }, h("span", { class: "label" }, "Filter"), search)), box);
}
