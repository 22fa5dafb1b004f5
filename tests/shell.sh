# Sourced by test scripts: names, counts and prints their cases. The script ends with `finish`.

passed=0
failed=0
skipped=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tests_folder=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")")

# check NAME COMMAND...: the case NAME passes when the command succeeds. SHOW_CASES=1 prints its name then, too.
check() {
    local name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
        [ -z "${SHOW_CASES:-}" ] || echo "passed: $name"
    else
        failed=$((failed + 1))
        echo "failed: $name: $*" >&2
    fi
}

# same NAME EXPECTED ACTUAL: passes when the texts are equal; shows both when not.
same() {
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'failed: %s\n  expected: %s\n  actual:   %s\n' "$1" "$2" "$3" >&2
    fi
}

# await COMMAND...: until it succeeds, for at most a minute. A file that it looks into must not be an earlier run's:
# remove that first, since a process that starts in the background has its files later than the next command runs.
await() {
    local i
    for ((i = 0; i < 1200; i++)); do
        "$@" && return
        sleep 0.05
    done
    check "awaited for a minute" "$@"
}

# patience SECONDS: how long to wait for what takes at most so long on a host that does nothing else: ten times that
# where suites run beside this one (run.sh -j).
patience() {
    echo $(($1 * (${TESTS_BESIDE:+9} + 1)))
}

# status NAME EXPECTED COMMAND...: its exit status; output goes to out and err.
status() {
    local name=$1 expected=$2
    shift 2
    "$@" >out 2>err
    same "$name: status" "$expected" $?
}

# other_compiler BUILD: prints a line if nodes' programs are compiled by others than those of the pages' figures.
other_compiler() {
    python3 -B "$tests_folder/../images/measure/measure.py" "$1" compiler
}

# skip NAME WHY: counts a case that cannot run on this host, and says so.
skip() {
    skipped=$((skipped + 1))
    echo "skipped: $1: $2"
}

# Whether script(1) can make a terminal here; if not, skips the case NAME.
terminal_for() {
    script -qec true /dev/null </dev/null >/dev/null 2>&1 && return
    skip "$1" "script(1) cannot make a terminal here (is it installed, and /dev/pts mounted?)"
    return 1
}

# drawn I OF: whether case I of some is among those that this version of the system tries: one of OF. Each version has
# others; all are tried if TESTS_DRAW is unset or "all" (run.sh).
drawn() {
    [ "${TESTS_DRAW:-all}" = all ] || [ $((($1 + TESTS_DRAW) % $2)) -eq 0 ]
}

# drawn_of OF WORD...: those of the words that are drawn.
drawn_of() {
    local of=$1 i=0 word
    shift
    for word; do
        ! drawn $((i++)) "$of" || printf '%s ' "$word"
    done
}

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ $failed -eq 0 ]
    exit
}
