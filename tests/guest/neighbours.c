/*
 * Several programs on one machine: all nodes of a program exchange messages that carry its mark, with wildcards, and
 * none may see another's.
 */
#include <n_errno.h>

#include "check.h"

/* Node 0 waits for its turn on the standard input, so that a test can start several programs and let them run at
 * once. */
static void await_line(void)
{
    char line[80];

    if (own_node() == 0)
        check(fgets(line, sizeof line, stdin) != NULL, "no line");
    check_equal(nsync(1), 0);
}

static void send_round(int mark, int round)
{
    int message[3] = {mark, round, own_node()};

    for (int dest = 0; dest < node_count(); dest++)
        check_equal(nwrite(message, sizeof message, dest, 10 + round % 5, NULL), 0);
}

static void read_round(int mark)
{
    for (int i = 0; i < node_count(); i++) {
        int message[3], src = -1, type = -1;

        check_equal(nread(message, sizeof message, &src, &type, NULL), (int)sizeof message);
        check_equal(message[0], mark);
        check_equal(message[2], src);
        check_equal(type, 10 + message[1] % 5);
    }
}

static void exchanges(void)
{
    int mark = atoi(test_argv[0]), rounds = atoi(test_argv[1]);

    await_line();
    for (int round = 0; round < rounds; round++) {
        send_round(mark, round);
        read_round(mark);
    }
}

/* Everything beyond the own subcube does not exist. */
static void reaches_out(void)
{
    int beyond[] = {node_count(), node_count() + 1, 1000, 8191, 0x4000, 0x4030, 0x7fff, 0xfffe, -2};

    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++)
        check_equal(nwrite("x", 1, beyond[i], 1, NULL), -N_EINVAL);
}

static void says_who(void)
{
    printf("%s %d of %d\n", test_argv[0], own_node(), node_count());
}

/* The nodes' messages go from the first program's to the last's and back. */
static void answers(void)
{
    int src = -1, type = 7, value = own_node();

    if (own_node() != 0) {
        check_equal(nwrite(&value, sizeof value, 0, 7, NULL), 0);
        return;
    }
    for (int i = 1; i < node_count(); i++) {
        src = -1;
        check_equal(nread(&value, sizeof value, &src, &type, NULL), (int)sizeof value);
        check_equal(value, src);
    }
}

static void ends_with_its_number(void)
{
    exit(own_node() + 3);
}

/* Node 3 first, node 0 last. */
static void ends_backwards(void)
{
    int src = own_node() + 1, type = 1, value = 0;

    if (own_node() < node_count() - 1)
        check_equal(nread(&value, sizeof value, &src, &type, NULL), (int)sizeof value);
    for (volatile int i = 0; i < 100000; i++)
        ;
    if (own_node() > 0)
        check_equal(nwrite(&value, sizeof value, own_node() - 1, 1, NULL), 0);
    exit(own_node() + 3);
}

static void breaks_its_lines(void)
{
    for (int i = 0; i < 20; i++) {
        printf("node %d ", own_node());
        fflush(stdout);
        printf("line %d\n", i);
        fflush(stdout);
    }
}

static const struct test_case cases[] = {
    {"exchanges", exchanges},
    {"reaches out", reaches_out},
    {"says who", says_who},
    {"answers", answers},
    {"ends with its number", ends_with_its_number},
    {"ends backwards", ends_backwards},
    {"breaks its lines", breaks_its_lines},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
