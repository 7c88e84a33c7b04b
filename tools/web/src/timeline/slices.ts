/** Runs long computations in slices shorter than a frame. */

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
