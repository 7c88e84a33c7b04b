#!/usr/bin/env bash
# HDF5 2.0.0 (in h5py 3.16.0) beside HDF5 1.14.6 (in h5py 3.15.1)
#
# Expected: two files with the same content, written with default properties, are the same bytes, as
# with HDF5 1.14, whose superblock is of version 0.
# Seen: HDF5 2 writes superblock version 2, and the header of the root group then holds the times of
# its making, so that two files written at different seconds differ. With the lower bound set to
# "earliest", or with times switched off for the root group, they are the same again.
#
# Output:
#   1.14.6 defaults: superblock 0, two files are the same
#   2.0.0 defaults: superblock 2, two files differ
#   2.0.0 earliest: superblock 0, two files are the same
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >write.py <<'PYTHON'
import sys
import time

import h5py
import numpy


def written(name, earliest):
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    if earliest:
        access.set_libver_bounds(h5py.h5f.LIBVER_EARLIEST, h5py.h5f.LIBVER_V110)
    file = h5py.h5f.create(name.encode(), fapl=access)
    numbers = numpy.arange(100, dtype="<i8")
    space = h5py.h5s.create_simple(numbers.shape)
    plain = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plain.set_obj_track_times(False)
    data = h5py.h5d.create(file, b"numbers", h5py.h5t.STD_I64LE, space, plain)
    data.write(h5py.h5s.ALL, h5py.h5s.ALL, numbers)
    del data
    file.close()
    with open(name, "rb") as file:
        return file.read()


for how in sys.argv[1:]:
    one = written("one.h5", how == "earliest")
    time.sleep(1.1)
    two = written("two.h5", how == "earliest")
    print(f"{h5py.version.hdf5_version} {how}: superblock {one[8]}, two files "
          f"{'are the same' if one == two else 'differ'}")
PYTHON
for version in 3.15.1 3.16.0; do
    python3 -m venv "$version"
    "$version/bin/pip" install --quiet --disable-pip-version-check "h5py==$version"
done
{
    3.15.1/bin/python write.py defaults
    3.16.0/bin/python write.py defaults earliest
} | tee seen
diff seen - <<'EXPECTED'
1.14.6 defaults: superblock 0, two files are the same
2.0.0 defaults: superblock 2, two files differ
2.0.0 earliest: superblock 0, two files are the same
EXPECTED
