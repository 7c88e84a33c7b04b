/** XLA: where do steps spend their time, which operations take most of it, what bounds them, and what feeds the devices? */
import { band, longName, tile } from "../cells";
import type { ColumnOf, Job, Sort, Table, TableName } from "../data";
import { h, name, visible, type Child } from "../dom";
import * as f from "../format";
import { grid, columns, tableSection, type GridColumn } from "../grid";
import { deviceWord, severalRanks, hasSteps } from "../job";
import { rooflineChart, boundShapes } from "../scatter";
import { heading, link, note, section, chooser, controls, legend, pick, lines } from "../ui";
import type { Context, View } from "../view";
import { filtered } from "./part";
import { heatMap, type MapCell } from "../map";
import { byHost, stacks, type Part, type StackRow } from "../stack";

const KINDS = [
  ["category", "categories"],
  ["op", "operations"],
  ["program", "programs"],
] as const;
const OPERATIONS: readonly TableName[] = ["hlo.rank", "hlo.work", "framework.work"];
const SIDES = [
  ["device", "on the devices"],
  ["host", "on the hosts"],
] as const;
const BOUNDS = ["compute", "memory", "communication"];

const rate = (value: number) => f.grouped(value, f.digitsOf(value));

const tellsWork = (job: Job): boolean => job.table("hlo.rank").sum("known_pct") > 0;

function kindsOf(job: Job) {
  const categories = job.level("hlo.work", "category");
  return KINDS.filter(([key]) => key !== "category" || categories.rows.some((_, row) => categories.text(row, "category") !== null));
}

function finding(job: Job): [Child, string] {
  const [kind] = kindsOf(job)[0]!,
    table = job.level("hlo.work", kind),
    ranks = job.table("hlo.rank"),
    device = deviceWord(job);
  const name = table.text(0, kind) ?? "What the trace does not name";
  const [flops, bytes] = [ranks.median("peak_pct"), ranks.median("peak_bw_pct")];
  return [
    `${name} takes ${f.percent(table.num(0, "share_pct"))} of the time of XLA’s operations`,
    !tellsWork(job)
      ? "The traces show neither what operations compute and move nor what the devices can do."
      : flops === null || bytes === null
        ? `The traces do not give the peak of the ${device}s.${device === "GPU" ? " FLOP count only products of matrices, by the shapes in the programs." : ""}`
        : `While they run, the ${device}s compute at ${f.percent(flops, 1)} of their peak and use ${f.percent(bytes, 1)} of their memory’s bandwidth.`,
  ];
}

function figures(job: Job): HTMLElement {
  const time = tile(job, "hlo.rank", "self_ns", "Operations run for", f.time);
  if (!tellsWork(job)) return band([time]);
  return band([
    time,
    tile(job, "hlo.rank", "achieved_tflops", "They compute", (value) => `${f.flop(value * 1e12)}/s`),
    tile(job, "hlo.rank", "bw_gbps", "They move", (value) => `${rate(value)}${f.SPACE}GB/s`),
    tile(job, "hlo.rank", "known_pct", "FLOP and bytes known of", (value) => f.percent(value, 1)),
  ]);
}

/* Returns the roofs that all devices share; null if they differ or are unknown. */
function roofs(job: Job): { tflops: number; gbps: number } | null {
  const table = job.table("hlo.rank"),
    [tflops, gbps] = [table.least("peak_tflops"), table.least("peak_bw_gbps")];
  const same = tflops !== null && gbps !== null && table.most("peak_tflops") === tflops && table.most("peak_bw_gbps") === gbps;
  return same && table.known("peak_tflops") === table.n ? { tflops, gbps } : null;
}

/* Draws the rate against operations per byte. Points on the slope are bound by memory, points on the horizontal line by computing. */
function roofline(job: Job): HTMLElement | null {
  const table = job.level("hlo.work", "op"),
    num = (row: number, column: "flop_per_byte" | "achieved_tflops" | "self_ns") => table.amount(row, column);
  const rows = table.all.filter((row) => num(row, "flop_per_byte") > 0 && num(row, "achieved_tflops") > 0),
    peak = roofs(job);
  if (rows.length === 0 || !peak) return null;
  const ridge = (1e3 * peak.tflops) / peak.gbps;
  const { shape, legend } = boundShapes(table, rows, BOUNDS);
  return section(
    "What bounds operations",
    "A point is an operation; a larger one takes more time. No operation can be above the line: its slope is the limit of the device’s memory, its level that of computing, which only 16-bit numbers come near.",
    legend,
    rooflineChart({
      label: `Rate of ${f.count(rows.length, "operation")} against floating-point operations per byte`,
      table,
      rows,
      name: "op",
      rate: ["achieved_tflops", 1],
      time: "self_ns",
      said: (row) => {
        const memory = table.num(row, "peak_bw_pct"),
          bandwidth = memory === null ? "" : `, ${f.percent(memory, 1)} of the memory’s bandwidth`;
        return `${table.text(row, "category") ?? "no category"}, ${f.significant(num(row, "achieved_tflops"))} TFLOP/s${bandwidth}`;
      },
      shape,
      also: { x: [ridge], y: [peak.tflops] },
      roofs: (x, y) => {
        const bottom = Math.max(x.min, (1e3 * y.min) / peak.gbps);
        const points = [bottom, ridge, x.max].map((at): [number, number] => [at, Math.min(peak.tflops, (at * peak.gbps) / 1e3)]);
        return [{ points, labelled: "end", label: `${f.significant(peak.tflops)} TFLOP/s, ${f.significant(peak.gbps)} GB/s` }];
      },
    }),
  );
}

function columnsOf(job: Job, table: Table<"hlo.work">, name: "category" | "op" | "program"): GridColumn<"hlo.work">[] {
  const known = (column: "bound" | "peak_pct" | "peak_bw_pct" | "async_ns") =>
    table.rows.some((_, row) => table.cell(row, column) !== null);
  /* The table of operations has little room, because it has more names. It leaves out an absolute value if its share is known. */
  const absolute = (share: "peak_pct" | "peak_bw_pct") => name !== "op" || !known(share);
  const text = (column: "category" | "op" | "program" | "origin" | "shape", label: string): GridColumn<"hlo.work"> => ({
    column,
    label,
    draw: (row) => longName(table.text(row, column), true),
  });
  const ranks = new Set(table.nums("ranks"));
  return columns(
    table,
    text(name, name === "op" ? "operation" : name),
    name === "op" && [text("origin", "from"), text("shape", "makes")],
    "self_ns<bar>: own time",
    name !== "op" && "share_pct<spare>: of all",
    "occurrences: runs",
    tellsWork(job) && [
      known("bound") && "bound: bound by",
      absolute("peak_pct") && { column: "achieved_tflops", label: "rate", write: (value: number) => `${f.flop(value * 1e12)}/s` },
      known("peak_pct") && "peak_pct: of the peak",
      absolute("peak_bw_pct") && { column: "bw_gbps", label: "memory", write: (value: number) => `${rate(value)}${f.SPACE}GB/s` },
      known("peak_bw_pct") && "peak_bw_pct: of its peak",
      known("async_ns") && "async_ns<spare>: beside others",
    ],
    name !== "op" && severalRanks(job) && ranks.size > 1 && "ranks",
    severalRanks(job) && "max_rank: slowest rank",
  );
}

function operations(context: Context): HTMLElement {
  const { job, params } = context,
    kinds = kindsOf(job),
    [kind] = kinds.find(([key]) => key === params.get("by")) ?? kinds[0]!,
    table = job.level("hlo.work", kind),
    categories = job.level("hlo.work", "category"),
    waits = categories.rows.some((_, row) => categories.text(row, "category")?.endsWith("-done"));
  return section(
    "Operations",
    note(
      "Own time leaves out what runs inside of a loop.",
      waits && " An operation that ends in -done waits for what its -start began: the core runs nothing else meanwhile.",
    ),
    filtered(context, table, { first: 20 }, chooser(context, "Rows", "by", kinds, kind, "sort"), columnsOf(job, table, kind)),
  );
}

function framework(context: Context): HTMLElement | null {
  const { job, params } = context,
    table = job.level("framework.work", "type");
  const sides = SIDES.filter(([side]) => table.rows.some((_, row) => table.text(row, "side") === side && table.text(row, "type") !== null));
  if (sides.length === 0) return null;
  const side = sides.find(([key]) => key === params.get("side"))?.[0] ?? sides[0]![0],
    rows = table.all.filter((row) => table.text(row, "side") === side);
  return section(
    "Operators of the framework",
    note("By type; on devices, what ran there for them. ", link("Individual ones", "tables", { name: "framework.work" })),
    sides.length > 1 ? chooser(context, "Where", "side", sides, side) : null,
    grid(
      table,
      { rows, first: 15 },
      { column: "type", draw: (row) => (table.text(row, "type") === null ? "none given" : longName(table.text(row, "type"))) },
      "self_ns<bar>: own time; share_pct: of all; total_ns: whole time; occurrences: runs; operators",
    ),
  );
}

const RANKS_MAX = 64;
const FIRST = 10;

const POD: readonly TableName[] = ["pod.rank", "pod.step", "pod.collective", "pipeline.host", "pipeline.stage"];

/** `word`: the category's name in the tables. Several categories may have the same name. */
type Kind<N extends "pod.rank" | "pipeline.host"> = Part & Readonly<{ column: ColumnOf<N>; word: string }>;

/** Parts of a step's time. Their sum is the step's time. */
const CATEGORIES: readonly Kind<"pod.rank">[] = [
  { key: "compute", word: "compute", column: "compute_16_ns", label: "Computing in 16 bits or fewer" },
  { key: "wide", word: "compute", column: "compute_32_ns", label: "Computing in more bits" },
  { key: "untyped", word: "compute", column: "compute_untyped_ns", label: "Computing, type not known" },
  { key: "transfer", word: "collectives", column: "collectives_ns", label: "Collectives" },
  { key: "infeed", word: "input", column: "infeed_ns", label: "Waiting for and taking infeed" },
  { key: "stall", word: "input", column: "input_wait_ns", label: "Host waits for a batch" },
  { key: "copies", word: "input", column: "host_to_device_ns", label: "Copying input to the device" },
  { key: "output", word: "output", column: "output_ns", label: "Output to the host" },
  { key: "between-devices", word: "device_to_device", column: "device_to_device_ns", label: "Copies between and within devices" },
  { key: "offload", word: "offload", column: "offload_ns", label: "The program’s own copies to and from host memory" },
  { key: "hostwork", word: "launch", column: "launch_ns", label: "Host launches" },
  { key: "sync", word: "compilation", column: "compilation_ns", label: "Host compiles" },
  { key: "host", word: "host", column: "host_ns", label: "Operators on the host" },
  { key: "idle", word: "other", column: "other_ns", label: "Not known" },
];

/** For each name of a category: a short word, and words that can be the subject of a sentence. */
const BOTTLENECKS: Readonly<Record<string, readonly [string, string]>> = {
  compute: ["computing", "Computing"],
  collectives: ["collectives", "Communication in collectives"],
  input: ["input", "Input"],
  output: ["output", "Output to the host"],
  device_to_device: ["device copies", "Copying between and within devices"],
  offload: ["host memory", "Copying to and from the host’s memory, by the program itself,"],
  launch: ["launching", "Launching by the host"],
  compilation: ["compiling", "Compiling by the host"],
  host: ["the host", "Running operators on the host"],
  other: ["not known", ""],
};

const SLOW: Readonly<Record<string, string>> = { compute: "computing", input: "input", launch: "launching", copies: "copies" };

const STAGES: readonly Kind<"pipeline.host">[] = [
  { key: "hostwork", word: "reading", column: "reading_ns", label: "Reading files when asked" },
  { key: "sync", word: "advanced_reading", column: "advanced_reading_ns", label: "Reading files ahead" },
  { key: "host", word: "preprocessing", column: "preprocessing_ns", label: "Preprocessing" },
  { key: "copies", word: "enqueue", column: "enqueue_ns", label: "Handing over to devices" },
];

const short = (word: string | null) => BOTTLENECKS[word ?? ""]?.[0] ?? word ?? f.NONE;

// Where steps spend their time ----------------------------------------------------------------------

/* Returns the rows of the ranks with steps. If no rank has steps, returns all rows. */
function stepped(job: Job): number[] {
  const table = job.table("pod.rank"),
    rows = table.all,
    marked = rows.filter((row) => table.amount(row, "steps") > 0);
  return marked.length > 0 ? marked : rows;
}

/** Finds the largest category over all steps. `word`: its name in the tables. `text`: a sentence about it. null: no step is known. */
function leading(job: Job): { word: string; text: string } | null {
  const table = job.table("pod.rank"),
    rows = stepped(job);
  if (rows.length === 0) return null;
  const sum = (column: ColumnOf<"pod.rank">) => rows.reduce((ns, row) => ns + table.amount(row, column), 0),
    sums = new Map<string, number>();
  for (const { word, column } of CATEGORIES) sums.set(word, (sums.get(word) ?? 0) + sum(column));
  const [word, ns] = [...sums].reduce((most, each) => (each[1] > most[1] ? each : most));
  const whole = hasSteps(job) ? "the steps’ time" : "the recording",
    share = f.percent(f.share(ns, sum("step_ns")));
  return {
    word,
    text:
      word === "other"
        ? `The profile does not say what ${share} of ${whole} is spent on`
        : `${BOTTLENECKS[word]?.[1] ?? word} takes the largest part of ${whole}, ${share}`,
  };
}

/* Writes which category is the largest on which ranks: "computing on ranks 0–5, input on rank 6"; "" if the page lacks ranks. */
function byRank(table: Table<"pod.rank">, all: readonly number[], word: string): string {
  if (all.length < 2 || table.leftOut > 0) return "";
  const groups = [...table.by("bottleneck")]
    .map(([own, rows]) => [own, rows.filter((row) => all.includes(row))] as const)
    .filter(([, rows]) => rows.length > 0)
    .sort((a, b) => b[1].length - a[1].length);
  if (groups.length === 1 && groups[0]![0] === word) return " So it is on every rank.";
  const parts = groups.map(([own, rows]) => {
    const ranks = rows.map((row) => table.amount(row, "rank"));
    return `${short(String(own))} on ${ranks.length === 1 ? "rank" : "ranks"} ${f.ranges(ranks, 8)}`;
  });
  return ` By rank the largest part is ${parts.join(", ")}.`;
}

function rankRows(table: Table<"pod.rank">, all: readonly number[], kinds: readonly Kind<"pod.rank">[]): StackRow[] {
  const hosts = new Map(all.map((row) => [table.amount(row, "rank"), visible(table.text(row, "host") ?? "")]));
  const rows = (all.length > RANKS_MAX ? table.sorted("-step_ns", all) : all).slice(0, RANKS_MAX).map((row) => ({
    rank: table.amount(row, "rank"),
    label: `rank ${table.num(row, "rank")}`,
    values: kinds.map(({ column }) => table.amount(row, column)),
    note: short(table.text(row, "bottleneck")),
    data: { "data-rank": table.num(row, "rank") ?? "" },
  }));
  return all.length > RANKS_MAX ? rows : byHost(rows, hosts);
}

function spent(context: Context): HTMLElement | null {
  const { job, params } = context,
    table = job.table("pod.rank"),
    found = leading(job);
  if (!found) return null;
  const rows = stepped(job),
    others = table.all.filter((row) => !rows.includes(row)),
    numbers = others.map((row) => table.amount(row, "rank"));
  const kinds = CATEGORIES.filter(({ column }) => rows.some((row) => table.amount(row, column) > 0)),
    shares = params.get("show") === "share";
  return section(
    hasSteps(job) ? "What steps are spent on" : "What the recording is spent on",
    note(
      h("b", `${found.text}.`),
      byRank(table, rows, found.word),
      " Of concurrent activities only one counts, computing first. The one with the largest part of a rank is named after its bar.",
      others.length > 0 && ` Without ${others.length === 1 ? "rank" : "ranks"} ${f.ranges(numbers, 8)}, which have no marked steps.`,
    ),
    rows.length > 1 && controls(chooser(context, "Show", "show", { time: "time", share: "share" }, shares ? "share" : "time")),
    legend(kinds.map(({ key, label }) => [key, label])),
    h("div.wide-ends", stacks(rankRows(table, rows, kinds), { parts: kinds, shares, axis: true, end: (row) => row.note })),
    rows.length + table.leftOut > RANKS_MAX &&
      `${f.grouped(Math.min(RANKS_MAX, rows.length))} of ${f.count(rows.length + table.leftOut, "rank")}, those whose steps take longest first.`,
  );
}

const computes = (table: Table<"pod.rank">, row: number): boolean =>
  CATEGORIES.some(({ word, column }) => word === "compute" && table.amount(row, column) > 0);

/* Returns the host and the device number of each rank. If the profile lacks distinct numbers, counts the ranks of a host. */
function placesOf(job: Job) {
  const table = job.table("pod.rank"),
    devices = job.table("job.rank"),
    number = new Map(devices.rows.map((_, row) => [devices.num(row, "rank"), devices.num(row, "device")]));
  const places = new Map<number, { readonly host: string; readonly device: number }>();
  for (const [host, rows] of table.by("host")) {
    const ranks = rows.map((row) => table.amount(row, "rank")),
      own = ranks.map((rank) => number.get(rank) ?? null);
    const named = own.every((device) => device !== null) && new Set(own).size === own.length;
    ranks.forEach((rank, i) => places.set(rank, { host: visible(String(host ?? "")), device: named ? own[i]! : i }));
  }
  return places;
}

function podMap(job: Job): HTMLElement {
  const table = job.table("pod.rank"),
    places = placesOf(job),
    device = deviceWord(job) === "GPU" ? "GPU" : "core";
  const hosts = [...new Set([...places.values()].map((place) => place.host))],
    devices = [...new Set([...places.values()].map((place) => place.device))].sort((a, b) => a - b);
  const rows = new Map(
    table.rows.map((_, row) => {
      const place = places.get(table.amount(row, "rank"))!;
      return [`${place.device} ${place.host}`, row];
    }),
  );
  const cell = (r: number, c: number): MapCell | null => {
    const row = rows.get(`${devices[c]} ${hosts[r]}`);
    if (row === undefined) return null;
    const slow = SLOW[table.text(row, "slow") ?? ""],
      steps = table.amount(row, "slow_steps"),
      each = slow && steps > 0 ? table.amount(row, "over_ns") / steps : 0,
      name = `Rank ${table.num(row, "rank")}, ${hosts[r]}, ${device} ${devices[c]}`,
      more = `${slow}: ${f.time(each)} more than usual in a step, in ${f.grouped(steps)} of ${f.count(table.amount(row, "steps"), "step")}`;
    if (!computes(table, row)) return { value: null, text: f.NONE, tip: () => lines(name, "computes nothing: not compared") };
    const tip = () => lines(name, slow ? more : "not found slow in most of its steps");
    return { value: each, text: slow ? `${slow} +${f.time(each)}` : "", tip };
  };
  const map = heatMap({
    label: `How much slower devices are in a step, by host and ${device}`,
    rows: hosts,
    columns: devices.map((each) => `${device} ${each}`),
    ramp: "wait",
    cell,
  });
  return h("div.wide-labels", map);
}

function slowRows<N extends "pod.rank" | "pod.step">(table: Table<N>, who: string, more: string): HTMLElement {
  const slow = (row: number) => (table as Table<"pod.rank" | "pod.step">).text(row, "slow"),
    rows = table.all.filter((row) => slow(row) !== null);
  const column: GridColumn<N> = { column: "slow" as ColumnOf<N>, label: "slow in", draw: (row) => SLOW[slow(row) ?? ""] ?? f.NONE };
  return grid(table, { rows, first: FIRST, sort: "-over_ns" as Sort<N> }, who, column, more);
}

/* Makes the section of slow devices and steps; null if fewer than two ranks compute, or if no step is marked. */
function slowDevices({ job }: Context): HTMLElement | null {
  const table = job.table("pod.rank"),
    computing = table.rows.filter((_, row) => computes(table, row));
  if (!severalRanks(job) || computing.length < 2) return null;
  const ranks = table.rows.filter((_, row) => table.text(row, "slow") !== null).length,
    steps = job.table("pod.step"),
    cells = steps.rows.some((_, row) => steps.text(row, "slow") !== null);
  if (!cells && !hasSteps(job)) return null;
  return section(
    "Slow devices",
    note(
      `A step of a device is slow if it has more computing, input, launching or copies than the median device in the same step, by 5${f.SPACE}% of the step or more. `,
      !cells
        ? "No such step was found."
        : ranks === 0
          ? "Some single steps are slow; no device is slow in half of its steps or more."
          : "The map shows the devices that are slow in half of their steps or more, what they have more of and, on average, how much.",
    ),
    ranks > 0 && [
      podMap(job),
      h("h3", "Devices"),
      slowRows(table, "rank; host<name>", "slow_steps: slow steps; steps: of; over_ns: more than usual; step_ns: all steps"),
    ],
    cells && [h("h3", "The slowest single steps"), slowRows(steps, "rank; step", "over_ns: more than usual; step_ns: the step")],
  );
}

/* Writes " of N", the size of the group, if not all of its members were recorded. */
function ofMembers(table: Table<"pod.collective">, row: number): string {
  const members = table.num(row, "members");
  return members !== null && members !== table.num(row, "ranks") ? ` of ${f.grouped(members)}` : "";
}

function collectives({ job }: Context): HTMLElement | null {
  const table = job.table("pod.collective");
  if (table.n === 0) return null;
  const barriers = table.rows.some((_, row) => table.text(row, "kind") === "barrier"),
    reported = table.known("members") > 0,
    programs = [...new Set(table.rows.map((_, row) => table.text(row, "program")))];
  return tableSection(
    "Collectives of programs",
    [
      barriers
        ? "A barrier precedes the first collective of a program: in it a device waits until all have arrived; what follows is the exchange itself. "
        : "The time of a collective is the exchange plus a device’s wait in it until all have arrived. ",
      reported
        ? `Groups are by the numbers of the job’s ${deviceWord(job) === "TPU" ? "cores" : "devices, inside of one process by those of its host"}.`
        : "The profiles do not say which devices are in a group.",
      programs.length === 1 && programs[0] !== null && [" All are of the program ", name(programs[0]!), "."],
    ],
    table,
    { first: FIRST, sort: "-total_ns" },
    "operation<narrow>",
    programs.length > 1 && "program<narrow>",
    "kind",
    reported && "group<narrow>",
    table.known("bytes") > 0 && "bytes: a run",
    "count: runs; total_ns<bar transfer>: whole time",
    table.known("wait_ns") > 0 && "wait_ns: waited",
    severalRanks(job) && "max_rank: most on rank",
    { column: "ranks", after: (row) => ofMembers(table, row) },
  );
}

function stagesOf(job: Job, host: string | null): HTMLElement {
  const table = job.table("pipeline.stage"),
    rows = table.all.filter((row) => table.text(row, "host") === host);
  return grid(
    table,
    { rows, first: FIRST, sort: "-self_ns" },
    "stage<name>",
    { column: "kind", label: "does", draw: (row) => STAGES.find(({ word }) => word === table.text(row, "kind"))?.label ?? f.NONE },
    "calls; total_ns<bar held>: whole time; self_ns<bar held>: own time; share_pct: of the host’s",
  );
}

function pipeline(context: Context): HTMLElement | null {
  const { job, params } = context,
    table = job.table("pipeline.host");
  if (table.n === 0) return null;
  const rows = table.sorted("-self_ns");
  const kinds = STAGES.filter(({ column }) => table.sum(column) > 0),
    name = (row: number) => visible(table.text(row, "host") ?? "host not given"),
    chosen = rows.find((row) => String(row) === params.get("host")) ?? rows[0]!;
  return section(
    "The input pipeline of hosts",
    "Own time leaves out the stages inside on the same thread. Threads may run at the same time, and while devices compute: whether steps wait for input is shown above.",
    legend(kinds.map(({ key, label }) => [key, label])),
    h(
      "div.wide-labels",
      stacks(
        rows.slice(0, RANKS_MAX).map((row) => ({ label: name(row), values: kinds.map(({ column }) => table.amount(row, column)) })),
        { parts: kinds, axis: true },
      ),
    ),
    rows.length > RANKS_MAX && `The ${RANKS_MAX} of ${f.count(rows.length, "host")} with most.`,
    h("h3", "Stages"),
    rows.length > 1 && controls(pick(context, "Host", "host", rows, name, chosen)),
    `${visible(table.text(chosen, "slowest_stage") ?? f.NONE)} has the most own time, ${f.percent(table.num(chosen, "slowest_pct"))} of the host’s.`,
    stagesOf(job, table.text(chosen, "host")),
  );
}

/** Makes the sections about steps, devices and input; empty if the profiles lack them. */
const pod = (context: Context): (HTMLElement | null)[] => [spent(context), slowDevices(context), collectives(context), pipeline(context)];

export const xla: View = {
  id: "xla",
  title: "XLA",
  needs: [...OPERATIONS, ...POD, "job.rank"],
  shown: (job) => [...OPERATIONS, ...POD].some((name) => job.rowsOf(name) > 0),
  parts: [
    (context) => {
      const { job } = context,
        compiled = job.rowsOf("hlo.rank") > 0,
        types = framework(context),
        title: readonly [Child, string] = compiled
          ? finding(job)
          : types
            ? ["Operators of TensorFlow", "Nothing was compiled by XLA."]
            : [leading(job)?.text ?? "Input of hosts", "The traces hold no operations of XLA."];
      return [heading(...title), compiled && figures(job), pod(context), compiled && [roofline(job), operations(context)], types];
    },
  ],
};
