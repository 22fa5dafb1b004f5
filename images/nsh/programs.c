/*
 * Pipelines (programs.h). The programs get their nodes, the largest first, so that no gap is left; then they are
 * started from left to right, with pipes between them (rexecvf(3n)); then the shell waits for all nodes. Commands of
 * the shell's own run on its node and are no part of a pipeline.
 */
#include "images/nsh/programs.h"

#include <errno.h>
#include <fcntl.h>
#include <n_errno.h>
#include <rexec.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "images/nsh/nodes.h"
#include "images/nsh/parse.h"

enum { NOT_RUN = 126, NOT_FOUND = 127 };

bool run_exits;

static int complain(const char *name, const char *why)
{
    fprintf(stderr, "nsh: %s: %s\n", name, why);
    return 1;
}

/* ---- The shell's own commands ---- */

static int run_cd(const struct command *c, int status)
{
    (void)status;
    const char *to = c->argc > 1 ? c->argv[1] : "/";

    return chdir(to) == 0 ? 0 : complain(to, strerror(errno));
}

static int run_exit(const struct command *c, int status)
{
    char *end = "";
    long value = c->argc > 1 ? strtol(c->argv[1], &end, 10) : status;

    if (*end || (c->argc > 1 && end == c->argv[1]))
        return complain(c->argv[1], "exit takes a number");
    run_exits = true;
    return (int)(value & 0xff);
}

static int run_echo(const struct command *c, int status)
{
    (void)status;
    for (int i = 1; i < c->argc; i++)
        printf("%s%s", i > 1 ? " " : "", c->argv[i]);
    putchar('\n');
    return fflush(stdout) == 0 ? 0 : 1;
}

static int run_true(const struct command *c, int status)
{
    (void)c, (void)status;
    return 0;
}

static int run_false(const struct command *c, int status)
{
    (void)c, (void)status;
    return 1;
}

static const struct builtin {
    const char *name;
    int (*run)(const struct command *c, int status);
} builtins[] = {
    {"cd", run_cd}, {"exit", run_exit}, {"echo", run_echo}, {"true", run_true}, {"false", run_false}, {":", run_true},
};

static const struct builtin *find_builtin(const struct command *c)
{
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (strcmp(builtins[i].name, c->argv[0]) == 0)
            return &builtins[i];
    return NULL;
}

/* ---- Programs ---- */

struct program {
    struct command *command;
    int nodes, first; /* first -1: no nodes */
    int in, out;      /* ends of pipes of its own; -1: none */
    char path[1024];
    bool runs;
    int status;
};

/* A name without a slash is one of the working directory, or of /bin. */
static void find_program(struct program *p)
{
    const char *name = p->command->argv[0];

    snprintf(p->path, sizeof p->path, "%s", name);
    if (!strchr(name, '/') && access(name, F_OK) < 0)
        snprintf(p->path, sizeof p->path, "/bin/%s", name);
    if (access(p->path, F_OK) == 0)
        return;
    p->status = NOT_FOUND;
    complain(name, strchr(name, '/') ? strerror(errno) : "no such program here or in /bin");
}

/* Gives nodes to all, the largest first. */
static void place(struct program *program, int n)
{
    for (;;) {
        struct program *largest = NULL;

        for (int i = 0; i < n; i++)
            if (program[i].status == 0 && program[i].first < 0 && (!largest || program[i].nodes > largest->nodes))
                largest = &program[i];
        if (!largest)
            return;
        largest->first = nodes_take(largest->nodes);
        if (largest->first >= 0)
            continue;
        largest->status = NOT_RUN;
        fprintf(stderr,
                "nsh: %s: no subcube of %d node%s is free of the job's %d, of which the shell has one; give the "
                "job more\n",
                largest->command->argv[0], largest->nodes, largest->nodes == 1 ? "" : "s", nodes_all());
    }
}

static int add_path(struct rexec_fd *fds, int n, int fd, const struct redirection *r)
{
    static const int writes = O_WRONLY | O_CREAT;

    if (!r->path)
        return n;
    fds[n] = (struct rexec_fd){.fd = fd,
                               .end = -1,
                               .path = r->path,
                               .flags = fd == 0      ? O_RDONLY
                                        : r->appends ? writes | O_APPEND
                                                     : writes | O_TRUNC,
                               .mode = 0666};
    return n + 1;
}

/* A redirection goes before the pipe. */
static int add_fd(struct rexec_fd *fds, int n, int fd, int end, const struct redirection *r)
{
    if (r->path || end < 0)
        return add_path(fds, n, fd, r);
    fds[n] = (struct rexec_fd){.fd = fd, .end = end};
    return n + 1;
}

static void start(struct program *p)
{
    const struct command *c = p->command;
    struct rexec_fd fds[3];
    int n = add_fd(fds, 0, 0, p->in, &c->to[0]);

    n = add_fd(fds, n, 1, p->out, &c->to[1]);
    n = add_path(fds, n, 2, &c->to[2]);
    int error = rexecvf(p->first, p->nodes, p->path, c->argv, fds, n);
    p->runs = error >= 0;
    if (error >= 0)
        return;
    p->status = NOT_RUN;
    for (int fd = 0; fd < 3; fd++) /* one of the files may be the cause */
        if (c->to[fd].path && access(c->to[fd].path, fd == 0 ? R_OK : W_OK) < 0) {
            complain(c->to[fd].path, strerror(errno));
            return;
        }
    complain(c->argv[0], n_strerror(error));
}

/* What was not given to the program. */
static void close_ends(struct program *p)
{
    if (p->in >= 0 && (!p->runs || p->command->to[0].path))
        close(p->in);
    if (p->out >= 0 && (!p->runs || p->command->to[1].path))
        close(p->out);
}

static void await(struct program *p)
{
    for (int i = 0; p->runs && i < p->nodes; i++) {
        int status = rwait(p->first + i);

        if (status > p->status)
            p->status = status;
    }
    if (p->first >= 0)
        nodes_release(p->first, p->nodes);
}

static void make_pipes(struct program *program, int n)
{
    for (int i = 0; i + 1 < n; i++) {
        int ends[2];

        if (pipe(ends) < 0) {
            program[i].status = NOT_RUN;
            complain(program[i].command->argv[0], strerror(errno));
            continue;
        }
        program[i].out = ends[1];
        program[i + 1].in = ends[0];
    }
}

static int run_programs(struct pipeline *p)
{
    int n = p->commands, status;
    struct program *program = calloc((size_t)n, sizeof *program);

    if (!program)
        return complain("a pipeline", "no memory");
    for (int i = 0; i < n; i++) {
        struct command *c = &p->command[i];

        program[i] = (struct program){.command = c, .nodes = c->nodes ? c->nodes : 1, .first = -1, .in = -1, .out = -1};
        find_program(&program[i]);
    }
    place(program, n);
    make_pipes(program, n);
    for (int i = 0; i < n; i++) {
        if (program[i].status == 0)
            start(&program[i]);
        close_ends(&program[i]);
    }
    for (int i = 0; i < n; i++)
        await(&program[i]);
    status = program[n - 1].status;
    free(program);
    return status;
}

/* ---- All ---- */

int run_pipeline(struct pipeline *p, int status)
{
    const struct builtin *b = find_builtin(&p->command[0]);

    if (!b)
        return run_programs(p);
    const struct command *c = &p->command[0];
    if (p->commands > 1 || c->nodes || c->to[0].path || c->to[1].path || c->to[2].path) {
        complain(c->argv[0], "a built-in command takes no pipe, no redirection and no nodes");
        return NOT_RUN;
    }
    return b->run(c, status);
}
