/** Wrong names, each of which must be a compile error: the compiler reports any that is not. */
import { sumFigure } from "../../tools/web/src/cells";
import type { Job } from "../../tools/web/src/data";
import { grid } from "../../tools/web/src/grid";
import { figure } from "../../tools/web/src/ui";
import type { View } from "../../tools/web/src/view";

export function wrong(job: Job): Partial<View> {
  const table = job.table("overlap.rank");
  // @ts-expect-error no such table
  job.table("overlap.rnak");
  // @ts-expect-error an internal table is not in the page
  job.table("clock.part");
  // @ts-expect-error column of another table
  table.num(0, "step");
  // @ts-expect-error no such column
  table.find({ rnak: 0 });
  // @ts-expect-error column of another table
  grid(table, { columns: [{ column: "rank" }, { column: "step" }] });
  // @ts-expect-error column of another table, as a sort order
  grid(table, { sort: "-step" });
  // @ts-expect-error column of another table
  figure(job, "", { table: "overlap.rank", row: 0, column: "step" });
  // @ts-expect-error column of another table, in a sum
  sumFigure("", { table: "overlap.rank", column: "step", value: 0 });
  // @ts-expect-error no such table
  return { needs: ["overlap.rnak"] };
}
