#!/usr/bin/env bash
# TraceLens of commit 171dd74 (GitHub: AMD-AGI/TraceLens) with pandas 2.2.3 on Python 3.11 or newer
#
# Expected: aten::convolution_backward computes the gradients that its input output_mask asks for ("[False,
# True, False]": only that of the weight). So does the first convolution of a model, whose input needs no
# gradient.
# Seen: TraceLens counts the gradients of input and weight, whatever the mask. The first convolution has
# twice its FLOP and achieved FLOP/s: of ResNet-18's in TraceLens's own tests 14.2 GFLOP in 3 steps, where
# 7.1 are computed.
#
# Output: FLOP for the gradient of the weight only, and for both.
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
cat >gradients.py <<'PY'
import sys
sys.path.insert(0, 'tracelens')
from TraceLens.PerfModel.perf_model import aten_conv_bwd

def flop(mask):
    return aten_conv_bwd({'name': 'aten::convolution_backward', 'args': {
        'Input Dims': [[1, 8, 4, 4], [1, 3, 4, 4], [8, 3, 1, 1], [], [], [], [], [], [], [], []],
        'Input type': ['float'] * 3 + [''] * 8,
        'Input Strides': [[128, 16, 4, 1], [48, 16, 4, 1], [3, 1, 1, 1]] + [[]] * 8,
        'Concrete Inputs': ['', '', '', '[0]', '[1, 1]', '[0, 0]', '[1, 1]', 'False', '[0, 0]', '1', mask]}}).flops()
print(int(flop('[False, True, False]')), int(flop('[True, True, False]')))
PY
seen=$(env/bin/python gradients.py 2>/dev/null)
echo "$seen"
# 2 x (8 x 3) x (4 x 4) = 768 for each gradient
[[ $seen == "1536 1536" ]]
