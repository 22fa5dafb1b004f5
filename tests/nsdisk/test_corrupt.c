/* Damage on the disk: each kind is found, named in the log and answered by EIO; the rest of the volume still works. */
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
    {"a bitmap that calls only tables free", bitmap_calls_only_tables_free, make_file, "which are the volume's own"},
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
