#!/usr/bin/env bash
# Runs the unit tests under valgrind, for the target memcheck: valgrind.sh BUILD. The libraries that
# the core uses need no suppressions.
set -euo pipefail

command -v valgrind >/dev/null || { echo "valgrind is missing"; exit 1; }

# valgrind implements posix_spawn with fork, so a program that cannot be loaded is reported only by
# its exit status.
left_out=(child)
# These try thousands of small changes each. In the full set they run here too, as well as with the
# address sanitizer.
[[ ${TMERGE_FULL-} == 1 ]] || left_out+=(
    align clock_jobs kineto kineto_errors restore source store_check trace_viewer window)
# The longest of the others take turns by day; other tests cover the same code each time.
by_turn=(export nsys_units replay_job replay_plan store store_failure suspects table_render)
day=$(($(date +%s) / 86400))
for i in "${!by_turn[@]}"; do
    [[ ${TMERGE_FULL-} == 1 ]] || ((i % 3 == day % 3)) || left_out+=("${by_turn[i]}")
done
at_once=8 # test files per start of valgrind, which takes a second

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# check PROGRAM NAME...
check() {
    valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,possible \
        "$@" >"$scratch/$2.log" 2>&1 </dev/null
}

echo 'int main(void) { for (int i = 0; i < 9; i++) *(char *)__builtin_malloc(9) = 0; }' \
    | "${CC:-cc}" -g -O0 -w -xc - -o "$scratch/bad_program"
status=0
check "$scratch/bad_program" bad || status=$?
[[ $status -eq 99 ]] || { echo "a bad program passes: the check itself is broken"; exit 1; }

# shellcheck disable=SC2317 # called by xargs
some() {
    local program=$1 status=0
    shift
    check "$program" "$@" || status=$?
    [[ $status -eq 0 ]] && return
    echo "${program##*/} $*: status $status"
    grep -aE '^==|FAILED|^\[  ERROR' "$scratch/$1.log" | head -40
    return 1
}
export -f check some
export scratch

n=0
# all PROGRAM AT_ONCE  Runs all test files of a program except those in left_out.
all() {
    local names=() name
    for name in $("$1"); do
        [[ " ${left_out[*]} " == *" $name "* ]] || names+=("$name")
    done
    n=$((n + ${#names[@]}))
    printf '%s\0' "${names[@]}" | xargs -0 -n "$2" -P "$(nproc)" bash -c 'some "$@"' some "$1"
}
status=0
all "$1/tests/test_unit" "$at_once" || status=1
if [[ ${TMERGE_FULL-} == 1 ]]; then
    for name in temp_file injection unknown_names; do
        all "$1/tests/test_$name" 1 || status=1
    done
fi
[[ $n -gt 30 ]] || { echo "too few tests: the check itself is broken"; exit 1; }
echo "$n files of tests"
exit "$status"
