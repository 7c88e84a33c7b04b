#!/usr/bin/env bash
# TraceLens of commit 171dd74 (GitHub: AMD-AGI/TraceLens) with pandas 2.2.3 on Python 3.11 or newer
#
# Expected: collectives of two ranks are matched by their numbers, which PyTorch's profiler records (Seq). One
# that only one rank has, because the other began to record a moment later, is left out.
# Seen: it matches the first of a group with the first, the second with the second, and so on. One
# collective more at the begin of a trace moves all that follow: each is matched with the one before, waits are as
# long as the time between two, and the rank with fewer is said to be always last. The one that is left
# over at the end counts as one of its rank alone, which is then both first and last. Nothing is said.
#
# Output: of two ranks that are never late, with all-reduces 10,000 us apart, the sum of waits and how often
# each came last: if both have numbers 0 to 5, and if rank 1 has 1 to 5.
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
cat >order.py <<'PY'
import json, sys
sys.path.insert(0, 'tracelens')
from TraceLens import NcclAnalyser

def reduce(number):
    return {'ph': 'X', 'cat': 'kernel', 'name': 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)', 'pid': 0, 'tid': 7,
            'ts': 10_000 * number, 'dur': 50, 'args': {
        'stream': 7, 'correlation': number, 'Collective name': 'allreduce', 'dtype': 'Float',
        'Group size': 2, 'Process Group Name': '0', 'Process Group Ranks': '[0, 1]', 'Seq': number,
        'In msg nelems': 1024, 'Out msg nelems': 1024}}

for first in 0, 1:
    files = []
    for rank in range(2):
        files.append(f'rank{rank}.json')
        with open(files[-1], 'w') as out:
            json.dump({'schemaVersion': 1, 'traceEvents': [reduce(n) for n in range(first if rank else 0, 6)]}, out)
    rows = NcclAnalyser(files, 2).build_df_straggler_summary().set_index('rank').sort_index()
    print(f'rank 1 from {first}: waits {rows["total_wait_time_us"].sum():.0f} us, last',
          *(f'{int(times)} of {of}' for times, of in rows[['times_arrived_last', 'num_collectives']].values))
PY
seen=$(env/bin/python order.py 2>/dev/null)
echo "$seen"
[[ $seen == "rank 1 from 0: waits 0 us, last 6 of 6 0 of 6
rank 1 from 1: waits 50000 us, last 1 of 6 5 of 6" ]]
