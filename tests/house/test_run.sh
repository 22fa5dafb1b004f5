#!/bin/bash
# tests/run.sh: what suites say is counted, and a suite that has tried nothing is not a success.
set -u
. "$(dirname "$0")/../shell.sh"

run=$(readlink -f "$(dirname "$0")/../run.sh")
cd "$scratch" || exit 1

suite() { # NAME STATUS LINE...: a suite that prints these lines
    local name=$1 status=$2
    shift 2
    printf '#!/bin/sh\ncat <<E\n%s\nE\nexit %s\n' "$(printf '%s\n' "$@")" "$status" >"$name"
    chmod +x "$name"
}

suite all.sh 0 '3 passed, 0 failed, 0 skipped'
suite some.sh 0 'skipped: gdb: it is not installed' '3 passed, 0 failed, 1 skipped'
suite none.sh 0 'skipped: a terminal: there is none' '0 passed, 0 failed, 1 skipped'
suite nothing.sh 0 '0 passed, 0 failed, 0 skipped'
suite silent.sh 0 'hello'
suite wrong.sh 1 'skipped: gdb: it is not installed' '3 passed, 0 failed, 1 skipped'
suite bad.sh 1 'failed: this' '2 passed, 1 failed, 0 skipped'
suite criterion 0 '[RUN ] a::one' '[PASS] a::one: (0.00s)' '[RUN ] a::two' '[SKIP] a::two: no fibers' \
    '[====] Synthesis: Tested: 1 | Passing: 1 | Failing: 0 | Crashing: 0 '
suite criterion_bad 1 '[FAIL] a::one: (0.00s)' '[SKIP] a::two: no fibers' \
    '[====] Synthesis: Tested: 2 | Passing: 1 | Failing: 1 | Crashing: 0 '
suite criterion_skips 0 '[SKIP] a::one: no fibers' '[SKIP] a::one: no fibers' \
    '[====] Synthesis: Tested: 0 | Passing: 0 | Failing: 0 | Crashing: 0 '
suite criterion_empty 0 '[====] Synthesis: Tested: 0 | Passing: 0 | Failing: 0 | Crashing: 0 '

# tells NAME STATUS LAST SUITE...: the exit status, and the last line
tells() {
    local name=$1 expected=$2 last=$3
    shift 3
    status "$name" "$expected" "$run" . "$@"
    same "$name: the last line" "$last" "$(tail -n 1 out)"
}
tells "a success" 0 "3 passed, 0 failed, 0 skipped" all.sh
tells "a case that cannot run" 0 "3 passed, 0 failed, 1 skipped" some.sh
check "why" grep -qx '      skipped: gdb: it is not installed' out
tells "a suite that cannot run, alone" 1 "0 passed, 0 failed, 1 skipped" none.sh
check "its verdict" grep -q '^skip .*none.sh .* 0 passed, 1 skipped' out
tells "a suite that cannot run, among others" 0 "3 passed, 0 failed, 1 skipped" none.sh all.sh
tells "a suite without cases" 1 "3 passed, 1 failed, 0 skipped" all.sh nothing.sh
tells "a suite without its last line" 1 "3 passed, 1 failed, 0 skipped" all.sh silent.sh
tells "a suite that is not there" 1 "3 passed, 1 failed, 0 skipped" all.sh absent.sh
tells "a status against the line" 1 "3 passed, 1 failed, 1 skipped" wrong.sh
tells "a failure" 1 "5 passed, 1 failed, 0 skipped" all.sh bad.sh
check "what failed" grep -qx 'failed: this' out
tells "Criterion" 0 "1 passed, 0 failed, 1 skipped" criterion
check "why" grep -qx '      skipped: a::two: no fibers' out
tells "a failure in Criterion" 1 "1 passed, 1 failed, 1 skipped" criterion_bad
tells "Criterion skips all" 0 "3 passed, 0 failed, 2 skipped" criterion_skips all.sh
same "equal lines come once" 1 "$(grep -c 'a::one' out)"
tells "Criterion without tests" 1 "3 passed, 1 failed, 0 skipped" criterion_empty all.sh

# ---- A signal ends the suite and what it has started

mkfifo begun
cat >long.sh <<'E'
#!/bin/sh
sleep 1000 &
echo $$ $! >begun
wait
E
chmod +x long.sh
for signal in TERM INT; do
    env --default-signal "$run" . long.sh all.sh >out 2>err &
    runner=$!
    read -r shell child <begun
    kill -s $signal $runner
    wait $runner
    ended=$?
    same "$signal: status" $((128 + $(kill -l $signal))) $ended
    for process in $shell $child; do # one that nobody has waited for yet counts as ended
        check "$signal: ended" sh -c '! grep -q "^State:.[^Z]" /proc/$0/status 2>/dev/null' $process
    done
    same "$signal: no further suite" "" "$(cat out)"
done
finish
