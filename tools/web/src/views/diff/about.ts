/** About the comparison: what was compared, and how changes are distinguished from chance. */
import { licences } from "../../licences";
import { h, name } from "../../dom";
import type { ColumnOf, TableName } from "../../names";
import { heading, section } from "../../ui";
import type { View } from "../../view";
import { sideCards } from "./sides";

export const about: View = {
  id: "about",
  title: "About the data",
  needs: ["diff.side", "diff.job", "diff.kernel"],
  render(root, { job }) {
    const doc = <N extends TableName>(table: N, column: ColumnOf<N>) =>
      job.table(table).columns.find((each) => each.name === column)?.doc ?? "";
    root.append(
      heading(
        "About the data",
        "Which stores were compared, and how a change is distinguished from chance. Nothing on this page is loaded from elsewhere.",
      ),
      sideCards(job),
      section(
        "How changes are judged",
        h(
          "dl.facts-list",
          (
            [
              ["A and B of a figure", doc("diff.job", "a")],
              ["Noise", doc("diff.job", "noise")],
              ["Verdict on a figure", doc("diff.job", "verdict")],
              ["Noise of a kernel", doc("diff.kernel", "noise_ns")],
              ["Verdict on a kernel", doc("diff.kernel", "verdict")],
              ["Role of a rank", doc("diff.rank", "role")],
            ] as const
          ).map(([label, text]) => [h("dt", label), h("dd", text)]),
        ),
      ),
      section("Made by", h("dl.facts-list", h("dt", "tmerge"), h("dd", name(job.version)))),
      licences(),
    );
  },
};
