/*
 * A bit of everything that takes time: computing with integers and floating point, messages of any length to any node,
 * barriers, output. Each node prints its clock and the messages in their order: nothing of that may depend on the host.
 */
#include <ntime.h>
#include <sys/time.h>
#include <time.h>

#include "check.h"

enum { ROUNDS = 12, MOST_BYTES = 3000, TYPE_DATA = 1, TYPE_SYNC = 2 };

static uint64_t seen;

static void note(uint64_t value)
{
    seen = (seen ^ value) * 0x100000001b3ull;
}

static void compute(uint64_t *state)
{
    double x = 1.0;

    for (uint32_t i = draw(state) % 800; i > 0; i--)
        x = x * 1.0000001 + 1.0 / (double)(1 + draw(state) % 7);
    note((uint64_t)(x * 1e6));
}

static void send_somewhere(uint64_t *state)
{
    static char buf[MOST_BYTES];
    int dest = draw(state) % node_count(), n = draw(state) % MOST_BYTES;

    check_equal(nwrite(buf, n, dest, TYPE_DATA, NULL), 0);
}

static void take_what_is_there(void)
{
    static char buf[MOST_BYTES];
    int src = N_ANY, type = TYPE_DATA;

    while (ntest(&src, &type) >= 0) {
        int n = nread(buf, sizeof buf, &src, &type, NULL);

        check(n >= 0, "nread: %d", n);
        note((uint64_t)n << 16 | (unsigned)src);
        note((uint64_t)(amicclk() * 20));
        src = N_ANY;
    }
}

int main(void)
{
    uint64_t state = 77 + own_node();
    struct timeval now;

    for (int i = 0; i < ROUNDS; i++) {
        compute(&state);
        send_somewhere(&state);
        if (draw(&state) % 2)
            take_what_is_there();
        if (i % 6 == 5)
            check_equal(nsync(TYPE_SYNC), 0);
        if (i % 5 == own_node() % 5)
            printf("node %d in round %d\n", own_node(), i);
    }
    check_equal(nsync(TYPE_SYNC), 0);
    take_what_is_there();
    gettimeofday(&now, NULL);
    printf("node %d: %.2f us, %ld.%06ld s, %016llx\n", own_node(), amicclk(), (long)now.tv_sec, (long)now.tv_usec,
           (unsigned long long)seen);
    return 0;
}
