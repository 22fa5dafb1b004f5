/*
 * The benchmark of the paper on the Concurrent File System [P2 section 4.0]: all nodes read or write one file, in parts
 * or interleaved, and the time is that of all of them.
 *
 *   cfsbench TEST OP nodes=N block=B [file=BYTES] [disks=D] [first=F] [async=0] [skew_us=U seed=S]
 *            [group=G turn=part|call|none [own=1]] [readers=R] [forward=0]
 *
 *   TEST   part    node i has bytes [i S / N, (i + 1) S / N) of a file of S bytes
 *          inter   block j of node i is block j N + i
 *          bcast   every node reads all of it
 *          one     as part, with one node: the rate of a disk where disks=1
 *          open    opens the file, reads or writes a byte, closes it
 *          tree    every node gets all of it: R nodes (8) read a part each, which a tree of messages carries to all
 *                  [P2 section 5.1]; of all nodes. forward=1: a node has a whole part before it sends any of it on
 *          stages  no file: nodes begin and end at different times, as in [P2 Figure 2]
 *   OP     read, write
 *
 * group=G: the nodes are in G groups, in each of which one is active at a time [P2 section 7.0]: for the whole of its
 * part, or with turn=call for one call, after which the next one has its turn; turn=none: all are. own=1: each group
 * has a file of its own, of S / G bytes, on a disk of its own, group g's on disk g mod D.
 *
 * Nodes F to F + N - 1 work, the others wait. As [P2 section 4.0]: synchronize, start the clock, open, transfer, close,
 * synchronize, stop the clock; the file is preallocated. Data is checked with the clock stopped. The file is made
 * anew first, by all nodes if it is to be read, and the caches are emptied. Prints one line:
 *
 *   cfs test=part op=read nodes=64 block=65536 bytes=134217728 us=... mb_s=... requests=... moved=... needed=...
 *
 *   ... begin_us=... end_us=... alone_us=...
 *
 * where us is the time of all, and alone_us the longest that a node has measured of its own, without synchronization; a
 * MB has 2^20 bytes, the counts are those of all disks while the clock ran, `moved` the blocks that commands of drives
 * have read or written in it, and `needed` those that the test is about.
 */
#include <cfs.h>
#include <errno.h>
#include <fcntl.h>
#include <group.h>
#include <nself.h>
#include <npara_prt.h>
#include <ntime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME    "/cfs/bench"
#define SYNC    1
#define TURN    2
#define FORWARD 3 /* and on, of reader 0 and on */
#define DISKS   32
#define UNIT_US 100000. /* of stages */

enum test { PART, INTER, BCAST, ONE, OPEN, TREE, STAGES, TESTS };
static const char *const test_names[TESTS] = {"part", "inter", "bcast", "one", "open", "tree", "stages"};

static struct {
    enum test test;
    int write, nodes, first, async, disks, skew_us, groups, own, readers, forward;
    char turn; /* 'p': for a part, 'c': for a call, 'n': none */
    long block, file;
    unsigned seed;
} o = {.nodes = 1, .block = 4096, .file = 1L << 20, .disks = 0, .seed = 1, .readers = 8, .turn = 'p'};

static int own, all, works;
static double alone_us; /* what this node has measured */
static unsigned char *buf;
static struct group everybody; /* of tree */

/* ---- Arguments ---- */

static void usage(const char *what)
{
    if (own == 0)
        fprintf(stderr,
                "cfsbench: '%s'; usage: cfsbench part|inter|bcast|one|open|tree|stages read|write nodes=N block=B "
                "[file=BYTES] [disks=D] [first=F] [async=0|1] [skew_us=U] [seed=S] [group=G] "
                "[turn=part|call|none] "
                "[own=0|1] [readers=R] [forward=0|1]\n",
                what);
    exit(2);
}

/* A number, with K or M behind it. */
static long number(const char *word, const char *text)
{
    char *end;
    long n = strtol(text, &end, 10);

    if (*end == 'K')
        n <<= 10, end++;
    else if (*end == 'M')
        n <<= 20, end++;
    if (end == text || *end || n < 0)
        usage(word);
    return n;
}

static int is_key(const char *word, const char *key, long *value)
{
    size_t n = strlen(key);

    if (strncmp(word, key, n) != 0 || word[n] != '=')
        return 0;
    *value = number(word, word + n + 1);
    return 1;
}

static void read_word(const char *word)
{
    const struct {
        const char *key;
        int *value;
    } ints[] = {{"nodes", &o.nodes}, {"disks", &o.disks},     {"first", &o.first},
                {"async", &o.async}, {"skew_us", &o.skew_us}, {"group", &o.groups},
                {"own", &o.own},     {"readers", &o.readers}, {"forward", &o.forward}};
    long n;

    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++)
        if (is_key(word, ints[i].key, &n)) {
            *ints[i].value = (int)n;
            return;
        }
    if (is_key(word, "block", &n))
        o.block = n;
    else if (is_key(word, "file", &n))
        o.file = n;
    else if (is_key(word, "seed", &n))
        o.seed = (unsigned)n;
    else if (strcmp(word, "turn=call") == 0 || strcmp(word, "turn=part") == 0 || strcmp(word, "turn=none") == 0)
        o.turn = word[5];
    else
        usage(word);
}

static void check_arguments(void)
{
    const int shares = o.own ? o.groups : 1; /* files */

    if (o.nodes < 1 || o.first + o.nodes > all)
        usage("nodes");
    if (o.groups > 0 && o.nodes > o.groups && o.nodes % o.groups != 0)
        usage("group: does not divide nodes");
    if (o.own && (o.test != PART || o.groups < 1 || o.nodes % o.groups != 0))
        usage("own: of the groups of part");
    if (o.block < 1 || o.block > 4 << 20)
        usage("block");
    if (o.test != OPEN && o.test != BCAST && o.test != STAGES && o.file % ((long)o.nodes * o.block) != 0)
        usage("file: no multiple of nodes x block");
    if (o.test == TREE &&
        (o.nodes != all || o.write || o.readers < 1 || o.readers > all || o.file % ((long)o.readers * o.block) != 0))
        usage("readers: tree reads on all nodes, by readers that divide the file's blocks");
    if (o.disks > cfs_disks() || cfs_disks() == 0 || (shares > 1 && o.file % shares != 0))
        usage("disks");
}

static void read_arguments(int argc, char **argv)
{
    if (argc < 3)
        usage("");
    while (o.test < TESTS && strcmp(argv[1], test_names[o.test]) != 0)
        o.test++;
    if (o.test == TESTS)
        usage(argv[1]);
    o.write = strcmp(argv[2], "write") == 0;
    if (!o.write && strcmp(argv[2], "read") != 0)
        usage(argv[2]);
    for (int i = 3; i < argc; i++)
        read_word(argv[i]);
    check_arguments();
}

/* ---- The file ---- */

/* Other nodes may wait for this one: it ends all of them. */
static void fail(const char *what)
{
    fprintf(stderr, "cfsbench: node %d: %s: %s\n", own, what, strerror(errno));
    fflush(stderr);
    abort();
}

static uint32_t word_at(long at)
{
    return (uint32_t)(at / 4) * 2654435761u + 12345;
}

static void fill(long at, long n)
{
    for (long i = 0; i + 4 <= n; i += 4) {
        const uint32_t w = word_at(at + i);

        memcpy(buf + i, &w, 4);
    }
}

static void check(long at, long n)
{
    for (long i = 0; i + 4 <= n; i += 512) {
        const uint32_t w = word_at(at + i);

        if (memcmp(buf + i, &w, 4) != 0) {
            fprintf(stderr, "cfsbench: node %d: byte %ld of the file is wrong\n", own, at + i);
            exit(1);
        }
    }
}

/* Where block i of this node is in its file. -1: it has no more. */
static long place(long i)
{
    const long shares = o.test == TREE ? o.readers : o.nodes, part = o.file / shares, member = own - o.first;
    const long node = o.own ? member / o.groups : member;

    if (o.test == INTER)
        return (i * o.nodes + node) * o.block < o.file ? (i * o.nodes + node) * o.block : -1;
    if (o.test == BCAST)
        return i * o.block < o.file ? i * o.block : -1;
    return i * o.block < part && node < shares ? node * part + i * o.block : -1;
}

static long bytes_at(long at)
{
    return o.file - at < o.block ? o.file - at : o.block;
}

/* A group's file; the only one. */
static const char *name_of(int group)
{
    static char name[32];

    snprintf(name, sizeof name, o.own ? NAME "%d" : NAME, group);
    return name;
}

static const char *own_name(void)
{
    return name_of(o.own ? (own - o.first) % o.groups : 0);
}

/* Node 0 makes a preallocated file anew, on so many disks, or on that one. */
static void make(int group)
{
    const int disks = o.own ? 1 : o.disks;
    const char *name = name_of(group);
    int disk[DISKS];

    if (unlink(name) < 0 && errno != ENOENT)
        fail("removing the file of before");
    int fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0644);
    for (int i = 0; i < disks; i++)
        disk[i] = o.own ? group % cfs_disks() : i;
    if (fd < 0 || (disks > 0 && _restrictvol(fd, disks, disk) < 0) ||
        _lsize(fd, o.own ? o.file / o.groups : o.file, SIZE_SET) < 0 || close(fd) < 0)
        fail("making the file");
}

/* All nodes write it, each a part. */
static void write_whole(int group)
{
    const long chunk = 65536, size = o.own ? o.file / o.groups : o.file, chunks = (size + chunk - 1) / chunk;
    int fd = open(name_of(group), O_RDWR);

    if (fd < 0)
        fail("open");
    for (long i = own * chunks / all; i < (own + 1) * chunks / all; i++) {
        const long n = size - i * chunk < chunk ? size - i * chunk : chunk;

        fill(i * chunk, n);
        if (pwrite(fd, buf, (size_t)n, i * chunk) != n)
            fail("writing the file");
    }
    close(fd);
}

static void set_up(void)
{
    const int files = o.own ? o.groups : 1;

    for (int i = 0; own == 0 && i < files; i++)
        make(i);
    nsync(SYNC);
    for (int i = 0; !o.write && i < files; i++)
        write_whole(i);
    nsync(SYNC);
    if (own < cfs_disks() && cfs_drop(own) < 0)
        fail("emptying a cache");
    for (int d = all; own == 0 && d < cfs_disks(); d++)
        if (cfs_drop(d) < 0)
            fail("emptying a cache");
    nsync(SYNC);
}

/* ---- The test ---- */

/* Where the bytes at that place are in memory. */
static unsigned char *memory_of(long at)
{
    return o.test == TREE ? buf + at : buf;
}

static void transfer(int fd, long at, long n)
{
    unsigned char *memory = memory_of(at);

    if (lseek(fd, at, SEEK_SET) != at)
        fail("lseek");
    if (o.async)
        iowait(o.write ? iwrite(fd, memory, (unsigned)n) : iread(fd, memory, (unsigned)n));
    else if (o.write)
        cwrite(fd, memory, (unsigned)n);
    else
        cread(fd, memory, (unsigned)n);
}

/* ---- Turns ---- */

static int has_turns(void)
{
    return o.groups > 0 && o.nodes > o.groups && o.turn != 'n';
}

/* Waits until the member before this one has passed the turn on. The first member's first turn is there. */
static void await_turn(int first)
{
    char word;
    int i = own - o.first, from = o.first + (i - o.groups + o.nodes) % o.nodes, type = TURN;

    if (!has_turns() || (first && i < o.groups))
        return;
    if (nread(&word, 1, &from, &type, NULL) != 1)
        fail("nread");
}

/* last: no member comes after this turn. */
static void pass_turn(int last)
{
    int i = own - o.first;

    if (!has_turns() || (last && i + o.groups >= o.nodes))
        return;
    if (nwrite("t", 1, o.first + (i + o.groups) % o.nodes, TURN, NULL) < 0)
        fail("nwrite");
}

static void transfer_all(int fd)
{
    const int by_call = o.turn == 'c';

    if (!by_call)
        await_turn(1);
    for (long i = 0, at; (at = place(i)) >= 0; i++) {
        if (by_call)
            await_turn(i == 0);
        transfer(fd, at, bytes_at(at));
        if (by_call)
            pass_turn(place(i + 1) < 0);
    }
    if (!by_call)
        pass_turn(1);
}

/* One part by a binomial tree, in whole messages: a node has it from the one whose place lacks its lowest bit, and
 * sends it to those whose places have one lower bit more. */
static void forward(unsigned char *part, long n, int reader)
{
    const int place = (own - reader + all) % all;
    int from = (reader + (place & (place - 1))) % all, type = FORWARD + reader, bit = 1;

    if (place != 0 && nread(part, (int)n, &from, &type, NULL) != n)
        fail("nread");
    while (bit < all && !(place & bit))
        bit <<= 1;
    while (bit >>= 1)
        if (place + bit < all && nwrite(part, (int)n, (reader + place + bit) % all, FORWARD + reader, NULL) < 0)
            fail("nwrite");
}

/* The parts that the readers have go to all nodes. */
static void broadcast(void)
{
    const long part = o.file / o.readers;

    for (int r = 0; r < o.readers; r++)
        if (o.forward)
            forward(buf + r * part, part, r);
        else if (group_broadcast(&everybody, buf + r * part, (int)part, r) < 0)
            fail("group_broadcast");
}

static void wait_until(double us)
{
    while (amicclk() < us)
        ;
}

/* Node 1 works for the longest time, 11 units; the last one ends 12 units after the first one begins. */
static void stages(double start)
{
    static const int begin[4] = {2, 0, 3, 4}, work[4] = {8, 11, 7, 8};
    const int i = (own - o.first) % 4;

    wait_until(start + begin[i] * UNIT_US);
    alone_us = amicclk();
    wait_until(start + (begin[i] + work[i]) * UNIT_US);
    alone_us = amicclk() - alone_us;
}

static void run(void)
{
    double begin = amicclk();
    int fd = open(own_name(), o.write ? O_RDWR : O_RDONLY);

    if (fd < 0)
        fail("open");
    if (o.test == OPEN)
        transfer(fd, 0, 1);
    else
        transfer_all(fd);
    if (close(fd) < 0)
        fail("close");
    if (o.test == TREE)
        broadcast();
    alone_us = amicclk() - begin;
}

/* What the disk has, block by block, with the clock stopped. A write has written what buf had. */
static void verify(void)
{
    int fd = open(own_name(), O_RDONLY);

    if (o.test == TREE)
        check(0, o.file);
    for (long i = 0, at; o.test != OPEN && o.test != TREE && (at = place(i)) >= 0; i += 1 + o.file / o.block / 16) {
        if (pread(fd, buf, (size_t)bytes_at(at), at) != bytes_at(at))
            fail("reading the file");
        check(o.write ? 0 : at, bytes_at(at));
    }
    close(fd);
}

struct sums {
    uint64_t requests, hits, misses, prefetched, unused, moved, commands, waits, wait_us;
};

/* Of all disks, by node 0. Of commands that wrote, the sizes are known as 1, 2 to 3, 4 to 7 and 8 blocks: the least. */
static struct sums count(void)
{
    struct sums s = {0};

    for (int d = 0; own == 0 && d < cfs_disks(); d++) {
        struct cfs_stat st;
        static const unsigned blocks[6] = {1, 2, 4, 8, 16, 32};

        if (cfs_stat(d, &st) < 0)
            fail("cfs_stat");
        s.requests += st.requests, s.hits += st.hits, s.misses += st.misses;
        s.prefetched += st.prefetched, s.unused += st.unused, s.waits += st.waits, s.wait_us += st.wait_us;
        s.moved += st.misses + st.prefetched; /* each block of a read is one or the other */
        for (int i = 0; i < 6; i++) {
            s.commands += st.reads[i] + st.writes[i];
            s.moved += blocks[i] * st.writes[i];
        }
    }
    return s;
}

/* begin: since the machine's start. */
static void print_line(double begin, double us, double alone, const struct sums *a, const struct sums *b)
{
    const double bytes = o.test == OPEN                      ? 1
                         : o.test == STAGES                  ? 0
                         : o.test == BCAST || o.test == TREE ? (double)o.file * o.nodes
                                                             : (double)o.file;

    printf(
        "cfs test=%s op=%s nodes=%d block=%ld bytes=%.0f us=%.1f mb_s=%.3f requests=%lu hits=%lu misses=%lu "
        "moved=%lu commands=%lu needed=%lu unused=%lu waits=%lu wait_us=%lu begin_us=%.0f end_us=%.0f alone_us=%.1f\n",
        test_names[o.test], o.write ? "write" : "read", o.nodes, o.block, bytes, us, bytes / 1048576 / (us / 1e6),
        (unsigned long)(b->requests - a->requests), (unsigned long)(b->hits - a->hits),
        (unsigned long)(b->misses - a->misses), (unsigned long)(b->moved - a->moved),
        (unsigned long)(b->commands - a->commands), (unsigned long)((o.file + 4095) / 4096),
        (unsigned long)(b->unused - a->unused), (unsigned long)(b->waits - a->waits),
        (unsigned long)(b->wait_us - a->wait_us), begin, begin + us, alone);
}

static double skew(void)
{
    uint64_t state = o.seed * 2654435761u + (unsigned)own * 40503u + 1;

    for (int i = 0; i < 3; i++)
        state = state * 6364136223846793005u + 1442695040888963407u;
    return o.skew_us > 0 ? (double)((state >> 33) % (unsigned)o.skew_us) : 0;
}

int main(int argc, char **argv)
{
    int process, host, dim;

    whoami(&own, &process, &host, &dim);
    all = 1 << dim;
    read_arguments(argc, argv);
    works = own >= o.first && own < o.first + o.nodes;
    const long room = o.test == TREE ? o.file : o.block;
    buf = malloc((size_t)(room > 65536 ? room : 65536));
    if (!buf || (o.test == TREE && group_make(&everybody, NULL, 0) < 0))
        fail("memory");
    if (o.test != STAGES)
        set_up();
    struct sums before = count();
    fill(0, o.block);
    nsync(SYNC);
    double start = amicclk();
    if (works)
        wait_until(start + skew());
    if (works && o.test == STAGES)
        stages(start);
    else if (works)
        run();
    nsync(SYNC);
    double us = amicclk() - start;
    struct sums after = count();
    double most = dmaxn(us), alone = dmaxn(alone_us);
    if (works && o.test != STAGES)
        verify();
    if (own == 0)
        print_line(start, most, alone, &before, &after);
    return 0;
}
