#!/bin/bash
# The virtual-time figures in README and docs/ are what this build measures.
set -u
cd "$(dirname "$0")/../.."
. tests/shell.sh

report=$(python3 -B images/measure/measure.py "$1" figures --check 2>&1)
case $? in
0) passed=$((passed + 1)) ;;
77) skip "figures" "$report" ;;
*)
    failed=$((failed + 1))
    printf 'failed: the pages are not what make figures writes\n%s\n' "$report" >&2
    ;;
esac
finish
