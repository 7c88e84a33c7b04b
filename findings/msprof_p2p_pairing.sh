#!/usr/bin/env bash
# msprof-analyze 26.2.0 with pandas 2.2.3 (PyPI) on Python 3.11
#
# Expected: p2p_pairing gives a send the same opConnectionId as its receive on the other rank. The id has
# the group, both ranks within it, and a number: how many there were before between these two.
# Seen: the number is counted over all groups in which the two ranks have these places. If a group is of two ranks, as
# for a pair of stages of a pipeline, a stage in the middle counts what it receives from the stage before
# (place 0 to 1 of one group) and what it sends to the next (0 to 1 of another) together, and its
# neighbours count each alone. Of all but the first, ids agree with those of operations that they do not belong
# to, or with none.
#
# Output: ids of the operations of four microbatches on the links between three stages, on the rank that sends and on
# the rank that receives.
# The recipe passes the operations of its databases to the same method.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install --disable-pip-version-check msprof-analyze==26.2.0 pandas==2.2.3
cat >pairs.py <<'PY'
import pandas
from msprof_analyze.cluster_analyse.recipes.p2p_pairing.p2p_pairing import P2PPairing

def ids(*operations):
    """Of operations (group, whether it sends, time): srcRank is the own place in the group."""
    recipe = P2PPairing.__new__(P2PPairing)
    counts, rows = {}, []
    for group, sends, time in operations:
        name = f"hcom_{'send' if sends else 'receive'}__{group}_{counts.setdefault(group, 0)}_1"
        counts[group] += 1
        rows.append((name, len(rows), time, 0 if sends else 1, 1 if sends else 0))
    table = pandas.DataFrame(rows, columns=['opName', 'opNameId', 'startTime', 'srcRank', 'opDstRank'])
    found = recipe.generate_p2p_connection_index(table)
    return found.sort_values('startTime')['opConnectionId'].tolist()

first = ids(*((111, True, 10 * n) for n in range(4)))
middle = ids(*(operation for n in range(4) for operation in ((111, False, 10 * n + 1), (222, True, 10 * n + 5))))
last = ids(*((222, False, 10 * n + 6) for n in range(4)))
print('first to middle:', *first, '|', *(name for name in middle if name.startswith('111')))
print('middle to last:', *(name for name in middle if name.startswith('222')), '|', *last)
PY
seen=$(env/bin/python pairs.py 2>/dev/null)
echo "$seen"
[[ $seen == "first to middle: 111_0_1_0 111_0_1_1 111_0_1_2 111_0_1_3 | 111_0_1_0 111_0_1_2 111_0_1_4 111_0_1_6
middle to last: 222_0_1_1 222_0_1_3 222_0_1_5 222_0_1_7 | 222_0_1_0 222_0_1_1 222_0_1_2 222_0_1_3" ]]
