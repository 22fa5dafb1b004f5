/* Messages that are under way are kept until MPI has sent them: no process waits for another to take its messages. */
#include "emu/rack/ranks.h"

#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/rack/ranks_sockets.h"

struct sending {
    MPI_Request request;
    uint8_t *bytes;
};

static struct sending *sending;
static size_t n_sending, sending_room;
static int own, count;
static char (*host)[MPI_MAX_PROCESSOR_NAME];

/* Connects all processes with each other. */
static void meet(void)
{
    MPI_Request *request = memory_new(2 * (size_t)count, sizeof(MPI_Request));

    for (int k = 0; k < count; k++) {
        MPI_Irecv(NULL, 0, MPI_BYTE, k, WIRE_MEET, MPI_COMM_WORLD, &request[2 * k]);
        MPI_Isend(NULL, 0, MPI_BYTE, k, WIRE_MEET, MPI_COMM_WORLD, &request[2 * k + 1]);
    }
    MPI_Waitall(2 * count, request, MPI_STATUSES_IGNORE);
    free(request);
}

/* A process that never comes, because its host hangs, keeps MPI from beginning; and from ending. */
#define BEGIN_S 30u
#define END_S   10u

static void end_late(const char *text, size_t bytes)
{
    ssize_t written = write(STDERR_FILENO, text, bytes);

    (void)written;
    _exit(EXIT_FAILURE);
}

static void begin_fails(int number)
{
    static const char text[] = "ncube: a rack's process does not begin: MPI has waited for 30 s\n";

    (void)number;
    end_late(text, sizeof text - 1);
}

static void end_fails(int number)
{
    static const char text[] = "ncube: a rack's process does not end: MPI has waited for 10 s\n";

    (void)number;
    end_late(text, sizeof text - 1);
}

static void limit(void (*fails)(int), unsigned seconds)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");

    if (!rank || strcmp(rank, "0") != 0)
        return;
    signal(SIGALRM, fails);
    alarm(seconds);
}

void ranks_begin(int *argc, char ***argv)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int n;

    prctl(PR_SET_TIMERSLACK, 1ul); /* ns: for ranks_rest */
    limit(begin_fails, BEGIN_S);
    ranks_sockets_ask();
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    host = memory_new((size_t)count, sizeof *host);
    MPI_Get_processor_name(name, &n);
    MPI_Allgather(name, sizeof name, MPI_CHAR, host, sizeof *host, MPI_CHAR, MPI_COMM_WORLD);
    meet();
    ranks_sockets_find();
    alarm(0);
    signal(SIGALRM, SIG_DFL);
}

/* Frees what has been sent. */
static void sweep(void)
{
    for (size_t k = 0; k < n_sending;) {
        int sent;

        MPI_Test(&sending[k].request, &sent, MPI_STATUS_IGNORE);
        if (sent) {
            free(sending[k].bytes);
            sending[k] = sending[--n_sending];
        } else {
            k++;
        }
    }
}

void ranks_end(void)
{
    while (n_sending > 0)
        sweep();
    free(sending);
    free(host);
    limit(end_fails, END_S);
    MPI_Finalize();
    alarm(0);
}

void ranks_abort(void)
{
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    abort(); /* not reached */
}

uint32_t ranks_own(void)
{
    return (uint32_t)own;
}

uint32_t ranks_count(void)
{
    return (uint32_t)count;
}

const char *ranks_host(uint32_t rank)
{
    return host[rank];
}

void ranks_send(uint32_t to, enum wire_tag tag, struct wire *w)
{
    sweep();
    sending = memory_grow(sending, &sending_room, n_sending + 1, sizeof *sending);
    sending[n_sending].bytes = w->bytes;
    MPI_Isend(w->bytes, (int)w->n, MPI_BYTE, (int)to, tag, MPI_COMM_WORLD, &sending[n_sending].request);
    n_sending++;
    *w = (struct wire){0};
}

bool ranks_poll(uint32_t from, enum wire_tag tag, struct wire *w, uint32_t *who)
{
    MPI_Message message;
    MPI_Status status;
    int there = false, n;

    for (int k = 0; k < 2 && !there; k++) /* Open MPI's takes in what has come after it has looked */
        MPI_Improbe(from == RANKS_ANY ? MPI_ANY_SOURCE : (int)from, tag, MPI_COMM_WORLD, &there, &message, &status);
    if (!there)
        return false;
    MPI_Get_count(&status, MPI_BYTE, &n);
    w->bytes = memory_grow(w->bytes, &w->room, (size_t)n + 1, 1);
    w->n = (size_t)n;
    MPI_Mrecv(w->bytes, n, MPI_BYTE, &message, &status);
    if (who)
        *who = (uint32_t)status.MPI_SOURCE;
    return true;
}

/* Where there is no event to sleep for: a process that only yields uses up its share of a busy host, and then waits for
 * its turn when something comes; one that sleeps is let in at once. */
#define AT_ONCE_NS    5000u /* a sleep and a wake-up take as long */
#define REST_LEAST_NS 10000u
#define REST_MOST_NS  1000000u

/* Where there is one: what Open MPI has not yet sent, it sends only when it is called. */
#define SLEEP_US         10000u
#define SLEEP_SENDING_US 100u

void ranks_rest(uint64_t *since_ns, int fd)
{
    sweep();
    if (ranks_sockets_sleep(fd, n_sending > 0 ? SLEEP_SENDING_US : SLEEP_US))
        return;
    uint64_t now_ns = host_ns(CLOCK_MONOTONIC);
    if (*since_ns == 0)
        *since_ns = now_ns;
    if (now_ns - *since_ns < AT_ONCE_NS)
        return;
    uint64_t ns = REST_LEAST_NS + (now_ns - *since_ns) / 32;
    nanosleep(&(struct timespec){.tv_nsec = (long)(ns < REST_MOST_NS ? ns : REST_MOST_NS)}, NULL);
}

bool ranks_await(uint32_t from, enum wire_tag tag, struct wire *w, uint32_t limit_ms)
{
    uint64_t end_ms = host_ms() + limit_ms, since_ns = 0;

    while (!ranks_poll(from, tag, w, NULL)) {
        if (host_ms() >= end_ms)
            return false;
        ranks_rest(&since_ns, -1);
    }
    return true;
}
