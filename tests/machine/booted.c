/* A machine that is kept up, for tests: how it is started, when it knows of a program, and how it ends. */
#define _GNU_SOURCE
#include "tests/machine/booted.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS_MAX 40
#define UP_MS     20000
#define LOOK_MS   5

/* ---- Command lines ---- */

struct line {
    char *word[WORDS_MAX + 1];
    size_t n;
};

static void add(struct line *l, const char *word)
{
    bool ours = strncmp(word, "guest/", 6) == 0 || strncmp(word, "examples/", 9) == 0;

    cr_assert_lt(l->n, WORDS_MAX);
    l->word[l->n++] = ours ? build_path(word) : strdup(word);
}

static struct line make_line(const char *program, const char *command, const char *name, const char *const words[])
{
    struct line l = {.word = {build_path(program)}, .n = 1};

    if (command)
        add(&l, command);
    add(&l, "--name");
    add(&l, name);
    for (; words && *words; words++)
        add(&l, *words);
    return l;
}

static void free_line(struct line *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->word[i]);
}

/* ---- The machine ---- */

struct booted booted_start(const char *const words[])
{
    static unsigned number;
    struct booted b;

    snprintf(b.name, sizeof b.name, "test-%d-%u", (int)getpid(), number++);
    struct line l = make_line("bin/ncube", "boot", b.name, words);
    b.command = command_start(l.word, NULL, 0);
    free_line(&l);
    return b;
}

static bool says_up(const struct booted *b)
{
    char text[256] = "";

    cr_assert_geq(pread(b->command.out_fd, text, sizeof text - 1, 0), 0);
    return strstr(text, " is up: ") != NULL;
}

void booted_await(const struct booted *b)
{
    for (int waited = 0; !says_up(b); waited += LOOK_MS) {
        cr_assert_lt(waited, command_patience(UP_MS), "the machine does not come up");
        cr_assert_not(command_ends_within(&b->command, LOOK_MS), "the machine ends before it is up");
    }
}

struct booted booted_up(const char *const words[])
{
    struct booted b = booted_start(words);

    booted_await(&b);
    return b;
}

struct outcome booted_end(struct booted *b, int limit_ms)
{
    cr_expect(command_ends_within(&b->command, limit_ms), "the machine does not end in %d ms", limit_ms);
    struct outcome o = command_wait(&b->command);
    command_expect_nothing_left(&b->command, "boot");
    return o;
}

void booted_down(struct booted *b)
{
    struct line l = make_line("bin/ncube", "down", b->name, NULL);
    struct outcome down = command_run(l.word, NULL), end = booted_end(b, END_MS);

    outcome_expect(&down, "down", 0, "", "");
    outcome_expect(&end, "boot", 0, NULL, "");
    outcome_free(&down);
    outcome_free(&end);
    free_line(&l);
}

/* ---- Programs ---- */

struct command xnc_start(const struct booted *b, struct streams_of_test streams, const char *const words[])
{
    struct line l = make_line("bin/xnc", NULL, b->name, words);
    struct command c = command_start_on(l.word, streams);

    free_line(&l);
    return c;
}

/* Returns true if ncube ps has a line of this client in that state. Only its machine is asked: others of this user may
 * be other tests', and not answer. */
static bool is_listed(const struct booted *b, const struct command *c, enum xnc_state state)
{
    char *ncube = build_path("bin/ncube"), *client = format("(xnc %d", (int)c->pid);
    struct outcome o = command_run((char *[]){ncube, "ps", "-m", (char *)b->name, NULL}, NULL);
    char *at = strstr(o.out, client);
    bool listed = at != NULL;

    while (listed && at > o.out && at[-1] != '\n')
        at--;
    if (listed)
        at[strcspn(at, "\n")] = '\0';
    listed = listed && (strstr(at, "  waits  ") != NULL) == (state == XNC_WAITS);
    outcome_free(&o);
    free(client);
    free(ncube);
    return listed;
}

void xnc_await(const struct booted *b, const struct command *c, enum xnc_state state)
{
    for (int waited = 0; !is_listed(b, c, state); waited += LOOK_MS) {
        cr_assert_lt(waited, command_patience(UP_MS), "the machine does not hear of the program");
        cr_assert_not(command_ends_within(c, LOOK_MS), "the program ends too soon");
    }
}

struct outcome xnc_run(const struct booted *b, const char *input, const char *const words[])
{
    struct line l = make_line("bin/xnc", NULL, b->name, words);
    struct outcome o = command_run(l.word, input);

    free_line(&l);
    return o;
}

void xnc_expect(const struct booted *b, const char *input, const char *const words[], int status, const char *out,
                const char *err)
{
    outcome_must_be(xnc_run(b, input, words), words[0], status, out, err);
}

struct outcome xnc_run_of(const struct booted *b, const struct ncube_run *r)
{
    const char *words[WORDS_MAX - 1] = {"-d", r->dim ? r->dim : "0"};
    size_t n = 2;

    if (r->serve) {
        words[n++] = "--serve";
        words[n++] = r->serve;
    }
    words[n++] = r->program;
    for (size_t i = 0; r->args[i]; i++) {
        cr_assert_lt(n, sizeof words / sizeof *words - 1);
        words[n++] = r->args[i];
    }
    return xnc_run(b, r->input, words);
}

void xnc_must_pass(const struct booted *b, const struct ncube_run *r)
{
    char *name = format("%s, %s, -d %s", r->program, r->args[0], r->dim ? r->dim : "0");

    outcome_must_be(xnc_run_of(b, r), name, 0, "passed\n", "");
    free(name);
}

size_t booted_descriptors(const struct booted *b)
{
    char path[64];
    size_t n = 0;

    snprintf(path, sizeof path, "/proc/%d/fd", (int)command_find_machine(&b->command));
    DIR *d = opendir(path);
    cr_assert_not_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

void booted_expect_descriptors(const struct booted *b, size_t most, const char *what)
{
    size_t n;

    for (int tries = 0; (n = booted_descriptors(b)) > most && tries < 6000; tries++)
        poll(NULL, 0, 10);
    cr_expect_leq(n, most, "%s: %zu descriptors, not %zu", what, n, most);
}
