#!/bin/bash
# ncube boot --record and ncube replay: the life of a machine that is kept up, once more, in an empty folder: the same
# trace and statistics, and each program's output and status, whenever the host has let programs begin, killed them or
# fed them. BUILD is the argument.
set -u
. "$(dirname "$0")/../shell.sh"

build=$(readlink -f "$1")
examples=$(readlink -f "$(dirname "$0")/../../images/examples/host")
export PATH=$build/bin:$PATH NCUBE_NAME=record-$$
cd "$scratch" || exit 1
export HOME=$scratch
mkdir data
printf 'some\ntext\n' >data/in

cat >reads.c <<'END'
#include <nself.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    int node, proc, host, dim, s, t, v = 0;
    char line[300];

    whoami(&node, &proc, &host, &dim);
    while (node == 0 && fgets(line, sizeof line, stdin))
        printf("%s read %s", argv[1], line);
    FILE *f = fopen("/in", "r");
    while (f && fgets(line, sizeof line, f))
        printf("%d: %s", node, line);
    for (volatile long i = 0; i < 300000 * (node + 1); i++)
        ;
    for (int i = 0; i < 50; i++) {
        nwrite((char *)&i, sizeof i, node ^ 1, 5, 0);
        s = node ^ 1, t = 5;
        nread((char *)&v, sizeof v, &s, &t, 0);
    }
    printf("node %d of %s: %d\n", node, argv[1], v);
    return 3 + node;
}
END
cat >turns.c <<'END'
#include <stdio.h>
int main(void)
{
    for (int k = 0; k < 5; k++) {
        for (volatile long i = 0; i < 5000000; i++)
            ;
        printf("turn %d\n", k);
        fflush(stdout);
    }
}
END
cat >waits.c <<'END'
#include <nself.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int node, proc, host, dim, s = -1, t = 9;
    char b[4];

    whoami(&node, &proc, &host, &dim);
    if (node == 0)
        puts("waits");
    fflush(stdout);
    if (node & 1 && argc > 1)
        for (volatile long i = 0;; i++)
            ;
    return nread(b, 4, &s, &t, 0);
}
END
cat >volume.c <<'END'
#include <nself.h>
#include <stdio.h>
char part[30001];
int main(void)
{
    int node, proc, host, dim;
    char name[40], line[40] = "";

    whoami(&node, &proc, &host, &dim);
    snprintf(name, sizeof name, "//df00/file%d", node);
    FILE *f = fopen(name, "r");
    printf("%d: %s\n", node, f && fgets(line, sizeof line, f) ? line : "no file");
    if (f)
        fclose(f);
    f = fopen(name, "w");
    int n = fprintf(f, "of node %d\n", node);
    printf("%d: wrote %d, %zu, %d\n", node, n, fwrite(part, 1, sizeof part, f), fclose(f));
    return 0;
}
END
for program in reads turns waits volume; do
    ncc -g -o $program $program.c || exit 1
done
cp "$build/guest/writes" . || exit 1

boot() { # WORD...
    rm -f boot.out
    ncube boot --record=life.ncr --trace=trace.json --stats=stats.json "$@" >boot.out 2>boot.err &
    boot=$!
    await grep -sq 'is up' boot.out
}

down() { # STATUS
    ncube down
    same "down: status" "$1" $?
    wait $boot
    same "the machine's status" "$1" $?
}

programs=0
# run STATUS WORD...: the next program, by xnc
run() {
    local expected=$1 n=$((++programs))
    shift
    xnc "$@" >out.$n 2>err.$n
    same "program $n: status" "$expected" $?
    echo "$expected" >status.$n
}

# replay NAME [OPTION...]: life.ncr elsewhere: the trace, the statistics and all output; then each program's
replay() {
    local name=$1 n
    shift
    rm -rf elsewhere
    mkdir elsewhere
    cp life.ncr elsewhere
    (cd elsewhere && ncube replay --trace=trace.json --stats=stats.json "$@" life.ncr >stdout 2>stderr </dev/null)
    same "$name: the replay's status" "${life_status:-0}" $?
    check "$name: the same trace" cmp trace.json elsewhere/trace.json
    for file in stats.json elsewhere/stats.json; do
        sed '/"host": {/,$d' $file >$file.machine
    done
    check "$name: the same statistics" cmp stats.json.machine elsewhere/stats.json.machine
    for n in $(seq $programs); do
        [ -e out.$n ] || continue
        (cd elsewhere && ncube replay --program=$n life.ncr >out 2>err </dev/null)
        same "$name, program $n: status" $? "$(cat status.$n)"
        check "$name, program $n: the same output" cmp -n "${read_bytes:-10000000}" out.$n elsewhere/out
        check "$name, program $n: the same errors" cmp err.$n elsewhere/err
    done
}

# ---- Several programs, side by side, fed bit by bit; killed ones; folders of the host

boot -d 3
mkfifo feed
run 4 -d 1 --serve data ./reads first <feed &
first=$!
programs=1
exec 7>feed
echo one >&7
await grep -sq 'read one' out.1
run 0 ./turns &
turns=$!
programs=2
await grep -sq 'turn 1' out.2
echo two >&7
await grep -sq 'read two' out.1
xnc -d 1 ./waits long >out.3 2>err.3 &
waits=$!
programs=3
await grep -sq waits out.3
printf 'three\nrest' >&7
kill -INT $waits
wait $waits
same "killed by SIGINT: status" 130 $?
echo 1 >status.3
exec 7>&-
wait $first $turns
run 4 -d 1 --serve data ./reads again </dev/null
xnc -d 1 ./waits long >out.5 2>err.5 &
lost=$!
programs=5
await grep -sq waits out.5
disown $lost
kill -KILL $lost
rm out.5 err.5
run 125 -d 1 ./waits
xnc -d 2 ./waits long >out.7 2>err.7 &
programs=7
await grep -sq waits out.7
echo 1 >status.7
down 0
rm -r data
replay "several programs"
replay "several programs, strictly" --sync=strict --cores=1
ncube record show life.ncr >show
same "show lists the programs" 7 "$(grep -c ' begins on ' show)"
check "and how they ended" grep -q 'program 1 has ended with status 4' show
check "each program's file is there once" [ "$(grep -c ' programs/' show)" = 3 ]
check "and what it has read" grep -qE '^ +18 +18  input$' show
(cd elsewhere && ncube replay --program=8 life.ncr >out 2>err)
same "there is no eighth program" "1 ncube: life.ncr: no program 8: 7 are recorded" "$? $(cat elsewhere/err)"
for look in --gdb --core=cores; do
    status "$look of several programs" 1 ncube replay $look life.ncr
    same "which is said" 'ncube: life.ncr: 7 programs are recorded; add --program=N, the one for --gdb or --core' \
        "$(cat err)"
done
status "under --check" 1 ncube replay --check --program=1 life.ncr
check "which is said" grep -q 'life.ncr: of a machine that was kept up; --check needs a recording of ncube run' err
head -c $(($(wc -c <life.ncr) / 2)) life.ncr >cut.ncr
status "a cut recording" 1 ncube replay cut.ncr
check "which is said" grep -q '^ncube: cut.ncr: ' err
cp life.ncr elsewhere
rm out
ncube replay --sync=strict elsewhere/life.ncr >out 2>err &
replay=$!
await grep -sq 'read one' out
kill -TERM $replay
wait $replay
same "a replay that its user ends: status" 143 $?
same "which leaves no process" "" "$(pgrep -f elsewhere/life.ncr)"

# ---- Full disks, closed pipes, readers that do not read

programs=0
rm -f out.* err.* status.*
boot
run 5 ./writes 200
xnc ./writes 200 >/dev/full 2>err.2
same "a full disk: status" 5 $?
programs=2
echo 5 >status.2
: >out.2
run 5 ./writes 200
{ xnc ./writes 200 2>err.4; echo $? >status.4; } | { sleep 0.5; head -c 50000; } >out.4
programs=4
same "a closed pipe: status" 141 "$(cat status.4)"
down 0
rm out.2
read_bytes=50000
replay "full disks and closed pipes"
read_bytes=
(cd elsewhere && ncube replay --program=2 life.ncr >out 2>err)
check "a full disk is full again" cmp err.2 elsewhere/err

# ---- Volumes, and a signal that ends the machine

cat >m.conf <<'END'
dim = 2;
front_end = { si = 0; };
boards = ( { number = 0; io_nodes = (
    { index = 0; si = [1]; drives = ( { volume = "df00"; image = "df00.img"; } ); }
); } );
END
ncube disk create -m m.conf 16M >/dev/null
programs=0
rm -f out.* err.* status.*
boot m.conf
run 0 -d 1 ./volume
run 0 -d 2 ./volume
xnc -d 1 ./waits long >out.3 2>err.3 &
programs=3
await grep -sq waits out.3
echo 1 >status.3
kill -TERM $boot
wait $boot
same "SIGTERM: the machine's status" 143 $?
wait
rm df00.img
mv m.conf other.conf
life_status=143
replay "volumes, and SIGTERM"
life_status=
check "the second program has read what the first has written" grep -q '1: of node 1' out.2

# ---- Core files and gdb, of one of the programs

cat >looks.c <<'END'
#include <nself.h>
#include <stdio.h>
int value;
static void set(int v)
{
    value = v;
}
int main(int argc, char **argv)
{
    int node, proc, host, dim, s = -1, t = 9;
    char b[4];

    (void)argv;
    whoami(&node, &proc, &host, &dim);
    for (int i = 0; i < 10; i++)
        set(i * node);
    printf("node %d: %d\n", node, value);
    fflush(stdout);
    if (argc > 2 && node == 1)
        *(volatile int *)16 = 0;
    return argc > 1 ? nread(b, 4, &s, &t, 0) : node;
}
END
ncc -g -O1 -fno-inline -o looks looks.c || exit 1
programs=0
rm -f out.* err.* status.*
boot -d 2
run 1 -d 1 ./looks
run 125 -d 2 ./looks a
run 1 -d 1 ./looks a b
down 0
watched() { # N WORD...: a replay that looks at the Nth program
    local n=$1
    shift
    ncube replay --program=$n --trace=seen.json "$@" life.ncr >out 2>err </dev/null
}
for n in 1 2 3; do
    watched $n --core=cores.$n
    ended=$?
    same "core files of program $n: status" "$(cat status.$n)" $ended
    check "core files of program $n: the same trace" cmp seen.json trace.json
    check "core files of program $n: the same output" cmp out out.$n
done
same "of a program that ends" "" "$(ls cores.1)"
same "of one that hangs" "core.0 core.1 core.2 core.3 nodes" "$(ls cores.2 | xargs)"
check "it waits" grep -qx 'nodes 0-3: each waits in nread for a message of type 9 from any node' cores.2/nodes
same "of one that faults" "core.0 core.1 nodes" "$(ls cores.3 | xargs)"
check "it is said" grep -q '^ncube: 2 core files in cores.3: gdb-multiarch .*/looks cores.3/core.1$' err
if command -v gdb-multiarch >/dev/null; then
    gdb-multiarch -nx -batch -ex bt ./looks cores.3/core.1 >gdb.out 2>&1
    check "where" grep -q '^#0  main .* at looks.c:20$' gdb.out
    asks() { # N COMMAND...: gdb's answers, and the replay's status
        local n=$1 command words=()
        shift
        for command; do words+=(-ex "$command"); done
        rm -f err
        watched $n --gdb &
        await grep -qs 'waiting for gdb' err
        command=$(sed -n "s/.*\(target remote :[0-9]*\)'.*/\1/p" err)
        timeout 300 gdb-multiarch -nx -batch -ex 'set remotetimeout 200' -ex "$command" "${words[@]}" ./looks \
            >gdb.out 2>&1
        wait $!
    }
    asks 1 'break set if v == 9' continue bt reverse-continue delete continue
    same "program 1 under gdb: status" 1 $?
    check "it stops" grep -q '^Thread 2 "node 1" hit Breakpoint 1, set (v=9) at looks.c:6$' gdb.out
    check "it does not go back" \
        grep -q 'no way back: the life of a machine that was kept up is replayed forwards only$' gdb.out
    check "the same trace" cmp seen.json trace.json
    asks 2 continue 'info threads' continue
    same "program 2 under gdb: status" 125 $?
    check "it hangs, and gdb is told" grep -q '"node 3" (waits in nread for a message of type 9' gdb.out
    check "the same trace" cmp seen.json trace.json
    check "the same errors" cmp <(sed 1d err) err.2
    asks 3 continue bt continue
    same "program 3 under gdb: status" 1 $?
    check "it faults, and gdb is told" grep -q '^#0  main .* at looks.c:20$' gdb.out
    check "the same trace" cmp seen.json trace.json
    asks 3 kill
    check "gdb's user ends the machine" grep -q '^ncube: the machine goes down at ' err
else
    skip "a replay under gdb" "gdb-multiarch is not installed"
fi
rm -f err
ncube replay --program=3 --trace=seen.json --gdb life.ncr >out 2>err </dev/null &
replay=$!
await grep -qs 'waiting for gdb' err
kill -TERM $replay
wait $replay
same "a replay that waits for gdb is ended: status" 143 $?

# ---- A host program

cp "$examples"/*.[ch] .
ncc -o searcher searcher.c && cc -I"$build/host/include" -o driver driver.c "$build/host/lib/libnhost.a" || exit 1
programs=0
rm -f out.* err.* status.*
boot -d 2
./driver 2 60000 >out.1
same "a host program: status" 0 $?
run 0 ./turns
down 0
rm out.1
replay "a host program"
ncube replay --program=1 --gdb life.ncr >out 2>err </dev/null
same "which gdb cannot look at" \
    '1 ncube: a host program loads what runs as program 1; --gdb and --core need another' "$? $(cat err)"

# ---- What cannot be recorded

status "with gdb" 2 ncube boot --record=x.ncr --gdb
status "no such folder" 1 ncube boot --record=none/x.ncr
rm boot.out
ncube boot --record=/dev/full >boot.out 2>boot.err &
boot=$!
await grep -sq 'is up' boot.out
run 0 ./turns
down 1
same "a full disk: it is said" "ncube: /dev/full: No space left on device; there is no recording" "$(cat boot.err)"

finish
