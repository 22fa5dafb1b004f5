#!/bin/bash
# Command lines of ncube, of each of its commands and of xnc: they must take exactly the options that --help lists.
# BUILD is the argument. Nothing is booted.
set -u
. "$(dirname "$0")/../shell.sh"

build=$(readlink -f "$1")
ncube=$build/bin/ncube
xnc=$build/bin/xnc
cd "$scratch" || exit 1
export NCUBE_NAME=options-$$
echo "dim = 1;" >one.conf

# refused NAME MESSAGE COMMAND...: exit status 2, nothing on standard output, one line that begins so.
refused() {
    local name=$1 message=$2 printed said
    shift 2
    status "$name" 2 timeout 60 "$@" </dev/null # what is not refused may boot a machine
    mapfile -t printed <out
    mapfile -t said <err
    same "$name: lines" "0 1" "${#printed[@]} ${#said[@]}"
    said+=("") # where it has said nothing
    same "$name: what it says" "$message" "${said[0]:0:${#message}}"
}

full_device() { # COMMAND...
    "$@" >/dev/full
}

# The options of a help on standard input, one a line: long name, letter or '-', value: none, VALUE or [VALUE]
list_options() {
    sed -nE 's/^  (-(.),|   ) --([a-z-]+)(\[?)(=([A-Z]+)\]?)? .*/\3 \2- \4\6/p' |
        sed -E 's/^([^ ]+) (.)-? /\1 \2 /; s/ -- / - /; s/ $/ none/'
}

judge() { # "ncube run": its name, and its words
    local name=$1 long letter value
    shift
    status "$name --help" 0 "$@" --help
    same "$name --help: the first line" "Usage: $name " "$(head -n 1 out | cut -c "-$((${#name} + 8))")"
    same "$name --help: on standard error" 0 "$(wc -c <err)"
    same "$name --help: lines of more than 130 columns" "" "$(grep -v '^  \$ ' out | grep -E '.{131}')"
    list_options <out >options
    status "$name -h" 0 "$@" -h
    status "$name --help to a full device" 1 full_device "$@" --help
    check "$name: it has --help" grep -qx 'help h none' options
    refused "$name --no-such" "${name%% *}: unknown option '--no-such'; see $name --help" "$@" --no-such
    refused "$name --no-such=1" "${name%% *}: unknown option '--no-such'; see $name --help" "$@" --no-such=1
    refused "$name -Z" "${name%% *}: unknown option '-Z'; see $name --help" "$@" -Z
    while read -r long letter value; do
        grep -q "^${long%?} " options || # as --core of --cores
            refused "$name --${long%?}" "${name%% *}: unknown option '--${long%?}'" "$@" "--${long%?}"
        case $value in
        none) refused "$name --$long=1" "${name%% *}: option '--$long' takes no value" "$@" "--$long=1" ;;
        \[*) ;;
        *)
            refused "$name --$long" "${name%% *}: option '--$long' needs a value" "$@" "--$long"
            [ "$letter" = - ] || refused "$name -$letter" "${name%% *}: option '-$letter' needs a value" "$@" "-$letter"
            ;;
        esac
    done <options
}

commands=$("$ncube" --help | sed -n 's/^  ncube \([a-z]*\) .*/\1/p' | xargs)
check "ncube --help names its commands" test "$(wc -w <<<"$commands")" -ge 6
judge ncube "$ncube"
judge xnc "$xnc"
for command in $commands; do
    judge "ncube $command" "$ncube" "$command"
done

refused "no command" "ncube: no command given" "$ncube"
refused "an unknown command" "ncube: unknown command 'walk'" "$ncube" walk
refused "an option before the command" "ncube: unknown option '--json'" "$ncube" --json topo one.conf

# ---- Options stand anywhere

for line in "--json one.conf" "one.conf --json" "--json -- one.conf"; do
    status "topo $line" 0 "$ncube" topo $line
    check "topo $line: as JSON" grep -q '"dim": 1' out
done
status "options behind --" 2 "$ncube" topo -- one.conf --json
for line in "--bytes=0 one.conf 0 1" "one.conf --bytes 0 0 1" "one.conf 0 --bytes=0 1" "one.conf 0 1 --bytes 0"; do
    status "route $line" 0 "$ncube" route $line
    check "route $line: of that length" grep -q '117 cycles' out
done
status "as POSIX has it, too" 0 env POSIXLY_CORRECT=1 "$ncube" topo one.conf --json
refused "boot, behind the machine file" "ncube: cores '0': give a number" "$ncube" boot one.conf --cores 0
refused "down, behind a word" "ncube: name '/': give" "$ncube" down --name=/
refused "a number with a sign" "ncube: dimension '+1': give a number from 0 to 13" "$ncube" run -d +1 prog
refused "a number after a space" "ncube: dimension ' 1': give a number from 0 to 13" "$ncube" run -d ' 1' prog

# Words behind a program's name belong to the program; likewise behind a later program's name.
program_options() { # NAME COMMAND...
    local name=$1
    shift
    status "$name: options of the program" 1 "$@" ./prog --no-such -Z --help
    status "$name: options of a later program" 1 "$@" -d 1 ./prog : -n 1 ./prog --help
    refused "$name: options of the job behind ':'" "${name%% *}: after ':' only the option -n" \
        "$@" -d 1 ./prog : --label ./prog
    refused "$name: -n behind ':'" "${name%% *}: nodes '0'" "$@" ./prog : -n0 ./prog
    refused "$name: --nodes behind ':'" "${name%% *}: nodes '0'" "$@" ./prog : --nodes 0 ./prog
}
program_options "ncube run" "$ncube" run
program_options xnc "$xnc" --name "nobody-$$"

# ---- What may have been meant

while IFS='|' read -r words command message; do
    # shellcheck disable=SC2086
    refused "ncube $words" "ncube: unknown $message; see $command --help" "$ncube" $words
done <<'END'
rnu|ncube|command 'rnu'; did you mean 'ncube run'?
repot|ncube|command 'repot'; did you mean 'ncube report'?
xyzzy|ncube|command 'xyzzy'
run --lable x|ncube run|option '--lable'; did you mean '--label'?
run --stat x|ncube run|option '--stat'; did you mean '--stats'?
down --nam=x|ncube down|option '--nam'; did you mean '--name'?
disk crate 4M|ncube disk|verb 'crate'; did you mean 'create'?
END
status "a machine that is not there" 1 "$ncube" topo sandai
same "which is meant" "ncube: sandai: No such file or directory; did you mean 'sandia'?" "$(cat err)"

refused "a program in place of a report's name" \
    "ncube: report './hello' is a program, not a name for the page; give one, such as --report=page.html ./hello;" \
    env -C "$build/examples" "$ncube" run --report ./hello
refused "no program, and a report's name" "ncube: no program given; './nosuch' is the file of --report;" \
    "$ncube" run --report ./nosuch

# ---- Control characters in names, those of C1 too

for bad in $'\033' $'\x9b' $'\xc2\x9b'; do
    name=a${bad}z
    echo 'dim = 1;' >"$name.conf"
    ln -sf /nowhere "$name.elf"
    for words in "ncube $name" "ncube run --$name" "ncube run ./$name.elf" "ncube run -m $name -d 0 x" \
        "ncube topo $name" "ncube check $name" "ncube check $name.conf" "ncube route $name 0 1" "ncube report $name" \
        "ncube disk ls $name:/" "ncube disk ls -m $name //df00/" "ncube disk create $name/x 4M" \
        "ncube experiments $name" "ncube map --svg=$name/x cyclic_16_2" "xnc --name=$name ./x"; do
        read -ra list <<<"$words"
        PATH=$build/bin:$PATH "${list[@]//_/ }" >shown 2>&1 </dev/null
        check "${words//$bad/?}: a ? for it" grep -q 'a?z' shown
        check "${words//$bad/?}: nothing controls a terminal" sh -c '! LC_ALL=C grep -q "$0" shown' "$bad"
    done
done

# ---- Errors begin with the program's name, whatever its command

failing="run ./none|replay none|record show none|boot none|down --name none-$$|ps -m none-$$|top --once --name none-$$
gdb none-$$|check none|topo none|route none 0 1|place none df00|report none|experiments none|model -m none
disk ls none:/|map --svg none/x cyclic_16_2|star show none"
same "a failure of each command" "$commands" "$(tr '|' '\n' <<<"$failing" | cut -d ' ' -f 1 | xargs)"
while read -r -a words; do
    status "${words[0]} that fails" 1 timeout 60 "$ncube" "${words[@]//_/ }"
    same "${words[0]} that fails: its error, of a line" "ncube: 1" "$(cut -d ' ' -f 1 err) $(wc -l <err)"
done < <(tr '|' '\n' <<<"$failing")
status "xnc that fails" 1 "$xnc" --name "none-$$" ./none
same "xnc that fails: its error" "xnc:" "$(cut -d ' ' -f 1 err)"

# ---- -m MACHINE in every command that takes a machine file

for words in "topo MACHINE" "route MACHINE 0 1" "place MACHINE df00"; do
    # shellcheck disable=SC2086
    "$ncube" ${words/MACHINE/-m tiny} >named 2>&1
    # shellcheck disable=SC2086
    status "ncube $words" 0 "$ncube" ${words/MACHINE/tiny}
    check "ncube $words: the same with -m" cmp -s out named
done
refused "both" "ncube: unexpected word 'tiny'" "$ncube" topo tiny -m tiny
status "check -m" 0 "$ncube" check -m one.conf
status "boot -m of none" 1 "$ncube" boot -m sandai

# ---- Words to choose from

while IFS='|' read -r words message; do
    # shellcheck disable=SC2086
    refused "ncube $words" "ncube: $message;" "$ncube" $words
done <<'END'
run --status=last x|status 'last': give highest, first or node0
run --sync=strictly x|sync 'strictly': give ahead or strict
boot --harts= x|harts '': give threads, turns or inside
END
status "model -m" 0 "$ncube" model -m tiny
cp out named
status "model of as many" 0 "$ncube" model --disks "$("$ncube" topo tiny --json | grep -c '"index"')"
check "model -m is that" cmp -s out named
refused "model, both" "ncube: -m and --disks both give" "$ncube" model -m tiny --disks 2
refused "model of no drives" "ncube: the machine 'one.conf' has no drives" "$ncube" model -m one.conf

# ---- boot --detach returns when the machine is up

export NCUBE_NAME=detached-$$
status "boot --detach" 0 timeout 60 "$ncube" boot -m one.conf --detach
same "it says so" "ncube: the machine '$NCUBE_NAME' is up: 2 nodes, 0 volumes" "$(cat out)"
check "the machine is up" grep -q "^$NCUBE_NAME: up" <("$ncube" ps)
for words in "ncube ps" "ncube top --once"; do
    status "$words -m" 0 "$build"/bin/$words -m "$NCUBE_NAME"
    check "$words -m: that machine" grep -q "^$NCUBE_NAME" out
done
near=${NCUBE_NAME/ch/hc}
for words in "ncube ps" "ncube top --once" "ncube gdb" "ncube down" "xnc"; do
    status "$words -m of none" 1 "$build"/bin/$words -m "$near" $([ "$words" != xnc ] || echo ./hello)
    check "$words -m of none: what was meant" \
        grep -qE "^(ncube|xnc): no machine called '$near' is up; did you mean '$NCUBE_NAME'\?$" err
done
status "ps -m of none, and none near" 1 "$ncube" ps -m nothing-of-the-kind
check "which machines are up" grep -qE \
    "^ncube: no machine called 'nothing-of-the-kind' is up; those that are: .*'$NCUBE_NAME'" err
status "down -m" 0 env -u NCUBE_NAME timeout 60 "$ncube" down -m "$NCUBE_NAME"
status "boot --detach of a machine that cannot be" 1 timeout 60 "$ncube" boot -m none.conf --detach
refused "statistics that nobody would see" "ncube: detach: what --stats prints would be lost" \
    "$ncube" boot -d 1 --detach --stats

finish
