#!/usr/bin/env bash
# HolisticTraceAnalysis 0.5.0 with pandas 2.2.3 (PyPI) on Python 3.10 or newer
#
# Expected: TraceDiff.compare_traces has the kernels of a step, whatever the number of their stream. On AMD's
# GPUs the default stream is number 0, and nearly all kernels of PyTorch's traces are on it.
# Seen: kernels get the number of their step only if their stream is above 0 (add_iteration in
# hta/common/trace.py). Of the others TraceDiff has none: the difference of two AMD traces has no kernels, or
# only those of other streams, and nothing is said. get_temporal_breakdown has them.
#
# Output: rows of compare_traces for the GPU (calls and duration before and after) of a trace with kernels of
# 60 us and one with kernels of 80 us: on stream 7, and on stream 0 with one copy on stream 4; then compute time
# of the slower one.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install holistictraceanalysis==0.5.0 pandas==2.2.3
cat >steps.py <<'PY'
import json, logging, os, warnings
from hta.trace_analysis import TraceAnalysis
from hta.trace_diff import DeviceType, TraceDiff
logging.disable(logging.CRITICAL)
warnings.filterwarnings('ignore')

def event(name, cat, ts, dur, place, **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': place, 'tid': place, 'ts': ts, 'dur': dur, 'args': args}

def launch(number, name, cat, ts, dur, stream):
    return [event('hipLaunchKernel', 'cuda_runtime', ts - 20, 5, 100, correlation=number),
            event(name, cat, ts, dur, stream, correlation=number, device=0, stream=stream)]

def trace(folder, stream, dur):
    os.mkdir(folder)
    events = [event(f'ProfilerStep#{step + 1}', 'user_annotation', 1000 * step, 1000, 100) for step in range(3)]
    for n in range(12):
        events += launch(1 + n, 'gemm', 'kernel', 40 + 250 * n, dur, stream)
    for step in range(3):
        events += launch(100 + step, 'Memcpy HtoD', 'gpu_memcpy', 900 + 1000 * step, 10, 4)
    with open(folder + '/trace.json', 'w') as out:
        json.dump({'schemaVersion': 1, 'deviceProperties': [], 'traceEvents': events,
                   'distributedInfo': {'backend': 'nccl', 'rank': 0, 'world_size': 1}}, out)
    return folder

if __name__ == '__main__':
    for stream in 7, 0:
        before, after = trace(f'before{stream}', stream, 60), trace(f'after{stream}', stream, 80)
        rows = TraceDiff.compare_traces(before, after, device_type=DeviceType.GPU)
        print(stream, {name: [int(value) for value in row.iloc[:4]] for name, row in rows.iterrows()},
              TraceAnalysis(trace_dir=after).get_temporal_breakdown(visualize=False)['compute_time(us)'][0])
PY
seen=$(env/bin/python steps.py)
echo "$seen"
[[ $seen == "7 {'Memcpy HtoD': [1, 10, 1, 10], 'gemm': [4, 240, 4, 320]} 640
0 {'Memcpy HtoD': [1, 10, 1, 10]} 640" ]]
