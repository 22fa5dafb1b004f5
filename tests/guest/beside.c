/*
 * Reads that find their block in the data cache, beside reads that do not. Node 0 makes a small file, which stays in
 * the cache, and a large one. Then all others read from the small one, and node 0 from the large one in the meantime
 * ("misses"), or not ("hits"), until they are done; or all read from the large one, each its own part ("all"). Prints
 * how long that took: until the last of the others is done, whose read node 0 may be in.
 */
#include <fcntl.h>
#include <ntime.h>
#include <stdbool.h>
#include <unistd.h>

#include "check.h"

enum { BLOCK = 4096, SMALL = 16, LARGE = 1600, READS = 24, DONE = 3 };

static char block[BLOCK];

static int open_on_volume(const char *name, int flags)
{
    char path[80];

    snprintf(path, sizeof path, "%s%s", test_argv[0], name);
    int fd = open(path, flags, 0644);
    check(fd >= 0, "%s cannot be opened", path);
    return fd;
}

static void make(const char *name, int blocks)
{
    if (own_node() != 0)
        return;
    int fd = open_on_volume(name, O_RDWR | O_CREAT | O_TRUNC);
    for (int i = 0; i < blocks; i++) {
        memset(block, i, BLOCK);
        check_equal(write(fd, block, BLOCK), BLOCK);
    }
    check_equal(fsync(fd), 0);
    check_equal(close(fd), 0);
}

static void read_block(int fd, int number)
{
    check_equal(pread(fd, block, BLOCK, (off_t)number * BLOCK), BLOCK);
    check_equal(block[17], (char)number);
}

/* Both files are made, and the small one is in the cache. */
static int begin(double *begun_us)
{
    make("large", LARGE);
    make("small", SMALL);
    check_equal(nsync(1), 0);
    int fd = open_on_volume("small", O_RDONLY);
    for (int i = 0; i < SMALL && own_node() == 0; i++)
        read_block(fd, i);
    check_equal(nsync(1), 0);
    *begun_us = amicclk();
    return fd;
}

static void finish(const char *name, int reads, double us)
{
    if (own_node() == 0)
        printf("%s: reads=%d us=%.0f\n", name, reads, us);
}

static void read_small(int fd)
{
    for (int i = 0; i < READS; i++)
        read_block(fd, (own_node() * 7 + i * 5) % SMALL);
    const double done_us = amicclk();
    check_equal(nwrite(&done_us, sizeof done_us, 0, DONE, NULL), 0);
}

/* Every block is of another group than the one before. Returns when the last of the others was done. */
static double wait_for_others(bool misses)
{
    int large = open_on_volume("large", O_RDONLY), done = 0;
    double last_us = 0, done_us;

    for (int missed = 0; done < node_count() - 1;) {
        int type = DONE, src = -1;

        if (misses && ntest(&src, &type) < 0) {
            read_block(large, missed * 40 % LARGE + missed * 40 / LARGE);
            missed++;
            continue;
        }
        check(!misses || missed >= 10, "%d misses only", missed);
        src = -1, type = DONE;
        check_equal(nread(&done_us, sizeof done_us, &src, &type, NULL), sizeof done_us);
        last_us = done_us > last_us ? done_us : last_us;
        done++;
    }
    return last_us;
}

static void beside(bool misses, const char *name)
{
    double begun_us;
    int fd = begin(&begun_us);

    if (own_node() == 0)
        finish(name, READS * (node_count() - 1), wait_for_others(misses) - begun_us);
    else
        read_small(fd);
}

static void hits(void)
{
    beside(false, "hits");
}

static void misses(void)
{
    beside(true, "misses");
}

static void all(void)
{
    double begun_us;

    begin(&begun_us);
    int large = open_on_volume("large", O_RDONLY);
    check_equal(nsync(1), 0);
    begun_us = amicclk();
    for (int i = 0; i < 4; i++)
        read_block(large, (own_node() + i * node_count()) * 3 % LARGE);
    check_equal(nsync(1), 0);
    finish("all", 4 * node_count(), amicclk() - begun_us);
}

static const struct test_case cases[] = {
    {"hits", hits},
    {"misses", misses},
    {"all", all},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
