/*
 * Files of the CFS after a machine that ended without a shutdown, in the middle of writing to three disks, and again
 * before all is well; and after clients that ended at any of their requests. What was synced is there. What was not is
 * nothing, zeros, or bytes of the same file at the same place, and no name that is there fails to open.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/nsdisk/cfs_client.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/machine.h"

#define BLOCK     CFS_BLOCK_BYTES
#define UNIT      16u
#define FILES     3u
#define MOST      90u /* blocks of a file */
#define BYTES     (MOST * BLOCK)
#define KILOBYTES 2400u
#define CACHE_KB  192u

static struct lab lab;
static uint64_t random_state;
static uint32_t seed;

static uint32_t below(uint32_t n)
{
    return random_next(&random_state) % n;
}

/* ---- Files, as they should be ---- */

/* Each 16 bytes of a file say which file's they are, since which emptying of it, and where. */
struct unit {
    uint32_t magic, file, at, version;
};
_Static_assert(sizeof(struct unit) == UNIT, "units");
#define MAGIC 0x74696e75u

struct model {
    char name[8];
    uint32_t id;    /* grows with each emptying and making */
    uint32_t least; /* units of earlier ids are gone for good */
    bool there, may_be_gone;
    uint32_t size;
    uint8_t now[BYTES];
    /* when it was synced */
    bool synced;
    uint32_t kept_size;
    uint8_t kept[BYTES];
    uint8_t changed[BYTES / UNIT]; /* since then */
};

static struct model model[FILES];
static uint32_t next_id;

static void write_units(struct model *m, uint8_t *buf, uint32_t at, uint32_t n)
{
    for (uint32_t i = 0; i < n; i += UNIT) {
        const struct unit u = {MAGIC, m->id, at + i, below(1u << 30)};

        memcpy(buf + i, &u, sizeof u);
    }
}

static void empty_model(struct model *m)
{
    m->id = ++next_id;
    m->size = 0;
    memset(m->now, 0, sizeof m->now);
}

/* ---- Steps ---- */

static struct cfs_open *open_it(const struct model *m, uint32_t flags)
{
    struct cfs_open *f = NULL;
    int error = cfs_file_open(m->name, N_O_RDWR | flags, 0600, &f);

    cr_expect(error == 0 || lab.lost || client_requests_left != UINT32_MAX, "seed %u: %s does not open: %d; %s", seed,
              m->name, error, lab.log);
    return error == 0 ? f : NULL;
}

static void write_some(struct model *m, struct cfs_open *f)
{
    static uint8_t buf[14 * BLOCK];
    const uint32_t whole = below(3), n = whole ? (1 + below(13)) * BLOCK : UNIT * (1 + below(600));
    uint32_t at = whole ? below(m->size / BLOCK + 3) * BLOCK : below(m->size / UNIT + 200) * UNIT;

    if (at + n > BYTES)
        return;
    write_units(m, buf, at, n);
    int64_t moved = cfs_move(f, true, buf, n, at);
    cr_expect(lab.lost || client_requests_left != UINT32_MAX || moved == (int64_t)n, "seed %u: %ld", seed, (long)moved);
    memcpy(m->now + at, buf, n);
    memset(m->changed + at / UNIT, 1, n / UNIT);
    m->size = m->size > at + n ? m->size : at + n;
}

static void sync_it(struct model *m, struct cfs_open *f)
{
    int error = cfs_file_sync(f);

    cr_expect(lab.lost || client_requests_left != UINT32_MAX || error == 0, "seed %u: sync: %d", seed, error);
    if (lab.lost || error < 0)
        return;
    m->synced = true;
    m->may_be_gone = false;
    m->kept_size = m->size;
    memcpy(m->kept, m->now, sizeof m->kept);
    memset(m->changed, 0, sizeof m->changed);
}

static void empty_it(struct model *m)
{
    m->synced = false;
    struct cfs_open *f = open_it(m, N_O_CREAT | N_O_TRUNC);

    empty_model(m);
    if (f && !lab.lost)
        m->least = m->id;
    if (f)
        cfs_file_free(f);
}

static void remove_it(struct model *m)
{
    m->synced = false;
    m->may_be_gone = true;
    cfs_file_unlink(m->name);
    empty_model(m);
    m->there = false;
}

/* Another client syncs a disk, or its cache is emptied. */
static void settle_a_disk(const struct cfs_open *f)
{
    const uint32_t d = below(LAB_DISKS);

    cfs_ask_all(&f->disk[d], 1, below(2) ? N_CSYNC : N_CDROP, cfs_request_of(f, 0, 0));
}

static void step(void)
{
    struct model *m = &model[below(FILES)];
    const uint32_t what = below(100);

    if (what < 8) {
        empty_it(m);
        m->there = true;
        return;
    }
    if (what < 12 && m->there) {
        remove_it(m);
        return;
    }
    struct cfs_open *f = open_it(m, N_O_CREAT);
    m->there = true;
    m->may_be_gone |= !m->synced;
    if (!f)
        return;
    if (what < 70)
        write_some(m, f);
    else if (what < 82)
        sync_it(m, f);
    else
        settle_a_disk(f);
    cfs_file_free(f);
}

/* ---- What is left ---- */

static bool is_zero(const uint8_t *bytes, size_t n)
{
    while (n > 0 && bytes[n - 1] == 0)
        n--;
    return n == 0;
}

static void check_unit(const struct model *m, const uint8_t *bytes, uint32_t at, uint32_t *id)
{
    struct unit u;

    memcpy(&u, bytes + at, sizeof u);
    /* A hole may show what was written there before the machine ended, and not synced. */
    const bool hole = is_zero(m->kept + at, UNIT);
    if (m->synced && at < m->kept_size && !m->changed[at / UNIT] && !hole) {
        cr_assert_arr_eq(bytes + at, m->kept + at, UNIT, "seed %u: %s: synced byte %u has changed: file %u at %u", seed,
                         m->name, at, u.file, u.at);
        *id = u.magic == MAGIC ? u.file : *id;
        return;
    }
    if (is_zero(bytes + at, UNIT))
        return;
    cr_assert_eq(u.magic, MAGIC, "seed %u: %s: byte %u is nobody's", seed, m->name, at);
    cr_assert_eq(u.at, at, "seed %u: %s: byte %u is byte %u of %u", seed, m->name, at, u.at, u.file);
    cr_assert_geq(u.file, m->least, "seed %u: %s: byte %u is from before it was emptied", seed, m->name, at);
    cr_assert(*id == 0 || *id == u.file, "seed %u: %s: byte %u is file %u's, not %u's", seed, m->name, at, u.file, *id);
    *id = u.file;
}

static void check_file(struct model *m)
{
    static uint8_t buf[BYTES + BLOCK];
    struct cfs_open *f = NULL;
    uint32_t id = 0;
    int error = cfs_file_open(m->name, N_O_RDWR, 0600, &f);

    if (error == -N_ENOENT && !m->synced) {
        empty_model(m);
        m->there = false;
        return;
    }
    cr_assert_eq(error, 0, "seed %u: %s does not open: %d; %s", seed, m->name, error, lab.log);
    const uint64_t size = f->header.size_bytes;
    cr_assert(size <= BYTES && (!m->synced || size >= m->kept_size), "seed %u: %s: %lu bytes, synced %u", seed, m->name,
              (unsigned long)size, m->kept_size);
    int64_t n = cfs_move(f, false, buf, BYTES + BLOCK, 0);
    cr_assert_eq(n, (int64_t)size, "seed %u: %s: %ld of %lu bytes", seed, m->name, (long)n, (unsigned long)size);
    for (uint32_t at = 0; at < size / UNIT * UNIT; at += UNIT)
        check_unit(m, buf, at, &id);
    m->there = true;
    m->size = (uint32_t)size;
    memset(m->now, 0, sizeof m->now);
    memcpy(m->now, buf, size);
    m->id = id ? id : ++next_id;
    sync_it(m, f);
    cfs_file_free(f);
}

/* ---- Machines ---- */

static void boot(struct lab *l)
{
    client_use(l, 1);
    for (uint32_t i = 0; i < FILES; i++)
        check_file(&model[i]);
}

static void go_on_and_stop(struct lab *l)
{
    boot(l);
    for (uint32_t i = below(30); i-- > 0;)
        step();
    l->writes_left = below(below(4) == 0 ? 400 : 60);
    for (uint32_t i = 0; i < 60 && !l->lost; i++)
        step();
}

static void go_on(struct lab *l)
{
    boot(l);
    for (uint32_t i = 0; i < 30; i++)
        step();
    boot(l);
}

static void make(void)
{
    random_state = seed * 7919;
    lab_make(&lab, KILOBYTES, CACHE_KB);
    memset(model, 0, sizeof model);
    for (uint32_t i = 0; i < FILES; i++)
        snprintf(model[i].name, sizeof model[i].name, "/f%u", i);
}

/* Every second machine gets e2fsck between the stops, the others at the end. */
static void stop_twice(void)
{
    make();
    for (uint32_t stop = 0; stop < 2; stop++) {
        lab_run(&lab, go_on_and_stop);
        lab_power(&lab);
        lab.log[0] = '\0';
        if (seed % 2)
            cr_assert_leq(lab_fsck(&lab, "-fp"), 1, "seed %u", seed);
    }
    cr_assert(lab_run(&lab, go_on), "seed %u", seed);
    cr_assert_leq(lab_fsck(&lab, "-fp"), 1, "seed %u", seed);
    cr_assert_eq(lab_fsck(&lab, "-fn"), 0, "seed %u", seed);
    lab_free(&lab);
}

Test(cfs_stops, disks_of_different_moments_twice_in_a_row, .timeout = 600)
{
    const char *seeds = getenv("CFS_SEEDS"), *first = getenv("CFS_FIRST");

    seed = first ? (uint32_t)atoi(first) : 1;
    for (uint32_t n = seeds ? (uint32_t)atoi(seeds) : 60; n > 0; n--, seed++)
        stop_twice();
}

/* ---- Clients that end ---- */

static uint32_t ends_after; /* so many requests */

/* One client ends in the middle of what it does; the next one finds a whole file, goes on with it, and its blocks are
 * all there are: nothing that the first one had is lost on the disks. */
static void end_and_go_on(struct lab *l)
{
    struct model *m = &model[0];
    uint64_t blocks[2];

    for (int turn = 0; turn < 2; turn++) {
        struct cfs_request r = {.op = 0};
        struct cfs_counts counts;

        client_use(l, 1 + turn);
        empty_it(m);
        m->there = true;
        client_requests_left = turn == 0 ? ends_after : UINT32_MAX;
        struct cfs_open *f = open_it(m, N_O_CREAT | N_O_TRUNC);
        for (int i = 0; f && i < 5; i++)
            write_some(m, f);
        if (f)
            cfs_file_free(f);
        lab_end_client(l, 1 + turn);
        client_use(l, 3);
        check_file(m);
        m->synced = false;
        cr_assert_eq(cfs_end(cfs_start(0, N_CSTAT, r, NULL, 0), &counts, sizeof counts, NULL, 0), 0);
        blocks[turn] = counts.blocks_free;
        if (m->there && (f = open_it(m, 0))) {
            blocks[turn] += f->header.blocks / LAB_DISKS;
            cfs_file_free(f);
        }
    }
    cr_expect(blocks[0] <= blocks[1] + 2 && blocks[1] <= blocks[0] + 2, "after %u requests: %lu and %lu blocks",
              ends_after, (unsigned long)blocks[0], (unsigned long)blocks[1]);
}

Test(cfs_stops, clients_end_at_every_request, .timeout = 600)
{
    for (ends_after = 0; ends_after < 70; ends_after++) {
        seed = 100 + ends_after;
        make();
        cr_assert(lab_run(&lab, end_and_go_on), "after %u requests", ends_after);
        cr_assert_eq(lab_fsck(&lab, "-fn"), 0, "after %u requests", ends_after);
        lab_free(&lab);
    }
}

/* ---- Placement ---- */

/* A file that is limited to two of three disks has its blocks on them in turn. */
static void limited(struct lab *l)
{
    static uint8_t buf[48 * BLOCK];
    struct cfs_open *f = NULL;
    uint32_t on[LAB_DISKS] = {0}, last = LAB_DISKS;

    client_use(l, 1);
    cr_assert_eq(cfs_file_open("/limited", N_O_RDWR | N_O_CREAT, 0600, &f), 0);
    cr_assert_eq(cfs_file_header(f, N_CSIZE, 2, 1u << 0 | 1u << 2), 0);
    cr_assert_eq(cfs_move(f, true, buf, sizeof buf, 0), (int64_t)sizeof buf);
    for (uint32_t k = 0; k < 48; k++) {
        uint32_t pointer;

        cr_assert_eq(cfs_file_pointer(f, k, &pointer), 0);
        const uint32_t d = CFS_POINTER_DISK(pointer);
        cr_expect_neq(d, last, "blocks %u and %u are on disk %u", k - 1, k, d);
        on[d]++;
        last = d;
    }
    cr_expect(on[0] == 24 && on[1] == 0 && on[2] == 24, "%u, %u and %u blocks", on[0], on[1], on[2]);
    cfs_file_free(f);
}

Test(cfs_stops, a_limited_file_takes_its_disks_in_turn)
{
    lab_make(&lab, KILOBYTES, CACHE_KB);
    cr_assert(lab_run(&lab, limited));
    cr_assert_eq(lab_fsck(&lab, "-fn"), 0);
    lab_free(&lab);
}
