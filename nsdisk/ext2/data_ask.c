/*
 * Askers of the data cache, who never wait (data_cache.h).
 *
 *   data_cache_ask ------> there: DATA_HERE
 *     |   `--------------> under way: into the list of the transfer
 *     |-> a buffer is free: a transfer is begun, into its list
 *     `-> no_room: in turn ----------------------------------------,
 *                                                                  |
 *   data_cache_reap -> data_land -> calls who waits for it -> data_ask_turn
 *
 * A write of bytes that the cache cannot take yet waits as a read does, and is carried out when the part has come. If
 * every block is dirty, a write waits in no_room, and as many commands that make room are under way as writes wait.
 */

#include "nsdisk/ext2/data_cache_state.h"
#include "vertex/contract/errors.h"

/* ---- Waiting ---- */

/* Begins the waiter's wait, unless it waits already. */
static void wait(struct data_cache *d, struct data_waiter *w)
{
    if (!w->waits)
        w->since_cycles = data_wait_begin(d);
    w->waits = true;
}

static enum data_answer wait_for(struct data_cache *d, struct transfer *t, struct data_waiter *w,
                                 enum data_answer answer)
{
    wait(d, w);
    TAILQ_INSERT_TAIL(&t->waiters, w, next);
    return answer;
}

/* Whose turn it is: a waiter that comes takes its place behind all others, the first of them keeps it, and one whose
 * part has come goes before those who have waited for a buffer only. Else the part would be gone again. */
enum turn { TURN_LAST, TURN_FIRST, TURN_AGAIN };

static enum data_answer wait_for_room(struct data_cache *d, struct data_waiter *w, enum turn turn)
{
    struct data_waiter *before = TAILQ_FIRST(&d->no_room);

    while (turn == TURN_AGAIN && before && before->again)
        before = TAILQ_NEXT(before, next);
    wait(d, w);
    w->again = turn == TURN_AGAIN || (turn == TURN_FIRST && w->again);
    if (turn != TURN_LAST && before)
        TAILQ_INSERT_BEFORE(before, w, next);
    else
        TAILQ_INSERT_TAIL(&d->no_room, w, next);
    d->writes_without_room += w->from != NULL;
    return DATA_NO_ROOM;
}

static void end_wait(struct data_cache *d, struct data_waiter *w)
{
    if (w->waits)
        data_wait_end(d, w->since_cycles);
    w->waits = false;
}

/* ---- Reading ---- */

/* Brings the waiter's part, with those around it. */
static enum data_answer bring(struct data_cache *d, struct data_waiter *w, enum turn turn)
{
    struct transfer *under_way = data_transfer_of(d, false, w->part, 1);
    struct transfer *t =
        under_way || (turn == TURN_LAST && !TAILQ_EMPTY(&d->no_room)) ? NULL : data_transfer_find_free(d);
    uint32_t from = w->first, count = w->count;

    if (under_way)
        return wait_for(d, under_way, w, DATA_UNDER_WAY);
    if (!t)
        return wait_for_room(d, w, turn);
    data_clip(d, w->part, &from, &count);
    data_start_read(d, t, from, count, w->part);
    return wait_for(d, t, w, DATA_STARTED);
}

static const uint8_t *bytes_of(struct data_cache *d, uint32_t part)
{
    uint32_t bit;
    struct data_block *b = data_find(d, part, &bit);

    if (!b || (b->valid & bit) == 0)
        return NULL;
    data_use(d, b, bit);
    return data_part_at(d, b, part);
}

enum data_answer data_cache_ask(struct data_cache *d, struct data_waiter *w, const uint8_t **bytes)
{
    w->from = NULL;
    w->waits = w->again = false;
    d->counts.requests++;
    *bytes = bytes_of(d, w->part);
    if (*bytes) {
        d->counts.hits++;
        return DATA_HERE;
    }
    enum data_answer answer = bring(d, w, TURN_LAST);
    *(answer == DATA_UNDER_WAY ? &d->counts.hits : &d->counts.misses) += 1;
    return answer;
}

struct data_looks data_cache_looks(const struct data_cache *d)
{
    return (struct data_looks){d->counts.requests, d->counts.hits, d->counts.misses};
}

uint32_t data_cache_count_again(struct data_cache *d, struct data_looks before)
{
    uint32_t misses = d->counts.misses - before.misses;

    d->counts.requests = before.requests;
    d->counts.hits = before.hits;
    d->counts.misses = before.misses;
    return misses;
}

void data_cache_count_misses(struct data_cache *d, uint32_t misses)
{
    uint32_t n = misses < d->counts.hits ? misses : d->counts.hits;

    d->counts.hits -= n;
    d->counts.misses += n;
}

void data_cache_ask_ahead(struct data_cache *d, uint32_t first, uint32_t count)
{
    uint32_t end = first + count;

    if (!TAILQ_EMPTY(&d->no_room))
        return;
    for (uint32_t groups = d->set.ahead_groups; first < end && groups > 0; groups--) {
        uint32_t next = data_group_of(d, first) + d->group, n = (next < end ? next : end) - first;
        struct transfer *t = data_cache_has(d, first, n) ? NULL : data_transfer_find_free(d);

        if (t)
            data_start_read(d, t, first, n, NOT_INDEXED);
        first = next;
    }
}

/* ---- Making room ---- */

/* Commands under way that make room. */
static uint32_t cleaning(const struct data_cache *d)
{
    uint32_t n = 0;

    for (const struct transfer *t = d->transfer; t <= d->own; t++)
        n += t->state == TRANSFER_UNDER_WAY && (t->write || t->fills);
    return n;
}

/* Starts to read what a run of partial parts at `at` lacks, or to write a run of dirty ones. Returns the parts that it
 * has passed; 0: it would need a buffer, or the end of an older write. */
static uint32_t clean_run(struct data_cache *d, uint32_t at, uint32_t end)
{
    uint32_t lacking = data_partial_run(d, at, end - at < d->buffer_parts ? end - at : d->buffer_parts, true);
    uint32_t count = lacking != 0 ? lacking : data_writable(d, at, end, true);
    struct transfer *t = data_transfer_find_free(d);

    if (count == 0)
        return 1;
    if (!t || (lacking == 0 && data_transfer_of(d, true, at, count)))
        return 0;
    if (lacking == 0) {
        data_start_write(d, t, at, count);
    } else {
        data_start_read(d, t, at, count, NOT_INDEXED);
        t->fills = true;
    }
    return count;
}

/* Starts to write what is dirty of a part's group, or to read what its partial parts lack. Returns whether all has
 * begun. */
static bool clean_group(struct data_cache *d, uint32_t part)
{
    uint32_t first = data_group_of(d, part), end = first + d->group, passed = 1;

    for (uint32_t at = first; at < end && passed != 0; at += passed)
        passed = clean_run(d, at, end);
    return passed != 0;
}

static void make_room(struct data_cache *d)
{
    uint32_t wanted = d->writes_without_room + d->short_of_room;
    struct data_block *dirty;

    while (cleaning(d) < wanted && !data_oldest(d, true, &dirty) && dirty)
        if (!clean_group(d, dirty->at.number << d->parts_shift))
            break;
    d->short_of_room = false;
}

/* ---- Writing ---- */

/* Writes the parts of a group that is full; without a buffer for them, when one is free. */
static void write_full(struct data_cache *d, struct data_block *b, uint32_t part)
{
    if (!data_group_is_full(d, part) || clean_group(d, part) || b->due)
        return;
    b->due = true;
    d->due++;
}

/* The write finds no block. */
static enum data_answer await_block(struct data_cache *d, struct data_waiter *w, enum turn turn, bool dirty, int *error)
{
    if (dirty || cleaning(d) != 0 || (turn == TURN_LAST && !TAILQ_EMPTY(&d->no_room)))
        return wait_for_room(d, w, turn);
    *error = -N_EIO; /* the drive takes nothing of what is in the cache */
    return DATA_HERE;
}

static void put(struct data_cache *d, struct data_block *b, const struct data_waiter *w)
{
    if (!b) {
        struct data_block *dirty;

        b = data_oldest(d, false, &dirty);
        data_block_become(d, b, w->part >> d->parts_shift);
    }
    data_put(d, b, w->part, w->ino, w->offset, w->from, w->bytes);
    if (d->set.write == DRIVE_CACHE_GROUPS)
        write_full(d, b, w->part);
}

/* Puts the part into the cache and onto the medium. */
static enum data_answer write_through(struct data_cache *d, struct data_block *b, struct data_waiter *w, enum turn turn)
{
    struct transfer *t = data_transfer_of(d, true, w->part, 1) ? NULL : data_transfer_find_free(d);

    if (!t || (turn == TURN_LAST && !TAILQ_EMPTY(&d->no_room)))
        return wait_for_room(d, w, turn);
    put(d, b, w);
    w->put = true;
    data_start_write(d, t, w->part, 1);
    return wait_for(d, t, w, DATA_STARTED);
}

static enum data_answer write_part(struct data_cache *d, struct data_waiter *w, enum turn turn, int *error)
{
    uint32_t bit;
    struct data_block *dirty = NULL, *b = data_find(d, w->part, &bit);
    bool in_turn = b || turn != TURN_LAST || TAILQ_EMPTY(&d->no_room);

    *error = 0;
    if (data_transfer_of(d, false, w->part, 1))
        return bring(d, w, turn);
    if (!b && (!in_turn || !data_oldest(d, false, &dirty)))
        return await_block(d, w, turn, dirty != NULL, error);
    if (!data_may_put(d, b, w->part, w->offset, w->bytes))
        return bring(d, w, turn);
    if (d->set.write == DRIVE_CACHE_THROUGH)
        return write_through(d, b, w, turn);
    put(d, b, w);
    return DATA_HERE;
}

enum data_answer data_cache_ask_write(struct data_cache *d, struct data_waiter *w, int *error)
{
    w->waits = w->put = w->again = false;
    d->counts.requests++;
    enum data_answer answer = write_part(d, w, TURN_LAST, error);
    if (answer == DATA_NO_ROOM)
        make_room(d);
    return answer;
}

/* ---- Going on ---- */

void data_ask_again(struct data_cache *d, struct data_waiter *w)
{
    bring(d, w, TURN_AGAIN);
}

void data_ask_go_on_write(struct data_cache *d, struct data_waiter *w, int error)
{
    if (error == 0 && !w->put && write_part(d, w, TURN_AGAIN, &error) != DATA_HERE)
        return;
    end_wait(d, w);
    w->done(w, NULL, error);
}

/* The first of those without room. False: there still is none. */
static bool go_on(struct data_cache *d, struct data_waiter *w)
{
    const uint8_t *bytes = NULL;
    int error = 0;

    TAILQ_REMOVE(&d->no_room, w, next);
    d->writes_without_room -= w->from != NULL;
    if (!w->from)
        bytes = bytes_of(d, w->part);
    enum data_answer answer = w->from ? write_part(d, w, TURN_FIRST, &error)
                              : bytes ? DATA_HERE
                                      : bring(d, w, TURN_FIRST);
    if (answer != DATA_HERE)
        return answer != DATA_NO_ROOM;
    end_wait(d, w);
    w->done(w, bytes, error);
    return true;
}

/* A waiter that asks again when its part has come brings dropped parts no longer. Its own is none of them. */
static void leave_out(struct data_waiter *w, uint32_t first, uint32_t count)
{
    uint32_t end = w->first + w->count;

    if (w->first >= first + count || end <= first)
        return;
    if (first > w->part)
        end = first;
    else
        w->first = first + count;
    w->count = end - w->first;
}

static void leave_out_of_all(struct data_cache *d, uint32_t first, uint32_t count)
{
    struct data_waiter *w;

    for (struct transfer *t = d->transfer; t <= d->own && d->waiting != 0; t++)
        TAILQ_FOREACH(w, &t->waiters, next)
            leave_out(w, first, count);
}

void data_ask_anew(struct data_cache *d, uint32_t first, uint32_t count)
{
    struct data_waiters dropped = TAILQ_HEAD_INITIALIZER(dropped);
    struct data_waiter *w, *next;

    for (w = TAILQ_FIRST(&d->no_room); w; w = next) {
        next = TAILQ_NEXT(w, next);
        if (w->first >= first + count || w->first + w->count <= first)
            continue;
        TAILQ_REMOVE(&d->no_room, w, next);
        TAILQ_INSERT_TAIL(&dropped, w, next);
        d->writes_without_room -= w->from != NULL;
    }
    leave_out_of_all(d, first, count);
    while ((w = TAILQ_FIRST(&dropped))) {
        TAILQ_REMOVE(&dropped, w, next);
        end_wait(d, w);
        w->done(w, NULL, -N_EAGAIN);
    }
}

static void write_due(struct data_cache *d)
{
    for (struct index_entry *e = d->index.age.newer; e != &d->index.age && d->due != 0; e = e->newer) {
        struct data_block *b = data_block_at(e);

        if (!b->due)
            continue;
        if (!clean_group(d, b->at.number << d->parts_shift))
            return;
        b->due = false;
        d->due--;
    }
}

void data_ask_turn(struct data_cache *d)
{
    struct data_waiter *w;

    if (d->due != 0)
        write_due(d);
    while ((w = TAILQ_FIRST(&d->no_room)) && go_on(d, w))
        ;
    if (d->writes_without_room != 0 || d->short_of_room)
        make_room(d);
}

void data_cache_reap(struct data_cache *d)
{
    for (struct transfer *t = d->transfer; t <= d->own; t++)
        if (t->state == TRANSFER_UNDER_WAY && t->command.done)
            data_land(d, t, false);
}
