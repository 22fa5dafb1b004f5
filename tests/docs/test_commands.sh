#!/bin/bash
# Every command line of README.md, docs/, the manual pages and --help runs, and prints the output shown behind it.
# BUILD is the argument.
#
# The commands of one page run one after the other in one shell, in a folder of their own that looks like a clone after
# make: build, images, tests. commands.awk describes a page's marks for this test. Figures with a unit, process ids and
# addresses may differ from those shown, as they depend on the compiler; a line "..." stands for any lines.
set -u
. "$(dirname "$0")/../shell.sh"

build=$(readlink -f "$1")
clone=$(readlink -f "$(dirname "$0")/../..")
here=$clone/tests/docs
export LC_ALL=C
export PATH=$build/bin:$PATH

# ---- Running a page

# Runs the commands N.command of the current folder, and writes the results to N.output and N.status.
run_page() {
    trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT
    local page_n=0 page_end # names that the commands do not use
    while [ -e $((++page_n)).command ]; do
        case $(cat $page_n.mode) in skip\ *) continue ;; esac
        cd clone || exit 1
        eval "$(cat ../$page_n.command)" >../$page_n.output 2>&1 </dev/null
        echo $? >../$page_n.status
        cd ..
        case $(cat $page_n.command) in *\&) # it has said what is shown when that many lines are there
            page_end=$((SECONDS + 20))
            until [ "$(wc -l <$page_n.output)" -ge "$(wc -l <$page_n.expected)" ] || [ $SECONDS -gt $page_end ]; do
                sleep 0.02
            done ;;
        esac
    done
}

export -f run_page

# Masks the parts that may differ: a figure with its unit, an address, a process.
mask() { # MODE
    sed -E "s/docs-$$/ncube/g" |
        if [ "$1" = exact ]; then cat; else
            sed -E 's/[0-9]+(\.[0-9]+)?( ?((us|ms|s|cycles|MB\/s)\b|%))/#\2/g; s/  +#/ #/g; s/0x[0-9a-f]+/0x#/g
                    s/\((ncube|xnc) [0-9]+/(\1 #/g'
        fi
}

# Succeeds if the expected text, with its lines "...", matches the output.
matches() { # MODE EXPECTED ACTUAL
    case $1 in "any order" | "among others")
        grep -vxF ... "$2" | sort >wanted
        sort "$3" >got
        [ -z "$(comm -23 wanted got)" ] &&
            { [ "$1" = "among others" ] || grep -qxF ... "$2" || cmp -s wanted got; }
        return ;;
    esac
    awk 'NR == FNR { want[++n] = $0; next }
         { got[++m] = $0 }
         function fits(i, j) {
             if (i > n)
                 return j > m
             if (want[i] == "...")
                 return fits(i + 1, j) || (j <= m && fits(i, j + 1))
             return j <= m && want[i] == got[j] && fits(i + 1, j + 1)
         }
         END { exit !fits(1, 1) }' "$2" "$3"
}

judge() { # NAME N
    local mode
    mode=$(cat "$2.mode")
    case $mode in
    skip\ ?*) return ;;
    esac
    check "$1: one of its modes" grep -qxE 'exact|any order|among others|set-up|' <<<"$mode"
    same "$1: status of: $(head -n 1 "$2.command")" 0 "$(cat "$2.status" 2>/dev/null)"
    [ "$(cat "$2.status" 2>/dev/null)" = 0 ] || cat "$2.output" >&2
    [ -s "$2.expected" ] || return
    mask "$mode" <"$2.expected" >expected
    mask "$mode" <"$2.output" >actual
    if matches "$mode" expected actual; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $1: prints something else: $(head -n 1 "$2.command")" >&2
        diff expected actual >&2
    fi
}

page() { # FILE ROFF
    local folder=$scratch/pages/${1//\//-} n
    mkdir -p "$folder/clone"
    ln -s "$build" "$folder/clone/build"
    ln -s "$clone/images" "$clone/tests" "$clone/docs" "$folder/clone/"
    cd "$folder" || exit 1
    n=$(awk -v to=. -v roff="$2" -f "$here/commands.awk" "$1")
    check "$1: every command line has its \"\$ \"" test $? -eq 0
    [ "$n" -gt 0 ] || return
    NCUBE_NAME=docs-$$ timeout 100 bash -c run_page # and ends what its commands have left in the background
    for i in $(seq "$n"); do
        judge "$(cat "$i.line" | sed "s|^$clone/||")" "$i"
    done
    commands=$((commands + n))
}

commands=0
for file in "$clone"/README.md "$clone"/CONTRIBUTING.md "$clone"/docs/*.md; do
    page "$file" 0
done
for file in "$clone"/docs/man/*/*; do
    page "$file" 1
done
for command in ncube xnc ncc; do
    { echo '```'; "$build/bin/$command" --help 2>/dev/null | sed -n 's/^ *\$ /$ /p'; echo '```'; } \
        >"$scratch/$command--help"
    page "$scratch/$command--help" 0
done
check "there are command lines" test $commands -ge 30

# ---- Mentions: targets of make, options of commands

cd "$scratch" || exit 1
targets=$(sed -n 's/^\.PHONY: *//p' "$clone/Makefile" "$clone"/*/module.mk | xargs)
for mention in $(grep -ohE '`make [a-z0-9-]+' "$clone"/README.md "$clone"/CONTRIBUTING.md "$clone"/docs/*.md "$clone"/docs/papers/*.md |
    sed 's/`make //' | sort -u); do
    check "make $mention is a target" grep -qw -- "$mention" <<<"$targets"
done
for command in xnc "ncube run" "ncube boot" "ncube down" "ncube ps" "ncube topo" "ncube route" "ncube place" \
    "ncube map"; do
    $command --help >help
    for option in $(grep -ohE "\`(build/bin/)?$command [^\`]*\`" "$clone"/README.md "$clone"/docs/*.md |
        grep -oE -- ' --[a-z]+' | sort -u); do
        check "$command $option" grep -qE -- "^  .* $option\b" help
    done
done

# The manual page of the machine file has all keys of the reference.
for key in $(sed -nE 's/^\| `([a-z_]+)`(, `([a-z_]+)`)? \|.*/\1 \3/p' "$clone/docs/machine-file.md"); do
    check "ncube-machine(5) has $key" grep -qE "^\.B .*\b$key\b" "$clone/docs/man/man5/ncube-machine.5"
done

finish
