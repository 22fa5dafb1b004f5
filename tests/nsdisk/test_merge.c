/*
 * Writes that are carried out as one, by in-order service: an inbox whose messages arrive when the drive has carried
 * out so many writes, and replies that are kept. What several clients write must end in the file as if it had come one
 * by one, in fewer commands.
 */
#define _GNU_SOURCE /* memmem */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/map/pattern.h"
#include "nsdisk/serve/in_order.h"
#include "tests/libpio/random_pattern.h"
#include "tests/nsdisk/volume.h"
#include "vertex/contract/machine.h"

#define CLIENTS   4u
#define MESSAGES  100u
#define FILE_MOST 60000u
#define AREA      200000u
#define KB        1024u

static struct volume v;
static uint64_t file[CLIENTS]; /* the SFID of each client */

struct mail {
    uint32_t client, type;
    uint32_t arrives; /* when so many writes have been carried out */
    uint8_t *bytes;
    size_t n;
    bool answered;
    struct file_reply reply;
    uint32_t blocks_then; /* blocks written when it was answered */
    uint8_t data[4096];   /* of a read */
};

static struct {
    struct mail mail[MESSAGES];
    uint32_t count, received, answered, writes_before, blocks_before;
} inbox;

/* ---- The node ---- */

static bool has_arrived(uint32_t i)
{
    return i < inbox.count && inbox.mail[i].arrives <= v.writes - inbox.writes_before;
}

static size_t receive(void *ctx, void *buf, size_t bytes, int *from, int *type)
{
    (void)ctx;
    *from = (int)NODE_HOST, *type = N_SHUTDOWN;
    if (inbox.received == inbox.count)
        return 0;
    struct mail *m = &inbox.mail[inbox.received++];
    cr_assert_leq(m->n, bytes, "Vertex would refuse a message of %zu bytes, for %zu", m->n, bytes);
    memcpy(buf, m->bytes, m->n);
    *from = (int)(10 + m->client), *type = (int)m->type;
    return m->n;
}

static uint32_t known(void *ctx)
{
    (void)ctx;
    return has_arrived(inbox.received);
}

static long test(void *ctx, int *type)
{
    (void)ctx;
    if (!has_arrived(inbox.received))
        return -N_EAGAIN;
    *type = (int)inbox.mail[inbox.received].type;
    return (long)inbox.mail[inbox.received].n;
}

static void reply(void *ctx, int to, int type, const void *bytes, size_t n)
{
    struct mail *m = &inbox.mail[inbox.answered++];

    (void)ctx;
    cr_assert_eq(to, (int)(10 + m->client), "reply %u is for node %d, not %u", inbox.answered - 1, to, 10 + m->client);
    cr_assert_eq((uint32_t)type, m->type);
    memcpy(&m->reply, bytes, sizeof m->reply);
    cr_assert_eq(m->reply.seq, inbox.answered, "out of order");
    memcpy(m->data, (const uint8_t *)bytes + sizeof m->reply, n - sizeof m->reply);
    m->answered = true;
    m->blocks_then = v.blocks_written - inbox.blocks_before;
}

/* Serves what is in the inbox. Returns how many writes were carried out with others. */
static uint32_t serve_all(void)
{
    static const struct in_order_node node = {receive, known, test, NULL};
    static _Alignas(8) uint8_t area[AREA];
    static struct in_order o;

    o = (struct in_order){.server = v.server, .node = &node, .area = {area, sizeof area}};
    serve_hold_replies(v.server, &o.replies, reply, NULL);
    inbox.received = inbox.answered = 0;
    inbox.writes_before = v.writes;
    inbox.blocks_before = v.blocks_written;
    in_order_run(&o);
    cr_assert_eq(inbox.answered, inbox.count, "%u of %u requests were answered", inbox.answered, inbox.count);
    return o.merged;
}

static void empty_inbox(void)
{
    for (uint32_t i = 0; i < inbox.count; i++)
        free(inbox.mail[i].bytes);
    memset(&inbox, 0, sizeof inbox);
}

static struct mail *post(uint32_t client, uint32_t type, struct file_request r, const void *data)
{
    struct mail *m = &inbox.mail[inbox.count++];

    r.seq = inbox.count;
    r.sfid = file[client];
    *m = (struct mail){.client = client, .type = type, .n = sizeof r + (data ? r.bytes : 0)};
    m->bytes = malloc(m->n);
    memcpy(m->bytes, &r, sizeof r);
    if (data)
        memcpy(m->bytes + sizeof r, data, r.bytes);
    return m;
}

static struct mail *post_write(uint32_t client, uint16_t view, uint64_t offset, const void *data, uint32_t bytes)
{
    return post(client, N_FWRITE, (struct file_request){.view = view, .offset = offset, .bytes = bytes}, data);
}

/* ---- The volume ---- */

static void start_with(uint32_t block_bytes, uint32_t kilobytes, const struct volume_cache *cache)
{
    memset(&inbox, 0, sizeof inbox);
    volume_make(&v, block_bytes, kilobytes, "");
    volume_set_cache(&v, cache);
    volume_mount(&v);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        v.client = 10 + i;
        cr_assert_eq(v_open(&v, "/f", N_O_RDWR | N_O_CREAT, &file[i]), 0);
    }
    v.client = 10;
}

static void start(uint32_t block_bytes, uint32_t kilobytes)
{
    start_with(block_bytes, kilobytes, &volume_caches[0]);
}

static void finish(void)
{
    empty_inbox();
    cr_assert_eq(volume_unmount(&v), 0);
    cr_assert_eq(volume_fsck(&v, "-fn"), 0);
    volume_free(&v);
}

/* View 1 of each of `n` clients: blocks of so many bytes in turn. */
static void share_out(uint32_t n, int64_t block)
{
    static uint8_t packed[FILE_VIEW_MAX_BYTES];
    struct pattern *p;

    cr_assert_eq(pattern_stripe(block, (int32_t)n, &p), 0);
    for (uint32_t i = 0; i < n; i++) {
        int64_t bytes = pattern_pack(p, (int32_t)i, packed, sizeof packed);
        struct file_request r = {.sfid = file[i], .view = 1, .bytes = (uint32_t)bytes};

        v.client = 10 + i;
        cr_assert_eq(volume_request(&v, N_FVIEW, r, NULL, NULL, packed), 0);
    }
    pattern_free(p);
    v.client = 10;
}

/* ---- One command ---- */

static void expect_file(const uint8_t *expected, uint32_t n)
{
    static uint8_t back[FILE_MOST];

    cr_assert_eq(v_read(&v, file[0], 0, back, sizeof back), (int32_t)n);
    cr_assert_arr_eq(back, expected, n);
}

/* Byte x of the file is content(x); data holds element `client` of blocks in turn. */
static uint8_t content(uint32_t x)
{
    return (uint8_t)(x * 7 + (x >> 8) * 3 + 1);
}

static void fill_element(uint8_t *data, uint32_t bytes, uint32_t client, uint32_t clients, uint32_t block)
{
    for (uint32_t y = 0; y < bytes; y++)
        data[y] = content((y / block * clients + client) * block + y % block);
}

static const struct sharing {
    const char *name;
    uint32_t clients, block, arrives, most_writes, most_blocks;
    bool views;
} sharings[] = {
    {"three views, all waiting", 3, KB, 0, 1, 12, true},
    {"three views, two behind the first command", 3, KB, 1, 2, 12, true},
    {"four views of 8 bytes", 4, 8, 0, 1, 12, true},
    {"four views of 100 bytes, three behind the first command", 4, 100, 1, 2, 24, true},
    {"four plain writes", 4, 3 * KB, 0, 1, 12, false},
    {"four plain writes of odd length", 4, 1000, 0, 1, 4, false},
};

Test(merge, adjacent_writes_that_wait_are_one_command)
{
    static uint8_t data[CLIENTS][8 * KB], expected[CLIENTS * 8 * KB];

    for (const struct sharing *s = sharings; s < sharings + sizeof sharings / sizeof *sharings; s++) {
        uint32_t bytes = s->views ? 12 * KB / s->clients / s->block * s->block : s->block;

        start(KB, 3000);
        share_out(s->clients, s->block);
        for (uint32_t i = 0; i < s->clients; i++) {
            uint32_t c = s->arrives ? i : s->clients - 1 - i;

            fill_element(data[c], bytes, c, s->clients, s->block);
            post_write(c, s->views, s->views ? 0 : c * s->block, data[c], bytes)->arrives = i == 0 ? 0 : s->arrives;
        }
        uint32_t merged = serve_all(), writes = v.writes - inbox.writes_before;
        uint32_t blocks = v.blocks_written - inbox.blocks_before;
        cr_expect_leq(writes, s->most_writes, "%s: %u commands", s->name, writes);
        cr_expect_leq(blocks, s->most_blocks, "%s: %u blocks", s->name, blocks);
        cr_expect_eq(merged, s->clients - 1, "%s", s->name);
        for (uint32_t c = 0; c < s->clients; c++)
            cr_expect_eq(inbox.mail[c].reply.status, (int32_t)bytes, "%s: client %u", s->name, c);
        for (uint32_t x = 0; x < s->clients * bytes; x++)
            expected[x] = content(x);
        expect_file(expected, s->clients * bytes);
        finish();
    }
}

/* Blocks 4 to 6 are written by the first command; 7 comes then, and lies beside them and beside block 8. */
Test(merge, writes_no_block_again_that_lies_beside_a_later_one)
{
    static uint8_t data[3 * KB];

    start(KB, 3000);
    share_out(4, KB);
    post_write(0, 1, KB, data, 3 * KB); /* 4, 8, 12 */
    post_write(1, 0, 5 * KB, data, 2 * KB);
    post_write(3, 0, 0, data, KB);
    post_write(2, 0, 7 * KB, data, KB)->arrives = 1;
    serve_all();
    cr_expect_eq(v.writes - inbox.writes_before, 4);
    cr_expect_eq(v.blocks_written - inbox.blocks_before, 7);
    finish();
}

Test(merge, takes_no_write_of_another_file_and_no_other_request)
{
    static uint8_t data[KB];
    uint64_t other;

    start(KB, 3000);
    cr_assert_eq(v_open(&v, "/other", N_O_RDWR | N_O_CREAT, &other), 0);
    post_write(0, 0, 0, data, KB);
    uint64_t own = file[0];
    file[0] = other;
    post_write(0, 0, KB, data, KB);
    file[0] = own;
    post_write(1, 0, KB, data, KB);
    post(1, N_FREAD, (struct file_request){.bytes = 2 * KB}, NULL);
    post_write(2, 0, 2 * KB, data, KB);
    post(2, N_FWRITE, (struct file_request){.flags = N_O_APPEND, .bytes = KB}, data);
    cr_expect_eq(serve_all(), 0);
    for (uint32_t i = 0; i < inbox.count; i++)
        cr_expect_eq(inbox.mail[i].reply.status, i == 3 ? (int32_t)(2 * KB) : (int32_t)KB, "request %u", i);
    finish();
}

/* Among writes that would join: each malformed one has its own answer, in its turn. */
Test(merge, gives_malformed_writes_their_own_answers)
{
    static uint8_t data[KB];
    static const struct {
        const char *name;
        size_t cut;     /* bytes that are missing at its end */
        uint32_t bytes; /* more than its header says */
        uint64_t sfid;  /* added to the client's */
        uint16_t view;
        int32_t status;
    } bad[] = {
        {"shorter than a header", KB + 10, 0, 0, 0, -N_EPROTO},
        {"data cut off", 1, 0, 0, 0, -N_EPROTO},
        {"length unlike the header's", 0, 5, 0, 0, -N_EPROTO},
        {"a file that is not open", 0, 0, 1ull << 40, 0, -N_ESTALE},
        {"no such view", 0, 0, 0, 7, -N_EINVAL},
        {"no view of any file", 0, 0, 0, 99, -N_EINVAL},
    };

    start(KB, 3000);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct file_request r;

        empty_inbox();
        post_write(0, 0, 0, data, KB);
        post_write(1, 0, KB, data, KB);
        struct mail *m = post_write(2, bad[i].view, 2 * KB, data, KB);
        memcpy(&r, m->bytes, sizeof r);
        r.bytes += bad[i].bytes;
        r.sfid += bad[i].sfid;
        memcpy(m->bytes, &r, sizeof r);
        m->n -= bad[i].cut;
        post_write(3, 0, 2 * KB, data, KB);
        cr_expect_eq(serve_all(), 1, "%s", bad[i].name);
        for (uint32_t k = 0; k < 4; k++)
            cr_expect_eq(inbox.mail[k].reply.status, k == 2 ? bad[i].status : (int32_t)KB, "%s: write %u gives %d",
                         bad[i].name, k, inbox.mail[k].reply.status);
    }
    finish();
}

/* ---- As if one by one ---- */

struct reference {
    uint8_t bytes[FILE_MOST];
    uint32_t size;
};

static void write_reference(struct reference *f, const struct pattern *view, uint32_t offset, const uint8_t *data,
                            uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        uint32_t at = view ? (uint32_t)pattern_file(view, 0, offset + i) : offset + i;

        f->bytes[at] = data[i];
        f->size = at >= f->size ? at + 1 : f->size;
    }
}

static void check_read(const struct mail *m, const struct reference *then)
{
    struct file_request r;

    memcpy(&r, m->bytes, sizeof r);
    uint32_t there = r.offset < then->size ? then->size - (uint32_t)r.offset : 0;
    cr_assert_eq(m->reply.status, (int32_t)(r.bytes < there ? r.bytes : there));
    cr_assert_arr_eq(m->data, then->bytes + r.offset, (size_t)m->reply.status);
}

/* A random view of a client. */
static struct pattern *draw_view(uint64_t *state, uint32_t client)
{
    static uint8_t packed[FILE_VIEW_MAX_BYTES];

    for (;;) {
        struct pattern *p = random_pattern(state, 2000, true), *view = NULL;
        int32_t element = (int32_t)random_below(state, (uint32_t)p->elements);
        int64_t n = pattern_pack(p, element, packed, sizeof packed);
        struct file_request r = {.sfid = file[client], .view = 1, .bytes = (uint32_t)n};
        bool fits = p->element[element].bytes > 100 && n <= (int64_t)sizeof packed;

        pattern_free(p);
        if (!fits || pattern_unpack(packed, (size_t)n, &view) < 0)
            continue;
        v.client = 10 + client;
        cr_assert_eq(volume_request(&v, N_FVIEW, r, NULL, NULL, packed), 0);
        v.client = 10;
        return view;
    }
}

static void draw_burst(uint64_t *state, struct reference *f, struct reference *then, struct pattern *const *view)
{
    static uint8_t data[4000];
    uint32_t arrived = 0, messages = 1 + random_below(state, 12), at = random_below(state, 20000);

    for (uint32_t i = 0; i < messages; i++) {
        uint32_t client = random_below(state, CLIENTS), bytes = 1 + random_below(state, sizeof data);
        bool by_view = random_below(state, 2) == 0;
        struct mail *m;

        if (random_below(state, 8) == 0) {
            m = post(client, N_FREAD, (struct file_request){.offset = at, .bytes = bytes}, NULL);
            then[i] = *f;
        } else {
            bytes = by_view ? 1 + bytes % 300 : bytes;
            uint32_t offset = by_view ? random_below(state, 200) : at;
            for (uint32_t k = 0; k < bytes; k++)
                data[k] = (uint8_t)random_below(state, 256);
            m = post_write(client, by_view, offset, data, bytes);
            write_reference(f, by_view ? view[client] : NULL, offset, data, bytes);
            at = at > 40000 || random_below(state, 3) == 0 ? random_below(state, 20000)
                                                           : at + bytes - random_below(state, 2);
        }
        arrived += random_below(state, 3);
        m->arrives = arrived;
    }
}

Test(merge, leaves_what_the_writes_leave_one_by_one)
{
    static struct reference f, then[12];
    uint64_t state = 1;
    uint32_t merged = 0;

    for (uint32_t round = 0; round < 120; round++) {
        struct pattern *view[CLIENTS];

        memset(&f, 0, sizeof f);
        start_with(KB << round % 3, 3000, &volume_caches[round < 60 ? 0 : round % VOLUME_CACHES]);
        for (uint32_t i = 0; i < CLIENTS; i++)
            view[i] = draw_view(&state, i);
        for (uint32_t burst = 0; burst < 6; burst++) {
            empty_inbox();
            draw_burst(&state, &f, then, view);
            merged += serve_all();
            for (uint32_t i = 0; i < inbox.count; i++)
                if (inbox.mail[i].type == N_FREAD)
                    check_read(&inbox.mail[i], &then[i]);
                else
                    cr_assert_gt(inbox.mail[i].reply.status, 0, "round %u", round);
            expect_file(f.bytes, f.size);
        }
        for (uint32_t i = 0; i < CLIENTS; i++)
            pattern_free(view[i]);
        finish();
    }
    cr_expect_gt(merged, 300, "%u writes were merged", merged);
}

/* ---- Failure ---- */

/* Where the file's bytes from `at` on, which differ from all others, lie on the drive. */
static uint32_t sector_of(const uint8_t *bytes)
{
    const uint8_t *found = memmem(v.bytes, v.size, bytes, KB);

    cr_assert_not_null(found);
    return (uint32_t)((found - v.bytes) / BLOCKDEV_SECTOR_BYTES);
}

static void fail_one(const struct volume_cache *cache)
{
    static uint8_t old[4 * KB], data[4 * KB], back[4 * KB];

    start_with(KB, 3000, cache);
    fill_pattern(old, sizeof old, 1);
    fill_pattern(data, sizeof data, 2);
    cr_assert_eq(v_write(&v, file[0], 0, old, sizeof old), (int32_t)sizeof old);
    v.write_fails_at = sector_of(old + 2 * KB);
    for (uint32_t i = 0; i < 4; i++)
        post_write(i, 0, i * KB, data + i * KB, KB);
    cr_expect_eq(serve_all(), 3);
    for (uint32_t i = 0; i < 4; i++)
        cr_expect_eq(inbox.mail[i].reply.status, i == 2 ? -N_EIO : (int32_t)KB, "write %u gives %d", i,
                     inbox.mail[i].reply.status);
    v.write_fails_at = UINT32_MAX;
    cr_assert_eq(v_read(&v, file[0], 0, back, sizeof back), (int32_t)sizeof back);
    for (uint32_t i = 0; i < 4; i++)
        cr_expect_arr_eq(back + i * KB, (i == 2 ? old : data) + i * KB, KB, "block %u", i);
    finish();
}

Test(merge, an_error_concerns_the_write_that_has_it)
{
    fail_one(&volume_caches[0]);
    fail_one(&volume_caches[1]); /* "through": what failed is no longer in the cache */
}

/* A later write to the same place, which was carried out before the command failed, is there in the end. */
Test(merge, the_later_write_stays_when_an_earlier_one_fails)
{
    static uint8_t old[4 * KB], data[3 * KB], back[KB];

    start(KB, 3000);
    fill_pattern(old, sizeof old, 1);
    fill_pattern(data, sizeof data, 2);
    cr_assert_eq(v_write(&v, file[0], 0, old, sizeof old), (int32_t)sizeof old);
    share_out(2, KB);
    v.write_fails_at = sector_of(old + 2 * KB);
    post_write(0, 1, 0, data, 2 * KB); /* blocks 0 and 2 */
    post_write(1, 0, 0, data + 2 * KB, KB);
    serve_all();
    cr_expect_eq(inbox.mail[0].reply.status, (int32_t)KB);
    cr_expect_eq(inbox.mail[1].reply.status, (int32_t)KB);
    cr_assert_eq(v_read(&v, file[0], 0, back, KB), (int32_t)KB);
    cr_expect_arr_eq(back, data + 2 * KB, KB);
    v.write_fails_at = UINT32_MAX;
    finish();
}

Test(merge, a_full_volume_gives_each_write_its_own_count)
{
    static uint8_t data[60 * KB];
    struct file_statfs st;
    int64_t written = 0;

    start(KB, 200);
    fill_pattern(data, sizeof data, 3);
    for (uint32_t i = 0; i < 4; i++)
        post_write(i, 0, i * 60 * KB, data, sizeof data);
    serve_all();
    for (uint32_t i = 0; i < 4; i++) {
        int32_t status = inbox.mail[i].reply.status;

        cr_expect(status == -N_ENOSPC || (status > 0 && status <= (int32_t)sizeof data), "write %u gives %d", i,
                  status);
        written += status > 0 ? status : 0;
    }
    cr_assert_eq(v_statfs(&v, &st), 0);
    cr_expect_lt(st.blocks_free, 4, "%u blocks are free", (uint32_t)st.blocks_free);
    cr_expect_gt(written, 60 * (int32_t)KB);
    finish();
}

/* The power is cut after every block; what was answered before is on the medium. */
Test(merge, what_was_answered_before_a_power_cut_is_there)
{
    static uint8_t old[24 * KB], data[CLIENTS][6 * KB], back[24 * KB];

    for (uint32_t cut = 0; cut <= 26; cut++) {
        start(KB, 3000);
        fill_pattern(old, sizeof old, 1);
        cr_assert_eq(v_write(&v, file[0], 0, old, sizeof old), (int32_t)sizeof old);
        cr_assert_eq(v_fsync(&v, file[0]), 0);
        share_out(CLIENTS, KB);
        for (uint32_t c = 0; c < CLIENTS; c++) {
            fill_element(data[c], sizeof data[c], c, CLIENTS, KB);
            post_write(c, 1, 0, data[c], sizeof data[c])->arrives = c;
        }
        v.blocks_allowed = cut;
        serve_all();
        volume_crash(&v);
        cr_assert_leq(volume_fsck(&v, "-p"), 1);
        volume_mount(&v);
        cr_assert_eq(v_open(&v, "/f", N_O_RDONLY, &file[0]), 0);
        cr_assert_eq(v_read(&v, file[0], 0, back, sizeof back), (int32_t)sizeof back);
        for (uint32_t c = 0; c < CLIENTS; c++)
            for (uint32_t y = 0; inbox.mail[c].blocks_then <= cut && y < sizeof data[c]; y++)
                cr_assert_eq(back[(y / KB * CLIENTS + c) * KB + y % KB], data[c][y], "cut after %u: client %u", cut, c);
        empty_inbox();
        volume_crash(&v);
        volume_free(&v);
    }
}
