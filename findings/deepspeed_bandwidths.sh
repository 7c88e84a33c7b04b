#!/usr/bin/env bash
# DeepSpeed 0.19.8 with PyTorch 2.15.0 (PyPI) on Python 3.10 or newer; pip installs gigabytes of CUDA's libraries
#
# Expected: algbw and busbw of DeepSpeed's communication logger are those of nccl-tests, whose page its source names:
# algbw is the bytes by the time, where the bytes of an all-gather and a reduce-scatter are those of the whole
# tensor; busbw is that times (n - 1)/n, of an all-reduce 2 (n - 1)/n, of n ranks in the group.
# Seen:
# - The algbw of an all-reduce is doubled, so that it is above its busbw.
# - The whole tensor, which is what a reduce-scatter is given, counts n times: on 64 ranks a reduce-scatter of ZeRO
#   seems 64 times as fast as it was.
# - n is always the number of ranks of the job, whatever the group is: with groups of 2 ranks of a job of 4, the
#   bytes of an all-gather count twice too often.
#
# Output: algbw and busbw, by what nccl-tests would say for the same bytes and time, of all-reduce, all-gather,
# reduce-scatter and all-to-all among all 4 ranks, and between 2 of them.
# An argument is a Python that has this DeepSpeed: then nothing is installed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python=${1:-$folder/env/bin/python}
cd "$folder"
if [ $# = 0 ]; then
    python3 -m venv env
    env/bin/pip -q install torch==2.15.0 numpy deepspeed==0.19.8
fi
cat >bandwidths.py <<'PY'
import logging, os, sys
os.environ['DS_ACCELERATOR'] = 'cpu'
logging.disable(logging.CRITICAL)
import torch
import torch.distributed as dist
import deepspeed
import deepspeed.comm as ds
from deepspeed.comm.comm import comms_logger
assert deepspeed.__version__.startswith('0.19.8')

rank, elements = int(sys.argv[1]), 1 << 20
dist.init_process_group('gloo', init_method='file://' + sys.argv[2], rank=rank, world_size=4)
ds.init_distributed('gloo', auto_mpi_discovery=False, verbose=False)
ds.configure(enabled=True, prof_all=True, verbose=False)
pairs = [dist.new_group(ranks) for ranks in ([0, 1], [2, 3])]
for n, group in (4, None), (2, pairs[rank // 2]):
    ds.all_reduce(torch.ones(elements), group=group)
    ds.all_gather_into_tensor(torch.empty(elements), torch.ones(elements // n), group=group)
    ds.reduce_scatter_tensor(torch.empty(elements // n), torch.ones(elements), group=group)
    ds.all_to_all_single(torch.empty(elements), torch.ones(elements), group=group)
    for operation, sizes in comms_logger.comms_dict.items():
        (_, times, algorithm, bus), = sizes.values()
        expected = 4 * elements * 8 / times[0] / 1e6
        factor = (n - 1) / n * (2 if operation == 'all_reduce' else 1)
        if rank == 0:
            print(n, operation, f'{algorithm[0] / expected:.2f} {bus[0] / expected / factor:.2f}', file=sys.stderr)
    comms_logger.reset_data()
dist.destroy_process_group()
PY
for rank in 1 2 3; do
    "$python" bandwidths.py $rank "$folder/job" >/dev/null 2>&1 &
done
"$python" bandwidths.py 0 "$folder/job" 2>printed >/dev/null
wait
seen=$(grep '^[24] all\|^[24] reduce' printed)
echo "$seen"
[[ $seen == "4 all_reduce 2.00 1.00
4 all_gather_into_tensor 1.00 1.00
4 reduce_scatter_tensor 4.00 4.00
4 all_to_all_single 1.00 1.00
2 all_reduce 2.00 1.50
2 all_gather_into_tensor 2.00 3.00
2 reduce_scatter_tensor 4.00 6.00
2 all_to_all_single 1.00 1.50" ]]
