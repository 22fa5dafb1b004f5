#!/bin/sh
# Writes the table of docs/libc.md: the costs of calls of the C library, as tests/guest/costs.c measures them.
#
#   costs.sh BUILD PAGE      replaces what lies between <!-- costs --> and <!-- end of costs --> in PAGE
set -eu

new=$(mktemp)
trap 'rm -f "$new"' EXIT
"$1/bin/ncube" run -d 0 "$1/guest/costs" >"$new.costs"
awk -v costs="$new.costs" '
    /^<!-- end of costs -->/ { skip = 0 }
    !skip
    /^<!-- costs -->/ {
        skip = 1
        print "| call | cycles | us |\n| --- | ---: | ---: |"
        while ((getline line <costs) > 0) {
            split(line, word, " ")
            sub(/^ *[0-9]* /, "", line)
            printf "| %s | %d | %.2f |\n", line, word[1], word[1] / 20
        }
    }' "$2" >"$new"
rm "$new.costs"
cat "$new" >"$2"
