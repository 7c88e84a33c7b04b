/** A call tree as a flame graph: each call is as wide as its time, above its callees. */
import { cut, h, visible, type Child } from "./dom";
import { rampColors } from "./map";
import { hideTip, tipAt } from "./ui";

/** Rows of a call tree; a call precedes its callees. */
export interface Tree {
  readonly n: number;
  /** Row of the caller; -1 for none. */
  readonly parent: readonly number[];
  readonly name: readonly string[];
  readonly time: readonly number[];
  /** From 0 (all ranks take equally long) to 1 (the slowest takes far longer); null: one rank. */
  readonly heat: readonly (number | null)[];
}

export interface Box {
  readonly row: number;
  readonly depth: number;
  /** Left edge, as a fraction of the whole width. */
  readonly from: number;
  readonly to: number;
}

/** Lays out the calls with @p root (-1: all) filling the width. Its callers are above it in full width; calls
 * narrower than @p least are left out. */
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

/** Returns the rows whose names contain the text and their total time; nested matches count once. */
export function findCalls(tree: Tree, text: string): { rows: Set<number>; time: number } {
  const wanted = text.trim().toLowerCase(),
    rows = new Set<number>(),
    within = new Set<number>(); // rows that match, or whose caller does
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
  CHARACTER = 6.6,
  LEAST_EDGE = 4,
  LEAST_TEXT = 28;

export interface FlameOptions {
  readonly tree: Tree;
  readonly label: string;
  readonly root: number;
  /** Description of a call. */
  readonly words: (row: number) => Child;
  readonly choose: (row: number) => void;
}

/** The flame graph on a canvas; a click makes a call fill the width, arrow keys move between calls. */
export class Flame {
  readonly canvas: HTMLCanvasElement;
  readonly readout = h(
    "p.note.flame-readout",
    { "aria-live": "polite" },
    "Point at a call or use the arrow keys to read it; click or Enter zooms in on it, Escape returns to its caller.",
  );
  readonly element: HTMLElement;
  readonly #resizing = new ResizeObserver(() => this.#draw());
  #boxes: Box[] = [];
  #root: number;
  #at: number;
  #found: ReadonlySet<number> | null = null;

  constructor(readonly options: FlameOptions) {
    this.#root = this.#at = options.root;
    this.canvas = h("canvas.flame", {
      role: "application",
      tabindex: 0,
      "aria-roledescription": "flame graph",
      "aria-label": options.label,
      on: { mousemove: (e) => this.#point(e), mouseleave: hideTip, click: (e) => this.#click(e), keydown: (e) => this.#key(e) },
    });
    this.element = h("div.flame-box", this.canvas, this.readout);
    if (this.#root >= 0) this.#say();
    this.#resizing.observe(this.element);
    document.addEventListener("themechange", this.#draw);
  }

  dispose(): void {
    this.#resizing.disconnect();
    document.removeEventListener("themechange", this.#draw);
  }

  /** Makes a call fill the width; -1: all. */
  zoom(row: number): void {
    this.#root = this.#at = row;
    this.#draw();
    this.#say();
    this.options.choose(row);
  }

  /** Highlights these calls; null: none. */
  mark(rows: ReadonlySet<number> | null): void {
    this.#found = rows;
    this.#draw();
  }

  readonly #draw = (): void => {
    const width = this.element.clientWidth,
      ratio = window.devicePixelRatio || 1,
      ctx = this.canvas.getContext("2d");
    if (width === 0 || !ctx) return;
    const boxes = (this.#boxes = flameLayout(this.options.tree, this.#root, 0.7 / width));
    const height = ROW * (boxes.reduce((most, box) => Math.max(most, box.depth), 0) + 1) + 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    const style = getComputedStyle(document.documentElement),
      colors = rampColors("wait"),
      inks = rampColors("wait", "color");
    const idle = style.getPropertyValue("--idle").trim(),
      ink = style.getPropertyValue("--ink").trim(),
      edge = style.getPropertyValue("--ink-3").trim();
    ctx.font = `12px ${style.fontFamily}`;
    ctx.textBaseline = "middle";
    for (const { row, depth, from, to } of boxes) {
      const x = from * width,
        y = depth * ROW,
        size = (to - from) * width,
        heat = this.options.tree.heat[row] ?? null;
      const step = heat === null ? -1 : Math.round(20 * Math.max(0, Math.min(1, heat)));
      ctx.fillStyle = step < 0 ? idle : colors[step]!;
      ctx.globalAlpha = this.#found && !this.#found.has(row) ? FADED : 1;
      ctx.fillRect(x, y + 1, Math.max(0.7, size - 1), ROW - 1);
      if (size > LEAST_EDGE) {
        ctx.strokeStyle = edge;
        ctx.lineWidth = 1;
        ctx.strokeRect(x + 0.5, y + 1.5, size - 2, ROW - 2);
      }
      if (row === this.#at) {
        ctx.strokeStyle = ink;
        ctx.lineWidth = 2;
        ctx.strokeRect(x + 1, y + 2, Math.max(1, size - 3), ROW - 3);
      }
      if (size < LEAST_TEXT) continue;
      ctx.fillStyle = step < 0 ? ink : inks[step]!;
      ctx.fillText(this.#fitting(ctx, this.options.tree.name[row]!, size - 2 * PAD), x + PAD, y + ROW / 2 + 1);
    }
    ctx.globalAlpha = 1;
    this.canvas.dataset["boxes"] = String(boxes.length);
  };

  #fitting(ctx: CanvasRenderingContext2D, name: string, room: number): string {
    let n = Math.min(name.length, Math.ceil(room / CHARACTER) + 4),
      text = name.slice(0, n);
    while (n > 0 && ctx.measureText(text).width > room) text = `${name.slice(0, --n)}…`;
    return n > 1 ? text : "";
  }

  #boxAt(e: MouseEvent): Box | undefined {
    const box = this.canvas.getBoundingClientRect(),
      x = (e.clientX - box.left) / box.width,
      depth = Math.floor((e.clientY - box.top) / ROW);
    return this.#boxes.find((each) => each.depth === depth && each.from <= x && x < each.to);
  }

  #point(e: MouseEvent): void {
    const found = this.#boxAt(e);
    this.canvas.style.cursor = found ? "pointer" : "default";
    if (found) tipAt([e.clientX, e.clientY], this.options.words(found.row));
    else hideTip();
  }

  #click(e: MouseEvent): void {
    const found = this.#boxAt(e);
    if (found) this.zoom(found.row);
  }

  #key(e: KeyboardEvent): void {
    const { parent } = this.options.tree,
      at = this.#boxes.find((box) => box.row === this.#at);
    const beside = this.#boxes.filter((box) => at && box.depth === at.depth && parent[box.row] === parent[at.row]),
      place = at ? beside.indexOf(at) : -1;
    if (e.key === "Enter" && this.#at >= 0) this.zoom(this.#at);
    else if (e.key === "Escape" && this.#root >= 0) this.zoom(parent[this.#root]!);
    else {
      const next =
        e.key === "ArrowLeft"
          ? beside[place - 1]
          : e.key === "ArrowRight"
            ? beside[place + 1]
            : e.key === "ArrowUp"
              ? this.#boxes.find((box) => at && box.row === parent[at.row])
              : e.key === "ArrowDown"
                ? this.#boxes.find((box) => parent[box.row] === this.#at && box.row !== this.#at)
                : null;
      if (next === null) return;
      if (next) this.#at = next.row;
      this.#draw();
      this.#say();
    }
    e.preventDefault();
  }

  #say(): void {
    this.readout.replaceChildren(h("span", this.#at < 0 ? "All calls." : this.options.words(this.#at)));
  }
}

/** The name of a call, for titles. */
export function callName(name: string): string {
  return cut(visible(name), 160);
}
