#!/bin/bash
# The house's order: a folder includes only what tests/house/layers lets it see, no two files of the product share a name,
# and the code looks as .clang-format says.
set -u
cd "$(dirname "$0")/../.."
. tests/shell.sh

product() { # files of the product, not its tests
    git ls-files -- "$@" | grep -v '^tests/'
}

# Prints "FILE includes INCLUDED" for each include that the layers forbid, and each folder that they do not name.
forbidden_includes() {
    product '*.c' '*.h' '*.S' | xargs grep -Ho '^#include "[^"]*"' | awk -v layers=tests/house/layers '
        BEGIN {
            while ((getline line < layers) > 0)
                if (line ~ /^[a-z]/) {
                    n = split(line, word, /[: ]+/)
                    known[word[1]] = 1
                    for (i = 2; i <= n; i++)
                        sees[word[1], word[i]] = 1
                }
        }
        {
            file = substr($0, 1, index($0, ":") - 1)
            included = $0
            sub(/.*#include "/, "", included)
            sub(/"$/, "", included)
            folder = file
            sub(/\/[^\/]*$/, "", folder)
            target = included
            if (!sub(/\/[^\/]*$/, "", target))
                target = folder
            top = target
            sub(/\/.*/, "", top)
            if (!(folder in known))
                print folder ": not in " layers
            else if (target != folder && !((folder, target) in sees) && !((folder, top) in sees))
                print file " includes " included
        }' | sort -u
}

twin_names() {
    product '*.c' '*.S' | sed 's|.*/||' | sort | uniq -d
}

same "a folder includes only what its layer sees" "" "$(forbidden_includes)"
same "no two files of the product have one name" "" "$(twin_names)"

# Other versions lay code out in another way.
if [[ $(clang-format --version 2>/dev/null) == *" version 14."* ]]; then
    same "make format would change nothing" "" \
        "$(git ls-files '*.c' '*.h' | grep -v '^tests/images/old/' | xargs clang-format --dry-run 2>&1 | grep -m 5 warning:)"
else
    echo "skipped: the layout of the code: clang-format 14 is not installed"
fi
finish
