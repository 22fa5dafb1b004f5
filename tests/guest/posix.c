/*
 * Calls of POSIX on names and files, beyond reading and writing: the same cases run on the front end and on volumes.
 *
 *   posix CASE PREFIX     PREFIX is the root of names: "/" or "//df00/"
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <ntime.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utime.h>

#include "check_files.h"

static bool on_volume(void)
{
    return strncmp(test_argv[0], "//", 2) == 0 || strncmp(test_argv[0], "/df00", 5) == 0;
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* ---- Names ---- */

static void has_a_working_directory(void)
{
    static const struct {
        const char *to, *now; /* behind the prefix, if `to` is relative */
    } steps[] = {{"d", "d"},    {"e", "d/e"},    {"..", "d"},        {"./e/../e/", "d/e"},
                 {"../..", ""}, {"d//e", "d/e"}, {"../../../..", ""}};
    char cwd[100], longest[1100];

    check_text(getcwd(cwd, sizeof cwd), "/");
    check_works(mkdir(name_of("d"), 0755));
    check_works(mkdir(name_of("d/e"), 0755));
    make_text_file(name_of("d/file"), "in d");
    check_works(chdir(test_argv[0]));
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        check_works(chdir(steps[i].to));
        check_text(getcwd(cwd, sizeof cwd), name_of(steps[i].now));
    }
    check_works(chdir("d"));
    expect_text_file("file", "in d");
    expect_text_file("e/../file", "in d");
    make_text_file("e/new", "new");
    check_works(rename("e/new", "moved"));
    check(exists(name_of("d/moved")) && !exists("e/new"), "a rename from the working directory");
    int fd = open(".", O_RDONLY);
    check(fd >= 0, "open .");
    check_works(chdir("/"));
    check_text(getcwd(cwd, sizeof cwd), "/");
    check(!exists("moved"), "still in d");
    check_works(fchdir(fd));
    check(exists("moved"), "not in d again");
    check_works(close(fd));
    check_fails(fchdir(fd), EBADF);
    check_fails(fchdir(-1), EBADF);
    check_fails(chdir("file"), ENOTDIR);
    check_fails(chdir("none"), ENOENT);
    check_fails(chdir(""), ENOENT);
    check_fails(chdir((char *)0xc0000000ul), EFAULT);
    fd = open("file", O_RDONLY);
    check_fails(fchdir(fd), ENOTDIR);
    check_works(close(fd));
    errno = 0;
    check(!getcwd(cwd, 2) && errno == ERANGE, "2 bytes are enough");
    check(!getcwd(cwd, 0) && errno == EINVAL, "0 bytes are enough");
    char *own = getcwd(NULL, 0);
    check_text(own, name_of("d"));
    free(own);
    memset(longest, 'x', sizeof longest);
    memcpy(longest, "e/", 2);
    longest[1024] = '\0';
    check_fails(open(longest, O_RDONLY), ENAMETOOLONG);
    check_works(unlink("moved"));
    check_works(unlink("file"));
    check_works(rmdir("e"));
}

/* Of a folder /df00 at the front end, all names below /df00 are its own. */
static void names_volumes_with_one_slash(void)
{
    char target[10] = "";
    struct stat st;

    make_text_file("/df00/a", "on the volume");
    expect_text_file("//df00/a", "on the volume");
    check_fails(open("/df00/none", O_RDONLY), ENOENT);
    check_fails(open("/df01/a", O_RDONLY | O_CREAT, 0644), ENOENT);
    check_works(stat("/df00", &st));
    check(S_ISDIR(st.st_mode), "/df00 is no folder");
    check_works(rename("/df00/a", "/df00/b"));
    check_works(rename("//df00/b", "/df00/a"));
    check_works(rename("/df00/a", "//df00/b"));
    check_fails(rename("/df00/b", "/b"), EXDEV);
    check_fails(rename("/df00/none", "/none"), EXDEV);
    check_works(link("/df00/b", "/df00/c"));
    check_works(symlink("b", "/df00/link"));
    check_equal(readlink("/df00/link", target, sizeof target), 1);
    check_works(mkdir("/df00/d", 0755));
    check_works(chdir("/df00/d"));
    make_text_file("file", "in d");
    expect_text_file("//df00/d/file", "in d");
    check_works(chdir("/"));
    if (mkdir("/df00", 0755) == 0) {
        check_fails(open("/df00/b", O_RDONLY), ENOENT);
        make_text_file("/df00/b", "at the front end");
        check_fails(rename("/df00/b", "//df00/e"), EXDEV);
        expect_text_file("//df00/b", "on the volume");
        check_works(unlink("/df00/b"));
        check_works(rmdir("/df00"));
    }
    check_works(unlink("/df00/link"));
    check_works(unlink("/df00/c"));
    check_works(unlink("/df00/b"));
    check_works(unlink("/df00/d/file"));
    check_works(rmdir("/df00/d"));
}

static void has_names_at_directories(void)
{
    char text[10] = "";
    struct stat st, by_name;

    check_works(mkdir(name_of("d"), 0755));
    int d = open(name_of("d"), O_RDONLY | O_DIRECTORY);
    check(d >= 0, "open d");
    int fd = openat(d, "file", O_RDWR | O_CREAT | O_EXCL, 0600);
    check(fd >= 0, "openat: %s", strerror(errno));
    check_equal(write(fd, "text", 4), 4);
    expect_text_file(name_of("d/file"), "text");
    check_works(fstatat(d, "file", &st, 0));
    check_works(stat(name_of("d/file"), &by_name));
    check(st.st_ino == by_name.st_ino && st.st_size == 4, "another file");
    check_works(faccessat(d, "file", R_OK, 0));
    check_fails(faccessat(d, "none", R_OK, 0), ENOENT);
    check_works(mkdirat(d, "sub", 0755));
    check_works(renameat(d, "file", d, "sub/moved"));
    check_works(linkat(d, "sub/moved", d, "link", 0));
    check_works(symlinkat("sub/moved", d, "soft"));
    check_equal(readlinkat(d, "soft", text, sizeof text), 9);
    check(memcmp(text, "sub/moved", 9) == 0, "%.10s", text);
    check_works(fstatat(d, "soft", &st, 0));
    check(S_ISREG(st.st_mode), "the file");
    check_works(fstatat(d, "soft", &st, AT_SYMLINK_NOFOLLOW));
    check(S_ISLNK(st.st_mode), "the link itself");
    check_works(fchmodat(d, "link", 0640, 0));
    check_works(stat(name_of("d/sub/moved"), &st));
    check_equal(st.st_mode & 0777, 0640);
    check_fails(unlinkat(d, "sub", 0), EISDIR);
    check_works(unlinkat(d, "sub/moved", 0));
    check_works(unlinkat(d, "soft", 0));
    check_works(unlinkat(d, "link", 0));
    check_works(unlinkat(d, "sub", AT_REMOVEDIR));
    check_fails(openat(d, "none", O_RDONLY), ENOENT);
    check_fails(openat(fd, "x", O_RDONLY), ENOTDIR);
    check_fails(openat(99, "x", O_RDONLY), EBADF);
    check_fails(openat(d, "", O_RDONLY), ENOENT);
    check_fails(unlinkat(d, "x", 1 << 20), EINVAL);
    check_works(chdir(name_of("d")));
    check_fails(openat(AT_FDCWD, "none", O_RDONLY), ENOENT);
    int other = openat(AT_FDCWD, "here", O_CREAT | O_WRONLY, 0600);
    check(other >= 0 && exists(name_of("d/here")), "at the working directory");
    int absolute = openat(99, name_of("d/here"), O_RDONLY);
    check(absolute >= 0, "an absolute name needs no directory");
    check_works(unlink("here"));
}

static void follows_symbolic_links(void)
{
    char text[100];
    struct stat st;

    make_text_file(name_of("file"), "text");
    check_works(symlink("file", name_of("soft")));
    expect_text_file(name_of("soft"), "text");
    check_equal(readlink(name_of("soft"), text, sizeof text), 4);
    check(memcmp(text, "file", 4) == 0, "%.4s", text);
    check_equal(readlink(name_of("soft"), text, 2), 2);
    check_fails(readlink(name_of("soft"), text, 0), EINVAL);
    check_fails(readlink(name_of("file"), text, sizeof text), EINVAL);
    check_fails(readlink(name_of("none"), text, sizeof text), ENOENT);
    check_fails(readlink(name_of("soft"), (char *)0xc0000000ul, 10), EFAULT);
    check_fails(symlink("x", name_of("file")), EEXIST);
    check_fails(symlink("", name_of("y")), ENOENT);
    check_fails(symlink((char *)0xc0000000ul, name_of("y")), EFAULT);
    check_works(lstat(name_of("soft"), &st));
    check(S_ISLNK(st.st_mode) && st.st_size == 4, "mode %o, %ld bytes", (unsigned)st.st_mode, (long)st.st_size);
    check_works(stat(name_of("soft"), &st));
    check(S_ISREG(st.st_mode), "mode %o", (unsigned)st.st_mode);
    check_fails(open(name_of("soft"), O_RDONLY | O_NOFOLLOW), ELOOP);
    check_works(symlink("loop", name_of("loop")));
    check_fails(open(name_of("loop"), O_RDONLY), ELOOP);
    check_works(lstat(name_of("loop"), &st));
    check_works(unlink(name_of("loop")));
    check_works(rename(name_of("soft"), name_of("softer")));
    check_works(unlink(name_of("softer")));
    expect_text_file(name_of("file"), "text");
    check_works(symlink("/file", name_of("absolute"))); /* of the root of the same volume, or of the front end's */
    expect_text_file(name_of("absolute"), "text");
    DIR *dir = opendir(test_argv[0]);
    check(dir != NULL, "opendir");
    int links = 0;
    for (struct dirent *e; (e = readdir(dir));)
        links += e->d_type == DT_LNK;
    check_equal(links, 1);
    check_works(closedir(dir));
}

static void finds_real_paths(void)
{
    static const struct {
        const char *path, *real; /* behind the prefix; real NULL: `error` */
        int error;
    } cases[] = {
        {"d/e/file", "d/e/file", 0},
        {"d/./e/../e//file", "d/e/file", 0},
        {"soft/file", "d/e/file", 0},
        {"soft/../e", "d/e", 0},
        {"d/up/d", "d", 0},
        {"absolute", "d/e/file", 0},
        {"d/up/absolute", "d/e/file", 0},
        {"", "", 0},
        {"..", "", 0},
        {"none", NULL, ENOENT},
        {"d/e/file/x", NULL, ENOTDIR},
        {"loop", NULL, ELOOP},
    };
    char real[1100];

    check_works(mkdir(name_of("d"), 0755));
    check_works(mkdir(name_of("d/e"), 0755));
    make_text_file(name_of("d/e/file"), "");
    check_works(symlink("d/e", name_of("soft")));
    check_works(symlink("..", name_of("d/up")));
    check_works(symlink("/d/e/file", name_of("absolute")));
    check_works(symlink("loop", name_of("loop")));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        errno = 0;
        char *got = realpath(name_of(cases[i].path), real);
        if (cases[i].real)
            check_text(got, name_of(cases[i].real));
        else
            check(!got && errno == cases[i].error, "%s: %s, errno %d", cases[i].path, got ? got : "NULL", errno);
    }
    check_works(chdir(name_of("d/e")));
    char *own = realpath("../up/soft/file", NULL);
    check_text(own, name_of("d/e/file"));
    free(own);
    check(!realpath(NULL, real) && errno == EINVAL, "NULL has a path");
}

static void syncs_each_write(void)
{
    int fd = open(name_of("file"), O_WRONLY | O_CREAT | O_SYNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0644);

    check(fd >= 0, "open: %s", strerror(errno));
    check_equal(write(fd, "synced", 6), 6);
    check_equal(pwrite(fd, "S", 1, 0), 1);
    if (test_argc > 1) /* the run is cut off here: the written bytes and their name must be on the disk */
        for (;;)
            pause();
}

static void sets_attributes(void)
{
    struct stat st;
    const struct timeval us[2] = {{100, 999999}, {200, 0}}, bad[2] = {{1, 1000000}, {1, 0}};
    const struct timespec one[2] = {{0, UTIME_OMIT}, {500, 0}};
    const char *file = name_of("file");
    char name[100];
    int fd;

    strcpy(name, file);
    check_equal(umask(027), 022);
    check_equal(umask(077), 027);
    make_text_file(name, "text");
    check_works(stat(name, &st));
    check_equal(st.st_mode & 07777, 0600);
    check_equal(umask(0), 077);
    check_works(mkdir(name_of("d"), 0750));
    check_works(stat(name_of("d"), &st));
    check_equal(st.st_mode & 07777, 0750);
    check_works(chmod(name, 0644));
    check_works(stat(name, &st));
    check(st.st_mode == (S_IFREG | 0644), "mode %o", (unsigned)st.st_mode);
    fd = open(name, O_RDONLY);
    check_works(fchmod(fd, 0444));
    check_works(fstat(fd, &st));
    check(st.st_mode == (S_IFREG | 0444), "mode %o", (unsigned)st.st_mode);
    check_works(utime(name, &(struct utimbuf){1000, 2000}));
    check_works(stat(name, &st));
    check(st.st_atime == (on_volume() ? 1000 : 2000) && st.st_mtime == 2000, "%ld %ld", (long)st.st_atime,
          (long)st.st_mtime);
    check_works(utimes(name, us));
    check_works(stat(name, &st));
    check_equal(st.st_mtime, 200);
    check_works(futimens(fd, one));
    check_works(fstat(fd, &st));
    check_equal(st.st_mtime, 500);
    check_works(utimensat(AT_FDCWD, name, NULL, 0));
    check_works(stat(name, &st));
    long now = time(NULL) - st.st_mtime;
    check(now >= 0 && now <= 1, "%ld s ago", now);
    check_fails(utimes(name, bad), EINVAL);
    check_fails(utime(name_of("none"), NULL), ENOENT);
    check_fails(chmod(name_of("none"), 0), ENOENT);
    check_fails(fchmod(99, 0), EBADF);
    check_works(chown(name, -1, -1));
    if (on_volume()) {
        check_works(chown(name, 70000, 3));
        check_works(fchown(fd, -1, 4));
        check_works(stat(name, &st));
        check(st.st_uid == 70000 && st.st_gid == 4, "owner %u, group %u", (unsigned)st.st_uid, (unsigned)st.st_gid);
    } else {
        check_fails(chown(name, 70000, 3), EPERM);
    }
    check_works(close(fd));
}

static int one_letter(const struct dirent *e)
{
    return e->d_name[0] != '.' && e->d_name[1] == '\0';
}

static void lists_sorted(void)
{
    static const char *const names[] = {"c", "a", "b", "skipped"};
    struct dirent **list;
    char path[100];

    check_works(mkdir(name_of("d"), 0755));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "d/%s", names[i]);
        make_text_file(name_of(path), "");
    }
    check_equal(scandir(name_of("d"), &list, one_letter, alphasort), 3);
    for (int i = 0; i < 3; i++) {
        check(list[i]->d_name[0] == 'a' + i, "entry %d is %s", i, list[i]->d_name);
        free(list[i]);
    }
    free(list);
    check_fails(scandir(name_of("none"), &list, NULL, NULL), ENOENT);
    glob_t found;
    snprintf(path, sizeof path, "%s", name_of("d/[a-c]"));
    check_equal(glob(path, 0, NULL, &found), 0);
    check_equal(found.gl_pathc, 3);
    check_text(found.gl_pathv[1], name_of("d/b"));
    globfree(&found);
}

static void moves_several_buffers(void)
{
    char a[] = "abc", b[] = "defgh", c[9000], got_a[4] = "", got_b[6] = "";
    struct iovec out[3] = {{a, 3}, {NULL, 0}, {b, 5}}, in[2] = {{got_a, 3}, {got_b, 5}},
                 big[2] = {{a, 3}, {c, sizeof c}};
    int fd = open(name_of("file"), O_RDWR | O_CREAT, 0644);

    check_equal(writev(fd, out, 3), 8);
    check_equal(lseek(fd, 0, SEEK_SET), 0);
    check_equal(readv(fd, in, 2), 8);
    check_text(got_a, "abc");
    check_text(got_b, "defgh");
    check_equal(readv(fd, in, 2), 0);
    check_equal(writev(fd, big, 2), sizeof c + 3);
    check_equal(lseek(fd, -2, SEEK_END), sizeof c + 9);
    check_equal(readv(fd, in, 2), 2);
    check_fails(readv(fd, in, 0), EINVAL);
    check_fails(writev(fd, out, -1), EINVAL);
    check_fails(writev(fd, out, IOV_MAX + 1), EINVAL); /* without reading the memory behind out */
    check_fails(readv(fd, in, INT_MAX), EINVAL);
    check_fails(writev(99, out, 3), EBADF);
    check_works(truncate(name_of("file"), 4));
    check_equal(lseek(fd, 0, SEEK_END), 4);
    check_fails(truncate(name_of("none"), 4), ENOENT);
    check_fails(truncate(name_of("file"), -1), EINVAL);
    check_works(close(fd));
}

static void describes_its_file_system(void)
{
    struct statvfs st, by_fd;
    int fd = open(name_of("file"), O_RDWR | O_CREAT, 0644);

    check_works(statvfs(test_argv[0], &st));
    check_works(fstatvfs(fd, &by_fd));
    check(st.f_bsize > 0 && st.f_blocks >= st.f_bfree && st.f_bfree >= st.f_bavail, "%lu of %lu", st.f_bfree,
          st.f_blocks);
    check_equal(by_fd.f_blocks, st.f_blocks);
    check_equal(st.f_namemax, 255);
    check_equal(pathconf(test_argv[0], _PC_NAME_MAX), 255);
    check_equal(fpathconf(fd, _PC_PATH_MAX), 1025);
    check_fails(pathconf(name_of("none"), _PC_NAME_MAX), ENOENT);
    check_fails(fpathconf(fd, 9999), EINVAL);
    sync();
    check_works(close(fd));
}

static void makes_temporary_files(void)
{
    char name[L_tmpnam], made[] = "/tmp/madeXXXXXX", line[20] = "";
    FILE *f = tmpfile(), *g = tmpfile();

    check(f && g, "tmpfile: %s", strerror(errno));
    check(fputs("first\n", f) >= 0 && fputs("second\n", g) >= 0, "fputs");
    rewind(f);
    rewind(g);
    check_text(fgets(line, sizeof line, f), "first\n");
    check_text(fgets(line, sizeof line, g), "second\n");
    check_works(fclose(f));
    check_works(fclose(g));
    check(tmpnam(name) == name && strncmp(name, "/tmp/", 5) == 0 && !exists(name), "tmpnam: %.50s", name);
    make_text_file(name, "temporary");
    expect_text_file(name, "temporary");
    int fd = mkstemp(made);
    check(fd >= 0 && exists(made), "mkstemp: %s", strerror(errno));
    check_works(close(fd));
    check_fails(open("/tmp/x/y", O_RDWR | O_CREAT, 0600), ENOENT);
    check_works(rename(name, made));
    expect_text_file(made, "temporary");
    check_fails(open(name, O_RDONLY), ENOENT);
    check_fails(open(made, O_RDWR | O_CREAT | O_EXCL, 0600), EEXIST);
    check_works(unlink(made));
    check(!exists(made), "still there");
}

static void leaves_a_temporary_file(void)
{
    if (own_node() == 0)
        make_text_file("/tmp/left", "left");
}

/* ---- Descriptors ---- */

static void polls(void)
{
    int fd = open(name_of("polled"), O_WRONLY | O_CREAT, 0644);
    struct pollfd p[] = {{fd, POLLIN | POLLOUT, 7}, {-1, POLLIN, 7}, {99, POLLIN, 7}, {0, POLLIN | POLLOUT, 7}};

    check(fd >= 0, "open");
    check_equal(poll(p, 4, -1), 3);
    check_equal(p[0].revents, POLLOUT);
    check_equal(p[1].revents, 0);
    check_equal(p[2].revents, POLLNVAL);
    check_equal(p[3].revents, POLLIN);
    p[0].events = POLLIN;
    check_equal(poll(p, 2, 0), 0);
    double start_us = amicclk();
    check_equal(poll(p, 2, 30), 0);
    check(amicclk() - start_us >= 30000 && amicclk() - start_us < 31000, "%.0f us", amicclk() - start_us);
    check_fails(poll(p, 257, 0), EINVAL);
    check_works(close(fd));
    check_works(unlink(name_of("polled")));
}

/* A write across the largest offset writes what fits; at that offset there is room for nothing. */
static void reaches_the_largest_offset(void)
{
    static const char text[] = "abcdefgh";
    char got[9] = "";
    int fd = open(name_of("largest"), O_RDWR | O_CREAT, 0644);
    off_t low = 0, high = (off_t)1 << 62; /* a byte fits at low, none at high */

    check(fd >= 0, "open");
    while (high - low > 1) {
        off_t at = low + (high - low) / 2;

        if (ftruncate(fd, at + 1) == 0)
            low = at;
        else
            high = at;
    }
    check_works(ftruncate(fd, 0));
    check_equal(pwrite(fd, text, 8, low - 2), 3);
    check_equal(pread(fd, got, 8, low - 2), 3);
    check_text(got, "abc");
    check_fails(pwrite(fd, text, 8, low + 1), EFBIG);
    check_works(unlink(name_of("largest")));
    check_works(close(fd));
}

static const struct test_case cases[] = {
    {"working directory", has_a_working_directory},
    {"one slash", names_volumes_with_one_slash},
    {"names at directories", has_names_at_directories},
    {"symbolic links", follows_symbolic_links},
    {"real paths", finds_real_paths},
    {"synchronous writes", syncs_each_write},
    {"attributes", sets_attributes},
    {"sorted lists", lists_sorted},
    {"several buffers", moves_several_buffers},
    {"file systems", describes_its_file_system},
    {"temporary files", makes_temporary_files},
    {"leaves a temporary file", leaves_a_temporary_file},
    {"polls", polls},
    {"largest offset", reaches_the_largest_offset},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
