/*
 * Many requests of one kind at a time, for things of which a machine has a limited number. The second argument is a
 * file that the front end serves; "loads in a row" loads it as a program: it is this program.
 */
#include <errno.h>
#include <fcntl.h>
#include <rexec.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

enum { BARRIER = 4, WAIT = 5, LOADS = 120, WRITES = 60 };

static void all_open_one_file(void)
{
    char byte = 0;
    int fd = open(test_argv[0], O_RDONLY);

    check(fd >= 0, "open: %s", strerror(errno));
    check_equal(nsync(BARRIER), 0);
    check_equal(read(fd, &byte, 1), 1);
    check_equal(byte, 'x');
    check_equal(nsync(BARRIER), 0);
    check_equal(close(fd), 0);
}

static void wait_for(int src)
{
    int type = WAIT;
    char byte;

    nread(&byte, 1, &src, &type, NULL);
}

static void all_wait_for_any(void)
{
    wait_for(-1);
}

static void all_wait_for_the_one_below(void)
{
    if (own_node() > 0)
        wait_for(own_node() - 1);
    else
        wait_for(node_count() - 1);
}

/* Node 1 sends so many messages of types that node 0 does not ask for, and both wait. */
static void wrong_types(void)
{
    int messages = atoi(test_argv[0]), src = own_node() ^ 1, type = 5;

    if (own_node() == 1)
        for (int i = 0; i < messages; i++)
            check_equal(nwrite(&i, sizeof i, 0, 13 + i, NULL), 0);
    check_equal(nsync(1), 0);
    nread(NULL, 0, &src, &type, NULL);
}

/* The drive dies meanwhile. */
static void writes_on_and_on(void)
{
    static char block[4096];
    int fd = open(test_argv[0], O_RDWR | O_CREAT, 0644);

    for (int i = 0; i < WRITES; i++) {
        if (write(fd, block, sizeof block) < 0)
            lseek(fd, 0, SEEK_SET);
        fsync(fd);
    }
}

static void child_ends(void)
{
    exit(7);
}

static void loads_in_a_row(void)
{
    if (own_node() != 0)
        return;
    check_equal(rwait(1), 0);
    for (int i = 0; i < LOADS; i++) {
        check_equal(rexecl(1, 1, test_argv[0], "crowd", "child: ends", NULL), 0);
        check_equal(rwait(1), 7);
    }
}

static const struct test_case cases[] = {
    {"all open one file", all_open_one_file},
    {"loads in a row", loads_in_a_row},
    {"all wait for any", all_wait_for_any},
    {"all wait for the one below", all_wait_for_the_one_below},
    {"writes on and on", writes_on_and_on},
    {"wrong types", wrong_types},
    {"child: ends", child_ends},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
