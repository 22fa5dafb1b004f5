/* Contents of files: reading, writing, holes, resizing, a full volume; for every block size. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "nsdisk/ext2/data_cache.h"
#include "nsdisk/serve/open_table.h"
#include "tests/nsdisk/volume.h"

static const uint32_t block_sizes[] = {1024, 2048, 4096};
#define EACH_BLOCK_SIZE(i) for (size_t i = 0; i < 3; i++)
#define MB                 (1u << 20)

static struct volume v;

static void start(uint32_t block_bytes, uint32_t kilobytes)
{
    volume_make(&v, block_bytes, kilobytes, "");
    volume_mount(&v);
}

/* Unmounts; e2fsck must have nothing to say. */
static void finish(const char *what)
{
    cr_assert_eq(server_volume(v.server, 0)->errors, false, "%s: %s", what, v.log);
    cr_assert_eq(volume_unmount(&v), 0, "%s", what);
    cr_assert_eq(volume_fsck(&v, "-fn"), 0, "%s: e2fsck", what);
    volume_free(&v);
}

static uint64_t create(const char *name)
{
    uint64_t sfid = 0;

    cr_assert_eq(v_open(&v, name, N_O_RDWR | N_O_CREAT, &sfid), 0, "%s", name);
    return sfid;
}

/* A write and read of `bytes` at `offset` of a new file; then what is before it must be zeros. */
static const struct {
    const char *name;
    uint64_t offset;
    uint32_t bytes;
} transfers[] = {
    {"one byte", 0, 1},
    {"less than a block", 100, 300},
    {"one block of 4096", 0, 4096},
    {"a PIO block", 0, 16384},
    {"a PIO block in its place", 16384 * 7, 16384},
    {"unaligned, over several blocks", 777, 20000},
    {"unaligned start, aligned end", 4000, 96 + 8192},
    {"aligned start, unaligned end", 8192, 5000},
    {"over the bounce buffer", 3, 200001},
    {"a whole megabyte", 0, MB},
    {"a whole megabyte, unaligned", 511, MB},
    {"from direct into indirect blocks", 11 * 1024, 40960},
    {"into the second level", 300 * 1024, 70000},
    {"far into the second level", 40ull << 20, 70000},
    {"third level of 1 KB blocks", 80ull << 20, 33333},
};

Test(files, read_back_what_was_written_and_zeros_before)
{
    static uint8_t out[MB], in[MB + 1];

    fill_pattern(out, sizeof out, 1);
    EACH_BLOCK_SIZE(b)
    {
        start(block_sizes[b], 16384);
        for (size_t i = 0; i < sizeof transfers / sizeof transfers[0]; i++) {
            const char *name = transfers[i].name;
            uint64_t sfid = create("/f"), at = transfers[i].offset;
            uint32_t n = transfers[i].bytes;

            cr_assert_eq(v_write(&v, sfid, at, out, n), (int32_t)n, "%u: %s", block_sizes[b], name);
            cr_assert_eq(v_read(&v, sfid, at, in, n), (int32_t)n, "%u: %s", block_sizes[b], name);
            cr_assert_arr_eq(in, out, n, "%u: %s", block_sizes[b], name);
            cr_assert_eq(v_read(&v, sfid, at + n, in, 10), 0, "%s: end of file", name);
            uint32_t before = at < 5000 ? (uint32_t)at : 5000;
            cr_assert_eq(v_read(&v, sfid, at - before, in, before), (int32_t)before, "%s", name);
            for (uint32_t k = 0; k < before; k++)
                cr_assert_eq(in[k], 0, "%u: %s: byte %u of the hole", block_sizes[b], name, k);
            cr_assert_eq(v_close(&v, sfid), 0);
            cr_assert_eq(v_unlink(&v, "/f"), 0);
        }
        finish("transfers");
    }
}

Test(files, survive_a_remount)
{
    static uint8_t out[300000];

    fill_pattern(out, sizeof out, 2);
    EACH_BLOCK_SIZE(b)
    {
        start(block_sizes[b], 8192);
        cr_assert_eq(v_put(&v, "/kept", out, sizeof out), sizeof out);
        cr_assert_eq(volume_unmount(&v), 0);
        cr_assert_eq(volume_fsck(&v, "-fn"), 0, "%u", block_sizes[b]);
        volume_mount(&v);
        cr_assert(v_has(&v, "/kept", out, sizeof out), "%u", block_sizes[b]);
        finish("remount");
    }
}

Test(files, a_16_kb_write_in_sequence_is_one_disk_command)
{
    static uint8_t out[16384];

    fill_pattern(out, sizeof out, 3);
    EACH_BLOCK_SIZE(b)
    {
        start(block_sizes[b], 16384);
        uint64_t sfid = create("/f");
        cr_assert_eq(v_write(&v, sfid, 0, out, sizeof out), sizeof out);
        for (uint32_t i = 1; i < 128; i++) {
            uint32_t writes = v.writes;

            cr_assert_eq(v_write(&v, sfid, i * sizeof out, out, sizeof out), sizeof out);
            cr_assert_eq(v.writes - writes, 1, "%u: write %u took %u", block_sizes[b], i, v.writes - writes);
        }
        for (uint32_t i = 1; i < 128; i++) {
            uint32_t reads = v.reads;

            cr_assert_eq(v_read(&v, sfid, i * sizeof out, out, sizeof out), sizeof out);
            cr_assert_eq(v.reads - reads, 1, "%u: read %u took %u", block_sizes[b], i, v.reads - reads);
        }
        finish("sequence");
    }
}

Test(files, small_sequential_reads_are_read_ahead)
{
    static uint8_t out[65536], in[100];

    fill_pattern(out, sizeof out, 4);
    start(1024, 8192);
    v_put(&v, "/f", out, sizeof out);
    uint64_t sfid = create("/f");
    uint32_t reads = v.reads;
    for (uint32_t at = 0; at + sizeof in <= sizeof out; at += sizeof in) {
        cr_assert_eq(v_read(&v, sfid, at, in, sizeof in), sizeof in);
        cr_assert_arr_eq(in, out + at, sizeof in, "at %u", at);
    }
    cr_assert_leq(v.reads - reads, 6, "%u commands", v.reads - reads);
    finish("read-ahead");
}

/* Runs of three blocks of 4 KB, each behind one of another file, so that they end within a cache's groups of four. */
Test(files, a_file_in_short_runs_is_read_ahead)
{
    static uint8_t out[12 * 12288], in[4096];
    uint64_t f, g;

    fill_pattern(out, sizeof out, 6);
    volume_make(&v, 4096, 8192, "");
    volume_set_cache(&v, &volume_caches[3]);
    volume_mount(&v);
    f = create("/f"), g = create("/g");
    for (uint32_t at = 0; at < sizeof out; at += 12288) {
        cr_assert_eq(v_write(&v, f, at, out + at, 12288), 12288);
        cr_assert_eq(v_write(&v, g, at / 12288 * sizeof in, out, sizeof in), (int32_t)sizeof in);
    }
    cr_assert_eq(volume_unmount(&v), 0);
    volume_mount(&v);
    cr_assert_eq(v_open(&v, "/f", N_O_RDONLY, &f), 0);
    for (uint32_t at = 0; at < sizeof out; at += sizeof in) {
        cr_assert_eq(v_read(&v, f, at, in, sizeof in), (int32_t)sizeof in);
        cr_assert_arr_eq(in, out + at, sizeof in, "at %u", at);
    }
    const uint32_t misses = data_cache_counts(server_volume(v.server, 0)->data).misses;
    cr_expect_eq(misses, 1, "%u reads waited for a group that was not read ahead", misses);
    finish("short runs");
}

Test(files, grow_with_zeros_and_shrink_for_good)
{
    static uint8_t out[50000], in[200000];

    fill_pattern(out, sizeof out, 5);
    EACH_BLOCK_SIZE(b)
    {
        struct file_stat st;

        start(block_sizes[b], 8192);
        uint64_t sfid = create("/f");
        cr_assert_eq(v_write(&v, sfid, 0, out, sizeof out), sizeof out);
        cr_assert_eq(v_truncate(&v, sfid, 30001), 0);
        cr_assert_eq(v_truncate(&v, sfid, 150000), 0);
        cr_assert_eq(v_read(&v, sfid, 0, in, sizeof in), 150000);
        cr_assert_arr_eq(in, out, 30001);
        for (uint32_t i = 30001; i < 150000; i++)
            cr_assert_eq(in[i], 0, "%u: byte %u", block_sizes[b], i);
        cr_assert_eq(v_fstat(&v, sfid, &st), 0);
        cr_assert_lt(st.blocks_512 * 512, 50000, "the rest is a hole");
        cr_assert_eq(v_truncate(&v, sfid, 0), 0);
        cr_assert_eq(v_fstat(&v, sfid, &st), 0);
        cr_assert_eq(st.blocks_512, 0);
        finish("resize");
    }
}

Test(files, a_write_beyond_the_end_leaves_zeros_between)
{
    static uint8_t ones[5000], in[9000];

    memset(ones, 0xff, sizeof ones);
    EACH_BLOCK_SIZE(b)
    {
        start(block_sizes[b], 8192);
        uint64_t sfid = create("/f");
        v_write(&v, sfid, 0, ones, 5000);
        cr_assert_eq(v_truncate(&v, sfid, 4500), 0);
        cr_assert_eq(v_write(&v, sfid, 8000, ones, 10), 10);
        cr_assert_eq(v_read(&v, sfid, 0, in, sizeof in), 8010);
        for (uint32_t i = 4500; i < 8000; i++)
            cr_assert_eq(in[i], 0, "%u: byte %u", block_sizes[b], i);
        finish("gap");
    }
}

Test(files, append_ignores_the_offset)
{
    start(1024, 4096);
    uint64_t sfid = create("/f");
    cr_assert_eq(v_append(&v, sfid, "hello ", 6), 6);
    cr_assert_eq(v_append(&v, sfid, "world", 5), 5);
    cr_assert(v_has(&v, "/f", "hello world", 11));
    finish("append");
}

Test(files, reach_the_last_block_of_the_third_level_and_no_further)
{
    static uint8_t out[4096], in[4096];

    fill_pattern(out, sizeof out, 6);
    EACH_BLOCK_SIZE(b)
    {
        start(block_sizes[b], 8192);
        uint64_t max = server_volume(v.server, 0)->file_max_bytes;
        uint64_t sfid = create("/big");
        cr_assert_eq(v_write(&v, sfid, max - 4096, out, 4096), 4096, "%u", block_sizes[b]);
        cr_assert_eq(v_write(&v, sfid, max - 4095, out, 4096), 4095, "%u: what fits", block_sizes[b]);
        cr_assert_eq(v_read(&v, sfid, max - 4095, in, 4096), 4095);
        cr_assert_arr_eq(in, out, 4095);
        cr_assert_eq(v_write(&v, sfid, max, out, 1), -N_EFBIG, "%u", block_sizes[b]);
        cr_assert_eq(v_write(&v, sfid, max - 4096, out, 4096), 4096);
        cr_assert_eq(v_truncate(&v, sfid, max + 1), -N_EFBIG);
        cr_assert_eq(v_read(&v, sfid, max - 4096, in, 4096), 4096);
        cr_assert_arr_eq(in, out, 4096);
        cr_assert_eq(v_read(&v, sfid, max / 2, in, 4096), 4096);
        cr_assert_eq(in[17], 0);
        finish("big");
    }
}

/* Of files that have been removed since the last sync, too. */
Test(files, inodes_are_used_again)
{
    uint64_t sfid;
    char name[16];
    int n = 0, error;

    volume_make(&v, 1024, 1024, "-N 32");
    volume_mount(&v);
    do {
        snprintf(name, sizeof name, "/%d", n++);
        error = v_open(&v, name, N_O_RDWR | N_O_CREAT, &sfid);
        if (error == 0)
            v_close(&v, sfid);
    } while (error == 0);
    cr_assert_eq(error, -N_ENOSPC, "%d", error);
    cr_assert(n > 10 && n <= 32, "%d files", n);
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "/%d", i);
        cr_assert_eq(v_unlink(&v, name), 0);
        snprintf(name, sizeof name, "/new%d", i);
        error = v_put(&v, name, "text", 4);
        cr_assert_eq(error, 4, "%s: %d", name, error);
        cr_assert(v_has(&v, name, "text", 4), "%s", name);
    }
    finish("inodes");
}

Test(files, a_full_volume_takes_what_fits_and_keeps_all_of_it)
{
    static uint8_t out[MB], in[MB];

    fill_pattern(out, sizeof out, 7);
    EACH_BLOCK_SIZE(b)
    {
        struct file_statfs st;

        start(block_sizes[b], 5000);
        uint64_t sfid = create("/f"), size = 0;
        int32_t n;
        while ((n = v_write(&v, sfid, size, out, MB)) > 0)
            size += (uint32_t)n;
        cr_assert_eq(n, -N_ENOSPC, "%u: %d", block_sizes[b], n);
        cr_assert_gt(size, 4u * MB, "%u: only %lu bytes", block_sizes[b], (unsigned long)size);
        cr_assert_eq(v_statfs(&v, &st), 0);
        cr_assert_eq(st.blocks_free, 0, "%u: %lu blocks are left", block_sizes[b], (unsigned long)st.blocks_free);
        for (uint64_t at = 0; at < size; at += MB) {
            n = v_read(&v, sfid, at, in, MB);
            cr_assert_gt(n, 0);
            cr_assert_arr_eq(in, out, (size_t)n);
        }
        cr_assert_eq(v_mkdir(&v, "/d"), -N_ENOSPC);
        cr_assert_eq(v_truncate(&v, sfid, size / 2), 0);
        cr_assert_eq(v_put(&v, "/again", out, MB), MB, "what was freed can be used at once");
        finish("full");
    }
}

/* mke2fs makes one group of images of this size, unless it is asked for more. */
Test(files, every_block_and_inode_of_every_group_can_be_taken)
{
    static uint8_t out[MB];
    struct file_statfs st;
    uint64_t size = 0, inodes;
    char name[32];
    int32_t n;

    volume_make(&v, 1024, 5000, "-g 512 -N 320");
    volume_mount(&v);
    uint64_t sfid = create("/f");
    while ((n = v_write(&v, sfid, size, out, MB)) > 0)
        size += (uint32_t)n;
    cr_expect_eq(n, -N_ENOSPC, "%d", n);
    cr_assert_eq(v_statfs(&v, &st), 0);
    cr_expect_eq(st.blocks_free, 0, "%lu blocks are left", (unsigned long)st.blocks_free);
    cr_assert_eq(v_truncate(&v, sfid, 0), 0);
    cr_assert_eq(v_statfs(&v, &st), 0);
    for (inodes = 0; inodes <= st.inodes_free; inodes++) {
        uint64_t made;

        snprintf(name, sizeof name, "/n%lu", (unsigned long)inodes);
        n = v_open(&v, name, N_O_CREAT | N_O_WRONLY, &made);
        if (n < 0)
            break;
        v_close(&v, made);
    }
    cr_expect_eq(n, -N_ENOSPC, "%d", n);
    cr_expect_eq(inodes, st.inodes_free, "%lu of %lu inodes", (unsigned long)inodes, (unsigned long)st.inodes_free);
    finish("all groups");
}

/* On a full volume of files of one block each, one file after the other goes and comes back. */
Test(files, whichever_block_is_free_is_found)
{
    static const uint8_t block[1024] = {1};
    char name[32];
    uint32_t files = 0, i;

    volume_make(&v, 1024, 400, "-N 400");
    volume_mount(&v);
    do
        snprintf(name, sizeof name, "/%u", files++);
    while (v_put(&v, name, block, sizeof block) == sizeof block);
    v_unlink(&v, name);
    cr_assert_gt(--files, 200);
    for (i = 0; i < files; i++) {
        snprintf(name, sizeof name, "/%u", i);
        cr_assert_eq(v_unlink(&v, name), 0, "%s", name);
        cr_assert_eq(v_put(&v, name, block, sizeof block), sizeof block, "file %u of %u", i, files);
    }
    finish("one block");
}

/* The only free blocks lie in the first group, and the file ends in the last one. */
Test(files, grow_into_the_groups_before_theirs)
{
    static uint8_t out[MB], in[MB];
    const uint32_t kept = 20000;
    uint64_t size = 0, first, sfid;
    int32_t n;

    volume_make(&v, 1024, 5000, "-g 512 -N 320");
    volume_mount(&v);
    first = create("/first");
    cr_assert_eq(v_write(&v, first, 0, out, kept), (int32_t)kept);
    sfid = create("/f");
    fill_pattern(out, sizeof out, 5);
    while ((n = v_write(&v, sfid, size, out, MB)) > 0)
        size += (uint32_t)n;
    cr_assert_eq(n, -N_ENOSPC);
    cr_assert_eq(v_truncate(&v, first, 0), 0);
    cr_assert_eq(v_fsync(&v, first), 0);
    cr_expect_eq(v_write(&v, sfid, size, out, kept / 2), (int32_t)kept / 2);
    cr_expect_eq(v_read(&v, sfid, size, in, kept / 2), (int32_t)kept / 2);
    cr_expect_arr_eq(in, out, kept / 2);
    finish("the first group");
}

Test(files, that_are_unlinked_while_open_live_until_the_close)
{
    static uint8_t out[20000], in[20000];
    struct file_statfs before, after;

    fill_pattern(out, sizeof out, 8);
    start(1024, 4096);
    v_statfs(&v, &before);
    v_put(&v, "/f", out, sizeof out);
    uint64_t sfid = create("/f");
    cr_assert_eq(v_unlink(&v, "/f"), 0);
    cr_assert_eq(v_read(&v, sfid, 0, in, sizeof in), sizeof in);
    cr_assert_arr_eq(in, out, sizeof in);
    cr_assert_eq(v_write(&v, sfid, 20000, out, 20000), 20000);
    cr_assert_eq(v_close(&v, sfid), 0);
    v_statfs(&v, &after);
    cr_assert_eq(after.blocks_free, before.blocks_free);
    cr_assert_eq(after.inodes_free, before.inodes_free);
    finish("unlinked");
}

Test(files, no_block_of_the_cache_stays_held)
{
    static uint8_t out[100000];

    start(1024, 4096);
    v_put(&v, "/f", out, sizeof out);
    v_mkdir(&v, "/d");
    v_rename(&v, "/f", "/d/g");
    v_unlink(&v, "/d/g");
    cr_assert_eq(cache_held_blocks(server_volume(v.server, 0)->cache), 0);
    finish("held");
}

/* ---- Growing by pieces ---- */

/* The block that a write ended in is not read back, and goes out with those behind it. */
Test(files, grow_by_one_command_for_each_write)
{
    static const uint32_t pieces[] = {1000, 1024, 100, 3000, 5000, 17000};

    EACH_BLOCK_SIZE(i)
    {
        for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++) {
            static uint8_t data[12 * 17000], back[12 * 17000];
            uint32_t piece = pieces[k], bytes = 12 * piece;

            start(block_sizes[i], 3000);
            fill_pattern(data, bytes, piece);
            uint64_t sfid = create("/f");
            v_write(&v, sfid, 0, data, piece);
            uint32_t reads = v.reads, writes = v.writes;
            for (uint32_t at = piece; at < bytes; at += piece)
                cr_assert_eq(v_write(&v, sfid, at, data + at, piece), (int32_t)piece);
            cr_expect_eq(v.reads, reads, "pieces of %u: %u reads", piece, v.reads - reads);
            cr_expect_leq(v.writes - writes, 11 + 1, "pieces of %u: %u commands", piece, v.writes - writes);
            cr_assert_eq(v_read(&v, sfid, 0, back, bytes), (int32_t)bytes);
            cr_assert_arr_eq(back, data, bytes);
            finish("pieces");
        }
    }
}

/* A write over a file's last block and a new one behind it, which cannot be written: another one is taken. */
Test(files, leave_a_new_block_that_fails)
{
    static uint8_t data[1500], back[1500];
    uint64_t sfid;

    start(1024, 3000);
    fill_pattern(data, sizeof data, 1);
    sfid = create("/f");
    cr_assert_eq(v_write(&v, sfid, 0, data, 500), 500);
    for (uint32_t sector = 0; sector < v.size / 512; sector += 2)
        if (memcmp(v.bytes + sector * 512, data, 500) == 0)
            v.write_fails_at = sector + 2;
    uint32_t writes = v.writes;
    cr_expect_eq(v_write(&v, sfid, 500, data + 500, 1000), 1000);
    cr_expect_eq(v.writes - writes, 3, "both, the first, another one: %u", v.writes - writes);
    cr_expect_eq(v_read(&v, sfid, 0, back, sizeof back), 1500);
    cr_expect_arr_eq(back, data, 1500);
    v.write_fails_at = UINT32_MAX;
    finish("a block that fails");
}

/* What lies behind a long write that ends in the midst of a block, or of the last block of the file. */
Test(files, keep_what_lies_behind_a_long_unaligned_write)
{
    static uint8_t data[120000], back[120000];

    EACH_BLOCK_SIZE(i)
    {
        start(block_sizes[i], 3000);
        fill_pattern(data, sizeof data, 1);
        uint64_t sfid = create("/f");
        cr_assert_eq(v_write(&v, sfid, 0, data, 100000), 100000);
        fill_pattern(data + 511, 70001, 2);
        cr_assert_eq(v_write(&v, sfid, 511, data + 511, 70001), 70001);
        cr_assert_eq(v_write(&v, sfid, 80001, data + 80001, 39999), 39999); /* and over the end */
        cr_assert_eq(v_read(&v, sfid, 0, back, sizeof back), 120000);
        cr_assert_arr_eq(back, data, sizeof data);
        finish("long writes");
    }
}

/* ---- Small files by one request ---- */

static int32_t make_file(const char *name, const void *data, uint32_t bytes)
{
    return volume_request(&v, N_FMAKE, (struct file_request){.mode = 0640, .bytes = bytes}, name, NULL, data);
}

static int32_t read_name(const char *name, uint32_t bytes)
{
    return volume_request(&v, N_FREADNAME, (struct file_request){.bytes = bytes}, name, NULL, NULL);
}

Test(files, are_made_and_read_by_name)
{
    static uint8_t data[20000];
    struct file_stat st;

    EACH_BLOCK_SIZE(i)
    {
        start(block_sizes[i], 3000);
        fill_pattern(data, sizeof data, 1);
        for (uint32_t bytes = 0; bytes <= sizeof data; bytes = bytes * 3 + 1) {
            char name[20];

            snprintf(name, sizeof name, "/f%u", bytes);
            cr_assert_eq(make_file(name, data, bytes), 0, "%u bytes", bytes);
            cr_assert_eq(read_name(name, sizeof data), (int32_t)bytes);
            cr_assert_arr_eq(v.reply + sizeof(struct file_reply), data, bytes);
            cr_assert_eq(read_name(name, bytes / 2), (int32_t)(bytes / 2));
            cr_assert_eq(v_stat(&v, name, &st), 0);
            cr_expect_eq(st.mode, 0100640);
        }
        cr_expect_eq(make_file("/f1", data, 5), -N_EEXIST);
        cr_expect_eq(read_name("/f1", 100), 1, "it is as it was");
        cr_expect_eq(make_file("/no/f", data, 5), -N_ENOENT);
        cr_expect_eq(make_file("/f2/", data, 5), -N_EISDIR);
        cr_expect_eq(read_name("/none", 5), -N_ENOENT);
        cr_expect_eq(read_name("/", 5), -N_EISDIR);
        finish("by name");
    }
}

static int32_t open_and_read(const char *name, const char *described, uint32_t flags, uint32_t bytes)
{
    return volume_request(&v, N_FOPENREAD, (struct file_request){.flags = flags, .bytes = bytes}, name, described,
                          NULL);
}

Test(files, are_opened_with_what_describes_them)
{
    struct file_opened opened;
    uint8_t back[10];

    start(1024, 3000);
    cr_assert_eq(make_file("/f", "subfile", 7), 0);
    cr_assert_eq(make_file("/f.pio", "description", 11), 0);
    cr_assert_eq(open_and_read("/f", "/f.pio", N_O_RDWR, 100), 11);
    memcpy(&opened, v.reply + sizeof(struct file_reply), sizeof opened);
    cr_expect_arr_eq(v.reply + sizeof(struct file_reply) + sizeof opened, "description", 11);
    cr_expect_eq(opened.stat.size_bytes, 7);
    cr_assert_eq(v_read(&v, opened.sfid, 0, back, sizeof back), 7);
    cr_expect_arr_eq(back, "subfile", 7);
    cr_assert_eq(v_close(&v, opened.sfid), 0);
    cr_expect_eq(open_and_read("/f", "/f.pio", N_O_RDONLY, 4), 4, "the first bytes");
    cr_expect_eq(open_and_read("/f", "/none", N_O_RDWR, 100), -N_ENOENT);
    cr_expect_eq(open_and_read("/none", "/f.pio", N_O_RDWR, 100), -N_ENOENT);
    cr_expect_eq(open_and_read("/f", "/", N_O_RDWR, 100), -N_EISDIR);
    cr_expect_eq(open_and_read("/f", "/f.pio", N_O_ACCMODE, 100), -N_EINVAL);
    for (uint32_t i = 1; i < OPEN_CLIENT_MAX; i++)
        cr_assert_eq(open_and_read("/f", "/f.pio", N_O_RDONLY, 4), 4, "%u are open: a failure leaves none", i);
    cr_expect_eq(open_and_read("/f", "/f.pio", N_O_RDONLY, 4), -N_EMFILE);
    finish("opened with a description");
}

/* Its data; bitmaps; group counts; the directory; the inodes, once: of 1 KB blocks, its directory's lies apart. */
Test(files, are_made_by_few_commands)
{
    EACH_BLOCK_SIZE(i)
    {
        start(block_sizes[i], 3000);
        cr_assert_eq(make_file("/first", "1", 1), 0);
        uint32_t writes = v.writes;
        cr_assert_eq(make_file("/second", "2", 1), 0);
        cr_expect_eq(v.writes - writes, block_sizes[i] == 1024 ? 6 : 5, "blocks of %u: %u commands", block_sizes[i],
                     v.writes - writes);
        finish("few commands");
    }
}

/* Nothing is left of a file for which there is no room. */
Test(files, are_made_whole_or_not_at_all)
{
    static uint8_t data[300000];
    struct file_stat st;
    struct file_statfs before, after;

    start(1024, 200);
    cr_assert_eq(v_statfs(&v, &before), 0);
    cr_expect_eq(make_file("/f", data, sizeof data), -N_ENOSPC);
    cr_expect_eq(v_stat(&v, "/f", &st), -N_ENOENT);
    cr_assert_eq(v_statfs(&v, &after), 0);
    cr_expect_eq(after.blocks_free, before.blocks_free);
    cr_expect_eq(after.inodes_free, before.inodes_free);
    finish("no room");
}
