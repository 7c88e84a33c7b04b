#!/usr/bin/env bash
# JAX 0.10.2 (PyPI: jax, jaxlib) on Python 3.11 or newer
#
# Expected: the HOST.trace.json.gz that JAX writes beside HOST.xplane.pb has the same events, and so has the
# perfetto_trace.json.gz of create_perfetto_trace=True.
# Seen: both have the first million events and end there; nothing is said, in the file or outside. With
# Python's calls, which are recorded by default, a million is reached within a second, and what was to be
# recorded, the last steps or the end of a step, is missing. HOST.xplane.pb has all of it.
#
# Output: events of 1,000,500 calls of a function and of one annotation after them, in either file and in
# Perfetto's, and whether the annotation is among them; then how many lines stop_trace wrote.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install jax==0.10.2 jaxlib==0.10.2
cat >calls.py <<'PY'
import glob, gzip, json
import jax

def call():
    pass

jax.profiler.start_trace('profile', create_perfetto_trace=True)
for _ in range(1_000_500):
    call()
with jax.profiler.TraceAnnotation('last step'):
    pass
jax.profiler.stop_trace()
file, = glob.glob('profile/plugins/profile/*/*.xplane.pb')
names = [event.name for plane in jax.profiler.ProfileData.from_file(file).planes
         for line in plane.lines for event in line.events]
print('xplane', len(names) > 1_000_500, 'last step' in names)
for name in 'trace', 'perfetto_trace':
    file = next(path for path in glob.glob('profile/plugins/profile/*/*.json.gz')
                if path.endswith('perfetto_trace.json.gz') == (name == 'perfetto_trace'))
    with gzip.open(file) as text:
        names = [event['name'] for event in json.load(text)['traceEvents'] if event.get('ph') == 'X']
    print(name, len(names), 'last step' in names)
PY
seen=$(env/bin/python calls.py 2>said)
echo "$seen"
echo "said: $(wc -l <said) lines"
[[ $seen == "xplane True True
trace 1000000 False
perfetto_trace 1000000 False" ]]
