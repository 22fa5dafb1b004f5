#!/bin/sh
# The speed-up study: one source, n destinations, joint and disjoint routings, measured in the machine and predicted
# from the channel sets. Writes BUILD/study/table.txt, BUILD/study/table.md and BUILD/study/speedup.svg, and prints the
# table.
# docs/speedup.md says what they mean; figures.sh puts them there.
#
#   study.sh BUILD [DIM [--table]]     DIM: of the cube, which is also the largest n (default 10; boots 2^DIM nodes)
#                                      --table: no plot, for which it needs gnuplot
set -eu

here=$(dirname "$0")
build=$1
dim=${2:-10}
what=${3:-}
work=$build/study

die() {
    echo "study: $*" >&2
    exit 1
}

[ "$what" = --table ] || command -v gnuplot >/dev/null || die "gnuplot is missing; install gnuplot-nox"
mkdir -p "$work"
echo "dim = $dim;" >"$work/cube.conf"
"$build/bin/ncube" run -m "$work/cube.conf" -d "$dim" "$build/examples/fanout" >"$work/measured" ||
    die "fanout ended with status $?"

# The number of paths on the busiest channel, by destinations.
sed -n 's/^.* to=//p' "$work/measured" | sort -u | while read -r to; do
    busiest=$("$build/bin/ncube" route --json "$work/cube.conf" 0 $(echo "$to" | tr , ' ') |
        sed -n 's/^ *"busiest_channel": \([0-9]*\).*/\1/p')
    echo "$to $busiest"
done >"$work/busiest"

awk -f "$here/study.awk" "$work/busiest" "$work/measured" >"$work/table.txt"
[ "$what" = --table ] || gnuplot -e "table='$work/table.txt'; svg='$work/speedup.svg'; most=$dim" "$here/study.gp"
awk -v most="$dim" -f "$here/study_table.awk" "$work/table.txt" >"$work/table.md"
cat "$work/table.txt"
