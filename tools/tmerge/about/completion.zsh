# Appended to the tables that tmerge writes: _tmerge_commands, _tmerge_names, and _tmerge_specs
# COMMAND, which sets specs.
_tmerge() {
    local command=merge
    local -a specs
    if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
        compset -P @ || _describe -t commands command _tmerge_commands
        _files
        return
    fi
    if (( CURRENT > 2 && $_tmerge_commands[(I)$words[2]:*] )); then
        command=$words[2]
        shift words
        (( CURRENT-- ))
    fi
    _tmerge_specs $command
    (( CURRENT > 2 )) || [[ $words[1] == $command ]] || specs+=('--version[say which tmerge it is]')
    _arguments -s -S $specs
}
_tmerge "$@"
