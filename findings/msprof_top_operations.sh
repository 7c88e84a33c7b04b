#!/usr/bin/env bash
# msprof-analyze 26.2.0 with pandas 2.2.3 (PyPI) on Python 3.11
#
# Expected: HcclTopOpStats of hccl_sum has the slowest operations, each with its mean over the ranks of its group,
# and with its slowest and fastest rank.
# Seen: it takes operations with the same name for one. Of the group, HCCL's names (hcom_allReduce__576_0_1) have
# the last three digits of a hash: of 64 groups, as a job of 512 NPUs has for tensor parallelism, some
# share them. Such groups become one row, with the mean of both, and as slowest and fastest rank one of each
# group, which never meet. The slowest operation falls behind faster ones. The table's data has the
# groups' full names.
#
# Output: of 64 groups of 8 ranks, of which one takes 10 ms for an all-reduce, one 6 ms, and the others 1 ms: how
# many groups share their digits with another; then of the two slowest rows the mean in ms, the number of ranks,
# slowest and fastest rank: if the slow group has digits of its own, and if it shares them.
# The recipe passes the operations of its databases to the same method.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install --disable-pip-version-check msprof-analyze==26.2.0 pandas==2.2.3
cat >top.py <<'PY'
import collections
import pandas
from msprof_analyze.cluster_analyse.recipes.hccl_sum.hccl_sum import HcclSum, double_hash

GROUPS = [f'10.0.0.{host}%enp189s0f0_60000_0_1736407029{972691 + 1009 * host}' for host in range(64)]
digits = [double_hash(name)[-3:] for name in GROUPS]
shared = [group for group, mine in enumerate(digits) if collections.Counter(digits)[mine] > 1]
own = [group for group in range(64) if group not in shared]
print(len(shared), 'of 64 groups')

def slowest(group, second):
    recipe = HcclSum.__new__(HcclSum)
    recipe.top_num = 2
    took = {group: 10_000_000, second: 6_000_000}

    def called(rank):
        return {group: 'of the slow', second: 'of the second'}.get(rank // 8, 'of another')

    recipe.reducer_func([pandas.DataFrame({'OpName': [f'hcom_allReduce__{digits[rank // 8]}_0_1'],
                                           'OpType': ['hcom_allReduce_'], 'GroupName': [GROUPS[rank // 8]],
                                           'Duration': [took.get(rank // 8, 1_000_000) + rank], 'Rank': [rank]})
                         for rank in range(512)])
    return [(round(row.MeanNs / 1e6, 1), int(row.Count), called(row.MaxRank), called(row.MinRank))
            for row in recipe.top_op_stats.itertuples()]

print(slowest(own[0], own[1]))
print(slowest(shared[0], own[1]))
PY
seen=$(env/bin/python top.py 2>/dev/null)
echo "$seen"
[[ $seen == "6 of 64 groups
[(10.0, 8, 'of the slow', 'of the slow'), (6.0, 8, 'of the second', 'of the second')]
[(6.0, 8, 'of the second', 'of the second'), (5.5, 16, 'of the slow', 'of another')]" ]]
