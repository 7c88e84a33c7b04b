/** Painting functions that all canvases share, and pictures of boxes that the reader can select. */
import { colours, h, type Child } from "./dom";
import { hideTip, tipAt } from "./ui";

export type Ctx = CanvasRenderingContext2D;
type Rect = Readonly<Record<"x" | "y" | "width" | "height", number>>;

/** Sets the size of a canvas [CSS px]. @p ratio: device pixels per CSS pixel. Returns the context; null if the browser has none. */
export function sized(canvas: HTMLCanvasElement, width: number, height: number, ratio: number): Ctx | null {
  const ctx = canvas.getContext("2d");
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  ctx?.setTransform(ratio, 0, 0, ratio, 0, 0);
  return ctx;
}

export function stroke(ctx: Ctx, color: string, width: number, path: (ctx: Ctx) => void, dash: readonly number[] = []): void {
  ctx.strokeStyle = color;
  ctx.lineWidth = width;
  ctx.setLineDash([...dash]);
  ctx.beginPath();
  path(ctx);
  ctx.stroke();
  ctx.setLineDash([]);
}

/** Strokes a path twice so that it stands out: first @p casing px wide in the colour @p page, then @p width px wide in @p color. */
export function strokeCased(ctx: Ctx, [page, color]: [string, string], width: number, casing: number, path: () => void): void {
  stroke(ctx, page, casing, path);
  stroke(ctx, color, width, path);
}

type Point = readonly [number, number];

export function strokeLine(ctx: Ctx, color: string, from: Point, to: Point, dash: readonly number[] = []): void {
  stroke(ctx, color, 1, () => (ctx.moveTo(...from), ctx.lineTo(...to)), dash);
}

export function fillBox(ctx: Ctx, color: string, ...box: readonly [x: number, y: number, width: number, height: number]): void {
  ctx.fillStyle = color;
  ctx.fillRect(...box);
}

export function clipped(ctx: Ctx, { x, y, width, height }: Rect, paint: () => void): void {
  ctx.save();
  ctx.beginPath();
  ctx.rect(x, y, width, height);
  ctx.clip();
  paint();
  ctx.restore();
}

/** Each function gets the index of a box. `words` returns the text about the box. `choose` runs on a click or on Enter. */
export type BoxesOptions = Readonly<{ label: string; words: (box: number) => Child; choose: (box: number) => void }>;

/** Paints a box. @p current: colour of a thick edge if the box is the current one; otherwise null. */
export function paintBox(ctx: Ctx, { x, y, width, height }: Rect, fill: string, current: string | null): void {
  fillBox(ctx, fill, x, y, Math.max(0.7, width - 1), height);
  if (current !== null) stroke(ctx, current, 2, () => ctx.rect(x + 1, y + 1, Math.max(1, width - 3), height - 2));
}

export abstract class Boxes {
  readonly element: HTMLElement;
  protected readonly canvas: HTMLCanvasElement;
  protected at = -1; // the box from which arrow keys move; -1: none
  readonly #readout: HTMLElement;
  /** Draws the boxes again when the element's size changes. The size also changes when the element leaves the page. */
  readonly #resizing = new ResizeObserver(() => (this.element.isConnected ? this.draw() : this.#dispose()));

  /** @param kind  kind of picture, a CSS class @param hint  text that is shown until the reader points at a box */
  constructor(
    readonly options: BoxesOptions,
    kind: string,
    hint: string,
  ) {
    this.canvas = h("canvas.flame", {
      role: "application",
      tabindex: 0,
      "aria-roledescription": kind,
      "aria-label": options.label,
      on: {
        mousemove: (e) => this.#point(e),
        mouseleave: hideTip,
        click: (e) => this.#under(e) >= 0 && this.choose(this.#under(e)),
        keydown: (e) => this.#key(e),
      },
    });
    this.#readout = h("p.note.flame-readout", { "aria-live": "polite" }, hint);
    this.element = h("div.flame-box", this.canvas, this.#readout);
    this.#resizing.observe(this.element);
    document.addEventListener("themechange", this.draw);
  }

  #dispose(): void {
    this.#resizing.disconnect();
    document.removeEventListener("themechange", this.draw);
  }

  /** Lays the boxes out in this width [px]. Returns the height [px]. */
  protected abstract layout(width: number): number;
  protected abstract paint(ctx: Ctx, width: number, color: (name: string) => string): void;
  /** Returns the index of the box at a position [px]; -1 if there is none. */
  protected abstract boxAt(x: number, y: number): number;
  /** Handles a key. Returns true if it did; the browser then ignores the key. */
  protected abstract move(key: string): boolean;

  protected choose(box: number): void {
    this.options.choose(box);
  }

  protected readonly draw = (): void => {
    const width = this.element.clientWidth,
      ctx = width > 0 && sized(this.canvas, width, this.layout(width), window.devicePixelRatio || 1);
    if (!ctx) return;
    ctx.font = `12px ${getComputedStyle(document.documentElement).fontFamily}`;
    ctx.textBaseline = "middle";
    this.paint(ctx, width, colours());
  };

  protected say(words: Child): void {
    this.#readout.replaceChildren(h("span", words));
  }

  #under(e: MouseEvent): number {
    const box = this.canvas.getBoundingClientRect();
    return this.boxAt(e.clientX - box.left, e.clientY - box.top);
  }

  #point(e: MouseEvent): void {
    const found = this.#under(e);
    this.canvas.style.cursor = found >= 0 ? "pointer" : "default";
    if (found >= 0) tipAt([e.clientX, e.clientY], this.options.words(found));
    else hideTip();
  }

  #key(e: KeyboardEvent): void {
    if (e.key === "Enter" && this.at >= 0) this.choose(this.at);
    else if (!this.move(e.key)) return;
    e.preventDefault();
  }
}
