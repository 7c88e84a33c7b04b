#!/usr/bin/env bash
# torch-tb-profiler 0.4.3 (PyPI) on Python 3.10 or newer
#
# Expected: of two operators of a thread, the second of which begins at the nanosecond at which the first
# ends, both are counted.
# Seen: it adds duration to begin as floating point. With microseconds of three decimals, as PyTorch 2 writes
# them, the sum is off by a fraction of a nanosecond, and where it lies after the second's begin the second
# is left out, with all that lies in it. "ranges on the same thread should not intersect!" is logged, and
# the page does not say so.
#
# Output: calls counted of two operators that follow one another, from 63 us and 7 us long, and from
# 63.611 us and 6.784 us long.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install torch-tb-profiler==0.4.3
cat >touching.py <<'PY'
import json, logging
from torch_tb_profiler.profiler.data import RunProfileData
logging.disable(logging.CRITICAL)

def event(name, cat, ts, dur, at):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': 1, 'tid': 1, 'ts': ts, 'dur': dur, 'args': {'External id': at}}

def calls(begin, dur, end):
    events = [event('ProfilerStep#1', 'user_annotation', 0, 900, 1), event('aten::a', 'cpu_op', begin, dur, 2),
              event('aten::b', 'cpu_op', end, dur, 3)]
    with open('trace.json', 'w') as out:
        json.dump({'schemaVersion': 1, 'deviceProperties': [], 'traceEvents': events}, out)
    data = RunProfileData.parse('worker', None, 'trace.json', '.')
    return sum(op.calls for op in data.op_list_groupby_name if op.name.startswith('aten::'))

print('whole microseconds:', calls(63, 7, 70), 'decimals:', calls(5247126000063.611, 6.784, 5247126000070.395))
PY
seen=$(env/bin/python touching.py)
echo "$seen"
[[ $seen == "whole microseconds: 2 decimals: 1" ]]
