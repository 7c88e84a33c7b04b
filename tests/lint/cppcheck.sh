#!/usr/bin/env bash
# Runs cppcheck on the C files chosen by recent.py; in the full set, on all. The compiler and
# clang-tidy find most of the same problems, so the latest changed files are enough.
set -euo pipefail

mapfile -t files < <(python3 tests/lint/recent.py --latest=30 .c src mpi tools)
[[ ${#files[@]} -gt 0 ]] || { echo "no files: the check itself is broken"; exit 1; }
check=(cppcheck "--enable=warning,performance,portability" --error-exitcode=1 --inline-suppr
    --suppress=missingIncludeSystem --std=c11 --library=posix --quiet
    -D_POSIX_C_SOURCE=200809L -Iinclude -Isrc -Itools -Itools/tmerge -I.)
echo 'int f(int); int f(int n) { int a[2] = {n, n}; return a[2]; }' >"${TMPDIR:-/tmp}/bad.$$.c"
if "${check[@]}" "${TMPDIR:-/tmp}/bad.$$.c" 2>/dev/null; then
    echo "a bad example passes: the check itself is broken"
    exit 1
fi
rm "${TMPDIR:-/tmp}/bad.$$.c"
"${check[@]}" -j "$(nproc)" "${files[@]}"
echo "cppcheck: ${#files[@]} files"
