#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "vertex/shared/text.h"

Test(text, conversions_are_those_of_printf)
{
    char got[200], want[200];

#define SAME(...)                                                \
    do {                                                         \
        size_t n = text_print(got, sizeof got, __VA_ARGS__);     \
        snprintf(want, sizeof want, __VA_ARGS__);                \
        cr_expect_str_eq(got, want);                             \
        cr_expect_eq(n, strlen(want), "length of \"%s\"", want); \
    } while (0)
    SAME("plain 100%%");
    SAME("%s and %s", "one", "");
    SAME("%d %d %d", 0, INT_MIN, INT_MAX);
    SAME("%u %x", UINT_MAX, 0xbeefu);
    SAME("%ld %lu %lx", LONG_MIN, ULONG_MAX, 0x123456789abcdefL);
    SAME("%lld %llu %llx", LLONG_MIN, ULLONG_MAX, 0x123456789abcdefLL);
    SAME("%c%c", 'a', '%');
    SAME("%.*s|%.*s|%.*s", 3, "abcdef", 0, "abc", 9, "abc");
}

Test(text, what_does_not_fit_is_cut)
{
    char got[8] = "zzzzzzz";

    cr_expect_eq(text_print(got, 6, "%s%u", "abcd", 1234u), 5);
    cr_expect_str_eq(got, "abcd1");
    cr_expect_eq(got[6], 'z');
}
