/** Paints what is next to and behind the lanes: names, recordings and their torn ends, marks. */
import { clipped, fillBox, stroke, strokeLine } from "../canvas";
import { fitting, visible } from "../dom";
import { setFont, type Font } from "./theme";
import { trackName } from "./lanes";
import type { AbsentRow, Box, HostRow, RankRow, SubRow } from "./layout";
import { ANNOTATIONS, type Rank, type Span } from "./model";
import type { Canvas } from "./paint_lane";

const HATCH = 7,
  TEETH = 4;

/* Writes a text. A right-aligned text ends left of the lanes, and is cut if it does not fit there. */
function write({ ctx, theme, scale }: Canvas, font: Font, words: string, y: number, x = font[2] === "right" ? scale.left - 8 : 8): void {
  setFont(ctx, theme, font);
  ctx.fillText(font[2] === "right" ? fitting(ctx, words, scale.left - 14) : words, x, y);
}

export function paintHost(canvas: Canvas, row: HostRow, offset: number): void {
  const { ctx, theme, scale } = canvas,
    name = visible(row.name).slice(0, 80),
    middle = row.y + offset + row.height / 2,
    y = Math.round(middle) + 0.5;
  write(canvas, [12, theme.ink2, "left", 600], name, middle + 1);
  strokeLine(ctx, theme.line, [16 + ctx.measureText(name).width, y], [scale.left + scale.width, y]);
}

export function paintFolded(canvas: Canvas, row: HostRow, offset: number, label: string): void {
  const { ctx, theme, scale } = canvas,
    { compute, communication } = row.folded!;
  for (const lane of [compute, communication]) fillBox(ctx, theme.panel, scale.left, lane.y + offset, scale.width, lane.height);
  setFont(ctx, theme, [12, theme.ink2, "left", 600]);
  ctx.fillText(fitting(ctx, label, scale.left - 14), 8, row.y + row.height / 2 + offset);
}

export function paintMapLabel(canvas: Canvas, row: { readonly height: number }, y: number, label: string, chosen: boolean): void {
  const { ink, ink2 } = canvas.theme;
  write(canvas, chosen ? [11, ink, "right", 700] : [11, ink2, "right"], label, y + row.height / 2);
}

export function paintEdge({ ctx, theme, scale }: Canvas, y: number): void {
  fillBox(ctx, theme.ink3, 0, y - 1, scale.left + scale.width, 1);
}

/** Paints the row of ranks without a trace. @p part: the row stands for ranks that the page leaves out. */
export function paintAbsent(canvas: Canvas, row: AbsentRow, offset: number, part: boolean): void {
  const { ctx, theme, scale } = canvas,
    y = row.y + offset,
    who = row.first === row.last ? `rank ${row.first}` : `ranks ${row.first}–${row.last}`;
  write(canvas, [11, theme.ink3], `${who}: ${part ? "not in this page" : "no trace"}`, y + row.height / 2, scale.left + 6);
  ctx.strokeStyle = theme.line;
  ctx.setLineDash([3, 3]);
  ctx.strokeRect(scale.left + 0.5, y + 2.5, scale.width - 1, row.height - 5);
  ctx.setLineDash([]);
}

/** Paints the rank's name. It is a button that opens the rank. */
export function paintGutter(canvas: Canvas, row: RankRow, rank: Rank, offset: number, open: boolean, selected: boolean): void {
  const { theme, scale } = canvas,
    middle = (lane: Box) => lane.y + lane.height / 2 + offset,
    name = `${open ? "▾" : "▸"} ${scale.left < 80 ? "r" : "rank "}${rank.rank}${rank.truncated ? " ✂" : ""}`;
  write(canvas, [12, theme.ink, "left", selected ? 700 : 400], name, middle(row.compute));
  if (row.communication.height >= 11) write(canvas, [11, theme.ink3, "right"], "comm", middle(row.communication));
}

export function paintSubLabel({ ctx, theme, scale }: Canvas, row: SubRow, names: readonly string[], offset: number): void {
  const name = row.lane.track.kind === ANNOTATIONS ? "annotations" : visible(trackName(row.lane.track, names));
  setFont(ctx, theme, [10.5, theme.ink3, "right"]);
  ctx.fillText(fitting(ctx, name, scale.left - 20), scale.left - 8, row.y + row.height / 2 + offset);
}

/** Paints the periods in which the rank was recorded. A truncated recording has a torn end: the time after it is unknown, not idle. */
export function paintRecordings(canvas: Canvas, row: RankRow, rank: Rank, offset: number, duration: number): void {
  const { ctx, theme, scale } = canvas;
  const top = row.compute.y + offset,
    bottom = row.communication.y + row.communication.height + offset;
  rank.recordings.forEach((recording, i) => {
    const [x0, x1] = scale.visible(recording, 2);
    for (const lane of x1 > x0 ? [row.compute, row.communication] : [])
      fillBox(ctx, theme.panel, x0, lane.y + offset, x1 - x0, lane.height);
    if (!recording.truncated) return;
    const next = rank.recordings[i + 1];
    hatch(canvas, { begin: recording.end, end: next ? next.begin : duration }, top, bottom);
    torn(canvas, scale.x(recording.end), top, bottom);
  });
}

function hatch({ ctx, theme, scale }: Canvas, span: Span, top: number, bottom: number): void {
  const [x0, x1] = scale.visible(span);
  if (x1 <= x0) return;
  clipped(ctx, { x: x0, y: top, width: x1 - x0, height: bottom - top }, () =>
    stroke(ctx, theme.line, 1, () => {
      for (let x = Math.floor(x0 / HATCH) * HATCH - (bottom - top); x < x1; x += HATCH) {
        ctx.moveTo(x, bottom);
        ctx.lineTo(x + (bottom - top), top);
      }
    }),
  );
}

function torn({ ctx, theme }: Canvas, x: number, top: number, bottom: number): void {
  stroke(ctx, theme.ink3, 1.2, () => {
    ctx.moveTo(x, top);
    for (let y = top, side = 1; y < bottom; y += TEETH, side = -side) ctx.lineTo(x + side * TEETH * 0.6, Math.min(bottom, y + TEETH));
  });
}

/** Paints a dotted line below the lanes in a span for which the page has only shares. */
export function paintOutside({ ctx, theme, scale }: Canvas, span: Span, row: RankRow, offset: number): void {
  const y = Math.round(row.communication.y + row.communication.height + offset) + 0.5,
    [x0, x1] = scale.visible(span);
  strokeLine(ctx, theme.ink3, [x0, y], [x1, y], [1, 3]);
}

export function paintMark({ ctx, theme, scale }: Canvas, mark: Span, top: number, bottom: number): void {
  const x0 = scale.x(mark.begin),
    x1 = scale.x(mark.end);
  ctx.globalAlpha = 0.1;
  fillBox(ctx, theme.link, x0, top, x1 - x0, bottom - top);
  ctx.globalAlpha = 1;
  /* a frame, because the mark's own colour is hardly visible on the colour of computation */
  ctx.fillRect(x0, top, 1.5, bottom - top);
  ctx.fillRect(x1 - 1.5, top, 1.5, bottom - top);
  ctx.fillRect(x0, top, x1 - x0, 1.5);
  ctx.fillRect(x0, bottom - 1.5, x1 - x0, 1.5);
}

export function paintScrollbar(
  { ctx, theme }: Canvas,
  box: { x: number; y: number; height: number },
  scroll: number,
  height: number,
): void {
  if (height <= box.height) return;
  const size = Math.max(24, (box.height / height) * box.height);
  const y = box.y + (scroll / (height - box.height)) * (box.height - size);
  fillBox(ctx, theme.panel, box.x, box.y, 10, box.height);
  ctx.fillStyle = theme.ink3;
  ctx.beginPath();
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- browsers before 2023 have none
  ctx.roundRect?.(box.x + 2, y, 6, size, 3);
  ctx.fill();
}
