/*
 * One call of all nodes in global mode: its beginning, its end, and the pipeline of a long read (global_call.h).
 */
#include "libpio/ndevices/global_call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/group/collect.h"
#include "vertex/contract/errors.h"

enum { ROOT = 0, PIECE_BYTES = 8 << 10 };

bool global_inside, global_refuses;

uint32_t global_sum(uint32_t sum, const char *text)
{
    for (; *text; text++)
        sum = (sum ^ (uint8_t)*text) * 16777619u;
    return sum;
}

/* ---- Beginning and end ---- */

/* What a node brings along. The second sum is inverted, so that AND shows whether all are equal. */
struct arrival {
    uint32_t about, inverted;
    int64_t count;
};

static void combine(void *into, const void *low, const void *high, int n)
{
    const struct arrival *a = low, *b = high;

    (void)n;
    *(struct arrival *)into =
        (struct arrival){a->about & b->about, a->inverted & b->inverted, a->count < b->count ? a->count : b->count};
}

long global_begin(struct group *nodes, enum global_call_type type, uint32_t about, long count)
{
    struct arrival own = {about, ~about, count}, other;

    if (global_refuses)
        return -EINVAL;
    int result = collect_reduce(nodes, &(struct collect_reduction){&own, &other, 1, sizeof own, combine}, ROOT,
                                collect_type(nodes, (int)type));

    if (result < 0 || !global_is_first(nodes))
        return result;
    return own.about == ~own.inverted ? own.count : -EINVAL;
}

static int broadcast(struct group *nodes, enum global_call_type type, void *buf, size_t bytes)
{
    if (global_refuses)
        return -EINVAL;
    return collect_broadcast(nodes, buf, (int)bytes, ROOT, collect_type(nodes, (int)type));
}

long global_share(struct group *nodes, enum global_call_type type, long result, void *data, size_t bytes)
{
    struct {
        int64_t result;
        char data[GLOBAL_DATA_BYTES];
    } answer = {.result = result};

    if (bytes > 0 && global_is_first(nodes))
        memcpy(answer.data, data, bytes);
    int error = broadcast(nodes, type, &answer, sizeof answer.result + bytes);
    if (error < 0)
        return error;
    if (answer.result >= 0 && bytes > 0 && !global_is_first(nodes))
        memcpy(data, answer.data, bytes);
    return (long)answer.result;
}

/* ---- Reading ---- */

/* Comes before each piece of data. */
struct piece {
    int64_t bytes; /* or a negative errno */
    int64_t more;  /* another one follows */
};

static long least(long a, long b)
{
    return a < b ? a : b;
}

/* Reads what is left, or a piece of it that a readstart has begun. */
static long read_piece(const struct global_source *from, char *buf, long bytes, bool begun)
{
    const struct ndevice *d = from->device;

    if (begun || from->type == GLOBAL_readend)
        return d->readend ? d->readend(from->state, buf) : -ENOTSUP;
    if (from->type == GLOBAL_pread)
        return d->pread ? d->pread(from->state, buf, (size_t)bytes, from->at) : -ENOTSUP;
    return d->read ? d->read(from->state, buf, (size_t)bytes) : -ENOTSUP;
}

/* Whether the driver takes it. */
static bool start_piece(const struct global_source *from, long left)
{
    const struct ndevice *d = from->device;

    return from->type == GLOBAL_read && d->readstart && d->readend &&
           d->readstart(from->state, (int)least(left, PIECE_BYTES)) >= 0;
}

static long read_as_first(struct group *nodes, const struct global_source *from, char *buf, long n)
{
    bool begun = n > PIECE_BYTES && start_piece(from, n);
    struct piece piece;
    long done = 0;
    int error = 0;

    do {
        long asked = begun ? least(n - done, PIECE_BYTES) : n - done;

        piece.bytes = read_piece(from, buf + done, asked, begun);
        piece.more = begun && piece.bytes == asked && done + asked < n && start_piece(from, n - done - asked);
        error = broadcast(nodes, from->type, &piece, sizeof piece);
        if (error >= 0 && piece.bytes > 0)
            error = broadcast(nodes, from->type, buf + done, (size_t)piece.bytes);
        done += piece.bytes > 0 ? piece.bytes : 0;
    } while (error >= 0 && piece.more);
    return error < 0 ? error : done > 0 ? done : (long)piece.bytes;
}

/* Takes a piece, also if the node has no place for it: the program passed a bad address. */
static int take_piece(struct group *nodes, enum global_call_type type, char *buf, size_t bytes)
{
    int result = broadcast(nodes, type, buf, bytes);

    if (result != -N_EFAULT)
        return result;
    char *room = malloc(bytes);
    int error = room ? broadcast(nodes, type, room, bytes) : 0;
    free(room);
    return error < 0 ? error : result;
}

static long read_as_other(struct group *nodes, enum global_call_type type, char *buf)
{
    struct piece piece;
    long done = 0;
    int error = 0;

    do {
        int result = broadcast(nodes, type, &piece, sizeof piece);

        if (result >= 0 && piece.bytes > 0)
            result = take_piece(nodes, type, buf + done, (size_t)piece.bytes);
        if (result < 0)
            error = result;
        if (result < 0 && result != -N_EFAULT)
            break;
        done += piece.bytes > 0 ? piece.bytes : 0;
    } while (piece.more);
    return error < 0 ? error : done > 0 ? done : (long)piece.bytes;
}

/* Tells the others that nothing was read. */
static long fail_read(struct group *nodes, enum global_call_type type, long error)
{
    struct piece piece = {.bytes = error};
    int result = broadcast(nodes, type, &piece, sizeof piece);

    return result < 0 ? result : error;
}

long global_read(struct group *nodes, const struct global_source *from, uint32_t about, void *buf, long n)
{
    long most = global_begin(nodes, from->type, about, n);

    if (!global_is_first(nodes))
        return most < 0 ? most : read_as_other(nodes, from->type, buf);
    if (most < 0)
        return fail_read(nodes, from->type, most);
    global_inside = true;
    most = read_as_first(nodes, from, buf, most);
    global_inside = false;
    return most;
}
