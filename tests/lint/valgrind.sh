#!/usr/bin/env bash
# Runs the unit tests under valgrind, for the target memcheck: valgrind.sh BUILD. No suppressions are
# needed: the libraries that the core uses come clean.
set -euo pipefail

command -v valgrind >/dev/null || { echo "valgrind is missing"; exit 1; }

# Each tries some thousand small changes in a row, which takes minutes here, as does injection, a
# program of its own; they run under the address sanitizer in the asan preset. And valgrind makes a
# fork of what posix_spawn does, so that a program that cannot be loaded is only told by a status.
left_out=(kineto_errors source store_check child)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
check() {
    valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,possible \
        "$@" >"$scratch/${!#}.log" 2>&1 </dev/null
}

echo 'int main(void) { for (int i = 0; i < 9; i++) *(char *)__builtin_malloc(9) = 0; }' \
    | "${CC:-cc}" -g -O0 -w -xc - -o "$scratch/bad_program"
status=0
check "$scratch/bad_program" bad || status=$?
[[ $status -eq 99 ]] || { echo "a bad program passes: the check itself is broken"; exit 1; }

one() {
    local status=0
    check "$program" "$1" || status=$?
    [[ $status -eq 0 || $status -eq 77 ]] && return
    echo "unit.$1: status $status"
    grep -a '^==' "$scratch/$1.log" | head -40
    return 1
}
export -f check one
export scratch program=$1/tests/test_unit

names=()
for name in $("$program"); do
    [[ " ${left_out[*]} " == *" $name "* ]] || names+=("$name")
done
[[ ${#names[@]} -gt 30 ]] || { echo "too few tests: the check itself is broken"; exit 1; }
printf '%s\0' "${names[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'one "$@"' one || exit 1
echo "${#names[@]} files of tests"
