/*
 * Messages of random length, destination and type, sent and read in every way, checked byte by byte.
 *
 *   torture ROUNDS SEED [COUNT [BITS]]     COUNT messages of each node in each round, of up to 2^BITS bytes
 *
 * Every node draws its own messages and those of every other node. So it knows how many messages will arrive, and their
 * contents. Those of one source and type arrive in the order in which they were sent.
 */
#include <n_errno.h>

#include "check.h"

enum { NODES_MAX = 64, COUNT_MAX = 16, BITS_MAX = 18, BYTES_MAX = 1 << BITS_MAX, TYPES = 5, TYPE_BARRIER = 1000 };

struct plan {
    int dest, type, bytes;
    uint32_t seed;
    int done;
};

static struct plan plan[NODES_MAX][COUNT_MAX];
static char space[BYTES_MAX + 8] __attribute__((aligned(8)));
static uint64_t own_choice; /* selects the calls, not the messages */
static int bits = BITS_MAX;

/* Short ones are the most frequent; every power of two has its share. */
static int draw_length(uint64_t *state)
{
    uint32_t most = 1u << draw(state) % (bits + 1u);

    return (int)(draw(state) % (most + 1));
}

static void make_plan(int round, int nodes, int count, uint64_t seed)
{
    for (int node = 0; node < nodes; node++) {
        uint64_t state = seed * 1000003 + (uint64_t)round * 1009 + (uint64_t)node;

        draw(&state);
        for (int i = 0; i < count; i++)
            plan[node][i] = (struct plan){.dest = (int)(draw(&state) % (unsigned)nodes),
                                          .type = (int)(draw(&state) % TYPES),
                                          .bytes = draw_length(&state),
                                          .seed = draw(&state)};
    }
}

static void send(const struct plan *p)
{
    char *buf = draw(&own_choice) % 2 ? ngetp(p->bytes) : NULL;

    fill_pattern(buf ? buf : space, (size_t)p->bytes, p->seed);
    if (buf)
        check_equal(nwritep(buf, p->bytes, p->dest, p->type, NULL), 0);
    else
        check_equal(nwrite(space, p->bytes, p->dest, p->type, NULL), 0);
}

/* Returns the first message of the sender's plan to this node, of this type, that has not arrived. */
static struct plan *expected(int src, int type, int count)
{
    for (int i = 0; i < count; i++) {
        struct plan *p = &plan[src][i];

        if (p->dest == own_node() && p->type == type && !p->done)
            return p;
    }
    check(0, "nothing of type %d is to come from node %d", type, src);
    return NULL;
}

static void judge(const char *buf, int n, int src, int type, int count)
{
    struct plan *p = expected(src, type, count);

    check(n == p->bytes, "%d bytes from node %d, type %d, not %d", n, src, type, p->bytes);
    size_t wrong = find_wrong_byte(buf, (size_t)n, p->seed);
    check(wrong == (size_t)n, "byte %zu of %d from node %d, type %d", wrong, n, src, type);
    p->done = 1;
}

/* Chooses a source and type for which a message is still to arrive: any, or just that source, type or both. Before all
 * messages are sent, only any: a named one may not arrive until this node has sent more. */
static void choose(int nodes, int count, int all_sent, int *src, int *type)
{
    uint32_t how = all_sent ? draw(&own_choice) % 4 : 0;
    int first = (int)(draw(&own_choice) % (unsigned)nodes);

    *src = *type = N_ANY;
    for (int k = 0; how != 0 && k < nodes; k++)
        for (int i = 0; i < count; i++) {
            const struct plan *p = &plan[(first + k) % nodes][i];

            if (p->dest != own_node() || p->done)
                continue;
            *src = how & 1 ? (first + k) % nodes : N_ANY;
            *type = how & 2 ? p->type : N_ANY;
            return;
        }
}

static void receive_one(int nodes, int count, int all_sent)
{
    int src, type;

    choose(nodes, count, all_sent, &src, &type);
    if (draw(&own_choice) % 2) {
        char *buf = space + draw(&own_choice) % 2 * 8;
        int n = nread(buf, BYTES_MAX, &src, &type, NULL);

        check(n >= 0, "nread: %d", n);
        judge(buf, n, src, type, count);
    } else {
        char *buf;
        int n = nreadp(&buf, BYTES_MAX, &src, &type, NULL);

        check(n >= 0, "nreadp: %d", n);
        judge(buf, n, src, type, count);
        check_equal(nrelp(buf), 0);
    }
}

static int count_coming(int nodes, int count)
{
    int n = 0;

    for (int node = 0; node < nodes; node++)
        for (int i = 0; i < count; i++)
            n += plan[node][i].dest == own_node();
    return n;
}

static void play_round(int nodes, int count)
{
    int node = own_node(), to_send = count, to_come = count_coming(nodes, count);

    for (int sent = 0; to_send > 0 || to_come > 0;) {
        if (to_send > 0 && (to_come == 0 || draw(&own_choice) % 3)) {
            send(&plan[node][sent++]);
            to_send--;
        } else if (to_send == 0 || ntest(NULL, NULL) >= 0) {
            receive_one(nodes, count, to_send == 0);
            to_come--;
        }
    }
    check_equal(ntest(NULL, NULL), -N_EAGAIN);
    check_equal(nsync(TYPE_BARRIER), 0);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 10, count = argc > 3 ? atoi(argv[3]) : 5, nodes = node_count();
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

    bits = argc > 4 ? atoi(argv[4]) : BITS_MAX;
    check(nodes <= NODES_MAX && count > 0 && count <= COUNT_MAX, "%d nodes, %d messages", nodes, count);
    check(bits >= 0 && bits <= BITS_MAX, "2^%d bytes", bits);
    check_equal(nrange(0, TYPES - 1), 0);
    own_choice = seed * 7919 + (uint64_t)own_node();
    for (int round = 0; round < rounds; round++) {
        make_plan(round, nodes, count, seed);
        play_round(nodes, count);
    }
    if (own_node() == 0)
        printf("passed\n");
    return 0;
}
