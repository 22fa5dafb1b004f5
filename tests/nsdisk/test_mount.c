/* Mounting: what is accepted, what is refused and with which words; the clean mark. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/nsdisk/volume.h"

static struct volume v;

/* The revision is set by hand: mke2fs's option for revision 0 is -r in Debian 12 and another in Debian 13. */
static const struct {
    const char *name, *options;
    uint8_t revision;
} accepted[] = {
    {"the default", "", 1},
    {"inodes of 128 bytes", "-I 128", 1},
    {"revision 0", "-O none -I 128", 0},
    {"no features", "-O none", 1},
    {"no types in directories", "-O ^filetype", 1},
    {"small groups", "-g 1024", 1},
    {"a last group that is full", "-b 2048 -g 1024", 1},
    {"a last group that is short", "-b 2048 -g 1000", 1},
    {"many inodes", "-i 1024", 1},
    {"no sparse superblocks", "-O ^sparse_super,^resize_inode", 1},
    {"a journal that is empty", "-O has_journal -J size=1", 1},
};

Test(mount, takes_every_kind_of_ext2)
{
    static uint8_t out[40000];

    fill_pattern(out, sizeof out, 1);
    for (size_t i = 0; i < sizeof accepted / sizeof accepted[0]; i++) {
        volume_make(&v, 1024, 8192, accepted[i].options);
        v.bytes[1024 + 76] = accepted[i].revision;
        cr_assert_eq(volume_try_mount(&v), 0, "%s: %s", accepted[i].name, v.log);
        cr_assert_eq(v_mkdir(&v, "/d"), 0, "%s", accepted[i].name);
        cr_assert_eq(v_put(&v, "/d/f", out, sizeof out), sizeof out, "%s", accepted[i].name);
        cr_assert(v_has(&v, "/d/f", out, sizeof out), "%s", accepted[i].name);
        cr_assert_eq(volume_unmount(&v), 0, "%s", accepted[i].name);
        cr_assert_eq(volume_fsck(&v, "-fn"), 0, "%s: e2fsck", accepted[i].name);
        volume_free(&v);
    }
}

/* Bytes of the superblock (at 1024) that are changed before mounting. */
static const struct {
    const char *name;
    uint32_t offset;
    uint8_t bytes[4];
    uint32_t count;
    int error;
    const char *text;
} refused[] = {
    {"no magic", 56, {0, 0}, 2, -N_EINVAL, "not ext2: magic 0x0, expected 0xef53"},
    {"revision 2", 76, {2}, 1, -N_ENOTSUP, "ext2 revision 2"},
    {"extents", 96, {0x42}, 1, -N_ENOTSUP, "has the feature extent, which nsdisk does not support"},
    {"mmp", 97, {0x01}, 1, -N_ENOTSUP, "has the feature mmp, which nsdisk does not support"},
    {"a feature of the future", 99, {0x80}, 1, -N_ENOTSUP, "unknown incompatible features 0x80000000"},
    {"a journal to recover", 96, {0x06}, 1, -N_ENOTSUP, "(needs_recovery): run e2fsck -p IMAGE"},
    {"blocks of 8 KB", 24, {3}, 1, -N_ENOTSUP, "block size 1024 << 3"},
    {"more blocks than the drive", 6, {1}, 1, -N_EINVAL, "the drive has room for 4096"},
    {"more free inodes than inodes", 16, {0x9f, 0x86, 1, 0}, 4, -N_EINVAL, "e2fsck -p IMAGE corrects the counts"},
    {"no blocks per group", 32, {0, 0, 0, 0}, 4, -N_EINVAL, "0 blocks per group"},
    {"no inodes per group", 40, {0, 0, 0, 0}, 4, -N_EINVAL, "0 inodes per group"},
    {"inodes of 100 bytes", 88, {100, 0}, 2, -N_EINVAL, "inodes of 100 bytes"},
    {"a wrong first block", 20, {7}, 1, -N_EINVAL, "first data block 7"},
    {"a first inode of 0", 84, {0, 0, 0, 0}, 4, -N_EINVAL, "first inode 0"},
    {"more free blocks than blocks", 14, {0xff}, 1, -N_EINVAL, "free blocks"},
    {"a descriptor far away", 1024 + 3, {0x7f}, 1, -N_EINVAL, "descriptor of group 0 is damaged"},
};

Test(mount, refuses_what_it_cannot_serve_and_says_why)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        volume_make(&v, 1024, 4096, "");
        memcpy(v.bytes + 1024 + refused[i].offset, refused[i].bytes, refused[i].count);
        int error = volume_try_mount(&v);
        cr_assert_eq(error, refused[i].error, "%s: %d, %s", refused[i].name, error, v.log);
        cr_assert(strstr(v.log, refused[i].text), "%s: %s", refused[i].name, v.log);
        cr_assert_eq(v.writes, 0, "%s: it wrote", refused[i].name);
        volume_free(&v);
    }
}

/* Inode 2 of a volume of 1 KB blocks, where its group descriptor says that the inode table begins. */
Test(mount, refuses_a_root_that_is_no_directory)
{
    volume_make(&v, 1024, 4096, "");
    uint8_t *inodes = v.bytes + 1024 * (v.bytes[2048 + 8] | v.bytes[2048 + 9] << 8);
    inodes[256 + 1] = 0x81; /* a regular file; inodes of 256 bytes */
    cr_assert_eq(volume_try_mount(&v), -N_EINVAL, "%s", v.log);
    cr_assert(strstr(v.log, "root inode is not a directory"), "%s", v.log);
    cr_assert_eq(v.writes, 0);
    volume_free(&v);
}

static const struct {
    const char *name;
    uint32_t offset;
    uint8_t value;
    const char *text;
} read_only[] = {
    {"a feature of the future", 103, 0x80, "unknown features 0x80000000"},
    {"bigalloc", 101, 0x02, "read-only: has the feature bigalloc, which nsdisk does not support"},
    {"marked as having errors", 58, 2, "marked as having errors"},
    {"orphans", 232, 12, "orphaned inode 12"},
};

Test(mount, is_read_only_where_writing_could_harm)
{
    for (size_t i = 0; i < sizeof read_only / sizeof read_only[0]; i++) {
        uint64_t sfid;
        struct file_stat st;

        volume_make(&v, 1024, 4096, "");
        v.bytes[1024 + read_only[i].offset] = read_only[i].value;
        cr_assert_eq(volume_try_mount(&v), 0, "%s", read_only[i].name);
        cr_assert(strstr(v.log, read_only[i].text), "%s: %s", read_only[i].name, v.log);
        cr_assert_eq(v_stat(&v, "/lost+found", &st), 0, "%s", read_only[i].name);
        cr_assert_eq(v_open(&v, "/f", N_O_CREAT | N_O_RDWR, &sfid), -N_EROFS, "%s", read_only[i].name);
        cr_assert_eq(v_mkdir(&v, "/d"), -N_EROFS, "%s", read_only[i].name);
        cr_assert_eq(v_rmdir(&v, "/lost+found"), -N_EROFS, "%s", read_only[i].name);
        cr_assert_eq(v_rename(&v, "/lost+found", "/d"), -N_EROFS, "%s", read_only[i].name);
        cr_assert_eq(volume_unmount(&v), 0, "%s", read_only[i].name);
        cr_assert_eq(v.writes, 0, "%s: it wrote", read_only[i].name);
        volume_free(&v);
    }
}

static bool is_clean(void)
{
    return v.bytes[1024 + 58] & 1;
}

Test(mount, clears_the_clean_mark_and_unmount_sets_it)
{
    volume_make(&v, 1024, 4096, "");
    cr_assert(is_clean());
    volume_mount(&v);
    cr_assert(!is_clean());
    volume_unmount(&v);
    cr_assert(is_clean());
    volume_free(&v);
}

Test(mount, of_a_volume_that_was_not_unmounted_warns_and_leaves_it_to_e2fsck)
{
    volume_make(&v, 1024, 4096, "");
    volume_mount(&v);
    v_put(&v, "/f", "f", 1);
    volume_crash(&v);
    volume_mount(&v);
    cr_assert(strstr(v.log, "not shut down cleanly"), "%s", v.log);
    v_put(&v, "/g", "g", 1);
    volume_unmount(&v);
    cr_assert(!is_clean());
    cr_assert_leq(volume_fsck(&v, "-p"), 1);
    cr_assert(is_clean());
    cr_assert_eq(volume_fsck(&v, "-fn"), 0);
    volume_mount(&v);
    cr_assert(v_has(&v, "/g", "g", 1));
    volume_unmount(&v);
    volume_free(&v);
}
