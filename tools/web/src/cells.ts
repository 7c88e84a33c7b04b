/** Small drawings in tables and lists: bars, strips over ranks, bands of figures. */
import type { ColumnOf, Job, Place, TableName } from "./data";
import { h, breakable, cut, visible, type Child } from "./dom";
import * as f from "./format";
import { term, tip } from "./ui";

/** Draws a value as a bar, with the number next to it. All bars of a column have the same scale. */
export function inlineBar(value: number | null, most: number, text: Child, fill = "compute"): HTMLElement {
  return h(
    "span.inline",
    h(
      "span.inline-track",
      value !== null &&
        value > 0 &&
        h("span", { class: `piece inline-bar fill-${fill}`, style: { width: `${Math.min(100, (100 * value) / Math.max(most, 1e-9))}%` } }),
    ),
    h("span.inline-value", text),
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

export interface Strip {
  /** Start of a thin line that ends at `to`; null: no line. */
  readonly from: number | null;
  readonly to: number | null;
  readonly middle: number | null;
  /** Position of the outlier, which is drawn as a full mark. */
  readonly far: number | null;
  /** Value at the right edge. */
  readonly scale: number;
  readonly label: string;
  readonly tip: () => Child;
}

/** Draws minimum, median and maximum on a line from 0 to the row's own largest value. */
export function strip(of: Strip): HTMLElement {
  const at = (value: number) => `${(100 * Math.max(0, value)) / Math.max(of.scale, 1e-9)}%`;
  const range = of.from !== null && of.to !== null;
  return tip(
    h(
      "span.strip",
      { role: "img", "aria-label": of.label },
      range && h("span.strip-range", { style: { left: at(of.from), width: `calc(${at(of.to)} - ${at(of.from)})` } }),
      of.middle !== null && h("span.strip-middle", { style: { left: at(of.middle) } }),
      of.far !== null && h("span.strip-far", { style: { left: at(of.far) } }),
    ),
    of.tip,
  );
}

/** Shows a number that the view has summed from a column. Names the column, on hover and for tests.
 * @param of.where conditions on rows, such as "kind=htod, host_memory=pinned" */
export function sumFigure(text: string, of: Place & { readonly where?: string; readonly value: number }): HTMLElement {
  return tip(h("span.figure", { "data-sum": `${of.table} ${of.column}`, "data-where": of.where, "data-value": of.value }, text), () => [
    h("b", `sum of ${of.table} ${of.column}`),
    of.where ? ` where ${of.where}` : "",
    h("br"),
    f.exact(of.value),
  ]);
}

export interface BandFigure {
  readonly label: string;
  readonly doc: string;
  readonly value: Child;
  readonly below?: Child;
}

/** Makes a figure of a band from a column: the median over ranks, and below it the range over ranks. The caller may give another value or
 * text. On hover, shows the column's doc. */
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
  return {
    label,
    doc: of.docOf(column),
    value: value ?? (median === null ? f.NONE : write(median)),
    below: below ?? spread(job, table, column, write),
  };
}

/** Places large figures side by side, as on Summary. */
export function band(figures: readonly BandFigure[]): HTMLElement {
  return h(
    "dl.figures.few",
    figures.map((each) => h("div", h("dt", term(each.label, each.doc)), h("dd.value", each.value), h("dd.below", each.below ?? ""))),
  );
}

/** Writes the range of a column over ranks: "41 % to 63 % by rank". */
export function spread<N extends TableName>(job: Job, table: N, column: ColumnOf<N>, write: (value: number) => string): string {
  const of = job.table(table),
    least = of.least(column),
    most = of.most(column);
  if (of.known(column) < 2 || least === null || most === null) return "";
  const low = write(least),
    high = write(most);
  return low === high ? "the same on all ranks" : `${low} to ${high} by rank`;
}
