/*
 * Cabinets that are copies of the first: that they are, what they share with it, and how they end. What they compute is
 * compared with cabinets that QEMU has started by test_exact.c, whose harts have threads in one of its ways.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/qemu/fiber.h"
#include "tests/machine/command.h"

TestSuite(copies, .timeout = 600);

#define CABINETS      4
#define PROCESSES_MAX 16
#define COMMAND_MAX   4096

struct cabinets {
    struct command command;
    char file[64]; /* the machine file */
    pid_t pid[PROCESSES_MAX];
    size_t n;
};

/* Reads what QEMU was started with; its strings end with NULs. Returns the bytes, 0 for another process. */
static size_t read_command(pid_t pid, char text[COMMAND_MAX])
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return 0;
    size_t n = fread(text, 1, COMMAND_MAX, f);
    fclose(f);
    return n > 0 && strncmp(text, "qemu", 4) == 0 ? n : 0;
}

/* Starts a machine of 4 cabinets, of one node each, and waits until a program runs. */
static struct cabinets start(const char *option)
{
    struct cabinets c = {.file = "/tmp/ncube-test-XXXXXX"};
    pid_t all[PROCESSES_MAX];
    char text[COMMAND_MAX];
    int fd = mkstemp(c.file);

    cr_assert_geq(fd, 0);
    dprintf(fd, "dim = 2; nodes_per_cabinet = 1;");
    close(fd);
    c.command = ncube_start(
        &(struct ncube_run){.machine = c.file, .program = "guest/ends", .args = {"spins"}, .options = {option}});
    command_await_lines(&c.command, 1);
    size_t n = command_processes(&c.command, all, PROCESSES_MAX);
    for (size_t i = 0; i < n; i++)
        if (read_command(all[i], text) > 0)
            c.pid[c.n++] = all[i];
    cr_assert_eq(c.n, CABINETS, "%zu cabinets", c.n);
    return c;
}

static struct outcome end(struct cabinets *c, pid_t victim, int signal_number)
{
    kill(victim, signal_number);
    struct outcome o = command_wait(&c->command);
    command_expect_nothing_left(&c->command, "copies");
    unlink(c->file);
    return o;
}

/* Returns the number of cabinets that have been started as the first one was. */
static size_t count_alike(const struct cabinets *c)
{
    char first[COMMAND_MAX], other[COMMAND_MAX];
    size_t alike = 0, n = read_command(c->pid[0], first);

    for (size_t i = 0; i < c->n; i++)
        alike += read_command(c->pid[i], other) == n && memcmp(first, other, n) == 0;
    return alike;
}

/* KB of a process's memory that no other shares. */
static long private_kb(pid_t pid)
{
    char path[64], line[256];
    long sum = 0, kb;

    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    FILE *f = fopen(path, "re");
    cr_assert_neq(f, NULL);
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "Private_Dirty: %ld", &kb) == 1)
            sum += kb;
    fclose(f);
    return sum;
}

static long mean_private_kb(const struct cabinets *c)
{
    long sum = 0;

    for (size_t i = 0; i < c->n; i++)
        sum += private_kb(c->pid[i]);
    return sum / (long)c->n;
}

Test(copies, are_made_of_the_first_cabinet_where_harts_take_turns)
{
    if (!fiber_possible())
        cr_skip_test(NO_FIBERS);
    struct cabinets copied = start(NULL), started = start("--harts=threads");

    cr_expect_eq(count_alike(&copied), CABINETS, "with turns, each cabinet is a copy of one QEMU");
    cr_expect_eq(count_alike(&started), 1, "with threads, each cabinet is a QEMU of its own");
    long with_copies = mean_private_kb(&copied), without = mean_private_kb(&started);
    cr_expect_lt(2 * with_copies, without, "a copied cabinet has %ld KB of its own, a started one %ld KB", with_copies,
                 without);
    struct outcome o = end(&copied, copied.command.pid, SIGINT);
    outcome_free(&o);
    o = end(&started, started.command.pid, SIGINT);
    outcome_free(&o);
}

Test(copies, that_are_lost_end_the_machine_with_a_line)
{
    static const int signals[] = {SIGKILL, SIGTERM, SIGSEGV};

    for (size_t i = 1; i < CABINETS; i++) {
        struct cabinets c = start(NULL);
        struct outcome o = end(&c, c.pid[i], signals[i - 1]);
        char *said = format("qemu-system-riscv64 (process %d) was ended by signal %d", (int)c.pid[i], signals[i - 1]);

        cr_expect(o.status == 1 && count_lines(o.err) == 1 && strstr(o.err, said) != NULL, "status %d: %s", o.status,
                  o.err);
        free(said);
        outcome_free(&o);
    }
}
