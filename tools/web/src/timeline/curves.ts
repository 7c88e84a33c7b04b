/** Step curves over time, by rank. */
import { lowest } from "./lanes";

/** Values that each hold until the next. */
export type Curve = Readonly<Record<"times" | "values", Float64Array>>;

/** The curves of all ranks on one scale. */
export class Curves {
  readonly most: number;

  constructor(
    /** By rank index; a rank may have several curves, one per device. */
    readonly curves: readonly (readonly Curve[])[],
    /** Minimum for the top of the scale. */
    least = 1,
  ) {
    let most = least;
    for (const { values } of curves.flat()) for (const value of values) most = Math.max(most, value);
    this.most = most;
  }

  /** Maximum of some ranks' curves in each stretch as a fraction of the overall maximum, 0 to 1. */
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

/** A change of the value at a time. */
export type Change = Readonly<Record<"time" | "by", number>>;

/** Builds the curve of changes from 0 on; resets it to exactly 0 when all rises have ended, to remove rounding errors. */
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
