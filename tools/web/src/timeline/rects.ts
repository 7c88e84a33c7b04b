/** The rectangles of a lane. A few are drawn one by one, many as one image, because a screen may have hundreds of thousands. */

/** From this number on, an image is faster; measured with Chromium. */
export const PICTURE_FROM = 250;

/** Returns the colour "#rrggbb" as a pixel of an ImageData, whose lowest byte is red. */
export function pixelOf(color: string, alpha: number): number {
  const part = (at: number): number => parseInt(color.slice(at, at + 2), 16);
  return ((Math.round(255 * alpha) << 24) | (part(5) << 16) | (part(3) << 8) | part(1)) >>> 0;
}

let canvas: HTMLCanvasElement | undefined;

/** Position and size of the image [px of the canvas], and device pixels per CSS pixel. */
type Frame = Readonly<Record<"left" | "top" | "width" | "height" | "ratio", number>>;

export class Rects {
  /** x, y, width, height [px of the canvas] and colour number of each rectangle. */
  readonly #all: number[] = [];
  readonly #colors: { readonly fill: string; readonly alpha: number }[] = [];

  /** Sets the colour of the rectangles that are added from now on. */
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
