/** Summary: first the finding, then what it is based on. */
import type { BandFigure } from "../cells";
import type { ColumnOf, Job, TableName } from "../data";
import { h, type Child } from "../dom";
import * as f from "../format";
import * as facts from "../job";
import { partsLegend, partsOf, stacks, type StackRow } from "../stack";
import { empty, figure, link, prose, section, sign, term, told } from "../ui";
import { href, type State, type View, tablesNamed } from "../view";

type Overlap = ColumnOf<"overlap.rank">;

const RANKS_MAX = 32;
/* If there are more bars than LABELS_MAX, only every LABEL_EVERY-th bar and the bars of named ranks have numbers. */
const LABELS_MAX = 8,
  LABEL_EVERY = 4;
const ADVICE_MAX = 5;

/* Makes the title: the finding and its saving. The evidence is folded if there is advice. */
function title(job: Job): HTMLElement {
  const found = facts.verdict(job),
    items = job.table("advice.item"),
    advised = items.n > 0 && items.text(0, "severity") !== "note" && facts.adviceItem(job, 0).text !== found.text,
    evidence = found.text && h("p.evidence", sentence(found.text));
  const text = facts.savedText(job),
    saved = text !== null && h("p.saved", sentence(text)),
    leads = text !== job.table("whatif.job").text(0, "headline"), // false: the title itself is about the saving
    checked = checks(job);
  const check = ({ state, title, link: [, view] }: Finding, i: number) =>
    h("li", sign(state), h("a", { href: href(view) }, state === "good" ? CHECKED[i] : title));
  return h(
    "header.verdict",
    sign(found.state),
    h(
      "div",
      h("h1", { tabindex: -1 }, prose(found.title)),
      !advised && evidence,
      !leads && saved,
      h("ul.checks", checked.map(check)),
      h(
        "details.why",
        h("summary", "Why"),
        leads && saved,
        advised && evidence,
        h("p", link(found.link, found.view), text !== null && [" ", link("What would help most", "whatif")]),
        h("div.findings", checked.map(findingBox)),
      ),
    ),
  );
}

// Properties that should be the same on all ranks but differ, in the terminal's words.
const DIFFERS: Readonly<Record<string, string>> = {
  time: "recorded at times that do not overlap:",
  "world size": "the traces give different numbers of ranks:",
  "process group": "the traces give different ranks for a process group:",
  kernels: "hardly any kernel name in common:",
};
const VALUES_MAX = 4;

function differs(job: Job): Child {
  const table = job.table("job.differs");
  if (table.n === 0) return null;
  const lines = [...table.by("what")].map(([what, rows]) => {
    const values = rows.slice(0, VALUES_MAX).map((row) => {
        const ranks = `${table.num(row, "n_ranks") === 1 ? "rank" : "ranks"} ${table.text(row, "ranks")}`;
        return what === "kernels" ? ranks : `${table.text(row, "value")} (${ranks})`;
      }),
      more = rows.length > VALUES_MAX && `and ${rows.length - VALUES_MAX} more`;
    return `${DIFFERS[String(what)] ?? what} ${f.joined(", ", ...values, more)}`;
  });
  return wrong(
    "These traces may not be of one job",
    `${lines.join("; ")}. What follows takes them for one.`,
    "What differs",
    "job.differs",
  );
}

/* Makes a box about a problem of the traces. It is shown above the figures that the problem may affect. */
const wrong = (title: string, text: string, to: string, name: TableName): HTMLElement =>
  h("div.findings", findingBox({ state: "bad", title, text, link: [to, "tables", { name }] }));

/* Writes what is missing or impossible in the recording. */
function integrity(job: Job): Child {
  const line = job.table("job.job").text(0, "integrity");
  if (line === null) return null;
  const [what, ...rest] = line.split("; ");
  const text = prose(f.ended(rest.join("; ").replace(/^./, (first) => first.toUpperCase())));
  return wrong(prose(what ?? ""), text, "What was recorded", "job.integrity");
}

const sentence = (text: string): Child[] => told(f.ended(text));

// Three findings ------------------------------------------------------------------------------------

type Finding = Readonly<{ state: State; title: string; text: string; link: readonly [string, string, Readonly<Record<string, string>>?] }>;

export function overlapFinding(job: Job): Finding {
  const comm = facts.total(job, "comm_ns"),
    exposed = facts.total(job, "exposed_comm_ns"),
    window = facts.total(job, "window_ns");
  if (comm === 0)
    return {
      state: "note",
      title: "No communication recorded",
      text: "No kernel communicates by its metadata or its name; --comm-pattern adds names.",
      link: ["What was looked for", "communication"],
    };
  const all = facts.kinds(job);
  const parts = all.slice(0, 3).map((kind) => `${facts.kindWord(kind.kind)} hides ${f.percent(f.share(kind.overlap, kind.comm))}`);
  const unreported = all.some((kind) => kind.kind === "other");
  const rest = all.some((kind) => kind.kind === "allreduce")
    ? ""
    : unreported
      ? " No name shows which of it is AllReduce."
      : " The job has no AllReduce.";
  const lost = f.share(exposed, window)!;
  const waits = f.share(facts.total(job, "exposed_wait_ns"), exposed) ?? 0;
  const wait = waits > 50 ? " Most of what is exposed is waiting for late ranks, which no faster network shortens." : "";
  return {
    state: lost >= 10 ? "warn" : exposed > comm / 2 ? "note" : "good",
    title: `${f.percent(f.share(exposed, comm))} of communication is exposed`,
    text: `${parts.join(", ")} behind computation.${rest} What is exposed takes ${f.percent(lost)} of the GPU time.${wait}`,
    link: ["Overlap by kind", "communication"],
  };
}

export function balanceFinding(job: Job): Finding {
  const steps = job.table("imbalance.step"),
    whole = job.table("imbalance.job");
  const values = steps.nums("imbalance_pct").filter((v) => v !== null);
  const middle = steps.median("imbalance_pct") ?? whole.num(0, "imbalance_pct");
  const to: readonly [string, string] = ["Steps and ranks", "steps"];
  if (!facts.severalRanks(job))
    return { state: "note", title: "One rank", text: "There is nothing to compare its load with.", link: ["Where its time goes", "ranks"] };
  if (middle === null)
    return {
      state: "note",
      title: "Compute load is not known",
      text: `No two ranks have ${facts.hasSteps(job) ? "a whole step with GPU events in common" : "GPU events over similar times"}.`,
      link: to,
    };
  const most = Math.max(...values),
    worst = steps.nums("imbalance_pct").indexOf(most);
  const far = values.filter((value) => value > Math.max(2 * middle, middle + 2)).length;
  const left = job.allRowsOf("job.rank") - whole.amount(0, "ranks");
  const where =
      far === 1 && steps.leftOut === 0
        ? `step ${steps.num(worst, "step")}`
        : steps.leftOut > 0
          ? "some steps"
          : `${far} of ${values.length} steps`,
    state: State = middle >= 25 ? "bad" : middle >= 10 ? "warn" : far > 0 || middle >= 2 ? "note" : "good",
    how = middle >= 10 ? "uneven" : far > 0 ? `uneven in ${where}` : middle >= 2 ? "a little uneven" : "even";
  return {
    state,
    title: `Compute load is ${how}`,
    text:
      `${facts.hasSteps(job) ? "In the median step the" : "The"} rank that computes most has ${f.percent(middle, 1)} more than the mean.` +
      (far > 0 ? ` Step ${steps.num(worst, "step")} shows ${f.percent(most, 1)}.` : "") +
      (job.rowsOf("whatif.split") > 0 ? " The pipeline’s stages have unequal work: which of their ranks has most of it is chance." : "") +
      (left > 0
        ? ` ${f.count(left, "rank is", "ranks are")} not compared: without GPU events, cut short or ${facts.hasSteps(job) ? "without a whole step" : "with events over a shorter time"}.`
        : ""),
    link: to,
  };
}

export const clocksOf = (job: Job): number => job.table("clock.rank").different("domain");

/** Makes the finding about clocks: can arrivals on different hosts be compared? */
export function clockFinding(job: Job): Finding {
  const check = job.table("clock.check"),
    hosts = facts.ranksOf(job).hostCount;
  const to: readonly [string, string] = ["Clocks", "clocks"];
  const uncertainty = facts.worstUncertainty(job);
  const matched = check.amount(0, "matched"),
    after = check.amount(0, "violations_after");
  if (!facts.severalRanks(job)) return { state: "note", title: "One clock", text: "One rank has one clock.", link: to };
  if (uncertainty === null)
    return { state: "warn", title: "Clocks are not compared", text: "Numbers that compare ranks in time are left out.", link: to };
  const clocks = clocksOf(job),
    apart = hosts === 1 ? `${clocks} clocks on one host` : `${hosts} hosts`;
  const where =
    job.table("job.job").num(0, "hosts") === null
      ? "All times are on one clock."
      : clocks === 1
        ? "One host, so one clock."
        : `${apart}, known to ±${f.time(uncertainty)}.`;
  const end = facts.transfersAlone(job)
    ? "Nothing can check it: the traces hold no waits."
    : matched === 0
      ? "No complete operation could check them."
      : after === 0
        ? `None of ${f.count(matched, "complete operation")} ends before its last rank began.`
        : `${f.count(after, "collective")} of ${f.grouped(matched)} end before their last rank began.`;
  const coarse = facts.coarseClocks(job);
  if (coarse)
    return {
      state: "warn",
      title: "Clocks are coarse",
      link: to,
      text: `${apart}, known to ±${f.time(coarse.uncertainty)}, where arrivals differ by ${f.time(coarse.skew)}: who came last is not known.`,
    };
  const components = job.table("clock.rank").different("component");
  const bad = after > matched / 100 || components > 1;
  return {
    state: bad ? "warn" : matched === 0 && hosts > 1 ? "note" : "good",
    title: components > 1 ? "Clocks fall into parts" : bad ? "Clocks disagree" : "Clocks agree",
    text: `${where} ${end}` + (components > 1 ? ` No collective links ${components} parts of the job.` : ""),
    link: to,
  };
}

/** Words for the results of checks(), in the same order. If a check finds no problem, only its word is shown. */
const CHECKED = ["Overlap", "Load", "Clocks"] as const;

function checks(job: Job): Finding[] {
  const doubted = job.table("job.job").text(0, "integrity") !== null;
  return [overlapFinding(job), balanceFinding(job), clockFinding(job)].map((found) => (doubted ? { ...found, state: "note" } : found));
}

const findingBox = (found: Finding): HTMLElement =>
  h("section.finding", sign(found.state), h("div", h("h2", found.title), found.text !== "" && h("p", found.text), link(...found.link)));

// Six figures ---------------------------------------------------------------------------------------

function span(values: readonly number[], write: (value: number) => string, of: string): string {
  if (values.length === 0) return "";
  if (values.length === 1) return of.replace("by ", "one ");
  const low = write(Math.min(...values)),
    high = write(Math.max(...values));
  return low === high ? `the same ${of}` : `${low} to ${high} ${of}`;
}

const known = (values: readonly (number | null)[]): number[] => values.filter((value) => value !== null);

/* Makes a figure that is the quotient of two sums over ranks. It has an attribute with both columns, from which tests compute it. */
function ratioFigure(job: Job, part: Overlap, whole: Overlap, write: (value: number | null) => string, scale = 1): HTMLElement {
  const value = facts.total(job, whole) > 0 ? (scale * facts.total(job, part)) / facts.total(job, whole) : null;
  return h("span.figure", { "data-sum": `overlap.rank ${part} ${whole}`, "data-value": value ?? "" }, write(value));
}

function byRank(job: Job, part: Overlap, whole: Overlap): number[] {
  const table = job.table("overlap.rank");
  return known(table.rows.map((_, row) => f.share(table.amount(row, part), table.amount(row, whole))));
}

/** Returns the mean time of each step over ranks, in the order of steps. Leaves out steps that were only partly recorded. */
export function stepTimes(job: Job): Map<number, number> {
  const overview = job.table("overview.step"),
    overlap = job.table("overlap.step");
  const partial = new Set(
    overlap.all
      .filter((row) => overlap.cell(row, "partial") === true)
      .map((row) => `${overlap.num(row, "rank")}/${overlap.num(row, "step")}`),
  );
  const found = new Map<number, number>();
  for (const [step, rows] of overview.by("step")) {
    const times = known(
      rows.filter((row) => !partial.has(`${overview.num(row, "rank")}/${step}`)).map((row) => overview.num(row, "step_ns")),
    );
    if (typeof step === "number" && times.length > 0) found.set(step, f.sum(times) / times.length);
  }
  return found;
}

/* Makes the figure of throughput; nothing if the user did not give the number of samples or tokens of a step. */
function throughput(job: Job): Child[] {
  const table = job.table("overview.job");
  return (["samples", "tokens"] as const).flatMap((what) => {
    const rate = (column: ColumnOf<"overview.job">): Child => {
      const value = table.num(0, column);
      return value === null ? f.NONE : figure(job, f.grouped(value, value < 1000 ? 1 : 0), { table: "overview.job", row: 0, column });
    };
    if (table.num(0, `${what}_per_s`) === null) return [];
    return [h("div", rate(`${what}_per_s`), ` ${what} a second, `, rate(`device_${what}_per_s`), " each rank")];
  });
}

/* Makes the figure of steps for a job with several kinds of steps. A median over all steps would mean nothing then. */
function kindsFigure(job: Job): BandFigure {
  const table = job.table("steps.kind"),
    [first, ...others] = table.sorted("-share_pct"),
    median = (row: number): Child => figure(job, f.time(table.num(row, "median_ns")), { table: "steps.kind", row, column: "median_ns" });
  return [
    `Median step, ${table.text(first!, "kind") ?? ""}`,
    "Of the kind of steps that takes most of the time; below the other kinds: steps.kind median_ns.",
    median(first!),
    [others.map((row) => h("div", `${table.text(row, "kind") ?? ""} `, median(row))), throughput(job)],
  ];
}

function stepFigure(job: Job): BandFigure {
  if (job.table("steps.kind").n > 1) return kindsFigure(job);
  const { step_median_ns: median, step_least_ns: least, step_most_ns: most } = job.facts,
    times = median === undefined ? [...stepTimes(job).values()] : [least!, median, most!],
    marked = facts.hasSteps(job);
  return [
    marked ? "Median step" : "Step time",
    "Median over steps of the mean over ranks of overview.step step_ns; partial steps are left out. Below: over the steps.",
    h("span.figure", { "data-value": f.median(times) ?? "" }, marked ? f.time(f.median(times)) : f.NONE),
    [marked ? span(times, f.time, "by step") : "no steps marked", throughput(job)],
  ];
}

function balanceFigure(job: Job): BandFigure {
  const load = job.table("imbalance.job").num(0, "load_balance"),
    steps = job.table("imbalance.step"),
    loads = known(steps.nums("load_balance")),
    least = f.least(loads),
    worst = steps.nums("load_balance").indexOf(least);
  return [
    "Load balance",
    "imbalance.job load_balance: mean / max of the ranks’ computation in the steps that all have; 1 is even.",
    load === null || !facts.severalRanks(job)
      ? f.NONE
      : figure(job, f.grouped(load, 3), { table: "imbalance.job", row: 0, column: "load_balance" }),
    !facts.severalRanks(job)
      ? "one rank"
      : load === null
        ? "no common steps"
        : loads.length > 1 && `${f.grouped(least, 3)} in step ${steps.num(worst, "step")}`,
  ];
}

/* Makes the figures of the summary. `small`: text after a value that is a share. It says what the share is of. */
function figures(job: Job): readonly (readonly [...BandFigure, small?: string])[] {
  const overlaps = known(job.table("overlap.rank").nums("overlap_pct")),
    allreduce = facts.kinds(job).find((kind) => kind.kind === "allreduce"),
    comm = facts.communicates(job),
    waits = f.share(facts.total(job, "exposed_wait_ns"), facts.total(job, "exposed_comm_ns")),
    ratios = known(job.table("overlap.rank").nums("comm_to_compute")),
    none = "no communication recorded",
    hidden = allreduce
      ? f.percent(f.share(allreduce.overlap, allreduce.comm), 1)
      : overlaps.length > 0 && facts.withoutAllReduce(facts.kinds(job)),
    waited =
      waits !== null && (job.table("overlap.rank").known("exposed_wait_ns") === 0 ? "wait not known" : `of which wait ${f.percent(waits)}`);
  return [
    stepFigure(job),
    [
      "Computing",
      "Sum over ranks of overlap.rank compute_ns / window_ns.",
      ratioFigure(job, "compute_ns", "window_ns", f.percent, 100),
      span(byRank(job, "compute_ns", "window_ns"), (v) => f.percent(v), "by rank"),
      facts.total(job, "window_ns") > 0 ? "of GPU time" : "",
    ],
    [
      "Exposed communication",
      "Sum over ranks of overlap.rank exposed_comm_ns / window_ns: communication with no computation beside it.",
      comm ? ratioFigure(job, "exposed_comm_ns", "window_ns", f.percent, 100) : f.NONE,
      comm ? waited : none,
      comm ? "of GPU time" : "",
    ],
    [
      "Communication overlap",
      "Sum over ranks of overlap.rank overlap_ns / comm_ns: the share of communication that hides behind computation.",
      comm ? ratioFigure(job, "overlap_ns", "comm_ns", (v) => f.percent(v, 1), 100) : f.NONE,
      comm ? hidden && `AllReduce: ${hidden}` : none,
    ],
    [
      "Communication : compute",
      "Sum over ranks of overlap.rank comm_ns / compute_ns.",
      comm ? ratioFigure(job, "comm_ns", "compute_ns", f.ratio) : f.NONE,
      comm ? span(ratios, f.ratio, "by rank") : none,
    ],
    balanceFigure(job),
  ];
}

/* Returns whether traces are missing or truncated. This affects every figure of the job. */
function incomplete(job: Job): boolean {
  return facts.ranksOf(job).missingCount > 0 || job.table("job.rank").known("truncated") > 0;
}

function figureBand(job: Job): HTMLElement {
  const dagger = incomplete(job) ? h("sup.bad", { title: "Traces are missing or cut short" }, "†") : null;
  return h(
    "dl.figures",
    figures(job).map(([label, doc, value, below, small]) =>
      h(
        "div",
        h("dt", term(label, doc)),
        h("dd.value", value, dagger?.cloneNode(true), small && h("small", ` ${small}`)),
        h("dd.below", below),
      ),
    ),
  );
}

// Every rank's time ---------------------------------------------------------------------------------

function rankBars(job: Job): HTMLElement {
  const overlap = job.table("overlap.rank");
  const heading = facts.severalRanks(job) ? "Where each rank’s time goes" : "Where the time goes";
  if (facts.total(job, "window_ns") === 0) return section(heading, empty("No GPU events were recorded."));
  const torn = facts.cutShort(job);
  const rows: StackRow[] = overlap.rows.map((_, row) => ({
    label: `rank ${overlap.num(row, "rank")}`,
    values: partsOf(overlap, row),
    href: href("ranks"),
    data: { "data-rank": overlap.num(row, "rank") ?? "" },
    ...(torn.has(overlap.num(row, "rank")) ? { state: "torn" as const } : {}),
  }));
  const shown = rows.length <= RANKS_MAX ? numbered(job, withMissing(job, rows)) : someRanks(job, rows);
  const more = overlap.n + overlap.leftOut - shown.length;
  const most = Math.max(...shown.map((row) => f.sum(row.values)));
  return section(
    shown.length > 1 ? `${heading}, up to ${f.time(most)}` : `${heading}: ${f.time(most)}`,
    partsLegend(shown),
    h("div.no-ends", stacks(shown, { end: () => null })),
    rows.length > RANKS_MAX &&
      h("p.note", `${f.grouped(more)} more ranks: `, link(overlap.leftOut > 0 ? "those that this page holds" : "all of them", "ranks")),
  );
}

/* Labels bars with the numbers of their ranks. Only the first label has the word "rank". */
function numbered(job: Job, rows: readonly StackRow[]): StackRow[] {
  const table = job.table("stragglers.rank"),
    named = new Set(table.all.filter((row) => table.text(row, "verdict") === "straggler").map((row) => `rank ${table.num(row, "rank")}`));
  const isShown = (label: string, i: number) => rows.length <= LABELS_MAX || i % LABEL_EVERY === 0 || named.has(label);
  return rows.map((row, i) => ({ ...row, short: i === 0 ? row.label : isShown(row.label, i) ? row.label.replace("rank ", "") : "" }));
}

/* Adds a row for each rank without a trace. If that makes too many rows, adds none; the text below then names these ranks. */
function withMissing(job: Job, rows: StackRow[]): StackRow[] {
  const { missing } = facts.ranksOf(job);
  if (rows.length + missing.length > RANKS_MAX) return rows;
  const all = [
    ...rows.map((row) => [Number(row.data?.["data-rank"]), row] as const),
    ...missing.map((rank) => [rank, { label: `rank ${rank}`, values: [], state: "missing" } satisfies StackRow] as const),
  ];
  return all.sort(([a], [b]) => a - b).map(([, row]) => row);
}

/* Draws for each step the means over ranks of its parts. They show how steps differ. */
function stepBars(job: Job): HTMLElement | null {
  const table = job.table("overlap.step");
  const steps = [...table.by("step")].filter(([step]) => typeof step === "number").sort(([a], [b]) => Number(a) - Number(b));
  if (!facts.hasSteps(job) || steps.length < 2 || steps.length > 32 || table.leftOut > 0) return null;
  const wholeOf = (own: readonly number[]) => own.filter((row) => table.cell(row, "partial") !== true),
    some = steps.some(([, own]) => wholeOf(own).length > 0 && wholeOf(own).length < own.length);
  const rows = steps.map(([step, own]) => {
    const whole = wholeOf(own);
    const used = whole.length > 0 ? whole : own;
    const sums = used.map((row) => partsOf(table, row)).reduce((sum, values) => sum.map((v, i) => v + values[i]!));
    return {
      label: `step ${step}`,
      values: sums.map((v) => v / used.length),
      href: href("steps"),
      ...(whole.length === 0 ? { state: "partial" as const } : {}),
    };
  });
  return section(
    `Where each step’s time goes${facts.severalRanks(job) ? ", mean of ranks" : ""}`,
    some && "Ranks that recorded only a part of a step are left out of its mean.",
    rows.some(({ state }) => state) && "Pale and hatched: every rank recorded only a part of the step.",
    partsLegend(rows),
    stacks(rows),
  );
}

/* Returns the 8 ranks that cost most, the median rank, and the 4 ranks that cost least. */
function someRanks(job: Job, rows: StackRow[]): StackRow[] {
  const overlap = job.table("overlap.rank"),
    cost = rows.map((_, row) => costOf(job, row));
  const order = rows.map((_, row) => row).sort((a, b) => cost[b]! - cost[a]! || a - b);
  const pick = (label: string, chosen: number[]) => chosen.map((row, i) => ({ ...rows[row]!, ...(i === 0 ? { heading: label } : {}) }));
  return [
    ...pick("those that cost most", order.slice(0, 8)),
    ...pick(overlap.leftOut > 0 ? "one in the middle" : "the median", [order[order.length >> 1]!]),
    ...pick(overlap.leftOut > 0 ? "some that cost little" : "those that cost least", order.slice(-4)),
  ];
}

/** Returns a rank's cost: the wait that it causes, plus a millionth of its idle time, which orders ranks that cause the same wait. */
export function costOf(job: Job, row: number): number {
  const overlap = job.table("overlap.rank"),
    blame = job.table("stragglers.rank");
  const at = blame.find({ rank: overlap.num(row, "rank") });
  const caused = at < 0 ? 0 : blame.amount(at, "direct_ns") + blame.amount(at, "indirect_ns");
  return caused + overlap.amount(row, "idle_ns") / 1e6;
}

// What to do, and what it rests on --------------------------------------------------------------------

function amount(job: Job, row: number): Child {
  const table = job.table("advice.item"),
    saved = table.num(row, "saved_ns"),
    cost = table.num(row, "cost_ns");
  const of = (text: string, column: "saved_ns" | "cost_ns") => figure(job, text, { table: "advice.item", row, column }),
    most = (saved === null ? table.text(row, "bound") === "upper" : table.cell(row, "at_most") === true) ? "at most " : "";
  if (saved !== null) return of(`saves ${most}${f.time(saved)}, ${f.percent(table.num(row, "saved_pct"), 1)}`, "saved_ns");
  const text = table.text(row, "rule") === "straggler" ? `each other rank waits ${f.time(cost)}` : `costs ${most}${f.time(cost)} a rank`;
  return cost !== null && of(`${text} in all`, "cost_ns");
}

function adviceList(job: Job): HTMLElement {
  const table = job.table("advice.item");
  const said = facts.verdict(job).text ?? "";
  if (table.n === 0) return section("What to do", h("p.note", "No rule of the advice applies to this job."));
  const evidence = (text: string) => (!text.startsWith(said.slice(0, 40)) || said === "" ? h("p.note", told(facts.kindsIn(text))) : null);
  const items = table.rows.slice(0, ADVICE_MAX).map((_, row) => {
    const item = facts.adviceItem(job, row);
    return h(
      "li",
      sign(item.state),
      h(
        "div",
        h("div.advice-head", h("a", { href: href(item.view) }, prose(item.title)), h("span.advice-amount", amount(job, row))),
        h(
          "details",
          h("summary", "How"),
          h("p", told(item.text)),
          table.cell(row, "at_most") === true && h("p.note", prose(table.text(row, "saves") ?? "")),
          evidence(table.text(row, "evidence") ?? ""),
        ),
      ),
    );
  });
  const known = table.nums("saved_ns").some((saved) => saved !== null),
    mean = job.table("whatif.job").num(0, "step_ns");
  const whole = `${facts.wholeWord(job)}${mean === null ? "" : `, ${f.time(mean)}`}`;
  return h(
    "section",
    h("h2", term("What to do", known ? `Ordered by what it saves of ${whole}.` : "Ordered by the time it costs a rank.")),
    h("ul.advice", items),
    table.n > ADVICE_MAX && link(`${table.n - ADVICE_MAX} more`, "tables", { name: "advice.item" satisfies TableName }),
  );
}

function basis(job: Job): HTMLElement {
  const ranks = job.table("job.rank"),
    { missing, missingCount } = facts.ranksOf(job);
  const skipped = ranks.sum("skipped_events"),
    repaired = ranks.sum("repaired_events"),
    cutShort = ranks.known("truncated");
  const match = facts.matchedShare(job),
    files = job.table("job.left_out");
  const left = files.rows.filter((_, row) => files.text(row, "reason") !== "other").length;
  const parts: Child[] = [
    `${f.count(job.table("job.job").amount(0, "events"), "event")} read, ${skipped === 0 ? "none skipped" : `${f.grouped(skipped)} skipped`}`,
    repaired > 0 && `, ${f.grouped(repaired)} repaired`,
    ". ",
  ];
  if (cutShort > 0) parts.push(h("b.bad", `† ${f.count(cutShort, "trace is", "traces are")} cut short. `));
  if (missingCount > 0)
    parts.push(h("b.bad", `† ${f.count(missingCount, "rank")} of ${job.facts["world_size"]} gave no trace: ${f.ranges(missing, 16)}. `));
  const formats = job.table("job.format"),
    kinds = formats.all;
  if (kinds.length > 1)
    parts.push(
      h(
        "b",
        `Traces of several kinds (${kinds.map((row) => `${formats.text(row, "format")} of ${f.count(formats.amount(row, "ranks"), "rank")}`).join(", ")}): each names process groups in its own way, so collectives between them are matched where only one group fits. `,
      ),
    );
  if (left > 0) parts.push(`${f.count(left, "file given was", "files given were")} left out. `);
  const check = job.table("clock.check"),
    operations = check.amount(0, "collectives"),
    complete = check.amount(0, "matched"),
    known = job.rowsOf("bubble.step") > 0 && job.rowsOf("bubble.pair") > 0;
  if (match.all > 0 && facts.severalRanks(job))
    parts.push(
      `${f.grouped(match.matched)} of ${f.count(match.all, "communication kernel")} (${f.percent(match.percent)}) were matched between ranks`,
      operations > 0 &&
        `, to ${f.count(operations, "operation")}; ${complete === operations ? "all" : f.grouped(complete)} of these are complete, with a kernel of each of their ranks`,
      facts.transfersAlone(job)
        ? "; the traces hold only the transfer of communication, drawn as “not split”: waits are idle time. "
        : facts.total(job, "exposed_unmatched_ns") === 0
          ? ". "
          : `; what cannot be split into wait and transfer (sends, receives, most broadcasts, and what is not matched) is drawn as “not split”. `,
      known &&
        facts.total(job, "exposed_unmatched_ns") > 0 && [
          "Of these, the waiting of receivers for senders is counted separately: ",
          link("Pipelines", "pipelines"),
          ". ",
        ],
    );
  return section("What these figures rest on", h("p", parts), link("About the data", "about"));
}

export const summary: View = {
  id: "summary",
  title: "Summary",
  needs: tablesNamed(
    "job.job job.rank job.format overlap.rank overlap.kind stragglers.job stragglers.rank overview.step overlap.step",
    "steps.kind imbalance.job imbalance.step clock.rank clock.check advice.item job.left_out job.differs",
    "whatif.job whatif.item collectives.kind",
  ),
  parts: [
    ({ job }) => [
      integrity(job),
      differs(job),
      title(job),
      h("div.columns", adviceList(job), rankBars(job)),
      h(
        "details.more",
        { open: incomplete(job) },
        h("summary", "More figures"),
        figureBand(job),
        h("div.columns.even", stepBars(job), basis(job)),
      ),
    ],
  ],
};
