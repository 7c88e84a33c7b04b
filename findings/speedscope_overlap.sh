#!/usr/bin/env bash
# speedscope 1.25.0 (GitHub: jlfwong/speedscope, v1.25.0) and esbuild 0.25.0 (npm) on Node.js 18 or newer
#
# Expected: in a trace of events with begin and duration, each event lasts as long as it says. Kernels of one
# stream may overlap (programmatic dependent launch, from Hopper on), and so may operators by a rounding.
# Seen: if an event ends while one that began later still runs, its end is ignored. It lasts to the end of
# its thread, and all that follows nests in it. Only the console of the browser says so. The tool adds
# duration to begin as floating point, so with microseconds of three decimals, as PyTorch writes them, an event
# may seem to end after the begin of one that follows at the same nanosecond. Of rank 0 of a public trace of
# nanoGPT on H100s, 39 kernels never end.
#
# Output: microseconds that each event has: of two kernels that overlap by 1 us, and a third; of two
# operators that touch, and a third. The importer alone, without the page.
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
cat >overlap.cjs <<'SCRIPT'
const { importTraceEvents } = require("./importer.cjs");
console.warn = () => {};

function show(...times) {
  const traceEvents = times.map(([ts, dur], i) => ({ ph: "X", pid: 0, tid: 7, name: "abc"[i], ts, dur }));
  const shown = [];
  importTraceEvents({ traceEvents }).profiles[0].forEachFrame((frame) => {
    shown.push(`${frame.name} ${frame.getTotalWeight().toFixed(3)}`);
  });
  console.log(shown.join(", "));
}
show([100, 50], [149, 51], [900, 100]);
show([5247126000063.611, 6.784], [5247126000070.395, 6.784], [5247126000900, 100]);
SCRIPT
seen=$(node overlap.cjs)
echo "$seen"
[[ $seen == "a 900.000, b 51.000, c 100.000
a 936.389, b 6.784, c 100.000" ]]
