#!/usr/bin/env bash
# HolisticTraceAnalysis 0.5.0 with pandas 2.2.3 (PyPI) on Python 3.10 or newer
#
# Expected: get_aten_op_kernels_and_delay has, for each rank, how often an operator launched a kernel, and how
# long after the launch the kernel began.
# Seen:
# - The list of launches is never emptied between ranks: the rows of each rank are those of all ranks before
#   it and its own. Which rank has long delays cannot be seen.
# - It looks for the operator of a launch in all threads. A kernel that the backward pass launches is counted
#   for the operator in which the main thread is, if that began later.
# - One launch without a kernel, as at the end of most recordings, raises ValueError.
#
# Output: operator, count and delay of rank 1 asked for alone, and after rank 0; the operator of a kernel that
# aten::mm of the backward thread launches while the main thread is in aten::item; the error.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install --disable-pip-version-check holistictraceanalysis==0.5.0 pandas==2.2.3
cat >delays.py <<'PY'
import json, logging, os, warnings
from hta.analyzers.cuda_kernel_analysis import CudaKernelAnalysis
from hta.trace_analysis import TraceAnalysis
logging.disable(logging.CRITICAL)
warnings.filterwarnings('ignore')
CudaKernelAnalysis.visualize_aten_op_kernels_and_overhead = lambda *_: None     # it shows a page else

def event(name, cat, ts, dur, pid, tid, **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur, 'args': args}

def launch(number, ts, tid=100):
    return event('cudaLaunchKernel', 'cuda_runtime', ts, 5, 100, tid, correlation=number)

def kernel(number, ts):
    return event('gemm', 'kernel', ts, 20, 0, 7, correlation=number, device=0, stream=7)

def products(count, delay, first=100):
    for n in range(count):
        begin = first + 100 * n
        yield event('aten::mm', 'cpu_op', begin, 50, 100, 100)
        yield launch(1 + n, begin + 10)
        yield kernel(1 + n, begin + 10 + delay)

def analysis(folder, *ranks):
    os.mkdir(folder)
    for rank, events in enumerate(ranks):
        with open(f'{folder}/rank{rank}.json', 'w') as out:
            json.dump({'schemaVersion': 1, 'deviceProperties': [], 'traceEvents': list(events),
                       'distributedInfo': {'backend': 'nccl', 'rank': rank, 'world_size': len(ranks)}}, out)
    return TraceAnalysis(trace_dir=folder)

def rows(of, rank, ranks):
    found = of.get_aten_op_kernels_and_delay(ranks=ranks)[rank]
    return sorted((name, int(count), float(delay)) for name, count, delay in
                  found[['aten_op_name', 'occurrence_count', 'avg_runtime_delay']].itertuples(index=False))

if __name__ == '__main__':
    two = analysis('two', products(10, 50), products(4, 90, 107))
    print('alone', rows(two, 1, [1]))
    print('after', rows(two, 1, [0, 1]))
    threads = analysis('threads', [event('aten::mm', 'cpu_op', 500, 100, 100, 200),
                                   event('aten::item', 'cpu_op', 505, 400, 100, 100), launch(1, 510, 200),
                                   launch(2, 20), kernel(1, 600)])
    print('thread', rows(threads, 0, [0]))
    try:
        rows(analysis('cut', [*products(4, 50), event('aten::mm', 'cpu_op', 900, 50, 100, 100), launch(9, 910)]),
             0, [0])
    except ValueError as error:
        print('cut', error)
PY
seen=$(env/bin/python delays.py)
echo "$seen"
[[ $seen == "alone [('aten::mm', 4, 90.0)]
after [('aten::mm', 14, 61.429)]
thread [('aten::item', 1, 90.0)]
cut can only convert an array of size 1 to a Python scalar" ]]
