#!/bin/bash
# The committed pages of the papers are what this build prints: two of their quickest sections, measured again, which
# each version of Vertex and nsdisk draws anew. make paper-000, paper-001, paper-002 and paper-004 measure all of them.
# BUILD is the argument; PAPERS=5 in the environment: all of the quick ones.
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

sections="000 plain
001 c3
001 c5
002 single
004 bytes"
while read -r paper section; do
    echo "paper $paper, $section"
    same_as_page "paper $paper, $section" python3 -B "$measure" "$build" "paper-$paper" --check "$section"
done < <(shuf -n "${PAPERS:-2}" --random-source=<(cat "$build"/lib/{nsdisk,vertex}.elf | sha256sum) <<<"$sections")
finish
