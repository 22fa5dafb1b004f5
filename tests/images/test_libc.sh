#!/bin/bash
# The C library of the nodes: it converts numbers to text and back as the host's library does; and the cost of calls.
# BUILD is the argument. CONVERSIONS=1000000 compares as many.
set -u
. "$(dirname "$0")/../shell.sh"

build=$(readlink -f "$1")
printing=$PWD/tests/guest/printing.c
cd "$scratch" || exit 1

run() { # PROGRAM ARG...: on one node
    "$build/bin/ncube" run -d 0 "$@"
}

${CC:-cc} -O2 -o printing "$printing" || exit 1
for conversions in ${CONVERSIONS:-20000}; do
    same "$conversions random numbers in random formats, and back" "$(./printing "$conversions")" \
        "$(run "$build/guest/printing" "$conversions")"
done

cat >long.c <<'END_OF_C'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    char *end, text[32];

    printf("%.33Lf %.10Le %Lg %Lg\n", 1.0L / 3, 1e4000L / 3, 0.5L, -0.0L);
    printf("%f %F %e %g %010f\n", INFINITY, -INFINITY, NAN, -0.0, -INFINITY);
    printf("%.17g %g %.0f %.0f %.4g %.30f\n", 5e-324, 1.7976931348623157e308, 0.5, 1.5, 15005.0, 1e-30);
    printf("%s %s %d\n", gcvt(15005.0, 4, text), ecvt(2.5, 1, &(int){0}, &(int){0}), strtod("1e-5x", &end) == 1e-5);
}
END_OF_C
check "compiles" "$build/bin/ncc" -std=gnu11 -w -o long long.c
same "long doubles keep 113 bits; what is no number; the ends of the range; halves" \
    "0.333333333333333333333333333333333 3.3333333333e+3999 0.5 -0
inf -INF nan -0       -inf
4.9406564584124654e-324 1.79769e+308 0 2 1.5e+04 0.000000000000000000000000000001
1.5e+04 2 1" "$(run ./long)"

# The costs that docs/libc.md states: at most that many cycles.
run "$build/guest/costs" >costs || exit 1
at_most() { # CYCLES PATTERN: of all lines that match, of which there is one
    same "$2: at most $1 cycles" "" "$(awk -v most="$1" -v what="$2" '
        $0 ~ what { n++; if ($1 > most) print }
        END { if (!n) print "no such call" }' costs)"
}
at_most 6000 "sprintf %[^L]"
at_most 3500 "mem(cpy|move|set|chr) .*1 KB( |$)"
at_most 200 "sqrt"

finish
