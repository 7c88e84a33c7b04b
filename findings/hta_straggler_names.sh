#!/usr/bin/env bash
# HolisticTraceAnalysis 0.5.0 with pandas 2.2.3 (PyPI) on Python 3.10 or newer
#
# Expected: get_potential_stragglers names the rank that is late in every step, as it does for kernels with
# the names of NCCL 2.18 and older (ncclKernel_AllReduce_RING_LL_Sum_float).
# Seen: with the names that NCCL has used since 2.19 (ncclDevKernel_AllReduce_Sum_f32_RING_LL) it raises
# "attempt to get argmax of an empty sequence". It looks for names that begin with ncclKernel; the other
# analyses know both (issue 360 of facebookresearch/HolisticTraceAnalysis).
#
# Output: the rank found, or the error, and how much communication the other analyses see (exposed, as a
# share of kernel time), for both names of the same job.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install holistictraceanalysis==0.5.0 pandas==2.2.3
cat >late.py <<'PY'
import json, logging, warnings
from hta.trace_analysis import TraceAnalysis
logging.disable(logging.CRITICAL)
warnings.filterwarnings('ignore')

def event(name, cat, ts, dur, place, **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': place, 'tid': place, 'ts': ts, 'dur': dur, 'args': args}

def kernel(number, name, launch, ts, dur, stream):
    return [event('cudaLaunchKernel', 'cuda_runtime', launch, 1, 100, correlation=1000 + number),
            event(name, 'kernel', ts, dur, stream, correlation=1000 + number, device=0, stream=stream)]

def job(name):
    files = {}
    for rank in range(4):
        work = 1200 if rank == 2 else 1000
        events = []
        for step in range(6):
            begin = 2000 * step
            events.append(event(f'ProfilerStep#{step + 1}', 'user_annotation', begin, 2000, 100))
            events += kernel(2 * step, 'gemm', begin + 10, begin + 100, work, 7)
            events += kernel(2 * step + 1, name, begin + 12, begin + 100 + work, 1600 - work, 20)
        files[rank] = f'rank{rank}.json'
        with open(files[rank], 'w') as out:
            json.dump({'schemaVersion': 1, 'deviceProperties': [], 'traceEvents': events,
                       'distributedInfo': {'backend': 'nccl', 'rank': rank, 'world_size': 4}}, out)
    return TraceAnalysis(trace_files=files, trace_dir='.')

if __name__ == '__main__':
    for name in 'ncclKernel_AllReduce_RING_LL_Sum_float(x)', 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)':
        found = job(name)
        try:
            late = found.get_potential_stragglers(num_candidates=1)
        except ValueError as error:
            late = error
        breakdown = found.get_temporal_breakdown(visualize=False)
        print(name.split('_')[0], late, *(round(value) for value in breakdown['non_compute_time_pctg']))
PY
seen=$(env/bin/python late.py)
echo "$seen"
[[ $seen == "ncclKernel [2] 31 31 21 31
ncclDevKernel attempt to get argmax of an empty sequence 31 31 21 31" ]]
