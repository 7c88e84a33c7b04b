/** A roofline: floating-point rate against operations per byte, on logarithmic axes. */
import { lines } from "./ui";
import { longName } from "./cells";
import type { Charts, Theme } from "./chart";
import * as f from "./format";
import { decades, type Mark, type PlotLine } from "./plot";
import { symbolOf } from "./shapes";

const HEIGHT = 340;

type Span = ReturnType<typeof decades>;

/** The points, from rows of a table. */
export interface Points {
  readonly label: string;
  readonly rows: readonly number[];
  readonly name: (row: number) => string | null;
  /** Description of a point, between its name and its coordinates. */
  readonly said: (row: number) => string;
  readonly flopPerByte: (row: number) => number;
  readonly tflops: (row: number) => number;
  readonly time: (row: number) => number;
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

const power = (value: number) => (value >= 1 ? f.grouped(value) : String(Number(value.toPrecision(1))));

/** Draws the chart; the larger a point, the more time it takes. */
export function rooflineChart(charts: Charts, points: Points): HTMLElement {
  const { rows } = points,
    longest = f.most(rows.map(points.time));
  const x = decades([...rows.map(points.flopPerByte), ...(points.alsoX ?? [])]),
    y = decades([...rows.map(points.tflops), ...(points.alsoY ?? [])]);
  return charts.add({
    label: points.label,
    height: HEIGHT,
    ...(points.click ? { click: (mark: number) => points.click?.(rows[mark]!) } : {}),
    tip: (mark) => {
      const row = rows[mark]!;
      return lines(
        longName(points.name(row)),
        points.said(row),
        `${f.significant(points.flopPerByte(row))} operations per byte, ${f.time(points.time(row))}`,
      );
    },
    plot: (theme) => ({
      x: { name: "floating-point operations per byte", log: true, lines: true, write: power, ...x },
      y: { name: "TFLOP/s", log: true, write: power, ...y },
      lines: points.roofs(x, y).map((roof): PlotLine => ({ ...roof, color: theme["ink-2"], width: 1.5, dash: [6, 4] })),
      marks: rows.map(
        (row): Mark => ({
          at: [points.flopPerByte(row), points.tflops(row)],
          path: symbolOf(points.shape(row)),
          size: 7 + 11 * Math.sqrt(points.time(row) / longest),
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
