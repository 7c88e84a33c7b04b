#!/usr/bin/env bash
# msprof-analyze 26.2.0 with pandas 2.2.3 (PyPI) on Python 3.11
#
# Expected: slow_link finds the operations of a group that always take five times as long as the same operations
# of the other groups, in a job of 8 groups of 8 ranks too.
# Seen: a time is an outlier if it is more than three standard deviations from the mean. Slow times raise both:
# if a share p of the operations is slow, they are sqrt((1 - p)/p) standard deviations from the mean, however
# slow they are. That is more than three only if less than a tenth is slow. With 9 groups or fewer, no group
# that is always slow is found, and the result is empty, as if all links were even.
#
# Output: of 2, 8, 9, 11 and 16 groups of 8 ranks, of which one is slow by the factor 5 and then 500, the rows of
# the result.
# The recipe passes the operations of its databases to the same class.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install msprof-analyze==26.2.0 pandas==2.2.3
cat >links.py <<'PY'
import pandas
from msprof_analyze.cluster_analyse.recipes.slow_link.slow_link import SlowLink

def found(groups, factor):
    recipe = SlowLink.__new__(SlowLink)
    recipe.slow_link_sum, recipe.slow_link_ops, recipe.top_num = [], [], 15
    recipe.merge_func([pandas.DataFrame(
        [(rank, f'group{rank // 8}', f'hcom_allReduce__{rank // 8}_{op}_1', 'hcom_allReduce_', 10**8,
          (factor if rank < 8 else 1) * 10**6 + 1000 * (op % 7) + rank)
         for rank in range(8 * groups) for op in range(50)],
        columns=['rankId', 'groupName', 'opName', 'opType', 'dataSize', 'communicationTime'])])
    return len(recipe.slow_link_sum)
for groups in 2, 8, 9, 11, 16:
    print(groups, found(groups, 5), found(groups, 500))
PY
seen=$(env/bin/python links.py 2>/dev/null)
echo "$seen"
[[ $seen == "2 0 0
8 0 0
9 0 0
11 1 1
16 1 1" ]]
