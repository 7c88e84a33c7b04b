/** Paints arrows from calls to what they launched. */
import type { Box } from "./layout";
import type { Canvas } from "./paint_lane";
import { stroke } from "./theme";

/** An arrow from a call to a launched event: the begins [px] and the boxes of both. */
export type Arrow = Readonly<Record<"x0" | "x1", number> & Record<"from" | "to", Box>>;

/** If there are more than FEW arrows, they are thin, and of arrows that end less than APART [px] from one another only one is drawn. */
const FEW = 12,
  APART = 3;
const HEAD_LENGTH = 7,
  HEAD_HALF = 3.5,
  BEND = 40;

/* Returns the heights at which an arrow begins and ends: at the edges of the two boxes that face each other. */
function ends({ from, to }: Arrow): [number, number] {
  return from.y < to.y
    ? [from.y + from.height, to.y + Math.min(4, to.height / 2)]
    : [from.y, to.y + to.height - Math.min(4, to.height / 2)];
}

/* Returns the arrows sorted by their end, without those that end close to the previous one. */
function apart(all: readonly Arrow[]): Arrow[] {
  const out: Arrow[] = [];
  for (const arrow of [...all].sort((a, b) => a.x1 - b.x1)) if (arrow.x1 - (out[out.length - 1]?.x1 ?? -Infinity) >= APART) out.push(arrow);
  return out;
}

/** Paints the arrows over the lanes, each with an outline in the page's colour. */
export function paintArrows({ ctx, theme }: Canvas, all: readonly Arrow[]): void {
  const many = all.length > FEW,
    arrows = many ? apart(all) : all;
  for (const [color, width] of [
    [theme.page, 4],
    [theme.ink, many ? 0.7 : 1.4],
  ] as const) {
    if (many && color === theme.page) continue;
    stroke(ctx, color, width, () => {
      for (const arrow of arrows) {
        const [y0, y1] = ends(arrow),
          bend = Math.max(8, Math.min(BEND, Math.abs(arrow.x1 - arrow.x0) / 2 + 8));
        ctx.moveTo(arrow.x0, y0);
        ctx.bezierCurveTo(arrow.x0, y0 + (y1 > y0 ? bend : -bend), arrow.x1 - bend, y1, arrow.x1 - HEAD_LENGTH + 1, y1);
      }
    });
  }
  ctx.fillStyle = theme.ink;
  for (const arrow of arrows) {
    const y1 = ends(arrow)[1];
    ctx.beginPath();
    ctx.moveTo(arrow.x1, y1);
    ctx.lineTo(arrow.x1 - HEAD_LENGTH, y1 - HEAD_HALF);
    ctx.lineTo(arrow.x1 - HEAD_LENGTH, y1 + HEAD_HALF);
    ctx.closePath();
    ctx.fill();
  }
}
