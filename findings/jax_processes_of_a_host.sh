#!/usr/bin/env bash
# JAX 0.10.0 (PyPI: jax, jaxlib) on Python 3.11 or newer
#
# Expected: where two processes of one host profile into one folder, as they do with one path in a
# configuration, the folder holds the profiles of both.
# Seen: the file is named by the host and its folder by the second in which profiling stopped, so the
# process that stops last overwrites the other's. Nothing is reported. What is left tells of one process.
#
# Output: how many profiles two processes leave in one folder, and in one each.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet jax==0.10.0
cat >job.py <<'PY'
import sys, time
import jax
me, address, log, end = int(sys.argv[1]), sys.argv[2], sys.argv[3], float(sys.argv[4])
jax.config.update('jax_platforms', 'cpu')
jax.config.update('jax_cpu_collectives_implementation', 'gloo')
jax.distributed.initialize(address, 2, me)
jax.profiler.start_trace(log)
jax.numpy.ones(8).block_until_ready()
time.sleep(max(0, end - time.time()))
jax.profiler.stop_trace()
PY

# profiles PORT LOG_OF_0 LOG_OF_1  Prints how many profiles a job of two processes leaves. Both stop
# profiling in the middle of one second, as after the same step.
profiles() {
    local end
    end=$(($(date +%s) + 15)).3
    env/bin/python job.py 0 "127.0.0.1:$1" "$2" "$end" >said0 2>&1 &
    env/bin/python job.py 1 "127.0.0.1:$1" "$3" "$end" >said1 2>&1
    wait $!
    find "$2" "$3" -name '*.xplane.pb' | sort -u | wc -l
}
one=$(profiles 45701 same same)
each=$(profiles 45702 own/0 own/1)
echo "one folder: $one profile, one each: $each profiles"
[[ $one == 1 && $each == 2 ]]
