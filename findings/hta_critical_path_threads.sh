#!/usr/bin/env bash
# HolisticTraceAnalysis 0.5.0 with pandas 2.2.3 (PyPI) on Python 3.10 or newer
#
# Expected: the critical path of a step that the CPU bounds leads through forward pass, backward pass and
# optimizer, and is about as long as the step. PyTorch runs the backward pass on a thread of its own, and its
# profiler records arrows from forward to backward operators.
# Seen: operators of two threads are never joined, and what lies between operators of a thread counts
# as nothing. The path is the longest that one thread has: forward pass and optimizer alone, as if there were no
# backward pass, although that takes half of the step. Nothing is said; critical_path_analysis reports success.
#
# Output: length of the critical path, and how much of it is forward pass, backward pass and optimizer, of a
# step of ten operators of 90 us, 100 us apart, each with a launch of 10 us, which is not in these, and a
# kernel of 5 us: once in one thread, and once with the five operators of the backward pass in a second.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install holistictraceanalysis==0.5.0 pandas==2.2.3
cat >threads.py <<'PY'
import json, logging, warnings
from hta.trace_analysis import TraceAnalysis
logging.disable(logging.CRITICAL)
warnings.filterwarnings('ignore')
BACKWARD = 'autograd::engine::evaluate_function: AddmmBackward0'
OPERATORS = ['aten::linear'] * 3 + [BACKWARD] * 5 + ['Optimizer.step#SGD.step'] * 2

def event(name, cat, ts, dur, pid, tid, **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur, 'args': args}

def path(backward_thread):
    events = [event('ProfilerStep#1', 'user_annotation', 0, 1010, 100, 100),
              event('ProfilerStep#2', 'user_annotation', 1010, 100, 100, 100)]
    for n, name in enumerate(OPERATORS):
        ts, tid = 10 + 100 * n, backward_thread if name == BACKWARD else 100
        events += [event(name, 'cpu_op', ts, 90, 100, tid),
                   event('cudaLaunchKernel', 'cuda_runtime', ts + 70, 10, 100, tid, correlation=1000 + n),
                   event('gemm', 'kernel', ts + 75, 5, 0, 7, correlation=1000 + n, device=0, stream=7)]
    for n in range(3):
        events += [{'ph': 's', 'id': n, 'cat': 'fwdbwd', 'name': 'fwdbwd', 'pid': 100, 'tid': 100, 'ts': 10 + 100 * n},
                   {'ph': 'f', 'bp': 'e', 'id': n, 'cat': 'fwdbwd', 'name': 'fwdbwd', 'pid': 100,
                    'tid': backward_thread, 'ts': 710 - 100 * n}]
    with open('trace.json', 'w') as out:
        json.dump({'schemaVersion': 1, 'deviceProperties': [], 'traceEvents': events,
                   'distributedInfo': {'backend': 'nccl', 'rank': 0, 'world_size': 1}}, out)
    found = TraceAnalysis(trace_files={0: 'trace.json'}, trace_dir='.')
    graph, done = found.critical_path_analysis(rank=0, annotation='ProfilerStep', instance_id=0)
    parts = graph.get_critical_path_breakdown()
    by_name = [int(parts.loc[parts['s_name'] == name, 'duration'].sum()) for name in dict.fromkeys(OPERATORS)]
    return f"{int(parts['duration'].sum())} us {by_name} {done}"

if __name__ == '__main__':
    print('one thread:', path(100))
    print('two threads:', path(101))
PY
seen=$(env/bin/python threads.py)
echo "$seen"
[[ $seen == "one thread: 900 us [240, 400, 160] True
two threads: 450 us [240, 0, 160] True" ]]
