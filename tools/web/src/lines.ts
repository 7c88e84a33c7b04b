/** Lines over time: some thin, some strong, a band where they are too many, and a limit. */
import { axisStyle, type Charts, type Theme } from "./chart";
import { h, type Child } from "./dom";
import * as f from "./format";

export interface Line {
  readonly name: string;
  /** Time [ns from the job's begin] and value, in order of time. */
  readonly points: readonly (readonly [number, number])[];
  readonly strong?: boolean;
  readonly dashed?: boolean;
}

/** At each time the least, the median and the most of many lines. */
export interface Band {
  readonly times: readonly number[];
  readonly low: readonly number[];
  readonly middle: readonly number[];
  readonly high: readonly number[];
}

export interface LineChartOptions {
  readonly label: string;
  readonly lines: readonly Line[];
  readonly band?: Band | undefined;
  /** A horizontal line with its words. */
  readonly limit?: { readonly value: number; readonly label: string } | undefined;
  readonly unit: f.Unit;
  /** A value holds until the next, instead of changing evenly. */
  readonly steps: boolean;
  readonly write: (value: number) => string;
}

const HEIGHT = 300;
const BUCKETS = 256;

/** Beyond so many lines a band is the better picture. */
export const LINES_MAX = 12;

interface Series {
  readonly [option: string]: unknown;
}

function lineSeries(line: Line, options: LineChartOptions, unit: f.Unit, theme: Theme): Series {
  return {
    type: "line", silent: true, showSymbol: line.points.length === 1, symbolSize: 6, ...(options.steps ? { step: "end" } : {}),
    lineStyle: { color: line.strong ? theme.compute : theme["ink-3"], width: line.strong ? 2 : 1, opacity: line.strong ? 1 : 0.55, type: line.dashed ? "dashed" : "solid" },
    itemStyle: { color: line.strong ? theme.compute : theme["ink-3"] }, z: line.strong ? 4 : 2,
    data: line.points.map(([time, value]) => [time / unit.factor, value / options.unit.factor]),
  };
}

/* The band is the most above the least, stacked on the least, which is not drawn. */
function bandSeries(band: Band, options: LineChartOptions, unit: f.Unit, theme: Theme): Series[] {
  const at = (values: readonly number[]) => band.times.map((time, i) => [time / unit.factor, values[i]! / options.unit.factor]);
  const common = { type: "line", silent: true, showSymbol: false };
  return [
    { ...common, stack: "band", lineStyle: { opacity: 0 }, data: at(band.low), z: 1 },
    { ...common, stack: "band", lineStyle: { opacity: 0 }, areaStyle: { color: theme["ink-3"], opacity: 0.3 }, data: at(band.high.map((v, i) => v - band.low[i]!)), z: 1 },
    { ...common, lineStyle: { color: theme["ink-2"], width: 1.5, type: "dotted" }, data: at(band.middle), z: 3 },
  ];
}

function limitSeries(limit: { value: number; label: string }, from: number, to: number, options: LineChartOptions, theme: Theme): Series {
  const y = limit.value / options.unit.factor;
  return {
    type: "line", silent: true, symbolSize: 0, lineStyle: { color: theme.ink, width: 1.5, type: [8, 4] }, z: 5,
    data: [{ value: [from, y] }, { value: [to, y], label: { show: true, position: "left", distance: 2, offset: [0, -9], align: "right", formatter: () => limit.label, color: theme.ink, fontSize: 12 } }],
  };
}

/** The value of a line at a time: of steps the last before it. */
export function valueAt(points: readonly (readonly [number, number])[], time: number): number | null {
  let low = 0, high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle]![0] <= time) low = middle + 1;
    else high = middle;
  }
  return low > 0 ? points[low - 1]![1] : null;
}

/** Of each bucket of time the most that each line had in it, a value holding until the next; of
 * these the least, the median and the most. */
export function bandOf(lines: readonly (readonly (readonly [number, number])[])[]): Band {
  const from = f.least(lines.map((points) => points[0]?.[0] ?? Infinity));
  const to = f.most(lines.map((points) => points[points.length - 1]?.[0] ?? -Infinity));
  const width = Math.max(1, (to - from) / BUCKETS);
  const columns: number[][] = Array.from({ length: BUCKETS + 1 }, () => []);
  for (const points of lines) {
    if (points.length === 0) continue;
    let at = 0, held = points[0]![1];
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
    low: columns.map((values) => f.least(values)), middle: columns.map((values) => f.median(values) ?? 0), high: columns.map((values) => f.most(values)),
  };
}

/** Draws the lines. */
export function lineChart(charts: Charts, options: LineChartOptions): HTMLElement {
  let from = Infinity, to = -Infinity;
  const widen = (time: number): void => {
    from = Math.min(from, time);
    to = Math.max(to, time);
  };
  for (const line of options.lines) for (const [time] of line.points) widen(time);
  for (const time of options.band?.times ?? []) widen(time);
  const unit = f.timeUnit([from, to]), start = from < (to - from) / 4 ? Math.min(0, from) : from;
  const read = (x: number): Child => {
    const time = x * unit.factor, strong = options.lines.filter((line) => line.strong);
    const shown = strong.length > 0 ? strong : options.lines.slice(0, 8);
    const texts = shown.map((line) => `${line.name}: ${writeAt(line, time)}`);
    if (options.band) {
      const i = Math.max(0, options.band.times.findIndex((t) => t > time) - 1);
      texts.push(`least ${options.write(options.band.low[i]!)}, median ${options.write(options.band.middle[i]!)}, most ${options.write(options.band.high[i]!)}`);
    }
    return [h("b", null, `at ${f.time(time)}`), texts.map((text) => [h("br"), text])];
  };
  const writeAt = (line: Line, time: number): string => {
    const value = valueAt(line.points, time);
    return value === null ? f.NONE : options.write(value);
  };
  return charts.add({
    label: options.label, height: HEIGHT, read,
    option: (theme) => ({
      grid: { left: 58, right: 24, top: 34, bottom: 46 },
      xAxis: { type: "value", min: start / unit.factor, max: to > from ? to / unit.factor : undefined, name: `time from the job’s begin, ${unit.name}`, nameLocation: "middle",
        nameGap: 30, ...axisStyle(theme), splitLine: { show: false },
        axisLabel: { ...axisStyle(theme)["axisLabel"] as object, showMinLabel: start === 0, showMaxLabel: false } },
      yAxis: { type: "value", name: options.unit.name, min: 0, ...axisStyle(theme), nameTextStyle: { color: theme["ink-2"], fontSize: 12, align: "left" } },
      series: [
        ...(options.band ? bandSeries(options.band, options, unit, theme) : []),
        ...options.lines.map((line) => lineSeries(line, options, unit, theme)),
        ...(options.limit ? [limitSeries(options.limit, from / unit.factor, to / unit.factor, options, theme)] : []),
      ],
    }),
  });
}
