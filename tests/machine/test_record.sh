#!/bin/bash
# ncube run --record and ncube replay: a replay in an empty folder has the run's output, status, trace, statistics and
# report, whatever the host has put into the run; and what cannot be replayed is refused. BUILD is the argument.
set -u
. "$(dirname "$0")/../shell.sh"

build=$(readlink -f "$1")
ncube=$build/bin/ncube
cd "$scratch" || exit 1
mkdir data
printf 'some\ntext\n' >data/in
head -c 200000 /dev/urandom >data/large

cat >reads.c <<'END'
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <nself.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int node, proc, host, dim;
    char line[3000], name[16];
    struct stat st;

    whoami(&node, &proc, &host, &dim);
    for (int i = 1; i < argc && node == 0; i++)
        printf("word %s\n", argv[i]);
    printf("home %s, terminal %d\n", getenv("HOME") ? getenv("HOME") : "none", isatty(1));
    while (node == 0 && fgets(line, sizeof line, stdin) && strcmp(line, "stop\n") != 0)
        printf("read %s", line);
    FILE *f = fopen("/in", "r");
    while (f && fgets(line, sizeof line, f))
        printf("%d: %s", node, line);
    int fd = open("/large", O_RDONLY), n, sum = 0;
    while ((n = read(fd, line, sizeof line)) > 0)
        for (int i = 0; i < n; i++)
            sum = sum * 31 + line[i];
    printf("%d: sum %d, stat %d, size %ld, mode %o\n", node, sum, stat("/large", &st), (long)st.st_size,
           (unsigned)st.st_mode);
    DIR *d = opendir("/");
    for (struct dirent *e; d && (e = readdir(d));)
        printf("%d: %s %d\n", node, e->d_name, (int)e->d_ino);
    printf("%d: %d %s\n", node, open("/none", O_RDONLY), strerror(errno));
    snprintf(name, sizeof name, "/out%d", node);
    f = fopen(name, "w");
    fprintf(f, "of node %d\n", node);
    printf("%d: closed %d\n", node, fclose(f));
    fprintf(stderr, "node %d ends\n", node);
    return 5 + node;
}
END
cat >talks.c <<'END'
#include <nself.h>
#include <stdio.h>
int main(void)
{
    int node, proc, host, dim, s, t;
    char b[4];
    whoami(&node, &proc, &host, &dim);
    if (node & 1)
        for (volatile long i = 0;; i++)
            ;
    for (;;) {
        if (node == 0)
            nwrite(b, 4, 2, 5, 0);
        s = t = -1;
        nread(b, 4, &s, &t, 0);
        if (node == 2)
            nwrite(b, 4, 0, 6, 0);
        else if (getchar() != EOF)
            puts("a character");
    }
}
END
cat >volume.c <<'END'
#include <nself.h>
#include <stdio.h>
#include <string.h>
char part[30001];
int main(void)
{
    int node, proc, host, dim;
    char line[100], name[40];
    whoami(&node, &proc, &host, &dim);
    FILE *f = fopen("//df00/in", "r");
    printf("%d: %s", node, fgets(line, sizeof line, f));
    snprintf(name, sizeof name, "//df01/out%d", node);
    f = fopen(name, "w");
    printf("%d: wrote %zu, %d\n", node, fwrite(part, 1, sizeof part, f), fclose(f));
    return 0;
}
END
for program in reads talks volume; do
    "$build/bin/ncc" -g -o $program $program.c || exit 1
done
cp "$build/guest/writes" . || exit 1

outputs=(--trace=trace.json --report=report.html --stats=stats.json)

# replay NAME STATUS [OPTION...]: run.ncr, elsewhere; its outputs must be those of this folder; of standard output so
# many bytes: a reader that has left has not read all that was written
read_bytes=
replay() {
    local name=$1 expected=$2 file
    shift 2
    rm -rf elsewhere
    mkdir elsewhere
    cp run.ncr elsewhere
    (cd elsewhere && "$ncube" replay "${outputs[@]}" "$@" run.ncr >stdout 2>stderr </dev/null)
    same "$name: the replay's status" "$expected" $?
    check "$name: the same stdout" cmp ${read_bytes:+-n "$read_bytes"} stdout elsewhere/stdout
    for file in stderr trace.json report.html; do
        check "$name: the same $file" cmp $file elsewhere/$file
    done
    sed '/"host": {/,$d' stats.json >stats
    sed '/"host": {/,$d' elsewhere/stats.json >elsewhere/stats
    check "$name: the same statistics" cmp stats elsewhere/stats
    same "$name: it leaves nothing else" "report.html run.ncr stats stats.json stderr stdout trace.json" \
        "$(ls elsewhere | xargs)"
}

# record NAME STATUS WORD...: standard input is ours
record() {
    local name=$1 expected=$2
    shift 2
    rm -f run.ncr
    "$ncube" run --record=run.ncr "${outputs[@]}" "$@" >stdout 2>stderr
    same "$name: status" "$expected" $?
}

# ---- What the host puts into a run

printf 'one\ntwo\nstop\nsecret\n' >in
record "words, input, files" 8 -d 2 --serve data ./reads a "b c" $'\xff' <in
rm data/in data/out0
replay "words, input, files" 8
check "words, input, files: user code runs ahead, too" grep -q '"grants_ahead": [1-9]' elsewhere/stats.json
"$ncube" record show run.ncr >show
check "show: the command" grep -qa '^command      ./reads a b c ' show
check "show: the input's bytes" grep -qE '^ +13 +13  input$' show
check "show: data of files is there once" \
    [ "$(awk '$3 ~ /^replies.*data$/ { print ($1 > 200000 && $1 < 300000) }' show)" = 1 ]

record "no folder is served" 1 -d 2 ./reads </dev/null
replay "no folder is served" 1 --sync=strict --cores 1

: >empty
"$ncube" run --record=run.ncr "${outputs[@]}" ./writes 2>stderr >/dev/full
same "a full disk: status" 5 $?
check "a full disk: it says so" grep -q 'write 0: -1, No space left on device' stderr
cp empty stdout
replay "a full disk" 5

"$ncube" run --record=run.ncr "${outputs[@]}" ./writes 2>stderr | head -c 50000 >stdout
same "a closed pipe: status" 141 "${PIPESTATUS[0]}"
read_bytes=50000
replay "a closed pipe" 141
read_bytes=
check "a closed pipe: no more than the host has taken" [ "$(wc -c <elsewhere/stdout)" -lt 150000 ]
(cd elsewhere && "$ncube" replay --trace=full.json --trace-lines run.ncr >/dev/full 2>err)
same "the replay's own disk is full: status" 141 $?
check "its trace is the same" cmp trace.json elsewhere/full.json
check "it says so" grep -qx "ncube: not all of the replay's output could be written" elsewhere/err

has_lines() { # AT_LEAST FILE
    [ -e "$2" ] && [ "$(wc -l <"$2")" -ge "$1" ]
}

# signal NAME SIGNAL...: while the program computes, sends and waits for its input
signal() {
    local name=$1 ncube_pid
    shift
    mkfifo input
    rm -f stdout
    sleep 60 >input &
    local holder=$!
    echo abc >input &
    "$ncube" run --record=run.ncr "${outputs[@]}" -d 2 ./talks <input >stdout 2>stderr &
    ncube_pid=$!
    await has_lines 3 stdout
    for s; do
        kill -s "$s" $ncube_pid
    done
    wait $ncube_pid
    same "$name: status" 143 $?
    kill $holder
    wait $holder 2>/dev/null
    rm input
    replay "$name" 143
}
signal "a signal" TERM
check "where it was" grep -q 'ended by SIGTERM at 0\.' stderr

cat >m.conf <<'END'
dim = 2;
front_end = { si = 0; };
boards = ( { number = 0; io_nodes = (
    { index = 0; si = [1]; drives = ( { volume = "df00"; image = "df00.img"; } ); },
    { index = 1; si = [2]; drives = ( { volume = "df01"; image = "df01.img"; } ); }
); } );
END
"$ncube" disk create -m m.conf 16M >/dev/null
"$ncube" disk put -m m.conf in //df00/in
cp df00.img before.img
record "volumes" 0 -m m.conf --set drives.rpm=5400 -d 2 ./volume </dev/null
check "volumes: the run has written" [ "$("$ncube" disk ls -m m.conf //df01/ | grep -c out)" = 4 ]
rm df00.img df01.img
mv m.conf other.conf
replay "volumes" 0
"$ncube" record show run.ncr >show
check "volumes: free blocks are left out" [ "$(awk '$3 == "volumes/df00" { print $2 < 200000 }' show)" = 1 ]
if tar --zstd -xf run.ncr volumes 2>/dev/null; then
    check "volumes: as they were" cmp volumes/df00 before.img
else
    skip "volumes as they were" "tar cannot unpack zstd here"
fi

cat >dead.conf <<'END'
dim = 2;
boards = ( { number = 3; io_nodes = (
    { index = 0; si = [1]; drives = ( { volume = "df00"; image = "df00.img"; } ); },
    { index = 1; si = [2]; drives = ( { volume = "df01"; image = "df01.img"; } ); }
); } );
faults = ( { node = 3; from_us = 2000000; }, { io_node = [3, 1]; } );
END
"$ncube" disk create -m dead.conf 1M >/dev/null
printf '#include <nself.h>\nint main(void) { int s = -1, t = 9; char b[4]; return nread(b, 4, &s, &t, 0); }\n' >waits.c
"$build/bin/ncc" -o waits waits.c
record "dead nodes" 123 -m dead.conf -d 2 ./waits </dev/null
rm df00.img df01.img
replay "dead nodes" 123
record "a deadlock" 125 -d 2 ./waits </dev/null
replay "a deadlock" 125

printf '#include <stdlib.h>\nint main(void) { *(volatile int *)0 = 1; }\n' >faults.c
"$build/bin/ncc" -g -o faults faults.c
record "a fault" 1 ./faults </dev/null
check "a fault: where" grep -q 'faults.c:2' stderr
mv faults faults.other
replay "a fault" 1
mkdir served
mv faults.other served/faults
record "a program that a program loads" 1 -d 2 --serve served "$build/examples/manager" faults 3 </dev/null
check "a program that a program loads: where" grep -q 'faults.c:2' stderr
rm -r served
replay "a program that a program loads" 1
record "a fault, for core files" 1 -d 2 "$build/guest/debugged" early </dev/null
status "a replay under --core" 1 "$ncube" replay --core=cores run.ncr
check "which writes them" [ -e cores/core.3 ]

# ---- A replay that somebody looks at

printf 'one\nstop\n' >in
mkdir -p data
printf 'some\ntext\n' >data/in
record "for gdb" 6 -d 1 --serve data ./reads word <in
rm -r data
if command -v gdb-multiarch >/dev/null; then
    "$ncube" replay --gdb --trace=gdb.json --trace-lines run.ncr >gdb.stdout 2>gdb.stderr &
    replay=$!
    await grep -qs 'waiting for gdb' gdb.stderr
    port=$(sed -n "s/.*target remote :\([0-9]*\)'.*/\1/p" gdb.stderr)
    timeout 300 gdb-multiarch -nx -batch -ex 'set remotetimeout 200' -ex "target remote :$port" \
        -ex 'break fclose' -ex continue -ex 'print node' -ex delete -ex continue ./reads >gdb.out 2>&1
    wait $replay
    same "under gdb: status" 6 $?
    check "under gdb: it stops at a breakpoint" grep -q '^Thread .* hit Breakpoint 1' gdb.out
    check "under gdb: the same output" cmp stdout gdb.stdout
    check "under gdb: the same trace" cmp trace.json gdb.json
else
    skip "a replay under gdb" "gdb-multiarch is not installed"
fi
rm -f err
"$ncube" replay --gdb run.ncr >/dev/null 2>err &
replay=$!
await grep -qs 'waiting for gdb' err
kill -TERM $replay
wait $replay
same "a replay that its user ends: status" 143 $?
check "it is not told of the recording" [ "$(grep -c recording err)" = 0 ]

# ---- What cannot be replayed

record "light" 5 --record-light ./writes </dev/null
replay_light() { # EXPECTED WHAT
    "$ncube" replay run.ncr >/dev/null 2>err
    same "light: status, $1" "$1" $?
}
replay_light 5
mv writes writes.other
replay_light 1
same "the program is not there" \
    "ncube: run.ncr: recorded without its programs, and ./writes is not there" "$(cat err)"
cp talks writes
replay_light 1
check "it is another one" grep -q '^ncube: run.ncr: ./writes is not the program that was recorded' err
mv writes.other writes

mkdir -p other/bin other/lib
cp "$ncube" other/bin
cp "$build"/lib/{plugin.so,vertex.elf,nsdisk.elf} other/lib
echo >>other/lib/vertex.elf
mkdir bare
: >bare/libarchive.so.13
status "ncube starts without libarchive" 0 env LD_LIBRARY_PATH=bare "$ncube" --help
status "a run that cannot be recorded" 1 env LD_LIBRARY_PATH=bare "$ncube" run --record=bare.ncr "$build/examples/hello"
check "the library is named" grep -q 'cannot be packed: libarchive.so.13 cannot be loaded' err
check "nothing is left of it" test ! -e bare.ncr
status "a recording that cannot be read" 1 env LD_LIBRARY_PATH=bare "$ncube" replay run.ncr
check "the library is named there, too" grep -q 'cannot be unpacked: libarchive.so.13 cannot be loaded' err

status "another Vertex" 1 other/bin/ncube replay run.ncr
check "which is said" grep -q '^ncube: run.ncr: recorded with another vertex.elf' err
same "in one line" 1 "$(wc -l <err)"

head -c $(($(wc -c <run.ncr) / 2)) run.ncr >cut.ncr
status "a cut file" 1 "$ncube" replay cut.ncr
same "in one line" "1 0" "$(wc -l <err) $(wc -l <out)"
status "a cut file is not shown either" 1 "$ncube" record show cut.ncr
status "a file that is no recording" 1 "$ncube" replay reads.c
same "which is said" "ncube: reads.c: is no recording of ncube" "$(cat err)"

# ---- Where recording fails

status "no room for the recording" 5 "$ncube" run --record=/dev/full ./writes
same "the run goes on" 100 "$(wc -l <out)"
same "and says it" "ncube: /dev/full: No space left on device; there is no recording" "$(cat err)"
status "no such folder" 1 "$ncube" run --record=none/run.ncr ./writes
same "nothing has run" 0 "$(wc -c <out)"
cp writes copy
status "over the program" 1 "$ncube" run --record=copy ./copy
check "which stays" cmp copy writes
status "over the trace" 1 "$ncube" run --record=t --trace=t ./writes
echo old >old.ncr
status "over an older file" 5 "$ncube" run --record=old.ncr ./writes
status "which it replaces" 5 "$ncube" replay old.ncr
status "with gdb" 2 "$ncube" run --record=x.ncr --gdb ./writes

finish
