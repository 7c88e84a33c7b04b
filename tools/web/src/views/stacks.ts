import { longName } from "../cells";
import type { Job, Table } from "../data";
import { cut, h, tellApart, type Child } from "../dom";
import * as f from "../format";
import { callName, findCalls, Flame, type Tree } from "../flame";
import { deviceWord, severalRanks } from "../job";
import { chooser, controls, empty, heading, searchBox, section, lines, setting, swatches } from "../ui";
import type { Context, View } from "../view";
import { filtered } from "./part";
import { COMMUNICATES } from "./operators";

type Side = "host" | "device";

const KINDS = [
  { key: "function", label: "Python functions", what: "Python function" },
  { key: "module", label: "modules", what: "module" },
  { key: "operator", label: "operators", what: "operator" },
] as const;
type Kind = (typeof KINDS)[number];
/** If the slowest rank takes at least this many times as long as the median rank, the call has the strongest colour. */
const HOTTEST = 2;
/** Callers distinguish calls of the same name. CALLERS_MOST: number of callers that are searched. CALLERS_SAID: number that is shown.
 * CALLERS_LENGTH: maximum length of the text with them [characters]. */
const CALLERS_MOST = 64,
  CALLERS_SAID = 3,
  CALLERS_LENGTH = 90;
const TELLING = 5; // smaller percentages are not mentioned

const COLOURS = { ranks: "slowest rank", self: "time itself", module: "module" } as const;
type Colour = keyof typeof COLOURS;
const MODULES = 8; // number of modules with their own colour
const NO_COLOUR = "idle";

/* Returns the file of a Python function, the class of a module, or the namespace of an operator. */
function moduleOf(name: string): string {
  const [, group] = /^<?(built-in|triton)(?=[ _])/.exec(name) ?? [];
  return group ?? /^(?:nn\.Module: )?(.+?)(?:_\d+$|\(\d+\): |::|$)/.exec(name)?.[1] ?? name;
}

/* Returns short names of the modules that have a colour. These are the modules in which most time is spent, largest first. */
function modulesOf(table: Table<"calls.tree">, side: Side): Map<string, string> {
  const calls = callsOf(table),
    own = f.groupBy(calls, (row) => moduleOf(table.text(row, "name") ?? "")),
    times = new Map([...own].map(([module, rows]) => [module, f.sum(rows.map((row) => table.amount(row, `${side}_self_ns`)))])),
    most = [...times.keys()].sort((a, b) => times.get(b)! - times.get(a)!).slice(0, MODULES),
    short = tellApart(most.map(callName), 40);
  return new Map(most.map((module, i) => [module, short[i]!]));
}

/* Returns a function that takes a row and returns the name of its call's colour. */
function colourOf(table: Table<"calls.tree">, side: Side, colour: Colour): (row: number) => string {
  const heat = (share: number) => `wait-${Math.round(20 * Math.max(0, Math.min(1, share)))}`,
    self = (row: number) => table.amount(row, `${side}_self_ns`);
  if (colour === "module") {
    const places = new Map([...modulesOf(table, side).keys()].map((module, i) => [module, `class-${i}`]));
    return (row) => places.get(moduleOf(table.text(row, "name") ?? "")) ?? NO_COLOUR;
  }
  if (colour === "self") {
    const longest = f.most([1, ...table.all.map(self)]);
    return (row) => heat(self(row) / longest);
  }
  return (row) => {
    const most = table.num(row, `${side}_max_ns`),
      middle = table.num(row, `${side}_median_ns`);
    if (table.amount(row, "ranks") < 2 || most === null || middle === null) return NO_COLOUR;
    return heat(middle > 0 ? (most / middle - 1) / (HOTTEST - 1) : most > 0 ? 1 : 0);
  };
}

function treeOf(table: Table<"calls.tree">, side: Side, colour: Colour): Tree {
  const rows = new Map(table.rows.map((_, row) => [table.num(row, "node"), row]));
  const all = table.all;
  return {
    n: table.n,
    parent: all.map((row) => {
      const parent = table.num(row, "parent");
      return parent === null ? -1 : (rows.get(parent) ?? -1);
    }),
    name: all.map((row) => callName(table.text(row, "name") ?? "")),
    time: all.map((row) => table.amount(row, `${side}_total_ns`)),
    color: all.map(colourOf(table, side, colour)),
  };
}

function wordsOf(job: Job, table: Table<"calls.tree">, side: Side, whole: number): (row: number) => Child {
  const where = side === "host" ? "on the host" : `of ${deviceWord(job)} time that it launched`;
  return (row) => {
    const time = (column: "total" | "self" | "median" | "max") => table.num(row, `${side}_${column}_ns`);
    const ranks = table.amount(row, "ranks"),
      [total, self] = f.timesTogether([time("total"), time("self")]),
      [median, most] = f.timesTogether([time("median"), time("max")]);
    return lines(
      callName(table.text(row, "name") ?? ""),
      `${total} ${where}, ${f.percent(f.share(time("total") ?? 0, whole), 1)} of all; itself ${self}; ${f.count(table.amount(row, "calls"), "call")}`,
      ranks > 1 && `on ${f.count(ranks, "rank")}: median ${median}, most ${most} on rank ${table.num(row, `${side}_max_rank`)}`,
    );
  };
}

function colourNote(table: Table<"calls.tree">, side: Side, colour: Colour): Child {
  const meaning = {
    ranks: `The more it stands out, the longer the slowest rank takes compared with the median one: up to ${HOTTEST} times as long. Grey: only one rank made the call.`,
    self: "The more it stands out, the longer it takes itself, without what it calls.",
    module: "Its colour is that of its module: the file of a Python function, the class of a module, or the namespace of an operator.",
  }[colour];
  return [
    `A call is as wide as its time, above what it calls. ${meaning}`,
    colour === "module" &&
      swatches("ul.legend.below", [
        ...[...modulesOf(table, side).values()].map((module, i) => [`var(--class-${i})`, module] as const),
        [`var(--${NO_COLOUR})`, "all others"],
      ]),
  ];
}

/* Makes a search box for calls. Highlights the calls that match, and shows their share of the time. */
function finder(context: Context, flame: Flame, tree: Tree, whole: number): HTMLElement {
  const box = searchBox(context, "find", "aten::mm", "Find calls", () => find()),
    said = h("output.note", { "aria-live": "polite" });
  function find(): void {
    const { rows, time } = findCalls(tree, box.value);
    flame.mark(box.value.trim() === "" ? null : rows);
    said.textContent = box.value.trim() === "" ? "" : `${f.count(rows.size, "path")}, ${f.percent(f.share(time, whole), 1)} of all`;
  }
  find();
  return h("label.select", h("span.label", "Find"), box, said);
}

function trail(table: Table<"calls.tree">, tree: Tree, root: number, choose: (row: number) => void): HTMLElement {
  const rows = [-1];
  for (let row = root; row >= 0; row = tree.parent[row]!) rows.splice(1, 0, row);
  const shown = rows.length > 6 ? [rows[0]!, ...rows.slice(-5)] : rows;
  return h(
    "ul.trail",
    { "aria-label": "Callers" },
    shown.map((row) =>
      h(
        "li",
        h(
          "button",
          { "aria-current": row === root ? "true" : undefined, click: () => choose(row) },
          row < 0 ? "All calls" : callName(table.text(row, "name") ?? ""),
        ),
      ),
    ),
  );
}

/* Returns for each call the callers that distinguish it from other calls of its name, nearest first; "" if there are none. */
function apart(tree: Tree): string[] {
  const said = tree.name.map((): string[] => []),
    callers = tree.parent.map((_, row) => row);
  let alike = groupsOf(tree.name.keys(), (row) => tree.name[row]!);
  for (let step = 0; alike.length > 0 && step < CALLERS_MOST; step++)
    alike = alike.flatMap((rows) => {
      for (const row of rows) callers[row] = callers[row]! < 0 ? -1 : tree.parent[callers[row]!]!;
      const name = (row: number) => tree.name[callers[row]!] ?? "";
      if (rows.some((row) => name(row) !== name(rows[0]!))) for (const row of rows) if (name(row) !== "") said[row]!.push(name(row));
      return groupsOf(rows, name).filter((group) => callers[group[0]!]! >= 0);
    });
  return said.map((names) => (names.length > CALLERS_SAID ? [names[0], "…", names[names.length - 1]] : names).join(" ‹ "));
}

const groupsOf = (rows: Iterable<number>, key: (row: number) => string): number[][] =>
  [...f.groupBy(rows, key).values()].filter((group) => group.length > 1);

function callTable(context: Context, table: Table<"calls.tree">, tree: Tree, side: Side): HTMLElement {
  const callers = apart(tree),
    other = side === "host" ? "device" : "host";
  return section(
    "The same as a table",
    "A row is a path of calls: what is called from two places has two rows, with the callers in which the paths differ, the nearest first.",
    filtered(
      context,
      table,
      { first: 20, sort: `-${side}_self_ns` },
      null,
      {
        column: "name",
        draw: (row) => [
          longName(table.text(row, "name")),
          callers[row] !== "" && h("small.inside", { title: cut(callers[row]!, 400) }, `in ${cut(callers[row]!, CALLERS_LENGTH)}`),
        ],
      },
      { column: `${side}_self_ns`, label: "itself", bar: () => (side === "host" ? "host" : "compute") },
      { column: `${side}_total_ns`, label: "with what it calls" },
      "calls",
      { column: `${other}_total_ns`, label: other === "host" ? "on the host" : "GPU time" },
      severalRanks(context.job) && [
        "ranks",
        { column: `${side}_median_ns`, label: "median rank" },
        { column: `${side}_max_ns`, label: "max over ranks" },
        { column: `${side}_max_rank`, label: "rank" },
      ],
    ),
  );
}

/* Returns the rows that stand for calls. Other rows of the table stand for device time that no call launched. */
const callsOf = (table: Table<"calls.tree">): number[] =>
  table.all.filter((row) => !/^\((launch not recorded|outside of any \w+)\)$/.test(table.text(row, "name") ?? ""));

/* Writes how much device time was launched by no call of the tree, and why. */
function besides(table: Table<"calls.tree">, kind: Kind, whole: number): string {
  const share = (name: RegExp) =>
    f.share(f.sum(table.rows.map((_, row) => (name.test(table.text(row, "name") ?? "") ? table.num(row, "device_total_ns") : 0))), whole) ??
    0;
  const outside = share(/^\(outside of any \w+\)$/),
    lost = share(/^\(launch not recorded\)$/);
  const parts = f.joined(
    "; ",
    outside >= TELLING && `${f.percent(outside, 0)} was launched outside of any ${kind.what}, for example by autograd’s threads`,
    lost >= TELLING && `the launch of ${f.percent(lost, 0)} was not recorded`,
  );
  return parts && ` Of all GPU time, ${parts}.`;
}

function finding(job: Job, table: Table<"calls.tree">, tree: Tree, kind: Kind, side: Side, whole: number): [Child, string] {
  const self = (row: number) => table.amount(row, `${side}_self_ns`),
    name = (row: number) => table.text(row, "name") ?? "",
    calls = callsOf(table),
    own = calls.filter((row) => !COMMUNICATES.test(name(row)));
  const reported = own.length > 0 ? own : calls,
    row = reported.reduce((a, b) => (self(b) > self(a) ? b : a), -1),
    all = f.sum(reported.map(self)),
    alike = reported.filter((each) => name(each) === name(row));
  const share = f.share(self(row), all) ?? 0,
    where = side === "host" ? "host" : deviceWord(job);
  const of =
    `of the ${where} time ${side === "host" ? "of all recorded calls" : `that ${kind.label} launched`}` +
    (reported.length < calls.length ? ", without communication" : "");
  const callers = alike.length > 1 ? apart(tree)[row]! : "";
  const title: Child =
    share < TELLING
      ? "No call by itself takes much of the time"
      : [
          h("bdi", callName(name(row))),
          callers !== "" && [" in ", h("bdi", cut(callers, CALLERS_LENGTH))],
          ` itself takes ${f.percent(share, 1)} ${of}`,
        ];
  const together =
    alike.length > 1
      ? `On its ${f.grouped(alike.length)} paths together it takes ${f.percent(f.share(f.sum(alike.map(self)), all), 1)}. `
      : "";
  return [
    title,
    `${share < TELLING ? `The most is ${f.percent(share, 1)} ${of}. ` : together}A call is identified by its path${severalRanks(job) ? ", over all ranks" : ""}. ${side === "device" ? `${where} time is that of the kernels, copies and sets that ${kind.label} launched, whenever they ran.${besides(table, kind, whole)}` : `${kind.key === "operator" ? "Its own time includes calls of the runtime, which Operators leaves out. " : ""}Threads that only wait count as long as they wait.`}`,
  ];
}

export const stacks: View = {
  id: "stacks",
  title: "Call trees",
  needs: ["calls.tree"],
  shown: (job) => job.rowsOf("calls.tree") > 0,
  parts: [graph],
};

function graph(context: Context): Child {
  const { job, params } = context,
    there = KINDS.filter((kind) => job.level("calls.tree", kind.key).n > 0),
    kind = there.find((each) => each.key === params.get("of")) ?? there[0]!,
    table = job.level("calls.tree", kind.key),
    sides = (["device", "host"] as const).filter((side) => callsOf(table).some((row) => table.amount(row, `${side}_total_ns`) > 0)),
    side = sides.find((each) => each === params.get("time")) ?? sides[0];
  if (!side) return [heading("Call trees"), empty("The recorded calls took no time.")];
  const { ranks, ...alone } = COLOURS,
    colours = severalRanks(job) ? { ranks, ...alone } : alone,
    colour = (Object.keys(colours) as Colour[]).find((each) => each === params.get("color")) ?? (severalRanks(job) ? "ranks" : "self"),
    tree = treeOf(table, side, colour),
    whole = f.sum(table.rows.map((_, row) => (table.num(row, "parent") === null ? table.num(row, `${side}_total_ns`) : 0))),
    wanted = Number(params.get("node") ?? -1),
    chosen = table.rows.findIndex((_, row) => table.num(row, "node") === wanted),
    choose = (row: number) => context.redraw({ node: row < 0 ? null : String(table.num(row, "node")) }),
    flame = new Flame(tree, chosen, {
      words: wordsOf(job, table, side, whole),
      choose,
      label: `Flame graph of ${kind.label}, ${side === "host" ? "host" : "GPU"} time; the table has the same`,
    });
  return [
    heading(...finding(job, table, tree, kind, side, whole)),
    controls(
      setting(context, "Calls of", "of", there, kind.key, "node", "sort"),
      sides.length > 1 && setting(context, "Time", "time", { device: "GPU", host: "host" }, side, "node", "sort"),
      chooser<Colour>(context, "Colour", "color", Object.entries(colours) as [Colour, string][], colour),
      finder(context, flame, tree, whole),
    ),
    colourNote(table, side, colour),
    trail(table, tree, chosen, choose),
    flame.element,
    callTable(context, table, tree, side),
  ];
}
