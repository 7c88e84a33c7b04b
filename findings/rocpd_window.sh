#!/usr/bin/env bash
# rocpd of ROCprofiler-SDK 1.0.0, commit 1b1610f (GitHub: ROCm/rocm-systems), on Python 3.9 or newer
#
# Expected: with --start and --end, and --inclusive as it is by default (True), rocpd keeps what begins or ends in
# the window: "True: include events if START or END in window; False: only if BOTH in window".
# Seen: it is the other way round. By default a kernel that reaches over a border of the window is left out, so
# that the sums of two windows that meet are less than that of both; --inclusive False keeps it.
#
# Output: the kernels, by their begin and end in us, that are left of four, in the window of 0 to 5 us and
# in that of 5 to 10 us: by default, with True and with False. The database has the tables that rocpd looks
# at for this. The compiled part of rocpd is not needed; a few lines stand in for it.
# An argument is a clone that is here already.
set -euo pipefail

source=${1:-https://github.com/ROCm/rocm-systems}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
git clone -q --no-checkout --filter=blob:none "$source" rocm 2>/dev/null
mkdir rocpd
for part in importer time_window; do
    git -C rocm show "1b1610fc2b2ab32af71e6e04e4d4a6a4ae597992:projects/rocprofiler-sdk/source/lib/python/rocpd/$part.py" \
        >"rocpd/$part.py"
done
touch rocpd/__init__.py
cat >rocpd/libpyrocpd.py <<'PY'
from sqlite3 import connect
class RocpdImportData:
    def __init__(self, connection, files):
        self.connection = connection
PY
cat >rocpd/schema.py <<'PY'
class RocpdSchema:
    views = 'CREATE VIEW regions_and_samples AS SELECT start, "end" FROM rocpd_region;'
PY
cat >window.py <<'PY'
import contextlib, io, sqlite3
from rocpd.importer import RocpdImportData
from rocpd.time_window import apply_time_window

with sqlite3.connect('job.db') as db:
    db.execute('CREATE TABLE rocpd_metadata_0194a (tag, value)')
    db.execute('CREATE VIEW rocpd_metadata AS SELECT * FROM rocpd_metadata_0194a')
    db.execute("INSERT INTO rocpd_metadata_0194a VALUES ('uuid', '_0194a')")
    for name in 'region', 'kernel_dispatch', 'memory_allocate', 'memory_copy':
        db.execute(f'CREATE TABLE rocpd_{name}_0194a (start, "end")')
        db.execute(f'CREATE VIEW rocpd_{name} AS SELECT * FROM rocpd_{name}_0194a')
    db.executemany('INSERT INTO rocpd_kernel_dispatch_0194a VALUES (?, ?)', [(0, 4000), (4000, 6000), (7000, 9000), (9000, 12000)])

for inclusive in {}, {'inclusive': True}, {'inclusive': False}:
    kept = []
    for start, end in (0, 5000), (5000, 10000):
        with contextlib.redirect_stdout(io.StringIO()):
            job = RocpdImportData(['job.db'])
            apply_time_window(job, start=str(start), end=str(end), **inclusive)
        kept.append([f'{a // 1000}-{b // 1000}' for a, b in job.execute('SELECT start, "end" FROM rocpd_kernel_dispatch')])
    print(*kept)
PY
seen=$(python3 window.py)
echo "$seen"
[[ $seen == "['0-4'] ['7-9']
['0-4'] ['7-9']
['0-4', '4-6'] ['4-6', '7-9', '9-12']" ]]
