/* Messages that are under way are kept until MPI has sent them: no process waits for another to take its messages.
 *
 * A process that waits must not sleep when MPI has taken in from a socket what it waits for. MPI_Iprobe and MPI_Improbe
 * take in more after they have looked, so nothing is probed: a receive is always posted, and MPI_Test of it looks again
 * after it has taken in what there was. What has come and is not what the caller wants is kept in order. A long message
 * is announced by one with its length. */
#include "emu/rack/ranks.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/rack/ranks_folder.h"
#include "emu/rack/ranks_sockets.h"

struct sending {
    MPI_Request request;
    uint8_t *bytes;
};

static struct sending *sending;
static size_t n_sending, sending_room;

/* What has come, and has not been asked for yet. */
struct come {
    uint32_t who;
    int tag;
    struct wire bytes;
    uint64_t due_ns; /* it is not there before */
};

static struct come *come;
static size_t n_come, come_room;
static struct come *late; /* what is to be sent when it is due; who: to whom */
static size_t n_late, late_room;
static uint64_t delay_ns; /* of messages between this process and rank 0 */
static bool is_new;       /* something has come since the last rest: the caller may have asked for it before it came */

#define SHORT_BYTES 32768u
#define LONG        0x100 /* a tag: a long message with that tag comes, so many bytes (uint64_t), which have */
#define LONG_BYTES  0x200 /* this tag */

static MPI_Request posted;
static uint8_t short_bytes[SHORT_BYTES];
static struct come awaited; /* a long one; its tag is 0 if there is none */

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

/* Tells rank 0 which rank is at the end of each connection. */
static void find_owners(void)
{
    int room = 2 * count + 16;
    uint64_t *name = memory_new((size_t)room, sizeof *name);
    uint64_t *all = memory_new((size_t)room * (own == 0 ? (size_t)count : 0), sizeof *all);

    for (int k = 0; k < room; k++)
        name[k] = ranks_sockets_name((uint32_t)k);
    MPI_Gather(name, room, MPI_UINT64_T, all, room, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (int other = room; own == 0 && other < room * count; other++)
        for (int k = 0; k < room && all[other] != 0 && name[k] != 0; k++)
            if (name[k] == all[other])
                ranks_sockets_belongs((uint32_t)k, (uint32_t)(other / room));
    free(all);
    free(name);
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

/* ---- Receiving ---- */

static void post(void)
{
    if (awaited.tag != 0)
        MPI_Irecv(awaited.bytes.bytes, (int)awaited.bytes.n, MPI_BYTE, (int)awaited.who, LONG_BYTES, MPI_COMM_WORLD,
                  &posted);
    else
        MPI_Irecv(short_bytes, SHORT_BYTES, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &posted);
}

static uint64_t due_ns(uint32_t who)
{
    return delay_ns > 0 && who == 0 ? host_ns(CLOCK_MONOTONIC) + delay_ns : 0;
}

static bool is_due(const struct come *c)
{
    return c->due_ns == 0 || c->due_ns <= host_ns(CLOCK_MONOTONIC);
}

static void keep(const struct come *c)
{
    come = memory_grow(come, &come_room, n_come + 1, sizeof *come);
    come[n_come] = *c;
    come[n_come++].due_ns = due_ns(c->who);
    is_new = true;
}

static void expect_long(uint32_t who, int tag)
{
    uint64_t n;

    memcpy(&n, short_bytes, sizeof n);
    awaited = (struct come){.who = who, .tag = tag};
    awaited.bytes.bytes = memory_grow(NULL, &awaited.bytes.room, n + 1, 1);
    awaited.bytes.n = n;
}

static void keep_short(uint32_t who, int tag, size_t n)
{
    struct come c = {.who = who, .tag = tag};

    wire_append(&c.bytes, short_bytes, n);
    keep(&c);
}

/* Takes in what has come. After that, a socket tells when more does. */
static void take_in(void)
{
    MPI_Status status;
    int there, n;

    while (posted != MPI_REQUEST_NULL && MPI_Test(&posted, &there, &status) == MPI_SUCCESS && there) {
        MPI_Get_count(&status, MPI_BYTE, &n);
        if (awaited.tag != 0) {
            keep(&awaited);
            awaited = (struct come){0};
        } else if (status.MPI_TAG & LONG) {
            expect_long((uint32_t)status.MPI_SOURCE, status.MPI_TAG & ~LONG);
        } else {
            keep_short((uint32_t)status.MPI_SOURCE, status.MPI_TAG, (size_t)n);
        }
        post();
    }
}

static void end_receiving(void)
{
    MPI_Cancel(&posted);
    MPI_Wait(&posted, MPI_STATUS_IGNORE);
    for (size_t k = 0; k < n_come; k++)
        wire_free(&come[k].bytes);
    free(come);
    wire_free(&awaited.bytes);
}

/* ---- Sending ---- */

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

static void send_bytes(uint32_t to, int tag, uint8_t *bytes, size_t n)
{
    sending = memory_grow(sending, &sending_room, n_sending + 1, sizeof *sending);
    sending[n_sending].bytes = bytes;
    sending[n_sending].request = MPI_REQUEST_NULL; /* if MPI refuses */
    MPI_Isend(bytes, (int)n, MPI_BYTE, (int)to, tag, MPI_COMM_WORLD, &sending[n_sending].request);
    n_sending++;
}

static void announce(uint32_t to, int tag, uint64_t n)
{
    uint8_t *bytes = memory_new(1, sizeof n);

    memcpy(bytes, &n, sizeof n);
    send_bytes(to, tag | LONG, bytes, sizeof n);
}

static void send_now(uint32_t to, int tag, const struct wire *w)
{
    if (w->n > SHORT_BYTES)
        announce(to, tag, w->n);
    send_bytes(to, w->n > SHORT_BYTES ? LONG_BYTES : tag, w->bytes, w->n);
}

static void send_late(bool all)
{
    size_t sent = 0;

    for (; sent < n_late && (all || is_due(&late[sent])); sent++)
        send_now(late[sent].who, late[sent].tag, &late[sent].bytes);
    n_late -= sent;
    memmove(late, late + sent, n_late * sizeof *late);
}

void ranks_send(uint32_t to, enum wire_tag tag, struct wire *w)
{
    sweep();
    if (delay_ns > 0 && to == 0) {
        late = memory_grow(late, &late_room, n_late + 1, sizeof *late);
        late[n_late++] = (struct come){.who = to, .tag = tag, .bytes = *w, .due_ns = due_ns(to)};
    } else {
        send_now(to, tag, w);
    }
    *w = (struct wire){0};
}

/* ---- Life ---- */

/* Open MPI 5 tells that a process has ended: there is nothing more to receive from any, and rank 0 sees by the
 * connections which one it was. 4.1 has no such errors. All others end the run. */
#ifdef MPI_ERR_PROC_FAILED
static void take_error(MPI_Comm *comm, int *error, ...)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int class, n;

    (void)comm;
    MPI_Error_class(*error, &class);
    if (class == MPI_ERR_PROC_FAILED || class == MPI_ERR_PROC_FAILED_PENDING)
        return;
    MPI_Error_string(*error, text, &n);
    fprintf(stderr, "ncube: %s\n", text);
    ranks_abort();
}

static void take_errors(void)
{
    MPI_Errhandler handler;

    MPI_Comm_create_errhandler(take_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
}
#else
static void take_errors(void)
{
}
#endif

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
    if (own > 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* Open MPI 5 goes on when mpirun or its daemon has ended */
    host = memory_new((size_t)count, sizeof *host);
    MPI_Get_processor_name(name, &n);
    MPI_Allgather(name, sizeof name, MPI_CHAR, host, sizeof *host, MPI_CHAR, MPI_COMM_WORLD);
    meet();
    ranks_sockets_find();
    find_owners();
    take_errors();
    ranks_folder_remove();
    post();
    alarm(0);
    signal(SIGALRM, SIG_DFL);
}

void ranks_end(void)
{
    send_late(true);
    while (n_sending > 0)
        sweep();
    free(sending);
    free(late);
    end_receiving();
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

void ranks_delay(uint64_t us)
{
    delay_ns = us * 1000;
}

bool ranks_poll(uint32_t from, enum wire_tag tag, struct wire *w, uint32_t *who)
{
    send_late(false);
    take_in();
    for (size_t k = 0; k < n_come; k++)
        if (come[k].tag == (int)tag && (from == RANKS_ANY || from == come[k].who) && is_due(&come[k])) {
            wire_free(w);
            *w = come[k].bytes;
            if (who)
                *who = come[k].who;
            n_come--;
            memmove(&come[k], &come[k + 1], (n_come - k) * sizeof *come);
            return true;
        }
    return false;
}

/* Where there is no event to sleep for: a process that only yields uses up its share of a busy host, and then waits for
 * its turn when something comes; one that sleeps is let in at once. */
#define AT_ONCE_NS    5000u /* a sleep and a wake-up take as long */
#define REST_LEAST_NS 10000u
#define REST_MOST_NS  1000000u

/* Where there is one: what Open MPI has not yet sent, it sends only when it is called. */
#define SLEEP_US         10000u
#define SLEEP_SENDING_US 100u

/* Returns a time, or less if one of the messages that are delayed is due before. */
static unsigned until_due_us(unsigned us)
{
    uint64_t first_ns = n_late > 0 ? late[0].due_ns : UINT64_MAX, now_ns;

    if (delay_ns == 0)
        return us;
    for (size_t k = 0; k < n_come; k++)
        if (come[k].due_ns > 0 && come[k].due_ns < first_ns)
            first_ns = come[k].due_ns;
    now_ns = host_ns(CLOCK_MONOTONIC);
    if (first_ns >= now_ns + us * 1000ull)
        return us;
    return first_ns > now_ns ? (unsigned)((first_ns - now_ns + 999) / 1000) : 0;
}

void ranks_rest(uint64_t *since_ns, int fd)
{
    send_late(false);
    sweep();
    take_in();
    if (is_new) {
        is_new = false;
        return;
    }
    if (ranks_sockets_sleep(fd, until_due_us(n_sending > 0 ? SLEEP_SENDING_US : SLEEP_US)))
        return;
    uint64_t now_ns = host_ns(CLOCK_MONOTONIC);
    if (*since_ns == 0)
        *since_ns = now_ns;
    if (now_ns - *since_ns < AT_ONCE_NS)
        return;
    uint64_t ns = REST_LEAST_NS + (now_ns - *since_ns) / 32;
    nanosleep(&(struct timespec){.tv_nsec = (long)(ns < REST_MOST_NS ? ns : REST_MOST_NS)}, NULL);
}

uint32_t ranks_lost(void)
{
    return ranks_sockets_lost();
}

/* Between two looks of a wait lie some ms. If there are more, this process has been held up, and so may be those for
 * which it waits: they have the same host, or one that was suspended with it. */
#define HELD_UP_MS 100u

bool ranks_await(uint32_t from, enum wire_tag tag, struct wire *w, uint32_t limit_ms)
{
    uint64_t looked_ms = host_ms(), waited_ms = 0, since_ns = 0;

    while (!ranks_poll(from, tag, w, NULL)) {
        uint64_t now_ms = host_ms(), passed_ms = now_ms - looked_ms;

        waited_ms += passed_ms < HELD_UP_MS ? passed_ms : HELD_UP_MS;
        if (waited_ms >= limit_ms || (from > 0 && ranks_lost() == from))
            return false;
        looked_ms = now_ms;
        ranks_rest(&since_ns, -1);
    }
    return true;
}
