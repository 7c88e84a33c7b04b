/** About the comparison: what was compared, and how changes are distinguished from chance. */
import { licences } from "../../licences";
import { name } from "../../dom";
import type { ColumnOf, TableName } from "../../data";
import { heading, section, factsList } from "../../ui";
import { tablesNamed, type View } from "../../view";
import { sideCards } from "./sides";

export const about: View = {
  id: "about",
  title: "About the data",
  needs: tablesNamed("diff.side diff.job diff.kernel"),
  parts: [
    ({ job }) => {
      const doc = <N extends TableName>(table: N, column: ColumnOf<N>) => job.table(table).docOf(column);
      return [
        heading(
          "About the data",
          "Which stores were compared, and how a change is distinguished from chance. Nothing on this page is loaded from elsewhere.",
        ),
        sideCards(job),
        section(
          "How changes are judged",
          factsList([
            ["A and B of a figure", doc("diff.job", "a")],
            ["Noise", doc("diff.job", "noise")],
            ["Verdict on a figure", doc("diff.job", "verdict")],
            ["Noise of a kernel", doc("diff.kernel", "noise_ns")],
            ["Verdict on a kernel", doc("diff.kernel", "verdict")],
            ["Role of a rank", doc("diff.rank", "role")],
          ]),
        ),
        section("Made by", factsList([["tmerge", name(job.version)]])),
        licences(),
      ];
    },
  ],
};
