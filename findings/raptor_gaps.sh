#!/usr/bin/env bash
# raptor of rocmProfileData, commit e943e7a (GitHub: ROCm/rocmProfileData), with pandas 2.2.3 and scipy 1.15.3
# (PyPI) on Python 3.11
#
# Expected: the row "GAP 10000us-100000us" has the gaps of 10 to 100 ms. raptor's README reads causes from
# these classes: up to 5 us is usual between kernels, 10 to 20 us is a drained queue, over 1 ms is the host.
# Seen: raptor first adds up the gaps before all calls of a sequence of kernels, then takes the class of the
# sum. Gaps before kernels that are called often stand in classes of longer gaps, whatever the bins are.
#
# Output: of the trace in raptor's own tests, milliseconds of gaps by upper bound of the class (us), each gap
# in its own class; then of raptor's rows; then the longest gap (us).
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
cat >gaps.py <<'PY'
import re, sys
sys.path.insert(0, 'rpd/raptor')
from raptor_parser import RaptorParser

parser = RaptorParser('rpd/raptor/tests/mytrace.rpd.gz')
gaps = parser.get_op_df()['PreGap_ns'].dropna()
of_class = {}
for gap in gaps[gaps > 0]:
    upper = next(bound for bound in parser.gaps[1:] if gap <= 1000 * bound)
    of_class[upper] = of_class.get(upper, 0) + gap / 1e6
print('each gap:', {upper: round(of_class[upper], 2) for upper in sorted(of_class)})
sums = parser.get_kernelseq_df()
rows = sums[sums['Category'] == '_GPU_Idle'][('Duration_ns', 'sum')]
print('raptor:', {int(re.findall(r'\d+', name[0])[-1]): round(ns / 1e6, 2) for name, ns in rows.items()})
print('longest:', round(gaps.max() / 1000))
PY
env/bin/python gaps.py 2>/dev/null | tee seen
diff seen - <<'EXPECTED'
each gap: {10: 0.74, 20: 0.9, 50: 1.12, 100: 0.3, 1000: 26.14, 10000: 8.74}
raptor: {100000: 22.62, 10000: 11.66, 1000: 3.31, 100: 0.26, 50: 0.05, 10: 0.0}
longest: 3477
EXPECTED
