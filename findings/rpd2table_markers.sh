#!/usr/bin/env bash
# rpd2table.py of rocmProfileData, commit e943e7a (GitHub: ROCm/rocmProfileData), with pandas 2.2.3 (PyPI) on
# Python 3.11
#
# Expected: `rpd2table.py FILE "step 1" OUT.csv` sums the kernels under the range "step 1", and calls it so.
# Seen: in files of the current schema (3), the texts of ranges are in the table rocpd_ustring. The tool
# searches them there, but takes the name from rocpd_string, by the same number: the range has the name of a
# kernel or of a call. If that table has fewer texts, the range is left out.
#
# Output: the rows of the CSV for two ranges, "step 1" and "step 2", with a kernel each. As every database of
# rpd_tracer, it has names of calls and kernels in the other table.
# An argument is a clone that is here already.
set -euo pipefail

source=${1:-https://github.com/ROCm/rocmProfileData}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
git clone -q --no-checkout "$source" rpd
git -C rpd checkout -q e943e7a5e87850cdf8b2223e0afa785849e6bbc0 -- tools rocpd_python
python3 -m venv env
env/bin/pip -q install --disable-pip-version-check pandas==2.2.3
cat >make.py <<'PY'
import sqlite3

file = sqlite3.connect('steps.rpd')
for name in ('tableSchema', 'utilitySchema'):
    with open(f'rpd/rocpd_python/rocpd/schema_data/{name}.cmd') as schema:
        file.executescript(schema.read())
for text in ('hip', '', 'UserMarker', 'hipLaunchKernel', 'KernelExecution', 'gemm'):
    file.execute('INSERT INTO rocpd_string (string) VALUES (?)', (text,))
for text in ('', 'step 1', 'kernel=gemm', 'step 2'):
    file.execute('INSERT INTO rocpd_ustring (string) VALUES (?)', (text,))
for step in range(2):
    at = 10**15 + 10**6 * step
    file.execute('INSERT INTO rocpd_api VALUES (?, 7, 7, ?, ?, 3, 2, 1, ?)', (2 * step, at, at + 90_000, 2 + 2 * step))
    file.execute('INSERT INTO rocpd_api VALUES (?, 7, 7, ?, ?, 4, 2, 1, 3)', (2 * step + 1, at + 1000, at + 2000))
    file.execute('INSERT INTO rocpd_op VALUES (?, 0, 0, 0, ?, ?, 6, 5)', (step, at + 5000, at + 25_000))
    file.execute('INSERT INTO rocpd_api_ops VALUES (?, ?, ?)', (step, 2 * step + 1, step))
file.commit()
for id, text in file.execute("SELECT id, args FROM api WHERE apiName = 'UserMarker'"):
    print('range', text)
PY
python3 make.py >seen
env/bin/python rpd/tools/rpd2table.py steps.rpd 'step 1, step 2' steps.csv >/dev/null
cut -d, -f1,3,6 steps.csv >>seen
cat seen
[[ $(<seen) == "range step 1
range step 2
marker_name,kernel_name,total_dur
,gemm,20000
hipLaunchKernel,gemm,20000" ]]
