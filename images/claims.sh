#!/bin/bash
# What paper 001 claims, measured in the machine: writes docs/papers/001.md. Takes a few minutes.
#
#   claims.sh BUILD                       all claims, to the page
#   claims.sh BUILD CLAIM...              only these, such as c2, to the standard output
#   claims.sh BUILD --check [CLAIM...]    lists how the page differs from what is measured, and writes nothing: exit
#                                         status 1 if it does, 77 as figures.sh
#
# A claim is one function here, named in `all_claims`, and one guest program. It prints its section: a heading, what is
# claimed and how that is tested, and a table with each number beside its bound. Times are virtual; 1 MB/s = 10^6 B/s.
set -eu
export LC_ALL=C # numbers with a point

build=$1
here=$(dirname "$(readlink -f "$0")")
page=$here/../docs/papers/001.md
work=$build/claims
all_claims="c1 c2 c3 c4 c5 c6 c7 c8 c9 c10 c11 c12"
rate=$build/guest/pipe_rate
shift

. "$here/measure.sh"

# calc EXPRESSION FORMAT
calc() {
    awk "BEGIN { printf \"${2:-%.3f}\", $1 }"
}

# machine DIM DRIVES MB [MORE [BLOCK]]: a machine file, $work/machine.conf, with an I/O node for each drive, and fresh
# images with blocks of 4K
machine() {
    local i images=$work/images
    rm -rf "$images"
    mkdir "$images"
    {
        echo "dim = $1; ram_mb = 16; images = \"images\"; ${4:-}"
        echo 'boards = ( { number = 3; io_nodes = ('
        for ((i = 0; i < $2; i++)); do
            [ $i = 0 ] || echo ,
            printf '{ index = %d; si = [%d]; drives = ( { volume = "df%02d"; image = "df%02d.img"; } ); }' \
                "$i" $(((4 * i + 3) % (1 << $1))) "$i" "$i"
        done
        echo '); } );'
    } >"$work/machine.conf"
    "$build/bin/ncube" disk create -m "$work/machine.conf" --block="${5:-4K}" "$3M" >/dev/null || die "no images"
}

# volumes DRIVES: their names, as the key `over` has them
volumes() {
    seq -f '"df%02.0f"' -s ', ' 0 $(($1 - 1))
}

# drive_commands reads|writes FILE: of df00, by the statistics
drive_commands() {
    sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p" "$work/$2" | head -n 1
}

# pipe NODES MAP BYTES NODES MAP CALL: a pipe; the lines of its nodes are in $work/ends.
pipe() {
    try_pipe "$@" || die "$2 | $5 failed: $(head -3 "$work/writers")"
}

try_pipe() {
    "$build/bin/ncube" run -n "$1" "$rate" write "$2" "$3" "$6" '|' -n "$4" "$rate" read "$5" "$6" \
        >"$work/ends" 2>"$work/writers" || return
    cat "$work/writers" >>"$work/ends"
}

# The longest N_SETMAP of a pipe, in ms
set_up_ms() {
    awk '$7 > most { most = $7 } END { printf "%.1f", most / 1000 }' "$work/ends"
}

# channels NODES MAP NODES MAP BYTES: MB/s that the busiest channel allows
channels() {
    echo "dim = $(calc "$1 + $3 <= 32 ? 5 : 7" %d);" >"$work/cube.conf"
    "$build/bin/ncube" map -m "$work/cube.conf" --bytes="$5" "$2" "$4" | sed -n 's/^at most \([0-9.]*\) MB.*/\1/p'
}

# MB/s of all nodes together, from the last mapping set to the last byte read.
whole_rate() {
    awk '$3 > set { set = $3 } $1 == "read" { bytes += $6; if ($5 > end) end = $5 }
         END { printf "%.3f", bytes / (end - set) }' "$work/ends"
}

# passes VALUE OP BOUND
passes() {
    awk -v a="$1" -v b="$3" -v op="$2" 'BEGIN { print (op == ">=" ? a >= b : a <= b) ? "yes" : "no" }'
}

c1() {
    cat <<END
## C1: equal mappings at both ends give pairs without a bottleneck (2.2)

2^k nodes write 1 MB each, in calls of 16 KB, to 2^k nodes with the same mapping, without I/O nodes. The rate counts
from the last mapping set, so it contains the set-up. Bound: 2.0 MB/s a pair, 90 % of a channel, for all k, and equal
to 3 %.

| pairs | MB/s | MB/s a pair | >= 2.0 | of one pair's rate |
| --- | --- | --- | --- | --- |
END
    local one=
    for k in $(seq 0 6); do
        local n=$((1 << k)) each
        pipe "$n" "cyclic 16384 $n" $((n << 20)) "$n" "cyclic 16384 $n" 16384
        each=$(awk -v all="$(whole_rate)" -v n=$n 'BEGIN { printf "%.3f", all / n }')
        one=${one:-$each}
        whole_rate >"$work/c1-$n"
        echo "| $n | $(whole_rate) | $each | $(passes "$each" '>=' 2.0) |" \
            "$(awk -v a="$each" -v b="$one" 'BEGIN { printf "%.1f %%", 100 * a / b }') |"
    done
}

# A pattern without its size.
in_words() {
    sed -E 's/^array [0-9x]+ //' <<<"$1"
}

# c2_row SIZE FROM TO BASE: a pipe of a matrix of SIZE between mappings
c2_row() {
    local size=$1 a=$2 b=$3 base=$4 bytes bound whole share set_up
    bytes=$((${size//x/ * }))
    bound=$(channels 16 "$a" 16 "$b" $bytes)
    if ! try_pipe 16 "$a" $bytes 16 "$b" 1048576; then
        echo "| $(in_words "$a") | $(in_words "$b") | $bound | fails | - | no | - | - |"
        return
    fi
    whole=$(whole_rate)
    set_up=$(set_up_ms)
    pipe 16 "$a" $bytes 16 "$b" 16384
    share=$(calc "100 * $whole / ($bound < $base ? $bound : $base)" %.1f)
    echo "| $(in_words "$a") | $(in_words "$b") | $bound | $whole | $share % | $(passes "$share" '>=' 60) |" \
        "$(whole_rate) | $set_up |"
}

c2() {
    local base a b
    local size=1024x1024x8 odd=1000x1000x8
    local columns="| from | to | busiest channel, MB/s | one call, MB/s | of the bound for 100 % | >= 60 % |"
    columns+=" calls of 16 KB, MB/s | longest N_SETMAP, ms |
| --- | --- | --- | --- | --- | --- | --- | --- |"
    pipe 16 "cyclic 16384 16" $((1 << 23)) 16 "cyclic 16384 16" 16384
    base=$(whole_rate)
    cat <<END
## C2: the mapping picks the way (1.2)

16 nodes send a matrix of 1024 x 1024 doubles to 16 nodes that have it in another layout, each node its 512 KB in one
call, and in calls of 16 KB. Bound: 60 % of the rate of 16 pairs with equal mappings and as many bytes, $base MB/s, or
of what the busiest channel allows (\`ncube map A B -m FILE\`), if that is less.

$columns
END
    for a in "array $size block,* on 16x1" "array $size *,block on 1x16" "array $size block,block on 4x4" \
        "array $size *,cyclic(8) on 1x16" "array $size *,cyclic on 1x16" "bits p3-0 o16-0"; do
        for b in "array $size block,* on 16x1" "array $size block,block on 4x4" "array $size *,cyclic on 1x16" \
            "bits o12-3 p3-0 o16-13 o2-0"; do
            [ "$a" = "$b" ] || c2_row $size "$a" "$b" "$base"
        done
    done
    cat <<END

The time begins when the last node has its mapping and ends with the last byte of all nodes. So it contains the exchange
of the mappings and the plans, and not N_SETMAP itself. Calls of 16 KB are slower for two reasons: what has something
for 16 readers makes 16 messages of 1 KB; and in the stream's order columns go to one reader of rows after the other, so
that all writers wait for the same one. The rows below the bound have no busier channel than the others: messages hold
up each other on their paths.

A matrix of 1000 x 1000 doubles, whose rows divide neither into 16 equal parts nor into blocks of 16 KB, and one of
999 x 1001, whose bytes do not divide by the other end's period:

$columns
END
    for a in "array $odd block,* on 16x1" "array $odd *,block on 1x16"; do
        for b in "array $odd block,block on 4x4" "array $odd *,cyclic on 1x16" "cyclic 16384 16"; do
            c2_row $odd "$a" "$b" "$base"
        done
    done
    c2_row 999x1001x8 "array 999x1001x8 block,* on 16x1" "cyclic 4096 16" "$base"
}

# map_of N: of N nodes in turn; none for one.
map_of() {
    [ "$1" = 1 ] && echo - || echo "cyclic 16384 $1"
}

c3() {
    local row bound
    cat <<END
## C3: any numbers of nodes, one among them (2.2)

2 MB, blocks of 16 KB in turn, between different numbers of nodes; tests/machine/test_pipes.c checks that the readers
get the same bytes as from a file. The bound is 90 % of what the busiest channel allows (\`ncube map A B -m FILE\`).

| nodes | MB/s | busiest channel, MB/s | reached | >= 90 % |
| --- | --- | --- | --- | --- |
END
    for row in "1 1" "1 8" "8 1" "4 16" "16 4" "3 5"; do
        set -- $row
        pipe "$1" "$(map_of "$1")" 2097152 "$2" "$(map_of "$2")" 16384
        bound=$(channels "$1" "cyclic 16384 $1" "$2" "cyclic 16384 $2" 2097152)
        local share=$(calc "100 * $(whole_rate) / $bound" %.1f)
        echo "| $1 to $2 | $(whole_rate) | $bound | $share % | $(passes "$share" '>=' 90) |"
    done
}

c4() {
    local row way
    cat <<END
## C4: mapped writes instead of a token (2.6, Figure 9)

2 MB to one file on df00, in blocks of 1 KB that belong to the nodes in turn: one node at a time writes its block and
sends a message to the next, or all write at once by \`cyclic 1024 N\`. Bounds: at least 5 times as fast, at most 1/8 of
the drive's commands to write, the same file.

| nodes | volume's block | in turn, s | commands | mapped, s | commands | times as fast | >= 5 | commands <= 1/8 | \
same file |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
END
    for row in "2 3 1K" "2 4 1K" "3 8 1K" "4 16 1K" "2 3 4K" "2 4 4K" "3 8 4K" "4 16 4K"; do
        set -- $row
        for way in token mapped; do
            machine "$1" 1 32 "" "$3"
            run $way -d "$1" -m "$work/machine.conf" "--stats=$work/$way.stats" \
                "$build/guest/token" $way //df00/f "$2" 2097152
            "$build/bin/ncube" disk get -m "$work/machine.conf" //df00/f - >"$work/$way.file"
        done
        awk -v n="$2" -v block="$3" -v t="$(cat "$work/token")" -v m="$(cat "$work/mapped")" \
            -v tw="$(drive_commands writes token.stats)" -v mw="$(drive_commands writes mapped.stats)" \
            -v same="$(cmp -s "$work/token.file" "$work/mapped.file" && echo yes || echo no)" 'BEGIN {
            printf "| %d | %s | %.2f | %d | %.2f | %d | %.1f | %s | %s | %s |\n", n, block, t / 1e6, tw, m / 1e6, mw,
                t / m, (t >= 5 * m) ? "yes" : "no", (8 * mw <= tw) ? "yes" : "no", same }'
    done
    cat <<'END'

A block of 4 KB has bytes of several nodes: where their writes do not wait together, the server reads it first.
END
}

c5() {
    local op way block striped= over
    over=$(volumes 8)
    for block in 4096 8192 16384; do
        striped+="${striped:+, }{ volume = \"b$block\"; over = [$over]; map = \"cyclic $block 8\"; }"
    done
    cat <<'END'
## C5: a plain write to a striped disk (Figure 10)

2 MB by one node to and from 8 drives, by libpio's calls and by plain `write` and `read` on a striped volume, in blocks
of B bytes. Bound: as fast, to 1 %.

| B | | libpio, MB/s | plain calls, MB/s | difference | within 1 % |
| --- | --- | --- | --- | --- | --- |
END
    for way in pio open; do
        machine 5 8 32 "striped = ($striped);"
        for op in write read; do
            run "$way-$op" -d 5 -m "$work/machine.conf" "$build/guest/striped_rates" table $way $op
        done
    done
    for op in write read; do
        for block in 4096 8192 16384; do
            awk -v op=$op -v b=$block -v pio="$(value pio-$op "B=$block us=")" \
                -v plain="$(value open-$op "B=$block us=")" 'BEGIN {
                d = 100 * (pio / plain - 1)
                printf "| %d | %s | %.3f | %.3f | %+.2f %% | %s |\n", b, op, 2097152 / pio, 2097152 / plain, d,
                    (d >= -1 && d <= 1) ? "yes" : "no" }'
        done
    done
}

# matrix_on ROWS COLUMNS DOWN ACROSS NODE...: a pattern of a matrix of doubles in DOWN x ACROSS blocks on these nodes
matrix_on() {
    awk 'BEGIN {
        rows = ARGV[1]; bytes = 8 * ARGV[2]; down = ARGV[3]; across = ARGV[4]
        tall = int((rows + down - 1) / down); wide = 8 * int((ARGV[2] + across - 1) / across)
        printf "falls"
        for (i = 0; i < down * across; i++) {
            row = int(i / across) * tall; from = i % across * wide
            n = row + tall < rows ? tall : rows - row; to = from + wide < bytes ? from + wide : bytes
            if (across == 1)
                printf " (%d,%d,-,1)@%d", row * bytes, (row + n) * bytes - 1, ARGV[5 + i]
            else
                printf " (%d,%d,%d,%d)@%d", row * bytes + from, row * bytes + to - 1, bytes, n, ARGV[5 + i]
        }
    }' "$@"
}

# on_drives OP PATTERN: moves a matrix to or from eight drives; and again up to the begin of the calls and up to their
# end, for the statistics. Sets mb, set_up, drive, channel and names.
on_drives() {
    local from to at
    local program=("$build/guest/striped_rates" matrix "$1" "$2") options=(-d 5 -m "$work/machine.conf")
    for at in whole begin end; do
        machine 5 8 32 "striped = ({ volume = \"big\"; over = [$(volumes 8)]; map = \"cyclic 16384 8\"; });"
        [ "$1" = write ] || run matrix "${options[@]}" "$build/guest/striped_rates" matrix write "$2"
        case $at in
        whole)
            run matrix "${options[@]}" "${program[@]}"
            mb=$(value matrix "[a-z]:") set_up=$(value matrix "set-up") from=$(value matrix " from")
            to=$(value matrix " to")
            ;;
        begin) run_until "$from" "--stats=$work/begin.stats" "${options[@]}" "${program[@]}" ;;
        end) run_until "$to" "--stats=$work/end.stats" "${options[@]}" "${program[@]}" ;;
        esac
    done
    read -r drive channel names < <(awk -v us="$(calc "$to - $from")" -f "$here/busiest.awk" of=1 "$work/begin.stats" \
        of=2 "$work/end.stats")
}

# run_until US OPTION...: a run that is cut off then
run_until() {
    local us=$1 status=0
    shift
    "$build/bin/ncube" run "--limit=$(calc "$us / 1e6" %.9f)" "$@" >/dev/null 2>"$work/said" || status=$?
    [ $status = 124 ] || die "ncube run --limit: $(tail -n 1 "$work/said")"
}

# in_runs NUMBER...: "3, 7, 0-2"
in_runs() {
    awk 'BEGIN {
        for (i = 1; i < ARGC; i = j + 1) {
            for (j = i; j + 1 < ARGC && ARGV[j + 1] == ARGV[j] + 1; j++);
            printf "%s%s%s", (i > 1 ? ", " : ""), ARGV[i], (j > i ? "-" ARGV[j] : "")
        }
    }' "$@"
}

c6() {
    local row op bound places place nodes mb set_up drive channel names share
    cat <<END
## C6: a matrix on 8 disks (Figure 5)

A matrix of doubles in the memories of nodes of a 5-cube, to and from a file in blocks of 16 KB over 8 drives, all these
nodes at once: the first ones of the cube, and those that \`ncube place\` ranks first. Drive and channel: the busiest
one,
and for how much of the time, by the statistics; the channels are those that are as busy as that one, to 2 %. The bound
is what the busiest part would move if it were busy all the time. Wanted: 90 % of the bound for rows, 50 % for blocks;
reads are reported.

| matrix | blocks | nodes | | MB/s | drive | channel | busiest channels | bound, MB/s | reached | wanted | \
longest N_SETMAP, ms |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
END
    machine 5 8 32
    places=$("$build/bin/ncube" place --top=16 "$work/machine.conf" | awk 'NR > 1 { print $1 }')
    for row in "1024 1024 4 1 90" "1024 1024 16 1 90" "1024 1024 4 4 50" "1000 1000 4 1 90" "1000 1000 4 4 50"; do
        set -- $row
        for place in first placed; do
            nodes=$([ $place = first ] && seq 0 15 || echo "$places")
            nodes=$(head -n $(($3 * $4)) <<<"$nodes" | xargs)
            for op in write read; do
                on_drives $op "$(matrix_on "$1" "$2" "$3" "$4" $nodes)"
                share=$(calc "($drive > $channel ? $drive : $channel)" %.1f)
                bound=$(calc "100 * $mb / $share" %.2f)
                echo "| $1 x $2 | $3 x $4 | $(in_runs $nodes) | $op | $mb | $drive % | $channel % | $names | $bound |" \
                    "$share % | $([ $op = read ] && echo - || echo "$5 %: $(passes "$share" '>=' "$5")") | $set_up |"
            done
        done
    done
}

# Drives and nodes in equal numbers: the figures of C7 and C8 are in $work/drives-N.
measure_drives() {
    local k n
    for k in 0 1 2 3 4; do
        n=$((1 << k))
        machine 6 $n 8 "striped = ({ volume = \"big\"; over = [$(volumes $n)]; map = \"cyclic 16384 $n\"; });"
        run drives-$n -d $k -m "$work/machine.conf" "$build/guest/striped_rates" drives
    done
    machine 6 16 8 "striped = ({ volume = \"big\"; over = [$(volumes 16)]; map = \"cyclic 16384 16\"; });"
    run same-16 -d 4 -m "$work/machine.conf" "$build/guest/striped_rates" "drives, same places"
}

c7() {
    local n word one same
    cat <<'END'
## C7: capacity, bandwidth and seek rate grow with the drives (1.1)

D drives, each with an I/O node of its own, at a 6-cube, and as many compute nodes; 1 MB for each, in blocks of 16 KB,
and 200 reads of 4 KB at random places by each. Bound: in proportion to D, to 5 %.

| drives | capacity, MB | writes, MB/s | reads, MB/s | random reads a second | each, of one drive's | within 5 % |
| --- | --- | --- | --- | --- | --- | --- |
END
    measure_drives
    for n in 1 2 4 8 16; do
        awk -v n=$n 'FNR == 1 { k++; split($0, word, /[= ]/); for (i = 1; i <= 5; i++) v[k, i] = word[2 * i] }
            END {
                least = 1e9
                for (i = 2; i <= 5; i++) {
                    share = 100 * v[2, i] / (n * v[1, i])
                    if (share < least) least = share
                    if (share > most) most = share
                }
                printf "| %d | %.1f | %.3f | %.3f | %.1f | %.1f to %.1f %% | %s |\n", n, v[2, 2], v[2, 3], v[2, 4],
                    v[2, 5], least, most, (least >= 95 && most <= 105) ? "yes" : "no" }' \
            "$work/drives-1" "$work/drives-$n"
    done
    one=$(calc "1000 / $(value drives-1 reads=)" %.1f)
    same=$(calc "100 * $(value same-16 reads=) * $one / 16000" %.1f)
    cat <<END

What falls behind is the random reads, for two reasons. With one drive, a node has the whole file; from two on, a call
needs the plan of the node's element and a drive: a third of a millisecond of a read's $one. That does not grow with
the number of drives, as a call works only for those that have something of it. And each node draws its own places, to
which some have longer ways. With the same places on all nodes, 16 drives reach $same % of 16 times one drive's reads.
END
}

c8() {
    local n flops writes
    [ -e "$work/c1-64" ] || c1 >/dev/null
    [ -e "$work/drives-16" ] || measure_drives
    run rates -d 0 "$build/guest/rates"
    flops=$(value rates daxpy)
    writes=$(value drives-1 write=)
    cat <<END
## C8: "a megabyte per megaflop" (1)

What n nodes pass on by pipes (C1) and write, with a drive for each (C7), beside what they compute: DAXPY gives
$(calc "$flops" %.2f) MFLOPS a node (the published machine 2.7). Bounds: 0.74 MB/s per MFLOPS by pipes, the same
for all n; 0.2 by a drive for each node. So a node needs $(calc "$flops / $writes" %.1f) drives for one.

| nodes | MFLOPS | pipes, MB/s per MFLOPS | >= 0.74 | a drive for each, writes | >= 0.2 |
| --- | --- | --- | --- | --- | --- |
END
    for n in 1 2 4 8 16 32 64; do
        awk -v n=$n -v flops="$flops" -v pipes="$(cat "$work/c1-$n")" \
            -v writes="$([ ! -e "$work/drives-$n" ] || value drives-$n write=)" 'BEGIN {
            all = n * flops
            printf "| %d | %.1f | %.3f | %s | ", n, all, pipes / all, (pipes / all >= 0.74) ? "yes" : "no"
            if (writes != "") printf "%.3f | %s |\n", writes / all, (writes / all >= 0.2) ? "yes" : "no"
            else print "- | - |" }'
    done
}

# global MODE DIM [CALL]: microseconds; statistics are in $work/global.stats
global() {
    run global -d "$2" -m "$work/machine.conf" "--stats=$work/global.stats" "$build/guest/global_costs" "$1" ${3:-}
    value global in
}

c9() {
    local k n one step step_reads apart all reads call
    machine 5 1 32
    run global -d 0 -m "$work/machine.conf" "$build/guest/global_costs" write
    one=$(global local 0)
    cat <<END
## C9: global mode reads the disk once (2.5)

2 MB of a file on df00, read by n nodes: each by itself, at the same time or one after the other, and in
[global mode](../global.md). Bounds: the drive gets n times as many commands from nodes that read by themselves as in
global mode; a global read takes at most 1.10 times as long as one node's, $(calc "$one / 1e6" %.2f) s; so it is n times
as fast as scattered reads. In step, the drive's buffer serves the nodes, and the I/O node's channel is the bound.

| nodes | in step, s | drive reads | scattered, s | global, s | drive reads | of one node's time | <= 110 % | \
speed-up, in step | scattered | >= n |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
END
    for k in 0 1 2 3 4 5; do
        n=$((1 << k))
        step=$(global local $k)
        step_reads=$(drive_commands reads global.stats)
        apart=$(global scattered $k)
        all=$(global global $k)
        reads=$(drive_commands reads global.stats)
        awk -v n=$n -v one="$one" -v step="$step" -v apart="$apart" -v all="$all" -v sr="$step_reads" -v r="$reads" '
            BEGIN { printf "| %d | %.2f | %d | %.2f | %.2f | %d | %.1f %% | %s | %.1f | %.1f | %s |\n", n, step / 1e6,
                sr, apart / 1e6, all / 1e6, r, 100 * all / one, (all <= 1.1 * one) ? "yes" : "no", step / all,
                apart / all, (apart >= n * all) ? "yes" : "no" }'
    done
    cat <<'END'

The same 2 MB in calls of fewer bytes, by 32 nodes:

| bytes of a call | one node, s | global, s | of one node's time | <= 110 % |
| --- | --- | --- | --- | --- |
END
    for call in 8192 16384 32768 65536; do
        one=$(global local 0 $call)
        all=$(global global 5 $call)
        awk -v call=$call -v one="$one" -v all="$all" 'BEGIN {
            printf "| %d | %.2f | %.2f | %.1f %% | %s |\n", call, one / 1e6, all / 1e6, 100 * all / one,
                (all <= 1.1 * one) ? "yes" : "no" }'
    done
    cat <<'END'

A short call waits for its broadcast, since node 0 reads nothing ahead that the program has not asked for.
END
}

c10() {
    cat <<'END'
## C10: Unix programs run unchanged (1.1)

ed, bc, dc, Lua and original-awk from Debian's source packages, built by `ncc` without an edit
([Unix programs](../unix.md)). Bound: output, status and files as those of the same sources on the host.

| what | as on the host |
| --- | --- |
END
    SHOW_CASES=1 "$here/../tests/images/test_unix.sh" "$build" 2>&1 | sed -n \
        -e 's/^passed: \(.*\): \(output\|files\) as on the host$/| \1: \2 | yes |/p' \
        -e 's/^failed: \([^:]*\): .*/| \1 | no |/p' -e 's/^skipped: \([^:]*\): \(.*\)/| \1 | not tried: \2 |/p'
}

c11() {
    local limit ms
    cat <<END
## C11: the set-up of a parallel pipe (2.6, Figure 11)

From the last N_SETMAP of both programs to the last node's first 8 bytes.

| nodes | ms | bound, ms | reached |
| --- | --- | --- | --- |
END
    for k in 0 3 5 9; do
        local n=$((1 << k))
        pipe "$n" "cyclic 8 $n" $((n * 64)) "$n" "cyclic 8 $n" 8
        limit=$([ "$k" -le 5 ] && echo 5 || echo 100)
        ms=$(awk '$3 > set { set = $3 } $1 == "read" && $4 > first { first = $4 }
                  END { printf "%.2f", (first - set) / 1000 }' "$work/ends")
        echo "| $n + $n | $ms | $limit | $(passes "$ms" '<=' "$limit") |"
    done
}

# cycles_row WHAT CYCLES BOUND
cycles_row() {
    echo "| $1 | $2 | $3 | $(passes "$2" '<=' "$3") |"
}

c12() {
    local program=$build/guest/transparency begin
    cat <<'END'
## C12: what transparency costs (1.1, 2.3)

Cycles of a node, 50 ns each, when the code has run before. The switch is what `pread` of a file takes beside a function
that executes the same trap for a number that is known, and does the same for `nfailed` and errno. The mapping gives all
bytes to one node, as that of a program of one node does; a driver that does nothing takes them.

| | cycles | bound | kept |
| --- | --- | --- | --- |
END
    run switch -d 0 --serve "$work" "$program" switch /
    cycles_row 'the switch' "$(value switch "switch:")" 40
    run mapped -d 0 --serve "$work" "$program" mapped /
    cycles_row 'a mapped write, beside a plain one' "$(value mapped "one:")" 300
    run eight -d 1 "$build/guest/measure" "eight bytes" show
    cycles_row '8 bytes from `nwrite` to `nread`' "$(calc "$(value eight neighbours)" %d)" 1196
    run pipe -d 0 "$program" writes - '|' -d 0 "$program" reads -
    begin=$(value said "from:")
    cycles_row 'the first 8 bytes of a pipe that is set up' "$(calc "$(value pipe "by:") - $begin" %d)" 2500
    cat <<'END'

A pipe's message has a header of 24 bytes, 216 cycles on the channel, and goes by the kernel's way for any length; some
1,200 cycles are the C library's and the driver's.
END
}

mkdir -p "$work"
check=
[ "${1:-}" != --check ] || { check=1; shift; }
for claim in "$@"; do
    case " $all_claims " in
    *" $claim "*) ;;
    *) die "no claim '$claim'; there are $all_claims" ;;
    esac
done
claims() { # CLAIM...
    local claim first=1
    for claim; do
        [ "$first" ] || echo
        first=
        $claim
    done
}

if [ "$check" ]; then
    end_on_other_compiler
    [ $# -gt 0 ] || rm -f "$work"/c1-* "$work"/drives-*
    claims ${@:-$all_claims} >"$work/page.md"
    compare_sections "$work/page.md" "$page"
    exit
fi
if [ $# -gt 0 ]; then
    claims "$@"
    exit
fi
rm -f "$work"/c1-* "$work"/drives-* # C8 uses those of this run
{
    cat <<END
# What paper 001 claims, measured

\`make paper-001\` writes this page in a few minutes ([papers](../papers.md), P1). The paper has no figures of its own;
the bounds follow from the machine: a channel moves 2.22 MB/s, a drive writes 16 KB in 29 ms when it misses a
revolution.
END
    echo
    claims $all_claims
} >"$work/page.md"
cp "$work/page.md" "$page"
cat "$page"
