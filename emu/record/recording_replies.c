/*
 * Replies to requests for the host's files, in pieces of a table and its data. Data that several replies have, as when
 * 64 nodes read one file, is kept once: the table has the offset of its first place. A piece is packed by a thread
 * beside the run, which touches nothing but the container; all others call replies_settle before they do. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/record/recording_parts.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/proto.h"

#define PIECE_BYTES   (4u << 20)
#define PIECE_REPLIES 65536u
#define KNOWN_LEAST   256u /* bytes of data that are looked for */
#define NAME_BYTES    40

struct known_data {
    XXH128_hash_t hash;
    uint64_t at;
    bool used;
};

struct piece { /* what a thread packs while the run goes on */
    struct recording *of;
    pthread_t thread;
    bool threaded;
    char table[NAME_BYTES], data[NAME_BYTES];
    struct recorded_reply *reply;
    size_t replies;
    uint8_t *bytes;
    size_t n;
};

/* ---- Data that is there already ---- */

static struct known_data *find_known(const struct replies *s, XXH128_hash_t hash)
{
    for (size_t i = hash.low64 & (s->known_room - 1);; i = (i + 1) & (s->known_room - 1))
        if (!s->known[i].used || XXH128_isEqual(s->known[i].hash, hash))
            return &s->known[i];
}

/* The table is at most half full. */
static void make_room(struct replies *s)
{
    struct replies old = *s;

    if (s->known_n * 2 < s->known_room)
        return;
    s->known_room = old.known_room ? old.known_room * 2 : 1024;
    s->known = memory_new(s->known_room, sizeof *s->known);
    for (size_t i = 0; i < old.known_room; i++)
        if (old.known[i].used)
            *find_known(s, old.known[i].hash) = old.known[i];
    free(old.known);
}

/* A kept one has it where a replay finds it. */
static uint64_t append_kept(struct replies *s, const void *bytes, size_t n)
{
    uint64_t at = s->data_before;

    if (host_write(s->fd, bytes, n, (off_t)at) == (ssize_t)n)
        s->data_before += n;
    else
        s->lost = true;
    return at;
}

static uint64_t append(struct replies *s, const void *bytes, size_t n)
{
    uint64_t at = s->data_before + s->data_bytes;

    if (s->fd >= 0)
        return append_kept(s, bytes, n);
    if (!s->data) {
        s->data_room = PIECE_BYTES + FILE_IO_MAX_BYTES; /* a piece ends when it has so many bytes, or more */
        s->data = memory_resize(NULL, s->data_room, 1);
    }
    memcpy(s->data + s->data_bytes, bytes, n);
    s->data_bytes += n;
    return at;
}

static uint64_t keep(struct replies *s, const void *bytes, size_t n)
{
    if (n < KNOWN_LEAST)
        return n > 0 ? append(s, bytes, n) : 0;
    make_room(s);
    XXH128_hash_t hash = XXH3_128bits(bytes, n);
    struct known_data *k = find_known(s, hash);
    if (k->used)
        return k->at;
    *k = (struct known_data){.hash = hash, .at = append(s, bytes, n), .used = true};
    s->known_n++;
    return k->at;
}

/* ---- Writing ---- */

static json_t *describe(const struct recorded_reply *p)
{
    return json_pack("[i, i, i, I, i, I, I]", (int)p->request.node, (int)p->request.procid, (int)p->request.type,
                     (json_int_t)p->request.check, (int)p->status, (json_int_t)p->bytes, (json_int_t)p->at);
}

static void *pack(void *arg)
{
    struct piece *p = arg;
    json_t *table = json_array();

    for (size_t i = 0; i < p->replies; i++)
        json_array_append_new(table, describe(&p->reply[i]));
    if (p->replies > 0)
        recording_add_json(p->of, p->table, table);
    else
        json_decref(table);
    if (p->n > 0)
        recording_add(p->of, p->data, p->bytes, p->n);
    return NULL;
}

void replies_settle(struct recording *r)
{
    struct piece *p = r->replies.piece;

    if (!p)
        return;
    if (p->threaded)
        pthread_join(p->thread, NULL);
    free(p->reply);
    free(p->bytes);
    free(p);
    r->replies.piece = NULL;
}

/* Signals are for ncube's own thread. */
static bool start_thread(struct piece *p)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&p->thread, NULL, pack, p) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* One piece at a time is packed beside the run: if packing is slower, the run waits. */
void replies_flush(struct recording *r)
{
    struct replies *s = &r->replies;
    struct piece *p = memory_new(1, sizeof *p);

    replies_settle(r);
    *p = (struct piece){.of = r, .reply = s->reply, .replies = s->n, .bytes = s->data, .n = s->data_bytes};
    snprintf(p->table, sizeof p->table, RECORDING_TABLE, s->pieces);
    snprintf(p->data, sizeof p->data, RECORDING_DATA, s->pieces);
    s->piece = p;
    s->pieces++;
    s->data_before += s->data_bytes;
    s->reply = NULL;
    s->data = NULL;
    s->n = s->room = s->data_bytes = s->data_room = 0;
    p->threaded = start_thread(p);
    if (!p->threaded)
        pack(p);
}

static void count_kept(struct recording *r, uint64_t before)
{
    struct replies *s = &r->replies;

    s->taken = s->n;
    if (s->lost)
        recording_lose(r, "there is no memory for what the host's files have given");
    recording_count(r, sizeof *s->reply + s->data_before - before);
}

void recording_note_reply(struct recording *r, const struct recorded_request *q, int32_t status, const void *payload,
                          size_t bytes)
{
    struct replies *s = &r->replies;
    uint64_t before = s->data_before;

    if (r->kept_in_memory && r->failed)
        return;
    s->reply = memory_grow(s->reply, &s->room, s->n + 1, sizeof *s->reply);
    s->reply[s->n++] = (struct recorded_reply){*q, status, (uint32_t)bytes, keep(s, payload, bytes)};
    s->all++;
    if (r->kept_in_memory)
        count_kept(r, before);
    else if (s->n >= PIECE_REPLIES || s->data_bytes >= PIECE_BYTES)
        replies_flush(r);
}

/* ---- Reading ---- */

static int damaged(char *error)
{
    return error_line(error, "the recording is damaged: its replies make no sense");
}

static int read_table(struct replies *s, const struct unpacked_entry *e, char *error)
{
    char *text = unpacked_text(e);
    json_t *table = text ? json_loads(text, 0, NULL) : NULL, *row;
    size_t i;
    int result = json_is_array(table) ? 0 : damaged(error);

    free(text);
    if (result == 0)
        s->reply = memory_grow(s->reply, &s->room, s->n + json_array_size(table), sizeof *s->reply);
    json_array_foreach(table, i, row)
    {
        json_int_t check, bytes, at;
        int node, procid, type, status;

        if (json_unpack(row, "[i, i, i, I, i, I, I]", &node, &procid, &type, &check, &status, &bytes, &at) < 0 ||
            bytes < 0 || bytes > UINT32_MAX || at < 0) {
            result = damaged(error);
            break;
        }
        s->reply[s->n++] = (struct recorded_reply){
            {(uint32_t)node, (uint32_t)procid, (uint32_t)type, (uint32_t)check}, status, (uint32_t)bytes, (uint64_t)at};
    }
    json_decref(table);
    return result;
}

static int read_data(struct replies *s, const struct unpacked_entry *e, char *error)
{
    char *bytes = unpacked_text(e);
    bool good = bytes && host_write(s->fd, bytes, e->bytes, (off_t)s->data_before) == (ssize_t)e->bytes;

    free(bytes);
    s->data_before += e->bytes;
    return good ? 0 : error_line(error, "no room in memory for it");
}

int replies_read(struct recording *r, char *error)
{
    struct replies *s = &r->replies;
    char name[NAME_BYTES];
    uint32_t pieces = 0;

    s->fd = memfd_create("replies", MFD_CLOEXEC);
    if (s->fd < 0)
        return error_line(error, "no room in memory for it");
    for (const struct unpacked_entry *table, *data;; pieces++) {
        snprintf(name, sizeof name, RECORDING_TABLE, pieces);
        table = unpacked_find(&r->entries, name);
        snprintf(name, sizeof name, RECORDING_DATA, pieces);
        data = unpacked_find(&r->entries, name);
        if (!table && !data)
            break;
        if ((table && read_table(s, table, error) < 0) || (data && read_data(s, data, error) < 0))
            return -1;
    }
    return 0;
}

/* ---- Taking ---- */

static bool is_same(const struct recorded_request *a, const struct recorded_request *b)
{
    return a->node == b->node && a->procid == b->procid && a->type == b->type && a->check == b->check;
}

bool recording_gives_reply(const struct recording *r)
{
    return r->replayed || (r->kept_in_memory && r->replies.taken < r->replies.n);
}

int32_t recording_take_reply(struct recording *r, const struct recorded_request *q, void *payload, size_t room,
                             size_t *bytes)
{
    struct replies *s = &r->replies;
    const struct recorded_reply *p = s->taken < s->n ? &s->reply[s->taken] : NULL;

    *bytes = 0;
    if (!p || !is_same(&p->request, q) || p->bytes > room ||
        host_read(s->fd, payload, p->bytes, (off_t)p->at) != (ssize_t)p->bytes) {
        recording_depart(r, "node %u makes another request for the host's files, number %zu, than was recorded",
                         q->node, s->taken + 1);
        return -N_EIO;
    }
    s->taken++;
    *bytes = p->bytes;
    return p->status;
}

void replies_free(struct replies *s)
{
    free(s->reply);
    free(s->data);
    free(s->known);
    if (s->fd >= 0)
        close(s->fd);
}
