/** Converts times to positions on the canvas and back. */
import type { Span } from "./model";

export class Scale {
  /** Pixels per nanosecond. */
  readonly k: number;

  /** @param left  left edge of the lanes [px];  @param width  width of the lanes [px] */
  constructor(
    readonly span: Span,
    readonly left: number,
    readonly width: number,
  ) {
    this.k = width / (span.end - span.begin);
  }

  x(time: number): number {
    return this.left + (time - this.span.begin) * this.k;
  }

  time(x: number): number {
    return this.span.begin + (x - this.left) / this.k;
  }
}
