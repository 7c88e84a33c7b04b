#!/usr/bin/env bash
# xprof 2.24.2 (PyPI) on Python 3.11 or newer
#
# Expected: xspace_to_tool_data([file], tool) converts that file.
# Seen: the first call leaves ALL_HOSTS.op_stats_v2.pb in the file's folder, and each later call is answered
# from it, whatever file it names: that of another host of the profile, or one recorded anew under the same
# name. So are hlo_stats, overview_page and others that rest on the same sums. The option
# use_saved_result=False converts anew.
#
# Output: the operators of two hosts' files of one folder, asked for one after the other, and of the second
# without saved results.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install xprof==2.24.2
cat >hosts.py <<'PY'
import json, os
from xprof.convert import raw_to_tool_data

def field(number, value):
    """A field of a protocol buffer: a small whole number, or bytes of fewer than 128."""
    if isinstance(value, int):
        out = b''
        while value > 127:
            out, value = out + bytes([value & 127 | 128]), value >> 7
        return bytes([number << 3]) + out + bytes([value])
    return bytes([number << 3 | 2, len(value)]) + value

def write(file, operator):
    """An XSpace of a host whose thread ran one operator for 5 us."""
    event = field(1, 1) + field(2, 1000000) + field(3, 5000000)
    line = field(1, 1) + field(2, b'thread') + field(4, event)
    metadata = field(1, 1) + field(2, field(1, 1) + field(2, operator))
    plane = field(1, 1) + field(2, b'/host:CPU') + field(3, line) + field(4, metadata)
    with open(file, 'wb') as out:
        out.write(field(1, plane))

def operators(file, **options):
    reported = json.loads(raw_to_tool_data.xspace_to_tool_data([os.path.abspath(file)], 'framework_op_stats', options)[0])
    reported = reported[0] if isinstance(reported, list) else reported
    names = [column['id'] for column in reported['cols']]
    rows = [dict(zip(names, (cell.get('v') for cell in row['c']))) for row in reported['rows']]
    return [row['operation'] for row in rows if row['type'] != 'IDLE']

write('one.xplane.pb', b'first:MatMul')
write('two.xplane.pb', b'second:Conv2D')
print('one', *operators('one.xplane.pb'), 'two', *operators('two.xplane.pb'), 'two without saved results',
      *operators('two.xplane.pb', use_saved_result=False))
PY
seen=$(env/bin/python hosts.py 2>/dev/null)
echo "$seen"
[[ $seen == "one first two first two without saved results second" ]]
