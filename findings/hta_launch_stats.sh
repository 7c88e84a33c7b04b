#!/usr/bin/env bash
# HolisticTraceAnalysis 0.5.0 with pandas 2.2.3 (PyPI) on Python 3.10 or newer
#
# Expected: get_cuda_kernel_launch_stats has all launches of a trace.
# Seen: it has cudaLaunchKernel, cudaLaunchKernelExC, cudaMemcpyAsync and cudaMemsetAsync only. What
# torch.compile (Triton) launches, cuLaunchKernel and cuLaunchKernelEx, is left out without a word, and so is
# every launch of a CUDA graph. Of an AMD trace nothing is left.
#
# Output: launches in a trace, and those reported, by the call that launches.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install --disable-pip-version-check holistictraceanalysis==0.5.0 pandas==2.2.3
cat >launches.py <<'PY'
import json, logging, os, warnings
from hta.trace_analysis import TraceAnalysis
logging.disable(logging.CRITICAL)
warnings.filterwarnings('ignore')
CALLS = {'cudaLaunchKernel': 2, 'cudaLaunchKernelExC': 3, 'cuLaunchKernel': 4, 'cuLaunchKernelEx': 5,
         'cudaGraphLaunch': 6, 'hipLaunchKernel': 7, 'hipModuleLaunchKernel': 8}

def event(name, cat, ts, dur, place, **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': place, 'tid': place, 'ts': ts, 'dur': dur, 'args': args}

def events():
    number = 0
    for call, count in CALLS.items():
        for _ in range(count):
            number += 1
            cat = 'cuda_driver' if call.startswith('cu') and call[2] == 'L' else 'cuda_runtime'
            yield event(call, cat, 100 * number, 5, 100, correlation=number)
            yield event(f'kernel of {call}', 'kernel', 100 * number + 30, 50, 7, correlation=number, device=0, stream=7)

if __name__ == '__main__':
    os.mkdir('traces')
    trace = list(events())
    with open('traces/rank0.json', 'w') as out:
        json.dump({'schemaVersion': 1, 'deviceProperties': [], 'traceEvents': trace,
                   'distributedInfo': {'backend': 'nccl', 'rank': 0, 'world_size': 1}}, out)
    stats = TraceAnalysis(trace_dir='traces').get_cuda_kernel_launch_stats(visualize=False)[0]
    by_number = {of['args']['correlation']: of['name'] for of in trace if of['cat'] != 'kernel'}
    reported = [by_number[number] for number in stats['correlation']]
    for call, count in CALLS.items():
        print(call, count, reported.count(call))
PY
seen=$(env/bin/python launches.py)
echo "$seen"
[[ $seen == "cudaLaunchKernel 2 2
cudaLaunchKernelExC 3 3
cuLaunchKernel 4 0
cuLaunchKernelEx 5 0
cudaGraphLaunch 6 0
hipLaunchKernel 7 0
hipModuleLaunchKernel 8 0" ]]
