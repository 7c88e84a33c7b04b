/** Pipelines: what each stage does when, how large the bubble is compared with the ideal one, and which stage sends late. */
import { band, tile } from "../cells";
import type { ColumnOf, Job } from "../data";
import { h, type Child } from "../dom";
import * as f from "../format";
import { onTimeline, stepWord } from "../job";
import { heatMap, rampColors } from "../map";
import { controls, empty, heading, note, section, swatches, lines, pick } from "../ui";
import { tablesNamed, type Context, type View } from "../view";
import { part, type At } from "./part";
import { Boxes, paintBox, fillBox, type BoxesOptions, type Ctx } from "../canvas";
import { roundTicks } from "../stack";

/** A pass: its row, its number, and its begin and end [ns from the left edge]. */
type Pass = Readonly<Record<"row" | "number" | "from" | "to", number> & Record<"backward", boolean>>;

const ROW = 26,
  AXIS = 30,
  LABEL = 132,
  CHARACTER = 7;
/** Indices of the colours of forward and backward passes on the ramp of work: a lighter and a stronger blue. */
const TINTS = [8, 15] as const;

function passColors(): readonly (readonly [string, string])[] {
  const fills = rampColors("work");
  return [
    [fills[TINTS[0]]!, "Forward pass"],
    [fills[TINTS[1]]!, "Backward pass"],
  ];
}

class Passes extends Boxes {
  /** @param rows names of the rows @param span  length of the picture [ns] */
  constructor(
    readonly rows: readonly string[],
    readonly passes: readonly Pass[],
    readonly span: number,
    options: BoxesOptions,
  ) {
    super(options, "diagram of passes", "Point at a pass or use the arrow keys to read it; click or Enter shows it on the timeline.");
  }

  #x(ns: number): number {
    return LABEL + (ns / this.span) * (this.element.clientWidth - LABEL - 8);
  }

  protected layout(): number {
    this.canvas.dataset["passes"] = String(this.passes.length);
    return AXIS + ROW * this.rows.length;
  }

  protected paint(ctx: Ctx, width: number, color: (name: string) => string): void {
    this.rows.forEach((label, row) => {
      fillBox(ctx, color("idle"), LABEL, row * ROW + 2, width - LABEL - 8, ROW - 4);
      ctx.fillStyle = color("ink");
      ctx.fillText(label, 0, row * ROW + ROW / 2, LABEL - 8);
    });
    ctx.textAlign = "center";
    this.#paintAxis(ctx, color("ink-2"), color("line"));
    this.#paintPasses(ctx, color("ink"));
    ctx.textAlign = "left";
  }

  #paintAxis(ctx: Ctx, ink: string, line: string): void {
    const unit = f.timeUnit([this.span]),
      top = ROW * this.rows.length;
    for (const tick of roundTicks(this.span / unit.factor, 6)) {
      const x = this.#x(tick * unit.factor);
      if (x > this.element.clientWidth - 8) continue;
      fillBox(ctx, line, Math.round(x), top, 1, 5);
      ctx.fillStyle = ink;
      ctx.fillText(tick === 0 ? `0 ${unit.name}` : String(Number(tick.toPrecision(6))), x, top + 16);
    }
  }

  #paintPasses(ctx: Ctx, ink: string): void {
    const fills = rampColors("work"),
      inks = rampColors("work", "color");
    this.passes.forEach((pass, i) => {
      const x = this.#x(pass.from),
        width = Math.max(1, this.#x(pass.to) - x),
        y = pass.row * ROW + 2,
        tint = TINTS[pass.backward ? 1 : 0],
        text = String(pass.number);
      paintBox(ctx, { x, y, width, height: ROW - 4 }, fills[tint]!, i === this.at ? ink : null);
      ctx.fillStyle = inks[tint]!;
      if (width >= text.length * CHARACTER + 6) ctx.fillText(text, x + width / 2, y + ROW / 2 - 1);
    });
  }

  protected boxAt(x: number, y: number): number {
    const row = Math.floor(y / ROW);
    return this.passes.findIndex((pass) => pass.row === row && this.#x(pass.from) <= x && x < this.#x(pass.to));
  }

  #nearest(row: number, time: number): number {
    const away = ({ from, to }: Pass): number => Math.abs((from + to) / 2 - time),
      own = this.passes.filter((pass) => pass.row === row);
    return own.length === 0 ? -1 : this.passes.indexOf(own.reduce((a, b) => (away(b) < away(a) ? b : a)));
  }

  protected move(key: string): boolean {
    const { passes } = this,
      own = passes[this.at],
      sideways = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: 0, ArrowDown: 0 }[key];
    if (sideways === undefined) return false;
    let next = this.#nearest(own ? own.row + (key === "ArrowUp" ? -1 : 1) : 0, own ? (own.from + own.to) / 2 : 0);
    if (own && sideways) {
      const row = [...passes.keys()].filter((i) => passes[i]!.row === own.row).sort((a, b) => passes[a]!.from - passes[b]!.from);
      next = row[row.indexOf(this.at) + sideways] ?? -1;
    }
    if (next >= 0) this.at = next;
    this.draw();
    if (this.at >= 0) this.say(this.options.words(this.at));
    return true;
  }
}

const UNEVEN = 1.1; // if a stage takes more than this many times the median, stages differ
const PIPELINES_MOST = 16;
const SCALE_LEAST = 25; // the strongest colour stands for at least this much above the ideal bubble [percentage points]

/* `bubble`, `ideal`: means over pipelines and steps [%], weighted by duration and number of ranks. `span`: sum of the weights. */
function bubbles(job: Job): { bubble: number; ideal: number; span: number } {
  const table = job.table("bubble.step");
  const weight = (row: number) => table.amount(row, "span_ns") * table.amount(row, "ranks"),
    span = f.sum(table.all.map(weight)),
    mean = (column: "bubble_pct" | "ideal_pct") =>
      f.sum(table.all.map((row) => weight(row) * table.amount(row, column))) / Math.max(1, span);
  return { span, bubble: mean("bubble_pct"), ideal: mean("ideal_pct") };
}

function passTime(job: Job, row: number): number {
  const table = job.table("bubble.stage");
  return table.amount(row, "forward_ns") + table.amount(row, "backward_ns");
}

function unevenness(job: Job): string {
  const table = job.table("bubble.stage"),
    rows = table.all,
    middle = f.median(rows.map((row) => passTime(job, row))) ?? 0;
  const slowest = rows.reduce((a, b) => (passTime(job, b) > passTime(job, a) ? b : a), 0);
  const most = passTime(job, slowest);
  return middle > 0 && most > UNEVEN * middle
    ? `Stage ${table.num(slowest, "stage")} takes longest for a forward and a backward pass, ${f.time(most)}, the median stage ${f.time(middle)}: the others have to wait for it. `
    : `A forward and a backward pass take every stage about as long, at most ${f.time(most)}. `;
}

function finding(job: Job): [Child, ...Child[]] {
  const { bubble, ideal } = bubbles(job),
    stages = job.table("bubble.step").most("stages") ?? 0;
  return [
    `The pipeline’s bubble is ${f.percent(bubble, 1)} of its time, ${f.percent(ideal, 1)} if all were even`,
    `That is the time in no pass, from the first pass of a step to the last, in ${f.count(stages, "stage")}. `,
    unevenness(job),
    "More micro-batches per step, or more parts of the model per stage, make the ideal bubble smaller.",
  ];
}

function figures(job: Job): HTMLElement {
  const { bubble, ideal } = bubbles(job),
    table = job.table("bubble.step");
  const percent = (value: number) => f.percent(value, 1),
    range = (column: ColumnOf<"bubble.step">) => {
      const low = percent(table.least(column) ?? 0),
        high = percent(table.most(column) ?? 0);
      return low === high ? "in all steps" : `${low} to ${high}`;
    };
  const late = job.table("bubble.stage").sum("late_sender_ns"),
    known = job.table("bubble.stage").known("late_sender_ns") > 0;
  return band([
    tile(job, "bubble.step", "bubble_pct", "Bubble", percent, { value: percent(bubble), below: range("bubble_pct") }),
    tile(job, "bubble.step", "ideal_pct", "Ideal bubble", percent, { value: percent(ideal), below: range("ideal_pct") }),
    tile(job, "bubble.step", "forward_passes", "Forward passes of a rank", f.grouped, {
      below: "a step: micro-batches, times the parts of the model that a stage has",
    }),
    [
      "Waited for senders",
      "How long receivers waited for the sender.",
      known ? f.time(late) : f.NONE,
      known ? "GPU time of all stages, hidden or not" : "the traces hold only the transfer, or clocks cannot be compared",
    ],
  ]);
}

function diagram(context: Context): Child {
  const { job, params } = context,
    table = job.table("bubble.pass"),
    all = job.table("bubble.step"),
    steps = [...new Set(table.nums("step"))].filter((step) => step !== null);
  if (steps.length === 0) return section("What stages do when", empty("No pass is kept."));
  const longest = all.all
    .filter((row) => steps.includes(all.num(row, "step") ?? NaN))
    .reduce((a, b) => (all.amount(b, "span_ns") > all.amount(a, "span_ns") ? b : a), 0);
  const step = steps.find((each) => String(each) === params.get("step")) ?? all.num(longest, "step") ?? steps[0]!;
  const rows = table.all.filter((row) => table.num(row, "step") === step),
    value = (row: number, column: ColumnOf<"bubble.pass">) => table.amount(row, column);
  const ranks = [...new Map(rows.map((row) => [value(row, "rank"), value(row, "stage")]))].sort(([a, x], [b, y]) => x - y || a - b),
    places = new Map(ranks.map(([rank], i) => [rank, i]));
  const begin = f.least(rows.map((row) => value(row, "begin_ns"))),
    span = Math.max(1, f.most(rows.map((row) => value(row, "end_ns"))) - begin);
  const passes: Pass[] = rows.map((row) => ({
    row: places.get(value(row, "rank"))!,
    backward: table.text(row, "direction") === "backward",
    number: value(row, "number"),
    from: value(row, "begin_ns") - begin,
    to: value(row, "end_ns") - begin,
  }));
  const names = ranks.map(([rank, stage]) => `stage ${stage} · rank ${rank}`),
    picture = new Passes(names, passes, span, {
      label: `Passes of ${f.count(ranks.length, "rank")} of a pipeline in ${stepWord(job, step)}; the table of stages has their lengths`,
      words: (i) => {
        const { backward, number, row, from, to } = passes[i]!;
        return lines(
          `${backward ? "backward" : "forward"} pass ${number}, rank ${ranks[row]![0]}`,
          `${f.time(to - from)}, from ${f.time(from)} after the first pass began`,
        );
      },
      choose: (i) => {
        location.hash = onTimeline(begin + passes[i]!.from, begin + passes[i]!.to);
      },
    });
  return section(
    "What stages do when",
    controls(pick(context, "Step", "step", steps, (each) => stepWord(job, each), step)),
    swatches("ul.legend", passColors(), h("li", h("span.swatch.fill-idle"), "In no pass: the bubble")),
    "The pipeline that took longest in the step. A pass is what a rank computed in one direction between two transfers; its number counts the rank’s passes in that direction, and is the micro-batch where a stage has one part of the model.",
    picture.element,
  );
}

const stages = part(
  "bubble.stage",
  "Stages",
  { none: null, note: "Over all pipelines and steps. A stage whose passes take longer than those of others makes them wait." },
  "stage; ranks; forward_ns: forward pass, median; backward_ns: backward pass, median; bubble_pct<percent idle>: bubble",
  "late_sender_ns: waited for senders; transfer_ns: receives",
);

/* Makes a map of pipelines by steps. Of very many pipelines, it has those with the largest bubble. */
function bySteps(job: Job): HTMLElement | null {
  const table = job.table("bubble.step"),
    cells = new Map(table.rows.map((_, row) => [`${table.num(row, "pipeline")}/${table.num(row, "step")}`, row]));
  const steps = table.values("step"),
    all = [...new Set(table.nums("pipeline"))].filter((first) => first !== null);
  const mean = (first: number) => f.median(steps.map((step) => table.amount(cells.get(`${first}/${step}`) ?? -1, "bubble_pct"))) ?? 0;
  const shown = [...all]
    .sort((a, b) => mean(b) - mean(a))
    .slice(0, PIPELINES_MOST)
    .sort((a, b) => a - b);
  if (cells.size < 2) return null;
  const ideal = table.least("ideal_pct") ?? 0,
    end = Math.max(ideal + SCALE_LEAST, table.most("bubble_pct") ?? 0);
  return section(
    "Bubble by pipeline and step",
    note(
      `Percent of the time in no pass, mean over the ranks; the colours go from the ideal bubble, ${f.percent(ideal, 1)}, to ${f.percent(end, 1)}. A pipeline is named by its lowest rank. Steps that some of its ranks recorded only in part are left out.`,
      shown.length < all.length && ` The ${shown.length} of ${f.grouped(all.length)} with the largest bubble.`,
    ),
    heatMap({
      label: "Bubble by pipeline and step, percent",
      rows: shown.map((first) => `rank ${first}`),
      columns: steps.map(String),
      ramp: "wait",
      from: ideal,
      to: end,
      cell: (r, c) => {
        const row = cells.get(`${shown[r]}/${steps[c]}`);
        if (row === undefined) return null;
        const value = table.num(row, "bubble_pct"),
          words = `bubble ${f.percent(value, 1)}, ideal ${f.percent(table.num(row, "ideal_pct"), 1)}`,
          span = `${f.time(table.num(row, "span_ns"))} from the first pass to the last`;
        return {
          value,
          text: f.grouped(value ?? 0, 1),
          tip: () => lines(`pipeline from rank ${shown[r]}, ${stepWord(job, steps[c]!)}`, words, span),
        };
      },
    }),
  );
}

const between = ({ table }: At<"bubble.pair">) =>
  table.all.filter((row) => table.num(row, "from_stage") !== null && table.num(row, "to_stage") !== null);
const waits = (at: At<"bubble.pair">) => between(at).some((row) => at.table.num(row, "late_sender_ns") !== null);

const senders = part(
  "bubble.pair",
  "Late sender or slow transfer",
  {
    none: null,
    note: (at) =>
      waits(at)
        ? "For receives: how long ranks waited for the sender, and how long the transfer took. For sends: how long they waited for the receiver."
        : "The traces do not show how long ranks waited for one another: only the transfer is known.",
    rows: between,
    first: 16,
    sort: (at) => (waits(at) ? "-late_sender_ns" : "-transfer_ns"),
  },
  "from_rank: from rank; to_rank: to rank; from_stage: from stage; to_stage: to stage; count: transfers; bytes<bytes>: size",
  (at) =>
    waits(at)
      ? "late_sender_ns<bar wait>: late sender; late_receiver_ns: late receiver; transfer_ns: transfer"
      : "transfer_ns<bar transfer>: transfer",
);

export const pipelines: View = {
  id: "pipelines",
  title: "Pipelines",
  needs: tablesNamed("bubble.stage bubble.step bubble.pass bubble.pair"),
  shown: (job) => job.rowsOf("bubble.step") > 0,
  lacks: ({ job }) => job.table("bubble.step").n === 0 && [heading("No pipeline is known"), empty("No rank has passes between transfers.")],
  parts: [({ job }) => [heading(...finding(job)), figures(job)], diagram, stages, ({ job }) => bySteps(job), senders],
};
