/*
 * Measures files of striped volumes, in virtual time:
 *
 *   striped_rates table pio|open write|read     2 MB on node 3 by libpio, or by open and write on //b4096, //b8192 and
 *                                               //b16384, which are over df00 to df07 in blocks of that size [P1 Figure
 *                                               10]: "B=4096 us=..."
 *   striped_rates matrix write|read PATTERN     each node its element of the pattern's period, a matrix, on //big;
 *                                               other nodes, and those whose element is empty, only wait for them
 *   striped_rates drives                        one node for each volume of //big, each with the blocks of one: bytes,
 *                                               MB/s of writes and reads, reads of 4 KB at random places a second
 *   striped_rates "drives, same places"         the same, with the same random places on all nodes
 */
#include <fcntl.h>
#include <npara_prt.h>
#include <ntime.h>
#include <pattern.h>
#include <pio.h>
#include <sys/ioctl.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "check_files.h"

#define TABLE_BYTES (2 << 20)

static double us_since(double start_us)
{
    return amicclk() - start_us;
}

/* ---- C5: [P0]'s table by plain calls ---- */

static void table_row(int block, int plain, int writing)
{
    struct pio_layout layout = {.block_size = block};
    char *buf = malloc(TABLE_BYTES), name[40];
    int flags = writing ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY;

    snprintf(name, sizeof name, plain ? "//b%d/bench%d" : "/bench%d", block, block);
    fill_pattern(buf, TABLE_BYTES, (uint32_t)block);
    int fd = plain ? open(name, flags, 0644) : pio_open_layout(name, flags, 0644, &layout);
    check(fd >= 0, "%s: %s", name, strerror(errno));
    double start_us = amicclk();
    ssize_t n = plain     ? writing ? write(fd, buf, TABLE_BYTES) : read(fd, buf, TABLE_BYTES)
                    : writing ? pio_write(fd, buf, TABLE_BYTES)
                          : pio_read(fd, buf, TABLE_BYTES);
    double us = us_since(start_us);
    check_equal(n, TABLE_BYTES);
    check(find_wrong_byte(buf, TABLE_BYTES, (uint32_t)block) == TABLE_BYTES, "%s has other bytes", name);
    check_works(plain ? close(fd) : pio_close(fd));
    printf("B=%d us=%.2f\n", block, us);
    free(buf);
}

static void table(void)
{
    if (own_node() != 3)
        exit(0);
    for (int block = 4096; block <= 16384; block *= 2)
        table_row(block, strcmp(test_argv[0], "open") == 0, strcmp(test_argv[1], "write") == 0);
}

/* ---- C6: a matrix ---- */

static struct pattern *parse(const char *text)
{
    char why[PATTERN_WHY_BYTES];
    struct pattern *p;

    check(pattern_parse(text, &p, why) == 0, "%s: %s", text, why);
    return p;
}

/* Every node at once moves n bytes, some of them none; returns the time until the last is done. */
static double move_all(int fd, int writing, void *buf, long n)
{
    check_equal(nsync(1), 0);
    double start_us = amicclk();
    if (n > 0) {
        check_equal(lseek(fd, 0, SEEK_SET), 0);
        check_equal(writing ? write(fd, buf, n) : read(fd, buf, n), n);
    }
    check_equal(nsync(2), 0);
    return us_since(start_us);
}

static void matrix(void)
{
    int writing = strcmp(test_argv[0], "write") == 0;
    struct pattern *p = parse(test_argv[1]);
    long own = own_node() < p->elements ? (long)p->element[own_node()].bytes : 0;
    char *buf = malloc(own + 1);
    double all = dsumn((double)own);
    int fd = open("//big/matrix", O_RDWR | O_CREAT, 0644);

    check(fd >= 0, "open: %s", strerror(errno));
    fill_pattern(buf, own, (uint32_t)own_node());
    check_equal(nsync(3), 0);
    double start_us = amicclk();
    if (own > 0)
        check_works(ioctl(fd, N_SETMAP, p));
    double set_up_us = dmaxn(us_since(start_us)), us = move_all(fd, writing, buf, own), end_us = amicclk();
    check(find_wrong_byte(buf, own, (uint32_t)own_node()) == (size_t)own, "other bytes");
    check_works(close(fd));
    if (own_node() == 0)
        printf("%s: %.3f MB/s, set-up %.2f ms, from %.2f us, to %.2f us\n", test_argv[0], all / us, set_up_us / 1000,
               end_us - us, end_us);
}

/* ---- C7: more drives ---- */

#define PART_BYTES (1 << 20)
#define READS      200

/* Returns the reads of all nodes a second. */
static double random_reads(int fd, uint64_t seed)
{
    char buf[4096];
    uint64_t state = seed;

    check_equal(nsync(4), 0);
    double start_us = amicclk();
    for (int i = 0; i < READS; i++)
        check_equal(pread(fd, buf, sizeof buf, draw(&state) % (PART_BYTES / 4096) * 4096), 4096);
    return dsumn(READS * 1e6 / us_since(start_us));
}

static void measure_drives(uint64_t seed)
{
    char text[40], *buf = malloc(PART_BYTES);
    struct statfs st;
    int n = node_count(), fd = open("//big/x", O_RDWR | O_CREAT, 0644);

    check(fd >= 0, "open: %s", strerror(errno));
    snprintf(text, sizeof text, "cyclic 16384 %d", n);
    check_works(ioctl(fd, N_SETMAP, parse(text)));
    fill_pattern(buf, PART_BYTES, (uint32_t)own_node());
    double write_us = move_all(fd, 1, buf, PART_BYTES), read_us = move_all(fd, 0, buf, PART_BYTES);
    double reads = random_reads(fd, seed);
    check(find_wrong_byte(buf, PART_BYTES, (uint32_t)own_node()) == PART_BYTES, "other bytes");
    check_works(fstatfs(fd, &st));
    double bytes = (double)n * PART_BYTES;
    if (own_node() == 0)
        printf("drives=%d MB=%.1f write=%.3f read=%.3f reads=%.2f\n", n, (double)st.f_blocks * st.f_bsize / 1e6,
               bytes / write_us, bytes / read_us, reads);
}

static void drives(void)
{
    measure_drives((uint64_t)own_node() * 7919 + 1);
}

static void drives_same_places(void)
{
    measure_drives(1);
}

static const struct test_case cases[] = {
    {"table", table}, {"matrix", matrix}, {"drives", drives}, {"drives, same places", drives_same_places}, {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
