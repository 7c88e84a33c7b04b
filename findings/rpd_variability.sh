#!/usr/bin/env bash
# variability-analysis.sql of rocmProfileData, commit e943e7a (GitHub: ROCm/rocmProfileData), on Python 3.9 or
# newer
#
# Expected: the n-th kernel of each GPU, by begin, is compared with the n-th of the others: its playbook says that
# kernels are numbered "after sorting by GPU start time". The sum of the differences is what uneven GPUs cost.
# Seen: row_number() over () numbers them in the order in which they were stored, and only then sorts them.
# Operations are stored once they are complete. If streams overlap, a long kernel may be complete on one GPU
# before and on another after the same short one: then different kernels are compared, and the sum is far too
# large. In the trace of raptor's tests, with one queue, 34 of 10,124 operations begin before the one stored before.
#
# Output: the sum (ns) by the playbook, and by begin. On each of two GPUs run 20 short kernels of 10 us, and
# beside them a long one: of 105 us on the first GPU, of 95 us on the second.
# An argument is a clone that is here already.
set -euo pipefail

source=${1:-https://github.com/ROCm/rocmProfileData}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
git clone -q --no-checkout "$source" rpd
git -C rpd checkout -q e943e7a5e87850cdf8b2223e0afa785849e6bbc0 -- docs rocpd_python
cat >variability.py <<'PY'
import sqlite3

file = sqlite3.connect(':memory:')
for name in ('tableSchema', 'utilitySchema'):
    with open(f'rpd/rocpd_python/rocpd/schema_data/{name}.cmd') as schema:
        file.executescript(schema.read())
for text in ('hip', '', 'hipLaunchKernel', 'KernelExecution', 'short', 'long'):
    file.execute('INSERT INTO rocpd_string (string) VALUES (?)', (text,))
file.execute("INSERT INTO rocpd_ustring (string) VALUES ('')")
for gpu, took in (0, 105), (1, 95):
    kernels = [(10 * n, 10 * n + 10, 5, 0) for n in range(20)] + [(2, 2 + took, 6, 1)]
    for n, (begin, end, name, queue) in enumerate(sorted(kernels, key=lambda kernel: kernel[1]), 100 * gpu):
        file.execute('INSERT INTO rocpd_api VALUES (?, 7, 7, 0, 9, 3, 2, 1, 1)', (n,))
        file.execute('INSERT INTO rocpd_op VALUES (?, ?, ?, 0, ?, ?, ?, 4)',
                     (n, gpu, queue, 1000 * begin, 1000 * end, name))
        file.execute('INSERT INTO rocpd_api_ops VALUES (?, ?, ?)', (n, n, n))
with open('rpd/docs/perf_playbooks/variability-analysis.sql') as playbook:
    for line in playbook:
        if line.startswith('create view'):
            file.execute(line)
print('playbook', *file.execute('SELECT maxToMinVariability FROM kernel_totalvariability').fetchone())
first, second = ([ns for ns, in file.execute('SELECT end - start FROM rocpd_op WHERE gpuId = ? ORDER BY start', (gpu,))]
                 for gpu in range(2))
print('by begin', sum(abs(a - b) for a, b in zip(first, second)))
PY
seen=$(python3 variability.py)
echo "$seen"
[[ $seen == "playbook 180000
by begin 10000" ]]
