/** Says which rank came last to an operation and how long others waited for it, or why that is unknown. */
import * as f from "../format";
import type { Job } from "../data";
import type { ChartData } from "./chart";
import { COLLECTIVE_WORDS, RECV, SEND, SYNCHRONISING, TIED, UNREPORTED, type JobBlock, type Member, type Operation } from "./model";
import { doubt } from "./operations";

type Reported = Pick<ChartData, "job" | "noWaits">;

/** Returns the reason why no operation of the job has a known wait; null if operations may have one. */
export function noWaitsOf(job: Job): string | null {
  const check = job.table("clock.check");
  if (check.n === 0) return null;
  if (check.amount(0, "transfers_alone") > 0) return "these traces hold only transfers";
  return check.text(0, "align") === "none" ? "clocks were not compared (--align=none)" : null;
}

export const rankNumber = (job: JobBlock, member: Member): number => job.ranks[member.at]!.rank;

export function inOrder(operation: Operation): Member[] {
  return [...operation.members].sort((a, b) => a.begin - b.begin || a.at - b.at);
}

/* Returns why the begins of an operation's members cannot be compared; null if they can. */
function notComparable(operation: Operation, { job, noWaits }: Reported): string | null {
  if (noWaits !== null) return noWaits;
  const ranks = operation.members.map((member) => job.ranks[member.at]!),
    apart = new Set(ranks.map((rank) => rank.domain)).size > 1;
  return apart && ranks.some((rank) => rank.noClock) ? "the clocks of its ranks cannot be compared" : null;
}

/* Says which rank of a transfer waited. A receiver waits for its sender, but a sender may leave before its receiver arrives. */
function transferWords(operation: Operation, reported: Reported): string {
  const { job } = reported;
  if (operation.size < 2) return "No wait is known: the other rank’s kernel is missing from its trace or was not matched.";
  const why = notComparable(operation, reported);
  if (why !== null) return `No wait is known: ${why}.`;
  const [low, high] = [...operation.members].sort((a, b) => rankNumber(job, a) - rankNumber(job, b));
  if (!low || !high) return "How long the receiver waited is not known here: only one of the two ranks is in this page.";
  const [sender, receiver] = operation.kind === SEND ? [low, high] : [high, low],
    late = sender.begin - receiver.begin,
    doubted = doubt(operation, receiver.at, job.ranks),
    about = doubted > 0 ? ` (±${f.time(doubted)})` : "",
    [from, to] = [rankNumber(job, sender), rankNumber(job, receiver)];
  if (late <= 0)
    return `The receiver, rank ${to}, arrived ${f.time(-late)}${about} after the sender, rank ${from}, and did not wait for it.`;
  return `The receiver, rank ${to}, waited ${f.time(Math.min(late, receiver.end - receiver.begin))}${about} for the sender, rank ${from}.`;
}

function whyNoWait(operation: Operation, reported: Reported): string {
  if (UNREPORTED.has(operation.kind)) return "No wait is known: the kind of this operation is not known.";
  if (!SYNCHRONISING.has(operation.kind))
    return `No wait is known: a rank may leave a ${COLLECTIVE_WORDS[operation.kind] ?? COLLECTIVE_WORDS[0]!} before all have arrived.`;
  const why = notComparable(operation, reported);
  if (why !== null) return `No wait is known: ${why}.`;
  return operation.size < 2
    ? "No wait is known: no other rank’s kernel was matched with it; they are missing from the traces or cannot be identified."
    : "No wait is known: kernels of some ranks of its group are missing from the traces, were not matched, or contradict one another.";
}

/** Returns which rank came last, and whether the clocks are accurate enough to know. */
export function lastWords(operation: Operation, reported: Reported, poor: boolean): string {
  const { job } = reported;
  if (!operation.waits)
    return operation.kind === SEND || operation.kind === RECV ? transferWords(operation, reported) : whyNoWait(operation, reported);
  const order = inOrder(operation),
    last = order[order.length - 1]!,
    before = order[order.length - 2];
  const together = `Waited ${f.time(operation.wait)} in total`;
  if (poor)
    return `${together}; which rank came last is not known: arrivals differ by less than the clocks can resolve (±${f.time(doubt(operation, last.at, job.ranks))}).`;
  const left = operation.size - order.length;
  if (operation.lastRank !== null)
    return `${together}; rank ${operation.lastRank} came last${left === 0 && before ? `, ${f.time(last.begin - before.begin)} after the one before` : ""}.`;
  if (left > 0)
    return `${together}; several came last within the error of their clocks, and ${f.count(left, "rank is", "ranks are")} not in this page.`;
  const tied = order.filter((member) => member.arrival === TIED).map((member) => rankNumber(job, member));
  return `${together}; ranks ${f.ranges(tied)} came last within the error of their clocks.`;
}
