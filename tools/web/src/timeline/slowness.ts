/** How long each kernel took against the same kernel at the same place of the other ranks. */
import type { Lanes } from "./lanes";
import type { JobBlock } from "./model";

/* By number of the step and of the name the rows of each rank that has that step whole, in order. */
function* gathered(job: JobBlock, lanes: Lanes): Generator<void, Map<number, number[][]>> {
  const { begin, name } = lanes.events,
    out = new Map<number, number[][]>();
  for (const [at, rank] of job.ranks.entries()) {
    const { rows } = lanes.of(at).compute,
      own = new Map<number, number[]>();
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

/* The median of ascending values without one of them. */
function medianWithout(values: Float64Array, place: number): number {
  const n = values.length - 1,
    at = (i: number): number => values[i < place ? i : i + 1]!;
  return n % 2 === 1 ? at((n - 1) / 2) : (at(n / 2 - 1) + at(n / 2)) / 2;
}

/* Of ranks that ran it equally often: each run against the others' one at its place. */
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

/** Of each event its duration by the median of the others, in slices; 0: no other rank can be compared. */
export function* slownessBy(job: JobBlock, lanes: Lanes): Generator<void, Float32Array> {
  const out = new Float32Array(lanes.events.n),
    groups = yield* gathered(job, lanes);
  for (const all of groups.values()) {
    const byCount = new Map<number, number[][]>();
    for (const list of all) {
      const same = byCount.get(list.length);
      if (same) same.push(list);
      else byCount.set(list.length, [list]);
    }
    for (const lists of byCount.values()) compare(lists, lanes.events.duration, out);
    yield;
  }
  return out;
}
