/** A roofline: floating-point rate against operations per byte, on logarithmic axes. */
import { drawChart } from "./chart";
import { lines } from "./ui";
import { longName } from "./cells";
import type { Theme } from "./chart";
import * as f from "./format";
import { decades, type Mark, type PlotLine } from "./plot";
import { shapeLegend, symbolOf } from "./shapes";
import type { Table } from "./data";
import type { ColumnOf, TableName } from "./names";

const HEIGHT = 340;

type Span = ReturnType<typeof decades>;

/** The points: rows of a table, with FLOP for each byte. */
export interface Points<N extends TableName> {
  readonly label: string;
  readonly table: Table<N>;
  readonly rows: readonly number[];
  readonly name: ColumnOf<N>;
  /** Column of the rate, and what makes it TFLOP/s. */
  readonly rate: readonly [ColumnOf<N>, number];
  readonly time: ColumnOf<N>;
  /** Description of a point, between its name and its coordinates. */
  readonly said: (row: number) => string;
  readonly shape: (row: number) => number;
  /** Look of a point, if not the default. */
  readonly look?: (row: number, theme: Theme) => Partial<Mark>;
  /** Further values that the axes must include. */
  readonly alsoX?: readonly number[];
  readonly alsoY?: readonly number[];
  /** Handles a click on a point, given its row. */
  readonly click?: (row: number) => void;
  /** The roof lines, between the ends of the axes. */
  readonly roofs: (x: Span, y: Span) => Omit<PlotLine, "color" | "width" | "dash">[];
}

/** Shapes of rows by what bounds them, and a legend of those there. */
export function boundShapes(
  table: Table<"kernels.roofline" | "hlo.work">,
  rows: readonly number[],
  words: readonly string[],
): { shape: (row: number) => number; legend: HTMLElement } {
  const shape = (row: number): number => {
    const bound = words.indexOf(table.text(row, "bound") ?? "");
    return bound < 0 ? words.length : bound;
  };
  const shapes = [...new Set(rows.map(shape))].sort((a, b) => a - b);
  return {
    shape,
    legend: shapeLegend(
      shapes.map((n) => ({ shape: n, label: words[n] ? `bound by ${words[n]}` : "bound not known" })),
      "compute",
    ),
  };
}

const power = (value: number) => (value >= 1 ? f.grouped(value) : String(Number(value.toPrecision(1))));

/** Draws the chart; the larger a point, the more time it takes. */
export function rooflineChart<N extends "kernels.roofline" | "hlo.work" | "efficiency.work">(points: Points<N>): HTMLElement {
  const { rows, table } = points,
    flopPerByte = (row: number) => table.amount(row, "flop_per_byte" as ColumnOf<N>),
    tflops = (row: number) => table.amount(row, points.rate[0]) * points.rate[1],
    time = (row: number) => table.amount(row, points.time);
  const x = decades([...rows.map(flopPerByte), ...(points.alsoX ?? [])]),
    y = decades([...rows.map(tflops), ...(points.alsoY ?? [])]),
    longest = f.most(rows.map(time));
  return drawChart({
    label: points.label,
    height: HEIGHT,
    ...(points.click ? { click: (mark: number) => points.click?.(rows[mark]!) } : {}),
    tip: (mark) => {
      const row = rows[mark]!;
      return lines(
        longName(table.text(row, points.name)),
        points.said(row),
        `${f.significant(flopPerByte(row))} operations per byte, ${f.time(time(row))}`,
      );
    },
    plot: (theme) => ({
      x: { name: "floating-point operations per byte", log: true, lines: true, write: power, ...x },
      y: { name: "TFLOP/s", log: true, write: power, ...y },
      lines: points.roofs(x, y).map((roof): PlotLine => ({ ...roof, color: theme["ink-2"], width: 1.5, dash: [6, 4] })),
      marks: rows.map(
        (row): Mark => ({
          at: [flopPerByte(row), tflops(row)],
          path: symbolOf(points.shape(row)),
          size: 7 + 11 * Math.sqrt(time(row) / longest),
          fill: theme.compute,
          edge: theme["ink-2"],
          edgeWidth: 0.8,
          opacity: 0.85,
          ...points.look?.(row, theme),
        }),
      ),
    }),
  });
}
