#!/usr/bin/env bash
# PyTorch 2.15.0 (PyPI: torch) on Python 3.10 or newer, which pip installs with gigabytes of CUDA's libraries
#
# Expected: with_flops=True of PyTorch's profiler has the FLOP of a training step, so that their sum over the
# step's time is how well the device is used. Its documentation says that it estimates matrix products and 2D
# convolutions.
# Seen: a linear layer has its three products, forward and backward. A 2D convolution has the forward one only: the
# two of the backward pass are two thirds of the work. 1D, 3D and transposed convolutions and
# scaled_dot_product_attention have none, although torch.utils.flop_counter counts them. A multiplication has the
# elements of its first operand, whatever is broadcast.
#
# Output: FLOP by the profiler, and by FlopCounterMode, of forward and backward of layers, and of a product of
# [4, 1] and [16], which has 64 elements.
# An argument is a Python that has this PyTorch: then nothing is installed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python=${1:-$folder/env/bin/python}
cd "$folder"
if [ $# = 0 ]; then
    python3 -m venv env
    env/bin/pip -q install torch==2.15.0 numpy
fi
cat >flops.py <<'PY'
import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode
assert torch.__version__.startswith('2.15.0')

def both(name, run):
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, with_flops=True) as of:
        run()
    counter = FlopCounterMode(display=False)
    with counter:
        run()
    print(name, sum(row.flops or 0 for row in of.key_averages()), counter.get_total_flops())

def layer(module, *shape):
    given = torch.randn(*shape, requires_grad=True)
    both(type(module).__name__, lambda: module(given).sum().backward())

layer(torch.nn.Linear(64, 128), 32, 64)
layer(torch.nn.Conv2d(16, 32, 3, padding=1), 8, 16, 32, 32)
layer(torch.nn.Conv1d(16, 32, 3), 8, 16, 100)
layer(torch.nn.Conv3d(16, 32, 3), 2, 16, 10, 10, 10)
layer(torch.nn.ConvTranspose2d(16, 32, 3), 8, 16, 32, 32)
query = torch.randn(2, 4, 64, 32)
both('attention', lambda: torch.nn.functional.scaled_dot_product_attention(query, query, query))
both('product', lambda: torch.ones(4, 1) * torch.ones(16))
PY
seen=$("$python" flops.py 2>/dev/null | grep -E '^(Linear|Conv|attention|product)')
echo "$seen"
[[ $seen == "Linear 1572864 1572864
Conv2d 75497472 226492416
Conv1d 0 7225344
Conv3d 0 84934656
ConvTranspose2d 0 226492416
attention 0 4194304
product 4 0" ]]
