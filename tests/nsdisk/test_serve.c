/* The protocol: malformed messages, identifiers, limits, several clients; and messages at random. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nsdisk/serve/open_table.h"
#include "tests/nsdisk/fuzz.h"
#include "tests/nsdisk/volume.h"
#include "vertex/contract/system.h"

static struct volume v;

static void start(void)
{
    volume_make(&v, 1024, 2048, "");
    volume_mount(&v);
    v_put(&v, "/f", "contents", 8);
}

static void finish(void)
{
    cr_assert_eq(volume_unmount(&v), 0);
    cr_assert_eq(volume_fsck(&v, "-fn"), 0);
    volume_free(&v);
}

/* A message as it is: n bytes, of which the header is given and the rest is text. */
static const struct {
    const char *name;
    uint32_t type;
    size_t n;
    struct file_request r;
    const char *text;
    int32_t status;
} messages[] = {
    {"an unknown type", 0x80ff, 40, {.drive = 0}, "", -N_ENOSYS},
    {"a type below the first", 0x8020, 40, {.drive = 0}, "", -N_ENOSYS},
    {"a type behind the last", 0x803f, 40, {.drive = 0}, "", -N_ENOSYS},
    {"nothing", N_FOPEN, 0, {.drive = 0}, "", -N_EPROTO},
    {"half a header", N_FOPEN, 20, {.drive = 0}, "", -N_EPROTO},
    {"no name", N_FOPEN, 40, {.drive = 0}, "", -N_EPROTO},
    {"a name that is missing", N_FOPEN, 40, {.name_bytes = 2}, "", -N_EPROTO},
    {"a name that is cut", N_FOPEN, 41, {.name_bytes = 2}, "/f", -N_EPROTO},
    {"more than a name", N_FOPEN, 43, {.name_bytes = 2}, "/f!", -N_EPROTO},
    {"a name without a slash", N_FOPEN, 42, {.name_bytes = 2}, "ff", -N_EPROTO},
    {"a name with a NUL", N_FOPEN, 43, {.name_bytes = 3}, "/f\0", -N_EPROTO},
    {"a second name that nobody wants", N_FUNLINK, 44, {.name_bytes = 2, .name2_bytes = 2}, "/f/g", -N_EPROTO},
    {"a second name that is missing", N_FRENAME, 42, {.name_bytes = 2}, "/f", -N_EPROTO},
    {"a second name without a slash", N_FRENAME, 44, {.name_bytes = 2, .name2_bytes = 2}, "/fgg", -N_EPROTO},
    {"a drive that is not there", N_FOPEN, 42, {.drive = 1, .name_bytes = 2}, "/f", -N_ENODEV},
    {"a drive that cannot be", N_FSTATFS, 40, {.drive = 65535}, "", -N_ENODEV},
    {"a file that is not open", N_FSTAT, 40, {.sfid = 0x123456789}, "", -N_ESTALE},
    {"the file 0", N_FREAD, 40, {.sfid = 0, .bytes = 8}, "", -N_ESTALE},
    {"less data than it says", N_FWRITE, 44, {.bytes = 5}, "data", -N_EPROTO},
    {"more data than it says", N_FWRITE, 44, {.bytes = 3}, "data", -N_EPROTO},
    {"data of 4 GB", N_FWRITE, 44, {.bytes = UINT32_MAX}, "data", -N_EPROTO},
    {"a read of 4 GB", N_FREAD, 40, {.bytes = UINT32_MAX}, "", -N_EPROTO},
    {"a read with a name", N_FREAD, 42, {.bytes = 8, .name_bytes = 2}, "/f", -N_EPROTO},
    {"attributes that are too short", N_FSETATTRNAME, 46, {.bytes = 4, .name_bytes = 2}, "/fxxxx", -N_EPROTO},
    {"a link's text with a NUL", N_FSYMLINK, 46, {.bytes = 4, .name_bytes = 2}, "/fx\0xx", -N_EPROTO},
    {"a link without a text", N_FSYMLINK, 42, {.name_bytes = 2}, "/f", -N_ENOENT},
    {"an access mode of 8", N_FACCESS, 42, {.mode = 8, .name_bytes = 2}, "/f", -N_EINVAL},
    {"access to execute", N_FACCESS, 42, {.mode = 1, .name_bytes = 2}, "/f", -N_EACCES},
    {"a counter that is too short", N_FADD, 47, {.bytes = 7}, "counter", -N_ESTALE},
    {"a counter without data", N_FADD, 40, {.bytes = 16}, "", -N_EPROTO},
    {"access to read and write", N_FACCESS, 42, {.mode = 6, .name_bytes = 2}, "/f", 0},
};

Test(serve, malformed_messages_are_refused_each_in_its_way)
{
    start();
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
        uint8_t bytes[64] = {0};
        struct file_reply reply;
        struct file_request r = messages[i].r;

        r.seq = 77;
        memcpy(bytes, &r, sizeof r);
        memcpy(bytes + sizeof r, messages[i].text, messages[i].n > sizeof r ? messages[i].n - sizeof r : 0);
        size_t n = serve_request(v.server, 3, TAG(messages[i].type, 0, 0), bytes, messages[i].n, v.reply, 4096);
        memcpy(&reply, v.reply, sizeof reply);
        cr_assert_eq(n, sizeof reply, "%s", messages[i].name);
        cr_assert_eq(reply.status, messages[i].status, "%s: %d", messages[i].name, reply.status);
        cr_assert_eq(reply.seq, messages[i].n < 4 ? 0 : 77, "%s", messages[i].name);
    }
    finish();
}

Test(serve, a_path_of_more_than_1024_bytes_is_too_long)
{
    char path[1100];
    struct file_stat st;

    start();
    memset(path, '/', sizeof path);
    path[1024] = '\0';
    cr_assert_eq(v_stat(&v, path, &st), 0);
    path[1024] = '/';
    path[1025] = '\0';
    cr_assert_eq(v_stat(&v, path, &st), -N_ENAMETOOLONG);
    finish();
}

Test(serve, offsets_at_the_end_of_the_world_are_refused)
{
    uint64_t sfid;
    uint8_t in[8];

    start();
    v_open(&v, "/f", N_O_RDWR, &sfid);
    cr_assert_eq(v_read(&v, sfid, INT64_MAX, in, 8), 0);
    cr_assert_eq(v_read(&v, sfid, UINT64_MAX, in, 8), -N_EINVAL);
    cr_assert_eq(v_write(&v, sfid, INT64_MAX, "x", 1), -N_EFBIG);
    cr_assert_eq(v_write(&v, sfid, UINT64_MAX - 3, "12345678", 8), -N_EINVAL);
    cr_assert_eq(v_truncate(&v, sfid, INT64_MAX), -N_EFBIG);
    cr_assert_eq(v_truncate(&v, sfid, UINT64_MAX), -N_EINVAL);
    cr_assert(v_has(&v, "/f", "contents", 8));
    finish();
}

Test(serve, an_identifier_is_stale_after_its_close_and_after_a_reboot)
{
    uint64_t sfid, again;
    struct file_stat st;

    start();
    v_open(&v, "/f", N_O_RDWR, &sfid);
    cr_assert_eq(v_close(&v, sfid), 0);
    cr_assert_eq(v_close(&v, sfid), -N_ESTALE);
    for (int i = 0; i < 1000; i++) {
        v_open(&v, "/f", N_O_RDWR, &again);
        cr_assert_neq(again, sfid);
        v_close(&v, again);
    }
    v_open(&v, "/f", N_O_RDWR, &sfid);
    volume_unmount(&v);
    volume_mount(&v);
    v_open(&v, "/f", N_O_RDWR, &again);
    cr_assert_eq(v_fstat(&v, sfid, &st), -N_ESTALE, "reboot");
    cr_assert_eq(v_fstat(&v, again, &st), 0);
    finish();
}

Test(serve, a_file_is_its_clients_alone)
{
    uint64_t mine, theirs;
    struct file_stat st;

    start();
    v_open(&v, "/f", N_O_RDWR, &mine);
    v.client = 9;
    cr_assert_eq(v_fstat(&v, mine, &st), -N_EBADF);
    cr_assert_eq(v_close(&v, mine), -N_EBADF);
    v_open(&v, "/f", N_O_RDWR, &theirs);
    cr_assert_eq(v_exit(&v), 0);
    cr_assert_eq(v_fstat(&v, theirs, &st), -N_ESTALE, "the client has ended");
    v.client = VOLUME_CLIENT;
    cr_assert_eq(v_fstat(&v, mine, &st), 0, "the other client's end is nothing to us");
    finish();
}

static int32_t fork_to(uint32_t procid)
{
    return volume_request(&v, N_FFORK, (struct file_request){.mode = procid}, NULL, NULL, NULL);
}

Test(serve, a_file_is_open_until_all_that_share_it_have_closed_it)
{
    uint64_t first, second, own;
    struct file_stat st;

    start();
    v_open(&v, "/f", N_O_RDWR, &first);
    v_open(&v, "/f", N_O_RDWR, &second);
    v.procid = 1;
    v_open(&v, "/f", N_O_RDWR, &own);
    cr_assert_eq(v_fstat(&v, first, &st), -N_EBADF);
    v.procid = 0;
    cr_assert_eq(fork_to(PROCS_MAX), -N_EINVAL);
    cr_assert_eq(fork_to(1), 0);
    cr_assert_eq(v_fstat(&v, own, &st), -N_EBADF, "a child gives its parent nothing");
    cr_assert_eq(v_unlink(&v, "/f"), 0);
    cr_assert_eq(v_close(&v, first), 0);
    cr_assert_eq(v_fstat(&v, first, &st), -N_EBADF, "who has closed it has it no more");
    v.procid = 1;
    cr_assert_eq(v_fstat(&v, first, &st), 0);
    cr_assert_eq(fork_to(7), 0);
    cr_assert_eq(v_close(&v, first), 0);
    cr_assert_eq(v_exit(&v), 0);
    v.procid = 7;
    cr_assert_eq(v_fstat(&v, own, &st), 0);
    cr_assert_eq(v_close(&v, first), 0);
    cr_assert_eq(v_close(&v, first), -N_ESTALE);
    v.client++;
    cr_assert_eq(v_fstat(&v, second, &st), -N_EBADF, "a process of another node");
    v.client--;
    cr_assert_eq(v_exit(&v), 0);
    v.procid = 0;
    cr_assert_eq(v_fstat(&v, second, &st), 0, "its opener has it still");
    cr_assert_eq(v_exit(&v), 0);
    cr_assert_eq(v_fstat(&v, second, &st), -N_ESTALE);
    finish(); /* the file's blocks are free */
}

Test(serve, open_files_are_bounded_for_a_client_and_for_all)
{
    uint64_t sfid;
    uint32_t opened = 0;

    start();
    for (uint32_t i = 0; i < OPEN_CLIENT_MAX; i++)
        cr_assert_eq(v_open(&v, "/f", N_O_RDONLY, &sfid), 0, "%u", i);
    cr_assert_eq(v_open(&v, "/new", N_O_CREAT | N_O_RDWR, &sfid), -N_EMFILE);
    struct file_stat st;
    cr_assert_eq(v_stat(&v, "/new", &st), -N_ENOENT, "a refused open makes nothing");
    for (v.client = 0x100; v_open(&v, "/f", N_O_RDONLY, &sfid) == 0; v.client++)
        opened++;
    cr_assert_eq(opened, OPEN_TABLE_MAX - OPEN_CLIENT_MAX);
    cr_assert_eq(v_open(&v, "/f", N_O_RDONLY, &sfid), -N_ENFILE);
    v.client = VOLUME_CLIENT;
    cr_assert_eq(v_exit(&v), 0);
    cr_assert_eq(v_open(&v, "/f", N_O_RDONLY, &sfid), 0);
    finish();
}

static int32_t count(uint64_t sfid, uint64_t owner, int64_t value, struct file_counter *k)
{
    const struct file_request r = {.sfid = sfid, .bytes = sizeof *k};

    *k = (struct file_counter){owner, value};
    int32_t status = volume_request(&v, N_FADD, r, NULL, NULL, k);
    if (status == 0)
        memcpy(k, v.reply + sizeof(struct file_reply), sizeof *k);
    return status;
}

Test(serve, a_counter_lives_as_long_as_its_file_and_is_added_to_by_all_that_have_that_file_open)
{
    struct file_counter k;
    uint64_t first, second, other;

    start();
    v_put(&v, "/g", "other", 5);
    cr_assert_eq(v_open(&v, "/f", N_O_RDONLY, &first), 0);
    cr_expect_eq(count(first, first, 1, &k), -N_ESTALE, "before it is made");
    cr_expect_eq(count(first, 0, -1, &k), -N_EINVAL);
    cr_expect_eq(count(first, first, 1, &k), -N_ESTALE, "it was not made");
    cr_expect_eq(count(first, 0, 40, &k), 0);
    cr_expect(k.owner == first && k.value == 0);
    v.client++;
    cr_assert_eq(v_open(&v, "/f", N_O_RDWR, &second), 0);
    cr_assert_eq(v_open(&v, "/g", N_O_RDWR, &other), 0);
    cr_expect_eq(count(second, first, 2, &k), 0);
    cr_expect(k.owner == first && k.value == 40);
    cr_expect_eq(count(second, first, -1, &k), -N_EINVAL);
    cr_expect_eq(count(second, first, INT64_MAX, &k), -N_EOVERFLOW);
    cr_expect_eq(count(other, first, 1, &k), -N_EBADF, "by another file");
    cr_expect_eq(count(first, 0, 1, &k), -N_EBADF, "by another client's file");
    cr_expect_eq(count(second, 0, 7, &k), 0, "a counter of its own");
    cr_expect_eq(k.owner, second);
    cr_expect_eq(count(second, first, 0, &k), 0);
    cr_expect_eq(k.value, 42);
    const struct file_request short_one = {.sfid = second, .bytes = 15},
                              viewed = {.sfid = second, .bytes = 16, .view = 1};
    cr_expect_eq(volume_request(&v, N_FADD, short_one, NULL, NULL, &k), -N_EPROTO);
    cr_expect_eq(volume_request(&v, N_FADD, viewed, NULL, NULL, &k), -N_EPROTO);
    v.client = VOLUME_CLIENT;
    cr_expect_eq(count(first, 0, 5, &k), 0);
    cr_expect_eq(k.value, 42);
    cr_expect_eq(v_close(&v, first), 0);
    v.client++;
    cr_expect_eq(count(second, first, 1, &k), -N_ESTALE, "its file is closed");
    cr_expect_eq(count(second, second, 1, &k), 0);
    cr_expect_eq(k.value, 7);
    cr_expect_eq(v_exit(&v), 0);
    v.client = VOLUME_CLIENT;
    finish();
}

/* N_FTRUNCATE with a number of bytes cuts only a file that is as long as its client believes. */
Test(serve, a_file_is_cut_only_from_the_size_that_the_client_names)
{
    uint64_t f;

    start();
    cr_assert_eq(v_open(&v, "/cut", N_O_RDWR | N_O_CREAT, &f), 0);
    cr_assert_eq(v_write(&v, f, 0, "0123456789", 10), 10);
    const struct file_request cut = {.sfid = f, .offset = 4, .bytes = 5};
    cr_expect_eq(volume_request(&v, N_FTRUNCATE, cut, NULL, NULL, NULL), -N_EAGAIN, "from 9 bytes");
    cr_expect_eq(v_append(&v, f, "x", 1), 1);
    const struct file_request other = {.sfid = f, .offset = 4, .bytes = 7};
    cr_expect_eq(volume_request(&v, N_FTRUNCATE, other, NULL, NULL, NULL), 0, "from 11 bytes");
    cr_expect_eq(v_append(&v, f, "x", 1), 1);
    const struct file_request again = {.sfid = f, .offset = 0, .bytes = 5};
    cr_expect_eq(volume_request(&v, N_FTRUNCATE, again, NULL, NULL, NULL), 0, "it had been cut to 4");
    finish();
}

static int32_t lock(const char *folder, uint32_t number, uint64_t *sfid)
{
    struct file_opened opened;
    int32_t status =
        volume_request(&v, N_FOPEN, (struct file_request){.flags = N_O_LOCK, .mode = number}, folder, NULL, NULL);

    if (status == 0)
        memcpy(&opened, v.reply + sizeof(struct file_reply), sizeof opened);
    *sfid = status == 0 ? opened.sfid : 0;
    return status;
}

/* A volume's locks: each number is one process's at a time, 0 excludes all others, and an end gives all back. */
Test(serve, a_lock_is_one_clients_until_its_close_or_end)
{
    uint64_t all, one, two;

    start();
    cr_assert_eq(lock("/", 7, &one), 0);
    cr_expect_eq(lock("/f", 8, &two), -N_EINVAL, "not of a folder");
    v.client++;
    cr_expect_eq(lock("/", 7, &two), -N_EAGAIN);
    cr_expect_eq(lock("/", 0, &all), -N_EAGAIN);
    cr_assert_eq(lock("/", 8, &two), 0);
    v.client--;
    cr_assert_eq(v_close(&v, one), 0);
    cr_expect_eq(lock("/", 0, &all), -N_EAGAIN, "the other has one");
    v.client++;
    cr_assert_eq(v_exit(&v), 0);
    v.client--;
    cr_assert_eq(lock("/", 0, &all), 0);
    cr_expect_eq(lock("/", 7, &one), -N_EAGAIN);
    uint8_t byte;
    cr_expect_eq(v_read(&v, all, 0, &byte, 1), -N_EBADF);
    cr_assert_eq(v_close(&v, all), 0);
    cr_assert_eq(lock("/", 7, &one), 0);
    cr_assert_eq(v_close(&v, one), 0);
    finish();
}

Test(serve, stat_tells_everything)
{
    struct file_stat st;
    struct file_statfs fs;
    uint64_t sfid;

    start();
    cr_assert_eq(v_stat(&v, "/f", &st), 0);
    cr_assert_eq(st.size_bytes, 8);
    cr_assert_eq(st.mode, 0100644);
    cr_assert_eq(st.nlink, 1);
    cr_assert_eq(st.blocks_512, 2);
    cr_assert_eq(st.block_bytes, 1024);
    cr_assert_eq(st.dev, VOLUME_NODE << 8);
    int64_t before = st.mtime_s;
    cr_assert_gt(before, 820454400);
    cr_assert_lt(before, 820454400 + 1000);
    v_open(&v, "/f", N_O_RDWR, &sfid);
    v_write(&v, sfid, 0, "x", 1);
    cr_assert_eq(v_fstat(&v, sfid, &st), 0);
    cr_assert_gt(st.mtime_s, before);
    cr_assert_eq(v_statfs(&v, &fs), 0);
    cr_assert_eq(fs.block_bytes, 1024);
    cr_assert_eq(fs.blocks, 2048);
    cr_assert_lt(fs.blocks_free, 2048);
    cr_assert_lt(fs.inodes_free, fs.inodes);
    finish();
}

Test(serve, messages_at_random_do_no_harm)
{
    cr_assert_null(fuzz_messages(20000, 1, 0));
}
