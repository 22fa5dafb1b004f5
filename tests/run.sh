#!/bin/bash
# Runs test suites and counts: the last line is "N passed, N failed, N skipped".
#
#   run.sh [-j JOBS] BUILD SUITE...
#
# JOBS suites run side by side (default 1, and then never more): another one begins whenever a processor has been idle
# for most of a second, as suites wait for disks, for signals and for time to pass; twice as many at most. Their results
# are printed in the order given, each whole, whichever ends first, with how long it has taken and the processor time of
# its processes. The file "beside" next to this script says which suites must not run beside others, and which begin
# first.
#
# A suite is a Criterion program below BUILD, or a script that gets BUILD as its argument and ends with its own line
# "N passed, N failed, N skipped". A test that cannot run on this host says so in a line "skipped: NAME: WHY" (skip in
# shell.sh; cr_skip_test), which is printed. A suite that ends without its line, or in which no test passed, failed or
# was skipped, counts as one failure, and so does one whose exit status contradicts the line. A suite that has not
# ended after an hour, which is long enough on a busy host, is killed and fails. Exit: 0 if all passed and at least one
# ran.
#
# TESTS_DRAW in the environment is a number by which suites draw cases from those of their tables that take long
# (DrawnRowTest in tests/machine/command.h, drawn in shell.sh); "all" or unset: every case.
set -uo pipefail

jobs=1
while getopts j: option; do
    [ "$option" = j ] || { echo "usage: run.sh [-j JOBS] BUILD SUITE..." >&2; exit 2; }
    jobs=$OPTARG
done
shift $((OPTIND - 1))
[[ $jobs =~ ^[1-9][0-9]*$ ]] || { echo "run.sh: -j $jobs: not a number above 0" >&2; exit 2; }
build=$1
shift
suites=("$@")
passed=0
failed=0
skipped=0
suite_limit_s=3600
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES # the options of the make that runs this are not for those of tests
export LC_ALL=C # what suites print is read here and by themselves
# A python3 that is a script, which looks for the one to start, takes longer than most of what it starts (pyenv: 50 ms).
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
[ -z "$python" ] || [ "$python" = "$(command -v python3)" ] || PATH=$(dirname "$python"):$PATH
# Tests that wait for the host have more patience then (tests/machine/command.h).
[ "$jobs" -eq 1 ] || export TESTS_BESIDE=1

# By the suite's index: when it began, in seconds; how it ended; how long it took; milliseconds of processor time. By
# process: the suite's index.
declare -A begun=() status=() took=() worked_ms=() index_of=()

# A signal that ends this script ends the suites first. The shell's own list of jobs has the suite that has begun and is
# not in index_of yet. Each suite's process is a timeout with a process group of its own, which gets the signal as well:
# a timeout that has just begun may not know yet whom to pass it on to. A SIGINT may end the shell's wait early.
end_by() { # SIGNAL
    local processes
    trap '' INT TERM HUP
    mapfile -t processes < <(jobs -p)
    if [ ${#processes[@]} -gt 0 ]; then
        kill -TERM -- "${processes[@]}" "${processes[@]/#/-}"
        while kill -0 "${processes[@]}"; do wait "${processes[@]}"; done
    fi 2>/dev/null
    trap - "$1"
    rm -rf "$logs"
    kill -s "$1" $$
}
for signal in INT TERM HUP; do trap "end_by $signal" $signal; done

# ---- Which suites run beside which

# By suite: the word of "beside", nothing for most.
declare -A how=()
while read -r name word why; do
    case $name in '' | '#'*) continue ;; esac
    [ -n "$why" ] || { echo "run.sh: beside: $name: no reason is given" >&2; exit 2; }
    how[$name]=$word
done <"${BESIDE:-$(dirname "$0")/beside}"

# The word for the suite of an index.
word_of() { # INDEX
    local name=${suites[$1]#"$build"/}
    echo "${how[${name#./}]:-}"
}

# The order in which suites begin: those marked "first", the others, those marked "alone".
order=()
for pass in first others alone; do
    for i in "${!suites[@]}"; do
        case $(word_of "$i") in
        first | alone) [ "$(word_of "$i")" = $pass ] ;;
        *) [ $pass = others ] ;;
        esac && order+=("$i")
    done
done

# Whether a suite may begin beside those that run now.
may_begin() { # INDEX
    local word other
    word=$(word_of "$1")
    for i in "${index_of[@]}"; do
        other=$(word_of "$i")
        [ "$word" != alone ] && [ "$other" != alone ] || return
        case $word in '' | first) ;; "$other") return 1 ;; esac
    done
}

# ---- Runs

# Runs a suite into its log. A shell gives its background jobs an ignored SIGINT, and nohup an ignored SIGHUP; suites
# send both. Criterion names skipped tests only with --verbose, and leaves them out of its counts.
begin_suite() { # INDEX
    local suite=${suites[$1]} options=("$build")
    case $suite in */*) ;; *) suite=./$suite ;; esac
    case $suite in *.sh) ;; *) options=(--color=never --verbose) ;; esac
    begun[$1]=$SECONDS
    timeout -k 10 $suite_limit_s env --default-signal "$suite" "${options[@]}" >"$logs/$1" 2>&1 </dev/null &
    index_of[$!]=$1
}

# Begins what may begin now, until so many run.
begin_suites() { # MOST
    local at
    for at in "${!order[@]}"; do
        [ ${#index_of[@]} -lt "$1" ] || return
        may_begin "${order[at]}" || continue
        begin_suite "${order[at]}"
        unset "order[at]"
    done
}

# Sets all_ms, the processor time in milliseconds of all suites that have ended.
read_times() {
    local minutes seconds ms system_minutes system_seconds system_ms
    times >"$logs/times"
    { read -r _ && IFS='ms. ' read -r minutes seconds ms system_minutes system_seconds system_ms _; } <"$logs/times"
    all_ms=$(((minutes + system_minutes) * 60000 + (seconds + system_seconds) * 1000 + 10#$ms + 10#$system_ms))
}

# Sets idle_ticks, the hundredths of a second that the processors have been idle, or have waited for a disk.
read_idle() {
    local idle=0 waits=0
    { read -r _ _ _ _ idle waits _ <"${STAT:-/proc/stat}"; } 2>/dev/null
    idle_ticks=$((idle + waits))
}

# A process that ends after a second, while there is something to begin that may only begin on an idle processor.
clock=
idle_ticks=0
start_clock() {
    [ "$jobs" -gt 1 ] && [ ${#order[@]} -gt 0 ] && [ -z "$clock" ] || return
    read_idle
    sleep 1 >/dev/null 2>&1 &
    clock=$!
}

# Another suite begins if a processor was idle for most of the second.
clock_has_ended() {
    local before=$idle_ticks
    clock=
    read_idle
    if [ $((idle_ticks - before)) -ge 70 ] && [ ${#index_of[@]} -lt $((2 * jobs)) ]; then
        begin_suites $((${#index_of[@]} + 1))
    fi
}

# Waits until one of the suites has ended, or the second.
await_suite() {
    local process ended before=$all_ms
    start_clock
    wait -n -p process "${!index_of[@]}" $clock
    ended=$?
    if [ "$process" = "$clock" ]; then
        clock_has_ended
        return
    fi
    read_times
    worked_ms[${index_of[$process]}]=$((all_ms - before))
    status[${index_of[$process]}]=$ended
    took[${index_of[$process]}]=$((SECONDS - begun[${index_of[$process]}]))
    unset "index_of[$process]"
}

# ---- Results

# Prints the numbers passed, failed and skipped that the log ends with, nothing when there are none.
read_counts() { # LOG
    sed -n -e 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' \
        -e 's/^.*Synthesis: Tested: \([0-9]*\) | Passing: \([0-9]*\) |.*$/\2 \1-\2/p' "$1" | tail -n 1
}

seconds_of() { # MS
    printf '%d.%d s' $(($1 / 1000)) $(($1 % 1000 / 100))
}

# Prints how a suite has ended, and counts.
report_suite() { # INDEX
    local name=${suites[$1]#"$build"/} log=$logs/$1 suite_passed suite_failed suite_skipped skips='' verdict
    case ${suites[$1]} in
    *.sh) ;;
    *) sed -i -e '/^\[RUN \] /d; /^\[PASS\] /d; /^\[====\] Running /d; s/^\[SKIP\] /skipped: /' "$log" ;;
    esac
    read -r suite_passed suite_failed suite_skipped <<<"$(read_counts "$log")"
    suite_passed=${suite_passed:-0}
    suite_failed=$((${suite_failed:-1}))
    suite_skipped=${suite_skipped:-$(grep -c '^skipped: ' "$log")}
    if [ $suite_failed -eq 0 ] && { [ "${status[$1]}" -ne 0 ] || [ $((suite_passed + suite_skipped)) -eq 0 ]; }; then
        suite_failed=1
    fi
    [ "$suite_skipped" -eq 0 ] || skips=", $suite_skipped skipped"
    if [ $suite_failed -eq 0 ]; then
        [ "$suite_passed" -gt 0 ] && verdict=ok || verdict=skip
        printf '%-5s %-40s %3d passed%s  %3d s  (CPU %s)\n' $verdict "${name#./}" "$suite_passed" "$skips" \
            "${took[$1]}" "$(seconds_of "${worked_ms[$1]}")"
        sed -n 's/^skipped: /      &/p' "$log" | awk '!seen[$0]++'
    else
        grep -v "^[0-9]* passed, [0-9]* failed, [0-9]* skipped\$" "$log"
        printf 'FAIL  %-40s %3d passed, %d failed%s (exit status %d)\n' "${name#./}" "$suite_passed" \
            "$suite_failed" "$skips" "${status[$1]}"
    fi
    passed=$((passed + suite_passed))
    failed=$((failed + suite_failed))
    skipped=$((skipped + suite_skipped))
    rm -f "$log"
}

read_times
for next in "${!suites[@]}"; do
    until [ -n "${status[$next]:-}" ]; do
        begin_suites "$jobs"
        await_suite
    done
    report_suite "$next"
done

[ -z "$clock" ] || kill "$clock"
[ ${#suites[@]} -lt 2 ] || echo "all suites: $SECONDS s  (CPU $(seconds_of $all_ms))"
case ${TESTS_DRAW:-all} in
all) ;;
*) echo "some tables are sampled by TESTS_DRAW=$TESTS_DRAW; TESTS_DRAW=all tries all of them" ;;
esac
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
