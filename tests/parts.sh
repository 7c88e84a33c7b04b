# shellcheck shell=bash
# For .ci/run and tools/test: a run in parts. Each runs, whatever came of those before it.
failed=0
times=""

# part COMMAND...  Runs one and notes its time and result.
part() {
    local begin=$SECONDS result=passed
    "$@" || { result=FAILED failed=1; }
    times+="$((SECONDS - begin)) s  $*: $result"$'\n'
}

# finish  Prints the parts; status 1 if one failed.
finish() {
    printf '%s' "$times"
    exit "$failed"
}
