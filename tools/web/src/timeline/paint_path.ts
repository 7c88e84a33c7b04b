/** Paints the critical path over the lanes. */
import type { Canvas } from "./paint_lane";
import type { Path, Placed } from "./path";
import { stroke } from "./theme";

const WIDTH = 2.5,
  CASING = 1.5,
  HALF_BOX = 6;

/** Paints the visible part of the path, at the heights given by @p heightOf. */
export function paintPath(canvas: Canvas, path: Path, heightOf: (placed: Placed) => number): void {
  const { ctx, theme, scale } = canvas,
    runs = path.runs(scale, heightOf);
  if (runs.length === 0) return;
  ctx.lineJoin = "round";
  for (const [color, width] of [
    [theme.page, WIDTH + 2 * CASING],
    [theme.path, WIDTH],
  ] as const) {
    stroke(ctx, color, width, () =>
      runs.forEach(({ x0, x1, y, broken }, i) => {
        if (i === 0 || broken) ctx.moveTo(x0, y);
        else ctx.lineTo(x0, y);
        ctx.lineTo(x1, y);
      }),
    );
  }
  ctx.lineJoin = "miter";
}

/** Outlines a piece of the path. */
export function outlinePiece({ ctx, theme, scale }: Canvas, { piece }: Placed, y: number, top: number): void {
  const x0 = Math.max(scale.left - 4, scale.x(piece.begin)),
    x1 = Math.min(scale.left + scale.width + 4, scale.x(piece.end));
  const from = Math.max(top, y - HALF_BOX),
    width = Math.max(4, x1 - x0 + 4);
  for (const [color, line] of [
    [theme.page, 4],
    [theme.ink, 1.8],
  ] as const) {
    stroke(ctx, color, line, () => ctx.rect((x0 + x1 - width) / 2, from + 1, width, y + HALF_BOX - from));
  }
}
