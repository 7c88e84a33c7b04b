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

  /** Returns the ends of the visible part of a span [px], which may be this far beyond the lanes. */
  visible({ begin, end }: Span, margin = 0): [number, number] {
    return [Math.max(this.left - margin, this.x(begin)), Math.min(this.left + this.width + margin, this.x(end))];
  }

  time(x: number): number {
    return this.span.begin + (x - this.left) / this.k;
  }
}
