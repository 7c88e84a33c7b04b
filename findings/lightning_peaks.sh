#!/usr/bin/env bash
# Lightning 2.6.6 with PyTorch 2.15.0 (PyPI) on Python 3.10 or newer; pip installs gigabytes of CUDA's libraries
#
# Expected: get_available_flops, by which ThroughputMonitor divides for MFU, is the peak of the GPU without sparsity, in
# bf16 with tensor cores, as it is for an H100 SXM and an A100.
# Seen:
# - An L40S and an L40 are taken for an L4, because they have "l4" in their names: 121 TFLOP/s, where the L40S's data
#   sheet has 362. MFU is three times too high, and can be above 100 %.
# - An H100 NVL has 1,979, more than an H100 SXM: older data sheets give the sum of a pair of cards. Newer ones have
#   835 for a card.
# - An A40, an RTX A6000 and the GeForce RTX have the peak without tensor cores: of the A40 37, where its data
#   sheet has 150.
# Nothing is said. Of an H200 it says that the peak is unknown, although the table has numbers for it under "h200 sxm1".
#
# Output: peak in TFLOP/s in bf16 by the name that PyTorch has for the GPU.
# An argument is a Python that has this Lightning: then nothing is installed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python=${1:-$folder/env/bin/python}
cd "$folder"
if [ $# = 0 ]; then
    python3 -m venv env
    env/bin/pip -q install torch==2.15.0 numpy lightning==2.6.6
fi
cat >peaks.py <<'PY'
import importlib.metadata, logging, warnings
from unittest import mock
logging.disable(logging.CRITICAL)
warnings.simplefilter('ignore')
import torch
from lightning.fabric.utilities.throughput import get_available_flops
assert importlib.metadata.version('lightning') == '2.6.6'

for name in ('H100 80GB HBM3', 'A100-SXM4-80GB', 'L4', 'L40S', 'L40', 'H100 NVL', 'A40', 'RTX A6000', 'H200'):
    with mock.patch('torch.cuda.get_device_name', lambda device: 'NVIDIA ' + name):
        peak = get_available_flops(torch.device('cuda'), torch.bfloat16)
    print(f'{name}: {peak and round(peak / 1e12)}', end='; ')
PY
seen=$("$python" peaks.py 2>/dev/null)
echo "$seen"
[[ $seen == "H100 80GB HBM3: 989; A100-SXM4-80GB: 312; L4: 121; L40S: 121; L40: 121; H100 NVL: 1979; A40: 37; \
RTX A6000: 39; H200: None; " ]]
