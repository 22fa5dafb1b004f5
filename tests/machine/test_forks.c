/* Processes that a program makes on its node: tests/guest/forks.c, fork_pipes.c, fork_execs.c. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/machine/booted.h"
#include "tests/machine/guest.h"

TestSuite(forks, .timeout = 600);

#define PROGRAM "guest/forks"

static const struct row {
    const char *program;
    struct guest_end end;
} rows[] = {
    {PROGRAM, {"0", "a copy", 0, "passed\n", ""}},
    {PROGRAM, {"2", "a copy", 0, "passed\n", ""}},
    {PROGRAM, {"1", "numbers", 0, "passed\n", ""}},
    {PROGRAM, {"0", "grandchildren", 0, "passed\n", ""}},
    {PROGRAM, {"0", "many", 0, "passed\n", ""}},
    {PROGRAM, {"1", "statuses", 0, "passed\n", ""}},
    {PROGRAM, {"0", "signals", 0, "passed\n", ""}},
    {PROGRAM, {"0", "a signal for all", 0, "passed\n", ""}},
    {PROGRAM, {"0", "a fault", 0, "passed\n", "child process 1: load from an address that is not mapped"}},
    {PROGRAM, {"1", "whom to wait for", 0, "passed\n", ""}},
    {PROGRAM, {"0", "SIGCHLD", 0, "passed\n", ""}},
    {PROGRAM, {"0", "SIGCHLD ignored", 0, "passed\n", ""}},
    {PROGRAM, {"0", "the table is full", 0, "passed\n", ""}},
    {PROGRAM, {"0", "memory is full", 0, "passed\n", ""}},
    {PROGRAM, {"0", "signals are kept", 0, "passed\n", ""}},
    {PROGRAM, {"0", "what is its own", 0, "passed\n", "child process 1: load from an address that is not mapped"}},
    {PROGRAM, {"0", "the working directory", 0, "passed\n", ""}},
    {PROGRAM, {"2", "messages", 0, "passed\n", ""}},
    {PROGRAM, {"1", "messages to nobody", 0, "passed\n", ""}},
    {PROGRAM, {"0", "outlived", 4, "the child is the last\n", ""}},
    {PROGRAM, {"0", "nobody writes", 125, "", "node 0 waits for bytes from a pipe"}},
    {PROGRAM, {"0", "nobody ends", 125, "", "node 0 waits in wait for the end of a child process"}},
    {PROGRAM, {"0", "dies with children", 134, "", "ended by its own signal 6 (SIGABRT)"}},
    {"guest/fork_pipes", {"1", "a pipe ends", 0, "passed\n", ""}},
    {"guest/fork_pipes", {"0", "a pipe without a reader", 0, "passed\n", ""}},
    {"guest/fork_pipes", {"0", "a pipe loses its reader", 0, "passed\n", ""}},
    {"guest/fork_pipes", {"0", "a pipe does not wait", 0, "passed\n", ""}},
    {"guest/fork_pipes", {"0", "a pipe does not mix", 0, "passed\n", ""}},
    {"guest/fork_pipes", {"1", "a pipe passes all bytes", 0, "passed\n", ""}},
    {"guest/fork_pipes", {"0", "a pipe is a descriptor", 0, "passed\n", ""}},
    {"guest/fork_pipes", {"0", "too many pipes", 0, "passed\n", ""}},
    {"guest/fork_execs", {"1", "exec", 0, "passed\n", ""}},
    {"guest/fork_execs", {"0", "exec keeps signals", 0, "passed\n", ""}},
    {"guest/fork_execs", {"0", "exec keeps descriptors", 0, "passed\n", ""}},
    {"guest/fork_execs", {"0", "exec fails", 0, "passed\n", ""}},
    {"guest/fork_execs", {"0", "exec again and again", 0, "passed\n", ""}},
    {"guest/fork_execs", {"0", "exec closes", 0, "passed\n", ""}},
    {"guest/fork_execs", {"0", "a fault of its own", 1, "", "in loads_from_nowhere (fork_execs.c:"}},
    {"guest/fork_execs", {"0", "exec of a fault", 1, "", ", address 0x0 (a null pointer)\n"}},
};

/* One after the other on one machine. */
Test(forks, go_as_on_unix)
{
    struct booted b = booted_up(WORDS("-d", "2"));

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct guest_end *e = &rows[i].end;
        char *folder = folder_with_programs(rows[i].program);
        const struct ncube_run r = {.dim = e->dim, .serve = folder, .program = rows[i].program, .args = {e->name}};

        outcome_must_be(xnc_run_of(&b, &r), e->name, e->status, e->out, e->err);
        folder_remove(folder);
    }
    booted_down(&b);
}

static const char *const services[] = {"", "service = \"concurrent\";"};

/* On a volume, at the front end, in its memory. */
RowTest(forks, share_files, services)
{
    char *images = folder_with_images(1, 2048, 1024),
         *machine = machine_file_one_node(images, 1, 1, services[*row], "");
    char *folder = folder_with_programs(PROGRAM);

    guest_must_pass(&(struct ncube_run){.machine = machine,
                                        .dim = "0",
                                        .serve = folder,
                                        .program = PROGRAM,
                                        .args = {"files", "//df00/f", "/f", "/tmp/f"}});
    images_check(images, 1);
    folder_remove(folder);
    free(machine);
    folder_remove(images);
}
