#!/usr/bin/env bash
# TraceLens of commit 171dd74 (GitHub: AMD-AGI/TraceLens) with pandas 2.2.3 on Python 3.11 or newer
#
# Expected: the FLOP of flash_attn's backward pass depend on whether its attention is causal. Its operator
# flash_attn::_flash_attn_backward has the inputs dout, q, k, v, out, softmax_lse, dq, dk, dv, dropout_p,
# softmax_scale, causal, ... (flash_attn/flash_attn_interface.py of 2.7.0 to 2.8.3), so that `causal` is the
# item of index 11 in "Concrete Inputs".
# Seen: TraceLens takes the item of index 10, softmax_scale, which is never 0. All attention counts as
# causal, with half of its FLOP.
#
# Output: FLOP of the backward pass of attention that is not causal, and of attention that is.
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
cat >flash.py <<'PY'
import sys
sys.path.insert(0, 'tracelens')
from TraceLens.PerfModel.perf_model import flash_attention_backward

SHAPE = [2, 512, 16, 64]

def flop(causal):
    values = [''] * 9 + ['0.', '0.125', causal, '-1', '-1', '0.', '', 'False', '']
    return flash_attention_backward({'name': 'flash_attn::_flash_attn_backward', 'args': {
        'Input Dims': [SHAPE] * 5, 'Input type': ['c10::BFloat16'] * 5, 'Input Strides': [[524288, 1024, 64, 1]] * 5,
        'Concrete Inputs': values}}).flops()
print(int(flop('False')), int(flop('True')))
PY
seen=$(env/bin/python flash.py 2>/dev/null)
echo "$seen"
# 10 x 2 x 16 x 512 x 512 x 64 = 5368709120 without a mask
[[ $seen == "2684354560 2684354560" ]]
