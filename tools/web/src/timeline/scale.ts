/** Times to places on the canvas and back. */
import type { Span } from "./model";

export class Scale {
  /** Pixels of a nanosecond. */
  readonly k: number;

  /** @param left  where the lanes begin [px];  @param width  of the lanes [px] */
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
