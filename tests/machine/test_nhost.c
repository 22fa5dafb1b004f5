/* Host programs (libnhost): this process is one, on a machine that is up. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu/nhost/nhost.h"
#include "tests/machine/booted.h"

TestSuite(nhost, .timeout = 600);

enum { ECHO = 1, ECHOED, EXIT, FAULT, LENGTH = 0xffff };

static struct booted machine(const char *dim)
{
    struct booted b = booted_up(WORDS("-d", dim));

    setenv("NCUBE_NAME", b.name, 1);
    return b;
}

static int open_cube(int dim)
{
    int cube = nopen(dim);

    cr_assert(cube >= 0, "%s", nfailed());
    return cube;
}

static void load(int cube, const char *nodes)
{
    char *path = build_path("guest/hosted");
    int set = nodeset(cube, nodes);

    cr_assert(set >= 0, "%s", nfailed());
    cr_assert(rexecl(set, path, "hosted", NULL).np_pid > 0, "%s", nfailed());
    free(path);
}

static void send(int cube, const void *bytes, int n, int node, int type)
{
    cr_assert_eq(nwrite(cube, bytes, n, node, type), 0, "%s", nfailed());
}

static void exit_with(int cube, int node, int status)
{
    unsigned char byte = (unsigned char)status;

    send(cube, &byte, 1, node, EXIT);
}

/* Fails the test unless a call has failed in that way. */
static void expect_failure(int result, int reason, const char *words)
{
    int had = errno;

    cr_expect_eq(result, -1, "it returned %d instead of failing: %s", result, words);
    cr_expect_eq(had, reason, "errno is %d, not %d: %s", had, reason, nfailed());
    cr_expect(strstr(nfailed(), words), "'%s' does not say '%s'", nfailed(), words);
}

/* Expects the node's answer to an echo of those bytes. */
static void expect_echo(int cube, int node, const void *bytes, int n)
{
    char *answer = malloc((size_t)n + sizeof node);
    int from = node, type = ECHOED, said;

    cr_assert_eq(nread(cube, answer, n + (int)sizeof node, &from, &type), n + (int)sizeof node, "%s", nfailed());
    memcpy(&said, answer, sizeof said);
    cr_expect_eq(said, node);
    cr_expect_eq(memcmp(answer + sizeof said, bytes, (size_t)n), 0, "other bytes from node %d", node);
    free(answer);
}

Test(nhost, loads_programs_and_talks_to_them)
{
    struct booted b = machine("3");
    int cube = open_cube(2), from = -1, type = -1;

    load(cube, "all");
    for (int node = 3; node >= 0; node--)
        send(cube, &node, sizeof node, node, ECHO);
    for (int node = 0; node < 4; node++) /* by node, whatever came first */
        expect_echo(cube, node, &node, sizeof node);
    send(cube, "to all", 7, NHOST_ALL_NODES, ECHO);
    for (int node = 0; node < 4; node++)
        expect_echo(cube, node, "to all", 7);
    expect_failure(ntest(cube, &from, &type), EAGAIN, "no such message has arrived");
    exit_with(cube, NHOST_ALL_NODES, 5);
    cr_expect_eq(nwait(cube), 5);
    cr_expect_eq(nclose(cube), 0);
    booted_down(&b);
}

Test(nhost, sends_messages_of_any_size)
{
    static const int sizes[] = {0, 1, 131055, 131056, 131057, 131060, 131072, 300000, (1 << 20) - 4};
    struct booted b = machine("0");
    int cube = open_cube(0);
    char *bytes = malloc(1 << 20);

    for (int i = 0; i < 1 << 20; i++)
        bytes[i] = (char)(i * 7 + (i >> 8));
    load(cube, "0");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        send(cube, bytes, sizes[i], 0, ECHO);
        expect_echo(cube, 0, bytes, sizes[i]);
    }
    free(bytes);
    nclose(cube);
    booted_down(&b);
}

/* A message of a program that has ended is still read; then nobody is left who could send one. */
Test(nhost, does_not_wait_for_messages_when_no_program_runs)
{
    struct booted b = machine("1");
    int cube = open_cube(1), from = -1, type = -1;
    char byte;

    expect_failure(nread(cube, &byte, 1, &from, &type), ESRCH, "no program runs on the cube");
    for (int round = 0; round < 3; round++) {
        load(cube, round ? "all" : "1");
        send(cube, "x", 1, 1, ECHO);
        exit_with(cube, NHOST_ALL_NODES, 0);
        if (round == 2)
            cr_expect_eq(nwait(cube), 0);
        expect_echo(cube, 1, "x", 1);
        from = type = -1;
        expect_failure(nread(cube, &byte, 1, &from, &type), ESRCH, "no program runs on the cube");
        expect_failure(ntest(cube, &from, &type), ESRCH, "no program runs on the cube");
    }
    load(cube, "0");
    expect_failure(ntest(cube, &from, &type), EAGAIN, "no such message has arrived");
    cr_expect_eq(nclose(cube), 0);
    booted_down(&b);
}

Test(nhost, keeps_messages_that_are_not_asked_for)
{
    struct booted b = machine("1");
    int cube = open_cube(1), from = -1, type = -1, n;
    char small[4];

    load(cube, "all");
    send(cube, "abcd", 4, 1, LENGTH);
    send(cube, "abc", 3, 0, ECHO);
    expect_echo(cube, 0, "abc", 3);
    while ((n = ntest(cube, &from, &type)) < 0)
        cr_assert_eq(errno, EAGAIN);
    cr_expect(n == 4 && from == 1 && type == LENGTH, "%d bytes from node %d, of type %d", n, from, type);
    expect_failure(nread(cube, small, 3, &from, &type), EMSGSIZE, "4 bytes, more than 3");
    cr_expect_eq(nread(cube, small, 4, &from, &type), 4);
    nclose(cube);
    booted_down(&b);
}

/* Several programs in one cube, one after the other on the same nodes. */
Test(nhost, loads_programs_on_parts_of_a_cube)
{
    struct booted b = machine("3");
    int cube = open_cube(3);
    char *path = build_path("guest/hosted");

    load(cube, "0-2");
    load(cube, "7");
    expect_failure(nload(cube, path, 2), EINVAL, "a program already runs on nodes 2 to 2");
    send(cube, "x", 1, 3, ECHO); /* nobody is there */
    send(cube, "y", 1, NHOST_ALL_NODES, ECHO);
    for (int i = 0; i < 4; i++)
        expect_echo(cube, (int[]){0, 1, 2, 7}[i], "y", 1);
    exit_with(cube, 1, 1);
    exit_with(cube, 0, 2);
    exit_with(cube, 2, 3);
    exit_with(cube, 7, 0);
    cr_expect_eq(nwait(cube), 3);
    cr_expect_eq(nload(cube, path, -1), 0, "%s", nfailed());
    send(cube, "z", 1, NHOST_ALL_NODES, ECHO);
    for (int node = 0; node < 8; node++)
        expect_echo(cube, node, "z", 1);
    free(path);
    nclose(cube); /* the programs run */
    cube = open_cube(3);
    nclose(cube);
    booted_down(&b);
}

Test(nhost, says_what_is_wrong)
{
    struct booted b = machine("2");
    int cube = open_cube(1), from = -1, type = -1;
    char byte, *gone = build_path("guest/nosuch");
    static const char *const no_nodes[] = {"", "2", "1-0", "0-2", "-1", "0-", "0,1", " 0", "All", "99999999999"};

    expect_failure(nopen(2), EBUSY, "no subcube of 4 nodes is free now");
    expect_failure(nopen(3), EINVAL, "dimension 3 does not fit");
    expect_failure(nopen(-1), EINVAL, "dimension -1");
    expect_failure(nodeset(cube + 1, "all"), EBADF, "no cube");
    for (size_t i = 0; i < sizeof no_nodes / sizeof *no_nodes; i++)
        expect_failure(nodeset(cube, no_nodes[i]), EINVAL, "names no nodes of a cube of 2: give all, 5 or 0-3");
    expect_failure(rexecl(77, "x", "x", NULL).np_pid, EBADF, "no set of nodes has the number 77");
    expect_failure(nload(cube, gone, 0), EINVAL, "guest/nosuch: cannot be opened");
    expect_failure(nload(cube, "/bin/true", 0), EINVAL, "/bin/true: ");
    expect_failure(nwrite(cube, &byte, 1, 2, 0), EINVAL, "no node 2");
    expect_failure(nwrite(cube, &byte, 1, 0, -1), EINVAL, "type -1");
    expect_failure(nwrite(cube, &byte, -1, 0, 0), EINVAL, "-1 bytes");
    expect_failure(nclose(-1), EBADF, "no cube -1 is open");
    load(cube, "all"); /* nothing of it did harm */
    send(cube, "a", 1, 1, ECHO);
    expect_echo(cube, 1, "a", 1);
    nclose(cube);
    expect_failure(nread(cube, &byte, 1, &from, &type), EBADF, "no cube 0 is open");
    booted_down(&b);
    expect_failure(nopen(0), ENXIO, "no machine");
    free(gone);
}

Test(nhost, learns_of_faults_and_of_the_end)
{
    struct booted b = machine("1");
    int cube = open_cube(0), other = open_cube(0), from = -1, type = -1;
    char byte;

    load(cube, "all");
    load(other, "all");
    send(cube, "", 0, 0, FAULT);
    expect_failure(nread(cube, &byte, 1, &from, &type), EPIPE, "the programs of the cube have been ended");
    expect_failure(nwrite(cube, &byte, 1, 0, 0), EPIPE, "have been ended");
    expect_failure(nwait(cube), EPIPE, "have been ended");
    cr_expect_eq(nclose(cube), 0);
    cube = open_cube(0); /* its node is free again */
    send(other, "b", 1, 0, ECHO);
    expect_echo(other, 0, "b", 1);
    booted_down(&b);
    expect_failure(nread(other, &byte, 1, &from, &type), EPIPE, "");
    nclose(other);
    nclose(cube);
}

/* A host program that is killed leaves its nodes free. */
Test(nhost, gives_its_nodes_back_when_it_dies)
{
    struct booted b = machine("2");
    int ready[2], cube;
    char byte;

    cr_assert_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        load(open_cube(2), "all");
        cr_assert_eq(write(ready[1], "", 1), 1);
        pause();
    }
    cr_assert_eq(read(ready[0], &byte, 1), 1);
    expect_failure(nopen(0), EBUSY, "is free now");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    while ((cube = nopen(2)) < 0)
        cr_assert_eq(errno, EBUSY, "%s", nfailed());
    nclose(cube);
    booted_down(&b);
}
