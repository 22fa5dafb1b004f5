/* Which copy of a program's text a node gets, and that no copy ever changes. */
#include "emu/qemu/text_pool.h"

#include <criterion/criterion.h>
#include <string.h>

#define PAGE 4096
#define POOL (4 * PAGE)
#define NONE (-1)

static uint8_t memory[2][POOL], text[POOL];

/* n pages of a program whose bytes are all `fill`. */
static int64_t share(struct text_pool *p, uint32_t cabinet, uint8_t fill, int pages)
{
    memset(text, fill, (size_t)pages * PAGE);
    return text_pool_share(p, cabinet, text, (size_t)pages * PAGE);
}

static const struct step { /* taken one after the other, on one pool of four pages for two cabinets */
    const char *name;
    uint32_t cabinet;
    uint8_t fill;
    int pages;
    int64_t page; /* where */
} steps[] = {
    {"the first text", 0, 1, 1, 0},
    {"the same again", 0, 1, 1, 0},
    {"other bytes", 0, 2, 1, 1},
    {"the same bytes, more of them", 0, 1, 2, 2},
    {"no room is left", 0, 3, 1, NONE},
    {"nor in a cabinet that has none yet", 1, 3, 1, NONE},
    {"what is known in the other cabinet", 1, 2, 1, 1},
    {"more of what is known", 1, 1, 2, 2},
    {"the first text once more", 0, 1, 1, 0},
};

static struct text_pool *pool_new(uint64_t bytes)
{
    struct text_pool *p = text_pool_new(2, bytes);

    for (uint32_t c = 0; c < 2; c++)
        text_pool_attach(p, c, memory[c]);
    return p;
}

Test(text_pool, equal_bytes_get_one_copy_as_long_as_there_is_room)
{
    struct text_pool *p = pool_new(POOL);

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const struct step *s = &steps[i];
        int64_t offset = share(p, s->cabinet, s->fill, s->pages);

        cr_assert_eq(offset, s->page == NONE ? NONE : s->page * PAGE, "%s: at %ld", s->name, (long)offset);
        cr_expect(offset == NONE || memcmp(memory[s->cabinet] + offset, text, (size_t)s->pages * PAGE) == 0,
                  "%s: other bytes", s->name);
    }
    text_pool_free(p);
}

Test(text_pool, a_copy_is_only_where_it_is_wanted)
{
    struct text_pool *p = pool_new(POOL);

    cr_expect_eq(share(p, 1, 7, 1), 0);
    cr_expect_eq(memory[0][0], 0);
    cr_expect_eq(memory[1][0], 7);
    cr_expect_eq(share(p, 1, 7, 1), 0, "it is compared with the copy in its cabinet");
    text_pool_free(p);
}

Test(text_pool, a_copy_that_is_there_is_not_written_again)
{
    struct text_pool *p = pool_new(POOL);

    share(p, 0, 7, 1);
    share(p, 1, 7, 1);
    memory[1][5] = 8; /* would be overwritten; texts are compared with the first copy */
    cr_expect_eq(share(p, 1, 7, 1), 0);
    cr_expect_eq(memory[1][5], 8);
    text_pool_free(p);
}

Test(text_pool, texts_that_differ_in_their_last_byte_are_two)
{
    struct text_pool *p = pool_new(POOL);

    cr_expect_eq(share(p, 0, 7, 1), 0);
    text[PAGE - 1] = 8;
    cr_expect_eq(text_pool_share(p, 0, text, PAGE), PAGE);
    text_pool_free(p);
}

Test(text_pool, copies_never_change)
{
    struct text_pool *p = pool_new(POOL);
    uint8_t before[2 * PAGE];

    share(p, 0, 1, 1);
    share(p, 0, 2, 1);
    memcpy(before, memory[0], sizeof before);
    for (int fill = 3; fill < 20; fill++)
        for (int pages = 1; pages <= 4; pages++)
            share(p, 0, (uint8_t)fill, pages);
    cr_expect_arr_eq(memory[0], before, sizeof before);
    text_pool_free(p);
}

Test(text_pool, without_room_everyone_keeps_his_own)
{
    struct text_pool *p = pool_new(0);

    cr_expect_eq(share(p, 0, 1, 1), NONE);
    cr_expect_eq(share(p, 1, 1, 1), NONE);
    text_pool_free(p);
}
