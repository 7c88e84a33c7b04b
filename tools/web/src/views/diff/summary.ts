/** The comparison on one screen: the verdict, the two jobs, what changed and what did not. */
import type { Job, PlaceName, TableName } from "../../data";
import { h } from "../../dom";
import * as f from "../../format";
import { grid } from "../../grid";
import { empty, folded, link, note, prose, section, sign } from "../../ui";
import { tablesNamed, type State, type Tab, type View } from "../../view";
import { tables } from "../tables";
import { changed, figureColumns, isUnjudged, stateOf } from "./figures";
import { kernels, operators } from "./names";
import { pairs, roles, sidesLegend, steps } from "./pairs";
import { about, sideCards } from "./sides";

const STEP: PlaceName = "overview.step.step_ns";

/** Returns the state of B compared with A, by step time. */
function verdictState(job: Job): State {
  const table = job.table("diff.job");
  // one state for the whole job, or one for each kind of steps
  const states = table.all.filter((row) => table.text(row, "figure") === STEP).map((row) => stateOf(STEP, table.text(row, "verdict")));
  return states.includes("warn") ? "bad" : states.includes("good") ? "good" : "note";
}

/* Replaces ASCII spellings, which tmerge uses in terminals. */
const typeset = (text: string | null): string => prose(text).replaceAll(" -> ", " → ");

function title(job: Job): HTMLElement {
  const remarks = job.table("diff.remark");
  return h(
    "header.verdict",
    sign(verdictState(job)),
    h(
      "div",
      h("h1", { tabindex: -1 }, typeset(remarks.text(0, "text"))),
      remarks.rows.length > 1 &&
        h(
          "ul.remarks",
          remarks.rows.slice(1).map((_, i) => h("li", typeset(remarks.text(i + 1, "text")))),
        ),
      link("Step by step", "steps"),
      " ",
      link("Which kernels", "kernels"),
    ),
  );
}

function changes(job: Job): HTMLElement {
  const table = job.table("diff.job"),
    rows = changed(table, table.all, job.table("diff.side").amount(0, "step_ns")),
    judged = !table.all.some((row) => isUnjudged(table.text(row, "verdict")));
  if (rows.length > 0)
    return figures(
      job,
      "What changed beyond noise",
      "Each figure is the median over steps of the mean over ranks. The whisker shows how far B may be from A by chance; a B that ends outside it is a change. The most important is first.",
      rows,
    );
  const none = judged ? "No figure of the job differs by more than its steps vary anyway." : "No figure can be judged.";
  return section("What changed beyond noise", empty(none));
}

function unjudged(job: Job): HTMLElement | null {
  const table = job.table("diff.job"),
    rows = changed(table, table.all, job.table("diff.side").amount(0, "step_ns"), isUnjudged),
    note = "With fewer than 3 whole steps in A or B no change in a time can be distinguished from chance. The largest is first.";
  return rows.length > 0 ? figures(job, "Changed, cannot be judged", note, rows) : null;
}

const figures = (job: Job, title: string, note: string, rows: readonly number[]): HTMLElement =>
  section(title, note, sidesLegend(), pairs(job, job.table("diff.job"), rows));

function rest(job: Job): HTMLElement | null {
  const table = job.table("diff.job");
  const of = (verdict: string) => table.all.filter((row) => table.text(row, "verdict") === verdict);
  const rows = [...of("same"), ...of("unclear")].sort((x, y) => x - y);
  if (rows.length === 0) return null;
  const noise = of("unclear").length;
  return section(
    "What stayed",
    note(
      `${f.count(rows.length, "figure")} of ${f.grouped(table.n)}: `,
      noise > 0 ? `${f.grouped(noise)} differ by no more than chance${noise < rows.length ? ", the others not at all" : ""}. ` : "",
      link("All figures", "tables", { name: "diff.job" satisfies TableName }),
    ),
    folded("Which", grid(table, { rows }, figureColumns(table))),
  );
}

const summary: View = {
  id: "summary",
  title: "Summary",
  needs: tablesNamed("diff.remark diff.side diff.job"),
  state: verdictState,
  parts: [({ job }) => [title(job), sideCards(job), changes(job), unjudged(job), rest(job)]],
};

/** The views of a comparison, in the order of the list. */
export const diffTabs: readonly Tab[] = [
  { group: "", views: [summary] },
  { group: "", views: [steps] },
  { group: "", views: [roles] },
  { group: "", views: [kernels] },
  { group: "", views: [operators] },
  { group: "The data", views: [tables] },
  { group: "The data", views: [about] },
];
