#!/usr/bin/env bash
# HolisticTraceAnalysis 0.5.0 with pandas 2.2.3 (PyPI) on Python 3.10 or newer
#
# Expected: kernels of a CUDA graph are on the critical path as kernels that were launched one by one.
# Seen: of each graph launch it has the last kernel. The others become "gpu_kernel_kernel_overhead", the
# overhead between kernels: a step that computes for 90 % of the time is said to compute for 13 %. All kernels
# of a graph have the correlation of its one cudaGraphLaunch, of which index_correlation names one
# kernel, and only kernels so named are kept. If a step has graphs only, critical_path_analysis raises
# "'NoneType' object is not subscriptable".
#
# Output: summary of the critical path, in per cent, of a step with a kernel of 50 us and ten of 100 us, 10 us apart:
# launched one by one, and with the ten as a graph; then what it does with the graph alone.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install holistictraceanalysis==0.5.0 pandas==2.2.3
cat >graphs.py <<'PY'
import json, logging, warnings
from hta.trace_analysis import TraceAnalysis
logging.disable(logging.CRITICAL)
warnings.filterwarnings('ignore')

def event(name, cat, ts, dur, pid, tid, **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur, 'args': args}

def call(number, name, ts, dur):
    return event(name, 'cuda_runtime', ts, dur, 100, 100, correlation=number)

def kernel(number, name, ts, dur):
    return event(name, 'kernel', ts, dur, 0, 7, correlation=number, device=0, stream=7)

def path(graphs, eager=True):
    events = []
    for step in range(2):
        at = 5000 * step
        events += [event(f'ProfilerStep#{step + 1}', 'user_annotation', at, 3000, 100, 100),
                   event('aten::op', 'cpu_op', at + 5, 400, 100, 100)]
        if eager:
            events += [call(1 + step, 'cudaLaunchKernel', at + 6, 2), kernel(1 + step, 'first', at + 40, 50)]
        if graphs:
            events.append(call(100 + step, 'cudaGraphLaunch', at + 10, 20))
        for n in range(10):
            number = 100 + step if graphs else 1000 + 100 * step + n
            events += [] if graphs else [call(number, 'cudaLaunchKernel', at + 10 + 5 * n, 4)]
            events.append(kernel(number, 'gemm', at + 100 + 110 * n, 100))
    with open('trace.json', 'w') as out:
        json.dump({'schemaVersion': 1, 'deviceProperties': [], 'traceEvents': events,
                   'distributedInfo': {'backend': 'nccl', 'rank': 0, 'world_size': 1}}, out)
    found = TraceAnalysis(trace_files={0: 'trace.json'}, trace_dir='.')
    try:
        graph, _ = found.critical_path_analysis(rank=0, annotation='ProfilerStep', instance_id=0)
        parts = graph.get_critical_path_breakdown()
    except TypeError as error:
        return error
    times = parts.groupby('bound_by')['duration'].sum()
    return {name: int(round(100 * time / times.sum())) for name, time in times.items() if name}

if __name__ == '__main__':
    print(path(graphs=False))
    print(path(graphs=True))
    print(path(graphs=True, eager=False))
PY
seen=$(env/bin/python graphs.py)
echo "$seen"
[[ $seen == "{'gpu_compute_bound': 91, 'gpu_kernel_kernel_overhead': 9}
{'cpu_bound': 0, 'gpu_compute_bound': 13, 'gpu_kernel_kernel_overhead': 84, 'gpu_kernel_launch_overhead': 3}
'NoneType' object is not subscriptable" ]]
