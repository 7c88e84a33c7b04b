#!/usr/bin/env bash
# rocpd of ROCprofiler-SDK 1.0.0, commit 1b1610f (GitHub: ROCm/rocm-systems), on Python 3.9 or newer
#
# Expected: `rocpd summary --summary-by-rank` has one row for each rank and kernel, with the rank's host.
# Seen: the host is looked up by the process id alone (JOIN processes P ON AD.pid = P.pid). In containers, ranks
# of different hosts often have the same id, such as 1. Then each kernel of a rank is there once for each
# such host, with that host's name: every host seems to have run the kernels of all. The summary by domain
# groups by the id, too: it counts each of n ranks n times, in one row with the name of one host.
#
# Output: host, kernel, calls and ns by rank, of two ranks with process id 1: host a runs gemm twice for 100 ns,
# host b twice for 500 ns. Then the row of the domain. rocpd's views of the databases are written here as far as
# these queries read them.
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
cat >ranks.py <<'PY'
import contextlib, io, sqlite3
from rocpd import summary

db = sqlite3.connect(':memory:')
db.execute('CREATE TABLE ran (guid, nid, pid, name, duration)')
db.execute('CREATE TEMPORARY VIEW kernels AS SELECT * FROM ran')
db.execute('CREATE TABLE processes (guid, nid, pid, hostname)')
for host, ns in ('a', 100), ('b', 500):
    db.execute('INSERT INTO processes VALUES (?, 1, 1, ?)', (host, host))
    db.executemany("INSERT INTO ran VALUES (?, 1, 1, 'gemm', ?)", 2 * [(host, ns)])
with contextlib.redirect_stdout(io.StringIO()):
    summary.create_summary_views(db, by_rank=True)
    summary.create_domain_view(db, by_rank=True)
columns = 'Hostname, Name, Calls, "DURATION (nsec)"'
print(*sorted(db.execute(f'SELECT {columns} FROM kernels_summary_by_rank')))
print(*db.execute(f'SELECT {columns} FROM domain_summary_by_rank'))
PY
seen=$(python3 ranks.py)
echo "$seen"
[[ $seen == "('a', 'gemm', 2, 200) ('a', 'gemm', 2, 1000) ('b', 'gemm', 2, 200) ('b', 'gemm', 2, 1000)
('"[ab]"', 'KERNELS', 8, 2400)" ]]
