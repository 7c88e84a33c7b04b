#!/usr/bin/env bash
# HolisticTraceAnalysis 0.5.0 with pandas 2.2.3 (PyPI) on Python 3.10 or newer
#
# Expected: get_idle_time_breakdown has how long a stream was idle, by cause. Gaps below consecutive_kernel_delay
# count as kernel wait, and its default is 30 nanoseconds, as its documentation says.
# Seen: kernels of a stream may overlap (programmatic dependent launch on Hopper and later, as in CUTLASS).
# Each overlap counts as negative idle time: here the sum of idle time is below 0, and the shares are 267 %
# and -167 %. And the limit is compared with microseconds: it is 30 us, a thousand times as long, so that gaps
# in which a stream waits for another count as the overhead of launching.
#
# Output: idle time by cause with its share, and how long no kernel ran, of ten kernels, each beginning 10 us
# before the one before ends, but for one gap of 50 us; then of ten kernels 20 us (20,000 ns) apart.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install holistictraceanalysis==0.5.0 pandas==2.2.3
cat >idle.py <<'PY'
import json, logging, warnings
from hta.trace_analysis import TraceAnalysis
logging.disable(logging.CRITICAL)
warnings.filterwarnings('ignore')

def event(name, cat, ts, dur, place, **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': place, 'tid': place, 'ts': ts, 'dur': dur, 'args': args}

def idle(begins):
    events = [event('ProfilerStep#1', 'user_annotation', 0, 9000, 100)]
    for n, begin in enumerate(begins):
        events += [event('cudaLaunchKernel', 'cuda_runtime', 10 + 2 * n, 1, 100, correlation=1000 + n),
                   event('gemm', 'kernel', begin, 100, 7, correlation=1000 + n, device=0, stream=7)]
    with open('trace.json', 'w') as out:
        json.dump({'schemaVersion': 1, 'deviceProperties': [], 'traceEvents': events,
                   'distributedInfo': {'backend': 'nccl', 'rank': 0, 'world_size': 1}}, out)
    found = TraceAnalysis(trace_files={0: 'trace.json'}, trace_dir='.')
    for row in found.get_idle_time_breakdown(visualize=False)[0].itertuples():
        print(row.idle_category, int(row.idle_time), f'{100 * row.idle_time_ratio:.0f} %;', end=' ')
    print('no kernel', found.get_temporal_breakdown(visualize=False)['idle_time(us)'][0])

if __name__ == '__main__':
    idle([200 + 90 * n + (60 if n > 4 else 0) for n in range(10)])
    idle([200 + 120 * n for n in range(10)])
PY
seen=$(env/bin/python idle.py)
echo "$seen"
[[ $seen == "kernel_wait -80 267 %; other 50 -167 %; no kernel 50
kernel_wait 180 100 %; other 0 0 %; no kernel 180" ]]
