#!/usr/bin/env bash
# viztracer 1.1.1 (PyPI) on Python 3.10 or newer, and unshare (util-linux), which needs root
#
# Expected: `viztracer --combine` of the files of two processes has two processes.
# Seen: it joins the lists of events as they are (combine_json in viztracer/report_builder.py). The ranks of
# a job in containers are process 1 each, on any host, and so become one thread of one process: the calls
# of both ranks nest in one another. Nothing is said. Files of processes with different ids are kept apart.
#
# Output: processes and threads of two files recorded in a pid namespace each, and of both combined; calls
# of a function in the one thread that is left.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install viztracer==1.1.1
cat >train.py <<'PY'
def step(n):
    return sum(range(n))
for n in range(5):
    step(n)
PY
for rank in 0 1; do
    unshare --pid --fork env/bin/viztracer --quiet -o "rank$rank.json" train.py >/dev/null
done
env/bin/viztracer --combine rank0.json rank1.json -o both.json >/dev/null
seen=$(python3 - <<'PY'
import json
for name in ('rank0', 'rank1', 'both'):
    with open(name + '.json') as file:
        events = json.load(file)['traceEvents']
    print(name, {(event['pid'], event['tid']) for event in events},
          sum(event['name'].startswith('step') for event in events))
PY
)
echo "$seen"
[[ $seen == "rank0 {(1, 1)} 5
rank1 {(1, 1)} 5
both {(1, 1)} 10" ]]
