#!/usr/bin/env bash
# torch-tb-profiler 0.4.3 (PyPI) on Python 3.10 or newer
#
# Expected: the plugin for TensorBoard, of which this is the latest release, reads what PyTorch writes.
# Seen: it knows calls of the runtime by the category of 2021, Runtime. PyTorch 2 writes cuda_runtime, which
# it leaves out without a word: kernels then belong to no operator, so that all operators have no device
# time, and no step spends time in the runtime.
#
# Output: device time and own host time of an operator of 50 us that calls for 5 us to launch a kernel of
# 30 us, and the step's time in the runtime, with both names of the category.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install torch-tb-profiler==0.4.3
cat >categories.py <<'PY'
import json, logging
from torch_tb_profiler.profiler.data import RunProfileData
from torch_tb_profiler.profiler.overall_parser import ProfileRole
logging.disable(logging.CRITICAL)

def event(name, cat, ts, dur, place, **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': place, 'tid': place, 'ts': ts, 'dur': dur, 'args': args}

def times(category):
    events = [event('ProfilerStep#1', 'user_annotation', 0, 900, 100, **{'External id': 1}),
              event('aten::add', 'cpu_op', 100, 50, 100, **{'External id': 2}),
              event('cudaLaunchKernel', category, 110, 5, 100, **{'External id': 2}, correlation=7),
              event('add_kernel', 'kernel', 200, 30, 7, **{'External id': 2}, correlation=7, device=0, stream=7)]
    with open('trace.json', 'w') as out:
        json.dump({'schemaVersion': 1, 'deviceProperties': [], 'traceEvents': events}, out)
    data = RunProfileData.parse('worker', None, 'trace.json', '.')
    op = next(op for op in data.op_list_groupby_name if op.name == 'aten::add')
    return [int(op.device_duration), int(op.self_host_duration), int(data.avg_costs.costs[ProfileRole.Runtime])]

print('Runtime', *times('Runtime'), 'cuda_runtime', *times('cuda_runtime'))
PY
seen=$(env/bin/python categories.py)
echo "$seen"
[[ $seen == "Runtime 30 45 5 cuda_runtime 0 50 0" ]]
