/*
 * Nodes are processes that share memory: what a node gives the others it lays into a room of its own; barriers lie
 * before and behind.
 */
#include "tests/libpio/fake_group.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libpio/star/star_nodes.h"
#include "libpio/star/store.h"

#define NODES_MAX  16
#define ROOM_BYTES (1 << 21) /* of what a node shows the others */

struct shared {
    pthread_barrier_t barrier;
    struct {
        int bytes[NODES_MAX];
        char data[ROOM_BYTES];
    } room[NODES_MAX];
};

static struct shared *shared;
static int own_nodes, own_rank;

static void come_together(void)
{
    pthread_barrier_wait(&shared->barrier);
}

/* ---- <group.h> ---- */

int group_make(struct group *g, const int *member, int size)
{
    (void)member;
    (void)size;
    g->size = own_nodes;
    g->rank = own_rank;
    return 0;
}

int group_all_reduce(struct group *g, void *elements, int n, enum group_element element, enum group_operation operation)
{
    int64_t *own = elements;

    if (element != GROUP_INT64 || operation != GROUP_LEAST)
        abort();
    memcpy(shared->room[g->rank].data, own, (size_t)n * sizeof *own);
    come_together();
    for (int k = 0; k < g->size; k++)
        for (int i = 0; i < n; i++) {
            int64_t x;

            memcpy(&x, shared->room[k].data + (size_t)i * sizeof x, sizeof x);
            own[i] = x < own[i] ? x : own[i];
        }
    come_together();
    return 0;
}

int group_broadcast(struct group *g, void *buf, int bytes, int root)
{
    if (g->rank == root)
        memcpy(shared->room[root].data, buf, (size_t)bytes);
    come_together();
    memcpy(buf, shared->room[root].data, (size_t)bytes);
    come_together();
    return 0;
}

int group_exchange(struct group *g, const void *to, const int *to_bytes, void *from, const int *from_bytes)
{
    int sum = 0;
    char *at = from;

    for (int k = 0; k < g->size; k++)
        shared->room[g->rank].bytes[k] = to_bytes[k], sum += to_bytes[k];
    if (sum > ROOM_BYTES)
        abort();
    memcpy(shared->room[g->rank].data, to, (size_t)sum);
    come_together();
    for (int k = 0; k < g->size; at += from_bytes[k++]) {
        int before = 0;

        for (int j = 0; j < g->rank; j++)
            before += shared->room[k].bytes[j];
        if (shared->room[k].bytes[g->rank] != from_bytes[k])
            abort();
        memcpy(at, shared->room[k].data + before, (size_t)from_bytes[k]);
    }
    come_together();
    return 0;
}

int group_all_gather(struct group *g, const void *part, void *all, const int *bytes)
{
    char *at = all;

    if (bytes[g->rank] > ROOM_BYTES)
        abort();
    memcpy(shared->room[g->rank].data, part, (size_t)bytes[g->rank]);
    come_together();
    for (int k = 0; k < g->size; at += bytes[k++])
        memcpy(at, shared->room[k].data, (size_t)bytes[k]);
    come_together();
    return 0;
}

/* ---- star_modes.c ---- */

int star_modes_begin(int first, int nodes)
{
    if (first != 0 || (nodes != 0 && nodes != own_nodes))
        return -EINVAL;
    return group_make(&star_group, NULL, 0);
}

void star_modes_local(void)
{
}

void star_modes_global(void)
{
}

/* ---- The store ---- */

int fake_store_requests;
static int fails_from, fails_to, fails_with;

void fake_store_fail(int n, int times, int error)
{
    fails_from = fake_store_requests + n;
    fails_to = fails_from + times;
    fails_with = error;
}

static bool fails(void)
{
    return ++fake_store_requests >= fails_from && fake_store_requests < fails_to;
}

static int changes_left = -1; /* -1: this node does not end */

void fake_store_end_at(int n)
{
    changes_left = n;
}

static void change(void)
{
    if (changes_left > 0 && --changes_left == 0)
        _exit(0);
}

static int fake_open(const char *name, int flags, const struct pio_layout *layout)
{
    if (flags & (O_CREAT | O_TRUNC))
        change();
    return star_store_unix.open(name, flags, layout);
}

static int fake_truncate(int handle, int64_t bytes)
{
    change();
    return star_store_unix.truncate(handle, bytes);
}

static int fake_put_meta(const char *name, const struct pio_layout *layout, const char *text, size_t bytes)
{
    change();
    return star_store_unix.put_meta(name, layout, text, bytes);
}

static int fake_remove_meta(const char *name, const struct pio_layout *layout)
{
    change();
    return star_store_unix.remove_meta(name, layout);
}

static int fake_remove(const char *name)
{
    change();
    return star_store_unix.remove(name);
}

static int fake_remove_all(const char *name)
{
    change();
    return star_store_unix.remove_all(name);
}

static int64_t fake_read(int handle, void *buf, int64_t bytes, int64_t at)
{
    return fails() ? -fails_with : star_store_unix.read(handle, buf, bytes, at);
}

static int64_t fake_write(int handle, const void *buf, int64_t bytes, int64_t at)
{
    change();
    return fails() ? -fails_with : star_store_unix.write(handle, buf, bytes, at);
}

/* Writes that happen when they end, as late as they can. */
#define BEHIND_MAX 3
static struct {
    int handle;
    const void *buf;
    int64_t bytes, at;
} behind[BEHIND_MAX];
bool fake_store_is_slow;

static int fake_write_start(int handle, const void *buf, int64_t bytes, int64_t at)
{
    int k = 0;

    while (k < BEHIND_MAX && behind[k].buf)
        k++;
    if (!fake_store_is_slow || k == BEHIND_MAX)
        return -EAGAIN;
    behind[k].handle = handle;
    behind[k].buf = buf;
    behind[k].bytes = bytes;
    behind[k].at = at;
    return k;
}

static int64_t fake_write_end(int number)
{
    const void *buf = behind[number].buf;
    int64_t bytes = behind[number].bytes / 2; /* comes short: the rest is written then */

    behind[number].buf = NULL;
    return fake_write(behind[number].handle, buf, bytes, behind[number].at);
}

/* Reads that happen when they begin, as early as they can. */
static struct {
    bool is_used;
    int64_t got;
} early[BEHIND_MAX];

static int fake_read_start(int handle, void *buf, int64_t bytes, int64_t at)
{
    int k = 0;

    while (k < BEHIND_MAX && early[k].is_used)
        k++;
    if (!fake_store_is_slow || k == BEHIND_MAX)
        return -EAGAIN;
    early[k].is_used = true;
    early[k].got = fake_read(handle, buf, bytes / 2, at); /* comes short: the rest is read at the end */
    return k;
}

static int64_t fake_read_end(int number)
{
    early[number].is_used = false;
    return early[number].got;
}

const struct star_store *star_store_of(const char **name)
{
    static struct star_store store;

    (void)name;
    store = star_store_unix;
    store.open = fake_open;
    store.truncate = fake_truncate;
    store.put_meta = fake_put_meta;
    store.remove_meta = fake_remove_meta;
    store.remove = fake_remove;
    store.remove_all = fake_remove_all;
    store.read = fake_read;
    store.write = fake_write;
    store.write_start = fake_write_start;
    store.write_end = fake_write_end;
    store.read_start = fake_read_start;
    store.read_end = fake_read_end;
    return &store;
}

/* ---- Nodes ---- */

static void begin(int nodes)
{
    pthread_barrierattr_t attributes;

    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shared == MAP_FAILED)
        abort();
    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->barrier, &attributes, (unsigned)nodes);
    own_nodes = nodes;
}

/* A node that has failed ends those that wait for it. */
static bool wait_for(const pid_t *node, int nodes)
{
    bool passes = true;

    for (int k = 0; k < nodes; k++) {
        int status;
        pid_t pid = waitpid(-1, &status, 0);

        if (pid > 0 && status != 0 && passes) {
            passes = false;
            fprintf(stderr, "a node has ended with status %#x\n", (unsigned)status);
            for (int j = 0; j < nodes; j++)
                kill(node[j], SIGKILL);
        }
    }
    return passes;
}

bool fake_nodes_run(int nodes, bool (*program)(void *arg), void *arg)
{
    pid_t node[NODES_MAX];

    begin(nodes);
    fflush(NULL);
    for (int k = 0; k < nodes; k++) {
        node[k] = fork();
        if (node[k] == 0) {
            own_rank = k;
            bool passes = cs_init(0, 0) == 0 && program(arg);
            fflush(NULL);
            if (!passes)
                _exit(1);
            exit(0);
        }
    }
    bool passes = wait_for(node, nodes);
    munmap(shared, sizeof *shared);
    return passes;
}
