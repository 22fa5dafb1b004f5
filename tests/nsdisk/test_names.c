/* Names: directories, links, symbolic links, and rename in all the cases of POSIX. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/nsdisk/volume.h"

static struct volume v;

static void start(void)
{
    volume_make(&v, 1024, 4096, "");
    volume_mount(&v);
}

static void finish(const char *what)
{
    cr_assert_eq(server_volume(v.server, 0)->errors, false, "%s: %s", what, v.log);
    cr_assert_eq(cache_held_blocks(server_volume(v.server, 0)->cache), 0, "%s", what);
    cr_assert_eq(volume_unmount(&v), 0, "%s", what);
    cr_assert_eq(volume_fsck(&v, "-fn"), 0, "%s: e2fsck", what);
    volume_free(&v);
}

static bool exists(const char *name)
{
    struct file_stat st;

    return v_stat(&v, name, &st) == 0;
}

static uint32_t links_of(const char *name)
{
    struct file_stat st = {0};

    cr_assert_eq(v_stat(&v, name, &st), 0, "%s", name);
    return st.nlink;
}

/* /f, /g: files; /d: empty; /e: has x; /e/sub: has y; /l -> f, by a hard link /h. */
static void make_tree(void)
{
    v_put(&v, "/f", "f", 1);
    v_put(&v, "/g", "g", 1);
    v_mkdir(&v, "/d");
    v_mkdir(&v, "/e");
    v_put(&v, "/e/x", "x", 1);
    v_mkdir(&v, "/e/sub");
    v_put(&v, "/e/sub/y", "y", 1);
    cr_assert_eq(v_link(&v, "/f", "/h"), 0);
}

static const struct {
    const char *name, *from, *to;
    int32_t status;
    const char *gone, *there; /* afterwards; NULL: not looked at */
} renames[] = {
    {"a file to a new name", "/f", "/n", 0, "/f", "/n"},
    {"a file into another directory", "/f", "/e/n", 0, "/f", "/e/n"},
    {"a file over a file", "/f", "/g", 0, "/f", "/g"},
    {"a file over a file elsewhere", "/g", "/e/x", 0, "/g", "/e/x"},
    {"a file over itself", "/f", "/f", 0, NULL, "/f"},
    {"a file over another name of it", "/f", "/h", 0, NULL, "/f"},
    {"a file over a directory", "/f", "/d", -N_EISDIR, NULL, "/f"},
    {"a directory over a file", "/d", "/f", -N_ENOTDIR, NULL, "/d"},
    {"a directory to a new name", "/e", "/n", 0, "/e", "/n/sub/y"},
    {"a directory into another", "/e/sub", "/d/sub", 0, "/e/sub", "/d/sub/y"},
    {"a directory over an empty one", "/e", "/d", 0, "/e", "/d/sub/y"},
    {"a directory over one elsewhere", "/e/sub", "/d", 0, "/e/sub", "/d/y"},
    {"a directory over one with files", "/d", "/e", -N_ENOTEMPTY, NULL, "/d"},
    {"a directory into itself", "/e", "/e/n", -N_EINVAL, NULL, "/e/x"},
    {"a directory far into itself", "/e", "/e/sub/n", -N_EINVAL, NULL, "/e/x"},
    {"a directory over its own subdirectory", "/e", "/e/sub", -N_ENOTEMPTY, NULL, "/e/x"},
    {"a directory over itself", "/e", "/e", 0, NULL, "/e/x"},
    {"a directory over its parent", "/e/sub", "/e", -N_ENOTEMPTY, NULL, "/e/sub"},
    {"a directory, with slashes", "/d/", "/n/", 0, "/d", "/n"},
    {"a file, with a slash", "/f/", "/n", -N_ENOTDIR, NULL, "/f"},
    {"a file to a name with a slash", "/f", "/n/", -N_ENOTDIR, NULL, "/f"},
    {"what is not there", "/none", "/n", -N_ENOENT, "/n", NULL},
    {"into what is not there", "/f", "/none/n", -N_ENOENT, NULL, "/f"},
    {"into a file", "/f", "/g/n", -N_ENOTDIR, NULL, "/f"},
    {"a dot", "/d/.", "/n", -N_EINVAL, NULL, "/d"},
    {"dots", "/e/sub/..", "/n", -N_EINVAL, NULL, "/e"},
    {"the root", "/", "/d/n", -N_EINVAL, NULL, "/d"},
    {"over the root", "/d", "/", -N_EINVAL, NULL, "/d"},
};

Test(names, are_renamed_as_posix_says)
{
    for (size_t i = 0; i < sizeof renames / sizeof renames[0]; i++) {
        const char *name = renames[i].name;

        start();
        make_tree();
        int32_t status = v_rename(&v, renames[i].from, renames[i].to);
        cr_assert_eq(status, renames[i].status, "%s: %d", name, status);
        cr_assert(renames[i].gone == NULL || !exists(renames[i].gone), "%s: %s is left", name, renames[i].gone);
        cr_assert(renames[i].there == NULL || exists(renames[i].there), "%s: %s is missing", name, renames[i].there);
        finish(name);
    }
}

Test(names, a_moved_directory_knows_its_new_parent)
{
    start();
    make_tree();
    cr_assert_eq(links_of("/"), 5);
    cr_assert_eq(v_rename(&v, "/e/sub", "/d/sub"), 0);
    cr_assert_eq(links_of("/e"), 2);
    cr_assert_eq(links_of("/d"), 3);
    cr_assert(v_has(&v, "/d/sub/../sub/y", "y", 1));
    cr_assert(v_has(&v, "/d/sub/../../f", "f", 1));
    finish("moved");
}

static const struct {
    const char *name;
    int32_t (*call)(struct volume *v, const char *path);
    const char *path;
    int32_t status;
} calls[] = {
    {"unlink a directory", v_unlink, "/d", -N_EISDIR},
    {"unlink nothing", v_unlink, "/none", -N_ENOENT},
    {"unlink below a file", v_unlink, "/f/x", -N_ENOTDIR},
    {"unlink a file with a slash", v_unlink, "/f/", -N_ENOTDIR},
    {"unlink the root", v_unlink, "/", -N_EISDIR},
    {"rmdir a file", v_rmdir, "/f", -N_ENOTDIR},
    {"rmdir a full directory", v_rmdir, "/e", -N_ENOTEMPTY},
    {"rmdir the root", v_rmdir, "/", -N_EBUSY},
    {"rmdir a dot", v_rmdir, "/d/.", -N_EINVAL},
    {"rmdir dots", v_rmdir, "/e/sub/..", -N_ENOTEMPTY},
    {"rmdir nothing", v_rmdir, "/none", -N_ENOENT},
    {"rmdir with a slash", v_rmdir, "/d/", 0},
    {"mkdir over a file", v_mkdir, "/f", -N_EEXIST},
    {"mkdir over a directory", v_mkdir, "/e", -N_EEXIST},
    {"mkdir the root", v_mkdir, "/", -N_EEXIST},
    {"mkdir below nothing", v_mkdir, "/none/d", -N_ENOENT},
    {"mkdir with slashes", v_mkdir, "//new///", 0},
};

Test(names, are_made_and_removed_only_where_they_may_be)
{
    start();
    make_tree();
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        int32_t status = calls[i].call(&v, calls[i].path);

        cr_assert_eq(status, calls[i].status, "%s: %d", calls[i].name, status);
    }
    finish("calls");
}

static const struct {
    const char *name, *path;
    uint32_t flags;
    int32_t status;
} opens[] = {
    {"a file", "/f", N_O_RDONLY, 0},
    {"a directory to read", "/d", N_O_RDONLY, 0},
    {"a directory to write", "/d", N_O_RDWR, -N_EISDIR},
    {"a directory, creating", "/d", N_O_CREAT, -N_EISDIR},
    {"a file as a directory", "/f", N_O_DIRECTORY, -N_ENOTDIR},
    {"a file, exclusively", "/f", N_O_CREAT | N_O_EXCL, -N_EEXIST},
    {"nothing", "/none", N_O_RDONLY, -N_ENOENT},
    {"nothing, creating", "/new", N_O_CREAT | N_O_WRONLY, 0},
    {"nothing with a slash, creating", "/new2/", N_O_CREAT | N_O_WRONLY, -N_EISDIR},
    {"a file with a slash", "/f/", N_O_RDONLY, -N_ENOTDIR},
    {"in no mode", "/f", N_O_ACCMODE, -N_EINVAL},
};

Test(names, are_opened_as_their_flags_say)
{
    uint64_t sfid;

    start();
    make_tree();
    for (size_t i = 0; i < sizeof opens / sizeof opens[0]; i++) {
        int32_t status = v_open(&v, opens[i].path, opens[i].flags, &sfid);

        cr_assert_eq(status, opens[i].status, "%s: %d", opens[i].name, status);
    }
    cr_assert_eq(v_open(&v, "/g", N_O_WRONLY | N_O_TRUNC, &sfid), 0);
    cr_assert(v_has(&v, "/g", "", 0), "truncated");
    cr_assert_eq(v_read(&v, sfid, 0, NULL, 0), -N_EBADF, "write-only");
    cr_assert_eq(v_exit(&v), 0);
    finish("opens");
}

Test(names, a_link_is_another_name_of_one_file)
{
    start();
    v_put(&v, "/f", "one", 3);
    v_mkdir(&v, "/d");
    cr_assert_eq(v_link(&v, "/f", "/d/g"), 0);
    cr_assert_eq(links_of("/f"), 2);
    cr_assert_eq(v_link(&v, "/f", "/d/g"), -N_EEXIST);
    cr_assert_eq(v_link(&v, "/d", "/e"), -N_EPERM);
    cr_assert_eq(v_link(&v, "/none", "/e"), -N_ENOENT);
    v_put(&v, "/d/g", "two", 3);
    cr_assert(v_has(&v, "/f", "two", 3));
    cr_assert_eq(v_unlink(&v, "/f"), 0);
    cr_assert_eq(links_of("/d/g"), 1);
    cr_assert(v_has(&v, "/d/g", "two", 3));
    finish("link");
}

/* "." and ".." are no names that keep a directory; what only looks like them is. */
Test(names, that_begin_with_dots_keep_their_directory)
{
    static const char *const names[] = {".a", "..a", "...", ".hidden", "a.", "a"};
    char name[32];

    start();
    cr_assert_eq(v_mkdir(&v, "/d"), 0);
    cr_assert_eq(v_mkdir(&v, "/e"), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(name, sizeof name, "/d/%s", names[i]);
        cr_assert_eq(v_put(&v, name, "x", 1), 1, "%s", name);
        cr_expect_eq(v_rmdir(&v, "/d"), -N_ENOTEMPTY, "%s", name);
        cr_expect_eq(v_rename(&v, "/e", "/d"), -N_ENOTEMPTY, "%s", name);
        cr_assert(v_has(&v, name, "x", 1), "%s", name);
        cr_assert_eq(v_unlink(&v, name), 0, "%s", name);
    }
    cr_expect_eq(v_rmdir(&v, "/d"), 0);
    finish("dots");
}

static void set_links(const char *name, uint32_t links)
{
    char command[100];

    snprintf(command, sizeof command, "debugfs -w -R 'sif %s links_count %u' %%s 2>/dev/null", name, links);
    cr_assert_eq(volume_run(&v, command), 0);
}

Test(names, no_inode_gets_more_links_than_its_number_can_hold)
{
    start();
    make_tree();
    cr_assert_eq(volume_unmount(&v), 0);
    set_links("/f", 32000);
    set_links("/e", 32000);
    volume_mount(&v);
    cr_expect_eq(v_link(&v, "/f", "/n"), -N_EMLINK);
    cr_expect_eq(v_mkdir(&v, "/e/n"), -N_EMLINK);
    cr_expect_eq(v_rename(&v, "/d", "/e/n"), -N_EMLINK);
    cr_expect_eq(v_rename(&v, "/e/sub", "/e/n"), 0, "it has that link already");
    cr_expect_eq(v_put(&v, "/e/file", "f", 1), 1, "a file adds no link");
    cr_expect_not(exists("/n"));
    cr_expect_eq(links_of("/f"), 32000);
    cr_expect_eq(links_of("/e"), 32000);
    cr_assert_eq(volume_unmount(&v), 0);
    set_links("/f", 31999);
    set_links("/e", 31999);
    volume_mount(&v);
    cr_expect_eq(v_link(&v, "/f", "/n"), 0);
    cr_expect_eq(v_rename(&v, "/d", "/e/d"), 0);
    cr_assert_eq(volume_unmount(&v), 0);
    set_links("/f", 3);
    set_links("/e", 4);
    cr_assert_eq(volume_fsck(&v, "-fn"), 0);
    volume_free(&v);
}

#define MANY 3000u

Test(names, thousands_in_one_directory_are_found_listed_and_removed)
{
    static uint8_t seen[MANY];
    uint64_t sfid, offset = 0;
    char name[64];
    int32_t n;

    volume_make(&v, 1024, 8192, "-N 4000");
    volume_mount(&v);
    cr_assert_eq(v_mkdir(&v, "/d"), 0);
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "/d/a file with number %u", i);
        cr_assert_eq(v_open(&v, name, N_O_CREAT | N_O_WRONLY, &sfid), 0, "%u", i);
        v_close(&v, sfid);
    }
    cr_assert_eq(v_open(&v, "/d", N_O_RDONLY, &sfid), 0);
    while ((n = v_readdir(&v, sfid, offset, 1000)) > 0) {
        for (int32_t at = 0; at < n;) {
            struct file_dirent e;
            uint32_t i;
            const uint8_t *record = v.reply + sizeof(struct file_reply) + at;

            memcpy(&e, record, sizeof e);
            snprintf(name, sizeof name, "%.*s", e.name_bytes, (const char *)record + sizeof e);
            if (sscanf(name, "a file with number %u", &i) == 1)
                seen[i]++;
            offset = e.next;
            at += e.record_bytes;
        }
    }
    cr_assert_eq(n, 0);
    for (uint32_t i = 0; i < MANY; i++)
        cr_assert_eq(seen[i], 1, "number %u is listed %u times", i, seen[i]);
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "/d/a file with number %u", i);
        cr_assert_eq(v_unlink(&v, name), 0, "%u", i);
    }
    cr_assert_eq(v_exit(&v), 0);
    cr_assert_eq(v_rmdir(&v, "/d"), 0);
    finish("thousands");
}

Test(names, of_255_bytes_fit_and_longer_ones_are_refused)
{
    char path[600];

    start();
    memset(path, 'n', sizeof path);
    path[0] = '/';
    path[256] = '\0';
    cr_assert_eq(v_put(&v, path, "long", 4), 4);
    cr_assert(v_has(&v, path, "long", 4));
    path[256] = 'n';
    path[257] = '\0';
    cr_assert_eq(v_put(&v, path, "long", 4), -N_ENAMETOOLONG);
    finish("long");
}

/* Symbolic links come from debugfs: programs of the time had no call to make them. */
Test(names, that_are_symbolic_links_are_followed)
{
    char long_text[120] = "";
    char command[600];

    start();
    v_mkdir(&v, "/d");
    v_put(&v, "/d/f", "through", 7);
    volume_unmount(&v);
    for (int i = 0; i < 40; i++)
        strcat(long_text, "d/");
    snprintf(command, sizeof command,
             "printf 'symlink short d/f\\nsymlink dir /d\\nsymlink d/up ../d/f\\nsymlink dangling new\\n"
             "symlink loop loop\\nsymlink long /d/../d/./../d/../d/../d/../d/../d/../d/../d/../d/../d/../d/f\\n"
             "symlink d/d .\\nsymlink d/deep /%sf\\n' | debugfs -w -f - %%s >/dev/null 2>&1",
             long_text);
    volume_run(&v, command);
    volume_mount(&v);
    const char *through[] = {"/short", "/dir/f", "/d/up", "/long", "/dir/up", "/d/d/d/f", "/d/deep"};
    for (size_t i = 0; i < sizeof through / sizeof through[0]; i++)
        cr_assert(v_has(&v, through[i], "through", 7), "%s", through[i]);
    uint64_t sfid;
    cr_assert_eq(v_open(&v, "/loop", N_O_RDONLY, &sfid), -N_ELOOP);
    cr_assert_eq(v_open(&v, "/dangling", N_O_RDONLY, &sfid), -N_ENOENT);
    cr_assert_eq(v_open(&v, "/dangling", N_O_CREAT | N_O_EXCL, &sfid), -N_EEXIST);
    cr_assert_eq(v_put(&v, "/dangling", "made", 4), 4);
    cr_assert(v_has(&v, "/new", "made", 4), "creating through a link makes its target");
    cr_assert_eq(v_rename(&v, "/short", "/renamed"), 0);
    cr_assert(v_has(&v, "/renamed", "through", 7), "a rename renames the link");
    cr_assert_eq(v_unlink(&v, "/long"), 0);
    cr_assert_eq(v_unlink(&v, "/renamed"), 0);
    cr_assert(v_has(&v, "/d/f", "through", 7), "an unlink removes the link");
    finish("symbolic links");
}

static int32_t make_link(const char *name, const char *text)
{
    struct file_request r = {.bytes = (uint32_t)strlen(text)};

    return volume_request(&v, N_FSYMLINK, r, name, NULL, text);
}

static int32_t set_attributes(const char *name, uint32_t flags, struct file_attr a)
{
    return volume_request(&v, N_FSETATTRNAME, (struct file_request){.bytes = sizeof a, .flags = flags}, name, NULL, &a);
}

/* Lengths about the 60 bytes of an inode and the 1024 of a block. */
Test(names, that_are_symbolic_links_are_made_and_read)
{
    static const struct {
        uint32_t bytes;
        int32_t made;
    } cases[] = {{1, 0}, {59, 0}, {60, 0}, {61, 0}, {1000, 0}, {1023, 0}, {1024, -N_ENAMETOOLONG}, {0, -N_ENOENT}};
    char text[1025], name[20];
    uint64_t sfid;
    struct file_stat st;
    start();
    cr_assert_eq(v_open(&v, "/f", N_O_CREAT, &sfid), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t n = cases[i].bytes;

        for (uint32_t k = 0; k < n; k++)
            text[k] = k + 1 == n ? 'f' : '/';
        text[n] = '\0';
        snprintf(name, sizeof name, "/l%u", n);
        cr_expect_eq(make_link(name, text), cases[i].made, "%u bytes", n);
        if (cases[i].made < 0)
            continue;
        struct file_request r = {.bytes = 1024};
        cr_expect_eq(volume_request(&v, N_FREADLINK, r, name, NULL, NULL), (int32_t)n);
        cr_expect_eq(memcmp(v.reply + sizeof(struct file_reply), text, n), 0, "%u bytes", n);
        cr_expect_eq(v_stat(&v, name, &st), 0, "%u bytes", n);
        cr_expect_eq(st.mode & 0170000, 0100000);
        cr_expect_eq(make_link(name, "x"), -N_EEXIST);
    }
    cr_expect_eq(make_link("/none/l", "x"), -N_ENOENT);
    cr_expect_eq(make_link("/f/l", "x"), -N_ENOTDIR);
    cr_expect_eq(make_link("/l/", "x"), -N_ENOENT);
    cr_expect_eq(volume_request(&v, N_FREADLINK, (struct file_request){.bytes = 9}, "/f", NULL, NULL), -N_EINVAL);
    cr_expect_eq(volume_request(&v, N_FREADLINK, (struct file_request){.bytes = 9}, "/l1000", NULL, NULL), 9);
    cr_expect_eq(volume_request(&v, N_FSTATNAME, (struct file_request){.flags = N_O_NOFOLLOW}, "/l60", NULL, NULL), 0);
    memcpy(&st, v.reply + sizeof(struct file_reply), sizeof st);
    cr_expect_eq(st.mode, 0120777);
    cr_expect_eq(st.size_bytes, 60);
    cr_expect_eq(v_unlink(&v, "/l61"), 0);
    cr_expect_eq(v_unlink(&v, "/l59"), 0);
    finish("symbolic links made");
}

Test(names, get_attributes)
{
    const struct file_attr all = {FILE_ATTR_ALL, 04750, 70000, 80000, 1000, 2000};
    struct file_stat st;
    uint64_t sfid;

    start();
    cr_assert_eq(v_open(&v, "/f", N_O_CREAT, &sfid), 0);
    cr_assert_eq(make_link("/l", "f"), 0);
    cr_expect_eq(set_attributes("/l", 0, all), 0);
    cr_assert_eq(v_stat(&v, "/f", &st), 0);
    cr_expect(st.mode == 0104750 && st.uid == 70000 && st.gid == 80000 && st.atime_s == 1000 && st.mtime_s == 2000);
    cr_expect_eq(set_attributes("/l", N_O_NOFOLLOW, (struct file_attr){.what = FILE_ATTR_MTIME, .mtime_s = 7}), 0);
    cr_expect_eq(set_attributes("/f", 0, (struct file_attr){.what = FILE_ATTR_ATIME, .atime_s = 5}), 0);
    cr_assert_eq(v_stat(&v, "/f", &st), 0);
    cr_expect(st.mode == 0104750 && st.uid == 70000 && st.atime_s == 5 && st.mtime_s == 2000);
    const struct file_attr mode = {.what = FILE_ATTR_MODE, .mode = 0177777};
    struct file_request r = {.sfid = sfid, .bytes = sizeof mode};
    cr_expect_eq(volume_request(&v, N_FSETATTR, r, NULL, NULL, &mode), 0);
    cr_assert_eq(v_stat(&v, "/f", &st), 0);
    cr_expect_eq(st.mode, 0107777, "the type stays");
    cr_expect_eq(set_attributes("/f", 0, (struct file_attr){.what = 64}), -N_EINVAL);
    cr_expect_eq(set_attributes("/f", 0, (struct file_attr){.what = FILE_ATTR_MTIME, .mtime_s = -1}), -N_EINVAL);
    cr_expect_eq(set_attributes("/f", 0, (struct file_attr){.what = FILE_ATTR_MTIME, .mtime_s = 1ll << 32}), -N_EINVAL);
    cr_expect_eq(set_attributes("/none", 0, all), -N_ENOENT);
    finish("attributes");
}

Test(names, in_a_directory_indexed_by_another_system_stay_valid)
{
    char name[64];

    start();
    v_mkdir(&v, "/d");
    for (uint32_t i = 0; i < 400; i++) {
        snprintf(name, sizeof name, "/d/a file with a long name, number %u", i);
        v_put(&v, name, &i, sizeof i);
    }
    volume_unmount(&v);
    volume_fsck(&v, "-fyD"); /* makes the index */
    volume_mount(&v);
    for (uint32_t i = 0; i < 400; i++) {
        snprintf(name, sizeof name, "/d/a file with a long name, number %u", i);
        cr_assert(v_has(&v, name, &i, sizeof i), "%s", name);
        if (i % 3 == 0)
            cr_assert_eq(v_unlink(&v, name), 0, "%s", name);
        snprintf(name, sizeof name, "/d/a new file with a long name, number %u", i);
        cr_assert_eq(v_put(&v, name, &i, sizeof i), sizeof i, "%s", name);
    }
    finish("indexed");
}

Test(names, are_listed_with_their_types_and_nothing_else)
{
    uint64_t sfid;

    start();
    v_put(&v, "/f", "f", 1);
    v_mkdir(&v, "/dir");
    v_open(&v, "/", N_O_RDONLY, &sfid);
    static const struct {
        const char *name;
        uint32_t type;
    } expected[] = {{".", 2}, {"..", 2}, {"lost+found", 2}, {"f", 1}, {"dir", 2}};
    int32_t n = v_readdir(&v, sfid, 0, 4096), at = 0;
    for (size_t i = 0; i < 5; i++) {
        struct file_dirent e;
        const uint8_t *record = v.reply + sizeof(struct file_reply) + at;

        cr_assert_lt(at, n);
        memcpy(&e, record, sizeof e);
        cr_assert_eq(e.name_bytes, strlen(expected[i].name));
        cr_assert_arr_eq(record + sizeof e, expected[i].name, e.name_bytes);
        cr_assert_eq(e.type, expected[i].type, "%s", expected[i].name);
        cr_assert_eq(e.record_bytes % 8, 0);
        at += e.record_bytes;
    }
    cr_assert_eq(at, n);
    cr_assert_eq(v_readdir(&v, sfid, 0, 16), -N_EINVAL, "no room for a record");
    cr_assert_eq(v_readdir(&v, sfid, 1ull << 40, 4096), 0, "behind the end");
    cr_assert_gt(v_readdir(&v, sfid, 13, 4096), 0, "an offset within a record");
    finish("listed");
}
