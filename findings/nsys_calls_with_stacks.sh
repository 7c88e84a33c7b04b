#!/usr/bin/env bash
# nsys stats of Nsight Systems 2022.4.2 (Debian 12's nsight-systems, non-free) on x86-64
#
# Expected: a call of CUDA's runtime counts once in cudaapisum, whether or not its stack was recorded.
# Seen: twice. With --cudabacktrace an export has a second row of the same call, with the same correlation
# id, for its stack (event class 67); the report sums over both. 2023.4.4 and 2024.2.3 do the same with
# such an export (cuda_api_sum).
#
# Output: for cudaMalloc, calls and time of each row of the report, of one call that took 100 ns and was
# recorded again with its stack, as 2022.2.1 exports it.
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
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
            correlationId INTEGER, nameId INTEGER, returnValue INTEGER, callchainId INTEGER);
        INSERT INTO StringIds VALUES (1, 'cudaMalloc_v3020'), (2, 'cudaMalloc');
        INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000, 1100, 0, 1, 7, 1, 0, NULL),
                                                       (990, 1120, 67, 1, 7, 2, 0, 3);''')
PY
"$nsys" stats -q --report "${2:-cudaapisum}" --format csv job.sqlite >report
seen=$(awk -F, '$NF ~ /cudaMalloc/ {print $3, $2}' report | sort | paste -sd' ')
echo "$seen"
[[ $seen == "1 100 1 130" ]]
