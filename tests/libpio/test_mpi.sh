#!/bin/bash
# MPI programs (tests/mpi), which judge themselves, on several numbers of ranks; under Debian's Open MPI, where that is
# installed, their output is the same. And MPI's compiler and launchers. BUILD is the argument.
set -u
cd "$(dirname "$0")/../.."
. tests/shell.sh
root=$PWD
build=$(readlink -f "$1")
export PATH=$build/bin:$PATH
flags="-std=gnu11 -O1 -Wall -Wextra -Werror"
cd "$scratch" || exit 1

# Open MPI alone on this host, its files where ours are, more ranks than processors
judge="mpirun.openmpi --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 --mca btl self,vader,tcp
       --mca orte_tmpdir_base $scratch"
judges=yes
command -v mpicc.openmpi >/dev/null || judges=no
export TMPDIR=$scratch OMPI_MCA_btl_base_warn_component_unused=0

printf 'dim = 4;\nram_mb = 2;\n' >small.conf

# The programs that are judged, as one; files, which need a folder, by themselves
programs=$(sed -n 's/^ *X(\([a-z_]*\).*/\1/p' "$root/tests/mpi/all.c")
sizes=${MPI_SIZES:-$(drawn_of 3 1 3 8)}
build_all() { # COMPILER OUTPUT FLAG...
    local compiler=$1 output=$2 name
    shift 2
    for name in $programs; do
        $compiler "$@" -DSUITE=$name -c -o "$output.$name.o" "$root/tests/mpi/$name.c" || return
    done
    $compiler "$@" -o "$output" "$root/tests/mpi/all.c" "$output".*.o &&
        $compiler "$@" -o "$output.files" "$root/tests/mpi/files.c"
}

# Subjects of the standard, one after the other in one program: what each prints is the same
subject_sizes=${MPI_SIZES:-$(drawn_of 3 1 2 3 6 7 5)}
build_subjects() { # COMPILER OUTPUT FLAG...
    local compiler=$1 output=$2
    shift 2
    $compiler "$@" -o "$output" "$root"/tests/mpi/subjects/*.c -lm
}

# judged FILE WORD...: its standard output. Open MPI 4.1 has been seen to wait for ever in MPI_File_set_size, for a
# message of its own that does not come: then it begins again.
judged() {
    local file=$1 try
    shift
    for try in 1 2 3; do
        timeout -k 5 120 $judge "$@" >"$file"
        [ $? -eq 124 ] || return 0
        echo "the judge hangs: $*" >&2
    done
}

judge_all() { # by standard output: to the other one the launcher may write lines of its own, at any time
    mkdir judged && cd judged && build_all mpicc.openmpi theirs -std=gnu11 -O1 -w || return
    build_subjects mpicc.openmpi subjects -std=gnu11 -O1 -w || return
    for ranks in $subject_sizes; do
        judged subjects.$ranks.txt -n $ranks ./subjects
    done
    for ranks in $sizes; do
        judged $ranks.txt -n $ranks ./theirs && judged $ranks.files.txt -n $ranks ./theirs.files
        cat $ranks.files.txt >>$ranks.txt
    done
}

[ $judges = no ] || judge_all >judge.log 2>&1 &
check "the programs compile" build_all mpicc ours $flags
mkdir served
printf 'dim = 4;\nram_mb = 32;\n' >large.conf # of all programs together
for ranks in $sizes; do
    { mpirun -m large.conf -d 4 -n $ranks ./ours &&
        mpirun -d 4 --serve=served -n $ranks ./ours.files; } >$ranks.txt 2>&1
    same "all programs on $ranks ranks pass" "files on $ranks: passed" "$(tail -n 1 $ranks.txt)"
done
ncube disk create -m sandia --images disks 2M >/dev/null
for name in $(drawn_of 2 pio:/files.dat //df03/files.dat); do
    same "$name on 5 ranks" "files on 5: passed" \
        "$(mpirun -m sandia --images=disks -d 3 -n 5 ./ours.files $name 2>&1 | tail -n 1)"
done
cat >striped.conf <<'E3'
dim = 3;
boards = ({ number = 3; io_nodes = (
    { index = 0; si = [7]; drives = ({ volume = "df00"; image = "disks/big00.img"; }); },
    { index = 1; si = [6]; drives = ({ volume = "df01"; image = "disks/big01.img"; }); }); });
striped = ({ volume = "big"; over = ["df00", "df01"]; map = "cyclic 16384 2"; });
E3
ncube disk create -m striped.conf 2M >/dev/null
same "//big/files.dat on 3 ranks" "files on 3: passed" \
    "$(mpirun -m striped.conf -n 3 ./ours.files //big/files.dat 2>&1 | tail -n 1)"
cat >absent.c <<'E4'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
/* Rank 0 makes no call for 2 s; the others move the shared pointer meanwhile, by 4 bytes each. */
int main(int argc, char **argv)
{
    MPI_File f;
    MPI_Offset at;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    double start = MPI_Wtime();
    if (rank == 0)
        sleep(2);
    else
        MPI_File_write_shared(f, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    if (rank > 0 && MPI_Wtime() - start > 1)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_position_shared(f, &at);
    if (at != 4 * (size - 1))
        MPI_Abort(MPI_COMM_WORLD, 4);
    MPI_File_close(&f);
    if (rank == 0)
        puts("nobody waited");
    MPI_Finalize();
}
E4
mpicc $flags -o absent absent.c
for name in shared.dat pio:/shared.dat //df03/shared.dat; do
    same "the shared pointer of $name needs no rank" "nobody waited" \
        "$(mpirun -m sandia --images=disks --serve=served -d 3 -n 5 ./absent $name 2>&1)"
done
same "and that of //big/shared.dat" "nobody waited" "$(mpirun -m striped.conf -n 3 ./absent //big/shared.dat 2>&1)"

# ---- Clusterfile

cat >clf.conf <<'E5'
dim = 3;
metadata = "cl1";
boards = ({ number = 0; io_nodes = (
    { index = 0; si = [7]; service = "concurrent"; drives = ({ volume = "cl0"; image = "disks/cl0.img"; }); },
    { index = 1; si = [6]; service = "concurrent"; drives = ({ volume = "cl1"; image = "disks/cl1.img"; }); },
    { index = 2; si = [5]; service = "concurrent"; drives = ({ volume = "cl2"; image = "disks/cl2.img"; }); }); });
E5
ncube disk create -m clf.conf 2M >/dev/null
mpicc $flags -o files.clf "$root/tests/mpi/files.c" -lclf
mpicc $flags -o cluster_file "$root/tests/mpi/cluster_file.c" -lclf
[ $judges = no ] || mpicc.openmpi -w -o cluster_file.theirs "$root/tests/mpi/cluster_file.c"
check "a program without -lclf has nothing of Clusterfile" sh -c \
    '! riscv64-unknown-elf-nm ours.files | grep -q clf_ && riscv64-unknown-elf-nm files.clf | grep -q clf_'
for ranks in $(drawn_of 2 1 8 3); do
    same "/clf/files.dat on $ranks ranks" "files on $ranks: passed" \
        "$(mpirun -m clf.conf -n $ranks ./files.clf /clf/files.dat 2>&1 | tail -n 1)"
    [ $judges = no ] || $judge -n $ranks ./cluster_file.theirs random.$ranks $ranks >/dev/null 2>&1
    for method in view $([ $ranks = 3 ] && echo list) $([ $ranks = 8 ] && echo two-phase); do
        same "random views of /clf/, $method, on $ranks ranks" "cluster_file on $ranks: passed" \
            "$(mpirun -m clf.conf -n $ranks ./cluster_file /clf/$ranks.$method $ranks $method 2>&1 | tail -n 1)"
        [ $judges = no ] || ncube disk get -m clf.conf clf:/$ranks.$method - | cmp - random.$ranks ||
            check "the file is Open MPI's" false
    done
done
same "the shared pointer of /clf/shared.dat" "nobody waited" \
    "$(mpicc $flags -o absent.clf absent.c -lclf && mpirun -m clf.conf -n 3 ./absent.clf /clf/shared.dat 2>&1)"
mpicc $flags -o clf_matrix "$root/tests/mpi/clf_matrix.c" -lclf
ncube disk create -m "$root/images/machines/clusterfile.conf" --images big 2M >/dev/null
mpirun -m "$root/images/machines/clusterfile.conf" --images=big -n 16 ./clf_matrix 256 >matrix.txt 2>&1
check "a collective write of a matrix takes at most 1.05 of Clusterfile's" \
    awk -F'[= ]' '{ ok = $1 == "clf" && $4 <= 1.05 * $2 } END { exit !ok }' matrix.txt

# ---- Errors: the same on all, the last of them full

mpicc $flags -o file_errors "$root/tests/mpi/file_errors.c" -lclf
errors() { # NAME TEXT-WHEN-FULL MPIRUN-ARGUMENT...
    local name=$1 text=$2
    shift 2
    same "errors of $name" "file_errors on 3: passed" \
        "$(mpirun "$@" -n 3 ./file_errors "$name" ${text:+"$text"} 2>&1 | tail -n 1)"
}
errors errors.dat "" -d 2 --serve=served
errors //df00/errors.dat //df00/errors.dat -m sandia --images=disks -d 2
errors pio:/errors.dat "/errors.dat, at //df" -m sandia --images=disks -d 2
errors //big/errors.dat //big/errors.dat -m striped.conf
errors /clf/errors.dat /clf/errors.dat -m clf.conf
clean() { local image; for image in disks/*.img; do e2fsck -fn $image >fsck 2>&1 || return; done; }
check "the volumes are whole" clean
check "the subjects compile" build_subjects mpicc subjects $flags
for ranks in $subject_sizes; do
    mpirun -d 4 -n $ranks --serve=served ./subjects >subjects.$ranks.txt 2>&1
    same "all subjects on $ranks ranks" "73 subjects on $ranks ranks" "$(tail -n 1 subjects.$ranks.txt)"
done
wait
for ranks in $subject_sizes; do
    [ $judges = no ] || same "subjects on $ranks ranks: as with Open MPI" "$(cat judged/subjects.$ranks.txt)" \
        "$(cat subjects.$ranks.txt)"
done
for ranks in $sizes; do
    [ $judges = no ] || same "on $ranks ranks: as with Open MPI" "$(cat judged/$ranks.txt)" "$(cat $ranks.txt)"
done
[ $judges = yes ] || skip "MPI programs against Open MPI" "libopenmpi-dev and openmpi-bin are not installed"

# A campaign: so many random cases of each kind, on 5 ranks, under both
for name in random_collectives random_types; do
    [ -n "${MPI_CASES:-}" ] || break
    mpicc $flags -o $name "$root/tests/mpi/$name.c"
    same "$MPI_CASES cases of $name" "$name on 5: passed" "$(mpirun -n 5 ./$name "$MPI_CASES" 9 | tail -n 1)"
    [ $judges = yes ] || continue
    mpicc.openmpi -w -o $name.theirs "$root/tests/mpi/$name.c"
    same "$name under Open MPI" "$name on 5: passed" "$($judge -n 5 ./$name.theirs "$MPI_CASES" 9 | tail -n 1)"
done

# ---- Examples, and a volume without room

examples=$build/examples/mpi
check "life" grep -q "the glider is where it began" <<<"$(mpirun -d 3 -n 6 "$examples/life" 2>&1)"
check "attract" grep -q "momentum is zero" <<<"$(mpirun -d 3 "$examples/attract" 2>&1)"
head -c 1000000 "$build/bin/ncube" >served/in
on_disks="mpirun -m sandia --images=disks --serve=served"
check "a copy to a PIO file" $on_disks -d 2 -n 3 "$examples/share_copy" in pio:/out 7777
check "and back" $on_disks -d 2 "$examples/share_copy" pio:/out out
check "is the same" cmp served/in served/out
head -c 3000000 /dev/zero >served/long
status "a copy to a volume that is too small" 1 $on_disks -d 2 "$examples/share_copy" long //df00/long
check "names the class" grep -q "share_copy: //df00/long: MPI_ERR_NO_SPACE" err
check "the volumes are whole then" clean

# What another MPI does with these is its own matter
for name in mistakes bad_arguments old_names; do
    mpicc $flags -o $name "$root/tests/mpi/$name.c"
    for ranks in 1 3 8; do
        same "$name on $ranks ranks" "$name on $ranks: passed" "$(mpirun -d 3 -n $ranks ./$name 2>&1)"
    done
done

mpicc $flags -DBYTES_MAX=1100 -o random_small "$root/tests/mpi/random_points.c"
for seed in $(drawn_of 2 2 3); do
    same "random messages of 16 nodes of 2 MB, seed $seed" "random_points on 16: passed" \
        "$(mpirun -d 4 -n 16 -m small.conf ./random_small 5 $seed 2>&1 | tail -n 1)"
done
mpicc $flags -Nprocs 3 -o points3 "$root/tests/mpi/points.c"
mpicc $flags -o points "$root/tests/mpi/points.c"
same "three processes on each node" "points on 12: passed" "$(mpirun -d 2 ./points3 2>&1 | tail -n 1)"
same "two programs are one MPI_COMM_WORLD" "points on 8: passed" \
    "$(mpirun -d 3 -n 5 ./points : -n 3 ./points 2>&1 | tail -n 1)"
status "programs with different numbers of processes" 1 mpirun -d 2 -n 2 ./points3 : -np 2 ./points
check "this is told" grep -q "MPI_Init: node 0: the programs have different numbers of processes on a node" err

# ---- What is sent, by the trace

cat >sends.c <<'E2'
#include <mpi.h>
int main(void)
{
    static char data[100000];
    int rank, size;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        MPI_Send(data, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    else if (rank == 1)
        MPI_Recv(data, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(data, 100000, MPI_CHAR, size - 1, MPI_COMM_WORLD);
    MPI_Finalize();
}
E2
mpicc -o sends sends.c && mpirun -d 3 --trace=trace.txt ./sends
same "8 bytes are one message" 1 "$(grep -c ' send .*tag=0x282000 bytes=8 context=5' trace.txt)"
same "100,000 bytes to all are a broadcast for each 32 KB" 4 "$(grep -c ' send .*tag=0x28c007' trace.txt)"

# ---- How large programs become

bytes() { # PROGRAM
    riscv64-unknown-elf-size "$build/examples/$1" | awk 'END { print $1 + $2 }'
}

# With newlib 4.5 hello itself is 9 KB smaller.
[ -z "$(other_compiler "$build")" ] && most=40 || most=46
check "sends and receives take at most $most KB" test $(($(bytes mpi/plate) - $(bytes hello))) -le $((most * 1024))
check "a reduction takes at most 70 KB" test $(($(bytes mpi/pi) - $(bytes hello))) -le 71680

# ---- The compiler and the launchers

check "mpicc -show" test "$(mpicc -show -pthread -c x.c)" = "$build/bin/ncc -c x.c"
check "mpicc -showme:compile" test -e "$(mpicc -showme:compile | sed s/-I//)/mpi.h"
check "mpicc -showme:link" sh -c 'ncc -o linked sends.c $(mpicc -link_info)'
check "mpicc refuses -shared" sh -c '! mpicc -shared -o x sends.c 2>/dev/null'
status "an option of another launcher" 2 mpirun -hostfile hosts ./points
same "it is named" "mpirun: -hostfile is an option of other launchers; see ncube run --help" "$(cat err)"
status "a number that is none" 2 mpiexec -n two ./points
status "no program" 2 mpiexec
finish
