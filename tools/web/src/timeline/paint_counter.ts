/** Paints a counter below a rank's lanes. */
import { fitting } from "../dom";
import { fillBox, setFont, strokeLine } from "./theme";
import type { Box } from "./layout";
import { paintShares, type Canvas } from "./paint_lane";
import { COMPUTE, type Span } from "./model";

/** Opacity of the counter's colour (the theme's link colour), chosen so that text on it stays readable. */
const STRENGTH = 0.6;
const AIR = 3;

export function counterBox(row: Box, offset: number): Box {
  return { y: row.y + offset, height: row.height - AIR };
}

/** @param shares  fractions of the lane's height, per device pixel */
export function paintCounter(canvas: Canvas, box: Box, shares: Float32Array): void {
  const { ctx, theme, scale } = canvas,
    fills = theme.fills.map(() => theme.link),
    alphas = theme.alphas.map(() => STRENGTH);
  fillBox(ctx, theme.panel, scale.left, box.y, scale.width, box.height);
  const columns: Float32Array[] = [];
  columns[COMPUTE] = shares;
  paintShares({ ...canvas, theme: { ...theme, fills, alphas } }, columns, box);
}

export function paintUnknown({ ctx, theme, scale }: Canvas, box: Box, { begin, end }: Span): void {
  const x0 = Math.max(scale.left, scale.x(begin)),
    x1 = Math.min(scale.left + scale.width, scale.x(end)),
    y = Math.round(box.y + box.height) - 0.5;
  if (x1 <= x0) return;
  fillBox(ctx, theme.page, x0, box.y, x1 - x0, box.height);
  strokeLine(ctx, theme.ink3, [x0, y], [x1, y], [1, 3]);
}

export function paintCounterLabel(canvas: Canvas, box: Box, label: string, top: string, nothing: string | null): void {
  const { ctx, theme, scale } = canvas,
    room = scale.left - 16;
  for (const [i, text, color] of [
    [0, label, theme.ink2],
    [1, top, theme.ink3],
  ] as const) {
    setFont(ctx, theme, [10.5, color, "right"]);
    ctx.fillText(fitting(ctx, text, room), scale.left - 8, box.y + 6 + 12 * i);
  }
  if (nothing === null) return;
  ctx.textAlign = "left";
  ctx.fillText(nothing, scale.left + 6, box.y + box.height / 2);
}
