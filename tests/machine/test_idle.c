/*
 * A machine in which nothing can happen uses no processor time: no thread of ncube or QEMU spins, yields, or looks now
 * and then.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "emu/qemu/fiber.h"
#include "tests/machine/booted.h"

TestSuite(idle, .timeout = 600);

#define PROCESSES_MAX 16
#define WHILE_MS      500
#define WHILES_MOST   40 /* QEMU frees memory for a while after its start */

struct use { /* of the host, by all threads of a machine */
    uint64_t processor_ns;
    unsigned long switches; /* a thread that sleeps and wakes has one */
    size_t threads;
};

static void add_thread(struct use *u, pid_t process, const char *thread)
{
    char path[96], line[256];
    unsigned long n;

    snprintf(path, sizeof path, "/proc/%d/task/%.16s/status", (int)process, thread);
    FILE *f = fopen(path, "re");
    if (!f)
        return;
    u->threads++;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "voluntary_ctxt_switches: %lu", &n) == 1 ||
            sscanf(line, "nonvoluntary_ctxt_switches: %lu", &n) == 1)
            u->switches += n;
    fclose(f);
}

static void add_process(struct use *u, pid_t process)
{
    struct timespec t = {0};
    clockid_t clock;
    char path[64];

    if (clock_getcpuclockid(process, &clock) == 0)
        clock_gettime(clock, &t);
    u->processor_ns += (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.')
            add_thread(u, process, e->d_name);
    if (d)
        closedir(d);
}

static struct use use_of(const struct booted *b)
{
    pid_t pid[PROCESSES_MAX];
    size_t n = command_processes(&b->command, pid, PROCESSES_MAX);
    struct use u = {0};

    for (size_t i = 0; i < n; i++)
        add_process(&u, pid[i]);
    return u;
}

/* Waits for a while in which the machine does nothing at all. */
static void expect_idle(const struct booted *b, const char *what)
{
    struct use before = use_of(b), after = before;

    for (int k = 0; k < WHILES_MOST; k++) {
        before = after;
        poll(NULL, 0, WHILE_MS);
        after = use_of(b);
        if (after.processor_ns == before.processor_ns && after.switches == before.switches)
            break;
    }
    cr_expect_gt(after.threads, 2, "%s: %zu threads", what, after.threads);
    cr_expect_eq(after.switches, before.switches, "%s: %lu changes of threads in %d ms", what,
                 after.switches - before.switches, WHILE_MS);
    cr_expect_eq(after.processor_ns, before.processor_ns, "%s: %llu ns of processor time in %d ms", what,
                 (unsigned long long)(after.processor_ns - before.processor_ns), WHILE_MS);
}

static const struct way {
    const char *name, *text, *option;
    int volumes;
    bool turns;
} ways[] = {
    {"turns", "", "--harts=turns", 0, true},
    {"turns, two processors, two cabinets", "nodes_per_cabinet = 2;", "--cores=2", 0, false},
    {"threads", "", "--harts=threads", 0, false},
    {"volumes", "", "--cores=1", 2, false},
};

static char *machine_for(const char *folder, const struct way *w)
{
    return machine_file(folder, 2, w->volumes, w->text);
}

RowTest(idle, machines_use_no_processor_time, ways)
{
    const struct way *w = &ways[*row];

    if (w->turns && !fiber_possible())
        cr_skip_test(NO_FIBERS);
    char *folder = w->volumes > 0 ? folder_with_images(w->volumes, 1024, 1024) : folder_new();
    char *machine = machine_for(folder, w);
    struct booted b = booted_up(WORDS("-m", machine, w->option));

    expect_idle(&b, w->name);
    xnc_expect(&b, "", WORDS("-d2", "guest/ends", "leaves messages unread"), 0, "passed\n", "");
    expect_idle(&b, w->name);
    booted_down(&b);
    free(machine);
    folder_remove(folder);
}

/* A node that waits for a message which cannot come before the front end has input: nothing runs. */
Test(idle, programs_that_wait_for_input_use_none_either)
{
    struct booted b = booted_up(WORDS("-d", "1"));
    int ends[2];

    cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
    struct command c = xnc_start(&b, (struct streams_of_test){ends[0], -1}, WORDS("guest/streams", "copies lines"));
    close(ends[0]);
    xnc_await(&b, &c, XNC_RUNS);
    expect_idle(&b, "it waits for input");
    cr_expect_eq(write(ends[1], "a line\n", 7), 7);
    close(ends[1]);
    struct outcome o = command_wait(&c);
    outcome_expect(&o, "its end", 0, "a line\npassed\n", "");
    outcome_free(&o);
    booted_down(&b);
}
