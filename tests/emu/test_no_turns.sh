#!/bin/bash
# A host without FSGSBASE, on which harts cannot take turns. BUILD is the argument.
#
# This host only acts as if: in all processes getauxval says that programs cannot set the base of FS (emu/qemu/fiber.h).
set -u
. "$(dirname "$0")/../shell.sh"

build=$(readlink -f "$1")
run_tests=$(readlink -f "$(dirname "$0")/../run.sh")
cd "$scratch" || exit 1

cat >host.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/auxv.h>

unsigned long getauxval(unsigned long type)
{
    unsigned long (*next)(unsigned long) = (unsigned long (*)(unsigned long))dlsym(RTLD_NEXT, "getauxval");

    return type == AT_HWCAP2 ? next(type) & ~2ul : next(type); /* HWCAP2_FSGSBASE */
}
END
status "the library that acts so" 0 cc -shared -fPIC -o host.so host.c -ldl
without() { # COMMAND...
    env LD_PRELOAD="$scratch/host.so" "$@"
}
printf 'dim = 3;\nnodes_per_cabinet = 3;\n' >three.conf

# traced NAME COMMAND...: its output and trace, as a hash
traced() {
    local name=$1
    shift
    "$@" run -d 3 -m three.conf --trace "$name.trace" --stats="$name.json" "$build/guest/exact" receive 17 \
        >"$name.out" 2>&1
    cat "$name.out" "$name.trace" | sha256sum
}

here=$(traced here "$build/bin/ncube")
there=$(traced there without "$build/bin/ncube")
check "a run has a trace" test -s here.trace
same "a run is the same there" "$here" "$there"
check "its harts have threads" grep -q '"harts": "threads"' there.json
status "turns are refused" 2 without "$build/bin/ncube" run --harts=turns "$build/examples/hello"
same "turns are refused: why" "ncube: harts 'turns': harts cannot take turns here: that takes an x86-64 processor with \
FSGSBASE, and Linux 5.9 or later; see ncube run --help" "$(cat err)"
status "threads by name" 0 without "$build/bin/ncube" run --harts=threads "$build/examples/hello"
same "threads by name: what it prints" "hello from node 0 of 1" "$(cat out)"

# What says there that the default was never tried
status "tests of turns there: none has passed" 1 without "$run_tests" "$build" "$build/tests/emu/test_turns"
check "the closing line counts them" grep -qE '^0 passed, 0 failed, [1-9][0-9]* skipped$' out
check "each with the reason" grep -q 'skipped: turns::.*: harts cannot take turns here' out
finish
