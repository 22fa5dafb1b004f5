/*
 * What the servers of the Concurrent File System leave on the disks: what was synced lasts, also over a power cut at
 * any write; random requests; damaged heads and names. e2fsck judges the disks after each.
 */
#include "tests/nsdisk/cfs_requests.h"

/* ---- What lasts ---- */

static uint64_t kept_handle;
static struct cfs_run kept_run;

static void keep(struct lab *l)
{
    static uint8_t data[BLOCK];
    struct file f = open_file("/kept");
    const struct cfs_request set = {.disk = f.home, .op = 1, .handle = f.handle, .bytes = 4};

    kept_handle = f.handle;
    cr_assert_eq(alloc(f, 1, 8, &kept_run), 8);
    fill_pattern(data, BLOCK, 9);
    cr_assert_eq(put(f, 1, kept_run.first + 2, 0, data, BLOCK), BLOCK);
    cr_assert_eq(ask(N_CGROW, f, f.home, 0, 0), 0);
    const uint32_t pointer = CFS_POINTER(1, kept_run.first);
    cr_assert_eq(lab_ask(l, N_CPOINTER, set, &pointer, 4), 4);
    cr_assert_eq(ask(N_CGROW, f, f.home, 1, 8), 0);
    cr_assert_eq(ask(N_CSIZE, f, f.home, 1, 12345), 0);
    for (uint16_t disk = 0; disk < LAB_DISKS; disk++) {
        int32_t error = ask(N_CSYNC, f, disk, 0, 0);

        cr_assert(error == 0 || error == -N_ESTALE);
    }
}

static void find_kept(struct lab *l)
{
    static uint8_t data[BLOCK];
    struct file f = open_file("/kept"), other = open_file("/other");
    uint32_t pointer;
    const struct cfs_request page = {.disk = f.home, .handle = f.handle};

    cr_expect_eq(f.handle, kept_handle);
    cr_expect_gt(CFS_HANDLE_NUMBER(other.handle), CFS_HANDLE_NUMBER(f.handle), "a number is used again");
    cr_expect_eq(ask(N_CSIZE, f, f.home, 0, 0), 0);
    cr_expect_eq(header().size_bytes, 12345);
    cr_expect_eq(header().blocks, 8);
    cr_expect_eq(lab_ask(l, N_CPOINTER, page, NULL, 0), BLOCK);
    memcpy(&pointer, l->payload, sizeof pointer);
    cr_expect_eq(pointer, CFS_POINTER(1, kept_run.first));
    fill_pattern(data, BLOCK, 9);
    cr_expect_eq(get(f, 1, kept_run.first + 2, 0, BLOCK), BLOCK);
    cr_expect_arr_eq(l->payload, data, BLOCK);
    cr_expect_eq(get(f, 1, kept_run.first + 3, 0, BLOCK), BLOCK);
    cr_expect(all_are(l->payload, BLOCK, 0));
    cr_expect_eq(get((struct file){f.handle + (1ull << 32), 0}, 1, kept_run.first + 2, 0, 1), -N_EPROTO);
}

Test(cfs, files_last)
{
    lab_make(&lab, KILOBYTES, CACHE_KB);
    cr_assert(lab_run(&lab, keep));
    cr_expect_eq(lab_fsck(&lab, "-fn"), 0);
    cr_assert(lab_run(&lab, find_kept));
    finish();
}

static uint32_t cut_after; /* so many writes of the drives behind the sync */

/* Adds blocks of that value, with a sync after the first three. */
static void fill(struct file f, uint32_t blocks, uint8_t value)
{
    static uint8_t data[BLOCK];
    struct cfs_run run;

    memset(data, value, sizeof data);
    cr_assert_eq(alloc(f, 1, blocks, &run), (int32_t)blocks);
    for (uint32_t i = 0; i < blocks; i++) {
        cr_assert_eq(put(f, 1, block_at(i), 0, data, BLOCK), BLOCK);
        if (i == 2)
            cr_expect_eq(ask(N_CSYNC, f, 1, 0, 0), 0);
    }
}

/* What is free has another file's bytes; one file is synced; the power goes while others are written, and cut. */
static void keep_and_go_on(struct lab *l)
{
    struct file secret = open_file("/secret");

    fill(secret, 200, 'S');
    cr_assert_eq(ask(N_CFREE, secret, 1, 1, 0), 0);
    keep(l);
    l->writes_left = cut_after;
    struct file g = open_file("/g"), h = open_file("/h");
    fill(g, 21, 'g');
    cr_expect_eq(ask(N_CSYNC, g, 1, 0, 0), 0);
    cr_expect_eq(ask(N_CFREE, g, 1, 0, 9), 0);
    struct cfs_run run;
    cr_assert_eq(alloc(g, 1, 12, &run), 12);
    const struct cfs_request folder = {.disk = 1, .op = CFS_NAME_MKDIR, .bytes = 2};
    cr_expect_eq(lab_ask(l, N_CNAME, folder, "/d", 2), 0); /* it is durable, and so is what else has changed */
    fill(g, 13, 'G');
    fill(h, 32, 'h');
    cr_expect_eq(ask(N_CSYNC, h, 1, 0, 0), 0);
}

static bool is_one_of(const uint8_t *bytes, const char *values)
{
    return all_are(bytes, BLOCK, 0) || (strchr(values, bytes[0]) && all_are(bytes, BLOCK, bytes[0]));
}

static void check_kept(struct lab *l)
{
    static const char *const names[] = {"/g", "/h"}, *const values[] = {"gG", "h"};

    find_kept(l);
    for (int i = 0; i < 2; i++) {
        const bool there = name_op(CFS_NAME_OPEN, names[i], DISK_NAMES, 0) == 0;
        const struct file f = {CFS_HANDLE(named().number, named().age), 0};

        for (uint32_t block = 0; there && block < l->drives.volume[1].size / BLOCK; block++)
            if (get(f, 1, block, 0, BLOCK) == (int32_t)BLOCK)
                cr_expect(is_one_of(l->payload, values[i]), "%s, block %u, after %u writes: '%c'", names[i], block,
                          cut_after, l->payload[0]);
    }
}

Test(cfs, a_power_cut_leaves_what_was_synced_and_nobody_elses_bytes, .timeout = 120)
{
    bool cut = true;

    for (cut_after = 0; cut; cut_after++) {
        lab_make(&lab, KILOBYTES, CACHE_KB);
        lab_run(&lab, keep_and_go_on);
        cut = lab.writes_left == 0;
        lab_power(&lab);
        cr_expect_leq(lab_fsck(&lab, "-fp"), 1, "after %u writes", cut_after);
        lab.log[0] = '\0';
        cr_assert(lab_run(&lab, check_kept));
        cr_expect_eq(lab_fsck(&lab, "-fn"), 0, "after %u writes", cut_after);
        lab_free(&lab);
    }
    cr_expect_gt(cut_after, 20, "only %u writes", cut_after);
}

/* ---- Random requests, and damage ---- */

static uint64_t random_state;

static uint32_t below(uint32_t n)
{
    return random_next(&random_state) % n;
}

static void random_script(struct lab *l)
{
    static const char *const names[] = {"/a", "/b", "/d", "/d/a", "/.cfs/1", "/", "", "//", "/d/../b", "/a/x"};
    static uint8_t data[BLOCK];
    uint32_t blocks = (uint32_t)(l->drives.volume[0].size / BLOCK);

    open_file("/a"), open_file("/b");
    for (uint32_t i = 0; i < 600; i++) {
        struct cfs_request r = {.disk = (uint16_t)below(LAB_DISKS),
                                .op = (uint16_t)(below(10) == 0 ? below(70000) : below(2)),
                                .handle = CFS_HANDLE(below(6), 1000000000),
                                .block = below(4) == 0 ? below(3) : 200 + below(blocks / 4),
                                .offset = (uint16_t)below(4096),
                                .arg = below(5) == 0 ? random_next(&random_state) : below(40)};
        int type = (int)(N_CNAME + below(15));
        size_t n = 0;

        r.bytes = (uint16_t)(1 + below(4096u - r.offset));
        if (type == N_CNAME) {
            const char *first = names[below(10)], *second = below(2) ? DISK_NAMES : names[below(10)];

            r.op = (uint16_t)below(CFS_NAME_OPS + 1);
            r.arg |= below(2) ? N_O_CREAT : 0;
            n = (size_t)snprintf((char *)data, sizeof data, "%s%s", first, second);
            r.bytes = (uint16_t)strlen(first), r.offset = (uint16_t)strlen(second);
        } else if (type == N_CPOINTER && r.op == 1) {
            r.block = below(5), r.offset = (uint16_t)below(1000), r.bytes = (uint16_t)(4 * below(24)), n = r.bytes;
        } else if (type == N_CWRITE) {
            n = r.bytes;
        }
        if (below(20) == 0)
            n = below(4096);
        uint32_t number = lab_post(l, 1 + (int)below(3), type, r, data, n);
        if (type != N_CGROW)
            lab_wait(l, number);
        if (below(60) == 0)
            for (int client = 1; client <= 3; client++)
                lab_end_client(l, client);
    }
}

Test(cfs, survives_random_requests, .timeout = 120)
{
    for (uint32_t seed = 1; seed <= 20; seed++) {
        random_state = seed;
        lab_make(&lab, KILOBYTES, 64);
        cr_assert(lab_run(&lab, random_script));
        cr_expect_eq(lab.log[0], '\0', "seed %u: %s", seed, lab.log);
        cr_expect_eq(lab_fsck(&lab, "-fn"), 0, "seed %u", seed);
        lab_free(&lab);
    }
}

static void use_damaged(struct lab *l)
{
    for (uint32_t number = 1; number <= 2; number++) {
        const struct file f = {CFS_HANDLE(number, 1000000000), 0};

        for (uint16_t disk = 0; disk < LAB_DISKS; disk++) {
            const struct cfs_request page = {.disk = disk, .handle = f.handle};

            ask(N_CHEADER, f, disk, 0, 0);
            lab_ask(l, N_CPOINTER, page, NULL, 0);
            for (uint32_t block = 0; block < l->drives.volume[disk].size / BLOCK; block += 7)
                get(f, disk, block, 0, BLOCK);
            cr_expect_neq(ask(N_CSYNC, f, disk, 0, 0), -N_ENOSYS);
        }
    }
    name_op(CFS_NAME_OPEN, "/kept", DISK_NAMES, 0);
    name_op(CFS_NAME_OPEN, "/new", DISK_NAMES, N_O_CREAT);
}

/* Bytes of heads, bits and names on the disks become others: requests fail, or find less; nothing crashes. */
Test(cfs, survives_damaged_heads_and_names, .timeout = 120)
{
    for (uint32_t seed = 1; seed <= 40; seed++) {
        random_state = seed;
        lab_make(&lab, KILOBYTES, CACHE_KB);
        cr_assert(lab_run(&lab, keep));
        for (uint32_t i = 0; i < LAB_DISKS; i++)
            for (uint8_t *at = lab.drives.volume[i].bytes; at < lab.drives.volume[i].bytes + lab.drives.volume[i].size;
                 at += BLOCK) {
                const uint32_t magic = CFS_HEAD_MAGIC;

                if (memcmp(at, &magic, 4) == 0 || memcmp(at, "cfs 1", 5) == 0 || memcmp(at, "65\n", 3) == 0)
                    at[below(40)] ^= (uint8_t)(1u << below(8));
            }
        lab_run(&lab, use_damaged);
        cr_expect_leq(lab_fsck(&lab, "-fp"), 1, "seed %u", seed);
        lab_free(&lab);
    }
}
