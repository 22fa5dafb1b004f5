#include "emu/base/memory.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Leaves bytes that are not zero where the next arrays will be. */
static void free_dirty(size_t bytes)
{
    volatile uint8_t *dirty = memory_new(bytes, 1);

    for (size_t i = 0; i < bytes; i++)
        dirty[i] = 0x5a;
    free((void *)dirty);
}

Test(memory, an_array_that_grows_keeps_the_old_objects_and_zeroes_the_new)
{
    size_t room = 0;
    uint32_t *a = NULL;

    free_dirty(1 << 16);
    for (uint32_t n = 0; n < 100; n++) {
        a = memory_grow(a, &room, n + 1, sizeof *a);
        cr_assert_geq(room, n + 1);
        a[n] = n + 1;
    }
    for (uint32_t n = 0; n < room; n++)
        cr_expect_eq(a[n], n < 100 ? n + 1 : 0, "object %u is %u", n, a[n]);
    free(a);
}

Test(memory, an_array_at_least_doubles_and_stays_while_it_has_room)
{
    size_t room = 0;
    uint64_t *a = memory_grow(NULL, &room, 10, sizeof *a);

    cr_expect_eq(room, 10);
    cr_expect_eq(memory_grow(a, &room, 10, sizeof *a), a);
    cr_expect_eq(room, 10);
    a = memory_grow(a, &room, 11, sizeof *a);
    cr_expect_eq(room, 20);
    a = memory_grow(a, &room, 1000, sizeof *a);
    cr_expect_eq(room, 1000);
    free(a);
}

Test(memory, what_a_client_asks_for_is_refused_and_the_array_left_as_it_was)
{
    size_t room = 0;
    uint64_t *a = memory_try_grow(NULL, &room, 4, sizeof *a);

    a[3] = 7;
    cr_expect_null(memory_try_grow(a, &room, SIZE_MAX / 2, sizeof *a));
    cr_expect_eq(room, 4);
    cr_expect_eq(a[3], 7);
    free(a);
}

Test(memory, a_printed_text_is_as_long_as_it_must_be)
{
    char *text = memory_print("%s/%0300d", "a", 7);

    cr_expect(strlen(text) == 302 && text[0] == 'a' && text[301] == '7', "%s", text);
    free(text);
}

Test(memory, what_ncube_needs_itself_ends_the_process, .exit_code = 1)
{
    size_t room = 0;

    memory_grow(NULL, &room, SIZE_MAX / 2, 8);
}
