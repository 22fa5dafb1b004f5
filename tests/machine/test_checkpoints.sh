#!/bin/bash
# Backwards in gdb from checkpoints: what gdb prints is what it prints without any, where each pass executes the run
# from its beginning, for commands that are drawn; and whatever process is killed, nothing is left. BUILD is the
# argument; SEED chooses the commands.
set -u
. "$(dirname "$0")/../shell.sh"
. "$(dirname "$0")/gdb.sh"

begin_suite "checkpoints" "$1"
if [ ! -e "$build/lib/ncube.so" ]; then
    skip "checkpoints" "this build has no ncube inside of QEMU"
    finish
fi
SEED=${SEED:-${TESTS_DRAW:-1}}
[ "$SEED" = all ] && SEED=1
RANDOM=$((SEED % 32768))

# Three of four nodes compute and pass a sum on; node 0 reads lines, and writes to a volume.
cat >ring.c <<'END'
#include <nself.h>
#include <stdio.h>
#include <stdlib.h>
volatile long total, turns;
volatile struct {
    int kind;
    short small;
    unsigned char byte;
    double real;
    long list[4];
} cell;
__attribute__((noinline)) void turn(int n)
{
    turns = n;
}
int main(int argc, char **argv)
{
    int node, process, host, dim, nodes = 3, last = atoi(argv[1]);
    char line[40];

    whoami(&node, &process, &host, &dim);
    for (int i = 1; i <= last && node < nodes; i++) {
        int from = -1, type = 7;
        long sum = i;

        for (volatile int k = 0; k < 700 * (node + 1); k++)
            ;
        if (node == 0 && argc > 2 && i % 25 == 0) {
            FILE *volume = fopen("//df00/log", "a");
            if (fgets(line, sizeof line, stdin))
                fprintf(volume, "%d %s", i, line);
            printf("%d\n", i);
            if (fclose(volume) != 0)
                return 3;
        }
        nwrite((char *)&sum, sizeof sum, (node + 1) % nodes, 7, NULL);
        nread((char *)&sum, sizeof sum, &from, &type, NULL);
        total += sum * (node + 1);
        cell.kind = i * 7 - 300;
        cell.small = -i;
        cell.byte = i * 5;
        cell.real = i / 4.0;
        cell.list[i & 3] += i;
        turn(i);
    }
    if (node == 2)
        __builtin_trap();
    return 0;
}
END
"$build/bin/ncc" -g -O1 -o ring ring.c || exit 1
debugged=./ring
make_volume 2
seq 100 120 >lines

# draw N: the commands of a session, in `commands`
draw() {
    local all=('reverse-stepi' 'stepi' 'reverse-continue' 'reverse-continue' 'continue' 'info registers'
        'print total' 'monitor origin' 'reverse-next' 'reverse-finish' 'info threads' 'thread 1' 'thread 2'
        'thread 3' 'print turns' 'monitor time' 'reverse-step' 'delete') i
    commands=('set confirm off')
    for ((i = 0; i < $1; i++)); do
        case $((RANDOM % 6)) in
        0) commands+=("break turn if n == $((RANDOM % 100 + 1))") ;;
        1) commands+=("break turn if n % $((RANDOM % 30 + 20)) == 0 && \$_thread == $((RANDOM % 3 + 1))") ;;
        2) commands+=("monitor goto 0.0$((RANDOM % 9))$((RANDOM % 10))" "continue") ;;
        *) commands+=("${all[RANDOM % ${#all[@]}]}") ;;
        esac
    done
    commands+=('delete' 'reverse-continue' 'info registers pc' 'continue')
}

printed() { # what does not depend on how it was found
    grep -v -e 'Reading ' -e "$port" -e '^#0 .* in ?? ()$' gdb.out
}

session() { # MILLISECONDS OPTION... COMMAND-OF-NCUBE WORD...: in printed.MILLISECONDS and status.MILLISECONDS
    local ms=$1
    shift
    export NCUBE_CHECKPOINTS=$ms
    begin_gdb "$@"
    unset NCUBE_CHECKPOINTS
    gdb "${commands[@]}"
    wait "$run"
    echo $? >"status.$ms"
    printed >"printed.$ms"
    check "gdb lives" [ "$(grep -c 'internal-error' gdb.out)" -eq 0 ]
}

no_process_is_left() { # NAME
    local left i
    for ((i = 0; i < 200; i++)); do
        left=$(pgrep -f "$build/lib/ncube.so" | while read -r p; do
            [ "$(readlink "/proc/$p/cwd")" = "$scratch" ] && echo "$p"
        done)
        [ -z "$left" ] && break
        sleep 0.05
    done
    same "$1: no process is left" "" "$left"
}

# ---- Commands that are drawn, on recordings

record() { # WORD...
    cp new.img df00.img
    "$ncube" run --record=run.ncr "$@" <lines >recorded.out 2>recorded.err
}

compare() { # NAME
    same "$1: status" "$(cat status.other)" "$(cat status.0)"
    cmp -s printed.other printed.0 || diff printed.other printed.0 | head -20
    check "$1: gdb prints the same (SEED=$SEED)" cmp printed.other printed.0
    no_process_is_left "$1"
}

for round in 1 2; do
    record -d 2 ./ring $((RANDOM % 60 + 60))
    draw 14
    session other replay --gdb --gdb-memory=0 run.ncr
    session 0 replay --gdb run.ncr
    compare "a recording, $round"
done
record -m m.conf -d 2 ./ring 110 files
draw 10
session other replay --gdb --gdb-memory=0 run.ncr
session 0 replay --gdb --trace=replayed.trace run.ncr
compare "with a volume"

# ---- Conditions of breakpoints: gdb prints what it prints where it evaluates them itself

# draw_conditions N: likewise. Forwards, gdb that evaluates makes other nodes stop at breakpoints that do not hold; so
# these are looked at only where gdb has gone back to.
draw_conditions() {
    local all=('continue' 'continue' 'reverse-continue' 'reverse-continue' 'reverse-continue' 'step' 'next'
        'stepi' 'finish' 'until' 'advance turn' 'reverse-step' 'reverse-next' 'reverse-stepi' 'reverse-finish'
        'info registers' 'print total' 'print cell' 'info breakpoints' 'delete $bpnum')
    local where=("turn" "turn" "ring.c:$((RANDOM % 8 + $(grep -n 'total += sum' ring.c | cut -d: -f1)))")
    local i
    commands=('set confirm off' "set breakpoint condition-evaluation $1" 'monitor goto 0.15' 'continue')
    for ((i = 0; i < $2; i++)); do
        local condition=("total % 7 == $((RANDOM % 7))" "turns * 3 > $((RANDOM % 300)) && cell.kind < $((RANDOM % 300))"
            "cell.small == -$((RANDOM % 100))" "cell.byte >= $((RANDOM % 256)) || turns == $((RANDOM % 100))"
            "cell.list[turns & 3] - total > $((RANDOM % 9 - 4)) * (long)cell.kind" "cell.real > $((RANDOM % 30)).5"
            "\$_thread == $((RANDOM % 3 + 1)) && turns % 9 == 0" "1000 / (cell.kind - $((RANDOM % 40 * 7 - 300))) == 3"
            "*(char *)(turns == $((RANDOM % 100)) ? 0 : &cell) == 7" "(unsigned short)cell.small / 3 % 5 == 2"
            "\$pc != 0 && !(cell.kind & ~$((RANDOM % 64)) | cell.byte ^ 5)" "strlen(\"three\") == 5"
            "(short)\$a0 >> 2 == $((RANDOM % 25))")
        local goto="monitor goto 0.$((RANDOM % 150 + 100))"
        case $((i < 2 ? 0 : RANDOM % 7)) in
        0 | 1) commands+=("break ${where[RANDOM % ${#where[@]}]} if ${condition[RANDOM % ${#condition[@]}]}") ;;
        2) commands+=("$goto" 'continue') ;;
        3) commands+=('reverse-continue' "thread $((RANDOM % 3 + 1))" 'info registers' 'info threads') ;;
        *) commands+=("${all[RANDOM % ${#all[@]}]}") ;;
        esac
    done
    commands+=('delete' 'reverse-continue' 'continue')
}

what_holds() { # what does not say who has evaluated
    grep -v -e 'condition-evaluation' "printed.$1" | sed 's/ ([a-z]* evals)$//'
}

for round in 1 2 3; do
    record -d 2 ./ring 100
    seed=$RANDOM
    for evaluates in host target; do
        RANDOM=$seed
        draw_conditions $evaluates 24
        session 0 replay --gdb run.ncr
        mv printed.0 printed.$evaluates
        mv status.0 status.$evaluates
    done
    same "conditions, $round: status" "$(cat status.host)" "$(cat status.target)"
    diff <(what_holds host) <(what_holds target) | head -20
    check "conditions, $round: what holds is the same (SEED=$SEED)" cmp <(what_holds host) <(what_holds target)
done

# Hundreds of hits that do not hold are one way back, and one way forwards; where gdb evaluates, each is one.
packets() { # KIND: how many of these gdb has sent, while it was asked to say so
    grep -c "Sending packet: \$$1" gdb.out
}
record -d 2 ./ring 150
commands=('set confirm off' 'break turn if n == 3 && $_thread == 1' 'reverse-continue' 'delete' 'break turn if n == 149'
    'set debug remote 1' 'continue' 'set debug remote 0' 'print n' 'delete' 'break turn if n == 4' 'set debug remote 1'
    'reverse-continue ' 'set debug remote 0' 'print n ' 'delete' 'kill')
session 0 replay --gdb run.ncr
same "there" '$1 = 149' "$(after 'print n')"
same "and back" '$2 = 4' "$(after 'print n ')"
same "one way forwards, behind a step from the breakpoint" 1 "$(packets 'vCont;c#')"
same "one way back" 1 "$(packets 'bc#')"

# A trace is whole, also where a pass from a late checkpoint follows one from an early checkpoint.
"$ncube" replay --trace=whole.trace run.ncr >whole.out 2>whole.err
commands=('set confirm off' 'monitor goto 0.01' 'continue' 'reverse-stepi' 'monitor goto 0.06' 'continue'
    'reverse-stepi' 'monitor goto 0.01' 'continue' 'monitor goto 0.06' 'continue' 'detach')
session 0 replay --gdb --trace=replayed.trace run.ncr
check "back and forth: trace" cmp whole.trace replayed.trace

# ---- In a run: all that is outside is as after a run without gdb

cp new.img df00.img
"$ncube" run -m m.conf -d 2 --trace=plain.trace ./ring 110 files <lines >plain.out 2>plain.err
cp df00.img plain.img
run_with_commands() { # NAME MILLISECONDS
    cp new.img df00.img
    input=lines
    session "$2" run --gdb --trace=run.trace -m m.conf -d 2 ./ring 110 files
    status=$(cat "status.$2")
    [ "$status" -eq 1 ] || sed 's/^/    /' gdb.out run.err
    same "$1: status" 1 "$status"
    same "$1: output" "$(cat plain.out)" "$(cat run.out)"
    check "$1: volume" cmp plain.img df00.img
    check "$1: trace" cmp plain.trace run.trace
    no_process_is_left "$1"
}

for ms in 0 1000000; do
    draw 6
    run_with_commands "in a run, every $ms ms" $ms
done

# Behind the present place, no machine runs ahead, and none ends; the host would see it twice.
for ahead in 8 80; do
    commands=('set confirm off' 'reverse-step' 'break turn if n == 1000' 'continue' 'delete' 'continue')
    export NCUBE_AHEAD_MS=$ahead
    run_with_commands "in a run, ahead after $ahead ms" 0
    unset NCUBE_AHEAD_MS
done
input=/dev/null

# ---- Processes that are killed

copies() { # those of the run's machine
    pgrep -P "$(pgrep -P "$run")"
}

several() { # N: there are as many
    [ "$(copies | wc -l)" -ge "$1" ]
}

begin_kill() { # begins a replay, gdb at its end
    export NCUBE_CHECKPOINTS=0
    begin_gdb replay --gdb run.ncr
    unset NCUBE_CHECKPOINTS
    exec 3<>"/dev/tcp/127.0.0.1/$port"
    ask '?' >/dev/null
    await several 3
}

record -d 2 ./ring 100
begin_kill
kill -KILL "$(pgrep -P "$run")"
wait "$run"
same "ncube is killed: status" 137 $?
exec 3>&-
no_process_is_left "ncube is killed"

begin_kill
first=$(copies | head -n 1)
kill -KILL "$first"
wait "$run"
same "the process that runs the machine is killed: status" 1 $?
check "a line says so" grep -q '^ncube: cabinet 0: .* was ended by signal 9' run.err
exec 3>&-
no_process_is_left "the process that runs the machine is killed"

begin_kill
for copy in $(copies | tail -n +2); do
    kill -KILL "$copy"
done
same "the checkpoints are killed: gdb goes back" "T05" "$(ask bs | cut -c 1-3)"
ask k >/dev/null
wait "$run"
exec 3>&-
no_process_is_left "the checkpoints are killed"

status "files of 4 KB" 1 prlimit --fsize=4096 "$ncube" run --gdb -d 2 ./ring 3
same "files of 4 KB: one line" 1 "$(grep -c 'ulimit -f' err)"

# One that cannot have a copy that goes on, for want of room in a file.
begin_kill
for copy in $(copies | tail -n +2); do
    prlimit --pid "$copy" --fsize=4096
done
same "no copy can be had: gdb goes back" "T05" "$(ask bs | cut -c 1-3)"
same "no line says so" 0 "$(grep -vc 'waiting for gdb' run.err)"
ask k >/dev/null
wait "$run"
exec 3>&-
no_process_is_left "no copy can be had"

begin_kill
for ((i = 0; i < 5; i++)); do
    ask bs >/dev/null
    ask bc >/dev/null
done
kill -TERM "$(pgrep -P "$run")"
wait "$run"
same "SIGTERM, after going back: status" 143 $?
exec 3>&-
no_process_is_left "SIGTERM"

finish
