/** The two jobs that are compared, and how changes are distinguished from chance. */
import type { ColumnOf, Job, TableName } from "../../data";
import { h, name, type Child } from "../../dom";
import * as f from "../../format";
import { figure, factsList, licences, heading, section } from "../../ui";
import { tablesNamed, type View } from "../../view";

/** Writes a text such as "A 8 ranks, 4 steps · B 8 ranks, 5 steps". */
export function describeSides(job: Job): string {
  const table = job.table("diff.side");
  const steps = (row: number) => (table.num(row, "steps") ? f.count(table.num(row, "steps")!, "whole step") : "no whole step marked");
  return table.all.map((row) => `${table.text(row, "side")}: ${f.count(table.amount(row, "ranks"), "rank")}, ${steps(row)}`).join(" · ");
}

const WAITING: Readonly<Record<string, string>> = {
  none: "no rank",
  event: "most waiting is in a few operations",
  inconclusive: "the traces do not show it",
};

function facts(job: Job, row: number): [string, Child][] {
  const table = job.table("diff.side");
  const straggler = table.num(row, "straggler_rank"),
    word = table.text(row, "straggler");
  const own = (text: string, column: ColumnOf<"diff.side">) => figure(job, text, { table: "diff.side", row, column });
  const step = table.num(row, "step_ns"),
    spread = table.num(row, "step_spread_ns"),
    around = spread !== null && [", three in four within ", own(f.time(spread), "step_spread_ns")],
    none = table.amount(row, "steps") > 0 ? "by kind, below" : `${f.NONE} (no whole step)`;
  return [
    ["Store", name(table.text(row, "store") ?? "")],
    ["Ranks", own(f.grouped(table.amount(row, "ranks")), "ranks")],
    ["Hosts", own(f.grouped(table.amount(row, "hosts")), "hosts")],
    ["Whole steps", own(f.grouped(table.amount(row, "steps")), "steps")],
    ["Median step", step === null ? none : [own(f.time(step), "step_ns"), around]],
    ["Who makes others wait", straggler !== null ? `rank ${straggler}` : (WAITING[word ?? ""] ?? "not known")],
    ["Format", name(table.text(row, "format") ?? f.NONE)],
    ["Devices", name(table.text(row, "devices") ?? f.NONE)],
  ];
}

export function sideCards(job: Job): HTMLElement {
  const table = job.table("diff.side");
  return h(
    "div.sides",
    table.rows.map((_, row) => {
      const side = table.text(row, "side") ?? "";
      return h(
        "section.side",
        h("h2", h("span", { class: `swatch fill-${side.toLowerCase()}` }), ` ${side}${side === "A" ? ", before" : ", after"}`),
        factsList(facts(job, row)),
      );
    }),
  );
}

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
