#!/bin/bash
# Every function that an installed header declares links, or is in the list of docs/caveats.md, "Declared and not
# there"; what is in that list does not link. Every header can be included. BUILD is the argument.
# Names that begin with an underscore are the library's own.
set -u
. "$(dirname "$0")/../shell.sh"

build=$(readlink -f "$1")
ncc="$build/bin/ncc -D_GNU_SOURCE -w"
newlib=$(sed -n "s/^newlib='\(.*\)'$/\1/p" "$build/bin/ncc")
caveats=$(readlink -f "$(dirname "$0")/../../docs/caveats.md")
cd "$scratch" || exit 1

# The words of the block behind the line that begins with $1.
list() {
    awk -v line="$1" 'index($0, line) == 1 { found = 1 }
                      found && /^```/ { if (inside++) exit; next }
                      inside' "$caveats" |
        tr -s ' \n' '\n' | sed '/^$/d' | LC_ALL=C sort -u
}

includes() { # HEADER: a program's first lines; some headers of newlib need what others bring
    printf '#include <sys/types.h>\n#include <sys/time.h>\n#include <stdio.h>\n#include <%s>\n' "$1"
}

# Links a program that has the addresses of these functions. It declares them itself, as all headers together contradict
# each other; use.errors has what is missing, once.
links() { # FUNCTION...
    {
        printf 'extern char %s[];\n' "$@"
        printf 'void *used[] = {\n'
        printf '%s,\n' "$@"
        printf '};\nint main(void) { return used[0] == 0; }\n'
    } >use.c
    $ncc -fno-builtin -o use use.c -lm -lpio 2>use.errors
}
missing() { sed -n 's/.*undefined reference to//p' use.errors | tr -d " \`'" | LC_ALL=C sort -u; }

list '**Functions**' >listed
list '**Newer**' >newer # which depend on newlib's version: not judged
(cd "$build/include" && find . -name '*.h' && cd "$newlib/include" && find . -name '*.h') |
    sed 's|^\./||' | grep -v '^mpi_' | LC_ALL=C sort -u >headers # mpi.h has those
: >broken-headers
: >declared # NAME HEADER, each name once
while read -r header; do
    includes "$header" >one.c
    if $ncc -fsyntax-only -aux-info one.aux one.c 2>/dev/null; then
        # The name is the first that a parenthesis without a star follows: "char *f (int)", "void (*f (int)) (int)".
        awk -v header="$header" '/ extern / && !/lib\/gcc/ {
            sub(/^.*\*\/ extern /, "")
            if (match($0, /[A-Za-z_][A-Za-z_0-9]* \([^*]/) && substr($0, RSTART, 1) != "_")
                print substr($0, RSTART, RLENGTH - 3), header
        }' one.aux >>declared
    else
        echo "$header" >>broken-headers
    fi
done <headers
LC_ALL=C sort -u -k1,1 declared >names
cut -d' ' -f1 names >names-only

check "enough functions are found" test "$(wc -l <names)" -gt 900
check "every header can be included: $(tr '\n' ' ' <broken-headers)" test ! -s broken-headers
check "the list names declared functions only" test -z "$(LC_ALL=C comm -13 names-only listed)"

# The functions that are not in the list: all of them at once.
LC_ALL=C join -v1 names-only listed | LC_ALL=C join -v1 - newer >there
# shellcheck disable=SC2046
links $(cat there) || { head -n 5 use.errors; false; }
same "what is not in the list links" "0 " "$? $(missing | xargs)"

# Those in the list that the linker does not miss when all are asked for at once are tried one by one.
# shellcheck disable=SC2046
links $(cat listed)
missing >missed
for name in $(LC_ALL=C comm -23 listed missed); do
    ! links "$name" || echo "$name"
done >linked
check "what is in the list does not link: $(tr '\n' ' ' <linked)" test ! -s linked

finish
