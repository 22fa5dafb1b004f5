#!/bin/bash
# The study of [P0]: ncube experiments on sandia. Writes the report to BUILD/paper-000, and its tables behind the mark
# in docs/papers/000.md.
#
#   paper_000.sh BUILD                      all of it
#   paper_000.sh BUILD --check [PART...]    lists how the page differs from what is measured, and writes nothing: exit
#                                           status 1 if it does, 77 as figures.sh. PART: only these of the report
set -eu

build=$1
here=$(dirname "$0")
page=$here/../docs/papers/000.md
out=$build/paper-000
shift
. "$here/measure.sh"

# Without the title and the plots, which are files of the report, but for the captions of Figures 7 and 8; lines as long
# as those of other pages.
for_page() {
    sed -E '1,2d; s/^!\[(Figure [^]]*)\].*/\1/; /^!\[/d' "$1" | cat -s | awk '
        /^[|]/ { print; next }
        {
            indent = /^[*] / ? "  " : ""
            while (length > 118 && match(substr($0, 1, 118), /.* /)) {
                print substr($0, 1, RLENGTH - 1)
                $0 = indent substr($0, RLENGTH + 1)
            }
            print
        }'
}

if [ "${1:-}" = --check ]; then
    shift
    end_on_other_compiler
    out=$build/paper-000-check
    "$build/bin/ncube" experiments --out "$out" "${@/#/--only=}" "$here/sandia.conf"
    for_page "$out/report.md" >"$out/000.md"
    compare_sections "$out/000.md" "$page"
    exit
fi
"$build/bin/ncube" experiments --out "$out" "$here/sandia.conf"
{
    sed '/^<!-- generated/q' "$page"
    for_page "$out/report.md"
} >"$out/000.md"
cmp -s "$out/000.md" "$page" || { cp "$out/000.md" "$page" && echo "$page is new"; }
