#!/bin/bash
# The house's order: a folder includes only what tests/house/layers lets it see, no two files of the product share a
# name, the code looks as .clang-format says, no line is long, and a long source opens with its purpose.
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
                if (line !~ /^#/) { # an indented line goes on with what the one before sees
                    n = split(line, word, /[: ]+/)
                    if (word[1] != "")
                        known[of = word[1]] = 1
                    for (i = 2; i <= n; i++)
                        sees[of, word[i]] = 1
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

# Prints what the pages name and the tree does not have: files by path, and the functions of the tour's tables, whose
# rows begin with files and functions.
missing_names() {
    for page in README.md CONTRIBUTING.md docs/*.md; do
        grep -o '`[a-z][a-z_/.0-9-]*/[a-z_0-9-]*\.[a-zA-Z]*`' "$page" | tr -d '`' | sort -u | while read -r path; do
            case $path in build/* | .* | sys/* | net*/*) continue ;; esac # outputs, headers of other systems
            [ -e "$path" ] || compgen -G "*/$path" >/dev/null || echo "$page: $path"
        done
    done
    sed -n 's/^| \(`[a-z]*\/[^|]*\) | \(`[^|]*`\) |.*/\1 | \2/p' docs/architecture.md |
        while IFS='|' read -r files names; do
        folder=$(echo "$files" | grep -o '[a-z_/]*/' | head -n 1)
        for name in $(echo "$names" | tr -d '`,'); do
            for file in $(echo "$files" | tr -d '`,'); do
                grep -qs "\b$name(" "$file" "$folder$(basename "$file")" && continue 2
            done
            grep -qs "^$name:" $(echo "$files" | tr -d '`,') || echo "docs/architecture.md: $name is not in $files"
        done
    done
}

# What people write; not the programs of others, the fuzzer's inputs, lines of code as mutants have them, nor newlib's
# script, whose text is part of the name of what it builds.
texts() {
    git ls-files | grep -vE '^tests/(images/old|fuzz/corpus|mutation/survivors)' |
        grep -vE '^images/newlib/build.sh$|^LICENSE$|\.(svg|png)$'
}

# Prints "FILE:LINE" of each line over 120 columns. Of pages: not tables, examples, URLs and comments, which are
# commands. Of manual pages: not the NAME section, which is one line, and requests.
long_lines() {
    texts | LC_ALL=C xargs -d '\n' awk '
        FNR == 1 { example = 0 }
        FILENAME ~ /\.md$/ && /^```/ { example = !example }
        FILENAME ~ /\.md$/ && (example || /^ *\|/ || /^    / || /^<!--/ || /https?:/) { next }
        FILENAME ~ /^docs\/man\// && (/^\./ || FNR == 3) { next }
        { gsub(/[\200-\277]/, "") } # one column for each character
        length($0) > 120 { print FILENAME ":" FNR }'
}

# Prints each key of the machine file and each option of which its page says that it changes no result, and which
# docs/exactness.md does not list with the test that varies it.
unvaried() {
    { sed -n 's/^| `\([a-z_]*\)` .*changes no result.*/\1/p' docs/machine-file.md
    sed -n '/ame results/s/^| `\(--[a-z]*\).*/\1/p' docs/running.md; } | while read -r name; do
        grep -q "^| .*\`$name[ \`].*test_" docs/exactness.md || echo "$name"
    done
}

# Prints each C source of more than 150 lines that does not open with a comment.
purposeless() {
    texts | grep '\.c$' | xargs -d '\n' awk '
        FNR == 1 { opens = /^\/\*/ }
        FNR == 151 && !opens { print FILENAME }'
}

# Prints "FILE:LINE" of each tag of a list in a manual page that has text behind it: man would set both as the tag.
running_tags() {
    git ls-files docs/man | xargs awk 'tag && /^\\fB\\-.*\\fR\]? [A-Za-z]/ { print FILENAME ":" FNR } { tag = /^\.TP/ }'
}

same "a folder includes only what its layer sees" "" "$(forbidden_includes)"
same "no two files of the product have one name" "" "$(twin_names)"

same "no line is longer than 120 columns" "" "$(long_lines)"
same "a tag of a manual page has a line of its own" "" "$(running_tags)"
same "a source of more than 150 lines opens with its purpose" "" "$(purposeless)"
same "what changes no result is varied by a test (docs/exactness.md)" "" "$(unvaried)"
same "what the pages name is there" "" "$(missing_names)"

# A test of Criterion can fail: it, or a function that it calls, has an assertion.
cat >"$scratch/sample.c" <<'E'
static void look(void)
{
    cr_expect(true);
}

Test(sample, cannot_fail)
{
    look();
}

Test(sample, can_fail)
{
    cr_expect_eq(one(), 1);
}

Test(sample, must_end_so, .exit_code = 1)
{
    look();
}
E
same "a test that cannot fail is found" "$scratch/sample.c: sample, cannot_fail" \
    "$(awk -f tests/house/assertions.awk "$scratch/sample.c")"
same "every test can fail" "" "$(git ls-files 'tests/*.c' 'tests/*.h' | xargs awk -f tests/house/assertions.awk)"
same "the mutants that are known fit the sources" "" "$(tests/mutation/mutate.sh --check)"

# Other versions format the code differently.
if [[ $(clang-format --version 2>/dev/null) == *" version 14."* ]]; then
    same "make format would change nothing" "" \
        "$(git ls-files '*.c' '*.h' | grep -v '^tests/images/old/' | xargs clang-format --dry-run 2>&1 |
            grep -m 5 warning:)"
else
    skip "the layout of the code" "clang-format 14 is not installed"
fi
finish
