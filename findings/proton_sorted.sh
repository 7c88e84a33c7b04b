#!/usr/bin/env bash
# proton-viewer of Triton 3.9.0 with llnl-hatchet 2026.2.0 and pandas 2.2.3 (PyPI) on Python 3.11 or newer
#
# Expected: `proton-viewer --print-sorted` lists all kernels by the metric, and -diff has for each kernel the time in
# one profile less that in the other.
# Seen:
# - The first row after sorting is left out, because it is taken for ROOT, which has the sum of all. Of averages and
#   of util ROOT has not the largest number: the kernel with the longest calls, or the best used one, is left out.
# - A kernel that is in only one of two profiles is there with its time if it is new, and as nan if it is gone.
#
# Output: names by average time, where calls of a last 1000 us, of b 5000 us and of c 1 us; then time in ms by -diff
# of two profiles: a takes 10 ms and then 12 ms, b of 5 ms is gone, and d of 5 ms is new.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install triton==3.9.0 llnl-hatchet==2026.2.0 pandas==2.2.3
python3 - <<'PY'
import json

def node(name, children, metrics):
    return {'frame': {'name': name, 'type': 'function'}, 'metrics': metrics, 'children': children}

def write(file, kernels):
    gpu = {'arch': '90', 'num_sms': 132, 'clock_rate': 1980000, 'memory_clock_rate': 2619000, 'bus_width': 5120}
    kernels = [node(name, [], {'count': count, 'time (ns)': ms * 1_000_000, 'device_id': '0', 'device_type': 'CUDA'})
               for name, count, ms in kernels]
    with open(file, 'w') as out:
        json.dump([node('ROOT', kernels, {'count': 0, 'time (ns)': 0}), {'CUDA': {'0': gpu}}], out)

write('before.hatchet', [('a', 10, 10), ('b', 1, 5), ('c', 1000, 1)])
write('after.hatchet', [('a', 10, 12), ('c', 1000, 1), ('d', 1, 5)])
PY
view() {
    env/bin/python -m triton.profiler.viewer "$@" | sed 's/\x1b\[[0-9;]*m//g'
}
sorted=$(view -m avg_time/us --print-sorted before.hatchet | sed -n '/^Sorted/,$p' | awk 'NR > 1 {print $1}')
differs=$(view -m time/ms -diff before.hatchet after.hatchet | grep -o '[-0-9.na]* [a-d]\b')
seen=$(echo "sorted:" $sorted; echo "differs:" $differs)
echo "$seen"
[[ $seen == "sorted: a ROOT c
differs: 2.000 a nan b 0.000 c 5.000 d" ]]
