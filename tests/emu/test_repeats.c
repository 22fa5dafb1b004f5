#include "emu/front/repeats.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct repeats repeats;
static uint64_t told, told_kinds;

static uint64_t note(uint32_t from, const char *text)
{
    return repeats_note(&repeats, from, text, strlen(text));
}

static void count_told(void *ctx, const struct repeat *kind)
{
    (void)ctx;
    told += kind->count;
    told_kinds++;
}

Test(repeats, lines_that_are_alike_but_for_numbers_are_shown_a_few_times)
{
    static const uint64_t expected[] = {1, 2, 3, 10, 100, 1000};
    char text[64];
    size_t shown = 0;

    for (int i = 0; i < 1234; i++) {
        snprintf(text, sizeof text, "block %d failed", 17 * i);
        uint64_t number = note(5, text);
        if (number > 0)
            cr_expect_eq(number, expected[shown++ % 6], "%d", i);
    }
    cr_expect_eq(shown, 6);
    repeats_tell(&repeats, count_told, NULL);
    cr_expect_eq(told, 1234);
    repeats_tell(&repeats, count_told, NULL);
    cr_expect_eq(told_kinds, 1, "told once");
}

Test(repeats, others_are_not_held_back)
{
    for (int i = 0; i < 100; i++)
        note(1, "block 7 failed");
    cr_expect_eq(note(2, "block 7 failed"), 1, "of another node");
    cr_expect_eq(note(1, "block 7 is bad"), 1, "of another kind");
    cr_expect_eq(note(1, "block 9 failed"), 0);
    cr_expect_eq(note(1, "df00: block 7 failed"), 1);
    cr_expect_eq(note(1, "df01: block 7 failed"), 1, "of another volume");
}

Test(repeats, what_there_is_no_room_for_is_shown)
{
    for (uint32_t from = 0; from < REPEATS_KINDS; from++)
        cr_expect_eq(note(from, "x"), 1);
    for (int i = 0; i < 50; i++)
        cr_expect_eq(note(REPEATS_KINDS, "x"), 1);
    cr_expect_eq(note(0, "x"), 2);
}

Test(repeats, few_are_not_told_at_the_end)
{
    note(1, "a line");
    note(1, "a line");
    repeats_tell(&repeats, count_told, NULL);
    cr_expect_eq(told_kinds, 0);
}
