/*
 * nDEVICES: drivers of programs under the calls on descriptors and paths, and copies of descriptors.
 *
 *   devices CASE PREFIX     PREFIX is the root of names: "/" or "//df00/"
 */
#define _GNU_SOURCE /* dup3 */
#include <ctype.h>
#include <fcntl.h>
#include <ndevices.h>
#include <nio.h>
#include <nmon.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "check_files.h"
#include "vertex/contract/traps.h"

#define UPPER "upper:"
#define ASK   42 /* an ioctl: adds one to its argument */

static int open_states, closed_states;

/* ---- A driver on top of others: upper:PATH reads PATH in capitals ---- */

static int upper_match(const char *path)
{
    return strncmp(path, UPPER, strlen(UPPER)) == 0;
}

static int upper_open(const char *path, int flags, mode_t mode, void **state)
{
    int fd = open(path + strlen(UPPER), flags, mode);

    if (fd < 0)
        return -errno;
    *state = (void *)(long)fd;
    open_states++;
    return 0;
}

static int upper_close(void *state)
{
    closed_states++;
    return close((int)(long)state) < 0 ? -errno : 0;
}

static ssize_t upper_read(void *state, void *buf, size_t n)
{
    ssize_t got = read((int)(long)state, buf, n);

    for (ssize_t i = 0; i < got; i++)
        ((char *)buf)[i] = (char)toupper(((unsigned char *)buf)[i]);
    return got < 0 ? -errno : got;
}

static int upper_ioctl(void *state, int request, void *arg)
{
    (void)state;
    if (request != ASK)
        return -ENOTTY;
    ++*(int *)arg;
    return 0;
}

static int upper_fstat(void *state, struct stat *st)
{
    return fstat((int)(long)state, st) < 0 ? -errno : 0;
}

static int upper_stat(const char *path, struct stat *st)
{
    return stat(path + strlen(UPPER), st) < 0 ? -errno : 0;
}

static int upper_unlink(const char *path)
{
    return unlink(path + strlen(UPPER)) < 0 ? -errno : 0;
}

static const struct ndevice upper = {.name = "upper",
                                     .match = upper_match,
                                     .open = upper_open,
                                     .close = upper_close,
                                     .read = upper_read,
                                     .ioctl = upper_ioctl,
                                     .fstat = upper_fstat,
                                     .stat = upper_stat,
                                     .unlink = upper_unlink};

__attribute__((constructor)) static void add_upper(void)
{
    ndevice_add(&upper);
}

static const char *upper_name(const char *name)
{
    static char path[1300];

    snprintf(path, sizeof path, UPPER "%s", name_of(name));
    return path;
}

static void own_device(void)
{
    char line[20];
    struct stat st;
    int arg = 7;

    make_text_file(name_of("f"), "some text\nmore\n");
    expect_text_file(upper_name("f"), "SOME TEXT\nMORE\n");
    FILE *stream = fopen(upper_name("f"), "r");
    check(stream != NULL, "fopen: %s", strerror(errno));
    check(fgets(line, sizeof line, stream) && strcmp(line, "SOME TEXT\n") == 0, "fgets");
    check_works(ioctl(fileno(stream), ASK, &arg));
    check_equal(arg, 8);
    check_fails(ioctl(fileno(stream), ASK + 1, &arg), ENOTTY);
    check_fails(ioctl(STDOUT_FILENO, ASK, &arg), ENOTTY);
    check_fails(ioctl(99, ASK, &arg), EBADF);
    check_works(fclose(stream));
    check_works(stat(upper_name("f"), &st));
    check_equal(st.st_size, 15);
    check_works(lstat(upper_name("f"), &st)); /* by stat, as it has no lstat */
    check_equal(open_states, closed_states);
    check_works(unlink(upper_name("f")));
    check_fails(open(name_of("f"), O_RDONLY), ENOENT);
    check_fails(open(upper_name("f"), O_RDONLY), ENOENT);
}

/* A function that the driver lacks. */
static void missing_functions(void)
{
    char byte = 0, copy[1300];
    struct stat st;
    int fd;

    make_text_file(name_of("f"), "x");
    fd = open(upper_name("f"), O_RDWR);
    check(fd >= 0, "open");
    check_fails(write(fd, &byte, 1), ENOTSUP);
    check_fails(pread(fd, &byte, 1, 0), ENOTSUP);
    check_fails(lseek(fd, 0, SEEK_SET), ESPIPE);
    check_fails(ftruncate(fd, 0), ENOTSUP);
    check_fails(fchmod(fd, 0600), ENOTSUP);
    check_equal(readstart(fd, 1), -ENOTSUP);
    check_equal(ionode(fd), -ENOTSUP);
    check(strstr(nfailed(), "readstart") != NULL, "nfailed: %s", nfailed());
    check(!isatty(fd), "isatty");
    check_works(close(fd));
    check_fails(mkdir(upper_name("d"), 0777), ENOTSUP);
    check_fails(chdir(upper_name("")), ENOTDIR);
    check_fails(chmod(upper_name("f"), 0600), ENOTSUP);
    check_fails(rename(upper_name("f"), name_of("g")), EXDEV);
    check_fails(link(name_of("f"), upper_name("g")), EXDEV);
    strcpy(copy, upper_name("f"));
    check_fails(rename(copy, upper_name("g")), ENOTSUP);
    check_works(stat(name_of("f"), &st));
}

/* ---- Which driver is asked ---- */

static int loop_match(const char *path)
{
    return strncmp(path, "loop", 4) == 0;
}

static int loop_open(const char *path, int flags, mode_t mode, void **state)
{
    int fd = open(path, flags, mode);

    *state = (void *)(long)fd;
    return fd < 0 ? -errno : 0;
}

static int nowhere_open(const char *path, int flags, mode_t mode, void **state)
{
    (void)path, (void)flags, (void)mode, (void)state;
    return -ENXIO;
}

static void order_of_devices(void)
{
    static const struct ndevice loop = {.name = "loop", .match = loop_match, .open = loop_open};
    static const struct ndevice later = {.name = "later", .match = loop_match, .open = nowhere_open};
    static const struct ndevice no_match = {.name = "no match", .open = nowhere_open};
    static const struct ndevice no_open = {.name = "no open", .match = loop_match};
    static struct ndevice many[16];
    static char names[16][8];
    int added = 0;

    check_works(ndevice_add(&loop));
    check_fails(open("loop", O_RDONLY), ELOOP);
    check_fails(ndevice_add(&loop), EEXIST);
    check_fails(ndevice_add(&no_match), EINVAL);
    check_fails(ndevice_add(&no_open), EINVAL);
    check_works(ndevice_add(&later));
    check_fails(open("loop", O_RDONLY), ENXIO);
    for (int i = 0; i < 16; i++) {
        snprintf(names[i], sizeof names[i], "n%d", i);
        many[i] = (struct ndevice){.name = names[i], .match = loop_match, .open = nowhere_open};
        added += ndevice_add(&many[i]) == 0;
    }
    check_equal(errno, ENFILE);
    check_equal(added, 13); /* three were there */
    check_fails(open(NULL, O_RDONLY), EFAULT);
}

/* ---- Copies ---- */

static void copies(void)
{
    char text[8] = "";
    int fd, copy;

    make_text_file(name_of("f"), "abcdefgh");
    fd = open(name_of("f"), O_RDWR);
    copy = dup(fd);
    check_equal(copy, fd + 1);
    check_equal(read(fd, text, 3), 3);
    check_equal(read(copy, text, 2), 2);
    check(memcmp(text, "de", 2) == 0, "the copy does not share the offset");
    check_works(close(fd));
    check_fails(read(fd, text, 1), EBADF);
    check_equal(lseek(copy, 0, SEEK_CUR), 5);
    check_equal(dup2(copy, 200), 200);
    check_equal(dup2(copy, copy), copy);
    check_works(close(copy));
    check_equal(read(200, text, 1), 1);
    check_equal(text[0], 'f');
    check_equal(dup(200), fd); /* the lowest free one */
    check_equal(dup2(200, fd), fd);
    check_works(close(200));
    check_works(close(fd));
    check_fails(close(fd), EBADF);
    check_fails(dup(fd), EBADF);
    check_fails(dup2(fd, 5), EBADF);
    check_fails(dup2(0, 256), EBADF);
    check_fails(dup2(0, -1), EBADF);
    check_fails(dup3(0, 0, 0), EINVAL);
    check_fails(dup3(0, 5, O_APPEND), EINVAL);
}

/* The standard output goes to a file, and back. */
static void redirected_output(void)
{
    int fd = open(name_of("out"), O_WRONLY | O_CREAT | O_TRUNC, 0666), before = dup(STDOUT_FILENO);

    check(fd >= 0 && before >= 0, "no descriptors");
    check_equal(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
    check_works(close(fd));
    printf("to the file\n");
    fflush(stdout);
    check_equal(dup2(before, STDOUT_FILENO), STDOUT_FILENO);
    check_works(close(before));
    expect_text_file(name_of("out"), "to the file\n");
}

static void copies_of_devices(void)
{
    char text[8] = "";
    int fd, copy;

    make_text_file(name_of("f"), "abcdefgh");
    fd = open(upper_name("f"), O_RDONLY);
    copy = dup(fd);
    check_equal(read(fd, text, 2), 2);
    check_works(close(fd));
    check_equal(closed_states, 0);
    check_equal(read(copy, text, 2), 2);
    check(memcmp(text, "CD", 2) == 0, "read %s", text);
    check_works(close(copy));
    check_equal(closed_states, 1);
}

static void flags_of_descriptors(void)
{
    int fd, copy;

    make_text_file(name_of("f"), "x");
    fd = open(name_of("f"), O_RDWR | O_APPEND | O_CLOEXEC | O_CREAT, 0666);
    check_equal(fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND | O_CREAT), O_RDWR | O_APPEND);
    check_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    copy = fcntl(fd, F_DUPFD, 100);
    check_equal(copy, 100);
    check_equal(fcntl(copy, F_GETFD), 0);
    check_equal(fcntl(copy, F_SETFD, FD_CLOEXEC), 0);
    check_equal(fcntl(copy, F_GETFD), FD_CLOEXEC);
    check_equal(fcntl(fd, F_DUPFD_CLOEXEC, 100), 101);
    check_equal(fcntl(101, F_GETFD), FD_CLOEXEC);
    check_equal(fcntl(fd, F_SETFL, O_APPEND | O_NONBLOCK), 0);
    check(fcntl(copy, F_GETFL) & O_NONBLOCK, "a copy shares the flags");
    check_fails(fcntl(fd, F_SETFL, 0), ENOTSUP); /* O_APPEND would go */
    check_fails(fcntl(fd, F_DUPFD, 256), EINVAL);
    check_fails(fcntl(fd, F_DUPFD, -1), EINVAL);
    check_fails(fcntl(fd, F_GETLK, NULL), EFAULT);
    check_fails(fcntl(77, F_GETFL), EBADF);
    check_fails(fcntl(-1, F_GETFL), EBADF);
    check_equal(fcntl(STDIN_FILENO, F_GETFL) & O_ACCMODE, O_RDONLY);
    check_equal(fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE, O_WRONLY);
}

/* All descriptors, by copies and by opens. */
static void all_descriptors(void)
{
    int fd, n = 0;

    make_text_file(name_of("f"), "x");
    while ((fd = n % 8 ? dup(0) : open(name_of("f"), O_RDONLY)) >= 0)
        check_equal(fd, 3 + n++);
    check_equal(errno, EMFILE);
    check_equal(n, 253);
    check_fails(open(upper_name("f"), O_RDONLY), EMFILE);
    check_works(close(3));
    check_fails(open(upper_name("f"), O_RDONLY), EMFILE); /* it needs two: its own open takes the last */
    check_equal(open_states, closed_states);
    check_equal(open(name_of("f"), O_RDONLY), 3);
}

/* ---- The price of the switch ---- */

#define CALLS 64

/* A call of the C library against its trap, in cycles: a read of 0 bytes, which asks no server. */
static void cost_of_the_switch(void)
{
    int fd;
    long begin, traps, calls;
    char byte;

    make_text_file(name_of("f"), "x");
    fd = open(name_of("f"), O_RDONLY);
    for (int warm = 0; warm < 2; warm++) {
        begin = trap_cycles();
        for (int i = 0; i < CALLS; i++)
            check_equal(trap_pread(fd, &byte, 0, 0), 0);
        traps = trap_cycles() - begin;
        begin = trap_cycles();
        for (int i = 0; i < CALLS; i++)
            check_equal(pread(fd, &byte, 0, 0), 0);
        calls = trap_cycles() - begin;
    }
    check((calls - traps) / CALLS <= 100, "%ld cycles, switch, nfailed and errno", (calls - traps) / CALLS);
}

static const struct test_case cases[] = {
    {"own device", own_device},
    {"missing functions", missing_functions},
    {"order of devices", order_of_devices},
    {"copies", copies},
    {"redirected output", redirected_output},
    {"copies of devices", copies_of_devices},
    {"flags", flags_of_descriptors},
    {"all descriptors", all_descriptors},
    {"cost of the switch", cost_of_the_switch},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
