# Runs of ncube and the numbers in their output, for figures.sh and claims.sh. They set `build`, and `work`, the folder
# for what is measured.

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
