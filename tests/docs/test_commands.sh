#!/bin/bash
# Every command line of README.md, docs/, the manual pages and --help runs, and prints the output shown behind it.
#
#   test_commands.sh BUILD [PAGE...]          PAGE: only these
#   test_commands.sh BUILD --write [PAGE...]  writes the figures of the outputs anew into the pages
#
# The commands of one page run one after the other in one shell, in a folder of their own that looks like a clone after
# make: build, images, tests. commands.awk describes a page's marks for this test. Virtual times and addresses are exact
# if compiler and newlib are those that the pages' figures are measured with, or else may differ; so may process
# numbers. A line "..." stands for any lines.
set -u
. "$(dirname "$0")/../shell.sh"

build=$(readlink -f "$1")
clone=$(readlink -f "$(dirname "$0")/../..")
here=$clone/tests/docs
shift
write=
[ "${1:-}" != --write ] || { write=1; shift; }
for named; do
    shift
    set -- "$@" "$(readlink -f "$named")"
done
other=$(other_compiler "$build")
[ -z "$other" ] || echo "test_commands: $other; virtual times and addresses are not compared"
export LC_ALL=C
export PATH=$build/bin:$PATH
export TMPDIR=$scratch # what commands make there is not found by tests that look what is left in /tmp

# ---- Running a page

# Runs the commands N.command of the current folder, and writes the results to N.output and N.status.
run_page() {
    trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT
    local page_n=0 page_end # names that the commands do not use
    while [ -e $((++page_n)).command ]; do
        case $(<$page_n.mode) in skip\ *) continue ;; esac
        cd clone || exit 1
        eval "$(<../$page_n.command)" >../$page_n.output 2>&1 </dev/null
        echo $? >../$page_n.status
        cd ..
        case $(<$page_n.command) in *\&) # it has said what is shown when that many lines are there
            page_end=$((SECONDS + 60))
            until [ "$(wc -l <$page_n.output)" -ge "$(grep -vcx '[.][.][.]' $page_n.expected)" ] ||
                [ $SECONDS -gt $page_end ]; do
                sleep 0.02
            done ;;
        esac
    done
}

export -f run_page

# Masks what may differ: process numbers, and figures with a unit and addresses where they depend on the host or on the
# compiler.
mask() { # MODE
    sed -E 's/\((ncube|xnc) [0-9]+/(\1 #/g' |
        case $1,$other in
        *"host times"* | *,?*) mask_figures ;;
        *) cat ;;
        esac
}

mask_figures() {
    sed -E 's/[0-9]+(\.[0-9]+)?( ?((us|ms|s|cycles|MB\/s)\b|%))/#\2/g; s/\b(us|mb_s|[a-z]+_us)=[0-9.]+/\1=#/g
        s/0x[0-9a-f]+/0x#/g; s/  +#/ #/g'
}

mask_numbers() {
    sed -E 's/0x[0-9a-f]+|[0-9]+(\.[0-9]+)?/#/g; s/[ \t]+/ /g; s/-+/-/g'
}

# Prints the lines of N.expected as the output has them, if they are in it but for what a command masks.
align() { # N COMMAND...
    local n=$1
    shift
    "$@" <"$n.expected" >expected
    "$@" <"$n.output" >actual
    awk -v mode="$(<"$n.mode")" -f "$here/align.awk" of=1 "$n.expected" of=2 "$n.output" of=3 expected of=4 actual
}

# Notes the lines of a page whose figures are others now, as NUMBER LINE.
renew() { # NAME N
    if ! align "$2" mask_figures >"$2.new" && ! align "$2" mask_numbers >"$2.new"; then
        failed=$((failed + 1))
        echo "failed: $1: more than numbers differ: $(head -n 1 "$2.command")" >&2
        return
    fi
    paste -d '\n' "$2.expected" "$2.new" |
        awk -v from="$(cat "$2.from")" 'NR % 2 { was = $0; next } $0 != was { print from + NR / 2 - 1, $0 }' >>renewed
}

is_mode() { [[ $1 =~ ^((any order|among others|host times)(, |$))*$|^set-up$ ]]; }

judge() { # NAME N
    local mode status command
    mode=$(<"$2.mode")
    case $mode in
    skip\ ?*) return ;;
    esac
    check "$1: one of its modes" is_mode "$mode"
    read -r command <"$2.command"
    status=
    [ ! -e "$2.status" ] || status=$(<"$2.status")
    same "$1: status of: $command" 0 "$status"
    [ "$status" = 0 ] || cat "$2.output" >&2
    [ -s "$2.expected" ] || return
    if align "$2" mask "$mode" >/dev/null; then
        passed=$((passed + 1))
    elif [ "$write" ]; then
        renew "$1" "$2"
    else
        failed=$((failed + 1))
        echo "failed: $1: prints something else: $command" >&2
        diff expected actual >&2
    fi
}

# Writes the lines that were noted into the page.
write_renewed() { # FILE ROFF
    [ -s renewed ] || return
    awk -v roff="$2" 'NR == FNR { number = $1; sub(/^[0-9]+ /, ""); new[number] = $0; next }
        FNR in new {
            $0 = new[FNR]
            if (roff) {
                gsub(/\\/, "\\e")
                gsub(/-/, "\\-")
                if (/^[.\47]/)
                    $0 = "\\&" $0
            }
        }
        1' renewed "$1" >page.new
    cat page.new >"$1"
    echo "figures: ${1#"$clone"/} is new"
}

page() { # FILE ROFF
    local folder=$scratch/pages/${1//\//-} n
    mkdir -p "$folder/clone"
    cd "$folder" || exit 1
    n=$(awk -v to=. -v roff="$2" -f "$here/commands.awk" "$1")
    check "$1: every command line has its \"\$ \"" test $? -eq 0
    [ "$n" -gt 0 ] || return
    ln -s "$build" clone/build
    ln -s "$clone/images" "$clone/tests" "$clone/docs" clone/
    NCUBE_NAME=docs-$$ timeout 1800 bash -c run_page # and ends what its commands have left in the background
    find . -maxdepth 1 -name '*.output' -exec sed -i "s/docs-$$/ncube/g" {} +
    for i in $(seq "$n"); do
        judge "$(sed "s|^$clone/||" "$i.line")" "$i"
    done
    write_renewed "$1" "$2"
    commands=$((commands + n))
}

# A file's name tells a manual page from Markdown.
pages() { # FILE...
    local file
    for file; do
        case $file in
        *.md) page "$file" 0 ;;
        *) page "$file" 1 ;;
        esac
    done
}

commands=0
if [ $# -gt 0 ]; then
    pages "$@"
    finish
fi
pages "$clone"/README.md "$clone"/CONTRIBUTING.md "$clone"/docs/*.md "$clone"/docs/course/README.md \
    "$clone"/docs/man/*/*
[ -z "$write" ] || finish
for command in ncube xnc ncc; do
    { echo '```'; "$build/bin/$command" --help 2>/dev/null | sed -n 's/^ *\$ /$ /p'; echo '```'; } \
        >"$scratch/$command--help.md"
    pages "$scratch/$command--help.md"
done
check "there are command lines" test $commands -ge 30

# ---- Mentions: targets of make, options of commands

cd "$scratch" || exit 1
targets=$(sed -n 's/^\.PHONY: *//p' "$clone/Makefile" "$clone"/*/module.mk | xargs)
for mention in $(grep -ohE '`make [a-z0-9-]+' "$clone"/README.md "$clone"/CONTRIBUTING.md \
    "$clone"/docs/*.md "$clone"/docs/papers/*.md |
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
