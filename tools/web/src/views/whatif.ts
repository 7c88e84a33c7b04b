/** What if: which fix would save most of a step, and what is on the critical path? */
import { band, type BandFigure } from "../cells";
import type { Job } from "../data";
import { breakable, cut, h, shortNames, visible, type Child } from "../dom";
import * as f from "../format";
import { hasSteps, ranksOf, savedText, severalRanks, stepWord, straggling, wholeWord } from "../job";
import { addressOf, pathOf, type Piece } from "../timeline/path";
import { stacks } from "../stack";
import { empty, figure, heading, legend, link, note, section, sign, tip, lines, told } from "../ui";
import { href, tablesNamed, type View } from "../view";

const BARS_MAX = 8,
  RANKS_MAX = 8,
  STEPS_MAX = 200,
  NUMBERED_MAX = 24;
/** LEAST_PCT: smaller savings [% of a step] have no bar. LEAST_RANGE: narrower ranges [% of the width] are not drawn. */
const LEAST_PCT = 0.1,
  LEAST_RANGE = 1;
/** If the waste is at least WASTE_PCT [%], the list of views shows a sign. Savings of at least WORTH_PCT [%] are mentioned. */
const WASTE_PCT = 5,
  WORTH_PCT = 1;
/** If at least this share [%] of the critical path has no recorded cause, the view mentions it. */
const BEFORE_PCT = 1;
/** Share of the ranks, the slowest ones, that are fixed together [%]; the same as in whatif.job. */
const WORST_PCT = 3;

type Group = Readonly<Record<"what" | "title" | "one", string>>;

const GROUPS: readonly Group[] = [
  { what: "plan", title: "A plan: rank after rank, each added to those before it", one: "rank" },
  { what: "rank", title: "One rank at the others’ pace", one: "rank" },
  { what: "host", title: "One host at the others’ pace", one: "host" },
  { what: "stage", title: "One pipeline stage at the others’ pace", one: "stage" },
  { what: "kind", title: "One kind of work", one: "kind" },
  { what: "kernel", title: "One kernel", one: "kernel" },
];
/** Groups whose items exist also in a job with one rank. */
const OF_ONE_RANK: readonly string[] = ["kind", "kernel"];

const KINDS: Readonly<Record<string, string>> = {
  compute: "Compute kernels",
  copy: "Copies",
  host: "Host work",
  launch: "Lags before kernels",
  transfer: "Transfers",
  stall: "Stalls of the host",
  input: "Waiting for batches",
  gc: "Garbage collection (Python)",
};
/* For each kind of work, the kinds of path pieces that belong to it. */
const PIECES: Readonly<Record<string, readonly string[]>> = {
  compute: ["compute"],
  copy: ["copy"],
  host: ["host", "call"],
  stall: ["host", "call"],
  input: ["host"],
  gc: ["host"],
  launch: ["launch", "gap", "wait"],
  transfer: ["transfer"],
};

function items(job: Job, what: string): number[] {
  const table = job.table("whatif.item");
  return table.all.filter((row) => table.text(row, "what") === what);
}

const KERNEL_LENGTH = 40; // number of characters that fit into two lines of a label

function kernelLabels(job: Job): Map<string, string> {
  const names = items(job, "kernel").map((row) => job.table("whatif.item").text(row, "name") ?? ""),
    shown = shortNames(names, KERNEL_LENGTH);
  return new Map(names.map((name, i) => [name, shown[i]!]));
}

/** Returns the label of an item. Items of a plan add one rank each, so their label is only this rank. */
function labelOf(job: Job, row: number): string {
  const table = job.table("whatif.item"),
    what = table.text(row, "what") ?? "",
    name = visible(table.text(row, "name") ?? "");
  if (what === "plan") return `${(table.num(row, "ranks") ?? 1) > 1 ? "and " : ""}rank ${name.slice(name.lastIndexOf(",") + 1).trim()}`;
  return what === "kind" ? (KINDS[name] ?? name) : what === "kernel" ? name : what === "host" ? name : `${what} ${name}`;
}

// Where on the path ---------------------------------------------------------------------------------

function belongsTo(job: Job, row: number): (piece: Piece) => boolean {
  const table = job.table("whatif.item"),
    what = table.text(row, "what"),
    name = table.text(row, "name") ?? "";
  if (what === "rank") return (piece) => piece.rank === Number(name);
  if (what === "plan") {
    const last = Number(name.slice(name.lastIndexOf(",") + 1));
    return (piece) => piece.rank === last;
  }
  if (what === "kernel") return (piece) => piece.kind === "compute" && piece.name === name;
  if (what === "kind") return (piece) => PIECES[name]?.includes(piece.kind) ?? false;
  if (what !== "host") return () => false;
  const { host } = ranksOf(job);
  return (piece) => host.get(piece.rank) === name;
}

/** Returns the address of a step's path on the timeline. The pieces of a step are contiguous. */
function pathAt(path: readonly Piece[], step: number | null, piece?: Piece): string {
  const first = path.findIndex((each) => each.step === step);
  if (first < 0) return href("timeline", { path: 1 });
  let last = first;
  while (path[last + 1]?.step === step) last++;
  const begin = path[first]!.begin,
    end = path[last]!.end,
    margin = Math.round((end - begin) * 0.02);
  return href("timeline", { path: 1, t: `${Math.max(0, begin - margin)}-${end + margin}`, ...(piece ? { piece: addressOf(piece) } : {}) });
}

/* Returns the address of an item's longest piece on the timeline, in the step in which the item takes most of the critical path. */
function linkOf(job: Job, path: readonly Piece[], row: number): string {
  const own = path.filter(belongsTo(job, row)),
    sums = new Map<number, number>();
  for (const piece of own) sums.set(piece.step, (sums.get(piece.step) ?? 0) + piece.end - piece.begin);
  let step: number | null = null;
  for (const [each, sum] of sums) if (step === null || sum > sums.get(step)!) step = each;
  const there = own.filter((piece) => piece.step === step);
  return pathAt(path, step ?? worstStep(job, path), longestOf(there));
}

/* Returns the step that loses most time, of the steps whose critical path is in the page. */
function worstStep(job: Job, path: readonly Piece[]): number | null {
  const table = job.table("whatif.step"),
    have = new Set(path.map((piece) => piece.step)),
    lost = (row: number) => table.amount(row, "step_ns") - table.amount(row, "ideal_ns"),
    rows = table.all.filter((row) => have.has(table.num(row, "step")!));
  return table.num(
    rows.reduce((a, b) => (lost(b) > lost(a) ? b : a), rows[0] ?? -1),
    "step",
  );
}

// What would help most ------------------------------------------------------------------------------

function wordsOf(job: Job, row: number, label: string): Child {
  const table = job.table("whatif.item"),
    saved = table.num(row, "saved_ns"),
    most = table.num(row, "saved_most_ns"),
    next = table.num(row, "next_rank");
  const hours = table.num(row, "gpu_hours_per_day");
  return lines(
    label,
    `${f.time(saved)} of ${wholeWord(job)} saved, ${f.percent(table.num(row, "saved_pct"), 1)}`,
    most !== saved && `${f.time(most)} if the time without a recorded cause went as well`,
    table.cell(row, "sure") !== true && "Not sure: see what these figures rest on.",
    `${f.time(table.num(row, "path_ns"))} of the critical path is on it`,
    hours !== null && `${f.grouped(hours, f.digitsOf(hours))} GPU hours a day`,
    next !== null && `then rank ${next} has most of the path`,
  );
}

type Scale = Readonly<{ most: number; unit: f.Unit; digits: number }>;

function bar(job: Job, path: readonly Piece[], row: number, scale: Scale, short: string | undefined): HTMLElement {
  const table = job.table("whatif.item"),
    label = labelOf(job, row),
    sure = table.cell(row, "sure") === true;
  const saved = table.amount(row, "saved_ns"),
    most = table.num(row, "saved_most_ns") ?? saved;
  const place = (ns: number) => `${(100 * Math.max(0, ns)) / scale.most}%`;
  const write = (ns: number) => f.scaled(ns, scale.unit, scale.digits);
  const number = (column: "saved_ns" | "saved_most_ns", ns: number) => figure(job, write(ns), { table: "whatif.item", row, column });
  const ends = [number("saved_ns", saved), number("saved_most_ns", most)] as const;
  const numbers = write(saved) === write(most) ? [ends[0]] : [ends[saved < most ? 0 : 1], "–", ends[saved < most ? 1 : 0]];
  const low = Math.min(saved, most),
    high = Math.max(saved, most);
  const percent = f.percent(table.num(row, "saved_pct"), 1),
    words = `${label}: ${f.time(saved)}, ${percent}${sure ? "" : ", not sure"}`,
    range = { left: place(low), width: `calc(${place(high)} - ${place(low)})` },
    wide = (100 * (high - low)) / scale.most >= LEAST_RANGE;
  const box = h(
    "div.bar-box.saving-box",
    { role: "img", "aria-label": words },
    h("span", { class: `piece fill-${sure ? "saved" : "unsure"}`, "data-ns": saved, style: { width: place(saved) } }),
    wide && h("span.saving-range", { "data-most": most, style: range }),
  );
  return h(
    "div.saving",
    { role: "listitem", "data-what": table.text(row, "what") ?? "", "data-sure": String(sure) },
    h(
      "a.row-label",
      { href: linkOf(job, path, row), title: label.length > KERNEL_LENGTH ? cut(label, 400) : undefined },
      h("bdi", breakable(short ?? cut(label, 100))),
    ),
    tip(box, () => wordsOf(job, row, label)),
    h("span.row-end", ...numbers),
    h("span.row-end", figure(job, percent, { table: "whatif.item", row, column: "saved_pct" })),
  );
}

function isBar(job: Job, row: number): boolean {
  const table = job.table("whatif.item"),
    saved = table.num(row, "saved_ns"),
    whole = job.table("whatif.job").amount(0, "step_ns");
  return saved !== null && 100 * saved >= LEAST_PCT * whole;
}

/* Writes how many items have no bar, and why. Returns false if there is nothing to say. */
function rest(job: Job, group: Group, rows: readonly number[], left: number): Child {
  if (job.table("whatif.job").num(0, "ideal_ns") === null && group.what !== "kind" && group.what !== "kernel") return false; // the savings are unknown
  const table = job.table("whatif.item"),
    several = (n: number) => f.count(n, group.one);
  const small = rows.filter((row) => table.num(row, "saved_ns") !== null && !isBar(job, row));
  const most = Math.max(0, ...small.map((row) => table.amount(row, "saved_most_ns"))),
    whole = job.table("whatif.job").amount(0, "step_ns");
  const untried = rows.filter((row) => table.num(row, "saved_ns") === null).length;
  const little = (n: number, pct: string) => `${several(n)} would ${n === 1 ? "save" : "each save"} under ${pct}`,
    more = 100 * most >= WORTH_PCT * whole && `, or up to ${f.time(most)} if the time without a recorded cause went as well`,
    parts = f.joined(
      "; ",
      left > 0 && `${several(left)} more that ${left === 1 ? "saves" : "save"} less`,
      table.leftOut > 0 && group.what === "rank" && "others are only in the store",
      small.length > 0 && `${little(small.length, f.percent(LEAST_PCT, 1))}${more || ""}`,
      untried > 0 && little(untried, f.percent(0.05, 2)),
    );
  return parts !== "" && h("p.note.saving-rest", `${parts}.`);
}

const titleOf = (job: Job, { what, title }: Group): string =>
  what === "kind" || what === "kernel" ? `${title} ${severalRanks(job) ? "as on the other ranks" : "at its usual pace"}` : title;

function savings(job: Job, path: readonly Piece[]): HTMLElement {
  const table = job.table("whatif.item"),
    title = "What would help most",
    kernels = kernelLabels(job);
  const groups = GROUPS.filter(({ what }) => severalRanks(job) || OF_ONE_RANK.includes(what))
    .map((group) => {
      const rows = items(job, group.what),
        bars = rows.filter((row) => isBar(job, row));
      if (group.what !== "plan") bars.sort((a, b) => table.num(b, "saved_ns")! - table.num(a, "saved_ns")!);
      return { group, rows, bars: bars.slice(0, BARS_MAX), left: Math.max(0, bars.length - BARS_MAX) };
    })
    .filter(({ rows }) => rows.length > 0)
    .map((each) => ({ ...each, counted: each.group.what !== "plan" && rest(job, each.group, each.rows, each.left) }))
    .filter(({ bars, counted }) => bars.length > 0 || counted !== false);
  const shown = groups.flatMap(({ bars }) => bars),
    known = job.table("whatif.job").num(0, "ideal_ns") !== null;
  const values = shown.flatMap((row) => [table.num(row, "saved_ns"), table.num(row, "saved_most_ns")]);
  const unit = f.timeUnit(values),
    scale: Scale = { most: Math.max(1, ...values.map((v) => v ?? 0)), unit, digits: f.columnDigits(values, unit) };
  if (shown.length === 0)
    return section(
      title,
      empty(
        known
          ? `Nothing that could be fixed saves ${f.percent(LEAST_PCT, 1)} of ${wholeWord(job)}.`
          : "How ranks delay one another is not known, so neither is what fixing one would save.",
      ),
    );
  const sure = shown.some((row) => table.cell(row, "sure") === true),
    unsure = shown.some((row) => table.cell(row, "sure") !== true),
    ranged = values.some((v, i) => i % 2 === 1 && v !== values[i - 1]);
  return section(
    title,
    `How much shorter ${wholeWord(job)} would be, by replay, with one thing at ${paceWord(job)}${severalRanks(job) ? ": wall time, not waiting summed over ranks" : ""}. A name leads to where it is on the critical path.`,
    legend(
      f.joined(
        "; ",
        sure && "saved: Saved",
        unsure && "unsure: Saved, but uncertain",
        ranged && "most: Saved if the time without a recorded cause went as well",
      ),
    ),
    h(
      "div.savings",
      h("div.saving.head", { "aria-hidden": true }, h("span"), h("span"), h("span.row-end", unit.name), h("span.row-end", "share")),
      groups.map(({ group, bars, counted }) => [
        h("div.stack-heading", titleOf(job, group)),
        h(
          "div",
          { role: "list", "aria-label": titleOf(job, group) },
          bars.map((row) => bar(job, path, row, scale, group.what === "kernel" ? kernels.get(table.text(row, "name") ?? "") : undefined)),
        ),
        counted,
      ]),
    ),
  );
}

/* Draws a column for each step. The height of a column is the step's length. Its upper part is the possible saving. */
function stepStrip(job: Job, path: readonly Piece[]): HTMLElement | null {
  const table = job.table("whatif.step");
  if (!hasSteps(job) || table.n < 2 || table.nums("ideal_ns").every((ideal) => ideal === null)) return null;
  const all = table.n + table.leftOut,
    each = Math.ceil(all / STEPS_MAX),
    length = (row: number) => table.amount(row, "step_ns");
  const low = table.least("step") ?? 0,
    high = table.most("step") ?? 0,
    runs = new Map<number, number>();
  for (const row of table.rows.keys()) {
    const place = table.leftOut === 0 ? row : ((table.num(row, "step")! - low) / (high - low + 1)) * all;
    const run = Math.floor(place / each),
      best = runs.get(run);
    if (best === undefined || length(row) > length(best)) runs.set(run, row);
  }
  const columns = [...runs.values()];
  const most = Math.max(1, ...columns.map(length)),
    numbered = Math.ceil(columns.length / NUMBERED_MAX),
    unit = f.timeUnit([most]);
  const place = (ns: number) => `${(100 * Math.max(0, ns)) / most}%`;
  const column = (row: number, i: number) => {
    const ns = length(row),
      ideal = table.num(row, "ideal_ns"),
      lost = ideal === null ? 0 : Math.max(0, ns - ideal),
      step = table.num(row, "step");
    const best = table.num(row, "best_rank"),
      partial = table.cell(row, "partial") === true;
    const data = { "data-step": step ?? "", "data-ns": ns, "data-ideal": ideal ?? "" },
      label = `${stepWord(job, step)}: ${f.time(ns)}, at ${paceWord(job)} ${f.time(ideal)}`,
      shown = h(
        "a.cell.step-column",
        { href: pathAt(path, step), ...data, "aria-label": label },
        h("span.piece.fill-saved", { style: { height: place(lost) } }),
        h("span", { class: `piece fill-ideal${partial ? " partial" : ""}`, style: { height: place(ns - lost) } }),
      ),
      words = () =>
        lines(
          stepWord(job, step),
          `${f.time(ns)}, with everything at ${paceWord(job)} ${f.time(ideal)}`,
          best !== null && `fixing rank ${best} makes it ${f.time(table.num(row, "saved_ns"))} shorter`,
          partial && "not all ranks recorded it",
        );
    return h("div.step-place", tip(shown, words), h("span.step-number", i % numbered === 0 ? String(step) : ""));
  };
  return section(
    "Step by step",
    `Columns from 0 to ${f.scaled(most, unit)} ${unit.name}; one leads to the step’s path.${each > 1 ? ` Each is the longest ${table.leftOut > 0 ? "that this page holds " : ""}of ${each} steps.` : ""}${columns.some((row) => table.cell(row, "partial") === true) ? " Hatched: not all ranks recorded the step." : ""}`,
    legend(`saved: Saved with everything at ${paceWord(job)}; ideal: What is left`),
    h("div.step-strip", columns.map(column)),
  );
}

/** The parts of the critical path. Each has its colour, its label, and its column of criticalpath.rank. */
const PARTS = (
  [
    ["compute", "Compute", "compute_ns"],
    ["copies", "Copies", "copy_ns"],
    ["transfer", "Transfer", "transfer_ns"],
    ["unmatched", "Communication that joins no ranks", "comm_ns"],
    ["hostwork", "Host, between calls", "host_ns"],
    ["held", "Runtime and driver calls", "call_ns"],
    ["sync", "Ends of calls that waited for the GPU", "sync_ns"],
    ["between", "Lags before events", "launch_ns", "gap_ns", "wait_ns"],
    ["rest", "Before anything recorded", "before_ns"],
  ] as const
).map(([key, label, ...columns]) => ({ key, label, columns }));

function pathSection(job: Job, path: readonly Piece[]): HTMLElement | null {
  const table = job.table("criticalpath.rank"),
    steps = job.table("criticalpath.step");
  const order = table.sorted("-path_ns").filter((row) => table.amount(row, "path_ns") > 0);
  if (order.length === 0) return null;
  const parts = (row: number) => PARTS.map(({ columns }) => f.sum(columns.map((column) => table.num(row, column))));
  const shown = order.slice(0, RANKS_MAX).map((row) => ({
    label: `rank ${table.num(row, "rank")}`,
    values: parts(row),
    href: rankLink(path, table.num(row, "rank")),
    share: table.num(row, "path_share"),
    data: { "data-rank": table.num(row, "rank") ?? "" },
  }));
  const used = PARTS.filter((_, p) => shown.some((row) => row.values[p]! > 0)),
    inPage = new Set(path.map((piece) => piece.step)).size;
  return section(
    "Where the critical path is",
    note(
      "The chain that decides when each step ends, over all steps.",
      severalRanks(job) && " Where ranks meet it continues on the one that came last, so it never waits; other ranks have slack.",
    ),
    legend(used.map((part) => [part.key, part.label])),
    stacks(shown, { parts: PARTS, end: (row) => f.percent(100 * ((row as (typeof shown)[number]).share ?? 0), 1) }),
    order.length > shown.length &&
      note(
        `${f.count(order.length - shown.length, "more rank has", "more ranks have")} less of it; `,
        link("all of them", "tables", { name: "criticalpath.rank" }),
      ),
    job.leftOut("criticalpath.piece") > 0 &&
      note(
        `This page holds the path of the ${f.count(inPage, "longest step", "longest steps")} of ${f.grouped(steps.n + steps.leftOut)}: `,
        link("its pieces", "tables", { name: "criticalpath.piece" }),
      ),
  );
}

const longestOf = (pieces: readonly Piece[]): Piece | undefined =>
  pieces.reduce<Piece | undefined>((a, b) => (a && a.end - a.begin >= b.end - b.begin ? a : b), undefined);

function rankLink(path: readonly Piece[], rank: number | null): string {
  const longest = longestOf(path.filter((piece) => piece.rank === rank));
  return pathAt(path, longest?.step ?? null, longest);
}

/* Names the ideal pace: the pace of the other ranks or, in a job of one rank, the rank's own usual pace. */
const paceWord = (job: Job): string => (severalRanks(job) ? "its peers’ pace" : "its usual pace");

function title(job: Job): string {
  const waste = job.table("whatif.job").num(0, "waste_pct");
  if (waste === null) return "What fixing would save is not known";
  const amount = Math.abs(waste) < 0.05 ? "as long as now" : `${f.percent(Math.abs(waste), 1)} ${waste > 0 ? "less" : "more"}`;
  return `With everything at ${paceWord(job)} ${wholeWord(job)} takes ${amount}`;
}

/* If one rank causes more than half of the waste, writes its share. */
function oneRank(job: Job): Child {
  const table = job.table("whatif.item"),
    whole = job.table("whatif.job"),
    waste = whole.amount(0, "step_ns") - whole.amount(0, "ideal_ns");
  const saved = (row: number) => table.amount(row, "saved_ns"),
    ranks = table.all.filter((row) => table.text(row, "what") === "rank");
  const first = ranks.reduce((a, b) => (saved(b) > saved(a) ? b : a), ranks[0] ?? -1),
    own = f.share(saved(first), waste) ?? 0;
  return own > 50 && `; rank ${table.text(first, "name")} alone ${f.percent(own)}`;
}

function figures(job: Job): HTMLElement {
  const table = job.table("whatif.job");
  const show = (
    column: "step_ns" | "ideal_ns" | "slowdown" | "waste_pct" | "worker_share" | "stage_share",
    write: (value: number | null) => string,
  ) => figure(job, write(table.num(0, column)), { table: "whatif.job", row: 0, column });
  const of = (label: string, column: Parameters<typeof show>[0], write: (value: number | null) => string, below?: Child): BandFigure => {
    return [label, table.docOf(column), show(column, write), below];
  };
  const share = (value: number | null) => f.percent(value === null ? null : 100 * value),
    worst = Math.ceil((WORST_PCT * job.allRowsOf("job.rank")) / 100),
    who = worst === 1 ? "The worst rank" : `The worst ${f.percent(WORST_PCT)} (${f.grouped(worst)} ranks)`,
    alone = worst > 1 && table.num(0, "worker_share") !== null && oneRank(job);
  return band([
    of(hasSteps(job) ? "Mean step" : "Recording", "step_ns", f.time),
    of(`At ${paceWord(job)}`, "ideal_ns", f.time),
    of("Slowdown S", "slowdown", (v) => (v === null ? f.NONE : f.grouped(v, 3))),
    of("Waste", "waste_pct", (v) => f.percent(v, 1)),
    ...(severalRanks(job) ? [of(who, "worker_share", share, ["of the waste", alone])] : []),
    ...(table.num(0, "stage_share") === null ? [] : [of("Last stage", "stage_share", share, "of the waste")]),
  ]);
}

function unrecorded(job: Job): string {
  const steps = job.table("criticalpath.step"),
    share = f.share(steps.sum("before_ns"), steps.sum("step_ns")) ?? 0;
  return share >= BEFORE_PCT
    ? ` ${f.percent(share, 1)} of the critical path is before the first recorded event of what it leads to: what would shorten that is not known.`
    : "";
}

export const whatif: View = {
  id: "whatif",
  title: "What if",
  needs: tablesNamed("job.rank stragglers.job whatif.job whatif.item whatif.step criticalpath.step criticalpath.rank criticalpath.piece"),
  shown: (job) => job.rowsOf("whatif.job") > 0,
  state: (job) => {
    const table = job.table("whatif.job");
    return table.cell(0, "sure") === true && table.amount(0, "waste_pct") >= WASTE_PCT ? "warn" : undefined;
  },
  parts: [
    ({ job }) => {
      const table = job.table("whatif.job"),
        path = pathOf(job),
        sure = table.cell(0, "sure") === true,
        found = straggling(job).state,
        named = found === "bad" || found === "warn" ? job.table("stragglers.job").text(0, "headline") : null,
        said = [named, named === null ? table.text(0, "headline") : savedText(job)]
          .filter((text) => text !== null)
          .map(f.ended)
          .join(" ");
      return [
        said ? heading(title(job), told(said)) : heading(title(job)),
        figures(job),
        h(
          "div.whatif-sure",
          sign(sure ? "good" : "warn"),
          h(
            "p",
            h("b", sure ? "These figures can be relied on. " : "These figures are uncertain. "),
            told(table.text(0, "evidence")),
            unrecorded(job),
          ),
        ),
        savings(job, path),
        stepStrip(job, path),
        pathSection(job, path),
      ];
    },
  ],
};
