#!/usr/bin/env bash
# Checks the format of the C and C++ files chosen by recent.py; in the full set, of all.
set -euo pipefail

command -v clang-format >/dev/null || { echo "clang-format is missing"; exit 1; }
mapfile -t files < <(python3 tests/lint/recent.py .c,.h,.cpp include src mpi tools tests)
[[ ${#files[@]} -gt 0 ]] || { echo "no files: the check itself is broken"; exit 1; }

status=0
reports=$(clang-format --dry-run --Werror "${files[@]}" 2>&1) || status=$?
echo "${#files[@]} files"
if [[ $status -ne 0 ]]; then
    grep -v '^[^:]*:[0-9]\|^ \|^$' <<<"$reports" | head || true
    mapfile -t wrong < <(sed -n 's/^\([^:]*\):[0-9].*/\1/p' <<<"$reports" | sort -u)
    echo "to fix: clang-format -i ${wrong[*]}"
    exit 1
fi
