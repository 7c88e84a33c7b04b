#!/usr/bin/env bash
# PyTorch 2.15.0 (PyPI: torch) on Python 3.10 or newer, which pip installs with gigabytes of CUDA's libraries
#
# Expected: fr_trace reads the dumps that the flight recorder of the same version writes by itself, so
# of two ranks of gloo, one of which does not come to the second all_reduce, it says that rank 1 is
# missing.
# Seen: it ends with KeyError: ('0', 0). It looks an entry's group up in pg_config, and gloo's dumps
# list no group there under its name: one without a name stands for all. So was 2.14.1.
#
# Output: the groups of the entries, those of pg_config, and the last line of fr_trace.
# An argument is a Python that has this PyTorch: then nothing is installed.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python=${1:-$folder/env/bin/python}
cd "$folder"
if [ $# = 0 ]; then
    python3 -m venv env
    env/bin/pip install --quiet torch==2.15.0
fi
mkdir dumps
cat >job.py <<'PY'
import os, sys, threading, time
rank = int(sys.argv[1])
os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT=sys.argv[2], GLOO_SOCKET_IFNAME='lo')
import torch, torch.distributed as dist

def dump():
    time.sleep(5)
    with open(f'dumps/rank_{rank}', 'wb') as out:
        out.write(torch._C._distributed_c10d._dump_fr_trace())
    time.sleep(3)
    os._exit(0)

assert torch.__version__.startswith('2.15.0')
dist.init_process_group('gloo', rank=rank, world_size=2)
dist.all_reduce(torch.ones(8))
threading.Thread(target=dump).start()
if rank == 0:
    dist.all_reduce(torch.ones(8))
PY
port=$((20000 + $$ % 20000))
"$python" job.py 0 $port & "$python" job.py 1 $port & wait
"$python" - <<'PY'
import pickle
dump = pickle.load(open('dumps/rank_0', 'rb'))
print('entries', sorted({e['process_group'][0] for e in dump['entries']}), 'pg_config', sorted(dump['pg_config']))
PY
"$python" -m torch.distributed.flight_recorder.fr_trace dumps -p rank_ >said 2>&1 || true
tail -n 1 said
tail -n 1 said | grep -q "^KeyError: ('0', "
