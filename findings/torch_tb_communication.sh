#!/usr/bin/env bash
# torch-tb-profiler 0.4.3 (PyPI) on Python 3.10 or newer
#
# Expected: the overview and the distributed view have NCCL's kernels as communication, and how much of it overlaps
# with computation is what overlaps on the GPU.
# Seen:
# - Only the kernels of nccl:broadcast, reduce, all_reduce, all_gather and reduce_scatter are communication. Those
#   of FSDP (_all_gather_base, _reduce_scatter_base), of all-to-all, send and recv are computation. Of a job with
#   FSDP alone there is no distributed view.
# - The call on the host is counted as communication too. It runs while the GPU computes what was launched before:
#   communication that waits for all computation has an overlap as long as its launch took.
#
# Output: computation and communication of a step with a product of 300 us and then a collective of 400 us on the
# GPU, and their overlap, by the collective. Its launch takes 40 us, during the product.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install --disable-pip-version-check torch-tb-profiler==0.4.3
cat >communication.py <<'PY'
import json, logging
from torch_tb_profiler.profiler.data import RunProfileData
logging.disable(logging.CRITICAL)

def event(name, cat, ts, dur, pid, tid, **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur, 'args': args}

def operation(number, name, cat, kernel, ts, dur):
    same = {'External id': number, 'correlation': number}
    return [event(name, cat, ts - 50, 40, 1, 1, **{'External id': number}),
            event('cudaLaunchKernel', 'cuda_runtime', ts - 40, 5, 1, 1, **same),
            event(kernel, 'kernel', ts, dur, 0, 7, device=0, stream=7, **same)]

def step(collective):
    events = [event('ProfilerStep#1', 'user_annotation', 0, 1000, 1, 1, **{'External id': 1}),
              *operation(2, 'aten::mm', 'cpu_op', 'gemm', 100, 300),
              *operation(3, collective, 'user_annotation', 'ncclDevKernel', 400, 400)]
    with open('trace.json', 'w') as out:
        json.dump({'schemaVersion': 1, 'traceEvents': events, 'distributedInfo': {
            'backend': 'nccl', 'rank': 0, 'world_size': 2}, 'deviceProperties': [
                {'id': 0, 'name': 'H100', 'totalGlobalMem': 2**36, 'computeMajor': 9, 'computeMinor': 0}]}, out)
    data = RunProfileData.parse('worker', None, 'trace.json', '.')
    data.process()
    costs = data.comm_overlap_costs[0] if data.comm_overlap_costs else None
    print(collective, *(round(of) for of in (costs.computation, costs.communication, costs.overlap)),
          'distributed view' if data.has_communication else 'no distributed view')

for name in 'all_reduce', '_all_gather_base', '_reduce_scatter_base', 'all_to_all':
    step('nccl:' + name)
PY
seen=$(env/bin/python communication.py)
echo "$seen"
[[ $seen == "nccl:all_reduce 300 440 40 distributed view
nccl:_all_gather_base 700 0 0 no distributed view
nccl:_reduce_scatter_base 700 0 0 no distributed view
nccl:all_to_all 700 0 0 no distributed view" ]]
