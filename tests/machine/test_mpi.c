/* MPI programs (libpio/mpi): how those end that do something wrong, what is said then, and what messages they send. The
 * results of right ones are in tests/libpio/test_mpi.sh. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/booted.h"
#include "tests/machine/guest.h"

TestSuite(mpi, .timeout = 600);

#define PROGRAM "guest/mpi_ends"

static const struct end {
    struct guest_end end;
    const char *faults;
} ends[] = {
    {{"1", "receive from each other", 125, NULL,
      "ncube: node 0 waits in MPI_Recv from 1, tag 7, communicator 'MPI_COMM_WORLD'\n"
      "ncube: node 1 waits in MPI_Recv from 0, tag 7, communicator 'MPI_COMM_WORLD'\n"},
     NULL},
    {{"1", "synchronous to each other", 125, NULL, "node 0 waits in MPI_Ssend to 1, tag 3, communicator"}, NULL},
    {{"2", "different collectives", 125, NULL, "node 0 waits in MPI_Barrier, communicator 'MPI_COMM_WORLD'\n"}, NULL},
    {{"2", "different collectives", 125, NULL, "waits in MPI_Bcast, root 0, communicator 'MPI_COMM_WORLD'\n"}, NULL},
    {{"2", "wait for any", 125, NULL, "node 0 waits in MPI_Wait from any, tag any, communicator 'MPI_COMM_WORLD'\n"},
     NULL},
    {{"2", "wait for any", 125, NULL, "nodes 1-3: each waits in MPI_Finalize, communicator 'MPI_COMM_WORLD'\n"}, NULL},
    {{"2", "wait for a schedule", 125, NULL, "nodes 1-3: each waits in MPI_Ibarrier, communicator 'MPI_COMM_WORLD'\n"},
     NULL},
    {{"1", "unsupported", 1, NULL,
      "MPI_ERR_UNSUPPORTED_OPERATION: the operation is not supported: this library does not have it\n"},
     NULL},
    {{"2", "many made and freed", 0, "passed\n", ""}, NULL},
    {{"2", "receive in a row", 125, NULL,
      "ncube: nodes 0, 2: each waits in MPI_Recv from 0, tag 7, communicator 'row', as rank 1\n"},
     NULL},
    {{"1", "communicators run out", 0, "passed\n", ""}, NULL},
    {{"3", "abort while others wait", 42, NULL, "MPI_Abort on MPI_COMM_WORLD, rank 7 (node 7): status 42\n"}, NULL},
    {{"2", "no finalize", 1, NULL,
      "MPI_Finalize on MPI_COMM_WORLD, rank 1 (node 1): the program has ended without it\n"},
     NULL},
    {{"0", "before init", 1, NULL, "MPI_Barrier: node 0: called before MPI_Init\n"}, NULL},
    {{"1", "after finalize", 1, NULL, "MPI_Send: node 0: called after MPI_Finalize\n"}, NULL},
    {{"0", "init twice", 1, NULL, "MPI_Init, rank 0 (node 0): called twice\n"}, NULL},
    {{"1", "bad rank", 1, NULL,
      "MPI_Send on MPI_COMM_WORLD, rank 0 (node 0): MPI_ERR_RANK: not a valid rank: 2 is none of 0 to 1\n"},
     NULL},
    {{"1", "no buffer", 1, NULL, "MPI_ERR_BUFFER: not a valid buffer: NULL, for 1 elements\n"}, NULL},
    {{"1", "too long", 1, NULL,
      "MPI_Recv on MPI_COMM_WORLD, rank 1 (node 1): MPI_ERR_TRUNCATE: message truncated: a message of 80 bytes for a "
      "receive of 40\n"},
     NULL},
    {{"1", "too long of two", 1, NULL,
      "MPI_Waitall on MPI_COMM_WORLD, rank 1 (node 1): MPI_ERR_TRUNCATE: message truncated: a message of 56 bytes for "
      "a receive of 24\n"},
     NULL},
    {{"0", "own part differs", 1, NULL, "MPI_ERR_TRUNCATE: message truncated: the own part has 8 bytes, not 4\n"},
     NULL},
    {{"2", "counts differ", 1, NULL, "MPI_Bcast on MPI_COMM_WORLD, rank 1 (node 1): MPI_ERR_TRUNCATE"}, NULL},
    {{"2", "a longer part", 1, NULL, "MPI_Allreduce on MPI_COMM_WORLD, rank 0 (node 0): MPI_ERR_TRUNCATE"}, NULL},
    {{"2", "a shorter part", 1, NULL, "MPI_Allreduce on MPI_COMM_WORLD, rank 0 (node 0): MPI_ERR_TRUNCATE"}, NULL},
    {{"2", "nonblocking counts differ", 1, NULL, "MPI_Ibcast on MPI_COMM_WORLD, rank 1 (node 1): MPI_ERR_TRUNCATE"},
     NULL},
    {{"2", "no root", 125, NULL, "nodes 1-3: each waits in MPI_Ibcast, communicator 'MPI_COMM_WORLD'\n"}, NULL},
    {{"2", "another root", 125, NULL, "node 3 waits in MPI_Bcast, root 1, communicator 'MPI_COMM_WORLD'\n"}, NULL},
    {{"2", "another root, scatter", 125, NULL, "node 2 waits in MPI_Scatter, root 3, communicator"}, NULL},
    {{"2", "another root, scatterv", 125, NULL, "node 2 waits in MPI_Scatterv, root 3, communicator"}, NULL},
    {{"2", "another root, gather", 125, NULL, "node 0 waits in MPI_Gather, root 0, communicator"}, NULL},
    {{"2", "another root, gatherv", 125, NULL, "node 1 waits in MPI_Gatherv, root 1, communicator"}, NULL},
    {{"2", "another root, reduce", 125, NULL, "node 0 waits in MPI_Reduce, root 0, communicator"}, NULL},
    {{"2", "rank dies", 123, NULL, "node 3 has been dead since 0.200000 s"}, "{ node = 3; from_us = 200000; }"},
    {{"2", "rank dies", 125, NULL, "nodes 0-3: each waits in MPI_Allreduce, communicator 'MPI_COMM_WORLD'\n"},
     "{ node = 3; from_us = 200000; until_us = 400000; }"},
    {{"3", "flood", 0, "passed\n", ""}, NULL},
    {{"1", "last first", 0, "passed\n", ""}, NULL},
    {{"2", "forgotten", 0, "passed\n", ""}, NULL},
};

/* One after the other on one machine, but for those with faults of the machine. */
Test(mpi, programs_end_as_they_should)
{
    struct booted b = booted_up(WORDS("-d", "3"));

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const struct guest_end *e = &ends[i].end;
        const struct ncube_run r = {.dim = e->dim, .program = PROGRAM, .args = {e->name}};

        if (ends[i].faults)
            guest_must_end(PROGRAM, e, NULL, ends[i].faults);
        else
            outcome_must_be(xnc_run_of(&b, &r), e->name, e->status, e->out, e->err);
    }
    booted_down(&b);
}

Test(mpi, errors_that_calls_return_are_listed_by_a_check)
{
    static const char *const lines[] = {
        "nodes 0-1: each failed in MPI_Send, called in returned_errors (mpi_ends.c:402): MPI_ERR_RANK: not a valid "
        "rank\n",
        "nodes 0-1: each failed in MPI_Comm_rank, called in returned_errors (mpi_ends.c:403): MPI_ERR_COMM: ",
        "node 1 failed in MPI_Recv, called in returned_errors (mpi_ends.c:407): MPI_ERR_TRUNCATE: message truncated\n",
        "nodes 0-1: each failed in MPI_File_open, called in returned_errors (mpi_ends.c:408): MPI_ERR_ACCESS: ",
        "nodes 0-1: each failed in MPI_File_read, called in returned_errors (mpi_ends.c:409): MPI_ERR_FILE: "};
    struct outcome o = ncube_run(
        &(struct ncube_run){.dim = "1", .program = PROGRAM, .args = {"returned errors"}, .options = {"--check"}});

    cr_expect_eq(o.status, 0, "status %d", o.status);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        cr_expect_not_null(strstr(o.err, lines[i]), "no '%s' in: %s", lines[i], o.err);
    cr_expect_eq(count_lines(o.err), 7, "%s", o.err);
    outcome_free(&o);
}

/* A line that cannot leave its node is in the report; it comes when the others have been ended. */
Test(mpi, a_line_that_a_full_channel_keeps)
{
    char *folder = folder_new(), *machine = machine_file(folder, 2, 0, "ram_mb = 2;\n");

    outcome_must_be(
        ncube_run(&(struct ncube_run){.dim = "2", .machine = machine, .program = PROGRAM, .args = {"full memory"}}),
        "full memory", 125, NULL,
        "node 2 waits for the front end; a full channel keeps its line from there: MPI_Send on "
        "MPI_COMM_WORLD, rank 2 (node 2): MPI_ERR_RANK: not a valid rank: -7 is none of 0 to 3\n");
    free(machine);
    folder_remove(folder);
}

/* 10,200 messages of 255 ranks to one with 2 MB. What it notes of those that stay with their senders is what receives
 * have to know. */
static const struct guest_end floods[] = {
    {"8", "in order", 0, "passed\n", ""},
    {"8", "by sender", 0, "passed\n", ""},
    {"8", "from the end", 1, NULL,
     "MPI_Recv on MPI_COMM_WORLD, rank 0 (node 0): MPI_ERR_NO_MEM: no memory: none for a message that comes; "},
};

DrawnRowTest(mpi, floods_of_255_to_one, floods, 2)
{
    const struct guest_end *e = &floods[*row];
    char *folder = folder_new(), *machine = machine_file(folder, atoi(e->dim), 0, "ram_mb = 2;\n");

    outcome_must_be(ncube_run(&(struct ncube_run){
                        .dim = e->dim, .machine = machine, .program = "guest/mpi_flood", .args = {e->name}}),
                    e->name, e->status, e->out, e->err);
    free(machine);
    folder_remove(folder);
}

/* The cycles that a node waited in a call, of all its idle ones. */
static json_int_t waited(const json_t *node, const char *call, const char *communicator)
{
    json_t *entry;
    size_t i;

    json_array_foreach(json_object_get(node, "calls"), i, entry)
    {
        if (strcmp(json_string_value(json_object_get(entry, "call")), call) == 0 &&
            strcmp(json_string_value(json_object_get(entry, "communicator")), communicator) == 0)
            return json_integer_value(json_object_get(entry, "wait_cycles"));
    }
    return 0;
}

/* Rank 1 of each row waits for ever; all have waited for the slowest in MPI_Init or MPI_Comm_split. */
Test(mpi, statistics_have_waits_by_call_and_communicator)
{
    char *folder = folder_new(), *path = format("%s/stats.json", folder);
    struct outcome o =
        ncube_run(&(struct ncube_run){.dim = "2", .stats = path, .program = PROGRAM, .args = {"receive in a row"}});
    json_t *stats = json_load_file(path, 0, NULL), *nodes = json_object_get(stats, "nodes");

    cr_expect_eq(o.status, 125);
    for (size_t i = 0; i < 4; i++) {
        const json_t *node = json_array_get(nodes, i);
        json_int_t in_row = waited(node, "MPI_Recv", "row"),
                   before = waited(node, "MPI_Init", "") + waited(node, "MPI_Comm_split", "MPI_COMM_WORLD");

        cr_expect_eq(in_row > 0, i % 2 == 0, "node %zu has waited for %lld cycles in its row", i, in_row);
        cr_expect_gt(before, 0, "node %zu has not waited before", i);
        cr_expect_lt(in_row + before, json_integer_value(json_object_get(node, "idle_cycles")));
    }
    json_decref(stats);
    outcome_free(&o);
    free(path);
    folder_remove(folder);
}

Test(mpi, waits_in_a_trace_repeat)
{
    guest_must_repeat(&(struct ncube_run){.dim = "1", .program = PROGRAM, .args = {"last first"}});
}

/* ---- What calls cost: tests/guest/mpi_costs.c ---- */

static double value_of(const char *out, const char *name)
{
    size_t length = strlen(name);

    for (const char *line = out; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (strncmp(line, name, length) == 0 && line[length] == '=')
            return atof(line + length + 1);
    cr_assert_fail("no %s in: %s", name, out);
    return 0;
}

/* A time is at most so many times another one of the same run, or so many microseconds. */
static const struct bound {
    const char *dim, *run, *name, *of; /* of: NULL: microseconds */
    double most;
} bounds[] = {
    {"1", "short", "way-8", "vertex-8", 1.5},
    {"1", "short", "way-64", "vertex-64", 1.5},
    {"6", "short", "any", NULL, 205},
    {"1", "collectives", "ibcast", "bcast", 2},
    {"3", "collectives", "allreduce", "group-allreduce", 1.2},
    {"3", "collectives", "ibcast", "bcast", 2},
    {"3", "collectives", "long", NULL, (1 << 20) * 0.45 / 0.45}, /* 45 % of a channel */
};

ParameterizedTestParameters(mpi, calls_cost_no_more_than)
{
    return table_rows(sizeof bounds / sizeof *bounds, 1);
}

ParameterizedTest(size_t *row, mpi, calls_cost_no_more_than)
{
    const struct bound *b = &bounds[*row];
    struct outcome o = ncube_run(&(struct ncube_run){.dim = b->dim, .program = "guest/mpi_costs", .args = {b->run}});

    cr_assert_eq(o.status, 0, "status %d: %s", o.status, o.err);
    double most = command_bound(b->most * (b->of ? value_of(o.out, b->of) : 1)), took = value_of(o.out, b->name);
    cr_expect_leq(took, most, "%s on %s dimensions: %.1f us, at most %.1f", b->name, b->dim, took, most);
    outcome_free(&o);
}
