#!/bin/sh
# Measures what docs/performance.md states, on this host: each figure is the best of RUNS runs (default 3).
#
#   bench.sh BUILD
#
# Ratios compare two commands of the same minute. Other work on the host makes all figures worse.
set -eu

build=$1
runs=${RUNS:-3}
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ncube=$build/bin/ncube
PATH=$PATH:/usr/sbin:/sbin

die() {
    echo "bench: $*" >&2
    exit 1
}

# Best wall time of a command, in seconds.
best() {
    least=
    for _ in $(seq "$runs"); do
        start=$(date +%s%N)
        "$@" >"$work/out" 2>&1 </dev/null || die "failed: $*: $(tail -n 1 "$work/out")"
        end=$(date +%s%N)
        took=$((end - start))
        if [ -z "$least" ] || [ $took -lt "$least" ]; then
            least=$took
        fi
    done
    awk "BEGIN { printf \"%.3f\", $least / 1e9 }"
}

say() { # what, value, unit
    printf '%-66s %10s %s\n' "$1" "$2" "$3"
}

# The same work without plugin: harts, turns each.
plain() {
    riscv64-unknown-elf-gcc -march=rv64gc -mabi=lp64d -mcmodel=medany -O2 -I. -nostdlib -ffreestanding -Wl,--no-relax \
        -Wl,-n -Wl,-Ttext=0x80000000 -Wl,--no-warn-rwx-segments -Wl,--defsym=harts_symbol="$1" \
        -Wl,--defsym=turns_symbol="$2" -o "$work/plain" "$here/plain.S" "$here/plain.c"
    best qemu-system-riscv64 -M virt -bios none -kernel "$work/plain" -display none -monitor none -serial none -smp "$1"
}

rate() { # turns, seconds: million instructions a second
    awk "BEGIN { printf \"%.0f\", $1 * $turn_instructions / $2 / 1e6 }"
}

ratio() {
    awk "BEGIN { printf \"%.2f\", $1 / $2 }"
}

turn_instructions=$(sed -n 's/^#define WORK_INSTRUCTIONS \([0-9]*\).*/\1/p' "$here/work.h")
for program in compute trips barriers polls handlers; do
    "$build/bin/ncc" -O2 -I. -o "$work/$program" "$here/$program.c"
done
for k in 0 1 2 3 4 5 6 7; do
    mke2fs -q -t ext2 -F "$work/df0$k.img" 32M >"$work/out" 2>&1 || die "$(cat "$work/out")"
done

say "hello, one node" "$(best "$ncube" run "$build/examples/hello")" s
say "hello, sandia.conf with 8 I/O nodes" \
    "$(best "$ncube" run -m images/sandia.conf --images "$work" "$build/examples/hello")" s
say "hello, 32 nodes of sandia.conf" \
    "$(best "$ncube" run -d 5 -m images/sandia.conf --images "$work" "$build/examples/hello")" s

say "hello, 256 nodes" "$(best "$ncube" run -d 8 "$build/examples/hello")" s
say "hello, 1024 nodes" "$(best "$ncube" run -d 10 "$build/examples/hello")" s

turns=100000000
machine=$(best "$ncube" run "$work/compute" $turns 1)
raw=$(plain 1 $turns)
say "one node computes" "$(rate $turns "$machine")" "million instructions/s"
say "    plain QEMU" "$(rate $turns "$raw")" "million instructions/s"
say "    ratio" "$(ratio "$raw" "$machine")" ""
counted=$(best "$ncube" run --stats="$work/stats" "$work/compute" $turns 1)
say "    with --stats, against without" "$(ratio "$machine" "$counted")" ""

rounds=400
each=7150 # turns: 10 ms of virtual time
total=$((64 * each * rounds))
machine=$(best "$ncube" run -d 6 "$work/compute" $each $rounds)
raw=$(plain 64 $((each * rounds)))
say "64 nodes compute, 8 bytes to a neighbour every 10 ms" "$(rate $total "$machine")" "million instructions/s"
say "    plain QEMU, 64 harts, no messages" "$(rate $total "$raw")" "million instructions/s"
say "    ratio" "$(ratio "$raw" "$machine")" ""
say "    virtual time / host time" "$(awk "BEGIN { printf \"%.2f\", $rounds * 0.01 / $machine }")" ""

trips=20000
long=$(best taskset -c 0 "$ncube" run -d 1 "$work/trips" $trips)
short=$(best taskset -c 0 "$ncube" run -d 1 "$work/trips" 1)
say "two nodes, 8 bytes there and back, one processor" \
    "$(awk "BEGIN { printf \"%.0f\", $trips / ($long - $short) }")" "round trips/s"

say "63 nodes poll for a second of virtual time" "$(best "$ncube" run -d 6 "$work/polls")" s
for dim in 6 8 10; do # less the start and the load
    many=$(best "$ncube" run -d $dim "$work/barriers" 21)
    one=$(best "$ncube" run -d $dim "$work/barriers" 1)
    say "20 barriers, $((1 << dim)) nodes" "$(awk "BEGIN { printf \"%.2f\", $many - $one }")" s
done
with=$(best "$ncube" run -d 6 "$work/handlers" 500 1)
without=$(best "$ncube" run -d 6 "$work/handlers" 500 0)
say "64 nodes with a handler that is not called, against without" "$(ratio "$with" "$without")" ""
