/*
 * Families of requests in concurrent service: 128 clients whose requests a family echoes, holds, answers late and in
 * any order, or reads files for on the volumes' fibers, beside requests of files. Random, but the same for a seed.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nsdisk/serve/family.h"
#include "tests/nsdisk/drives.h"
#include "tests/nsdisk/echo_family.h"
#include "vertex/contract/machine.h"

#define IO_BYTES    65536u
#define CLIENTS     128u
#define STEPS       25u
#define UNDER_WAY   4u /* of a client, at most */
#define KEYS        5u
#define VOLUMES     3u
#define FILE_BYTES  30011u
#define MORTAL      77u /* the client that ends while its requests are held */
#define DATA_MOST   3000u
#define ROUND_EVERY 6u /* each client's every sixth request is one of a round */

enum kind { ECHO, HELD, ROUND, READ, FILE_NAME, NOBODY, TOO_SHORT, FULL, GARBLED, KINDS };

struct request {
    enum kind kind;
    uint32_t type, seq;
    uint8_t bytes[sizeof(struct file_request) + DATA_MOST];
    size_t n;
    bool waits; /* for its reply */
    int32_t status;
    const uint8_t *data; /* that the reply has */
    size_t data_bytes;
};

static struct client {
    int from;
    uint32_t step;
    struct request request[UNDER_WAY];
    uint32_t names_sent, names_answered; /* of FILE_NAME: in this order */
    bool over;
} client[CLIENTS];

static struct drives drives;
static uint8_t file[FILE_BYTES];
static uint32_t sequence, replies, late_places, held_at_end;
static uint32_t answered[KINDS];
static bool shut_down, told;
static struct request control; /* releases what is held */
static char wrong[300];

#define complain(...) (wrong[0] == '\0' ? (void)snprintf(wrong, sizeof wrong, __VA_ARGS__) : (void)0)

static uint32_t below(uint32_t n)
{
    return drives_draw(&drives, n);
}

/* ---- Requests ---- */

static void set(struct request *q, uint32_t type, uint32_t arg, uint64_t key, const void *data, size_t n)
{
    const struct echo_request r = {q->seq, arg, key};

    q->type = type;
    q->n = sizeof r + n;
    memcpy(q->bytes, &r, sizeof r);
    if (n > 0)
        memcpy(q->bytes + sizeof r, data, n);
    q->status = (int32_t)n;
    q->data = q->bytes + sizeof r;
    q->data_bytes = n;
}

static void set_read(struct request *q)
{
    static const char path[] = "/file";
    uint64_t offset = below(FILE_BYTES + 100);
    uint32_t drive = below(12);

    set(q, N_READ, drive < VOLUMES * 3 ? drive % VOLUMES : drive, offset, path, strlen(path));
    q->data = file + offset;
    q->data_bytes = offset >= FILE_BYTES                    ? 0
                    : FILE_BYTES - offset < ECHO_READ_BYTES ? FILE_BYTES - offset
                                                            : ECHO_READ_BYTES;
    q->status = (int32_t)q->data_bytes;
    if (drive >= VOLUMES * 3)
        q->status = -N_ENODEV;
}

static void set_name(struct request *q)
{
    struct file_request r = {.seq = q->seq, .drive = (uint16_t)below(VOLUMES), .name_bytes = 5};

    q->type = N_FSTATNAME;
    q->n = sizeof r + 5;
    memcpy(q->bytes, &r, sizeof r);
    memcpy(q->bytes + sizeof r, "/file", 5);
    q->status = 0;
}

static enum kind kind_of_step(const struct client *c)
{
    if (c == &client[MORTAL])
        return HELD;
    if (c->step % ROUND_EVERY == ROUND_EVERY - 1)
        return ROUND;
    const uint32_t kind = below(17);
    return kind < 5    ? ECHO
           : kind < 8  ? HELD
           : kind < 11 ? READ
           : kind < 13 ? FILE_NAME
                       : (enum kind)(kind - 13) + NOBODY;
}

static void make_request(struct client *c, struct request *q)
{
    uint8_t data[DATA_MOST];
    const uint32_t n = below(4) == 0 ? below(8) : below(DATA_MOST);

    *q = (struct request){.kind = kind_of_step(c), .seq = ++sequence, .waits = true};
    fill_pattern(data, n, q->seq);
    if (q->kind == READ)
        set_read(q);
    else if (q->kind == FILE_NAME)
        set_name(q);
    else
        set(q,
            q->kind == ROUND  ? N_MEET
            : q->kind == HELD ? N_HOLD
                              : N_ECHO,
            CLIENTS - 1, q->kind == ROUND ? c->step : below(KEYS), data, n);
    if (q->kind == NOBODY) {
        const uint32_t types[] = {NO_FAMILY + below(16), NO_MEMORY + below(16), ECHO_NONE, 0x8040, 0x801f};
        const uint32_t which = below(5);

        q->type = types[which];
        q->status = which == 1 ? -N_ENOMEM : -N_ENOSYS;
    }
    if (q->kind == TOO_SHORT) {
        q->n = below(sizeof(struct echo_request));
        q->status = -N_EPROTO;
        if (q->n < sizeof q->seq)
            q->seq = 0;
    }
    if (q->kind == GARBLED) { /* any answer will do, but not a late one */
        const uint32_t types[] = {N_ECHO, N_RELEASE, N_READ, N_KNOWN, N_NO_ROOM, ECHO_NONE + below(8)};

        q->type = types[below(6)];
        q->n = sizeof q->seq + below(DATA_MOST);
        for (size_t i = sizeof q->seq; i < q->n; i++)
            q->bytes[i] = (uint8_t)(below(2) ? below(8) : below(256));
    }
    if (q->kind == FULL) {
        q->type = N_NO_ROOM;
        q->status = -N_ENOMEM;
    }
    c->step++;
}

/* ---- Replies ---- */

static void check(struct client *c, struct request *q, const uint8_t *bytes, size_t n)
{
    struct echo_reply reply = {.place = 0};

    memcpy(&reply, bytes, n < sizeof reply ? n : sizeof reply);
    if (q->kind == GARBLED)
        reply.place = 0;
    else if (reply.head.status != q->status)
        complain("client 0x%x, kind %d, type 0x%x: status %d, not %d", (unsigned)c->from, q->kind, q->type,
                 reply.head.status, q->status);
    else if (q->kind == FILE_NAME)
        c->names_answered++;
    else if (q->status >= 0 &&
             (n != sizeof reply + q->data_bytes || memcmp(bytes + sizeof reply, q->data, q->data_bytes) != 0))
        complain("client 0x%x, type 0x%x: other data", (unsigned)c->from, q->type);
    if (reply.place != 0 && q->kind != FILE_NAME && q->status >= 0 && reply.place != ++late_places)
        complain("what is answered late has place %u, not %u", (unsigned)reply.place, late_places);
    if (c->over)
        complain("a reply to a client that has ended");
    answered[q->kind]++;
    q->waits = false;
}

/* Of several that wait, the first that the number fits: requests too short for one have 0. */
static void reply(void *ctx, int to, int type, const void *bytes, size_t n)
{
    struct file_reply head;

    (void)ctx;
    memcpy(&head, bytes, sizeof head);
    replies++;
    if ((head.seq != 0 && head.seq == control.seq) || type == (int)N_FEXIT)
        return;
    for (struct client *c = client; c < client + CLIENTS; c++)
        for (uint32_t i = 0; c->from == to && i < UNDER_WAY; i++)
            if (c->request[i].waits && c->request[i].seq == head.seq && (int)c->request[i].type == type) {
                if (type == (int)N_FSTATNAME)
                    for (uint32_t k = 0; k < UNDER_WAY; k++)
                        if (c->request[k].waits && c->request[k].kind == FILE_NAME && c->request[k].seq < head.seq)
                            complain("client 0x%x: the replies of files are out of order", (unsigned)to);
                check(c, &c->request[i], bytes, n);
                return;
            }
    complain("a reply to 0x%x, number %u, type 0x%x, which nobody waits for", (unsigned)to, head.seq, (unsigned)type);
}

static void reply_parts(void *ctx, int to, int type, const void *head, size_t head_bytes, const void *data,
                        size_t bytes)
{
    static uint8_t whole[sizeof(struct echo_reply) + ECHO_DATA_BYTES];

    if (head_bytes + bytes > sizeof whole)
        complain("a reply of %zu and %zu bytes", head_bytes, bytes);
    memcpy(whole, head, head_bytes);
    memcpy(whole + head_bytes, data, bytes);
    reply(ctx, to, type, whole, head_bytes + bytes);
}

/* ---- Messages ---- */

static long send(const struct client *c, const struct request *q, void *buf, int *from, int *type)
{
    memcpy(buf, q->bytes, q->n);
    *from = c->from, *type = (int)q->type;
    return (long)q->n;
}

/* A client's next request, if it has a free place for it. */
static struct request *next_of(struct client *c)
{
    if (c->over || c->step == STEPS)
        return NULL;
    for (uint32_t i = 0; i < UNDER_WAY; i++)
        if (!c->request[i].waits) {
            make_request(c, &c->request[i]);
            return &c->request[i];
        }
    return NULL;
}

static bool all_over(void)
{
    for (const struct client *c = client; c < client + CLIENTS; c++)
        if (!c->over && c->step < STEPS)
            return false;
    return true;
}

static uint32_t waiting_of(const struct client *c)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < UNDER_WAY; i++)
        n += c->request[i].waits;
    return n;
}

static long send_control(uint32_t type, uint64_t key, void *buf, int *from, int *type_out)
{
    control = (struct request){.seq = ++sequence};
    set(&control, type, 0, key, NULL, 0);
    return send(&client[0], &control, buf, from, type_out);
}

static long end_mortal(void *buf, int *from, int *type)
{
    const struct file_request r = {.seq = ++sequence};
    struct client *c = &client[MORTAL];

    c->over = told = true;
    memset(c->request, 0, sizeof c->request);
    memcpy(buf, &r, sizeof r);
    *from = c->from, *type = N_FEXIT;
    return sizeof r;
}

static long receive(void *ctx, void *buf, size_t bytes, int *from, int *type)
{
    const uint32_t first = below(CLIENTS);

    (void)ctx, (void)bytes;
    if (drives.under_way > 0 && below(3) == 0)
        return -N_EAGAIN;
    if (!told && waiting_of(&client[MORTAL]) == UNDER_WAY)
        return end_mortal(buf, from, type);
    for (uint32_t i = 0; i < CLIENTS && below(50) > 0; i++) {
        struct client *c = &client[(first + i) % CLIENTS];
        struct request *q = next_of(c);

        if (q)
            return send(c, q, buf, from, type);
    }
    if (drives.under_way > 0)
        return -N_EAGAIN;
    if (!all_over())
        return send_control(N_RELEASE, below(KEYS), buf, from, type);
    for (const struct client *c = client; c < client + CLIENTS; c++)
        held_at_end += waiting_of(c);
    shut_down = true;
    *from = (int)NODE_HOST, *type = N_SHUTDOWN;
    return 0;
}

/* ---- Running ---- */

static void log_line(void *ctx, const char *text)
{
    (void)ctx;
    complain("%s", text);
}

static uint32_t now_s(void *ctx)
{
    (void)ctx;
    return 1000000000;
}

static void put_file(struct volume *v)
{
    volume_mount(v);
    cr_assert_geq(v_put(v, "/file", file, sizeof file), 0);
    cr_assert_eq(volume_unmount(v), 0);
}

static void run(uint32_t seed)
{
    static const struct loop_node node = {receive, reply, reply_parts, drives_start, drives_end, &drives, NULL};
    const struct ext2_env env = {.log = {log_line, NULL}, .now_s = now_s};

    memset(client, 0, sizeof client);
    memset(answered, 0, sizeof answered);
    sequence = replies = late_places = control.seq = 0;
    shut_down = told = false;
    drives = (struct drives){.volumes = VOLUMES, .random = seed, .commands = 8};
    fill_pattern(file, sizeof file, seed);
    for (uint32_t i = 0; i < CLIENTS; i++)
        client[i].from = (int)(i / 2 | i % 2 << 16);
    drives_make(&drives);
    for (uint32_t i = 0; i < VOLUMES; i++)
        put_file(&drives.volume[i]);
    struct server *s = server_new(VOLUME_NODE, 1, &env);
    struct loop *l = loop_new(s, &node, VOLUMES, IO_BYTES);
    const char *unmounted = drives_mount(&drives, s, l);
    cr_assert_null(unmounted, "%s", unmounted);
    loop_run(l);
    cr_expect_eq(server_shutdown(s), 0);
    loop_free(l);
    server_free(s);
    for (uint32_t i = 0; i < VOLUMES; i++) {
        cr_expect_eq(volume_fsck(&drives.volume[i], "-fn"), 0);
        volume_free(&drives.volume[i]);
    }
}

Test(families, answers_128_clients_late_and_in_any_order)
{
    for (uint32_t seed = 1; seed <= 5; seed++) {
        run(seed);
        cr_assert_eq(wrong[0], '\0', "seed %u: %s", seed, wrong);
        cr_expect(shut_down && told);
        for (uint32_t i = 0; i < CLIENTS; i++)
            cr_expect_eq(waiting_of(&client[i]), 0, "seed %u: client %u waits for ever", seed, i);
        for (int kind = 0; kind < KINDS; kind++)
            cr_expect_gt(answered[kind], 50, "seed %u: %u requests of kind %d", seed, answered[kind], kind);
    }
    cr_expect_gt(held_at_end, 0, "nothing is ever held when the shutdown comes");
}
