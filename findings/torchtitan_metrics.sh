#!/usr/bin/env bash
# torchtitan 0.3.0 with PyTorch 2.15.0 (PyPI) on Python 3.10 or newer; pip installs gigabytes of CUDA's libraries
#
# Expected: time_metrics/end_to_end(s) is the time of a step, and mfu(%) is of the peak of the GPU.
# Seen:
# - The time since the last entry is always divided by log_freq. The first entry comes after one step, the
#   second after log_freq - 1: with the default of 10, the first step (which compiles) has a tenth of its time,
#   and the second entry nine tenths. data_loading(s) beside it is per step, so it may be more than the step.
# - The peak of an L40S is there, but looked for as "l40s". PyTorch's name is NVIDIA L40S, so MFU is of an A100's
#   312 TFLOP/s, not of 362. Of GPUs that are not in the table it is so too; only a warning at the start says it.
#
# Output: step, time of a step and of loading, of steps of 2 s each of which 0.5 s are loading; then peaks by name.
# The clock is a counter. An argument is a Python that has this torchtitan: then nothing is installed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python=${1:-$folder/env/bin/python}
cd "$folder"
if [ $# = 0 ]; then
    python3 -m venv env
    env/bin/pip -q install --disable-pip-version-check torch==2.15.0 torchtitan==0.3.0 numpy
fi
cat >metrics.py <<'PY'
from types import SimpleNamespace as Record
from torchtitan.components import metrics
from torchtitan.tools.utils import get_peak_flops

clock = 0.0
entries = []
metrics.time = Record(perf_counter=lambda: clock)
memory = Record(**dict.fromkeys(('max_active_gib', 'max_active_pct', 'max_reserved_gib', 'max_reserved_pct',
                                 'num_alloc_retries', 'num_ooms'), 0))
of = metrics.MetricsProcessor.__new__(metrics.MetricsProcessor)     # its __init__ needs a GPU
vars(of).update(
    config=metrics.MetricsProcessor.Config(), logger=Record(log=lambda values, step: entries.append((step, values))),
    parallel_dims=Record(non_data_parallel_size=1), color=metrics.utils.NoColor(), gpu_peak_flops=1e15,
    device_memory_monitor=Record(get_peak_stats=lambda: memory, reset_peak_stats=lambda: None), has_quantization=False,
    num_flops_per_token=1, ntokens_since_last_log=0, data_loading_times=[], time_last_log=clock)
for step in range(1, 31):
    clock += 2
    of.data_loading_times.append(0.5)
    of.ntokens_since_last_log += 1000
    if of.should_log(step):
        of.log(step, 0.0, 0.0, 0.0)
for step, values in entries:
    print('step', step, values['time_metrics/end_to_end(s)'], values['time_metrics/data_loading(s)'])
print('peak', *(f'{name} {get_peak_flops("NVIDIA " + name) / 1e12:.0f}' for name in ('A100-SXM4-80GB', 'L40S')))
PY
seen=$("$python" metrics.py 2>/dev/null | grep -E '^(step|peak) [0-9A]')
echo "$seen"
[[ $seen == "step 1 0.2 0.5
step 10 1.8 0.5
step 20 2.0 0.5
step 30 2.0 0.5
peak A100-SXM4-80GB 312 L40S 312" ]]
