#!/usr/bin/env bash
# HolisticTraceAnalysis 0.5.0 with pandas 2.2.3 (PyPI) on Python 3.10 or newer
#
# Expected: get_frequent_cuda_kernel_sequences counts the sequences of kernels that an operator launches.
# Seen: only where the operator is least deep in the call stack. Calls that lie deeper are left out, although
# they do not nest in those: an operator that is called twice directly and ten times in a range, module or
# operator around it has a count of 2. The backward pass and compiled parts are at other depths than the rest.
#
# Output: kernels and count of aten::linear, which launches three kernels, in a trace of 12 calls at one depth,
# and in one where 10 of the 12 are within another operator.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install --disable-pip-version-check holistictraceanalysis==0.5.0 pandas==2.2.3
cat >sequences.py <<'PY'
import json, logging, os, warnings
from hta.trace_analysis import TraceAnalysis
logging.disable(logging.CRITICAL)
warnings.filterwarnings('ignore')

def event(name, cat, ts, dur, place, **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': place, 'tid': place, 'ts': ts, 'dur': dur, 'args': args}

def call(number, deeper):
    begin = 1000 * number
    if deeper:
        yield event('aten::block', 'cpu_op', begin, 300, 100)
    yield event('aten::linear', 'cpu_op', begin + 5, 200, 100)
    for n in range(3):
        correlation = 10 * number + n
        yield event('cudaLaunchKernel', 'cuda_runtime', begin + 10 + 20 * n, 5, 100, correlation=correlation)
        yield event(f'part{n}', 'kernel', begin + 300 + 20 * n, 10, 7, correlation=correlation, device=0, stream=7)

def sequences(folder, deeper):
    os.mkdir(folder)
    events = [of for number in range(1, 13) for of in call(number, number > 12 - deeper)]
    with open(f'{folder}/rank0.json', 'w') as out:
        json.dump({'schemaVersion': 1, 'deviceProperties': [], 'traceEvents': events,
                   'distributedInfo': {'backend': 'nccl', 'rank': 0, 'world_size': 1}}, out)
    os.mkdir(f'{folder}/out')
    rows = TraceAnalysis(trace_dir=folder).get_frequent_cuda_kernel_sequences(
        operator_name='aten::linear', output_dir=f'{folder}/out', visualize=False)
    return [(row['pattern'], int(row['count'])) for _, row in rows.iterrows()]

if __name__ == '__main__':
    print(sequences('one', 0), sequences('other', 10))
PY
seen=$(env/bin/python sequences.py)
echo "$seen"
[[ $seen == "[('aten::linear|part0|part1|part2', 12)] [('aten::linear|part0|part1|part2', 2)]" ]]
