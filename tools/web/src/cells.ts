/** Small drawings in tables and lists: bars, strips with the spread over ranks, bands of figures. */
import type { ColumnOf, Job, Place, TableName } from "./data";
import { h, breakable, cut, visible, type Child } from "./dom";
import * as f from "./format";
import { term, tip } from "./ui";

/** Draws a value as a bar, with its number next to it. A bar for the value @p most fills the width. */
export function inlineBar(value: number | null, most: number, text: Child, fill = "compute"): HTMLElement {
  const share = Math.min(100, (100 * (value ?? 0)) / Math.max(most, 1e-9)),
    bar = value !== null && value > 0 && h("span", { class: `piece inline-bar fill-${fill}`, style: { width: `${share}%` } });
  return h("span.inline", h("span.inline-track", bar), h("span.inline-value", text));
}

/** Draws values as bars of one colour, each followed by words. @param more further CSS class of the rows */
export function barList(
  rows: readonly { readonly label: Child; readonly value: number; readonly text: Child; readonly words: Child }[],
  fill: string,
  more = "",
): HTMLElement {
  const most = f.most([1, ...rows.map(({ value }) => value)]);
  return h(
    "div.reasons",
    { role: "list" },
    rows.map(({ label, value, text, words }) =>
      h(
        "div",
        { class: `reason ${more}`, role: "listitem" },
        h("span.row-label", label),
        inlineBar(value, most, text, fill),
        h("span.note", words),
      ),
    ),
  );
}

/** Shows at most two lines of a name from a trace, and the whole name on hover. @p narrow makes the lines shorter. */
export function longName(text: string | null, narrow = false): Child {
  if (text === null) return f.NONE;
  const shown = visible(text);
  return h(
    "bdi",
    { class: `name long${shown.startsWith("[") ? " shapes" : ""}${narrow ? " narrow" : ""}`, title: cut(shown, 2000) },
    breakable(cut(shown, 200)),
  );
}

/** Draws a line from `from` to `to`, a mark at `middle` and one at `far`, on a scale from 0 to @p scale. Values that are null are not
 * drawn. */
export function strip(
  [from, to, middle, far]: readonly [...range: [number | null, number | null], middle: number | null, far: number | null],
  scale: number,
  label: string,
  content: () => Child,
): HTMLElement {
  const at = (value: number) => `${(100 * Math.max(0, value)) / Math.max(scale, 1e-9)}%`;
  return tip(
    h(
      "span.strip",
      { role: "img", "aria-label": label },
      from !== null && to !== null && h("span.strip-range", { style: { left: at(from), width: `calc(${at(to)} - ${at(from)})` } }),
      middle !== null && h("span.strip-middle", { style: { left: at(middle) } }),
      far !== null && h("span.strip-far", { style: { left: at(far) } }),
    ),
    content,
  );
}

/** Shows the sum of a column. Tests recompute it from the column and from @p of.where, such as "kind=htod, host_memory=pinned". */
export const sumFigure = (text: string, of: Place & { readonly where?: string; readonly value: number }): HTMLElement =>
  tip(h("span.figure", { "data-sum": `${of.table} ${of.column}`, "data-where": of.where, "data-value": of.value }, text), () => [
    h("b", `sum of ${of.table} ${of.column}`),
    of.where ? ` where ${of.where}` : "",
    h("br"),
    f.exact(of.value),
  ]);

/** A figure of a band. `doc`: what the value measures. `below`: text below the value. */
export type BandFigure = readonly [label: string, doc: string, value: Child, below?: Child];

/** Makes a figure of a band from a column. Unless the caller gives other values, shows the median over ranks, and the range below it. */
export function tile<N extends TableName>(
  job: Job,
  table: N,
  column: ColumnOf<N>,
  label: string,
  write: (value: number) => string,
  { value, below }: { readonly value?: Child; readonly below?: Child } = {},
): BandFigure {
  const of = job.table(table),
    median = of.median(column);
  return [label, of.docOf(column), value ?? (median === null ? f.NONE : write(median)), below ?? spread(job, table, column, write)];
}

export const band = (figures: readonly BandFigure[]): HTMLElement =>
  h(
    "dl.figures.few",
    figures.map(([label, doc, value, below]) => h("div", h("dt", term(label, doc)), h("dd.value", value), h("dd.below", below ?? ""))),
  );

/** Writes the range of a column over ranks, such as "41 % to 63 % by rank". */
export function spread<N extends TableName>(job: Job, table: N, column: ColumnOf<N>, write: (value: number) => string): string {
  const of = job.table(table),
    least = of.least(column),
    most = of.most(column);
  if (of.known(column) < 2 || least === null || most === null) return "";
  const low = write(least),
    high = write(most);
  return low === high ? "the same on all ranks" : `${low} to ${high} by rank`;
}
