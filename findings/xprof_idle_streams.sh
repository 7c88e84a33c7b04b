#!/usr/bin/env bash
# xprof 2.24.2 (PyPI) on Python 3.11 or newer
#
# Expected: IDLE in framework_op_stats of a GPU is the time in which nothing runs on it, whatever runs on two
# streams at once.
# Seen: it is the time from first to last minus the sum of all operations, of all streams. What overlaps is
# taken away from idle time: the better communication hides behind computation, the less idle a GPU seems that
# waits for its host. If the sum is larger than the time, IDLE is 0.
#
# Output: IDLE, in us, of a GPU on which operations run from 0 to 1000 us and from 2000 to 3000 us, so that it
# is idle for 1000 us: if a second stream runs nothing, or 250, 500 or 1000 us in the course of each.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install --disable-pip-version-check xprof==2.24.2
cat >idle.py <<'PY'
import json, os
from xprof.convert import raw_to_tool_data

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

def event(kernel, operator, begin, length):
    values = enumerate((operator, b'regs:32 grid:1,1,1 block:32,1,1'), 1)
    stats = (field(4, field(1, number) + field(5, value)) for number, value in values)
    return field(4, field(1, kernel) + field(2, begin * 1_000_000) + field(3, length * 1_000_000) + b''.join(stats))

def idle(hidden):
    lines = [event(1, b'step:MatMul', begin, 1000) for begin in (0, 2000)], \
            [event(2, b'sum:AllReduce', begin, hidden) for begin in (0, 2000) if hidden]
    plane = field(1, 1) + field(2, b'/device:GPU:0')
    for number, events in enumerate(lines, 7):
        plane += field(3, field(1, number) + field(2, b'Stream #%d(Compute)' % number) + b''.join(events))
    for number, (kernel, stat) in enumerate(((b'gemm', b'tf_op'), (b'reduce', b'kernel_details')), 1):
        for names, name in ((4, kernel), (5, stat)):
            plane += field(names, field(1, number) + field(2, field(1, number) + field(2, name)))
    with open('gpu.xplane.pb', 'wb') as out:
        out.write(field(1, plane))
    reported = json.loads(raw_to_tool_data.xspace_to_tool_data([os.path.abspath('gpu.xplane.pb')], 'framework_op_stats',
                                                               {'use_saved_result': False})[0])[0]
    names = [column['id'] for column in reported['cols']]
    rows = [dict(zip(names, (cell.get('v') for cell in row['c']))) for row in reported['rows']]
    found = {row['type']: round(row['total_self_time']) for row in rows if row['host_or_device'] == 'Device'}
    return f"{found['MatMul']}+{found.get('AllReduce', 0)}: {found['IDLE']}"

print(*map(idle, (0, 250, 500, 1000)), sep=', ')
PY
seen=$(env/bin/python idle.py 2>/dev/null)
echo "$seen"
[[ $seen == "2000+0: 1000, 2000+500: 500, 2000+1000: 0, 2000+2000: 0" ]]
