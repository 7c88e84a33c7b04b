#!/usr/bin/env bash
# HolisticTraceAnalysis 0.5.0 with pandas 2.2.3 (PyPI) on Python 3.10 or newer
#
# Expected: the mean, the shortest and the longest of a kernel do not depend on how many other kernels
# there are.
# Seen: get_gpu_kernel_breakdown(), as it comes, sums up a rank's kernels beyond the tenth as "others". It
# then computes the columns of all kernels again from their sums: mean (us), min (us) and max (us) are the
# sum, stddev is 0. So it is for nearly every real trace, and in its bars of mean durations. With
# num_kernels= as large as the number of kernels they are right.
#
# Output: sum, mean, shortest and longest of a kernel that ran 10 and 20 us, among 10 such kernels and
# among 11.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install holistictraceanalysis==0.5.0 pandas==2.2.3
cat >means.py <<'PY'
import json, logging, warnings
from hta.trace_analysis import TraceAnalysis
logging.disable(logging.CRITICAL)
warnings.filterwarnings('ignore')

def event(name, cat, ts, dur, place, **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': place, 'tid': place, 'ts': ts, 'dur': dur, 'args': args}

def kernel(number, name, ts, dur):
    return [event('cudaLaunchKernel', 'cuda_runtime', 10 + number, 1, 100, correlation=1000 + number),
            event(name, 'kernel', ts, dur, 7, correlation=1000 + number, device=0, stream=7)]

def of_first(kernels):
    events = [event('ProfilerStep#1', 'user_annotation', 0, 5000, 100)]
    for n in range(kernels):
        events += kernel(2 * n, f'gemm{n}', 1000 + 100 * n, 10) + kernel(2 * n + 1, f'gemm{n}', 1050 + 100 * n, 20)
    with open('trace.json', 'w') as out:
        json.dump({'schemaVersion': 1, 'deviceProperties': [], 'traceEvents': events,
                   'distributedInfo': {'backend': 'nccl', 'rank': 0, 'world_size': 1}}, out)
    analysis = TraceAnalysis(trace_files={0: 'trace.json'}, trace_dir='.')
    row = analysis.get_gpu_kernel_breakdown(visualize=False)[1].iloc[0]
    return [row[f'{name} (us)'] for name in ('sum', 'mean', 'min', 'max')]

if __name__ == '__main__':
    print(*of_first(10), 'and', *of_first(11))
PY
seen=$(env/bin/python means.py)
echo "$seen"
[[ $seen == "30 15.0 10 20 and 30 30.0 30 30" ]]
