/** Paints lanes: events or, if there are too many, shares in columns. Many rectangles are painted as one image. */
import { fitting } from "../dom";
import type { Chart } from "./chart";
import { LANE_KINDS, TRANSFER, UNMATCHED, WAIT, type Events, type Span } from "./model";
import type { Box } from "./layout";
import type { EventList } from "./lanes";
import type { Pyramid } from "./pyramid";
import type { Scale } from "./span";
import { setFont, type Theme } from "./theme";

/** `ratio`: device pixels per CSS pixel. `strength`: opacity of shares; a search lowers it, to dim what does not match. */
export type Canvas = Readonly<{ ctx: CanvasRenderingContext2D; theme: Theme; scale: Scale; ratio: number; strength?: number }>;

/** With more events per pixel than this, shares are drawn instead. */
export const MOST_PER_PIXEL = 2;
const LABEL_FROM = 60,
  CHARACTER = 6,
  DIM = 0.18,
  DOTS_FROM = 6,
  TICK = 4;

/** Rectangles of one colour in a lane: left edge, right edge, left edge, ... [px]. `dim`: do not match a search. `bright`: all others. */
type Pieces = Readonly<Record<"bright" | "dim", number[]>>;

/** Adds up events that are narrower than a pixel. Each pixel gets the share of its time that these events fill. */
class Slivers {
  readonly shares: Float32Array;

  constructor(readonly n: number) {
    this.shares = new Float32Array(n);
  }

  add(begin: number, end: number): void {
    const first = Math.max(0, Math.floor(begin)),
      last = Math.min(this.n - 1, Math.floor(end));
    for (let c = first; c <= last; c++)
      this.shares[c] = Math.min(1, this.shares[c]! + Math.max(0, Math.min(end, c + 1) - Math.max(begin, c)));
    if (last >= first && end <= begin) this.shares[first] = Math.max(this.shares[first]!, 1e-6);
  }
}

type EventOptions = ReturnType<Chart["eventOptions"]>;

export function paintEvents(canvas: Canvas, list: EventList, [first, end]: [number, number], box: Box, options: EventOptions): void {
  const { scale, ratio, theme } = canvas,
    events = list.events;
  const { begin, duration, kind, comm, wait } = events;
  const pieces = theme.fills.map((): Pieces => ({ bright: [], dim: [] }));
  const slivers: (Slivers | undefined)[] = [];
  const columns = Math.ceil(scale.width * ratio);
  const labelled: number[] = [];
  const put = (which: number, from: number, to: number, bright: boolean): void => {
    const x0 = (from - scale.span.begin) * scale.k,
      x1 = (to - scale.span.begin) * scale.k;
    if (x1 < 0 || x0 > scale.width) return;
    if ((x1 - x0) * ratio >= 1) {
      const list = bright ? pieces[which]!.bright : pieces[which]!.dim;
      list.push(Math.max(-2, x0), Math.min(scale.width + 2, x1));
    } else if (bright) (slivers[which] ??= new Slivers(columns)).add(x0 * ratio, x1 * ratio);
  };
  for (let i = first; i < end; i++) {
    const row = list.rows[i]!,
      from = begin[row]!,
      to = from + duration[row]!;
    if (to < scale.span.begin) continue;
    const bright = !options.found || options.found[row] === 1;
    const waited = wait[comm[row]!]!;
    if (kind[row] === TRANSFER && waited >= 0) {
      const last = Math.min(to, from + waited);
      if (waited > 0) put(WAIT, from, last, bright);
      put(TRANSFER, last, to, bright);
    } else put(options.color ? options.color(row) : kind[row]!, from, to, bright);
    if (options.labels > 0 && (to - from) * scale.k >= LABEL_FROM) labelled.push(row);
  }
  const rects = new Rects();
  addPieces(rects, canvas, pieces, box);
  addShares(
    rects,
    { ...canvas, strength: 1 },
    slivers.map((each) => each?.shares),
    box,
  );
  rects.draw(canvas.ctx, frameOf(canvas, box));
  dot(canvas, pieces[UNMATCHED]!.bright, box);
  if (options.found) paintTicks(canvas, slivers, box);
  paintLabels(canvas, events, labelled, box, options);
}

/* Draws a tick above the lane at each match of a search that is too narrow to be visible. */
function paintTicks({ ctx, theme, scale, ratio }: Canvas, slivers: readonly (Slivers | undefined)[], box: Box): void {
  ctx.fillStyle = theme.ink;
  for (const found of slivers)
    found?.shares.forEach((share, column) => {
      if (share > 0) ctx.fillRect(scale.left + column / ratio, box.y, 1, TICK);
    });
}

const ORDER: readonly number[] = [UNMATCHED, WAIT, TRANSFER];

function addPieces(rects: Rects, { theme, scale }: Canvas, pieces: readonly Pieces[], box: Box): void {
  const order = [...ORDER, ...pieces.keys()].filter((kind, i, all) => all.indexOf(kind) === i);
  for (const kind of order)
    for (const bright of [false, true]) {
      const list = bright ? pieces[kind]!.bright : pieces[kind]!.dim;
      if (list.length === 0) continue;
      rects.color(theme.fills[kind]!, theme.alphas[kind]! * (bright ? 1 : DIM));
      for (let i = 0; i < list.length; i += 2) {
        const width = list[i + 1]! - list[i]!;
        /* a thin gap separates neighbours */
        rects.add(scale.left + list[i]!, box.y, width >= 4 ? width - 0.5 : width, box.height);
      }
    }
}

/* Draws dots on the wider rectangles, which then differ from others in more than colour. */
function dot({ ctx, theme, scale }: Canvas, list: readonly number[], box: Box): void {
  ctx.fillStyle = theme.ink;
  ctx.strokeStyle = theme.edge;
  ctx.lineWidth = 1;
  for (let i = 0; i < list.length; i += 2) {
    const x0 = Math.max(0, list[i]!),
      x1 = Math.min(scale.width, list[i + 1]!);
    if (x1 - x0 < DOTS_FROM) continue;
    for (let y = box.y + 3; y < box.y + box.height - 1; y += 5)
      for (let x = x0 + 3; x < x1 - 1; x += 5) ctx.fillRect(scale.left + x, y, 1, 1);
    if (theme.edge !== "transparent") ctx.strokeRect(scale.left + x0 + 0.5, box.y + 0.5, x1 - x0 - 1.5, box.height - 1);
  }
}

function frameOf({ scale, ratio }: Canvas, box: Box) {
  return { left: scale.left, top: box.y, width: scale.width, height: box.height, ratio };
}

/** Paints shares in columns one device pixel wide, with the kinds stacked. Merges neighbouring columns that are equal. */
export function paintShares(canvas: Canvas, shares: readonly (Float32Array | undefined)[], box: Box): void {
  const rects = new Rects();
  addShares(rects, canvas, shares, box);
  rects.draw(canvas.ctx, frameOf(canvas, box));
}

function addShares(rects: Rects, canvas: Canvas, shares: readonly (Float32Array | undefined)[], box: Box): void {
  const { theme, scale, ratio } = canvas,
    step = 1 / ratio;
  const base = new Float32Array(Math.ceil(scale.width * ratio));
  for (const kind of [TRANSFER, WAIT, UNMATCHED, ...theme.fills.keys()].filter((k, i, all) => all.indexOf(k) === i)) {
    const columns = shares[kind];
    if (!columns) continue;
    rects.color(theme.fills[kind]!, theme.alphas[kind]! * (canvas.strength ?? 1));
    let from = 0,
      height = 0,
      low = 0;
    for (let c = 0; c <= columns.length; c++) {
      const share = c < columns.length ? columns[c]! : 0;
      const under = c < base.length ? base[c]! : 0;
      const own = share > 0 ? Math.max(step, Math.round(share * box.height * ratio) * step) : 0;
      const fits = Math.min(own, Math.max(box.height - under, own > 0 ? step : 0));
      if (fits !== height || under !== low) {
        if (height > 0) rects.add(scale.left + from * step, box.y + box.height - low - height, (c - from) * step, height);
        from = c;
        height = fits;
        low = under;
      }
      if (c < base.length) base[c] = Math.min(box.height - step, under + fits);
    }
  }
}

/** Paints a rank's shares of these kinds. Leaves out the spans @p without, in which events are drawn. */
export function paintCoverage(canvas: Canvas, pyramid: Pyramid, at: number, kinds: readonly number[], box: Box, without: Span[]): void {
  const { scale, ratio } = canvas,
    n = Math.ceil(scale.width * ratio),
    width = 1 / (scale.k * ratio);
  const shares: (Float32Array | undefined)[] = new Array<Float32Array | undefined>(LANE_KINDS);
  for (const kind of kinds) {
    const columns = new Float32Array(n);
    pyramid.columns(at, kind, scale.span.begin, width, n, columns);
    for (const { begin, end } of without) {
      const first = Math.max(0, Math.floor((begin - scale.span.begin) / width));
      columns.fill(0, first, Math.max(first, Math.min(n, Math.ceil((end - scale.span.begin) / width))));
    }
    shares[kind] = columns;
  }
  paintShares(canvas, shares, box);
}

function paintLabels({ ctx, theme, scale }: Canvas, events: Events, rows: readonly number[], box: Box, options: EventOptions): void {
  if (rows.length === 0) return;
  setFont(ctx, theme, [options.labels, theme.ink]);
  for (const row of rows) {
    const [from, to] = scale.visible({ begin: events.begin[row]!, end: events.begin[row]! + events.duration[row]! });
    const fits = Math.floor((to - from - 6) / CHARACTER);
    if (fits < 8) continue;
    const text = options.label(events.name[row]!, events.kind[row]! < LANE_KINDS);
    const bright = !options.found || options.found[row] === 1;
    ctx.globalAlpha = bright ? 1 : 0.4;
    ctx.fillStyle = theme.onFills[options.color ? options.color(row) : events.kind[row]!]!;
    ctx.fillText(fitting(ctx, text, to - from - 6), from + 3, box.y + box.height / 2 + 0.5);
  }
  ctx.globalAlpha = 1;
}

const PICTURE_FROM = 250; // with at least this many rectangles, an image is faster (measured with Chromium)

/** Returns a colour "#rrggbb" as a pixel of an ImageData, in which red is the lowest byte. */
export function pixelOf(color: string, alpha: number): number {
  const part = (at: number): number => parseInt(color.slice(at, at + 2), 16);
  return ((Math.round(255 * alpha) << 24) | (part(5) << 16) | (part(3) << 8) | part(1)) >>> 0;
}

let canvas: HTMLCanvasElement | undefined;

/** `left` to `height`: position and size of the image [px of the canvas]. `ratio`: device pixels per CSS pixel. */
type Frame = Readonly<Record<"left" | "top" | "width" | "height" | "ratio", number>>;

export class Rects {
  /** For each rectangle: x, y, width, height [px of the canvas], number of its colour. */
  readonly #all: number[] = [];
  readonly #colors: { readonly fill: string; readonly alpha: number }[] = [];

  color(fill: string, alpha: number): void {
    this.#colors.push({ fill, alpha });
  }

  add(x: number, y: number, width: number, height: number): void {
    this.#all.push(x, y, width, height, this.#colors.length - 1);
  }

  draw(ctx: CanvasRenderingContext2D, frame: Frame): void {
    if (this.#all.length > 5 * PICTURE_FROM) this.#drawPicture(ctx, frame);
    else this.#drawEach(ctx);
  }

  #drawEach(ctx: CanvasRenderingContext2D): void {
    const all = this.#all;
    for (let i = 0, before = -1; i < all.length; i += 5) {
      if (all[i + 4] !== before) {
        const { fill, alpha } = this.#colors[(before = all[i + 4]!)]!;
        ctx.fillStyle = fill;
        ctx.globalAlpha = alpha;
      }
      ctx.fillRect(all[i]!, all[i + 1]!, all[i + 2]!, all[i + 3]!);
    }
    ctx.globalAlpha = 1;
  }

  #drawPicture(ctx: CanvasRenderingContext2D, { left, top, width, height, ratio }: Frame): void {
    canvas ??= document.createElement("canvas");
    const columns = Math.max(1, Math.ceil(width * ratio)),
      rows = Math.max(1, Math.round(height * ratio));
    if (canvas.width !== columns || canvas.height !== rows) Object.assign(canvas, { width: columns, height: rows });
    const own = canvas.getContext("2d")!,
      image = own.createImageData(columns, rows),
      y = Math.round(top * ratio) / ratio;
    this.#fill(new Uint32Array(image.data.buffer), columns, rows, { left, top, ratio });
    own.putImageData(image, 0, 0);
    ctx.drawImage(canvas, left, y, columns / ratio, rows / ratio);
  }

  /* Paints the rectangles into pixels. Edges are rounded to whole pixels, but each rectangle covers at least one pixel. */
  #fill(pixels: Uint32Array, columns: number, rows: number, { left, top, ratio }: Pick<Frame, "left" | "top" | "ratio">): void {
    const all = this.#all,
      colors = this.#colors.map(({ fill, alpha }) => pixelOf(fill, alpha));
    for (let i = 0; i < all.length; i += 5) {
      const x = (all[i]! - left) * ratio,
        y = (all[i + 1]! - top) * ratio,
        color = colors[all[i + 4]!]!;
      const from = Math.max(0, Math.round(x)),
        to = Math.min(columns, Math.max(from + 1, Math.round(x + all[i + 2]! * ratio)));
      const first = Math.max(0, Math.round(y)),
        end = Math.min(rows, Math.max(first + 1, Math.round(y + all[i + 3]! * ratio)));
      for (let row = first * columns; row < end * columns; row += columns)
        if (to - from > 8) pixels.fill(color, row + from, row + to);
        else for (let at = row + from; at < row + to; at++) pixels[at] = color;
    }
  }
}
