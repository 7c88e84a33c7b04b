/** Pairs of bars for A and B on one scale, with the noise. */
import type { Job } from "../../data";
import { h, type Child } from "../../dom";
import * as f from "../../format";
import { figure, legend, sign, tip, lines } from "../../ui";
import { isChange, labelOfRow, stateOf, write, writeChange, writePercent, type Figures } from "./figures";

export const SIDES = ["a", "b"] as const;
export type Side = (typeof SIDES)[number];

export function sidesLegend(): HTMLElement {
  return legend("a: A, before; b: B, after");
}

/** Draws the bars of A and B, and the noise around the end of A's bar. If B's bar ends outside the noise, the change is real. */
export function pairBars(
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

export function pairHead(title: string, values: readonly string[]): HTMLElement {
  return h(
    "div.pair.head",
    h("span.pair-name", title),
    h("span.pair-bars"),
    values.map((text) => h("span.pair-value", text)),
  );
}

/* Groups figures by their scale. All times share a scale, and so do all shares. Each of the other figures has its own scale. */
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

function largest(table: Figures, rows: readonly number[]): number {
  return Math.max(0, ...rows.flatMap((row) => SIDES.map((side) => table.amount(row, side) + table.amount(row, "noise"))));
}

/** Draws figures as pairs of bars, in row order. @p scaleRows: all rows that share the scale. */
export function pairs(job: Job, table: Figures, rows: readonly number[], scaleRows: readonly number[] = rows): HTMLElement {
  return h(
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
}

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
