#!/usr/bin/env bash
# msprof-analyze 26.2.0 with pandas 2.2.3 (PyPI) on Python 3.11
#
# Expected: CannApiSum of cann_api_sum has, for each call of CANN, mean, median and quartiles of its times on all ranks.
# Seen: mean, minimum and maximum are of all calls; the first quartile is the smallest of the ranks' first quartiles, the
# third the largest of the third ones, and the median the median of the ranks' medians, however often a rank
# called. Ranks with a single slow call make median and third quartile that of their calls: both can be
# hundreds of times the mean.
#
# Output: calls, mean, quartiles and median in us of a call that takes 10 us 1000 times on each of four ranks, and
# 5000 us once on each of five others: by hand, of all calls; then by the recipe.
# The recipe passes the statistics of its databases to the same method.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install msprof-analyze==26.2.0 pandas==2.2.3
cat >quartiles.py <<'PY'
from statistics import mean, quantiles
import pandas as pd
from msprof_analyze.cluster_analyse.recipes.cann_api_sum.cann_api_sum import CannApiSum

ranks = 4 * [(1000, 10_000)] + 5 * [(1, 5_000_000)]
calls = [ns for count, ns in ranks for _ in range(count)]
print(len(calls), *(round(ns / 1000, 1) for ns in (mean(calls), *quantiles(calls))))
recorded = pd.DataFrame([{'name': 'aclrtSynchronizeStream', 'rank': rank, 'totalCount': count, 'totalTimeNs': count * ns,
                          'averageNs': ns, 'Q1Ns': ns, 'medNs': ns, 'Q3Ns': ns, 'minNs': ns, 'maxNs': ns, 'stdev': 0}
                         for rank, (count, ns) in enumerate(ranks)])
row, = CannApiSum._aggregate_stats(recorded).itertuples()
print(row.totalCount, *(round(ns / 1000, 1) for ns in (row.averageNs, row.Q1Ns, row.medNs, row.Q3Ns)))
PY
seen=$(env/bin/python quartiles.py 2>/dev/null)
echo "$seen"
[[ $seen == "4005 16.2 10.0 10.0 10.0
4005 16.2 10.0 5000.0 5000.0" ]]
