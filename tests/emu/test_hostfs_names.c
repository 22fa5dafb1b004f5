/* Names of the host's files: that none leads out of the folder that is served, what names can do, folders. */
#include "tests/emu/served.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

HOSTFS_SUITE;

/* ---- Containment ---- */

/* The folder is the root of all names, and its own parent. Files outside do not exist. */
Test(hostfs, no_name_leads_out_of_the_folder)
{
    const struct {
        const char *how;
        const char *name;
    } names[] = {
        {"parent", "../secret"},
        {"parent within", "sub/../../secret"},
        {"deep parent", "sub/../../in/../secret"},
        {"link out", "bad"},
        {"absolute link", "abs"},
        {"through a link up", "up/secret"},
        {"absolute", "/etc/passwd"},
        {"procfs", "/proc/self/fd/0"},
        {"absolute parent", "/../secret"},
        {"the folder by its host name", scratch_path(&dir, "in/file")},
        {"a folder outside", "../outside"},
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *how = names[i].how, *name = names[i].name;
        static const uint32_t types[] = {N_FOPEN, N_FSTATNAME, N_FACCESS, N_FSETATTRNAME};
        const struct file_attr attr = {.what = FILE_ATTR_MODE, .mode = 0777};

        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            bool sets = types[t] == N_FSETATTRNAME;
            struct ask a = {types[t], .name = name, .data = sets ? &attr : NULL, .bytes = sets ? sizeof attr : 0};

            cr_expect_eq(ask(a), -N_ENOENT, "0x%x, %s: %d", types[t], how, head.status);
        }
    }
    expect_all_closed();
}

Test(hostfs, above_the_root_is_the_root)
{
    static const char *const names[] = {"/", "//", ".", "..", "/..", "up", "up/up", "sub/../..", "/../..", "up/.."};
    struct file_stat st;
    uint64_t root_ino;

    cr_assert_eq(ask((struct ask){N_FSTATNAME, .name = "sub/.."}), 0);
    root_ino = ((const struct file_stat *)payload)->ino;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        cr_expect_eq(ask((struct ask){N_FSTATNAME, .name = names[i]}), 0, "%s: %d", names[i], head.status);
        memcpy(&st, payload, sizeof st);
        cr_expect(S_ISDIR(st.mode) && st.ino == root_ino, "%s", names[i]);
        cr_expect_eq(ask((struct ask){N_FRMDIR, .name = names[i]}),
                     !strcmp(names[i], "up")      ? -N_ENOTDIR
                     : !strcmp(names[i], "up/up") ? -N_ENOTDIR
                     : !strcmp(names[i], ".")     ? -N_EINVAL
                                                  : -N_EBUSY,
                     "rmdir %s: %d", names[i], head.status);
    }
}

Test(hostfs, what_is_made_is_inside)
{
    static const struct {
        const char *name, *where;
    } names[] = {{"../new", "new"},
                 {"up/new", "new"},
                 {"/new", "new"},
                 {"sub/../../new", "new"},
                 {"/sub/../../sub/new", "sub/new"},
                 {"up/sub/new", "sub/new"},
                 {"/subin/new", "sub/new"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *name = names[i].name;
        char inside[60];

        snprintf(inside, sizeof inside, "in/%s", names[i].where);
        cr_expect_eq(ask((struct ask){N_FOPEN, .name = name, .flags = N_O_CREAT | N_O_RDWR, .mode = 0644}), 0);
        cr_expect(exists(inside), "%s", name);
        cr_expect_eq(ask((struct ask){N_FUNLINK, .name = name}), 0, "%s", name);
        cr_expect_eq(ask((struct ask){N_FMKDIR, .name = name, .mode = 0755}), 0, "%s", name);
        cr_expect(exists(inside), "%s", name);
        cr_expect_eq(ask((struct ask){N_FRMDIR, .name = name}), 0, "%s", name);
        cr_expect_eq(ask((struct ask){N_FLINK, .name = "file", .name2 = name}), 0, "%s", name);
        cr_expect_eq(ask((struct ask){N_FRENAME, .name = name, .name2 = "file"}), 0, "%s", name);
        cr_expect_eq(ask((struct ask){N_FUNLINK, .name = name}), 0, "%s: a rename to another link does nothing", name);
        cr_expect_eq(ask((struct ask){N_FSYMLINK, .name = name, .data = "text", .bytes = 4}), 0, "%s", name);
        cr_expect_eq(ask((struct ask){N_FUNLINK, .name = name}), 0, "%s", name);
        cr_expect_not(exists(inside), "%s", name);
        cr_expect_not(exists("new"), "%s", name);
    }
    cr_expect(exists("outside"));
    cr_expect(exists("in/file"));
    cr_expect(exists("secret"));
    expect_all_closed();
}

Test(hostfs, symbolic_links_are_made_read_and_begin_at_the_root)
{
    char text[20];

    cr_expect_eq(ask((struct ask){N_FSYMLINK, .name = "sub/s", .data = "/sub/deep", .bytes = 9}), 0);
    cr_expect_eq(readlink(scratch_path(&dir, "in/sub/s"), text, sizeof text), 9);
    uint64_t f = open_name("sub/s", N_O_RDONLY);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 10}), 4, "an absolute link begins at the root");
    cr_expect_eq(ask((struct ask){N_FREADLINK, .name = "sub/s", .bytes = 100}), 9);
    cr_expect_eq(memcmp(payload, "/sub/deep", 9), 0);
    cr_expect_eq(ask((struct ask){N_FREADLINK, .name = "sub/s", .bytes = 4}), 4);
    cr_expect_eq(payload_bytes, 4);
    cr_expect_eq(ask((struct ask){N_FREADLINK, .name = "file", .bytes = 100}), -N_EINVAL);
    cr_expect_eq(ask((struct ask){N_FREADLINK, .name = "none", .bytes = 100}), -N_ENOENT);
    cr_expect_eq(ask((struct ask){N_FSYMLINK, .name = "sub/s", .data = "x", .bytes = 1}), -N_EEXIST);
    cr_expect_eq(ask((struct ask){N_FSYMLINK, .name = "t/", .data = "x", .bytes = 1}), -N_ENOENT);
    cr_expect_eq(ask((struct ask){N_FSYMLINK, .name = "t", .data = "x\0y", .bytes = 3}), -N_EPROTO);
    cr_expect_eq(ask((struct ask){N_FSTATNAME, .name = "good"}), 0);
    cr_expect(S_ISREG(((const struct file_stat *)payload)->mode));
    cr_expect_eq(ask((struct ask){N_FSTATNAME, .name = "good", .flags = N_O_NOFOLLOW}), 0);
    cr_expect(S_ISLNK(((const struct file_stat *)payload)->mode));
    expect_all_closed();
}

Test(hostfs, attributes_are_set_of_files_and_of_names)
{
    static const struct {
        const char *how;
        struct file_attr attr;
        int32_t expected;
    } cases[] = {
        {"mode", {.what = FILE_ATTR_MODE, .mode = 0640}, 0},
        {"times", {.what = FILE_ATTR_ATIME | FILE_ATTR_MTIME, .atime_s = 1000, .mtime_s = 2000}, 0},
        {"one time", {.what = FILE_ATTR_MTIME, .mtime_s = 3000}, 0},
        {"the other time", {.what = FILE_ATTR_ATIME, .atime_s = 4000, .mtime_s = 5000}, 0},
        {"a time to come", {.what = FILE_ATTR_MTIME, .mtime_s = 4102444800}, 0},
        {"more than a mode", {.what = FILE_ATTR_MODE, .mode = 07600}, 0},
        {"nothing", {0}, 0},
        {"owner", {.what = FILE_ATTR_UID, .uid = 1}, -N_EPERM},
        {"what there is not", {.what = 1u << 20}, -N_EINVAL},
    };
    uint64_t f = open_name("file", N_O_RDONLY);
    uint32_t mode = 0644;
    int64_t mtime_s = 0;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int by_name = 0; by_name < 2; by_name++) {
            const struct file_attr *a = &cases[i].attr;
            struct ask q = {N_FSETATTR, .sfid = f, .data = a, .bytes = sizeof *a};

            if (by_name)
                q = (struct ask){N_FSETATTRNAME, .name = "/up/file", .data = a, .bytes = sizeof *a};
            cr_expect_eq(ask(q), cases[i].expected, "%s: %d", cases[i].how, head.status);
            cr_expect_eq(ask((struct ask){N_FSTAT, .sfid = f}), 0);
            const struct file_stat *st = (const void *)payload;
            mode = a->what & FILE_ATTR_MODE ? a->mode & 0777 : mode;
            mtime_s = a->what & FILE_ATTR_MTIME ? a->mtime_s : mtime_s;
            cr_expect_eq(st->mode & 07777, mode, "%s: %o", cases[i].how, (unsigned)st->mode);
            cr_expect(mtime_s == 0 || st->mtime_s == mtime_s, "%s", cases[i].how);
        }
    cr_expect_eq(ask((struct ask){N_FSETATTR, .sfid = f, .data = "short", .bytes = 5}), -N_EPROTO);
    uint64_t written = open_name("file", N_O_WRONLY);
    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = written, .data = "x", .bytes = 1}), 1);
    cr_expect_eq(ask((struct ask){N_FSTAT, .sfid = f}), 0);
    cr_expect_eq(((const struct file_stat *)payload)->mtime_s, 0, "a write ends the time that was set");
    cr_expect_eq(
        ask((struct ask){N_FSETATTR, .sfid = SFID_STDOUT, .data = &cases[0].attr, .bytes = sizeof cases[0].attr}),
        -N_EINVAL);
    expect_all_closed();
}

Test(hostfs, links_inside_work_and_are_removed_as_links)
{
    uint64_t f = open_name("good", N_O_RDONLY);

    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 10}), 4);
    cr_expect_eq(memcmp(payload, "deep", 4), 0);
    open_name("subin/deep", N_O_RDONLY);
    open_name("sub/../file", N_O_RDONLY);
    cr_expect_eq(ask((struct ask){N_FUNLINK, .name = "bad"}), 0);
    cr_expect_not(exists("in/bad"));
    cr_expect(exists("secret"));
    cr_expect_eq(ask((struct ask){N_FRENAME, .name = "up", .name2 = "sub/up"}), 0, "a link is moved, not its goal");
    cr_expect_eq(ask((struct ask){N_FSTATNAME, .name = "sub/up"}), 0);
}

Test(hostfs, an_absolute_name_begins_at_the_folder)
{
    static const char *const names[] = {"/file", "//file", "/sub/deep", "/sub/../file", "/subin//deep", "/up/file"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        open_name(names[i], N_O_RDONLY);
    open_name("/", N_O_DIRECTORY);
}

static void make_socket(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    strcpy(a.sun_path, path);
    cr_assert_eq(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    close(fd);
}

Test(hostfs, pipes_sockets_and_devices_are_refused)
{
    make_socket(scratch_path(&dir, "in/socket"));
    cr_expect_eq(ask((struct ask){N_FOPEN, .name = "fifo"}), -N_EACCES);
    cr_expect_eq(ask((struct ask){N_FOPEN, .name = "fifo", .flags = N_O_RDWR | N_O_CREAT}), -N_EACCES);
    cr_expect_eq(ask((struct ask){N_FOPEN, .name = "socket"}), -N_EACCES);
    if (mknod(scratch_path(&dir, "in/null"), S_IFCHR | 0666, makedev(1, 3)) == 0)
        cr_expect_eq(ask((struct ask){N_FOPEN, .name = "null"}), -N_EACCES);
    expect_all_closed();
}

/* Whatever is served; the host's own are not changed, and nothing of them is told. */
Test(hostfs, null_zero_and_full_are_devices_of_every_program)
{
    static const struct {
        const char *name;
        int32_t read, written;
    } rows[] = {{"/dev/null", 0, 4}, {"dev/zero", 9, 4}, {"./dev/full", 9, -N_ENOSPC}};
    const struct file_attr attr = {.what = FILE_ATTR_MODE, .mode = 0600};
    struct file_stat st;

    for (int served = 1; served >= 0; served--) {
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            const char *name = rows[i].name;
            uint64_t f = open_name(name, N_O_RDWR | N_O_CREAT | N_O_TRUNC);

            cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 9}), rows[i].read, "%s: %d", name, head.status);
            cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = f, .data = "text", .bytes = 4}), rows[i].written, "%s",
                         name);
            cr_expect_eq(ask((struct ask){N_FSETATTR, .sfid = f, .data = &attr, .bytes = sizeof attr}), -N_EPERM);
            cr_expect_eq(ask((struct ask){N_FCLOSE, .sfid = f}), 0);
            cr_assert_eq(ask((struct ask){N_FSTATNAME, .name = name}), 0, "%s", name);
            memcpy(&st, payload, sizeof st);
            cr_expect_eq(st.mode, S_IFCHR | 0666, "%s", name);
            cr_expect_eq(st.mtime_s, 0);
            cr_expect_eq(ask((struct ask){N_FACCESS, .name = name, .mode = R_OK | W_OK}), 0, "%s", name);
            cr_expect_eq(ask((struct ask){N_FSETATTRNAME, .name = name, .data = &attr, .bytes = sizeof attr}),
                         -N_EPERM);
            cr_expect_lt(ask((struct ask){N_FUNLINK, .name = name}), 0, "%s", name);
        }
        cr_expect_eq(ask((struct ask){N_FOPEN, .name = "/dev/nul", .flags = N_O_RDONLY}),
                     served ? -N_ENOENT : -N_EACCES);
        hostfs_free(host);
        start_serving(NULL);
    }
}

Test(hostfs, without_a_folder_every_name_is_refused_and_streams_work)
{
    static const uint32_t types[] = {N_FOPEN, N_FSTATNAME, N_FUNLINK, N_FMKDIR, N_FRMDIR, N_FACCESS};

    hostfs_free(host);
    start_serving(NULL);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        cr_expect_eq(ask((struct ask){types[i], .name = "file"}), -N_EACCES, "type 0x%x", types[i]);
    cr_expect_eq(ask((struct ask){N_FRENAME, .name = "a", .name2 = "b"}), -N_EACCES);
    cr_expect_eq(ask((struct ask){N_FLINK, .name = "a", .name2 = "b"}), -N_EACCES);
    cr_expect_eq(ask((struct ask){.type = N_FSTATFS}), -N_EACCES);
    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = SFID_STDOUT, .data = "hi", .bytes = 2}), 2);
    char text[500] = "";
    cr_assert_gt(read(out_end, text, sizeof text - 1), 0);
    cr_expect_str_eq(text, "ncube: file is a file of the host, but no folder is served; give --serve DIR\nhi",
                     "the first name is told, once: %s", text);
}

Test(hostfs, a_folder_that_cannot_be_served_is_named)
{
    static const struct {
        const char *folder, *expected;
    } cases[] = {{"none", "does not exist"}, {"secret", "not a folder"}, {"itself", "Too many levels"}};
    struct hostfs *s;
    char error[300];

    cr_assert_eq(symlink("itself", scratch_path(&dir, "itself")), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = scratch_path(&dir, cases[i].folder);

        cr_expect_eq(hostfs_new(&s, path, &lines, error, sizeof error), -1);
        cr_expect_not_null(strstr(error, cases[i].expected), "%s", error);
        cr_expect_not_null(strstr(error, path), "%s", error);
    }
}

/* ---- Names ---- */

Test(hostfs, names_are_made_moved_linked_and_removed)
{
    struct stat st;

    cr_expect_eq(ask((struct ask){N_FMKDIR, .name = "d/", .mode = 0755}), 0);
    cr_expect_eq(ask((struct ask){N_FMKDIR, .name = "d", .mode = 0755}), -N_EEXIST);
    cr_expect_eq(ask((struct ask){N_FMKDIR, .name = "sticky", .mode = 07711}), 0);
    cr_assert_eq(stat(scratch_path(&dir, "in/sticky"), &st), 0);
    cr_expect_eq(st.st_mode & 07777, 0711, "%o", (unsigned)st.st_mode);
    cr_expect_eq(ask((struct ask){.type = N_FSYNCALL}), 0);
    cr_expect_eq(ask((struct ask){N_FRENAME, .name = "file", .name2 = "d/moved"}), 0);
    cr_expect(exists("in/d/moved"));
    cr_expect_eq(ask((struct ask){N_FLINK, .name = "d/moved", .name2 = "file"}), 0);
    cr_expect_eq(ask((struct ask){N_FSTATNAME, .name = "file"}), 0);
    cr_expect_eq(((const struct file_stat *)payload)->nlink, 2);
    cr_expect_eq(ask((struct ask){N_FRMDIR, .name = "d"}), -N_ENOTEMPTY);
    cr_expect_eq(ask((struct ask){N_FUNLINK, .name = "d/moved"}), 0);
    cr_expect_eq(ask((struct ask){N_FRENAME, .name = "d/", .name2 = "e/"}), 0);
    cr_expect_eq(ask((struct ask){N_FRMDIR, .name = "e/"}), 0);
    cr_expect_eq(ask((struct ask){N_FACCESS, .name = "file", .mode = 4}), 0);
    cr_expect_eq(ask((struct ask){N_FACCESS, .name = "none", .mode = 4}), -N_ENOENT);
    cr_expect_eq(ask((struct ask){N_FACCESS, .name = "file", .mode = 8}), -N_EINVAL);
    expect_all_closed();
}

Test(hostfs, odd_names_get_the_right_error)
{
    char long_name[301], long_path[FILE_NAME_MAX_BYTES + 2];

    static const struct {
        const char *how;
        uint32_t type;
        const char *name;
        int32_t expected;
    } cases[] = {
        {"unlink a file with a slash", N_FUNLINK, "file/", -N_ENOTDIR},
        {"rmdir a link with a slash", N_FRMDIR, "subin/", -N_ENOTDIR},
        {"rmdir a file", N_FRMDIR, "file", -N_ENOTDIR},
        {"unlink a folder", N_FUNLINK, "sub", -N_EISDIR},
        {"rmdir itself", N_FRMDIR, ".", -N_EINVAL},
        {"rmdir a parent inside", N_FRMDIR, "sub/..", -N_EBUSY},
        {"rmdir the root", N_FRMDIR, "/", -N_EBUSY},
        {"mkdir itself", N_FMKDIR, ".", -N_EEXIST},
        {"mkdir in nothing", N_FMKDIR, "none/x", -N_ENOENT},
        {"mkdir of nothing's dot", N_FMKDIR, "none/.", -N_ENOENT},
        {"unlink the root", N_FUNLINK, "///", -N_EISDIR},
        {"unlink itself", N_FUNLINK, "sub/.", -N_EISDIR},
        {"no name", N_FUNLINK, NULL, -N_EPROTO},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(ask((struct ask){cases[i].type, .name = cases[i].name}), cases[i].expected, "%s: %d", cases[i].how,
                     head.status);
    memset(long_name, 'n', 300);
    long_name[300] = '\0';
    cr_expect_eq(ask((struct ask){N_FMKDIR, .name = long_name}), -N_ENAMETOOLONG);
    memset(long_path, 'n', FILE_NAME_MAX_BYTES + 1);
    long_path[FILE_NAME_MAX_BYTES + 1] = '\0';
    cr_expect_eq(ask((struct ask){N_FMKDIR, .name = long_path}), -N_EPROTO);
    expect_all_closed();
}

/* ---- Folders ---- */

/* Reads the whole folder with replies of so many bytes; names joined by spaces. Returns the number of replies. */
static int read_folder(uint64_t sfid, uint32_t bytes, char *names)
{
    uint64_t offset = 0;
    int replies = 0;

    names[0] = '\0';
    while (ask((struct ask){N_FREADDIR, .sfid = sfid, .offset = offset, .bytes = bytes}) > 0) {
        cr_assert_eq(head.status, (int32_t)payload_bytes);
        cr_assert_leq(payload_bytes, bytes);
        for (size_t at = 0; at < payload_bytes;) {
            struct file_dirent d;

            memcpy(&d, payload + at, sizeof d);
            cr_assert_eq(d.record_bytes % 8, 0);
            snprintf(names + strlen(names), 500 - strlen(names), "%.*s:%u ", d.name_bytes,
                     (const char *)payload + at + sizeof d, d.type);
            at += d.record_bytes;
            offset = d.next;
        }
        replies++;
    }
    cr_assert_eq(head.status, 0);
    return replies;
}

Test(hostfs, a_folder_is_read_in_the_order_of_names)
{
    static const char expected[] = ".:2 ..:2 abs:7 bad:7 fifo:0 file:1 good:7 sub:2 subin:7 up:7 ";
    char names[500];
    uint64_t d = open_name(".", N_O_DIRECTORY);

    cr_expect_eq(read_folder(d, 4096, names), 1);
    cr_expect_str_eq(names, expected);
    cr_expect_eq(read_folder(d, 32, names), 10, "one record at a time");
    cr_expect_str_eq(names, expected);
    cr_expect_eq(ask((struct ask){N_FREADDIR, .sfid = d, .bytes = 31}), -N_EINVAL, "no record fits");
    cr_expect_eq(ask((struct ask){N_FREADDIR, .sfid = d, .bytes = 4096, .offset = 11}), -N_EINVAL);
    expect_all_closed();
}

Test(hostfs, a_folders_listing_stays_while_it_is_read_and_is_new_from_the_start)
{
    char names[500];
    uint64_t d = open_name("sub", N_O_DIRECTORY);

    cr_assert_eq(ask((struct ask){N_FREADDIR, .sfid = d, .bytes = 64}), 64);
    scratch_write(&dir, "in/sub/aaa", "", 0);
    cr_expect_eq(ask((struct ask){N_FREADDIR, .sfid = d, .bytes = 64, .offset = 2}), 32);
    cr_expect_eq(memcmp(payload + sizeof(struct file_dirent), "deep", 4), 0);
    read_folder(d, 4096, names);
    cr_expect_str_eq(names, ".:2 ..:2 aaa:1 deep:1 ");
    expect_all_closed();
}

Test(hostfs, the_folders_parent_is_not_told)
{
    struct file_dirent dot, up;
    uint64_t d = open_name(".", N_O_DIRECTORY);

    cr_assert_eq(ask((struct ask){N_FREADDIR, .sfid = d, .bytes = 64}), 64);
    memcpy(&dot, payload, sizeof dot);
    memcpy(&up, payload + 32, sizeof up);
    cr_expect_eq(dot.ino, up.ino);
}
