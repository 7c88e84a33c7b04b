#!/usr/bin/env bash
# PyTorch 2.15.0 (PyPI: torch) on Python 3.10 or newer, which pip installs with gigabytes of CUDA's libraries
#
# Expected: the number of calls of a range in key_averages() and in events() of PyTorch's profiler is that of the trace.
# Seen: a range, or operator, with nothing in it but one of the same name is joined with it (_remove_dup_nodes in
# torch/autograd/profiler_util.py), because an operator may be dispatched under its name twice. So a
# function that calls itself counts once, however deep it goes, and its mean time is that of the
# outermost call. The exported trace has each call.
#
# Output: calls of a range by key_averages() and in the trace, of a function that calls itself three times within a
# range: as it is, and with a product in each call.
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
cat >nested.py <<'PY'
import json
import torch
from torch.profiler import ProfilerActivity, profile, record_function
assert torch.__version__.startswith('2.15.0')

matrix = torch.randn(100, 100)

def split(depth, work):
    with record_function('split'):
        work()
        if depth > 1:
            split(depth - 1, work)

for work in (lambda: None), (lambda: torch.mm(matrix, matrix)):
    with profile(activities=[ProfilerActivity.CPU]) as recorded:
        split(4, work)
    recorded.export_chrome_trace('trace.json')
    counted = sum(row.count for row in recorded.key_averages() if row.key == 'split')
    with open('trace.json') as file:
        print(counted, 'of', sum(event['name'] == 'split' for event in json.load(file)['traceEvents']))
PY
seen=$("$python" nested.py 2>/dev/null | grep of)
echo "$seen"
[[ $seen == "1 of 4
4 of 4" ]]
