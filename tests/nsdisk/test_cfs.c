/*
 * The servers of the Concurrent File System: names, headers, blocks by their disk block, aligned groups, and that no
 * client reaches a byte that is not its file's. e2fsck judges the disks after each.
 */
#include "tests/nsdisk/cfs_requests.h"

/* ---- Blocks ---- */

static void blocks_script(struct lab *l)
{
    static uint8_t data[BLOCK];
    struct file f = open_file("/a");
    struct cfs_run run;

    cr_expect_eq(alloc(f, 1, 16, &run), 16);
    cr_expect_eq(run.count, 16);
    cr_expect_eq(run.first % CFS_GROUP, 0, "not aligned: %u", run.first);
    fill_pattern(data, BLOCK, 1);
    cr_expect_eq(put(f, 1, run.first + 9, 0, data, BLOCK), BLOCK);
    cr_expect_eq(put(f, 1, run.first + 3, 100, data, 77), 77);
    cr_expect_eq(get(f, 1, run.first + 9, 5, 3000), 3000);
    cr_expect_arr_eq(l->payload, data + 5, 3000);
    cr_expect_eq(get(f, 1, run.first + 3, 0, BLOCK), BLOCK);
    cr_expect(all_are(l->payload, 100, 0) && memcmp(l->payload + 100, data, 77) == 0 &&
              all_are(l->payload + 177, BLOCK - 177, 0));
    cr_expect_eq(get(f, 1, run.first, 0, BLOCK), BLOCK);
    cr_expect(all_are(l->payload, BLOCK, 0), "what was never written");
    cr_expect_eq(ask(N_CDROP, f, 1, 0, 0), 0);
    cr_expect_eq(get(f, 1, run.first + 9, 0, BLOCK), BLOCK);
    cr_expect_arr_eq(l->payload, data, BLOCK);
    cr_expect_eq(put(f, 1, run.first + 9, 4090, data, 6), 6);
    cr_expect_eq(get(f, 1, run.first + 9, 0, BLOCK), BLOCK);
    cr_expect(memcmp(l->payload, data, 4090) == 0 && memcmp(l->payload + 4090, data, 6) == 0);
}

Test(cfs, reads_what_was_written_and_zeros_elsewhere)
{
    run(blocks_script);
}

static void foreign_script(struct lab *l)
{
    static uint8_t secret[BLOCK];
    struct file f = open_file("/a"), g = open_file("/b");
    struct cfs_run mine, theirs;
    struct file_request open = {.name_bytes = 7, .flags = N_O_RDONLY};
    uint8_t message[100];

    memset(secret, 'S', sizeof secret);
    cr_assert_eq(alloc(f, 0, 8, &mine), 8);
    cr_assert_eq(alloc(g, 0, 8, &theirs), 8);
    cr_assert_eq(put(g, 0, theirs.first, 0, secret, BLOCK), BLOCK);
    for (uint32_t block = 0; block < l->drives.volume[0].size / BLOCK + 3; block++) {
        int32_t n = get(f, 0, block, 0, BLOCK);

        cr_expect_eq(n, block - mine.first < 8 ? (int32_t)BLOCK : -N_EINVAL, "block %u", block);
        cr_expect(n < 0 || all_are(l->payload, BLOCK, 0));
        n = block - mine.first < 8 ? -N_EINVAL : put(f, 0, block, 0, "x", 1);
        cr_expect_eq(n, -N_EINVAL, "block %u", block);
    }
    /* what g leaves behind is not f's, nor an ordinary client's */
    cr_expect_eq(ask(N_CSYNC, g, 0, 0, 0), 0);
    cr_expect_eq(ask(N_CFREE, g, 0, 1, 0), 0);
    cr_expect_eq(get(g, 0, theirs.first, 0, 1), -N_ESTALE);
    cr_expect_eq(ask(N_CSYNC, f, 0, 0, 0), 0);
    cr_assert_eq(alloc(f, 0, 400, &mine), 400);
    for (uint32_t block = 0; block < l->drives.volume[0].size / BLOCK; block++)
        if (get(f, 0, block, 0, BLOCK) == (int32_t)BLOCK)
            cr_expect(all_are(l->payload, BLOCK, 0), "block %u has another file's bytes", block);
    memcpy(message, &open, sizeof open);
    memcpy(message + sizeof open, "/.cfs/1", 7);
    cr_expect_eq(lab_wait(l, lab_send(l, 1, N_FOPEN, message, sizeof open + 7)), -N_EPERM);
    open.name_bytes = 5;
    memcpy(message, &open, sizeof open);
    cr_expect_eq(lab_wait(l, lab_send(l, 1, N_FUNLINK, message, sizeof open + 5)), -N_EPERM, "the folder itself");
    open.name_bytes = 9;
    open.flags = N_O_RDWR | N_O_CREAT;
    memcpy(message, &open, sizeof open);
    memcpy(message + sizeof open, "/.cfs/new", 9);
    cr_expect_eq(lab_wait(l, lab_send(l, 1, N_FOPEN, message, sizeof open + 9)), -N_EPERM, "a new name in it");
    cr_expect_eq(lab_wait(l, lab_send(l, 1, N_FMKDIR, message, sizeof open + 9)), -N_EPERM, "a new name in it");
    open.name_bytes = 5;
    open.flags = N_O_RDONLY;
    memcpy(message, &open, sizeof open);
    memcpy(message + sizeof open, "/.cfs", 5);
    cr_expect_eq(lab_wait(l, lab_send(l, 1, N_FRMDIR, message, sizeof open + 5)), -N_EPERM, "the folder itself");
    cr_expect_eq(name_op(CFS_NAME_OPEN, "/./.cfs/1", DISK_NAMES, 0), -N_EACCES);
    cr_expect_eq(name_op(CFS_NAME_OPEN, "/.cfs/1", DISK_NAMES, 0), -N_EACCES);
    cr_expect_eq(name_op(CFS_NAME_UNLINK, "//.cfs/1", "", 0), -N_EACCES);
    cr_expect_eq(name_op(CFS_NAME_OPEN, "/../.cfs/1", DISK_NAMES, 0), -N_EACCES);
    cr_expect_eq(name_op(CFS_NAME_UNLINK, "/../.cfs/1", "", 0), -N_EACCES);
}

Test(cfs, no_handle_reaches_another_files_bytes)
{
    run(foreign_script);
}

/* Requests that are malformed, or of nothing: nothing changes. */
static const struct {
    const char *name;
    int type;
    struct cfs_request r;
    size_t n;
    int32_t status;
} bad[] = {
    {"a length without data", N_CWRITE, {.handle = 1, .bytes = 8}, 7, -N_EPROTO},
    {"a block and a byte", N_CREAD, {.handle = 1, .offset = 1, .bytes = 4096}, 0, -N_EPROTO},
    {"a read of nothing", N_CREAD, {.handle = 1}, 0, -N_EPROTO},
    {"a read with data", N_CREAD, {.handle = 1, .bytes = 8}, 8, -N_EPROTO},
    {"pointers behind the page", N_CPOINTER, {.handle = 1, .op = 1, .offset = 1023, .bytes = 8}, 8, -N_EPROTO},
    {"half a pointer", N_CPOINTER, {.handle = 1, .op = 1, .bytes = 6}, 6, -N_EPROTO},
    {"no handle", N_CREAD, {.bytes = 8}, 0, -N_EBADF},
    {"a stale handle", N_CREAD, {.handle = 77, .bytes = 8}, 0, -N_ESTALE},
    {"a header of nothing", N_CHEADER, {.handle = 77}, 0, -N_ESTALE},
    {"no blocks", N_CALLOC, {.handle = 77}, 0, -N_EINVAL},
    {"an unknown op of blocks", N_CALLOC, {.handle = 77, .op = 2, .arg = 1}, 0, -N_EINVAL},
    {"blocks of nothing", N_CALLOC, {.handle = 77, .op = 1}, 0, -N_ESTALE},
    {"too many blocks", N_CALLOC, {.handle = 77, .arg = CFS_ALLOC_MAX + 1}, 0, -N_EINVAL},
    {"an unknown op", N_CGROW, {.handle = 77, .op = 3}, 0, -N_EINVAL},
    {"no such drive", N_CREAD, {.disk = 3, .handle = 1, .bytes = 8}, 0, -N_ENODEV},
    {"an unknown type", N_CPLACE + 1, {.handle = 1}, 0, -N_ENOSYS},
    {"an unknown op of pointers", N_CPLACE, {.handle = 77, .op = 4}, 0, -N_EINVAL},
    {"a pointer of nothing", N_CPLACE, {.handle = 77}, 0, -N_ESTALE},
    {"the last type", 0x807f, {.handle = 1}, 0, -N_ENOSYS},
};

static void bad_script(struct lab *l)
{
    static const uint8_t zeros[16];
    const uint32_t writes = l->writes;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_expect_eq(lab_ask(l, bad[i].type, bad[i].r, zeros, bad[i].n), bad[i].status, "%s: %d", bad[i].name,
                     l->head.status);
    for (size_t n = 0; n < sizeof(struct cfs_request); n += 4)
        cr_expect_eq(lab_wait(l, lab_send(l, 1, N_CREAD, zeros, n < 16 ? n : 16)), -N_EPROTO);
    cr_expect_eq(l->writes, writes, "a bad request has changed something");
}

Test(cfs, refuses_what_is_malformed_or_of_nothing)
{
    run(bad_script);
}

static void other_volume_script(struct lab *l)
{
    (void)l;
    for (uint16_t disk = 0; disk < LAB_DISKS; disk++)
        cr_expect_eq(ask(N_CSTAT, (struct file){1, 0}, disk, 0, 0), disk == 1 ? 0 : -N_EPROTO, "disk %u", disk);
}

Test(cfs, a_volume_without_cache_or_with_other_blocks_is_no_disk)
{
    lab_make(&lab, KILOBYTES, CACHE_KB);
    lab.drives.volume[0].data_cache.kb = 0;
    volume_free(&lab.drives.volume[2]);
    volume_make(&lab.drives.volume[2], 1024, KILOBYTES, "");
    lab.drives.volume[2].data_cache = lab.drives.volume[1].data_cache;
    cr_assert(lab_run(&lab, other_volume_script));
    finish();
}

/* ---- Several requests at a time ---- */

static uint32_t post_read(struct file f, uint32_t block)
{
    const struct cfs_request r = {.handle = f.handle, .block = block, .bytes = 8};

    return lab_post(&lab, 1, N_CREAD, r, NULL, 0);
}

static void fill_disk_0(struct file f, uint32_t blocks)
{
    static uint8_t data[BLOCK];
    struct cfs_run run;

    cr_assert_eq(alloc(f, 0, blocks, &run), (int32_t)blocks);
    for (uint32_t i = 0; i < blocks; i++) {
        fill_pattern(data, BLOCK, i);
        cr_assert_eq(put(f, 0, block_at(i), 0, data, BLOCK), BLOCK);
    }
    cr_assert_eq(ask(N_CDROP, f, 0, 0, 0), 0);
}

static void hits_script(struct lab *l)
{
    struct file f = open_file("/f");
    uint8_t expected[8];

    fill_disk_0(f, 64);
    cr_expect_eq(get(f, 0, block_at(0), 0, 8), 8);
    l->held = true;
    uint32_t miss = post_read(f, block_at(40)), beside = post_read(f, block_at(41)), hit = post_read(f, block_at(1));
    cr_expect(lab_answered(l, hit), "a hit waits behind a miss");
    cr_expect_not(lab_answered(l, miss));
    cr_expect_not(lab_answered(l, beside));
    cr_expect_eq(put(f, 0, block_at(50), 0, "written", 8), 8, "nor does a write");
    uint32_t cut = lab_post(l, 1, N_CFREE, (struct cfs_request){.handle = f.handle, .arg = 20}, NULL, 0);
    uint32_t behind = post_read(f, block_at(41));
    cr_expect_not(lab_answered(l, cut), "blocks go that are asked for");
    l->held = false;
    cr_expect_eq(lab_wait(l, miss), 8);
    fill_pattern(expected, 8, 40);
    cr_expect_arr_eq(l->payload, expected, 8);
    cr_expect_eq(lab_wait(l, beside), 8);
    cr_expect_eq(lab_wait(l, hit), 8);
    cr_expect_eq(lab_wait(l, cut), 0);
    cr_expect_eq(lab_wait(l, behind), -N_EINVAL, "behind the cut");
}

Test(cfs, a_hit_does_not_wait_behind_a_miss)
{
    run(hits_script);
}

/* Each of 20 streams asks for a group's last block, so that each reads ahead. */
static void streams_script(struct lab *l)
{
    struct file f = open_file("/f");
    uint32_t number[20];
    uint8_t expected[8];

    fill_disk_0(f, 336);
    for (uint32_t i = 0; i < 20; i++)
        number[i] = post_read(f, block_at(16 * i + 7));
    for (uint32_t i = 20; i-- > 0;) {
        fill_pattern(expected, 8, 16 * i + 7);
        cr_expect_eq(lab_wait(l, number[i]), 8);
        cr_expect_arr_eq(l->payload, expected, 8);
    }
    cr_expect_eq(ask(N_CSTAT, f, 0, 0, 0), 0);
    struct cfs_counts counts;
    memcpy(&counts, l->payload, sizeof counts);
    cr_expect_eq(counts.cache.misses, 20);
    cr_expect_geq(counts.cache.reads[3], 30, "of eight blocks: %u", counts.cache.reads[3]);
    for (uint32_t i = 0; i < 20; i++)
        number[i] = post_read(f, block_at(16 * i + 8));
    for (uint32_t i = 0; i < 20; i++)
        cr_expect_eq(lab_wait(l, number[i]), 8);
    cr_expect_eq(ask(N_CSTAT, f, 0, 0, 0), 0);
    memcpy(&counts, l->payload, sizeof counts);
    cr_expect_leq(counts.cache.misses, 24, "what was read ahead is a hit: %u misses", counts.cache.misses);
}

Test(cfs, streams_read_ahead_beside_each_other)
{
    lab_make(&lab, KILOBYTES, 1500);
    cr_assert(lab_run(&lab, streams_script));
    finish();
}

/* A run of five blocks, behind which another file's lie, and the file's next group. */
static void short_run_script(struct lab *l)
{
    struct file f = open_file("/f"), g = open_file("/g");
    struct cfs_run run, next;
    struct cfs_counts counts;
    static uint8_t data[BLOCK];

    cr_assert_eq(alloc(f, 0, 5, &run), 5);
    cr_assert_eq(alloc(g, 0, 3, &next), 3);
    cr_assert_eq(alloc(f, 0, 8, &next), 8);
    cr_assert_neq((run.first + 5) % CFS_GROUP, 0, "the run ends where a group does");
    for (uint32_t i = 0; i < 13; i++)
        cr_assert_eq(put(f, 0, i < 5 ? run.first + i : next.first + i - 5, 0, data, BLOCK), BLOCK);
    cr_assert_eq(ask(N_CDROP, f, 0, 0, 0), 0);
    cr_expect_eq(get(f, 0, run.first + 4, 0, 8), 8);
    cr_expect_eq(get(f, 0, next.first, 0, 8), 8);
    cr_expect_eq(ask(N_CSTAT, f, 0, 0, 0), 0);
    memcpy(&counts, l->payload, sizeof counts);
    cr_expect_eq(counts.cache.misses, 1, "the file's next group is not read ahead");
}

Test(cfs, reads_ahead_where_a_run_ends_within_a_group)
{
    run(short_run_script);
}

/* A server that pays after its replies would else leave the drive idle until it has. */
static void ahead_first_script(struct lab *l)
{
    struct file f = open_file("/f");
    struct cfs_run run;
    static uint8_t data[BLOCK];

    cr_assert_eq(alloc(f, 0, 3 * CFS_GROUP, &run), 3 * (int)CFS_GROUP);
    for (uint32_t i = 0; i < 3 * CFS_GROUP; i++)
        cr_assert_eq(put(f, 0, block_at(i), 0, data, BLOCK), BLOCK);
    cr_assert_eq(ask(N_CDROP, f, 0, 0, 0), 0);
    cr_expect_eq(get(f, 0, run.first, 0, 8), 8);
    for (uint32_t i = 1; i < 3 * CFS_GROUP; i++) {
        const uint64_t before = l->drives.order;
        const bool last = i % CFS_GROUP == CFS_GROUP - 1 && i != 3 * CFS_GROUP - 1;

        cr_expect_eq(get(f, 0, block_at(i), 0, 8), 8);
        cr_expect_eq(l->commands - before, last, "block %u: %u commands before its reply", i,
                     (unsigned)(l->commands - before));
    }
}

Test(cfs, the_next_group_is_asked_for_before_the_last_blocks_reply_is_sent)
{
    run(ahead_first_script);
}

/* What was acknowledged, and the drive then refuses, is an error of the file's next write on that disk. */
static void refused_script(struct lab *l)
{
    struct file f = open_file("/f"), g = open_file("/g");
    struct cfs_run run, other;
    static uint8_t data[BLOCK];

    cr_assert_eq(alloc(g, 0, 1, &other), 1);
    cr_assert_eq(alloc(f, 0, CFS_GROUP + 1, &run), (int)CFS_GROUP + 1);
    cr_assert_eq(ask(N_CSYNC, f, 0, 0, 0), 0);
    memset(data, 'r', sizeof data);
    l->drives.fail_per_mill = 1000;
    l->drives.may_fail = true;
    for (uint32_t i = 0; i < CFS_GROUP; i++)
        cr_expect_eq(put(f, 0, block_at(i), 0, data, BLOCK), BLOCK);
    for (uint32_t i = 0; i < 20 && l->log[0] == '\0'; i++)
        cr_assert_eq(ask(N_CSTAT, f, 0, 0, 0), 0);
    cr_expect_not_null(strstr(l->log, "its data could not be written to the drive"), "%s", l->log);
    cr_expect_eq(put(f, 0, block_at(CFS_GROUP), 0, data, BLOCK), -N_EIO);
    cr_expect_eq(get(f, 0, block_at(0), 0, BLOCK), BLOCK, "the cache has it still");
    cr_expect(all_are(l->payload, BLOCK, 'r'));
    cr_expect_eq(put(g, 0, other.first, 0, data, BLOCK), BLOCK, "another file's writes go on");
    l->drives.may_fail = false;
    cr_expect_eq(ask(N_CSYNC, f, 0, 0, 0), 0, "the drive takes it now");
    cr_expect_eq(put(f, 0, block_at(CFS_GROUP), 0, data, BLOCK), BLOCK);
    l->log[0] = '\0';
}

Test(cfs, what_the_drive_refuses_is_an_error_of_the_files_next_write)
{
    run(refused_script);
}

static void pending_at_shutdown(struct lab *l)
{
    struct file f = open_file("/f");

    fill_disk_0(f, 64);
    l->held = true;
    post_read(f, block_at(3));
    post_read(f, block_at(30));
}

Test(cfs, a_read_under_way_does_not_keep_the_server_from_its_end)
{
    lab_make(&lab, KILOBYTES, CACHE_KB);
    cr_assert(lab_run(&lab, pending_at_shutdown));
    finish();
}

/* ---- Allocation ---- */

static void alloc_script(struct lab *l)
{
    struct file f = open_file("/f"), g = open_file("/g");
    struct cfs_run run;
    uint32_t last = 0, all = 0;
    int32_t n;

    for (uint32_t i = 0; i < 5; i++) {
        cr_expect_eq(alloc(f, 2, 8, &run), 8);
        cr_expect_eq(run.first % 8, 0);
        cr_expect(last == 0 || (run.first > last && run.first - last <= 24), "%u is not close behind %u", run.first,
                  last);
        last = run.first;
        cr_expect_eq(alloc(g, 2, 3, &run), 3); /* in its way */
    }
    while ((n = alloc(f, 2, 100, &run)) > 0)
        all += (uint32_t)n;
    cr_expect_eq(n, -N_ENOSPC);
    cr_expect_gt(all, 300, "the disk is not full");
    cr_expect_eq(ask(N_CFREE, f, 2, 0, 0), 0);
    cr_expect_eq(ask(N_CSTAT, f, 2, 0, 0), 0);
    struct cfs_counts counts;
    memcpy(&counts, l->payload, sizeof counts);
    cr_expect_geq(counts.blocks_free, all);
    cr_expect_eq(alloc(g, 2, 200, &run), 200);
    cr_expect_eq(ask(N_CFREE, g, 2, 1, 0), 0);
    cr_expect_eq(ask(N_CFREE, f, 2, 1, 0), 0);
}

Test(cfs, takes_aligned_groups_close_by_until_the_disk_is_full)
{
    run(alloc_script);
}

static void cut_script(struct lab *l)
{
    static uint8_t data[BLOCK];
    struct file f = open_file("/f");
    struct cfs_run run, again;

    memset(data, 'x', sizeof data);
    cr_assert_eq(alloc(f, 0, 24, &run), 24);
    for (uint32_t i = 0; i < 24; i++)
        cr_assert_eq(put(f, 0, block_at(i), 0, data, BLOCK), BLOCK);
    cr_expect_eq(ask(N_CFREE, f, 0, 0, 5), 0);
    cr_expect_eq(get(f, 0, run.first + 4, 0, 1), 1);
    cr_expect_eq(get(f, 0, run.first + 5, 0, 1), -N_EINVAL);
    cr_expect_eq(ask(N_CSYNC, f, 0, 0, 0), 0);
    cr_assert_eq(alloc(f, 0, 19, &again), 19);
    cr_expect_eq(get(f, 0, run.first + 4, 0, BLOCK), BLOCK);
    cr_expect(all_are(l->payload, BLOCK, 'x'));
    for (uint32_t block = 0; block < l->drives.volume[0].size / BLOCK; block++)
        if (block - run.first >= 5 && get(f, 0, block, 0, BLOCK) == (int32_t)BLOCK)
            cr_expect(all_are(l->payload, BLOCK, 0), "block %u", block);
}

Test(cfs, what_was_cut_off_is_zeros_when_it_comes_back)
{
    run(cut_script);
}

/* ---- Headers ---- */

static void grow_script(struct lab *l)
{
    struct file f = open_file("/f");
    const uint16_t home = f.home;
    const struct cfs_request take = {.disk = home, .handle = f.handle};
    const struct cfs_request set = {.disk = home, .op = 1, .handle = f.handle, .block = 1, .offset = 1000, .bytes = 12};
    const struct cfs_request page = {.disk = home, .handle = f.handle, .block = 1};
    const uint32_t pointers[3] = {CFS_POINTER(1, 80), CFS_POINTER(31, 0x07ffffff), CFS_POINTER(0, 1)};

    cr_expect_eq(lab_ask(l, N_CPOINTER, set, pointers, 12), -N_EPERM);
    cr_expect_eq(ask(N_CGROW, f, home, 1, 5), -N_EPERM);
    cr_expect_eq(ask(N_CGROW, f, home, 0, 0), 0);
    cr_expect_eq(ask(N_CGROW, f, home, 0, 0), 0, "the holder's own again");
    uint32_t second = lab_post(l, 2, N_CGROW, take, NULL, 0), third = lab_post(l, 3, N_CGROW, take, NULL, 0);
    uint32_t mortal = lab_post(l, 4, N_CGROW, take, NULL, 0), fifth = lab_post(l, 5, N_CGROW, take, NULL, 0);
    cr_expect_not(lab_answered(l, second));
    cr_expect_eq(lab_ask(l, N_CPOINTER, set, pointers, 12), 12);
    cr_expect_eq(ask(N_CSIZE, f, home, 1, 1), -N_EINVAL, "beyond its blocks");
    cr_expect_eq(ask(N_CGROW, f, home, 1, 2027), 0);
    cr_expect_eq(lab_wait(l, second), 0);
    cr_expect_eq(header().blocks, 2027);
    cr_expect_not(lab_answered(l, third));
    lab_end_client(l, 4);
    (void)mortal;
    lab_end_client(l, 2);
    cr_expect_eq(lab_wait(l, third), 0);
    lab_end_client(l, 3);
    cr_expect_eq(lab_wait(l, fifth), 0, "behind one that ended while it waited");
    cr_expect_eq(
        lab_wait(l, lab_post(l, 5, N_CGROW,
                             (struct cfs_request){.disk = home, .op = 1, .handle = f.handle, .arg = 2027}, NULL, 0)),
        0);
    cr_expect_eq(lab_ask(l, N_CPOINTER, page, NULL, 0), BLOCK);
    cr_expect(all_are(l->payload, 4000, 0) && memcmp(l->payload + 4000, pointers, 12) == 0 &&
              all_are(l->payload + 4012, 84, 0));
    cr_expect_eq(ask(N_CSIZE, f, home, 1, 5000000), 0);
    cr_expect_eq(ask(N_CSIZE, f, home, 1, 100), 0);
    cr_expect_eq(header().size_bytes, 5000000, "it never becomes less");
    cr_expect_eq(ask(N_CGROW, f, home, 0, 0), 0);
    cr_expect_eq(ask(N_CGROW, f, home, 1, 2025), 0);
    cr_expect_eq(ask(N_CGROW, f, home, 0, 0), 0);
    cr_expect_eq(ask(N_CGROW, f, home, 1, 2027), 0);
    cr_expect_eq(lab_ask(l, N_CPOINTER, page, NULL, 0), BLOCK);
    cr_expect(memcmp(l->payload + 4000, pointers, 4) == 0 && all_are(l->payload + 4004, 92, 0),
              "a cut pointer is back");
}

Test(cfs, one_client_at_a_time_grows_a_file)
{
    run(grow_script);
}

static void shut_down_while_waiting(struct lab *l)
{
    struct file f = open_file("/f");
    const struct cfs_request take = {.disk = f.home, .handle = f.handle};

    cr_expect_eq(ask(N_CGROW, f, f.home, 0, 0), 0);
    lab_post(l, 2, N_CGROW, take, NULL, 0);
    lab_post(l, 3, N_CGROW, take, NULL, 0);
}

Test(cfs, who_waits_is_answered_at_the_shutdown)
{
    lab_make(&lab, KILOBYTES, CACHE_KB);
    cr_assert(lab_run(&lab, shut_down_while_waiting));
    uint32_t answered = 0;
    for (uint32_t i = 0; i < LAB_PENDING; i++)
        answered += lab.pending[i].used && lab.pending[i].answered;
    cr_expect_eq(answered, 2);
    finish();
}

static int64_t place(struct file f, int client, uint16_t op, int32_t number, uint64_t arg)
{
    const struct cfs_request r = {.disk = f.home, .op = op, .handle = f.handle, .block = (uint32_t)number, .arg = arg};
    int32_t status = lab_wait(&lab, lab_post(&lab, client, N_CPLACE, r, NULL, 0));
    uint64_t at;

    if (status < 0 || op == 0 || op == 3)
        return status;
    memcpy(&at, lab.payload, sizeof at);
    return (int64_t)at;
}

static void place_script(struct lab *l)
{
    struct file f = open_file("/f");
    int32_t a = (int32_t)place(f, 1, 0, 0, 0), b = (int32_t)place(f, 2, 0, 0, 0);

    (void)l;
    cr_assert(a > 0 && b > 0 && a != b);
    cr_expect_eq(place(f, 1, 1, a, 5000), 0);
    cr_expect_eq(place(f, 3, 1, a, 100), 5000, "whoever asks");
    cr_expect_eq(place(f, 3, 1, b, 1), 0, "another program's");
    cr_expect_eq(place(f, 3, 2, b, 100), 1);
    cr_expect_eq(place(f, 3, 2, b, 100), 1, "the file has no bytes");
    cr_expect_eq(place(f, 3, 1, a, UINT64_MAX), 5100);
    cr_expect_eq(place(f, 3, 1, a, 1), -1, "as far as numbers go");
    cr_expect_eq(place(f, 1, 3, a, 0), 0);
    cr_expect_eq(place(f, 1, 1, a, 1), -N_EINVAL);
    lab_end_client(l, 2);
    cr_expect_eq(place(f, 3, 1, b, 1), -N_EINVAL, "its client has ended");
    for (uint32_t i = 0; i < 64; i++)
        cr_assert_gt(place(f, 1, 0, 0, 0), 0);
    cr_expect_eq(place(f, 1, 0, 0, 0), -N_EAGAIN);
}

Test(cfs, common_pointers_belong_to_a_client)
{
    run(place_script);
}

/* ---- Names ---- */

static void names_script(struct lab *l)
{
    struct file a = open_file("/a"), again = open_file("/a");
    uint32_t number = CFS_HANDLE_NUMBER(a.handle);

    cr_expect_eq(a.handle, again.handle);
    cr_expect_eq(a.home, number % 3);
    cr_expect_eq(name_op(CFS_NAME_OPEN, "/a", DISK_NAMES, N_O_CREAT | N_O_EXCL), -N_EEXIST);
    cr_expect_eq(name_op(CFS_NAME_OPEN, "/none", DISK_NAMES, 0), -N_ENOENT);
    cr_expect_eq(name_op(CFS_NAME_OPEN, "/x", "df00  df01", N_O_CREAT), -N_EPROTO);
    cr_expect_eq(name_op(CFS_NAME_OPEN, "/x", "", N_O_CREAT), -N_EPROTO);
    cr_expect_eq(name_op(CFS_NAME_OPEN, "x", DISK_NAMES, N_O_CREAT), -N_EPROTO);
    cr_expect_eq(name_op(CFS_NAME_MKDIR, "/d", "", 0755), 0);
    cr_expect_eq(name_op(CFS_NAME_OPEN, "/d", DISK_NAMES, 0), 0);
    cr_expect_eq(named().number, 0);
    struct file b = open_file("/d/b");
    cr_expect_eq(name_op(CFS_NAME_RMDIR, "/d", "", 0), -N_ENOTEMPTY);
    cr_expect_eq(name_op(CFS_NAME_RENAME, "/a", "/d/c", 0), 0);
    cr_expect_eq(named().number, 0, "there was no /d/c");
    cr_expect_eq(name_op(CFS_NAME_RENAME, "/d/c", "/.cfs", 0), -N_EACCES);
    cr_expect_eq(name_op(CFS_NAME_RENAME, "/d/c", "/d/b", 0), 0);
    cr_expect_eq(CFS_HANDLE(named().number, named().age), b.handle, "what went");
    cr_expect_eq(name_op(CFS_NAME_STAT, "/d/b", "", 0), 0);
    cr_expect_eq(named().number, number);
    cr_expect_eq(l->payload_bytes, sizeof(struct cfs_named) + strlen(DISK_NAMES));
    cr_expect_eq(memcmp(l->payload + sizeof(struct cfs_named), DISK_NAMES, strlen(DISK_NAMES)), 0);
    int32_t n = name_op(CFS_NAME_LIST, "/", "", 0);
    cr_expect_eq(n, (int32_t)l->payload_bytes);
    for (int32_t at = 0; at < n;) {
        struct file_dirent d;

        memcpy(&d, l->payload + at, sizeof d);
        cr_expect_not(d.name_bytes == 4 && memcmp(l->payload + at + sizeof d, ".cfs", 4) == 0);
        at += d.record_bytes;
    }
    cr_expect_eq(name_op(CFS_NAME_UNLINK, "/d/b", "", 0), 0);
    cr_expect_eq(named().number, number);
    cr_expect_eq(name_op(CFS_NAME_RMDIR, "/d", "", 0), 0);
    cr_expect_eq(name_op(CFS_NAME_LIST, "/none", "", 0), -N_ENOENT);
    cr_expect_eq(name_op(CFS_NAME_OPS, "/a", "", 0), -N_EINVAL);
}

Test(cfs, names_are_made_renamed_listed_and_removed)
{
    run(names_script);
}
