/** Pipeline passes over time: one row per rank, stage by stage, one box per pass. */
import { h, type Child } from "./dom";
import * as f from "./format";
import { rampColors } from "./map";
import { roundTicks } from "./stack";
import { hideTip, tipAt } from "./ui";

export interface Pass {
  /** Row in the picture. */
  readonly row: number;
  readonly backward: boolean;
  readonly number: number;
  /** Begin [ns from the begin of the picture]. */
  readonly from: number;
  readonly to: number;
}

export interface PassesOptions {
  readonly label: string;
  readonly rows: readonly string[];
  readonly passes: readonly Pass[];
  readonly span: number;
  readonly words: (pass: Pass) => Child;
  readonly choose: (pass: Pass) => void;
}

const ROW = 26,
  AXIS = 30,
  LABEL = 132,
  CHARACTER = 7;
/** Positions on the work ramp: a lighter and a stronger blue. */
const TINTS = [8, 15] as const;

/** Colours of forward and backward passes, for a legend. */
export function passColors(): readonly (readonly [string, string])[] {
  const fills = rampColors("work");
  return [
    [fills[TINTS[0]]!, "Forward pass"],
    [fills[TINTS[1]]!, "Backward pass"],
  ];
}

/** The drawing; arrow keys move between passes, a click or Enter chooses one. */
export class Passes {
  readonly element: HTMLElement;
  readonly #canvas: HTMLCanvasElement;
  readonly #readout = h(
    "p.note.flame-readout",
    { "aria-live": "polite" },
    "Point at a pass or use the arrow keys to read it; click or Enter shows it on the timeline.",
  );
  readonly #resizing = new ResizeObserver(() => this.#draw());
  #at = -1;

  constructor(readonly options: PassesOptions) {
    this.#canvas = h("canvas.flame", {
      role: "application",
      tabindex: 0,
      "aria-roledescription": "diagram of passes",
      "aria-label": options.label,
      on: { mousemove: (e) => this.#point(e), mouseleave: hideTip, click: (e) => this.#click(e), keydown: (e) => this.#key(e) },
    });
    this.element = h("div.flame-box", this.#canvas, this.#readout);
    this.#resizing.observe(this.element);
    document.addEventListener("themechange", this.#draw);
  }

  dispose(): void {
    this.#resizing.disconnect();
    document.removeEventListener("themechange", this.#draw);
  }

  #x(ns: number): number {
    return LABEL + (ns / this.options.span) * (this.element.clientWidth - LABEL - 8);
  }

  readonly #draw = (): void => {
    const width = this.element.clientWidth,
      height = AXIS + ROW * this.options.rows.length,
      ratio = window.devicePixelRatio || 1,
      ctx = this.#canvas.getContext("2d");
    if (width <= LABEL || !ctx) return;
    this.#canvas.width = Math.round(width * ratio);
    this.#canvas.height = Math.round(height * ratio);
    Object.assign(this.#canvas.style, { width: `${width}px`, height: `${height}px` });
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    const style = getComputedStyle(document.documentElement),
      ink = (name: string) => style.getPropertyValue(`--${name}`).trim();
    ctx.font = `12px ${style.fontFamily}`;
    ctx.textBaseline = "middle";
    this.#drawRows(ctx, width, ink("ink"), ink("idle"));
    this.#drawAxis(ctx, height, ink("ink-2"), ink("line"));
    this.#drawPasses(ctx, ink("ink"));
    this.#canvas.dataset["passes"] = String(this.options.passes.length);
  };

  #drawRows(ctx: CanvasRenderingContext2D, width: number, ink: string, idle: string): void {
    this.options.rows.forEach((label, row) => {
      ctx.fillStyle = idle;
      ctx.fillRect(LABEL, row * ROW + 2, width - LABEL - 8, ROW - 4);
      ctx.fillStyle = ink;
      ctx.fillText(label, 0, row * ROW + ROW / 2, LABEL - 8);
    });
  }

  #drawAxis(ctx: CanvasRenderingContext2D, height: number, ink: string, line: string): void {
    const unit = f.timeUnit([this.options.span]),
      top = height - AXIS;
    ctx.textAlign = "center";
    for (const tick of roundTicks(this.options.span / unit.factor, 6)) {
      const x = this.#x(tick * unit.factor);
      if (x > this.element.clientWidth - 8) continue;
      ctx.fillStyle = line;
      ctx.fillRect(Math.round(x), top, 1, 5);
      ctx.fillStyle = ink;
      ctx.fillText(tick === 0 ? `0 ${unit.name}` : String(Number(tick.toPrecision(6))), x, top + 16);
    }
    ctx.textAlign = "left";
  }

  #drawPasses(ctx: CanvasRenderingContext2D, ink: string): void {
    const fills = rampColors("work"),
      inks = rampColors("work", "color");
    this.options.passes.forEach((pass, i) => {
      const x = this.#x(pass.from),
        size = Math.max(1, this.#x(pass.to) - x),
        y = pass.row * ROW + 2,
        tint = TINTS[pass.backward ? 1 : 0],
        text = String(pass.number);
      ctx.fillStyle = fills[tint]!;
      ctx.fillRect(x, y, Math.max(0.7, size - 1), ROW - 4);
      if (i === this.#at) {
        ctx.strokeStyle = ink;
        ctx.lineWidth = 2;
        ctx.strokeRect(x + 1, y + 1, Math.max(1, size - 3), ROW - 6);
      }
      if (size < text.length * CHARACTER + 6) return;
      ctx.fillStyle = inks[tint]!;
      ctx.fillText(text, x + (size - text.length * CHARACTER) / 2, y + ROW / 2 - 1);
    });
  }

  #passAt(e: MouseEvent): number {
    const box = this.#canvas.getBoundingClientRect(),
      x = e.clientX - box.left,
      row = Math.floor((e.clientY - box.top) / ROW);
    return this.options.passes.findIndex((pass) => pass.row === row && this.#x(pass.from) <= x && x < this.#x(pass.to));
  }

  #point(e: MouseEvent): void {
    const found = this.options.passes[this.#passAt(e)];
    this.#canvas.style.cursor = found ? "pointer" : "default";
    if (found) tipAt([e.clientX, e.clientY], this.options.words(found));
    else hideTip();
  }

  #click(e: MouseEvent): void {
    const found = this.options.passes[this.#passAt(e)];
    if (found) this.options.choose(found);
  }

  /* Nearest pass in time within a row. */
  #nearest(row: number, time: number): number {
    let best = -1;
    this.options.passes.forEach((pass, i) => {
      const away = Math.abs((pass.from + pass.to) / 2 - time),
        least = best < 0 ? Infinity : Math.abs((this.options.passes[best]!.from + this.options.passes[best]!.to) / 2 - time);
      if (pass.row === row && away < least) best = i;
    });
    return best;
  }

  #key(e: KeyboardEvent): void {
    const { passes } = this.options,
      own = passes[this.#at];
    if (e.key === "Enter" && own) this.options.choose(own);
    if (!["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"].includes(e.key)) return;
    e.preventDefault();
    let next = this.#nearest(0, 0);
    if (own) {
      const sideways = e.key === "ArrowLeft" ? -1 : e.key === "ArrowRight" ? 1 : 0,
        down = e.key === "ArrowUp" ? -1 : 1;
      const row = passes.flatMap((pass, i) => (pass.row === own.row ? [i] : [])).sort((a, b) => passes[a]!.from - passes[b]!.from);
      next = sideways ? (row[row.indexOf(this.#at) + sideways] ?? this.#at) : this.#nearest(own.row + down, (own.from + own.to) / 2);
    }
    if (next >= 0) this.#at = next;
    const shown = passes[this.#at];
    this.#draw();
    if (shown) this.#readout.replaceChildren(h("span", this.options.words(shown)));
  }
}
