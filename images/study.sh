#!/bin/sh
# The speed-up study: one source, n destinations, joint and disjoint routings, measured in the machine and predicted
# from the channel sets. Writes BUILD/study/table.txt, BUILD/study/table.md and BUILD/study/speedup.svg. docs/speedup.md says
# what they mean.
#
#   study.sh BUILD [DIM [DOCS]]     DIM: of the cube, which is also the largest n (default 10; boots 2^DIM nodes)
#                                   DOCS: folder in which speedup.svg, and the table in speedup.md, are replaced
set -eu

here=$(dirname "$0")
build=$1
dim=${2:-10}
docs=${3:-}
work=$build/study

die() {
    echo "study: $*" >&2
    exit 1
}

command -v gnuplot >/dev/null || die "gnuplot is missing; install gnuplot-nox"
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
gnuplot -e "table='$work/table.txt'; svg='$work/speedup.svg'; most=$dim" "$here/study.gp"
awk -v most="$dim" -f "$here/study_table.awk" "$work/table.txt" >"$work/table.md"
cat "$work/table.txt"
[ -n "$docs" ] || exit 0

# The page's table is what lies between its heading and the line that says how good the prediction is.
awk -v table="$work/table.md" '
    /^\| bytes \| n \|/ { while ((getline line <table) > 0) print line; inside = 1; found = 1 }
    !inside
    /^The largest difference/ { inside = 0 }
    END { exit !found }' "$docs/speedup.md" >"$work/speedup.md" || die "$docs/speedup.md has no table '| bytes | n |'"
cp "$work/speedup.md" "$work/speedup.svg" "$docs/"
