#!/usr/bin/env bash
# torch._inductor.analysis.profile_analysis of PyTorch 2.15.0 (PyPI: torch) on Python 3.10 or newer, which pip
# installs with gigabytes of CUDA's libraries
#
# Expected: --analysis reports each kernel of a trace with its number of calls, and their mean duration;
# --augment_trace writes how much a kernel computes (kernel_flop) and moves (kernel_num_gb).
# Seen:
# - Only kernels that have a "name" among their args are in the report. PyTorch's profiler writes none there,
#   so the report of a trace as written has no kernel.
# - The calls are kept as a set: of calls with the same duration one is left. Count and mean are of the distinct
#   durations. Of 2,917 kernels of rank 0 of a public trace of nanoGPT, 2,342 would be left.
# - The bytes of a matrix product of floats are twice those of its matrices.
# - The padding of a convolution is left out, so it has too few FLOP: 25 of 49 for a 3 x 3 kernel on 7 x 7.
# - "Achieved FLOPS %" of an H100 is a share of its peak for sparse matrices, twice that of dense ones.
# 2.14.1 (Debian sid) does the same.
#
# Output: calls and mean duration in the report of six calls of 10, 10, 10, 20, 20 and 30 us: as PyTorch writes
# them, and with the name among the args; bytes of a product of 64 x 32 and 32 x 16 floats, and of its three
# matrices; FLOP of the convolution, with and without padding; the share of the peak of 989.5 TFLOP/s in bf16.
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
cat >analysis.py <<'PY'
import contextlib, io, json, sys
from torch._inductor.analysis.profile_analysis import main

def run(option, dtype, events, *more):
    """Returns what the tool prints."""
    with open('trace.json', 'w') as out:
        json.dump({'deviceProperties': [{'id': 0, 'name': 'NVIDIA H100'}], 'traceEvents': events}, out)
    sys.argv = ['profile_analysis', option, 'trace.json', *more, dtype]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        main()
    return printed.getvalue()

def reported(dtype, events):
    """Returns the columns of the one kernel in the report."""
    rows = [[field.strip() for field in line.split('|')] for line in run('--analysis', dtype, events).splitlines()]
    return next((dict(zip(rows[1], row)) for row in rows if row[0] == 'gemm'), None)

def operator(id, name, dims, concrete=None, **args):
    return {'ph': 'X', 'cat': 'cpu_op', 'name': name, 'pid': 1, 'tid': 1, 'ts': 0, 'dur': 5, 'args': {
        'External id': id, 'Input Dims': dims, 'Input type': ['float' if size else 'ScalarList' for size in dims],
        'Concrete Inputs': concrete or [''] * len(dims), **args}}

def kernel(id, dur, **args):
    return {'ph': 'X', 'cat': 'kernel', 'name': 'gemm', 'pid': 0, 'tid': 7, 'ts': 100 * id, 'dur': dur,
            'args': {'device': 0, 'stream': 7, 'External id': id, **args}}

def augmented(op):
    run('--augment_trace', 'float', [op, kernel(1, 10)], 'more.json')
    with open('more.json') as file:
        return json.load(file)['traceEvents'][1]['args']

product = [[64, 32], [32, 16]]
for args in {}, {'name': 'gemm'}:
    row = reported('float', [event for id, dur in enumerate([10, 10, 10, 20, 20, 30])
                             for event in (operator(id, 'aten::mm', product), kernel(id, dur, **args))])
    print('calls', row and row['Kernel Count'], 'mean', row and row['Dur (us)'])
print('bytes', round(augmented(operator(1, 'aten::mm', product))['kernel_num_gb'] * 1e9),
      'of matrices', 4 * (64 * 32 + 32 * 16 + 64 * 16))
dims = [[1, 8, 7, 7], [8, 8, 3, 3], [8], [], [], [], [], [], []]
for padding in '[1, 1]', '[0, 0]':
    concrete = ['', '', '', '[1, 1]', padding, '[1, 1]', 'False', '[0, 0]', '1']
    print('FLOP', augmented(operator(1, 'aten::convolution', dims, concrete))['kernel_flop'], 'padding', padding)
row = reported('bfloat16', [operator(1, 'aten::mm', product, kernel_flop=9.895e9), kernel(1, 10, name='gemm')])
print('share', round(float(row['Achieved FLOPS %'])))
PY
seen=$("$python" analysis.py 2>/dev/null)
echo "$seen"
[[ $seen == "calls None mean None
calls 3 mean 20.0000
bytes 28672 of matrices 14336
FLOP 28800 padding [1, 1]
FLOP 28800 padding [0, 0]
share 50" ]]
