#!/usr/bin/env bash
# HolisticTraceAnalysis 0.5.0 with pandas 2.2.3 (PyPI) on Python 3.10 or newer
#
# Expected: the mean and the median of get_queue_length_summary are those of the queue during the recording.
# Of a GPU that waits for its host, whose queue is empty for nearly all the time, the median is 0.
# Seen: they are over the changes of the queue, of which a burst of launches has many in a short time. Time in
# which nothing changes counts for nothing, so the same GPU seems to have a long queue all the time.
#
# Output: microseconds that a stream's queue is empty, of how many; its mean and median over time, both from
# get_queue_length_time_series; then mean and median of the summary. Once in 10 ms the host launches 50
# kernels in 50 us, of 2 us each.
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

if __name__ == '__main__':
    events = [event('ProfilerStep#1', 'user_annotation', 0, 100_000, 100)]
    for burst in range(10):
        for n in range(50):
            number, begin = 1 + 50 * burst + n, 10_000 * burst
            events += [event('cudaLaunchKernel', 'cuda_runtime', begin + n, 1, 100, correlation=number),
                       event('gemm', 'kernel', begin + 60 + 2 * n, 2, 7, correlation=number, device=0, stream=7)]
    with open('trace.json', 'w') as out:
        json.dump({'schemaVersion': 1, 'deviceProperties': [], 'traceEvents': events,
                   'distributedInfo': {'backend': 'nccl', 'rank': 0, 'world_size': 1}}, out)
    analysis = TraceAnalysis(trace_files={0: 'trace.json'}, trace_dir='.')
    of = analysis.get_queue_length_time_series([0])[0].sort_values('ts', kind='stable')
    lasts, length = of['ts'].shift(-1) - of['ts'], of['queue_length']
    empty = int(lasts[length == 0].sum())
    print('empty', empty, 'of', int(lasts.sum()), end='; ')
    print('mean', round((length * lasts).sum() / lasts.sum(), 1), 'median', 0 if 2 * empty > lasts.sum() else '?', end='; ')
    summary = analysis.get_queue_length_summary([0])['queue_length'].iloc[0]
    print('summary', round(summary['mean'], 1), summary['50%'])
PY
seen=$(env/bin/python queues.py)
echo "$seen"
[[ $seen == "empty 88578 of 90158; mean 0.5 median 0; summary 25.0 25.0" ]]
