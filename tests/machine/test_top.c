/* ncube top: what a machine that is up does, for scripts and on a terminal. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/machine/booted.h"

TestSuite(top, .timeout = 600);

static struct outcome run_top(const char *name, const char *option)
{
    char *ncube = build_path("bin/ncube");
    struct outcome o = command_run((char *[]){ncube, "top", "--name", (char *)name, (char *)option, NULL}, NULL);

    free(ncube);
    return o;
}

/* A machine with two volumes, on which a program has run. Returns its folder. */
static char *machine_that_has_run(struct booted *b)
{
    char *folder = folder_with_images(2, 1024, 1024), *machine = machine_file(folder, 3, 2, "");

    *b = booted_up(WORDS(machine));
    struct outcome o = xnc_run(b, NULL, WORDS("-d", "3", "guest/phases", "work", "//df01/file"));
    cr_assert_eq(o.status, 0, "%s", o.err);
    outcome_free(&o);
    free(machine);
    return folder;
}

static void expect_in(const char *text, const char *word)
{
    cr_expect(strstr(text, word) != NULL, "no '%s' in: %s", word, text);
}

Test(top, once_prints_nodes_channels_and_drives)
{
    struct booted b;
    char *folder = machine_that_has_run(&b);
    struct outcome o = run_top(b.name, "--once");

    cr_expect_eq(o.status, 0, "%s", o.err);
    cr_expect_str_empty(o.err);
    expect_in(o.out, ": up, 8 nodes, 8 free, 2 volumes; virtual ");
    expect_in(o.out, "8 have no program");
    expect_in(o.out, "2 wait for a message");
    expect_in(o.out, "\n    3.1  message ");
    expect_in(o.out, "\n      0  no program ");
    expect_in(o.out, "\nchannels\n");
    expect_in(o.out, "\ndf01 ");
    cr_expect(strstr(o.out, "\nprograms\n") == NULL, "%s", o.out);
    outcome_free(&o);
    booted_down(&b);
    folder_remove(folder);
}

/* What `ncube top` says of the data cache of df00: the numbers behind its name. */
static struct cache_row {
    unsigned requests, hits, misses, waits, prefetched, unused;
    double wait_s;
} cache_row(const struct booted *b)
{
    struct cache_row row = {0};
    struct outcome o = run_top(b->name, "--once");
    const char *title = strstr(o.out, "\ndata caches"), *line = title ? strstr(title, "\ndf00 ") : NULL;

    cr_assert(o.status == 0 && line, "%s%s", o.out, o.err);
    cr_assert_eq(sscanf(line, "\ndf00 %u %u %u %u %lf %u %u", &row.requests, &row.hits, &row.misses, &row.waits,
                        &row.wait_s, &row.prefetched, &row.unused),
                 7, "%s", line);
    outcome_free(&o);
    return row;
}

/* Several caches' pages are read: that of the second drive lies behind that of the first. */
Test(top, counts_of_data_caches_are_those_of_now)
{
    char *folder = folder_with_images(2, 1024, 1024), *machine = format("%s/cached.conf", folder);
    FILE *f = fopen(machine, "we");
    struct booted b;

    cr_assert_not_null(f);
    fputs("dim = 1;\nboards = ( { number = 3; io_nodes = ( { index = 0; si = [1]; drives = (\n"
          "    { volume = \"df01\"; image = \"df01.img\"; cache_kb = 64; },\n"
          "    { volume = \"df00\"; image = \"df00.img\"; cache_kb = 64; write = \"back\"; } ); } ); } );\n",
          f);
    cr_assert_eq(fclose(f), 0);
    b = booted_up(WORDS(machine));
    struct cache_row fresh = cache_row(&b);
    xnc_expect(&b, NULL, WORDS("-d", "0", "guest/files", "reads and writes", "//df00/"), 0, NULL, "");
    struct cache_row one = cache_row(&b), same = cache_row(&b);
    xnc_expect(&b, NULL, WORDS("-d", "0", "guest/files", "reads and writes", "//df00/"), 0, NULL, "");
    struct cache_row two = cache_row(&b);

    cr_expect_eq(fresh.requests + fresh.hits + fresh.misses + fresh.waits, 0);
    cr_expect(one.requests > 0 && one.hits > 0, "%u requests, %u hits", one.requests, one.hits);
    cr_expect_eq(memcmp(&one, &same, sizeof one), 0, "nothing has run between the two");
    cr_expect_gt(two.requests, one.requests);
    booted_down(&b);
    images_check(folder, 2);
    free(machine);
    folder_remove(folder);
}

Test(top, a_program_and_its_nodes_are_listed_while_it_runs)
{
    struct booted b = booted_up(WORDS("-d", "2"));
    struct command x = xnc_start(&b, (struct streams_of_test){-1, -1}, WORDS("-d", "1", "guest/ends", "spins"));
    struct outcome o = run_top(b.name, "--once");

    while (strstr(o.out, "spins") == NULL || strstr(o.out, "nodes: 2 run") == NULL) {
        outcome_free(&o);
        o = run_top(b.name, "--once");
        cr_assert_eq(o.status, 0, "%s", o.err);
    }
    expect_in(o.out, "2 have no program");
    expect_in(o.out, "\n      0       2 ");
    outcome_free(&o);
    booted_down(&b);
    o = command_wait(&x);
    outcome_free(&o);
}

Test(top, what_cannot_be_shown_is_said_in_a_line)
{
    struct outcome o = run_top("no-such-machine", "--once");

    cr_expect_eq(o.status, 1);
    cr_expect(count_lines(o.err) == 1 && strstr(o.err, "no-such-machine") != NULL, "%s", o.err);
    outcome_free(&o);
    o = run_top("no-such-machine", NULL);
    cr_expect_eq(o.status, 1);
    cr_expect(count_lines(o.err) == 1 && strstr(o.err, "not a terminal; give --once") != NULL, "%s", o.err);
    outcome_free(&o);
    o = run_top("no-such-machine", "--every=1");
    cr_expect_eq(o.status, 2);
    expect_in(o.err, "every '1'");
    outcome_free(&o);
}

/* ---- On a terminal ---- */

struct terminal {
    int fd;
    pid_t pid;
    char text[1 << 16]; /* all that has been shown */
    size_t n;
};

/* Called before anything is started. */
static void need_terminal(void)
{
    int fd = posix_openpt(O_RDWR | O_NOCTTY);

    if (fd < 0)
        cr_skip_test("no terminal can be made here: %s (is /dev/pts mounted?)", strerror(errno));
    close(fd);
}

static void terminal_start(struct terminal *t, const char *name, const char *type)
{
    char *ncube = build_path("bin/ncube");
    struct winsize size = {.ws_row = 24, .ws_col = 60};

    *t = (struct terminal){0};
    t->pid = forkpty(&t->fd, NULL, NULL, &size);
    if (t->pid == 0) {
        setenv("TERM", type, 1);
        execl(ncube, ncube, "top", "--every=100", "--name", name, (char *)NULL);
        _exit(127);
    }
    cr_assert_gt(t->pid, 0);
    free(ncube);
}

/* Reads until that text is shown after position `from`, or the end. */
static bool terminal_await(struct terminal *t, size_t from, const char *text)
{
    while (t->n + 1 < sizeof t->text && strstr(t->text + from, text) == NULL) {
        struct pollfd p = {.fd = t->fd, .events = POLLIN};
        ssize_t got = poll(&p, 1, 60000) > 0 ? read(t->fd, t->text + t->n, sizeof t->text - 1 - t->n) : 0;

        if (got <= 0)
            return false;
        t->n += (size_t)got;
        t->text[t->n] = '\0';
    }
    return strstr(t->text + from, text) != NULL;
}

/* Types the keys, and Ctrl-L, as only what changes is drawn otherwise. */
static void terminal_expect(struct terminal *t, const char *keys, const char *text)
{
    size_t from = t->n;

    cr_assert_eq(write(t->fd, keys, strlen(keys)), strlen(keys));
    cr_assert_eq(write(t->fd, "\f", 1), 1);
    cr_expect(terminal_await(t, from, text), "no '%s' after '%s' in: %s", text, keys, t->text + from);
}

static int terminal_end(struct terminal *t)
{
    int status;

    terminal_await(t, 0, "\1 never");
    cr_assert_eq(waitpid(t->pid, &status, 0), t->pid);
    close(t->fd);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Test(top, keys_choose_lists_order_and_filter)
{
    need_terminal();
    struct booted b;
    char *folder = machine_that_has_run(&b);
    static struct terminal t;

    terminal_start(&t, b.name, "vt100");
    cr_expect(terminal_await(&t, 0, "nodes by user"), "%s", t.text);
    cr_expect(terminal_await(&t, 0, "3.1"), "%s", t.text);
    cr_expect(terminal_await(&t, 0, "now 0."), "the end of a line longer than the terminal: %s", t.text);
    terminal_expect(&t, "c", "channels by busy");
    terminal_expect(&t, "s", "channels by waiting");
    terminal_expect(&t, "d", "drives by queue");
    terminal_expect(&t, "/df01\n", "1 rows, with 'df01'");
    terminal_expect(&t, "p", "programs by nodes");
    cr_assert_eq(write(t.fd, "q", 1), 1);
    cr_expect_eq(terminal_end(&t), 0);
    booted_down(&b);
    folder_remove(folder);
}

Test(top, a_machine_that_goes_down_ends_it)
{
    need_terminal();
    struct booted b = booted_up(WORDS("-d", "1"));
    static struct terminal t;

    terminal_start(&t, b.name, "vt100");
    cr_expect(terminal_await(&t, 0, "nodes by user"), "%s", t.text);
    booted_down(&b);
    cr_expect_eq(terminal_end(&t), 1);
    cr_expect(strstr(t.text, "ncube: ") != NULL, "%s", t.text);
}

Test(top, an_unknown_terminal_is_said)
{
    need_terminal();
    struct booted b = booted_up(WORDS("-d", "1"));
    static struct terminal t;

    terminal_start(&t, b.name, "no-such-terminal");
    cr_expect_eq(terminal_end(&t), 1);
    cr_expect(strstr(t.text, "set TERM") != NULL, "%s", t.text);
    booted_down(&b);
}
