#!/usr/bin/env bash
# profiler_trace_analysis of et_replay of PARAM, commit 1e115ff (GitHub: facebookresearch/param), with numpy 2.2.6
# and intervaltree 3.1.0 (PyPI) on Python 3.10 or newer
#
# Expected: the busbw of an uneven all-to-all is of the bytes that leave the rank, or come to it, by the time; and the
# bandwidth of a rank (SharedBW) has all kernels of NCCL.
# Seen:
# - What stays on the rank is taken from the split sizes, which PyTorch records in rows, and subtracted from a number
#   of elements. Of a tensor with 64 columns hardly anything is subtracted: between two ranks of which one keeps
#   nine tenths, busbw is nearly ten times too high.
# - Kernels of symmetric memory, which NCCL has had since 2.27, are called ncclSymkDevKernel_..., and are not looked
#   at: their operations have no bandwidth, and the bandwidth of a rank that has no others is 0.
#
# Output: busbw (GB/s) of an all-to-all of 1000 rows of 64 columns of 4 bytes in 10 us, of which 100 rows leave the rank, by
# hand and by PARAM; then the SharedBW of an all-reduce of 1 MB among 2 ranks in 100 us, by the name of its kernel.
# An argument is a clone that is here already.
set -euo pipefail

source=${1:-https://github.com/facebookresearch/param}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
git clone -q --no-checkout "$source" param
git -C param checkout -q 1e115ffc62c6d048405d9b963191736c13811b1d -- et_replay/comm
python3 -m venv env
env/bin/pip -q install numpy==2.2.6 intervaltree==3.1.0
cat >bandwidths.py <<'PY'
import sys
sys.path.append('param/et_replay/comm')
from profiler_trace_analysis import calculate_bw_, calculate_sbw

def trace(name, dur, collective, elements, **args):
    args = {'Collective name': collective, 'In msg nelems': elements, 'Out msg nelems': elements, 'dtype': 'Float',
            'Group size': 2, 'Process Group Name': '0', 'Process Group Ranks': '[0, 1]', **args}
    return {'traceEvents': [{'ph': 'X', 'cat': 'kernel', 'name': name, 'ts': 0, 'dur': dur, 'args': args}]}

rows, columns, leave, us = 1000, 64, 100, 10
splits = str([rows - leave, leave])
uneven = trace('ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)', us, 'all_to_allv', rows * columns,
               **{'In split size': splits, 'Out split size': splits})
calculate_bw_(uneven, 0)
print(leave * columns * 4 / us / 1e3, uneven['traceEvents'][0]['args']['busbw (GB/sec)'])
for name in 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)', 'ncclSymkDevKernel_AllReduce_AGxLL_R_sum_f32(...)':
    reduced = trace(name, 100, 'allreduce', 250_000)
    calculate_bw_(reduced, 0)
    print(name.split('_')[0], calculate_sbw(reduced, 0))
PY
seen=$(env/bin/python bandwidths.py)
echo "$seen"
[[ $seen == "2.56 25.24
ncclDevKernel 10.0
ncclSymkDevKernel 0" ]]
