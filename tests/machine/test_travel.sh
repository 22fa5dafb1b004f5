#!/bin/bash
# Backwards in gdb, in the replay of a recording: breakpoints, watchpoints, steps; and forwards again, with the same
# output and the same trace. BUILD is the argument.
set -u
. "$(dirname "$0")/../shell.sh"
. "$(dirname "$0")/gdb.sh"

begin_suite "backwards in gdb" "$1"

# record STATUS OPTION... WORD...: a run, in run.ncr, recorded.out and recorded.trace
record() {
    local expected=$1
    shift
    "$ncube" run --record=run.ncr --trace=recorded.trace "$@" >recorded.out 2>recorded.err
    same "$*: status" "$expected" $?
}

replay() { # OPTION...
    begin_gdb replay --gdb --trace=replayed.trace "$@" run.ncr
}

# as_recorded NAME STATUS: the replay ends like the recorded run, whatever gdb has done
as_recorded() {
    end "$1" "$2" "$(cat recorded.out)"
    check "$1: errors" cmp recorded.err <(grep -v 'waiting for gdb' run.err)
    check "$1: trace" cmp recorded.trace replayed.trace
}

# ---- One node

record 0 -d 0 "$debugged"
replay
gdb 'break add if k == 0' 'continue' 'continue' 'print total' 'reverse-stepi' 'stepi' 'reverse-continue' \
    'reverse-continue' 'info threads' 'reverse-stepi' 'continue' 'delete' 'continue'
as_recorded "one node" 0
same "to a breakpoint, and to the begin" "1 1" \
    "$(after reverse-continue | grep -c "^Breakpoint 1, add (k=0)") \
$(after 'info threads' | grep -c 'runs) *_start ()')"
same "there is nothing before" 2 "$(grep -cE "(No more reverse-execution|end of recorded) history" gdb.out)"

# ---- Single instructions: the registers on the way back are those on the way there

registers() { # STEP N: after each of them
    local i
    for ((i = 0; i < $2; i++)); do
        ask "$1" >/dev/null
        ask g
    done
}

record 0 -d 1 "$debugged"
replay
exec 3<>"/dev/tcp/127.0.0.1/$port"
same "gdb is told that it may go back" 1 "$(ask qSupported | grep -c 'ReverseStep+;ReverseContinue+')"
printf -v work '%x' "0x$(nm "$debugged" | awk '$3 == "work" { print $1 }')"
ask "Z0,$work,4" >/dev/null
ask c >/dev/null
same "at the breakpoint" "T05thread:2;" "$(ask c)"
ask "z0,$work,4" >/dev/null
ask g >there
registers 'vCont;s:2;c' 6 >>there
ask Hc2 >/dev/null
registers bs 6 | tac >back
same "as many places" 7 "$(sort -u there | wc -l)"
check "the same registers" cmp <(head -n 6 there) back
same "nothing is watched" "T05replaylog:begin;" "$(ask bc | sed 's/thread:[^;]*;//')"
same "back, at the entry, is nowhere" "T05replaylog:begin;" "$(ask bs | sed 's/thread:[^;]*;//')"
same "malformed" "" "$(ask bx)"
ask D >/dev/null
exec 3>&-
as_recorded "single instructions" 0

# ---- Several nodes

printf 'dim = 2; nodes_per_cabinet = 3;\n' >two.conf
record 1 -m two.conf -d 2 "$debugged" fault
replay
gdb 'info threads' 'print node' 'watch total' 'reverse-continue' 'print total' 'backtrace' \
    'reverse-continue' 'print total' 'info threads' 'delete' 'break work' 'reverse-continue' 'continue' \
    'continue' 'delete' 'continue' 'continue'
as_recorded "several nodes" 1
says "gdb begins at the fault" '^\* 4 .* fault \(node=3\)'
same "to the last write of that node" \
    "Old value = 18 New value = 9 Old value = 9 New value = 3" "$(grep -E '^(Old|New) value' gdb.out | xargs)"
says "where it was" '^#1 .* in work \(node=3\)'
same "before the write" '$2 = 9 $3 = 3' "$(grep -E '^\$[23] =' gdb.out | xargs)"
says "to a breakpoint of another node" '^Thread 2 "node 1" hit Breakpoint 2, work \(node=1\)'

record 125 -d 1 "$debugged" stuck
replay
gdb 'break receive' 'reverse-continue' 'print wanted' 'reverse-continue' 'info threads' 'delete' 'continue' \
    'continue'
as_recorded "a deadlock" 125
says "is told again after it" 'ncube: deadlock: .*'
same "it is told once" 1 "$(grep -c '^ncube: deadlock' gdb.out)"
same "what is awaited" '$1 = 9' "$(after 'print wanted')"

# ---- Steps by lines, what was hit, times and senders

replay
gdb 'break receive if wanted == 9' 'reverse-continue' 'reverse-step' 'reverse-next' 'reverse-finish' 'delete' \
    'break add thread 1' 'reverse-continue' 'monitor when' 'continue' 'info threads' 'reverse-continue' 'kill'
end "steps" 1 "sum 1"
says "a condition" '^Thread 1 "node 0" hit Breakpoint 1.*, receive \(wanted=9\)'
same "steps by lines" "main main" "$(for c in reverse-step reverse-next; do
    after "$c" | grep -o '^main' || after "$c" | grep -o 'receive(TYPE_NEVER)\|strcmp(how, "stuck")' |
        sed 's/.*/main/'
done | xargs)"
same "the hits are listed" 2 \
    "$(after 'monitor when' | grep -c '^0\.0[0-9]* s ([0-9]* cycles) node [01]: breakpoint at 0x10')"

record 0 -d 1 "$debugged"
replay
gdb 'break receive' 'continue' 'finish' 'monitor origin' 'continue' 'backtrace' 'monitor goto 0.001' 'continue' \
    'monitor time' 'monitor goto 1e9' 'monitor goto soon' 'monitor origin' 'monitor goto 100' 'continue'
as_recorded "times and senders" 0
says "who has sent" '^what this node has read last, type 7, was sent by node 1 at 0\.0[0-9]* s$'
says "and where" '^#[12] .* in nwrite '
check "a time" awk '$1 == "node" && $2 == 0 && $4 == "at" && $5 >= 0.001 { found = 1 } END { exit !found }' gdb.out
says "no time" '^give a virtual time in seconds'
says "nothing read" '^this node has read no message yet'

# ---- A longer run: passes go forward to shortly before what is sought. The places, registers and hits are those of
# passes that look at the nodes all the way. Node 3 waits in the kernel all the time, node 1 faults.

cat >long.c <<'END'
#include <nself.h>
#include <stddef.h>
volatile long turns, arrivals;
int sender;
__attribute__((noinline)) void seldom(int turn) { turns = turn; }
static int await(int type)
{
    int value;
    sender = -1;
    nread((char *)&value, sizeof value, &sender, &type, NULL);
    return value;
}
int main(void)
{
    int node, process, host, dim;
    whoami(&node, &process, &host, &dim);
    if (node == 3)
        return await(9);
    for (int i = 0; i < 30; i++) {
        for (volatile int k = 0; k < 1000 * (node + 1); k++)
            ;
        if (node == 0 && (i == 7 || i == 20))
            seldom(i);
        for (int k = 0; k < 3; k++)
            if (k != node)
                nwrite((char *)&i, sizeof i, k, 5, NULL);
        arrivals += await(5) + await(5);
    }
    if (node == 1)
        *(volatile int *)0 = 1;
    return 0;
}
END
"$build/bin/ncc" -g -O1 -o long long.c || exit 1
record 1 -d 2 ./long
short=$debugged
debugged=./long
goes_back() { # OPTION...: some of everything
    replay "$@"
    gdb 'info threads' 'info registers' 'reverse-stepi' 'info registers' 'break seldom' 'reverse-continue' 'backtrace' \
        'info registers' 'delete' 'watch turns' 'reverse-continue' 'info registers' 'delete' 'break seldom' \
        'reverse-continue' 'print arrivals' 'delete' 'watch turns' 'continue' 'continue' 'reverse-continue' \
        'print arrivals' 'delete' 'watch sender' 'reverse-continue' 'info registers' 'reverse-continue' \
        'info registers' 'delete' 'break seldom' 'info threads' 'thread 4' 'reverse-stepi' 'info registers' \
        'thread 3' 'reverse-stepi' 'stepi' \
        'info registers' 'reverse-continue' 'print turns' 'monitor when' 'delete' 'thread 2' 'watch arrivals' \
        'reverse-continue' 'monitor goto 0.093' 'continue' 'info threads' 'info registers' 'monitor origin' \
        'reverse-continue' 'info registers' 'backtrace' 'delete' 'continue' 'continue'
    as_recorded "a longer run $*" 1
    # What a node waits at that has no program yet, nobody has looked at, going forward.
    grep -v -e 'Reading ' -e "$port" -e '^#0 .* in ?? ()$' gdb.out >"$where"
}
where=forward.out
goes_back
where=closely.out
goes_back --sync=strict
check "forward, as with a look at all" cmp forward.out closely.out
debugged=$short
record 0 -d 1 "$debugged"

# ---- What gdb writes into memory is lost when it goes back, and from no checkpoint

NCUBE_CHECKPOINTS=0 replay
gdb 'break collect' 'continue' 'set var total = 1000' 'break receive' 'continue' 'print total' 'reverse-continue' \
    'continue' 'print total > 900' 'delete' 'continue'
as_recorded "written memory" 0
same "it is written" '$1 = 1000' "$(after 'print total')"
same "and lost" '$2 = 0' "$(after 'print total > 900')"

# ---- Ends in the middle of a pass

replay
begin_pass
kill -TERM "$ncube_pid"
leaves "SIGTERM" 143
exec 3>&-
replay
begin_pass
exec 3>&-
leaves "gdb goes away" 0
replay
begin_pass
kill -KILL "$ncube_pid"
leaves "SIGKILL" 137
exec 3>&-

# ---- The recording

record 0 -d 1 "$debugged"
replay
mv run.ncr moved.ncr
echo another >run.ncr
gdb 'break collect' 'continue' 'reverse-continue' 'delete' 'continue'
end "a recording that is replaced meanwhile" 0 "sum 1"
says "its run goes on" '(No more reverse-execution|end of recorded) history'

finish
