# Runs of ncube and the numbers in their output, for figures.sh and claims.sh. They set `build`, and `work`, the folder
# for what is measured. And with which compiler the pages' figures are measured, for their tests.

pages_gcc=12.2.0
pages_newlib=3.3.0

# Says so if the programs are compiled by others than those; empty if they are.
find_other_compiler() {
    local gcc newlib
    gcc=$(riscv64-unknown-elf-gcc -dumpfullversion)
    newlib=$(basename "$(ls /usr/src/newlib/newlib-*.tar.xz | sort -V | tail -n 1)" .tar.xz)
    [ "$gcc $newlib" = "$pages_gcc newlib-$pages_newlib" ] ||
        echo "the pages' figures are those of gcc $pages_gcc and newlib $pages_newlib; here are gcc $gcc and $newlib"
}

die() {
    echo "$(basename "$0" .sh): $*" >&2
    exit 1
}

# The section of a page whose heading is "## NAME", up to the next one.
section() { # PAGE NAME
    awk -v heading="## $2" '/^## / { inside = $0 == heading } inside' "$1"
}

# Shows how the sections of NEW differ from those of PAGE with the same headings. Succeeds if none does.
compare_sections() { # NEW PAGE
    local name status=0
    while read -r name; do
        diff -u --label "$2: $name" <(section "$2" "$name" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}') \
            --label "measured: $name" <(section "$1" "$name" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}') || status=1
    done < <(sed -n 's/^## //p' "$1")
    return $status
}

# Ends the script, with status 77, if the pages' figures are of another compiler.
end_on_other_compiler() {
    local other
    other=$(find_other_compiler)
    [ -z "$other" ] && return
    echo "$(basename "$0" .sh): $other"
    exit 77
}

# run FILE ARGUMENT...: ncube's output goes to FILE in $work, what it says beside that to $work/said.
run() {
    local to=$work/$1
    shift
    "$build/bin/ncube" run "$@" >"$to" 2>"$work/said" || die "ncube run $*: $(tail -n 1 "$work/said")"
}

# value FILE PATTERN: the first number behind PATTERN in a file of $work.
value() {
    sed -n "s|^.*$2 *\([0-9.]*\).*\$|\1|p" "$work/$1" | head -n 1
}
