#!/usr/bin/env bash
# HolisticTraceAnalysis 0.5.0 with pandas 2.2.3 (PyPI) on Python 3.10 or newer
#
# Expected: the critical path of a step in which a kernel waits for kernels of two other streams leads to it
# from the one that ends last, whichever wait was called first.
# Seen: of a kernel's waits (cudaStreamWaitEvent) it keeps the last that was called: each takes the place of
# the one before (kernel_sync in critical_path_analysis.py). If the last one called was over first, the path
# does not get past the kernels waited for: here it lacks the kernel after them, and is a fifth too short.
# That a kernel waits for several streams is usual, as in FSDP: all-gathers and reduce-scatters have a stream
# each. Nothing is said; critical_path_analysis reports success.
#
# Output: the kernels on the critical path and its length, of a step of 1100 us with its kernels: kernel c
# waits for kernel a and then for kernel b, which end after 300 us and 900 us, or after 900 us and 300 us.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install holistictraceanalysis==0.5.0 pandas==2.2.3
cat >waits.py <<'PY'
import json, logging, warnings
from hta.trace_analysis import TraceAnalysis
logging.disable(logging.CRITICAL)
warnings.filterwarnings('ignore')

def event(name, cat, ts, dur, pid, tid, **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur, 'args': args}

def call(number, name, ts, dur=1):
    return event(name, 'cuda_runtime', ts, dur, 100, 100, correlation=number)

def on_gpu(number, name, ts, dur, stream, cat='kernel', **args):
    return event(name, cat, ts, dur, 0, stream, correlation=number, device=0, stream=stream, **args)

def wait(number, ts, record, stream):
    return [call(number, 'cudaStreamWaitEvent', ts),
            on_gpu(number, 'Stream Wait Event', ts, 1, 7, 'cuda_sync', wait_on_stream=stream,
                   wait_on_cuda_event_record_corr_id=record, wait_on_cuda_event_id=record)]

def path(a_end, b_end):
    events = [event('ProfilerStep#1', 'user_annotation', 0, 1110, 100, 100),
              event('ProfilerStep#2', 'user_annotation', 1110, 100, 100, 100),
              event('aten::op', 'cpu_op', 1, 99, 100, 100),
              call(1, 'cudaLaunchKernel', 10, 2), on_gpu(1, 'a', 100, a_end - 100, 20), call(2, 'cudaEventRecord', 14),
              call(3, 'cudaLaunchKernel', 18, 2), on_gpu(3, 'b', 100, b_end - 100, 24), call(4, 'cudaEventRecord', 22),
              *wait(5, 26, 2, 20), *wait(6, 30, 4, 24),
              call(7, 'cudaLaunchKernel', 34, 2), on_gpu(7, 'c', 900, 200, 7)]
    with open('trace.json', 'w') as out:
        json.dump({'schemaVersion': 1, 'deviceProperties': [], 'traceEvents': events,
                   'distributedInfo': {'backend': 'nccl', 'rank': 0, 'world_size': 1}}, out)
    found = TraceAnalysis(trace_files={0: 'trace.json'}, trace_dir='.')
    graph, done = found.critical_path_analysis(rank=0, annotation='ProfilerStep', instance_id=0)
    parts = graph.get_critical_path_breakdown()
    names = set(parts['s_name'].dropna()) & set('abc')
    return f"{'+'.join(sorted(names))} {int(parts['duration'].sum())} us {done}"

if __name__ == '__main__':
    print('300 and 900 us:', path(300, 900))
    print('900 and 300 us:', path(900, 300))
PY
seen=$(env/bin/python waits.py)
echo "$seen"
[[ $seen == "300 and 900 us: b+c 1099 us True
900 and 300 us: a 899 us True" ]]
