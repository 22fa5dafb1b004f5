#!/bin/bash
# The virtual-time figures of README and docs/: measured, and written between the pages' markers.
#
#   figures.sh BUILD           measures, and writes every block
#   figures.sh BUILD --check   measures, and lists the blocks that differ: exit status 1. If compiler or newlib are
#                              not those that the pages name, prints that, and measures nothing: exit status 77
#
# A block is the text between these lines of a page; the function block_NAME of this script prints it:
#
#   <!-- figures: NAME -->
#   <!-- figures end -->
#
# The outputs of commands in the pages are renewed by tests/docs/test_commands.sh. Host times (docs/performance.md) are
# not among them.
set -eu

here=$(dirname "$0")
build=$1
mode=${2:-write}
work=$build/figures
pages="README.md docs/*.md"
export LC_ALL=C
PATH=$PATH:/usr/sbin:/sbin # mke2fs

. "$here/measure.sh"

cycles_as_us() {
    awk -v cycles="$1" 'BEGIN { printf "%.1f", cycles / 20 }'
}

percent() { # OURS PUBLISHED
    awk -v a="$1" -v b="$2" 'BEGIN { printf "%+.1f", 100 * (a / b - 1) }'
}

# ---- Measuring -------------------------------------------------------------------------------------

make_image() { # FILE BLOCK: the same bytes every time
    E2FSPROGS_FAKE_TIME=820454400 mke2fs -q -F -t ext2 -b "$2" -m 0 -U 00000000-0000-4000-8000-000000000001 \
        -E hash_seed=00000000-0000-4000-8000-000000000001 "$1" 32M >/dev/null
}

# One I/O node at a 4-cube, a fresh image each time; drive commands go to $work/NAME.stats.
on_one_drive() { # NAME DIM PROGRAM ARGUMENT...
    local name=$1 dim=$2

    shift 2
    make_image "$work/df00.img" 1024
    run "$name" -d "$dim" -m "$work/one.conf" --images "$work" "--stats=$work/$name.stats" "$@"
}

measure_one_drive() {
    {
        echo 'dim = 4; boards = ( { number = 3; io_nodes = ('
        echo '{ index = 0; drives = ( { volume = "df00"; image = "df00.img"; } ); } ); } );'
    } >"$work/one.conf"
    for row in "2 3" "2 4" "3 8" "4 16"; do
        set -- $row
        for way in token mapped; do
            on_one_drive "$way-$2" "$1" "$build/guest/token" "$way" //df00/f "$2" 2097152
        done
    done
    for dim in 0 3; do
        for k in 0 1 2 3 4 5 6 7; do
            make_image "$work/df0$k.img" 4096
        done
        run "creates-$dim" -d "$dim" -m "$here/sandia.conf" --images "$work" "--stats=$work/creates-$dim.stats" \
            "$build/guest/creates" 1 8
    done
    for k in 0 1 2 3 4 5 6 7; do
        make_image "$work/df0$k.img" 4096
    done
    for op in write read; do
        run "overlap-$op" -d 2 -m "$here/sandia.conf" --images "$work" "$build/guest/overlap" $op 16 262144 60000
    done
    for piece in 1000 1024 3000 16384; do
        on_one_drive "appends-$piece" 0 "$build/guest/appends" //df00/f 1000000 "$piece"
    done
}

# Calls that change names of a striped volume over three others: each on fresh images, by node 4 of a 3-cube.
striped_calls=("create" "unlink" "rename" "rename onto a file" "mkdir" "rmdir" "rename of a folder" \
    "rename of a folder onto one")

measure_striped() {
    local k call
    {
        echo 'dim = 3; front_end = { si = 0; };'
        echo 'striped = ( { volume = "big"; over = ["df00", "df01", "df02"]; map = "cyclic 1000 3"; } );'
        echo 'boards = ( { number = 3; io_nodes = ('
        for k in 0 1 2; do
            echo "{ index = $k; si = [$((7 - k))]; drives = ( { volume = \"df0$k\"; image = \"df0$k.img\"; } ); }"
            [ $k = 2 ] || echo ,
        done
        echo ') } );'
    } >"$work/striped.conf"
    for call in "${striped_calls[@]}"; do
        for k in 0 1 2; do
            make_image "$work/df0$k.img" 1024
        done
        run changes -d 0 -m "$work/striped.conf" --images "$work" "$build/guest/striped_kills" before //big/ "$call"
        run changes -d 3 -m "$work/striped.conf" --images "$work" --trace="$work/changes-${call// /-}" \
            --trace-format=text "$build/guest/striped_kills" call //big/ "$call"
    done
}

measure_global() {
    local dim mode to=$build/guest/global_costs

    { echo 'dim = 5; ram_mb = 16;' && sed 1s/dim.*boards/boards/ "$work/disk-own.conf"; } >"$work/global.conf"
    run global-write -d 0 -m "$work/global.conf" --images "$work" "$to" write
    run global-0-local -d 0 -m "$work/global.conf" --images "$work" "$to" local
    for dim in 1 3 5; do
        for mode in local scattered global; do
            run "global-$dim-$mode" -d "$dim" -m "$work/global.conf" --images "$work" "$to" $mode
        done
    done
}

measure() {
    local preset='timing = "wang-leiss";'

    rm -rf "$work"
    mkdir -p "$work"
    echo "dim = 1; $preset" >"$work/preset.conf"
    for name in own 1992; do
        {
            echo 'dim = 1; boards = ( { number = 0; io_nodes = ('
            echo '{ index = 0; drives = ( { volume = "df00"; image = "df00.img"; } ); } ); } );'
            [ $name = own ] || echo "$preset"
        } >"$work/disk-$name.conf"
        make_image "$work/df00.img" 4096
        run "disk-$name" -d 0 -m "$work/disk-$name.conf" --images "$work" "$build/examples/diskmon" df00
    done
    run rates -d 0 "$build/guest/rates"
    run mapping -d 0 "$build/guest/mapping"
    run eight -d 1 "$build/guest/measure" "eight bytes" show
    run eight-1992 -d 1 -m "$work/preset.conf" "$build/guest/measure" "start-up of 1992" show
    run streams -d 4 "$build/guest/measure" streams show
    run net -d 5 "$build/examples/netmon"
    run costs -d 0 "$build/guest/costs"
    run forks -d 0 --serve "$build/guest" "$build/guest/fork_costs"
    for dim in 1 2 3 4 6 8; do
        run "groups-$((1 << dim))" -d "$dim" "$build/guest/group_costs" 64
    done
    run groups-50 -d 6 "$build/guest/group_costs" 64 50
    measure_one_drive
    measure_striped
    measure_global
    "$here/demo.sh" "$build" >"$work/demo"
    if command -v gnuplot >/dev/null; then
        "$here/study.sh" "$build" >"$work/study.log"
    else
        "$here/study.sh" "$build" 10 --table >"$work/study.log"
    fi
}

# ---- Blocks ----------------------------------------------------------------------------------------

block_demo() {
    echo '<!-- test: skip it is run, and its output compared, by tests/house/test_figures.sh -->'
    echo '```'
    echo '$ make demo'
    cat "$work/demo"
    echo '```'
}

block_rates() {
    echo "| code | rate | published |"
    echo "| --- | --- | --- |"
    awk -v us="$(value rates integer)" 'BEGIN {
        printf "| sorting, hashing, copying: 24.08 million instructions | %.1f MIPS | about 7 |\n", 24.08e6 / us }'
    printf '| DAXPY, 1000 elements | %.2f MFLOPS | 2.7 |\n' "$(value rates daxpy)"
    printf '| dot product, 1000 elements | %.2f MFLOPS | 2.7 |\n' "$(value rates dot)"
}

block_mapping() {
    echo "| cycles of a node | powers of two | other sizes |"
    echo "| --- | --- | --- |"
    sed -n 's/, powers of two: .*//p' "$work/mapping" | while read -r what; do
        echo "| $what | $(value mapping "$what, powers of two:") | $(value mapping "$what, other sizes:") |"
    done
}

block_network() {
    echo "| bytes over 5 hops | \`netmon\`, us | published, us |"
    echo "| --- | --- | --- |"
    for row in "4096 1854" "8192 3697" "16384 7384" "8 15"; do
        set -- $row
        echo "| $1 | $(value net "bytes=$1 us=") | $2 |"
    done
}

# 2 MB for each node through one channel of 20/9 MB/s.
block_global() {
    local dim one

    one=$(value global-0-local in)
    echo "| nodes | each for itself, in step | scattered | global | of one node's read |" \
        "speed-up, in step | scattered |"
    echo "| --- | --- | --- | --- | --- | --- | --- |"
    for dim in 1 3 5; do
        awk -v n=$((1 << dim)) -v one="$one" -v step="$(value global-$dim-local in)" \
            -v apart="$(value global-$dim-scattered in)" -v all="$(value global-$dim-global in)" 'BEGIN {
            printf "| %d | %.2f s | %.2f s | %.2f s | %.1f %% | %.1f | %.1f |\n", n, step / 1e6, apart / 1e6,
                all / 1e6, 100 * all / one, step / all, apart / all }'
    done
}

block_services() {
    echo "| nsdisk's service of a write, ms | published | own kernel | | kernel of 1992 | |"
    echo "| --- | --- | --- | --- | --- | --- |"
    for row in "4096 17.3 4" "8192 19.5 8" "16384 20.5 16"; do
        set -- $row
        own=$(value disk-own "op=write bytes=$1 us=") old=$(value disk-1992 "op=write bytes=$1 us=")
        awk -v kb="$3" -v p="$2" -v own="$own" -v old="$old" 'BEGIN {
            printf "| %d KB | %.1f | %.2f | %+.1f %% | %.2f | %+.1f %% |\n", kb, p, own / 1000,
                100 * (own / 1000 / p - 1), old / 1000, 100 * (old / 1000 / p - 1) }'
    done
}

start_up() { # FILE: cycles of sending and receiving 8 bytes, without the wire
    awk '/between neighbours/ { all = $(NF - 1) }
         /on the wire/ { wire = $(NF - 1) }
         END { print all - wire }' "$work/$1"
}

block_preset() {
    local own old

    echo "| | own | published | with the preset | |"
    echo "| --- | --- | --- | --- | --- |"
    own=$(cycles_as_us "$(start_up eight)") old=$(cycles_as_us "$(start_up eight-1992)")
    echo "| start-up, send and receive of 8 bytes together, without the wire | $own us | about 160 us | $old us |" \
        "$(percent "$old" 160) % |"
    for row in "4096 800 4" "8192 1065 8" "16384 1820 16"; do
        set -- $row
        own=$(value disk-own "op=write bytes=$1 us=[0-9.]* cpu_us=")
        old=$(value disk-1992 "op=write bytes=$1 us=[0-9.]* cpu_us=")
        echo "| CPU stage of a request of PIO WRITE, $3 KB | $own us | $2 us [P0 section 3] | $old us |" \
            "$(percent "$old" "$2") % |"
    done
}

block_eight() {
    awk '
        BEGIN { print "| 8 bytes, the receiver waits | cycles |"; print "| --- | --- |" }
        /to SEND/ { printf "| call of `nwrite` to SEND: library, trap, checks, buffer, copy | %d |\n", $(NF - 1) }
        /on the wire/ { printf "| 1 hop, header, 8 bytes | %d |\n", $(NF - 1) }
        /return of nread/ {
            printf "| last byte to return of `nread`: causes, match, copy, arming, trap, library | %d |\n", $(NF - 1)
        }
        /between neighbours/ { printf "| together | %d = %.1f us |\n", $(NF - 1), $(NF - 1) / 20 }
        /altogether/ { printf "| a send altogether | %d |\n", $(NF - 1) }' "$work/eight"
}

block_streams() {
    echo "| blocks of 16 KB in a stream | MB/s | of the channels |"
    echo "| --- | --- | --- |"
    awk '
        /from one neighbour/ { printf "| from one neighbour | %.2f |", $(NF - 1) }
        /of the channel/ { printf " %.1f %% |\n", $(NF - 1) }
        /from four neighbours/ { printf "| from four neighbours at once | %.2f |", $(NF - 1) }
        /of four channels/ { printf " %.1f %% |\n", $(NF - 1) }' "$work/streams"
}

# The bounds: log2 n messages of 8 bytes one after the other; n - 1 parts of 64 bytes by one channel.
block_groups() {
    local eight

    eight=$(awk '/between neighbours/ { print $(NF - 1) }' "$work/eight")
    echo "| nodes | log2 n messages, us | barrier | broadcast, 8 B | all-reduce, 8 B |" \
        "n - 1 parts by one channel, us | gather, 64 B each | scatter, 64 B each | exchange, 64 B each |" \
        "broadcast, 1 MB: of the channel |"
    echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for nodes in 2 4 8 16 50 64 256; do
        awk -v nodes=$nodes -v eight="$eight" '
            { us[$1] = substr($3, 4) }
            function show(name) { return name in us ? sprintf("%.0f", us[name]) : "-" }
            END {
                for (steps = 0; 2 ^ steps < nodes; steps++);
                printf "| %d | %.0f | %s | %s | %s | %.0f | %s | %s | %s | %s |\n", nodes, steps * eight / 20,
                    show("barrier"), show("broadcast"), show("all-reduce"), (nodes - 1) * 64 * 9 / 20,
                    show("gather"), show("scatter"), show("exchange"),
                    "megabyte" in us ? sprintf("%.1f %%", 100 * 1048576 * 9 / 20 / us["megabyte"]) : "-"
            }' "$work/groups-$nodes"
    done
}

drive_commands() { # reads|writes NAME
    sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p" "$work/$2.stats" | head -n 1
}

block_token() {
    echo "| nodes | in turn, s | drive commands | mapped, s | drive commands | times as fast |"
    echo "| --- | --- | --- | --- | --- | --- |"
    for n in 3 4 8 16; do
        awk -v n=$n -v token="$(cat "$work/token-$n")" -v mapped="$(cat "$work/mapped-$n")" \
            -v token_writes="$(drive_commands writes token-$n)" \
            -v mapped_writes="$(drive_commands writes mapped-$n)" 'BEGIN {
            printf "| %d | %.2f | %d | %.2f | %d | %.1f |\n", n, token / 1e6, token_writes, mapped / 1e6, mapped_writes,
                token / mapped }'
    done
}

block_appends() {
    echo "| bytes in a write | 1 MB by one node, s | drive commands to write | to read |"
    echo "| --- | --- | --- | --- |"
    for piece in 1000 1024 3000 16384; do
        awk -v piece=$piece -v us="$(cat "$work/appends-$piece")" -v writes="$(drive_commands writes appends-$piece)" \
            -v reads="$(drive_commands reads appends-$piece)" 'BEGIN {
            printf "| %d | %.2f | %d | %d |\n", piece, us / 1e6, writes, reads }'
    done
}

block_creation() {
    echo "| nodes | make, ms | open, ms | remove, ms | commands of a drive |"
    echo "| --- | --- | --- | --- | --- |"
    for dim in 0 3; do
        awk -v nodes=$((1 << dim)) -v made="$(value creates-$dim make=)" -v opened="$(value creates-$dim open=)" \
            -v removed="$(value creates-$dim remove=)" -v reads="$(drive_commands reads creates-$dim)" \
            -v writes="$(drive_commands writes creates-$dim)" 'BEGIN {
            printf "| %d | %.0f | %.0f | %.0f | %d |\n", nodes, made / 1000, opened / 1000, removed / 1000,
                reads + writes }'
    done
}

block_changes() {
    echo "| call | requests | commands of the drives | ms |"
    echo "| --- | --- | --- | --- |"
    local call
    for call in "${striped_calls[@]}"; do
        awk -v call="$call" '
            function is_io(node) { return node >= 16384 && node < 32768 }
            $2 == 4 && $3 == "exit" { exit }
            $2 == 4 && $3 == "send" { split($4, to, "="); if (is_io(to[2])) { requests++; if (!begin) begin = $1 } }
            begin && is_io($2) && $3 == "disk" { commands++ }
            $2 == 4 && $3 == "arrival" { last = $1 }
            END { printf "| %s | %d | %d | %.1f |\n", call, requests, commands, (last - begin) / 20000 }
            ' "$work/changes-${call// /-}"
    done
}

block_overlap() {
    echo "| 16 times | computing, s | one call, s | in two halves, s |"
    echo "| --- | --- | --- | --- |"
    for op in write read; do
        awk -v op=$op -v compute="$(value overlap-$op 'compute us=')" -v whole="$(value overlap-$op 'whole us=')" \
            -v halves="$(value overlap-$op 'halves us=')" 'BEGIN {
            printf "| %s | %.2f | %.2f | %.2f |\n", op, compute / 1e6, whole / 1e6, halves / 1e6 }'
    done
}

block_forks() {
    echo "| processes of a node | ms |"
    echo "| --- | --- |"
    while IFS='|' read -r name text; do
        awk -v us="$(value forks "$name=")" -v text="$text" 'BEGIN { printf "| %s | %.2f |\n", text, us / 1000 }'
    done <<END
fork|\`fork\` of a small program, its end, \`wait\`
large|the same with 1 MB of heap
exec|\`fork\`, \`execl\` of a file at the front end, its end, \`wait\`
trip|a byte through a pipe, and one back
megabyte|1 MB through a pipe, in pieces of 4 KB
END
}

# Lines of "CYCLES CALL"
block_costs() {
    echo "| call | cycles | us |"
    echo "| --- | ---: | ---: |"
    awk '{
        cycles = $1
        sub(/^ *[0-9]* /, "")
        printf "| %s | %d | %.2f |\n", $0, cycles, cycles / 20
    }' "$work/costs"
}

block_study() {
    cat "$build/study/table.md"
}

# ---- Pages -----------------------------------------------------------------------------------------

# Prints a page with new blocks. Ends the script if a block has no end, or no function.
renew() {
    local line name

    while IFS= read -r line; do
        printf '%s\n' "$line"
        case $line in
        '<!-- figures: '*' -->') ;;
        *) continue ;;
        esac
        name=${line#<!-- figures: }
        name=${name% -->}
        declare -F "block_$name" >/dev/null || die "$1: there is no block '$name'"
        "block_$name"
        while IFS= read -r line && [ "$line" != '<!-- figures end -->' ]; do :; done
        [ "$line" = '<!-- figures end -->' ] || die "$1: block '$name' has no end"
        printf '%s\n' "$line"
    done <"$1"
}

[ "$mode" != --check ] || end_on_other_compiler
measure
status=0
for page in $(grep -l '^<!-- figures: ' $pages); do
    renew "$page" >"$work/page"
    if [ "$mode" != --check ]; then
        cmp -s "$work/page" "$page" || { cp "$work/page" "$page" && echo "figures: $page is new"; }
    elif ! diff -u "$page" "$work/page"; then
        status=1
    fi
done
[ "$mode" = --check ] || [ ! -e "$build/study/speedup.svg" ] || cp "$build/study/speedup.svg" docs/
exit $status
