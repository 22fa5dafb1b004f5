#!/bin/bash
# A short run of every target of the fuzzer, always with the same inputs; `make fuzz` runs longer. BUILD is the
# argument.
set -u
. "$(dirname "$0")/../shell.sh"

fuzz=$1/tests/fuzz/fuzz
corpus=$(dirname "$0")/corpus

status "no such target" 2 "$fuzz" -c "$corpus" none
targets=$(sed -n 's/.*there are //p' err)
check "it says which there are" test "$(wc -w <<<"$targets")" -ge 9
for target in $targets; do
    status "$target" 0 "$fuzz" -c "$corpus" -k "$scratch" $target
    check "$target: something has been run" grep -q "^fuzz: $target: [1-9][0-9]* runs from seed 1, nothing found" out
    cat err
done
# What campaigns have found
status "a view of number 0" 0 "$fuzz" -f 100 -r 1 nsdisk-messages
rm -f out err
finish
