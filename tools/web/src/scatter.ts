/** Points on two logarithmic axes: bandwidth by size, and rooflines. */
import { longName } from "./cells";
import { drawChart, type Theme } from "./chart";
import type { ColumnOf, Table, TableName } from "./data";
import { type Child, h } from "./dom";
import * as f from "./format";
import { decades, type Axis, type PlotLine } from "./plot";
import { lines } from "./ui";

/** A point, which stands for a row of a table. `shape`: index of its marker. */
export type Spot = Readonly<Record<"row" | "size" | "shape", number> & { at: readonly [number, number]; hollow?: boolean }>;

type Ends = ReturnType<typeof decades>;
type Roof = Omit<PlotLine, "color" | "width" | "dash">;

interface Scatter {
  readonly label: string;
  /** For each axis: its name, a function that writes its ticks, and `also`, values that it must include. */
  readonly axes: Readonly<Record<"x" | "y", Pick<Axis, "name" | "write"> & { readonly also?: readonly number[] }>>;
  readonly color: keyof Theme;
  readonly spots: readonly Spot[];
  readonly chosen?: number | undefined; // the row whose point has a thick edge
  readonly tip: (row: number) => Child;
  readonly click?: ((row: number) => void) | undefined;
  /** Returns the dashed lines. @p x and @p y are the ends of the axes. */
  readonly roofs?: (x: Ends, y: Ends) => readonly Roof[];
}

const power = (value: number) => (value >= 1 ? f.grouped(value) : String(Number(value.toPrecision(1))));

function scatter({ label, axes, color, spots, chosen, tip, click, roofs }: Scatter): HTMLElement {
  const endsOf = (i: 0 | 1, also: readonly number[] = []) => decades([...spots.map(({ at }) => at[i]), ...also]),
    x = endsOf(0, axes.x.also),
    y = endsOf(1, axes.y.also);
  return drawChart({
    label: `${label}; the table has them`,
    height: 330,
    tip: (mark) => tip(spots[mark]!.row),
    ...(click ? { click: (mark: number) => click(spots[mark]!.row) } : {}),
    plot: (theme) => ({
      x: { write: power, ...axes.x, log: true, lines: true, ...x },
      y: { write: power, ...axes.y, log: true, ...y },
      lines: roofs?.(x, y).map((roof) => ({ ...roof, color: theme["ink-2"], width: 1.5, dash: [6, 4] })) ?? [],
      marks: spots.map(({ row, at, size, shape, hollow }) => ({
        at,
        path: PATHS[shape % PATHS.length]!, // the ninth shape is the first one again
        size,
        fill: hollow ? theme.page : theme[color],
        opacity: row === chosen ? 1 : 0.85,
        edge: row === chosen ? theme.ink : hollow ? theme[color] : theme["ink-2"],
        edgeWidth: row === chosen ? 3 : hollow ? 2 : 0.8,
      })),
    }),
  });
}

/* Writes a tick, which is a power of ten, such as "1 kB" or "10 MB". */
function tickBytes(value: number): string {
  const unit = f.byteUnit([value], false);
  return `${f.grouped(value / unit.factor)} ${unit.name}`;
}

/** Draws bandwidth against size. Each spot is at (bytes, GB/s). @p x and @p y are the names of the axes. */
export const bandwidthChart = (of: Omit<Scatter, "axes">, ...[x, y]: readonly [string, string]): HTMLElement =>
  scatter({
    ...of,
    label: `${of.label}: ${f.count(of.spots.length, "point")}`,
    axes: { x: { name: x, write: tickBytes }, y: { name: y } },
  });

export const spotSize = (count: number): number => Math.min(18, 9 + 2 * Math.log10(Math.max(1, count)));

/** The shape of a marker shows what bounds the row's rate. Returns the shape of each row, and a legend of the shapes that occur. */
export function boundShapes(
  table: Table<"kernels.roofline" | "hlo.work">,
  rows: readonly number[],
  words: readonly string[],
): { shape: (row: number) => number; legend: HTMLElement } {
  const shape = (row: number): number => {
    const bound = words.indexOf(table.text(row, "bound") ?? "");
    return bound < 0 ? words.length : bound;
  };
  const shapes = [...new Set(rows.map(shape))].sort((a, b) => a - b),
    keys = shapes.map((n) => ({ shape: n, label: words[n] ? `bound by ${words[n]}` : "bound not known" }));
  return { shape, legend: shapeLegend(keys, "compute") };
}

/** Rows of a table as a roofline: the floating-point rate against the operations per byte. */
interface Roofline<N extends TableName> extends Pick<Scatter, "label" | "chosen" | "click" | "roofs"> {
  readonly table: Table<N>;
  readonly rows: readonly number[];
  readonly name: ColumnOf<N>;
  /** Column of the rate, and the factor that converts it to TFLOP/s. */
  readonly rate: readonly [ColumnOf<N>, number];
  readonly time: ColumnOf<N>;
  /** Returns text for a point's tooltip. It is shown between the name and the coordinates. */
  readonly said: (row: number) => string;
  readonly shape: (row: number) => number;
  readonly hollow?: (row: number) => boolean;
  readonly also?: { readonly x?: readonly number[]; readonly y?: readonly number[] };
}

export function rooflineChart<N extends "kernels.roofline" | "hlo.work" | "efficiency.work">(of: Roofline<N>): HTMLElement {
  const { rows, table, rate, also = {} } = of,
    perByte = (row: number) => table.amount(row, "flop_per_byte" as ColumnOf<N>),
    time = (row: number) => table.amount(row, of.time),
    longest = f.most(rows.map(time));
  return scatter({
    ...of,
    color: "compute",
    axes: { x: { name: "floating-point operations per byte", also: also.x ?? [] }, y: { name: "TFLOP/s", also: also.y ?? [] } },
    tip: (row) =>
      lines(longName(table.text(row, of.name)), of.said(row), `${f.significant(perByte(row))} operations per byte, ${f.time(time(row))}`),
    spots: rows.map((row) => ({
      row,
      at: [perByte(row), table.amount(row, rate[0]) * rate[1]],
      size: 7 + 11 * Math.sqrt(time(row) / longest),
      shape: of.shape(row),
      hollow: of.hollow?.(row) ?? false,
    })),
  });
}

/* SVG paths in a box of 10 by 10. */
const PATHS = [
  "M5 0A5 5 0 1 1 4.99 0Z", // circle
  "M5 0L10 5L5 10L0 5Z", // diamond
  "M0.5 0.5H9.5V9.5H0.5Z", // square
  "M5 0.5L10 9.5H0Z", // triangle
  "M0 0.5H10L5 9.5Z", // triangle, downward
  "M3.4 0H6.6V3.4H10V6.6H6.6V10H3.4V6.6H0V3.4H3.4Z", // plus
  "M0 1L4.5 5L0 9H5.5L10 5L5.5 1Z", // arrow head
  "M5 0L6.5 3.5L10 3.8L7.4 6.2L8.2 10L5 8L1.8 10L2.6 6.2L0 3.8L3.5 3.5Z", // star
] as const;

function drawing(n: number, key: string, hollow: boolean): HTMLElement {
  const clip = { "clip-path": `path("${PATHS[n % PATHS.length]!}")` };
  return h("span", { class: `shape fill-${key}`, style: clip }, hollow && h("span.shape.hole", { style: clip }));
}

/** Makes a legend of shapes and their meanings. @p key: name of the shapes' colour in the style sheet. */
export const shapeLegend = (
  keys: readonly { readonly shape: number; readonly label: string; readonly hollow?: boolean }[],
  key: string,
): HTMLElement =>
  h(
    "ul.legend",
    keys.map(({ shape, label, hollow }) => h("li", drawing(shape, key, hollow ?? false), label)),
  );
