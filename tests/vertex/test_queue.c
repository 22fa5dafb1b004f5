#include <criterion/criterion.h>

#include "vertex/contract/system.h"
#include "vertex/message/queue.h"

enum { COUNT = 5 };

static struct msg_queue queue;
static struct message message[COUNT];
static uint64_t payload[COUNT];

/*             node      type    sequence */
static const struct {
    uint32_t node, type, sequence;
} sent[COUNT] = {
    {1, 10, 100}, {2, 10, 200}, {1, 11, 300}, {0x4030, 0x80a3, 7}, {0x4030, 0x80a3, 6},
};

static void setup(void)
{
    queue = (struct msg_queue){0};
    for (int i = 0; i < COUNT; i++) {
        payload[i] = sent[i].sequence;
        message[i] =
            (struct message){.node = sent[i].node, .tag = TAG(sent[i].type, 3, 0), .payload = &payload[i], .bytes = 8};
        queue_add(&queue, &message[i]);
    }
}

TestSuite(queue, .init = setup);

static const struct {
    const char *name;
    struct msg_pattern pattern;
    int found; /* index, -1: none */
} cases[] = {
    {"anything a program sees", {MSG_ANY_NODE, 0, 0, 0x7fff, false, 0}, 0},
    {"the oldest of a type", {MSG_ANY_NODE, 0, 10, 10, false, 0}, 0},
    {"type and source", {2, 3, 10, 10, false, 0}, 1},
    {"source, any type", {2, 3, 0, 0x7fff, false, 0}, 1},
    {"another process of the source", {2, 1, 0, 0x7fff, false, 0}, -1},
    {"a narrowed range", {MSG_ANY_NODE, 0, 11, 20, false, 0}, 2},
    {"a range does not see the system's types", {0x4030, 3, 0, 0x7fff, false, 0}, -1},
    {"no such source", {3, 3, 0, 0x7fff, false, 0}, -1},
    {"no such type", {MSG_ANY_NODE, 0, 12, 12, false, 0}, -1},
    {"the oldest reply", {MSG_ANY_NODE, 0, 0x80a3, 0x80a3, false, 0}, 3},
    {"the reply to one request", {0x4030, 3, 0x80a3, 0x80a3, true, 6}, 4},
    {"a reply of another server", {0x4031, 3, 0x80a3, 0x80a3, true, 6}, -1},
    {"no such request", {0x4030, 3, 0x80a3, 0x80a3, true, 8}, -1},
};

Test(queue, the_oldest_message_that_fits_is_found)
{
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct message *want = cases[i].found < 0 ? NULL : &message[cases[i].found];

        cr_expect_eq(queue_find(&queue, &cases[i].pattern), want, "%s", cases[i].name);
    }
}

Test(queue, a_message_without_room_for_a_sequence_number_answers_nothing)
{
    struct msg_pattern reply = {0x4030, 3, 0x80a3, 0x80a3, true, 7};

    message[3].bytes = 3;
    cr_expect_null(queue_find(&queue, &reply));
}

Test(queue, removal_anywhere_keeps_the_order_of_the_rest)
{
    for (int gone = 0; gone < COUNT; gone++) {
        setup();
        queue_remove(&queue, &message[gone]);
        struct message late = {0};
        queue_add(&queue, &late);
        for (int i = 0; i < COUNT; i++)
            if (i != gone)
                cr_assert_eq(queue_take_first(&queue), &message[i], "without %d: message %d", gone, i);
        cr_assert_eq(queue_take_first(&queue), &late, "without %d: the late one", gone);
        cr_assert_null(queue_take_first(&queue), "without %d: the end", gone);
    }
}
