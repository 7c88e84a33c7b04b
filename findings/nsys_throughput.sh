#!/usr/bin/env bash
# nsys stats of Nsight Systems 2022.4.2 (Debian 12's nsight-systems, non-free) on x86-64
#
# Expected: Throughput of the report gputrace is Bytes by Duration.
# Seen: it is Bytes times the whole number of durations in a second. A copy of less than 0.1 s loses a tenth
# at most, but one of 0.34 s a third, one of 0.6 s 40 %, and one of more than a second has a throughput of
# 0. At 25 GB/s, 8.5 GB of a checkpoint or of offloaded states take 0.34 s. cuda_gpu_trace of 2023.4.4 does
# the same.
#
# Output: MB, ms and throughput (MB/s) of copies, all at 25 GB/s.
# Arguments are an nsys that is here already, and its name of the report.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
nsys=${1:-$folder/all/usr/bin/nsys}
cd "$folder"
if [ $# = 0 ]; then
    apt-get -q download nsight-systems=2022.4.2.1~11.8.0-5~deb12u1 nsight-systems-target=2022.4.2.1~11.8.0-5~deb12u1
    for package in *.deb; do dpkg-deb -x "$package" all; done
fi
python3 - <<'PY'
import sqlite3
with sqlite3.connect('job.sqlite') as db:
    db.executescript('''CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT);
        CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER, name TEXT, label TEXT);
        CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER, name TEXT, label TEXT);
        CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
            greenContextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER,
            copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);
        INSERT INTO TARGET_INFO_GPU VALUES (0, 'GPU');
        INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES (2, 'D2H', 'Device-to-Host');
        INSERT INTO ENUM_CUDA_MEM_KIND VALUES (1, 'PINNED', 'Pinned'), (2, 'DEVICE', 'Device');''')
    begin = 10**9
    for number, ms in enumerate((2, 80, 320, 340, 600, 1200)):
        db.execute('INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?, ?, 0, 1, 0, 7, ?, 1, ?, 2, 2, 1)',
                   (begin, begin + ms * 10**6, number, ms * 25 * 10**6))
        begin += 2 * 10**9
PY
"$nsys" stats -q --report "${2:-gputrace}" --format csv job.sqlite >report.csv
python3 - >seen <<'PY'
import csv
with open('report.csv') as file:
    lines = [line for line in file if line.strip()]
for row in csv.DictReader(lines):
    column = {name.split(' (')[0]: value for name, value in row.items()}
    print(round(float(column['Bytes'])), round(int(column['Duration']) / 1e6), round(float(column['Throughput'])))
PY
cat seen
[[ $(<seen) == "50 2 25000
2000 80 24000
8000 320 24000
8500 340 17000
15000 600 15000
30000 1200 0" ]]
