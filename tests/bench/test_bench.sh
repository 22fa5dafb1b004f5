#!/bin/bash
# Each row of make bench can be measured (of those of racks, the drawn ones), and stands with its aim in
# docs/performance.md. BUILD is the argument.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/shell.sh

build=$(readlink -f "$1")
bench="python3 -B $PWD/images/measure/measure.py"

$bench "$build" bench --list >"$scratch/rows"
sed -n '/^| what | row |/,/^$/p' docs/performance.md >"$scratch/table"
# Those of racks take seconds each, since MPI starts: one of four.
rows=$(cut -f 1 "$scratch/rows" | grep -v '^racks_')
# shellcheck disable=SC2046
rows+=" $(drawn_of 4 $(cut -f 1 "$scratch/rows" | grep '^racks_'))"
rows=$(xargs <<<"$rows" | tr ' ' ,)
ROWS=$rows SHORT=1 LARGE=1 RUNS=1 $bench "$build" bench >"$scratch/figures" 2>"$scratch/errors"
same "status of all rows in small" 0 $?
same "errors of all rows in small" "" "$(cat "$scratch/errors")"
check "there are rows" [ "$(wc -l <"$scratch/rows")" -gt 20 ]
figure='^ +([1-9][0-9.]*|0\.0*[1-9][0-9]*|0\.0[01]?)( s| GB|/s)? '
while IFS=$'\t' read -r name aim what; do
    line=$(grep "^$name " "$scratch/figures")
    rest=${line#"$name"*"$what"}
    [[ ,$rows, != *,$name,* ]] || check "$name: a figure behind what it is" grep -qE "$figure" <<<"$rest"
    check "$name: the page has it with its aim" grep -qxF "| $what | \`$name\` | $aim |" \
        <(sed 's/^\(| [^|]* | `[a-z_0-9]*` |\)[^|]*|/\1/' "$scratch/table")
done <"$scratch/rows"
same "the page has no other rows" "$(cut -f 1 "$scratch/rows" | sort)" \
    "$(sed -n 's/^| [^|]* | `\([a-z_0-9]*\)` |.*/\1/p' "$scratch/table" | sort)"

# ---- The host's code for a loop: what counted measures is what QEMU generates

counted=$build/tests/bench/counted
other=$(other_compiler "$build")
if [ ! -x "$counted" ]; then
    skip "the code that counted measures" "the host is no x86-64"
elif [ -n "$other" ]; then
    skip "the code that counted measures" "$other"
else
    mkdir "$scratch/qemu"
    cat >"$scratch/qemu/qemu-system-riscv64" <<'END'
#!/bin/bash
PATH=${PATH#*:} exec qemu-system-riscv64 "$@" -d in_asm,out_asm -D "$LOG"
END
    chmod +x "$scratch/qemu/qemu-system-riscv64"
    "$build/bin/ncc" -O2 -I. -DWORK=integer -o "$scratch/integer" tests/bench/compute.c
    LOG=$scratch/log PATH=$scratch/qemu:$PATH "$build/bin/ncube" run "$scratch/integer" 1000 1 >"$scratch/out"
    # From the first comparison of a block to the one of the loop's end.
    to_loop_end() {
        sed 's/[bwlq]$//' | awk '/^(nop|data16)/ { next } { print } /^jne/ && ++n == 3 { exit }' | tr '\n' ' '
    }
    awk '/^IN:/ { getline; loop = / mul / } /^-----/ { out = 0 } /^OUT/ && loop { out = 1 }
        out && /^0x/ && sub(/^0x[0-9a-f]+: +([0-9a-f][0-9a-f]( |$))+ */, "") && /^[a-z]/ { print $1 }' \
        "$scratch/log" | to_loop_end >"$scratch/qemus"
    objdump -d -M suffix --no-show-raw-insn --disassemble=counted_as_it_is "$counted" |
        awk '/^ +[0-9a-f]+:/ && $2 !~ /^push/ && !/%rdi,%rbp/ { print $2 }' | to_loop_end >"$scratch/counteds"
    check "QEMU's code was found" grep -q imul "$scratch/qemus"
    same "the code that counted measures" "$(cat "$scratch/qemus")" "$(cat "$scratch/counteds")"
    SHORT=1 "$counted" | awk '{ print $(NF - 1), $NF }' >"$scratch/ratios"
    same "counted: variants with a time" 9 "$(grep -c '^ns [0-9]*[.][0-9][0-9]$' "$scratch/ratios")"
fi

# ---- The model of more processors

SHORT=1 RUNS=1 python3 -B "$PWD/images/measure/measure.py" "$build" processors >"$scratch/out" 2>"$scratch/errors"
same "status of the model, in small" 0 $?
same "errors of the model, in small" "" "$(cat "$scratch/errors")"
constants='^s = -?[0-9]+ us, u = [0-9.]+ us/ms; two processors: n = -?[0-9]+ us, e = [0-9.]+$'
check "its constants" grep -qE "$constants" "$scratch/out"
same "its grains" "10 50 100 200 400 800" "$(awk '/^ +[0-9]+ / { printf "%s%s", sep, $1; sep = " " }' "$scratch/out")"
same "its measurements" 12 "$(grep -o '([0-9]*)' "$scratch/out" | wc -l)"

# ---- Which rows

cd "$scratch" || exit 1
cp -r "$OLDPWD/tests" .
mkdir -p fake/bin
for program in ncube ncc; do
    printf '#!/bin/sh\necho "$0 $*" >>%s/calls\n' "$scratch" >fake/bin/$program
    chmod +x fake/bin/$program
done
names_of() { # VARIABLE=VALUE...
    env "$@" RUNS=1 $bench fake bench 2>&1 | cut -d ' ' -f 1 | tr '\n' ' '
}
same "a row by its name" "hello " "$(names_of ROWS=hello)"
same "rows by their names, in their order" "poll_cost hello " "$(names_of ROWS=poll_cost,hello)"
same "a pattern leaves large rows out" "barriers_64 barriers_256 barriers_1024 " "$(names_of 'ROWS=barriers_*')"
same "a large row by its name" "barriers_4096 " "$(names_of ROWS=barriers_4096)"
same "large rows by the switch" "hello_256 hello_1024 hello_8192 " "$(names_of LARGE=1 'ROWS=hello_[0-9]*')"

mkdir -p other/bin other/examples
cp fake/bin/ncube other/bin
: >calls
AGAINST=other RUNS=2 ROWS=hello $bench fake bench >two 2>&1
same "a row by two builds: names" "hello by " "$(sed 's/other.*//' two | awk '{printf "%s ", $1}')"
same "a row by two builds: each begins in its turn" "$(printf '%s/bin/ncube run -d 0 %s/examples/hello\n' fake fake \
    other other other other fake fake)" "$(cat calls)"
status "no other build" 2 env AGAINST=missing ROWS=hello $bench fake bench
same "the other build is named" "bench: AGAINST=missing: give a folder in which everything is built" "$(cat err)"

status "an unknown row" 2 env ROWS=hello,bariers $bench fake bench
same "an unknown row is named" "bench: ROWS: no row is called 'bariers'; there are: hello" \
    "$(sed 's/ hello .*/ hello/' err)"
status "no number of runs" 2 env RUNS=0 $bench fake bench
same "the bad number is named" "bench: RUNS=0: how many runs? Give a number from 1 on" "$(cat err)"
status "no build" 2 $bench missing bench
printf '#!/bin/sh\necho "no memory" >&2\nexit 1\n' >fake/bin/ncube
status "a command that fails" 1 env ROWS=hello $bench fake bench
same "it is named with its last line" "bench: failed: fake/bin/ncube run -d 0 fake/examples/hello: no memory" \
    "$(cat err)"

finish
