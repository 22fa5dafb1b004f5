/*
 * A call that changes a name of a striped volume, for runs that are killed in its midst. Cases, each a run of its own;
 * arguments: prefix "//big/", and the call's name.
 *
 *   before   makes what the call needs
 *   call     one node of a 3-cube makes the call; nothing else is sent to a volume
 *   after    the call has been done or not, or a second one completes it; then all names go, and no volume has more
 */
#include <dirent.h>
#include <sys/stat.h>

#include "check_files.h"

#define CALLER     4 /* no path between the front end, node 0, and the I/O nodes at 5, 6, 7 crosses it */
#define FILE_BYTES 5000

enum { NEW_SEED = 1, OLD_SEED = 2 };

static const char *from, *to;

/* ---- Files and folders ---- */

static void make_file(const char *path, uint32_t seed)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);

    check(fd >= 0, "open %.200s: %s", path, strerror(errno));
    write_pattern_by(write, fd, FILE_BYTES, seed);
    check_works(close(fd));
}

/* False if it is not there; else it is whole. */
static int has_file(const char *path, uint32_t seed)
{
    int fd = open(path, O_RDONLY);

    check(fd >= 0 || errno == ENOENT, "open %.200s: %s", path, strerror(errno));
    if (fd < 0)
        return 0;
    expect_pattern_by(read, fd, FILE_BYTES, seed);
    check_works(close(fd));
    return 1;
}

static int has_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static const char *file_in(const char *folder)
{
    return folder == from ? name_of("from/f") : name_of("to/f");
}

/* 0, or an error that the second call may have. */
static void expect_again(int result, int error)
{
    check(result == 0 || errno == error, "the second call: %s", strerror(errno));
}

/* ---- What is there before, the calls, and what is right after ---- */

static void nothing(void)
{
}

static void file(void)
{
    make_file(from, NEW_SEED);
}

static void files(void)
{
    file();
    make_file(to, OLD_SEED);
}

static void empty_folder(void)
{
    check_works(mkdir(from, 0755));
}

static void full_folder(void)
{
    empty_folder();
    make_file(file_in(from), NEW_SEED);
}

static void folders(void)
{
    full_folder();
    check_works(mkdir(to, 0755));
}

static int create(void)
{
    int fd = open(from, O_RDWR | O_CREAT, 0644);

    return fd < 0 ? -1 : close(fd);
}

static int unlink_it(void)
{
    return unlink(from);
}

static int move(void)
{
    return rename(from, to);
}

static int make_folder(void)
{
    return mkdir(from, 0755);
}

static int remove_folder(void)
{
    return rmdir(from);
}

static void is_created(void)
{
    check_works(create());
    check_works(unlink(from));
}

static int is_listed(const char *name)
{
    DIR *d = opendir(name_of(""));
    int n = 0;

    check(d, "opendir: %s", strerror(errno));
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        n += strcmp(e->d_name, name) == 0;
    check_works(closedir(d));
    return n;
}

/* It is whole or gone; what is left of it does not hinder the next of that name. */
static void is_unlinked(void)
{
    int listed = is_listed("from");

    check_equal(has_file(from, NEW_SEED), listed);
    if (!listed)
        make_file(from, OLD_SEED);
    check_works(unlink(from));
}

static void is_moved(void)
{
    check_equal(has_file(from, NEW_SEED) + has_file(to, NEW_SEED), 1);
    check_works(unlink(has_file(from, NEW_SEED) ? from : to));
}

static void has_replaced(void)
{
    if (has_file(from, NEW_SEED)) {
        check(has_file(to, OLD_SEED), "the target has gone");
        check_works(unlink(from));
    } else {
        check(has_file(to, NEW_SEED), "both have gone");
    }
    check_works(unlink(to));
}

static void is_made(void)
{
    expect_again(make_folder(), EEXIST);
    make_file(file_in(from), NEW_SEED);
    check(has_file(file_in(from), NEW_SEED), "its file is not there");
    check_works(unlink(file_in(from)));
    check_works(rmdir(from));
}

static void is_removed(void)
{
    expect_again(remove_folder(), ENOENT);
}

static void has_moved_all(void)
{
    const char *at;

    check_equal(has_file(file_in(from), NEW_SEED) + has_file(file_in(to), NEW_SEED), 1);
    at = has_file(file_in(from), NEW_SEED) ? from : to;
    check_works(unlink(file_in(at)));
    check_works(rmdir(at));
    if (has_folder(to))
        check_works(rmdir(to));
}

static const struct change {
    const char *name;
    void (*before)(void);
    int (*call)(void);
    void (*after)(void);
} changes[] = {
    {"create", nothing, create, is_created},
    {"unlink", file, unlink_it, is_unlinked},
    {"rename", file, move, is_moved},
    {"rename onto a file", files, move, has_replaced},
    {"mkdir", nothing, make_folder, is_made},
    {"rmdir", empty_folder, remove_folder, is_removed},
    {"rename of a folder", full_folder, move, has_moved_all},
    {"rename of a folder onto one", folders, move, has_moved_all},
};

/* ---- The runs ---- */

static const struct change *change(void)
{
    static char paths[2][100];

    snprintf(paths[0], sizeof paths[0], "%s", name_of("from"));
    snprintf(paths[1], sizeof paths[1], "%s", name_of("to"));
    from = paths[0];
    to = paths[1];
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        if (strcmp(changes[i].name, test_argv[1]) == 0)
            return &changes[i];
    check(0, "no call '%s'", test_argv[1]);
    return NULL;
}

static void before(void)
{
    change()->before();
}

static void call(void)
{
    if (own_node() == CALLER)
        check(change()->call() == 0, "%s: %s", test_argv[1], strerror(errno));
}

static void expect_empty(const char *volume)
{
    DIR *d = opendir(volume);

    check(d, "opendir %s: %s", volume, strerror(errno));
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        check(strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || strcmp(e->d_name, "lost+found") == 0,
              "%s has %s", volume, e->d_name);
    check_works(closedir(d));
}

static void after(void)
{
    change()->after();
    expect_empty("//df00/");
    expect_empty("//df01/");
    expect_empty("//df02/");
}

static const struct test_case cases[] = {
    {"before", before},
    {"call", call},
    {"after", after},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
