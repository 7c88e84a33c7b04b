#!/usr/bin/env bash
# xprof 2.24.2 (PyPI) on Python 3.11 or newer
#
# Expected: of the profile of a JAX program on CPUs, the overview says how much of a step computes, and
# framework_op_stats and hlo_stats have the operations, as the trace viewer has.
# Seen: XLA computes in threads of its own, with an event for each operation (hlo_op). Only events of the thread that marks
# the step count: the call that hands the program over is host compute, and the rest of the step "All Others", whether
# XLA computes then or not. A program that reads no input and computes all the time is "POTENTIALLY input-bound", and
# both tables are empty but for IDLE. JAX 0.10.2 writes such profiles.
#
# Output: ms of a step, of host compute and of others, what the overview says, and the operations of framework_op_stats
# and hlo_stats, of ten steps of 1 ms in which XLA computes for 950 us, and for 50 us.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install xprof==2.24.2
cat >steps.py <<'PY'
import json, os, re
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

def thread(number, name, events):
    """Events are number of the name, begin and length in us, and stats by the number of their name."""
    return field(3, field(1, number) + field(2, name) + b''.join(
        field(4, field(1, event) + field(2, begin * 10**6) + field(3, us * 10**6) + b''.join(
            field(4, field(1, stat) + field(4 if isinstance(value, int) else 5, value)) for stat, value in stats.items()))
        for event, begin, us, stats in events))

def job(computes):
    begins = range(0, 10_000, 1000)
    marks = [event for step, begin in enumerate(begins)
             for event in ((1, begin, 990, {1: 1, 2: step}), (2, begin + 20, 40, {}))]
    dots = [(3, begin + 30, computes, {3: b'dot', 4: b'jit_f'}) for begin in begins]
    plane = field(1, 1) + field(2, b'/host:CPU') + thread(1, b'python', marks) + \
        thread(2, b'tf_XLAPjRtCpuClient/1', dots)
    for at, names in (4, (b'train', b'PjitFunction(f)', b'dot')), (5, (b'_r', b'step_num', b'hlo_op', b'hlo_module')):
        for number, name in enumerate(names, 1):
            plane += field(at, field(1, number) + field(2, field(1, number) + field(2, name)))
    return field(1, plane)

def tool(name):
    return json.loads(raw_to_tool_data.xspace_to_tool_data([os.path.abspath('job.xplane.pb')], name,
                                                           {'use_saved_result': False})[0])

for computes in (950, 50):
    with open('job.xplane.pb', 'wb') as out:
        out.write(job(computes))
    found, stats = tool('overview_page')[1]['p'], tool('framework_op_stats')[0]
    place = [column['id'] for column in stats['cols']].index('operation')
    said = re.search('NOT input-bound|POTENTIALLY input-bound|HIGHLY input-bound', found['input_conclusion'])[0]
    print(found['steptime_ms_average'], found['host_compute_time_ms_avg'], found['other_time_ms_avg'], said,
          [row['c'][place]['v'] for row in stats['rows']], len(tool('hlo_stats')['rows']))
PY
seen=$(env/bin/python steps.py 2>/dev/null)
echo "$seen"
[[ $seen == "1.0 0.0 1.0 POTENTIALLY input-bound ['IDLE'] 0
1.0 0.0 1.0 POTENTIALLY input-bound ['IDLE'] 0" ]]
