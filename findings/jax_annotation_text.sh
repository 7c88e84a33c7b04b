#!/usr/bin/env bash
# JAX 0.10.0 (PyPI: jax, jaxlib) on Python 3.11 or newer
#
# Expected: each keyword of TraceAnnotation and StepTraceAnnotation is a stat of the event, with its value.
# Seen: they are joined as name#key=value,key=value# without escapes, and taken apart again by SplitPairs in
# XLA's tsl/profiler/utils/parse_annotation.cc, which splits at commas outside of quotes and brackets. A comma
# in a text ends it, and what follows is a stat that nobody gave. An apostrophe or an open bracket takes in
# all keywords after it: so a step loses its number. Nothing is said.
#
# Output: the stats of four annotations, by the profile's own reader.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install jax==0.10.0 jaxlib==0.10.0
cat >annotate.py <<'PY'
import pathlib
from jax import profiler

with profiler.trace('profile'):
    with profiler.TraceAnnotation('plain', text='a b', layer=7):
        pass
    with profiler.TraceAnnotation('comma', text='a,layer=3', rank=1):
        pass
    with profiler.TraceAnnotation('bracket', text='loss < (eps', layer=7):
        pass
    with profiler.StepTraceAnnotation('step', text="rank 0's turn", step_num=7):
        pass
path, = pathlib.Path('profile').rglob('*.xplane.pb')
for plane in profiler.ProfileData.from_file(str(path)).planes:
    for line in plane.lines:
        for event in line.events:
            if event.name in ('plain', 'comma', 'bracket', 'step'):
                print(event.name, {key: value for key, value in event.stats if key != '_r'})
PY
env/bin/python annotate.py 2>/dev/null | tee seen
diff seen - <<'EXPECTED'
plain {'text': 'a b', 'layer': 7}
comma {'text': 'a', 'layer': 3, 'rank': 1}
bracket {'text': 'loss < (eps,layer=7'}
step {'text': "rank 0's turn,step_num=7"}
EXPECTED
