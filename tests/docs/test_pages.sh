#!/bin/bash
# What test_commands.sh does with pages: it finds stale figures, and writes them anew. BUILD is the argument.
set -u
. "$(dirname "$0")/../shell.sh"

build=$(readlink -f "$1")
here=$(readlink -f "$(dirname "$0")")
cd "$scratch" || exit 1
other=$(other_compiler "$build")
if [ "$other" ]; then
    skip "what becomes of stale figures" "$other"
    finish
fi

# write NAME US COST COUNT SUM: a page, NAME, whose commands print 250 us, 17 cycles, 42 and "sum 5"
write() {
    cat >"$1" <<PAGE
Text of 12 us that nobody prints.

\`\`\`
\$ printf 'began\nsum $5 in 250 us\nended\n'
...
sum 5 in $2 us
ended
\$ echo 'a call takes 17 cycles'
a call takes $3 cycles
\`\`\`

<!-- test: any order -->
\`\`\`
\$ printf 'node  1: %5d\nnode  0: %5d\n' 42 7
node  0:     7
node  1: $4
\`\`\`

<!-- test: host times -->
\`\`\`
\$ echo "it took \$(date +%s%N) us"
it took 3 us
\`\`\`
PAGE
}

write right.md 250 17 '   42' 5
write stale.md 384041 9 '    3' 5
write wrong.md 251 17 '   42' 'is not 5'

status "figures as printed" 0 "$here/test_commands.sh" "$build" right.md
status "stale figures" 1 "$here/test_commands.sh" "$build" stale.md
same "stale figures: each is named" "stale.md:14 stale.md:4 stale.md:8" \
    "$(sed -n 's/^failed: .*\/\(stale.md:[0-9]*\): prints something else.*/\1/p' err | sort | xargs)"
status "they are written" 0 "$here/test_commands.sh" "$build" --write stale.md
check "they are written: nothing else is" cmp stale.md right.md
cp wrong.md before.md
status "an output with other words" 1 "$here/test_commands.sh" "$build" --write wrong.md
check "an output with other words is not written" cmp wrong.md before.md
check "an output with other words: it says which" grep -q 'wrong.md:4: more than numbers differ' err

# A manual page
printf '.nf\n$ echo "\\-\\-top: 25 us"\n\\-\\-top: 24 us\n$ echo ".5 \\e 3 us"\n\\&.5 \\e 2 us\n.fi\n' >page.1
printf '.nf\n$ echo "\\-\\-top: 25 us"\n\\-\\-top: 25 us\n$ echo ".5 \\e 3 us"\n\\&.5 \\e 3 us\n.fi\n' >want.1
status "a manual page" 0 "$here/test_commands.sh" "$build" --write page.1
check "a manual page's figures are written" cmp page.1 want.1

finish
