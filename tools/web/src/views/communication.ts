/** Communication: how much is hidden behind computation, and how fast is the network? */
import { barList, sumFigure } from "../cells";
import type { ColumnOf, Job, Table } from "../data";
import { h, name, type Child } from "../dom";
import * as f from "../format";
import { grid, type GridColumn } from "../grid";
import * as facts from "../job";
import { bandwidthChart, spotSize, type Spot, shapeLegend } from "../scatter";
import { controls, empty, folded, heading, legend, link, note, prose, section, tip, told, lines, chooser, pick } from "../ui";
import { href, type Context, type View, tablesNamed } from "../view";
import { matrix } from "./matrix";
import { overlapFinding } from "./summary";

const P95_FROM = 20; // with fewer operations, the 95th percentile is the maximum
const SLOW_NAMED = 8;
const BY_NUMBER = new Intl.Collator("en", { numeric: true });
const ROWS_FIRST = 20;

const REACHES: Readonly<Record<string, string>> = { intra: "within a host", inter: "across hosts" };
const HOWS: Readonly<Record<string, string>> = {
  metadata: "by their numbers",
  order: "by order of calls",
  inferred: "by who waited for whom",
};

/* Returns a column for the name of the process group, for one of these tables. */
function groupOf<N extends "collectives.worst" | "collectives.instance" | "collectives.kind">(job: Job, table: Table<N>): GridColumn<N> {
  const group = (row: number) => (table as Table<"collectives.kind">).text(row, "group");
  return { column: "group", draw: (row) => name(facts.groupName(job, group(row)) || f.NONE) };
}

/** The chosen kind of operation and process group. null: all kinds, or all groups. */
type Choice = Readonly<Record<"kind" | "group", string | null>>;

function fits(table: Table, choice: Choice): number[] {
  const has = (column: "kind" | "group", wanted: string | null) =>
    wanted === null || table.place(column) < 0 ? () => true : (row: number) => table.cell(row, column) === wanted;
  const kind = has("kind", choice.kind),
    group = has("group", choice.group);
  return table.all.filter((row) => kind(row) && group(row));
}

// What is hidden ----------------------------------------------------------------------------------

function pair(kind: facts.Kind, scale: number): HTMLElement {
  const half = (fill: string, label: string, value: number, column: ColumnOf<"overlap.kind">) => {
    const percent = f.percent(f.share(value, kind.comm), 1),
      bar = value > 0 && h("span", { class: `piece fill-${fill}`, style: { width: `${(100 * value) / scale}%` } }),
      words = () => lines(`${facts.kindWord(kind.kind)}, ${label}`, `${f.time(value)} of GPU time, ${percent}`, f.exact(value, "ns")),
      sum = sumFigure(f.time(value), { table: "overlap.kind", column, where: `kind=${kind.kind}`, value });
    return h("div.overlap-row", tip(h("span.overlap-track", bar), words), h("span.overlap-value", sum, h("span", percent)));
  };
  return h(
    "div.overlap",
    { role: "listitem", "data-kind": kind.kind },
    h("span.row-label", facts.kindWord(kind.kind), " ", h("br"), h("small", f.count(kind.count, "kernel"))),
    h("div", half("overlap", "hidden", kind.overlap, "overlap_ns"), half("comm", "exposed", kind.exposed, "exposed_comm_ns")),
  );
}

function overlapByKind(job: Job, choice: Choice): HTMLElement {
  const all = facts.kinds(job).filter((kind) => choice.kind === null || kind.kind === choice.kind);
  const first = all.filter((kind) => kind.kind === "allreduce");
  const scale = Math.max(1, ...all.flatMap((kind) => [kind.overlap, kind.exposed]));
  const none =
    choice.kind === null &&
    first.length === 0 &&
    h(
      "div.overlap",
      { role: "listitem" },
      h("span.row-label", "AllReduce"),
      h("span.overlap-none", facts.withoutAllReduce(facts.kinds(job))),
    );
  const table = job.table("overlap.kind");
  return section(
    "What hides behind computation, by kind",
    "GPU time of all ranks. Hidden: a compute kernel ran at the same time. Exposed: none did, so the rank’s GPU only communicated or waited.",
    legend("overlap: Hidden behind computation; comm: Exposed: transfer and waiting"),
    h(
      "div.overlaps",
      { role: "list" },
      none,
      [...first, ...all.filter((kind) => kind.kind !== "allreduce")].map((kind) => pair(kind, scale)),
    ),
    folded(
      "The same by rank, as a table",
      grid(
        table,
        { rows: fits(table, { kind: choice.kind, group: null }), first: ROWS_FIRST },
        "rank; kind<kind>; count: kernels; comm_ns: communication; overlap_ns: hidden; overlap_pct: overlap; exposed_comm_ns: exposed",
      ),
    ),
  );
}

// How fast the network is ---------------------------------------------------------------------------

function describePoint(job: Job, row: number): Child {
  const table = job.table("collectives.kind"),
    count = table.amount(row, "count");
  const tail = table.num(row, "p95_transfer_ns");
  return lines(
    `${facts.kindWord(table.text(row, "kind"))}, ${f.bytes(table.num(row, "bytes"))}`,
    ["group ", name(facts.groupName(job, table.text(row, "group")) || f.NONE, 60), `, ${f.count(table.amount(row, "ranks"), "rank")}`],
    `${f.count(count, "operation")}: transfer ${f.time(table.num(row, "median_transfer_ns"))}, ${count < P95_FROM ? "worst" : "p95"} ${f.time(tail)}`,
    `bus bandwidth ${f.significant(table.amount(row, "busbw_gbps"))} GB/s`,
  );
}

/* Lists the operations that a point stands for. The tables have single operations only if they are among those with the longest waits. */
function pointDetails(context: Context, row: number): HTMLElement {
  const { job } = context,
    table = job.table("collectives.kind"),
    worst = job.table("collectives.worst");
  const size = table.num(row, "size_class_bytes");
  const rows = worst.all.filter((w) => {
    const bytes = worst.num(w, "bytes");
    return (
      worst.cell(w, "kind") === table.cell(row, "kind") &&
      worst.cell(w, "group") === table.cell(row, "group") &&
      (size === null ? bytes === null : bytes !== null && bytes >= size && bytes < 2 * size)
    );
  });
  const few = `${f.grouped(rows.length)} of ${f.count(table.amount(row, "count"), "operation")} ${rows.length === 1 ? "is" : "are"} kept individually, those with the most waiting:`;
  return h(
    "aside.point",
    { "aria-live": "polite" },
    h("p", describePoint(job, row)),
    note(rows.length > 0 ? few : "None of its operations is among the 100 with the most waiting; only those are kept individually."),
    rows.length > 0 && instances(job, rows, 8),
    h("button", { click: () => context.redraw({ point: null }) }, "Close"),
  );
}

function instances(job: Job, rows: readonly number[], first: number): HTMLElement {
  const worst = job.table("collectives.worst");
  const at = (row: number) => {
    const begin = worst.amount(row, "begin_ns");
    return facts.onTimeline(begin, begin + worst.amount(row, "skew_ns") + worst.amount(row, "transfer_ns"), { coll: row });
  };
  return grid(
    worst,
    { rows, first, link: at, sort: "-wait_ns" },
    "begin_ns: begin, on the timeline; kind<kind>",
    groupOf(job, worst),
    "step; bytes<bytes>: size",
    "wait_ns: waited; skew_ns: skew; transfer_ns: transfer; last_rank: last rank",
  );
}

function exposedInstances(job: Job, rows: readonly number[]): HTMLElement {
  const table = job.table("collectives.instance"),
    inferred = (row: number) => table.cell(row, "bytes_inferred") === true && h("small", " inferred"),
    link = (row: number) => {
      const begin = table.amount(row, "begin_ns");
      const rank = table.num(row, "longest_rank");
      return facts.onTimeline(begin, begin + table.amount(row, "longest_exposed_ns"), { coll: `e${row}`, ...(rank !== null && { rank }) });
    };
  return grid(
    table,
    { rows, first: 10, link, sort: "-exposed_ns" },
    "begin_ns: begin, on the timeline; kind<kind>",
    groupOf(job, table),
    "step",
    { column: "bytes", label: "size", write: f.bytes, after: inferred },
    "ranks; exposed_ns: exposed, all ranks; longest_exposed_ns: longest on a rank; longest_rank: that rank; wait_ns: waited",
  );
}

/* Lists the operations with most exposed time, including the wait for the last rank. */
function mostExposed(job: Job, choice: Choice): HTMLElement {
  const table = job.table("collectives.instance"),
    fitting = fits(table, choice),
    rows = fitting.filter((row) => table.amount(row, "exposed_ns") > 0);
  const none =
    table.n === 0
      ? "No operation’s exposed time is known."
      : fitting.length === 0
        ? "None of the selected operations is among the most exposed of its kind."
        : "Computation hides all selected operations.";
  return section(
    "The most exposed operations",
    rows.length > 0
      ? [
          "GPU time in which an operation ran and its rank computed nothing. Part of it may be waiting for the last rank; waiting that computation hides does not count. Click a heading to sort.",
          exposedInstances(job, rows),
        ]
      : empty(none),
  );
}

function bandwidth(context: Context, choice: Choice): HTMLElement {
  const { job } = context,
    table = job.table("collectives.kind"),
    shapes = [...new Set(table.all.map((row) => table.text(row, "kind") ?? ""))].sort(); // so a kind always has the same marker
  const title = "How fast the network is";
  if (table.n === 0)
    return section(title, empty("No operation is complete, with a kernel of each of its ranks, so no transfer can be timed."));
  const rows = fits(table, choice);
  const spots: Spot[] = rows.flatMap((row) => {
    const bytes = table.num(row, "bytes"),
      gbps = table.num(row, "busbw_gbps");
    return bytes !== null && bytes > 0 && gbps !== null && gbps > 0
      ? [{ row, at: [bytes, gbps], size: spotSize(table.num(row, "count") ?? 1), shape: shapes.indexOf(table.text(row, "kind") ?? "") }]
      : [];
  });
  const point = context.params.has("point") && /^\d+$/.test(context.params.get("point")!) ? Number(context.params.get("point")) : undefined;
  const chosen = point !== undefined && rows.includes(point) ? point : undefined;
  const drawn = [...new Set(spots.map((spot) => table.text(spot.row, "kind") ?? ""))];
  const chart =
    spots.length === 0
      ? empty("The traces do not say how large the messages were: PyTorch records this (In msg nelems, dtype) since 2.1.")
      : spots.length > 1 && [
          shapeLegend(
            drawn.map((kind) => ({ shape: shapes.indexOf(kind), label: facts.kindWord(kind) })),
            "transfer",
          ),
          bandwidthChart(
            {
              label: "Bus bandwidth against message size",
              color: "transfer",
              spots,
              chosen,
              tip: (row) => describePoint(job, row),
              click: (row) => context.redraw({ point: String(row) }),
            },
            "message size",
            "bus bandwidth, GB/s",
          ),
        ];
  return section(
    title,
    note(
      spots.length > 1 && "A point is a kind, process group and size class; a larger one stands for more operations. ",
      "Only the transfer is timed, from the last arrival to the last end. ",
      spots.length > 1 && "Click a point for its operations.",
    ),
    chart,
    spots.length > 0 && h("p", link("Over time, rank by rank, on the timeline", "timeline", { counters: "bandwidth" })),
    chosen !== undefined && pointDetails(context, chosen),
    kindTable(context, rows),
  );
}

function kindTable({ job, params }: Context, rows: readonly number[]): HTMLElement {
  const table = job.table("collectives.kind");
  const few = (row: number) => table.amount(row, "count") < P95_FROM;
  const keep = Object.fromEntries([...params].filter(([key]) => key !== "point"));
  /* names of groups contain numbers, which are compared as numbers: 2 comes before 10 */
  const words = (row: number) => `${table.text(row, "kind")} ${table.text(row, "group")}`;
  return grid(
    table,
    {
      rows: [...rows].sort((a, b) => BY_NUMBER.compare(words(a), words(b))),
      first: ROWS_FIRST,
      link: (row) => href("communication", { ...keep, point: row }),
    },
    "kind<kind>",
    groupOf(job, table),
    "ranks; bytes<bytes>: size",
    { column: "how", label: "matched", draw: (row) => HOWS[table.text(row, "how") ?? ""] ?? name(table.text(row, "how") ?? f.NONE) },
    "count; median_transfer_ns: median transfer",
    {
      column: "p95_transfer_ns",
      label: rows.every(few) ? "worst" : "p95",
      after: (row) => few(row) && !rows.every(few) && h("small", " worst"),
    },
    "median_skew_ns: median skew; busbw_gbps<significant>: bus bandwidth, GB/s",
  );
}

// Groups --------------------------------------------------------------------------------------------

function slowLinks(job: Job): Child {
  const links = job.table("groups.link");
  if (links.n === 0) return "No group or pair of ranks has two similar ones to compare it with.";
  const slow = links.sorted("-times_slower").filter((row) => links.cell(row, "slow") === true);
  if (slow.length === 0) return `None of ${f.count(links.n, "link")} is slow: over 1.2 times as long as similar ones.`;
  const named = slow.slice(0, SLOW_NAMED).map((row) => {
    const from = links.num(row, "from_rank"),
      to = links.num(row, "to_rank");
    const who: Child =
      from !== null && to !== null ? `Rank ${from} to rank ${to}` : ["The ranks ", name(links.text(row, "members") ?? "", 60)];
    return h(
      "li",
      h("b", who),
      `: ${facts.kindWord(links.text(row, "kind"))} of ${f.bytes(links.num(row, "bytes"))} takes ${f.time(links.num(row, "median_ns"))}, `,
      `${f.times(links.num(row, "times_slower"))} as long as ${f.count(links.amount(row, "peers"), "similar one")}.`,
    );
  });
  return [
    h("p", h("b.bad", `${f.count(slow.length, "link is", "links are")} slow`), ` of ${f.grouped(links.n)} that can be compared.`),
    h("ul.plain", named),
    slow.length > SLOW_NAMED && `${f.grouped(slow.length - SLOW_NAMED)} more in the table.`,
  ];
}

function groups(job: Job, choice: Choice): HTMLElement {
  const table = job.table("groups.group"),
    dimension = job.table("groups.dimension"),
    links = job.table("groups.link"),
    advice = job.table("advice.item"),
    network = advice.text(advice.find({ rule: "slow_network" }), "evidence");
  const title = facts.ofXla(job) ? "Which replica groups communicate" : "Which process groups communicate";
  const rows = fits(table, choice),
    linkRows = fits(links, choice),
    use = (row: number) => table.text(row, "dimension") ?? facts.groupWord(null, table.text(row, "description")),
    reach = (of: Table<"groups.group" | "groups.dimension">, row: number) => REACHES[of.text(row, "reach") ?? ""] ?? f.NONE;
  if (table.n === 0) return section(title, empty("No kernel’s group of ranks is known; the reasons are below."));
  return section(
    title,
    dimension.n > 1 &&
      grid(
        dimension,
        { known: true },
        "dimension",
        { column: "reach", draw: (row) => reach(dimension, row) },
        "groups; complete: operations; bytes; comm_ns: GPU time; comm_share: share; wait_ns: waited; transfer_ns: transfer",
        "busbw_gbps: bus bandwidth; slow_links: slow links",
      ),
    h("h3", "Groups"),
    grid(
      table,
      { rows, sort: "-comm_ns", first: ROWS_FIRST, known: true },
      "group; members",
      {
        column: rows.some((row) => table.text(row, "dimension") !== null) ? "dimension" : "description",
        draw: (row) => name(use(row) || f.NONE, 60),
      },
      { column: "reach", draw: (row) => reach(table, row) },
      "comm_ns<bar comm>: GPU time; wait_ns: waited; complete; incomplete; busbw_gbps: bus bandwidth; latency_ns: latency",
      "slow_operations: slow operations",
    ),
    h("h3", "Links"),
    network !== null && h("p", told(network), " ", link("By size", "tables", { name: "whatif.network" })),
    slowLinks(job),
    links.n > 0 &&
      grid(
        links,
        { rows: linkRows, sort: "-times_slower", first: 10, known: true },
        "group; members; from_rank: from; to_rank: to; kind<kind>; bytes<bytes>: size; count",
        "median_ns: median; peers_ns: peers; times_slower: times slower; busbw_gbps: bus bandwidth; slow",
      ),
  );
}

// Unmatched kernels -----------------------------------------------------------------------------------

const REASONS: Readonly<Record<string, string>> = {
  "no metadata": "they lack the kind, group and size that others have",
  "one-sided": "one-sided puts or gets, without an active partner",
  "group unknown": "the ranks of the group are not recorded",
  "peer unknown": "the rank they exchange with is not recorded",
  "transfers differ": "sender and receiver report different transfers",
  "too few": "too few to distinguish a match from chance",
  "signatures differ": "the ranks do not have the same kinds, sizes and steps in any order",
  incoherent: "no pairing keeps their ends the same time apart",
  ambiguous: "several pairings are possible",
  "no counterpart": "nothing ends at that time on the other ranks: it is missing from their traces",
  "ends need not meet":
    "ranks may leave this kind of operation early, so kernels can be matched only by position, but a trace lacks kernels",
};

function unmatched(job: Job): HTMLElement {
  const table = job.table("collectives.unmatched"),
    all = job.table("overlap.kind").sum("count");
  const title = "What could not be matched between ranks";
  if (table.n === 0)
    return section(title, "Every recorded communication kernel was matched. An operation is incomplete if some ranks did not record it.");
  const reasons = table
    .groups(["reason"])
    .map(({ texts: [reason], sum }) => ({ reason: String(reason), count: sum("count") }))
    .sort((a, b) => b.count - a.count);
  const none = f.sum(reasons.map((each) => each.count));
  return section(
    title,
    `${f.grouped(none)} of ${f.count(all, "communication kernel")} belong to no operation: their time cannot be split into waiting and transfer; elsewhere it is drawn as “not split”.`,
    legend("unmatched: Kernels not matched"),
    barList(
      reasons.map(({ reason, count }) => ({
        label: reason,
        value: count,
        text: sumFigure(f.grouped(count), { table: "collectives.unmatched", column: "count", where: `reason=${reason}`, value: count }),
        words: prose(REASONS[reason] ?? ""),
      })),
      "unmatched",
    ),
    grid(table, { sort: "-count", first: 10 }),
  );
}

function nothing(job: Job): Child {
  const own = job.facts["comm_pattern"];
  return [
    heading("No communication recorded", "No kernel of this job communicates, by its metadata or by its name."),
    empty(
      "A kernel communicates if it carries a “Collective name”, or if its name contains one of nccl, rccl, hccl, oneccl, cross_device_reduce, multimem_all_reduce, ",
      "all_reduce_one_shot, all_reduce_two_shot, deep_ep, nvshmem, mscclpp, allreduce_fusion.",
      h("br"),
      own
        ? [`--comm-pattern also looked for `, name(String(own)), ", which no kernel’s name contains either."]
        : "If this job’s kernels have other names, merge it again with --comm-pattern REGEX, a POSIX extended regular expression.",
    ),
    link("The names of all kernels", "kernels"),
  ];
}

function choices(context: Context, choice: Choice): HTMLElement | null {
  const { job } = context;
  const shown = facts.kinds(job),
    all = job.table("groups.group");
  const kindOptions = [["all", "all"] as const, ...shown.map((kind) => [kind.kind, facts.kindWord(kind.kind)] as const)];
  const groupOptions = new Map([["", "all"]]);
  for (const row of all.all) {
    const group = all.text(row, "group");
    groupOptions.set(group ?? "", prose(facts.groupName(job, group)).slice(0, 60));
  }
  if (shown.length < 2 && all.n < 2) return null;
  return controls(
    chooser(context, "Kind", "kind", kindOptions, choice.kind ?? "all", "point"),
    all.n > 1 &&
      pick(context, "Process group", "group", [...groupOptions.keys()], (group) => groupOptions.get(group)!, choice.group ?? "", "point"),
  );
}

export const communication: View = {
  id: "communication",
  title: "Communication",
  needs: tablesNamed(
    "job.rank overlap.rank overlap.kind collectives.kind collectives.worst collectives.instance collectives.pair",
    "collectives.unmatched clock.check groups.group groups.dimension groups.link bubble.pair advice.item",
  ),
  judges: ["overlap.rank", "overlap.kind"],
  state: (job) => (job.table("overlap.rank").n > 0 ? overlapFinding(job).state : facts.adviceState(job, "communication")),
  lacks: ({ job }) => !facts.communicates(job) && nothing(job),
  parts: [
    (context) => {
      const { job, params } = context,
        finding = overlapFinding(job),
        choice = {
          kind: facts.kinds(job).some((kind) => kind.kind === params.get("kind")) ? params.get("kind")! : null,
          group: params.get("group") ?? null,
        };
      return [
        heading(finding.title, finding.text, ` The ranks’ communication sums to ${f.time(facts.total(job, "comm_ns"))} of GPU time.`),
        choices(context, choice),
        mostExposed(job, choice),
        overlapByKind(job, choice),
        mostWaiting(job, choice),
        bandwidth(context, choice),
        matrix(context),
        groups(job, choice),
        unmatched(job),
      ];
    },
  ],
};

function mostWaiting(job: Job, choice: Choice): HTMLElement {
  const worst = job.table("collectives.worst"),
    rows = fits(worst, choice),
    none =
      worst.n > 0
        ? "None of the selected operations is among the 100 with the most waiting."
        : job.table("clock.check").amount(0, "matched") === 0
          ? "No wait is known: no operation is complete, with a kernel of each of its ranks."
          : "No wait is known: the complete operations are of one rank each, or of kinds that do not make every rank wait for all others.";
  return section("The operations with the most waiting", rows.length > 0 ? instances(job, rows, 10) : empty(none));
}
