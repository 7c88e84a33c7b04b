import type { Job } from "../data";
import { h } from "../dom";
import * as f from "../format";
import { grid, type Write } from "../grid";
import { severalRanks } from "../job";
import { heatMap } from "../map";
import { note, section, lines } from "../ui";

/** Maximum number of rows of the map. If there are more ranks, the map shows the ranks that differ most. */
const RANKS_MAX = 64;
const BITS = [
  ["bits8_ns", "in 8 bits"],
  ["bits16_ns", "in 16 bits"],
  ["tf32_ns", "in TF32"],
  ["bits32_ns", "in 32 bits"],
  ["bits64_ns", "in 64 bits"],
] as const;

/* The strongest colour means the largest difference, but at least this [%]. */
const FULL_COLOUR_PCT = 10;

/* Makes a map by rank and class of kernels. It shows how much more time a class takes on a rank than on the median rank. */
function classMap(job: Job): HTMLElement | null {
  const kernels = job.level("classes.work", "class"),
    table = job.level("classes.work", "rank");
  if (!severalRanks(job) || table.n === 0) return null;
  const classes = kernels.all.filter((row) => kernels.amount(row, "ranks") > 1),
    name = (row: number) => kernels.text(row, "class") ?? "";
  const cells = new Map(table.rows.map((_, row) => [`${table.num(row, "rank")}/${table.text(row, "class")}`, row]));
  /* The mean per call is compared, because ranks with longer recordings have more calls. */
  const mean = (at: number | undefined): number | null => {
    const calls = table.num(at ?? -1, "calls");
    return calls ? table.amount(at!, "total_ns") / calls : null;
  };
  const of = table.by("class"),
    middles = new Map(classes.map((row) => [row, f.median((of.get(name(row)) ?? []).map(mean).filter((value) => value !== null))]));
  const slower = (rank: number, row: number): number | null => {
    const own = mean(cells.get(`${rank}/${name(row)}`)),
      middle = middles.get(row);
    return own === null || !middle ? null : 100 * (own / middle - 1);
  };
  const work = classes.filter((row) => name(row) !== "communication"),
    weight = (rank: number) => f.sum(work.map((row) => Math.max(0, slower(rank, row) ?? 0) * kernels.amount(row, "share_pct")));
  const all = [...new Set(table.nums("rank"))].filter((rank) => rank !== null),
    weights = new Map(all.map((rank) => [rank, weight(rank)]));
  const order = [...all].sort((a, b) => weights.get(b)! - weights.get(a)! || a - b),
    ranks = all.length > RANKS_MAX ? order.slice(0, RANKS_MAX) : all.sort((a, b) => a - b);
  return h(
    "div",
    h("h3", "By rank, against the median rank"),
    note(
      `Percent by which the mean call of a class takes longer on a rank than on the median rank; the colours go from 0 to at least ${FULL_COLOUR_PCT}. For communication the rank that waits most takes longest.`,
      ranks.length < all.length && ` The ${ranks.length} of ${f.grouped(all.length)} ranks that take longest, not counting communication.`,
    ),
    heatMap({
      label: "Mean time of a kernel by rank and class against the median rank, percent",
      rows: ranks.map((rank) => `rank ${rank}`),
      columns: classes.map(name),
      ramp: "wait",
      to: FULL_COLOUR_PCT,
      cell: (r, c) => {
        const rank = ranks[r]!,
          row = classes[c]!,
          value = slower(rank, row),
          at = cells.get(`${rank}/${name(row)}`);
        if (value === null || at === undefined) return null;
        const size = Math.abs(value),
          own = `${f.time(mean(at))} a kernel, the median rank ${f.time(middles.get(row) ?? null)}`,
          all = `${f.time(table.num(at, "total_ns"))} in ${f.count(table.amount(at, "calls"), "call")}`;
        return {
          value: Math.max(0, value),
          text: size < 0.05 ? "0" : `${value < 0 ? "−" : "+"}${f.grouped(size, size < 9.95 ? 1 : 0)}`,
          tip: () => lines(`rank ${rank}, ${name(row)}`, `${own}; ${all}`),
        };
      },
    }),
  );
}

/** Makes a section of the kernels view; null if no kernel's name shows a class. */
export function classesOf(job: Job): HTMLElement | null {
  const table = job.level("classes.work", "class");
  if (table.n === 0) return null;
  return section(
    "Classes of work",
    "By words in the kernels’ names, which also give the number format of matrix multiplications, convolutions and attention.",
    grid(
      table,
      {},
      "class",
      { column: "total_ns", label: "total", bar: (row) => (table.text(row, "class") === "communication" ? "comm" : "compute") },
      "share_pct: share; calls; names: names; top_name<kernel narrow>: the largest",
      BITS.filter(([column]) => table.sum(column) > 0).map(([column, label]) => ({
        column,
        label,
        /* a dash if the names of the class's kernels do not show the format */
        draw: (row: number, write: Write) => (BITS.some(([each]) => table.amount(row, each) > 0) ? write(table.num(row, column)) : f.NONE),
      })),
      table.sum("flash_ns") > 0 && "flash_ns: flash attention",
      severalRanks(job) && "spread: total: max over ranks / median; slowest_rank: rank",
    ),
    classMap(job),
  );
}
