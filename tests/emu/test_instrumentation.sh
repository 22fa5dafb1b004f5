#!/bin/bash
# The plugin adds code only to NCU instructions, and once to each block. BUILD is the argument.
#
# A run of one node under a QEMU that logs the code that it makes; instrumentation.awk counts in that log. With
# SHOW=1 the counts are printed (make instrumentation).
set -u
. "$(dirname "$0")/../shell.sh"

build=$(readlink -f "$1")
count=$(readlink -f "$(dirname "$0")/instrumentation.awk")
cd "$scratch" || exit 1

qemu=$(command -v qemu-system-riscv64)
mkdir wrapped
cat >wrapped/qemu-system-riscv64 <<END
#!/bin/sh
exec "$qemu" "\$@" -d in_asm,op -D "$scratch/log"
END
chmod +x wrapped/qemu-system-riscv64

# run ADDITIONS OPTION...: counts of a run in which every block is expected to have so many additions
run() {
    local additions=$1
    shift
    PATH=$scratch/wrapped:$PATH "$build/bin/ncube" run "$@" "$build/guest/ends" "NCU hints" >out 2>err
    same "the program runs: $*" "passed" "$(cat out)"
    awk -v expected_additions="$additions" -f "$count" log >counts
    if [ -n "${SHOW-}" ]; then
        echo "ncube run $*"
        sed 's/^/    /' counts
    fi
}

of() {
    sed -n "s/^$1 //p" counts
}

expect_nothing_in_instructions() {
    local name=$1
    check "$name: there is enough to look at" [ "$(of blocks)" -gt 500 ]
    check "$name: a program's hints are there to be left alone" [ "$(of user_hints)" -gt 0 ]
    same "$name: blocks that do not pay the same" 0 "$(of blocks_without_their_additions)"
    same "$name: blocks with another comparison than one that skips a call" 0 "$(of blocks_with_a_wrong_comparison)"
    same "$name: blocks with a comparison are those of programs" "$(of user_blocks)" "$(of blocks_with_a_comparison)"
    same "$name: instructions with work of the plugin are the kernel's hints" "$(of kernel_hints)" \
        "$(of instrumented_instructions)"
    same "$name: a call each" "$(of kernel_hints)" "$(of calls_at_instructions)"
}

run 1 -d 0
expect_nothing_in_instructions "plain"
run 2 -d 0 --stats
expect_nothing_in_instructions "with statistics"

finish
