#include "libpio/file/pending.h"

#include <criterion/criterion.h>

static struct pio_queue queue;
static struct pio_request requests[4];

static void append(int i, enum pio_op op, int node, int volume)
{
    requests[i] = (struct pio_request){.op = op, .node = node, .volume = volume};
    pio_queue_append(&queue, &requests[i]);
}

static int take(enum pio_op op, int node)
{
    const struct pio_request *request = pio_queue_take(&queue, op, node);

    return request ? request->volume : -1;
}

Test(queue, gives_the_first_request_of_the_node)
{
    append(0, PIO_OP_READ, 1, 10);
    append(1, PIO_OP_READ, 2, 20);
    append(2, PIO_OP_READ, 1, 11);
    append(3, PIO_OP_READ, 2, 21);
    cr_expect_eq(take(PIO_OP_READ, 2), 20, "first of node 2, from the middle");
    cr_expect_eq(take(PIO_OP_READ, 2), 21, "second of node 2, from the tail");
    cr_expect_eq(take(PIO_OP_READ, 1), 10, "first of node 1, from the head");
    cr_expect_eq(take(PIO_OP_READ, 1), 11);
    cr_expect_not(pio_queue_has(&queue, PIO_OP_READ));
}

Test(queue, gives_requests_of_the_kind_that_was_answered)
{
    append(0, PIO_OP_READ, 1, 10);
    append(1, PIO_OP_WRITE, 1, 11);
    append(2, PIO_OP_WRITE, 1, 12);
    cr_expect(pio_queue_has(&queue, PIO_OP_WRITE));
    cr_expect_eq(take(PIO_OP_WRITE, 1), 11, "behind a read");
    cr_expect_eq(take(PIO_OP_WRITE, 1), 12);
    cr_expect_not(pio_queue_has(&queue, PIO_OP_WRITE));
    cr_expect_eq(take(PIO_OP_WRITE, 1), -1, "a read is left");
    cr_expect_eq(take(PIO_OP_READ, 1), 10);
}

Test(queue, refuses_a_node_without_requests)
{
    cr_expect_eq(take(PIO_OP_READ, 1), -1, "empty");
    append(0, PIO_OP_READ, 1, 10);
    cr_expect_eq(take(PIO_OP_READ, 2), -1, "another node's only");
    cr_expect_eq(take(PIO_OP_READ, 1), 10);
}

Test(queue, appends_after_its_tail_was_taken)
{
    append(0, PIO_OP_READ, 1, 10);
    append(1, PIO_OP_READ, 2, 20);
    cr_expect_eq(take(PIO_OP_READ, 2), 20);
    append(2, PIO_OP_READ, 3, 30);
    cr_expect_eq(take(PIO_OP_READ, 1), 10);
    cr_expect_eq(take(PIO_OP_READ, 3), 30);
    cr_expect_not(pio_queue_has(&queue, PIO_OP_READ));
}
