#!/usr/bin/env bash
# Chakra of commit 21585d8 (GitHub: mlcommons/chakra), with et_replay of PARAM of commit 1e115ff (GitHub:
# facebookresearch/param) and pydot 4.0.1 (PyPI), on Python 3.10 or newer
#
# Expected: the exclusive duration of an operator, which chakra_trace_link writes and the converter takes for the
# duration of a node, is its duration without the operators within it.
# Seen: of operators that begin together the shorter one comes first in the order, and an operator looks for
# children only behind itself. The duration of the inner one stays in the outer one and is there twice: a
# simulation has both, one after the other. Where times are whole microseconds, as in older traces of PyTorch, an
# operator often begins with its child: 71 of 1,673 operators and ranges of a public trace of DLRM.
#
# Output: exclusive durations of an operator of 50 us with one of 40 us in it that begins 1 us later, and of
# the same with both beginning together.
# Arguments are clones that are here already, of Chakra and of PARAM.
set -euo pipefail

chakra=${1:-https://github.com/mlcommons/chakra}
param=${2:-https://github.com/facebookresearch/param}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
git clone -q --no-checkout "$chakra" chakra
git -C chakra checkout -q 21585d8f2d65603d791d2121e3d4632351120262 -- src
git clone -q --no-checkout "$param" param
git -C param checkout -q 1e115ffc62c6d048405d9b963191736c13811b1d -- et_replay
python3 -m venv env
env/bin/pip -q install --disable-pip-version-check pydot==4.0.1
cat >exclusive.py <<'PY'
import json, sys
sys.path[:0] = ['.', 'param']
from chakra.src.trace_link.chakra_device_trace_loader import ChakraDeviceTraceLoader

def event(name, ts, dur, number):
    return {'ph': 'X', 'cat': 'cpu_op', 'name': name, 'pid': 1, 'tid': 1, 'ts': ts, 'dur': dur,
            'args': {'External id': number}}

for later in (1, 0):
    with open('trace.json', 'w') as out:
        json.dump({'schemaVersion': 1, 'traceEvents': [event('aten::linear', 100, 50, 1),
                                                       event('aten::addmm', 100 + later, 40, 2)]}, out)
    operators = ChakraDeviceTraceLoader().load('trace.json')[0]
    print(*sorted((of.name, of.exclusive_dur) for of in operators))
PY
seen=$(env/bin/python exclusive.py)
echo "$seen"
[[ $seen == "('aten::addmm', 40) ('aten::linear', 10)
('aten::addmm', 40) ('aten::linear', 50)" ]]
