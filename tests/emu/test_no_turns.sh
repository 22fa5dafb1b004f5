#!/bin/bash
# Hosts without FSGSBASE, on which harts take turns by system calls, or not at all. BUILD is the argument.
#
# This host only acts as if: in all processes getauxval says that programs cannot set the base of FS (emu/qemu/fiber.h).
# With HOST=slow ncube finds that arch_prctl takes 10 ms, with HOST=refuses that it is not permitted.
set -u
. "$(dirname "$0")/../shell.sh"

build=$(readlink -f "$1")
run_tests=$(readlink -f "$(dirname "$0")/../run.sh")
cd "$scratch" || exit 1

cat >host.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

static int host_is(const char *name)
{
    const char *host = getenv("HOST");

    return host && strcmp(host, name) == 0;
}

unsigned long getauxval(unsigned long type)
{
    unsigned long (*next)(unsigned long) = (unsigned long (*)(unsigned long))dlsym(RTLD_NEXT, "getauxval");

    return type == AT_HWCAP2 ? next(type) & ~2ul : next(type); /* HWCAP2_FSGSBASE */
}

long syscall(long n, ...)
{
    long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    __builtin_va_list list;
    long a[6];

    __builtin_va_start(list, n);
    for (int i = 0; i < 6; i++)
        a[i] = __builtin_va_arg(list, long);
    __builtin_va_end(list);
    if (n == SYS_arch_prctl && host_is("refuses")) {
        errno = EPERM;
        return -1;
    }
    if (n == SYS_arch_prctl && host_is("slow"))
        usleep(10000);
    return next(n, a[0], a[1], a[2], a[3], a[4], a[5]);
}
END
status "the library that acts so" 0 cc -shared -fPIC -o host.so host.c -ldl
without() { # COMMAND...
    env LD_PRELOAD="$scratch/host.so" "$@"
}
slow() { # COMMAND...
    without env HOST=slow "$@"
}
refuses() { # COMMAND...
    without env HOST=refuses "$@"
}
printf 'dim = 3;\nnodes_per_cabinet = 3;\n' >three.conf

# traced NAME COMMAND...: its output and trace, as a hash
traced() {
    local name=$1
    shift
    "$@" run -d 3 -m three.conf --trace "$name.trace" --stats="$name.json" $ways "$build/guest/exact" receive 17 \
        >"$name.out" 2>&1
    cat "$name.out" "$name.trace" | sha256sum
}
# harts NAME: how QEMU executed them
harts() {
    sed -n 's/.*"harts": "\(.*\)".*/\1/p' "$1.json"
}

ways=
here=$(traced here "$build/bin/ncube")
check "a run has a trace" test -s here.trace
same "a run is the same without FSGSBASE" "$here" "$(traced without without "$build/bin/ncube")"
same "its harts take turns" turns "$(harts without)"
same "a run is the same where system calls are slow" "$here" "$(traced slow slow "$build/bin/ncube")"
same "its harts have threads" threads "$(harts slow)"
ways=--harts=turns
same "a run is the same there by turns" "$here" "$(traced turns slow "$build/bin/ncube")"
same "its harts take turns there, too" turns "$(harts turns)"
ways=
same "a run is the same where the call is refused" "$here" "$(traced refuses refuses "$build/bin/ncube")"
same "its harts have threads there" threads "$(harts refuses)"
status "turns are refused" 2 refuses "$build/bin/ncube" run --harts=turns "$build/examples/hello"
same "turns are refused: why" "ncube: harts 'turns': harts cannot take turns here: that takes an x86-64 processor, and \
a host that permits arch_prctl; see ncube run --help" "$(cat err)"
status "threads by name" 0 refuses "$build/bin/ncube" run --harts=threads "$build/examples/hello"
same "threads by name: what it prints" "hello from node 0 of 1" "$(cat out)"

# The fibers themselves
status "tests of turns without FSGSBASE" 0 without "$run_tests" "$build" "$build/tests/emu/test_turns"
check "none is skipped" grep -qE '^[1-9][0-9]* passed, 0 failed, 0 skipped$' out

# What says that the default was never tried
status "tests of turns where they cannot be: none has passed" 1 refuses "$run_tests" "$build" \
    "$build/tests/emu/test_turns"
check "the closing line counts them" grep -qE '^0 passed, 0 failed, [1-9][0-9]* skipped$' out
check "each with the reason" grep -q 'skipped: turns::.*: harts cannot take turns here' out
finish
