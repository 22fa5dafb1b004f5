#!/bin/bash
# ncube inside of its only cabinet (emu/qemu/inside.h): when it is there, that it is the same command, and how both
# processes end. BUILD is the argument.
set -u
. "$(dirname "$0")/../shell.sh"

build=$(readlink -f "$1")
ncube=$build/bin/ncube
cd "$scratch" || exit 1

cat >says.c <<'END'
#include <nself.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int node, proc, host, dim;
    char line[100];

    whoami(&node, &proc, &host, &dim);
    for (int i = 1; i < argc && node == 0; i++)
        printf("word %d: <%s>\n", i, argv[i]);
    if (node == 0)
        printf("terminal %d\n", isatty(1));
    while (node == 0 && fgets(line, sizeof line, stdin))
        printf("read %s", line);
    if (node == 0)
        fprintf(stderr, "to the other stream\n");
    return 40 + node;
}
END
cat >waits.c <<'END'
#include <stdio.h>
int main(void)
{
    puts("waits");
    fflush(stdout);
    while (getchar() != EOF)
        puts("goes on");
    return 0;
}
END
cat >spins.c <<'END'
#include <stdio.h>
int main(void)
{
    puts("spins");
    fflush(stdout);
    for (volatile long i = 0;; i++)
        ;
}
END
for program in says waits spins; do
    "$build/bin/ncc" -o $program $program.c || exit 1
done

# harts NAME WORD OPTION...: how a run with these options executed them
harts() {
    local name=$1 expected=$2
    shift 2
    "$ncube" run --stats=stats "$@" ./says </dev/null >out 2>err
    same "$name: the harts are" "$expected" "$(sed -n 's/.*"harts": "\(.*\)".*/\1/p' stats)"
}
refused() { # NAME STATUS LINE WORD...
    local name=$1 expected=$2 line=$3
    shift 3
    status "$name" "$expected" "$@"
    same "$name: in one line" "$line" "$(cat err)"
}
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$scratch"' EXIT

if ! "$ncube" run --harts=turns ./says </dev/null >/dev/null 2>err && grep -q 'harts .turns.: ' err; then
    skip "all of it" "$(cat err)"
    finish
fi

# ---- When

printf 'dim = 2;\nnodes_per_cabinet = 2;\n' >two.conf
if env LD_PRELOAD= "$ncube" run --stats=stats ./says </dev/null >out 2>err; [ "$(grep -c '"inside"' stats)" = 1 ]; then
    harts "by default" inside
fi
harts "if it is asked for" inside --harts=inside -d 2
harts "beside it" turns --harts=turns
harts "threads" threads --harts=threads
harts "two cabinets" turns -m two.conf
harts "with a debugger" inside --check
harts "beside it, with a debugger" turns --check --harts=turns
harts "threads, with a debugger" threads --check --harts=threads
mkdir -p other/bin other/lib
cp "$build/bin/ncube" other/bin
cp "$build"/lib/{plugin.so,vertex.elf,nsdisk.elf} other/lib
other/bin/ncube run --stats=stats ./says </dev/null >out 2>err
same "without ncube.so" turns "$(sed -n 's/.*"harts": "\(.*\)".*/\1/p' stats)"
refused "ncube.so is missing" 1 "ncube: harts 'inside': lib/ncube.so is missing" \
    other/bin/ncube run --harts=inside ./says
refused "more than one cabinet" 1 "ncube: harts 'inside': the machine has 2 cabinets" \
    "$ncube" run --harts=inside -m two.conf ./says
needs=$( (ulimit -v 200000; "$ncube" run ./says) 2>&1 | sed -n 's/.*needs \([0-9]*\) MB.*/\1/p')
(ulimit -v $(((needs + 20) << 10)); "$ncube" run --stats=stats ./says </dev/null) >out 2>err
same "few addresses" turns "$(sed -n 's/.*"harts": "\(.*\)".*/\1/p' stats)"
(ulimit -v $(((needs + 20) << 10)); "$ncube" run --harts=inside ./says) >out 2>err
same "too few: in one line" "ncube: harts 'inside': there are not enough addresses (ulimit -v)" "$(cat err)"

# ---- The same command

long=$(head -c 30000 /dev/zero | tr '\0' x)
for way in turns inside; do
    printf 'one\ntwo' |
        "$ncube" run --harts=$way -d 1 ./says "" $'a\nb' $'\xff' "$long" -x >out.$way 2>err.$way
    same "$way: status" 41 $?
done
check "the same output" cmp out.turns out.inside
check "with all words" [ "$(grep -c '^word' out.inside)" = 5 ]
check "the same errors" cmp err.turns err.inside
for way in turns inside; do
    "$ncube" run --harts=$way ./says >&- </dev/null 2>err.$way
    same "$way, without standard output: status" 40 $?
    "$ncube" run --harts=$way ./says >/dev/full </dev/null 2>full.$way
    echo $? >>full.$way
    yes | head -n 30000 | "$ncube" run --harts=$way ./says 2>/dev/null | head -c 1 >/dev/null # more than a pipe holds
    echo "${PIPESTATUS[2]}" >>full.$way
done
check "streams that fail: the same" cmp full.turns full.inside
if terminal_for "a terminal"; then
    script -qec "$ncube run ./says" /dev/null </dev/null >out 2>err
    check "on a terminal" grep -q 'terminal 1' out
fi

# ---- Ends

# starts PROGRAM WORD...: in the background; sets run, its process, and qemu, the one with ncube inside
starts() {
    local program=$1
    shift
    rm -f out
    env --default-signal "$ncube" "$@" "./$program" <&5 >out 2>err & # a shell ignores SIGINT in the background
    run=$!
    await grep -qs "$program" out
    qemu=$(pgrep -P $run)
}
ends() { # NAME STATUS
    wait $run
    same "$1: status" "$2" $?
    await [ ! -e "/proc/$qemu" ]
}
state_of() { # PROCESS
    sed 's/.*) \(.\).*/\1/' "/proc/$1/stat" 2>/dev/null
}
is_stopped() { [ "$(state_of "$1")" = T ]; }
goes() { [ "$(state_of "$1")" != T ]; }
mkfifo input
exec 5<>input

for signal in TERM INT HUP; do
    starts spins run --harts=inside
    kill -s $signal $run
    ends "SIG$signal" $((128 + $(kill -l $signal)))
    check "SIG$signal: it says where" grep -q "^ncube: ended by SIG$signal at 0\." err
    check "SIG$signal: and what runs" grep -q 'node 0 runs in main' err
done
starts spins run --harts=inside
kill -TERM "$qemu"
ends "SIGTERM to the process inside" 143
check "SIGTERM to the process inside: it says where" grep -q "^ncube: ended by SIGTERM at 0\." err
ended() { ! kill -0 "$1" 2>/dev/null; }
for ((k = 5; k < 70; k += 3)); do # at any moment of its start; QEMU has handlers of its own in some
    env --default-signal "$ncube" run --harts=inside ./spins >out 2>err &
    run=$!
    await eval "qemu=\$(pgrep -P $run)"
    read -rt "$(printf '0.%03d' $k)" <> <(:)
    kill -TERM "$qemu"
    await ended $run
    kill -KILL $run 2>/dev/null
    wait $run
    status=$?
    [ $status = 143 ] || grep -qx "ncube: cabinet 0: .* was ended by signal 15" err || break
done
same "SIGTERM after so many ms of its start" 71 $k
for signal in KILL SEGV ABRT; do
    starts spins run --harts=inside
    kill -s $signal "$qemu"
    ends "SIG$signal to QEMU" 1
    same "SIG$signal to QEMU: it says so" \
        "ncube: cabinet 0: qemu-system-riscv64 (process $qemu) was ended by signal $(kill -l $signal)" "$(cat err)"
done
starts waits run --harts=inside
kill -KILL $run
wait $run 2>/dev/null
await [ ! -e "/proc/$qemu" ]
check "nothing outlives ncube" [ ! -e "/proc/$qemu" ]
starts waits run --harts=inside
kill -TSTP $run
await is_stopped $run
check "Ctrl-Z stops both" await is_stopped "$qemu"
kill -CONT $run
await goes "$qemu"
echo >&5
await grep -qs 'goes on' out
kill -INT $run
ends "after Ctrl-Z" 130
starts waits run --harts=inside
kill -STOP "$qemu"
kill -TERM $run
ends "SIGTERM while QEMU is stopped" 143

starts spins run --harts=inside --heartbeat=0.1
check "heartbeats come" await grep -qs 'after [0-9.]* s: virtual time' err
kill -TERM $run
ends "SIGTERM after heartbeats" 143

# ---- A machine that is kept up

export NCUBE_NAME=inside-$$
"$ncube" boot --detach >up 2>&1
same "boot --detach: status" 0 $?
check "it is up" grep -q 'is up' up
pid=$("$ncube" ps | sed -n "s/^$NCUBE_NAME: .*ncube \([0-9]*\).*/\1/p")
check "it is a process" [ -d "/proc/$pid" ]
check "xnc runs a program" [ "$("$build/bin/xnc" ./says x </dev/null 2>/dev/null | grep -c word)" = 1 ]
status "down" 0 "$ncube" down
await [ ! -e "/proc/$pid" ]
status "it has gone" 1 "$ncube" down

finish
