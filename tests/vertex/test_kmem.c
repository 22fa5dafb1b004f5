#include <criterion/criterion.h>
#include <signal.h>

#include "tests/vertex/pages.h"
#include "vertex/memory/kmem.h"

enum { PAGES = 256 };

static void set_up(void)
{
    pages_set_up(PAGES);
}

TestSuite(kmem, .init = set_up, .fini = pages_tear_down);

Test(kmem, every_size_gives_its_memory_back)
{
    static const size_t sizes[] = {1, 8, 79, 80, 81, 144, 256, 576, 1344, 2016, 2017, 4096, 4097, 16952};

    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        void *p = kmem_alloc(MEM_MESSAGE, sizes[i]);

        cr_assert_not_null(p, "%zu bytes", sizes[i]);
        cr_expect_eq((uintptr_t)p % 8, 0, "%zu bytes: alignment", sizes[i]);
        cr_expect_eq(kmem_owned(MEM_MESSAGE), sizes[i], "%zu bytes: accounting", sizes[i]);
        memset(p, 0xff, sizes[i]);
        kmem_free(MEM_MESSAGE, p, sizes[i]);
        cr_expect_eq(kmem_owned(MEM_MESSAGE), 0, "%zu bytes: accounting", sizes[i]);
        cr_expect_eq(page_free_count(), PAGES, "%zu bytes: %u pages free", sizes[i], page_free_count());
    }
}

Test(kmem, small_objects_share_a_page)
{
    for (int i = 0; i < 50; i++)
        kmem_alloc(MEM_PROCESS, 80);
    cr_expect_eq(page_free_count(), PAGES - 1);
    kmem_alloc(MEM_PROCESS, 80);
    cr_expect_eq(page_free_count(), PAGES - 2);
}

Test(kmem, objects_do_not_overlap_in_a_random_history)
{
    enum { OBJECTS = 200 };
    struct {
        unsigned char *at;
        size_t bytes;
        unsigned char mark;
    } o[OBJECTS] = {0};

    srand(2);
    for (int step = 0; step < 20000; step++) {
        int i = rand() % OBJECTS;

        if (o[i].at) {
            for (size_t k = 0; k < o[i].bytes; k++)
                cr_assert_eq(o[i].at[k], o[i].mark, "step %d: object %d, byte %zu", step, i, k);
            kmem_free(MEM_MESSAGE, o[i].at, o[i].bytes);
            o[i].at = NULL;
        } else {
            o[i].bytes = 1 + rand() % (rand() % 8 ? 300 : 3000);
            o[i].mark = rand();
            o[i].at = kmem_alloc(MEM_MESSAGE, o[i].bytes);
            if (o[i].at)
                memset(o[i].at, o[i].mark, o[i].bytes);
        }
    }
    for (int i = 0; i < OBJECTS; i++)
        if (o[i].at)
            kmem_free(MEM_MESSAGE, o[i].at, o[i].bytes);
    cr_expect_eq(page_free_count(), PAGES, "%u pages free", page_free_count());
    cr_expect_eq(kmem_owned(MEM_MESSAGE), 0);
}

Test(kmem, no_memory_is_an_answer)
{
    page_alloc(MEM_MESSAGE, PAGES);
    cr_expect_null(kmem_alloc(MEM_MESSAGE, 100));
    cr_expect_null(kmem_alloc(MEM_MESSAGE, 10000));
    cr_expect_eq(kmem_owned(MEM_MESSAGE), 0);
}

Test(kmem, freeing_with_another_size_panics, .signal = SIGABRT)
{
    void *p = kmem_alloc(MEM_MESSAGE, 1000);

    kmem_free(MEM_MESSAGE, p, 100);
}
