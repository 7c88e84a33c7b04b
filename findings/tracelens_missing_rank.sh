#!/usr/bin/env bash
# TraceLens of commit 171dd74 (GitHub: AMD-AGI/TraceLens) with pandas 2.2.3 on Python 3.11 or newer
#
# Expected: generate_collective_report with strict_world_size_check=False, which reads what is there if the
# trace of a rank is missing, names the other ranks as before.
# Seen: it says that it skips the missing file, and numbers those that are left from 0 on: without rank 2's, what
# rank 3 did is reported as rank 2's. The rank in the trace (distributedInfo) and in the file's name is not
# looked at. The report blames the rank of which nothing is known.
#
# Output: of each rank of the straggler summary how often it came last, of a job of four ranks in which rank 3 always
# does: with all traces, and without that of rank 2.
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
cat >missing.py <<'PY'
import contextlib, json, os, sys
sys.path.insert(0, 'tracelens')
from TraceLens.Reporting.generate_multi_rank_collective_report_pytorch import generate_collective_report

def reduce(rank, number):
    begin, end = 1000 * number + (500 if rank == 3 else 0), 1000 * number + 600
    return {'ph': 'X', 'cat': 'kernel', 'name': 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)', 'pid': 0, 'tid': 7,
            'ts': begin, 'dur': end - begin, 'args': {
        'stream': 7, 'correlation': number, 'Collective name': 'allreduce', 'dtype': 'Float', 'Group size': 4,
        'Process Group Name': '0', 'Process Group Ranks': '[0, 1, 2, 3]', 'In msg nelems': 1024, 'Out msg nelems': 1024,
        'In split size': '[]', 'Out split size': '[]'}}

os.mkdir('job')
for rank in range(4):
    with open(f'job/rank{rank}_trace.json', 'w') as out:
        json.dump({'schemaVersion': 1, 'distributedInfo': {'rank': rank, 'world_size': 4},
                   'traceEvents': [reduce(rank, n) for n in range(10)]}, out)

def last():
    with contextlib.redirect_stdout(sys.stderr):
        rows = generate_collective_report(trace_dir='job', world_size=4, strict_world_size_check=False,
                                          output_csvs_dir='report')['straggler_summary']
    return dict(zip(rows['rank'].tolist(), rows['times_arrived_last'].tolist()))

every = last()
os.remove('job/rank2_trace.json')
print(*(sorted(times.items()) for times in (every, last())), sep='\n')
PY
seen=$(env/bin/python missing.py 2>/dev/null)
echo "$seen"
[[ $seen == "[(0, 0), (1, 0), (2, 0), (3, 10)]
[(0, 0), (1, 0), (2, 10)]" ]]
