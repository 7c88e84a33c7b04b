#!/usr/bin/env bash
# nsys2prv 0.5.8 (PyPI) on Python 3.10 or newer
#
# Expected: the Paraver trace of a process with two GPUs has the kernels and copies of each GPU in a row of
# its own; nsys2prv makes a row for each stream of each GPU.
# Seen: it then finds the row of a kernel by process and number of the stream only, not by GPU. Streams of
# different GPUs usually have the same numbers (the default stream is 7 on each), as in JAX, where a process
# drives all GPUs of a host. The first GPU's row then has the kernels of all, which end one another, and the
# rows of the others are empty.
#
# Output: the rows, and for each row the times (ns) of kernels in it, of one kernel on each GPU: 2000 to 9000
# on the first, 3000 to 8000 on the second. Instead of nsys, the script writes the one list that nsys2prv
# asks it for.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install --disable-pip-version-check nsys2prv==0.5.8
python3 - <<'PY'
import sqlite3

with sqlite3.connect('job.sqlite') as db:
    db.executescript('''CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT);
        CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);
        CREATE TABLE TARGET_INFO_CUDA_CONTEXT_INFO (contextId INTEGER, deviceId INTEGER, processId INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
            greenContextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, shortName INTEGER,
            gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,
            registersPerThread INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER,
            localMemoryTotal INTEGER, graphNodeId INTEGER);
        INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION_MINOR', '16');
        INSERT INTO StringIds VALUES (1, 'gemm');
        INSERT INTO TARGET_INFO_GPU VALUES (0, 'GPU'), (1, 'GPU');
        INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname', 'host');
        INSERT INTO TARGET_INFO_CUDA_CONTEXT_INFO VALUES (1, 0, 42), (2, 1, 42);''')
    for gpu, begin, end in (0, 2000, 9000), (1, 3000, 8000):
        db.execute('INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, ?, ?, 0, 7, ?, ?, 1, 1, 1, 1, 1, 1, 1, 8, 0, 0, '
                   '0, NULL)', (begin, end, gpu, gpu + 1, gpu + 1, 42 << 24))
with open('job_cuda_api_trace.csv', 'w') as calls:
    calls.write('Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid\n')
    for gpu in range(2):
        calls.write(f'{1000 + 300 * gpu},100,cudaLaunchKernel,0,{gpu + 1},42,42\n')
PY
mkdir bin
ln -s "$(type -P true)" bin/nsys
NSYS_HOME=$PWD env/bin/nsys2prv -t cuda_api_trace job.nsys-rep out >/dev/null 2>&1
python3 - >seen <<'PY'
with open('out.row') as file:
    rows = file.read().split('LEVEL THREAD SIZE')[1].split('\n')[1:]
times = {}
with open('out.prv') as file:
    for record in file:
        field = record.strip().split(':')
        if field[0] == '2' and field[6] == '63000006':  # its events of kernels
            times.setdefault(int(field[4]), []).append(int(field[5]))
for number, row in enumerate(filter(None, rows), 1):
    print(row, *sorted(times.get(number, [])))
PY
cat seen
[[ $(<seen) == "THREAD 1.1.1
CUDA-D0.S7 2000 3000 8000 9000
CUDA-D1.S7" ]]
