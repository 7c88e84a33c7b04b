/** The visible part of the job's time, how keys and gestures move it, and where its times are on the canvas. */
import type { Span } from "./model";

export const NARROWEST = 20; // minimum length of a span [ns]

/** Moves a span into the job. Keeps its length if it fits. */
export function clamp(span: Span, duration: number): Span {
  const length = Math.min(Math.max(span.end - span.begin, Math.min(NARROWEST, duration)), duration);
  const begin = Math.min(Math.max(span.begin, 0), duration - length);
  return { begin, end: begin + length };
}

/** Zooms so that the time @p at stays where it is on the canvas. A factor below 1 zooms in. */
export function zoom(span: Span, at: number, factor: number, duration: number): Span {
  const length = Math.min(Math.max((span.end - span.begin) * factor, Math.min(NARROWEST, duration)), duration);
  const share = (at - span.begin) / (span.end - span.begin);
  return clamp({ begin: at - share * length, end: at + (1 - share) * length }, duration);
}

export function pan(span: Span, share: number, duration: number): Span {
  const by = share * (span.end - span.begin);
  return clamp({ begin: span.begin + by, end: span.end + by }, duration);
}

export function around(span: Span, duration: number, margin = 0.08): Span {
  const room = Math.max((span.end - span.begin) * margin, NARROWEST);
  return clamp({ begin: span.begin - room, end: span.end + room }, duration);
}

/** Moves the span as little as possible to make `inner` visible. Changes its length only if `inner` does not fit. */
export function reveal(span: Span, inner: Span, duration: number): Span {
  if (inner.end - inner.begin > span.end - span.begin) return around(inner, duration);
  const margin = Math.min(0.05 * (span.end - span.begin), (span.end - span.begin - (inner.end - inner.begin)) / 2);
  if (inner.begin < span.begin + margin)
    return clamp({ begin: inner.begin - margin, end: inner.begin - margin + (span.end - span.begin) }, duration);
  if (inner.end > span.end - margin)
    return clamp({ begin: inner.end + margin - (span.end - span.begin), end: inner.end + margin }, duration);
  return span;
}

/** Returns about `n` round times in a span. They are multiples of 1, 2 or 5 times a power of ten [ns]. */
export function ticks(span: Span, n: number): { at: number[]; step: number } {
  const rough = Math.max((span.end - span.begin) / Math.max(1, n), 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * (rough / power <= 1 ? 1 : rough / power <= 2 ? 2 : rough / power <= 5 ? 5 : 10);
  const at: number[] = [];
  for (let i = Math.ceil(span.begin / step); i * step <= span.end; i++) at.push(i * step);
  return { at, step };
}

/** Writes a span in whole nanoseconds, such as "150370000-157430000". */
export const write = (span: Span): string => `${Math.round(span.begin)}-${Math.round(span.end)}`;

export function parse(text: string | undefined, duration: number): Span | null {
  const match = /^(\d{1,16})-(\d{1,16})$/.exec(text ?? "");
  if (!match) return null;
  const span = { begin: Number(match[1]), end: Number(match[2]) };
  return span.end > span.begin && span.begin < duration ? clamp(span, duration) : null;
}

export class Scale {
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

  /** Returns the ends [px] of the visible part of a span. They may be up to @p margin beyond the lanes. */
  visible({ begin, end }: Span, margin = 0): [number, number] {
    return [Math.max(this.left - margin, this.x(begin)), Math.min(this.left + this.width + margin, this.x(end))];
  }

  time(x: number): number {
    return this.span.begin + (x - this.left) / this.k;
  }
}
