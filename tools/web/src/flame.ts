/** A call tree as a flame graph: the width of a call is its time, and its callees are below it. */
import { Boxes, paintBox, type BoxesOptions, type Ctx } from "./canvas";
import { cut, fitting, visible } from "./dom";
import { readable } from "./timeline/theme";

/** The rows of a call tree. Each call comes before its callees. `color`: name of a custom property in the style sheet. */
export type Tree = Readonly<{ n: number } & Record<"name" | "color", readonly string[]> & Record<"parent" | "time", readonly number[]>>;

/** A call in the picture. `from` and `to` are its left and right edge, as fractions of the whole width. */
export type Box = Readonly<Record<"row" | "depth" | "from" | "to", number>>;

/** Lays out @p root, its callers, and all calls below it. With -1, lays out all calls. Skips calls below @p least of the width. */
export function flameLayout(tree: Tree, root: number, least: number): Box[] {
  const above: number[] = [];
  for (let row = root; row >= 0; row = tree.parent[row]!) above.unshift(row);
  const boxes: Box[] = above.map((row, depth) => ({ row, depth, from: 0, to: 1 }));
  const placed = new Map<number, { depth: number; from: number; next: number }>();
  let whole = 0;
  for (let row = 0; row < tree.n; row++) if (root < 0 ? tree.parent[row] === -1 : row === root) whole += tree.time[row]!;
  if (!(whole > 0)) return boxes;
  placed.set(root, { depth: above.length - 1, from: 0, next: 0 });
  for (let row = 0; row < tree.n; row++) {
    const caller = placed.get(tree.parent[row]!),
      width = tree.time[row]! / whole;
    if (!caller || row === root || !(width > 0)) continue;
    const from = caller.next,
      to = from + width,
      depth = caller.depth + 1;
    caller.next = to;
    if (width < least) continue;
    placed.set(row, { depth, from, next: from });
    boxes.push({ row, depth, from, to });
  }
  return boxes;
}

/** Returns the rows whose names contain the text, and their total time. A match inside of another match adds no time. */
export function findCalls(tree: Tree, text: string): { rows: Set<number>; time: number } {
  const wanted = text.trim().toLowerCase(),
    rows = new Set<number>(),
    within = new Set<number>(); // rows that match, and rows below a match
  let time = 0;
  for (let row = 0; row < tree.n && wanted !== ""; row++) {
    const found = tree.name[row]!.toLowerCase().includes(wanted),
      inside = within.has(tree.parent[row]!);
    if (found) rows.add(row);
    if (found || inside) within.add(row);
    if (found && !inside) time += tree.time[row]!;
  }
  return { rows, time };
}

const FADED = 0.3; // opacity of calls that do not match a search
const ROW = 19,
  PAD = 4,
  LEAST_EDGE = 4,
  LEAST_TEXT = 28;

const BESIDE: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 };

/** The flame graph. A click on a call makes it fill the width; arrow keys move between calls. */
export class Flame extends Boxes {
  #boxes: Box[] = [];
  #root: number;
  #found: ReadonlySet<number> | null = null;

  /** @param root  the call that fills the width; -1: all calls */
  constructor(
    readonly tree: Tree,
    root: number,
    options: BoxesOptions,
  ) {
    super(
      options,
      "flame graph",
      "Point at a call or use the arrow keys to read it; click or Enter zooms in on it, Escape returns to its caller.",
    );
    this.#root = this.at = root;
    if (root >= 0) this.#say();
  }

  protected override choose(row: number): void {
    this.#root = this.at = row;
    this.draw();
    this.#say();
    super.choose(row);
  }

  mark(rows: ReadonlySet<number> | null): void {
    this.#found = rows;
    this.draw();
  }

  protected layout(width: number): number {
    this.#boxes = flameLayout(this.tree, this.#root, 0.7 / width);
    this.canvas.dataset["boxes"] = String(this.#boxes.length);
    return ROW * (this.#boxes.reduce((most, box) => Math.max(most, box.depth), 0) + 1) + 1;
  }

  protected paint(ctx: Ctx, width: number, color: (name: string) => string): void {
    const [ink, page, edge] = [color("ink"), color("page"), color("ink-3")],
      fills = new Map([...new Set(this.tree.color)].map((each) => [each, color(each)]));
    for (const { row, depth, from, to } of this.#boxes) {
      const x = from * width,
        y = depth * ROW + 1,
        size = (to - from) * width,
        fill = fills.get(this.tree.color[row]!)!;
      ctx.globalAlpha = this.#found && !this.#found.has(row) ? FADED : 1;
      paintBox(ctx, { x, y, width: size, height: ROW - 1 }, fill, row === this.at ? ink : null);
      if (size > LEAST_EDGE && row !== this.at) {
        ctx.strokeStyle = edge;
        ctx.lineWidth = 1;
        ctx.strokeRect(x + 0.5, y + 0.5, size - 2, ROW - 2);
      }
      if (size < LEAST_TEXT) continue;
      ctx.fillStyle = readable(fill, ink, page);
      ctx.fillText(fitting(ctx, this.tree.name[row]!, size - 2 * PAD), x + PAD, y + ROW / 2);
    }
    ctx.globalAlpha = 1;
  }

  protected boxAt(x: number, y: number): number {
    const place = x / this.element.clientWidth,
      depth = Math.floor(y / ROW);
    return this.#boxes.find((each) => each.depth === depth && each.from <= place && place < each.to)?.row ?? -1;
  }

  protected move(key: string): boolean {
    const { parent } = this.tree,
      at = this.#boxes.find((box) => box.row === this.at);
    if (key === "Escape" && this.#root >= 0) this.choose(parent[this.#root]!);
    else if (!key.startsWith("Arrow")) return false;
    else {
      const beside = this.#boxes.filter((box) => at && box.depth === at.depth && parent[box.row] === parent[at.row]),
        above = (box: Box): boolean => at !== undefined && box.row === parent[at.row],
        below = (box: Box): boolean => parent[box.row] === this.at && box.row !== this.at;
      const next = key in BESIDE ? beside[beside.indexOf(at!) + BESIDE[key]!] : this.#boxes.find(key === "ArrowUp" ? above : below);
      this.at = next?.row ?? this.at;
      this.draw();
      this.#say();
    }
    return true;
  }

  #say(): void {
    this.say(this.at < 0 ? "All calls." : this.options.words(this.at));
  }
}

export const callName = (name: string): string => cut(visible(name), 160);
