/** Paints what joins the ranks of an operation: the front of arrivals, the line where the last arrival releases
 * all, and the last member. */
import type { Chart } from "./chart";
import { lowest } from "./lanes";
import type { RankRow } from "./layout";
import { TIED, type Member, type Operation } from "./model";
import { doubt } from "./operations";
import type { Canvas } from "./paint_lane";
import { stroke } from "./theme";

export type JoinInput = ReturnType<Chart["joinInput"]>;

/* Returns the members in visible rows, and the next one beyond each edge, so that the line of arrivals continues to the edge. */
function inView(operation: Operation, input: JoinInput): Member[] {
  const members = inRows(operation, input);
  const first = lowest(members.length, (i) => bottomOf(members[i]!, input) > input.top);
  const end = lowest(members.length, (i) => rowOf(members[i]!, input).y >= input.bottom);
  return members.slice(Math.max(0, first - 1), end + 1);
}

/* Members sorted by row, kept while the rows stay the same: sorting thousands of members in each frame would take too long. */
const sorted = new WeakMap<readonly RankRow[], WeakMap<Operation, readonly Member[]>>();

function inRows(operation: Operation, input: JoinInput): readonly Member[] {
  if (input.inOrder) return operation.members;
  let kept = sorted.get(input.rows);
  if (!kept) sorted.set(input.rows, (kept = new WeakMap()));
  let members = kept.get(operation);
  if (!members)
    kept.set(operation, (members = [...operation.members].sort((a, b) => rowOf(a, input).y - rowOf(b, input).y || a.at - b.at)));
  return members;
}

function rowOf(member: Member, input: JoinInput): RankRow {
  return input.rows[member.at]!;
}

function bottomOf(member: Member, input: JoinInput): number {
  const row = rowOf(member, input);
  return row.y + row.height;
}

/** Paints the lines of one operation. `strong`: it is selected or under the pointer. */
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
      x0 = Math.max(scale.left - 4, scale.x(member.begin)),
      x1 = Math.min(scale.left + scale.width + 4, scale.x(member.end));
    if (x1 > x0) stroke(ctx, theme.ink, 1.2, () => ctx.rect(x0, top + 0.5, x1 - x0, bottom - top - 1));
  }
}

/** Marks the member that came last, or all that may have been last within the clock uncertainty. Marks none if `poor`, because the clocks
 * are too inaccurate. */
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

function triangle(ctx: CanvasRenderingContext2D, ink: string, page: string, x: number, y: number): void {
  stroke(ctx, page, 2, () => {
    ctx.moveTo(x - 1.5, y);
    ctx.lineTo(x - 9.5, y - 5.5);
    ctx.lineTo(x - 9.5, y + 5.5);
    ctx.closePath();
  });
  ctx.fillStyle = ink;
  ctx.fill();
}

function ring(ctx: CanvasRenderingContext2D, ink: string, page: string, x: number, y: number): void {
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
