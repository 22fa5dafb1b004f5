/*
 * A random program that is ended while its processes compute: by a fault, an illegal instruction, abort, a signal of
 * its own, a signal to another, exits, or the run's limit. What the others have done ahead until then must leave
 * nothing behind.
 *
 *   exact_ends SEED
 *
 * Every process computes for random times between short calls: its clock, messages to others, polls, waits for
 * messages; some have a handler of alarms. One process, drawn from the seed, does the deed after a random number of
 * turns; with "exits" and "signals around" all do, each in its turn. Built with -DPROCS=2 -Nprocs 2, too: then the
 * other process of a node may be in the middle of anything.
 */
#include <ntime.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "exact_processes.h"

enum deed { FAULT, ILLEGAL, ABORT, OWN_SIGNAL, KILL_ANOTHER, SIGNALS_AROUND, EXITS, NONE, DEEDS };
enum { TYPE = 7 };

static uint64_t choice;
static int may_wait; /* the others go on without it */
static volatile int handled;

static uint32_t choose(uint32_t n)
{
    return draw(&choice) % n;
}

static void compute(uint32_t turns)
{
    static volatile uint64_t word[64];

    for (uint32_t i = 0; i < turns; i++)
        word[i % 64] = word[(i + 7) % 64] * 3 + i;
}

static void drain(void)
{
    char buffer[64];

    for (int src = -1, type = TYPE; ntest(&src, &type) >= 0; src = -1)
        nread(buffer, sizeof buffer, &src, &type, NULL);
}

static void handle(int number)
{
    (void)number;
    handled++;
    compute(choose(500));
}

static void catch_alarms(void)
{
    const struct timeval interval = {.tv_usec = 1100};
    const struct itimerval alarms = {.it_interval = interval, .it_value = interval};

    signal(SIGALRM, handle);
    setitimer(ITIMER_REAL, &alarms, NULL);
}

static void wait_for_one(void)
{
    char buffer[64];
    int src = -1, type = TYPE;

    if (may_wait)
        nread(buffer, sizeof buffer, &src, &type, NULL);
}

static void poll_awhile(void)
{
    int src = -1, type = TYPE;

    for (uint32_t turns = choose(100); turns > 0 && ntest(&src, &type) < 0; turns--)
        src = -1;
}

/* A short call, or none. */
static void call(void)
{
    char bytes[40] = {0};

    switch (choose(7)) {
    case 0:
        amicclk();
        break;
    case 1:
        nwrite(bytes, (int)choose(sizeof bytes), address_of((int)choose((uint32_t)processes)), TYPE, NULL);
        break;
    case 2:
        drain();
        break;
    case 3:
        usleep(choose(300));
        break;
    case 4:
        wait_for_one();
        break;
    case 5:
        poll_awhile();
        break;
    }
}

static void do_deed(enum deed deed)
{
    static volatile int *volatile nowhere = (volatile int *)16;

    switch (deed) {
    case FAULT:
        *nowhere = 1;
        break;
    case ABORT:
        abort();
    case ILLEGAL:
        __asm__ volatile(".4byte 0");
        break;
    case OWN_SIGNAL:
        raise(SIGTERM);
        break;
    case KILL_ANOTHER:
    case SIGNALS_AROUND:
        kill(address_of((self + 1 + (int)choose((uint32_t)processes - 1)) % processes) + 1,
             choose(2) ? SIGKILL : SIGTERM);
        break;
    case EXITS:
        exit((int)choose(4));
    case NONE:
    case DEEDS:
        break;
    }
}

int main(int argc, char **argv)
{
    uint64_t common = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;

    count_processes();
    enum deed deed = draw(&common) % DEEDS;
    int doer = (int)(draw(&common) % (uint32_t)processes);
    uint32_t turns = 1 + draw(&common) % 60, longest = 1u << draw(&common) % 15;
    choice = common + (uint64_t)self * 77777;
    if (deed == SIGNALS_AROUND || deed == EXITS) {
        doer = self;
        turns += choose(30);
    }
    may_wait = self != doer;
    if (choose(3) == 0)
        catch_alarms();
    for (uint32_t turn = 0;; turn++) {
        compute(choose(longest) + 1);
        call();
        if (turn == turns && self == doer)
            do_deed(deed);
    }
}
