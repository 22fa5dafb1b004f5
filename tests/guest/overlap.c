/*
 * overlap write|read STEPS BYTES MICROSECONDS: node 3 computes so long in each step, and writes, or reads, so many
 * bytes of a file over eight volumes: with calls that return when they are done, and with calls in two halves, on two
 * buffers in turns. Checks the content. Prints the time of each way, and of computing alone.
 *
 * Read what a run of the machine has written in another one: the servers remember what they have written.
 */
#include <fcntl.h>
#include <ntime.h>
#include <pio.h>
#include <stdbool.h>

#include "check_files.h"

static int steps, bytes, us_of_step;
static char *buffer[2];

static void compute(void)
{
    double until = amicclk() + us_of_step;

    while (amicclk() < until)
        ;
}

static int open_it(const char *name, bool writes)
{
    int pfd = pio_open(name, writes ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY, 0644);

    check(pfd >= 0, "%s: %s at %s", name, strerror(errno), pio_failed_path());
    return pfd;
}

static void write_whole(int pfd)
{
    for (int i = 0; i < steps; i++) {
        compute();
        check_equal(pio_write(pfd, buffer[i % 2], bytes), bytes);
    }
}

/* The last step's bytes go out while this one computes. */
static void write_in_halves(int pfd)
{
    int id = -1;

    for (int i = 0; i < steps; i++) {
        compute();
        check(i == 0 || pio_iowait(id) == bytes, "step %d", i - 1);
        id = pio_iwrite(pfd, buffer[i % 2], bytes);
        check(id >= 0, "step %d: %s", i, strerror(errno));
    }
    check_equal(pio_iowait(id), bytes);
}

static void read_whole(int pfd)
{
    for (int i = 0; i < steps; i++) {
        check_equal(pio_read(pfd, buffer[i % 2], bytes), bytes);
        compute();
    }
}

/* The next step's bytes come while this one computes. */
static void read_in_halves(int pfd)
{
    int id = pio_iread(pfd, buffer[0], bytes);

    for (int i = 0; i < steps; i++) {
        check_equal(pio_iowait(id), bytes);
        id = i + 1 < steps ? pio_iread(pfd, buffer[(i + 1) % 2], bytes) : -1;
        compute();
    }
}

static void measure(const char *what, const char *name, void (*move)(int pfd), bool writes)
{
    for (int i = 0; i < 2 && writes; i++)
        fill_pattern(buffer[i], bytes, i);
    int pfd = open_it(name, writes);
    double from = amicclk();
    move(pfd);
    printf("%s us=%.0f\n", what, amicclk() - from);
    for (int i = steps - 2; i < steps && !writes; i++)
        check(find_wrong_byte(buffer[i % 2], bytes, i % 2) == (size_t)bytes, "step %d", i);
    check_equal(pio_close(pfd), 0);
}

int main(int argc, char **argv)
{
    bool writes = argc > 1 && strcmp(argv[1], "write") == 0;

    check(argc == 5, "overlap write|read STEPS BYTES MICROSECONDS");
    steps = atoi(argv[2]);
    bytes = atoi(argv[3]);
    us_of_step = atoi(argv[4]);
    if (own_node() != 3)
        return 0;
    for (int i = 0; i < 2; i++)
        check((buffer[i] = malloc(bytes)) != NULL, "no memory");
    double from = amicclk();
    for (int i = 0; i < steps; i++)
        compute();
    printf("compute us=%.0f\n", amicclk() - from);
    measure("whole", "/whole", writes ? write_whole : read_whole, writes);
    measure("halves", "/halves", writes ? write_in_halves : read_in_halves, writes);
    return 0;
}
