#!/usr/bin/env bash
# nsys-ai 0.3.0 (PyPI) on Python 3.11
#
# Expected: while a CUDA graph runs, the GPU is busy. Nsight Systems records graphs as a whole by default
# (--cuda-graph-trace=graph from driver 11.7 on): a row of CUPTI_ACTIVITY_KIND_GRAPH_TRACE, no kernels.
# Seen: nsys-ai nowhere reads that table, so the time of graphs is idle. The rule gpu_time_util of `nsys
# analyze` 2023.4.4 and 2024.2.3 leaves it out as well, and so do cuda_gpu_sum and cuda_gpu_kern_sum of
# `nsys stats`. A recording with --cuda-graph-trace=node has the kernels of graphs one by one instead.
#
# Output: idle time by overlap_breakdown and gpu_idle_gaps, of 10 steps of 100 ms: a kernel of 10 ms, a graph
# of 80 ms, a kernel of 10 ms, without any gap. With an nsys as argument also what its rule says.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install nsys-ai==0.3.0
cat >graphs.py <<'PY'
import sqlite3

TABLES = '''CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, contextId INT, streamId INT,
    correlationId INT, globalPid INT, demangledName INT, shortName INT, mangledName INT, graphNodeId INT,
    gridX INT, gridY INT, gridZ INT, blockX INT, blockY INT, blockZ INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INT, end INT, deviceId INT, contextId INT, streamId INT,
    correlationId INT, globalPid INT, graphId INT, graphExecId INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, eventClass INT, globalTid INT, correlationId INT,
    nameId INT, returnValue INT, callchainId INT);
CREATE TABLE TARGET_INFO_GPU (id INT, name TEXT, busLocation TEXT, smCount INT, totalMemory INT,
    computeMajor INT, computeMinor INT);
INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'cudaLaunchKernel_v7000'), (3, 'cudaGraphLaunch_v10000');
INSERT INTO TARGET_INFO_GPU VALUES (0, 'A100', '0', 108, 1, 8, 0);'''
MS = 10**6

with sqlite3.connect('job.sqlite') as db:
    db.executescript(TABLES)
    for step in range(10):
        for n, (begin, duration, call) in enumerate(((0, 10, 2), (10, 80, 3), (90, 10, 2))):
            at, number = (10 + step * 100 + begin) * MS, 3 * step + n + 1
            db.execute('INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, 1, ?, ?, 0, NULL)',
                       (at - 2000, at - 1000, number, call))
            if call == 2:
                db.execute('INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 1, 7, ?, 1, 1, 1, 1, NULL, '
                           '1, 1, 1, 1, 1, 1)', (at, at + duration * MS, number))
            else:
                db.execute('INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (?, ?, 0, 1, 7, ?, 1, 1, 2)',
                           (at, at + duration * MS, number))
PY
env/bin/python graphs.py
seen=$(for skill in overlap_breakdown gpu_idle_gaps; do env/bin/nsys-ai skill run "$skill" job.sqlite 2>/dev/null; done |
    grep -E '^ +(Idle|Total):')
echo "$seen"
[[ $seen == *"Idle:          800.0ms"*"10 gaps, 800.0ms idle (80.0% of profile)"* ]]
if [ $# = 1 ]; then
    "$1" analyze -q -r gpu_time_util --format csv job.sqlite | tee rule
    grep -q '^1,20.0,1000000000,' rule
fi
