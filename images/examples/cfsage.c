/*
 * Ages a Concurrent File System: files of random sizes are made and removed until its disks are no longer empty and
 * what is free lies in pieces [P2 section 8.1].
 *
 *   cfsage [rounds=R] [full=PERCENT] [left=PERCENT] [most=BLOCKS] [seed=S]
 *
 * Each round makes files of 1 to `most` blocks until the disks are `full`, so that the last ones lie in what is left
 * between the others, then removes random ones until they are no more than `left`. Few sizes are whole groups of a
 * disk. Node 0 does it; no data is written, as lsize allocates. The same seed gives the same files. Prints a line:
 *
 *   cfsage seed=1 rounds=4 files=... made=... removed=... blocks=... free=...
 */
#include <cfs.h>
#include <errno.h>
#include <fcntl.h>
#include <nself.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILES_MAX 512

static struct {
    long rounds, full, left, most, seed;
} o = {.rounds = 4, .full = 97, .left = 85, .most = 600, .seed = 1};

static uint64_t state;
static uint8_t there[FILES_MAX];
static long made, removed;

static void fail(const char *what)
{
    fprintf(stderr, "cfsage: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void read_word(const char *word)
{
    static const char *const keys[] = {"rounds", "full", "left", "most", "seed"};
    long *const value[] = {&o.rounds, &o.full, &o.left, &o.most, &o.seed};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t n = strlen(keys[i]);
        char *end;

        if (strncmp(word, keys[i], n) != 0 || word[n] != '=')
            continue;
        *value[i] = strtol(word + n + 1, &end, 10);
        if (*end == 0 && end != word + n + 1 && *value[i] >= 0)
            return;
    }
    fprintf(stderr, "cfsage: '%s'; usage: cfsage [rounds=R] [full=PERCENT] [left=PERCENT] [most=BLOCKS] [seed=S]\n",
            word);
    exit(2);
}

static uint32_t below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % n);
}

static const char *name_of(int i)
{
    static char name[32];

    snprintf(name, sizeof name, "/cfs/age%d", i);
    return name;
}

/* Blocks of all disks, and those that are free. */
static void count(unsigned long *blocks, unsigned long *free_blocks)
{
    *blocks = *free_blocks = 0;
    for (int d = 0; d < cfs_disks(); d++) {
        struct cfs_stat st;

        if (cfs_stat(d, &st) < 0)
            fail("cfs_stat");
        *blocks += st.blocks;
        *free_blocks += st.blocks_free;
    }
}

static int is_full(long percent)
{
    unsigned long blocks, free_blocks;

    count(&blocks, &free_blocks);
    return (blocks - free_blocks) * 100 >= blocks * (unsigned long)percent;
}

/* Small ones more often. False: the disks have no room for it. */
static int make(int i)
{
    const off_t bytes = (off_t)4096 * (1 + below(1 + below((uint32_t)o.most)));
    int fd = open(name_of(i), O_RDWR | O_CREAT | O_EXCL, 0644);

    if (fd < 0 && errno == ENOSPC) /* of its name */
        return 0;
    if (fd < 0)
        fail("open");
    const int fits = _lsize(fd, bytes, SIZE_SET) == bytes;
    if (!fits && errno != ENOSPC)
        fail("lsize");
    if (close(fd) < 0 || (!fits && unlink(name_of(i)) < 0))
        fail("close");
    there[i] = (uint8_t)fits;
    made += fits;
    return fits;
}

static void remove_one(int i)
{
    if (unlink(name_of(i)) < 0)
        fail("unlink");
    there[i] = 0;
    removed++;
}

static void run_round(void)
{
    for (int i = 0; i < FILES_MAX && !is_full(o.full); i++)
        if (!there[i] && !make(i))
            break;
    while (made > removed && is_full(o.left)) {
        int i = (int)below(FILES_MAX);

        while (!there[i])
            i = (i + 1) % FILES_MAX;
        remove_one(i);
    }
}

int main(int argc, char **argv)
{
    int own, process, host, dim;
    unsigned long blocks, free_blocks;

    whoami(&own, &process, &host, &dim);
    for (int i = 1; i < argc; i++)
        read_word(argv[i]);
    if (own != 0)
        return 0;
    state = (uint64_t)o.seed * 2654435761u + 1;
    for (long i = 0; i < o.rounds; i++)
        run_round();
    count(&blocks, &free_blocks);
    printf("cfsage seed=%ld rounds=%ld files=%ld made=%ld removed=%ld blocks=%lu free=%lu\n", o.seed, o.rounds,
           made - removed, made, removed, blocks, free_blocks);
    return 0;
}
