#!/bin/bash
# The virtual-time figures in README and docs/ are what this build measures: half of the tables, which each version of
# the system draws anew, without the rows that take longest; and so are four rates of the paper's Figures 7 and 8, drawn
# likewise. make figures and make paper-000 measure all.
set -u
cd "$(dirname "$0")/../.."
. tests/shell.sh

agree() { # TARGET of make that writes the pages, WORD of measure.py...
    local target=$1 report
    shift
    report=$(python3 -B images/measure/measure.py "$build" "$@" 2>&1)
    case $? in
    0) passed=$((passed + 1)) ;;
    77) skip "$target" "$report" ;;
    *)
        failed=$((failed + 1))
        printf 'failed: the pages are not what make %s writes\n%s\n' "$target" "$report" >&2
        ;;
    esac
}

build=$1
agree figures figures --sample
agree paper-000 rates --sample
finish
