#!/usr/bin/env bash
# TraceLens of commit 171dd74 (GitHub: AMD-AGI/TraceLens) with pandas 2.2.3 on Python 3.11 or newer
#
# Expected: the matrix of all-to-all bytes by source and destination rank has ranks of the job in both, also
# where the group is not all ranks, as with expert parallelism beside data parallelism.
# Seen: the source is a rank of the job, the destination the place in the group. Of ranks 2 and 3, who send
# to one another alone, it says that they send to ranks 0 and 1.
#
# Output: pairs of ranks and bytes that NcclAnalyser.build_df_all2allv_heatmap() has of groups [0, 1] and
# [2, 3], whose members send 10 elements of 4 bytes to themselves and 20 to the other.
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
cat >pairs.py <<'PY'
import json, sys
sys.path.insert(0, 'tracelens')
from TraceLens import NcclAnalyser

files = []
for rank in range(4):
    group = [0, 1] if rank < 2 else [2, 3]
    sizes = [10, 20] if rank in (0, 2) else [20, 10]
    kernel = {'ph': 'X', 'cat': 'kernel', 'name': 'ncclDevKernel_SendRecv(x)', 'pid': 0, 'tid': 7, 'ts': 100,
              'dur': 50, 'args': {
        'stream': 7, 'correlation': 1, 'Collective name': 'all_to_allv', 'dtype': 'Float', 'Group size': 2,
        'Process Group Name': '1' if rank < 2 else '2', 'Process Group Ranks': str(group), 'In msg nelems': 30,
        'Out msg nelems': 30, 'In split size': str(sizes), 'Out split size': str(sizes)}}
    files.append(f'rank{rank}.json')
    with open(files[-1], 'w') as out:
        json.dump({'schemaVersion': 1, 'traceEvents': [kernel]}, out)
found = NcclAnalyser(files, 4).build_df_all2allv_heatmap()
print(*[f'{int(row[0])}>{int(row[1])}:{round(row[2] * 1024 ** 2)}' for row in found.values.tolist()])
PY
seen=$(env/bin/python pairs.py 2>/dev/null)
echo "$seen"
[[ $seen == "0>0:40 0>1:80 1>0:80 1>1:40 2>0:40 2>1:80 3>0:80 3>1:40" ]]
