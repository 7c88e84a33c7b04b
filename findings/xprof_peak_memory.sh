#!/usr/bin/env bash
# xprof 2.24.2 (PyPI) on Python 3.11 or newer
#
# Expected: the peak of an allocator over its whole life (peakBytesUsageLifetime of memory_profile, "peak memory
# usage (lifetime)" of the page) is the largest that its records state, and no less than the peak within the
# profile.
# Seen: it is the one of the record that stands last in the file, where the threads stand one after the other.
# If several threads allocate, that may be an early record. In TensorFlow's own demo (BERT on V100s), GPU 4 has
# 5.0 GB over its life, and 6.2 GB within the profile.
#
# Output: the peak over life and the peak within the profile, of three allocations at 1, 2 and 3 ns, after
# which 100, 200 and 300 bytes are in use, which is the peak each time: all of one thread; then with the
# second in another thread.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install --disable-pip-version-check xprof==2.24.2
cat >peak.py <<'PY'
import json, os
from xprof.convert import raw_to_tool_data

STATS = [b'allocator_name', b'bytes_allocated', b'bytes_available', b'bytes_reserved', b'peak_bytes_in_use',
         b'requested_bytes', b'allocation_bytes', b'addr']

def varint(value):
    out = b''
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])

def field(number, value):
    """A field of a protocol buffer: a whole number, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value

def allocation(at, used):
    values = [b'GPU_0_bfc', used, 1000 - used, 0, used, 100, 100, used]
    stats = [field(4, field(1, i) + field(4 if isinstance(value, int) else 5, value)) for i, value in enumerate(values, 1)]
    return field(4, field(1, 1) + field(2, 1000 * at) + b''.join(stats))

def peaks(*threads):
    plane = field(2, b'/host:CPU')
    for i, records in enumerate(threads, 1):
        plane += field(3, field(1, i) + field(2, b'thread') + b''.join(allocation(*record) for record in records))
    plane += field(4, field(1, 1) + field(2, field(1, 1) + field(2, b'MemoryAllocation')))
    for i, name in enumerate(STATS, 1):
        plane += field(5, field(1, i) + field(2, field(1, i) + field(2, name)))
    with open('peak.xplane.pb', 'wb') as out:
        out.write(field(1, plane))
    data, _ = raw_to_tool_data.xspace_to_tool_data([os.path.abspath('peak.xplane.pb')], 'memory_profile',
                                                   {'use_saved_result': False})
    summary = json.loads(data)['memoryProfilePerAllocator']['GPU_0_bfc']['profileSummary']
    return 'life', summary['peakBytesUsageLifetime'], 'profile', summary['peakStats']['peakBytesInUse']

print(*peaks([(1, 100), (2, 200), (3, 300)]), 'two threads:', *peaks([(1, 100), (3, 300)], [(2, 200)]))
PY
seen=$(env/bin/python peak.py 2>/dev/null)
echo "$seen"
[[ $seen == "life 300 profile 300 two threads: life 200 profile 300" ]]
