#!/bin/bash
# ncube-mpi: nodes on several hosts are as on one, and what a host, a rack or a QEMU does to the run. BUILD is the
# argument. The hosts are processes of this one; test_exact has random programs on them.
set -u
. "$(dirname "$0")/../shell.sh"

build=$(readlink -f "$1")
guest=$build/guest
if [ ! -x "$build/bin/ncube-mpi" ] || ! command -v mpirun.openmpi >/dev/null; then
    skip "nodes on several hosts" "Open MPI is not installed (libopenmpi-dev, openmpi-bin)"
    finish
fi
cd "$scratch" || exit 1

on() { # RACKS WORD...: ncube with those words
    local racks=$1
    shift
    "$build/tests/racks/$racks" "$@"
}

# One process for each shell command. mpirun's own colon ends that of Open MPI 5.0.7 by signal 11.
ranks() { # COMMAND...
    timeout -k 5 300 mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none -np $# \
        sh -c 'shift "$OMPI_COMM_WORLD_RANK"; eval "exec $1"' sh "$@"
}

# own FILE: what ncube has written there. Open MPI may write lines of its own, at any time, and 5.0 zeros.
own() {
    tr -d '\0' <"$1" | awk '/^(ncube: |node [0-9])/ { on = 1; print; next } !/^  / { on = 0 } on'
}

# ---- Messages between processes

status "messages" 0 timeout -k 5 100 mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none -np 3 \
    "$build/tests/emu/ranks_play"
same "they are right" "order and lengths: right rests: right delays: right stops: right" "$(xargs <out)"

# ---- The same as on one host

"$build/bin/ncube" disk create first.img 4M >/dev/null
cat >drives.conf <<'END'
dim = 2;
boards = ( { number = 0; io_nodes = (
    { index = 0; si = [1]; drives = ( { volume = "df00"; image = "df00.img"; } ); } ); } );
END

# As bytes: output, errors, status, trace, what is left on the drive.
equal() { # NAME RACKS WORD...
    local name=$1 racks=$2
    shift 2
    cp first.img df00.img
    "$build/bin/ncube" run --trace here.trace "$@" >here.out 2>here.err </dev/null
    here=$?
    cp df00.img here.img
    cp first.img df00.img
    on "$racks" run --trace there.trace "$@" >there.out 2>there.err </dev/null
    same "$name on $racks racks: status" $here $?
    same "$name on $racks racks: err" "$(cat here.err)" "$(own there.err)"
    for what in out trace; do
        check "$name on $racks racks: $what" cmp here.$what there.$what
    done
    check "$name on $racks racks: the drive" cmp here.img df00.img
}
cat >ends.c <<'END'
#include <nself.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) /* exits with 3, faults, or waits for ever, on node 1 */
{
    int node, process, host, dim, any = -1, type = 7;
    char byte;

    whoami(&node, &process, &host, &dim);
    if (node == 1 && argc > 1 && strcmp(argv[1], "fault") == 0)
        *(volatile int *)8 = 1;
    if (node == 1 && argc > 1 && strcmp(argv[1], "wait") == 0)
        nread(&byte, 1, &any, &type, NULL);
    if (argc > 1 && strcmp(argv[1], "run") == 0)
        for (;;)
            nsync(1);
    return node == 1 ? 3 : 0;
}
END
status "a program" 0 "$build/bin/ncc" -o ends ends.c
equal "a program that ends with 3" 2 -d 2 ./ends exit
equal "a program that faults" 1 -d 2 ./ends fault
equal "a program that waits for ever" 3 -d 2 ./ends wait
equal "a program that reaches a limit" 2 -d 2 --limit 0.01 ./ends run
equal "more racks than nodes" 5 -d 1 ./ends exit
equal "broadcasts" 3 -d 3 "$build/examples/heat"
equal "an odd number of nodes" 2 -n 5 ./ends exit
for racks in $(drawn_of 2 1 2); do
    equal "a drive" "$racks" -m drives.conf "$guest/files" "many files" //df00/
done
on 1 run -d 2 --trace-format=chrome --trace there.json --trace-lines --stats=there.stats "$build/examples/hello" \
    >there.out 2>&1
"$build/bin/ncube" run -d 2 --trace-format=chrome --trace here.json --trace-lines --stats=here.stats \
    "$build/examples/hello" >here.out 2>&1
check "a timeline has lines" grep -q '"line":"[a-z]*, called in main (hello.c:' here.json
check "a timeline is the same" cmp here.json there.json
check "statistics are the same" cmp <(sed '/^ "host"/,$d' here.stats) <(sed '/^ "host"/,$d' there.stats)
same "one process is ncube" "$("$build/bin/ncube" run -d 1 "$build/examples/hello")" \
    "$(mpirun.openmpi --allow-run-as-root -np 1 "$build/bin/ncube-mpi" run -d 1 "$build/examples/hello")"

# ---- Which nodes a rack has

cat >placed.conf <<'END'
dim = 3; racks = [2, 6];
boards = ();
END
sed 's/boards = ()/boards = ( { number = 0; io_nodes = ( { index = 0; si = [1]; drives = ( { volume = "df00"; image = \
"df00.img"; } ); } ); } )/' placed.conf >placed_drives.conf
equal "racks of the machine file" 2 -m placed.conf "$build/examples/heat"
"$build/bin/ncube" run -d 3 --trace here.trace "$build/examples/heat" >here.out 2>&1
equal_to() { # RACKS SHARES: as on one host
    on "$1" run -d 3 --racks="$2" --trace there.trace "$build/examples/heat" >there.out 2>there.err </dev/null
    same "--racks=$2: status" 0 $?
    check "--racks=$2: output" cmp here.out there.out
    check "--racks=$2: trace" cmp here.trace there.trace
}
equal_to 2 4,4
equal_to 2 3,5
equal_to 3 1,6,1
refused() { # RACKS LINE WORD...
    local racks=$1 line=$2
    shift 2
    status "$line" 1 on "$racks" run -d 3 "$@" ./ends exit
    same "it is one line" "ncube: $line" "$(own err)"
}
refused 2 "--racks: the racks have 7 nodes together, but the machine has 8, I/O nodes included" --racks=3,4
refused 2 "--racks: nodes for 3 racks are given, but mpirun has started 2" --racks=3,4,1
for value in 3,x 3,5, ""; do
    refused 2 "--racks=$value: numbers of nodes are needed, such as 16,48, for at most 256 racks" "--racks=$value"
done
status "racks of a machine file with other nodes" 1 on 2 run -m placed_drives.conf ./ends exit
same "it is named" "ncube: placed_drives.conf: the racks have 8 nodes together, but the machine has 9, I/O nodes \
included" "$(own err)"
status "--racks on one host" 2 "$build/bin/ncube" run -d 3 --racks=4,4 ./ends exit
same "it is refused in a line" "ncube: racks: all nodes are on this host; mpirun.openmpi starts ncube-mpi on several; \
see ncube run --help" "$(cat err)"

# ---- A machine that stays up

on 2 boot -d 2 --name "racks$$" >boot.out 2>&1 &
up=$!
await grep -qs "is up" boot.out
same "xnc's program" "$("$build/bin/ncube" run -d 1 "$build/examples/hello")" \
    "$("$build/bin/xnc" --name "racks$$" -d 1 "$build/examples/hello")"
status "down" 0 "$build/bin/ncube" down --name "racks$$"
wait $up
same "it ends well" 0 $?

# ---- Refusals

for option in gdb core=. check; do
    status "--$option" 2 on 1 run -d 1 --$option ./ends exit
    same "--$option is refused in a line" "ncube: ${option%=*} is not possible while other hosts have the nodes; \
run it by ncube; see ncube run --help" "$(own err)"
done
status "--detach" 2 on 1 boot -d 1 --detach
check "--detach is refused in a line" [ "$(own err | wc -l)" -eq 1 ]

mkdir other
cp -r "$build/bin" "$build/lib" other/
printf x >>other/lib/vertex.elf
status "a host with another version" 1 ranks "$build/bin/ncube-mpi run -d 1 ./ends exit" other/bin/ncube-mpi
same "it is named" "ncube: rack 1 ($(hostname)): its ncube-mpi, or a part of it in $scratch/other/lib, is another \
version" "$(own err)"

# Rank 0 and two racks; the second one's environment or shell is what the words say.
beside() { # WORD...
    ranks "$build/bin/ncube-mpi run -d 2 ./ends exit" "$build/bin/ncube-mpi" "$*"
}
mkdir wrapped
printf '#!/bin/sh\nexec qemu-system-riscv64 "$@"\n' >wrapped/qemu-system-riscv64
chmod +x wrapped/qemu-system-riscv64
status "a host with another QEMU" 1 beside env PATH="$scratch/wrapped:$PATH" "$build/bin/ncube-mpi"
same "it is named" "ncube: rack 2 ($(hostname)): its qemu-system-riscv64 is another version than that of rack 1 \
($(hostname))" "$(own err)"
status "a host without QEMU" 1 beside env PATH=/nowhere "$build/bin/ncube-mpi"
same "it is named" "ncube: rack 2 ($(hostname)): it has no qemu-system-riscv64; install Debian's qemu-system-misc" \
    "$(own err)"
status "a host without enough descriptors" 1 ranks "$build/bin/ncube-mpi run -d 2 ./ends exit" \
    "sh -c 'ulimit -n 40; exec $build/bin/ncube-mpi'"
check "what it lacks is said" grep -qx "ncube: rack 1 ($(hostname)): this machine needs [0-9]* open files, but this \
host lets ncube have 40: .*" err
begun=$SECONDS
status "a rack that does not answer in the start" 1 beside env NCUBE_RACK_DELAY_US=1000000000 "$build/bin/ncube-mpi"
same "it is named" "ncube: rack 2 ($(hostname)) does not answer" "$(own err)"
check "within 10 s" [ $((SECONDS - begun)) -le "$(patience 10)" ]

# ---- Ends of processes

# Runs a program without an end on two racks, and the commands when it computes; $racks are the processes of the racks.
left() {
    local process
    for process in "${racks[@]}" "${qemus[@]}" "$zero"; do
        for _ in $(seq 600); do
            [ -d "/proc/$process" ] && ! grep -q '^State:.Z' "/proc/$process/status" || break
            sleep 0.1
        done
        [ ! -d "/proc/$process" ] || grep -q '^State:.Z' "/proc/$process/status" || echo "$process"
    done 2>/dev/null
}
children() { # PROCESS...
    local process
    for process; do cat "/proc/$process/task/"*/children; done 2>/dev/null
}
# Finds mpirun, zero, racks and qemus. mpirun has other children, too, for a moment.
find_processes() {
    local process rank
    zero= racks=()
    mpirun=$(echo $(children $run))
    for process in $(children $mpirun); do
        rank=$(tr '\0' '\n' 2>/dev/null <"/proc/$process/environ" | sed -n 's/^OMPI_COMM_WORLD_RANK=//p')
        case $rank in '') ;; 0) zero=$process ;; *) racks[rank - 1]=$process ;; esac
    done
    read -ra qemus <<<"$(echo $(children "${racks[@]}"))"
}
ended() { # NAME STATUS SECONDS COMMAND...; one of the statuses
    local name=$1 expected=$2 limit begun found
    limit=$(patience "$3")
    shift 3
    rm -f beats
    timeout -k 5 300 ${prefix:-} "$build/tests/racks/2" run -d 2 --heartbeat=0.2 $program >out 2>beats &
    run=$!
    await grep -qs "^ncube: after" beats
    find_processes
    same "$name: processes" 5 $((1 + ${#racks[@]} + ${#qemus[@]}))
    begun=$SECONDS
    "$@"
    { wait $run; } 2>/dev/null # bash would say which process was killed
    found=$?
    check "$name: status $found is one of $expected" grep -qw "$found" <<<"$expected"
    check "$name: within $limit s" [ $((SECONDS - begun)) -le "$limit" ]
    tr -d "\0" <beats | grep -v "^ncube: after" >err
    same "$name: nothing is left" "" "$(left)"
}
program="./ends run"
kill_qemu() { kill -KILL "${qemus[0]}"; }
stop_rack() { kill -STOP "${racks[1]}"; }
kill_rack() { kill -KILL "${racks[1]}"; }
kill_zero() { kill -KILL "$zero"; }
kill_mpirun() { kill -KILL $mpirun; }
kill_others() { kill -KILL "$zero" "${racks[0]}" $mpirun; }
ask_end() { kill -TERM "$zero"; }
ended "a QEMU is killed" 1 10 kill_qemu
check "its rack is named" grep -qx "ncube: rack [12] ($(hostname)): qemu-system-riscv64 .* was ended by signal 9" err
ended "a rack hangs" 1 12 stop_rack
check "it is named" grep -qx "ncube: rack 2 ($(hostname)) does not answer" err
ended "a rack is killed" "1 137" 10 kill_rack # ncube's, or mpirun's, whichever is first
if [ -n "$(hostname -I)" ]; then
    same "it is named" "ncube: rack 2 ($(hostname)) has ended" "$(grep ^ncube err)"
else
    skip "a rack that is killed is named" "without a network Open MPI does not speak TCP"
fi
ended "rank 0 is killed" 137 10 kill_zero
mkdir session
TMPDIR=$scratch/session ended "mpirun is killed" 137 10 kill_mpirun
same "Open MPI's folder is empty" "" "$(find session -mindepth 2)"
ended "all but a rack are killed" 137 10 kill_others
ended "SIGTERM" 143 10 ask_end

# They do not wait until a QEMU on their processor has had its time.
priorities() {
    for process in "$zero" "${racks[@]}" "${qemus[@]}"; do
        chrt -p "$process" | sed -n 's/.*priority: //p'
    done >priorities
    ask_end
}
if chrt -r 1 true 2>/dev/null; then
    prefix="chrt -r 1" ended "priorities" 143 10 priorities
    same "those of rank 0, the racks and their QEMUs" "2 2 2 1 1" "$(xargs <priorities)"
else
    skip "priorities" "this user may not use chrt -r"
fi

# Two racks that wait for each other's bytes: the one that hangs is named, not the one that waits for it.
cat >swap.c <<'END'
#include <nself.h>
#include <stddef.h>

int main(void)
{
    static char out[16384], in[16384];
    int node, process, host, dim, type = 1;

    whoami(&node, &process, &host, &dim);
    for (;;) {
        int other = node ^ 1 << (dim - 1);

        nwrite(out, sizeof out, other, type, NULL);
        nread(in, sizeof in, &other, &type, NULL);
    }
}
END
status "it is compiled" 0 "$build/bin/ncc" -O2 -o swap swap.c
program=./swap
ended "a rack hangs that sends" 1 12 stop_rack
check "it is named" grep -qx "ncube: rack 2 ($(hostname)) does not answer" err

# ---- A rack that hangs when all is done: it stops itself in that call

hangs_in() { # FUNCTION DEFINITION LINE
    printf '#include <signal.h>\n#include <sys/wait.h>\n%s\n' "$2" >hangs.c
    status "$1 is compiled" 0 cc -shared -fPIC -o hangs.so hangs.c
    begun=$SECONDS
    status "a rack hangs in $1" 1 beside env LD_PRELOAD="$scratch/hangs.so" "$build/bin/ncube-mpi"
    same "it is a line of ncube" "$3" "$(own err)"
    check "$1: within 15 s" [ $((SECONDS - begun)) -le "$(patience 15)" ]
}
hangs_in waitpid 'pid_t waitpid(pid_t p, int *s, int o) { raise(SIGSTOP); return wait4(p, s, o, 0); }' \
    "ncube: rack 2 ($(hostname)) does not end"
hangs_in MPI_Finalize 'int PMPI_Finalize(void); int MPI_Finalize(void) { raise(SIGSTOP); return PMPI_Finalize(); }' \
    "ncube: a rack's process does not end: MPI has waited for 10 s"

# ---- A study, each machine of which is on racks

if command -v gnuplot >/dev/null; then
    cat >study.conf <<'END'
dim = 1;
boards = ( { number = 0; io_nodes = (
    { index = 0; si = [0]; drives = ( { volume = "v0"; image = "v0.img"; } ); } ); } );
END
    study() { # FOLDER WORD...
        local folder=$1
        shift
        status "a study into $folder" 0 "$build/bin/ncube" experiments --out "$folder" --only plain --bytes 4K "$@" \
            study.conf
    }
    launch="mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none"
    study here
    study there --launch="$launch -np 3"
    for file in here/*; do
        check "$file: the same bytes" cmp "$file" "there/${file#here/}"
    done
    not_launched() { # LINE COMMAND...
        local line=$1 expected=$2
        shift 2
        status "$line" "$expected" "$@" study.conf
        same "it is one line" "ncube: $line" "$(own err)"
    }
    for words in "nowhere -np 2" "'"; do
        not_launched "--launch='$words': no command that can be run; give one such as 'mpirun.openmpi -np 3'" 1 \
            "$build/bin/ncube" experiments --launch="$words"
    done
    not_launched "experiments are started by ncube, and start mpirun for each run: ncube experiments \
--launch='mpirun.openmpi -np 3'; see ncube experiments --help" 2 on 1 experiments
else
    skip "a study on several hosts" "gnuplot is not installed"
fi

finish
