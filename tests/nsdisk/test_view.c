/* Views of open files: random patterns against a file in memory, what is refused, and what is left when they go. */
#include <criterion/criterion.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/map/pattern.h"
#include "tests/libpio/random_pattern.h"
#include "tests/nsdisk/volume.h"

#define FILE_MOST 40000

static struct volume v;
static uint64_t sfid;

static void start_with(uint32_t block_bytes, const struct volume_cache *cache)
{
    volume_make(&v, block_bytes, 4000, "");
    volume_set_cache(&v, cache);
    volume_mount(&v);
    cr_assert_eq(v_open(&v, "/f", N_O_RDWR | N_O_CREAT, &sfid), 0);
}

static void start(uint32_t block_bytes)
{
    start_with(block_bytes, &volume_caches[0]);
}

static void finish(void)
{
    cr_assert_eq(v_exit(&v), 0);
    cr_assert_eq(volume_unmount(&v), 0);
    cr_assert_eq(volume_fsck(&v, "-fn"), 0);
    volume_free(&v);
}

static int32_t set_view(uint16_t number, const void *packed, uint32_t n)
{
    return volume_request(&v, N_FVIEW, (struct file_request){.sfid = sfid, .view = number, .bytes = n}, NULL, NULL,
                          n > 0 ? packed : NULL);
}

static int32_t write_by(uint16_t number, uint64_t offset, const void *buf, uint32_t bytes)
{
    struct file_request r = {.sfid = sfid, .view = number, .offset = offset, .bytes = bytes};

    return volume_request(&v, N_FWRITE, r, NULL, NULL, buf);
}

static int32_t read_by(uint16_t number, uint64_t offset, void *buf, uint32_t bytes)
{
    struct file_request r = {.sfid = sfid, .view = number, .offset = offset, .bytes = bytes};
    int32_t n = volume_request(&v, N_FREAD, r, NULL, NULL, NULL);

    if (n > 0)
        memcpy(buf, v.reply + sizeof(struct file_reply), (size_t)n);
    return n;
}

/* ---- Against a file in memory ---- */

struct reference {
    uint8_t bytes[FILE_MOST];
    int64_t size;
};

/* How many of the view's bytes from `offset` on are before the end of the file. */
static int32_t count_there(const struct reference *f, const struct pattern *p, int64_t offset, int32_t bytes)
{
    int32_t n = 0;

    while (n < bytes && pattern_file(p, 0, offset + n) < f->size)
        n++;
    return n;
}

static void write_reference(struct reference *f, const struct pattern *p, int64_t offset, const uint8_t *buf, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        int64_t at = pattern_file(p, 0, offset + i);

        f->bytes[at] = buf[i];
        f->size = at >= f->size ? at + 1 : f->size;
    }
}

static void compare_whole(const struct reference *f, uint32_t round)
{
    static uint8_t back[FILE_MOST];

    cr_assert_eq(v_read(&v, sfid, 0, back, FILE_MOST), f->size, "round %u", round);
    for (int64_t i = 0; i < f->size; i++)
        cr_assert_eq(back[i], f->bytes[i], "round %u: byte %ld is %u, not %u", round, (long)i, back[i], f->bytes[i]);
}

/* A view of one element of a random pattern that has bytes, as the server will unpack it. */
static struct pattern *random_view(uint64_t *state, void *packed, uint32_t room, uint32_t *n)
{
    for (;;) {
        struct pattern *p = random_pattern(state, 3000, true), *view = NULL;
        int32_t element = (int32_t)random_below(state, (uint32_t)p->elements);
        int64_t bytes = pattern_pack(p, element, packed, room);

        p->displacement = random_below(state, 3) == 0 ? random_below(state, 5000) : 0;
        bytes = pattern_pack(p, element, packed, room);
        bool fits = p->element[element].bytes > 0 && bytes <= (int64_t)room;
        pattern_free(p);
        if (fits && pattern_unpack(packed, (size_t)bytes, &view) == 0) {
            *n = (uint32_t)bytes;
            return view;
        }
    }
}

static void one_round(struct reference *f, uint64_t *state, uint32_t round)
{
    static uint8_t packed[FILE_VIEW_MAX_BYTES], buf[4000], back[4000];
    uint16_t number = (uint16_t)(1 + random_below(state, FILE_VIEWS));
    uint32_t n;
    struct pattern *p = random_view(state, packed, sizeof packed, &n);

    cr_assert_eq(set_view(number, packed, n), 0, "round %u", round);
    for (int i = 0; i < 4; i++) {
        int64_t offset = random_below(state, 3000);
        int32_t bytes = (int32_t)(1 + random_below(state, 3900));

        while (bytes > 0 && pattern_file(p, 0, offset + bytes - 1) >= FILE_MOST)
            bytes /= 2;
        if (bytes == 0)
            continue;
        if (random_below(state, 2) == 0) {
            fill_pattern(buf, sizeof buf, round * 4 + (uint32_t)i);
            cr_assert_eq(write_by(number, (uint64_t)offset, buf, (uint32_t)bytes), bytes, "round %u", round);
            write_reference(f, p, offset, buf, bytes);
        }
        int32_t there = count_there(f, p, offset, bytes);
        cr_assert_eq(read_by(number, (uint64_t)offset, back, (uint32_t)bytes), there, "round %u", round);
        for (int32_t k = 0; k < there; k++)
            cr_assert_eq(back[k], f->bytes[pattern_file(p, 0, offset + k)], "round %u: view byte %d", round, k);
    }
    compare_whole(f, round);
    pattern_free(p);
}

Test(view, shows_and_writes_what_its_pattern_says)
{
    static struct reference f;
    uint64_t state = 7;

    for (uint32_t i = 0; i < 2 * VOLUME_CACHES; i++) {
        const struct volume_cache *cache = &volume_caches[i / 2];

        start_with(i % 2 == 0 ? 1024 : 4096, cache);
        memset(&f, 0, sizeof f);
        for (uint32_t round = 0; round < (cache->set.kb == 0 ? 300u : 120u); round++) {
            one_round(&f, &state, round);
            if (round % 50 == 49) {
                cr_assert_eq(v_truncate(&v, sfid, 1000), 0);
                f.size = 1000;
                memset(f.bytes + 1000, 0, sizeof f.bytes - 1000);
            }
        }
        finish();
    }
}

/* ---- Few commands ---- */

static uint32_t pack_stripe(void *packed, int64_t block, int32_t elements)
{
    struct pattern *p;

    cr_assert_eq(pattern_stripe(block, elements, &p), 0);
    int64_t n = pattern_pack(p, 1, packed, FILE_VIEW_MAX_BYTES);
    pattern_free(p);
    return (uint32_t)n;
}

Test(view, moves_many_runs_with_few_commands)
{
    static uint8_t packed[FILE_VIEW_MAX_BYTES], file[32768], piece[4096], back[4096];

    start(1024);
    fill_pattern(file, sizeof file, 1);
    cr_assert_eq(v_write(&v, sfid, 0, file, sizeof file), sizeof file);
    cr_assert_eq(set_view(1, packed, pack_stripe(packed, 8, 8)), 0); /* 512 runs in 32 KB */
    fill_pattern(piece, sizeof piece, 2);
    uint32_t writes = v.writes, reads = v.reads;
    cr_assert_eq(write_by(1, 0, piece, sizeof piece), sizeof piece);
    cr_assert_leq(v.writes - writes, 4, "%u writes for 512 runs", v.writes - writes);
    cr_assert_leq(v.reads - reads, 8, "%u reads for 512 runs", v.reads - reads);
    cr_assert_eq(read_by(1, 0, back, sizeof back), sizeof back);
    cr_assert_arr_eq(back, piece, sizeof back);
    finish();
}

Test(view, allocates_no_blocks_in_its_gaps)
{
    static uint8_t packed[FILE_VIEW_MAX_BYTES], piece[16];
    struct file_stat st;

    start(1024);
    cr_assert_eq(set_view(1, packed, pack_stripe(packed, 1, 5120)), 0); /* a byte in every fifth block */
    cr_assert_eq(write_by(1, 0, piece, 5), 5);
    cr_assert_eq(v_fstat(&v, sfid, &st), 0);
    cr_assert_eq(st.size_bytes, 4 * 5120 + 2);
    cr_assert_leq(st.blocks_512, 2 * (5 + 1), "%lu sectors for 5 blocks", (unsigned long)st.blocks_512);
    finish();
}

/* ---- What is refused ---- */

struct wire {
    int64_t displacement, period, nodes;
    struct {
        int64_t left, length, stride, count;
        int32_t children, zero;
    } node[2];
};

static const struct bad_case {
    const char *name;
    struct wire w;
    int32_t bytes, status;
} bad_cases[] = {
    {"shorter than a head", {0, 8, 1, {{0, 4, 4, 1, 0, 0}}}, 20, -N_EINVAL},
    {"a node less than it says", {0, 8, 2, {{0, 4, 4, 1, 0, 0}}}, 64, -N_EINVAL},
    {"no period", {0, 0, 1, {{0, 4, 4, 1, 0, 0}}}, 64, -N_EINVAL},
    {"no bytes", {0, 8, 0, {{0}}}, 24, -N_EINVAL},
    {"a negative displacement", {-1, 8, 1, {{0, 4, 4, 1, 0, 0}}}, 64, -N_EINVAL},
    {"a run beyond the period", {0, 8, 1, {{6, 4, 4, 1, 0, 0}}}, 64, -N_EINVAL},
    {"runs that overlap", {0, 8, 1, {{0, 4, 2, 2, 0, 0}}}, 64, -N_EINVAL},
    {"nodes out of order", {0, 8, 2, {{4, 2, 2, 1, 0, 0}, {0, 2, 2, 1, 0, 0}}}, 104, -N_EINVAL},
    {"more children than nodes", {0, 8, 2, {{0, 8, 8, 1, 5, 0}, {0, 2, 2, 1, 0, 0}}}, 104, -N_EINVAL},
    {"a child beyond its parent", {0, 8, 2, {{0, 4, 4, 1, 1, 0}, {2, 4, 4, 1, 0, 0}}}, 104, -N_EINVAL},
    {"a padding that is not zero", {0, 8, 1, {{0, 4, 4, 1, 0, 1}}}, 64, -N_EINVAL},
    {"a period that is too long", {0, INT64_MAX, 1, {{0, 4, 4, 1, 0, 0}}}, 64, -N_EOVERFLOW},
    {"more nodes than any pattern has", {0, 8, 1 << 20, {{0, 4, 4, 1, 0, 0}}}, 64, -N_E2BIG},
};

Test(view, that_is_wrong_is_refused_and_changes_nothing)
{
    static const struct wire good = {0, 8, 1, {{2, 2, 2, 1, 0, 0}}};
    char byte[2];

    start(1024);
    cr_assert_eq(v_write(&v, sfid, 0, "abcdefgh", 8), 8);
    cr_assert_eq(set_view(3, &good, 64), 0);
    for (size_t i = 0; i < sizeof bad_cases / sizeof bad_cases[0]; i++) {
        const struct bad_case *c = &bad_cases[i];

        cr_expect_eq(set_view(3, &c->w, (uint32_t)c->bytes), c->status, "%s", c->name);
        cr_expect(read_by(3, 0, byte, 2) == 2 && memcmp(byte, "cd", 2) == 0, "%s: another view", c->name);
    }
    finish();
}

Test(view, has_a_number_and_a_place_that_are_checked)
{
    static const struct wire good = {4, 8, 1, {{2, 2, 2, 1, 0, 0}}};
    static uint8_t large[FILE_VIEW_MAX_BYTES + 40];
    char byte[2] = "xy";

    start(1024);
    cr_expect_eq(set_view(0, &good, 64), -N_EINVAL);
    cr_expect_eq(set_view(FILE_VIEWS + 1, &good, 64), -N_EINVAL);
    cr_expect_eq(set_view(5, NULL, 0), -N_EINVAL, "there is none to drop");
    cr_expect_eq(set_view(1, large, sizeof large), -N_E2BIG);
    cr_expect_eq(read_by(1, 0, byte, 2), -N_EINVAL, "it was not made");
    cr_assert_eq(set_view(1, &good, 64), 0);
    cr_expect_eq(write_by(1, 1ull << 62, byte, 2), -N_EFBIG);
    cr_expect_eq(read_by(1, 1ull << 62, byte, 2), 0);
    cr_expect_eq(write_by(2, 0, byte, 2), -N_EINVAL);
    cr_expect_eq(volume_request(&v, N_FWRITE,
                                (struct file_request){.sfid = sfid, .view = 1, .flags = N_O_APPEND, .bytes = 2}, NULL,
                                NULL, byte),
                 -N_EINVAL);
    cr_assert_eq(set_view(1, NULL, 0), 0);
    cr_expect_eq(read_by(1, 0, byte, 2), -N_EINVAL, "it was dropped");
    finish();
}

/* ---- What is left ---- */

#ifdef __SANITIZE_ADDRESS__
size_t __sanitizer_get_current_allocated_bytes(void);
#endif

static size_t allocated(void)
{
#ifdef __SANITIZE_ADDRESS__
    return __sanitizer_get_current_allocated_bytes();
#else
    return mallinfo2().uordblks;
#endif
}

/* A view of the most nodes, and the memory that it takes, rounded up. */
#define LARGE_BYTES (400 * 2 * sizeof(struct falls) + 500)
static void pack_large(uint8_t *packed)
{
    int64_t *at = (int64_t *)packed, nodes = (FILE_VIEW_MAX_BYTES - 24) / 40;

    at[0] = 0, at[1] = 100 * nodes, at[2] = nodes;
    for (int64_t i = 0; i < nodes; i++) {
        int64_t *node = at + 3 + 5 * i;

        node[0] = 100 * i + i % 7, node[1] = 1 + i % 5, node[2] = node[1], node[3] = 1, node[4] = 0;
    }
}

Test(view, goes_with_its_file_or_its_client)
{
    static uint8_t packed[FILE_VIEW_MAX_BYTES] __attribute__((aligned(8)));
    uint64_t first, second;
    char byte;

    start(1024);
    first = sfid;
    pack_large(packed);
    cr_assert_eq(v_open(&v, "/f", N_O_RDWR, &second), 0);
    server_limit_views(v.server, FILE_VIEWS * (size_t)LARGE_BYTES);
    for (int round = 0; round < 3; round++) {
        for (uint16_t i = 1; i <= FILE_VIEWS; i++)
            cr_assert_eq(set_view(i, packed, sizeof packed), 0, "round %d, view %u", round, i);
        cr_assert_eq(set_view(1, packed, sizeof packed), 0, "in place of one");
        sfid = second;
        cr_assert_eq(set_view(1, packed, sizeof packed), -N_ENOMEM, "the server's views are bounded");
        cr_assert_eq(read_by(1, 0, &byte, 1), -N_EINVAL, "views are a file's own");
        if (round == 1) {
            cr_assert_eq(v_close(&v, first), 0);
        } else {
            cr_assert_eq(v_exit(&v), 0);
            cr_assert_eq(v_open(&v, "/f", N_O_RDWR, &second), 0);
        }
        cr_assert_eq(v_open(&v, "/f", N_O_RDWR, &first), 0);
        sfid = first;
        cr_assert_eq(read_by(1, 0, &byte, 1), -N_EINVAL, "a new file in the same slot has no views");
    }
    finish();
}

/* Whatever they are made of: large ones, and small ones that are nodes of one stripe. */
Test(view, takes_memory_up_to_a_limit)
{
    static uint8_t packed[FILE_VIEW_MAX_BYTES] __attribute__((aligned(8)));
    uint32_t small = 0, made[2] = {0, 0};
    size_t limit = 20 * LARGE_BYTES;

    start(1024);
    server_limit_views(v.server, limit);
    small = pack_stripe(packed, 512, 3);
    cr_assert_eq(set_view(1, packed, small), 0, "the drive's memory for views is there");
    cr_assert_eq(set_view(1, NULL, 0), 0);
    for (int kind = 0; kind < 2; kind++) {
        size_t before = allocated();
        int32_t status = 0;

        if (kind == 1)
            small = pack_stripe(packed, 512, 3);
        else
            pack_large(packed);
        while (status == 0) {
            cr_assert_eq(v_open(&v, "/f", N_O_RDWR, &sfid), 0);
            for (uint16_t i = 1; i <= FILE_VIEWS && status == 0; i++, made[kind] += status == 0)
                status = set_view(i, packed, kind == 1 ? small : sizeof packed);
        }
        size_t taken = allocated() - before;
        cr_expect_eq(status, -N_ENOMEM);
        cr_expect(kind == 1 || taken <= limit + limit / 8, "%zu bytes, of %zu", taken, limit);
        cr_expect_geq(taken, limit / 10 * 9, "%zu bytes, of %zu", taken, limit);
        cr_assert_eq(v_exit(&v), 0);
    }
    cr_expect_eq(made[0], 20);
    cr_expect_gt(made[1], 1000);
    finish();
}
