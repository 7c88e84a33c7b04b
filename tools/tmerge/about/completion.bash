# shellcheck shell=bash disable=SC2154
# Appended to the tables that tmerge writes: _tmerge_commands, _tmerge_names, _tmerge_options
# COMMAND, _tmerge_value COMMAND-OPTION. Without completions bash completes file names.
_tmerge() {
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local command=merge value='' words='' options='' operands=''
    COMPREPLY=()
    # bash splits --name=value into three words; other words with "=" are incomplete values.
    if [[ $current == = ]]; then
        current=
    elif [[ $before == = ]]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
        [[ $before == -* ]] || return
    fi
    [[ $COMP_CWORD -lt 2 || "$_tmerge_commands " != *" ${COMP_WORDS[1]} "* ]] ||
        command=${COMP_WORDS[1]}
    _tmerge_options "$command"
    # The function's argument is the whole of @LIST, however bash splits it into words.
    if [[ $operands == trace && $2 == @* ]]; then
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -P @ -f -- "${2#@}")
        return
    fi
    [[ $before != -* ]] || _tmerge_value "$command$before"
    if [[ $value == file ]]; then
        return
    elif [[ $value == word ]]; then
        compopt +o default
    elif [[ $current == -* ]]; then
        words=$options
        [[ $COMP_CWORD -gt 1 ]] || words+=' --version'
    elif [[ $COMP_CWORD -eq 1 ]]; then
        words=$_tmerge_commands
    elif [[ $operands == name || $operands == names && $COMP_CWORD -gt 2 ]]; then
        words=$_tmerge_names
    elif [[ $operands == command ]]; then
        words=${_tmerge_commands% help}
        compopt +o default
    elif [[ $operands == none ]]; then
        compopt +o default
    elif [[ $operands != trace ]]; then
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -X '!*.h5' -- "$current"; compgen -d -- "$current")
        return
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace
}
complete -o default -F _tmerge tmerge
