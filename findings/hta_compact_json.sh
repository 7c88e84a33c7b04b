#!/usr/bin/env bash
# HolisticTraceAnalysis 0.5.0 with pandas 2.2.3 (PyPI) on Python 3.10 or newer
#
# Expected: TraceAnalysis(trace_dir=...) reads the traces of all ranks of a folder, each of which states its rank.
# Seen: it looks for the rank with a regular expression that wants a space after the colon ("rank": 3). Of traces
# in compact JSON ("rank":3), as jq -c, orjson and JSON.stringify write it, each counts as rank 0, and one is
# left: of a job of four ranks, all analyses have one, under the number 0. Which one it is depends on the
# order in which the folder lists its files. A line is logged for each file, that it has no rank.
#
# Output: the ranks of a folder of four traces with spaces, and how many per cent of the time each computes; then
# the ranks that are left of the same traces without spaces.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install holistictraceanalysis==0.5.0 pandas==2.2.3
cat >ranks.py <<'PY'
import json, logging, os, warnings
from hta.trace_analysis import TraceAnalysis
logging.disable(logging.CRITICAL)
warnings.filterwarnings('ignore')

def event(name, cat, ts, dur, place, **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': place, 'tid': place, 'ts': ts, 'dur': dur, 'args': args}

def kernel(number, ts, dur):
    return [event('cudaLaunchKernel', 'cuda_runtime', 10 + number, 1, 100, correlation=1000 + number),
            event('gemm', 'kernel', ts, dur, 7, correlation=1000 + number, device=0, stream=7)]

def read(folder, separators):
    os.mkdir(folder)
    for rank in range(4):
        events = [event('ProfilerStep#1', 'user_annotation', 0, 9000, 100)]
        events += kernel(0, 1000, 200 * (rank + 1) - 1) + kernel(1, 1999, 1)
        with open(f'{folder}/trace{rank}.json', 'w') as out:
            json.dump({'schemaVersion': 1, 'distributedInfo': {'backend': 'nccl', 'rank': rank, 'world_size': 4},
                       'deviceProperties': [], 'traceEvents': events}, out, separators=separators)
    found = TraceAnalysis(trace_dir=folder).get_temporal_breakdown(visualize=False).sort_values('rank')
    return dict(zip(found['rank'].tolist(), found['compute_time_pctg'].round().astype(int).tolist()))

if __name__ == '__main__':
    print(read('spaces', (', ', ': ')))
    print(*read('compact', (',', ':')))
PY
seen=$(env/bin/python ranks.py)
echo "$seen"
[[ $seen == "{0: 20, 1: 40, 2: 60, 3: 80}
0" ]]
