/** Stragglers: which rank causes waiting, for which ranks, and is it proven? */
import { inlineBar } from "../cells";
import type { Cell, Job, Table, TableName } from "../data";
import { h, type Child } from "../dom";
import * as f from "../format";
import * as facts from "../job";
import { heatMap } from "../map";
import { controls, empty, heading, legend, link, note, prose, section, tip, lines, chooser, showAll, told } from "../ui";
import { tablesNamed, type Context, type View } from "../view";
import { part } from "./part";
import { hostTable } from "./ranks";

const ROWS_MAX = 32;
const MATRIX_MAX = 32;
const WORST_SHOWN = 8;
const ARRIVALS_MAX = 16, // if an operation has more arrivals, only the EARLIEST first and LATEST last ones are drawn
  EARLIEST = 4,
  LATEST = 8;
const STEPS_MANY = 6; // with fewer steps, a cause cannot be distinguished from chance
const PAIRS_MAX = 512; // tmerge keeps pairs of ranks only for jobs of up to this many ranks
const BESIDE_MAX = 16; // with more ranks, each of the two maps needs the whole width

const cost = (table: Table<"stragglers.rank" | "stragglers.rank_step">, row: number): number =>
  table.amount(row, "direct_ns") + table.amount(row, "indirect_ns");

type Order = "cost" | "rank";

const orderOf = ({ params }: Context): Order => (params.get("order") === "rank" ? "rank" : "cost");

/* Returns the rows of the ranks that cost most, ordered by cost or by rank. */
function costly(job: Job, order: Order): number[] {
  const table = job.table("stragglers.rank");
  const chosen = table.all.sort((a, b) => cost(table, b) - cost(table, a)).slice(0, ROWS_MAX);
  return order === "cost" ? chosen : chosen.sort((a, b) => a - b);
}

const ranks = part(
  "stragglers.rank",
  "Who makes others wait, and who waits",
  {
    note: ({ table }) => [
      `Of ${f.time(table.sum("wait_ns"))} that all ranks together spent waiting for one another in collectives, each nanosecond is charged to the ranks that had not yet arrived, or to those that had delayed them.`,
      table.n + table.leftOut > ROWS_MAX && [
        ` ${f.grouped(table.n + table.leftOut - ROWS_MAX)} ranks that cost less are left out. `,
        link("All of them", "tables", { name: table.name }),
      ],
    ],
    above: ({ context }) => controls(chooser(context, "Order", "order", { cost: "by what they cost", rank: "by rank" }, orderOf(context))),
    rows: ({ job, context }) => costly(job, orderOf(context)),
    sort: ({ context }) => (orderOf(context) === "rank" ? "rank" : "-caused_share"),
    known: true,
  },
  ({ table }) => ({ column: "rank", draw: (row, write) => h(isNamed(table, row) ? "b" : "span", write(table.num(row, "rank"))) }),
  ({ job }) => facts.ranksOf(job).hosts.length > 1 && "host",
  ({ table }) => ({ column: "caused_share", label: "of all waiting", draw: (row) => shareBar(table, row) }),
  "direct_ns: made others wait by itself; indirect_ns: through others; last_arrivals: last in; collectives: of; tied<spare>",
  ({ job }) => job.table("stragglers.step").n > 1 && "steps_led: most in steps",
  "excess_ns: longer by itself; excess_pct: of the steps; relative_speed: speed; wait_ns: waited",
  ({ table }) => table.all.some((row) => isNamed(table, row)) && "verdict<spare>",
);

const isNamed = (table: Table<"stragglers.rank">, row: number): boolean => table.text(row, "verdict") === "straggler";

function shareBar(table: Table<"stragglers.rank">, row: number): HTMLElement {
  const share = 100 * table.amount(row, "caused_share");
  return inlineBar(share, 100, f.percent(share), "wait");
}

/* Removes the beginning that all names share, because a column is narrow. Keeps digits at the end of this beginning. */
function withoutCommon(names: readonly string[]): string[] {
  const first = names[0] ?? "";
  let n = names.length > 1 ? first.length : 0;
  for (const each of names) while (!each.startsWith(first.slice(0, n))) n--;
  while (n > 0 && /\d/.test(first[n - 1]!)) n--;
  return names.map((each) => each.slice(n));
}

/* Returns the ranks or hosts in the matrix: all or, if there are too many, those that cost most. */
function matrixNames(job: Job, nameOf: (rank: number) => string): string[] {
  const ranks = job.table("stragglers.rank"),
    costs = new Map<string, number>();
  ranks.rows.forEach((_, row) => {
    const name = nameOf(ranks.num(row, "rank") ?? -1);
    costs.set(name, (costs.get(name) ?? 0) + cost(ranks, row));
  });
  const kept = new Set([...costs.keys()].sort((a, b) => costs.get(b)! - costs.get(a)!).slice(0, MATRIX_MAX));
  return [...costs.keys()].filter((name) => kept.has(name)); // in rank order
}

/* Makes the matrix of waits. Row: the rank that waits. Column: the rank for which it waits. */
function matrix(job: Job): HTMLElement {
  const pairs = job.table("stragglers.pair"),
    ranks = job.table("stragglers.rank"),
    nRanks = ranks.n + ranks.leftOut;
  const title = "Who waits for whom",
    { host, hosts, hostCount } = facts.ranksOf(job);
  if (pairs.n === 0)
    return nRanks > PAIRS_MAX
      ? h("div", hostTable(job), note(`Which rank waits for which is kept for jobs of up to ${PAIRS_MAX} ranks.`))
      : section(title, empty("No rank waited for another."));
  const byHost = nRanks > MATRIX_MAX && hosts.length > 1,
    what = byHost ? "host" : "rank";
  const nameOf = (rank: number) => (byHost ? (host.get(rank) ?? "") : `rank ${rank}`);
  const names = matrixNames(job, nameOf),
    pairOf = (row: number) => `${nameOf(pairs.num(row, "for_rank")!)}\n${nameOf(pairs.num(row, "rank")!)}`,
    waited = (rows: readonly number[]) => f.sum(rows.map((row) => pairs.num(row, "wait_ns"))),
    sums = new Map([...f.groupBy(pairs.all, pairOf)].map(([pair, rows]) => [pair, waited(rows)]));
  const unit = f.mapUnit(sums.values()),
    everything = pairs.sum("wait_ns"),
    all = byHost ? hostCount : nRanks;
  return section(
    title,
    `Row: the ${what} that waits. Column: the one it waits for, ${unit.name}. A column that stands out is a ${what} that many wait for.`,
    heatMap({
      label: `${title}, ${unit.name}`,
      rows: names,
      columns: withoutCommon(names),
      ramp: "wait",
      cell: (r, c) => {
        const value = sums.get(`${names[r]}\n${names[c]}`) ?? (r === c && !byHost ? null : 0);
        if (value === null) return null;
        return {
          value,
          text: value === 0 ? "·" : f.short(value, unit),
          tip: () =>
            lines(`${names[r]} waits for ${names[c]}`, `${f.time(value)}, ${f.percent(f.share(value, everything), 1)} of all waiting`),
        };
      },
    }),
    pairs.leftOut > 0 &&
      note(
        `Of ${f.grouped(pairs.n + pairs.leftOut)} pairs of ranks this page holds the ${f.grouped(pairs.n)} that waited most, ${f.percent(f.share(f.sum(pairs.nums("wait_ns")), everything), 1)} of all waiting: cells show only these. `,
        link("All of them", "tables", { name: pairs.name }),
      ),
    all > names.length && `The ${names.length} of ${f.grouped(all)} ${what}s that cost most.`,
  );
}

function stepMap(job: Job, order: Order): HTMLElement {
  const table = job.table("stragglers.rank_step");
  const steps = table.values("step");
  if (table.n === 0 || steps.length === 0) return section("Which step, which rank", empty("No operation with waits is in a step."));
  const costs = job.table("stragglers.rank");
  const ranks = costly(job, order).map((row) => costs.num(row, "rank")!);
  const rows = new Map(table.rows.map((_, row) => [`${table.num(row, "rank")}/${table.num(row, "step")}`, row]));
  const unit = f.mapUnit(table.rows.map((_, row) => cost(table, row)));
  return section(
    "Which step, which rank",
    note(
      `Row: the rank that makes others wait. Column: the step, ${unit.name}.`,
      steps.length >= STEPS_MANY && " A row that stands out in every step is a straggler.",
      facts.firstStepsLess(job),
    ),
    heatMap({
      label: `Who made others wait, by rank and step, ${unit.name}`,
      rows: ranks.map((rank) => `rank ${rank}`),
      columns: steps.map((step) => (facts.hasSteps(job) ? String(step) : facts.stepWord(job, step))),
      ramp: "wait",
      cell: (r, c) => {
        const row = rows.get(`${ranks[r]}/${steps[c]}`);
        if (row === undefined) return null;
        const value = cost(table, row);
        return {
          value,
          text: value === 0 ? "·" : f.short(value, unit),
          tip: () =>
            lines(`rank ${ranks[r]}, step ${steps[c]}`, `made others wait ${f.time(value)}, waited ${f.time(table.num(row, "wait_ns"))}`),
        };
      },
    }),
  );
}
/** A rank's part in an operation. Times are in ns from the job's begin. */
type Arrival = Readonly<Record<"rank" | "begin" | "end", number>>;

function instance(
  job: Job,
  row: number,
  arrivals: Arrival[],
  ranks: number,
  domains: ReadonlyMap<number | null, number | null>,
): HTMLElement {
  const worst = job.table("collectives.worst"),
    first = f.least(arrivals.map((a) => a.begin)),
    release = f.most(arrivals.map((a) => a.begin)),
    end = f.most(arrivals.map((a) => a.end)),
    last = worst.num(row, "last_rank"),
    step = worst.num(row, "step"),
    bytes = worst.num(row, "bytes"),
    group = prose(facts.groupName(job, worst.text(row, "group"))).slice(0, 40),
    length = Math.max(1, end - first),
    share = (ns: number) => `${(100 * ns) / length}%`,
    at = (ns: number) => share(ns - first),
    clocks = new Set(arrivals.map((a) => domains.get(a.rank) ?? null)),
    apart = clocks.size > 1 || (job.table("collectives.arrival").leftOut > 0 && job.table("clock.rank").different("domain") > 1),
    u = apart ? (facts.worstUncertainty(job) ?? 0) : 0, // ranks that share a clock have no uncertainty between them
    shown = ranks <= ARRIVALS_MAX ? arrivals : someArrivals(arrivals);
  const lanes = shown.map(({ rank, begin, end: left }) => {
    const free = Math.min(Math.max(release, begin), left),
      tied = last === null && release - begin <= 2 * Math.SQRT2 * u,
      reach = { left: at(Math.max(first, begin - u)), right: share(end - Math.min(end, begin + u)) };
    return h(
      "div.lane",
      h("span.row-label", `rank ${rank}`),
      tip(
        h(
          "span.lane-box",
          h("span.piece.fill-wait", { style: { left: at(begin), width: share(free - begin) } }),
          h("span.piece.fill-transfer", { style: { left: at(free), width: share(left - free) } }),
          u > 0 && h("span.arrival-whisker", { style: reach, "data-uncertainty": u }),
          tied && h("span.tied-mark", { style: { left: at(begin) }, "aria-label": "may share the last place" }, "▷"),
          rank === last && h("span.last-mark", { style: { left: at(begin) }, "aria-label": "came last" }, "▶"),
        ),
        () => [h("b", `rank ${rank}`), ` arrived ${f.time(begin - first)} after the first, waited ${f.time(Math.max(0, free - begin))}`],
      ),
    );
  });
  const what = lines(
    `${facts.kindWord(worst.text(row, "kind"))}${worst.num(row, "seq") === null ? "" : ` ${worst.num(row, "seq")}`}${step === null || !facts.hasSteps(job) ? "" : `, step ${step}`}`,
    `${f.time(worst.num(row, "wait_ns"))} waited, ${f.time(worst.num(row, "skew_ns"))} skew`,
    [last === null ? "the last place is tied" : `rank ${last} last`, `, transfer ${f.time(worst.num(row, "transfer_ns"))}`],
    f.joined(", ", bytes === null ? "" : f.bytes(bytes), group === "" ? "" : `group ${group}`),
    h("a", { href: facts.onTimeline(first, end, { coll: row }) }, "on the timeline"),
  );
  const some = shown.length < ranks ? `${shown.length} of ${f.grouped(ranks)}` : shown.length,
    words = `${some} ranks; rank ${last ?? "–"} last, ${f.time(release - first)} after the first`,
    foot = h("span.release-text", { style: { right: share(end - release) } }, `last arrival +${f.time(release - first)}`);
  return h(
    "article.instance",
    h("div.instance-words", what),
    h(
      "div.lanes",
      { role: "img", "aria-label": words },
      h("div.release-box", h("span.release", { style: { left: at(release) } })),
      lanes,
      h("div.lane.foot", h("span"), h("span.lane-box", h("span.zero", "0"), foot)),
    ),
  );
}

/* Returns the arrivals to draw, ordered by begin: the earliest, the latest, and the one that ends last. */
function someArrivals(arrivals: Arrival[]): Arrival[] {
  const order = [...arrivals].sort((a, b) => a.begin - b.begin);
  const last = arrivals.reduce((a, b) => (b.end > a.end ? b : a));
  return order.filter((a, i) => i < EARLIEST || i >= order.length - LATEST || a === last);
}

/* Returns a function that returns an operation's number of ranks, by its row in collectives.worst, even if the page lacks arrivals. */
function sizesOf(job: Job, byInstance: ReadonlyMap<Cell, readonly number[]>): (row: number) => number {
  const worst = job.table("collectives.worst"),
    kinds = job.table("collectives.kind"),
    key = (table: Table<"collectives.worst" | "collectives.kind">, row: number) => `${table.text(row, "kind")} ${table.text(row, "group")}`;
  const whole = new Map<string, number>();
  if (job.table("collectives.arrival").leftOut > 0)
    kinds.rows.forEach((_, row) => whole.set(key(kinds, row), Math.max(kinds.amount(row, "ranks"), whole.get(key(kinds, row)) ?? 0)));
  return (row) => Math.max(byInstance.get(worst.num(row, "instance"))?.length ?? 0, whole.get(key(worst, row)) ?? 0);
}

function worstInstances(context: Context): HTMLElement {
  const { job, params } = context;
  const worst = job.table("collectives.worst"),
    arrivals = job.table("collectives.arrival");
  const title = "The instances that cost most";
  if (worst.n === 0) return section(title, empty("No operation has a wait."));
  const byInstance = arrivals.by("instance"),
    clocks = job.table("clock.rank"),
    domains = new Map(clocks.rows.map((_, row) => [clocks.num(row, "rank"), clocks.num(row, "domain")]));
  const all = params.get("all") === "1";
  const rows = worst.all.slice(0, all ? worst.n : WORST_SHOWN);
  const arrival = (a: number): Arrival => {
    return { rank: arrivals.num(a, "rank")!, begin: arrivals.num(a, "begin_ns")!, end: arrivals.num(a, "end_ns")! };
  };
  const size = sizesOf(job, byInstance),
    some = rows.some((row) => size(row) > ARRIVALS_MAX);
  return section(
    title,
    `${some ? `A rank’s part in one collective (with more than ${ARRIVALS_MAX} ranks: the ${EARLIEST} earliest, the ${LATEST} latest and the last to end)` : "Every rank’s part in one collective"}: waiting until the last rank arrives, then transferring. All bars of one collective share a time axis that begins with its first arrival.`,
    legend("transfer: Transfer; wait: Wait"),
    rows.map((row) => instance(job, row, (byInstance.get(worst.num(row, "instance")) ?? []).map(arrival), size(row), domains)),
    !all && worst.n > WORST_SHOWN && showAll(context, `Show all ${worst.n}`),
  );
}

/* Writes who a finding is about, such as "rank 1 on host0" or "8 ranks from rank 16 on". */
function named(table: Table<"stragglers.finding">, row: number): string {
  const level = table.text(row, "level"),
    rank = table.num(row, "rank"),
    ranks = table.amount(row, "ranks");
  if (level === "job") return rank === null ? "no one rank" : `rank ${rank}, last in each`;
  const host = table.text(row, "host");
  if (level === "host") return `host ${host}`;
  return ranks === 1 ? `rank ${rank}${host === null ? "" : ` on ${host}`}` : `${f.count(ranks, "rank")} from rank ${rank} on`;
}

/* Writes when it happened: "steps 3–7", "10 stretches, between operations 1 and 19 of its group", or "5 operations, in step 12". */
function windowOf(table: Table<"stragglers.finding">, row: number): string {
  const from = table.num(row, "from"),
    to = table.num(row, "to"),
    unit = table.text(row, "unit"),
    units = table.amount(row, "units");
  const range = from === null ? "" : from === to ? `step ${from}` : `steps ${from}–${to}`;
  if (unit === "stretch") return `${f.count(units, "stretch", "stretches")} between operations ${from} and ${to} of its group`;
  return unit === "operation" ? `${f.count(units, "operation")}${range && `, in ${range}`}` : range || f.NONE;
}

const findings = part(
  "stragglers.finding",
  "What stands out",
  {},
  ({ table }) => [{ column: "level", label: "who", draw: (row) => named(table, row) }, "shape"],
  ({ table }) => ({ column: "from", label: "where", draw: (row) => windowOf(table, row) }),
  "excess_ns: longer by; excess_pct: of the steps",
  { column: "caused_share", label: "of waiting", write: (share) => f.percent(100 * share) },
  "p: p; certainty",
);

/* Returns the title (who is late), the evidence, and the saving. If the headline is about a saving, the title is from the evidence. */
function answer(job: Job): [title: string, why: string, saving: string | null] {
  const table = job.table("stragglers.job"),
    [headline, evidence] = [table.text(0, "headline") ?? "", table.text(0, "evidence") ?? ""];
  if (facts.straggling(job).word === null)
    return [facts.communicates(job) ? "Nothing could be compared between ranks" : "No communication recorded", evidence, null];
  const [first = "", ...rest] = evidence.split(/\. (?=[A-Z])/);
  return /^[^;:]* saves /.test(headline) ? [first, rest.join(". "), headline] : [headline, evidence, facts.savedText(job)];
}

function nothingKnown(job: Job): Child[] {
  if (!facts.communicates(job))
    return [
      "No kernel communicates: none has the metadata of a collective, and no name is one of NCCL, RCCL, a known custom all-reduce, NVSHMEM, MSCCL++ or DeepEP. If yours have other names, merge again with --comm-pattern.",
    ];
  return [
    prose(f.ended(answer(job)[1])),
    " So no wait is known; ",
    job.allRowsOf("collectives.unmatched") > 0
      ? link("which kernels were not matched, and why", "tables", { name: "collectives.unmatched" satisfies TableName })
      : link("what is known about communication", "communication"),
  ];
}

export const stragglers: View = {
  id: "stragglers",
  title: "Stragglers",
  needs: tablesNamed(
    "job.rank stragglers.job stragglers.finding stragglers.rank stragglers.pair stragglers.rank_step stragglers.step",
    "collectives.worst collectives.arrival clock.check clock.rank overlap.kind overlap.rank overlap.step",
    "collectives.kind groups.group",
  ),
  shown: facts.severalRanks,
  state: (job) => facts.straggling(job).state,
  lacks: ({ job }) => job.table("stragglers.rank").known("wait_ns") === 0 && [heading(answer(job)[0]), empty(nothingKnown(job))],
  parts: [
    ({ job }) => {
      const [title, why, saving] = answer(job);
      return [
        heading(prose(title), told(f.ended(why))),
        saving !== null && h("p", told(f.ended(saving)), " ", link("What would help most", "whatif")),
      ];
    },
    findings,
    ranks,
    (context) => {
      const { job } = context;
      return h(
        "div",
        { class: job.allRowsOf("stragglers.rank") > BESIDE_MAX ? "" : "columns even" },
        matrix(job),
        stepMap(job, orderOf(context)),
      );
    },
    worstInstances,
  ],
};
