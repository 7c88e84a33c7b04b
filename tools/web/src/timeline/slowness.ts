/** Slowness of kernels: the duration of each kernel, divided by the median duration of the same kernel on the other ranks. Kernels at the
 * same occurrence index are compared. */
import { groupBy } from "../format";
import type { Lanes } from "./lanes";
import type { JobBlock } from "./model";

/* Groups the rows of kernels by step and name. Each group has, for every rank that recorded the whole step, a list of rows ascending by
 * begin. */
function* gathered(job: JobBlock, lanes: Lanes): Generator<void, Map<number, number[][]>> {
  const { begin, name } = lanes.events,
    out = new Map<number, number[][]>();
  for (const [at, rank] of job.ranks.entries()) {
    const { rows } = lanes.of(at).compute,
      own = new Map<number, number[]>(); // by step and name
    let part = 0;
    for (const row of rows) {
      while (job.steps && part < rank.parts.length && rank.parts[part]!.end <= begin[row]!) part++;
      const step = job.steps ? rank.parts[part] : undefined;
      if (job.steps ? !step || step.begin > begin[row]! || !(job.complete || step.gpu) : !job.complete) continue;
      const key = (step?.number ?? 0) * job.names.length + name[row]!,
        list = own.get(key);
      if (list) list.push(row);
      else own.set(key, [row]);
    }
    for (const [key, list] of own) {
      const all = out.get(key);
      if (all) all.push(list);
      else out.set(key, [list]);
    }
    yield;
  }
  return out;
}

/* Returns the median of ascending values, without the value at index @p place. */
function medianWithout(values: Float64Array, place: number): number {
  const n = values.length - 1,
    at = (i: number): number => values[i < place ? i : i + 1]!;
  return n % 2 === 1 ? at((n - 1) / 2) : (at(n / 2 - 1) + at(n / 2)) / 2;
}

/* Compares ranks that have the same number of events of a kernel. Divides the duration of each event by the median duration of the events
 * with the same occurrence index on the other ranks. */
function compare(lists: readonly (readonly number[])[], duration: Float64Array, out: Float32Array): void {
  const times = lists[0]!.length;
  if (lists.length < 2) return;
  for (let k = 0; k < times; k++) {
    const sorted = Float64Array.from(lists, (list) => duration[list[k]!]!).sort();
    for (const list of lists) {
      const own = duration[list[k]!]!,
        middle = medianWithout(sorted, sorted.indexOf(own));
      if (middle > 0) out[list[k]!] = own / middle;
    }
  }
}

/** Computes for each event its duration divided by the median of the same event on the other ranks; 0 if it cannot be compared. Yields
 * between slices of work. */
export function* slownessBy(job: JobBlock, lanes: Lanes): Generator<void, Float32Array> {
  const out = new Float32Array(lanes.events.n),
    groups = yield* gathered(job, lanes);
  for (const all of groups.values()) {
    const byCount = groupBy(all, (list) => list.length);
    for (const lists of byCount.values()) compare(lists, lanes.events.duration, out);
    yield;
  }
  return out;
}

/** Duration of a slice [ms], after which the page may draw a frame. */
const SLICE = 10;

/** Runs the generator to its end. Pauses only where it yields. */
export async function inSlices<T>(work: Generator<void, T>): Promise<T> {
  for (let until = performance.now() + SLICE; ; ) {
    const next = work.next();
    if (next.done) return next.value;
    if (performance.now() < until) continue;
    await new Promise((done) => setTimeout(done, 0));
    until = performance.now() + SLICE;
  }
}
