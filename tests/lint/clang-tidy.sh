#!/usr/bin/env bash
# clang-tidy, for the target tidy (tidy.cmake):
#   clang-tidy.sh BUILD FILE OBJECT  checks a C file; where it is clean, stamps it, BUILD/tidy/FILE,
#                                    which is old once the object is made anew
#   clang-tidy.sh BUILD              proves that it fails and that all that is compiled has a stamp
# One process per file: within one process, version 14 carries state of its va_list check from file
# to file and reports what is not there.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$1
command -v clang-tidy >/dev/null || { echo "clang-tidy is missing"; exit 1; }

tidy() {
    local options=(--extra-arg=-include --extra-arg="$root/tests/lint/analyzer.h")
    case $1 in
    # The files that define what analyzer.h is about.
    */src/base/status.c | */mpi/agree.c | */tools/synth/base/error.c) options=() ;;
    # cmocka does not say that a failed assertion ends the test, so the analyser goes on from it.
    */tests/unit/* | */tests/mpi/*) options=(--checks=-clang-analyzer-\*) ;;
    esac
    # The count of warnings in system headers goes to standard error, a line for each file.
    clang-tidy -p "$build" --config-file="$root/.clang-tidy" --quiet "${options[@]}" "$1" \
        2>/dev/null || { echo "clang-tidy: $1 (status $?)"; return 1; }
}

if [[ $# -gt 1 ]]; then
    stamp=$build/tidy/${2#"$root"/}
    [[ -f ${3-} ]] || { echo "$2: without its object, no change of a header is seen"; exit 1; }
    tidy "$2"
    mkdir -p "${stamp%/*}"
    touch "$stamp"
    exit
fi

# finds ROOM WORD...  What it finds of a null pointer, for the analyser, and a needless else.
finds() {
    local file=$build/tidy/bad/$1/bad.c
    mkdir -p "${file%/*}"
    echo 'int f(int *p); int f(int *p) { if (!p) return *p; else return 1; }' >"$file"
    ! tidy "$file" >"$file.log" || return 1
    [[ $(grep -o 'NullDereference\|else-after-return' "$file.log" | sort | xargs) == "${*:2}" ]]
}
if ! finds src NullDereference else-after-return || ! finds tests/unit else-after-return; then
    echo "of a bad example it does not find what it should: the check itself is broken"
    exit 1
fi

n=0
while read -r file; do
    [[ $build/tidy/${file#"$root"/} -nt $file ]] || { echo "$file: not checked"; exit 1; }
    n=$((n + 1))
done < <(python3 -c '
import json, sys
files = {e["file"] for e in json.load(open(sys.argv[1]))}
print(*(f for f in files if f.endswith(".c") and not f.startswith(sys.argv[2])), sep="\n")
' "$build/compile_commands.json" "$build/web/") # what is generated is bytes alone
[[ $n -gt 0 ]] || { echo "no files in the compile database"; exit 1; }
echo "clang-tidy: $n files"
