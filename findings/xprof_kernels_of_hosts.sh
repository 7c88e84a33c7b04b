#!/usr/bin/env bash
# xprof 2.24.2 (PyPI) on Python 3.11 or newer
#
# Expected: kernel_stats of a profile of several hosts has one row for each kernel, with its calls and time on all hosts,
# as framework_op_stats has for each operator, and as kernel_stats has for the GPUs of one host.
# Seen: it has one row for each kernel and host, all in one ranking, and no column for the host. A kernel that every host
# runs is spread over as many rows that look alike, and one that runs on a single host for half as long is ranked
# before it.
#
# Output: rank, kernel and us of three hosts, each of which runs gemm for 1000 us, the second also attention for
# 1500 us; then us of the operator of gemm in framework_op_stats.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install xprof==2.24.2
cat >hosts.py <<'PY'
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

def host(kernels):
    """A profile with one GPU that runs kernels of name and us, one after the other."""
    line, begin = field(1, 7) + field(2, b'Stream #7(Compute)'), 0
    plane = field(1, 1) + field(2, b'/device:GPU:0')
    for number, name in enumerate((b'kernel_details', b'tf_op'), 1):
        plane += field(5, field(1, number) + field(2, field(1, number) + field(2, name)))
    for number, (name, us) in enumerate(kernels, 1):
        stats = ((1, b'regs:32 grid:1,1,1 block:32,1,1'), (2, name + b':MatMul'))
        line += field(4, field(1, number) + field(2, begin) + field(3, us * 10**6) +
                      b''.join(field(4, field(1, stat) + field(5, value)) for stat, value in stats))
        plane += field(4, field(1, number) + field(2, field(1, number) + field(2, name)))
        begin += us * 10**6
    return field(1, plane + field(3, line))

files = [os.path.abspath(name + '.xplane.pb') for name in 'abc']
for file in files:
    with open(file, 'wb') as out:
        out.write(host([(b'gemm', 1000)] + [(b'attention', 1500)] * ('b.' in file)))

def rows(tool):
    table = json.loads(raw_to_tool_data.xspace_to_tool_data(files, tool, {'use_saved_result': False})[0])
    table = table[0] if isinstance(table, list) else table
    names = [column['id'] for column in table['cols']]
    return [dict(zip(names, (cell.get('v') for cell in row['c']))) for row in table['rows']]

print(*(f"{row['rank']:.0f} {row['kernel_name']} {row['total_duration_us']:.0f}" for row in rows('kernel_stats')), sep=', ')
print(*(round(row['total_time']) for row in rows('framework_op_stats') if row['operation'] == 'gemm'))
PY
seen=$(env/bin/python hosts.py 2>/dev/null)
echo "$seen"
[[ $seen == "1 attention 1500, 2 gemm 1000, 3 gemm 1000, 4 gemm 1000
3000" ]]
