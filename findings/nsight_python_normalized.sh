#!/usr/bin/env bash
# nsight-python 1.1.0 with pandas 2.2.3 (PyPI) on Python 3.11 or newer, x86-64
#
# Expected: with normalize_against=, the columns beside AvgValue of a kernel (standard deviation, minimum, maximum, and
# the bounds of the 95 % confidence interval) are in the same unit as it, so that the mean lies between them.
# Seen: only AvgValue is divided by the value of the other annotation. A kernel that takes half as long has 0.5, with
# an interval from 48.9 to 51.1 (ns). And the bounds are 1.96 standard errors from the mean, however few the runs
# are: of three, Student's t has 4.30, so that the interval is less than half as wide as 95 % need.
#
# Output: mean, minimum, maximum and bounds of "new", which takes 49, 50 and 51 ns, normalized against "old", which takes
# 98, 100 and 102 ns.
# The runs are given to the function that sums them up; no GPU is used.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install nsight-python==1.1.0 pandas==2.2.3
cat >normalized.py <<'PY'
import pandas as pd
from nsight.transformation import aggregate_data
from nsight.utils import VerbosityLevel

runs = [{'Annotation': name, 'Metric': 'gpu__time_duration.sum', 'Value': value, 'Kernel': name, 'size': 1}
        for name, values in (('old', (98, 100, 102)), ('new', (49, 50, 51))) for value in values]
rows = aggregate_data(pd.DataFrame(runs), lambda size: None, 'old', min(VerbosityLevel))
for row in rows[rows.Annotation == 'new'].itertuples():
    print(row.AvgValue, row.MinValue, row.MaxValue, round(row.CI95_Lower, 1), round(row.CI95_Upper, 1))
PY
seen=$(env/bin/python normalized.py)
echo "$seen"
[[ $seen == "0.5 49 51 48.9 51.1" ]]
