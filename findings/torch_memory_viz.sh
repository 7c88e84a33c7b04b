#!/usr/bin/env bash
# torch.cuda._memory_viz of PyTorch 2.15.0 (PyPI: torch) on Python 3.10 or newer. The file needs only Python, so
# the script takes it from the smallest wheel, the one for macOS.
#
# Expected: `_memory_viz.py trace` ends with the memory that is in use at the end (TOTAL MEM), and `stats` has
# as free what an allocation can use.
# Seen: the variable of the sum is also the one that counts the entries, so TOTAL MEM is the number of the last
# entry, with the size of this entry if it is an allocation or a completed free. In stats, blocks that were
# freed but wait for another stream (active_pending_free) are free. Until the stream has come so far, no
# allocation can have them: a job may run out of memory with a snapshot of which most is "free".
#
# Output: the last line of trace and the line of free memory of stats, for a segment of 100 MiB with blocks of
# 40 MiB in use and 60 MiB that wait.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q download --disable-pip-version-check --no-deps --only-binary=:all: --platform macosx_14_0_arm64 \
    --python-version 3.11 torch==2.15.0
python3 - <<'PY'
import glob, pickle, zipfile

with zipfile.ZipFile(*glob.glob('*.whl')) as wheel, open('memory_viz.py', 'wb') as out:
    out.write(wheel.read('torch/cuda/_memory_viz.py'))

MIB, AT = 2**20, 0x7f0000000000

def block(offset, size, state):
    return {'address': AT + offset, 'size': size, 'requested_size': size, 'state': state, 'frames': []}

def entry(action, offset, size):
    return {'action': action, 'addr': AT + offset, 'size': size, 'stream': 0, 'frames': []}

snapshot = {'segments': [{'device': 0, 'address': AT, 'total_size': 100 * MIB, 'allocated_size': 40 * MIB,
                          'active_size': 100 * MIB, 'requested_size': 100 * MIB, 'stream': 0, 'segment_type': 'large',
                          'blocks': [block(0, 40 * MIB, 'active_allocated'),
                                     block(40 * MIB, 60 * MIB, 'active_pending_free')]}],
            'device_traces': [[entry('segment_alloc', 0, 100 * MIB), entry('alloc', 0, 40 * MIB),
                               entry('alloc', 40 * MIB, 60 * MIB), entry('free_requested', 40 * MIB, 60 * MIB)]]}
with open('snapshot.pickle', 'wb') as out:
    pickle.dump(snapshot, out)
PY
seen=$(python3 memory_viz.py trace snapshot.pickle | tail -n 1; python3 memory_viz.py stats snapshot.pickle | grep total_free)
echo "$seen"
[[ $seen == "TOTAL MEM: 3.0B
total_free: 60.0MiB (0.0% internal)" ]]
