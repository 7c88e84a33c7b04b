/** Facts that several views derive from the tables. */
import type { ColumnOf, Job } from "./data";
import * as f from "./format";
import { href, type State } from "./view";

/** Returns whether the traces show only the transfer part of communication. Waits then appear as idle time. */
export const transfersAlone = (job: Job): boolean => job.table("clock.check").amount(0, "transfers_alone") > 0;

export function deviceWord(job: Job): string {
  return (job.rowsOf("job.job") > 0 && job.table("job.job").text(0, "device_kind")) || "GPU";
}

/** Returns whether all inputs are profiles of TensorFlow or JAX. These lack step phases, modules and PyTorch's data loader. */
export function ofXla(job: Job): boolean {
  const table = job.table("job.format");
  return table.n > 0 && table.rows.every((_, row) => ["xplane", "trace_viewer"].includes(table.text(row, "format") ?? ""));
}

export const hasGrids = (job: Job): boolean => deviceWord(job) === "GPU" || !ofXla(job);
export const tellsTensorCores = (job: Job): boolean => deviceWord(job) === "GPU";

/** `ranks`: ranks with a trace, ascending. `host`: host of each. `hosts`: the different hosts. `missing`: ranks without a trace, at most
 * 65,536. `missingCount`: number of all ranks without a trace. `hostCount`: number of the job's hosts. */
export function ranksOf(job: Job) {
  const table = job.table("job.rank");
  const ranks = table.nums("rank").map((rank) => rank ?? -1);
  const host = new Map(ranks.map((rank, row) => [rank, table.text(row, "host") ?? ""]));
  const hosts = [...new Set(host.values())],
    missing: number[] = [];
  const { world_size: world, missing: runs, missing_count: count, host_count: hostCount } = job.facts;
  const have = new Set(ranks);
  /* If no trace states the world size, the job has at least the ranks from 0 to the highest rank with a trace. */
  const least = Math.max(
    typeof world === "number" ? world : 0,
    ranks.reduce((most, rank) => Math.max(most, rank + 1), 0),
  );
  if (runs) for (const [first, last] of runs) for (let rank = first; rank <= last && missing.length < 65536; rank++) missing.push(rank);
  else if (least <= 65536) for (let rank = 0; rank < least; rank++) if (!have.has(rank)) missing.push(rank);
  return { ranks, host, hosts, missing, missingCount: count ?? missing.length, hostCount: hostCount ?? hosts.length };
}

export function cutShort(job: Job): Set<number | null> {
  const table = job.table("job.rank");
  return new Set(table.all.filter((row) => table.cell(row, "truncated") === true).map((row) => table.num(row, "rank")));
}

export const severalRanks = (job: Job): boolean => job.allRowsOf("job.rank") > 1;

/** Returns whether steps are marked. If not, the whole trace is step 0. */
export const hasSteps = (job: Job): boolean => job.table("job.job").amount(0, "steps") > 0;

export const total = (job: Job, column: ColumnOf<"overlap.rank">): number => job.table("overlap.rank").sum(column);

export const lacksRanks = (job: Job): boolean => job.leftOut("job.rank") > 0;
export const communicates = (job: Job): boolean => total(job, "comm_ns") > 0;

export type Kind = ReturnType<typeof kinds>[number];

/** Returns the kinds of collectives, the one with the largest time first. The values of a kind are sums over ranks. */
export function kinds(job: Job) {
  const found = job
    .table("overlap.kind")
    .groups(["kind"])
    .map(({ texts: [kind], sum }) => ({
      kind: String(kind),
      count: sum("count"),
      comm: sum("comm_ns"),
      overlap: sum("overlap_ns"),
      exposed: sum("exposed_comm_ns"),
    }));
  return found.sort((a, b) => b.comm - a.comm);
}

const KIND_WORDS: Readonly<Record<string, string>> = {
  collective: "Collective",
  allreduce: "AllReduce",
  allgather: "AllGather",
  reducescatter: "ReduceScatter",
  broadcast: "Broadcast",
  reduce: "Reduce",
  alltoall: "AllToAll",
  gather: "Gather",
  scatter: "Scatter",
  send: "Send",
  recv: "Receive",
  sendrecv: "Send and receive",
  barrier: "Barrier",
  coalesced: "Coalesced",
  other: "Other",
};

/** Returns what to write for a job without AllReduces. If kernels are of unknown kind, they may be AllReduces. */
export const withoutAllReduce = (all: readonly Kind[]): string =>
  all.some((kind) => kind.kind === "other") ? "none identified by name" : "none in this job";

export const kindWord = (kind: string | null): string => KIND_WORDS[kind ?? ""] ?? kind ?? "";

/** Returns how the page names a process group, such as "0 (default_pg)". Before PyTorch 2.4, a missing description is "undefined". */
export function groupWord(group: string | null, description: string | null): string {
  const more = description !== "undefined" && description !== group ? description : null;
  return group && more ? `${group} (${more})` : more || group || "";
}

/** Like groupWord(), but takes the description from groups.group. */
export function groupName(job: Job, group: string | null): string {
  const table = job.table("groups.group");
  return groupWord(group, table.text(table.find({ group }), "description"));
}

/** Returns a sentence from tmerge's tables, with kinds of collectives spelled as on the page. */
export const kindsIn = (text: string): string =>
  text.replace(/\b[a-z]+\b/g, (word) => (/^(all|reduces|sendr)/.test(word) ? kindWord(word) : word));

/** `matched`: number of communication kernels that were matched over ranks. `all`: number of all such kernels. `percent`: their share. */
export function matchedShare(job: Job): { matched: number; all: number; percent: number | null } {
  const all = job.table("overlap.kind").sum("count");
  const unmatched = job.table("clock.check").amount(0, "unmatched");
  const matched = Math.max(0, all - unmatched);
  return { matched, all, percent: f.share(matched, all) };
}

/** `word`: the verdict on stragglers. `state`: decides its colour; "good" only if the verdict clears all ranks. */
export function straggling(job: Job): { word: string | null; state: State | undefined } {
  const table = job.table("stragglers.job"),
    word = table.text(0, "verdict");
  const certain = table.text(0, "certainty") === "confident",
    state = table.num(0, "rank") !== null ? (certain ? "bad" : "warn") : word === "none" ? "good" : word === null ? undefined : "note";
  return { word, state };
}

/** If ranks cause much of the waiting through other ranks, returns a note that the first steps charge them too little. Otherwise "". */
export function firstStepsLess(job: Job): string {
  const table = job.table("stragglers.rank"),
    indirect = table.sum("indirect_ns"),
    least = 0.05 * (indirect + table.sum("direct_ns"));
  return job.allRowsOf("stragglers.step") > 1 && indirect > least
    ? " Waiting that a rank causes through others is traced back through earlier steps. The first recorded steps have few before them: a rank that is equally slow in all steps may be charged less in them."
    : "";
}

/** Compares the clocks' uncertainty u with the skew of arrivals [ns]. Returns both if the skew is below 2 sqrt(u^2 + u^2), else null. */
export function coarseClocks(job: Job): { uncertainty: number; skew: number } | null {
  const skew = job.table("collectives.kind").most("median_skew_ns");
  const several = (job.table("clock.rank").most("domain") ?? 0) > 0;
  const uncertainty = worstUncertainty(job);
  if (!several || uncertainty === null || skew === null) return null;
  return 2 * Math.SQRT2 * uncertainty > skew ? { uncertainty, skew } : null;
}

export const TO_MARK_STEPS =
  "To mark them, use prof.step() in PyTorch, StepTraceAnnotation in JAX, or an NVTX or roctx range around each whose name --step-pattern matches.";

export const TO_RECORD_DEVICES = "Record with ProfilerActivity.CUDA among the profiler’s activities";

export const TO_RECORD_THE_HOST = "Record the host as well: ProfilerActivity.CPU in PyTorch, -t cuda in nsys, --hip-trace in rocprofv3.";

export const stepWord = (job: Job, step: number | null): string => (hasSteps(job) ? `step ${step}` : "whole trace");

export function wholeWord(job: Job): string {
  return hasSteps(job) ? "the mean step" : "the time from the devices’ first event to their last";
}

/** Returns the largest clock uncertainty [ns]; null if clocks cannot be compared. */
export function worstUncertainty(job: Job): number | null {
  const clocks = job.table("clock.rank");
  if (clocks.n === 0 || clocks.groups(["method"]).some(({ texts: [method] }) => method === "none")) return null;
  return Math.max(0, clocks.most("uncertainty_ns") ?? 0);
}
export type Verdict = Readonly<Record<"title" | "view" | "link", string> & { state: State; text: string | null }>;

/** Returns the page's first sentence, as in the terminal: which rank delays the job or, if none does, what costs most. */
export function verdict(job: Job): Verdict {
  const table = job.table("stragglers.job");
  const { word, state } = severalRanks(job) ? straggling(job) : { word: null, state: undefined };
  const evidence = table.text(0, "evidence"),
    title = table.text(0, "headline") ?? "";
  if (state === "bad" || state === "warn") return { state, title, text: evidence, view: "stragglers", link: "Who waits for whom" };
  if (captures(job)) return { state: "note", title, text: evidence, view: "steps", link: "The steps" };
  if (word !== null && word !== "none")
    return { state: "note", title, text: evidence, view: "stragglers", link: "What is known about arrivals" };
  const rest = withoutStraggler(job);
  return severalRanks(job) || total(job, "window_ns") === 0 ? { ...rest, title: title || rest.title, text: evidence ?? rest.text } : rest;
}

/** Returns the headline of whatif.job. If it begins with the verdict's headline, cuts that off. Returns null if nothing is left. */
export function savedText(job: Job): string | null {
  const said = job.table("stragglers.job").text(0, "headline") ?? "",
    text = job.table("whatif.job").text(0, "headline");
  if (text === null || said === "" || !text.startsWith(said)) return text;
  return text.slice(said.length).replace(/^[. ]+/, "") || null;
}

/* Returns whether all steps are graph captures. Device activity then says nothing about a normal run. */
function captures(job: Job): boolean {
  const kinds = job.table("steps.kind");
  return kinds.n > 0 && kinds.rows.every((_, row) => kinds.text(row, "phase") === "capture");
}

/* Returns the finding of a job without a straggler: the summary of its only rank, or the first advice. */
function withoutStraggler(job: Job): Verdict {
  const advice = job.table("advice.item");
  const alone = job.table("overview.job").text(0, "headline");
  const several = severalRanks(job),
    none = "The traces hold no kernel, copy or set.";
  if (total(job, "window_ns") === 0)
    return { state: "note", title: "No GPU events were recorded", text: none, view: "about", link: "What was read" };
  if (advice.n > 0) {
    const { state, title, text, view } = adviceItem(job, 0),
      evidence = job.table("overview.job").text(0, "evidence") ?? advice.text(0, "text") ?? "";
    return { state, title: alone ?? title, text: alone === null ? text : evidence, view, link: "What this is based on" };
  }
  return {
    state: several && communicates(job) && straggling(job).word === null ? "note" : "good",
    title: alone ?? "Nothing stands out",
    text: "No rule of the advice applies.",
    view: "ranks",
    link: several ? "Where each rank’s time goes" : "Where the time goes",
  };
}
/* Title of an advice and the view with its evidence. If the title is "", it is the first clause of the advice. */
const RULES: Readonly<Record<string, readonly [string, string]>> = {
  recording: ["Record again", "about"],
  straggler: ["", "stragglers"],
  uneven_stages: ["Divide the pipeline evenly", "whatif"],
  slow_network: ["Find why the network is slow", "communication"],
  slow_link: ["Find why a link between GPUs is slow", "communication"],
  imbalance: ["", "steps"],
  late_ranks: ["", "stragglers"],
  input: ["Load data faster", "input"],
  small_kernels: ["Launch fewer, larger kernels", "kernels"],
  scheduler_gaps: ["Shorten the time between steps", "steps"],
  decode_batch: ["Decode more requests in a step", "steps"],
  pageable_copies: ["Copy from pinned memory", "transfers"],
  exposed_copies: ["Copy less, or during computation", "transfers"],
  device_allocation: ["Do not allocate device memory in steps", "memory"],
  exposed_communication: ["Hide communication", "communication"],
  communication: ["Shorten communication", "communication"],
  gpu_utilization: ["Keep the GPUs busy", "idle"],
  step_variation: ["Find why steps vary", "steps"],
  optimizer: ["Make the optimizer’s step cheaper", "kernels"],
  tensor_cores: ["Use tensor cores", "operators"],
  precision: ["Multiply in fewer bits", "kernels"],
  attention: ["Fuse attention", "operators"],
  memory: ["Make room in device memory", "memory"],
  memory_room: ["Use the memory that is free", "memory"],
  memory_growth: ["Find what holds on to memory", "memory"],
  memory_spike: ["Find what one step needs memory for", "memory"],
  clock_quality: ["Do not trust arrivals: clocks disagree", "clocks"],
  missing_ranks: ["Record the missing ranks", "about"],
  kernel_launch: ["Launch fewer, larger operations", "xla"],
  output: ["Send less to the host, or less often", "xla"],
  device_to_device: ["Copy less on and between devices", "xla"],
  barrier: ["Find the device that arrives last at its program", "xla"],
  collectives: ["Communicate less, or during computation", "xla"],
  asynchronous: ["Start transfers earlier, or make them smaller", "xla"],
  data_shuffle: ["Rearrange less data", "xla"],
  sparse_core: ["Give SparseCores less, or start it earlier", "xla"],
  other_time: ["Look at what hosts do between launches", "xla"],
  compute_16_bit: ["Compute in 16 bits", "xla"],
  input_host: ["Do less host work for each batch", "xla"],
  input_transfer: ["Hand data over in fewer, larger pieces", "xla"],
};

/* Returns the text of an advice. If it begins with the words of the title, cuts them off, unless parentheses follow. */
function adviceText(text: string, title: string): string {
  const same = text.toLowerCase().replace(/'/g, "’").startsWith(title.toLowerCase()) && !text.startsWith(" (", title.length);
  const rest = same ? text.slice(title.length).replace(/^[\s:,;.]+/, "") : text;
  return /^[a-z]+ /.test(rest) ? rest[0]!.toUpperCase() + rest.slice(1) : rest;
}

const CLAUSE_END = / \(|[:;] |\.( |$)|, (?=in the|first|especially)/;

/** Returns for a row of advice.item: a short title, the text without the words of the title, and the view with the evidence. */
export function adviceItem(job: Job, row: number) {
  const table = job.table("advice.item");
  const rule = table.text(row, "rule") ?? "";
  const severity = table.text(row, "severity");
  const [general, usual] = RULES[rule] ?? [rule.replace(/_/g, " "), "tables"];
  const view = usual === "input" && ofXla(job) ? "xla" : usual;
  const text = table.text(row, "text") ?? "",
    title = general || text.split(CLAUSE_END)[0]!.replace(/'/g, "’"),
    state = (severity === "critical" ? "bad" : severity === "warning" ? "warn" : "note") as State;
  return { state, title, text: adviceText(text, title), view };
}

export const GRAVEST: readonly State[] = ["bad", "warn", "note", "good"];

/** Returns the most severe state of all advice whose evidence is in this view; undefined if there is none. */
export function adviceState(job: Job, view: string): State | undefined {
  const states = job
    .table("advice.item")
    .rows.map((_, row) => adviceItem(job, row))
    .filter((item) => item.view === view && item.state !== "note")
    .map((item) => item.state);
  return GRAVEST.find((state) => states.includes(state));
}

export function onTimeline(begin: number, end: number, more: Readonly<Record<string, string | number>> = {}): string {
  const margin = Math.max(1000, Math.round((end - begin) * 0.1));
  return href("timeline", { t: `${Math.max(0, Math.round(begin - margin))}-${Math.round(end + margin)}`, ...more });
}
