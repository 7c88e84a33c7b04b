#!/usr/bin/env bash
# nvidia-resiliency-ext 0.4.1 with PyTorch 2.15.0 (PyPI) on Python 3.10 or newer, x86-64; pip installs gigabytes of
# CUDA's libraries
#
# Expected: the straggler detection's scores of GPUs are of computation. It leaves NCCL's kernels out, because they
# last longest on the ranks that wait for a late one.
# Seen: it leaves out kernels with "ncclDev" in their name. Those of symmetric memory, which NCCL has had since 2.27,
# are called ncclSymkDevKernel_..., and count as computation. The ranks that wait get low scores and are named
# as stragglers; the rank that they wait for is not.
#
# Output: score of each rank and the ranks that identify_stragglers names, of four ranks with 100 products of
# 1 ms each and 100 all-reduces, of 0.1 ms on rank 0, which comes late, and of 1 ms on the others: with the name
# of NCCL's ring kernel, and with that of a symmetric one.
# The kernels' times are given to the class that makes the report; no GPU is used.
# An argument is a Python that has both: then nothing is installed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python=${1:-$folder/env/bin/python}
cd "$folder"
if [ $# = 0 ]; then
    python3 -m venv env
    env/bin/pip -q install torch==2.15.0 numpy nvidia-resiliency-ext==0.4.1
fi
cat >scores.py <<'PY'
import importlib.metadata, sys
import torch.distributed as dist
from nvidia_resiliency_ext.straggler import Statistic
from nvidia_resiliency_ext.straggler.reporting import ReportGenerator
assert importlib.metadata.version('nvidia-resiliency-ext') == '0.4.1'

rank = int(sys.argv[1])
dist.init_process_group('gloo', init_method='file://' + sys.argv[2], rank=rank, world_size=4)
for name in 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL', 'ncclSymkDevKernel_AllReduce_RSxLDMC_AGxSTMC_sum_bf16':
    took = {'gemm': 1000, name: 1000 if rank else 100}
    kernels = {kernel: {Statistic.MED: us, Statistic.AVG: us, Statistic.NUM: 100} for kernel, us in took.items()}
    report = ReportGenerator(['relative_perf_scores'], node_name='host').generate_report({}, kernels)
    if rank == 0:
        named = report.identify_stragglers()['straggler_gpus_relative']
        print(*(round(report.gpu_relative_perf_scores[r], 2) for r in range(4)), sorted(s.rank for s in named))
dist.destroy_process_group()
PY
for rank in 1 2 3; do
    "$python" scores.py $rank "$folder/job" 2>/dev/null &
done
seen=$("$python" scores.py 0 "$folder/job" 2>/dev/null)
wait
echo "$seen"
[[ $seen == "1.0 1.0 1.0 1.0 []
1.0 0.55 0.55 0.55 [1, 2, 3]" ]]
