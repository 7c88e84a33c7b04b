#!/usr/bin/env bash
# TraceLens of commit 171dd74 (GitHub: AMD-AGI/TraceLens) with pandas 2.2.3 on Python 3.11 or newer
#
# Expected: ranks 0 and 1 wait for each other, and so do ranks 2 and 3. Kernels of both groups have "Process
# Group Name" 1 and differ in "Process Group Ranks": PyTorch's split_group, with which DeviceMesh makes its
# groups if init_process_group is given a device_id, names a group by the number of groups that the process has
# made before.
# Seen: operations are matched by the name alone. The report of the collectives ends with a ValueError; with
# strict_metadata_check=False the two groups are one, whose ranks wait for those of the other.
#
# Output: the error; then microseconds that each rank waits for the others, if it is not strict. Within each
# group one rank comes 100 us after the other.
# An argument is a clone that is here already.
set -euo pipefail

source=${1:-https://github.com/AMD-AGI/TraceLens}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
git clone -q --no-checkout "$source" tracelens
git -C tracelens checkout -q 171dd74721ca1ec45709e5805b68ae1f65e27811 -- TraceLens
python3 -m venv env
env/bin/pip -q install pandas==2.2.3 tqdm openpyxl orjson PyYAML matplotlib tabulate protobuf
cat >groups.py <<'PY'
import json, sys
sys.path.insert(0, 'tracelens')
from TraceLens import NcclAnalyser

BEGINS, END, files = [1000, 1100, 6000, 6100], [3000, 3000, 8000, 8000], []
for rank in range(4):
    kernel = {'ph': 'X', 'cat': 'kernel', 'name': 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)', 'pid': 0, 'tid': 7,
              'ts': BEGINS[rank], 'dur': END[rank] - BEGINS[rank], 'args': {
        'stream': 7, 'correlation': 1, 'Collective name': 'allreduce', 'dtype': 'Float', 'Group size': 2,
        'Process Group Name': '1', 'Process Group Description': 'mesh_tp',
        'Process Group Ranks': '[0, 1]' if rank < 2 else '[2, 3]', 'In msg nelems': 1000, 'Out msg nelems': 1000}}
    files.append(f'rank{rank}.json')
    with open(files[-1], 'w') as out:
        json.dump({'schemaVersion': 1, 'traceEvents': [kernel]}, out)
analyser = NcclAnalyser(files, 4)
try:
    analyser.build_df_nccl_implicit_sync_cat()
except ValueError as error:
    print(error)
of = analyser.build_df_nccl_implicit_sync_cat(detailed=True, strict_metadata_check=False)
print(len(of), 'operation; waits', *[int(of[f'rank_{rank}_wait_time'].iloc[0]) for rank in range(4)])
PY
seen=$(env/bin/python groups.py 2>/dev/null)
echo "$seen"
[[ $seen == "Metadata mismatch in 'Process Group Ranks' for collective 1_0: ['[0, 1]' '[2, 3]']
1 operation; waits 5100 5000 100 0" ]]
