#!/bin/bash
# Measures the rows of the first table of docs/performance.md on this host, and prints for each: its name, what it is,
# the figure, and the aim.
#
#   bench.sh BUILD           measures
#   bench.sh --list          prints name, aim and what it is, for each row, between tabs
#
# ROWS=NAME,...    only these rows; a name may be a pattern, as jacobi_*
# LARGE=1          also those that take minutes or GB of memory, unless ROWS names them anyway
# RUNS=N           best of N runs (default 3)
# SHORT=1          all in small: shows that each row can be measured, its figures mean nothing
#
# What is compared runs in turn, so that both sides meet the same host. Other work on the host makes all figures worse;
# ratios of what runs on one processor compare processor time, which suffers less. In brackets are the two sides of a
# ratio, and the processor time of all processes of what was measured. Exit status: 2 for usage, 1 if a command
# fails.
set -u

here=$(dirname "$0")
export LC_ALL=C
PATH=$PATH:/usr/sbin:/sbin # mke2fs
TIMEFORMAT='%R %U %S'

die() {
    echo "bench: $2" >&2
    exit "$1"
}

# ---- Rows

names=()
declare -A aim_of what_of measure_of is_large

row() { # [large] NAME AIM WHAT COMMAND...: the command measures, and calls `say`
    local large=
    if [ "$1" = large ]; then
        large=1
        shift
    fi
    names+=("$1")
    is_large[$1]=$large
    aim_of[$1]=$2
    what_of[$1]=$3
    measure_of[$1]="${*:4}"
}

row hello "< 0.5 s" "hello, one node" hello 0
row hello_volumes "< 1.5 s" "hello, \`sandia.conf\` with 8 volumes" hello_volumes
row hello_256 - "hello, 256 nodes" hello 8
row hello_1024 - "hello, 1024 nodes" hello 10
row large hello_8192 "20 s" "hello, 8192 nodes" hello 13
row start_1024 "1.0 s" "start of 1024 nodes" start 10
row large start_8192 "9 s" "start of 8192 nodes" start 13
row memory_1024 - "memory (sum of PSS), 1024 nodes have said hello" memory 10
row large memory_8192 "6 GB" "the same, 8192 nodes" memory 13
row demo "3 s" "\`make demo\`, nothing to build" demo
row integer 0.9 "one node computes with integers, against plain QEMU" against_plain integer 800000000
row floating 0.9 "the same, floating point" against_plain floating 160000000
row branches 0.9 "the same, branches" against_plain branches 60000000
row chase 0.9 "the same, pointers through 4 MB" against_plain chase 20000000
row stream 0.9 "the same, 2 MB read and written" against_plain stream 1000000000
row statistics - "integers, with \`--stats\` against without" statistics
row exchange ">= 1.4" "64 nodes compute, 8 bytes to a neighbour every 10 ms, against 64 harts of plain QEMU" exchange
row trips "60,000/s" "two nodes, 8 bytes there and back, on one processor" trips
row poll_cost "4 s" "63 nodes poll with ntest for a second of virtual time" polls
row exact_slow "2" "two of 64 nodes exchange messages, all with a handler that is not called, against without" handlers
row barriers_64 "0.15 s" "20 barriers, 64 nodes" barriers 6
row barriers_256 "0.7 s" "20 barriers, 256 nodes" barriers 8
row barriers_1024 "5 s" "20 barriers, 1024 nodes" barriers 10
row large barriers_4096 "30 s" "20 barriers, 4096 nodes" barriers 12
row jacobi_64 2 "Jacobi's iteration, 64 nodes: virtual over host time" jacobi 6
row jacobi_256 0.5 "the same, 256 nodes" jacobi 8
row jacobi_1024 0.1 "the same, 1024 nodes" jacobi 10
row parallel_1024 "30 s" "1024 nodes write and read a PIO file of 64 MB on 64 drives: processor time" parallel

# ---- Measuring

small() { # NORMAL SHORT: the first, or the second if all is small
    [ -n "${SHORT-}" ] && echo "$2" || echo "$1"
}

# Runs a command, and keeps the least wall time and the least processor time of all runs of the same name, in seconds.
timed() { # NAME COMMAND...
    local name=$1 real user system
    shift
    { time "$@" >"$work/out" 2>&1 </dev/null; } 2>"$work/time" || die 1 "failed: $*: $(tail -n 1 "$work/out")"
    read -r real user system <"$work/time"
    wall[$name]=$(calculate "m = ${wall[$name]:-1e9}; m < $real ? m : $real")
    cpu[$name]=$(calculate "m = ${cpu[$name]:-1e9}; t = $user + $system; m < t ? m : t")
}

# Runs the commands of the arrays `one` and `other` in turn.
both() {
    for _ in $(seq "$runs"); do
        timed one "${one[@]}"
        timed other "${other[@]}"
    done
}

calculate() { # "[ASSIGNMENT;] EXPRESSION" of awk
    awk "BEGIN { ${1%;*}; printf \"%.6g\", (${1##*;}) }"
}

say() { # FORMAT EXPRESSION [REMARK]
    local figure
    figure=$(awk "BEGIN { printf \"$1\", ($2) }")
    printf '%-14s %-88s %10s  %8s%s\n' "$now" "${what_of[$now]}" "$figure" "${aim_of[$now]}" "${3:+  ($3)}"
}

# A difference of two times, of which none is less than the clock can tell
less() { # TIME TIME
    calculate "d = $1 - $2; d > 0.001 ? d : 0.001"
}

say_time() { # WALL PROCESSOR, in seconds
    say "%.2f s" "$1" "$(printf 'processor %.2f s' "$2")"
}

say_ratio() { # of the times of `one` over `other`, with both
    say "%.2f" "$1 / $2" "$(printf '%.2f s, %.2f s' "$1" "$2")"
}

best() { # COMMAND...
    for _ in $(seq "$runs"); do
        timed one "$@"
    done
}

node_program() { # NAME SOURCE OPTION...
    "$build/bin/ncc" -O2 -I. -o "$work/$1" "$here/$2.c" "${@:3}" || die 1 "cannot compile $2.c"
}

# plain QEMU with a work: sets `plain`
plain_program() { # WORK HARTS TURNS
    riscv64-unknown-elf-gcc -march=rv64gc -mabi=lp64d -mcmodel=medany -O2 -I. -nostdlib -ffreestanding \
        -Wl,--no-relax -Wl,-n -Wl,-Ttext=0x80000000 -Wl,--no-warn-rwx-segments -DWORK="$1" -DHARTS="$2" -DTURNS="$3" \
        -o "$work/plain_$1" "$here/plain.S" "$here/plain.c" || die 1 "cannot compile plain.c"
    plain=(qemu-system-riscv64 -M virt -bios none -kernel "$work/plain_$1" -display none -monitor none -serial none
        -smp "$2")
}

# ---- What the rows measure

hello() { # DIM
    best "$ncube" run -d "$(small "$1" 2)" "$build/examples/hello"
    say_time "${wall[one]}" "${cpu[one]}"
}

hello_volumes() {
    for k in 0 1 2 3 4 5 6 7; do
        timed image mke2fs -q -t ext2 -F "$work/df0$k.img" 32M
    done
    best "$ncube" run -m images/sandia.conf --images "$work" "$build/examples/hello"
    say_time "${wall[one]}" "${cpu[one]}"
    rm "$work"/df0?.img
}

start() { # DIM
    local least=1e9 seconds
    for _ in $(seq "$runs"); do
        timed one "$ncube" run -d "$(small "$1" 2)" --stats="$work/stats" "$build/examples/hello"
        seconds=$(sed -n 's/.*"start_seconds": *\([0-9.]*\).*/\1/p' "$work/stats")
        least=$(calculate "${seconds:-1e9} < $least ? ${seconds:-1e9} : $least")
    done
    say "%.2f s" "$least"
}

# Sum of PSS in KB of a process and its children
pss() { # PROCESS
    local process
    for process in "$1" $(cat /proc/"$1"/task/*/children); do
        cat /proc/"$process"/smaps_rollup 2>/dev/null
    done | awk '/^Pss:/ { sum += $2 } END { print sum + 0 }'
}

memory() { # DIM
    local dim machine kb
    dim=$(small "$1" 2)
    node_program stays stays
    mkfifo "$work/hello"
    "$ncube" run -d "$dim" "$work/stays" >"$work/hello" 2>"$work/out" </dev/null &
    machine=$!
    [ "$(head -n $((1 << dim)) "$work/hello" | wc -l)" -eq $((1 << dim)) ] || die 1 "stays: $(tail -n 1 "$work/out")"
    kb=$(pss "$machine")
    kill "$machine"
    wait "$machine" 2>/dev/null
    rm "$work/hello"
    say "%.2f GB" "$kb / 1e6 * 1.024"
}

demo() {
    best make -s B="$build" demo
    say_time "${wall[one]}" "${cpu[one]}"
}

against_plain() { # WORK TURNS
    local turns
    turns=$(small "$2" 200000)
    node_program compute compute -DWORK="$1"
    plain_program "$1" 1 "$turns"
    one=("${plain[@]}") other=("$ncube" run "$work/compute" "$turns" 1)
    both
    say_ratio "${cpu[one]}" "${cpu[other]}"
}

statistics() {
    local turns
    turns=$(small 800000000 200000)
    node_program compute compute -DWORK=integer
    one=("$ncube" run "$work/compute" "$turns" 1)
    other=("$ncube" run --stats="$work/stats" "$work/compute" "$turns" 1)
    both
    say_ratio "${cpu[one]}" "${cpu[other]}"
}

exchange() {
    local each=7150 rounds # turns: 10 ms of virtual time
    rounds=$(small 400 2)
    node_program compute compute -DWORK=integer
    plain_program integer 64 $((each * rounds))
    one=("${plain[@]}") other=("$ncube" run -d 6 "$work/compute" "$each" "$rounds")
    both
    say_ratio "${wall[one]}" "${wall[other]}"
}

trips() {
    local trips
    trips=$(small 20000 20)
    node_program trips trips
    one=(taskset -c "$processor" "$ncube" run -d 1 "$work/trips" "$trips")
    other=(taskset -c "$processor" "$ncube" run -d 1 "$work/trips" 1)
    both
    say "%.0f/s" "$trips / $(less "${wall[one]}" "${wall[other]}")" \
        "$(printf 'processor %.2f s' "$(less "${cpu[one]}" "${cpu[other]}")")"
}

polls() {
    node_program polls polls
    best "$ncube" run -d "$(small 6 2)" "$work/polls"
    say_time "${wall[one]}" "${cpu[one]}"
}

handlers() {
    local trips dim
    trips=$(small 500 5) dim=$(small 6 2)
    node_program handlers handlers
    one=("$ncube" run -d "$dim" "$work/handlers" "$trips" 1)
    other=("$ncube" run -d "$dim" "$work/handlers" "$trips" 0)
    both
    say_ratio "${wall[one]}" "${wall[other]}"
}

barriers() { # DIM
    local dim
    dim=$(small "$1" 2)
    node_program barriers barriers
    one=("$ncube" run -d "$dim" "$work/barriers" 20) other=("$ncube" run -d "$dim" "$work/barriers" 0)
    both
    say_time "$(less "${wall[one]}" "${wall[other]}")" "$(less "${cpu[one]}" "${cpu[other]}")"
}

jacobi() { # DIM
    local dim steps virtual_us host
    dim=$(small "$1" 3) steps=$(small 100 10)
    node_program jacobi jacobi
    one=("$ncube" run -d "$dim" "$work/jacobi" "$steps") other=("$ncube" run -d "$dim" "$work/jacobi" 0)
    for _ in $(seq "$runs"); do
        timed one "${one[@]}"
        virtual_us=$(cat "$work/out")
        timed other "${other[@]}"
    done
    host=$(less "${wall[one]}" "${wall[other]}")
    say "%.3f" "$virtual_us / 1e6 / $host" "$(printf '%.3f s, %.2f s, processor %.2f s' \
        "$(calculate "$virtual_us / 1e6")" "$host" "$(less "${cpu[one]}" "${cpu[other]}")")"
}

parallel() {
    local dim volumes machine k
    dim=$(small 10 2) volumes=$(small 64 8) machine=$(small images/machines/sandia-full.conf images/sandia.conf)
    node_program parallel parallel -lpio
    for k in $(seq -f %02g 0 $((volumes - 1))); do
        timed image mke2fs -q -t ext2 -F "$work/df$k.img" 16M
    done
    best "$ncube" run -d "$dim" -m "$machine" --images "$work" "$work/parallel" "$volumes" 65536
    say "%.2f s" "${cpu[one]}" "$(printf '%.2f s of host time' "${wall[one]}")"
    rm "$work"/df??.img
}

# ---- Which rows

is_usual() { # NAME: need not be named to be measured
    [ -z "${is_large[$1]}" ] || [ -n "${LARGE-}" ]
}

if [ "${1-}" = --list ]; then
    for name in "${names[@]}"; do
        printf '%s\t%s\t%s\n' "$name" "${aim_of[$name]}" "${what_of[$name]}"
    done
    exit
fi
[ $# -eq 1 ] && [ -x "$1/bin/ncube" ] || die 2 "usage: bench.sh BUILD, a folder in which everything is built"

runs=${RUNS:-3}
[[ $runs =~ ^[1-9][0-9]*$ ]] || die 2 "RUNS=$runs: how many runs? Give a number from 1 on"
selected=()
IFS=, read -ra patterns <<<"${ROWS-}"
for pattern in "${patterns[@]}"; do
    before=${#selected[@]}
    for name in "${names[@]}"; do
        # shellcheck disable=SC2053 # it is a pattern
        if [ "$name" = "$pattern" ] || { [[ $name == $pattern ]] && is_usual "$name"; }; then
            selected+=("$name")
        fi
    done
    [ ${#selected[@]} -gt "$before" ] || die 2 "ROWS: no row is called '$pattern'; there are: ${names[*]}"
done
if [ ${#patterns[@]} -eq 0 ]; then
    for name in "${names[@]}"; do
        is_usual "$name" && selected+=("$name")
    done
fi

build=$1
ncube=$build/bin/ncube
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$work"' EXIT
processor=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/') # the first that this script may use
for now in "${selected[@]}"; do
    declare -A wall=() cpu=()
    ${measure_of[$now]}
done
