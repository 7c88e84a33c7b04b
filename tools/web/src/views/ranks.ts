/** Ranks: which compute, wait or idle? */
import type { Host, Job, Table } from "../data";
import * as f from "../format";
import { grid, tableSection } from "../grid";
import { cutShort, hasSteps, ranksOf, severalRanks, total } from "../job";
import { PARTS, partsLegend, partsOf, stacks, type StackRow, rankRow, byHost } from "../stack";
import { controls, empty, heading, prose, section, segmented, chooser, showAll, plainTable, moreButton } from "../ui";
import { href, type Context, type View, tablesNamed } from "../view";
import { costOf } from "./summary";
import { fill, h, type Child } from "../dom";

/* Bars and table rows shown at first. The reader can ask for all, but the view then opens more slowly. */
const SHOWN = 64,
  TABLE_FIRST = 32;
const BY_RANK_MAX = 32; // more ranks than this are ordered by cost instead of by rank

const ORDERS = [
  ["rank", "rank"],
  ["cost", "what they cost"],
  ["compute", "compute"],
  ["wait", "exposed wait"],
  ["transfer", "transfer"],
  ["idle", "idle"],
] as const;

type Source = ReturnType<typeof wholeJob>[number];

/* Returns the values of the bars for whole recordings. The table has a row for each rank. */
const wholeJob = (overlap: Table<"overlap.rank">) =>
  overlap.rows.map((_, row) => ({ rank: overlap.num(row, "rank")!, values: partsOf(overlap, row) }));

const stepsOnly = (steps: Table<"overlap.step">): Source[] =>
  [...steps.by("rank")].map(([rank, rows]) => ({
    rank: Number(rank),
    values: rows.map((row) => partsOf(steps, row)).reduce((sum, values) => sum.map((v, i) => v + values[i]!)),
  }));

function sorted(job: Job, sources: Source[], by: string): Source[] {
  if (by === "cost") {
    const overlap = job.table("overlap.rank"),
      costs = new Map(overlap.rows.map((_, row) => [overlap.num(row, "rank"), costOf(job, row)]));
    return [...sources].sort((a, b) => (costs.get(b.rank) ?? 0) - (costs.get(a.rank) ?? 0) || a.rank - b.rank);
  }
  const part = PARTS.findIndex((p) => p.key === by);
  return part < 0 ? sources : [...sources].sort((a, b) => b.values[part]! - a.values[part]! || a.rank - b.rank);
}

/* Makes the rows of the bars. In rank order, hosts have headings, and a rank without a trace has an empty row. */
function rowsOf(job: Job, sources: Source[], by: string): StackRow[] {
  const { host, missing } = ranksOf(job);
  const torn = cutShort(job);
  const rows: (StackRow & { rank: number })[] = sorted(job, sources, by).map((source) => ({
    ...rankRow(source.rank, source.values),
    ...(torn.has(source.rank) ? { state: "torn" as const } : {}),
  }));
  if (by !== "rank") return rows;
  for (const rank of job.facts.missing ? [] : missing)
    rows.push({ rank, label: `rank ${rank}`, values: [], state: "missing", note: "no trace" });
  rows.sort((a, b) => a.rank - b.rank);
  return byHost(rows, host);
}

function bars(context: Context, sources: Source[], shares: boolean, by: string): Child {
  const rows = rowsOf(context.job, sources, by),
    all = context.params.get("all") === "1" || rows.length <= SHOWN,
    scale = Math.max(1, ...sources.map((source) => f.sum(source.values)));
  return [
    partsLegend(rows),
    stacks(all ? rows : rows.slice(0, SHOWN), { shares, axis: true, ...(shares ? {} : { scale }) }),
    !all && showAll(context, `Show all ${f.grouped(rows.length)} ranks`),
  ];
}

const table = (job: Job): HTMLElement =>
  tableSection(
    "The same as a table, of the whole job",
    null,
    job.table("overlap.rank"),
    {
      first: job.table("overlap.rank").n > SHOWN ? TABLE_FIRST : SHOWN,
      link: (row) => href("timeline", { rank: job.table("overlap.rank").amount(row, "rank") }),
    },
    "rank; window_ns: window; compute_ns: compute; comm_ns: comm.; overlap_pct: overlap; exposed_comm_ns: exposed comm.",
    "exposed_wait_ns: wait; exposed_transfer_ns: transfer; exposed_unmatched_ns: not split; exposed_memory_ns: copies",
    "idle_ns: idle",
  );

const HOSTS_FIRST = 32;

/* Sums up each host over its ranks. (If a page leaves out ranks, its facts have these sums.) */
function hostsOf(job: Job): Host[] {
  const overlap = job.table("overlap.rank"),
    blame = job.table("stragglers.rank"),
    blames = blame.by("rank"),
    { host } = ranksOf(job);
  return [...f.groupBy(overlap.all, (row) => host.get(overlap.amount(row, "rank")) ?? "")].map(([name, rows]) => {
    const ranks = rows.map((row) => overlap.amount(row, "rank")),
      own = ranks.map((rank) => blames.get(rank)?.[0] ?? -1),
      caused = own.map((row) => blame.amount(row, "direct_ns") + blame.amount(row, "indirect_ns"));
    const [compute, idle] = (["compute_ns", "idle_ns"] as const).map((column) => f.sum(rows.map((row) => overlap.num(row, column)))),
      waited = f.sum(own.map((row) => blame.num(row, "wait_ns")));
    return [name, rows.length, ranks[0]!, compute!, idle!, waited, f.sum(caused), ranks[caused.indexOf(f.most(caused))]!];
  });
}

/** Makes a table of hosts, ordered by the wait that they caused, largest first; null if there is one host. */
export function hostTable(job: Job, hosts: readonly Host[] = job.facts.hosts ?? hostsOf(job)): HTMLElement | null {
  const count = job.facts.host_count ?? hosts.length;
  if (count < 2) return null;
  const order = [...hosts].sort((a, b) => b[6] - a[6] || a[2] - b[2]),
    box = h("div");
  const head = ["host", "ranks", "first rank", "computing, mean", "idle, mean", "waited, mean", "made others wait", "most of it by rank"],
    rows = order.map(([name, ranks, first, compute, idle, waited, caused, worst]): [Child, ...Child[]] => [
      prose(name) || f.NONE,
      f.grouped(ranks),
      String(first),
      ...[compute / ranks, idle / ranks, waited / ranks, caused].map((ns) => f.time(ns)),
      caused > 0 ? String(worst) : f.NONE,
    ]);
  const draw = (shown: number): void =>
    fill(
      box,
      h("div.grid-scroll", { tabindex: 0, role: "region", "aria-label": "Hosts" }, plainTable(head, rows.slice(0, shown))),
      order.length > shown && moreButton(`Show more (${f.grouped(order.length - shown)} left)`, () => draw(4 * shown)),
    );
  draw(HOSTS_FIRST);
  return section(
    "Hosts",
    hosts.length < count
      ? `The ${f.grouped(hosts.length)} of ${f.grouped(count)} hosts whose ranks made others wait most, all of their ranks counted.`
      : "All hosts with all of their ranks, those that made others wait most first.",
    box,
  );
}

function sources(job: Job): HTMLElement {
  const formats = job.table("job.format");
  return section(
    "What the ranks were read from",
    formats.rows.map((_, row) => {
      const lacks = formats.text(row, "cannot_tell");
      return `${formats.text(row, "format")}, ${f.count(formats.amount(row, "ranks"), "rank")}${lacks ? `: ${prose(lacks)}` : ""}`;
    }),
    grid(job.table("job.rank"), {}, "rank; host; device; device_kind: kind of device; format; events; source"),
  );
}

export const ranks: View = {
  id: "ranks",
  title: "Ranks",
  needs: tablesNamed("job.rank job.format overlap.rank overlap.step stragglers.rank"),
  parts: [
    (context) => {
      const { job, params } = context,
        overlap = job.table("overlap.rank"),
        steps = job.table("overlap.step"),
        lead = heading(
          "Ranks",
          "Each bar is one rank’s recorded GPU time, split so that the parts add up to it exactly. ",
          severalRanks(job)
            ? "Long red parts are ranks that wait; the one they wait for has little red, and computes or idles longer."
            : "",
        );
      if (total(job, "window_ns") === 0) return [lead, empty("No GPU events were recorded: there is no time to split.")];
      const shares = params.get("show") === "share",
        usual = overlap.n > BY_RANK_MAX ? "cost" : "rank",
        asked = params.get("sort") ?? usual,
        by = asked === "cost" || PARTS.some((part) => part.key === asked) ? asked : "rank",
        marked = steps.n > 0 && steps.leftOut === 0 && hasSteps(job),
        inSteps = marked && params.get("of") === "steps";
      return [
        lead,
        controls(
          chooser(context, "Show", "show", { time: "time", share: "share" }, shares ? "share" : "time"),
          severalRanks(job) && segmented<string>("Sort by", ORDERS, by, (v) => context.redraw({ sort: v === usual ? null : v })),
          marked && chooser(context, "Of", "of", { job: "whole job", steps: "steps only" }, inSteps ? "steps" : "job"),
        ),
        bars(context, inSteps ? stepsOnly(steps) : wholeJob(overlap), shares, by),
        job.facts.hosts && hostTable(job),
        table(job),
      ];
    },
    ({ job }) => sources(job),
  ],
};
