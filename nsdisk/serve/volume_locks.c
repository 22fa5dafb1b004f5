/* Locks of volumes, and those who wait for one: see volume_locks.h. */
#include "nsdisk/serve/volume_locks.h"

#include <stdlib.h>

#include "nsdisk/serve/serve_state.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/system.h"

#define HELD INT32_MIN /* the status of a reply that comes later */

struct waiting {
    struct waiting *next;
    uint64_t client;
    struct ext2_inode *inode; /* of the folder; one reference */
    uint32_t seq, key, drive;
};

/* ---- What is in the way ---- */

static bool exclude(uint32_t a, uint32_t b)
{
    return a == b || a == 0 || b == 0;
}

/* Drops the locks whose files are closed, by whatever way. */
static void drop_locks(struct server *s)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->locks; i++)
        if (open_table_has(&s->opens, s->lock[i].sfid))
            s->lock[n++] = s->lock[i];
    s->locks = n;
}

/* Whether a lock, or one who waits before `last`, is in the way. The locks are up to date. */
static bool must_wait(const struct server *s, uint32_t drive, uint32_t key, const struct waiting *last)
{
    for (uint32_t i = 0; i < s->locks; i++)
        if (s->lock[i].drive == drive && exclude(s->lock[i].key, key))
            return true;
    for (const struct waiting *w = s->waiting; w != last; w = w->next)
        if (w->drive == drive && exclude(w->key, key))
            return true;
    return s->locks == SERVE_LOCKS;
}

/* ---- Giving ---- */

/* Takes over the inode. */
static int64_t give(struct server *s, uint64_t client, uint32_t drive, uint32_t key, struct ext2_inode *inode,
                    struct file_opened *opened)
{
    int error = open_table_prepare(&s->opens, client);

    if (error < 0) {
        ext2_inode_put(inode);
        return error;
    }
    struct open_file *file = open_table_add(&s->opens, client, inode);
    file->drive = (uint16_t)drive;
    file->readable = file->writable = false;
    s->lock[s->locks++] = (struct lock){file->sfid, key, drive};
    *opened = (struct file_opened){file->sfid, serve_stat_of(s, inode, drive)};
    return 0;
}

/* ---- Waiting ---- */

static void drop(struct waiting **link)
{
    struct waiting *w = *link;

    *link = w->next;
    free(w);
}

static void switch_way(struct replies *r, bool holds)
{
    r->reply = holds ? held_reply : r->own_reply;
    r->ctx = holds ? r : r->own_ctx;
}

static int64_t wait(struct server *s, const struct call *c, struct ext2_inode *inode)
{
    struct waiting **link = &s->waiting, *w = s->replies ? malloc(sizeof *w) : NULL;

    if (!w) {
        ext2_inode_put(inode);
        return -N_EAGAIN;
    }
    *w = (struct waiting){NULL, c->client, inode, c->r.seq, c->r.mode, c->r.drive};
    if (!s->waiting)
        switch_way(s->replies, true);
    while (*link)
        link = &(*link)->next;
    *link = w;
    return HELD;
}

/* Drops what the client waits for: all of it, or the lock of that number. */
static void forget(struct server *s, uint64_t client, const struct call *c)
{
    struct waiting **link = &s->waiting;

    while (*link) {
        struct waiting *w = *link;

        if (w->client == client && (!c || (w->drive == c->r.drive && w->key == c->r.mode))) {
            ext2_inode_put(w->inode);
            drop(link);
        } else {
            link = &w->next;
        }
    }
}

/* A client that no longer waits; perhaps the lock is under way to it. */
static int64_t give_up(struct server *s, const struct call *c)
{
    struct open_file *file;

    forget(s, c->client, c);
    for (uint32_t i = 0; i < s->locks; i++)
        if (s->lock[i].drive == c->r.drive && s->lock[i].key == c->r.mode &&
            open_table_find(&s->opens, c->client, s->lock[i].sfid, &file) == 0 && open_table_disown(file, c->client)) {
            ext2_inode_put(open_table_remove(&s->opens, file));
            break;
        }
    return -N_EAGAIN;
}

int64_t invoke_lock(struct server *s, struct call *c)
{
    struct ext2_inode *inode;
    struct file_opened opened;

    if (c->r.flags & N_O_EXCL)
        return give_up(s, c);
    int64_t error = ext2_lookup(c->fs, c->name, true, &inode);
    if (error < 0)
        return error;
    if (!ext2_is_dir(inode)) {
        ext2_inode_put(inode);
        return -N_EINVAL;
    }
    drop_locks(s);
    if (must_wait(s, c->r.drive, c->r.mode, NULL))
        return wait(s, c, inode);
    error = give(s, c->client, c->r.drive, c->r.mode, inode, &opened);
    if (error == 0)
        reply_payload(c, &opened, sizeof opened);
    return error;
}

/* ---- Replies that are held back ---- */

void serve_hold_replies(struct server *s, struct replies *r, reply_fn *own_reply, void *own_ctx)
{
    *r = (struct replies){own_reply, own_ctx, s, own_reply, own_ctx};
    s->replies = r;
}

/* A source is a node, and a procid from bit 16 up. */
static int source_of(uint64_t client)
{
    return (int)(client >> CLIENT_PROCID_BITS | (client & ((1u << CLIENT_PROCID_BITS) - 1)) << 16);
}

static uint64_t client_of(int source)
{
    return (uint64_t)((uint32_t)source & 0xffff) << CLIENT_PROCID_BITS | (uint32_t)source >> 16;
}

static void send(const struct replies *r, struct waiting *w)
{
    struct {
        struct file_reply head;
        struct file_opened opened;
    } reply = {.head.seq = w->seq};

    reply.head.status = (int32_t)give(r->server, w->client, w->drive, w->key, w->inode, &reply.opened);
    r->own_reply(r->own_ctx, source_of(w->client), N_FOPEN, &reply,
                 reply.head.status < 0 ? sizeof reply.head : sizeof reply);
}

void held_reply(void *ctx, int to, int type, const void *reply, size_t n)
{
    const struct replies *r = ctx;
    struct server *s = r->server;
    struct waiting **link = &s->waiting;

    if (((const struct file_reply *)reply)->status != HELD)
        r->own_reply(r->own_ctx, to, type, reply, n);
    if (type == (int)N_FEXIT)
        forget(s, client_of(to), NULL);
    drop_locks(s);
    while (*link)
        if (must_wait(s, (*link)->drive, (*link)->key, *link)) {
            link = &(*link)->next;
        } else {
            send(r, *link);
            drop(link);
        }
    if (!s->waiting)
        switch_way(s->replies, false);
}

void locks_end(struct server *s)
{
    while (s->waiting) {
        ext2_inode_put(s->waiting->inode);
        drop(&s->waiting);
    }
}
