#!/usr/bin/env bash
# TraceLens of commit 171dd74 (GitHub: AMD-AGI/TraceLens) with pandas 2.2.3 on Python 3.11 or newer
#
# Expected: the summary of collectives has a row for each group, or for each size of group. It has columns
# "Process Group Name", "Group size" and "Full msg size (MB)".
# Seen: rows are by name, type and input size alone; those columns are the first group's. All-gathers of the
# same tensor within a host and over all hosts are one row, said to be of the first group. Its mean bus
# bandwidth is that of neither, and its full size is wrong for one of them: an all-gather's size grows with
# its group.
#
# Output: of each operation group, size of group, full size, and bus bandwidth; then the rows of the summary
# with the same columns (the bandwidth is the mean) and the number of operations.
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

PARTS = 2 ** 28  # 1024 MB of floats from each rank

def gather(number, group, name, begin, took):
    return {'ph': 'X', 'cat': 'kernel', 'name': 'ncclDevKernel_AllGather_RING_LL(x)', 'pid': 0, 'tid': 7,
            'ts': begin, 'dur': took, 'args': {
        'stream': 7, 'correlation': number, 'Collective name': '_allgather_base', 'dtype': 'Float',
        'Group size': len(group), 'Process Group Name': name, 'Process Group Ranks': str(group),
        'In msg nelems': PARTS, 'Out msg nelems': PARTS * len(group)}}

files = []
for rank in range(4):
    host, name = ([0, 1], '1') if rank < 2 else ([2, 3], '2')
    files.append(f'rank{rank}.json')
    with open(files[-1], 'w') as out:
        json.dump({'schemaVersion': 1, 'traceEvents': [
            gather(1, host, name, 0, 10_000), gather(2, [0, 1, 2, 3], '0', 10_000, 300_000)]}, out)
analyser = NcclAnalyser(files, 4)
columns = ['Process Group Name', 'Group size', 'Full msg size (MB)']
for row in analyser.build_df_nccl_implicit_sync_cat()[columns + ['bus bw (GB/s)']].values.tolist():
    print('group', row[0], *map(round, row[1:]))
summary = analyser.build_df_summary_nccl_implicit_sync_cat()
for row in summary[columns + ['bus bw (GB/s)_mean', 'count']].values.tolist():
    print('summary', row[0], *map(round, row[1:]))
PY
seen=$(env/bin/python groups.py 2>/dev/null)
echo "$seen"
[[ $seen == "group 1 2 2048 100
group 0 4 4096 10
group 2 2 2048 100
summary 1 2 2048 70 3" ]]
