#!/usr/bin/env bash
# rocpd of ROCprofiler-SDK 1.0.0, commit 1b1610f (GitHub: ROCm/rocm-systems), on Python 3.11 or newer
#
# Expected: AVERAGE of a domain in `rocpd summary --domain-summary` is its time by its calls, as for each kernel,
# and lies between MIN and MAX.
# Seen: it is the sum of the averages of all names, and STD_DEV the sum of their deviations. The more kernels with
# different names a program has, the longer is the average kernel, and it may be longer than the longest.
#
# Output: calls, ns, average, shortest and longest of the kernels of a program that calls 50 kernels with different
# names 20 times, for 10 ns each time. rocpd's view of the kernels is written here as far as this query reads it.
# An argument is a clone that is here already.
set -euo pipefail

source=${1:-https://github.com/ROCm/rocm-systems}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
git clone -q --no-checkout --filter=blob:none "$source" rocm 2>/dev/null
mkdir rocpd
git -C rocm show 1b1610fc2b2ab32af71e6e04e4d4a6a4ae597992:projects/rocprofiler-sdk/source/lib/python/rocpd/summary.py \
    >rocpd/summary.py
touch rocpd/__init__.py rocpd/output_config.py
cat >rocpd/importer.py <<'PY'
RocpdImportData = None
def execute_statement(connection, statement):
    return connection.execute(statement)
PY
echo 'export_sqlite_query = None' >rocpd/query.py
cat >domains.py <<'PY'
import contextlib, io, sqlite3
from rocpd import summary

db = sqlite3.connect(':memory:')
db.execute('CREATE TABLE ran (guid, nid, pid, name, duration)')
db.execute('CREATE TEMPORARY VIEW kernels AS SELECT * FROM ran')
db.executemany("INSERT INTO ran VALUES ('a', 1, 1, ?, 10)", ((f'kernel {n % 50}',) for n in range(1000)))
with contextlib.redirect_stdout(io.StringIO()):
    summary.create_summary_views(db)
    summary.create_domain_view(db)
print(*db.execute('SELECT Calls, "DURATION (nsec)", "AVERAGE (nsec)", "MIN (nsec)", "MAX (nsec)" FROM domain_summary'))
PY
seen=$(python3 domains.py)
echo "$seen"
[[ $seen == "(1000, 10000, 500.0, 10, 10)" ]]
