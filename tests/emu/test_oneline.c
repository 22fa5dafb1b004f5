/* What becomes of control characters in names that are printed. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "emu/base/oneline.h"

static const struct {
    const char *name, *text, *expected;
    char kept;
} cases[] = {
    {"plain text", "a b~", "a b~", 0},
    {"ASCII's", "a\001b\nc\033[31m\177", "a?b?c?[31m?", 0},
    {"one that is kept", "a\tb\n", "a\tb?", '\t'},
    {"C1 as single bytes",
     "a\x80"
     "b\x9b"
     "31m\x9f",
     "a?b?31m?", 0},
    {"C1 in UTF-8",
     "a\xc2\x80"
     "b\xc2\x9b"
     "c\xc2\x9f",
     "a?b?c?", 0},
    {"the first that is none", "\xc2\xa0 \xa0", "\xc2\xa0 \xa0", 0},
    {"letters whose second byte is one of C1's", "\xc3\x9b \xe2\x82\x9b \xf0\x9f\x98\x80",
     "\xc3\x9b \xe2\x82\x9b \xf0\x9f\x98\x80", 0},
    {"a character that is cut off", "\xe2\x9b", "\xe2?", 0},
    {"a lead byte before a control character", "\xc3\033", "\xc3?", 0},
    {"overlong", "\xc0\x9b", "\xc0?", 0},
};

Test(oneline, replaces_control_characters)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char to[64];
        size_t n = one_line_copy(to, cases[i].text, strlen(cases[i].text), cases[i].kept);

        to[n] = '\0';
        cr_expect_str_eq(to, cases[i].expected, "%s: '%s' instead of '%s'", cases[i].name, to, cases[i].expected);
    }
}

Test(oneline, replaces_in_place)
{
    char text[] = "one\ntwo\xc2\x9bthree";

    cr_expect(one_line(text) == text);
    cr_expect_str_eq(text, "one?two?three");
}

/* No byte is read past the end, where the rest of a character would be. */
Test(oneline, reads_no_further_than_n)
{
    char *text = malloc(2), to[4];

    memcpy(text, "a\xc2", 2);
    cr_expect_eq(one_line_copy(to, text, 2, 0), 2);
    cr_expect_arr_eq(to, text, 2);
    free(text);
}
