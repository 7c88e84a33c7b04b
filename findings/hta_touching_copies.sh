#!/usr/bin/env bash
# HolisticTraceAnalysis 0.5.0 with pandas 2.2.3 (PyPI) on Python 3.10 or newer
#
# Expected: get_memory_bw_summary of copies that follow one another at 10 GB/s has 10 GB/s throughout.
# Seen: the bandwidth of a copy is added where it begins and taken away where it ends, and both are sorted by
# time alone. Where a copy begins as another ends, the sum of both is a point of its own. The maximum is then
# what no copy reached, and the mean is above it all. Since HolisticTraceAnalysis rounds times to whole
# microseconds, copies of a queue often touch. Copies of all GPUs in a trace are one series too.
#
# Output: mean and maximum, in GB/s, of 20 copies of 100 us at 10 GB/s: 20 us apart, and one after the other.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install --disable-pip-version-check holistictraceanalysis==0.5.0 pandas==2.2.3
cat >copies.py <<'PY'
import json, logging, os, warnings
from hta.trace_analysis import TraceAnalysis
logging.disable(logging.CRITICAL)
warnings.filterwarnings('ignore')

def event(name, cat, ts, dur, place, **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': place, 'tid': place, 'ts': ts, 'dur': dur, 'args': args}

def summary(folder, apart):
    os.mkdir(folder)
    events = [event('aten::mm', 'cpu_op', 0, 5, 100),
              event('cudaLaunchKernel', 'cuda_runtime', 1, 3, 100, correlation=99),
              event('gemm', 'kernel', 10, 50, 7, correlation=99, device=0, stream=7)]
    for n in range(20):
        events.append(event('cudaMemcpyAsync', 'cuda_runtime', 100 + 10 * n, 5, 100, correlation=n))
        copy = {'correlation': n, 'device': 0, 'stream': 7, 'bytes': 10**6, 'memory bandwidth (GB/s)': 10.0}
        events.append(event('Memcpy HtoD (Pinned -> Device)', 'gpu_memcpy', 1000 + (100 + apart) * n, 100, 7, **copy))
    with open(f'{folder}/rank0.json', 'w') as out:
        json.dump({'schemaVersion': 1, 'deviceProperties': [], 'traceEvents': events,
                   'distributedInfo': {'backend': 'nccl', 'rank': 0, 'world_size': 1}}, out)
    row = TraceAnalysis(trace_dir=folder).get_memory_bw_summary()['memory_bw_gbps'].iloc[0]
    return f"mean {'10' if row['mean'] == 10 else 'above 10'}, maximum {row['max']:.0f}"

if __name__ == '__main__':
    print('apart:', summary('apart', 20))
    print('touching:', summary('touching', 0))
PY
seen=$(env/bin/python copies.py)
echo "$seen"
[[ $seen == "apart: mean 10, maximum 10
touching: mean above 10, maximum 20" ]]
