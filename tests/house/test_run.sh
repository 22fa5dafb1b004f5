#!/bin/bash
# tests/run.sh: what suites say is counted, and a suite that has tried nothing is not a success. Suites run side by
# side as the file "beside" lets them, and are printed in the order given.
set -u
. "$(dirname "$0")/../shell.sh"

run=$(readlink -f "$(dirname "$0")/../run.sh")
cd "$scratch" || exit 1
unset TESTS_DRAW # it says one line more

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
same "what is drawn of five: all" "a b c d e " "$(drawn_of 2 a b c d e)"
same "by an even number" "a c e " "$(TESTS_DRAW=6 drawn_of 2 a b c d e)"
same "by an odd one" "b d " "$(TESTS_DRAW=7 drawn_of 2 a b c d e)"
same "by all" "a b c d e " "$(TESTS_DRAW=all drawn_of 2 a b c d e)"
TESTS_DRAW=6 "$run" . all.sh >out
check "a sample says how to try all" grep -q "TESTS_DRAW=6; TESTS_DRAW=all tries all" out
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

# ---- A python3 that is a script

python=$(python3 -c 'import sys; print(sys.executable)')
mkdir shims
printf '#!/bin/sh\nexec %s "$@"\n' "$python" >shims/python3
chmod +x shims/python3
printf '#!/bin/sh\ncommand -v python3\necho "0 passed, 1 failed, 0 skipped"\nexit 1\n' >which.sh
chmod +x which.sh
status "suites have the python3 that a script starts" 1 env PATH="$PWD/shims:$PATH" "$run" . which.sh
same "its path" "$python" "$(head -n 1 out)"

# ---- Side by side

# Prints the results without the seconds.
results() { sed '/^all suites: /d; s/ *[0-9]* s  (CPU [0-9.]* s)$//' out; }

# A pair of suites that end only if both run at a time: each opens a pipe that the other one opens.
mkfifo one two
for name in one two; do
    [ $name = one ] && pipes="echo >one; read -r x <two" || pipes="read -r x <one; echo >two"
    printf '#!/bin/sh\n%s\necho "1 passed, 0 failed, 0 skipped"\n' "$pipes" >$name.sh
    chmod +x $name.sh
done
: >none
status "two at a time" 0 env BESIDE=none timeout 60 "$run" -j 2 . one.sh two.sh
same "both are counted" "2 passed, 0 failed, 0 skipped" "$(tail -n 1 out)"

# Suites that note in the file "order" when they begin and end, and give others 0.3 s to begin meanwhile.
for name in a b c d; do
    cat >$name.sh <<E
#!/bin/sh
echo begins $name >>order
for i in 1 2 3 4 5 6; do
    [ "\$(tail -n 1 order)" = "begins $name" ] && sleep 0.05
done
echo ends $name >>order
echo 1 passed, 0 failed, 0 skipped
E
    chmod +x $name.sh
done
begins() { # NAME ORDER SUITE...: in which order suites begin and end, two at a time
    local name=$1 expected=$2
    shift 2
    : >order
    status "$name" 0 env BESIDE=table "$run" -j 2 . "$@"
    same "$name: begin" "$expected" "$(xargs <order)"
}
printf '# a note\n\na.sh alone it counts\nc.sh first it takes long\n' >table
begins "alone comes last, first first" "begins c ends c begins a ends a" a.sh c.sh
same "printed in the order given" "ok a.sh ok c.sh" "$(results | awk '/^ok/ { print $1, $2 }' | xargs)"
printf 'a.sh port they take port 1\nb.sh port they take port 1\n' >table
begins "those that share something take turns" "begins a ends a begins b ends b" a.sh b.sh
echo 'a.sh alone' >table
status "a line without a reason" 2 env BESIDE=table "$run" -j 2 . a.sh
same "is named" "run.sh: beside: a.sh: no reason is given" "$(cat err)"
status "no number of jobs" 2 "$run" -j many . a.sh
status "a number of jobs in the same word" 0 env BESIDE=none timeout 60 "$run" -j2 . one.sh two.sh
status "an unknown option" 2 "$run" -k . a.sh
printf '#!/bin/sh\nread -r x <two\necho failed: late\necho 1 passed, 1 failed, 0 skipped\nexit 1\n' >late.sh
printf '#!/bin/sh\necho >two\necho skipped: this: so\necho 2 passed, 0 failed, 1 skipped\n' >early.sh
chmod +x late.sh early.sh
status "one fails, and ends last" 1 env BESIDE=none timeout 60 "$run" -j 2 . late.sh early.sh
same "each is printed whole" "failed: late
FAIL  late.sh                                    1 passed, 1 failed (exit status 1)
ok    early.sh                                   2 passed, 1 skipped
      skipped: this: so
3 passed, 1 failed, 1 skipped" "$(results)"

# Two suites that wait for a third one, on processors that are idle as the file "stat" says, or busy.
cat >waits.sh <<'E'
#!/bin/sh
idle=$(cut -d ' ' -f 5 stat)
for i in $(seq $tries); do
    [ -e third ] && break
    idle=$((idle + idle_in_100_ms))
    echo "cpu 0 0 0 $idle 0 0" >stat.$$ && mv stat.$$ stat
    sleep 0.1
done
echo ends >>order
echo 1 passed, 0 failed, 0 skipped
E
printf '#!/bin/sh\ntouch third\necho third >>order\necho 1 passed, 0 failed, 0 skipped\n' >third.sh
chmod +x waits.sh third.sh
third() { # NAME IDLE TRIES FIRST [JOBS]: which is first, the beginning of the third or the end of another one
    rm -f third order
    echo "cpu 0 0 0 0 0 0" >stat
    status "$1" 0 env BESIDE=none STAT=stat idle_in_100_ms="$2" tries="$3" "$run" -j "${5:-2}" \
        . waits.sh ./waits.sh third.sh
    same "$1: what comes first" "$4" "$(head -n 1 order)"
}
third "another one begins on an idle processor" 2000 600 third
third "none begins on busy ones" 2 20 ends
third "nor when one at a time is asked for" 2000 5 ends 1
check "processor time is told" grep -q '^ok .*third.sh .* s  (CPU [0-9.]* s)$' out
check "of all, too" grep -q '^all suites: [0-9]* s  (CPU [0-9.]* s)$' out

while read -r name _; do
    check "the table of this project: $name is there" compgen -G "${run%/*/*}/$name*" >/dev/null
done < <(grep -v '^#' "${run%/*}/beside")

# ---- A signal ends the suites and what they have started

mkfifo begun alive
exec 9<>begun # stays open between two that write to it
cat >long.sh <<'E'
#!/bin/sh
exec 7>alive
sleep 1000 &
echo >begun
wait
E
chmod +x long.sh
for signal in TERM INT; do
    timeout 60 cat alive & # until all that have it open for writing have ended
    watcher=$!
    env --default-signal "$run" -j 2 . long.sh ./long.sh all.sh >out 2>err &
    runner=$!
    read -r <&9
    read -r <&9
    kill -s $signal $runner
    wait $runner
    ended=$?
    same "$signal: status" $((128 + $(kill -l $signal))) $ended
    wait $watcher
    same "$signal: all have ended" 0 $?
    same "$signal: no further suite" "" "$(cat out)"
done
finish
