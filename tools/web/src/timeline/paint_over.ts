/** Paints lines and arrows over the lanes (lines between ranks, the critical path, launches), and counters below the lanes. */
import { stroke, strokeCased, fillBox, strokeLine, type Ctx } from "../canvas";
import type { Chart } from "./chart";
import { lowest } from "./lanes";
import type { RankRow, Box } from "./layout";
import { TIED, type Member, type Operation, COMPUTE, type Span } from "./model";
import { doubt } from "./operations";
import { type Canvas, paintShares } from "./paint_lane";
import { setFont } from "./theme";
import type { Path, Placed } from "./path";
import { fitting } from "../dom";
import { entry } from "../format";

export type JoinInput = ReturnType<Chart["joinInput"]>;

/* Returns the visible members, and the next one above and below, so that the line through them reaches the edges. */
function inView(operation: Operation, input: JoinInput): Member[] {
  const members = inRows(operation, input);
  const first = lowest(members.length, (i) => bottomOf(members[i]!, input) > input.top);
  const end = lowest(members.length, (i) => rowOf(members[i]!, input).y >= input.bottom);
  return members.slice(Math.max(0, first - 1), end + 1);
}

/* Members of operations in the order of the rows. Kept for each list of rows, because to sort thousands in each frame takes too long. */
const sorted = new WeakMap<readonly RankRow[], WeakMap<Operation, readonly Member[]>>();

function inRows(operation: Operation, input: JoinInput): readonly Member[] {
  if (input.inOrder) return operation.members;
  const kept = entry(sorted, input.rows, () => new WeakMap<Operation, readonly Member[]>());
  return entry(kept, operation, () => [...operation.members].sort((a, b) => rowOf(a, input).y - rowOf(b, input).y || a.at - b.at));
}

const rowOf = (member: Member, input: JoinInput): RankRow => input.rows[member.at]!;

function bottomOf(member: Member, input: JoinInput): number {
  const row = rowOf(member, input);
  return row.y + row.height;
}

/** Paints the lines of one operation. @p strong: it is selected or under the pointer. @p few: few operations have lines. */
export function paintJoin(canvas: Canvas, operation: Operation, input: JoinInput, strong: boolean, few: boolean): void {
  const { ctx, theme, scale } = canvas;
  const members = inView(operation, input);
  if (members.length === 0) return;
  const y = (member: Member): readonly [number, number] => {
    const lane = rowOf(member, input).communication;
    return [lane.y + input.offset, lane.y + lane.height + input.offset];
  };
  const color = strong ? theme.ink : theme.ink3,
    width = strong ? 1.8 : 1;
  ctx.globalAlpha = strong ? 1 : few ? 0.8 : 0.5;
  stroke(ctx, color, width, () =>
    members.forEach((member, i) => {
      const x = Math.round(scale.x(member.begin)) + 0.5,
        [top, bottom] = y(member);
      if (i === 0) ctx.moveTo(x, top);
      else ctx.lineTo(x, top);
      ctx.lineTo(x, bottom);
    }),
  );
  if (operation.waits) {
    const x = Math.round(scale.x(operation.last)) + 0.5;
    stroke(ctx, color, width, () => (ctx.moveTo(x, y(members[0]!)[0]), ctx.lineTo(x, y(members[members.length - 1]!)[1])), [3, 3]);
  }
  ctx.globalAlpha = 1;
  if (strong) outline(canvas, members, y);
}

function outline({ ctx, theme, scale }: Canvas, members: readonly Member[], y: (m: Member) => readonly [number, number]): void {
  for (const member of members) {
    const [top, bottom] = y(member),
      [x0, x1] = scale.visible(member, 4);
    if (x1 > x0) stroke(ctx, theme.ink, 1.2, () => ctx.rect(x0, top + 0.5, x1 - x0, bottom - top - 1));
  }
}

/** Marks the last member. If it is unknown, marks all that may be last. @p poor: the clocks are inaccurate; shows uncertainties, too. */
export function paintArrivals(canvas: Canvas, operation: Operation, input: JoinInput, strong: boolean, poor: boolean): void {
  const { ctx, theme, scale } = canvas;
  for (const member of inView(operation, input)) {
    const lane = rowOf(member, input).communication;
    const x = scale.x(member.begin),
      middle = lane.y + lane.height / 2 + input.offset;
    if (strong || poor) whisker(canvas, x, middle, doubt(operation, member.at, input.ranks) * scale.k);
    if (member === operation.lastMember && !poor) triangle(ctx, theme.ink, theme.page, x, middle);
    else if (strong && operation.waits && (member.arrival === TIED || (poor && member === operation.lastMember)))
      ring(ctx, theme.ink, theme.page, x, middle);
  }
}

function triangle(ctx: Ctx, ink: string, page: string, x: number, y: number): void {
  stroke(ctx, page, 2, () => {
    ctx.moveTo(x - 1.5, y);
    ctx.lineTo(x - 9.5, y - 5.5);
    ctx.lineTo(x - 9.5, y + 5.5);
    ctx.closePath();
  });
  ctx.fillStyle = ink;
  ctx.fill();
}

function ring(ctx: Ctx, ink: string, page: string, x: number, y: number): void {
  ctx.beginPath();
  ctx.arc(x, y, 4, 0, 2 * Math.PI);
  ctx.fillStyle = page;
  ctx.fill();
  ctx.lineWidth = 1.5;
  ctx.strokeStyle = ink;
  ctx.stroke();
}

function whisker({ ctx, theme }: Canvas, x: number, y: number, half: number): void {
  if (half < 2) return;
  stroke(ctx, theme.ink, 1, () => {
    ctx.moveTo(x - half, y);
    ctx.lineTo(x + half, y);
    for (const end of [x - half, x + half]) {
      ctx.moveTo(end, y - 3);
      ctx.lineTo(end, y + 3);
    }
  });
}

export function membersOutside(operation: Operation, input: JoinInput): { above: number; below: number } {
  const members = inRows(operation, input);
  const above = lowest(members.length, (i) => bottomOf(members[i]!, input) > input.top);
  return { above, below: members.length - lowest(members.length, (i) => rowOf(members[i]!, input).y >= input.bottom) };
}

const WIDTH = 2.5,
  CASING = 1.5,
  HALF_BOX = 6;

/** Paints the visible part of the path. @p heightOf returns the height at which a piece is drawn. */
export function paintPath(canvas: Canvas, path: Path, heightOf: (placed: Placed) => number): void {
  const { ctx, theme, scale } = canvas,
    runs = path.runs(scale, heightOf);
  if (runs.length === 0) return;
  ctx.lineJoin = "round";
  strokeCased(ctx, [theme.page, theme.path], WIDTH, WIDTH + 2 * CASING, () =>
    runs.forEach(({ x0, x1, y, broken }, i) => {
      if (i === 0 || broken) ctx.moveTo(x0, y);
      else ctx.lineTo(x0, y);
      ctx.lineTo(x1, y);
    }),
  );
  ctx.lineJoin = "miter";
}

export function outlinePiece({ ctx, theme, scale }: Canvas, { piece }: Placed, y: number, top: number): void {
  const [x0, x1] = scale.visible(piece, 4),
    from = Math.max(top, y - HALF_BOX),
    width = Math.max(4, x1 - x0 + 4);
  strokeCased(ctx, [theme.page, theme.ink], 1.8, 4, () => ctx.rect((x0 + x1 - width) / 2, from + 1, width, y + HALF_BOX - from));
}

/** An arrow from a call to an event that it launched. `x0`, `x1`: their begins [px]. `from`, `to`: their boxes. */
export type Arrow = Readonly<Record<"x0" | "x1", number> & Record<"from" | "to", Box>>;

/** If there are more arrows than FEW, they are thin, and an arrow less than APART [px] from the previous one is not drawn. */
const FEW = 12,
  APART = 3;
const HEAD_LENGTH = 7,
  HEAD_HALF = 3.5,
  BEND = 40;

/* Returns the heights at which an arrow begins and ends. It begins at the edge of `from` that faces `to`, and ends just inside of `to`. */
const ends = ({ from, to }: Arrow): [number, number] =>
  from.y < to.y ? [from.y + from.height, to.y + Math.min(4, to.height / 2)] : [from.y, to.y + to.height - Math.min(4, to.height / 2)];

/* Returns the arrows ordered by their ends. Leaves out an arrow that ends close to the previous one. */
function apart(all: readonly Arrow[]): Arrow[] {
  const out: Arrow[] = [];
  for (const arrow of [...all].sort((a, b) => a.x1 - b.x1)) if (arrow.x1 - (out[out.length - 1]?.x1 ?? -Infinity) >= APART) out.push(arrow);
  return out;
}

/** Paints the arrows over the lanes. Each has an outline in the page's colour. */
export function paintArrows({ ctx, theme }: Canvas, all: readonly Arrow[]): void {
  const many = all.length > FEW,
    arrows = many ? apart(all) : all,
    path = () => {
      for (const arrow of arrows) {
        const [y0, y1] = ends(arrow),
          bend = Math.max(8, Math.min(BEND, Math.abs(arrow.x1 - arrow.x0) / 2 + 8));
        ctx.moveTo(arrow.x0, y0);
        ctx.bezierCurveTo(arrow.x0, y0 + (y1 > y0 ? bend : -bend), arrow.x1 - bend, y1, arrow.x1 - HEAD_LENGTH + 1, y1);
      }
    };
  if (many) stroke(ctx, theme.ink, 0.7, path);
  else strokeCased(ctx, [theme.page, theme.ink], 1.4, 4, path);
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

/** Opacity of a counter, whose colour is that of links. With this opacity, text on it is readable. */
const STRENGTH = 0.6;
export const AIR = 3; // free space below a counter [px]

/** @param shares value in each device pixel, as a fraction of the lane's height */
export function paintCounter(canvas: Canvas, box: Box, shares: Float32Array): void {
  const { ctx, theme, scale } = canvas,
    fills = theme.fills.map(() => theme.link),
    alphas = theme.alphas.map(() => STRENGTH);
  fillBox(ctx, theme.panel, scale.left, box.y, scale.width, box.height);
  const columns: Float32Array[] = [];
  columns[COMPUTE] = shares;
  paintShares({ ...canvas, theme: { ...theme, fills, alphas } }, columns, box);
}

export function paintUnknown({ ctx, theme, scale }: Canvas, box: Box, span: Span): void {
  const [x0, x1] = scale.visible(span),
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
