#!/usr/bin/env bash
# h5wasm 0.10.3 (HDF5 2.0.0), h5py 3.16.0, hdf5plugin 7.1.0
#
# Expected: reading a dataset whose filter h5wasm lacks (zstd, 32015) throws, as it does in h5py.
# Seen: `value` returns an array of the right type and length whose numbers are not those that were
# stored, and throws nothing. HDF5's messages go to standard error only. After
# activate_throwing_error_handler() it throws.
#
# Output:
#   gzip: 1000 numbers, as stored
#   zstd: 1000 numbers, not as stored
#   zstd, with the throwing handler: throws
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check h5py==3.16.0 hdf5plugin==7.1.0
npm install --silent --no-save --no-audit --no-fund h5wasm@0.10.3

python/bin/python - <<'PYTHON'
import h5py
import hdf5plugin
import numpy

numbers = numpy.arange(1, 1001, dtype="<i8")
with h5py.File("numbers.h5", "w") as file:
    file.create_dataset("gzip", data=numbers, chunks=(1000,), compression="gzip")
    file.create_dataset("zstd", data=numbers, chunks=(1000,), **hdf5plugin.Zstd())
PYTHON

cat >read.mjs <<'SCRIPT'
import h5wasm from "h5wasm/node";

const module = await h5wasm.ready;
const file = new h5wasm.File("numbers.h5", "r");
const isStored = (value) => value.every((number, i) => number === BigInt(i + 1));
for (const name of ["gzip", "zstd"]) {
  const { value } = file.get(name);
  console.log(`${name}: ${value.length} numbers, ${isStored(value) ? "as stored" : "not as stored"}`);
}
module.activate_throwing_error_handler();
try {
  console.log(`zstd, with the throwing handler: ${file.get("zstd").value.length} numbers`);
} catch {
  console.log("zstd, with the throwing handler: throws");
}
SCRIPT
node read.mjs 2>messages | tee seen
diff seen - <<'EXPECTED'
gzip: 1000 numbers, as stored
zstd: 1000 numbers, not as stored
zstd, with the throwing handler: throws
EXPECTED
grep -q "filter 'zstd' is not registered\|required filter" messages
