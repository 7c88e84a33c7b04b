#!/usr/bin/env bash
# HolisticTraceAnalysis 0.5.0 with pandas 2.2.3 (PyPI) on Python 3.10 or newer
#
# Expected: an operator of the host is no kernel of the GPU.
# Seen: it takes whatever names a stream for one. PyTorch writes the host's operators of compiled (Triton)
# kernels with the stream that they launch on (cat cpu_op, args kernel_backend and stream). So the host's
# time in these counts as compute time, on stream 0. In the public traces of KellerJordan/modded-nanogpt,
# records/track_1_short/2025-12-11_NorMuonOptimsAndFixes, 27 % of rank 2's communication hide behind
# computation so, and 13 % without that argument.
#
# Output: compute time of one kernel of 10 us that an operator of 40 us launched, with the operator's
# arguments as PyTorch writes them, and without the stream among them.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install holistictraceanalysis==0.5.0 pandas==2.2.3
cat >triton.py <<'PY'
import json, logging, warnings
from hta.trace_analysis import TraceAnalysis
logging.disable(logging.CRITICAL)
warnings.filterwarnings('ignore')

def event(name, cat, ts, dur, place, **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': place, 'tid': place, 'ts': ts, 'dur': dur, 'args': args}

def compute_us(**args):
    events = [event('ProfilerStep#1', 'user_annotation', 0, 5000, 100),
              event('triton_poi_fused_add_0', 'cpu_op', 5, 40, 100, **{'External id': 1}, kernel_backend='triton',
                    num_warps=4, grid='grid(4096,)', **args),
              event('cuLaunchKernel', 'cuda_driver', 20, 5, 100, correlation=1000),
              event('triton_poi_fused_add_0', 'kernel', 1000, 10, 7, correlation=1000, device=0, stream=7)]
    with open('trace.json', 'w') as out:
        json.dump({'schemaVersion': 1, 'deviceProperties': [], 'traceEvents': events,
                   'distributedInfo': {'backend': 'nccl', 'rank': 0, 'world_size': 1}}, out)
    analysis = TraceAnalysis(trace_files={0: 'trace.json'}, trace_dir='.')
    return int(analysis.get_temporal_breakdown(visualize=False)['compute_time(us)'][0])

if __name__ == '__main__':
    print('compute time', compute_us(stream=0), 'us, and without the argument', compute_us(), 'us')
PY
seen=$(env/bin/python triton.py)
echo "$seen"
[[ $seen == "compute time 50 us, and without the argument 10 us" ]]
