#!/usr/bin/env bash
# speedscope 1.25.0 (GitHub: jlfwong/speedscope, v1.25.0) and esbuild 0.25.0 (npm) on Node.js 18 or newer
#
# Expected: speedscope opens the traces of PyTorch's profiler. Chrome and Perfetto do.
# Seen: "Could not find events for key: undefined", and nothing is shown. Among the processes of every such
# trace are some whose id is a text, such as "Spans". The importer files their events under the id as
# a number, which is NaN, and then looks for them under the text. Without the events of such processes the
# same trace opens.
#
# Output: what the importer says to a kernel and the span that PyTorch writes of the whole recording, and
# to the kernel alone.
# An argument is a clone that is here already.
set -euo pipefail

source=${1:-https://github.com/jlfwong/speedscope}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
git clone -q --no-checkout "$source" speedscope
git -C speedscope checkout -q 810efdf0a4868bb28f1300f4daacd0db6b8a95bd -- src
npm install --silent --no-save --no-audit --no-fund esbuild@0.25.0
npx esbuild speedscope/src/import/trace-event.ts --bundle --platform=node --log-level=error --outfile=importer.cjs
cat >names.cjs <<'SCRIPT'
const { importTraceEvents } = require("./importer.cjs");

function show(...traceEvents) {
  try {
    console.log(importTraceEvents({ traceEvents }).profiles.length, "thread");
  } catch (error) {
    console.log(error.message);
  }
}
const kernel = { ph: "X", cat: "kernel", name: "gemm", pid: 0, tid: 7, ts: 100, dur: 50 };
const span = { ph: "X", cat: "Trace", name: "PyTorch Profiler (0)", pid: "Spans", tid: "PyTorch Profiler", ts: 90, dur: 80 };
show({ ...kernel }, span);
show({ ...kernel });
SCRIPT
seen=$(node names.cjs)
echo "$seen"
[[ $seen == "Could not find events for key: undefined
1 thread" ]]
