/** Paints what is next to and behind the lanes: names, recordings and their torn ends, marks. */
import { fitting, visible } from "../dom";
import { strokeLine, clipped } from "./theme";
import { trackName } from "./lanes";
import type { AbsentRow, HostRow, RankRow, SubRow } from "./layout";
import { ANNOTATIONS, type Rank, type Span } from "./model";
import type { Canvas } from "./paint_lane";

const HATCH = 7,
  TEETH = 4;

function text({ ctx, theme }: Canvas, size: number, weight: number, color: string): void {
  ctx.font = `${weight} ${size}px ${theme.font}`;
  ctx.fillStyle = color;
  ctx.textBaseline = "middle";
}

export function paintHost(canvas: Canvas, row: HostRow, offset: number): void {
  const { ctx, theme, scale } = canvas,
    y = row.y + offset;
  text(canvas, 12, 600, theme.ink2);
  ctx.textAlign = "left";
  ctx.fillText(visible(row.name).slice(0, 80), 8, y + row.height / 2 + 1);
  const from = 16 + ctx.measureText(visible(row.name).slice(0, 80)).width;
  strokeLine(
    ctx,
    theme.line,
    1,
    [from, Math.round(y + row.height / 2) + 0.5],
    [scale.left + scale.width, Math.round(y + row.height / 2) + 0.5],
  );
}

export function paintFolded(canvas: Canvas, row: HostRow, offset: number, label: string): void {
  const { ctx, theme, scale } = canvas,
    { compute, communication } = row.folded!;
  ctx.fillStyle = theme.panel;
  for (const lane of [compute, communication]) ctx.fillRect(scale.left, lane.y + offset, scale.width, lane.height);
  text(canvas, 12, 600, theme.ink2);
  ctx.textAlign = "left";
  ctx.fillText(fitting(ctx, label, scale.left - 14), 8, row.y + row.height / 2 + offset);
}

export function paintMapLabel(canvas: Canvas, row: { readonly height: number }, y: number, label: string, chosen: boolean): void {
  const { ctx, theme, scale } = canvas;
  text(canvas, 11, chosen ? 700 : 400, chosen ? theme.ink : theme.ink2);
  ctx.textAlign = "right";
  ctx.fillText(fitting(ctx, label, scale.left - 14), scale.left - 8, y + row.height / 2);
}

export function paintEdge({ ctx, theme, scale }: Canvas, y: number): void {
  ctx.fillStyle = theme.ink3;
  ctx.fillRect(0, y - 1, scale.left + scale.width, 1);
}

/** Paints the row of ranks without a trace. If the page has only some ranks (@p part), paints the row of ranks that the page leaves out. */
export function paintAbsent(canvas: Canvas, row: AbsentRow, offset: number, part: boolean): void {
  const { ctx, theme, scale } = canvas,
    y = row.y + offset;
  const one = row.first === row.last;
  text(canvas, 11, 400, theme.ink3);
  ctx.textAlign = "left";
  ctx.fillText(
    `${one ? `rank ${row.first}` : `ranks ${row.first}–${row.last}`}: ${part ? "not in this page" : "no trace"}`,
    scale.left + 6,
    y + row.height / 2,
  );
  ctx.strokeStyle = theme.line;
  ctx.setLineDash([3, 3]);
  ctx.strokeRect(scale.left + 0.5, y + 2.5, scale.width - 1, row.height - 5);
  ctx.setLineDash([]);
}

/** Paints the rank's name, which is a button that opens the rank. */
export function paintGutter(canvas: Canvas, row: RankRow, rank: Rank, offset: number, open: boolean, selected: boolean): void {
  const { ctx, theme, scale } = canvas;
  const narrow = scale.left < 80,
    arrow = open ? "▾" : "▸";
  text(canvas, 12, selected ? 700 : 400, theme.ink);
  ctx.textAlign = "left";
  ctx.fillText(
    `${arrow} ${narrow ? "r" : "rank "}${rank.rank}${rank.truncated ? " ✂" : ""}`,
    8,
    row.compute.y + row.compute.height / 2 + offset,
  );
  if (row.communication.height < 11) return;
  text(canvas, 11, 400, theme.ink3);
  ctx.textAlign = "right";
  ctx.fillText("comm", scale.left - 8, row.communication.y + row.communication.height / 2 + offset);
}

export function paintSubLabel(canvas: Canvas, row: SubRow, names: readonly string[], offset: number): void {
  const { ctx, theme, scale } = canvas;
  text(canvas, 10.5, 400, theme.ink3);
  ctx.textAlign = "right";
  const name = row.lane.track.kind === ANNOTATIONS ? "annotations" : visible(trackName(row.lane.track, names));
  ctx.fillText(fitting(ctx, name, scale.left - 20), scale.left - 8, row.y + row.height / 2 + offset);
}

/** Paints when the rank was recorded. A truncated recording has a torn end, because the time after it is not idle. */
export function paintRecordings(canvas: Canvas, row: RankRow, rank: Rank, offset: number, duration: number): void {
  const { ctx, theme, scale } = canvas;
  const top = row.compute.y + offset,
    bottom = row.communication.y + row.communication.height + offset;
  rank.recordings.forEach((recording, i) => {
    const x0 = Math.max(scale.left - 2, scale.x(recording.begin)),
      x1 = Math.min(scale.left + scale.width + 2, scale.x(recording.end));
    ctx.fillStyle = theme.panel;
    if (x1 > x0) {
      ctx.fillRect(x0, top, x1 - x0, row.compute.height);
      ctx.fillRect(x0, row.communication.y + offset, x1 - x0, row.communication.height);
    }
    if (!recording.truncated) return;
    const next = rank.recordings[i + 1];
    hatch(canvas, { begin: recording.end, end: next ? next.begin : duration }, top, bottom);
    torn(canvas, scale.x(recording.end), top, bottom);
  });
}

function hatch({ ctx, theme, scale }: Canvas, span: Span, top: number, bottom: number): void {
  const x0 = Math.max(scale.left, scale.x(span.begin)),
    x1 = Math.min(scale.left + scale.width, scale.x(span.end));
  if (x1 <= x0) return;
  clipped(ctx, { x: x0, y: top, width: x1 - x0, height: bottom - top }, () => {
    ctx.strokeStyle = theme.line;
    ctx.lineWidth = 1;
    ctx.beginPath();
    for (let x = Math.floor(x0 / HATCH) * HATCH - (bottom - top); x < x1; x += HATCH) {
      ctx.moveTo(x, bottom);
      ctx.lineTo(x + (bottom - top), top);
    }
    ctx.stroke();
  });
}

function torn({ ctx, theme }: Canvas, x: number, top: number, bottom: number): void {
  ctx.strokeStyle = theme.ink3;
  ctx.lineWidth = 1.2;
  ctx.beginPath();
  ctx.moveTo(x, top);
  for (let y = top, side = 1; y < bottom; y += TEETH, side = -side) ctx.lineTo(x + side * TEETH * 0.6, Math.min(bottom, y + TEETH));
  ctx.stroke();
}

/** Paints a dotted line below the lanes where the page has only shares. */
export function paintOutside({ ctx, theme, scale }: Canvas, span: Span, row: RankRow, offset: number): void {
  const y = Math.round(row.communication.y + row.communication.height + offset) + 0.5;
  strokeLine(
    ctx,
    theme.ink3,
    1,
    [Math.max(scale.left, scale.x(span.begin)), y],
    [Math.min(scale.left + scale.width, scale.x(span.end)), y],
    [1, 3],
  );
}

export function paintMark({ ctx, theme, scale }: Canvas, mark: Span, top: number, bottom: number): void {
  const x0 = scale.x(mark.begin),
    x1 = scale.x(mark.end);
  ctx.fillStyle = theme.link;
  ctx.globalAlpha = 0.1;
  ctx.fillRect(x0, top, x1 - x0, bottom - top);
  ctx.globalAlpha = 1;
  /* a frame around the mark, because its colour is hardly visible on the colour of compute */
  ctx.fillRect(x0, top, 1.5, bottom - top);
  ctx.fillRect(x1 - 1.5, top, 1.5, bottom - top);
  ctx.fillRect(x0, top, x1 - x0, 1.5);
  ctx.fillRect(x0, bottom - 1.5, x1 - x0, 1.5);
}

/** Paints the scrollbar if not all rows fit. */
export function paintScrollbar(
  { ctx, theme }: Canvas,
  box: { x: number; y: number; height: number },
  scroll: number,
  height: number,
): void {
  if (height <= box.height) return;
  const size = Math.max(24, (box.height / height) * box.height);
  const y = box.y + (scroll / (height - box.height)) * (box.height - size);
  ctx.fillStyle = theme.panel;
  ctx.fillRect(box.x, box.y, 10, box.height);
  ctx.fillStyle = theme.ink3;
  ctx.beginPath();
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- browsers before 2023 have none
  ctx.roundRect?.(box.x + 2, y, 6, size, 3);
  ctx.fill();
}
