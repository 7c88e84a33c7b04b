/** Figures of ranks that do the same work, such as those of one pipeline stage. */
import type { Table } from "../../data";
import { empty, heading, section } from "../../ui";
import type { View } from "../../view";
import { figureColumns, isChange } from "./figures";
import { part } from "../part";
import { pairs, sidesLegend } from "./pairs";

function titleOf(table: Table<"diff.rank">, row: number): string {
  const a = table.text(row, "a_ranks"),
    b = table.text(row, "b_ranks");
  const one = (ranks: string | null) => (ranks !== null && /^\d+$/.test(ranks) ? `Rank ${ranks}` : `Ranks ${ranks ?? "none"}`);
  return a === b ? one(a) : `${one(a)} of A, ${one(b).toLowerCase()} of B`;
}

export const roles: View = {
  id: "roles",
  title: "Figures by role",
  needs: ["diff.rank", "diff.side"],
  parts: [
    ({ job }) => {
      const table = job.table("diff.rank"),
        byRole = table.by("role");
      return [
        heading(
          "Figures by role",
          "Ranks of one role run the same number of collectives of each kind in a step: those of a pipeline stage, for example. A change in only one role is not one of the whole job.",
        ),
        byRole.size === 0 && empty("No rank of A and B can be compared."),
        byRole.size === 1 && "All ranks have one role, so these are the figures of the job.",
        byRole.size > 0 && sidesLegend(),
        [...byRole.values()].map((rows) => {
          const n = rows.filter((row) => isChange(table.text(row, "verdict"))).length;
          return section(
            titleOf(table, rows[0]!),
            n === 0 ? "Nothing changed beyond noise." : `${n} of ${rows.length} figures changed beyond noise.`,
            pairs(job, table, rows, table.all),
          );
        }),
      ];
    },
    part("diff.rank", "The same as a table", {}, "role; a_ranks: ranks of A; b_ranks: ranks of B", ({ table }) => figureColumns(table)),
  ],
};
