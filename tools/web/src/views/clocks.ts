/** Clocks: can the order of arrivals be trusted? */
import { drawChart } from "../chart";
import { band, type BandFigure } from "../cells";
import type { ColumnOf, Job, Table } from "../data";
import { h, name, type Child } from "../dom";
import * as f from "../format";
import { grid } from "../grid";
import { adviceState, ranksOf, severalRanks, worstUncertainty } from "../job";
import { roundTicks } from "../stack";
import { empty, figure, heading, note, section, tip, lines } from "../ui";
import { tablesNamed, type View } from "../view";
import { clockFinding, clocksOf } from "./summary";

const ROWS_MAX = 64;
const SKEWS_MAX = 1000; // in the median, a row counts as at most this many operations

type Domain = ReturnType<typeof domainsOf>[number];

/* Returns the groups of ranks that share a clock. `row`: the group's first row in clock.rank. */
function domainsOf(job: Job) {
  const table = job.table("clock.rank");
  return [...table.by("domain")].map(([domain, rows]) => {
    const hosts = [...new Set(rows.map((row) => table.text(row, "host") ?? ""))];
    const shared = [...(table.by("host").get(hosts[0]!) ?? [])].length > rows.length;
    return {
      row: rows[0]!,
      label: shared ? `${hosts[0]}, clock ${domain}` : hosts.join(", "),
      ranks: rows.map((row) => table.num(row, "rank") ?? -1),
    };
  });
}

// May I trust arrival order? --------------------------------------------------------------------------

/* Returns the median skew of arrivals between hosts; null if there is none. Clocks must be more accurate than this skew. */
function medianSkew(job: Job): number | null {
  const table = job.table("collectives.kind"),
    groups = job.table("groups.group");
  const across = new Set(groups.all.filter((row) => groups.text(row, "reach") === "inter").map((row) => groups.text(row, "group")));
  return f.median(
    table.rows.flatMap((_, row) => {
      const skew = table.num(row, "median_skew_ns");
      return skew === null || !across.has(table.text(row, "group"))
        ? []
        : Array<number>(Math.min(SKEWS_MAX, table.amount(row, "count"))).fill(skew);
    }),
  );
}

function answer(job: Job): [string, string] {
  const found = clockFinding(job),
    uncertainty = worstUncertainty(job),
    skew = medianSkew(job);
  const text = found.text;
  if (!severalRanks(job)) return ["One rank has one clock", "There is nothing to compare it with."];
  if (uncertainty === null)
    return ["The order of arrivals is not known", `${text} Merged with --align none, or no two clocks could be aligned.`];
  if (clocksOf(job) === 1) return found.state === "good" ? ["The order of arrivals can be trusted", text] : [found.title, text];
  if (ranksOf(job).hostCount === 1)
    return [
      found.title,
      `${text} The devices of one host have their own clocks here: arrivals closer than ${f.time(2 * Math.SQRT2 * uncertainty)} count as tied.`,
    ];
  if (skew === null)
    return [
      `${found.title}: no collective across hosts is complete`,
      `${text} The ranks of one host share its clock, so their order can be trusted.`,
    ];
  const tie = 2 * Math.SQRT2 * uncertainty;
  if (tie > skew)
    return [
      `Arrivals differ by less than the clocks can resolve (±${f.time(tie)})`,
      `${text} The ranks of the median collective across hosts arrive within ${f.time(skew)}. Arrivals closer than ${f.time(tie)} on two hosts count as tied.`,
    ];
  if (found.state !== "good") return [found.title, `${text} Treat the order of arrivals with care.`];
  return [
    `Arrivals on two hosts can be ordered if ${f.time(tie)} or more apart`,
    `${text} Closer ones count as tied. The ranks of the median collective across hosts arrive within ${f.time(skew)}.`,
  ];
}

type Check = ColumnOf<"clock.check">;

function checks(job: Job): HTMLElement {
  const table = job.table("clock.check");
  const of = (label: string, column: Check, below: Child): BandFigure => [
    label,
    `clock.check ${column}: ${table.docOf(column)}`,
    figure(job, f.grouped(table.amount(0, column)), { table: "clock.check", row: 0, column }),
    table.num(0, column) === 0 ? "" : below,
  ];
  const worst = (column: Check) =>
    table.num(0, column) === null
      ? ""
      : ["by at most ", figure(job, f.time(table.num(0, column)), { table: "clock.check", row: 0, column })];
  const matched = table.amount(0, "matched");
  return section(
    "Does an end come before a begin?",
    `No rank can end a collective before the last one began it. ${f.grouped(matched)} of ${f.count(table.amount(0, "collectives"), "operation")} are complete, with a kernel of each of their ranks; those that synchronise can show where clocks violate this.`,
    band([
      of("Violations as recorded", "violations_before", worst("worst_before_ns")),
      of("Violations on aligned clocks", "violations_after", worst("worst_after_ns")),
      of("Suspect operations", "suspect", "members contradict one another"),
      of("Incomplete operations", "incomplete", "kernels of some members are missing or not matched"),
      of("Unmatched kernels", "unmatched", "they belong to no operation"),
    ]),
  );
}

/* Draws a row for each clock. Dot: offset. Bar: uncertainty. Line: bounds from causality. */
function offsets(job: Job): HTMLElement {
  const table = job.table("clock.rank"),
    all = domainsOf(job),
    title = "How far the clocks were off";
  if (all.length < 2 || (table.least("offset_ns") === 0 && table.most("offset_ns") === 0)) {
    const fitted = table.groups(["method"]).some(({ texts: [method] }) => method === "fit");
    return section(
      title,
      all.length < 2
        ? "All ranks share one clock: they ran on one host."
        : fitted
          ? "The ends of collectives show no clock to be off: every offset is 0."
          : "Clocks were taken as recorded: no offset was applied.",
    );
  }
  const size = (domain: Domain) => Math.abs(table.amount(domain.row, "offset_ns"));
  const largest = [...all].sort((a, b) => size(b) - size(a)).slice(0, ROWS_MAX),
    shown = all.filter((domain) => largest.includes(domain));
  const ends = shown.flatMap(({ row }) => {
    const offset = table.amount(row, "offset_ns"),
      sigma = table.amount(row, "uncertainty_ns");
    return [offset - sigma, offset + sigma];
  });
  const low = Math.min(0, f.least(ends)),
    high = Math.max(0, f.most(ends)),
    room = (high - low || 1) * 0.03;
  const from = low - room,
    to = high + room,
    unit = f.timeUnit([from, to]);
  const at = (ns: number) => `${(100 * (Math.max(from, Math.min(to, ns)) - from)) / (to - from)}%`;
  return section(
    title,
    note(
      `Aligned minus recorded time in the middle of the recording, ${unit.name}. Dot: the offset; thick bar: its uncertainty, plus and minus; thin line: the range that causality allows.`,
      shown.length < all.length ? ` The ${ROWS_MAX} clocks farthest off; the table has all.` : "",
    ),
    h(
      "div.offsets",
      h(
        "div",
        { role: "list" },
        shown.map((domain) => offsetRow(table, domain, at)),
      ),
      h(
        "div.offset.axis",
        { "aria-hidden": true },
        h("span"),
        h(
          "span.offset-box",
          offsetTicks(from, to, unit).map((value) =>
            h("span.tick", { style: { left: at(value * unit.factor) } }, f.grouped(value, Math.abs(to - from) / unit.factor < 5 ? 1 : 0)),
          ),
        ),
        h("span.unit", unit.name),
      ),
    ),
  );
}

function offsetTicks(from: number, to: number, unit: f.Unit): number[] {
  const above = roundTicks(Math.max(to, -from) / unit.factor, 4),
    below = above.slice(1).map((value) => -value);
  return [...below.reverse(), ...above].filter((value) => value >= from / unit.factor && value <= to / unit.factor);
}

function offsetRow(table: Table<"clock.rank">, { row, label, ranks }: Domain, at: (ns: number) => string): HTMLElement {
  const offset = table.amount(row, "offset_ns"),
    sigma = table.amount(row, "uncertainty_ns");
  const low = table.num(row, "low_ns"),
    high = table.num(row, "high_ns"),
    set = table.num(row, "set_ns");
  const span = (cls: string, from: number, to: number) =>
    h("span", { class: cls, style: { left: at(from), width: `calc(${at(to)} - ${at(from)})` } });
  const text = `${f.time(offset)} ± ${f.time(sigma)}`;
  return h(
    "div.offset",
    { role: "listitem", "data-host": label },
    h("span.row-label", name(label, 40)),
    tip(
      h(
        "span.offset-box",
        { role: "img", "aria-label": text },
        h("span.offset-zero", { style: { left: at(0) } }),
        low !== null && high !== null && span("offset-bound", low, high),
        span("offset-bar", offset - sigma, offset + sigma),
        h("span.offset-dot", { style: { left: at(offset) } }),
      ),
      () =>
        lines(
          label,
          `ranks ${f.ranges(ranks)}`,
          `offset ${text}`,
          `drift ${f.grouped(table.amount(row, "drift_ppb"), 1)} ppb`,
          low !== null && high !== null ? `must be from ${f.time(low)} to ${f.time(high)}` : "nothing bounds it",
          set === null ? null : `was changed by about ${f.time(set)} while it was recorded`,
        ),
    ),
    h("span.row-end", text),
  );
}

function residuals(job: Job): HTMLElement {
  const table = job.table("clock.rank"),
    title = "What remains, by rank";
  const points = table.rows.flatMap((_, row) => {
    const rank = table.num(row, "rank"),
      value = table.num(row, "residual_ns");
    return rank === null || value === null ? [] : [{ rank, value, row }];
  });
  if (points.length < 2 || points.every((point) => point.value === 0))
    return section(
      title,
      points.length < 2 || table.sum("anchors") === 0
        ? "No collective between hosts shows it."
        : "Every rank’s ends agree with the others’ to the nanosecond.",
    );
  const unit = f.timeUnit(points.map((point) => point.value)),
    far = points.reduce((a, b) => (Math.abs(b.value) > Math.abs(a.value) ? b : a));
  return section(
    title,
    `A rank’s median end of a collective against that of all ranks, ${unit.name}: the error of its GPU’s clock and the effect of its place in rings and trees. The largest is rank ${far.rank}, ${f.time(far.value)}.`,
    drawChart({
      label: `Residual by rank, ${unit.name}`,
      height: 240,
      tip: (mark) => `rank ${points[mark]!.rank}: ${f.time(points[mark]!.value)}`,
      plot: (theme) => {
        const values = points.map((point) => point.value / unit.factor),
          ranks = points.map((point) => point.rank),
          room = 0.08 * (f.most(values) - f.least(values) || 1);
        return {
          x: { name: "rank", whole: true, min: f.least(ranks) - 0.5, max: f.most(ranks) + 0.5 },
          y: { name: unit.name, min: Math.min(0, f.least(values)) - room, max: Math.max(0, f.most(values)) + room },
          marks: points.map((point, i) => ({ at: [point.rank, values[i]!], size: points.length > 200 ? 4 : 8, fill: theme["ink-2"] })),
        };
      },
    }),
  );
}

const METHODS: Readonly<Record<string, string>> = {
  fit: "by the ends of collectives between clocks",
  wall: "as recorded",
  none: "not comparable",
};

function how(job: Job): HTMLElement {
  const table = job.table("clock.rank"),
    { hostCount } = ranksOf(job);
  const methods = table
    .groups(["method"])
    .map(({ texts: [method], n }) => `${f.count(n, "rank")} ${METHODS[String(method)] ?? String(method)}`);
  const components = table.different("component"),
    early = table.sum("early_kernels"),
    earliest = f.most(table.rows.map((_, row) => table.amount(row, "earliest_ns")));
  const set = [...new Set(table.all.filter((row) => table.num(row, "set_ns") !== null).map((row) => table.text(row, "host") ?? ""))];
  const apart =
      components === 1
        ? "All clocks can be compared."
        : `${f.grouped(components)} parts of the job share no collective: only the hosts’ times of day relate them, so arrivals are compared within a part only.`,
    launched =
      early === 0
        ? "No GPU event begins before its launch."
        : `${f.count(early, "GPU event begins before its launch", "GPU events begin before their launch")}, by up to ${f.time(earliest)}: over about 30 µs, a GPU’s clock disagrees with its host’s.`,
    whose =
      table.leftOut > 0
        ? `The clocks of ${f.count(table.known("set_ns"), "rank")} were set while they were recorded, among them those of: `
        : `${f.count(set.length, "host’s clock was", "hosts’ clocks were")} set while it was recorded: `;
  return section(
    "How the clocks were aligned",
    h(
      "ul.plain",
      h("li", `${f.count(hostCount, "host")}, ${f.count(table.different("domain"), "clock")}: ${methods.join(", ")}.`),
      h("li", apart),
      h("li", launched),
      table.known("set_ns") > 0 &&
        h(
          "li",
          h("b.bad", whose),
          set.map((host, i) => [i > 0 && ", ", name(host, 60)]),
          ".",
        ),
    ),
    grid(
      table,
      { first: 16 },
      "rank; host; method; domain: clock; component: part; offset_ns: offset",
      { column: "drift_ppb", label: "drift, ppb", write: (value) => f.grouped(value, f.digitsOf(value)) },
      "uncertainty_ns: uncertainty; low_ns: offset at least; high_ns: offset at most; residual_ns: residual; anchors",
      "early_kernels: early events",
    ),
  );
}

export const clocks: View = {
  id: "clocks",
  title: "Clocks",
  needs: tablesNamed("job.rank clock.rank clock.check collectives.kind groups.group"),
  judges: tablesNamed("job.rank clock.rank collectives.kind"),
  state: (job) => (job.table("clock.rank").n > 0 && job.table("job.rank").n > 0 ? clockFinding(job).state : adviceState(job, "clocks")),
  parts: [
    ({ job }) => [
      heading(...answer(job)),
      severalRanks(job) ? [checks(job), offsets(job), residuals(job)] : empty("Merge the traces of all ranks to compare their clocks."),
      how(job),
    ],
  ],
};
