/** Memory: peak, growth, and how much is free at the peak. */
import { longName } from "../cells";
import type { ColumnOf, Job, Table } from "../data";
import { cut, h, visible, type Child } from "../dom";
import * as f from "../format";
import { grid, tableSection } from "../grid";
import { adviceState, ofXla, severalRanks, TO_MARK_STEPS } from "../job";
import { amid, lineChart } from "../lines";
import { byCategory, byModule } from "./memory_category";
import { lacking } from "./part";
import { controls, empty, figure, heading, section, pick, setting } from "../ui";
import { tablesNamed, type Context, type View } from "../view";

const UNUSED = 50, // % of the reserved memory
  WELL_USED = 85,
  FULL = 95; // WELL_USED and FULL: % of the capacity; guides call the range between them ideal
const NEAR = 0.4; // if the peak is at least this share of the capacity, the chart's scale reaches the capacity anyway

/* Returns the type of a device: "cuda" for "cuda:0". */
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

// The finding ---------------------------------------------------------------------------------------

/* Returns whether only the allocator's limit is known, and no reserved memory. TensorFlow and JAX report only the limit. */
const isLimited = (table: Table<"memory.device">, row: number): boolean =>
  table.num(row, "peak_reserved_bytes") === null && table.num(row, "limit_bytes") !== null;

/* Returns the capacity [B] of which capacity_pct is a percentage. */
const capacityOf = (table: Table<"memory.device">, row: number): number | null =>
  table.num(row, isLimited(table, row) ? "limit_bytes" : "capacity_bytes");

/* Returns the fullest device: by the share of its capacity or, if capacities are unknown, by its peak. */
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

// The chart -----------------------------------------------------------------------------------------

/* Returns the device in the address; if the address has none, the fullest device. */
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

// The tables ----------------------------------------------------------------------------------------

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
