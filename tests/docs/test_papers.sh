#!/bin/bash
# The committed pages of the papers are what this build prints: the quickest sections of each, measured again.
# make paper-000, paper-001, paper-002 and paper-004 measure all of them. BUILD is the argument.
set -u
. "$(dirname "$0")/../shell.sh"

build=$(readlink -f "$1")
measure=$(readlink -f "$(dirname "$0")/../../images/measure/measure.py")

# same_as_page NAME COMMAND...: compares sections, or skips the case where another compiler makes other figures
same_as_page() {
    local name=$1 status
    shift
    "$@" >"$scratch/differs" 2>&1
    status=$?
    if [ $status -eq 77 ]; then
        skip "$name" "$(tail -n 1 "$scratch/differs")"
        return
    fi
    [ $status -eq 0 ] || cat "$scratch/differs" >&2
    same "$name" 0 $status
}

same_as_page "paper 000, plain calls" python3 -B "$measure" "$build" paper-000 --check plain
for claim in c3 c5; do
    same_as_page "paper 001, $claim" python3 -B "$measure" "$build" paper-001 --check $claim
done
same_as_page "paper 002, single" python3 -B "$measure" "$build" paper-002 --check single
same_as_page "paper 004, the same bytes" python3 -B "$measure" "$build" paper-004 --check bytes
finish
