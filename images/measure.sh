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
