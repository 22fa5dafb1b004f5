/*
 * Replies to requests for the host's files, in pieces of a table and its data. Data that several replies have, as when
 * 64 nodes read one file, is kept once: the table has the offset of its first place.
 */
#define _GNU_SOURCE /* memfd_create */
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/record/recording_parts.h"
#include "vertex/contract/errors.h"

#define PIECE_BYTES   (16u << 20)
#define PIECE_REPLIES 65536u
#define KNOWN_LEAST   256u /* bytes of data that are looked for */
#define NAME_BYTES    40

struct known_data {
    uint8_t digest[SHA256_DIGEST_SIZE];
    uint64_t at;
    bool used;
};

/* ---- Data that is there already ---- */

static struct known_data *find_known(const struct replies *s, const uint8_t *digest)
{
    uint64_t hash;

    memcpy(&hash, digest, sizeof hash);
    for (size_t i = hash & (s->known_room - 1);; i = (i + 1) & (s->known_room - 1))
        if (!s->known[i].used || memcmp(s->known[i].digest, digest, SHA256_DIGEST_SIZE) == 0)
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
            *find_known(s, old.known[i].digest) = old.known[i];
    free(old.known);
}

static uint64_t append(struct replies *s, const void *bytes, size_t n)
{
    uint64_t at = s->data_before + s->data_bytes;

    s->data = memory_grow(s->data, &s->data_room, s->data_bytes + n, 1);
    memcpy(s->data + s->data_bytes, bytes, n);
    s->data_bytes += n;
    return at;
}

static uint64_t keep(struct replies *s, const void *bytes, size_t n)
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    struct sha256_ctx hash;

    if (n < KNOWN_LEAST)
        return n > 0 ? append(s, bytes, n) : 0;
    sha256_init(&hash);
    sha256_update(&hash, n, bytes);
    sha256_digest(&hash, sizeof digest, digest);
    make_room(s);
    struct known_data *k = find_known(s, digest);
    if (k->used)
        return k->at;
    memcpy(k->digest, digest, sizeof digest);
    k->used = true;
    s->known_n++;
    return k->at = append(s, bytes, n);
}

/* ---- Writing ---- */

static json_t *describe(const struct recorded_reply *p)
{
    return json_pack("[i, i, i, I, i, I, I]", (int)p->request.node, (int)p->request.procid, (int)p->request.type,
                     (json_int_t)p->request.check, (int)p->status, (json_int_t)p->bytes, (json_int_t)p->at);
}

void replies_flush(struct recording *r)
{
    struct replies *s = &r->replies;
    char name[NAME_BYTES];
    json_t *table = json_array();

    for (size_t i = 0; i < s->n; i++)
        json_array_append_new(table, describe(&s->reply[i]));
    snprintf(name, sizeof name, RECORDING_TABLE, s->pieces);
    if (s->n > 0)
        recording_add_json(r, name, table);
    else
        json_decref(table);
    snprintf(name, sizeof name, RECORDING_DATA, s->pieces);
    if (s->data_bytes > 0)
        recording_add(r, name, s->data, s->data_bytes);
    s->pieces++;
    s->data_before += s->data_bytes;
    s->n = s->data_bytes = 0;
}

void recording_note_reply(struct recording *r, const struct recorded_request *q, int32_t status, const void *payload,
                          size_t bytes)
{
    struct replies *s = &r->replies;

    if (r->failed)
        return;
    s->reply = memory_grow(s->reply, &s->room, s->n + 1, sizeof *s->reply);
    s->reply[s->n++] = (struct recorded_reply){*q, status, (uint32_t)bytes, keep(s, payload, bytes)};
    s->all++;
    if (s->n >= PIECE_REPLIES || s->data_bytes >= PIECE_BYTES)
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
