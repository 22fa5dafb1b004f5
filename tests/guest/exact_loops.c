/*
 * A random program of loops and handlers: what ncube does not execute, lets pass, or interrupts.
 *
 *   exact_loops MIX SEED
 *
 *   polls    waits for its messages by loops of many shapes: that stay the same, count, give up after a time or a
 *            number of turns, look for one sender or type, look and then receive, call two things in turn, sleep
 *   bursts   hundreds of short calls in a row by one process after the other, while the others wait: calls that pass
 *            without a stop, more of them than the plugin has room for between two stops
 *   nested   handlers are called by messages, signals and alarms, while it computes, calls and polls; and in handlers,
 *            which compute, call, poll, send and raise signals themselves
 *
 * Every process knows from the seed what the others send, so it checks each message and always ends. Built with
 * -DPROCS=2 -Nprocs 2, too: then two processes of a node poll, or are called, in turn.
 */
#include <errno.h>
#include <nio.h>
#include <poll.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "exact_processes.h"
#include "exact_work.h"

enum { PROCESSES_MAX = 64, COUNT_MAX = 16, BYTES_MAX = 2000 };
enum { PLAIN_TYPES = 3, TYPE_TOKEN = PLAIN_TYPES, TYPES, TYPE_HANDLED = TYPES, TYPE_SIGNAL, TYPE_ECHO };

struct message {
    int dest, type, bytes;
    uint32_t seed;
};

static struct message plan[PROCESSES_MAX][COUNT_MAX];
static int count, sent, to_come;
static volatile int handled_to_come;
static int catches; /* this process has handlers */

static uint32_t choose(uint32_t n)
{
    return draw(&own_choice) % n;
}

/* ---- Mixes ---- */

typedef void (*act_fn)(void);

static void send_next(void);
static void poll_for_one(void);
static void receive_if_any(void);
static void burst(void);
static void raise_some(void);

static const struct mix {
    const char *name;
    int messages;      /* of each process */
    uint32_t catching; /* percent of the processes that have handlers */
    int rounds;        /* of a token; 0: there is none */
    act_fn act[8];
} mixes[] = {
    {"polls", 10, 0, 0, {send_next, poll_for_one, poll_for_one, poll_for_one, compute, receive_if_any}},
    {"bursts", 6, 10, 3, {burst}},
    {"nested", 10, 80, 0, {send_next, compute, poll_for_one, receive_if_any, burst, raise_some, raise_some, compute}},
};

static const struct mix *mix;

static void find_mix(const char *name)
{
    for (size_t i = 0; i < sizeof mixes / sizeof *mixes; i++)
        if (strcmp(mixes[i].name, name) == 0)
            mix = &mixes[i];
    check(mix != NULL, "no mix '%s'", name);
}

static void act(void)
{
    uint32_t n = 0;

    while (n < sizeof mix->act / sizeof *mix->act && mix->act[n])
        n++;
    mix->act[choose(n)]();
}

/* ---- Messages ---- */

static int is_catching(int process, uint64_t seed)
{
    uint64_t state = seed * 31 + (uint64_t)process;

    draw(&state);
    return draw(&state) % 100 < mix->catching;
}

/* One that catches either has a handler for messages, and attends at once, or alarms, and attends in quanta. */
static int has_alarms(int process)
{
    return process % 2;
}

static struct message draw_message(uint64_t seed, uint64_t *state)
{
    struct message m = {.dest = (int)(draw(state) % (unsigned)processes), .type = (int)(draw(state) % PLAIN_TYPES)};
    uint32_t how = draw(state) % 3;

    m.bytes = (int)(draw(state) % (draw(state) % 4 ? 100 : BYTES_MAX));
    m.seed = draw(state);
    if (how > 0 && is_catching(m.dest, seed))
        m.type = how == 1 && !has_alarms(m.dest) ? TYPE_HANDLED : TYPE_SIGNAL;
    return m;
}

static void make_plan(uint64_t seed)
{
    for (int process = 0; process < processes; process++) {
        uint64_t state = seed * 1000003 + (uint64_t)process;

        draw(&state);
        for (int i = 0; i < count; i++) {
            plan[process][i] = draw_message(seed, &state);
            to_come += plan[process][i].dest == self && plan[process][i].type < TYPES;
            handled_to_come += plan[process][i].dest == self && plan[process][i].type == TYPE_HANDLED;
        }
    }
}

static void send_next(void)
{
    static char buf[BYTES_MAX + 16] __attribute__((aligned(8)));

    if (sent == count)
        return;
    const struct message *m = &plan[self][sent];
    *(uint64_t *)buf = (uint64_t)sent++;
    fill_pattern(buf + 8, (size_t)m->bytes, m->seed);
    if (m->type == TYPE_SIGNAL)
        check_equal(kill(address_of(m->dest) + 1, choose(2) ? SIGUSR1 : SIGUSR2), 0);
    else
        check_equal(nwrite(buf, m->bytes + 8, address_of(m->dest), m->type, NULL), 0);
    note((uint64_t)m->dest);
}

/* Receives a message that is there, or waits for it. Returns its type. */
static int receive(int src, int type)
{
    char buf[BYTES_MAX + 16] __attribute__((aligned(8)));
    int n = nread(buf, sizeof buf, &src, &type, NULL);
    uint64_t i = *(uint64_t *)buf;

    note((uint64_t)src << 32 | (unsigned)n);
    if (type == TYPE_TOKEN)
        return type;
    check(n >= 8 && i < (uint64_t)count, "%d bytes of type %d", n, type);
    struct message *m = &plan[process_at(src)][i];
    check(m->dest == self && m->type == type && m->bytes == n - 8, "%d bytes of type %d, not %d", n, type, m->bytes);
    check(find_wrong_byte(buf + 8, (size_t)m->bytes, m->seed) == (size_t)m->bytes, "wrong bytes from %d", src);
    m->dest = -1; /* it comes once */
    return type;
}

static void receive_plain(int src, int type)
{
    if (receive(src, type) < PLAIN_TYPES)
        to_come--;
}

static void receive_if_any(void)
{
    if (to_come > 0 && (sent == count || ntest(NULL, NULL) >= 0))
        receive_plain(N_ANY, N_ANY);
}

/* ---- Loops that poll ---- */

static int is_there(void)
{
    return ntest(NULL, NULL) >= 0;
}

static void poll_plainly(void)
{
    while (!is_there())
        ;
}

static void poll_and_count(void)
{
    volatile uint64_t turns = 0;

    while (!is_there())
        turns++;
    note(turns);
}

static void poll_for_a_time(void)
{
    double until = amicclk() + choose(3000);

    while (!is_there() && amicclk() < until)
        ;
}

static void poll_some_turns(void)
{
    for (uint32_t turns = choose(400); turns > 0 && !is_there(); turns--)
        ;
}

/* Any of these may be there before; those of one sender or type need never come. */
static void poll_for_one_kind(void)
{
    int src = choose(2) ? N_ANY : address_of((int)choose((uint32_t)processes)), type = (int)choose(PLAIN_TYPES);

    for (uint32_t turns = choose(300); turns > 0; turns--) {
        int from = src, of = type;

        if (ntest(&from, &of) >= 0) {
            receive_plain(from, of);
            return;
        }
    }
}

static void poll_with_two_calls(void)
{
    int node;

    for (uint32_t turns = choose(2) ? UINT32_MAX : choose(300); turns > 0 && !is_there(); turns--)
        whoami(&node, NULL, NULL, NULL);
}

static void poll_and_delay(void)
{
    uint32_t delay = choose(800);

    while (!is_there())
        for (volatile uint32_t i = 0; i < delay; i++)
            ;
}

static void poll_and_sleep(void)
{
    while (!is_there())
        usleep(50);
}

static void poll_by_poll(void)
{
    struct pollfd p = {.fd = nself, .events = POLLIN};

    while (poll(&p, 1, (int)choose(3)) <= 0)
        ;
}

/* Those that go on until a message is there come last. */
static void (*const shapes[])(void) = {poll_for_a_time, poll_some_turns, poll_for_one_kind,
                                       poll_plainly,    poll_and_count,  poll_with_two_calls,
                                       poll_and_delay,  poll_and_sleep,  poll_by_poll};
enum { SHAPES = sizeof shapes / sizeof *shapes, SHAPES_THAT_GIVE_UP = 3 };

static void poll_for_one(void)
{
    int surely = to_come > 0 && sent == count; /* the others can send all that they have, too */

    if (to_come > 0)
        shapes[choose(surely ? SHAPES : SHAPES_THAT_GIVE_UP)]();
    note((uint64_t)to_come);
    if (to_come > 0 && is_there())
        receive_plain(N_ANY, N_ANY);
}

/* ---- Calls ---- */

/* Of calls that cannot send. */
static void burst(void)
{
    uint32_t calls = choose(mix->rounds ? 600 : 100), always = choose(8), there = 0;
    int node;

    for (uint32_t i = 0; i < calls; i++)
        switch (always < 4 ? always : choose(4)) {
        case 0:
            whoami(&node, NULL, NULL, NULL);
            break;
        case 1:
            note(i);
            break;
        case 2:
            there += sbrk(0) != NULL;
            break;
        default:
            there += (uint32_t)is_there();
        }
    note(there);
}

static void pass_token(int round)
{
    char token = (char)round;

    if (self < processes - 1 || round < mix->rounds - 1)
        check_equal(nwrite(&token, 1, address_of((self + 1) % processes), TYPE_TOKEN, NULL), 0);
}

static void take_turns(void)
{
    for (int round = 0; round < mix->rounds; round++) {
        while (self + round > 0) {
            int type = receive(N_ANY, N_ANY);

            to_come -= type < PLAIN_TYPES;
            if (type == TYPE_TOKEN)
                break;
        }
        for (uint32_t i = choose(4); i > 0; i--) {
            act();
            send_next();
        }
        pass_token(round);
    }
}

/* ---- Handlers ---- */

static void echo(void)
{
    check_equal(nwrite(NULL, 0, address_of((int)choose((uint32_t)processes)), TYPE_ECHO, NULL), 0);
}

/* What a handler does beside its work; `lower` is a signal whose handler it may call. */
static void do_in_handler(int signal_number, int lower)
{
    note((uint64_t)signal_number);
    switch (choose(8)) {
    case 0:
        compute();
        break;
    case 1:
        burst();
        break;
    case 2:
        echo();
        break;
    case 3:
        if (lower)
            raise(lower);
        break;
    }
    note((uint64_t)signal_number);
}

static void on_message(int signal_number)
{
    int src = N_ANY, type = TYPE_HANDLED;

    do_in_handler(signal_number, SIGUSR1);
    while (ntest(&src, &type) >= 0) { /* nothing else takes it: a handler's own signal is blocked */
        receive(src, type);
        handled_to_come--;
        src = N_ANY;
    }
}

static void on_signal(int signal_number)
{
    do_in_handler(signal_number, signal_number == SIGUSR2 ? 0 : signal_number == SIGUSR1 ? SIGUSR2 : SIGUSR1);
}

static void raise_some(void)
{
    if (catches)
        raise(choose(2) ? SIGUSR1 : SIGUSR2);
}

static void catch_signals(void)
{
    const struct timeval interval = {.tv_usec = 2300 + 100 * self};
    const struct itimerval alarms = {.it_interval = interval, .it_value = interval};

    catches = 1;
    signal(SIGUSR1, on_signal);
    signal(SIGUSR2, on_signal);
    if (!has_alarms(self)) {
        signal(SIGMSGS, on_message);
        return;
    }
    signal(SIGALRM, on_signal);
    check_equal(setitimer(ITIMER_REAL, &alarms, NULL), 0);
}

/* ---- The program ---- */

int main(int argc, char **argv)
{
    check(argc >= 3, "usage: exact_loops MIX SEED");
    uint64_t seed = strtoull(argv[2], NULL, 10);

    find_mix(argv[1]);
    count_processes();
    count = mix->messages;
    own_choice = seed * 7919 + (uint64_t)self;
    check(processes <= PROCESSES_MAX && count <= COUNT_MAX, "%d processes", processes);
    make_plan(seed);
    check_equal(nrange(0, TYPES - 1), 0);
    if (is_catching(self, seed))
        catch_signals();
    meet(); /* signals come only when all catch them */
    if (mix->rounds)
        take_turns();
    while (sent < count || to_come > 0 || handled_to_come > 0) {
        act();
        send_next();
        receive_if_any();
    }
    printf("process %d: %.2f us, %016llx\n", self, amicclk(), (unsigned long long)seen);
    return 0;
}
