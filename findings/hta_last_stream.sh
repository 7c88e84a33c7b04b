#!/usr/bin/env bash
# HolisticTraceAnalysis 0.5.0 with pandas 2.2.3 (PyPI) on Python 3.10 or newer
#
# Expected: get_time_spent_blocked_on_full_queue has a row for each rank and stream whose queue was full, as
# its columns rank and stream say.
# Seen: of each rank one row is left, that of the last stream: each stream's row takes the place of the one
# before, for they are kept by rank. A compute stream whose queue is always full is not seen beside another
# stream that is full for a moment.
#
# Output: how long the queues of two streams hold 10 or more, by their time series, and the rows.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install holistictraceanalysis==0.5.0 pandas==2.2.3
cat >queues.py <<'PY'
import json, logging, warnings
from hta.trace_analysis import TraceAnalysis
logging.disable(logging.CRITICAL)
warnings.filterwarnings('ignore')

def event(name, cat, ts, dur, place, **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': place, 'tid': place, 'ts': ts, 'dur': dur, 'args': args}

def kernel(number, name, ts, dur, stream):
    return [event('cudaLaunchKernel', 'cuda_runtime', 10 + number, 1, 100, correlation=1000 + number),
            event(name, 'kernel', ts, dur, stream, correlation=1000 + number, device=0, stream=stream)]

if __name__ == '__main__':
    events = [event('ProfilerStep#1', 'user_annotation', 0, 9000, 100)]
    for n in range(20):
        events += kernel(n, 'gemm', 1000 + 100 * n, 100, 7) + kernel(20 + n, 'copy', 100 + n, 1, 20)
    with open('trace.json', 'w') as out:
        json.dump({'schemaVersion': 1, 'deviceProperties': [], 'traceEvents': events,
                   'distributedInfo': {'backend': 'nccl', 'rank': 0, 'world_size': 1}}, out)
    analysis = TraceAnalysis(trace_files={0: 'trace.json'}, trace_dir='.')
    series = analysis.get_queue_length_time_series([0])
    for stream, of in series[0].groupby('stream'):
        lasts = of['ts'].shift(-1) - of['ts']
        print('stream', stream, int(lasts[of['queue_length'] >= 10].sum()), 'us;', end=' ')
    found = analysis.get_time_spent_blocked_on_full_queue(series, 10)
    print('rows', [[int(value) for value in row] for row in found[['stream', 'duration_at_max_queue_length']].values])
PY
seen=$(env/bin/python queues.py)
echo "$seen"
[[ $seen == "stream 7 1981 us; stream 20 71 us; rows [[20, 71]]" ]]
