/*
 * Random calls on files of the CFS, against what they should be, in memory: every node has a file of its own, which it
 * writes, reads, empties, enlarges and opens anew, also by asynchronous calls, and records in one of all nodes, in all
 * I/O modes. Each node's last line is the sum of results and times, so that a single cycle's difference between two
 * runs shows.
 *
 *   cfs_random MIX SEED     MIX: not used; make exact names one
 */
#include <cfs.h>
#include <fcntl.h>
#include <npara_prt.h>
#include <ntime.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

enum { TURNS = 14, BYTES_MAX = 13000, OWN_MAX = 60000, ROUNDS = 3 };

static uint64_t choice, seen;
static unsigned char buf[BYTES_MAX], model[OWN_MAX];
static unsigned size;

static void note(int64_t value)
{
    seen = (seen ^ (uint64_t)value) * 0x100000001b3ull;
    seen = (seen ^ (uint64_t)(amicclk() * 20 + 0.5)) * 0x100000001b3ull;
}

static void write_own(int fd)
{
    const unsigned n = 1 + draw(&choice) % (BYTES_MAX - 1), at = draw(&choice) % (OWN_MAX - BYTES_MAX);

    fill_pattern(buf, n, draw(&choice));
    if (draw(&choice) % 3 == 0) {
        const unsigned half = n / 2;

        lseek(fd, at, SEEK_SET);
        const long first = half ? iwrite(fd, buf, half) : 0, second = iwrite(fd, buf + half, n - half);
        iowait(second);
        if (half)
            iowait(first);
    } else {
        check(pwrite(fd, buf, n, at) == (ssize_t)n, "pwrite");
    }
    memcpy(model + at, buf, n);
    size = at + n > size ? at + n : size;
    note(n);
}

static void read_own(int fd)
{
    const unsigned n = 1 + draw(&choice) % (BYTES_MAX - 1), at = draw(&choice) % OWN_MAX;
    const unsigned expected = at >= size ? 0 : size - at < n ? size - at : n;

    check(pread(fd, buf, n, at) == (ssize_t)expected, "pread");
    check(memcmp(buf, model + at, expected) == 0, "what was read is not what was written");
    note(expected);
}

static void change_own(int fd)
{
    struct stat st;

    if (draw(&choice) % 3 == 0) {
        check(ftruncate(fd, 0) == 0, "ftruncate");
        memset(model, 0, sizeof model);
        size = 0;
    } else {
        const unsigned to = draw(&choice) % OWN_MAX;

        size = to > size ? to : size;
        check(lsize(fd, to, SIZE_SET) == (off_t)size, "lsize");
    }
    check(fstat(fd, &st) == 0 && st.st_size == (off_t)size, "fstat");
    note(st.st_size);
}

static void use_own(void)
{
    char name[40];
    int disk = (int)(draw(&choice) % (unsigned)cfs_disks());

    snprintf(name, sizeof name, "/cfs/own%d", own_node());
    int fd = open(name, O_RDWR | O_CREAT, 0644);
    check(fd >= 0, "the own file does not open");
    if (draw(&choice) % 2)
        restrictvol(fd, 1, &disk);
    for (int i = 0; i < TURNS; i++)
        switch (draw(&choice) % 8) {
        case 0:
        case 1:
        case 2:
            write_own(fd);
            break;
        case 3:
        case 4:
            read_own(fd);
            break;
        case 5:
            change_own(fd);
            break;
        case 6:
            check(fsync(fd) == 0, "fsync");
            break;
        default:
            close(fd);
            fd = open(name, O_RDWR);
            check(fd >= 0, "the own file does not open again");
        }
    check(close(fd) == 0, "close");
}

static unsigned length_of(unsigned node, unsigned turn, unsigned equal)
{
    return equal ? 3001 : (node * 977 + turn * 4111) % 8000;
}

static void fill_record(unsigned node, unsigned turn, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        buf[i] = (unsigned char)(node * 31 + turn * 101 + i * 7);
}

static int is_record(unsigned node, unsigned turn, unsigned n)
{
    unsigned i = 0;

    while (i < n && buf[i] == (unsigned char)(node * 31 + turn * 101 + i * 7))
        i++;
    return i == n;
}

/* Mode 2 or 3: written by all, and read by all as one. */
static void use_together(int mode, unsigned nodes)
{
    const unsigned own = (unsigned)own_node();
    int fd = gopen("/cfs/together", O_RDWR | O_CREAT | O_TRUNC, mode, 0644);

    check(fd >= 0, "the file of all does not open");
    for (unsigned turn = 0; turn < ROUNDS; turn++) {
        fill_record(own, turn, length_of(own, turn, mode == 3));
        cwrite(fd, buf, length_of(own, turn, mode == 3));
        note(turn);
    }
    setiomode(fd, 0);
    for (unsigned turn = 0; turn < ROUNDS; turn++)
        for (unsigned node = 0; node < nodes; node++) {
            cread(fd, buf, length_of(node, turn, mode == 3));
            check(is_record(node, turn, length_of(node, turn, mode == 3)), "a record is wrong");
        }
    note(iseof(fd));
    check(close(fd) == 0, "close");
    isumn(0); /* before it is emptied */
}

/* Mode 1: all records are read once. */
static void use_first_come(unsigned nodes)
{
    int fd = gopen("/cfs/together", O_RDWR | O_CREAT | O_TRUNC, 1, 0644), got = 0;

    check(fd >= 0, "the file of all does not open");
    for (unsigned turn = 0; turn < ROUNDS; turn++)
        cwrite(fd, buf, 1111);
    setiomode(fd, 1);
    while (_cread(fd, buf, 1111) == 1111)
        note(++got);
    check(isumn(got) == (int)(ROUNDS * nodes), "a record was not read, or twice");
    check(close(fd) == 0, "close");
}

int main(int argc, char **argv)
{
    const unsigned nodes = (unsigned)isumn(1);

    choice = strtoull(argc > 2 ? argv[2] : "1", NULL, 10) * 1000003 + (uint64_t)own_node();
    use_own();
    use_together(2, nodes);
    use_first_come(nodes);
    use_together(3, nodes);
    printf("node %d: %016lx\n", own_node(), (unsigned long)seen);
    return 0;
}
