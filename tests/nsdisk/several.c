/* See several.h. A client sends a burst of requests about its own file, and the next when all of it has been
 * answered. */
#include "tests/nsdisk/several.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/nsdisk/drives.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/machine.h"
#include "vertex/contract/system.h"

#define VOLUMES    3u
#define CLIENTS    7u
#define BURST      6u
#define FILE_MOST  120000u
#define PIECE_MOST 6000u

struct request {
    struct file_request r;
    uint32_t type;
    uint8_t *message;
    size_t n;
    uint8_t *expected; /* what a read finds; NULL: none */
    int32_t expected_bytes;
    bool answered;
};

struct client {
    uint32_t node, drive;
    uint64_t sfid; /* 0: not open */
    uint32_t steps;
    struct request burst[BURST];
    uint32_t requests, sent, answered;
    uint8_t file[FILE_MOST]; /* what it should have */
    uint32_t size;
    bool unsure; /* a write has failed */
};

static struct {
    const struct several_settings *settings;
    struct drives drives;
    struct client client[CLIENTS];
    uint32_t seq;
    bool runs; /* each command is for a request */
    char wrong[400];
} all;

static uint32_t below(uint32_t n)
{
    return drives_draw(&all.drives, n);
}

#define complain(...) (all.wrong[0] == '\0' ? (void)snprintf(all.wrong, sizeof all.wrong, __VA_ARGS__) : (void)0)

/* ---- Drives ---- */

/* True if a client waits for a request of this type that concerns the drive. */
static bool is_asked(uint32_t drive, int type)
{
    for (const struct client *c = all.client; c < all.client + CLIENTS; c++)
        for (uint32_t i = c->answered; i < c->sent; i++)
            if ((int)c->burst[i].type == type &&
                (c->burst[i].r.drive == drive || type == N_FSYNCALL || type == N_FEXIT))
                return true;
    return false;
}

static void check_start(uint32_t drive, int type)
{
    if (all.runs && all.settings->volumes_cached == 0 && !is_asked(drive, type & ~DISK_CHANGES))
        complain("a command of drive %u for a request 0x%x, which nobody waits for", drive, type);
}

/* ---- Clients ---- */

static struct request *add(struct client *c, uint32_t type, struct file_request r, const char *name, const void *data)
{
    struct request *q = &c->burst[c->requests++];
    size_t name_bytes = name ? strlen(name) : 0, data_bytes = data ? r.bytes : 0;

    r.seq = ++all.seq;
    r.drive = (uint16_t)(type == N_FSTATNAME ? below(VOLUMES) : c->drive);
    r.sfid = c->sfid;
    r.name_bytes = (uint16_t)name_bytes;
    q->n = sizeof r + name_bytes + data_bytes;
    q->message = malloc(q->n);
    memcpy(q->message, &r, sizeof r);
    if (name)
        memcpy(q->message + sizeof r, name, name_bytes);
    if (data)
        memcpy(q->message + sizeof r + name_bytes, data, data_bytes);
    q->r = r;
    q->type = type;
    q->answered = false;
    q->expected = NULL;
    return q;
}

static void add_write(struct client *c, uint64_t offset, uint32_t bytes)
{
    if (offset + bytes > FILE_MOST)
        return;
    for (uint32_t i = 0; i < bytes; i++)
        c->file[offset + i] = (uint8_t)(all.seq * 37 + i * 11 + i / 256);
    c->size = offset + bytes > c->size ? (uint32_t)(offset + bytes) : c->size;
    add(c, N_FWRITE, (struct file_request){.offset = offset, .bytes = bytes}, NULL, c->file + offset);
}

/* It finds what has been written so far, whatever follows. */
static void add_read(struct client *c)
{
    uint64_t offset = below(c->size + 1);
    uint32_t bytes = 1 + below(PIECE_MOST * 2), there = c->size - (uint32_t)offset;
    struct request *q = add(c, N_FREAD, (struct file_request){.offset = offset, .bytes = bytes}, NULL, NULL);

    q->expected_bytes = (int32_t)(bytes < there ? bytes : there);
    q->expected = malloc(bytes);
    memcpy(q->expected, c->file + offset, (size_t)q->expected_bytes);
}

/* Writes that are adjacent more often than not, perhaps a read among them, then a read or a sync. */
static void add_writes(struct client *c)
{
    uint64_t offset = below(2) == 0 ? c->size : below(c->size + 1);

    if (below(3) == 0) /* a request to another volume */
        add(c, N_FSTATNAME, (struct file_request){0}, "/", NULL);

    for (uint32_t i = below(BURST - 1); i > 0; i--) {
        uint32_t bytes = below(8) == 0 ? PIECE_MOST * 2 : 1 + below(PIECE_MOST);

        add_write(c, offset, bytes);
        offset += bytes + (below(4) == 0 ? 7 : 0);
        if (i == 2 && below(3) == 0 && c->requests < BURST - 2)
            add_read(c);
    }
    if (below(3) == 0)
        add(c, below(2) == 0 ? N_FSYNC : N_FSYNCALL, (struct file_request){0}, NULL, NULL);
    else
        add_read(c);
}

static void make_burst(struct client *c)
{
    char name[20];

    c->requests = c->sent = c->answered = 0;
    if (c->steps == 0)
        return;
    snprintf(name, sizeof name, "/file%u", c->node);
    c->steps--;
    if (c->sfid == 0)
        add(c, N_FOPEN, (struct file_request){.flags = N_O_RDWR | N_O_CREAT, .mode = 0644}, name, NULL);
    else if (c->steps == 0)
        add(c, N_FEXIT, (struct file_request){0}, NULL, NULL);
    else if (below(20) == 0)
        add(c, 0x803f, (struct file_request){0}, NULL, NULL); /* unknown */
    else
        add_writes(c);
}

static void check_read(const struct client *c, const struct request *q, int32_t status, const uint8_t *data)
{
    if (c->unsure)
        return;
    if (status != q->expected_bytes)
        complain("client %u reads %d bytes, not %d", c->node, status, q->expected_bytes);
    else if (memcmp(data, q->expected, (size_t)status) != 0)
        complain("client %u reads other bytes", c->node);
}

static void check_answer(struct client *c, const struct request *q, int32_t status, const uint8_t *payload)
{
    bool may_fail = all.settings->fail_per_mill > 0;

    bool is_short = q->type == N_FWRITE && status < (int32_t)q->r.bytes;

    if (may_fail && (status < 0 || is_short)) {
        c->unsure = true;
        return;
    }
    switch (q->type) {
    case N_FOPEN:
        memcpy(&c->sfid, payload, sizeof c->sfid);
        break;
    case N_FWRITE:
        if (status != (int32_t)q->r.bytes)
            complain("client %u: a write of %u bytes gives %d", c->node, q->r.bytes, status);
        break;
    case N_FREAD:
        check_read(c, q, status, payload);
        break;
    default:
        if (status != (q->type == 0x803f ? -N_ENOSYS : 0))
            complain("client %u: request 0x%x gives %d", c->node, q->type, status);
    }
}

static void reply(void *ctx, int to, int type, const void *bytes, size_t n)
{
    struct file_reply header;

    (void)ctx;
    memcpy(&header, bytes, sizeof header);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct client *c = &all.client[i];
        struct request *q = &c->burst[c->answered];

        if ((int)c->node != to)
            continue;
        if (c->answered == c->sent || header.seq != q->r.seq || type != (int)q->type || n < sizeof header)
            complain("client %u gets a reply to %u, not to %u", c->node, header.seq, q->r.seq);
        else
            check_answer(c, q, header.status, (const uint8_t *)bytes + sizeof header);
        free(q->message);
        free(q->expected);
        c->answered++;
        return;
    }
    complain("a reply for node %d", to);
}

/* ---- Messages ---- */

/* A client with a request to send; NULL: none, now or, if *over, ever. */
static struct client *some_sender(bool *over)
{
    uint32_t first = below(CLIENTS);

    *over = true;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct client *c = &all.client[(first + i) % CLIENTS];

        if (c->answered == c->requests)
            make_burst(c);
        if (c->sent < c->requests)
            return c;
        *over = *over && c->requests == 0;
    }
    return NULL;
}

static long receive(void *ctx, void *buf, size_t bytes, int *from, int *type)
{
    bool over = false;
    struct client *c = all.drives.under_way > 0 && below(3) == 0 ? NULL : some_sender(&over);

    (void)ctx;
    if (!c && all.drives.under_way > 0)
        return -N_EAGAIN;
    if (!c && !over)
        complain("requests that nobody answers");
    if (!c) {
        *from = (int)NODE_HOST, *type = N_SHUTDOWN;
        return 0;
    }
    const struct request *q = &c->burst[c->sent++];
    if (q->n > bytes)
        complain("no room for %zu bytes", q->n);
    memcpy(buf, q->message, q->n);
    *from = (int)c->node, *type = (int)q->type;
    return (long)q->n;
}

/* ---- Running ---- */

static void log_line(void *ctx, const char *text)
{
    (void)ctx;
    if (all.settings->fail_per_mill == 0)
        complain("%s", text);
}

static uint32_t now_s(void *ctx)
{
    (void)ctx;
    return 1000000000;
}

static void judge(struct volume *v, const char *options)
{
    if (all.wrong[0] == '\0' && volume_fsck(v, options) > (options[1] == 'p' ? 1 : 0))
        complain("e2fsck %s does not like a volume", options);
    volume_free(v);
}

const char *several_run(const struct several_settings *settings, struct loop_statistics *statistics)
{
    static const struct loop_node node = {receive, reply, NULL, drives_start, drives_end, &all.drives, NULL};
    struct ext2_env env = {.log = {log_line, NULL}, .now_s = now_s};

    memset(&all, 0, sizeof all);
    all.settings = settings;
    all.drives = (struct drives){.volumes = VOLUMES,
                                 .random = settings->seed,
                                 .commands = settings->commands,
                                 .fail_per_mill = settings->fail_per_mill,
                                 .starts = check_start};
    drives_make(&all.drives);
    for (uint32_t i = 0; i < settings->volumes_cached; i++)
        all.drives.volume[i].data_cache = settings->cache;
    for (uint32_t i = 0; i < CLIENTS; i++)
        all.client[i] = (struct client){.node = 3 + i, .drive = i % VOLUMES, .steps = settings->steps};
    struct server *s = server_new(VOLUME_NODE, 1, &env);
    struct loop *l = loop_new(s, &node, VOLUMES, settings->io_bytes);
    const char *unmounted = drives_mount(&all.drives, s, l);
    if (unmounted)
        complain("%s", unmounted);
    all.drives.may_fail = all.runs = true;
    loop_run(l);
    all.runs = false;
    server_shutdown(s);
    *statistics = loop_statistics(l);
    server_free(s);
    loop_free(l);
    for (uint32_t i = 0; i < VOLUMES; i++)
        judge(&all.drives.volume[i], settings->fail_per_mill > 0 ? "-p" : "-fn");
    return all.wrong[0] ? all.wrong : NULL;
}
