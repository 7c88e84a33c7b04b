#!/usr/bin/env bash
# cppcheck's warnings, over all C files of the project.
set -euo pipefail

cppcheck --enable=warning,performance,portability --error-exitcode=1 --inline-suppr \
    --suppress=missingIncludeSystem --std=c11 --library=posix --quiet -j 2 \
    -D_POSIX_C_SOURCE=200809L -Iinclude -Isrc -Itools -I. src mpi tools
