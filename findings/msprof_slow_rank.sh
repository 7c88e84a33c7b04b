#!/usr/bin/env bash
# msprof-analyze 26.2.0 with pandas 2.2.3 (PyPI) on Python 3.11
#
# Expected: slow_rank votes the rank slow that every operation of a group waits for, also if the recording
# of another rank ends one operation earlier. Ranks seldom stop recording at the same operation.
# Seen: if not all operations of a group have the same number of ranks, slow_rank leaves out the whole group,
# without a word. Of a job with one group the answer is then "No slow rank found", as if all ranks were even.
#
# Output: votes for each rank of 8, of 100 operations that all wait for rank 5; then the same if rank 3 lacks
# the last operation. The recipe passes the operations of its databases to the same class.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install msprof-analyze==26.2.0 pandas==2.2.3
cat >votes.py <<'PY'
import pandas
from msprof_analyze.cluster_analyse.recipes.slow_rank.slow_rank import SlowRankVoteAnalysis

def votes(missing):
    rows = [(rank, 'group', f'hcom_allReduce__001_{op}_1', 10**6 * op + rank, 10.0 if rank == 5 else 1000.0 + rank)
            for rank in range(8) for op in range(100) if (rank, op) not in missing]
    found, _ = SlowRankVoteAnalysis(pandas.DataFrame(rows, columns=[
        'rankId', 'groupName', 'opName', 'startNs', 'communication_time'])).run()
    return {int(rank): int(n) for rank, n in found['slowAffectCount'].items()}
print(votes([]), votes([(3, 99)]))
PY
seen=$(env/bin/python votes.py 2>/dev/null)
echo "$seen"
[[ $seen == "{5: 100} {}" ]]
