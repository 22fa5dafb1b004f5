#!/bin/bash
# Runs test suites one after the other and counts: the last line is "N passed, N failed, N skipped".
#
#   run.sh BUILD SUITE...
#
# A suite is a Criterion program below BUILD, or a script that gets BUILD as its argument and ends with its own line
# "N passed, N failed, N skipped". A test that cannot run on this host says so in a line "skipped: NAME: WHY" (skip in
# shell.sh; cr_skip_test), which is printed. A suite that ends without its line, or in which no test passed, failed or
# was skipped, counts as one failure, and so does one whose exit status contradicts the line. A suite that has not
# ended after an hour, which is long enough on a busy host, is killed and fails. Exit: 0 if all passed and at least one
# ran.
set -uo pipefail

build=$1
shift
passed=0
failed=0
skipped=0
suite_limit_s=3600
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export LC_ALL=C # what suites print is read here and by themselves

# A signal that ends this script ends the suite first: timeout passes it on to its process group.
suite_pid=
end_by() { # SIGNAL
    trap '' INT TERM HUP
    [ -z "$suite_pid" ] || { kill -TERM "$suite_pid" && wait "$suite_pid"; } 2>/dev/null
    trap - "$1"
    rm -f "$log"
    kill -s "$1" $$
}
for signal in INT TERM HUP; do trap "end_by $signal" $signal; done

# Runs a suite into the log. A shell gives its background jobs an ignored SIGINT, and nohup an ignored SIGHUP; suites
# send both. Criterion names skipped tests only with --verbose, and leaves them out of its counts.
run_suite() {
    local status options=("$build")
    case $1 in *.sh) ;; *) options=(--color=never --verbose) ;; esac
    timeout -k 10 $suite_limit_s env --default-signal "$1" "${options[@]}" >"$log" 2>&1 </dev/null &
    suite_pid=$!
    wait $suite_pid
    status=$?
    suite_pid=
    case $1 in *.sh) return $status ;; esac
    sed -i -e '/^\[RUN \] /d; /^\[PASS\] /d; /^\[====\] Running /d; s/^\[SKIP\] /skipped: /' "$log"
    return $status
}

# Prints the numbers passed, failed and skipped that the log ends with, nothing when there are none.
read_counts() {
    sed -n -e 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' \
        -e 's/^.*Synthesis: Tested: \([0-9]*\) | Passing: \([0-9]*\) |.*$/\2 \1-\2/p' "$log" | tail -n 1
}

for suite; do
    case $suite in */*) ;; *) suite=./$suite ;; esac
    start=$SECONDS
    run_suite "$suite"
    status=$?
    read -r suite_passed suite_failed suite_skipped <<<"$(read_counts)"
    suite_passed=${suite_passed:-0}
    suite_failed=$((${suite_failed:-1}))
    suite_skipped=${suite_skipped:-$(grep -c '^skipped: ' "$log")}
    if [ $suite_failed -eq 0 ] && { [ $status -ne 0 ] || [ $((suite_passed + suite_skipped)) -eq 0 ]; }; then
        suite_failed=1
    fi
    skips=
    [ "$suite_skipped" -eq 0 ] || skips=", $suite_skipped skipped"
    if [ $suite_failed -eq 0 ]; then
        [ "$suite_passed" -gt 0 ] && verdict=ok || verdict=skip
        printf '%-5s %-40s %3d passed%s  %3d s\n' $verdict "${suite#"$build"/}" "$suite_passed" "$skips" \
            $((SECONDS - start))
        sed -n 's/^skipped: /      &/p' "$log" | awk '!seen[$0]++'
    else
        grep -v "^[0-9]* passed, [0-9]* failed, [0-9]* skipped\$" "$log"
        printf 'FAIL  %-40s %3d passed, %d failed%s (exit status %d)\n' "${suite#"$build"/}" "$suite_passed" \
            "$suite_failed" "$skips" $status
    fi
    passed=$((passed + suite_passed))
    failed=$((failed + suite_failed))
    skipped=$((skipped + suite_skipped))
done

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
