/*
 * Programs loaded by programs. This program loads itself, from the file "rexec" that the front end serves, or from the
 * path in the second argument; the first argument of the loaded one is one of the children's cases.
 */
#include <errno.h>
#include <fcntl.h>
#include <n_errno.h>
#include <rexec.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "vertex/contract/abi.h"

enum { ROOT = 0, ASK = 1, ANSWER = 2, PATIENT = 3, BARRIER = 4 };

long trap_rexec(long node, long nodes, const struct abi_program *program);

static const char *self(void)
{
    return test_argc > 0 ? test_argv[0] : "rexec";
}

/* ---- The loaded programs ---- */

static void child_answers(void)
{
    int number, src = ROOT, type = ASK;

    check_equal(nread(&number, sizeof number, &src, &type, NULL), sizeof number);
    number = number * number + own_node();
    check_equal(nwrite(&number, sizeof number, ROOT, ANSWER, NULL), 0);
}

static void child_has_a_status(void)
{
    exit(10 + own_node());
}

/* Two letters may be many. */
static void child_counts_arguments(void)
{
    size_t bytes = 0;

    for (int i = 0; i < test_argc; i++)
        bytes += strlen(test_argv[i]);
    exit((int)((bytes + (size_t)test_argc) % 251));
}

static void child_faults(void)
{
    static volatile int *volatile nowhere = (volatile int *)8;

    *nowhere = own_node();
}

static void child_meets(void)
{
    check_equal(nsync(BARRIER), 0);
}

/* ---- Cases: nodes other than 0 end at once ---- */

static void await_all(int status)
{
    for (int i = 1; i < node_count(); i++)
        check_equal(rwait(i), status < 0 ? 10 + i : status);
}

static int load_all(const char *what)
{
    return rexecl(1, node_count() - 1, self(), "rexec", what, NULL);
}

static void ask_all(void)
{
    for (int i = 1; i < node_count(); i++)
        check_equal(nwrite(&i, sizeof i, i, ASK, NULL), 0);
    for (int i = 1; i < node_count(); i++) {
        int src = i, type = ANSWER, number;

        check_equal(nread(&number, sizeof number, &src, &type, NULL), sizeof number);
        check_equal(number, i * i + i);
    }
}

static void loads_others(void)
{
    if (own_node() != ROOT)
        return;
    await_all(0);
    check_equal(load_all("child: answers"), 0);
    ask_all();
    await_all(0);
}

static void loads_one_by_one_again_and_again(void)
{
    if (own_node() != ROOT)
        return;
    await_all(0);
    for (int round = 0; round < 6; round++) {
        int node = 1 + round % (node_count() - 1);

        check_equal(rexecl(node, 1, self(), "rexec", "child: answers", NULL), 0);
        int src = node, type = ANSWER, number = 7;
        check_equal(nwrite(&number, sizeof number, node, ASK, NULL), 0);
        check_equal(nread(&number, sizeof number, &src, &type, NULL), sizeof number);
        check_equal(number, 49 + node);
        check_equal(rwait(node), 0);
    }
}

static void gathers_statuses(void)
{
    if (own_node() != ROOT)
        return;
    await_all(0);
    check_equal(load_all("child: has a status"), 0);
    await_all(-1);
    await_all(-1);
}

static void passes_arguments(void)
{
    static char longest[40000];

    if (own_node() != ROOT)
        return;
    await_all(0);
    memset(longest, 'x', sizeof longest - 1);
    check_equal(rexecl(1, 1, self(), "rexec", "child: counts arguments", "", "ab", longest, NULL), 0);
    check_equal(rwait(1), (2 + sizeof longest - 1 + 3) % 251);
}

/* ---- In its own place ---- */

enum { MANY = 40, STEP = 1500 }; /* messages, so that the queue has its index, of types up to the highest */

static void child_reads_what_was_sent(void)
{
    int from = (own_node() + node_count() - 1) % node_count(), number;
    struct stat st;

    check(fstat(3, &st) < 0 && errno == EBADF, "a file is still open");
    check(fstat(4, &st) == 0 && lseek(4, 0, SEEK_CUR) == 10, "a file is no longer open, or at %ld",
          (long)lseek(4, 0, SEEK_CUR));
    for (int i = MANY - 1; i >= 0; i--) {
        int src = N_ANY, type = PATIENT + i * STEP;

        check_equal(nread(&number, sizeof number, &src, &type, NULL), sizeof number);
        check(src == from && number == 100 * i + from, "%d from %d, type %d", number, src, type);
    }
    check_equal(nsync(BARRIER), 0);
}

/* The nodes load at different times: messages arrive before, while and after the neighbour changes its program. */
static void takes_its_place(void)
{
    int fd = open(self(), O_RDONLY);

    check_equal(fd, 3);
    check_equal(fcntl(fd, F_SETFD, FD_CLOEXEC), 0);
    check_equal(open(self(), O_RDONLY), 4);
    check_equal(lseek(4, 10, SEEK_SET), 10);
    for (int i = 0; i < own_node(); i++)
        usleep(20000);
    for (int i = 0; i < MANY; i++) {
        int number = 100 * i + own_node();

        check_equal(nwrite(&number, sizeof number, (own_node() + 1) % node_count(), PATIENT + i * STEP, NULL), 0);
    }
    execl(self(), "rexec", "child: reads what was sent", NULL);
    check(0, "execl: %s", strerror(errno));
}

static void is_refused_in_its_place(void)
{
    char *no_words[] = {NULL};

    check(execl("none", "none", NULL) == -1 && errno == ENOENT, "none: %d", errno);
    check(execv(self(), no_words) == -1 && errno == EINVAL, "no words: %d", errno);
    check_equal(nsync(BARRIER), 0);
}

/* ---- Errors ---- */

static void make_file(const char *name, mode_t mode)
{
    unlink(name);
    int fd = open(name, O_CREAT | O_WRONLY, mode);

    check(fd >= 0 && write(fd, "#!/bin/sh\n", 10) == 10 && close(fd) == 0, "%s: %s", name, strerror(errno));
}

static void refuses_files(void)
{
    check_equal(rexecl(1, 1, "none", "x", NULL), -N_ENOENT);
    check_equal(rexecl(1, 1, "//df99/rexec", "x", NULL), -N_ENOENT);
    check_equal(rexecl(1, 1, ".", "x", NULL), -N_EACCES);
    make_file("plain.txt", 0644);
    check_equal(rexecl(1, 1, "plain.txt", "x", NULL), -N_EACCES);
    make_file("script", 0755);
    check_equal(rexecl(1, 1, "script", "x", NULL), -N_ENOEXEC);
    check_equal(unlink("plain.txt") + unlink("script"), 0);
}

static void refuses_nodes(void)
{
    check_equal(rexecl(node_count(), 1, self(), "x", NULL), -N_EINVAL);
    check_equal(rexecl(-1, 1, self(), "x", NULL), -N_EINVAL);
    check_equal(rexecl(1, node_count(), self(), "x", NULL), -N_EINVAL);
    check_equal(rexecl(1, 0, self(), "x", NULL), -N_EINVAL);
    check_equal(rexecl(0, 2, self(), "x", NULL), -N_EBUSY);
    check_equal(rexecl(1, 1, self(), NULL), -N_EINVAL);
    check_equal(rwait(own_node()), -N_EINVAL);
    check_equal(rwait(node_count()), -N_EINVAL);
    check_equal(rwait(-1), -N_EINVAL);
}

static void refuses_long_arguments(void)
{
    static char longest[70000];

    memset(longest, 'x', sizeof longest - 1);
    check_equal(rexecl(1, 1, self(), "x", longest, NULL), -N_E2BIG);
}

/* A sound program that needs more memory than a node has: the node refuses it, and the caller continues. */
static void refuses_too_much_memory(void)
{
    struct abi_segment s = {.va = 0x10000, .data = (uint64_t) "x", .file_bytes = 1, .mem_bytes = 1 << 30};
    struct abi_program p = {.entry = 0x10000,
                            .segment = (uint64_t)&s,
                            .segments = 1,
                            .procs = 1,
                            .stack_bytes = 65536,
                            .name = (uint64_t) "large"};

    check_equal(trap_rexec(1, 1, &p), -N_ENOMEM);
    check_equal(trap_rexec(1, 2, &p), -N_ENOMEM);
    s.data = 8;
    check_equal(trap_rexec(1, 1, &p), -N_EFAULT);
    s.va = 0x8000;
    check_equal(trap_rexec(1, 1, &p), -N_ENOEXEC);
    p.arguments = 16, p.arg_bytes = 5;
    s = (struct abi_segment){.va = 0x10000, .data = (uint64_t) "x", .file_bytes = 1, .mem_bytes = 1};
    check_equal(trap_rexec(1, 1, &p), -N_EFAULT);
    p.arguments = (uint64_t) "a\0b", p.arg_bytes = 4, p.argc = 3;
    check_equal(trap_rexec(1, 1, &p), -N_EINVAL);
}

static void refuses(void)
{
    if (own_node() != ROOT)
        return;
    await_all(0);
    refuses_files();
    refuses_nodes();
    refuses_long_arguments();
    refuses_too_much_memory();
    check_equal(load_all("child: answers"), 0);
    check_equal(rexecl(1, 1, self(), "x", NULL), -N_EBUSY);
    ask_all();
    await_all(0);
}

/* Two callers claim the same node: one of them gets it. */
static void wants_one_with_another(void)
{
    int type = BARRIER, other = 1 - own_node(), theirs, target = 2;

    if (own_node() > 1)
        return;
    check_equal(rwait(target), 0);
    check_equal(nwrite(&other, sizeof other, other, ASK, NULL), 0);
    check_equal(nread(&theirs, sizeof theirs, &other, &(int){ASK}, NULL), sizeof theirs);
    int mine = rexecl(target, 1, self(), "rexec", "child: waits", NULL);
    check_equal(nwrite(&mine, sizeof mine, other, type, NULL), 0);
    check_equal(nread(&theirs, sizeof theirs, &other, &type, NULL), sizeof theirs);
    check((mine == 0 && theirs == -N_EBUSY) || (mine == -N_EBUSY && theirs == 0), "%d and %d", mine, theirs);
    if (own_node() == ROOT)
        check_equal(nwrite(NULL, 0, target, ASK, NULL), 0);
    check_equal(rwait(target), 0);
}

static void child_waits(void)
{
    check_equal(nread(NULL, 0, NULL, NULL, NULL), 0);
}

static void ends_by_a_fault(void)
{
    if (own_node() != ROOT)
        return;
    await_all(0);
    check_equal(load_all("child: faults"), 0);
    await_all(0);
    check(0, "it went on");
}

static void loads_for_ever(void)
{
    if (own_node() != ROOT)
        return;
    for (;;) {
        await_all(0);
        check_equal(load_all("child: meets"), 0);
    }
}

static void copies_itself(void)
{
    static char bytes[1 << 20];

    if (own_node() != ROOT)
        return;
    int from = open("rexec", O_RDONLY), to = open(self(), O_CREAT | O_WRONLY, 0755);
    ssize_t n = read(from, bytes, sizeof bytes);
    check(n > 0 && write(to, bytes, (size_t)n) == n && close(to) == 0, "copy: %s", strerror(errno));
    loads_others();
}

static const struct test_case cases[] = {
    {"loads others", loads_others},
    {"one by one, again and again", loads_one_by_one_again_and_again},
    {"statuses", gathers_statuses},
    {"arguments", passes_arguments},
    {"takes its place", takes_its_place},
    {"is refused in its place", is_refused_in_its_place},
    {"errors", refuses},
    {"two want one", wants_one_with_another},
    {"a fault", ends_by_a_fault},
    {"for ever", loads_for_ever},
    {"from a volume", copies_itself},
    {"child: answers", child_answers},
    {"child: has a status", child_has_a_status},
    {"child: counts arguments", child_counts_arguments},
    {"child: faults", child_faults},
    {"child: meets", child_meets},
    {"child: waits", child_waits},
    {"child: reads what was sent", child_reads_what_was_sent},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
