/* Damage on the disk: each kind is found, named in the log and answered by EIO; the rest of the volume still works. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/nsdisk/volume.h"

static struct volume v;

static uint32_t get32(size_t at)
{
    uint32_t value;

    memcpy(&value, v.bytes + at, sizeof value);
    return value;
}

static void put16(size_t at, uint16_t value)
{
    memcpy(v.bytes + at, &value, sizeof value);
}

static void put32(size_t at, uint32_t value)
{
    memcpy(v.bytes + at, &value, sizeof value);
}

/* Where inode `ino` of group 0 is, in blocks of 1 KB and inodes of 256 bytes. */
static size_t inode_at(uint32_t ino)
{
    return get32(2048 + 8) * 1024ul + (ino - 1) * 256ul;
}

static size_t pointer_at(uint32_t ino, uint32_t i)
{
    return inode_at(ino) + 40 + 4 * i;
}

static uint32_t ino_of(const char *name)
{
    struct file_stat st = {0};

    cr_assert_eq(v_stat(&v, name, &st), 0, "%s", name);
    return (uint32_t)st.ino;
}

static int32_t read_file(void)
{
    uint64_t sfid;
    uint8_t buf[1000];
    int32_t status = v_open(&v, "/f", N_O_RDONLY, &sfid);

    return status < 0 ? status : v_read(&v, sfid, 20480, buf, sizeof buf);
}

static int32_t unlink_file(void)
{
    return v_unlink(&v, "/f");
}

static int32_t list_directory(void)
{
    uint64_t sfid;
    int32_t status = v_open(&v, "/d", N_O_RDONLY, &sfid);

    return status < 0 ? status : v_readdir(&v, sfid, 24, 4096); /* behind "." and ".." */
}

static int32_t make_file(void)
{
    return v_put(&v, "/d/new", "x", 1);
}

static void data_far_away(uint32_t f, uint32_t d)
{
    (void)d;
    put32(get32(pointer_at(f, 12)) * 1024ul + 4 * 8, 0x00ffffff); /* file block 20 */
}

static void data_in_the_inode_table(uint32_t f, uint32_t d)
{
    (void)d;
    put32(get32(pointer_at(f, 12)) * 1024ul + 4 * 7, get32(2048 + 8) + 1); /* file block 19 */
}

static void indirect_is_the_superblock(uint32_t f, uint32_t d)
{
    (void)d;
    put32(pointer_at(f, 12), 1);
}

static void indirect_is_a_directory(uint32_t f, uint32_t d)
{
    put32(pointer_at(f, 12), get32(pointer_at(d, 0)));
}

static void short_record(uint32_t f, uint32_t d)
{
    (void)f;
    put32(get32(pointer_at(d, 0)) * 1024ul + 12 + 4, 0x02020004);
}

static void long_record(uint32_t f, uint32_t d)
{
    (void)f;
    put32(get32(pointer_at(d, 0)) * 1024ul + 12 + 4, 0x02020ffc);
}

static void name_of_a_free_inode(uint32_t f, uint32_t d)
{
    (void)d;
    memset(v.bytes + inode_at(f), 0, 128);
}

static void name_of_no_inode(uint32_t f, uint32_t d)
{
    (void)f;
    put32(get32(pointer_at(d, 0)) * 1024ul + 24, 0x7fffffff);
}

static void hole_in_a_directory(uint32_t f, uint32_t d)
{
    (void)f;
    put32(pointer_at(d, 0), 0);
}

static void odd_directory_size(uint32_t f, uint32_t d)
{
    (void)f;
    put32(inode_at(d) + 4, 1000);
}

static void huge_file(uint32_t f, uint32_t d)
{
    (void)d;
    put32(inode_at(f) + 108, 0xffffffff);
}

static void bitmap_calls_only_tables_free(uint32_t f, uint32_t d)
{
    (void)f;
    (void)d;
    size_t bitmap = get32(2048) * 1024ul;
    memset(v.bytes + bitmap, 0xff, 512);
    v.bytes[bitmap + get32(2048 + 8) / 8 + 1] = 0;
    put32(1024 + 12, 8); /* and the counts say so too */
    put16(2048 + 12, 8);
}

static void bitmap_without_its_count(uint32_t f, uint32_t d)
{
    (void)d;
    size_t bitmap = get32(2048) * 1024ul;
    v.bytes[bitmap + (get32(pointer_at(f, 0)) - 1) / 8] = 0;
}

static const struct {
    const char *name;
    void (*damage)(uint32_t f, uint32_t d); /* /f, a file of 100 KB, and /d, a directory with x */
    int32_t (*use)(void);
    const char *text;
} cases[] = {
    {"a data pointer outside the volume", data_far_away, read_file, "points to block 16777215"},
    {"freeing it", data_far_away, unlink_file, "blocks 16777215 to 16777215 are freed"},
    {"freeing a block of the inode table", data_in_the_inode_table, unlink_file, "are freed, but are not a file's"},
    {"an indirect pointer to the superblock", indirect_is_the_superblock, read_file, "points to block 1 "},
    {"an indirect pointer to a directory", indirect_is_a_directory, read_file, NULL},
    {"a record that is too short", short_record, list_directory, "record of 4 bytes"},
    {"a record that is too long", long_record, list_directory, "record of 4092 bytes"},
    {"a record that is too long, adding", long_record, make_file, "record of 4092 bytes"},
    {"a name of a free inode", name_of_a_free_inode, read_file, "has a name, but is not in use"},
    {"a name of no inode", name_of_no_inode, list_directory, "inode 2147483647"},
    {"a hole in a directory", hole_in_a_directory, list_directory, "block 0 is a hole, expected entries"},
    {"a directory of 1000 bytes", odd_directory_size, list_directory, "size 1000, expected a multiple of 1024"},
    {"a file larger than can be", huge_file, read_file, "expected at most"},
    {"a bitmap that calls only tables free", bitmap_calls_only_tables_free, make_file, "which is the volume's own"},
    {"a bitmap that its count contradicts", bitmap_without_its_count, make_file, "free blocks, its descriptor"},
};

Test(corrupt, is_found_named_and_survived)
{
    static uint8_t bytes[100000];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        volume_make(&v, 1024, 4096, "");
        volume_mount(&v);
        v_put(&v, "/f", bytes, sizeof bytes);
        v_mkdir(&v, "/d");
        v_put(&v, "/d/x", "x", 1);
        v_put(&v, "/good", "good", 4);
        uint32_t f = ino_of("/f"), d = ino_of("/d");
        volume_unmount(&v);
        cases[i].damage(f, d);
        volume_mount(&v);
        v_stat(&v, "/d/x", &(struct file_stat){0}); /* brings the directory into the cache, as such */
        int32_t status = cases[i].use();
        cr_assert_eq(status, -N_EIO, "%s: %d, %s", cases[i].name, status, v.log);
        const char *text = cases[i].text == NULL ? "is in use as directory" : cases[i].text;
        cr_assert(strstr(v.log, text), "%s: %s", cases[i].name, v.log);
        cr_assert(strstr(v.log, "df00"), "%s: %s", cases[i].name, v.log);
        cr_assert_eq(cache_held_blocks(server_volume(v.server, 0)->cache), 0, "%s", cases[i].name);
        cr_assert(v_has(&v, "/good", "good", 4), "%s: %s", cases[i].name, v.log);
        volume_unmount(&v);
        cr_assert_eq(v.bytes[1024 + 58] & 1, 0, "%s: marked clean", cases[i].name);
        volume_free(&v);
    }
}

Test(corrupt, sectors_are_an_error_of_the_file_that_has_them)
{
    static uint8_t bytes[100000];

    volume_make(&v, 1024, 4096, "");
    volume_mount(&v);
    v_put(&v, "/f", bytes, sizeof bytes);
    v_put(&v, "/good", "good", 4);
    cr_assert(v_has(&v, "/good", "good", 4));
    v.read_fails_from = 0;
    cr_assert_eq(read_file(), -N_EIO);
    cr_assert(strstr(v.log, "df00: the drive failed to read block"), "%s", v.log);
    v.read_fails_from = UINT32_MAX;
    cr_assert_eq(read_file(), 1000);
    volume_unmount(&v);
    cr_assert_eq(volume_fsck(&v, "-fn"), 0);
    volume_free(&v);
}

/* Its names may be the last of files. */
Test(corrupt, a_directory_that_cannot_be_read_is_not_taken_for_empty)
{
    static const char mark[] = "the only name";

    volume_make(&v, 1024, 4096, "");
    volume_mount(&v);
    cr_assert_eq(v_mkdir(&v, "/d"), 0);
    cr_assert_eq(v_mkdir(&v, "/e"), 0);
    cr_assert_eq(v_put(&v, "/e/the only name", "e", 1), 1);
    cr_assert_eq(volume_unmount(&v), 0);
    uint8_t *name = memmem(v.bytes, v.size, mark, strlen(mark));
    cr_assert_not_null(name);
    memset(name - 4, 0, 2); /* the record's length */
    volume_mount(&v);
    cr_expect_eq(v_rmdir(&v, "/e"), -N_EIO);
    cr_expect_eq(v_rename(&v, "/d", "/e"), -N_EIO);
    struct file_stat st;
    cr_expect_eq(v_stat(&v, "/d", &st), 0, "both are there");
    cr_expect_eq(v_stat(&v, "/e", &st), 0, "both are there");
    volume_unmount(&v);
    memcpy(name - 4, (uint8_t[]){(1024 - 24) & 0xff, (1024 - 24) >> 8}, 2);
    cr_assert_leq(volume_fsck(&v, "-fp"), 1);
    volume_free(&v);
}

/* ---- Space that is called free and is not ---- */

/* Clears bits of group 0's bitmap of blocks or inodes; with the counts, as a bad write of whole blocks leaves them. */
static void call_free(size_t descriptor_field, uint32_t first_bit, uint32_t count, bool counts_too)
{
    bool inodes = descriptor_field == 4;
    size_t bitmap = get32(2048 + descriptor_field) * 1024ul;
    size_t counts = inodes ? 2048 + 14 : 2048 + 12, super = inodes ? 1024 + 16 : 1024 + 12;

    for (uint32_t bit = first_bit; bit < first_bit + count; bit++)
        v.bytes[bitmap + bit / 8] &= (uint8_t) ~(1u << bit % 8);
    if (counts_too) {
        put32(super, get32(super) + count);
        put16(counts, (uint16_t)(get32(counts) + count));
    }
}

static int32_t make_directory(void)
{
    return v_mkdir(&v, "/d/new");
}

static int32_t make_large_file(void)
{
    static uint8_t bytes[100000];

    return v_put(&v, "/d/new", bytes, sizeof bytes);
}

static int32_t make_after_removing(void)
{
    v_unlink(&v, "/f");
    return v_put(&v, "/d/new", "x", 1);
}

/* What is called free: the inode of /f, of all, the blocks of /f that were read before, those that are freed. */
static const struct {
    const char *name;
    bool inodes, all, counts_too;
    int32_t (*use)(void);
    int32_t status;
    const char *text;
} lies[] = {
    {"a file's inode", true, false, true, make_file, 1, "is in use, but its group's bitmap marks it as free"},
    {"a file's inode, uncounted", true, false, false, make_file, 1, "free inodes, its descriptor"},
    {"a file's inode, for a directory", true, false, true, make_directory, 0, "is in use, but"},
    {"all inodes", true, true, true, make_file, 1, "more are in use, but their groups' bitmaps"},
    {"all inodes, for a directory", true, true, true, make_directory, 0, "more are in use, but"},
    {"a file's blocks, uncounted", false, false, false, make_large_file, -N_EIO, "free blocks, its descriptor"},
    {"blocks that were read", false, false, true, make_large_file, 100000, ", which is a file's, as free"},
    {"blocks that are being freed", false, false, true, make_after_removing, 1, ", which is a file's, as free"},
};

Test(corrupt, space_that_is_called_free_is_looked_at_before_it_is_taken)
{
    static uint8_t bytes[12 * 1024];

    fill_pattern(bytes, sizeof bytes, 3);
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        struct file_statfs st;
        uint8_t in[1024];
        uint64_t sfid;

        volume_make(&v, 1024, 4096, "");
        volume_mount(&v);
        v_put(&v, "/f", bytes, sizeof bytes);
        v_mkdir(&v, "/d");
        uint32_t f = ino_of("/f");
        volume_unmount(&v);
        cr_assert_eq(get32(pointer_at(f, 11)), get32(pointer_at(f, 0)) + 11, "the file is in one piece");
        if (lies[i].inodes)
            call_free(4, lies[i].all ? 10 : f - 1, lies[i].all ? f - 9 : 1, lies[i].counts_too);
        else
            call_free(0, get32(pointer_at(f, 0)) - 1, 12, lies[i].counts_too);
        volume_mount(&v);
        cr_assert_eq(v_open(&v, "/f", N_O_RDONLY, &sfid), 0);
        for (uint32_t at = 0; at < sizeof bytes; at += 1024)
            v_read(&v, sfid, at + 1, in, 100); /* a piece of each block: they are in the cache */
        v_close(&v, sfid);
        int32_t status = lies[i].use();
        cr_assert_eq(status, lies[i].status, "%s: %d, %s", lies[i].name, status, v.log);
        cr_assert(strstr(v.log, lies[i].text), "%s: %s", lies[i].name, v.log);
        cr_assert(lies[i].use == make_after_removing || v_has(&v, "/f", bytes, sizeof bytes), "%s: /f is another file",
                  lies[i].name);
        cr_assert_eq(v_statfs(&v, &st), 0);
        volume_unmount(&v);
        if (!lies[i].inodes && lies[i].counts_too) /* the volume has one group */
            cr_assert_eq(st.blocks_free, get32(2048 + 12) & 0xffff, "%s: %lu blocks are free", lies[i].name,
                         (unsigned long)st.blocks_free);
        cr_assert_eq(v.bytes[1024 + 58], 2, "%s: no mark of errors", lies[i].name);
        cr_assert_leq(volume_fsck(&v, "-p"), 1, "%s: e2fsck -p", lies[i].name);
        cr_assert_eq(volume_fsck(&v, "-fn"), 0, "%s: not repaired", lies[i].name);
        volume_free(&v);
    }
}

/* Its count promises inodes that its bitmap does not have. */
Test(corrupt, a_group_without_the_inodes_that_it_counts_is_passed_over)
{
    volume_make(&v, 1024, 5000, "-g 512 -N 320");
    size_t bitmap = get32(2048 + 4) * 1024ul;
    memset(v.bytes + bitmap, 0xff, 1024);
    volume_mount(&v);
    cr_assert_eq(v_put(&v, "/new", "x", 1), 1, "%s", v.log);
    cr_assert(strstr(v.log, "free inodes counted, but its bitmap has none") || strstr(v.log, "inodes, its descriptor"),
              "%s", v.log);
    cr_assert(v_has(&v, "/new", "x", 1));
    cr_assert_gt(ino_of("/new"), 32u, "it is in the first group");
    volume_unmount(&v);
    cr_assert_leq(volume_fsck(&v, "-p"), 1, "e2fsck -p");
    cr_assert_eq(volume_fsck(&v, "-fn"), 0, "not repaired");
    volume_free(&v);
}

static const struct {
    const char *name;
    size_t at;
    uint8_t bytes; /* of the count */
} counts[] = {
    {"the superblock's free blocks", 1024 + 12, 4},
    {"the superblock's free inodes", 1024 + 16, 4},
    {"a group's free blocks", 2048 + 12, 2},
    {"a group's free inodes", 2048 + 14, 2},
};

Test(corrupt, counts_that_differ_are_reported_and_none_is_written_over_another)
{
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        volume_make(&v, 1024, 4096, "");
        put16(counts[i].at, (uint16_t)(get32(counts[i].at) - 7));
        uint32_t blocks = get32(1024 + 12), inodes = get32(1024 + 16), of_group = get32(2048 + 12);
        volume_mount(&v);
        cr_assert(strstr(v.log, "its superblock counts"), "%s: %s", counts[i].name, v.log);
        volume_unmount(&v);
        cr_assert_eq(get32(1024 + 12), blocks, "%s", counts[i].name);
        cr_assert_eq(get32(1024 + 16), inodes, "%s", counts[i].name);
        cr_assert_eq(get32(2048 + 12), of_group, "%s", counts[i].name);
        cr_assert_eq(v.bytes[1024 + 58], 2, "%s: no mark of errors", counts[i].name);
        cr_assert_leq(volume_fsck(&v, "-p"), 1, "%s: e2fsck -p", counts[i].name);
        cr_assert_eq(volume_fsck(&v, "-fn"), 0, "%s: not repaired", counts[i].name);
        volume_free(&v);
    }
}

/* ---- Walks ---- */

#define SELF 3000u /* a block that no file has */

/* A file whose pointers lead from `level` levels of indirect blocks, each full of pointers to the same next one. */
static void make_cascade(uint32_t f, uint32_t levels, bool one_block)
{
    memset(v.bytes + pointer_at(f, 0), 0, 4 * 15);
    put32(pointer_at(f, 11 + levels), SELF);
    for (uint32_t level = 0; level < levels; level++)
        for (uint32_t i = 0; i < 256; i++)
            put32((SELF + level) * 1024ul + 4 * i, one_block ? SELF : SELF + level + 1);
    put32(inode_at(f) + 4, 0x7fffffff);
}

static int32_t cut_file(void)
{
    uint64_t sfid;
    int32_t status = v_open(&v, "/f", N_O_RDWR, &sfid);

    return status < 0 ? status : v_truncate(&v, sfid, 300000);
}

static int32_t write_into_file(void)
{
    static uint8_t bytes[100000];
    uint64_t sfid;
    int32_t status = v_open(&v, "/f", N_O_RDWR, &sfid);

    return status < 0 ? status : v_write(&v, sfid, 100000000, bytes, sizeof bytes);
}

static int32_t find_absent(void)
{
    struct file_stat st;

    return v_stat(&v, "/d/absent", &st);
}

static int32_t add_to_directory(void)
{
    return v_link(&v, "/good", "/d/a-name-that-is-too-long-for-the-room-that-is-left");
}

static int32_t list_all(void)
{
    uint64_t sfid, offset = 0;
    int32_t status = v_open(&v, "/d", N_O_RDONLY, &sfid);

    for (int i = 0; i < 10000 && status >= 0; i++) {
        status = v_readdir(&v, sfid, offset, 4096);
        if (status <= 0)
            return status;
        struct file_dirent record;
        for (int32_t at = 0; at < status; at += record.record_bytes)
            memcpy(&record, v.reply + sizeof(struct file_reply) + at, sizeof record);
        offset = record.next;
    }
    return status < 0 ? status : -N_ELOOP;
}

static int32_t move_into_loop(void)
{
    return v_rename(&v, "/e", "/d/e");
}

static void long_directory(uint32_t d, bool counted)
{
    memset(v.bytes + SELF * 1024ul, 0, 2048);
    for (uint32_t i = 0; i < 256; i++)
        put32((SELF + 1) * 1024ul + 4 * i, SELF + 2);
    for (uint32_t i = 0; i < 256; i++)
        put32(SELF * 1024ul + 4 * i, SELF + 1);
    for (uint32_t i = 1; i < 12; i++)
        put32(pointer_at(d, i), SELF + 2);
    put32(pointer_at(d, 12), SELF + 1);
    put32(pointer_at(d, 13), SELF);
    memcpy(v.bytes + (SELF + 2) * 1024ul, v.bytes + get32(pointer_at(d, 0)) * 1024ul, 1024);
    put32(inode_at(d) + 4, counted ? 0x7ffffc00 : 1024 * 60000);
    put32(inode_at(d) + 28, counted ? 0xfffffff8 : 2);
}

enum shape { CASCADE_2, CASCADE_3, ONE_BLOCK, COUNTED_3, LONG_DIRECTORY, COUNTED_DIRECTORY, PARENT_LOOP };

static void put_shape(enum shape shape, uint32_t f, uint32_t d)
{
    switch (shape) {
    case CASCADE_2:
        make_cascade(f, 2, false);
        break;
    case ONE_BLOCK:
        make_cascade(f, 3, true);
        break;
    case CASCADE_3:
        make_cascade(f, 3, false);
        break;
    case COUNTED_3:
        make_cascade(f, 3, false);
        put32(inode_at(f) + 28, 0xfffffff8);
        break;
    case LONG_DIRECTORY:
    case COUNTED_DIRECTORY:
        long_directory(d, shape == COUNTED_DIRECTORY);
        break;
    case PARENT_LOOP: /* the ".." of /d is /d/sub */
        put32(get32(pointer_at(d, 0)) * 1024ul + 12, get32(get32(pointer_at(d, 0)) * 1024ul + 24));
        break;
    }
}

static const struct {
    const char *name;
    enum shape shape;
    int32_t (*use)(void);
    int32_t status;
    uint32_t reads; /* commands, at most */
} walks[] = {
    {"two levels, unlink", CASCADE_2, unlink_file, -N_EIO, 300},
    {"three levels, unlink", CASCADE_3, unlink_file, -N_EIO, 300},
    {"three levels, truncate", CASCADE_3, cut_file, -N_EIO, 300},
    {"three levels, write", CASCADE_3, write_into_file, 100000, 300},
    {"three levels, as many as the volume has", COUNTED_3, unlink_file, -N_EIO, 8200},
    {"one block at all levels, unlink", ONE_BLOCK, unlink_file, -N_EIO, 100},
    {"one block at all levels, truncate", ONE_BLOCK, cut_file, -N_EIO, 100},
    {"one block at all levels, write", ONE_BLOCK, write_into_file, -N_EIO, 100},
    {"a directory longer than its blocks, find", LONG_DIRECTORY, find_absent, -N_EIO, 100},
    {"a directory longer than its blocks, list", LONG_DIRECTORY, list_all, -N_EIO, 100},
    {"a directory longer than the volume, find", COUNTED_DIRECTORY, find_absent, -N_EIO, 100},
    {"a directory longer than the volume, list", COUNTED_DIRECTORY, list_all, -N_EIO, 100},
    {"a directory longer than the volume, add", COUNTED_DIRECTORY, add_to_directory, -N_EIO, 100},
    {"a directory above itself", PARENT_LOOP, move_into_loop, -N_EIO, 100},
};

Test(corrupt, no_walk_is_longer_than_what_the_inode_has)
{
    for (size_t i = 0; i < sizeof walks / sizeof walks[0]; i++) {
        volume_make(&v, 1024, 4096, "-g 8192");
        v.cache_bytes = 1;
        volume_mount(&v);
        v_put(&v, "/f", "f", 1);
        v_put(&v, "/good", "good", 4);
        v_mkdir(&v, "/d");
        v_mkdir(&v, "/d/sub");
        v_mkdir(&v, "/e");
        uint32_t f = ino_of("/f"), d = ino_of("/d");
        volume_unmount(&v);
        put_shape(walks[i].shape, f, d);
        volume_mount(&v);
        uint32_t before = v.reads;
        int32_t status = walks[i].use();
        cr_assert_eq(status, walks[i].status, "%s: %d, %s", walks[i].name, status, v.log);
        cr_assert_leq(v.reads - before, walks[i].reads, "%s: %u reads", walks[i].name, v.reads - before);
        cr_assert_eq(cache_held_blocks(server_volume(v.server, 0)->cache), 0, "%s", walks[i].name);
        cr_assert(v_has(&v, "/good", "good", 4), "%s: %s", walks[i].name, v.log);
        volume_unmount(&v);
        cr_assert(walks[i].status > 0 || v.bytes[1024 + 58] == 2, "%s: no mark of errors", walks[i].name);
        volume_free(&v);
    }
}

/* ---- A drive that takes no writes any more ---- */

#define PIECES 1100u /* of a file, each apart from the next: more than a server keeps in mind between two syncs */

/* Two files that grow by turns, so that their blocks alternate. */
static void make_two_in_pieces(uint64_t sfid[2])
{
    static uint8_t block[1024];

    for (int k = 0; k < 2; k++)
        cr_assert_eq(v_open(&v, k == 0 ? "/a" : "/b", N_O_RDWR | N_O_CREAT, &sfid[k]), 0);
    for (uint32_t i = 0; i < PIECES; i++)
        for (int k = 0; k < 2; k++)
            cr_assert_eq(v_append(&v, sfid[k], block, sizeof block), (int32_t)sizeof block);
    cr_assert_eq(v_fsync(&v, sfid[0]), 0);
}

Test(corrupt, a_drive_that_takes_no_writes_gives_errors_however_much_is_given_back)
{
    uint64_t sfid[2];
    uint32_t failed = 0;

    volume_make(&v, 1024, 8192, "");
    volume_mount(&v);
    make_two_in_pieces(sfid);
    v.writes_fail = true;
    for (uint32_t i = PIECES; i-- > 0;)
        for (int k = 0; k < 2; k++)
            failed += v_truncate(&v, sfid[k], i * 1024ul) < 0;
    cr_expect_gt(failed, 0);
    volume_crash(&v);
    volume_free(&v);
}
