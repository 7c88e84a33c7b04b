#!/usr/bin/env bash
# JAX 0.10.0 (PyPI: jax, jaxlib) on Python 3.11 or newer, two or more cores
#
# Expected: the profile of a CPU marks the end of each operation ("end: dot.1", whose _c is the
# operation's _p), so what runs in several threads lasts from its event's begin to that mark.
# Seen: the mark stands after all that the operation's end let its thread run: of one that other threads
# finish, an operation that needs its result begins, and ends, before the mark. Summed to the mark, the
# product below lasts through the operations after it.
#
# Output: how often what takes the product's result has ended before the mark of the product's end, of
# 200 runs.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet jax==0.10.0
cat >job.py <<'PY'
import glob
import jax, jax.numpy as jnp
from jax.profiler import ProfileData
jax.config.update('jax_platforms', 'cpu')

@jax.jit
def step(w, x):
    loss, gradient = jax.value_and_grad(lambda w: ((x @ w) ** 2).mean())(w)
    return w - 1e-9 * gradient, loss

w, x = jnp.ones((256, 256)), jnp.ones((64, 256))
step(w, x)[1].block_until_ready()
jax.profiler.start_trace('log')
for _ in range(200):
    w, loss = step(w, x)
    loss.block_until_ready()
jax.profiler.stop_trace()
ops, marks = [], {}
for plane in ProfileData.from_file(glob.glob('log/**/*.xplane.pb', recursive=True)[0]).planes:
    for line in plane.lines:
        for event in line.events:
            stats = dict(event.stats)
            if 'hlo_op' in stats:
                ops.append((stats['run_id'], event.name, event.end_ns, stats['_p']))
            elif event.name.startswith('end: '):
                marks[stats['_c']] = event.start_ns
# w - 1e-9 * gradient, which takes the product's result
ends = {run: end for run, name, end, _ in ops if name == 'multiply_subtract_fusion'}
products = [(run, marks[flow]) for run, name, _, flow in ops if name == 'dot' and flow in marks]
late = sum(ends[run] < mark for run, mark in products)
print(f'{late} of {len(products)} products are marked as ended after what takes their result has ended')
raise SystemExit(late == 0)
PY
env/bin/python job.py
