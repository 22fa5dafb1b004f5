#!/bin/bash
# What paper 001 claims, measured in the machine: writes docs/papers/001.md. FULL=1: the sizes of the order (C1 to 64
# pairs, C2 with 8 MB, C11 to 512 + 512 nodes).
#
#   claims.sh BUILD
#
# A claim is one function here, named in `claims`, and one guest program. It prints its section: a heading, what is
# claimed and how that is tested, and a table with each number beside its bound. Times are virtual; 1 MB/s = 10^6 B/s.
set -eu

build=$1
here=$(dirname "$(readlink -f "$0")")
page=$here/../docs/papers/001.md
work=$build/claims
claims="c1 c2 c3 c9 c11"
full=${FULL:-0}
rate=$build/guest/pipe_rate

die() {
    echo "claims: $*" >&2
    exit 1
}

# pipe DIM MAP BYTES DIM MAP CALL: a pipe; the lines of its nodes are in $work/ends.
pipe() {
    "$build/bin/ncube" run -d "$1" "$rate" write "$2" "$3" "$6" '|' -d "$4" "$rate" read "$5" "$6" \
        >"$work/ends" 2>"$work/writers" || die "$2 | $5 ended with status $?: $(head -3 "$work/writers")"
    cat "$work/writers" >>"$work/ends"
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
    for k in $(seq 0 $([ "$full" = 1 ] && echo 6 || echo 4)); do
        local n=$((1 << k)) each
        pipe "$k" "cyclic 16384 $n" $((n << 20)) "$k" "cyclic 16384 $n" 16384
        each=$(awk -v all="$(whole_rate)" -v n=$n 'BEGIN { printf "%.3f", all / n }')
        one=${one:-$each}
        echo "| $n | $(whole_rate) | $each | $(passes "$each" '>=' 2.0) |" \
            "$(awk -v a="$each" -v b="$one" 'BEGIN { printf "%.1f %%", 100 * a / b }') |"
    done
}

# A pattern without its size.
in_words() {
    sed -E 's/^array [0-9x]+ //' <<<"$1"
}

c2() {
    local side=$([ "$full" = 1 ] && echo 1024 || echo 512) base a b
    local bytes=$((side * side * 8)) size=${side}x${side}x8
    pipe 4 "cyclic 16384 16" $bytes 4 "cyclic 16384 16" 16384
    base=$(whole_rate)
    cat <<END
## C2: the mapping picks the way (1.2)

16 nodes send a matrix of $side x $side doubles to 16 nodes that have it in another layout. Bound: 60 % of the rate of
16 pairs with equal mappings and as many bytes, $base MB/s.

| from | to | MB/s | of the pairs' rate | >= 60 % |
| --- | --- | --- | --- | --- |
END
    for a in "array $size block,* on 16x1" "array $size *,block on 1x16" "array $size block,block on 4x4" \
        "array $size *,cyclic(8) on 1x16" "array $size *,cyclic on 1x16" "bits p3-0 o16-0"; do
        for b in "array $size block,* on 16x1" "array $size block,block on 4x4" "array $size *,cyclic on 1x16" \
            "bits o9-0 p3-0 o16-10"; do
            [ "$a" != "$b" ] || continue
            pipe 4 "$a" $bytes 4 "$b" 16384
            local share=$(awk -v a="$(whole_rate)" -v b="$base" 'BEGIN { printf "%.1f", 100 * a / b }')
            echo "| $(in_words "$a") | $(in_words "$b") | $(whole_rate) | $share % | $(passes "$share" '>=' 60) |"
        done
    done
    cat <<'END'

The time counts to the last byte of all nodes, so it contains the set-up. What misses the bound has short pieces: a call
of 16 KB that has something for 16 readers makes 16 messages of 1 KB, and where both sides cut differently, of a few
items. A writer does not gather over several calls, since a pipe passes on what was
written.
END
}

# map_of N: of N nodes in turn; none for one.
map_of() {
    [ "$1" = 0 ] && echo - || echo "cyclic 16384 $((1 << $1))"
}

c3() {
    local a b bound
    cat <<END
## C3: any numbers of nodes, one among them (2.2)

2 MB, blocks of 16 KB in turn, between different numbers of nodes; tests/machine/test_pipes.c checks that the readers
get the same bytes as from a file. The bound is 90 % of one channel, 2.22 MB/s, for each node of the smaller side. A
lone writer exceeds it, as its sends leave by several channels.

| nodes | MB/s | bound | reached |
| --- | --- | --- | --- |
END
    for a in "0 0" "0 3" "3 0" "2 4" "4 2"; do
        b=${a#* } a=${a% *}
        pipe "$a" "$(map_of "$a")" 2097152 "$b" "$(map_of "$b")" 16384
        bound=$(awk -v n=$((1 << (a < b ? a : b))) 'BEGIN { printf "%.3f", n * 2.222 * 0.9 }')
        echo "| $((1 << a)) to $((1 << b)) | $(whole_rate) | $bound | $(passes "$(whole_rate)" '>=' "$bound") |"
    done
    echo
    echo "3 to 5 nodes: not possible, as a program of a pipeline has 2^k nodes."
}

c9() {
    cat <<END
## C9: global mode reads the disk once (2.5)

2 MB of a file on df00, read by all nodes in one call: each by itself, at the same time or one after the other, and in
[global mode](../global.md). Bound: a global read takes at most 1.10 times as long as one node's.

END
    sed -n '/<!-- figures: global -->/,/<!-- figures end -->/p' "$here/../docs/global.md" | sed '1d;$d'
}

c11() {
    local limit ms
    cat <<END
## C11: the set-up of a parallel pipe (2.6, Figure 11)

From the last N_SETMAP of both programs to the last node's first 8 bytes.

| nodes | ms | bound, ms | reached |
| --- | --- | --- | --- |
END
    for k in 0 3 5 $([ "$full" = 1 ] && echo 9); do
        local n=$((1 << k))
        pipe "$k" "cyclic 8 $n" $((n * 64)) "$k" "cyclic 8 $n" 8
        limit=$([ "$k" -le 5 ] && echo 5 || echo 100)
        ms=$(awk '$3 > set { set = $3 } $1 == "read" && $4 > first { first = $4 }
                  END { printf "%.2f", (first - set) / 1000 }' "$work/ends")
        echo "| $n + $n | $ms | $limit | $(passes "$ms" '<=' "$limit") |"
    done
}

mkdir -p "$work" "$(dirname "$page")"
{
    cat <<END
# What paper 001 claims, measured

\`make paper-001\` writes this page, \`FULL=1\` with larger sizes ([papers](../papers.md), P1). The paper has no
figures of its own; the bounds follow from the machine: a channel moves 2.22 MB/s.
END
    for claim in $claims; do
        echo
        $claim
    done
} >"$work/page.md"
cp "$work/page.md" "$page"
cat "$page"
