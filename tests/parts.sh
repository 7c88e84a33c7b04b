# shellcheck shell=bash
# For .ci/run and tools/test: runs all parts, even after one failed.
failed=0
times=""

# Prints the seconds of CPU time of all children that this script has waited for.
cpu() {
    local stat
    read -ra stat <"/proc/$$/stat"
    echo $(((stat[15] + stat[16]) / $(getconf CLK_TCK)))
}

# part COMMAND...  Runs a part and records its times and result.
part() {
    local begin=$SECONDS before result=passed
    before=$(cpu)
    "$@" || { result=FAILED failed=1; }
    times+="$((SECONDS - begin)) s, $(($(cpu) - before)) s of CPU  $*: $result"$'\n'
}

# finish  Prints the parts and exits, with status 1 if one failed.
finish() {
    printf '%s' "$times"
    exit "$failed"
}
