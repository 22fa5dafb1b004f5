/*
 * Programs execute what was loaded last, wherever their text lies: in the pool that a cabinet's nodes share, or in
 * their own memory, at addresses where another program ran before. And nothing can tell where it is.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/booted.h"
#include "tests/machine/guest.h"

TestSuite(text, .timeout = 600);

/* Machines of four nodes. */
static const struct pool {
    const char *name, *more;
} pools[] = {
    {"all text in the pool", ""},
    {"no pool", "shared_text_kb = 0;"},
    {"a pool for one program", "shared_text_kb = 100;"},
    {"cabinets with all text in their pools", "nodes_per_cabinet = 3;"},
    {"cabinets without pools", "shared_text_kb = 0; nodes_per_cabinet = 3;"},
    {"cabinets with pools for one program", "shared_text_kb = 100; nodes_per_cabinet = 3;"},
};
#define POOLS (sizeof pools / sizeof *pools)

/* The address that "node 0: 1111 at 0x..." ends with. */
static char *address_in(const char *out)
{
    const char *at = strstr(out, "0x");

    cr_assert_not_null(at, "no address in: %s", out);
    return format("%.*s", (int)strcspn(at, "\n"), at);
}

static char *expect_variant(const struct booted *b, const char *name, const char *program, const char *digits)
{
    struct outcome o = xnc_run(b, "", WORDS("-d2", program, "says which"));
    char *wanted = format(": %s at ", digits);

    outcome_expect(&o, name, 0, NULL, "");
    size_t seen = 0;
    for (const char *at = o.out; (at = strstr(at, wanted)) != NULL; at++)
        seen++;
    cr_expect_eq(seen, 4, "%s: %zu of 4 nodes executed %s: %s", name, seen, program, o.out);
    char *address = address_in(o.out);
    free(wanted);
    outcome_free(&o);
    return address;
}

/* After a job a node's memory is as at boot: the next program gets the same pages as the one before. */
RowTest(text, is_that_of_the_program_loaded_last, pools)
{
    const struct pool *p = &pools[*row];
    char *folder = folder_new(), *machine = machine_file(folder, 2, 0, p->more);
    struct booted b = booted_up(WORDS(machine));

    for (int i = 0; i < 3; i++) {
        char *one = expect_variant(&b, p->name, "guest/text", "1111");
        char *other = expect_variant(&b, p->name, "guest/text_other", "2222");

        cr_expect_str_eq(one, other, "%s: at other addresses, this tests nothing", p->name);
        free(one);
        free(other);
        xnc_expect(&b, "", WORDS("-d1", "guest/processes", "own memory"), 0, "passed\n", "");
    }
    booted_down(&b);
    free(machine);
    folder_remove(folder);
}

/* ---- No difference that a program could see ---- */

static const struct run {
    const char *name, *options[3], *program, *args[10];
} runs[] = {
    {"one program", {NULL}, "guest/text", {"says which"}},
    {"two at once", {"-n", "1"}, "guest/text", {"says which", ":", "guest/text_other", "says which"}},
    {"one that takes all memory", {NULL}, "guest/text", {"takes all memory"}},
    {"several processes", {NULL}, "guest/processes", {"own memory"}},
    {"calls that read text", {NULL}, "guest/text", {"is read by calls"}},
};

struct seen {
    char *out, *trace;
    size_t trace_bytes;
};

static struct seen observe(const struct run *r, const struct pool *p)
{
    char *folder = folder_new(), *more = format("ram_mb = 4;\n%s", p->more); /* that is soon full */
    char *machine = machine_file(folder, 2, 0, more), *trace = format("%s/trace", folder);
    struct ncube_run command = {.machine = machine, .dim = "2", .trace = trace, .program = r->program};

    memcpy(command.options, r->options, sizeof r->options);
    memcpy(command.args, r->args, sizeof r->args);
    struct outcome o = ncube_run(&command);
    outcome_expect(&o, r->name, 0, NULL, "");
    struct seen s = {.out = strdup(o.out)};
    s.trace = file_read(folder, "trace", &s.trace_bytes);
    outcome_free(&o);
    free(trace);
    free(machine);
    free(more);
    folder_remove(folder);
    return s;
}

static void seen_free(struct seen *s)
{
    free(s->out);
    free(s->trace);
}

DrawnRowTest(text, is_nowhere_that_a_program_or_a_trace_could_tell, runs, 2)
{
    const struct run *r = &runs[*row];
    struct seen first = observe(r, &pools[0]);

    cr_expect_gt(first.trace_bytes, 1000, "%s: the trace is too short to tell", r->name);
    for (size_t i = 1; i < POOLS; i++) {
        struct seen other = observe(r, &pools[i]);

        cr_expect_str_eq(other.out, first.out, "%s, %s", r->name, pools[i].name);
        cr_expect(other.trace_bytes == first.trace_bytes && memcmp(other.trace, first.trace, first.trace_bytes) == 0,
                  "%s, %s: another trace", r->name, pools[i].name);
        seen_free(&other);
    }
    seen_free(&first);
}

/* ---- A machine that stays up ---- */

static const char *const histories[][5] = {{"guest/text", "guest/text", "guest/text", NULL},
                                           {"guest/text_other", "guest/text", "guest/text_other", "guest/text", NULL}};

/* Runs the programs one after another. Returns what they print. */
static char *run_history(const char *const *program, const struct pool *p)
{
    char *folder = folder_new(), *machine = machine_file(folder, 2, 0, p->more), *said = strdup("");
    struct booted b = booted_up(WORDS(machine));

    for (; *program; program++) {
        struct outcome o = xnc_run(&b, "", WORDS("-d2", *program, "is read by calls"));
        char *more = format("%s%s: %s", said, *program, o.out);

        outcome_expect(&o, p->name, 0, NULL, "");
        cr_expect_geq(count_lines(o.out), 24, "%s, %s: %s", p->name, *program, o.out);
        outcome_free(&o);
        free(said);
        said = more;
    }
    booted_down(&b);
    free(machine);
    folder_remove(folder);
    return said;
}

/* The times of calls that read text, of a program that was loaded into an empty pool, found itself there, or found no
 * room because others have filled the pool. The programs are the same in each case: what a kernel keeps in memory from
 * one program to the next makes some microseconds of difference itself. */
Test(text, takes_the_same_time_however_full_the_pool_is)
{
    for (size_t k = 0; k < sizeof histories / sizeof *histories; k++) {
        char *first = run_history(histories[k], &pools[0]);

        for (size_t i = 1; i < POOLS; i++) {
            char *other = run_history(histories[k], &pools[i]);

            cr_expect_str_eq(other, first, "history %zu, %s: %s, not %s", k, pools[i].name, other, first);
            free(other);
        }
        free(first);
    }
}

/* Drops the lines with a word. */
static void drop_lines(char *text, const char *word)
{
    for (char *line = text; *line;) {
        size_t n = strcspn(line, "\n") + 1;
        char *found = strstr(line, word);

        if (found && found < line + n)
            memmove(line, line + n, strlen(line + n) + 1);
        else
            line += n;
    }
}

/* What the first program has left behind (docs/exactness.md): the second one and the third find the same, but for what
 * forking leaves. */
Test(text, takes_the_same_time_from_the_second_program_on)
{
    char *said = run_history(histories[0], &pools[0]), *second = strstr(said + 1, "guest/text: ");
    char *third = second ? strstr(second + 1, "guest/text: ") : NULL;

    cr_assert_not_null(third, "%s", said);
    third = strdup(third);
    second[strlen(second) - strlen(third)] = '\0';
    for (int i = 0; i < 2; i++) {
        drop_lines(i ? third : second, "fork");
        drop_lines(i ? third : second, "pipe");
    }
    cr_expect_geq(count_lines(second), 16, "%s", second);
    cr_expect_str_eq(second, third);
    free(third);
    free(said);
}

/* ---- Programs that try to change their text ---- */

static const struct run own[] = {
    {"cannot be written by calls", {NULL}, "guest/text", {"cannot be written"}},
    {"fence.i does no harm", {NULL}, "guest/text", {"may fence"}},
};

RowTest(text, of_a_program_stays_as_it_was_loaded, own)
{
    struct ncube_run r = {.dim = "1", .program = own[*row].program, .input = "x"};

    memcpy(r.args, own[*row].args, sizeof own[*row].args);
    guest_must_pass(&r);
}
