/** Paints the part above the lanes: the strip of all ranks, with a frame around the visible window, and the ruler. */
import { clipped, fillBox, strokeLine, type Ctx } from "../canvas";
import { fitting, visible } from "../dom";
import * as f from "../format";
import type { Flag } from "./flags";
import { COMPUTE, COPIES, TRANSFER, UNMATCHED, WAIT, type JobBlock, type Span } from "./model";
import type { Canvas } from "./paint_lane";
import { around, Scale, ticks } from "./span";
import { setFont, type Theme } from "./theme";

export const STRIP_HEIGHT = 46;
export const STEPS_HEIGHT = 18;
export const RULER_HEIGHT = 22;
const GAP = 8; // minimum distance between the labels of two steps [px]
const NOTE_WIDEST = 160; // maximum width of a note [px]

/** Order of the kinds in the strip, from the bottom up. */
const STRIP_ORDER = [COMPUTE, TRANSFER, WAIT, UNMATCHED, COPIES];

/** The strip as an image. It is drawn once for each size and theme. */
export class StripImage {
  #image: HTMLCanvasElement | undefined;
  #key = "";

  constructor(
    readonly strip: Uint16Array,
    readonly buckets: number,
  ) {}

  get(width: number, height: number, ratio: number, theme: Theme): HTMLCanvasElement {
    const key = [width, height, ratio, ...theme.fills].join();
    if (this.#image && this.#key === key) return this.#image;
    this.#key = key;
    this.#image = document.createElement("canvas");
    this.#image.width = Math.max(1, Math.round(width * ratio));
    this.#image.height = Math.max(1, Math.round(height * ratio));
    const ctx = this.#image.getContext("2d");
    if (ctx) this.#draw(ctx, this.#image.width, this.#image.height, theme);
    return this.#image;
  }

  #draw(ctx: Ctx, width: number, height: number, theme: Theme): void {
    for (let x = 0; x < width; x++) {
      let y = height;
      for (const kind of STRIP_ORDER) {
        const part = this.share(kind, x / width, (x + 1) / width) * height;
        if (part <= 0) continue;
        fillBox(ctx, theme.fills[kind]!, x, y - part, 1, part);
        y -= part;
      }
    }
  }

  /** Returns the mean share (0 to 1) of a kind over all ranks. @p from and @p to are fractions of the job's duration. */
  share(kind: number, from: number, to: number): number {
    const n = this.buckets,
      first = from * n,
      end = Math.min(n, to * n);
    let sum = 0;
    for (let b = Math.floor(first); b < end; b++) sum += this.strip[kind * n + b]! * (Math.min(end, b + 1) - Math.max(first, b));
    return end > first ? sum / (end - first) / 65535 : 0;
  }
}

export function paintStrip(canvas: Canvas, image: StripImage, duration: number, y: number): void {
  const { ctx, theme, scale, ratio } = canvas;
  const whole = new Scale({ begin: 0, end: duration }, scale.left, scale.width);
  const x0 = whole.x(scale.span.begin),
    x1 = Math.max(x0 + 3, whole.x(scale.span.end));
  const picture = image.get(scale.width, STRIP_HEIGHT, ratio, theme);
  fillBox(ctx, theme.panel, scale.left, y, scale.width, STRIP_HEIGHT);
  const everything = scale.span.end - scale.span.begin >= duration * 0.999;
  ctx.globalAlpha = everything ? 1 : 0.4;
  ctx.drawImage(picture, scale.left, y, scale.width, STRIP_HEIGHT);
  ctx.globalAlpha = 1;
  if (everything) return;
  clipped(ctx, { x: x0, y: y, width: x1 - x0, height: STRIP_HEIGHT }, () => {
    fillBox(ctx, theme.panel, x0, y, x1 - x0, STRIP_HEIGHT);
    ctx.drawImage(picture, scale.left, y, scale.width, STRIP_HEIGHT);
  });
  ctx.strokeStyle = theme.ink;
  ctx.lineWidth = 1.5;
  ctx.strokeRect(x0, y + 0.75, x1 - x0, STRIP_HEIGHT - 1.5);
}

/** Returns the job's steps, which are the steps of the rank with most steps. If several ranks have most, the first one counts. */
export function jobSteps(job: JobBlock): readonly (Span & { number: number })[] {
  if (!job.steps) return [];
  return job.ranks.reduce<readonly (Span & { number: number })[]>(
    (best, rank) => (rank.parts.length > best.length ? rank.parts : best),
    [],
  );
}

/** Returns the time in which devices work, or the whole job if it is less than ten times as long. */
export function openingOf({ duration, stripBuckets: n }: JobBlock, strip: Uint16Array): Span {
  const busy = Array.from({ length: n }, (_, b) => STRIP_ORDER.some((kind) => strip[kind * n + b]! > 0)),
    [begin, end] = [busy.indexOf(true), busy.lastIndexOf(true) + 1].map((b) => (b / n) * duration),
    span = around({ begin: begin!, end: end! }, duration, 0.02);
  return end! > 0 && 10 * (span.end - span.begin) < duration ? span : { begin: 0, end: duration };
}

/** Returns which labels to draw: every n-th, with the smallest n such that no labels overlap. */
export function labelled(places: readonly (readonly [number, number])[], widest: number): boolean[] {
  const room = places.length > 0 ? (places[places.length - 1]![1] - places[0]![0]) / places.length : 0;
  const each = Math.max(1, Math.ceil(widest / room));
  let reach = -Infinity;
  return places.map(([x0, x1], i) => {
    const middle = (x0 + x1) / 2,
      shown = i % each === 0 && (each > 1 || x1 - x0 >= widest) && middle - widest / 2 >= reach;
    if (shown) reach = middle + widest / 2;
    return shown;
  });
}

/** Marks the begins of steps. Writes step numbers where they fit. */
export function paintSteps(canvas: Canvas, steps: readonly (Span & { number: number })[], duration: number, y: number): void {
  const { ctx, theme, scale } = canvas;
  const whole = new Scale({ begin: 0, end: duration }, scale.left, scale.width);
  setFont(ctx, theme, [11, theme.ink2, "center"]);
  const places = steps.map((step) => whole.visible(step));
  const digits = Math.max(0, ...steps.map((step) => String(step.number).length));
  const shown = labelled(places, ctx.measureText(`step ${"0".repeat(digits)}`).width + GAP);
  places.forEach(([x0, x1], i) => {
    ctx.fillRect(Math.round(x0), y, 1, 5);
    if (shown[i]) ctx.fillText(`step ${steps[i]!.number}`, (x0 + x1) / 2, y + 10);
  });
}

/** Paints a flag as a line through the lanes, with its note in the ruler. A flag on a range also has a bar. */
export function paintFlags(canvas: Canvas, flags: readonly Flag[], y: number, bottom: number): void {
  const { ctx, theme, scale } = canvas;
  setFont(ctx, theme, [11, theme.page]);
  flags.forEach(({ begin, end, text }, i) => {
    const x = Math.round(scale.x(begin)) + 0.5,
      next = scale.x(flags[i + 1]?.begin ?? Infinity),
      words = fitting(ctx, visible(text), Math.min(NOTE_WIDEST, next - x - 2 * GAP)),
      width = Math.min(next - x - 1, words === "" ? GAP : ctx.measureText(words).width + GAP);
    strokeLine(ctx, theme.link, [x, y], [x, bottom]);
    fillBox(ctx, theme.link, x, y, Math.max(2, scale.x(end) - x), 2);
    fillBox(ctx, theme.link, x, y, Math.max(2, width), RULER_HEIGHT - 6);
    ctx.fillStyle = theme.page;
    ctx.fillText(words, x + GAP / 2, y + (RULER_HEIGHT - 6) / 2 + 0.5);
  });
}

/** Returns the ruler's labels. They share a unit, and have enough decimals to differ from each other. */
export function tickLabels(span: Span, n: number): { at: number[]; text: string[] } {
  const { at, step } = ticks(span, n);
  const unit = f.timeUnit([span.end]);
  const digits = Math.max(0, Math.min(9, -Math.floor(Math.log10(step / unit.factor) + 1e-9)));
  return { at, text: at.map((time) => `${f.grouped(time / unit.factor, digits)}${f.SPACE}${unit.name}`) };
}

/** Paints the ruler, and its lines through the lanes down to `bottom`. */
export function paintRuler(canvas: Canvas, y: number, bottom: number): void {
  const { ctx, theme, scale } = canvas;
  const { at, text } = tickLabels(scale.span, scale.width / (scale.width < 500 ? 95 : 150));
  setFont(ctx, theme, [11, theme.ink2]);
  at.forEach((time, i) => {
    const x = Math.round(scale.x(time)) + 0.5;
    strokeLine(ctx, theme.line, [x, y + 2], [x, bottom]);
    if (x + 6 * text[i]!.length < scale.left + scale.width) ctx.fillText(text[i]!, x + 4, y + RULER_HEIGHT / 2);
  });
}
