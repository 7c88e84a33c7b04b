/** Parts of the view of memory: what each block is for, over time and at the peak. */
import { inlineBar, longName } from "../cells";
import type { Charts } from "../chart";
import type { Job, Table } from "../data";
import { h, type Child } from "../dom";
import * as f from "../format";
import { grid } from "../grid";
import { severalRanks } from "../job";
import { empty, note, section, tip } from "../ui";
import type { ColumnOf } from "../names";

const HEIGHT = 190;
const FIRST = 16;

type Category =
  | "preexisting"
  | "temporary"
  | "optimizer_state"
  | "gradient"
  | "autograd_detail"
  | "input"
  | "activation"
  | "forward_only"
  | "other"
  | "stack"
  | "unrecorded";

/** Categories as people call them; in the order of memory.category_curve. */
const WORDS: Readonly<Record<Category, string>> = {
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

function wordOf(category: string | null): string {
  return category === null ? f.NONE : ((WORDS as Readonly<Record<string, string | undefined>>)[category] ?? category.replace(/_/g, " "));
}

/** A device by its rank and name. */
export interface Of {
  readonly rank: number;
  readonly device: string;
}

function rowsOf(table: Table<"memory.category" | "memory.category_curve" | "memory.live">, of: Of): number[] {
  return table.rows.map((_, row) => row).filter((row) => table.num(row, "rank") === of.rank && table.text(row, "device") === of.device);
}

/* At any time, which the curve's moments need not have. */
function mostOf(job: Job, of: Of, category: Category): number | null {
  const table = job.table("memory.category"),
    row = rowsOf(table, of).find((each) => table.text(each, "category") === category);
  return row === undefined ? null : table.num(row, "most_bytes");
}

/* A chart for each category: in one, colours would have to tell ten apart. */
function multiples(job: Job, charts: Charts, of: Of): HTMLElement | null {
  const curve = job.table("memory.category_curve"),
    rows = rowsOf(curve, of);
  const there = (Object.keys(WORDS) as Category[]).filter((category) => rows.some((row) => (curve.num(row, `${category}_bytes`) ?? 0) > 0));
  if (rows.length < 2 || there.length === 0) return null;
  const times = rows.map((row) => curve.num(row, "time_ns") ?? 0),
    value = (row: number, column: ColumnOf<"memory.category_curve">) => curve.num(row, column) ?? 0;
  const span = f.timeUnit(times);
  return h(
    "div",
    { class: "multiples" },
    there.map((category) => {
      const column = `${category}_bytes` as const,
        most = mostOf(job, of, category) ?? f.most(rows.map((row) => value(row, column))),
        unit = f.byteUnit([most], true),
        doc = curve.columns[curve.place(column)]?.doc ?? "";
      return h(
        "section",
        null,
        tip(h("h3", { attr: { tabindex: 0 } }, `${wordOf(category)}, up to ${f.bytes(most, true)}`), () => doc),
        charts.add({
          label: `Memory over time, ${wordOf(category)}, up to ${f.bytes(most, true)}`,
          height: HEIGHT,
          read: (x) => {
            const at = Math.max(0, times.findIndex((time) => time / span.factor > x) - 1),
              row = rows[x * span.factor >= times[times.length - 1]! ? rows.length - 1 : at]!;
            return [
              h("b", null, `at ${f.time(curve.num(row, "time_ns"))}`),
              h("br"),
              `${wordOf(category)}: ${f.bytes(value(row, column), true)}`,
            ];
          },
          plot: (theme) => ({
            x: {
              name: `time, ${span.name}`,
              min: times[0]! / span.factor,
              max: Math.max(times[times.length - 1]!, times[0]! + 1) / span.factor,
            },
            y: { name: unit.name, min: 0, max: (1.05 * most) / unit.factor },
            areas: [
              {
                points: rows.map((row, i) => [times[i]! / span.factor, 0, value(row, column) / unit.factor] as const),
                color: theme.compute,
                opacity: 0.75,
                steps: true,
              },
            ],
          }),
        }),
      );
    }),
  );
}

function categories(job: Job, of: Of): HTMLElement {
  const table = job.table("memory.category"),
    rows = rowsOf(table, of).sort((a, b) => (table.num(b, "peak_bytes") ?? 0) - (table.num(a, "peak_bytes") ?? 0));
  const most = f.most([1, ...rows.map((row) => table.num(row, "peak_bytes") ?? 0)]),
    unit = f.byteUnit([most], true),
    digits = f.columnDigits([most], unit);
  return grid(table, {
    rows,
    columns: [
      { column: "category", draw: (row) => wordOf(table.text(row, "category")) },
      {
        column: "peak_bytes",
        label: "at the peak",
        draw: (row) => inlineBar(table.num(row, "peak_bytes"), most, f.scaled(table.num(row, "peak_bytes"), unit, digits), "held"),
      },
      { column: "peak_pct", label: "of the peak" },
      { column: "mean_bytes", label: "mean" },
      { column: "most_bytes", label: "most at any time" },
      { column: "end_bytes", label: "at the end" },
      { column: "blocks", label: "blocks taken" },
      { column: "allocated_bytes", label: "their sum" },
    ],
  });
}

/** What fills a device: sections for the view; none where the records have no addresses. */
export function byCategory(job: Job, charts: Charts, of: Of): Child[] {
  const live = job.table("memory.live"),
    rows = rowsOf(live, of),
    who = `rank ${of.rank}, ${of.device}`;
  if (rowsOf(job.table("memory.category"), of).length === 0)
    return [
      section(
        "What fills it",
        empty("Not known: the records have no addresses, so no block can be followed from where it is taken to where it is given back."),
      ),
    ];
  const most = f.most([1, ...rows.map((row) => live.num(row, "bytes") ?? 0)]),
    unit = f.byteUnit([most], true),
    digits = f.columnDigits([most], unit);
  return [
    section(
      "What fills it",
      note(
        `Of ${who}. Exported traces do not say which tensor a block is of: a category follows from what was running when the block was taken and given back. Each chart has its own scale, from 0.`,
      ),
      categories(job, of),
      multiples(job, charts, of),
    ),
    section(
      "What is alive at the peak",
      note(
        `Of ${who}: the blocks that are held when most is allocated, by who took them. What was there before the recording has no taker.`,
      ),
      rows.length === 0
        ? empty("No block is known.")
        : grid(live, {
            rows,
            first: FIRST,
            columns: [
              { column: "category", draw: (row) => wordOf(live.text(row, "category")) },
              { column: "operator", label: "taken by", draw: (row) => longName(live.text(row, "operator"), true) },
              { column: "shapes", draw: (row) => longName(live.text(row, "shapes"), true) },
              { column: "module", draw: (row) => longName(live.text(row, "module"), true) },
              { column: "step", label: "in step" },
              {
                column: "bytes",
                draw: (row) => inlineBar(live.num(row, "bytes"), most, f.scaled(live.num(row, "bytes"), unit, digits), "held"),
              },
              { column: "share_pct", label: "of the peak" },
              { column: "blocks" },
              { column: "block_bytes", label: "each", write: (value) => f.bytes(value, true) },
            ],
          }),
    ),
  ];
}

/** Which modules of the model take memory of devices of a type; null where no trace tells them. */
export function byModule(job: Job, type: string): HTMLElement | null {
  const table = job.table("memory.module"),
    rows = table.rows.map((_, row) => row).filter((row) => table.text(row, "device") === type);
  if (rows.length === 0) return null;
  const most = f.most([1, ...rows.map((row) => table.num(row, "bytes") ?? 0)]),
    unit = f.byteUnit([most], true),
    digits = f.columnDigits([most], unit);
  return section(
    "Which modules take memory",
    note("All that a module took over the trace with those inside of it, given back or not."),
    grid(table, {
      rows,
      first: FIRST,
      sort: "-bytes",
      columns: [
        { column: "module", draw: (row) => longName(table.text(row, "module")) },
        {
          column: "bytes",
          label: "with what it holds",
          draw: (row) => inlineBar(table.num(row, "bytes"), most, f.scaled(table.num(row, "bytes"), unit, digits), "held"),
        },
        { column: "self_bytes", label: "itself" },
        { column: "increase_bytes", label: "less given back" },
        { column: "peak_bytes", label: "held at the peak" },
        { column: "allocations" },
        { column: "calls" },
        ...(severalRanks(job) ? ([{ column: "ranks" }] as const) : []),
      ],
    }),
  );
}
