#!/usr/bin/env bash
# xprof 2.24.2 (PyPI) on Python 3.11 or newer
#
# Expected: the overview of a job on GPUs has the time of a step, and how much of it is input. A job that waits
# for input in seven tenths of each step is input-bound.
# Seen: if the profile has a GPU, what the host did is left out of the steps (ConvertXSpaceToOpStats). A step
# then lasts from its first kernel to its last; what lies between steps belongs to none. Input, host and kernel
# launch are always 0, and "All others" has gaps between kernels only. The longer the GPU waits for input, the
# shorter are the steps, and the job is NOT input-bound. The same profile without its GPU is HIGHLY input-bound.
# 2.20.7 says the same.
#
# Output: average step and input time in ms, and whether the job is input-bound, for ten steps of 1 ms that wait
# for input and then run a kernel: of no wait, 0.5 ms and 0.7 ms; then the last without the GPU.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install --disable-pip-version-check xprof==2.24.2
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

def plane(number, name, line, events, **about):
    """Events are name, begin and length in us, and what else is known of them."""
    names, kinds = {}, {}
    def stat(kind, value):
        return field(1, kinds.setdefault(kind, len(kinds) + 1)) + field(4 if isinstance(value, int) else 5, value)
    out = field(1, 7) + field(2, line)
    for event, begin, length, known in events:
        out += field(4, field(1, names.setdefault(event, len(names) + 1)) + field(2, begin * 10**6) +
                     field(3, length * 10**6) + b''.join(field(4, stat(*item)) for item in known.items()))
    out = field(1, number) + field(2, name) + field(3, out)
    out += b''.join(field(6, stat(*item)) for item in about.items())
    for at, known in ((4, names), (5, kinds)):
        for name, value in known.items():
            name = name if isinstance(name, bytes) else name.encode()
            out += field(at, field(1, value) + field(2, field(1, value) + field(2, name)))
    return field(1, out)

def job(wait):
    host, gpu = [], []
    for step in range(10):
        begin, launch = 1000 * step, {'correlation_id': 1 + step}
        host += [(b'train', begin, 990, {'_r': 1, 'step_num': step}), (b'IteratorGetNext', begin + 2, wait, {}),
                 (b'cuLaunchKernel', begin + wait + 15, 5, {**launch, 'device_id': 0})]
        gpu.append((b'gemm', begin + wait + 50, 900 - wait,
                    {**launch, 'kernel_details': b'regs:32 grid:1,1,1 block:32,1,1'}))
    return (plane(2, b'/host:CPU', b'python', host),
            plane(1, b'/device:GPU:0', b'Stream #7(Compute)', gpu, compute_cap_major=9, compute_cap_minor=0))

def overview(planes):
    with open('job.xplane.pb', 'wb') as out:
        out.write(b''.join(planes))
    found = json.loads(raw_to_tool_data.xspace_to_tool_data([os.path.abspath('job.xplane.pb')], 'overview_page',
                                                            {'use_saved_result': False})[0])[1]['p']
    said = re.search('NOT input-bound|POTENTIALLY input-bound|HIGHLY input-bound', found['input_conclusion'])[0]
    print(found['steptime_ms_average'], found['infeed_time_ms_avg'], said)

for wait in (0, 500, 700):
    overview(job(wait))
overview(job(700)[:1])
PY
seen=$(env/bin/python steps.py 2>/dev/null)
echo "$seen"
[[ $seen == "0.9 0.0 NOT input-bound
0.4 0.0 NOT input-bound
0.2 0.0 NOT input-bound
1.0 0.7 HIGHLY input-bound" ]]
