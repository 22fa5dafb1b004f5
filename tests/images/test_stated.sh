#!/bin/bash
# Stated costs (docs/timing.md): the demonstration's times do not hang on what a compiler makes of the system.
#
#   test_stated.sh BUILD
#
# What runs on the nodes here is built again, by -O1, in BUILD/stated, where it stays: all but the libraries for MPI,
# for virtual processors, for CFS and for Clusterfile, which these programs do not call. The rows of the demonstration
# for node 3 agree to 0.3 %; and nothing in these runs, in piocopy or in the paper's monitor takes longer than stated,
# in either build. Where too little is stated, the statistics say so.
set -u
. "$(dirname "$0")/../shell.sh"

build=$(readlink -f "$1")
top=$(readlink -f "$(dirname "$0")/../..")
other=$build/stated
PATH=$PATH:/usr/sbin:/sbin # mke2fs

machine=$top/images/sandia.conf
programs="examples/piobench examples/piocopy examples/diskmon"
build_other() {
    local targets="lib/vertex.elf lib/nsdisk.elf $programs" log=$scratch/make
    # shellcheck disable=SC2086,SC2046
    make -C "$top" -s B="$other" NODE_OPT=-O1 MPI_SRCS= STAR_SRCS= CFS_SRCS= CLF_SRCS= \
        $(printf "$other/%s " $targets) >"$log" 2>&1 || {
        cat "$log" >&2
        return 1
    }
    cp "$build/bin/ncube" "$other/bin/" && cp "$build/lib/plugin.so" "$other/lib/"
}

images() { # FOLDER: the demonstration's
    local k id
    mkdir -p "$1"
    for k in 0 1 2 3 4 5 6 7; do
        id=00000000-0000-4000-8000-00000000000$k
        E2FSPROGS_FAKE_TIME=820454400 mke2fs -q -F -t ext2 -b 4096 -m 0 -L df0$k -U $id \
            -E hash_seed=$id,root_owner=0:0 "$1/df0$k.img" 32M >/dev/null 2>&1
    done
}

run() { # BUILD FOLDER NAME PROGRAM ARGUMENT...: prints what it prints; its statistics are FOLDER/NAME.json
    local from=$1 folder=$2 name=$3 program=$4
    shift 4
    "$from/bin/ncube" run -d 5 -m "$machine" --images "$folder" --serve "$scratch" \
        --stats="$folder/$name.json" "$from/examples/$program" "$@"
}

measure() { # BUILD FOLDER
    images "$2"
    run "$1" "$2" write piobench write 3 && run "$1" "$2" read piobench read 3 &&
        run "$1" "$2" copy piocopy file /copy 3 2 >/dev/null && run "$1" "$2" monitor diskmon df00 >/dev/null
}

excess() { # FOLDER: the rows that took longer than stated
    cat "$1"/*.json | awk '/^ "excess": \{\}/ { next } /^ "excess"/ { on = 1 } on { print } on && /^ }/ { on = 0 }'
}

# far FILE FILE PERCENT: the rows whose times differ by more
far() {
    paste -d ' ' "$1" "$2" | awk -v most="$3" '{
        n = 0
        for (i = 1; i <= NF; i++)
            if (sub(/^us=/, "", $i))
                us[n++] = $i
        apart = 100 * (us[1] / us[0] - 1)
        if (n != 2 || apart > most || apart < -most)
            printf "%s %s %s %s: %s and %s us, %+.3f %%\n", $1, $3, $4, $5, us[0], us[1], apart
    }'
}

head -c 200000 "$build/lib/vertex.elf" >"$scratch/file"
check "the system's software and the demonstration, by -O1" build_other || finish
measure "$build" "$scratch/o2" >"$scratch/times-o2" &
measure "$other" "$scratch/o1" >"$scratch/times-o1" || failed=$((failed + 1))
check "the demonstration by -O2" wait $!
same "rows" "14 14" "$(wc -l <"$scratch/times-o2") $(wc -l <"$scratch/times-o1")"
same "times that differ by more than 0.3 %" "" "$(far "$scratch/times-o2" "$scratch/times-o1" 0.3)"
same "longer than stated" "" "$(excess "$scratch/o2")"
same "longer than stated, by -O1" "" "$(excess "$scratch/o1")"

machine=$scratch/low.conf
(cat "$top/images/sandia.conf" && echo 'costs = { write = [100]; };') >"$machine"
images "$scratch/low"
check "writes for which 100 cycles are stated" run "$build" "$scratch/low" monitor diskmon df00 >/dev/null
same "longer than stated: only these" "write" "$(excess "$scratch/low" | sed -n 's/^  "\(.*\)": {/\1/p')"
finish
