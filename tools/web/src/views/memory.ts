/** Memory: peak, growth, how much is free at the peak, and what fills it. */
import { longName } from "../cells";
import type { ColumnOf, Job, Table } from "../data";
import { cut, h, visible, type Child } from "../dom";
import * as f from "../format";
import { grid, tableSection } from "../grid";
import { adviceState, ofXla, severalRanks, TO_MARK_STEPS, onTimeline } from "../job";
import { amid, lineChart } from "../lines";
import { lacking } from "./part";
import { controls, empty, figure, heading, section, pick, setting, swatches } from "../ui";
import type { Span } from "../timeline/model";
import { tablesNamed, type Context, type View } from "../view";
import { drawChart } from "../chart";

const UNUSED = 50, // % of the reserved memory
  WELL_USED = 85,
  FULL = 95; // WELL_USED, FULL: % of the capacity; guides recommend the range between them
const NEAR = 0.4; // if the peak is at least this fraction of the capacity, the scale of the chart reaches up to the capacity

/* Returns the type of a device, such as "cuda" for "cuda:0". */
const typeOf = (device: string): string => device.split(":")[0]!;

type Device = ReturnType<typeof devicesOf>[number];

/* Returns the devices of a type: their rows in memory.device, and their curves. */
function devicesOf(job: Job, type: string) {
  const table = job.table("memory.device"),
    curve = job.table("memory.curve");
  const keyOf = (of: Table<"memory.device" | "memory.curve">, row: number): string => `${of.num(row, "rank")} ${of.text(row, "device")}`,
    points = f.groupBy(
      curve.all.filter((row) => curve.num(row, "time_ns") !== null),
      (row) => keyOf(curve, row),
    ),
    line = (rows: readonly number[], column: "allocated_bytes" | "reserved_bytes") =>
      rows.map((row): [number, number] => [curve.amount(row, "time_ns"), curve.amount(row, column)]);
  return table.all
    .filter((row) => typeOf(table.text(row, "device") ?? "") === type)
    .map((row) => {
      const own = points.get(keyOf(table, row)) ?? [],
        known = own.filter((each) => curve.num(each, "reserved_bytes") !== null);
      const [rank, device] = [table.num(row, "rank") ?? -1, table.text(row, "device") ?? ""];
      return { row, rank, device, allocated: line(own, "allocated_bytes"), reserved: line(known, "reserved_bytes") };
    });
}

/* Returns whether the allocator's limit is known, but no reserved memory. TensorFlow and JAX report only the limit. */
const isLimited = (table: Table<"memory.device">, row: number): boolean =>
  table.num(row, "peak_reserved_bytes") === null && table.num(row, "limit_bytes") !== null;

/* Returns the capacity [B] of which capacity_pct is a percentage. */
const capacityOf = (table: Table<"memory.device">, row: number): number | null =>
  table.num(row, isLimited(table, row) ? "limit_bytes" : "capacity_bytes");

/* Returns the fullest device. It has the largest share of its capacity in use or, if capacities are unknown, the largest peak. */
function fullest(table: Table<"memory.device">, rows: readonly number[]): number {
  const value = (row: number) => table.num(row, "capacity_pct") ?? table.amount(row, "peak_bytes") / 1e15;
  return rows.reduce((a, b) => (value(b) > value(a) ? b : a));
}

function finding(job: Job, rows: readonly number[]): [Child, ...Child[]] {
  const table = job.table("memory.device"),
    row = fullest(table, rows);
  const cell = (column: ColumnOf<"memory.device">) => ({ table: "memory.device", row, column }) as const;
  const step = table.num(row, "peak_step"),
    operator = table.text(row, "peak_operator");
  const capacity = capacityOf(table, row),
    used = table.num(row, "peak_reserved_bytes") ?? table.amount(row, "peak_bytes");
  const share = table.num(row, "capacity_pct") ?? (capacity === null ? null : f.share(used, capacity));
  const growing = table
      .sorted("-growth_bytes", rows)
      .filter((each) => table.amount(each, "growth_bytes") > 0 && table.amount(each, "growing_steps") > 1),
    [worst] = growing,
    full = `${f.percent(share)} full`,
    held = `A device is ${full}, but ${f.percent(table.num(row, "fragmentation_pct"))} of what its allocator holds was not used in this recording`,
    title =
      growing.length > 0
        ? `Memory grows in step after step on ${table.leftOut > 0 ? "at least " : ""}${f.count(growing.length, "device")}`
        : share !== null && share >= FULL
          ? `A device is ${full}`
          : share !== null && share >= WELL_USED
            ? table.amount(row, "fragmentation_pct") >= UNUSED
              ? held
              : `Memory is well used: a device is ${full}`
            : `The most that a device holds is ${f.bytes(used, true)}`;
  return [
    title,
    `Rank ${table.num(row, "rank")}’s ${visible(table.text(row, "device") ?? "")} had `,
    figure(job, f.bytes(table.num(row, "peak_bytes"), true), cell("peak_bytes")),
    " allocated at its peak",
    step === null ? "" : ` in step ${step}`,
    operator === null ? "" : [", reached by an allocation of ", h("bdi", cut(visible(operator), 80))],
    ". ",
    capacity === null
      ? "The device’s capacity is not in the trace. "
      : isLimited(table, row)
        ? `That is ${f.percent(share, 1)} of the ${f.bytes(capacity, true)} that its allocator may hand out. `
        : `With what its allocator holds besides, that is ${f.percent(share, 1)} of its ${f.bytes(capacity, true)}. `,
    worst !== undefined
      ? `Rank ${table.num(worst, "rank")}’s grows most, by ${f.bytes(table.num(worst, "growth_bytes"), true)} in the median step.`
      : "In the median step none grows.",
    table.rows.some((_, each) => table.cell(each, "relative") === true)
      ? " The traces record only changes: bytes count from 0 at the first record."
      : "",
  ];
}

/* Returns the device in the address. If the address has none, returns the fullest device. */
function chosenOf({ job, params }: Context, devices: readonly Device[]): Device {
  const most = fullest(
    job.table("memory.device"),
    devices.map((each) => each.row),
  );
  return (devices.find((device) => keyOf(device) === params.get("device")) ?? devices.find(({ row }) => row === most))!;
}

const label = (device: Device): string => `rank ${device.rank}, ${visible(device.device)}`;
const keyOf = (device: Device): string => `${device.rank} ${device.device}`;

function curves(context: Context, devices: readonly Device[], chosen: Device): HTMLElement {
  const { job, params } = context,
    table = job.table("memory.device"),
    capacity = capacityOf(table, chosen.row),
    top = f.most(devices.flatMap((device) => [table.amount(device.row, "peak_bytes"), table.amount(device.row, "peak_reserved_bytes")])),
    wanted = params.get("to") === "capacity" || (params.get("to") !== "used" && capacity !== null && top >= NEAR * capacity),
    limit = capacity !== null && wanted ? { value: capacity, label: `capacity ${f.bytes(capacity, true)}` } : undefined,
    unit = f.byteUnit([limit?.value ?? top], true),
    held = chosen.reserved.length > 0,
    { words, ...drawn } = amid(
      [
        { name: "allocated", points: chosen.allocated, strong: true },
        ...(held ? [{ name: "reserved", points: chosen.reserved, strong: true, dashed: true }] : []),
      ],
      devices.filter((device) => device !== chosen).map((device) => ({ name: label(device), points: device.allocated })),
      "device",
    ),
    beyond =
      capacity !== null && !limit
        ? `Its capacity, ${f.bytes(capacity, true)}, is ${f.grouped(capacity / Math.max(1, top), 1)} times this chart’s highest value.`
        : "";
  return section(
    "Memory over time",
    capacity !== null &&
      controls(setting(context, "Scale", "to", { used: "to what was used", capacity: "to the capacity" }, limit ? "capacity" : "used")),
    `Thick: ${label(chosen)}, allocated${held ? "; dashed: held by its allocator (reserved)" : ""}. ${words}${beyond}`,
    lineChart({
      ...drawn,
      label: `Memory of ${label(chosen)} over time, ${unit.name}`,
      limit,
      unit,
      steps: true,
      write: (v) => f.bytes(v, true),
    }),
  );
}

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

type Of = Readonly<{ rank: number; device: string }>;

const rowsOf = (table: Table<"memory.category" | "memory.curve" | "memory.live">, of: Of): number[] =>
  table.all.filter((row) => table.num(row, "rank") === of.rank && table.text(row, "device") === of.device);

/* Returns the categories of the curve. If there are more categories than colours, merges the smallest ones. */
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

/** Returns the categories of a device's memory at its highest use in a span, largest first. */
export function categoriesAt(job: Job, of: Of, { begin, end }: Span): [word: string, bytes: number][] {
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
    near = (times[times.length - 1]! - times[0]!) / 50; // margin around the peak on the timeline [ns]
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

/** Makes the sections about what fills a device, and about what is alive at its peak. Leaves out what is unknown. */
function byCategory(job: Job, of: Of): Child[] {
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

/** Lists the model's modules, with the memory that each takes on devices of this type; null if no trace names modules. */
function byModule(job: Job, type: string): HTMLElement | null {
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

function deviceTable(job: Job, rows: readonly number[]): HTMLElement {
  const table = job.table("memory.device");
  return tableSection(
    "Devices",
    null,
    table,
    { rows, first: 16, known: true },
    "rank; device; allocator; peak_bytes: peak; peak_step: in step; peak_operator: reached by; peak_reserved_bytes: reserved",
    "fragmentation_pct: unused part; capacity_bytes: capacity; limit_bytes<memory>: limit",
    { column: "capacity_pct", label: table.known("limit_bytes") > 0 ? "of it" : "of capacity" },
    "growth_bytes<memory>: growth by step; growing_steps: growing steps; pattern; steps_left: steps until full",
  );
}

function stepTable(job: Job, chosen: readonly Device[]): HTMLElement {
  const table = job.table("memory.step"),
    wanted = new Set(chosen.map((device) => `${device.rank} ${device.device}`));
  const rows = table.all.filter((row) => wanted.has(`${table.num(row, "rank")} ${table.text(row, "device")}`));
  return section(
    "Steps",
    rows.length === 0
      ? empty(`No record is in a marked step. ${TO_MARK_STEPS}`)
      : grid(
          table,
          { rows, first: 16 },
          "rank; device; step; allocated_bytes: allocations; peak_bytes: peak; peak_reserved_bytes: reserved; end_bytes: at its end",
          "growth_bytes<memory>: growth",
        ),
  );
}

function operatorTable(job: Job, type: string): HTMLElement {
  const table = job.level("memory.owner", "operator"),
    rows = table.all.filter((row) => table.text(row, "device") === type);
  return tableSection(
    "Which operators take memory",
    "All that they allocated over the trace, freed or not. What a result keeps is freed elsewhere, so an increase is not a leak.",
    table,
    { rows, first: 16 },
    {
      column: "name",
      label: "operator",
      draw: (row) => (table.text(row, "name") === null ? "outside of any" : longName(table.text(row, "name"))),
    },
    "self_bytes<bar held>: itself; self_increase_bytes: minus freed; bytes: with what it calls; self_allocations: allocations",
    "calls",
    severalRanks(job) && "ranks",
  );
}

export const memory: View = {
  id: "memory",
  title: "Memory",
  needs: tablesNamed("memory.device memory.curve memory.owner memory.step memory.category memory.live"),
  of: ["memory.device"],
  shown: (job) => !ofXla(job) || job.rowsOf("memory.device") > 0,
  state: (job) => adviceState(job, "memory"),
  lacks: ({ job }) =>
    job.table("memory.device").n === 0 &&
    lacking(
      "Memory was not recorded",
      "The traces hold no record of an allocation.",
      "Record with profile_memory=True: then the profiler notes each allocation and release, and the totals after it.",
    ),
  parts: [
    (context) => {
      const { job, params } = context,
        table = job.table("memory.device"),
        types = [...new Set(table.all.map((row) => typeOf(table.text(row, "device") ?? "")))].sort(
          (a, b) => Number(a === "cpu") - Number(b === "cpu"),
        ),
        type = types.find((each) => each === params.get("of")) ?? types[0]!,
        devices = devicesOf(job, type),
        rows = devices.map((device) => device.row),
        chosen = chosenOf(context, devices),
        byKey = new Map(devices.map((device) => [keyOf(device), device])),
        lined = curves(context, devices, chosen),
        [fills, alive] = byCategory(job, chosen);
      return [
        heading(...finding(job, rows)),
        controls(
          setting(context, "Memory of", "of", Object.fromEntries(types.map((each) => [each, each])), type, "device", "to"),
          pick(context, "Device", "device", [...byKey.keys()], (key) => label(byKey.get(key)!), keyOf(chosen)),
        ),
        alive ? [fills, lined, alive] : [lined, fills],
        deviceTable(job, rows),
        stepTable(job, devices),
        operatorTable(job, type),
        byModule(job, type),
      ];
    },
  ],
};
