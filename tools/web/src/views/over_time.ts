/** Charts of ranks' values over time as lines, for the views Launches and Transfers. */
import type { Table } from "../data";
import * as f from "../format";
import { amid, lineChart } from "../lines";
import { controls, section, pick, setting } from "../ui";
import type { Child } from "../dom";
import type { Context } from "../view";

type Points = [number, number][];

/** `what`: meaning of the lines, such as "Events in the queue". `first`: rank that is shown if the address has none. */
type Ranks = Readonly<
  Record<"title" | "what" | "leftOut", string> & { byRank: ReadonlyMap<number, Points>; first: number; tools?: Child }
> &
  Pick<Parameters<typeof lineChart>[0], "unit" | "write">;

/* Draws the chosen rank as a thick line. Draws the others as thin lines or, if there are many, as a band. */
function lines(context: Context, of: Ranks): HTMLElement {
  const ranks = [...of.byRank.keys()].sort((a, b) => a - b),
    wanted = ranks.find((rank) => String(rank) === context.params.get("rank")) ?? of.first;
  const line = (rank: number) => ({ name: `rank ${rank}`, points: of.byRank.get(rank)!, strong: rank === wanted }),
    { words, ...drawn } = amid([line(wanted)], ranks.filter((rank) => rank !== wanted).map(line), "rank");
  return section(
    of.title,
    controls(
      of.tools,
      pick(context, "Rank", "rank", ranks, (rank) => `rank ${rank}`, wanted),
    ),
    `${of.what}, mean over each 64th of a rank’s time. Thick: rank ${wanted}. ${words}${of.leftOut}`,
    lineChart({ ...drawn, label: `${of.what}, rank ${wanted}, over time`, unit: of.unit, steps: true, write: of.write }),
  );
}

/* Returns whether the shown ranks have larger amounts than all others; false if this is not known. */
function haveMost(shown: { has(rank: number): boolean }, amounts: ReadonlyMap<number, number>, all: number): boolean {
  if (amounts.size < all) return false;
  const among = (wanted: boolean) => [...amounts].filter(([rank]) => shown.has(rank) === wanted).map(([, amount]) => amount);
  return f.least(among(true)) > f.most(among(false));
}

/** Draws how many events wait in the queues of ranks over time; null if no launch is known. */
export function queueOverTime(context: Context): HTMLElement | null {
  const { job } = context,
    table = job.table("launches.queue"),
    point = (row: number): [number, number] => [table.amount(row, "time_ns"), table.amount(row, "mean_queue")],
    byRank = new Map([...table.by("rank")].map(([rank, rows]) => [Number(rank), rows.map(point)]));
  if (byRank.size === 0) return null;
  const mean = (points: Points) => f.sum(points.map(([, value]) => value)) / points.length,
    least = [...byRank].reduce((a, b) => (mean(b[1]) < mean(a[1]) ? b : a));
  const ranks = job.table("launches.rank"),
    all = job.allRowsOf("launches.rank"),
    unlinked = ranks.sum("unlinked"),
    bound = new Map(ranks.rows.map((_, row) => [ranks.num(row, "rank") ?? -1, ranks.amount(row, "host_bound_pct")]));
  return lines(context, {
    title: "Queue over time",
    what: "Events launched and not yet started, of all streams",
    byRank,
    leftOut: `At 0 nothing is launched ahead: the GPU runs out of work unless the host launches in time.${unlinked > 0 ? ` ${f.count(unlinked, "event")} whose launch was not recorded ${unlinked === 1 ? "is" : "are"} not counted: while they wait the queue is longer.` : ""}${byRank.size < all ? ` ${byRank.size} of ${f.count(all, "rank")}${haveMost(byRank, bound, all) ? ", the most host-bound ones" : ""}.` : ""}`,
    first: least[0],
    unit: { name: "events in the queue", factor: 1 },
    write: (value) => f.grouped(value, value < 10 ? 1 : 0),
  });
}

/* Returns for each rank the bandwidth of one kind of copy over time. While a rank makes no such copies, its bandwidth is 0. */
function ratesOf(table: Table<"transfers.rate">, kind: string): Map<number, Points> {
  const byRank = new Map<number, Points>(),
    ends = new Map<number, number>();
  for (let row = 0; row < table.n; row++) {
    const rank = table.num(row, "rank") ?? -1,
      time = table.amount(row, "time_ns"),
      rate = table.amount(row, "bw_gbps"),
      points = byRank.get(rank) ?? [],
      end = ends.get(rank);
    if (table.text(row, "kind") !== kind || !(rate > 0)) continue;
    const width = table.amount(row, "bytes") / rate;
    if (end === undefined || time - end > width / 2) points.push([end ?? Math.max(0, time - width / 2), 0]);
    points.push([time, rate]);
    ends.set(rank, time + width);
    byRank.set(rank, points);
  }
  for (const [rank, end] of ends) byRank.get(rank)!.push([end, 0]);
  return byRank;
}

const PARTS_LEAST = 3; // with copies in fewer parts of a recording, a chart shows no more than the table

/** Draws the bandwidth of each kind of copy over time; null if no copy's size is known, or if little is copied. */
export function rateOverTime(context: Context, kinds: readonly (readonly [string, string])[]): HTMLElement | null {
  const { job, params } = context,
    table = job.table("transfers.rate");
  const often = (kind: string) => {
    const copied = (row: number) => table.text(row, "kind") === kind && table.amount(row, "bw_gbps") > 0;
    return [...table.by("rank").values()].some((rows) => rows.filter(copied).length >= PARTS_LEAST);
  };
  const there = kinds.filter(([kind]) => often(kind)),
    kind = there.find(([each]) => each === params.get("kind")) ?? there[0];
  if (!kind) return null;
  const byRank = ratesOf(table, kind[0]),
    most = (points: Points) => f.most(points.map(([, value]) => value));
  const busiest = [...byRank].reduce((a, b) => (most(b[1]) > most(a[1]) ? b : a));
  const unit = f.byteUnit(
    [...byRank.values()].map((points) => 1e9 * most(points)),
    false,
  );
  const copies = job.table("transfers.kind"),
    copied = new Map([...copies.by("rank")].map(([rank, rows]) => [Number(rank), f.sum(rows.map((row) => copies.amount(row, "bytes")))]));
  const all = copies.leftOut > 0 ? job.allRowsOf("job.rank") : copied.size,
    shown = new Set(table.nums("rank").map((rank) => rank ?? -1));
  return lines(context, {
    title: "Bandwidth over time",
    what: `Copies, ${kind[1].toLowerCase()}, ${unit.name}/s`,
    byRank,
    leftOut: `Time in which nothing is copied counts as well.${shown.size < all ? ` ${shown.size} of ${f.count(all, "rank")}${haveMost(shown, copied, all) ? ", those that copied most" : ""}.` : ""}`,
    first: busiest[0],
    unit: { name: `${unit.name}/s`, factor: unit.factor / 1e9 },
    write: (value) => `${f.bytes(1e9 * value)}/s`,
    tools: setting(context, "Kind", "kind", there, kind[0], "rank"),
  });
}
