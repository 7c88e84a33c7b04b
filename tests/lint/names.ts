/** Wrong names, each an error of the compiler: it says so where one of them is none. */
import { sumFigure } from "../../tools/web/src/cells";
import type { Job } from "../../tools/web/src/data";
import { grid } from "../../tools/web/src/grid";
import { figure } from "../../tools/web/src/ui";
import type { View } from "../../tools/web/src/view";

export function wrong(job: Job): Partial<View> {
  const table = job.table("overlap.rank");
  // @ts-expect-error there is no such table
  job.table("overlap.rnak");
  // @ts-expect-error an internal table is not in the page
  job.table("clock.part");
  // @ts-expect-error another table's column
  table.num(0, "step");
  // @ts-expect-error there is no such column
  table.find({ rnak: 0 });
  // @ts-expect-error another table's column
  grid(table, { columns: [{ column: "rank" }, { column: "step" }] });
  // @ts-expect-error the same as an order
  grid(table, { sort: "-step" });
  // @ts-expect-error another table's column
  figure(job, "", { table: "overlap.rank", row: 0, column: "step" });
  // @ts-expect-error the same of a sum
  sumFigure("", { table: "overlap.rank", column: "step", value: 0 });
  // @ts-expect-error there is no such table
  return { needs: ["overlap.rnak"] };
}
