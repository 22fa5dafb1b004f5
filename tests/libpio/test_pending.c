#include "libpio/file/pending.h"

#include <criterion/criterion.h>

static struct pio_queue queue;

static void append(int node, int volume)
{
    pio_queue_append(&queue, &(struct pio_request){.node = node, .volume = volume});
}

static int take(int node)
{
    struct pio_request request;

    return pio_queue_take(&queue, node, &request) ? request.volume : -1;
}

static void set_up(void)
{
    pio_queue_init(&queue, 4);
}

static void tear_down(void)
{
    pio_queue_free(&queue);
}

TestSuite(queue, .init = set_up, .fini = tear_down);

Test(queue, gives_the_first_request_of_the_node)
{
    append(1, 10);
    append(2, 20);
    append(1, 11);
    append(2, 21);
    cr_expect_eq(take(2), 20, "first of node 2, from the middle");
    cr_expect_eq(take(2), 21, "second of node 2, from the tail");
    cr_expect_eq(take(1), 10, "first of node 1, from the head");
    cr_expect_eq(take(1), 11);
    cr_expect(pio_queue_empty(&queue));
}

Test(queue, refuses_a_node_without_requests)
{
    cr_expect_eq(take(1), -1, "empty");
    append(1, 10);
    cr_expect_eq(take(2), -1, "another node's only");
    cr_expect_eq(take(1), 10);
}

Test(queue, appends_after_its_tail_was_taken)
{
    append(1, 10);
    append(2, 20);
    cr_expect_eq(take(2), 20);
    append(3, 30);
    cr_expect_eq(take(1), 10);
    cr_expect_eq(take(3), 30);
}

Test(queue, uses_its_requests_again)
{
    for (int i = 0; i < 10; i++) {
        for (int k = 0; k < 4; k++)
            append(k, k);
        for (int k = 3; k >= 0; k--)
            cr_assert_eq(take(k), k);
    }
    cr_expect(pio_queue_empty(&queue));
}
