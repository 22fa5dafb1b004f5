#!/bin/bash
# Bash completes commands, every option that --help lists, machines and values. BUILD is the argument.
set -u
. "$(dirname "$0")/../shell.sh"

build=$(readlink -f "$1")
. "$(dirname "$0")/../../images/completion.bash"
PATH=$build/bin:$PATH
cd "$scratch" || exit 1
touch some.conf other.txt

# complete_words WORD...: what may stand in place of the last word
complete_words() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _ncube 2>/dev/null
    printf '%s\n' "${COMPREPLY[@]}" | sort -u | tr '\n' ' '
}

same "a command" "check " "$(complete_words ncube ch)"
same "all commands" "$(ncube --help | grep -c '^  ncube ')" "$(complete_words ncube "" | wc -w | awk '{print $1 - 1}')"
for command in "ncube run" "ncube boot" "ncube down" "ncube ps" "ncube top" "ncube check" "ncube topo" "ncube route" \
    "ncube place" "ncube model" "ncube disk" "ncube map" xnc ncc; do
    for option in $($command --help | grep -o '^ *\(-[a-z], \)\{0,1\}--[a-z-]*' | grep -o -- '--[a-z-]*'); do
        same "$command has $option" "$option" \
            "$(complete_words $command "$option" | tr ' ' '\n' | grep -x -- "$option")"
    done
done
same "options by their beginning" \
    "--trace --trace-format --trace-from --trace-limit --trace-lines --trace-nodes --trace-to " \
    "$(complete_words ncube run --tr)"
same "values after a blank" "strict " "$(complete_words ncube run --sync s)"
same "values after =" "chrome picl text " "$(complete_words ncube run --trace-format = "")"
same "keys to set" "drives.cache_kb= drives.model= drives.rpm= " "$(complete_words ncube topo --set dr)"
same "machines, and files" "sandia sandia-full some.conf " "$(complete_words ncube topo s)"
same "machines after -m" "tiny " "$(complete_words ncube run -m ti)"
same "files" "other.txt " "$(complete_words ncube run o)"
same "nothing fits" " " "$(complete_words ncube run --nothing)"
finish
