/*
 * shares FIRST N: N files, from number FIRST on, that all nodes write together. The number determines the layout, the
 * parts into which the file is cut, and whose they are in each round. After each round every node reads random ranges,
 * which must be what has been written last; holes are zeros. Nobody closes its file in between.
 *
 * "<pio.h>: what a pio_write has returned is seen by every read that begins later": in the first round each node tells
 * the next one by a message what it has written, and that one reads it at once; later nsync tells all.
 */
#include <fcntl.h>
#include <pio.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "check_files.h"

enum { PARTS = 48, ROUNDS = 3, READS = 6, MOST_BYTES = 40000, TYPE = 7, VOLUMES = 4, POISON = 0x5a };

static unsigned long number;
static int nodes, me;

static struct part {
    int from, bytes;
    int written_in; /* the last round in which it was written, -1: never */
    int owner;      /* in this round; nobody: -1 */
} parts[PARTS];
static int n_parts, file_bytes; /* up to the end of the last part that was written */

static char buf[MOST_BYTES], expected[MOST_BYTES];

#define must(condition, ...)                                                    \
    do {                                                                        \
        if (!(condition)) {                                                     \
            char must_text[200];                                                \
            snprintf(must_text, sizeof must_text, __VA_ARGS__);                 \
            check(false, "file %lu of %d nodes: %s", number, nodes, must_text); \
        }                                                                       \
    } while (0)

/* ---- What all nodes draw alike ---- */

static struct pio_layout draw_layout(uint64_t *state)
{
    static const char *const maps[] = {NULL, NULL, "array 20x50x3 block,cyclic(7) on 2x2",
                                       "(0,99,-,1)(100,499,-,1,400,2)"};
    static const int blocks[] = {7, 100, 512, 1000, 4096};
    struct pio_layout layout = {.map = maps[draw(state) % 4]};

    layout.buffers = 1 + (int)(draw(state) % 3);
    layout.block_size = blocks[draw(state) % 5];
    layout.disks = layout.map ? 0 : 1 + (int)(draw(state) % VOLUMES);
    return layout;
}

/* Cuts the file; adjacent parts mostly touch, so they share blocks. */
static void draw_parts(uint64_t *state)
{
    int at = draw(state) % 3 ? 0 : (int)(draw(state) % 300), most = draw(state) % 2 ? 30 : 700;

    for (n_parts = 0; n_parts < PARTS; n_parts++) {
        struct part *p = &parts[n_parts];

        *p = (struct part){at, 1 + (int)(draw(state) % most), -1, -1};
        at += p->bytes + (draw(state) % 4 ? 0 : (int)(draw(state) % 100));
    }
    file_bytes = 0;
}

/* In each round most parts have an owner. */
static void draw_owners(uint64_t *state)
{
    for (int i = 0; i < n_parts; i++)
        parts[i].owner = draw(state) % 5 ? (int)(draw(state) % nodes) : -1;
}

static void note_round(int round)
{
    for (int i = 0; i < n_parts; i++)
        if (parts[i].owner >= 0) {
            parts[i].written_in = round;
            if (parts[i].from + parts[i].bytes > file_bytes)
                file_bytes = parts[i].from + parts[i].bytes;
        }
}

/* ---- What each node does ---- */

static void fill_part(char *to, int i, int round)
{
    fill_pattern(to, parts[i].bytes, (uint32_t)(number * 1000 + i * 10 + round + 1));
}

static void write_part(int pfd, int i, uint64_t *own)
{
    const struct part *p = &parts[i];
    struct iovec iov[] = {{buf, p->bytes / 3}, {buf + p->bytes / 3, p->bytes - p->bytes / 3}};
    ssize_t done = p->bytes;

    switch (draw(own) % 4) {
    case 0:
        done = pio_pwrite(pfd, buf, p->bytes, p->from);
        break;
    case 1:
        must(pio_lseek(pfd, p->from, SEEK_SET) == p->from, "lseek");
        done = pio_writev(pfd, iov, 2);
        break;
    case 2:
        must(pio_lseek(pfd, p->from, SEEK_SET) == p->from, "lseek");
        done = pio_write(pfd, buf, p->bytes);
        break;
    default:
        done = pio_iowait(pio_ipwrite(pfd, buf, p->bytes, p->from));
    }
    must(done == p->bytes, "write of part %d: %ld, %s at %s", i, (long)done, strerror(errno), pio_failed_path());
}

static void expect_range(int pfd, int from, int n, const char *when)
{
    int left = from < file_bytes ? file_bytes - from : 0, most = n < left ? n : left;

    memset(buf, POISON, sizeof buf);
    ssize_t done = pio_pread(pfd, buf, n, from);
    must(done == most, "%s: %d bytes at %d of %d: %ld, %s", when, n, from, file_bytes, (long)done, strerror(errno));
    for (int i = 0; i < most; i++)
        must(buf[i] == expected[from + i], "%s: byte %d is %d, not %d", when, from + i, buf[i], expected[from + i]);
    must(buf[most] == POISON, "%s: written behind %d bytes", when, most);
}

static void build_expected(void)
{
    memset(expected, 0, sizeof expected);
    for (int i = 0; i < n_parts; i++)
        if (parts[i].written_in >= 0)
            fill_part(expected + parts[i].from, i, parts[i].written_in);
}

/* Each node reads what the one before it has just said that it has written. */
static void read_neighbours(int pfd, int round)
{
    int from = (me + nodes - 1) % nodes, type = TYPE;
    char word[8] = "written";

    check_equal(nwrite(word, sizeof word, (me + 1) % nodes, TYPE, NULL), 0);
    check_equal(nread(word, sizeof word, &from, &type, NULL), sizeof word);
    for (int i = 0; i < n_parts; i++) {
        const struct part *p = &parts[i];

        if (p->owner != from)
            continue;
        fill_part(expected, i, round);
        must(pio_pread(pfd, buf, p->bytes, p->from) == p->bytes, "part %d of node %d is not there", i, from);
        must(memcmp(buf, expected, p->bytes) == 0, "part %d of node %d", i, from);
    }
}

static void read_ranges(int pfd, uint64_t *own)
{
    struct stat st;

    build_expected();
    must(pio_fstat(pfd, &st) == 0 && st.st_size == file_bytes, "%ld bytes, not %d", (long)st.st_size, file_bytes);
    must(pio_lseek(pfd, 0, SEEK_END) == file_bytes, "the end");
    expect_range(pfd, 0, MOST_BYTES - 1, "all");
    for (int i = 0; i < READS; i++) {
        int from = (int)(draw(own) % (file_bytes + 50));

        expect_range(pfd, from, (int)(draw(own) % 900), "a range");
    }
}

static int open_shared(const struct pio_layout *layout)
{
    int pfd = pio_open_layout("/shared", O_RDWR | O_CREAT, 0644, layout);

    must(pfd >= 0, "open: %s at %s", strerror(errno), pio_failed_path());
    return pfd;
}

static void share_one(void)
{
    uint64_t state = number, own = number * 64 + me;
    struct pio_layout layout = draw_layout(&state);
    int pfd = open_shared(&layout);

    draw_parts(&state);
    for (int round = 0; round < ROUNDS; round++) {
        draw_owners(&state);
        for (int i = me % n_parts, k = 0; k < n_parts; k++, i = (i + 1) % n_parts)
            if (parts[i].owner == me) {
                fill_part(buf, i, round);
                write_part(pfd, i, &own);
            }
        if (round == 0)
            read_neighbours(pfd, round);
        check_equal(nsync(round), 0);
        note_round(round);
        read_ranges(pfd, &own);
        check_equal(nsync(round), 0);
    }
    must(pio_close(pfd) == 0, "close: %s", strerror(errno));
    check_equal(nsync(ROUNDS), 0);
    must(me != 0 || pio_unlink("//df00/shared") == 0, "unlink: %s", strerror(errno));
    check_equal(nsync(ROUNDS), 0);
}

int main(int argc, char **argv)
{
    check(argc == 3, "shares FIRST N");
    nodes = node_count();
    me = own_node();
    unsigned long first = strtoul(argv[1], NULL, 10), n = strtoul(argv[2], NULL, 10);
    for (number = first; number < first + n; number++)
        share_one();
    if (me == 0)
        printf("passed\n");
    return 0;
}
