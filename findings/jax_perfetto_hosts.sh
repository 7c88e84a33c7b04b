#!/usr/bin/env bash
# JAX 0.10.0 (PyPI: jax, jaxlib) on Python 3.11 or newer, and unshare (util-linux), which needs root
#
# Expected: with create_perfetto_trace=True, each host of a job writes its profile into the shared folder,
# and stop_trace returns on all of them.
# Seen: on the host that stops second, within the second that names the folder, stop_trace raises ValueError
# ("Invalid trace folder") and so ends the job. _write_perfetto_trace_file (jax/_src/profiler.py) wants
# exactly one *.trace.json.gz there. The state is not reset after that: whoever catches the error cannot
# profile again in this process. The folder has the .xplane.pb of both hosts.
#
# Output: what stop_trace, and start_trace after it, did on two hosts of which b stops after a.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install jax==0.10.0 jaxlib==0.10.0
cat >host.py <<'PY'
import pathlib, sys, time
import jax

def attempt(call):
    try:
        call()
        return 'returned'
    except (ValueError, RuntimeError) as error:
        return f'{type(error).__name__}: {str(error).split(":")[0]}'

def wait_for(name):
    while not pathlib.Path(name).exists():
        time.sleep(0.001)

host, other = sys.argv[1:]
jax.profiler.start_trace('profile', create_perfetto_trace=True)
jax.jit(lambda x: x + 1)(1).block_until_ready()
pathlib.Path(host).touch()
wait_for(other)
if host == 'a':
    time.sleep(-time.time() % 1)
else:
    wait_for('a_stopped')
stop = attempt(jax.profiler.stop_trace)
pathlib.Path(host + '_stopped').touch()
start = attempt(lambda: jax.profiler.start_trace('later'))
pathlib.Path(host + '_seen').write_text(f'{host}: stop_trace {stop}, start_trace {start}\n')
PY
for _ in 1 2 3 4 5; do # until both stop in one second
    rm -rf profile a b ./*_stopped
    unshare --uts sh -c 'hostname a; exec env/bin/python host.py a b' 2>/dev/null &
    unshare --uts sh -c 'hostname b; exec env/bin/python host.py b a' 2>/dev/null
    wait
    [ "$(ls profile/plugins/profile | wc -l)" = 2 ] || break
done
seen=$(cat a_seen b_seen)
echo "$seen"
[[ $seen == "a: stop_trace returned, start_trace returned
b: stop_trace ValueError: Invalid trace folder, start_trace RuntimeError: Profile has already been started. Only one profile may be run at a time." ]]
