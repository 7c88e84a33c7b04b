import type { Table } from "../../data";
import { h, name, type Child } from "../../dom";
import * as f from "../../format";
import { type GridColumn, columns, tableSection } from "../../grid";
import { controls, empty, heading, tip, lines, showAll, chooser } from "../../ui";
import type { Context, View } from "../../view";
import { isChange, isUnjudged, signed, writePercent } from "./figures";
import { sidesLegend } from "./pairs";

const SHOWN = 30;
const VERDICTS = ["slower", "faster", "added", "removed", "more calls", "fewer calls", "differs"] as const;

type Names = Table<"diff.kernel" | "diff.operator">;

/* Returns the times in A and B on the device. If the operator has no device time, returns those on the host. */
function timesOf(table: Names, row: number) {
  const a = table.amount(row, "a_ns"),
    b = table.amount(row, "b_ns");
  if (a !== 0 || b !== 0 || table.place("a_host_ns") < 0) return { a, b, host: false };
  return { a: table.amount(row, "a_host_ns"), b: table.amount(row, "b_host_ns"), host: true };
}

/* Returns whether times are per call, which is the case if A or B has too few steps. */
const isByCall = (table: Names): boolean => table.n > 0 && table.text(0, "per") === "call";

const writeCalls = (value: number): string => f.grouped(value, Number.isInteger(value) ? 0 : f.digitsOf(value));

function calls(table: Names, row: number): string {
  const a = table.amount(row, "a_calls"),
    b = table.amount(row, "b_calls");
  return Math.abs(a - b) < 0.005 ? writeCalls(a) : `${writeCalls(a)} → ${writeCalls(b)}`;
}

/* Draws a change as a bar. It goes to the right in B's colour if B takes more time, and to the left in A's colour if A does. */
function changeRow(
  table: Names,
  row: number,
  scale: number,
  unit: f.Unit,
  digits: { readonly time: number; readonly change: number },
): HTMLElement {
  const { a, b, host } = timesOf(table, row),
    change = b - a,
    noise = table.num(row, "noise_ns");
  const per = isByCall(table) ? "a call" : "a rank in a step",
    percent = (value: number) => `${(50 * Math.min(scale, Math.abs(value))) / scale}%`;
  const text = table.text(row, "name") ?? "",
    verdict = table.text(row, "verdict") ?? "";
  const bar = h(
    "div.change-bar",
    { role: "img", "aria-label": `${verdict}, ${signed(change, f.time(Math.abs(change)))}` },
    h("span", { class: `piece ${change >= 0 ? "fill-b gain" : "fill-a loss"}`, style: { width: percent(change) }, "data-value": change }),
    noise !== null && h("span.whisker", { style: { left: `calc(50% - ${percent(noise)})`, right: `calc(50% - ${percent(noise)})` } }),
  );
  return h(
    "div.change",
    { "data-row": row },
    h("span.change-verdict", verdict),
    h("span.change-name", name(text, 120), host && " (on the host)"),
    tip(bar, () =>
      lines(name(text), `A ${f.time(a)}, B ${f.time(b)}, ${per}`, noise === null ? "noise not known" : `noise ±${f.time(noise)}`),
    ),
    [a, b].map((value) => h("span.pair-value", f.scaled(value, unit, digits.time))),
    h("span.pair-value", signed(change, f.scaled(Math.abs(change), unit, digits.change))),
    h("span.pair-value.calls", calls(table, row)),
  );
}

function changes(context: Context, table: Names, rows: readonly number[]): HTMLElement {
  const times = rows.map((row) => timesOf(table, row));
  const values = times.flatMap(({ a, b }) => [a, b]),
    unit = f.timeUnit(values),
    differences = times.map(({ a, b }) => b - a),
    digits = { time: f.columnDigits(values, unit), change: f.columnDigits(differences, unit) };
  const scale = Math.max(1, ...times.map(({ a, b }) => Math.abs(b - a)));
  const all = context.params.get("all") === "1" || rows.length <= SHOWN;
  return h(
    "div",
    sidesLegend(),
    h(
      "div.change.head",
      h("span.change-verdict"),
      h("span.change-name"),
      h("div.change-bar", h("span.left", "less in B"), h("span.right", "more in B")),
      [`A, ${unit.name}`, `B, ${unit.name}`, `B − A, ${unit.name}`].map((text) => h("span.pair-value", text)),
      h("span.pair-value.calls", "calls"),
    ),
    rows.slice(0, all ? rows.length : SHOWN).map((row) => changeRow(table, row, scale, unit, digits)),
    !all && showAll(context, `Show all ${f.grouped(rows.length)}`),
  );
}

function counts(table: Names): Map<string, number> {
  const own = f.groupBy(table.all, (row) => table.text(row, "verdict"));
  return new Map(VERDICTS.flatMap((verdict) => (own.has(verdict) ? [[verdict as string, own.get(verdict)!.length] as const] : [])));
}

const columnsOf = (table: Names): readonly GridColumn<Names["name"]>[] =>
  columns(
    table,
    table.name === "diff.kernel" ? "name<kernel>" : "name<name>",
    "verdict; a_ns: A; b_ns: B; change_ns: B − A",
    { column: "change_pct", label: "change", write: writePercent },
    "noise_ns: noise",
    { column: "a_calls", label: "calls in A", write: writeCalls },
    { column: "b_calls", label: "calls in B", write: writeCalls },
    "a_mean_ns: mean in A; b_mean_ns: mean in B; a_host_ns: on the host in A; b_host_ns: in B",
    "host_change_ns: change on the host",
  );

function head(context: Context, title: string, table: Names): Child {
  const found = counts(table),
    n = [...found.values()].reduce((sum, each) => sum + each, 0),
    byCall = isByCall(table),
    least = byCall ? "of 2 % or more" : "beyond noise",
    words = [...found].map(([verdict, count]) => `${f.grouped(count)} ${verdict}`).join(", "),
    lead = heading(
      title,
      byCall
        ? "Mean times of a call, because A or B has too few steps; calls of a rank over the whole recording. A bar to the right means that B takes longer, to the left shorter; what may be chance is not known."
        : "Times of a rank in a step. A bar to the right means that B takes longer, to the left shorter; the whisker shows what may be chance.",
    );
  if (table.n === 0) return [lead, empty("Neither A nor B has any.")];
  const isOpen = (row: number) => isUnjudged(table.text(row, "verdict")) && table.num(row, "change_ns") !== 0,
    open = table.all.filter(isOpen).length,
    none =
      open > 0
        ? `${f.grouped(open)} changed, but so few steps cannot show whether by chance.`
        : `None of ${f.grouped(table.n)} changed ${least}.`,
    chosen = context.params.get("verdict") ?? "",
    verdict = found.has(chosen) ? chosen : "all",
    rows = table.all.filter((row) => {
      const own = table.text(row, "verdict");
      return verdict === "all" ? isChange(own) || isOpen(row) : own === verdict;
    }),
    all = [["all", "all changes"], ...[...found.keys()].map((each) => [each, each] as const)] as const;
  return [
    lead,
    n === 0 ? none : `${words}; ${f.grouped(table.n - n)} without a change ${least}.`,
    found.size > 1 && controls(chooser<string>(context, "Show", "verdict", all, verdict, "all")),
    rows.length > 0 && changes(context, table, rows),
    tableSection("All, as a table", null, table, {}, columnsOf(table)),
  ];
}

const view = (id: string, title: string, name: Names["name"]): View => ({
  id,
  title,
  needs: [name],
  parts: [(context) => head(context, title, context.job.table(name))],
});

export const kernels = view("kernels", "Kernels", "diff.kernel");
export const operators = view("operators", "Operators", "diff.operator");
