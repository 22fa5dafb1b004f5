#!/bin/bash
# The line on a terminal that says how far something is: ncube run --progress, and the bar of long copies. BUILD is the
# argument.
set -u
. "$(dirname "$0")/../shell.sh"

build=$(readlink -f "$1")
PATH=$build/bin:$PATH:/usr/sbin:/sbin
terminal_for "the line on a terminal" || finish
cd "$scratch" || exit 1

# Runs a command line on a terminal 70 columns wide; what it writes there goes to raw, and what stays there to seen.
on_terminal() {
    script -qec "stty cols 70; $1" -O /dev/null >raw </dev/null
    code=$?
    sed -e 's/\r$//' -e 's/.*\r//' -e 's/\x1b\[K//g' raw >seen
}
widest() { tr '\r' '\n' <raw | sed 's/\x1b\[K//' | awk '{ if (length > n) n = length } END { print n + 0 }'; }

cat >slow.c <<'EOF'
#include <nself.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    volatile long x = 0;
    long rounds = argc > 1 ? atol(argv[1]) : 0;
    if (npid() == 0) {
        printf("partial");
        fflush(stdout);
    }
    for (long i = 0; i < rounds; i++)
        x += i;
    if (npid() == 0)
        printf(" line\n");
    for (long i = 0; i < rounds; i++)
        x += i;
    return 0;
}
EOF
ncc -O2 -o slow slow.c
drawn_behind() { sed -n "/$1/,\$p" raw | grep -c 'of real time'; }

# So many rounds that the host is busy for long enough to draw the line several times.
for rounds in 80000000 160000000 320000000 640000000; do
    on_terminal "ncube run --progress ./slow $rounds"
    [ "$(drawn_behind 'partial line')" -eq 0 ] || break
done
same "status on a terminal" 0 $code
check "it says that it starts" grep -qF 'starts 1 node' raw
check "and how far it is" grep -qE '[0-9.]+ s, [0-9.]+ of real time; [0-9]+ messages, [0-9.]+ MB; drives' raw
same "what stays is the program's output" "partial line" "$(cat seen)"
check "a line that the program has begun is not drawn over" grep -qF 'partial line' raw
check "it is drawn after that line, too" test "$(drawn_behind 'partial line')" -gt 0
check "no line is wider than the terminal" test "$(widest)" -le 69

on_terminal "ncube run --progress --trace=none/x ./slow"
same "status of a run that does not start" 1 $code
same "its complaint has a line of its own" "ncube: none/x: No such file or directory" "$(cat seen)"
on_terminal "ncube run -d 2 --progress --limit 0.4 ./slow 100000000"
same "status at the limit" 124 $code
check "a complaint has a line of its own" grep -qxE 'ncube: the limit of 0.400000 s of virtual time is reached' seen

status "not on a terminal" 0 ncube run -d 2 --progress ./slow 1000000
same "nothing is drawn" "" "$(cat err)"
same "the program's output" "partial line" "$(cat out)"
ncube run -d 2 --trace=a.json ./slow 1000000 >out
on_terminal "ncube run -d 2 --progress --trace=b.json ./slow 1000000"
check "the same trace" cmp a.json b.json
status "with heartbeats" 2 ncube run --progress --heartbeat ./slow
check "one is enough" grep -qF 'give one of them' err

head -c 9000000 /dev/zero >big
status "an image" 0 ncube disk create v.img 16M
on_terminal "ncube disk put big v.img:/big"
same "status of a long copy" 0 $code
check "it has a bar" grep -qE '\[#+ *\] +[0-9]+ %' raw
same "which goes" "" "$(cat seen)"
status "a long copy elsewhere" 0 ncube disk get v.img:/big copy
same "has none" "" "$(cat err)"
check "the copy" cmp big copy
finish
