#!/usr/bin/env bash
# TraceLens of commit 171dd74 (GitHub: AMD-AGI/TraceLens) with pandas 2.2.3 on Python 3.11 or newer
#
# Expected: replica_groups=[4,2]<=[2,4]T(1,0) in an XLA dump are {0,4},{1,5},{2,6},{3,7}: numbers 0 to 7 as
# 2 rows of 4, transposed. XLA writes groups so that are not of neighbours, such as those along the first axis
# of a mesh.
# Seen: T(1,0) is cut off before the groups are worked out: they are {0,1},{2,3},{4,5},{6,7}. So the report
# takes the shortest time of two ranks that do not communicate, and links within a host for those between hosts.
#
# Output: the groups of the same all-reduce in XLA's two spellings.
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
import sys
sys.path.insert(0, 'tracelens')
from TraceLens.NcclAnalyser.util.xla_parser import XLACollectiveParser

with open('module.txt', 'w') as out:
    for number, groups in enumerate(('{{0,4},{1,5},{2,6},{3,7}}', '[4,2]<=[2,4]T(1,0)')):
        print(f'  %all-reduce.{number} = f32[64]{{0}} all-reduce(f32[64]{{0}} %x), channel_id=1, '
              f'replica_groups={groups}, to_apply=%add, metadata={{scheduling_name="all-reduce.{number}"}}', file=out)
for groups in XLACollectiveParser({0: 'module.txt'}).parse_collectives_to_dataframe()['replica_groups']:
    print(groups)
PY
seen=$(env/bin/python groups.py 2>/dev/null)
echo "$seen"
[[ $seen == "[[0, 4], [1, 5], [2, 6], [3, 7]]
[[0, 1], [2, 3], [4, 5], [6, 7]]" ]]
