/*
 * Files by the calls of POSIX and <nio.h>. The same cases, of which some are in files_several.h, run on the front end
 * and on volumes:
 *
 *   files CASE PREFIX ...     PREFIX begins every name: "" or "//df00/"
 */
#include <dirent.h>

#include "files_several.h"

/* ---- One file ---- */

static void opens_and_closes(void)
{
    int fd = open_file("one", O_RDWR | O_CREAT | O_EXCL);

    check_fails(open(name_of("one"), O_RDWR | O_CREAT | O_EXCL, 0644), EEXIST);
    check_fails(open(name_of("two"), O_RDWR), ENOENT);
    check_fails(open(name_of("no/two"), O_RDWR | O_CREAT, 0644), ENOENT);
    check_fails(open(name_of("one/two"), O_RDWR | O_CREAT, 0644), ENOTDIR);
    check_fails(open(NULL, O_RDWR), EFAULT);
    check_fails(open("", O_RDWR), ENOENT);
    check_works(close(fd));
    check_fails(close(fd), EBADF);
    check_fails(write(fd, "x", 1), EBADF);
    fd = open_file("one", O_RDONLY);
    check_fails(write(fd, "x", 1), EBADF);
    check_works(close(fd));
    fd = open_file("one", O_WRONLY);
    check_fails(read(fd, &fd, 1), EBADF);
    check_works(close(fd));
}

static void reads_and_writes(void)
{
    int fd = open_file("file", O_RDWR | O_CREAT);
    char byte;

    write_pattern(fd, 10000, 1);
    write_pattern(fd, 1, 2);
    check_equal(read(fd, &byte, 1), 0);
    check_equal(lseek(fd, 0, SEEK_SET), 0);
    expect_pattern(fd, 10000, 1);
    expect_pattern(fd, 1, 2);
    check_equal(lseek(fd, 100, SEEK_SET), 100);
    write_pattern(fd, 50, 3);
    check_equal(lseek(fd, -50, SEEK_CUR), 100);
    expect_pattern(fd, 50, 3);
    check_equal(lseek(fd, -1, SEEK_END), 10000);
    expect_pattern(fd, 1, 2);
    check_fails(lseek(fd, -1, SEEK_SET), EINVAL);
    check_fails(lseek(fd, 0, 99), EINVAL);
    check_equal(lseek(fd, 0, SEEK_CUR), 10001);
    check_equal(lseek(fd, 0, SEEK_SET), 0);
    check_fails(read(fd, NULL, 1), EFAULT);
    check_fails(write(fd, (char *)0xc0000000ul, 100), EFAULT);
    check_equal(write(fd, NULL, 0), 0);
    check_equal(size_of("file"), 10001);
    check_works(fsync(fd));
    check_works(close(fd));
}

static void truncates_and_appends(void)
{
    int fd = open_file("file", O_RDWR | O_CREAT);
    char buf[2000];

    write_pattern(fd, 5000, 1);
    check_works(ftruncate(fd, 1000));
    check_equal(size_of("file"), 1000);
    check_works(ftruncate(fd, 3000));
    check_equal(lseek(fd, 0, SEEK_SET), 0);
    expect_pattern(fd, 1000, 1);
    check_equal(read(fd, buf, sizeof buf), 2000);
    for (int i = 0; i < 2000; i++)
        check(buf[i] == 0, "byte %d is %d", 1000 + i, buf[i]);
    check_fails(ftruncate(fd, -1), EINVAL);
    check_works(close(fd));
    fd = open_file("file", O_WRONLY | O_APPEND);
    write_pattern(fd, 100, 2);
    check_equal(lseek(fd, 0, SEEK_SET), 0);
    write_pattern(fd, 100, 3);
    check_equal(size_of("file"), 3200);
    check_works(close(fd));
    fd = open_file("file", O_RDWR | O_TRUNC);
    check_equal(size_of("file"), 0);
    check_equal(read(fd, buf, 1), 0);
    check_works(close(fd));
}

/* An append leaves the offset at the end of its own bytes, even if other nodes have appended more. */
static void appends_move_the_offset(void)
{
    int fd = open_file("file", O_RDWR | O_CREAT | O_TRUNC | O_APPEND), other = open_file("file", O_RDWR | O_APPEND);
    char buf[20000];

    write_pattern(fd, 3, 1);
    check_equal(lseek(fd, 0, SEEK_CUR), 3);
    check_equal(lseek(fd, 0, SEEK_SET), 0);
    write_pattern(fd, 3, 1);
    check_equal(lseek(fd, 0, SEEK_CUR), 6);
    check_equal(read(fd, buf, 1), 0);
    write_pattern(other, 10, 1);
    check_equal(lseek(other, 0, SEEK_CUR), 16);
    write_pattern(fd, sizeof buf, 1);
    check_equal(lseek(fd, 0, SEEK_CUR), 16 + sizeof buf);
    check_equal(pwrite(fd, "xyz", 3, 1), 3);
    check_equal(lseek(fd, 0, SEEK_CUR), 16 + sizeof buf);
    check_equal(size_of("file"), 16 + sizeof buf);
    check_equal(pread(fd, buf, 3, 1), 3);
    check(memcmp(buf, "xyz", 3) == 0, "pwrite appended");
    check_equal(lseek(fd, 0, SEEK_SET), 0);
    check_works(writestart(fd, buf, 100));
    check_works(writestart(fd, buf, 50));
    check_equal(writeend(fd), 50);
    check_equal(writeend(fd), 100);
    check_equal(lseek(fd, 0, SEEK_CUR), 166 + sizeof buf);
    check_works(writestart(other, buf, 4));
    check_equal(writeend(other), 4);
    check_equal(lseek(other, 0, SEEK_CUR), 170 + sizeof buf);
    check_fails(write(fd, (char *)0xc0000000ul, 100), EFAULT);
    check_equal(lseek(fd, 0, SEEK_CUR), 166 + sizeof buf);
    check_works(close(fd));
    check_works(close(other));
}

static void describes(void)
{
    struct stat by_fd, by_name;
    int fd = open_file("file", O_RDWR | O_CREAT);

    write_pattern(fd, 12345, 1);
    check_works(fstat(fd, &by_fd));
    check_works(stat(name_of("file"), &by_name));
    check(S_ISREG(by_fd.st_mode) && (by_fd.st_mode & 0777) == 0644, "mode %o", (unsigned)by_fd.st_mode);
    check_equal(by_fd.st_size, 12345);
    check_equal(by_fd.st_nlink, 1);
    check(by_fd.st_ino == by_name.st_ino && by_fd.st_dev == by_name.st_dev && by_name.st_size == 12345, "stat");
    check(by_fd.st_blocks * 512 >= 12345, "%ld blocks", (long)by_fd.st_blocks);
    check_equal(isatty(fd), 0);
    check_works(close(fd));
    check_works(mkdir(name_of("folder"), 0755));
    check_works(stat(name_of("folder"), &by_name));
    check(S_ISDIR(by_name.st_mode), "mode %o", (unsigned)by_name.st_mode);
    check_fails(stat(name_of("none"), &by_name), ENOENT);
    check_fails(stat(name_of("file/none"), &by_name), ENOTDIR);
    check_works(access(name_of("file"), R_OK | W_OK));
    check_works(access(name_of("file"), F_OK));
    check_fails(access(name_of("none"), F_OK), ENOENT);
}

static void serves_stdio(void)
{
    FILE *f = fopen(name_of("text"), "w+");
    char line[100];

    check(f != NULL, "fopen: %s", strerror(errno));
    for (int i = 0; i < 1000; i++)
        fprintf(f, "line %d\n", i);
    check_works(fseek(f, 0, SEEK_SET));
    for (int i = 0, n; i < 1000; i++)
        check(fgets(line, sizeof line, f) && sscanf(line, "line %d", &n) == 1 && n == i, "line %d: %s", i, line);
    check(!fgets(line, sizeof line, f) && feof(f), "no end");
    check_equal(ftell(f), 8890);
    check_works(fclose(f));
    f = fopen(name_of("text"), "a");
    check(f && fputs("appended\n", f) >= 0 && fclose(f) == 0, "append");
    check_equal(size_of("text"), 8899);
}

/* ---- Names and folders ---- */

static void renames_and_links(void)
{
    struct stat st;

    make_file("a", 100, 1);
    make_file("b", 200, 2);
    check_works(link(name_of("a"), name_of("a2")));
    check_works(stat(name_of("a"), &st));
    check_equal(st.st_nlink, 2);
    check_fails(link(name_of("a"), name_of("b")), EEXIST);
    check_fails(link(name_of("none"), name_of("c")), ENOENT);
    check_works(unlink(name_of("a")));
    expect_file("a2", 100, 1);
    check_fails(unlink(name_of("a")), ENOENT);
    check_works(rename(name_of("a2"), name_of("b")));
    expect_file("b", 100, 1);
    check_fails(rename(name_of("a2"), name_of("c")), ENOENT);
    check_works(mkdir(name_of("d"), 0755));
    check_works(rename(name_of("b"), name_of("d/b")));
    expect_file("d/b", 100, 1);
    check_works(rename(name_of("d"), name_of("e")));
    expect_file("e/b", 100, 1);
    check_works(mkdir(name_of("e/f"), 0755));
    check_fails(rename(name_of("e"), name_of("e/f/g")), EINVAL);
    check_works(rename(name_of("e/b"), name_of("e/b")));
    check_fails(rename(name_of("e/b"), name_of("e")), EISDIR);
    expect_file("e/b", 100, 1);
}

static void makes_and_removes_folders(void)
{
    char long_name[400];

    check_works(mkdir(name_of("d"), 0755));
    check_fails(mkdir(name_of("d"), 0755), EEXIST);
    check_fails(mkdir(name_of("no/d"), 0755), ENOENT);
    check_works(mkdir(name_of("d/d"), 0755));
    make_file("d/d/file", 10, 1);
    check_fails(rmdir(name_of("d/d")), ENOTEMPTY);
    check_fails(rmdir(name_of("d/d/file")), ENOTDIR);
    check_works(unlink(name_of("d/d/file")));
    check_fails(unlink(name_of("d/d")), EISDIR);
    check_works(remove(name_of("d/d")));
    check_fails(rmdir(name_of("d/d")), ENOENT);
    check(unlink(name_of("d")) == -1, "a folder was unlinked");
    check_fails(open(name_of("d"), O_RDWR), EISDIR);
    memset(long_name, 'n', sizeof long_name);
    long_name[300] = '\0';
    check_fails(open(name_of(long_name), O_RDWR | O_CREAT, 0644), ENAMETOOLONG);
    long_name[255] = '\0';
    make_file(long_name, 5, 1);
    expect_file(long_name, 5, 1);
    check_fails(unlink(name_of("d/.")), EISDIR);
    check_fails(unlink(name_of("d/..")), EISDIR);
    check_fails(rmdir(name_of("d/.")), EINVAL);
    check_fails(rmdir(name_of("d/..")), EBUSY);
    check_fails(link(name_of("d/."), name_of("l")), EPERM);
    make_file("d/./file", 7, 3);
    expect_file("d//file", 7, 3);
    expect_file("d/../d/file", 7, 3);
}

enum { FILES = 60 };

static void lists(void)
{
    int seen[FILES] = {0}, dots = 0, folders = 0, n;
    char name[32];

    check_works(mkdir(name_of("list"), 0755));
    check_works(mkdir(name_of("list/folder"), 0755));
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "list/file%d", i);
        make_file(name, i, i);
    }
    DIR *dir = opendir(name_of("list"));
    check(dir != NULL, "opendir: %s", strerror(errno));
    for (int again = 0; again < 2; again++, rewinddir(dir)) {
        memset(seen, 0, sizeof seen);
        dots = folders = 0;
        for (struct dirent *e; (e = readdir(dir));) {
            dots += strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
            folders += strcmp(e->d_name, "folder") == 0 && e->d_type == DT_DIR;
            if (sscanf(e->d_name, "file%d", &n) == 1)
                check(n < FILES && !seen[n]++ && e->d_type == DT_REG && e->d_ino != 0, "%s", e->d_name);
        }
        for (int i = 0; i < FILES; i++)
            check(seen[i], "file%d is missing", i);
        check(dots == 2 && folders == 1, "%d dots, %d folders", dots, folders);
    }
    long place = telldir(dir);
    struct dirent *first = readdir(dir);
    check(first != NULL, "nothing after rewinddir");
    strcpy(name, first->d_name);
    check(readdir(dir) != NULL, "only one entry");
    seekdir(dir, place);
    check(strcmp(readdir(dir)->d_name, name) == 0, "seekdir");
    check_works(closedir(dir));
    errno = 0;
    check(opendir(name_of("list/file1")) == NULL && errno == ENOTDIR, "a file is no folder: %d", errno);
    check(opendir(name_of("none")) == NULL && errno == ENOENT, "no folder: %d", errno);
}

/* ---- Large files and many files ---- */

static void many_files(void)
{
    enum { MANY = 150 };
    char name[32];

    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "many%03d", i);
        make_file(name, 1 + i * 7, i);
    }
    for (int i = 0; i < MANY; i += 2) {
        snprintf(name, sizeof name, "many%03d", i);
        check_works(unlink(name_of(name)));
    }
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "many%03d", i);
        if (i % 2)
            expect_file(name, 1 + i * 7, i);
        else
            check_fails(access(name_of(name), F_OK), ENOENT);
    }
}

static void all_descriptors(void)
{
    int fd[1100], n = 0;

    make_file("file", 10, 1);
    while (n < 1100 && (fd[n] = open(name_of("file"), O_RDONLY)) >= 0)
        n++;
    check(n < 1100 && (errno == EMFILE || errno == ENFILE), "%d files, errno %d", n, errno);
    check(n >= 16, "only %d files", n);
    for (int i = 0; i < n; i++)
        check_works(close(fd[i]));
    expect_file("file", 10, 1);
}

static void a_big_file(void)
{
    size_t piece = 100003;
    int fd = open_file("big", O_RDWR | O_CREAT);

    for (int i = 0; i < 8; i++)
        write_pattern(fd, piece, i);
    for (int i = 7; i >= 0; i--) {
        check_equal(lseek(fd, i * piece, SEEK_SET), i * piece);
        expect_pattern(fd, piece, i);
    }
    check_equal(size_of("big"), 8 * piece);
    check_works(ftruncate(fd, 300000));
    check_equal(lseek(fd, 0, SEEK_SET), 0);
    expect_pattern(fd, piece, 0);
    check_works(close(fd));
    check_works(unlink(name_of("big")));
}

/* Single bytes far apart: direct, single, double and triple indirect blocks; zeros between. */
static void holes(void)
{
    static const off_t places[] = {0, 5000, 50000, 300000, 5000000, 70000000, 200000000};
    int n = sizeof places / sizeof *places, fd = open_file("holes", O_RDWR | O_CREAT);
    struct stat st;
    char buf[600];

    for (int i = n - 1; i >= 0; i -= 2) {
        check_equal(lseek(fd, places[i], SEEK_SET), places[i]);
        check_equal(write(fd, "x", 1), 1);
    }
    for (int i = n - 2; i >= 0; i -= 2) {
        check_equal(lseek(fd, places[i], SEEK_SET), places[i]);
        check_equal(write(fd, "x", 1), 1);
    }
    check_equal(size_of("holes"), places[n - 1] + 1);
    for (int i = 0; i < n; i++) {
        off_t start = places[i] > 300 ? places[i] - 300 : 0;

        check_equal(lseek(fd, start, SEEK_SET), start);
        ssize_t got = read(fd, buf, sizeof buf);
        check(got > places[i] - start, "%ld bytes at %ld", (long)got, (long)start);
        for (ssize_t k = 0; k < got; k++)
            check(buf[k] == (start + k == places[i] ? 'x' : 0), "byte %ld is %d", (long)(start + k), buf[k]);
    }
    check_works(fstat(fd, &st));
    if (strncmp(test_argv[0], "//", 2) == 0) /* the front end does not say */
        check(st.st_blocks < 4000, "%ld blocks", (long)st.st_blocks);
    check_works(close(fd));
}

/* ---- Missing files, volumes and memory ---- */

static void refused_everywhere(int error)
{
    struct stat st;

    check_fails(open(name_of("file"), O_RDONLY), error);
    check_fails(open(name_of("file"), O_RDWR | O_CREAT, 0644), error);
    check_fails(stat(name_of("file"), &st), error);
    check_fails(access(name_of("file"), F_OK), error);
    check_fails(unlink(name_of("file")), error);
    check_fails(mkdir(name_of("file"), 0755), error);
    check_fails(rmdir(name_of("file")), error);
    check_fails(rename(name_of("file"), name_of("other")), error);
    check_fails(link(name_of("file"), name_of("other")), error);
    errno = 0;
    check(opendir(name_of("")) == NULL && errno == error, "opendir: errno %d", errno);
}

static void check_told(const char *expected)
{
    check(strcmp(nfailed(), expected) == 0, "nfailed says \"%s\", not \"%s\"", nfailed(), expected);
}

static void permission_denied(void)
{
    char told[1400];

    refused_everywhere(EACCES);
    check_fails(open(name_of("file"), O_RDONLY), EACCES);
    snprintf(told, sizeof told, "open %s: front end: no folder is served: give --serve DIR", name_of("file"));
    check_told(told);
}

static void nothing_there(void)
{
    char told[1400];

    refused_everywhere(ENOENT);
    check_fails(open(name_of("file"), O_RDONLY), ENOENT);
    snprintf(told, sizeof told, "open %s: front end: no such file, directory or volume", name_of("file"));
    check_told(told);
}

/* The prefix leads above the root, which means the root: the file "plain" is there, and so are the files made here. */
static void above_the_root(void)
{
    int fd = open_file("plain", O_RDONLY);

    check_works(close(fd));
    make_file("made", 5, 1);
    expect_file("made", 5, 1);
    fd = open("/made", O_RDONLY);
    check(fd >= 0, "made elsewhere");
    check_works(close(fd));
    check_works(unlink(name_of("made")));
}

static void no_such_volume(void)
{
    refused_everywhere(ENOENT);
    open(name_of("file"), O_RDONLY);
    perror(name_of("file"));
    check_told("open //nosuch/file: there is no volume nosuch in this machine");
    check_fails(rename(name_of("file"), name_of("other")), ENOENT);
    check_told("rename //nosuch/file: there is no volume nosuch in this machine");
    check_fails(read(77, NULL, 1), EBADF);
    check_told("read descriptor 77: bad file descriptor");
    check_fails(open((const char *)8, O_RDONLY), EFAULT);
    check_told("open: bad address");
}

static void other_volume(void)
{
    make_file("file", 10, 1);
    check_fails(rename(name_of("file"), test_argv[1]), EXDEV);
    check_fails(link(name_of("file"), test_argv[1]), EXDEV);
    expect_file("file", 10, 1);
}

/* Writes until the volume is full: all bytes that a write has counted are in the file, and freed blocks can be used. */
static size_t fill(const char *name)
{
    enum { PIECE = 10000 };
    static char buf[PIECE], told[1400];
    int fd = open_file(name, O_WRONLY | O_CREAT | O_TRUNC);
    size_t total = 0;
    ssize_t n = PIECE;

    while (n == PIECE) {
        fill_pattern(buf, PIECE, total / PIECE);
        n = write(fd, buf, PIECE);
        check(n > 0 || errno == ENOSPC, "write: %ld, errno %d", (long)n, errno);
        total += n > 0 ? n : 0;
    }
    check_fails(write(fd, buf, PIECE), ENOSPC);
    snprintf(told, sizeof told, "write %s: volume df00 on I/O node 0 of board 3: no space left on volume",
             name_of(name));
    check_told(told);
    check_works(close(fd));
    check_equal(size_of(name), total);
    fd = open_file(name, O_RDONLY);
    for (size_t at = 0; at < total; at += PIECE)
        expect_pattern(fd, total - at < PIECE ? total - at : PIECE, at / PIECE);
    check_works(close(fd));
    return total;
}

static void a_full_volume(void)
{
    make_file("before", 5000, 77);
    size_t total = fill("full");

    check(total > 100000, "only %zu bytes fit", total);
    check_fails(mkdir(name_of("folder"), 0755), ENOSPC);
    check_told("mkdir //df00/folder: volume df00: no space left on volume");
    expect_file("before", 5000, 77);
    check_works(unlink(name_of("full")));
    make_file("after", 100000, 78);
    expect_file("after", 100000, 78);
    check_works(unlink(name_of("after")));
    check_equal(fill("again"), total);
    expect_file("before", 5000, 77);
}

static const struct test_case cases[] = {
    {"opens and closes", opens_and_closes},
    {"reads and writes", reads_and_writes},
    {"truncates and appends", truncates_and_appends},
    {"appends move the offset", appends_move_the_offset},
    {"describes", describes},
    {"serves stdio", serves_stdio},
    {"renames and links", renames_and_links},
    {"makes and removes folders", makes_and_removes_folders},
    {"lists", lists},
    {"many files", many_files},
    {"all descriptors", all_descriptors},
    {"a big file", a_big_file},
    {"holes", holes},
    {"beyond 4 GB", beyond_4_gb},
    {"own files", own_files},
    {"one file", one_file},
    {"appended records", appended_records},
    {"starts and ends", starts_and_ends},
    {"starts at places", starts_at_places},
    {"leaves open", leaves_open},
    {"finds what was left", finds_what_was_left},
    {"syncs", syncs},
    {"finds what was synced", finds_what_was_synced},
    {"permission denied", permission_denied},
    {"nothing there", nothing_there},
    {"above the root", above_the_root},
    {"no such volume", no_such_volume},
    {"other volume", other_volume},
    {"a full volume", a_full_volume},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: files CASE PREFIX\n");
        return 2;
    }
    return run_case(cases, argc, argv);
}
