/* Requests for the host's files, as nodes send them: what they do, whose the files are, and what is refused. */
#define _GNU_SOURCE
#include "tests/emu/served.h"

#include <criterion/criterion.h>
#include <errno.h>

HOSTFS_SUITE;

/* ---- Files ---- */

Test(hostfs, a_file_is_made_written_read_and_measured)
{
    struct file_stat st;
    uint64_t f = open_name("new", N_O_RDWR | N_O_CREAT | N_O_EXCL);

    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = f, .data = "abcdef", .bytes = 6}), 6);
    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = f, .data = "XY", .bytes = 2, .offset = 2}), 2);
    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = f, .data = "gh", .bytes = 2, .flags = N_O_APPEND}), 2);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 100, .offset = 1}), 7);
    cr_expect_eq(payload_bytes, 7);
    cr_expect_eq(memcmp(payload, "bXYefgh", 7), 0);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 100, .offset = 8}), 0, "at the end");
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 100, .offset = 800}), 0, "beyond the end");

    cr_expect_eq(ask((struct ask){N_FSTAT, .sfid = f}), 0);
    cr_assert_eq(payload_bytes, sizeof st);
    memcpy(&st, payload, sizeof st);
    cr_expect_eq(st.size_bytes, 8);
    cr_expect_eq(st.blocks_512, 1);
    cr_expect_eq(st.dev, NODE_HOST << 8);
    cr_expect(S_ISREG(st.mode));

    cr_expect_eq(ask((struct ask){N_FTRUNCATE, .sfid = f, .offset = 3}), 0);
    cr_expect_eq(ask((struct ask){N_FSYNC, .sfid = f}), 0);
    cr_expect_eq(ask((struct ask){N_FVIEW, .sfid = f, .data = "a view", .bytes = 6}), -N_ENOTSUP);
    cr_expect_eq(ask((struct ask){N_FCLOSE, .sfid = f}), 0);
    cr_expect_eq(ask((struct ask){N_FSTATNAME, .name = "new"}), 0);
    memcpy(&st, payload, sizeof st);
    cr_expect_eq(st.size_bytes, 3);
    cr_expect_eq(host->files.used, 0);
    expect_all_closed();
}

Test(hostfs, the_longest_read_and_write_go_through)
{
    uint8_t *data = malloc(FILE_IO_MAX_BYTES);
    uint64_t f = open_name("big", N_O_RDWR | N_O_CREAT);

    for (size_t i = 0; i < FILE_IO_MAX_BYTES; i++)
        data[i] = i * 7 % 253;
    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = f, .data = data, .bytes = FILE_IO_MAX_BYTES}), FILE_IO_MAX_BYTES);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = FILE_IO_MAX_BYTES}), FILE_IO_MAX_BYTES);
    cr_expect_eq(memcmp(payload, data, FILE_IO_MAX_BYTES), 0);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = FILE_IO_MAX_BYTES + 1}), -N_EPROTO);
    free(data);
}

/* At one size on all hosts, though this one may hold less. */
Test(hostfs, the_largest_file_ends_at_the_same_byte_everywhere)
{
    uint64_t f = open_name("new", N_O_RDWR | N_O_CREAT);
    int32_t put =
        ask((struct ask){N_FWRITE, .sfid = f, .data = "text", .bytes = 4, .offset = HOSTFS_FILE_MAX_BYTES - 3});

    cr_expect(put == 3 || put == -N_EFBIG, "%d", put);
    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = f, .data = "x", .bytes = 1, .offset = HOSTFS_FILE_MAX_BYTES}),
                 -N_EFBIG);
    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = f, .data = "x", .bytes = 1, .offset = INT64_MAX}), -N_EFBIG);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 1, .offset = INT64_MAX}), 0);
    cr_expect_eq(ask((struct ask){N_FTRUNCATE, .sfid = f, .offset = INT64_MAX}), -N_EFBIG);
}

/* N_FTRUNCATE with a number of bytes. */
Test(hostfs, a_file_is_cut_only_from_the_size_that_the_client_names)
{
    uint64_t f = open_name("new", N_O_RDWR | N_O_CREAT), reader = open_name("new", N_O_RDONLY);

    cr_assert_eq(ask((struct ask){N_FWRITE, .sfid = f, .data = "0123456789", .bytes = 10}), 10);
    cr_expect_eq(ask((struct ask){N_FTRUNCATE, .sfid = f, .offset = 4, .bytes = 5}), -N_EAGAIN, "from 9 bytes");
    cr_expect_eq(ask((struct ask){N_FTRUNCATE, .sfid = reader, .offset = 4, .bytes = 6}), -N_EINVAL, "only read");
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 20}), 10);
    cr_expect_eq(ask((struct ask){N_FTRUNCATE, .sfid = f, .offset = 4, .bytes = 6}), 0, "from 10 bytes");
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 20}), 4);
    cr_expect_eq(ask((struct ask){N_FTRUNCATE, .sfid = f, .offset = 0, .bytes = 10}), -N_EAGAIN, "it has been cut");
    cr_expect_eq(ask((struct ask){N_FCLOSE, .sfid = reader}), 0);
    cr_expect_eq(ask((struct ask){N_FCLOSE, .sfid = f}), 0);
}

static int32_t count(uint64_t sfid, uint64_t owner, int64_t value, struct file_counter *k)
{
    *k = (struct file_counter){owner, value};
    int32_t status = ask((struct ask){N_FADD, .sfid = sfid, .data = k, .bytes = sizeof *k});

    if (status == 0 && payload_bytes == sizeof *k)
        memcpy(k, payload, sizeof *k);
    return status;
}

Test(hostfs, a_counter_lives_as_long_as_its_file_and_is_added_to_by_all_that_have_that_file_open)
{
    uint64_t first = open_name("new", N_O_RDWR | N_O_CREAT), second = open_name("new", N_O_RDONLY);
    uint64_t other = open_name("file", N_O_RDONLY);
    struct file_counter k;

    cr_expect_eq(count(first, first, 1, &k), -N_ESTALE, "before it is made");
    cr_expect_eq(count(first, 0, -1, &k), -N_EINVAL);
    cr_expect_eq(count(first, first, 1, &k), -N_ESTALE, "it was not made");
    cr_expect_eq(count(first, 0, 40, &k), 0);
    cr_expect(k.owner == first && k.value == 0);
    cr_expect_eq(count(second, first, 2, &k), 0);
    cr_expect(k.owner == first && k.value == 40);
    cr_expect_eq(count(second, first, -1, &k), -N_EINVAL);
    cr_expect_eq(count(second, first, INT64_MAX, &k), -N_EOVERFLOW);
    cr_expect_eq(count(other, first, 1, &k), -N_EBADF, "by another file");
    cr_expect_eq(count(second, 12345, 1, &k), -N_ESTALE, "no such owner");
    cr_expect_eq(count(SFID_STDOUT, 0, 1, &k), -N_EINVAL, "of a stream");
    cr_expect_eq(ask((struct ask){N_FADD, .sfid = second, .data = "short", .bytes = 5}), -N_EPROTO);
    cr_expect_eq(count(first, 0, 5, &k), 0);
    cr_expect_eq(k.value, 42);
    cr_expect_eq(ask((struct ask){N_FCLOSE, .sfid = first}), 0);
    cr_expect_eq(count(second, first, 1, &k), -N_ESTALE, "its file is closed");
}

Test(hostfs, open_flags_mean_what_they_say)
{
    static const struct {
        const char *name;
        const char *file;
        uint32_t flags;
        int32_t expected;
    } cases[] = {
        {"missing", "none", N_O_RDONLY, -N_ENOENT},
        {"exclusive, but there", "file", N_O_WRONLY | N_O_CREAT | N_O_EXCL, -N_EEXIST},
        {"a folder to write", "sub", N_O_WRONLY, -N_EISDIR},
        {"a folder to read", "sub", N_O_RDONLY, 0},
        {"a folder wanted", "sub", N_O_DIRECTORY, 0},
        {"a folder wanted, a file found", "file", N_O_DIRECTORY, -N_ENOTDIR},
        {"a file as a folder", "file/x", N_O_RDONLY, -N_ENOTDIR},
        {"access mode 3", "file", N_O_ACCMODE, -N_EINVAL},
        {"cut, but only read", "file", N_O_RDONLY | N_O_TRUNC, -N_EINVAL},
        {"an unknown flag", "file", 0x10000000, -N_EINVAL},
        {"a folder made by open", "newdir", N_O_CREAT | N_O_DIRECTORY, -N_EINVAL},
        {"appending", "file", N_O_WRONLY | N_O_APPEND, 0},
        {"cut", "file", N_O_WRONLY | N_O_TRUNC, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(ask((struct ask){N_FOPEN, .name = cases[i].file, .flags = cases[i].flags, .mode = 0600}),
                     cases[i].expected, "%s: %d", cases[i].name, head.status);
    cr_expect_eq(ask((struct ask){N_FSTATNAME, .name = "file"}), 0);
    cr_expect_eq(((const struct file_stat *)payload)->size_bytes, 0, "it was cut");
    cr_expect_not(exists("in/newdir"));
    expect_all_closed();
}

Test(hostfs, access_follows_the_way_a_file_was_opened)
{
    uint64_t r = open_name("file", N_O_RDONLY), w = open_name("file", N_O_WRONLY), d = open_name("sub", 0);

    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = r, .data = "x", .bytes = 1}), -N_EBADF);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = w, .bytes = 1}), -N_EBADF);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = d, .bytes = 1}), -N_EISDIR);
    cr_expect_eq(ask((struct ask){N_FREADDIR, .sfid = r, .bytes = 100}), -N_ENOTDIR);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = r, .bytes = 1, .offset = UINT64_MAX}), -N_EINVAL);
    expect_all_closed();
}

Test(hostfs, no_time_from_after_the_start_of_the_machine_is_told)
{
    static const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 2000}};
    struct file_stat st;

    cr_assert_eq(utimensat(AT_FDCWD, scratch_path(&dir, "in/file"), old, 0), 0);
    cr_expect_eq(ask((struct ask){N_FSTATNAME, .name = "file"}), 0);
    memcpy(&st, payload, sizeof st);
    cr_expect_eq(st.mtime_s, 2000, "input keeps its time");
    cr_expect_eq(st.atime_s, 2000);

    static const struct timespec late[2] = {{.tv_sec = 1ll << 33}, {.tv_sec = 1ll << 33}};
    cr_assert_eq(utimensat(AT_FDCWD, scratch_path(&dir, "in/file"), late, 0), 0);
    cr_expect_eq(ask((struct ask){N_FSTATNAME, .name = "file"}), 0);
    memcpy(&st, payload, sizeof st);
    cr_expect_eq(st.mtime_s, 0);
    cr_expect_eq(st.atime_s, 0);
}

/* ---- Clients ---- */

Test(hostfs, a_closed_file_is_stale_even_when_its_entry_is_used_again)
{
    uint64_t old = open_name("file", N_O_RDONLY);

    cr_assert_eq(ask((struct ask){N_FCLOSE, .sfid = old}), 0);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = old, .bytes = 1}), -N_ESTALE);
    uint64_t new = open_name("file", N_O_RDONLY);
    cr_expect_neq(new, old);
    cr_expect_eq((uint32_t) new, (uint32_t)old, "the same entry");
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = old, .bytes = 1}), -N_ESTALE);
    cr_expect_eq(ask((struct ask){N_FCLOSE, .sfid = old}), -N_ESTALE);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = new, .bytes = 1}), 1);
}

Test(hostfs, a_client_has_no_use_for_another_clients_files)
{
    uint64_t f = open_name("file", N_O_RDONLY);
    static const uint64_t invented[] = {3, 0xffffffff, 0x100000000ull << 20, 0x1000000ffull, UINT64_MAX};

    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 1, .node = 1}), -N_EBADF, "another node");
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 1, .procid = 1}), -N_EBADF, "another process");
    cr_expect_eq(ask((struct ask){N_FCLOSE, .sfid = f, .node = 1}), -N_EBADF);
    cr_expect_eq(ask((struct ask){N_FEXIT, .node = 1}), 0);
    for (size_t i = 0; i < sizeof invented / sizeof *invented; i++)
        cr_expect_lt(ask((struct ask){N_FREAD, .sfid = invented[i], .bytes = 1}), 0, "%lx", (long)invented[i]);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 1}), 1, "it is still open");
    cr_expect_eq(ask((struct ask){.type = N_FEXIT}), 0);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 1}), -N_ESTALE);
    cr_expect_eq(host->files.used, 0);
}

Test(hostfs, a_file_is_open_until_all_that_share_it_have_closed_it)
{
    uint64_t f = open_name("file", N_O_RDONLY), g = open_name("file", N_O_RDONLY);

    cr_expect_eq(ask((struct ask){N_FFORK, .mode = PROCS_MAX}), -N_EINVAL);
    cr_expect_eq(ask((struct ask){N_FFORK, .mode = 3}), 0);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 1, .procid = 3}), 1);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 1, .procid = 3, .node = 1}), -N_EBADF);
    cr_expect_eq(ask((struct ask){N_FCLOSE, .sfid = f}), 0);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 1}), -N_EBADF, "who has closed it has it no more");
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 1, .procid = 3}), 1);
    cr_expect_eq(ask((struct ask){N_FCLOSE, .sfid = f, .procid = 3}), 0);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 1, .procid = 3}), -N_ESTALE);
    cr_expect_eq(ask((struct ask){.type = N_FEXIT}), 0);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = g, .bytes = 1, .procid = 3}), 1, "its opener has ended");
    cr_expect_eq(ask((struct ask){N_FEXIT, .procid = 3}), 0);
    cr_expect_eq(host->files.used, 0);
    cr_expect_eq(host->files.host.count, 0);
}

Test(hostfs, one_client_cannot_take_all_the_files)
{
    for (uint32_t i = 0; i < OPEN_FILES_CLIENT; i++)
        open_name("file", N_O_RDONLY);
    cr_expect_eq(ask((struct ask){N_FOPEN, .name = "file"}), -N_EMFILE);
    cr_expect_eq(ask((struct ask){N_FOPEN, .name = "file", .node = 1}), 0, "others still can");
    hostfs_drop_node(host, 0);
    cr_expect_eq(host->files.used, 1);
    open_name("file", N_O_RDONLY);
}

/* Two clients of each of 8192 nodes; descriptors are scarce, SFIDs are not. */
Test(hostfs, a_file_that_all_nodes_have_open_takes_one_descriptor)
{
    static uint64_t sfid[8192][2];
    const uint32_t nodes = 8192;

    for (uint32_t node = 0; node < nodes; node++)
        for (uint32_t procid = 0; procid < 2; procid++) {
            struct file_opened opened;

            cr_assert_eq(ask((struct ask){N_FOPEN, .name = "file", .node = node, .procid = procid}), 0);
            memcpy(&opened, payload, sizeof opened);
            sfid[node][procid] = opened.sfid;
        }
    cr_expect_eq(host->files.used, 2 * nodes);
    cr_expect_eq(host->files.host.count, 1, "%u descriptors", host->files.host.count);
    for (uint32_t node = 0; node < nodes; node += 1000) {
        cr_expect_eq(
            ask((struct ask){N_FREAD, .sfid = sfid[node][1], .bytes = 9, .offset = 1, .node = node, .procid = 1}), 4);
        cr_expect_arr_eq(payload, "ello", 4);
    }
    for (uint32_t node = 0; node < nodes; node++) {
        hostfs_drop_node(host, node);
        cr_assert_eq(host->files.used, 2 * (nodes - 1 - node));
        cr_assert_eq(host->files.host.count, node + 1 < nodes);
    }
}

Test(hostfs, descriptors_are_shared_by_those_who_open_alike)
{
    static const struct {
        const char *name;
        uint32_t flags;
        uint32_t descriptors; /* after this one, too */
    } opens[] = {
        {"file", N_O_RDONLY, 1}, {"./sub/../file", N_O_RDONLY, 1},
        {"file", N_O_WRONLY, 2}, {"file", N_O_WRONLY | N_O_APPEND, 2},
        {"file", N_O_RDONLY, 3}, /* the old one could show what was before: hostfiles.h */
        {"file", N_O_RDONLY, 3}, {"file", N_O_RDWR, 4},
        {"sub", N_O_RDONLY, 5},  {"sub", N_O_RDONLY | N_O_DIRECTORY, 5},
        {"good", N_O_RDONLY, 6}, {"sub/deep", N_O_RDONLY, 6},
    };

    for (size_t i = 0; i < sizeof opens / sizeof *opens; i++) {
        open_name(opens[i].name, opens[i].flags);
        cr_expect_eq(host->files.host.count, opens[i].descriptors, "open %zu: %u", i, host->files.host.count);
    }
    hostfs_drop_node(host, 0);
    cr_expect_eq(host->files.host.count, 0);
}

/* Two files whose numbers fall into one chain of the table of open files; any HOST_FILES_CHAINS + 1 have such a
 * pair. */
static void make_pair(char first[32], char second[32])
{
    static uint32_t made_by[HOST_FILES_CHAINS]; /* the number of the file + 1 */

    for (uint32_t i = 1;; i++) {
        struct stat st;

        snprintf(second, 32, "pair%u", i);
        char *path = (char *)scratch_path(&dir, "in/");
        strcat(path, second);
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        cr_assert(fd >= 0 && fstat(fd, &st) == 0);
        cr_assert_eq(write(fd, &i, sizeof i), (ssize_t)sizeof i);
        close(fd);
        uint32_t *other = &made_by[(st.st_ino ^ st.st_dev) % HOST_FILES_CHAINS];
        if (*other > 0) {
            snprintf(first, 32, "pair%u", *other);
            return;
        }
        *other = i;
    }
}

Test(hostfs, files_in_one_chain_of_the_table_are_two_files)
{
    char name[2][32];
    uint64_t sfid[2];
    uint32_t number, written;

    make_pair(name[0], name[1]);
    for (int i = 0; i < 2; i++)
        sfid[i] = open_name(name[i], N_O_RDONLY);
    cr_expect_eq(host->files.host.count, 2);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(ask((struct ask){N_FREAD, .sfid = sfid[i], .bytes = sizeof number}), sizeof number);
        memcpy(&number, payload, sizeof number);
        sscanf(name[i], "pair%u", &written);
        cr_expect_eq(number, written, "%s has %u", name[i], number);
    }
}

Test(hostfs, a_file_that_others_have_open_is_closed_without_error)
{
    uint64_t first = open_name("file", N_O_RDONLY), second = open_name("file", N_O_RDONLY);

    cr_expect_eq(ask((struct ask){N_FCLOSE, .sfid = first}), 0);
    cr_expect_eq(host->files.host.count, 1);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = second, .bytes = 5}), 5);
    cr_expect_eq(ask((struct ask){N_FCLOSE, .sfid = second}), 0);
    cr_expect_eq(host->files.host.count, 0);
}

/* ---- "/tmp" in memory ---- */

Test(hostfs, a_folder_tmp_is_served_like_any_other)
{
    hostfs_free(host);
    cr_assert_eq(mkdir(scratch_path(&dir, "in/tmp"), 0755), 0);
    start_serving(scratch_path(&dir, "in"));
    open_name("/tmp/made", N_O_RDWR | N_O_CREAT);
    cr_expect(exists("in/tmp/made"));
}

Test(hostfs, without_a_folder_tmp_its_files_are_in_memory)
{
    static const struct {
        const char *how;
        uint32_t type;
        const char *name, *name2;
        uint32_t flags;
        int32_t expected;
    } steps[] = {
        {"open itself", N_FOPEN, "/tmp", NULL, N_O_RDONLY, -N_EACCES},
        {"write itself", N_FOPEN, "/tmp/", NULL, N_O_WRONLY, -N_EISDIR},
        {"open none", N_FOPEN, "/tmp/a", NULL, N_O_RDONLY, -N_ENOENT},
        {"make", N_FOPEN, "/tmp/a", NULL, N_O_RDWR | N_O_CREAT | N_O_EXCL, 0},
        {"make again", N_FOPEN, "tmp/a", NULL, N_O_RDWR | N_O_CREAT | N_O_EXCL, -N_EEXIST},
        {"stat", N_FSTATNAME, "//./tmp//a", NULL, 0, 0},
        {"access", N_FACCESS, "/tmp/a", NULL, 0, 0},
        {"access none", N_FACCESS, "/tmp/b", NULL, 0, -N_ENOENT},
        {"rename", N_FRENAME, "/tmp/a", "/tmp/b", 0, 0},
        {"rename none", N_FRENAME, "/tmp/a", "/tmp/b", 0, -N_ENOENT},
        {"rename to itself", N_FRENAME, "/tmp/b", "/tmp/b", 0, 0},
        {"rename below", N_FRENAME, "/tmp/b", "/tmp/c/d", 0, -N_ENOENT},
        {"link text of a file", N_FREADLINK, "/tmp/b", NULL, 0, -N_EINVAL},
        {"link text of none", N_FREADLINK, "/tmp/c", NULL, 0, -N_ENOENT},
        {"link text of itself", N_FREADLINK, "/tmp", NULL, 0, -N_EINVAL},
        {"rename out", N_FRENAME, "/tmp/b", "/b", 0, -N_EXDEV},
        {"rename in", N_FRENAME, "/file", "/tmp/file", 0, -N_EXDEV},
        {"link", N_FLINK, "/tmp/b", "/tmp/c", 0, -N_EPERM},
        {"mkdir", N_FMKDIR, "/tmp/d", NULL, 0, -N_EPERM},
        {"mkdir of itself", N_FMKDIR, "/tmp", NULL, 0, -N_EEXIST},
        {"stat of itself", N_FSTATNAME, "/tmp/", NULL, 0, 0},
        {"below a file", N_FOPEN, "/tmp/b/c", NULL, N_O_RDWR | N_O_CREAT, -N_ENOTDIR},
        {"unlink", N_FUNLINK, "/tmp/b", NULL, 0, 0},
        {"unlink none", N_FUNLINK, "/tmp/b", NULL, 0, -N_ENOENT},
        {"unlink itself", N_FUNLINK, "/tmp", NULL, 0, -N_EISDIR},
        {"rmdir itself", N_FRMDIR, "/tmp", NULL, 0, -N_EPERM},
        {"another name", N_FOPEN, "/tmpfile", NULL, N_O_RDONLY, -N_ENOENT},
    };

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        cr_expect_eq(ask((struct ask){steps[i].type, .name = steps[i].name, .name2 = steps[i].name2,
                                      .flags = steps[i].flags, .mode = steps[i].type == N_FOPEN ? 0600 : 0}),
                     steps[i].expected, "%s: %d", steps[i].how, head.status);
    cr_expect_not(exists("in/tmp"));
    expect_all_closed();
}

Test(hostfs, files_in_memory_are_bounded_numbered_and_outlive_their_names)
{
    char name[20];
    uint64_t f = open_name("/tmp/f", N_O_RDWR | N_O_CREAT);
    struct file_stat st;

    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = f, .data = "text", .bytes = 4}), 4);
    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = f, .data = "x", .bytes = 1, .offset = TMP_FILE_MAX_BYTES}),
                 -N_EFBIG);
    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = f, .data = "text", .bytes = 4, .offset = TMP_FILE_MAX_BYTES - 3}),
                 3);
    cr_expect_eq(ask((struct ask){N_FTRUNCATE, .sfid = f, .offset = TMP_FILE_MAX_BYTES + 1}), -N_EFBIG);
    cr_expect_eq(ask((struct ask){N_FTRUNCATE, .sfid = f, .offset = 4}), 0);
    cr_expect_eq(ask((struct ask){N_FOPEN, .name = "/tmp/f/g", .flags = N_O_RDWR | N_O_CREAT}), -N_ENOTDIR);
    cr_expect_eq(ask((struct ask){N_FSTATNAME, .name = "/tmp/none/g"}), -N_ENOENT);
    uint64_t r = open_name("/tmp/f", N_O_RDONLY);
    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = r, .data = "text", .bytes = 4}), -N_EBADF);
    cr_expect_eq(ask((struct ask){N_FUNLINK, .name = "/tmp/f"}), 0);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = r, .bytes = 10}), 4);
    cr_expect_eq(memcmp(payload, "text", 4), 0);
    cr_expect_eq(ask((struct ask){N_FSTAT, .sfid = r}), 0);
    memcpy(&st, payload, sizeof st);
    uint64_t ino = st.ino;
    open_name("/tmp/g", N_O_RDWR | N_O_CREAT);
    cr_expect_eq(ask((struct ask){N_FSTATNAME, .name = "/tmp/g"}), 0);
    memcpy(&st, payload, sizeof st);
    cr_expect_eq(st.ino, ino + 1, "numbers are the order's, not the host's");
    for (unsigned i = 1; i < TMP_FILES_MAX; i++) {
        snprintf(name, sizeof name, "/tmp/%u", i);
        uint64_t one = open_name(name, N_O_RDWR | N_O_CREAT);
        cr_expect_eq(ask((struct ask){N_FCLOSE, .sfid = one}), 0);
    }
    cr_expect_eq(ask((struct ask){N_FOPEN, .name = "/tmp/more", .flags = N_O_RDWR | N_O_CREAT}), -N_ENOSPC);
}

/* ---- Streams ---- */

Test(hostfs, streams_are_read_and_written_by_every_client)
{
    char seen[20] = "";
    struct file_stat st;

    cr_assert_eq(write(in_end, "line\nmore", 9), 9);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = SFID_STDIN, .bytes = 100, .node = 3}), 5);
    cr_expect_eq(memcmp(payload, "line\n", 5), 0);
    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = SFID_STDOUT, .data = "out", .bytes = 3, .node = 5}), 3);
    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = SFID_STDERR, .data = "err", .bytes = 3}), 3);
    cr_expect_eq(read(out_end, seen, sizeof seen), 6);
    cr_expect_str_eq(seen, "outerr");

    cr_expect_eq(ask((struct ask){N_FSTAT, .sfid = SFID_STDOUT}), 0);
    memcpy(&st, payload, sizeof st);
    cr_expect(S_ISCHR(st.mode));
    cr_expect_eq(ask((struct ask){N_FCLOSE, .sfid = SFID_STDOUT}), 0);
    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = SFID_STDIN, .data = "x", .bytes = 1}), -N_EBADF);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = SFID_STDOUT, .bytes = 1}), -N_EBADF);
    cr_expect_eq(ask((struct ask){N_FTRUNCATE, .sfid = SFID_STDOUT}), -N_EINVAL);
    cr_expect_eq(ask((struct ask){N_FSYNC, .sfid = SFID_STDOUT}), -N_EINVAL);
    cr_expect_eq(ask((struct ask){N_FREADDIR, .sfid = SFID_STDIN, .bytes = 100}), -N_ENOTDIR);
    close(out_end);
    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = SFID_STDOUT, .data = "x", .bytes = 1}), -N_EPIPE);
}

Test(hostfs, a_terminal_among_the_streams_is_told_from_the_others)
{
    static const struct {
        uint64_t sfid;
        uint32_t mode;
    } expected[] = {{SFID_STDIN, FILE_STREAM_MODE}, {SFID_STDOUT, FILE_TERMINAL_MODE}, {SFID_STDERR, FILE_STREAM_MODE}};
    int terminal = posix_openpt(O_RDWR | O_NOCTTY), null = open("/dev/null", O_RDWR);
    struct file_stat st;

    cr_assert(null >= 0);
    if (terminal < 0)
        cr_skip_test("no terminal can be made here: %s (is /dev/pts mounted?)", strerror(errno));
    streams_free(&streams);
    cr_assert_eq(streams_init(&streams, null, terminal, in_end, NULL, NULL), 0);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        cr_expect_eq(ask((struct ask){N_FSTAT, .sfid = expected[i].sfid}), 0);
        memcpy(&st, payload, sizeof st);
        cr_expect_eq(st.mode, expected[i].mode, "stream %zu: mode %o", i, st.mode);
    }
    close(terminal);
    close(null);
}

/* ---- Malformed messages ---- */

static int32_t send_raw(uint32_t type, const void *bytes, size_t n)
{
    const void *reply;
    size_t reply_bytes = hostfs_request(host, 0, 0, type, bytes, n, &reply);

    return reply_bytes ? take_reply(reply, reply_bytes) : 1;
}

Test(hostfs, malformed_requests_change_nothing)
{
    struct {
        struct file_request r;
        char tail[24];
    } m = {.tail = "newdir/and some more"};

    cr_expect_eq(send_raw(N_FMKDIR, &m, sizeof m.r - 1), 1, "no header, no reply");
    m.r.name_bytes = 6;
    cr_expect_eq(send_raw(N_FMKDIR, &m, sizeof m.r + 5), -N_EPROTO, "shorter than it says");
    cr_expect_eq(send_raw(N_FMKDIR, &m, sizeof m.r + 7), -N_EPROTO, "longer than it says");
    m.r.name2_bytes = 3;
    cr_expect_eq(send_raw(N_FMKDIR, &m, sizeof m.r + 9), -N_EPROTO, "a second name where none belongs");
    m.r.name2_bytes = 0;
    m.tail[3] = '\0';
    cr_expect_eq(send_raw(N_FMKDIR, &m, sizeof m.r + 6), -N_EPROTO, "a NUL in the name");
    m.tail[3] = 'd';
    m.r.drive = 1;
    cr_expect_eq(send_raw(N_FMKDIR, &m, sizeof m.r + 6), -N_ENODEV, "a second drive");
    m.r.drive = 0;
    cr_expect_eq(send_raw(0x803f, &m, sizeof m.r + 6), -N_ENOSYS, "an unknown request");
    m.r.bytes = UINT32_MAX;
    m.r.name_bytes = 0;
    m.r.sfid = SFID_STDOUT;
    cr_expect_eq(send_raw(N_FWRITE, &m, sizeof m), -N_EPROTO, "more data than there is");
    cr_expect_not(exists("in/newdir"));
    cr_expect_eq(send_raw(N_FMKDIR, &(struct file_request){0}, sizeof m.r), -N_EPROTO, "no name at all");
    expect_all_closed();
}

Test(hostfs, random_requests_do_no_harm)
{
    static const char *const names[] = {"file", "../secret", "sub/x", "up/outside", "/", "good", "."};
    unsigned seed = 1;
    uint8_t data[64] = {0};

    for (int i = 0; i < 20000; i++) {
        uint32_t type = N_FOPEN + rand_r(&seed) % 23;
        bool two = type == N_FRENAME || type == N_FLINK, wild = rand_r(&seed) % 4 == 0;
        uint32_t bytes = rand_r(&seed) % sizeof data;
        uint64_t sfid = (uint64_t)(rand_r(&seed) % 4 + 1) << 32 | rand_r(&seed) % 20;
        bool named = type == N_FOPEN || (type >= N_FSTATNAME && type <= N_FRMDIR) || type == N_FACCESS;

        ask((struct ask){
            .type = type,
            .name = named || wild ? names[rand_r(&seed) % 7] : NULL,
            .name2 = two || wild ? names[rand_r(&seed) % 7] : NULL,
            .flags = rand_r(&seed) % 3 ? rand_r(&seed) % 4 | (rand_r(&seed) & 0xe08) : rand_r(&seed),
            .mode = rand_r(&seed) % 8 | 0600,
            .sfid = sfid,
            .offset = rand_r(&seed) % 100,
            .bytes = bytes,
            .data = type == N_FWRITE || wild ? data : NULL,
            .node = rand_r(&seed) % 3,
            .procid = rand_r(&seed) % 2,
        });
    }
    char secret[10];
    cr_expect_eq(scratch_read(&dir, "secret", secret, sizeof secret), 6);
    cr_expect(exists("outside"));
    cr_expect_not(exists("x"));
    expect_all_closed();
}
