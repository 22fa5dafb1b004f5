/*
 * Seven drives on one I/O node, for tests/machine/test_drives.c. Needs 8 nodes and volumes //df00 .. //df06.
 *
 *   drives all at once | drives in turn    one node writes to one drive, then seven nodes to seven: how much faster?
 *   drives mixed                           every node works on files of every volume
 */
#include <fcntl.h>
#include <nio.h>
#include <npara_prt.h>
#include <ntime.h>
#include <unistd.h>

#include "check_files.h"

#define DRIVES 7
#define BLOCK  4096
#define BLOCKS 30
#define ROUNDS 12

static int node;
static char buffer[3 * BLOCK], back[3 * BLOCK];

static void fill(int seed)
{
    for (int i = 0; i < (int)sizeof buffer; i++)
        buffer[i] = (char)(seed * 31 + i * 7 + i / 251);
}

static const char *file_on(int volume, const char *name)
{
    static char path[80];

    snprintf(path, sizeof path, "//df%02d/%s%d", volume, name, node);
    return path;
}

/* ---- How fast ---- */

static double write_blocks(int volume)
{
    int fd = open(file_on(volume, "rate"), O_RDWR | O_CREAT | O_TRUNC, 0644);

    check(fd >= 0, "%s: %s", file_on(volume, "rate"), strerror(errno));
    fill(node);
    double from = amicclk();
    for (int i = 0; i < BLOCKS; i++)
        check_equal(write(fd, buffer, BLOCK), BLOCK);
    double us = amicclk() - from;
    for (int i = 0; i < BLOCKS; i++)
        check(pread(fd, back, BLOCK, (off_t)i * BLOCK) == BLOCK && memcmp(back, buffer, BLOCK) == 0, "block %d", i);
    check_equal(close(fd), 0);
    return us;
}

/* How many times as much seven nodes write to seven drives in a second as one to one. */
static double speed_up(void)
{
    double one_us = node == 0 ? write_blocks(0) : 0;

    one_us = dmaxn(one_us);
    double all_us = dmaxn(node < DRIVES ? write_blocks(node) : 0);
    return DRIVES * one_us / all_us;
}

static void all_at_once(void)
{
    double times = speed_up();

    check(times >= 5, "seven drives are %.2f times as fast as one", times);
}

static void in_turn(void)
{
    double times = speed_up();

    check(times > 0.8 && times < 1.5, "seven drives are %.2f times as fast as one", times);
}

/* ---- What is right ---- */

static void write_a_piece(int volume, int round)
{
    int fd = open(file_on(volume, "mixed"), O_RDWR | O_CREAT, 0644);
    int bytes = 100 + (round * 977 + node * 331) % (int)(sizeof buffer - 100);
    off_t at = (off_t)round * 5000;

    check(fd >= 0, "%s: %s", file_on(volume, "mixed"), strerror(errno));
    fill(volume + 10 * round);
    check_equal(pwrite(fd, buffer, bytes, at), bytes);
    if (round % 4 == node % 4)
        check_equal(fsync(fd), 0);
    check(pread(fd, back, bytes, at) == bytes && memcmp(back, buffer, bytes) == 0, "volume %d, round %d", volume,
          round);
    check_equal(close(fd), 0);
}

/* Several requests of one process under way, to several drives and to one. */
static void start_several(int round)
{
    int fd[DRIVES];

    fill(node + round);
    for (int i = 0; i < DRIVES; i++) {
        fd[i] = open(file_on(i, "async"), O_RDWR | O_CREAT | O_TRUNC, 0644);
        check(fd[i] >= 0, "%s: %s", file_on(i, "async"), strerror(errno));
        for (int part = 0; part < 3; part++)
            check_equal(writestart(fd[i], buffer + part * BLOCK, BLOCK), 0);
    }
    for (int i = 0; i < DRIVES; i++) {
        for (int part = 0; part < 3; part++)
            check_equal(writeend(fd[i]), BLOCK);
        check(pread(fd[i], back, sizeof back, 0) == (ssize_t)sizeof back && memcmp(back, buffer, sizeof back) == 0,
              "drive %d", i);
        check_equal(close(fd[i]), 0);
    }
}

static void mixed(void)
{
    for (int round = 0; round < ROUNDS; round++)
        write_a_piece((node * 3 + round) % DRIVES, round);
    start_several(1);
    if (node == 1)
        sync();
    strcpy(back, file_on(2, "async"));
    check_equal(rename(back, file_on(2, "renamed")), 0);
    check_equal(unlink(file_on(3, "async")), 0);
    check(open(file_on(3, "async"), O_RDONLY) == -1 && errno == ENOENT, "a removed file is there");
}

static const struct test_case cases[] = {
    {"all at once", all_at_once},
    {"in turn", in_turn},
    {"mixed", mixed},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    whoami(&node, NULL, NULL, NULL);
    return run_case(cases, argc, argv);
}
