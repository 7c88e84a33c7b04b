/** Figures of ranks that do the same work, such as those of one pipeline stage. */
import { tableSection } from "../../grid";
import type { Table } from "../../data";
import { empty, heading, note, section } from "../../ui";
import type { View } from "../../view";
import { figureColumns, isChange } from "./figures";
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
  render(root, { job }) {
    const table = job.table("diff.rank");
    root.append(
      heading(
        "Figures by role",
        "Ranks of one role run the same number of collectives of each kind in a step: those of a pipeline stage, for example. A change in only one role is not one of the whole job.",
      ),
    );
    const byRole = table.by("role");
    if (table.n === 0) return void root.append(empty("No rank of A and B can be compared."));
    if (byRole.size === 1) root.append(note("All ranks have one role, so these are the figures of the job."));
    root.append(sidesLegend());
    const all = table.all;
    for (const rows of byRole.values()) {
      const n = rows.filter((row) => isChange(table.text(row, "verdict"))).length;
      root.append(
        section(
          titleOf(table, rows[0]!),
          note(n === 0 ? "Nothing changed beyond noise." : `${n} of ${rows.length} figures changed beyond noise.`),
          pairs(job, table, rows, all),
        ),
      );
    }
    root.append(
      tableSection("The same as a table", null, table, {}, "role; a_ranks: ranks of A; b_ranks: ranks of B", figureColumns(table)),
    );
  },
};
