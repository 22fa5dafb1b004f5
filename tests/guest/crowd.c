/*
 * Many of one kind at a time: what a machine has a limited number of. The second argument is a file
 * that the front end serves; "loads in a row" loads it as a program, which is this one.
 */
#include <errno.h>
#include <fcntl.h>
#include <rexec.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

enum { BARRIER = 4, LOADS = 120 };

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
    {"child: ends", child_ends},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
