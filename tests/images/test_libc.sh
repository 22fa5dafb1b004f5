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

# What newlib lacks or has otherwise; the host's library says what is right.
cat >gaps.c <<'END_OF_C'
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
static void list(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
}
int main(void)
{
    static const char *const hex[] = {"0x", "0xg", "-0X", "0x1", " 0xfg", "0", "x", ""};
    char text[60], *end;
    wchar_t *wide_end, wide[10];

    printf("%2$s %1$s, %2$s %%\n", "a", "b");
    printf("%2$*1$d|%2$-*1$d|%3$.*1$f|%4$c\n", 5, 42, 2.5, 'x');
    printf("%3$Lg %1$d %2$Lg %4$hhd %5$s %1$ld\n", 1L, 2.5L, -0.125L, 4, "five");
    fprintf(stdout, "%1$s%1$s%1$s\n", "ab");
    list("%2$" PRId64 " %1$g\n", 0.5, (int64_t)1 << 40);
    printf("%d '%s'\n", snprintf(text, 6, "%2$s-%1$s", "left", "right"), text);
    for (int i = 0; i < 8; i++) {
        printf("%s:", hex[i]);
        for (int base = 0; base <= 16; base += 16) {
            printf(" %ld", strtol(hex[i], &end, base)), printf("+%d", (int)(end - hex[i]));
            printf(" %lu", strtoul(hex[i], &end, base)), printf("+%d", (int)(end - hex[i]));
            printf(" %lld", strtoll(hex[i], &end, base)), printf("+%d", (int)(end - hex[i]));
            printf(" %jd", strtoimax(hex[i], &end, base)), printf("+%d", (int)(end - hex[i]));
            swprintf(wide, 10, L"%s", hex[i]);
            printf(" %ld", wcstol(wide, &wide_end, base)), printf("+%d", (int)(wide_end - wide));
        }
        puts("");
    }
}
END_OF_C
check "compiles for the host" eval "${CC:-cc} -w -o on-host gaps.c"
check "and for a node" "$build/bin/ncc" -std=gnu11 -w -o gaps gaps.c
same "positions in printf, prefixes of numbers: as on the host" "$(./on-host)" "$(run ./gaps)"

# C11 7.21.6.2 has the second as its example; the host's library takes it as 100.
cat >floats.c <<'END_OF_C'
#include <stdio.h>
int main(void)
{
    static const char *const text[] = {"100e", "100ergs", "1e+", "1e5", "2.5x", ".e1"};
    char after;
    float f = 0;

    for (int i = 0; i < 6; i++)
        printf("%d ", sscanf(text[i], "%f%c", &f, &after)), printf("%g\n", f);
}
END_OF_C
check "compiles" "$build/bin/ncc" -std=gnu11 -o floats floats.c
same "an exponent without digits is no number" "0 0 0 0 0 0 1 100000 2 2.5 0 2.5" \
    "$(run ./floats | tr '\n' ' ' | sed 's/ $//')"

# Positions have a cost in size only where a format has them.
cat >plain.c <<'END_OF_C'
#include <stdio.h>
int main(void) { printf("%s%d\n", "price $", 1); return 0; }
END_OF_C
check "a format without them" "$build/bin/ncc" -o plain plain.c
same "takes nothing of them" 0 "$(riscv64-unknown-elf-nm plain | grep -c __wrap__vfprintf_r)"
same "and prints" 'price $1' "$(run ./plain)"

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
