#!/usr/bin/env bash
# nsys-ai 0.3.0 (PyPI) on Python 3.11
#
# Expected: of two recordings of the same length, the one in which each iteration takes longer is slower.
# Seen: `nsys-ai diff` compares sums over the recordings. The slower program does fewer iterations in the
# same time, so its sum is smaller, and the summary says that the time "went faster" and that its only
# kernel is the "Largest improvement", although each call of it takes 22 % longer. Its verdict is "neutral".
#
# Output: the summary and the verdict for 100 ms of a loop with a kernel of 9 ms in each 10 ms, and then with
# a kernel of 11 ms in each 12.5 ms.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install nsys-ai==0.3.0
cat >loops.py <<'PY'
import sqlite3

TABLES = '''CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, contextId INT, streamId INT,
    correlationId INT, globalPid INT, demangledName INT, shortName INT, gridX INT, gridY INT, gridZ INT,
    blockX INT, blockY INT, blockZ INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, eventClass INT, globalTid INT, correlationId INT,
    nameId INT, returnValue INT);
CREATE TABLE TARGET_INFO_GPU (id INT, name TEXT, busLocation TEXT, smCount INT, totalMemory INT,
    computeMajor INT, computeMinor INT);
INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'cudaLaunchKernel');
INSERT INTO TARGET_INFO_GPU VALUES (0, 'A100', '0', 108, 1, 8, 0);'''

def export(path, calls, period_us, kernel_us):
    with sqlite3.connect(path) as db:
        db.executescript(TABLES)
        for n in range(calls):
            at = 10**7 + n * period_us * 1000
            db.execute('INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 1, 7, ?, 1, 1, 1, 1, 1, 1, 1, 1, 1)',
                       (at, at + kernel_us * 1000, n + 1))
            db.execute('INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, 1, ?, 2, 0)', (at - 2000, at - 1000, n + 1))
export('before.sqlite', 10, 10000, 9000)
export('after.sqlite', 8, 12500, 11000)
PY
env/bin/python loops.py
seen=$(env/bin/nsys-ai diff before.sqlite after.sqlite --no-ai 2>/dev/null | grep -E '^Verdict|went faster')
echo "$seen"
[[ $seen == *neutral*"went faster by 2.00ms. Largest improvement: gemm"* ]]
