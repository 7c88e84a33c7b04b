#!/usr/bin/env bash
# clang-tidy over every C file that the build compiles: tests/lint/clang-tidy.sh BUILD_FOLDER
# One process per file: within one process, version 14 carries state of its va_list check from file
# to file and reports what is not there.
set -euo pipefail

build=$1
command -v clang-tidy >/dev/null || { echo "clang-tidy is missing" >&2; exit 1; }

mapfile -t files < <(python3 -c '
import json, sys
entries = json.load(open(sys.argv[1]))
print("\n".join(sorted({e["file"] for e in entries
                        if e["file"].endswith(".c") and not e["file"].startswith(sys.argv[2])})))
' "$build/compile_commands.json" "$build/web/") # what is generated is bytes alone
[[ ${#files[@]} -gt 0 ]] || { echo "no files in the compile database" >&2; exit 1; }
echo "${#files[@]} files"

tidy() {
    local options=(--extra-arg=-include --extra-arg="$PWD/tests/lint/analyzer.h")
    case $2 in
    # The files that define what analyzer.h is about.
    */src/base/status.c | */mpi/agree.c | */tools/synth/base/error.c) options=() ;;
    # cmocka does not say that a failed assertion ends the test, so the analyser goes on from it.
    */tests/unit/* | */tests/mpi/*) options=(--checks=-clang-analyzer-\*) ;;
    esac
    # The count of warnings in system headers goes to standard error, a line for each file.
    clang-tidy -p "$1" --quiet "${options[@]}" "$2" 2>/dev/null || {
        echo "clang-tidy: $2 (status $?)"
        return 1
    }
}
export -f tidy
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P 2 bash -c 'tidy "$@"' tidy "$build"
