/** Chart of bandwidth against size, both logarithmic: one point per table row. */
import { drawChart } from "./chart";
import type { Theme } from "./chart";
import type { Child } from "./dom";
import * as f from "./format";
import { symbolOf } from "./shapes";

export interface Spot {
  readonly row: number;
  readonly bytes: number;
  readonly gbps: number;
  readonly count: number;
  /** Index of the marker shape (shapes.ts). */
  readonly shape: number;
  readonly hollow?: boolean;
}

export interface Bandwidth {
  readonly label: string;
  /** Label of the x axis. */
  readonly size: string;
  readonly axis: string;
  readonly color: keyof Theme;
  readonly spots: readonly Spot[];
  readonly chosen?: number | undefined;
  readonly tip: (row: number) => Child;
  readonly click?: (row: number) => void;
}

const HEIGHT = 320;

/* Formats a tick, which is a power of ten: "1 kB", "10 MB". */
function tickBytes(value: number): string {
  const unit = f.byteUnit([value], false);
  return `${f.grouped(value / unit.factor)} ${unit.name}`;
}

function tickRate(value: number): string {
  return value >= 1 ? f.grouped(value) : String(Number(value.toPrecision(1)));
}

function symbolSize(count: number): number {
  return Math.min(18, 9 + 2 * Math.log10(Math.max(1, count)));
}

/* Returns the powers of ten around the values, so that no point is on the frame. */
function decades(values: readonly number[]): { min: number; max: number } {
  const logs = values.map(Math.log10);
  const low = Math.floor(Math.min(...logs)),
    high = Math.ceil(Math.max(...logs));
  return { min: 10 ** low, max: 10 ** (high > low ? high : low + 1) };
}

/** Draws the points; the caller has removed those without a size or bandwidth. */
export function bandwidthChart(chart: Bandwidth): HTMLElement {
  const { spots } = chart;
  return drawChart({
    label: `${chart.label}: ${f.count(spots.length, "point")}; the table below has them`,
    height: HEIGHT,
    tip: (mark) => chart.tip(spots[mark]!.row),
    ...(chart.click ? { click: (mark) => chart.click!(spots[mark]!.row) } : {}),
    plot: (theme) => ({
      x: { name: chart.size, log: true, lines: true, write: tickBytes, ...decades(spots.map((spot) => spot.bytes)) },
      y: { name: chart.axis, log: true, write: tickRate, ...decades(spots.map((spot) => spot.gbps)) },
      marks: spots.map((spot) => ({
        at: [spot.bytes, spot.gbps],
        path: symbolOf(spot.shape),
        size: symbolSize(spot.count),
        fill: spot.hollow ? theme.page : theme[chart.color],
        opacity: spot.row === chart.chosen ? 1 : 0.85,
        edge: spot.row === chart.chosen ? theme.ink : spot.hollow ? theme[chart.color] : theme["ink-2"],
        edgeWidth: spot.row === chart.chosen ? 3 : spot.hollow ? 2 : 0.8,
      })),
    }),
  });
}
