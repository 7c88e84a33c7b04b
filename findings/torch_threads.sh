#!/usr/bin/env bash
# PyTorch 2.15.0 (PyPI: torch) on Python 3.10 or newer, which pip installs with gigabytes of CUDA's libraries
#
# Expected: PyTorch's profiler records the operators and ranges of all threads of the process, as it records what runs
# on its GPUs.
# Seen: it records those of the thread that starts it, and of threads that autograd starts for it. What a
# program computes in threads of its own (threading, ThreadPoolExecutor), as pipelines of input and of inference do,
# is missing; nothing is said, and the time seems idle. With profile_all_threads=True of the experimental
# configuration it is there.
#
# Output: products and threads in the trace of a program that computes three products in its first thread, and three
# in each of two threads of its own: as the profiler comes, and with profile_all_threads=True.
# An argument is a Python that has this PyTorch: then nothing is installed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python=${1:-$folder/env/bin/python}
cd "$folder"
if [ $# = 0 ]; then
    python3 -m venv env
    env/bin/pip -q install torch==2.15.0 numpy
fi
cat >threads.py <<'PY'
import json
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
import torch
from torch._C._profiler import _ExperimentalConfig
from torch.profiler import ProfilerActivity, profile
assert torch.__version__.startswith('2.15.0')

matrix = torch.randn(100, 100)
both = Barrier(2)

def products():
    for _ in range(3):
        torch.mm(matrix, matrix)

def thread():
    both.wait()
    products()

for options in {}, {'profile_all_threads': True}:
    with profile(activities=[ProfilerActivity.CPU], experimental_config=_ExperimentalConfig(**options)) as recorded:
        products()
        with ThreadPoolExecutor(2) as pool:
            for _ in range(2):
                pool.submit(thread)
    recorded.export_chrome_trace('trace.json')
    with open('trace.json') as file:
        threads = [event['tid'] for event in json.load(file)['traceEvents'] if event['name'] == 'aten::mm']
    print(len(threads), 'products,', len(set(threads)), 'threads')
PY
seen=$("$python" threads.py 2>/dev/null | grep threads)
echo "$seen"
[[ $seen == "3 products, 1 threads
9 products, 3 threads" ]]
