#include "emu/base/alike.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static char said[1 << 16];

static void note(void *ctx, const char *line)
{
    (void)ctx;
    cr_assert_lt(strlen(said) + strlen(line) + 2, sizeof said);
    strcat(strcat(said, line), "\n");
}

static const char *say(struct alike *a)
{
    said[0] = '\0';
    alike_say(a, "the rest is elsewhere", note, NULL);
    alike_free(a);
    return said;
}

static void add(struct alike *a, uint32_t first, uint32_t end, const char *text)
{
    for (uint32_t i = first; i < end; i++)
        alike_add(a, i, text);
}

Test(alike, nodes_with_one_text_are_one_line)
{
    struct alike a = {0};

    add(&a, 17, 1024, "waits for type 5 from any node");
    add(&a, 1025, 1026, "waits for type 5 from any node");
    add(&a, 3, 4, "has ended with status 2");
    add(&a, 1024, 1025, "has ended with status 2");
    add(&a, 1026, 1027, "waits for drive 0");
    cr_expect_str_eq(say(&a), "nodes 3, 1024: each has ended with status 2\n"
                              "nodes 17-1023, 1025: each waits for type 5 from any node\n"
                              "node 1026 waits for drive 0\n");
}

Test(alike, few_lines_stay_apart_though_they_differ_in_numbers_only)
{
    struct alike a = {0};
    char text[64];

    for (uint32_t i = 0; i < ALIKE_LINES; i++) {
        snprintf(text, sizeof text, "waits for node %u", 7 * i);
        alike_add(&a, i, text);
    }
    say(&a);
    cr_expect_not_null(strstr(said, "node 15 waits for node 105\n"), "%s", said);
    cr_expect_null(strstr(said, "each"), "%s", said);
}

Test(alike, many_that_differ_in_numbers_are_one_line_with_ranges)
{
    struct alike a = {0};
    char text[64];

    add(&a, 0, 1, "waits for type 5 from any node");
    for (uint32_t i = 1; i < 4096; i++) {
        snprintf(text, sizeof text, "waits for type 5 from node %u", i - 1);
        alike_add(&a, i, text);
    }
    cr_expect_str_eq(say(&a), "node 0 waits for type 5 from any node\n"
                              "nodes 1-4095: each waits for type 5 from node 0..4094\n");
}

Test(alike, more_kinds_than_lines_are_counted)
{
    struct alike a = {0};
    char text[64];

    for (uint32_t i = 0; i < 40; i++) {
        snprintf(text, sizeof text, "does %c%c", 'a' + (int)(i % 20), 'x');
        alike_add(&a, i, text);
    }
    say(&a);
    cr_expect_not_null(
        strstr(said, "nodes 14, 34: each does ox\nand 10 nodes of 5 more kinds; the rest is elsewhere\n"), "%s", said);
}

Test(alike, many_ranges_are_cut)
{
    struct alike a = {0};

    for (uint32_t i = 0; i < 100; i += 2)
        alike_add(&a, i, "waits");
    cr_expect_str_eq(say(&a), "nodes 0, 2, 4, 6, 8, 10, 12, 14, ... (50 nodes): each waits\n");
}

Test(alike, texts_of_any_length_and_nothing_at_all_do_no_harm)
{
    struct alike a = {0};
    char text[1000];

    memset(text, '7', sizeof text);
    text[sizeof text - 1] = '\0';
    add(&a, 0, 20, text);
    cr_expect_eq(strlen(say(&a)), strlen("nodes 0-19: each \n") + 20, "%s", said);
    cr_expect_str_eq(say(&a), "");
}

Test(alike, a_programs_nodes_are_its_PEs)
{
    struct alike a = {.program = "gen"};

    add(&a, 0, 1, "waits for drive 0");
    add(&a, 1, 4, "waits for data");
    cr_expect_str_eq(say(&a), "PE 0 of gen waits for drive 0\nPEs 1-3 of gen: each waits for data\n");
}
