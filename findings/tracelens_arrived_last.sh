#!/usr/bin/env bash
# TraceLens of commit 171dd74 (GitHub: AMD-AGI/TraceLens) with pandas 2.2.3 on Python 3.11 or newer
#
# Expected: pct_arrived_last of the straggler summary, "percentage of collectives where this rank was last", is
# of the collectives that the rank takes part in, and 100 for a rank that is last in all of them.
# Seen: it is of all collectives of the job (num_collectives, the same number for each rank). With tensor or
# pipeline parallelism most of them are of other groups: here a rank that is 500 us late in all its ten
# collectives has 25 %, less than ranks of a group of 30 that take turns and are 1 us late. With more groups it
# goes towards 0.
#
# Output: of each rank how often it was last, in how many of its collectives, pct_arrived_last, and for how
# long the other rank of its group waited in all. Ranks 0 and 1, and ranks 2 and 3, are a group.
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
cat >last.py <<'PY'
import json, sys
sys.path.insert(0, 'tracelens')
from TraceLens import NcclAnalyser

def reduce(number, group, begin, end):
    return {'ph': 'X', 'cat': 'kernel', 'name': 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)', 'pid': 0, 'tid': 7,
            'ts': begin, 'dur': end - begin, 'args': {
        'stream': 7, 'correlation': number, 'Collective name': 'allreduce', 'dtype': 'Float',
        'Group size': 2, 'Process Group Name': str(group), 'Process Group Ranks': str([2 * group, 2 * group + 1]),
        'In msg nelems': 1024, 'Out msg nelems': 1024}}

events = [[reduce(n, 0, 1000 * n + (n % 2 == rank), 1000 * n + 50) for n in range(30)] for rank in range(2)]
events += [[reduce(n, 1, 3000 * n + late, 3000 * n + 550) for n in range(10)] for late in (0, 500)]
files = []
for rank, of in enumerate(events):
    files.append(f'rank{rank}.json')
    with open(files[-1], 'w') as out:
        json.dump({'schemaVersion': 1, 'traceEvents': of}, out)
rows = NcclAnalyser(files, 4).build_df_straggler_summary().set_index('rank')
for rank, of in enumerate(events):
    row = rows.loc[rank]
    print(f"rank {rank}: {int(row['times_arrived_last'])} of {len(of)}, {row['pct_arrived_last']} %,",
          f"made wait {rows.loc[rank ^ 1, 'total_wait_time_us']:.0f} us")
PY
seen=$(env/bin/python last.py 2>/dev/null)
echo "$seen"
[[ $seen == "rank 0: 15 of 30, 37.5 %, made wait 15 us
rank 1: 15 of 30, 37.5 %, made wait 15 us
rank 2: 0 of 10, 0.0 %, made wait 0 us
rank 3: 10 of 10, 25.0 %, made wait 5000 us" ]]
