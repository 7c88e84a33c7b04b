/** Lines over time: thin and strong lines, a band in place of too many lines, and a limit. */
import { drawChart, type Theme } from "./chart";
import { h, type Child } from "./dom";
import * as f from "./format";
import { lowest } from "./timeline/lanes";
import type { PlotArea, PlotLine } from "./plot";

export interface Line {
  readonly name: string;
  /** Time [ns from the job's begin] and value of each point, ascending in time. */
  readonly points: readonly (readonly [number, number])[];
  readonly strong?: boolean;
  readonly dashed?: boolean;
}

type Band = ReturnType<typeof bandOf>;

export interface LineChartOptions {
  readonly label: string;
  readonly lines: readonly Line[];
  /** Time ranges [ns] painted below the lines. */
  readonly areas?: (theme: Theme) => readonly PlotArea[];
  readonly band?: Band | undefined;
  readonly limit?: { readonly value: number; readonly label: string } | undefined;
  readonly unit: f.Unit;
  /** Each value stays the same until the next one; else values are interpolated. */
  readonly steps: boolean;
  readonly write: (value: number) => string;
}

const HEIGHT = 300;
const BUCKETS = 256;

/** More lines than this are drawn as a band. */
export const LINES_MAX = 12;

type Places = readonly (readonly [number, number])[];

function lineOf(line: Line, options: LineChartOptions, unit: f.Unit, theme: Theme): PlotLine {
  return {
    points: scaledPoints(line.points, unit, options.unit),
    steps: options.steps,
    color: line.strong ? theme.compute : theme["ink-3"],
    width: line.strong ? 2 : 1,
    opacity: line.strong ? 1 : 0.55,
    ...(line.dashed ? { dash: [6, 4] } : {}),
  };
}

function scaledPoints(points: Places, x: f.Unit, y: f.Unit): [number, number][] {
  return points.map(([time, value]) => [time / x.factor, value / y.factor]);
}

/* Builds the area from minimum to maximum, and the median line. */
function bandOn(band: Band, options: LineChartOptions, unit: f.Unit, theme: Theme): { area: PlotArea; middle: PlotLine } {
  const y = options.unit.factor;
  return {
    area: {
      points: band.times.map((time, i) => [time / unit.factor, band.low[i]! / y, band.high[i]! / y]),
      color: theme["ink-3"],
      opacity: 0.3,
    },
    middle: {
      points: scaledPoints(
        band.times.map((time, i) => [time, band.middle[i]!]),
        unit,
        options.unit,
      ),
      color: theme["ink-2"],
      width: 1.5,
      dash: [2, 3],
    },
  };
}

/** Returns the value at a time: that of the last point at or before it; null if there is none. */
export function valueAt(points: readonly (readonly [number, number])[], time: number): number | null {
  const after = lowest(points.length, (i) => points[i]![0] > time);
  return after > 0 ? points[after - 1]![1] : null;
}

/** Builds the band. Takes the maximum of each line in each time bucket (a value stays the same until the next one), then the minimum,
 * median and maximum of these over lines. */
export function bandOf(lines: readonly (readonly (readonly [number, number])[])[]) {
  const from = f.least(lines.map((points) => points[0]?.[0] ?? Infinity));
  const to = f.most(lines.map((points) => points[points.length - 1]?.[0] ?? -Infinity));
  const width = Math.max(1, (to - from) / BUCKETS);
  const columns: number[][] = Array.from({ length: BUCKETS + 1 }, () => []);
  for (const points of lines) {
    if (points.length === 0) continue;
    let at = 0,
      held = points[0]![1];
    for (let bucket = 0; bucket <= BUCKETS; bucket++) {
      let top = held;
      for (; at < points.length && points[at]![0] < from + (bucket + 1) * width; at++) {
        held = points[at]![1];
        top = Math.max(top, held);
      }
      columns[bucket]!.push(top);
    }
  }
  return {
    times: columns.map((_, bucket) => from + bucket * width),
    low: columns.map((values) => f.least(values)),
    middle: columns.map((values) => f.median(values) ?? 0),
    high: columns.map((values) => f.most(values)),
  };
}

export function lineChart(options: LineChartOptions): HTMLElement {
  let from = Infinity,
    to = -Infinity;
  const widen = (time: number): void => {
    from = Math.min(from, time);
    to = Math.max(to, time);
  };
  for (const line of options.lines) for (const [time] of line.points) widen(time);
  for (const time of options.band?.times ?? []) widen(time);
  const unit = f.timeUnit([from, to]),
    start = from < (to - from) / 4 ? Math.min(0, from) : from;
  const read = (x: number): Child => {
    const time = x * unit.factor,
      strong = options.lines.filter((line) => line.strong);
    const shown = strong.length > 0 ? strong : options.lines.slice(0, 8);
    const texts = shown.map((line) => `${line.name}: ${writeAt(line, time)}`);
    if (options.band) {
      const i = Math.max(0, options.band.times.findIndex((t) => t > time) - 1);
      texts.push(
        `least ${options.write(options.band.low[i]!)}, median ${options.write(options.band.middle[i]!)}, most ${options.write(options.band.high[i]!)}`,
      );
    }
    return [h("b", `at ${f.time(time)}`), texts.map((text) => [h("br"), text])];
  };
  const writeAt = (line: Line, time: number): string => {
    const value = valueAt(line.points, time);
    return value === null ? f.NONE : options.write(value);
  };
  return drawChart({
    label: options.label,
    height: HEIGHT,
    read,
    plot: (theme) => {
      const band = options.band && bandOn(options.band, options, unit, theme),
        limit = options.limit;
      const top =
        f.most([
          limit?.value ?? 0,
          ...options.lines.flatMap((line) => line.points.map(([, value]) => value)),
          ...(options.band?.high ?? []),
        ]) / options.unit.factor;
      return {
        x: { name: `time from the job’s start, ${unit.name}`, min: start / unit.factor, max: Math.max(to, start + 1) / unit.factor },
        y: { name: options.unit.name, min: 0, max: roundUp(top) },
        areas: [
          ...(options.areas?.(theme) ?? []).map((area) => ({
            ...area,
            points: area.points.map(
              ([time, low, high]) => [time / unit.factor, low / options.unit.factor, high / options.unit.factor] as const,
            ),
          })),
          ...(band ? [band.area] : []),
        ],
        lines: [
          ...options.lines.filter((line) => !line.strong).map((line) => lineOf(line, options, unit, theme)),
          ...(band ? [band.middle] : []),
          ...options.lines.filter((line) => line.strong).map((line) => lineOf(line, options, unit, theme)),
          ...(limit
            ? [
                {
                  points: scaledPoints(
                    [
                      [from, limit.value],
                      [to, limit.value],
                    ],
                    unit,
                    options.unit,
                  ),
                  color: theme.ink,
                  width: 1.5,
                  dash: [8, 4],
                  label: limit.label,
                },
              ]
            : []),
        ],
      };
    },
  });
}

/** Returns the next round value, for the end of an axis. */
export function roundUp(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map((m) => m * power).find((end) => end >= value * (1 + 1e-9)) ?? 12 * power;
}
