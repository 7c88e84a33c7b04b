/** Curves of values over time, for each rank. A value stays the same until the next one. */
import { lowest } from "./lanes";

/** A curve: values[i] applies from times[i] to times[i + 1]. */
export type Curve = Readonly<Record<"times" | "values", Float64Array>>;

/** The curves of all ranks on one scale. */
export class Curves {
  readonly most: number;

  constructor(
    /** By index of the rank. A rank has a curve for each device. */
    readonly curves: readonly (readonly Curve[])[],
    /** Minimum of the value at the top of the scale. */
    least = 1,
  ) {
    let most = least;
    for (const { values } of curves.flat()) for (const value of values) most = Math.max(most, value);
    this.most = most;
  }

  /** Raises out[i] to the maximum of these ranks' curves in the i-th stretch of `width` after `from`, divided by the value at the top of
   * the scale. */
  fill(ranks: readonly number[], from: number, width: number, out: Float32Array): void {
    for (const { times, values } of ranks.flatMap((at) => this.curves[at] ?? [])) {
      let i = Math.max(0, lowest(times.length, (k) => times[k]! > from) - 1);
      for (let c = 0; c < out.length; c++) {
        const end = from + (c + 1) * width;
        while (i + 1 < times.length && times[i + 1]! <= end - width) i++;
        let most = times[i]! < end ? values[i]! : 0;
        while (i + 1 < times.length && times[i + 1]! < end) most = Math.max(most, values[++i]!);
        out[c] = Math.max(out[c]!, most / this.most);
      }
    }
  }
}

/** At `time`, `by` is added to a value. */
export type Change = Readonly<Record<"time" | "by", number>>;

/** Builds a curve, which starts at 0, from its changes. Whenever all rises have ended, sets the value to exactly 0, so that rounding
 * errors do not add up. */
export function curveOf(changes: readonly Change[]): Curve {
  const order = [...changes].sort((a, b) => a.time - b.time),
    times: number[] = [],
    values: number[] = [];
  let value = 0,
    open = 0;
  for (const { time, by } of order) {
    open += Math.sign(by);
    value = open === 0 ? 0 : value + by;
    if (times[times.length - 1] !== time) times.push(time);
    values[times.length - 1] = Math.max(0, value);
  }
  return { times: Float64Array.from(times), values: Float64Array.from(values) };
}
