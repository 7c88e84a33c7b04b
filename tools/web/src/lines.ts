/** Lines over time: thin and thick lines, a band in place of too many lines, and a limit. */
import { drawChart } from "./chart";
import { h, type Child } from "./dom";
import * as f from "./format";
import { lowest } from "./timeline/lanes";
import type { PlotLine } from "./plot";

/** Time [ns from the job's begin] and value of each point, ascending in time. */
export type Line = Readonly<{ name: string; points: readonly (readonly [number, number])[]; strong?: boolean; dashed?: boolean }>;

interface LineChartOptions {
  readonly label: string;
  readonly lines: readonly Line[];
  readonly band?: ReturnType<typeof bandOf> | undefined;
  readonly limit?: { readonly value: number; readonly label: string } | undefined;
  readonly unit: f.Unit;
  /** true: a value holds until the next one; false: values are interpolated. */
  readonly steps: boolean;
  readonly write: (value: number) => string;
}

const BUCKETS = 256;

export const LINES_MAX = 12; // if there are more lines, they are drawn as a band

/** Returns the lines and the band to draw. The lines @p others are thin or, if there are many, a band. `words` explains which. */
export function amid(chosen: readonly Line[], others: readonly Line[], word: string) {
  const all = [...chosen.slice(0, 1), ...others],
    many = all.length > LINES_MAX;
  return {
    lines: [...(many ? [] : others), ...chosen],
    band: many ? bandOf(all.map(({ points }) => points)) : undefined,
    words: many
      ? `Grey: minimum to maximum of ${f.count(all.length, word)}; dotted: their median. `
      : others.length > 0
        ? `Thin: the other ${word}s. `
        : "",
  };
}

/** Makes the band. First takes the maximum of each line in each time bucket. Then takes their minimum, median and maximum over lines. */
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

export function lineChart({ label, lines, band, limit, unit, steps, write }: LineChartOptions): HTMLElement {
  const ends = [
      ...lines.flatMap(({ points }) => [points[0], points[points.length - 1]].flatMap((point) => point?.[0] ?? [])),
      ...(band?.times ?? []),
    ],
    [from, to] = [f.least(ends), f.most(ends)],
    span = f.timeUnit([from, to]),
    start = from < (to - from) / 4 ? Math.min(0, from) : from,
    strong = lines.filter((line) => line.strong),
    thin = lines.filter((line) => !line.strong),
    at = ([time, value]: readonly [number, number]): [number, number] => [time / span.factor, value / unit.factor];
  const writeAt = ({ name, points }: Line, time: number): string => {
    const after = lowest(points.length, (i) => points[i]![0] > time);
    return `${name}: ${after > 0 ? write(points[after - 1]![1]) : f.NONE}`;
  };
  const read = (x: number): Child => {
    const time = x * span.factor,
      texts = (strong.length > 0 ? strong : lines.slice(0, 8)).map((line) => writeAt(line, time)),
      i = Math.max(0, (band?.times.findIndex((t) => t > time) ?? 0) - 1);
    if (band) texts.push(`least ${write(band.low[i]!)}, median ${write(band.middle[i]!)}, most ${write(band.high[i]!)}`);
    return [h("b", `at ${f.time(time)}`), texts.map((text) => [h("br"), text])];
  };
  const lineOf = ({ points, dashed }: Line, color: string, width: number, opacity: number): PlotLine => {
    return { points: points.map(at), steps, color, width, opacity, ...(dashed ? { dash: [6, 4] } : {}) };
  };
  return drawChart({
    label,
    height: 300,
    read,
    plot: (theme) => {
      const values = [limit?.value ?? 0, ...lines.flatMap(({ points }) => points.map(([, value]) => value)), ...(band?.high ?? [])],
        middle = band?.times.map((time, i) => at([time, band.middle[i]!])),
        area = band?.times.map((time, i) => [...at([time, band.low[i]!]), band.high[i]! / unit.factor] as const),
        edge = limit && [at([from, limit.value]), at([to, limit.value])];
      return {
        x: { name: `time from the job’s start, ${span.name}`, min: start / span.factor, max: Math.max(to, start + 1) / span.factor },
        y: { name: unit.name, min: 0, max: roundUp(f.most(values) / unit.factor) },
        areas: area ? [{ points: area, color: theme["ink-3"], opacity: 0.3 }] : [],
        lines: [
          ...thin.map((line) => lineOf(line, theme["ink-3"], 1, 0.55)),
          ...(middle ? [{ points: middle, color: theme["ink-2"], width: 1.5, dash: [2, 3] }] : []),
          ...strong.map((line) => lineOf(line, theme.compute, 2, 1)),
          ...(edge ? [{ points: edge, color: theme.ink, width: 1.5, dash: [8, 4], label: limit.label }] : []),
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
