/** The content of a chart with two axes, and how to draw it: lines, areas between two lines, marks. */
import { fillBox, stroke, strokeLine, type Ctx } from "./canvas";
import * as f from "./format";
import { roundTicks } from "./stack";

/** `log`: the axis is logarithmic, from one power of ten to another. `write` formats a tick. `whole`: ticks only at whole numbers. */
export type Axis = Readonly<
  Record<"min" | "max", number> & { name: string; write?: (value: number) => string } & Partial<Record<"log" | "whole" | "lines", boolean>>
>;

type Place = readonly [number, number];

export interface PlotLine {
  readonly points: readonly Place[];
  readonly color: string;
  readonly width: number;
  readonly opacity?: number;
  readonly dash?: readonly number[];
  /** true: a value holds until the next one; default: values are interpolated. */
  readonly steps?: boolean;
  readonly label?: string; // text above one end of the line; `labelled` says which end
  readonly labelled?: "begin" | "end";
}

/** An area, with points [x, lower y, upper y]. */
export type PlotArea = Readonly<{
  points: readonly (readonly [number, number, number])[];
  color: string;
  opacity: number;
  steps?: boolean;
}>;

/** `path`: SVG path of the shape, in a box of 10 by 10; default: a disc. */
export type Mark = Readonly<{ at: Place; path?: string; size: number; fill: string; opacity?: number; edge?: string; edgeWidth?: number }>;

export type Plot = Readonly<{ x: Axis; y: Axis; areas?: readonly PlotArea[]; lines?: readonly PlotLine[]; marks?: readonly Mark[] }>;

/** The font, and the colours of everything except data. `ground` is the background. */
export type Ink = Readonly<Record<"text" | "axis" | "line" | "ground" | "font", string>>;

const LEFT = 58,
  RIGHT = 24,
  TOP = 34,
  BOTTOM = 46,
  TICK = 5,
  DIGITS_MOST = 4; // more decimals do not fit next to the axis
const DISC = "M5 0A5 5 0 1 1 4.99 0Z";

export class Scales {
  constructor(
    readonly plot: Plot,
    readonly width: number,
    readonly height: number,
  ) {}

  static #share(axis: Axis, value: number): number {
    const [low, high, at] = axis.log
      ? ([axis.min, axis.max, value].map(Math.log10) as [number, number, number])
      : [axis.min, axis.max, value];
    return high > low ? (at - low) / (high - low) : 0.5;
  }

  static #value(axis: Axis, share: number): number {
    return axis.log
      ? 10 ** (Math.log10(axis.min) + share * (Math.log10(axis.max) - Math.log10(axis.min)))
      : axis.min + share * (axis.max - axis.min);
  }

  x(value: number): number {
    return LEFT + Scales.#share(this.plot.x, value) * (this.width - LEFT - RIGHT);
  }

  y(value: number): number {
    return this.height - BOTTOM - Scales.#share(this.plot.y, value) * (this.height - TOP - BOTTOM);
  }

  /** Returns the values on both axes at a position [px]; null if the position is outside of the axes. */
  values(x: number, y: number): Place | null {
    const h = (x - LEFT) / (this.width - LEFT - RIGHT),
      v = (this.height - BOTTOM - y) / (this.height - TOP - BOTTOM);
    return h < 0 || h > 1 || v < 0 || v > 1 ? null : [Scales.#value(this.plot.x, h), Scales.#value(this.plot.y, v)];
  }

  /** Returns the index of the mark at a position; -1 if there is none. If several overlap, the topmost. */
  markAt(x: number, y: number): number {
    const marks = this.plot.marks ?? [];
    for (let i = marks.length - 1; i >= 0; i--) {
      const { at, size } = marks[i]!;
      if (Math.hypot(this.x(at[0]) - x, this.y(at[1]) - y) <= Math.max(5, size / 2 + 1)) return i;
    }
    return -1;
  }
}

/** Returns the ends of a logarithmic axis around these values, which are powers of ten. */
export function decades(values: readonly number[]): { min: number; max: number } {
  const low = Math.floor(Math.log10(f.least(values))),
    high = Math.ceil(Math.log10(f.most(values)) + 1e-9);
  return { min: 10 ** low, max: 10 ** Math.max(high, low + 1) };
}

/** Returns about @p n round values for the ticks of an axis. */
export function axisTicks(axis: Axis, n: number): number[] {
  if (axis.log) {
    const low = Math.round(Math.log10(axis.min)),
      high = Math.round(Math.log10(axis.max)),
      step = Math.max(1, Math.ceil((high - low) / n));
    return Array.from({ length: Math.floor((high - low) / step) + 1 }, (_, i) => 10 ** (low + i * step));
  }
  const [, step = 1] = roundTicks(Math.max(axis.max - axis.min, Number.MIN_VALUE), n),
    by = axis.whole ? Math.max(1, Math.round(step)) : step;
  const first = Math.ceil(axis.min / by - 1e-9),
    last = Math.floor(axis.max / by + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * by);
}

/* Returns a function that writes a tick. It uses as few digits as distinguish neighbouring ticks. */
function writerOf(axis: Axis, ticks: readonly number[]): (value: number) => string {
  const step = ticks.length > 1 ? ticks[1]! - ticks[0]! : 1,
    digits = Math.max(0, Math.min(9, -Math.floor(Math.log10(step) + 1e-9)));
  const rest = Math.abs(step * 10 ** digits - Math.round(step * 10 ** digits)) > 1e-6 ? 1 : 0; // one more decimal for steps such as 2.5
  if (axis.write) return axis.write;
  if (digits + rest > DIGITS_MOST) return (value) => (value === 0 ? "0" : scientific(value, digits + rest));
  return (value) => f.grouped(value, digits + rest);
}

/* Writes a value in powers of ten, such as 1.5e−6. Rounds it to this decimal place, and drops trailing zeros. */
function scientific(value: number, place: number): string {
  const digits = Math.max(0, Math.floor(Math.log10(Math.abs(value)) + 1e-9) + place);
  return value
    .toExponential(Math.min(9, digits))
    .replace(/\.?0*e/, "e")
    .replaceAll("-", "−");
}

function drawAxes(ctx: Ctx, scales: Scales, ink: Ink): void {
  const { plot, width, height } = scales,
    bottom = height - BOTTOM,
    right = width - RIGHT;
  ctx.font = `12px ${ink.font}`;
  const line = (color: string, x0: number, y0: number, x1: number, y1: number) =>
    strokeLine(ctx, color, [Math.round(x0) + 0.5, Math.round(y0) + 0.5], [Math.round(x1) + 0.5, Math.round(y1) + 0.5]);
  const across = axisTicks(plot.x, Math.max(2, (width - LEFT - RIGHT) / 95)),
    up = axisTicks(plot.y, (height - TOP - BOTTOM) / (plot.y.log ? 30 : 45));
  const writeX = writerOf(plot.x, across),
    writeY = writerOf(plot.y, up);
  ctx.fillStyle = ink.text;
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  for (const value of up) {
    const y = scales.y(value);
    if (plot.y.lines !== false) line(ink.line, LEFT, y, right, y);
    ctx.fillText(writeY(value), LEFT - 8, y);
  }
  ctx.textAlign = "center";
  let reach = -Infinity;
  for (const value of across) {
    const x = scales.x(value),
      text = writeX(value),
      half = ctx.measureText(text).width / 2;
    if (plot.x.lines) line(ink.line, x, TOP, x, bottom);
    line(ink.axis, x, bottom, x, bottom + TICK);
    if (x - half < reach + 8 || x + half > width) continue;
    ctx.fillText(text, x, bottom + 14);
    reach = x + half;
  }
  line(ink.axis, LEFT, bottom, right, bottom);
  line(ink.axis, LEFT, TOP, LEFT, bottom);
  ctx.fillText(plot.x.name, (LEFT + right) / 2, height - 10);
  ctx.textAlign = "left";
  ctx.fillText(plot.y.name, LEFT, TOP - 16);
}

function trace(ctx: Ctx, points: readonly Place[], scales: Scales, steps: boolean): void {
  let before = 0;
  points.forEach(([px, py], i) => {
    const x = scales.x(px),
      y = scales.y(py);
    if (i > 0 && steps) ctx.lineTo(x, before);
    ctx.lineTo(x, y);
    before = y;
  });
}

function drawLine(ctx: Ctx, line: PlotLine, scales: Scales): void {
  ctx.globalAlpha = line.opacity ?? 1;
  ctx.fillStyle = line.color;
  stroke(ctx, line.color, line.width, () => trace(ctx, line.points, scales, line.steps ?? false), line.dash);
  const [only, more] = line.points;
  if (only && !more) {
    // a line needs two points, so a single point is drawn as a disc
    ctx.beginPath();
    ctx.arc(scales.x(only[0]), scales.y(only[1]), 3, 0, 2 * Math.PI);
    ctx.fill();
  }
  ctx.globalAlpha = 1;
}

/* Draws a line's label. Call it after all lines are drawn, so that no line crosses the label. */
function drawLabel(ctx: Ctx, line: PlotLine, scales: Scales, ink: Ink): void {
  const begin = line.labelled === "begin",
    last = line.points[begin ? 0 : line.points.length - 1];
  if (!line.label || !last) return;
  ctx.font = `12px ${ink.font}`;
  ctx.textAlign = begin ? "left" : "right";
  ctx.textBaseline = "bottom";
  const at = [scales.x(last[0]) + (begin ? 4 : -2), scales.y(last[1]) - 3] as const;
  const { width } = ctx.measureText(line.label);
  fillBox(ctx, ink.ground, at[0] - (begin ? 2 : width + 2), at[1] - 14, width + 4, 15);
  ctx.fillStyle = line.color;
  ctx.fillText(line.label, ...at);
}

function drawArea(ctx: Ctx, area: PlotArea, scales: Scales): void {
  ctx.globalAlpha = area.opacity;
  ctx.fillStyle = area.color;
  ctx.beginPath();
  const high = area.points.map(([x, , y]): Place => [x, y]);
  trace(ctx, high, scales, area.steps ?? false);
  for (let i = area.points.length - 1, after = 0; i >= 0; i--) {
    // the outline of the area goes back along the lower edge, from the last point to the first
    const [px, low] = area.points[i]!,
      y = scales.y(low);
    if (area.steps && i < area.points.length - 1) ctx.lineTo(after, y);
    ctx.lineTo((after = scales.x(px)), y);
  }
  ctx.fill();
  ctx.globalAlpha = 1;
}

function drawMark(ctx: Ctx, mark: Mark, scales: Scales): void {
  const scale = mark.size / 10,
    path = new Path2D(mark.path ?? DISC);
  ctx.save();
  ctx.translate(scales.x(mark.at[0]) - mark.size / 2, scales.y(mark.at[1]) - mark.size / 2);
  ctx.scale(scale, scale);
  ctx.globalAlpha = mark.opacity ?? 1;
  ctx.fillStyle = mark.fill;
  ctx.fill(path);
  if (mark.edge) {
    ctx.strokeStyle = mark.edge;
    ctx.lineWidth = (mark.edgeWidth ?? 1) / scale;
    ctx.stroke(path);
  }
  ctx.restore();
}

export function drawPlot(ctx: Ctx, scales: Scales, ink: Ink): void {
  const { plot } = scales;
  drawAxes(ctx, scales, ink);
  for (const area of plot.areas ?? []) drawArea(ctx, area, scales);
  for (const line of plot.lines ?? []) drawLine(ctx, line, scales);
  for (const line of plot.lines ?? []) drawLabel(ctx, line, scales, ink);
  for (const mark of plot.marks ?? []) drawMark(ctx, mark, scales);
}
