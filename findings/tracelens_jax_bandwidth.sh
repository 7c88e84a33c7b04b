#!/usr/bin/env bash
# TraceLens of commit 171dd74 (GitHub: AMD-AGI/TraceLens) with pandas 2.2.3 on Python 3.11 or newer
#
# Expected: the bus bandwidth of a collective of JAX is that of nccl-tests, by which TraceLens's report of
# PyTorch's collectives goes: (n - 1)/n times the larger of input and output by the time, and twice as much for
# an all-reduce.
# Seen: that factor is applied to bytes that have it already, or are sent and received: an all-reduce has
# twice its bus bandwidth, an all-gather of 8 ranks 1.75 times, so that both may be above what the links can
# do. XLA writes the shape of an operation's result; that of a reduce-scatter, which is one rank's part, is
# divided by the ranks once more, as is that of an all-to-all, which is whole: a reduce-scatter has less than a
# fiftieth of its bus bandwidth.
#
# Output: bus bandwidth (GB/s, of 2^30 bytes) of four collectives of 1 GiB on 8 ranks that take 10 ms each, by
# nccl-tests and by TraceLens.
# An argument is a clone that is here already.
set -euo pipefail

source=${1:-https://github.com/AMD-AGI/TraceLens}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
git clone -q --no-checkout "$source" tracelens
git -C tracelens checkout -q 171dd74721ca1ec45709e5805b68ae1f65e27811 -- TraceLens
python3 -m venv env
env/bin/pip -q install pandas==2.2.3 tqdm openpyxl orjson PyYAML matplotlib tabulate protobuf
cat >bandwidth.py <<'PY'
import contextlib, io, sys
sys.path.insert(0, 'tracelens')
from TraceLens.NcclAnalyser.jax_nccl_analyser import JaxNcclAnalyser
from TraceLens.NcclAnalyser.util.xla_parser import XLACollectiveParser

RANKS, GIB, SECONDS = 8, 2 ** 28, 0.01  # floats
RESULTS = {'all-reduce': GIB, 'all-gather': GIB, 'reduce-scatter': GIB // RANKS, 'all-to-all': GIB}
with open('module.txt', 'w') as out:
    for kind, floats in RESULTS.items():
        dimensions = '' if kind == 'all-reduce' else ' dimensions={0},'
        print(f'  %{kind}.1 = f32[{floats}]{{0}} {kind}(f32[{GIB}]{{0}} %x), channel_id=1, replica_groups=[1,8]<=[8],'
              f'{dimensions} metadata={{op_name="x" scheduling_name="{kind}.1"}}', file=out)
analyser = JaxNcclAnalyser.__new__(JaxNcclAnalyser)  # without the profile, which only has the times
analyser.df_collectives = XLACollectiveParser({0: 'module.txt'}).parse_collectives_to_dataframe()
analyser.node_to_trace_data = {0: dict(enumerate(
    {'pid': rank + 1, 'ts': 0, 'dur': SECONDS * 1e6, 'args': {'hlo_op': f'{kind}.1'}}
    for kind in RESULTS for rank in range(RANKS)))}
with contextlib.redirect_stdout(io.StringIO()):
    found = analyser.analyze_all_collectives_from_df(analyser.build_df_long())
for kind in RESULTS:
    expected = (2 if kind == 'all-reduce' else 1) * (RANKS - 1) / RANKS / SECONDS
    print(kind, expected, round(found[f'{kind}.1']['avg_bus_bandwidth'], 1))
PY
seen=$(env/bin/python bandwidth.py 2>/dev/null)
echo "$seen"
[[ $seen == "all-reduce 175.0 350.0
all-gather 87.5 153.1
reduce-scatter 87.5 1.5
all-to-all 87.5 19.1" ]]
