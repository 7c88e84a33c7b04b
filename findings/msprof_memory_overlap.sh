#!/usr/bin/env bash
# msprof-analyze 26.2.0 with pandas 2.2.3 (PyPI) on Python 3.11
#
# Expected: cluster_time_summary's "Memory Not Overlap Computation Communication" is the time of copies during
# which nothing is computed or communicated. It subtracts this from Free.
# Seen: if an operation runs within another while a copy runs, as a kernel does during a communication, the
# sum goes back to the end of the inner one, and counts from there on as not overlapped: the column is too
# large and Free too small, down to below 0.
#
# Output: microseconds not overlapped of a copy of 100 us: with a communication from 20 to 60; also with a
# kernel from 30 to 40; with a communication from 20 to 100 and a kernel from 30 to 40. The recipe passes
# the operations of its databases, sorted by begin, to the same function.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install --disable-pip-version-check msprof-analyze==26.2.0 pandas==2.2.3
cat >overlap.py <<'PY'
import pandas
from msprof_analyze.cluster_analyse.recipes.cluster_time_summary.cluster_time_summary import ClusterTimeSummary

KERNEL, COMMUNICATION, COPY = (getattr(ClusterTimeSummary, kind + '_TYPE')
                               for kind in ('COMPUTING', 'COMMUNICATION', 'MEMORY'))

def exposed(*operations):
    rows = [(1000 * begin, 1000 * end, kind) for begin, end, kind in operations]
    return ClusterTimeSummary.get_memory_not_overlap(pandas.DataFrame(rows, columns=['start', 'end', 'type']))

copy, kernel = (0, 100, COPY), (30, 40, KERNEL)
print(exposed(copy, (20, 60, COMMUNICATION)), exposed(copy, (20, 60, COMMUNICATION), kernel),
      exposed(copy, (20, 100, COMMUNICATION), kernel))
PY
seen=$(env/bin/python overlap.py 2>/dev/null)
echo "$seen"
[[ $seen == "60.0 80.0 80.0" ]]
