#!/bin/sh
# The study of [P0]: ncube experiments on sandia. Writes the report to BUILD/paper-000, and its tables behind the mark
# in docs/papers/000.md.
#
#   paper_000.sh BUILD
set -eu

build=$1
here=$(dirname "$0")
page=$here/../docs/papers/000.md
out=$build/paper-000

"$build/bin/ncube" experiments --out "$out" "$here/sandia.conf"
{
    sed '/^<!-- generated/q' "$page"
    # Without the title and the plots, which are files of the report; lines as long as those of other pages.
    sed '1,2d; /^!\[/d' "$out/report.md" | cat -s | awk '
        /^[|]/ { print; next }
        {
            indent = /^[*] / ? "  " : ""
            while (length > 118 && match(substr($0, 1, 118), /.* /)) {
                print substr($0, 1, RLENGTH - 1)
                $0 = indent substr($0, RLENGTH + 1)
            }
            print
        }'
} >"$out/000.md"
cmp -s "$out/000.md" "$page" || { cp "$out/000.md" "$page" && echo "$page is new"; }
