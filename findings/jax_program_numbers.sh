#!/usr/bin/env bash
# JAX 0.9.0 and 0.9.2 (PyPI: jax, jaxlib) on Python 3.11 or newer
#
# Expected: the compiled program that an event of an XSpace names (its stat program_id) is the metadata
# of that id in the plane /host:metadata, which holds its HLO.
# Seen: so it was up to 0.9.0. In 0.9.2 these ids count the metadata, and the number stands in the
# program's name, "jit_f(7)", and in a stat of the metadata, program_id. Who looks a program up by its id
# finds none, or another one.
#
# Output: for both versions the ids of the metadata, and the numbers in their names.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >job.py <<'PY'
import glob, re, sys
import jax, jax.numpy as jnp
jax.config.update('jax_platforms', 'cpu')

def fields(data):
    """Number and value of each field of a message."""
    at = 0
    def varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            value |= (data[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 128:
                return value
    while at < len(data):
        tag = varint()
        size = {0: 0, 1: 8, 5: 4}[tag & 7] if tag & 7 != 2 else varint()
        yield tag >> 3, varint() if tag & 7 == 0 else data[at:at + size]
        at += size

jax.profiler.start_trace(sys.argv[1])
for n in 3, 4, 5:
    jax.jit(lambda z: (z @ z).sum())(jnp.ones((n, n))).block_until_ready()
jax.profiler.stop_trace()
numbers = {}
with open(glob.glob(sys.argv[1] + '/**/*.xplane.pb', recursive=True)[0], 'rb') as file:
    planes = [list(fields(value)) for number, value in fields(file.read()) if number == 1]
for plane in planes:
    if (2, b'/host:metadata') in plane:
        for entry in (dict(fields(value)) for number, value in plane if number == 4):
            name = dict(fields(entry[2]))[2].decode()
            numbers[entry[1]] = int(re.search(r'\((\d+)\)$', name)[1])
print(jax.__version__, 'ids', sorted(numbers), 'numbers', [numbers[i] for i in sorted(numbers)])
raise SystemExit(all(i == n for i, n in numbers.items()) != (jax.__version__ == '0.9.0'))
PY
for version in 0.9.0 0.9.2; do
    python3 -m venv "env$version"
    "env$version/bin/pip" install --quiet "jax==$version"
    "env$version/bin/python" job.py "log$version"
done
