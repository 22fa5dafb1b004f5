/*
 * Random input and output in global mode, and addressing domains: all nodes draw the same sequence of calls on a file
 * of all and one of each node's own, compute for different times between them, and add up what they saw, and when.
 * Node 0 knows the contents; the others compare with theirs. The sum is each node's last line, so that a single
 * cycle's difference between two runs shows.
 *
 *   exact_global MIX SEED VOLUMES     MIX: not used; make exact names one
 */
#include <errno.h>
#include <fcntl.h>
#include <npara_prt.h>
#include <stropts.h>
#include <unistd.h>

#include "exact_work.h"

enum { TURNS = 30, FILE_BYTES = 60000 };

static uint64_t common;
static char model[FILE_BYTES], buf[FILE_BYTES];
static int fd;
static long at, end;

static long least(long a, long b)
{
    return a < b ? a : b;
}

static void write_some(uint32_t drawn)
{
    long n = least(drawn % 20000, FILE_BYTES - at);

    fill_pattern(buf, sizeof buf, drawn);
    memcpy(model + at, buf, (size_t)n);
    if (own_node() > 0)
        memset(buf, 'x', (size_t)n); /* node 0's bytes count */
    check_equal(write(fd, buf, (size_t)n), n);
    at += n;
    end = at > end ? at : end;
}

static void read_some(uint32_t drawn)
{
    long n = drawn % 30000, left = at < end ? least(n, end - at) : 0;

    check_equal(read(fd, buf, (size_t)n), left);
    check(memcmp(buf, model + at, (size_t)left) == 0, "%ld bytes at %ld", left, at);
    at += left;
}

static void read_at(uint32_t drawn)
{
    long from = drawn % FILE_BYTES, n = drawn / 3 % 9000, left = from < end ? least(n, end - from) : 0;

    check_equal(pread(fd, buf, (size_t)n, from), left);
    check(memcmp(buf, model + from, (size_t)left) == 0, "%ld bytes at %ld", left, from);
}

static void seek(uint32_t drawn)
{
    at = end > 0 ? drawn % end : 0;
    check_equal(lseek(fd, at, SEEK_SET), at);
}

static void print(uint32_t drawn)
{
    nglobal();
    printf("all: %u\n", (unsigned)drawn);
    nlocal();
}

static void alone(uint32_t drawn)
{
    char name[60];

    snprintf(name, sizeof name, "//df00/own%d", own_node());
    int own = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    check(own >= 0, "errno %d", errno);
    write_pattern_by(write, own, drawn % 3000, drawn);
    close(own);
}

/* The nodes in rows, each of which is a program for a while: messages in parts, sums, and a line from each. */
static void in_rows(uint32_t drawn)
{
    int n = node_count(), columns = 1 + (int)(drawn % (unsigned)n), first = own_node() / columns * columns, pid[64];
    int size = n - first < columns ? n - first : columns, program = nself, bytes = (int)(drawn / 7 % 3000) + 1, got = 0;
    struct ncaddr from = {-1, -1, 5};
    struct strbuf ctl = {sizeof from, 0, (char *)&from}, data = {(int)(drawn % 1000) + 1, 0, buf};

    for (int k = 0; k < size; k++)
        pid[k] = first + k;
    check((nself = ndomain(program, size, pid)) >= 0, "errno %d", errno);
    check_equal(nwrite(model, bytes, (npid() + 1) % size, 5, NULL), 0);
    for (int more = MOREDATA, flags = 0; more == MOREDATA; got += data.len)
        check((more = getmsg(nself, &ctl, &data, &flags)) >= 0, "errno %d", errno);
    check_equal(got, bytes);
    check_equal(from.pid, (npid() + size - 1) % size);
    note((uint64_t)isumn((int)(drawn % 100) + first));
    if (drawn % 2)
        print(drawn + (unsigned)first);
    check_equal(nsync(0), 0);
    check_equal(close(nself), 0);
    nself = program;
}

static void (*const operations[])(uint32_t drawn) = {write_some, write_some, read_some, read_some, read_at,
                                                     seek,       print,      alone,     in_rows};

int main(int argc, char **argv)
{
    check(argc >= 3, "usage: exact_global MIX SEED VOLUMES");
    common = strtoull(argv[2], NULL, 10) * 7919 + 1;
    own_choice = common * 31 + (uint64_t)own_node();
    draw(&common);
    nglobal();
    fd = open("//df00/all", O_RDWR | O_CREAT | O_TRUNC, 0600);
    nlocal();
    check(fd >= 0, "errno %d", errno);
    for (int i = 0; i < TURNS; i++) {
        uint32_t operation = draw(&common) % (sizeof operations / sizeof *operations), drawn = draw(&common) % 1000000;

        compute();
        operations[operation](drawn);
        note(operation);
    }
    printf("node %d: %.2f us, %016llx\n", own_node(), amicclk(), (unsigned long long)seen);
    return close(fd) < 0;
}
