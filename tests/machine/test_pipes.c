/*
 * Parallel pipes [P1 2.2, 2.6]. The law: the readers of "a | b" get the bytes that they would read from a file which a
 * has written; tests/guest/pipes.c does both, and the mappings, sizes and pieces are drawn. PIPES_SEEDS=n tries n pairs
 * instead of a few, from FIRST on; a failure names the command lines.
 */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/observe.h"

TestSuite(pipes, .timeout = 36000);

#define GUEST "guest/pipes"

static unsigned number_from(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);

    return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

/* ---- The law ---- */

static uint32_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*state >> 33);
}

struct mapping {
    char nodes[16], text[64]; /* the option, and the pattern */
};

/* A matrix of odd sizes, whose period has no divisor in common with most others: the plan of two is of a part of the
 * stream. */
static void draw_odd_matrix(uint64_t *seed, unsigned nodes, char *text, size_t bytes)
{
    unsigned rows = 31 + 2 * (draw(seed) % 100), columns = 29 + 2 * (draw(seed) % 100), item = 1 + draw(seed) % 9;
    unsigned down = nodes % 2 == 0 ? 2 : nodes % 3 == 0 ? 3 : 1, across = nodes / down, k = 1 + draw(seed) % 5;
    char kind[32];

    switch (draw(seed) % 4) {
    case 0:
        snprintf(kind, sizeof kind, "block,cyclic(%u)", k);
        break;
    case 1:
        snprintf(kind, sizeof kind, "cyclic(%u),block", k);
        break;
    case 2:
        snprintf(kind, sizeof kind, "cyclic,cyclic(%u)", k);
        break;
    default:
        snprintf(kind, sizeof kind, "block,block");
    }
    snprintf(text, bytes, "array %ux%ux%u %s on %ux%u", rows, columns, item, kind, down, across);
}

/* A mapping for 1 to 8 nodes. */
static struct mapping draw_mapping(uint64_t *seed)
{
    static const unsigned blocks[] = {1, 7, 100, 1024, 5000, 16384};
    unsigned nodes = 1 + draw(seed) % 8, item = 1 + draw(seed) % 9, dim = 0;
    unsigned block = blocks[draw(seed) % (sizeof blocks / sizeof *blocks)], shift = draw(seed) % 100;
    struct mapping m;

    while (1u << dim < nodes)
        dim++;
    bool is_cube = nodes > 1 && 1u << dim == nodes;
    snprintf(m.nodes, sizeof m.nodes, "--nodes=%u", nodes);
    switch (draw(seed) % 9) {
    case 0:
        snprintf(m.text, sizeof m.text, "array %ux37x%u block,* on %ux1", nodes * 5 + 1, item, nodes);
        break;
    case 1:
        snprintf(m.text, sizeof m.text, "array 19x%ux%u *,cyclic(3) on 1x%u", nodes * 9, item, nodes);
        break;
    case 2:
        snprintf(m.text, sizeof m.text, is_cube ? "bits o3-0 p%u-0 o8-4" : "array 23x%u cyclic on %u",
                 is_cube ? dim - 1 : item, nodes);
        break;
    case 3:
        if (nodes > 1)
            snprintf(m.text, sizeof m.text, is_cube ? "bits p%u-0 o9-0" : "cyclic %u %u", is_cube ? dim - 1 : item,
                     nodes);
        else
            snprintf(m.text, sizeof m.text, "-");
        break;
    case 4:
        snprintf(m.text, sizeof m.text, "cyclic %u %u +%u", block, nodes, shift);
        break;
    case 5:
        snprintf(m.text, sizeof m.text, "cyclic %u %u", block, nodes);
        break;
    default:
        draw_odd_matrix(seed, nodes, m.text, sizeof m.text);
    }
    return m;
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts lines in place. */
static char *sort_lines(const char *text)
{
    size_t n = count_lines(text), i = 0;
    char **line = calloc(n + 1, sizeof *line), *copy = strdup(text), *sorted = calloc(1, strlen(text) + 2);

    for (char *l = strtok(copy, "\n"); l && i < n; l = strtok(NULL, "\n"))
        line[i++] = l;
    qsort(line, i, sizeof *line, compare_lines);
    for (size_t k = 0; k < i; k++) {
        strcat(sorted, line[k]);
        strcat(sorted, "\n");
    }
    free(line);
    free(copy);
    return sorted;
}

/* What the readers tell when a file lies between; NULL if a mapping does not work there either. */
static char *by_file(const struct mapping *w, const struct mapping *r, const char *seed)
{
    char *folder = folder_new();

    file_write(folder, "f", "", 0);
    struct outcome written = ncube_run(&(struct ncube_run){
        .options = {w->nodes}, .serve = folder, .program = GUEST, .args = {"write", "/f", w->text, seed}});
    outcome_expect(&written, w->text, 0, "", "");
    struct outcome read = ncube_run(&(struct ncube_run){
        .options = {r->nodes}, .serve = folder, .program = GUEST, .args = {"read", "/f", r->text, seed}});
    cr_assert_eq(read.status, 0, "%s: %s", r->text, read.err);
    char *lines = sort_lines(read.err);
    outcome_free(&written);
    outcome_free(&read);
    folder_remove(folder);
    return lines;
}

static void expect_law_of(struct mapping w, struct mapping r, uint64_t seed)
{
    char *number = format("%llu", (unsigned long long)seed), *folder = folder_new();
    char *machine = machine_file(folder, 4, 0, seed % 3 == 0 ? "faults = ( { parity = 20; seed = 5; } );" : "");
    char *expected = by_file(&w, &r, number);
    struct outcome piped = ncube_run(
        &(struct ncube_run){.options = {w.nodes},
                            .machine = machine,
                            .program = GUEST,
                            .args = {"write", "-", w.text, number, "|", r.nodes, GUEST, "read", "-", r.text, number}});
    char *got = sort_lines(piped.err);

    cr_expect_eq(piped.status, 0, "seed %llu: status %d", (unsigned long long)seed, piped.status);
    cr_expect_str_eq(got, expected, "seed %llu: %s '%s' | %s '%s':\n%snot\n%s", (unsigned long long)seed, w.nodes,
                     w.text, r.nodes, r.text, got, expected);
    outcome_free(&piped);
    free(got);
    free(expected);
    free(machine);
    free(number);
    folder_remove(folder);
}

static void expect_law(uint64_t seed)
{
    uint64_t state = seed * 77 + 1;
    struct mapping w = draw_mapping(&state), r = draw_mapping(&state);

    expect_law_of(w, r, seed);
}

/* Two of the four writers begin 4 MB behind the others, which end long before: what lies between are zeros, and a
 * reader has no room for what follows. */
static const struct {
    struct mapping w, r;
} far_apart[] = {
    {{"--nodes=4", "array 999x1001x8 block,cyclic on 2x2"}, {"--nodes=3", "cyclic 4096 3"}},
    {{"--nodes=4", "array 999x1001x8 block,cyclic on 2x2"}, {"--nodes=1", "-"}},
    {{"--nodes=4", "array 1024x1024x8 block,cyclic on 2x2"}, {"--nodes=3", "cyclic 4096 3"}},
    {{"--nodes=3", "cyclic 4096 3"}, {"--nodes=4", "array 999x1001x8 block,cyclic on 2x2"}},
    {{"--nodes=4", "array 333x1001x1 cyclic,block on 2x2"}, {"--nodes=6", "array 97x89x3 block,cyclic(5) on 2x3"}},
};

Test(pipes, give_what_a_file_gives_where_periods_do_not_divide)
{
    for (size_t i = 0; i < sizeof far_apart / sizeof *far_apart; i++)
        expect_law_of(far_apart[i].w, far_apart[i].r, i + 1);
}

Test(pipes, give_what_a_file_gives)
{
    unsigned first = number_from("FIRST", 1), seeds = number_from("PIPES_SEEDS", 8);

    for (unsigned seed = first; seed < first + seeds; seed++)
        expect_law(seed);
}

/* ---- Three programs in a row ---- */

Test(pipes, pass_text_through_programs_of_one_node)
{
    outcome_must_be(ncube_run(&(struct ncube_run){.program = GUEST,
                                                  .args = {"copies", "|", GUEST, "copies", "|", GUEST, "copies"},
                                                  .input = "one\ntwo\nthree\n"}),
                    "three programs", 0, "one\ntwo\nthree\n", "");
}

/* Each program hears at its next write that the one behind it has ended. */
Test(pipes, end_at_once_when_the_last_program_ends)
{
    struct ncube_run r = {.program = GUEST, .args = {"writes until the end"}, .limit = "1.2s"};
    int n = 1;

    for (int i = 0; i < 10; i++) {
        r.args[n++] = "|";
        r.args[n++] = GUEST;
        r.args[n++] = "copies";
    }
    r.args[n++] = "|";
    r.args[n++] = GUEST;
    r.args[n++] = "reads a little";
    outcome_must_be(ncube_run(&r), "ten programs", 0, "", "");
}

Test(pipes, belong_to_the_program_in_global_mode)
{
    struct outcome o = ncube_run(
        &(struct ncube_run){.dim = "2",
                            .program = GUEST,
                            .args = {"prints once", "|", GUEST, "copies", "|", "-d", "1", GUEST, "reads once"}});
    char *lines = sort_lines(o.err);

    cr_expect_eq(o.status, 0, "status %d", o.status);
    cr_expect_str_eq(lines, "node 0: printed by 4 nodes\nnode 1: printed by 4 nodes\n");
    free(lines);
    outcome_free(&o);
}

Test(pipes, get_a_mapping_after_nglobal)
{
    outcome_must_be(ncube_run(&(struct ncube_run){
                        .dim = "1", .program = GUEST, .args = {"maps after nglobal", "|", GUEST, "copies"}}),
                    "mapped", 0, "abcdefABCDEF", "");
}

/* The two ends exchange messages: the same each time. */
Test(pipes, carry_messages_at_the_same_times)
{
    struct ncube_run r = {.dim = "1", .program = GUEST, .args = {"asks", "|", "-d", "2", GUEST, "answers"}};

    observe_ahead_and_strict(r, "messages");
}

/* ---- Ends ---- */

static const struct end {
    const char *name, *dim, *first, *second_dim, *second; /* cases of the guest */
    int status;
    const char *err; /* "": none */
} ends[] = {
    {"the reader ends first", "0", "writes until the end", "0", "reads a little", 0, ""},
    {"the writer catches SIGPIPE", "0", "sees SIGPIPE", "0", "reads a little", 0, ""},
    {"the writer hears at once that the reader has ended", "0", "hears of the end", "0", "reads a little", 0, ""},
    {"the writer hears at once that all readers have ended", "0", "hears of all ends", "2", "reads its ten", 5, ""},
    {"a read gives all that has come", "0", "writes lines", "0", "reads what has come", 5, ""},
    {"a read gives all that has come from several writers", "1", "writes mapped lines", "0", "reads what has come", 5,
     ""},
    {"a read gives all that has come of a long write", "0", "writes at once", "0", "reads long", 5, ""},
    {"a read gives all that has come of long writes", "1", "writes mapped at once", "0", "reads long", 5, ""},
    {"one of several readers leaves", "0", "writes 40000", "2", "one reader leaves", 0, "node 3 read 10000 bytes"},
    {"several nodes without a mapping", "1", "prints", "0", "copies", 0,
     "a pipe of several nodes: say who writes what"},
    {"several readers without a mapping", "0", "prints", "1", "copies", 1,
     "a pipe of several nodes: say who reads what"},
    {"calls that fail", "1", "calls that fail", "0", "reads a little", 1, "read"},
    {"nodes that disagree about the mapping", "1", "disagrees", "0", "sees disagreement", 0, ""},
    {"a copy of the end", "0", "dups", "0", "reads a little", 1, "is 5, not"},
    {"messages", "1", "asks", "2", "answers", 0, ""},
    {"messages of a program of one node", "0", "asks", "1", "answers", 0, ""},
    {"bytes or messages", "0", "sends bytes", "0", "reads a little", 1, "read(STDIN_FILENO"},
    {"a fault of a writer", "0", "faults", "0", "waits for ever", 1, "store to an address"},
    {"a fault of a reader", "0", "writes until the end", "0", "faults", 1, "store to an address"},
    {"readers that wait for the mapping", "1", "waits for ever", "1", "maps and waits", 125,
     "PEs 0-1 of pipes: each waits for the mapping of pipes (pipe 0)"},
    {"a reader that waits for the mapping", "0", "waits for ever", "0", "reads a little", 125,
     "PE 0 of pipes waits for the mapping of pipes (pipe 0)"},
    {"a reader that waits for data", "0", "writes a little and waits", "0", "drops all", 125,
     "PE 0 of pipes waits for data from pipes (pipe 0)"},
    {"a writer that waits for room", "0", "writes until the end", "0", "reads a little and waits", 125,
     "PE 0 of pipes waits for pipes to read (pipe 0)"},
};

RowTest(pipes, end, ends)
{
    const struct end *e = &ends[*row];

    outcome_must_be(ncube_run(&(struct ncube_run){.dim = e->dim,
                                                  .program = GUEST,
                                                  .args = {e->first, "|", "-d", e->second_dim, GUEST, e->second}}),
                    e->name, e->status, "", e->err);
}

/* ---- Command lines ---- */

/* ---- Times, which are virtual and exact [P1 Figure 11] ---- */

/* From the last N_SETMAP of both programs to the last node's first 8 bytes: a node that made plans with all nodes of
 * the other end, or unpacked all elements of its mapping, would take ten times as long. */
Test(pipes, are_set_up_in_five_milliseconds)
{
    long long set = 0, first = 0;
    struct outcome o = ncube_run(&(struct ncube_run){
        .dim = "5",
        .program = "guest/pipe_rate",
        .args = {"write", "cyclic 8 32", "2048", "8", "|", "-d", "5", "guest/pipe_rate", "read", "cyclic 8 32", "8"}});

    cr_assert_eq(o.status, 0, "%s", o.err);
    cr_assert_eq(count_lines(o.out), 32);
    cr_assert_eq(count_lines(o.err), 32);
    for (int stream = 0; stream < 2; stream++)
        for (char *line = strtok(stream ? o.out : o.err, "\n"); line; line = strtok(NULL, "\n")) {
            long long set_us, first_us;

            cr_assert_eq(sscanf(line, "%*s %*d %lld %lld", &set_us, &first_us), 2, "%s", line);
            set = set_us > set ? set_us : set;
            first = stream && first_us > first ? first_us : first;
        }
    cr_expect_leq(first - set, 5000, "%lld us", first - set);
    outcome_free(&o);
}

Test(pipes, pass_the_first_bytes_at_once)
{
    struct outcome o =
        ncube_run(&(struct ncube_run){.dim = "0",
                                      .program = "guest/transparency",
                                      .args = {"writes", "-", "|", "-d", "0", "guest/transparency", "reads", "-"}});
    long from = 0, by = 0;

    cr_assert_eq(o.status, 0, "%s", o.err);
    cr_assert_eq(sscanf(o.err, "written from: %ld", &from), 1, "%s", o.err);
    cr_assert_eq(sscanf(o.out, "read by: %ld", &by), 1, "%s", o.out);
    cr_expect_leq(by - from, 2500, "%ld cycles", by - from);
    outcome_free(&o);
}

static const struct line {
    const char *name, *dim, *args[RUN_ARGS];
    int status;
    const char *err;
} lines[] = {
    {"no program behind the pipe", "0", {"dups", "|"}, 2, "no program given between ':' or '|'"},
    {"no program between", "0", {"dups", "|", "|", GUEST}, 2, "no program given between ':' or '|'"},
    {"an option that is the job's",
     "0",
     {"dups", "|", "--serve", ".", GUEST},
     2,
     "after '|' only the options -d and -n are possible"},
    {"-d behind a colon", "0", {"dups", ":", "-d", "1", GUEST}, 2, "after ':' only the option -n is possible"},
    {"more nodes than a machine may have", "13", {"dups", "|", "-d", "13", GUEST, "dups"}, 2, "more than 2^13 nodes"},
    {"more nodes than its stage has", "0", {"dups", "|", "-d", "0", "-n", "2", GUEST, "dups"}, 1, "give a larger -d"},
    {"a program that there is not", "0", {"dups", "|", "./none"}, 1, "./none"},
    {"several processes on a node", "0", {"dups", "|", "guest/processes", "x"}, 1, "can't be in a pipeline"},
};

RowTest(pipes, refuse_lines, lines)
{
    const struct line *l = &lines[*row];
    struct ncube_run r = {.dim = l->dim, .program = GUEST};

    memcpy(r.args, l->args, sizeof r.args);
    outcome_must_be(ncube_run(&r), l->name, l->status, "", l->err);
}
