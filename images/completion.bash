# Completion for bash of ncube, xnc and ncc: commands, options, machines, files. It asks the commands themselves, by
# --help, so that it knows what they know.

# The options of a command line without its last words: "ncube run", "xnc"
_ncube_options() {
    "$@" --help 2>/dev/null | sed -n 's/^ *\(-[a-zA-Z], \)\{0,1\}\(--[a-z-]*\).*/\2/p'
}

_ncube_commands() {
    "$1" --help 2>/dev/null | sed -n 's/^  ncube \([a-z]*\) .*/\1/p'
}

# The machines that come with ncube, beside its executable
_ncube_machines() {
    local file folder
    folder=$(dirname "$(readlink -f "$(command -v "$1")")")/../machines
    for file in "$folder"/*.conf; do
        [ -e "$file" ] && basename "$file" .conf
    done
}

# The value of an option that has a few words to choose from
_ncube_words() { # OPTION
    case $1 in
    --sync) echo ahead strict ;;
    --status) echo highest first node0 ;;
    --trace-format) echo text chrome picl ;;
    --set) echo dim= ram_mb= timing= front_end.si= io_nodes.service= drives.model= drives.rpm= drives.cache_kb= ;;
    *) return 1 ;;
    esac
}

# The machines of this user that are up
_ncube_running() {
    "$1" ps 2>/dev/null | sed -n 's/^\([^: ]*\): up, .*/\1/p'
}

_ncube_takes_machine() { # COMMAND
    case $1 in boot | check | topo | route | place | experiments) true ;; *) false ;; esac
}

_ncube_reply() { # WORD CHOICE...
    local word=$1
    shift
    COMPREPLY=($(compgen -W "$*" -- "$word"))
    case ${COMPREPLY[0]-} in *=) compopt -o nospace 2>/dev/null ;; esac
}

_ncube() {
    local program=${COMP_WORDS[0]} command= word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words
    case $program in ncube | */ncube) command=${COMP_WORDS[1]:-none} ;; esac
    COMPREPLY=()
    if [ "$before" = = ]; then # bash splits --option=value
        before=${COMP_WORDS[COMP_CWORD - 2]}
    elif [ "$word" = = ]; then
        before=${COMP_WORDS[COMP_CWORD - 1]} word=
    fi
    if [ -n "$command" ] && [ "$COMP_CWORD" -eq 1 ]; then
        _ncube_reply "$word" "$(_ncube_commands "$program")" --help
    elif words=$(_ncube_words "$before"); then
        _ncube_reply "$word" "$words"
    elif [[ $before == -m || $before == --machine ]] && [[ $command == @(|down|ps|top|gdb) ]]; then
        _ncube_reply "$word" "$(_ncube_running "${program/%xnc/ncube}")"
    elif [ "$before" = -m ] || [ "$before" = --machine ]; then
        COMPREPLY=($(compgen -W "$(_ncube_machines "$program")" -- "$word") $(compgen -f -- "$word"))
    elif [[ $word == -* ]]; then
        _ncube_reply "$word" "$(_ncube_options "$program" $command)"
    elif _ncube_takes_machine "$command"; then
        COMPREPLY=($(compgen -W "$(_ncube_machines "$program")" -- "$word") $(compgen -f -- "$word"))
    else
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}

complete -o filenames -F _ncube ncube xnc ncc
