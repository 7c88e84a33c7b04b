/** Pairs of bars for A and B on one scale, with the noise, and two views made of them: figures by role, and steps. */
import type { Job, Table } from "../../data";
import { h, type Child } from "../../dom";
import * as f from "../../format";
import { figure, legend, sign, tip, lines, empty, heading, section, showAll } from "../../ui";
import { isChange, labelOfRow, stateOf, write, writeChange, writePercent, figureColumns, type Figures } from "./figures";
import type { Context, View } from "../../view";
import { part } from "../part";

const SIDES = ["a", "b"] as const;
type Side = (typeof SIDES)[number];

export const sidesLegend = (): HTMLElement => legend("a: A, before; b: B, after");

/** Draws the bars of A and B, and the noise around the end of A's bar. If B's bar ends outside of the noise, the change is real. */
function pairBars(
  values: Readonly<Record<Side, number | null>>,
  noise: number | null,
  scale: number,
  words: string,
  content: () => Child,
): HTMLElement {
  const percent = (value: number) => `${(100 * Math.max(0, Math.min(scale, value))) / (scale || 1)}%`;
  const box = h(
    "div.pair-bars",
    { role: "img", "aria-label": words },
    SIDES.map((side) => {
      const value = values[side];
      if (value === null) return h("span.absent");
      return h("span", { class: `piece fill-${side}`, style: { width: percent(value) }, "data-side": side, "data-value": value });
    }),
  );
  if (noise !== null && values.a !== null)
    box.append(
      h("span.whisker", {
        "data-noise": noise,
        style: { left: percent(values.a - noise), right: `${100 - (100 * Math.min(scale, values.a + noise)) / (scale || 1)}%` },
      }),
    );
  return tip(box, content);
}

const pairHead = (title: string, values: readonly string[]): HTMLElement =>
  h(
    "div.pair.head",
    h("span.pair-name", title),
    h("span.pair-bars"),
    values.map((text) => h("span.pair-value", text)),
  );

/* Groups figures by their scale. All times share one scale, and all shares another. Each other figure has its own. */
function groupsOf(table: Figures, rows: readonly number[]) {
  const of = (unit: string) => rows.filter((row) => table.text(row, "unit") === unit);
  return [
    { title: "Time of a rank in a step", unit: "ns", rows: of("ns") },
    { title: "Shares", unit: "%", rows: of("%") },
    {
      title: "Counts and sizes, each on its own scale",
      unit: null,
      rows: rows.filter((row) => !["ns", "%"].includes(table.text(row, "unit") ?? "")),
    },
  ].filter((group) => group.rows.length > 0);
}

const largest = (table: Figures, rows: readonly number[]): number =>
  Math.max(0, ...rows.flatMap((row) => SIDES.map((side) => table.amount(row, side) + table.amount(row, "noise"))));

/** Draws figures as pairs of bars, in row order. @p scaleRows: all rows that share the scale. */
export const pairs = (job: Job, table: Figures, rows: readonly number[], scaleRows: readonly number[] = rows): HTMLElement =>
  h(
    "div.pairs",
    groupsOf(table, rows).map((group) => {
      const all = scaleRows.filter((row) => table.text(row, "unit") === group.unit);
      const scale = group.unit === null ? null : largest(table, all);
      const unit = group.unit === "ns" ? f.timeUnit(all.flatMap((row) => SIDES.map((side) => table.num(row, side)))) : null;
      const digits = unit ? f.columnDigits([largest(table, all)], unit) : 0;
      const inUnit = unit ? `, ${unit.name}` : group.unit === "%" ? ", %" : "";
      return [
        pairHead(group.title, [`A${inUnit}`, `B${inUnit}`, "change"]),
        group.rows.map((row) =>
          pair(job, table, row, scale ?? largest(table, [row]), (value) =>
            value === null
              ? f.NONE
              : unit
                ? f.scaled(value, unit, digits)
                : group.unit === "%"
                  ? f.grouped(value, 1)
                  : write(value, table.text(row, "unit"), table.text(row, "figure") ?? ""),
          ),
        ),
      ];
    }),
  );

function pair(job: Job, table: Figures, row: number, scale: number, short: (value: number | null) => string): HTMLElement {
  const id = table.text(row, "figure") ?? "",
    unit = table.text(row, "unit"),
    verdict = table.text(row, "verdict"),
    label = labelOfRow(table, row);
  const [a, b, change, noise] = [table.num(row, "a"), table.num(row, "b"), table.num(row, "change"), table.num(row, "noise")];
  const pct = table.num(row, "change_pct");
  const text = (value: number | null) => write(value, unit, id);
  const words = `${label}: A ${text(a)}, B ${text(b)}, ${verdict ?? ""}`;
  const cell = (side: Side, value: number | null) =>
    h("span.pair-value", figure(job, short(value), { table: table.name, row, column: side }));
  const spread = unit === "%" ? `${f.grouped(noise ?? 0, 1)} points` : write(noise, unit, id),
    around = noise === null ? "no noise is known" : `noise ±${spread}: drawn around the end of A`,
    inPercent = unit === "%" || pct === null ? writeChange(change, unit, id) : writePercent(pct);
  return h(
    "div.pair",
    { "data-figure": id },
    h(
      "span.pair-name",
      isChange(verdict) ? sign(stateOf(id, verdict)) : h("span.no-sign"),
      h("span", label, h("small", ` ${verdict ?? ""}`)),
    ),
    pairBars({ a, b }, noise, scale, words, () =>
      lines(id, `A ${text(a)}, B ${text(b)}`, `change ${writeChange(change, unit, id)}`, around),
    ),
    cell("a", a),
    cell("b", b),
    h("span.pair-value", change === 0 ? "0" : inPercent),
  );
}

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

const SHOWN = 64;

const labelOf = (a: number | null, b: number | null): string =>
  a === b ? `step ${a}` : f.joined(", ", a === null ? "" : `step ${a} of A`, b === null ? "" : `step ${b} of B`);

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
