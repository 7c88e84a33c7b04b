/** Length of each step. Marks the steps in which a rank or host stood out. */
import { drawChart } from "../chart";
import type { Job, Table } from "../data";
import { h, type Child } from "../dom";
import * as f from "../format";
import { hasSteps } from "../job";
import { roundUp } from "../lines";
import { link, section } from "../ui";
import { href } from "../view";

const HEIGHT = 260,
  STEPS_LEAST = 3,
  LISTED = 8;

/* "rank 3", "host0" */
function who(table: Table<"stragglers.finding">, row: number): string {
  const rank = table.num(row, "rank"),
    level = table.text(row, "level");
  if (level === "host") return `host ${table.text(row, "host")}`;
  return level === "rank" || table.num(row, "ranks") === 1 ? `rank ${rank}` : f.count(table.amount(row, "ranks"), "rank");
}

/* Returns the findings that apply only to some of the steps. */
function episodesOf(job: Job) {
  const table = job.table("stragglers.finding");
  return table.rows.flatMap((_, row) => {
    const from = table.num(row, "from"),
      to = table.num(row, "to"),
      excess = table.num(row, "excess_pct");
    if (table.text(row, "unit") !== "step" || table.text(row, "shape") === "throughout" || from === null || to === null) return [];
    const length = excess === null ? "" : `, ${f.percent(excess, 1)} of all steps’ time`;
    return [{ from, to, words: `${who(table, row)}, ${from === to ? `step ${from}` : `steps ${from} to ${to}`}${length}` }];
  });
}

/* Returns the time range of a step on the timeline, over all ranks that have the step. */
function windowOf(job: Job, step: number): string | null {
  const table = job.table("overlap.step");
  const rows = table.all.filter((row) => table.num(row, "step") === step && table.num(row, "begin_ns") !== null),
    begin = f.least(rows.map((row) => table.amount(row, "begin_ns"))),
    end = f.most(rows.map((row) => table.amount(row, "begin_ns") + table.amount(row, "window_ns")));
  return end > begin ? href("timeline", { t: `${Math.max(0, begin)}-${end}` }) : null;
}

/** Draws the chart; null if steps are not marked, or if there are fewer than three. */
export function trend(job: Job): HTMLElement | null {
  const table = job.table("imbalance.step");
  const points = table.rows
    .map((_, row): [number, number] => [table.amount(row, "step"), table.amount(row, "step_ns")])
    .filter(([, length]) => length > 0)
    .sort((a, b) => a[0] - b[0]);
  if (!hasSteps(job) || points.length < STEPS_LEAST) return null;
  const episodes = episodesOf(job),
    unit = f.timeUnit(points.map(([, length]) => length)),
    middle = f.median(points.map(([, length]) => length)) ?? 0,
    top = roundUp(f.most(points.map(([, length]) => length)) / unit.factor);
  const first = points[0]![0] - 0.5,
    last = points[points.length - 1]![0] + 0.5;
  const tip = (mark: number): Child => {
    const [step, length] = points[mark]!,
      there = episodes.filter((each) => each.from <= step && step <= each.to);
    return [h("b", `step ${step}: ${f.time(length)}`), there.map((each) => [h("br"), each.words])];
  };
  const chart = drawChart({
    label: `Length of ${f.count(points.length, "step")}, median ${f.time(middle)}; ${episodes.length > 0 ? `marked: ${episodes.map((each) => each.words).join("; ")}` : "none stands out"}`,
    height: HEIGHT,
    tip,
    click: (mark) => {
      const target = windowOf(job, points[mark]![0]);
      if (target !== null) location.hash = target;
    },
    plot: (theme) => ({
      x: { name: "step", min: first, max: last, whole: true },
      y: { name: `longest rank’s step, ${unit.name}`, min: 0, max: top },
      areas: episodes.map(({ from, to }) => ({
        points: [Math.max(first, from - 0.5), Math.min(last, to + 0.5)].map((step) => [step, 0, top] as const),
        color: theme.wait,
        opacity: 0.16,
      })),
      lines: [
        {
          points: [first, last].map((step) => [step, middle / unit.factor] as const),
          color: theme["ink-3"],
          width: 1,
          dash: [5, 4],
          label: "median",
        },
        { points: points.map(([step, length]) => [step, length / unit.factor]), color: theme.compute, width: 1.5 },
      ],
      marks: points.map(([step, length]) => ({ at: [step, length / unit.factor], size: points.length > 128 ? 4 : 7, fill: theme.compute })),
    }),
  });
  return section(
    "Step time",
    chart,
    episodes.length > 0 && [
      h("p.note", "Marked: steps in which a rank or host took longer than chance explains. ", link("What stands out", "stragglers")),
      h(
        "ul.plain",
        { "data-episodes": episodes.map(({ from, to }) => `${from}-${to}`).join(",") },
        episodes.slice(0, LISTED).map((each) => h("li", each.words)),
        episodes.length > LISTED && h("li", `and ${f.grouped(episodes.length - LISTED)} more`),
      ),
    ],
    table.leftOut > 0 && `${f.count(points.length, "step")} of ${f.grouped(table.n + table.leftOut)} are in this page.`,
  );
}
