/*
 * Several runs at once share the host's processors. They run in a network namespace of their own, so that other runs on
 * this host do not count. Other tests check the results of runs.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/machine/command.h"

TestSuite(processors, .timeout = 600);

#define RUNS    4
#define MOVE_MS 60000

static bool can_test(void)
{
    cpu_set_t allowed;
    struct outcome o = command_run((char *[]){"unshare", "-rn", "true", NULL}, NULL);
    bool can = o.status == 0 && sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) == 2;

    outcome_free(&o);
    return can;
}

/* All runs in one network: a shell makes it, and they are its children. */
static struct command start_runs(void)
{
    char *line = format("for i in 1 2 3 4; do %s run -d1 %s talks & done; wait", build_path("bin/ncube"),
                        build_path("guest/ends"));

    return command_start((char *[]){"unshare", "-rn", "sh", "-c", line, NULL}, NULL, 0);
}

/* ncube is inside, or shares the processor. */
static bool is_qemu(pid_t pid)
{
    char path[64], name[32] = "";

    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    FILE *f = fopen(path, "re");
    if (f) {
        if (!fgets(name, sizeof name, f))
            name[0] = '\0';
        fclose(f);
    }
    return strncmp(name, "qemu-system", strlen("qemu-system")) == 0;
}

/* The one processor that a thread may use; -1: there are several. */
static int processor_of(pid_t pid)
{
    cpu_set_t allowed;

    if (sched_getaffinity(pid, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) != 1)
        return -1;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &allowed))
            return i;
    return -1;
}

struct runs {
    pid_t pid[16];
    size_t n;
    size_t on_first; /* on the processor of pid[0] */
};

/* Those that have settled on a processor. */
static struct runs look_at(const struct command *c)
{
    pid_t pid[64];
    size_t n = command_processes(c, pid, 64);
    struct runs r = {.n = 0};

    for (size_t i = 0; i < n && r.n < 16; i++)
        if (is_qemu(pid[i]) && processor_of(pid[i]) >= 0)
            r.pid[r.n++] = pid[i];
    for (size_t i = 0; i < r.n; i++)
        r.on_first += processor_of(r.pid[i]) == processor_of(r.pid[0]);
    return r;
}

static struct runs await(const struct command *c, size_t n, size_t on_first)
{
    struct runs r = look_at(c);

    for (int waited_ms = 0; waited_ms < MOVE_MS && (r.n != n || r.on_first != on_first); waited_ms += 10) {
        poll(NULL, 0, 10);
        r = look_at(c);
    }
    return r;
}

Test(processors, are_shared_by_runs_at_once_and_taken_where_one_has_ended)
{
    if (!can_test())
        cr_skip_test("no two processors, or no network namespaces");
    struct command c = start_runs();
    struct runs r = await(&c, RUNS, RUNS / 2);

    cr_assert_eq(r.n, RUNS, "%zu runs", r.n);
    cr_expect_eq(r.on_first, RUNS / 2, "%zu of %d on one processor", r.on_first, RUNS);
    for (size_t i = r.n; i-- > 0;)
        if (processor_of(r.pid[i]) == processor_of(r.pid[0]))
            kill(r.pid[i], SIGTERM); /* the first one last */
    r = await(&c, RUNS / 2, 1);
    cr_expect(r.n == RUNS / 2 && r.on_first == 1, "%zu runs, %zu on one processor", r.n, r.on_first);
    for (size_t i = 0; i < r.n; i++)
        kill(r.pid[i], SIGTERM);
    struct outcome o = command_wait(&c);
    outcome_free(&o);
    command_expect_nothing_left(&c, "four runs");
}
