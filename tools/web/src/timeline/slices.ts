/** Work that takes longer than a frame may. */

/** So long [ms] it goes on before the page may draw a frame. */
const SLICE = 10;

/** Does it, from one `yield` to the next at least. */
export async function inSlices<T>(work: Generator<void, T>): Promise<T> {
  for (let until = performance.now() + SLICE; ; ) {
    const next = work.next();
    if (next.done) return next.value;
    if (performance.now() < until) continue;
    await new Promise((done) => setTimeout(done, 0));
    until = performance.now() + SLICE;
  }
}
