#!/bin/bash
# docs/old-codes.md: every command line of the page, with what it prints. BUILD is the argument.
set -u
. "$(dirname "$0")/../shell.sh"

PATH=$(readlink -f "$1")/bin:$PATH
page=$PWD/docs/old-codes.md
cp -R "$(dirname "$0")/old/." "$scratch" && cd "$scratch" || exit 1

# Extracts each command of the page's blocks, with the lines behind it, up to the next.
command='' expected='' commands=0
judge() {
    [ -n "$command" ] || return 0
    commands=$((commands + 1))
    same "$command" "$expected" "$(eval "$command" 2>&1 </dev/null)"
    command='' expected=''
}
while IFS= read -r line; do
    case $line in
    '```') judge ;;
    '$ '*)
        judge
        command=${line#\$ }
        ;;
    *) expected=$expected${expected:+$'\n'}$line ;;
    esac
done < <(sed -n '/^```/,/^```/p' "$page")
same "command lines on the page" "$(grep -c '^\$ ' "$page")" $commands
check "of which there are some" [ $commands -ge 8 ]

# Each flag is needed by some program.
fails() { # NAME PATTERN COMMAND...
    local name=$1 pattern=$2
    shift 2
    "$@" >out 2>&1 && same "$name" "an exit status other than 0" 0
    check "$name" grep -q -e "$pattern" out
}
fails "without -fcommon" "multiple definition" ncc -std=gnu89 -w -Istubs -o workers workers.c queue.c stubs.c
fails "without the header" "netdb.h" ncc -std=gnu89 -fcommon -w -o workers workers.c queue.c stubs.c
fails "without the machine's name" "WHO" ncc -w -o counts counts.c
fails "without TIME" "HZ_OF_MACHINE" ncc -w -o passes passes.c
check "undeclared functions and missing types are warnings" eval "ncc -std=gnu11 -c queue.c -Istubs 2>warnings"
fails "which -w suppresses" "defaults to .int." ncc -std=gnu11 -Werror -c queue.c -Istubs
same "all of them" "" "$(ncc -w -c queue.c -Istubs 2>&1)"

finish
