/** Pipeline passes over time: a row for each rank, stage by stage, and a box for each pass. */
import { Boxes, paintBox, type BoxesOptions } from "./boxes";
import { fillBox } from "./canvas";
import * as f from "./format";
import { rampColors } from "./map";
import { roundTicks } from "./stack";

/** A pass: its row, its number, and its begin and end [ns from the begin of the picture]. */
export type Pass = Readonly<Record<"row" | "number" | "from" | "to", number> & Record<"backward", boolean>>;

const ROW = 26,
  AXIS = 30,
  LABEL = 132,
  CHARACTER = 7;
/** The colours of forward and backward passes, as positions on the ramp of work: a lighter and a stronger blue. */
const TINTS = [8, 15] as const;

export function passColors(): readonly (readonly [string, string])[] {
  const fills = rampColors("work");
  return [
    [fills[TINTS[0]]!, "Forward pass"],
    [fills[TINTS[1]]!, "Backward pass"],
  ];
}

/** The drawing. Arrow keys move between passes; a click or Enter chooses one. */
export class Passes extends Boxes {
  /** @param rows names of the rows @param span  of the picture [ns] */
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

  protected paint(ctx: CanvasRenderingContext2D, width: number, color: (name: string) => string): void {
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

  #paintAxis(ctx: CanvasRenderingContext2D, ink: string, line: string): void {
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

  #paintPasses(ctx: CanvasRenderingContext2D, ink: string): void {
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

  /* Returns the pass in a row that is nearest to a time. */
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
