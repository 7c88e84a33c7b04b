#!/usr/bin/env bash
# xprof 2.24.2 and JAX 0.10.2 (PyPI) on Python 3.11 or newer
#
# Expected: in the trace viewer with all hosts of a profile, what happened at the same time is at the same time.
# Seen: each host's profile begins at 0, however much later it began. JAX writes times from the start of
# start_trace on, and that start in the plane "Task Environment" (profile_start_time), but the viewer does not add it.
# Hosts do not call start_trace at the same time: a collective of two hosts is shown as far apart as
# the calls were, which looks like waiting, or like an end before the begin.
#
# Output: the time from start to start of two recordings, in seconds, and the time between an event at the begin
# of each in the trace viewer that shows both as two hosts.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install xprof==2.24.2 jax==0.10.2 jaxlib==0.10.2
cat >record.py <<'PY'
import glob, os, shutil, time
import jax

os.makedirs('both/plugins/profile/run')
starts = []
for host in 'ab':
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    jax.profiler.start_trace(host, profiler_options=options)
    with jax.profiler.TraceAnnotation('collective'):
        time.sleep(0.01)
    jax.profiler.stop_trace()
    file, = glob.glob(host + '/plugins/profile/*/*.xplane.pb')
    starts += [value for plane in jax.profiler.ProfileData.from_file(file).planes
               for name, value in plane.stats if name == 'profile_start_time']
    shutil.copy(file, f'both/plugins/profile/run/{host}.xplane.pb')
    time.sleep(3)
print(round((starts[1] - starts[0]) / 1e9))
PY
cat >view.py <<'PY'
import json, os
from xprof.convert import raw_to_tool_data
files = [os.path.abspath(f'both/plugins/profile/run/{host}.xplane.pb') for host in 'ab']
view = {'trace_viewer_options': {'resolution': '8000', 'start_time_ms': '0', 'end_time_ms': '10000'},
        'hosts': ['a', 'b']}
events = json.loads(raw_to_tool_data.xspace_to_tool_data(files, 'trace_viewer@', view)[0])['traceEvents']
names = {event['pid']: event['args']['name'] for event in events if event.get('name') == 'process_name'}
at = {names[event['pid']]: event['ts'] for event in events if event.get('name') == 'collective'}
print(round((at['b /host:CPU'] - at['a /host:CPU']) / 1e6))
PY
seen="started $(env/bin/python record.py 2>/dev/null) s apart, shown $(env/bin/python view.py 2>/dev/null) s apart"
echo "$seen"
[[ $seen == "started "[34]" s apart, shown 0 s apart" ]]
