#!/usr/bin/env bash
# PyTorch 2.15.0 (PyPI: torch) on Python 3.10 or newer, which pip installs with gigabytes of CUDA's libraries
#
# Expected: add_metadata(key, value) of torch.profiler writes any string into a trace that stays JSON.
# Seen: with a quotation mark or a tab in the value, the whole trace is no JSON, and nothing that reads JSON
# opens it. add_metadata (torch/profiler/profiler.py) puts a backslash before each mark, but Kineto then makes
# each backslash a slash (sanitizeStrForJSON in libkineto's output_json.cpp). A newline is dropped. A name,
# as of record_function, has its quotation marks made apostrophes instead.
#
# Output: whether the trace is JSON, and its value, for four values.
# An argument is a Python that has this PyTorch: then nothing is installed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python=${1:-$folder/env/bin/python}
cd "$folder"
if [ $# = 0 ]; then
    python3 -m venv env
    env/bin/pip -q install torch==2.15.0 numpy
fi
cat >metadata.py <<'PY'
import json
import torch
from torch.profiler import ProfilerActivity, profile

def written(value):
    with profile(activities=[ProfilerActivity.CPU]) as p:
        torch.ones(3) + 1
        p.add_metadata('note', value)
    p.export_chrome_trace('trace.json')
    with open('trace.json') as file:
        try:
            return repr(json.load(file)['note'])
        except json.JSONDecodeError:
            return 'no JSON'

for value in ('plain', 'say "x"', 'a\tb', 'a\nb'):
    print('value', repr(value), 'gives', written(value))
PY
"$python" metadata.py 2>/dev/null | grep '^value' | tee seen
diff seen - <<'EXPECTED'
value 'plain' gives 'plain'
value 'say "x"' gives no JSON
value 'a\tb' gives no JSON
value 'a\nb' gives 'ab'
EXPECTED
