#!/usr/bin/env bash
# raptor of rocmProfileData, commit e943e7a (GitHub: ROCm/rocmProfileData), with pandas 2.2.3 and scipy 1.15.3
# (PyPI) on Python 3.11
#
# Expected: the column Var_us of the kernels has microseconds, as its neighbours Dur_min_us and Dur_mean_us:
# how much longer a call is on average than the fastest. --roi-start 0.45s begins at 0.45 s; the README has
# this form.
# Seen: Var_us is a tenth of that: nanoseconds are divided by 10,000. Of a time in seconds, the last digit is
# cut off with the unit: 0.45s begins at 0.4 s, 0.4s at 0.
#
# Output: of the trace in raptor's own tests, the mean less the minimum of the first kernel, and its Var_us;
# then the begin of the region in ms, for 450 ms, 0.45 s and 0.4 s.
# An argument is a clone that is here already.
set -euo pipefail

source=${1:-https://github.com/ROCm/rocmProfileData}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
git clone -q --no-checkout "$source" rpd
git -C rpd checkout -q e943e7a5e87850cdf8b2223e0afa785849e6bbc0 -- raptor
python3 -m venv env
env/bin/pip -q install --disable-pip-version-check pandas==2.2.3 scipy==1.15.3
cat >units.py <<'PY'
import sys
sys.path.insert(0, 'rpd/raptor')
from raptor_parser import RaptorParser

FILE = 'rpd/raptor/tests/mytrace.rpd.gz'
first = RaptorParser(FILE).get_pretty_kernelseq_df().iloc[0]
print('mean less minimum', round(float(first['Dur_mean_us']) - float(first['Dur_min_us']), 1),
      'Var_us', round(first['Var_us'], 2))
for begin in ('450ms', '0.45s', '0.4s'):
    print(begin, 'begins at', RaptorParser(FILE, roi_start=begin).roi_start_ns / 1e6)
PY
seen=$(env/bin/python units.py 2>/dev/null)
echo "$seen"
[[ $seen == "mean less minimum 93.8 Var_us 9.38
450ms begins at 450.0
0.45s begins at 400.0
0.4s begins at 0.0" ]]
