#!/usr/bin/env bash
# JAX 0.10.2 (PyPI: jax, jaxlib) on Python 3.11 or newer
#
# Expected: start_trace keeps to the ProfileOptions that it takes: with duration_ms it records for so long, with
# start_timestamp_ns from then on, and what does not exist in advanced_configuration is an error.
# Seen: all three are taken and have no effect; nothing is said. Everything between start_trace and
# stop_trace is recorded. That a recording has a few steps only, or begins on all hosts at the same time, is not
# to be had with these.
#
# Output: how many of ten steps of 50 ms are recorded: without options, with duration_ms=100, with a start after
# 300 ms, and with an advanced option that does not exist.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install jax==0.10.2 jaxlib==0.10.2
cat >options.py <<'PY'
import glob, time
import jax

def steps(folder, **values):
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    for name, value in values.items():
        setattr(options, name, value)
    jax.profiler.start_trace(folder, profiler_options=options)
    for n in range(10):
        with jax.profiler.StepTraceAnnotation('train', step_num=n):
            time.sleep(0.05)
    jax.profiler.stop_trace()
    file, = glob.glob(folder + '/plugins/profile/*/*.xplane.pb')
    return sum(event.name == 'train' for plane in jax.profiler.ProfileData.from_file(file).planes
               for line in plane.lines for event in line.events)

print(steps('plain'), steps('duration', duration_ms=100),
      steps('start', start_timestamp_ns=time.time_ns() + 300_000_000),
      steps('advanced', advanced_configuration={'no_such_option': 1}))
PY
seen=$(env/bin/python options.py 2>said)
echo "steps recorded: $seen; said of the options: $(grep -c -E 'duration|start_timestamp|no_such_option' said)"
[[ $seen == "10 10 10 10" ]]
