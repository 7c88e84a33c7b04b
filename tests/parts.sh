# shellcheck shell=bash
# For .ci/run and tools/test: a run in parts. Each runs, whatever came of those before it.
failed=0
times=""

# Seconds of CPU time of all that this script has run and waited for.
cpu() {
    local stat
    read -ra stat <"/proc/$$/stat"
    echo $(((stat[15] + stat[16]) / $(getconf CLK_TCK)))
}

# part COMMAND...  Runs one and notes its times and result.
part() {
    local begin=$SECONDS before result=passed
    before=$(cpu)
    "$@" || { result=FAILED failed=1; }
    times+="$((SECONDS - begin)) s, $(($(cpu) - before)) s of CPU  $*: $result"$'\n'
}

# finish  Prints the parts; status 1 if one failed.
finish() {
    printf '%s' "$times"
    exit "$failed"
}
