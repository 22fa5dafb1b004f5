/*
 * Requests to servers: requeststart, requestend, requesttest, on machines whose nsdisks have a family of requests for
 * tests (tests/nsdisk/echo_family.h), with volumes df00 to df03 on four I/O nodes (tests/machine/test_requests.c).
 *
 *   requests limits       what is refused, and how many may be under way
 *   requests any order    64 requests to four servers, ended in any order
 *   requests held         what servers hold is answered late, to all nodes, in an order of theirs
 *   requests held long    the same for 3.5 s, where server_limit_s is 1
 *   requests held on      and never answered
 *   requests held, dead   two servers die at 4 s while they hold, and are idle
 *   requests end          a node ends, with requests held: each server is told; one that it has a file at, too
 *   requests answers      errors of servers, and replies of another size
 *   requests heads        random requests of random lengths: each is answered
 *   requests reads        the volume's fiber reads a file
 *   requests no family    servers that serve in order, or have no family
 *   requests dead         servers die while requests are held: 2 s after the start, server_limit_s is 1
 *   requests ends it      a server ends at a request
 *   requests costs        beside messages of the same length
 *   requests exact SEED   a random mixture
 */
#include <errno.h>
#include <fcntl.h>
#include <n_errno.h>
#include <nio.h>
#include <nrequest.h>
#include <ntime.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_files.h"
#include "tests/nsdisk/echo_family.h"

#define SERVERS    4
#define UNDER_WAY  64
#define DATA_BYTES 5000
#define SYNC       77

static int server[SERVERS];
static uint64_t state = 1;
static char sent[UNDER_WAY][DATA_BYTES], got[DATA_BYTES + 1];

static uint32_t below(uint32_t n)
{
    return draw(&state) % n;
}

/* Leaves no file open. */
static void find_servers(int n)
{
    for (int i = 0; i < n; i++) {
        char path[20];

        snprintf(path, sizeof path, "//df%02d/", i);
        int fd = open(path, O_RDONLY);
        check(fd >= 0, "%s: %s", path, strerror(errno));
        server[i] = ionode(fd);
        close(fd);
    }
    state = 1 + (unsigned)own_node();
}

static long start(int to, int type, uint32_t arg, uint64_t key, const void *data, size_t bytes)
{
    const struct echo_request r = {.arg = arg, .key = key};

    return requeststart(server[to], type, &r, sizeof r, data, bytes);
}

/* Starts, and expects no error. */
static long started(int to, int type, uint32_t arg, uint64_t key, const void *data, size_t bytes)
{
    long number = start(to, type, arg, key, data, bytes);

    check(number > 0, "type 0x%x: %ld", (unsigned)type, number);
    return number;
}

/* One that has no data, and its status; *place may be NULL. */
static long ask(int to, int type, uint32_t arg, uint64_t key, uint64_t *place)
{
    uint64_t unused;

    return requestend(started(to, type, arg, key, NULL, 0), place ? place : &unused, sizeof unused, NULL, 0);
}

static void fill(char *data, size_t n, uint32_t seed)
{
    for (size_t i = 0; i < n; i++)
        data[i] = (char)(seed * 31 + i * 7 + i / 251);
}

static void end_echo(long number, const char *data, size_t n)
{
    uint64_t place;

    got[n] = 'x';
    check_equal(requestend(number, &place, sizeof place, got, DATA_BYTES), (long)n);
    check(memcmp(got, data, n) == 0 && got[n] == 'x', "request %ld: other data", number);
}

/* ---- Limits ---- */

static void limits(void)
{
    const struct echo_request r = {.seq = 0};
    static char large[(1 << 20) + 1];
    static const int wrong_type[] = {0, 1, 0x8021, 0x804f, 0x8080, 0x80d0, -1};
    static const int wrong_node[] = {0, 1, 0x8000, -1};
    long number[UNDER_WAY];

    find_servers(SERVERS);
    for (size_t i = 0; i < sizeof wrong_type / sizeof *wrong_type; i++)
        check_equal(requeststart(server[0], wrong_type[i], &r, sizeof r, NULL, 0), -N_EINVAL);
    for (size_t i = 0; i < sizeof wrong_node / sizeof *wrong_node; i++)
        check_equal(requeststart(wrong_node[i], N_ECHO, &r, sizeof r, NULL, 0), -N_EINVAL);
    check_equal(errno, EINVAL);
    check(strcmp(nfailed(), "requeststart: invalid argument") == 0, "%s", nfailed());
    check_equal(requeststart(server[0], N_ECHO, &r, 3, NULL, 0), -N_EINVAL);
    check_equal(requeststart(server[0], N_ECHO, large, 4097, NULL, 0), -N_EINVAL);
    check_equal(requeststart(server[0], N_ECHO, &r, sizeof r, large, sizeof large), -N_EINVAL);
    check_equal(requeststart(server[0], N_ECHO, NULL, sizeof r, NULL, 0), -N_EFAULT);
    check_equal(requeststart(server[0], N_ECHO, &r, sizeof r, (void *)8, 100), -N_EFAULT);
    check_equal(requestend(1 << 30, NULL, 0, NULL, 0), -N_EINVAL);
    check_equal(requestend(-1, NULL, 0, NULL, 0), -N_EINVAL);
    check_equal(requesttest(1 << 30), -N_EINVAL);
    for (int i = 0; i < UNDER_WAY; i++) {
        check_equal(requesttest(0), UNDER_WAY - i);
        number[i] = started(i % SERVERS, N_ECHO, 0, 0, large, 10);
    }
    check_equal(requesttest(0), 0);
    check_equal(start(0, N_ECHO, 0, 0, large, 10), -N_EAGAIN);
    check_equal(requestend(number[5], (void *)8, 8, got, 10), -N_EFAULT);
    check_equal(requestend(number[5], got, 8, (void *)8, 10), -N_EFAULT);
    for (int i = 0; i < UNDER_WAY; i++)
        end_echo(number[i], large, 10);
    check_equal(requestend(number[5], got, 8, got, 10), -N_EINVAL);
    end_echo(started(0, N_ECHO, 0, 0, large, 10), large, 10);
}

/* ---- Any order ---- */

static void any_order(void)
{
    long number[UNDER_WAY];
    size_t bytes[UNDER_WAY];

    find_servers(SERVERS);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < UNDER_WAY; i++) {
            bytes[i] = below(3) == 0 ? below(9) : below(DATA_BYTES);
            fill(sent[i], bytes[i], (unsigned)i + (unsigned)round * 1000);
            number[i] = started((int)below(SERVERS), N_ECHO, 0, 0, sent[i], bytes[i]);
        }
        for (int left = UNDER_WAY; left > 0; left--) {
            int i = (int)below((unsigned)left);

            while (below(2) == 0 && requesttest(number[i]) == 0)
                ;
            end_echo(number[i], sent[i], bytes[i]);
            number[i] = number[left - 1];
            bytes[i] = bytes[left - 1];
            memcpy(sent[i], sent[left - 1], bytes[i]);
        }
    }
}

/* ---- Held ---- */

static void held(void)
{
    const uint32_t nodes = (unsigned)ncubesize(), own = (unsigned)own_node();
    long number[SERVERS], meets[SERVERS];
    uint64_t place, n = 0;

    find_servers(SERVERS);
    for (int i = 0; i < SERVERS; i++) {
        fill(sent[i], 1000, own * 10 + (unsigned)i);
        number[i] = started(i, N_HOLD, 0, 5, sent[i], 1000);
        meets[i] = started(i, N_MEET, nodes, 9, sent[i], 100);
    }
    for (int i = SERVERS - 1; i >= 0; i--)
        end_echo(meets[i], sent[i], 100);
    check_equal(requesttest(number[0]), 0);
    nsync(SYNC);
    if (own == 0)
        for (int i = 0; i < SERVERS; i++)
            check_equal(ask(i, N_RELEASE, 0, 5, NULL), nodes);
    for (int i = SERVERS - 1; i >= 0; i--) {
        check_equal(requestend(number[i], &place, sizeof place, got, DATA_BYTES), 1000);
        check(memcmp(got, sent[i], 1000) == 0, "other data");
        check(place > nodes && place <= 2 * nodes, "place %d", (int)place);
        n += place;
    }
    check(n > 0, "no places");
}

/* Until that virtual time. */
static void spin(double until_us)
{
    while (amicclk() < until_us)
        ;
}

/* The first nodes wait in requestend, the last one tests. */
static void held_long(void)
{
    const int nodes = ncubesize(), own = own_node();
    uint64_t place;

    find_servers(SERVERS);
    double begun = amicclk();
    fill(sent[0], 1000, (unsigned)own);
    long number = started(1, N_HOLD, 0, 5, sent[0], 1000);
    nsync(SYNC);
    if (own == 0) {
        spin(begun + 3.5e6);
        check_equal(ask(1, N_RELEASE, 0, 5, NULL), nodes);
    }
    for (int i = 1; own == nodes - 1 && i <= 3; i++) {
        spin(begun + i * 1.1e6);
        check_equal(requesttest(number), 0);
    }
    check_equal(requestend(number, &place, sizeof place, got, DATA_BYTES), 1000);
    check(memcmp(got, sent[0], 1000) == 0, "other data");
    check(amicclk() - begun >= 3.5e6 && amicclk() - begun < 3.6e6, "%f us", amicclk() - begun);
}

static void held_on(void)
{
    find_servers(SERVERS);
    ask(1, N_HOLD, 0, 5, NULL);
}

static void held_dead(void)
{
    find_servers(SERVERS);
    long one = started(1, N_HOLD, 0, 1, sent[0], 100), two = started(2, N_HOLD, 0, 1, sent[0], 100);
    check_equal(requestend(one, NULL, 0, NULL, 0), -N_ETIMEDOUT);
    check(amicclk() > 4e6 && amicclk() < 5.1e6, "%f us", amicclk());
    check_equal(requesttest(two), 1);
    check_equal(requestend(two, NULL, 0, NULL, 0), -N_ETIMEDOUT);
    check(amicclk() < 5.2e6, "%f us", amicclk());
}

/* ---- The end of a process ---- */

static void ends(void)
{
    const int nodes = ncubesize(), own = own_node();
    uint64_t ended = 0;

    find_servers(SERVERS);
    if (own == 1) {
        for (int i = 0; i < 12; i++)
            started(i % (SERVERS - 1), N_HOLD, 0, 3, sent[0], 100);
        check(open("//df01/kept", O_RDWR | O_CREAT, 0644) >= 0, "//df01/kept");
        check_equal(ask(0, N_KNOWN, 0, 3, NULL), 4);
        nwrite(sent, 1, N_DEST_ALL, 1, NULL); /* where messages have a charge, looks at what was lost to all nodes */
        exit(0);
    }
    if (own != 0)
        return;
    for (int i = 0; i < SERVERS - 1; i++) {
        do
            check(ask(i, N_KNOWN, 0, 3, &ended) >= 0, "N_KNOWN");
        while (ended < (unsigned)nodes - 1 && i == 0 && ended < 1);
        while (ask(i, N_KNOWN, 0, 3, &ended) > 0 || ended < 1)
            ;
    }
    check_equal(ask(SERVERS - 1, N_KNOWN, 0, 3, &ended), 0);
    check_equal(ended, 0); /* nobody but this node has asked it */
}

/* ---- Answers ---- */

static void answers(void)
{
    uint64_t head[2];
    long number;

    find_servers(SERVERS);
    check_equal(ask(0, ECHO_NONE, 0, 0, NULL), -N_ENOSYS);
    check_equal(ask(1, NO_FAMILY, 0, 0, NULL), -N_ENOSYS);
    check_equal(ask(2, NO_MEMORY, 0, 0, NULL), -N_ENOMEM);
    check_equal(ask(3, N_NO_ROOM, 0, 0, NULL), -N_ENOMEM);
    number = requeststart(server[0], N_ECHO, head, 5, NULL, 0);
    check_equal(requestend(number, NULL, 0, NULL, 0), -N_EPROTO);
    number = started(0, N_ECHO, 0, 0, sent[0], DATA_BYTES);
    check_equal(requestend(number, head, 8, got, DATA_BYTES - 1), -N_EPROTO);
    check_equal(requestend(number, head, 8, got, DATA_BYTES), -N_EINVAL);
    check_equal(requestend(started(0, N_ECHO, 0, 0, NULL, 0), head, 9, NULL, 0), -N_EPROTO);
    check_equal(requestend(started(0, N_ECHO, 0, 0, sent[0], 8), head, 16, NULL, 0), 8);
    check_equal(requestend(started(0, N_ECHO, 0, 0, sent[0], 8), NULL, 0, got, 16), 8);
    static char large[60000];
    check_equal(requestend(started(0, N_ECHO, 0, 0, large, ECHO_DATA_BYTES + 1), head, 8, large, sizeof large),
                -N_EMSGSIZE);
    check_equal(requestend(started(0, N_ECHO, 0, 0, large, ECHO_DATA_BYTES), head, 8, large, sizeof large),
                ECHO_DATA_BYTES);
    end_echo(started(0, N_ECHO, 0, 0, sent[0], 100), sent[0], 100);
}

static void heads(void)
{
    static char bytes[4096];
    long number[8];

    find_servers(SERVERS);
    for (int round = 0; round < 60; round++) {
        for (int i = 0; i < 8; i++) {
            int type = 0x8050 + (int)below(0x30);
            size_t head = 4 + below(below(3) == 0 ? 4093 : 30);

            if (type == N_HOLD || type == N_MEET || type == N_END)
                type = N_READ;
            for (size_t k = 0; k < sizeof bytes / 4; k++)
                ((uint32_t *)bytes)[k] = below(2) == 0 ? below(8) : below(0x7fffffff) * 2;
            number[i] = requeststart(server[below(SERVERS)], type, bytes, head, bytes, below(3000));
            check(number[i] > 0, "type 0x%x: %ld", (unsigned)type, number[i]);
        }
        for (int i = 0; i < 8; i++)
            check(requestend(number[i], NULL, 0, got, DATA_BYTES) >= -200, "no answer");
    }
    for (int i = 0; i < SERVERS; i++)
        end_echo(started(i, N_ECHO, 0, 0, sent[0], 100), sent[0], 100);
}

static void reads(void)
{
    static char content[12345];
    char path[30];

    find_servers(SERVERS);
    fill(content, sizeof content, (unsigned)own_node());
    for (int i = 0; i < SERVERS; i++) {
        snprintf(path, sizeof path, "//df%02d/file%d", i, own_node());
        int fd = open(path, O_RDWR | O_CREAT, 0644);
        check(fd >= 0 && write(fd, content, sizeof content) == sizeof content, "%s", path);
        close(fd);
    }
    long number[40];
    size_t at[40];
    snprintf(path, sizeof path, "/file%d", own_node());
    for (int i = 0; i < 40; i++) {
        at[i] = below(13000);
        number[i] = started((int)below(SERVERS), N_READ, 0, at[i], path, strlen(path));
    }
    for (int i = 39; i >= 0; i--) {
        size_t n = at[i] > sizeof content ? 0 : sizeof content - at[i];
        uint64_t place;

        n = n < ECHO_READ_BYTES ? n : ECHO_READ_BYTES;
        check_equal(requestend(number[i], &place, sizeof place, got, DATA_BYTES), (long)n);
        check(memcmp(got, content + at[i], n) == 0, "%d bytes from %d on", (int)n, (int)at[i]);
    }
    check_equal(ask(0, N_READ, 3, 0, NULL), -N_EPROTO);
    check_equal(requestend(started(0, N_READ, 3, 0, "/none", 5), NULL, 0, got, 100), -N_ENODEV);
    check_equal(requestend(started(0, N_READ, 0, 0, "/none", 5), NULL, 0, got, 100), -N_ENOENT);
    check_equal(requestend(started(0, N_READ, 0, 0, "/", 1), NULL, 0, got, 100), -N_EISDIR);
}

static void no_family(void)
{
    find_servers(SERVERS);
    for (int i = 0; i < SERVERS; i++) {
        check_equal(ask(i, 0x805f, 0, 0, NULL), -N_ENOSYS);
        check_equal(ask(i, 0x807f, 0, 0, NULL), -N_ENOSYS);
    }
}

/* ---- Servers that die ---- */

/* Servers 1 and 2 die at 2 s. */
static void dead(void)
{
    long number[SERVERS];

    find_servers(SERVERS);
    for (int i = 0; i < SERVERS; i++)
        number[i] = started(i, N_HOLD, 0, 1, sent[0], 100);
    while (amicclk() < 2.1e6)
        ;
    check_equal(ask(0, N_RELEASE, 0, 1, NULL), 1);
    check_equal(requesttest(number[0]), 1);
    end_echo(number[0], sent[0], 100);
    double before = amicclk();
    check_equal(requesttest(number[1]), 1); /* its limit has passed, and it does not answer */
    long one = requestend(number[1], NULL, 0, NULL, 0), two = requestend(number[2], NULL, 0, NULL, 0);
    check(one == -N_ETIMEDOUT && two == -N_ETIMEDOUT, "%ld, %ld", one, two);
    check(amicclk() - before < 1.2e6, "%f us", amicclk() - before);
    long later = ask(1, N_ECHO, 0, 0, NULL);
    check(later == -N_ETIMEDOUT || later == -N_EHOSTUNREACH, "%ld", later);
    end_echo(started(3, N_ECHO, 0, 0, sent[0], 50), sent[0], 50);
    check_equal(ask(3, N_RELEASE, 0, 1, NULL), 1);
    end_echo(number[3], sent[0], 100);
}

static void ends_it(void)
{
    find_servers(SERVERS);
    printf("%ld\n", ask(0, N_END, 3, 0, NULL));
}

/* ---- Costs ---- */

#define COST_BYTES 4096
#define COST_TYPE  5
#define COST_TURNS 4 /* the first ones touch pages */

static char buffer[COST_BYTES];
static long cost_number;

static void write_one(void)
{
    nwrite(buffer, COST_BYTES, 1, COST_TYPE, NULL);
}

static void read_one(void)
{
    int from = 1, type = COST_TYPE;

    check_equal(nread(buffer, COST_BYTES, &from, &type, NULL), COST_BYTES);
}

static void start_one(void)
{
    cost_number = requeststart(server[0], N_ECHO, buffer, sizeof(struct echo_request),
                               buffer + sizeof(struct echo_request), COST_BYTES - sizeof(struct echo_request));
}

static void end_one(void)
{
    check_equal(requestend(cost_number, buffer, 8, buffer + 8, COST_BYTES - 8),
                COST_BYTES - sizeof(struct echo_request));
}

static double us_of(void (*call)(void))
{
    double before = amicclk();

    call();
    return amicclk() - before;
}

/* The time that both calls take; what the second one takes has come. */
static double us_of_both(void (*first)(void), void (*second)(void))
{
    double us = 0;

    for (int i = 0; i < COST_TURNS; i++) {
        us = us_of(first);
        for (double until = amicclk() + 20000; amicclk() < until;)
            ;
        us += us_of(second);
    }
    return us;
}

static void costs(void)
{
    find_servers(1);
    for (int i = 0; own_node() == 1 && i < COST_TURNS; i++) {
        int from = 0, type = COST_TYPE;

        nread(buffer, COST_BYTES, &from, &type, NULL);
        nwrite(buffer, COST_BYTES, 0, COST_TYPE, NULL);
    }
    if (own_node() != 0)
        return;
    double messages = us_of_both(write_one, read_one), requests = us_of_both(start_one, end_one);
    printf("messages %.2f us, requests %.2f us\n", messages, requests);
    check(requests <= 1.05 * messages, "requests take %.2f us, messages %.2f us", requests, messages);
}

/* ---- Random ---- */

static void end_any(long *number, int *n)
{
    int i = (int)below((unsigned)*n);
    uint64_t place = 0;

    requestend(number[i], &place, below(2) * 8, got, DATA_BYTES);
    printf("%d %lx\n", own_node(), (unsigned long)place);
    number[i] = number[--*n];
}

static void exact(void)
{
    const uint32_t own = (unsigned)own_node();
    long number[20];
    int n = 0;

    find_servers(2);
    state = own + 1000 * strtoul(test_argv[0], NULL, 10);
    for (int step = 0; step < 40; step++) {
        static const int types[] = {N_ECHO, N_ECHO, N_HOLD, N_READ, N_KNOWN, N_NO_ROOM, NO_FAMILY, NO_MEMORY};

        if (n == 20 || (n > 0 && below(3) == 0)) {
            ask(0, N_RELEASE, 0, own, NULL);
            ask(1, N_RELEASE, 0, own, NULL);
            end_any(number, &n);
        } else {
            number[n++] = started((int)below(2), types[below(8)], below(2), own, "/none", below(6));
        }
        if (below(8) == 0 && n > 0)
            requesttest(number[0]);
    }
    if (own % 3 == 1)
        exit(0); /* with requests under way */
}

static const struct test_case cases[] = {
    {"limits", limits},
    {"any order", any_order},
    {"held", held},
    {"end", ends},
    {"held long", held_long},
    {"held on", held_on},
    {"held, dead", held_dead},
    {"answers", answers},
    {"heads", heads},
    {"reads", reads},
    {"no family", no_family},
    {"dead", dead},
    {"ends it", ends_it},
    {"costs", costs},
    {"exact", exact},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
