#!/usr/bin/env bash
# HolisticTraceAnalysis 0.5.0 with pandas 3.0.0, as pip may choose, and with 2.2.3 (PyPI) on Python 3.11
# or newer
#
# Expected: a trace of PyTorch's profiler is read with each pandas that the package allows.
# Seen: correlations are kept in the smallest integers that hold them, and the numbers of events are
# written into a column of that type. A trace that has more events than that type can count, as one of
# 40,000 operators with correlations below 32,768, ends in a TypeError with pandas 3; pandas 2 widened
# the column.
#
# Output: what reading such a trace gives with both.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >reads.py <<'PY'
import json, logging, warnings
from hta.trace_analysis import TraceAnalysis
logging.disable(logging.CRITICAL)
warnings.filterwarnings('ignore')

def event(name, cat, ts, place, **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': place, 'tid': place, 'ts': ts, 'dur': 1, 'args': args}

if __name__ == '__main__':
    events = [event('aten::add', 'cpu_op', 10 + 2 * n, 100) for n in range(40000)]
    for n in range(20):
        events.append(event('cudaLaunchKernel', 'cuda_runtime', 90000 + 10 * n, 100, correlation=3000 + n))
        events.append(event('gemm', 'kernel', 90005 + 10 * n, 7, correlation=3000 + n, device=0, stream=7))
    with open('trace.json', 'w') as out:
        json.dump({'schemaVersion': 1, 'deviceProperties': [], 'traceEvents': events,
                   'distributedInfo': {'backend': 'nccl', 'rank': 0, 'world_size': 1}}, out)
    try:
        TraceAnalysis(trace_files={0: 'trace.json'}, trace_dir='.')
        print('read')
    except Exception as error:
        print(type(error).__name__)
PY
seen=""
for pandas in 2.2.3 3.0.0; do
    python3 -m venv "$pandas"
    "$pandas/bin/pip" -q install holistictraceanalysis==0.5.0 "pandas==$pandas"
    seen+="pandas $pandas: $("$pandas/bin/python" reads.py 2>/dev/null); "
done
echo "$seen"
[[ $seen == "pandas 2.2.3: read; pandas 3.0.0: TypeError; " ]]
