#!/usr/bin/env bash
# C and C++ files are as clang-format would write them: those that recent.py names, in the full set
# all.
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
    echo "to mend: clang-format -i ${wrong[*]}"
    exit 1
fi
