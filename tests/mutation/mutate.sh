#!/bin/bash
# Do the tests notice when a statement is another? Changes one operator, constant or statement at a time in the sources
# of tests/mutation/suites, and runs the host suites that concern them. Lists the mutants that no suite notices.
#
#   mutate.sh BUILD [NUMBER [SEED]]   NUMBER mutants (default 200), drawn by SEED (default 1)
#   mutate.sh --check                 only sees that tests/mutation/survivors fits the sources
#
# A mutant is written as "FILE: FUNCTION: LINE -> LINE'". Those that no test can tell from the original stand in
# tests/mutation/survivors with the reason, and are not tried. A mutant that does not compile, or compiles to the same
# code, is replaced by another one. Works in BUILD/mutation, in a copy of the tree for each processor (JOBS=); what was
# noticed there is not tried again as long as its source is the same. ONLY="GROUP ..." tries those groups of sources
# only. Exit: 0 if all were noticed.
set -u
here=$(dirname "$0")
clone=$(cd "$here/../.." && pwd)
export LC_ALL=C
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES # of the make that runs this
cd "$clone" || exit 1

# ---- The survivors that are known, each with the reason in the next lines, which are indented

known() {
    sed -n 's/^\([a-z].*: .* -> .*\)$/\1/p' tests/mutation/survivors
}

# Prints what is wrong with the list.
stale() {
    known | sort | uniq -d | sed 's/$/: twice/'
    known | while IFS= read -r mutant; do
        file=${mutant%%: *}
        line=${mutant#*: *: }
        grep -qF -- "${line%% -> *}" "$file" 2>/dev/null || echo "$mutant: no such line"
    done
    awk '/^[a-z].*: .* -> / { if (open) print open ": no reason"; open = $0; next } /^    [A-Za-z]/ { open = "" }
        END { if (open) print open ": no reason" }' tests/mutation/survivors
}

if [ "${1:-}" = --check ]; then
    wrong=$(stale)
    [ -z "$wrong" ] || echo "$wrong"
    [ -z "$wrong" ]
    exit
fi
build=$(cd "$1" && pwd) || exit
number=${2:-200}
seed=${3:-1}
work=$build/mutation
jobs=${JOBS:-$(nproc)}

# ---- The draw

# Prints the words of a group's lines of that kind.
words() { # GROUP sources|suites
    awk -v group="$1" -v kind="$2" '$1 == group && $2 == kind { $1 = $2 = ""; print }' tests/mutation/suites
}

groups() {
    awk -v only=" ${ONLY:-} " '/^[a-z]/ && !seen[$1]++ && (only ~ /^ *$/ || index(only, " " $1 " ")) { print $1 }' \
        tests/mutation/suites
}

sources() { # GROUP
    # shellcheck disable=SC2046
    ls $(words "$1" sources)
}

# Orders the mutants of each group by SEED, and takes one of each in turn.
draw() {
    for group in $(groups); do
        # shellcheck disable=SC2046
        awk -v seed="$seed" -f tests/mutation/mutants.awk $(sources "$group") | sort | cut -f 2- |
            awk -v group="$group" '{ printf "%06d\t%s\t%s\n", NR, group, $0 }'
    done | sort -s -k 1,1n | cut -f 2-
}

# ---- One mutant

# Writes the mutant, and prints how it is called.
mutate() { # FILE LINE COLUMN LENGTH TEXT
    awk -v file="$1" -v line="$2" -v column="$3" -v n="$4" -v text="$5" -v to="$tree/$1" '
        FNR <= line && /^[a-z_].*\(/ {
            in_function = $0
            sub(/^__attribute__\(\(.*\)\) /, "", in_function)
            sub(/\(.*/, "", in_function)
            sub(/.*[ *]/, "", in_function)
        }
        FNR != line { print >to; next }
        {
            new = substr($0, 1, column - 1) text substr($0, column + n)
            print new >to
            sub(/^ +/, "")
            sub(/^ +/, "", new)
            print file ": " in_function ": " $0 " -> " new
        }' "$1"
}

code() { # SOURCE: the code that it is compiled to
    objcopy -g "$tree/build/obj/${1%.c}.o" "$tree/code.o" && cksum <"$tree/code.o"
}

compile() { # OUTPUT..., below build
    make -s -C "$tree" B=build "${@/#/build/}" >"$tree/log" 2>&1
}

# Prints the suite that notices the mutant; "none" if it is no program, or the same one; "survives" if no suite does.
judge() { # SOURCE SUITE...
    local source=$1 limit
    shift
    compile "obj/${source%.c}.o" && [ "$(code "$source")" != "${original[$source]}" ] || { echo none; return; }
    for suite; do
        compile "tests/$suite" || { echo none; return; }
        # A mutant may loop, or take all memory. The sanitizers reserve more than that, and have a limit of their own.
        case $suite in sanitized/*) limit=unlimited ;; *) limit=8000000 ;; esac
        (ulimit -v $limit && export ASAN_OPTIONS=hard_rss_limit_mb=8000 && cd "$tree" &&
            exec timeout -k 5 "${LIMIT:-120}" "build/tests/$suite" --fail-fast \
            >"$tree/log" 2>&1 </dev/null) || { echo "$suite"; return; }
    done
    echo survives
}

# Tries one: writes what became of it to a file, and keeps that.
try() { # GROUP FILE LINE COLUMN LENGTH TEXT
    local group=$1 file=$2 mutant key suites verdict
    shift
    mutant=$(mutate "$@")
    suites=$(words "$group" suites)
    key=$work/tried/$( (echo "$file: ${mutant#*: *: } $2" && cat "$file") | cksum | tr -d ' ')
    if known | grep -qxF -- "$mutant"; then
        echo "known: $mutant"
    elif [ -e "$key" ] && [ "$(cat "$key")" != survives ]; then
        echo "$(cat "$key"): $mutant"
    else
        # shellcheck disable=SC2086
        verdict=$(judge "$file" $suites)
        echo "$verdict" >"$key.new" && mv "$key.new" "$key"
        echo "$verdict: $mutant"
    fi
    cp "$file" "$tree/$file"
}

# ---- All of them

# Makes the copy of the tree in which a worker works, with everything compiled.
prepare() {
    tree=$work/tree$worker
    mkdir -p "$tree/build" "$work/tried"
    git ls-files -z | tar --null -c -T - | tar -x -C "$tree"
    [ -e "$tree/build/obj" ] || cp -a "$build/obj" "$tree/build/"
    for group in $(groups); do
        for source in $(sources "$group"); do
            compile "obj/${source%.c}.o" || { cat "$tree/log"; exit 1; }
            original[$source]=$(code "$source")
        done
    done
}

# Every jobs-th of the mutants, until the number is reached.
work() {
    local n=0 i=0
    declare -A original
    prepare
    while IFS=$'\t' read -r -a mutant; do
        [ $((i++ % jobs)) -eq "$worker" ] || continue
        [ $n -lt $(((number + jobs - 1 - worker) / jobs)) ] || break
        result=$(try "${mutant[@]}")
        case $result in none:*) continue ;; esac
        n=$((n + 1))
        echo "$result"
    done <"$work/drawn" >"$work/results$worker"
}

[ -n "$(groups)" ] || { echo "mutate.sh: ONLY=$ONLY: no such group in tests/mutation/suites" >&2; exit 2; }
mkdir -p "$work"
rm -f "$work"/results*
draw >"$work/drawn"
trap 'kill $(jobs -p) 2>/dev/null; wait; exit 1' INT TERM
for worker in $(seq 0 $((jobs - 1))); do
    work &
done
wait
cat "$work"/results* | sort >"$work/results"
echo "$(wc -l <"$work/results") mutants: $(grep -cvE '^(known|survives): ' "$work/results") noticed," \
    "$(grep -c '^known: ' "$work/results") known to be none, $(grep -c '^survives: ' "$work/results") not noticed"
sed -n 's/^survives: //p' "$work/results"
! grep -q '^survives: ' "$work/results"
