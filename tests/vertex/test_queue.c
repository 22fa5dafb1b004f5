/* The kernel's queue of messages, against a plain list. */
#include <criterion/criterion.h>

#include "tests/vertex/pages.h"
#include "vertex/contract/system.h"
#include "vertex/memory/kmem.h"
#include "vertex/memory/page.h"
#include "vertex/message/queue.h"

enum { COUNT = 9 };

static struct message_queue queue;
static struct message message[COUNT];
static uint64_t payload[COUNT];

/*             node      type    sequence */
static const struct {
    uint32_t node, type, sequence;
} sent[COUNT] = {
    {1, 10, 100},
    {2, 10, 200},
    {1, 11, 300},
    {0x4030, 0x80a3, 7},
    {0x4030, 0x80a3, 6},
    {1, IN_CONTEXT(CONTEXT_HIGH, 0x80a3), 0},
    {1, IN_CONTEXT(CONTEXT_SYNC, 10), 0},
    {1, IN_CONTEXT(CONTEXT_MOST, TYPE_COLLECTIVE), 0},
    {1, IN_CONTEXT(CONTEXT_MOST, TYPE_COLLECTIVE - 1), 0},
};

static void setup(void)
{
    queue = (struct message_queue){0};
    for (int i = 0; i < COUNT; i++) {
        payload[i] = sent[i].sequence;
        message[i] =
            (struct message){.node = sent[i].node, .tag = TAG(sent[i].type, 3, 0), .payload = &payload[i], .bytes = 8};
        queue_add(&queue, &message[i]);
    }
}

TestSuite(queue, .init = setup);

static struct message_pattern pattern_from(uint32_t procid, uint32_t sequence)
{
    struct message_pattern p = pattern_one(0x4030, procid, 0x80a3);

    p.by_sequence = true;
    p.sequence = sequence;
    return p;
}

Test(queue, the_oldest_message_that_fits_is_found)
{
    const struct {
        const char *name;
        struct message_pattern pattern;
        int found; /* index, -1: none */
    } cases[] = {
        {"anything a program sees", pattern_of_program(MESSAGE_ANY_NODE, 0, 0, 0xffff), 0},
        {"the oldest of a type", pattern_one(MESSAGE_ANY_NODE, 0, 10), 0},
        {"type and source", pattern_one(2, 3, 10), 1},
        {"source, any type", pattern_of_program(2, 3, 0, 0xffff), 1},
        {"another process of the source", pattern_of_program(2, 1, 0, 0xffff), -1},
        {"a narrowed range", pattern_of_program(MESSAGE_ANY_NODE, 0, 11, 20), 2},
        {"a program's range does not see the system's types", pattern_of_program(0x4030, 3, 0, 0xffff), -1},
        {"nor does a high one", pattern_of_program(MESSAGE_ANY_NODE, 0, 0x8000, 0xffff), 5},
        {"a high type", pattern_one(MESSAGE_ANY_NODE, 0, IN_CONTEXT(CONTEXT_HIGH, 0x80a3)), 5},
        {"no such source", pattern_one(3, 3, 10), -1},
        {"no such type", pattern_one(MESSAGE_ANY_NODE, 0, 12), -1},
        {"a type in another context", pattern_one(MESSAGE_ANY_NODE, 0, IN_CONTEXT(CONTEXT_SYNC, 10)), 6},
        {"all of another context", pattern_of_context(MESSAGE_ANY_NODE, 0, CONTEXT_SYNC), 6},
        {"a group's operation", pattern_one(MESSAGE_ANY_NODE, 0, IN_CONTEXT(CONTEXT_MOST, TYPE_COLLECTIVE)), 7},
        {"all of a group's but its operations", pattern_of_context(MESSAGE_ANY_NODE, 0, CONTEXT_MOST), 8},
        {"all of a server's", pattern_of_context(0x4030, 3, CONTEXT_PROGRAM), 3},
        {"the oldest reply", pattern_one(MESSAGE_ANY_NODE, 0, 0x80a3), 3},
        {"the reply to one request", pattern_from(3, 6), 4},
        {"no such request", pattern_from(3, 8), -1},
    };

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct message *want = cases[i].found < 0 ? NULL : &message[cases[i].found];

        cr_expect_eq(queue_find(&queue, &cases[i].pattern), want, "%s", cases[i].name);
    }
}

Test(queue, a_message_without_room_for_a_sequence_number_answers_nothing)
{
    struct message_pattern reply = pattern_from(3, 7);

    message[3].bytes = 3;
    cr_expect_null(queue_find(&queue, &reply));
}

Test(queue, removal_anywhere_keeps_the_order_of_the_rest)
{
    for (int gone = 0; gone < COUNT; gone++) {
        setup();
        queue_remove(&queue, &message[gone]);
        static struct message late;
        late = (struct message){0};
        queue_add(&queue, &late);
        for (int i = 0; i < COUNT; i++)
            if (i != gone)
                cr_assert_eq(queue_take_first(&queue), &message[i], "without %d: message %d", gone, i);
        cr_assert_eq(queue_take_first(&queue), &late, "without %d: the late one", gone);
        cr_assert_null(queue_take_first(&queue), "without %d: the end", gone);
    }
}

/* ---- Against a plain list ---- */

enum { PAGES = 4096, MESSAGES = 4000, STEPS = 60000 };

static struct message *all; /* MESSAGES, some of them queued */
static uint64_t sequences[MESSAGES];
static struct message *list[MESSAGES]; /* the queued ones, oldest first */
static int listed;

static void random_setup(void)
{
    pages_set_up(PAGES);
    all = kmem_alloc(MEM_PROCESS, MESSAGES * sizeof *all);
    memset(all, 0, MESSAGES * sizeof *all);
    for (int i = 0; i < MESSAGES; i++)
        all[i].payload = &sequences[i];
    queue = (struct message_queue){0};
    listed = 0;
}

static void random_teardown(void)
{
    pages_tear_down();
}

TestSuite(queue_random, .init = random_setup, .fini = random_teardown);

/* Few sources and types, or many; so that chains are long, or hold several of them. */
static const struct shape {
    const char *name;
    int sources, types, most; /* most: so many are queued, about */
} shapes[] = {
    {"one of each", 1, 1, 300},
    {"one source, many types", 1, 3000, 3000},
    {"many sources, one type", 3000, 1, 3000},
    {"a few of both", 3, 4, 100},
    {"many of both", 60, 60, 3900},
    {"always short", 4, 4, 12},
};

static int below(int n)
{
    return rand() % n;
}

static struct message_pattern random_pattern(const struct shape *s)
{
    uint32_t node = below(3) ? (uint32_t)below(s->sources) : MESSAGE_ANY_NODE, procid = below(2), low = below(s->types);
    struct message_pattern p = below(3)   ? pattern_one(node, procid, low)
                               : below(2) ? pattern_of_program(node, procid, low, low + below(s->types))
                                          : pattern_of_context(node, procid, CONTEXT_PROGRAM);

    p.by_sequence = !below(4);
    p.sequence = below(8);
    return p;
}

static int list_find(const struct message_pattern *p, int from)
{
    while (from < listed && !message_matches(list[from], p))
        from++;
    return from;
}

static void list_remove(int at)
{
    memmove(&list[at], &list[at + 1], (--listed - at) * sizeof *list);
}

static void add_one(const struct shape *s)
{
    struct message *m = NULL;

    for (int i = below(MESSAGES); !m; i = (i + 1) % MESSAGES)
        if (all[i].holds == 0)
            m = &all[i];
    m->holds = 1;
    m->node = below(s->sources);
    m->tag = TAG(below(s->types), below(2), 0);
    m->bytes = below(10) ? 8 : 3;
    *m->payload = below(8);
    queue_add(&queue, m);
    list[listed++] = m;
}

static void take_one(const struct shape *s, int step)
{
    struct message_pattern p = random_pattern(s);
    int at = list_find(&p, 0), second = at < listed ? list_find(&p, at + 1) : listed;
    struct message *m = queue_find(&queue, &p);

    cr_assert_eq(m, at < listed ? list[at] : NULL, "%s, step %d: found", s->name, step);
    if (!m)
        return;
    cr_assert_eq(queue_find_next(&queue, &p, m), second < listed ? list[second] : NULL, "%s, step %d: the next",
                 s->name, step);
    queue_remove(&queue, m);
    m->holds = 0;
    list_remove(at);
}

static void run_random(const struct shape *s, int most)
{
    for (int step = 0; step < STEPS; step++)
        if (listed < 2 || (listed < most && below(most / 2 + 1) >= listed / 2))
            add_one(s);
        else
            take_one(s, step);
    for (int i = 0; i < listed; i++) {
        cr_assert_eq(queue_take_first(&queue), list[i], "%s: message %d of what is left", s->name, i);
        list[i]->holds = 0;
    }
    cr_assert_null(queue_take_first(&queue), "%s: the end", s->name);
    cr_assert_eq(kmem_owned(MEM_MESSAGE), 0, "%s: the index has gone", s->name);
    listed = 0;
}

Test(queue_random, does_what_a_plain_list_does)
{
    srand(1);
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++)
        run_random(&shapes[i], shapes[i].most);
}

Test(queue_random, does_it_without_memory_for_an_index)
{
    srand(2);
    while (page_alloc(MEM_PROCESS, 1))
        ;
    run_random(&(struct shape){"no memory", 5, 5, 400}, 400);
}

Test(queue_random, does_it_with_memory_for_a_small_index_only)
{
    char *kept = page_alloc(MEM_PROCESS, 1);

    srand(3);
    while (page_alloc(MEM_PROCESS, 1))
        ;
    page_free(MEM_PROCESS, kept, 1);
    run_random(&(struct shape){"little memory", 40, 40, 1500}, 1500);
}

Test(queue_random, may_be_moved_to_another_place)
{
    struct shape s = {"moved", 10, 10, 200};
    struct message_queue moved;

    srand(4);
    while (listed < 200)
        add_one(&s);
    moved = queue;
    memset(&queue, 0xff, sizeof queue);
    for (int i = 0; i < 200; i++)
        cr_assert_eq(queue_take_first(&moved), list[i], "message %d", i);
    cr_expect_eq(kmem_owned(MEM_MESSAGE), 0);
}
