/** The steps of A and B by index. */
import type { Table } from "../../data";
import { h } from "../../dom";
import * as f from "../../format";
import { empty, heading, section, lines, showAll } from "../../ui";
import type { Context, View } from "../../view";
import { part } from "../part";
import { pairBars, pairHead, sidesLegend } from "./pairs";

const SHOWN = 64;

function labelOf(a: number | null, b: number | null): string {
  return a === b ? `step ${a}` : f.joined(", ", a === null ? "" : `step ${a} of A`, b === null ? "" : `step ${b} of B`);
}

function bar(table: Table<"diff.step">, row: number, scale: number, unit: f.Unit, digits: number): HTMLElement {
  const a = table.num(row, "a_ns"),
    b = table.num(row, "b_ns"),
    change = table.num(row, "change_ns");
  const steps = (["a", "b"] as const)
    .map((side) => [table.num(row, `${side}_step`), side.toUpperCase()] as const)
    .map(([step, side]) => (step === null ? `${side} has none` : `step ${step} of ${side}`));
  return h(
    "div.pair",
    { "data-place": table.num(row, "place") ?? "" },
    h("span.pair-name", labelOf(table.num(row, "a_step"), table.num(row, "b_step"))),
    pairBars({ a, b }, null, scale, `${steps.join(", ")}: A ${f.time(a)}, B ${f.time(b)}`, () =>
      lines(steps.join(", "), `A ${f.time(a)}, B ${f.time(b)}`),
    ),
    [a, b].map((value) => h("span.pair-value", f.scaled(value, unit, digits))),
    h("span.pair-value", change === null ? f.NONE : (change > 0 ? "+" : "") + f.scaled(change, unit, digits)),
  );
}

function bars(context: Context, table: Table<"diff.step">): HTMLElement {
  const values = table.rows.flatMap((_, row) => [table.num(row, "a_ns"), table.num(row, "b_ns")]);
  const unit = f.timeUnit(values),
    digits = f.columnDigits(values, unit);
  const scale = Math.max(1, ...values.map((value) => value ?? 0));
  const all = context.params.get("all") === "1" || table.n <= SHOWN;
  return section(
    "Step time by place",
    sidesLegend(),
    h(
      "div.pairs",
      pairHead("", [`A, ${unit.name}`, `B, ${unit.name}`, `B − A, ${unit.name}`]),
      table.rows.slice(0, all ? table.n : SHOWN).map((_, row) => bar(table, row, scale, unit, digits)),
    ),
    !all && showAll(context, `Show all ${f.grouped(table.n)} places`),
  );
}

export const steps: View = {
  id: "steps",
  title: "Steps",
  needs: ["diff.step", "diff.side"],
  parts: [
    (context) => {
      const table = context.job.table("diff.step"),
        [a, b] = [0, 1].map((row) => context.job.table("diff.side").amount(row, "steps"));
      return [
        heading(
          "Steps",
          "The first step of A next to the first of B, and so on. A difference in all steps is the job’s; one in a single step may be chance. Partly recorded steps are left out.",
        ),
        table.n === 0 && empty("Neither A nor B has a whole step."),
        table.n > 0 && a !== b && `A has ${f.count(a!, "whole step")}, B ${f.grouped(b!)}: the places that one of them lacks stay empty.`,
        table.n > 0 && bars(context, table),
      ];
    },
    part("diff.step", "The same as a table", {}, "place; a_step: step of A; b_step: step of B; a_ns: A; b_ns: B; change_ns: B − A"),
  ],
};
