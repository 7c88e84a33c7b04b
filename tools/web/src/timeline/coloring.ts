/** Colours of compute kernels and copies by kind, by class, or by slowness. */
import { colours } from "../dom";
import * as f from "../format";
import type { ChartData } from "./chart";
import { COMPUTE, COPIES } from "./model";
import { readable, type Theme } from "./theme";

export type Coloring = "kind" | "class" | "slowness";

export const COLORINGS: readonly (readonly [Coloring, string])[] = [
  ["kind", "by kind"],
  ["class", "by class"],
  ["slowness", "by slowness"],
];

/** A colour and its meaning. The colour is the name of a custom property. */
export type Meaning = readonly [string, string];

/** Ranges of slowness: upper bound, colour, meaning. Slowness is the duration divided by the median on the other ranks. */
const BOUNDS: readonly (readonly [number, string, string])[] = [
  [0.8, "work-15", "faster than 0.80×"],
  [0.95, "work-10", "to 0.95×"],
  [1.05, "work-5", "like the others"],
  [1.25, "wait-6", "to 1.25×"],
  [2, "wait-11", "to 2.00×"],
  [Infinity, "wait-17", "2.00× and slower"],
];
const CLASSES = 8; // number of classes with their own colour; these are the classes that take most time
const REST = "ink-3";

export type Palette = NonNullable<ReturnType<typeof paletteOf>>;

function classesOf({ classes, lanes, job }: ChartData): readonly string[] {
  const times = new Map<string, number>();
  if (!classes || !lanes) return [];
  const { kind, name, duration } = lanes.events,
    byName = new Float64Array(job.names.length);
  for (let i = 0; i < kind.length; i++) if (kind[i] === COMPUTE) byName[name[i]!] = byName[name[i]!]! + duration[i]!;
  byName.forEach((time, number) => {
    const own = classes[number];
    if (time > 0 && own !== undefined) times.set(own, (times.get(own) ?? 0) + time);
  });
  return [...times.keys()].sort((a, b) => times.get(b)! - times.get(a)!);
}

/** Returns the meanings of the colours, for the legend. @param served whether missing data are fetched */
export function meaningsOf(coloring: Coloring, data: ChartData, served: boolean): readonly Meaning[] {
  const some = data.job.complete || served ? "" : " (only steps wholly in this page are)";
  if (coloring === "slowness")
    return [...BOUNDS.map(([, color, words]): Meaning => [color, words]), [REST, `not compared${some}, or zoom in to see`]];
  const classes = classesOf(data),
    rest = classes.length > CLASSES ? "other classes, or zoom in to see" : "not known, or zoom in to see";
  return [...classes.slice(0, CLASSES).map((each, i): Meaning => [`class-${i}`, each]), [REST, rest]];
}

/** Returns the theme with more colours, and a function that returns an event's colour in it; null if colours show kinds. */
export function paletteOf(coloring: Coloring, data: ChartData, theme: Theme) {
  const { lanes, classes, slowness, job } = data;
  if (coloring === "kind" || !lanes || (coloring === "slowness" ? !slowness : !classes)) return null;
  const meanings = meaningsOf(coloring, data, false),
    first = theme.fills.length,
    added = meanings.map(([name]) => name).map(colours()),
    rest = added[added.length - 1]!;
  const fills = [...theme.fills, ...added],
    onFills = [...theme.onFills, ...added.map((fill) => readable(fill, theme.ink, theme.page))],
    { kind, name } = lanes.events;
  /* shares do not distinguish classes, so computation in shares has the colour of the other classes */
  fills[COMPUTE] = rest;
  onFills[COMPUTE] = readable(rest, theme.ink, theme.page);
  const own = { ...theme, fills, onFills, alphas: [...theme.alphas, ...added.map(() => 1)] },
    last = fills.length - 1;
  if (coloring === "slowness")
    return {
      theme: own,
      of: (row: number): number => {
        const ratio = slowness![row] ?? 0;
        if (kind[row] !== COMPUTE && kind[row] !== COPIES) return kind[row]!;
        return ratio > 0 ? first + BOUNDS.findIndex(([bound]) => ratio < bound) : last;
      },
    };
  const places = new Map(meanings.slice(0, -1).map(([, each], i) => [each, first + i])),
    byName = job.names.map((_, number) => places.get(classes![number] ?? "") ?? last);
  return { theme: own, of: (row: number): number => (kind[row] === COMPUTE ? byName[name[row]!]! : kind[row]!) };
}

/** Returns an event's class or slowness as a text; null if it has none. */
export function coloringWords(coloring: Coloring, { lanes, classes, slowness }: ChartData, row: number): string | null {
  if (coloring === "kind" || !lanes || (lanes.events.kind[row] !== COMPUTE && lanes.events.kind[row] !== COPIES)) return null;
  if (coloring === "class") return classes?.[lanes.events.name[row]!] ?? null;
  const ratio = slowness?.[row] ?? 0;
  return ratio > 0 ? `${f.times(ratio)} the other ranks’ median` : "not compared with other ranks";
}
