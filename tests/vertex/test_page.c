/* The kernel's allocator of pages: runs, promises, owners, and a random history. */
#include <criterion/criterion.h>
#include <signal.h>

#include "tests/vertex/pages.h"
#include "vertex/memory/page.h"

enum { PAGES = 128 };

static void set_up(void)
{
    pages_set_up(PAGES);
}

TestSuite(page, .init = set_up, .fini = pages_tear_down);

static char *page_at(unsigned i)
{
    return pages_base + i * PAGE_BYTES;
}

Test(page, successive_allocations_ascend_and_touch)
{
    for (unsigned i = 0; i < PAGES; i++)
        cr_assert_eq(page_alloc(MEM_PROCESS, 1), page_at(i), "page %u", i);
    cr_assert_null(page_alloc(MEM_PROCESS, 1));
    cr_assert_eq(page_free_count(), 0);
}

Test(page, the_first_run_that_fits_is_taken)
{
    char *all = page_alloc(MEM_MESSAGE, PAGES);

    page_free(MEM_MESSAGE, all + 10 * PAGE_BYTES, 2);
    page_free(MEM_MESSAGE, all + 20 * PAGE_BYTES, 5);
    page_free(MEM_MESSAGE, all + 40 * PAGE_BYTES, 3);
    cr_expect_eq(page_alloc(MEM_MESSAGE, 3), page_at(20), "3 pages");
    cr_expect_eq(page_alloc(MEM_MESSAGE, 2), page_at(10), "2 pages");
    cr_expect_eq(page_alloc(MEM_MESSAGE, 3), page_at(40), "3 more");
    cr_expect_eq(page_alloc(MEM_MESSAGE, 2), page_at(23), "what is left of 5");
}

Test(page, freed_neighbours_join_in_every_order)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

    for (int o = 0; o < 6; o++) {
        char *run[3];

        for (int i = 0; i < 3; i++)
            run[i] = page_alloc(MEM_MESSAGE, 4);
        char *rest = page_alloc(MEM_MESSAGE, PAGES - 12);
        for (int i = 0; i < 3; i++)
            page_free(MEM_MESSAGE, run[orders[o][i]], 4);
        char *joined = page_alloc(MEM_MESSAGE, 12);
        cr_assert_eq(joined, pages_base, "order %d: the three runs did not join", o);
        page_free(MEM_MESSAGE, rest, PAGES - 12);
        page_free(MEM_MESSAGE, joined, 12);
        cr_assert_eq(page_free_count(), PAGES, "order %d", o);
    }
}

Test(page, promised_pages_are_kept_from_others_and_always_come)
{
    cr_assert(page_promise(PAGES - PAGE_KEEP));
    cr_expect_not(page_promise(1), "the last %u pages can't be promised", PAGE_KEEP);
    cr_expect_null(page_alloc(MEM_MESSAGE, PAGE_KEEP + 1));
    cr_assert_not_null(page_alloc(MEM_MESSAGE, PAGE_KEEP));
    for (unsigned i = 0; i < PAGES - PAGE_KEEP; i++)
        cr_assert_not_null(page_take_promised(NULL), "promised page %u", i);
    cr_expect_eq(page_free_count(), 0);
}

Test(page, released_promises_can_be_used)
{
    page_promise(10);
    page_release(10);
    cr_expect_not_null(page_alloc(MEM_MESSAGE, PAGES));
}

Test(page, a_promise_takes_the_page_that_is_wished_if_it_is_free)
{
    char *base = page_alloc(MEM_MESSAGE, 1);
    static const uint32_t wishes[] = {20, 21, 22, 1, 2, 23};

    cr_assert(page_promise(10));
    for (unsigned i = 0; i < sizeof wishes / sizeof *wishes; i++) {
        char *wish = base + wishes[i] * PAGE_BYTES;

        cr_expect_eq(page_take_promised(wish), wish, "page %u", wishes[i]);
    }
    cr_expect_eq(page_take_promised(base + 21 * PAGE_BYTES), base + 3 * PAGE_BYTES, "taken: the lowest that is free");
    cr_expect_eq(page_take_promised((char *)base - 100 * PAGE_BYTES), base + 4 * PAGE_BYTES, "no memory there");
    cr_expect_eq(page_take_promised((char *)base + 100000 * PAGE_BYTES), base + 5 * PAGE_BYTES, "no memory there");
    cr_expect_eq(page_free_count(), PAGES - 10);
    cr_expect_eq(page_alloc(MEM_MESSAGE, 14), base + 6 * PAGE_BYTES, "up to the first wish");
}

Test(page, memory_can_be_kept_from_promises)
{
    page_keep(100 * PAGE_BYTES);
    cr_expect_not(page_promise(PAGES - 99));
    cr_expect(page_promise(PAGES - 100));
    page_release(PAGES - 100);
    page_keep(0);
    cr_expect(page_promise(PAGES - PAGE_KEEP));
}

Test(page, owners_are_counted_apart)
{
    void *a = page_alloc(MEM_MESSAGE, 3), *b = page_alloc(MEM_PROCESS, 2);

    cr_expect_eq(page_owned(MEM_MESSAGE), 3);
    cr_expect_eq(page_owned(MEM_PROCESS), 2);
    page_free(MEM_MESSAGE, a, 3);
    page_free(MEM_PROCESS, b, 2);
    cr_expect_eq(page_owned(MEM_MESSAGE), 0);
    cr_expect_eq(page_owned(MEM_PROCESS), 0);
}

Test(page, a_random_history_never_hands_out_a_page_twice)
{
    enum { RUNS = 24 };
    struct {
        unsigned char *at;
        uint32_t pages;
        unsigned char mark;
    } run[RUNS] = {0};
    uint32_t in_use = 0;

    srand(1);
    for (int step = 0; step < 20000; step++) {
        int i = rand() % RUNS;

        if (run[i].at) {
            for (uint32_t k = 0; k < run[i].pages; k++)
                cr_assert_eq(run[i].at[k * PAGE_BYTES], run[i].mark, "step %d: run %d, page %u", step, i, k);
            page_free(MEM_MESSAGE, run[i].at, run[i].pages);
            in_use -= run[i].pages;
            run[i].at = NULL;
        } else {
            run[i].pages = 1 + rand() % 12;
            run[i].mark = rand();
            run[i].at = page_alloc(MEM_MESSAGE, run[i].pages);
            for (uint32_t k = 0; run[i].at && k < run[i].pages; k++)
                memset(run[i].at + k * PAGE_BYTES, run[i].mark, PAGE_BYTES);
            in_use += run[i].at ? run[i].pages : 0;
        }
        cr_assert_eq(page_free_count() + in_use, PAGES, "step %d", step);
    }
}

Test(page, freeing_twice_panics, .signal = SIGABRT)
{
    void *a = page_alloc(MEM_MESSAGE, 2);

    page_alloc(MEM_MESSAGE, 2);
    page_free(MEM_MESSAGE, a, 2);
    page_free(MEM_MESSAGE, a, 2);
}

Test(page, freeing_for_the_wrong_owner_panics, .signal = SIGABRT)
{
    page_free(MEM_PROCESS, page_alloc(MEM_MESSAGE, 2), 2);
}
