#!/bin/bash
# Backwards in gdb, in a run that has not ended: what the host has put in, and has been given, is repeated up to where
# the run has come, and goes on from there. BUILD is the argument.
set -u
. "$(dirname "$0")/../shell.sh"
. "$(dirname "$0")/gdb.sh"

functions=$(readlink -f "$(dirname "$0")/gdb.sh")
begin_suite "backwards in a run" "$1"

# ---- Places, registers and hits are those of a run that is looked at all the way; the trace is that without gdb

places=('continue' 'info registers' 'reverse-stepi' 'info registers' 'watch total' 'reverse-continue' 'print total'
    'backtrace' 'reverse-continue' 'info registers' 'delete' 'break work' 'reverse-continue' 'reverse-stepi'
    'info registers' 'continue' 'continue' 'monitor when' 'delete' 'break receive' 'continue' 'reverse-continue'
    'finish' 'monitor origin' 'reverse-continue' 'info registers' 'monitor goto 0.001' 'continue' 'monitor time'
    'delete' 'reverse-continue' 'reverse-stepi' 'stepi' 'stepi' 'reverse-stepi' 'continue' 'reverse-continue'
    'continue' 'continue')
"$ncube" run --trace=plain.trace -d 2 "$debugged" fault >plain.out 2>plain.err
for sync in ahead strict; do
    begin_gdb run --gdb --sync=$sync --trace=run.trace -d 2 "$debugged" fault
    gdb "${places[@]}"
    end "a fault, $sync" 1 "$(cat plain.out)"
    check "a fault, $sync: errors" cmp plain.err <(grep -v 'waiting for gdb' run.err)
    check "a fault, $sync: trace" cmp plain.trace run.trace
    says "a fault, $sync: where" '^Thread 4 "node 3" received signal SIGSEGV'
    grep -v -e 'Reading ' -e "$port" gdb.out >$sync.out
done
check "as with a look at all" cmp ahead.out strict.out

begin_gdb run --gdb -d 1 "$debugged" stuck
gdb 'continue' 'break receive' 'reverse-continue' 'print wanted' 'delete' 'continue' 'continue'
end "a deadlock" 125 "sum 1"
same "what is awaited" '$1 = 9' "$(after 'print wanted')"
same "a deadlock is told again" 2 "$(grep -c '^ncube: deadlock' gdb.out)"

# ---- A breakpoint that is far away, by a twentieth of a second of the host's time: another machine runs ahead to it.
# ---- The registers are those on the way back to it.

cat >far.c <<'END'
#include <nself.h>
#include <stdlib.h>
#include <string.h>
volatile long turns, rounds;
__attribute__((noinline)) void never(int turn) { turns = turn; }
__attribute__((noinline)) void seldom(int turn) { turns = turn; }
int main(int argc, char **argv)
{
    int node, process, host, dim, value, last = atoi(argv[1]);

    whoami(&node, &process, &host, &dim);
    for (int i = 0; i < last; i++) {
        int from = -1, type = 5;

        for (volatile int k = 0; k < 40000 * (1 + node); k++)
            ;
        if (turns < 0)
            never(i);
        if (node == 1 && (i == 1 || i == last - 10))
            seldom(i);
        nwrite((char *)&i, sizeof i, node ^ 1, 5, NULL);
        nread((char *)&value, sizeof value, &from, &type, NULL);
        rounds = i;
    }
    if (strcmp(argv[2], "stuck") == 0) {
        int from = -1, type = 9;

        nread((char *)&value, sizeof value, &from, &type, NULL);
    }
    if (node == 1)
        *(volatile int *)0 = 1;
    return 0;
}
END
"$build/bin/ncc" -g -O1 -o far far.c || exit 1
far() { # HOW ROUNDS STATUS COMMAND...
    local how=$1 rounds=$2 status=$3
    shift 3
    "$ncube" run --trace=plain.trace -d 2 ./far "$rounds" "$how" >plain.out 2>plain.err
    NCUBE_AHEAD_MS=50 begin_gdb run --gdb --trace=run.trace -d 2 ./far "$rounds" "$how"
    cabinets "$(pgrep -P "$run")" >first
    gdb 'break never' "$@"
    end "far, $how" "$status" ""
    check "far, $how: trace" cmp plain.trace run.trace
    check "far, $how: errors" cmp plain.err <(grep -v 'waiting for gdb' run.err)
}
cat >now.sh <<END
. "$functions"
for run in \$(pgrep -P $$ timeout); do
    cabinets "\$(pgrep -P "\$run" ncube)"
done >now
END
now="shell bash now.sh"
debugged=./far
far fault 100 1 'break seldom if turn > 1' 'continue' "$now" 'info registers' 'print rounds' 'continue' \
    'print $_thread' \
    'reverse-continue' 'info registers' 'print rounds' 'delete' 'continue' 'continue'
check "there is a machine" grep -q '[0-9]' now
check "another machine has run ahead" [ "$(cat first)" != "$(cat now)" ]
same "to the breakpoint, either way" 2 "$(grep -c 'hit Breakpoint 2, seldom (turn=90)' gdb.out)"
same "with the same registers" 32 "$(after 'info registers' | sort | uniq -d | wc -l)"
same "and the same memory" "89 89" "$(after 'print rounds' | awk '{ print $3 }' | xargs)"
same "then it stops at the fault" '$2 = 2' "$(after 'print $_thread')"
far stuck 10 125 'continue' 'info threads' 'reverse-stepi' 'print rounds' 'continue' 'continue'
says "a deadlock is told" '^ncube: deadlock: '
same "at the end" '$1 = 9' "$(after 'print rounds')"
debugged=$build/guest/debugged

# ---- What the host puts in, and gets

cat >meets.c <<'END'
#include <nself.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile int turns;
__attribute__((noinline)) void turn(int n)
{
    turns = n;
}
int main(void)
{
    int node, proc, host, dim, value = 0;
    char line[80];

    whoami(&node, &proc, &host, &dim);
    for (int i = 1; i <= 4; i++) {
        if (node == 0) {
            FILE *log = fopen("/log", "a"), *volume = fopen("//df00/log", i == 1 ? "w" : "a");
            if (!fgets(line, sizeof line, stdin))
                snprintf(line, sizeof line, "nothing\n");
            printf("%d %s", i, line);
            fflush(stdout);
            fprintf(log, "%d %s", i, line);
            fprintf(volume, "%d %s", i, line);
            value = fclose(log) + fclose(volume);
        }
        nsync(5);
        turn(i);
    }
    FILE *log = fopen("/log", "r");
    while (node == 0 && fgets(line, sizeof line, log))
        printf("log %s", line);
    if (node == 0)
        printf("tmp %d\n", unlink("/tmp/none"));
    return value;
}
END
"$build/bin/ncc" -g -O1 -o meets meets.c || exit 1
cp meets program
make_volume 1
cp m.conf m.kept
mkdir served
debugged=./meets

# a run without gdb, for comparisons
"$ncube" run -m m.conf -d 1 --trace=plain.trace --serve served ./meets >plain.out < <(printf 'one\ntwo\nthree\n')
same "without gdb" 0 $?
mv served/log plain.log
mv df00.img plain.img
cp new.img df00.img
mkfifo fifo

begin_meets() { # OPTION...: with a new volume, and two lines of input
    cp program meets
    cp m.kept m.conf
    cp new.img df00.img
    rm -f served/log
    exec 4<>fifo
    begin_gdb run --gdb "$@" -m m.conf -d 1 --serve served ./meets
    printf 'one\ntwo\n' >&4
}

# The program, its machine and its folder's other files may change meanwhile.
input=fifo
begin_meets --trace=run.trace
gdb 'break turn if n == 2 && $_thread == 1' 'continue' 'shell rm meets m.conf; mv df00.img other.img' \
    'shell cp run.out first.out; cp served/log first.log; cp other.img first.img' 'reverse-continue' 'print n' \
    'delete' 'break turn if n == 1 && $_thread == 2' 'continue' 'print n' 'set var turns = 7' 'reverse-stepi' \
    'print $_thread' \
    'shell cp run.out second.out; cp served/log second.log; cp other.img second.img' 'delete' \
    'break turn if n == 3 && $_thread == 1' 'shell printf "three\n" >fifo' 'continue' 'print n' \
    'shell cp run.out third.out' 'watch turns' 'reverse-continue' 'reverse-continue' 'print n' 'delete' 'detach'
exec 4>&-
mv other.img df00.img
end "the host's part" 0 "$(cat plain.out)"
same "what has been seen outside is not changed" 1 "$(after 'set var turns = 7' | grep -c '^Cannot access memory')"
same "what is printed, by then" "1 one 2 two" "$(xargs <first.out)"
for what in out log img; do
    check "going back changes nothing outside: $what" cmp first.$what second.$what
done
same "and what comes next is new" "1 one 2 two 3 three" "$(xargs <third.out)"
check "the host's part: file" cmp plain.log served/log
check "the host's part: volume" cmp plain.img df00.img
check "the host's part: trace" cmp plain.trace run.trace
# ---- Its ends: at a place in the past, the run comes to where it was, and ends there

ends_there() { # NAME STATUS
    exec 4>&-
    wait "$run"
    same "$1: status" "$2" $?
    same "$1: output" "1 one 2 two" "$(xargs <run.out)"
    same "$1: file" "1 one 2 two" "$(xargs <served/log)"
    same "$1: the volume is sound" 0 "$(e2fsck -fn df00.img >/dev/null 2>&1; echo $?)"
    same "$1: and has it" "1 one 2 two" "$("$ncube" disk get -m m.kept //df00/log - | xargs)"
}

there=('break turn if n == 2 && $_thread == 1' 'continue' 'delete' 'break turn if n == 1 && $_thread == 1'
    'reverse-continue' 'print n')
begin_meets
gdb "${there[@]}" 'kill'
same "it was in the past" '$1 = 1' "$(after 'print n')"
ends_there "kill" 1
# It may come while another process is about to go on, so several times.
for signal in INT INT TERM INT TERM; do
    begin_meets
    gdb "${there[@]}" "shell kill -$signal $(pgrep -P "$run")"
    ends_there "SIG$signal" $((128 + $(kill -l $signal)))
done

input=/dev/null
debugged=$build/guest/debugged

begin_gdb run --gdb -d 1 "$debugged"
begin_pass
kill -TERM "$ncube_pid"
leaves "SIGTERM" 143
exec 3>&-
begin_gdb run --gdb -d 1 "$debugged"
begin_pass
kill -KILL "$ncube_pid"
leaves "SIGKILL" 137
exec 3>&-

# ---- Where gdb interrupts a program that computes

begin_gdb run --gdb -d 1 "$debugged" loop
exec 3<>"/dev/tcp/127.0.0.1/$port"
ask '?' >/dev/null
printf '$c#63' >&3
read -r -t 300 -N 1 <&3
await grep -qs 'sum 1' run.out
printf '\3' >&3
IFS= read -r -t 300 -d '#' reply <&3
same "it stops" '$T02thread:' "${reply%[12];}"
read -r -t 300 -N 2 <&3
ask Hc1 >/dev/null
same "and steps back" "T05thread:1;" "$(ask bs)"
same "again" "T05thread:1;" "$(ask bs)"
ask k >/dev/null &
wait "$!"
exec 3>&-
wait "$run"
same "a loop is ended" 1 $?

# ---- What is no part of the run, and too much of it

begin_gdb run --gdb -d 1 "$debugged"
gdb 'break collect' 'continue' 'set var total = 5' 'reverse-continue' 'print total' 'monitor goto 0.001' 'delete' \
    'continue'
end "memory" 0 "sum 1"
same "what gdb has written leads no way back" 2 \
    "$(grep -c '^ncube: there is no way back: gdb has written to memory' gdb.out)"
same "but holds" '$1 = 5' "$(after 'print total')"

begin_gdb run --gdb --gdb-memory=0 -d 1 "$debugged"
gdb 'reverse-continue' 'continue'
end "without memory" 0 "sum 1"
says "there is no way back" '^ncube: this run is not recorded, so there is no way back'

head -c 3000000 /dev/zero >served/large
cat >large.c <<'END'
#include <fcntl.h>
#include <unistd.h>
static char part[30000];
static volatile long sum;
__attribute__((noinline)) void done(long n)
{
    sum = n;
}
int main(void)
{
    int fd = open("/large", O_RDONLY);
    for (long i = 0, n; (n = read(fd, part, sizeof part)) > 0; i++)
        part[0] = (char)i, pwrite(open("/out", O_RDWR | O_CREAT, 0666), part, sizeof part, 0);
    done(1);
    return 0;
}
END
"$build/bin/ncc" -g -O1 -o large large.c || exit 1
debugged=./large
head -c 3000000 /dev/urandom >served/large
begin_gdb run --gdb --gdb-memory=1 --serve served ./large
gdb 'break done' 'continue' 'reverse-continue' 'continue'
end "too much" 0 ""
says "is said" '^ncube: there is no way back: going back would take more than 1 MB of memory; --gdb-memory=MB'
begin_gdb run --gdb --serve served ./large
gdb 'break done' 'continue' 'reverse-continue' 'continue' 'print n' 'continue'
end "but not for the default" 0 ""
same "is said" '$1 = 1' "$(after 'print n')"

finish
