#!/usr/bin/env bash
# perf_summary_exporter.py of NCCL's Inspector, commit 5067397 (GitHub: NVIDIA/nccl), with pandas 2.2.3, duckdb
# 1.1.3, pyarrow 18.1.0 and matplotlib 3.9.4 (PyPI) on Python 3.11
#
# Expected: in the summary of a collective, coll_start_timestamp_us, coll_end_timestamp_us and coll_duration_us
# (also as coll_duration_human) say when it ran, and for how long.
# Seen: they are the first and the last dump_timestamp_us of the ranks: when each rank's thread wrote the line
# to its file, as it does at intervals of its own. The duration is 0 if one rank was recorded, and else has
# nothing to do with the operation. How long that took (coll_exec_time_us) is in no summary.
#
# Output: of three AllReduces of two ranks, the recorded microseconds of each rank, and coll_duration_us. The
# second took as long as the first, and one of the ranks wrote it 40 ms later.
# An argument is a clone that is here already.
set -euo pipefail

source=${1:-https://github.com/NVIDIA/nccl}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
git clone -q --no-checkout "$source" nccl
git -C nccl checkout -q 5067397c2676d5aed50042fc39e5c8ee96eb0027 -- plugins/profiler/inspector/exporter
python3 -m venv env
env/bin/pip -q install --disable-pip-version-check pandas==2.2.3 duckdb==1.1.3 pyarrow==18.1.0 matplotlib==3.9.4 tqdm
cat >make.py <<'PY'
import json, os

TOOK, WROTE = [[5000, 5000], [5000, 5000], [90, 90]], [[0, 200], [20_000, 60_000], [70_000, 70_000]]
os.mkdir('logs')
for rank in range(2):
    with open(f'logs/host-pid{rank}.log', 'w') as out:
        for number in range(3):
            size, took = 64_000_000, TOOK[number][rank]
            rate = size / took / 1000
            print(json.dumps({
                'header': {'id': '0x1', 'rank': rank, 'n_ranks': 2, 'nnodes': 1},
                'metadata': {'inspector_output_format_version': 'v4.0', 'git_rev': '', 'hostname': 'host', 'pid': rank,
                             'rec_mechanism': 'nccl_profiler_interface',
                             'dump_timestamp_us': 1_764_547_200_000_000 + WROTE[number][rank]},
                'coll_perf': {'coll': 'AllReduce', 'coll_sn': number, 'coll_msg_size_bytes': size,
                              'coll_exec_time_us': took, 'coll_timing_source': 'kernel_gpu',
                              'coll_algobw_gbs': rate, 'coll_busbw_gbs': rate}}), file=out)
PY
cat >read.py <<'PY'
import csv, glob, json
lines = [json.loads(line)['coll_perf'] for file in sorted(glob.glob('logs/*')) for line in open(file)]
with open(*glob.glob('out/summary/*/summary_*.csv')) as file:
    for row in csv.DictReader(file):
        took = [line['coll_exec_time_us'] for line in lines if line['coll_sn'] == int(row['coll_sn'])]
        print('recorded', *took, 'summary', row['coll_duration_us'])
PY
python3 make.py
MPLBACKEND=agg env/bin/python nccl/plugins/profiler/inspector/exporter/example/perf_summary_exporter.py \
    --input_dir logs --output_dir out >/dev/null 2>&1
seen=$(python3 read.py)
echo "$seen"
[[ $seen == "recorded 5000 5000 summary 200
recorded 5000 5000 summary 40000
recorded 90 90 summary 0" ]]
