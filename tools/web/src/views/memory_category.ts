import { drawChart } from "../chart";
import type { Job, Table } from "../data";
import { h, type Child } from "../dom";
import * as f from "../format";
import { grid, tableSection } from "../grid";
import { onTimeline, severalRanks } from "../job";
import { empty, section, swatches } from "../ui";

const COLOURS = 8;
const FIRST = 16;

/** Labels of the categories, in the order of memory.curve. */
const WORDS = {
  preexisting: "there before the recording",
  temporary: "temporary, within an operator",
  optimizer_state: "optimizer state",
  gradient: "gradients",
  autograd_detail: "within the backward pass",
  input: "input",
  activation: "activations",
  forward_only: "within the forward pass",
  other: "other",
  stack: "programs’ own (stack)",
  unrecorded: "not recorded",
};
type Category = keyof typeof WORDS;

const wordOf = (category: string | null): string =>
  category === null ? f.NONE : ((WORDS as Readonly<Record<string, string | undefined>>)[category] ?? category.replace(/_/g, " "));

export type Of = Readonly<{ rank: number; device: string }>;

const rowsOf = (table: Table<"memory.category" | "memory.curve" | "memory.live">, of: Of): number[] =>
  table.all.filter((row) => table.num(row, "rank") === of.rank && table.text(row, "device") === of.device);

/* Returns the categories in the curve. If there are more categories than colours, merges the smallest ones. */
function layersOf(curve: Table<"memory.curve">, rows: readonly number[]) {
  const all = (Object.keys(WORDS) as Category[])
    .map((category) => ({ label: wordOf(category), values: rows.map((row) => curve.amount(row, `${category}_bytes`)) }))
    .filter(({ values }) => f.most(values) > 0);
  const order = [...all].sort((a, b) => f.most(b.values) - f.most(a.values)),
    own = order.length > COLOURS ? order.slice(0, COLOURS - 1) : order,
    rest = order.slice(own.length);
  const shown = all.filter((layer) => own.includes(layer));
  if (rest.length > 0) shown.push({ label: "all others", values: rows.map((_, i) => f.sum(rest.map(({ values }) => values[i]!))) });
  return shown.map((layer, i) => ({ ...layer, color: `class-${i as 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7}` as const }));
}

/** Finds the time in a span at which a device uses most memory. Returns the categories of the memory at this time, largest first. */
export function categoriesAt(
  job: Job,
  of: Of,
  { begin, end }: { readonly begin: number; readonly end: number },
): [word: string, bytes: number][] {
  const curve = job.table("memory.curve"),
    time = (row: number) => curve.amount(row, "time_ns"),
    bytes = (row: number) => curve.amount(row, "allocated_bytes"),
    rows = rowsOf(curve, of).filter((row) => time(row) >= begin && time(row) <= end);
  if (rows.length === 0) return [];
  const most = rows.reduce((a, b) => (bytes(b) > bytes(a) ? b : a));
  return layersOf(curve, [most])
    .map(({ label, values }): [string, number] => [label, values[0]!])
    .sort((a, b) => b[1] - a[1]);
}

function peakOf(job: Job, of: Of): readonly [number, number] | null {
  const table = job.table("memory.device"),
    row = table.find({ rank: of.rank, device: of.device }),
    [time, bytes] = [table.num(row, "peak_time_ns"), table.num(row, "peak_bytes")];
  return time === null || bytes === null ? null : [time, bytes];
}

function stacked(job: Job, of: Of): Child {
  const curve = job.table("memory.curve"),
    rows = rowsOf(curve, of),
    layers = layersOf(curve, rows),
    peak = peakOf(job, of);
  if (rows.length < 2 || layers.length === 0) return null;
  const times = rows.map((row) => curve.amount(row, "time_ns")),
    sums = layers.map((_, l) => rows.map((_, i) => f.sum(layers.slice(0, l + 1).map(({ values }) => values[i]!))));
  const most = f.most([...sums[sums.length - 1]!, peak?.[1] ?? 0]),
    span = f.timeUnit(times),
    unit = f.byteUnit([most], true),
    near = (times[times.length - 1]! - times[0]!) / 50; // margin around the peak on the timeline
  const edge = ([time, bytes]: readonly [number, number]): [number, number][] =>
    [0, bytes].map((b) => [time / span.factor, b / unit.factor]);
  const chart = drawChart({
    label: `Memory over time by category, up to ${f.bytes(most, true)}`,
    height: 260,
    read: (x) => {
      const after = times.findIndex((time) => time / span.factor > x),
        at = after < 0 || x * span.factor >= times[times.length - 1]! ? rows.length - 1 : Math.max(0, after - 1);
      return [h("b", `at ${f.time(times[at]!)}`), layers.map(({ label, values }) => [h("br"), `${label}: ${f.bytes(values[at]!, true)}`])];
    },
    plot: (theme) => ({
      x: { name: `time, ${span.name}`, min: times[0]! / span.factor, max: Math.max(times[times.length - 1]!, times[0]! + 1) / span.factor },
      y: { name: unit.name, min: 0, max: (1.05 * most) / unit.factor },
      areas: layers.map(({ color }, l) => ({
        points: times.map((time, i) => [time / span.factor, (sums[l - 1]?.[i] ?? 0) / unit.factor, sums[l]![i]! / unit.factor] as const),
        color: theme[color],
        opacity: 1,
        steps: true,
      })),
      lines: peak
        ? [
            {
              points: edge(peak),
              color: theme.ink,
              width: 1.5,
              dash: [4, 3],
              label: `peak ${f.bytes(peak[1], true)} at ${f.time(peak[0])}`,
            },
          ]
        : [],
    }),
  });
  const keys = layers.map(({ color, label }) => [`var(--${color})`, label] as const),
    there = peak && h("a.go", { href: onTimeline(peak[0] - near, peak[0] + near, { rank: of.rank }) }, "on the timeline →");
  return [swatches("ul.legend.below", keys, there && h("li", `Dashed: the peak, at ${f.time(peak[0])}, `, there)), chart];
}

function categories(job: Job, of: Of): HTMLElement {
  const table = job.table("memory.category"),
    rows = table.sorted("-peak_bytes", rowsOf(table, of));
  return grid(
    table,
    { rows },
    { column: "category", draw: (row) => wordOf(table.text(row, "category")) },
    "peak_bytes<bar held>: at the peak; peak_pct: of the peak; mean_bytes: mean; most_bytes: most at any time",
    "end_bytes: at the end; blocks: blocks allocated; allocated_bytes: their sum",
  );
}

/** Makes sections about what fills a device, if that is known, and about what is alive at its peak. */
export function byCategory(job: Job, of: Of): Child[] {
  const live = job.table("memory.live"),
    rows = rowsOf(live, of),
    who = `rank ${of.rank}, ${of.device}`;
  if (rowsOf(job.table("memory.category"), of).length === 0)
    return [
      section(
        "What fills it",
        empty("Not known: the records have no addresses, so no block can be followed from its allocation to its release."),
      ),
    ];
  return [
    section(
      "What fills it",
      `Of ${who}. Exported traces do not say which tensor a block belongs to: its category follows from what was running when it was allocated and freed.`,
      stacked(job, of),
      categories(job, of),
    ),
    section(
      "What is alive at the peak",
      `Of ${who}: the blocks held when most is allocated, by what allocated them. That is not known of those from before the recording.`,
      rows.length === 0
        ? empty("No block is known.")
        : grid(
            live,
            { rows, first: FIRST },
            { column: "category", draw: (row) => wordOf(live.text(row, "category")) },
            "operator<narrow>: allocated by; shapes<narrow>; module<narrow>; step: in step; bytes<bar held>; share_pct: of the peak",
            "blocks; block_bytes<memory>: each",
          ),
    ),
  ];
}

/** Lists the modules of the model, with the memory that each module takes on devices of a type. null if no trace names modules. */
export function byModule(job: Job, type: string): HTMLElement | null {
  const table = job.level("memory.owner", "module"),
    rows = table.all.filter((row) => table.text(row, "device") === type);
  if (rows.length === 0) return null;
  return tableSection(
    "Which modules take memory",
    "All that a module and those inside it allocated over the trace, freed or not.",
    table,
    { rows, first: FIRST, sort: "-bytes" },
    "name<name>: module; bytes<bar held>: with what it holds; self_bytes: itself; increase_bytes: minus freed",
    "peak_bytes: held at the peak; allocations; calls",
    severalRanks(job) && "ranks",
  );
}
