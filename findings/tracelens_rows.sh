#!/usr/bin/env bash
# TraceLens of commit 171dd74 (GitHub: AMD-AGI/TraceLens) with pandas 2.2.3 on Python 3.11 or newer
#
# Expected: the matrix of all-to-all bytes adds up to what the ranks send. PyTorch records the split sizes
# of all_to_all_single as it is given them: in rows, along dimension 0. The number of elements stands beside
# them ("In msg nelems").
# Seen: the split sizes are taken for elements. Of a tensor with 8 columns the matrix has an eighth of the
# bytes, while the same report's "In msg size (MB)" of the same operation is right.
#
# Output: bytes that the matrix has from rank 0 to both ranks, and bytes that the message of rank 0 has
# there, for 30 rows of 8 columns of 4 bytes, of which 10 rows stay and 20 go to rank 1.
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
cat >rows.py <<'PY'
import json, sys
sys.path.insert(0, 'tracelens')
from TraceLens import NcclAnalyser

ROWS, COLUMNS = [[10, 20], [20, 10]], 8
files = []
for rank in range(2):
    elements = sum(ROWS[rank]) * COLUMNS
    kernel = {'ph': 'X', 'cat': 'kernel', 'name': 'ncclDevKernel_SendRecv(x)', 'pid': 0, 'tid': 7, 'ts': 100,
              'dur': 50, 'args': {
        'stream': 7, 'correlation': 1, 'Collective name': 'all_to_allv', 'dtype': 'Float', 'Group size': 2,
        'Process Group Name': '0', 'Process Group Ranks': '[0, 1]', 'In msg nelems': elements,
        'Out msg nelems': elements, 'In split size': str(ROWS[rank]), 'Out split size': str(ROWS[rank])}}
    files.append(f'rank{rank}.json')
    with open(files[-1], 'w') as out:
        json.dump({'schemaVersion': 1, 'traceEvents': [kernel]}, out)
analyser = NcclAnalyser(files, 2)
sent = [round(row[2] * 1024 ** 2) for row in analyser.build_df_all2allv_heatmap().values.tolist() if row[0] == 0]
message = analyser.df_per_rank_coll.query('rank == 0')['In msg size (MB)'].iloc[0]
print('matrix', *sent, 'message', round(message * 1024 ** 2))
PY
seen=$(env/bin/python rows.py 2>/dev/null)
echo "$seen"
[[ $seen == "matrix 40 80 message 960" ]]
