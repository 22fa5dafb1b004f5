#!/bin/bash
# Runs test suites one after the other and counts: the last line is "N passed, N failed".
#
#   run.sh BUILD SUITE...
#
# A suite is a Criterion program below BUILD, or a script that gets BUILD as its argument and ends with its own line
# "N passed, N failed". A suite that ends without that line counts as one failure, and so does one whose exit
# status contradicts the line. A suite that has not ended after 10 minutes is killed and fails. Exit: 0 if all passed
# and at least one ran.
set -u

build=$1
shift
passed=0
failed=0
suite_limit_s=600
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export LC_ALL=C # what suites print is read here and by themselves

# A shell gives its background jobs an ignored SIGINT, and nohup an ignored SIGHUP; suites send both.
run_suite() {
    case $1 in
    *.sh) timeout -k 10 $suite_limit_s env --default-signal "$1" "$build" ;;
    *) timeout -k 10 $suite_limit_s env --default-signal "$1" --color=never 2>&1 ;;
    esac
}

# Prints the numbers passed and failed that the log ends with, nothing when there are none.
read_counts() {
    sed -n -e 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' \
        -e 's/^.*Synthesis: Tested: \([0-9]*\) | Passing: \([0-9]*\) |.*$/\2 \1-\2/p' "$log" | tail -n 1
}

for suite; do
    case $suite in */*) ;; *) suite=./$suite ;; esac
    start=$SECONDS
    run_suite "$suite" >"$log" 2>&1 </dev/null
    status=$?
    counts=$(read_counts)
    read -r suite_passed suite_failed <<<"${counts:-0 1}"
    suite_failed=$((suite_failed))
    if [ $status -ne 0 ] && [ $suite_failed -eq 0 ]; then
        suite_failed=1
    fi
    if [ $suite_failed -eq 0 ]; then
        printf 'ok    %-40s %3d passed  %3d s\n' "${suite#"$build"/}" "$suite_passed" $((SECONDS - start))
    else
        grep -v "^[0-9]* passed, [0-9]* failed\$" "$log"
        printf 'FAIL  %-40s %3d passed, %d failed (exit status %d)\n' "${suite#"$build"/}" "$suite_passed" \
            "$suite_failed" $status
    fi
    passed=$((passed + suite_passed))
    failed=$((failed + suite_failed))
done

echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
