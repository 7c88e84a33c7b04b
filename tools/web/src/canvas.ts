/** Painting functions that all canvases share. */

/** Sets a canvas's size [CSS pixels], with @p ratio device pixels for each. Returns the context to draw with; null if the browser has no
 * canvas. */
export function sized(canvas: HTMLCanvasElement, width: number, height: number, ratio: number): CanvasRenderingContext2D | null {
  const ctx = canvas.getContext("2d");
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  ctx?.setTransform(ratio, 0, 0, ratio, 0, 0);
  return ctx;
}

/** Strokes a path. */
export function stroke(
  ctx: CanvasRenderingContext2D,
  color: string,
  width: number,
  path: (ctx: CanvasRenderingContext2D) => void,
  dash: readonly number[] = [],
): void {
  ctx.strokeStyle = color;
  ctx.lineWidth = width;
  ctx.setLineDash([...dash]);
  ctx.beginPath();
  path(ctx);
  ctx.stroke();
  ctx.setLineDash([]);
}

type Point = readonly [number, number];

export function strokeLine(ctx: CanvasRenderingContext2D, color: string, from: Point, to: Point, dash: readonly number[] = []): void {
  stroke(ctx, color, 1, () => (ctx.moveTo(...from), ctx.lineTo(...to)), dash);
}

export function fillBox(
  ctx: CanvasRenderingContext2D,
  color: string,
  ...box: readonly [x: number, y: number, width: number, height: number]
): void {
  ctx.fillStyle = color;
  ctx.fillRect(...box);
}

export function clipped(
  ctx: CanvasRenderingContext2D,
  { x, y, width, height }: Readonly<Record<"x" | "y" | "width" | "height", number>>,
  paint: () => void,
): void {
  ctx.save();
  ctx.beginPath();
  ctx.rect(x, y, width, height);
  ctx.clip();
  paint();
  ctx.restore();
}
