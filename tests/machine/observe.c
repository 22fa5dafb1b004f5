/* Runs ncube and keeps what must repeat (observe.h), while other processes disturb the host. */
#define _GNU_SOURCE
#include "tests/machine/observe.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_MS      600000
#define PROCESSES_MAX 16
#define THREADS_MAX   1024
#define LOOPS_MAX     16

/* ---- Disturbances ---- */

void disturb_by_load(const struct command *c)
{
    pid_t busy[LOOPS_MAX];
    long loops = sysconf(_SC_NPROCESSORS_ONLN) + 1;

    loops = loops < LOOPS_MAX ? loops : LOOPS_MAX;
    for (long i = 0; i < loops; i++)
        if ((busy[i] = fork()) == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;)
                ;
        }
    command_ends_within(c, LIMIT_MS);
    for (long i = 0; i < loops; i++) {
        kill(busy[i], SIGKILL);
        waitpid(busy[i], NULL, 0);
    }
}

void disturb_by_stops(const struct command *c)
{
    unsigned state = 1;
    pid_t pid[PROCESSES_MAX];

    for (unsigned gap_ms = 100; !command_ends_within(c, 0); gap_ms++) {
        size_t n = command_processes(c, pid, PROCESSES_MAX);

        state = state * 1664525u + 1013904223u;
        pid_t stopped = n > 0 ? pid[(state >> 8) % n] : c->pid;
        kill(stopped, SIGSTOP);
        poll(NULL, 0, (int)((state >> 16) % 15));
        kill(stopped, SIGCONT);
        poll(NULL, 0, (int)((state >> 20) % (gap_ms / 10)));
    }
}

/* Picks one of a process's threads; the process itself if they cannot be listed. */
static pid_t pick_thread(pid_t pid, unsigned number)
{
    char path[64];
    pid_t thread[THREADS_MAX];
    size_t n = 0;

    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    for (struct dirent *e; tasks != NULL && n < THREADS_MAX && (e = readdir(tasks)) != NULL;)
        if (atoi(e->d_name) > 0)
            thread[n++] = atoi(e->d_name);
    if (tasks != NULL)
        closedir(tasks);
    return n > 0 ? thread[number % n] : pid;
}

/* Moves a thread from the one processor that it may use to another one that this process may use. */
static bool move_thread(pid_t thread, const cpu_set_t *all, unsigned number)
{
    cpu_set_t now, other = *all;

    if (sched_getaffinity(thread, sizeof now, &now) != 0)
        return false;
    CPU_XOR(&other, &other, &now);
    CPU_AND(&other, &other, all);
    for (unsigned skip = number % CPU_SETSIZE, i = 0; CPU_COUNT(&other) > 1 && i < CPU_SETSIZE; i++)
        CPU_CLR((skip + i) % CPU_SETSIZE, &other);
    return CPU_COUNT(&other) > 0 && sched_setaffinity(thread, sizeof other, &other) == 0;
}

void disturb_by_moves(const struct command *c)
{
    unsigned state = 1;
    size_t moves = 0;
    pid_t pid[PROCESSES_MAX];
    cpu_set_t all;

    cr_assert_eq(sched_getaffinity(0, sizeof all, &all), 0);
    while (!command_ends_within(c, 1)) {
        size_t n = command_processes(c, pid, PROCESSES_MAX);

        state = state * 1664525u + 1013904223u;
        if (n > 0)
            moves += move_thread(pick_thread(pid[(state >> 8) % n], state >> 16), &all, state >> 12);
    }
    cr_expect(moves > 0 || CPU_COUNT(&all) == 1, "no thread was moved");
}

/* ---- Observing ---- */

struct observed observe_end(struct command *c, const char *folder, const char *trace, bool may_fail)
{
    struct outcome o = command_wait_within(c, LIMIT_MS);

    cr_assert(may_fail || o.status == 0, "status %d: %s", o.status, o.err);
    struct observed seen = {.out = o.out, .out_bytes = o.out_bytes, .status = o.status, .err = may_fail ? o.err : NULL};
    seen.trace = file_read(folder, trace, &seen.trace_bytes);
    if (!may_fail)
        free(o.err);
    return seen;
}

/* The host's object is the last. */
static char *read_stats(const char *folder)
{
    size_t bytes;
    char *text = file_read(folder, "stats", &bytes), *host = strstr(text, "\n \"host\": {");

    cr_assert_not_null(host, "statistics without a host: %s", text);
    *host = '\0';
    return text;
}

static struct observed replay(const char *ncube, const char *recording, const char *option, bool may_fail)
{
    char *folder = folder_new(), *path = build_path(ncube != NULL ? ncube : "bin/ncube");
    char *real = realpath(path, NULL), *stats = format("--stats=%s/stats", folder);
    struct command c =
        command_start((char *[]){"env", "-C", folder, real, "replay", "--trace=trace", stats,
                                 (char *)(option ? option : recording), option ? (char *)recording : NULL, NULL},
                      NULL, 0);
    struct observed seen = observe_end(&c, folder, "trace", may_fail);

    seen.stats = read_stats(folder);
    free(stats);
    free(real);
    free(path);
    folder_remove(folder);
    return seen;
}

struct observed observe_replay(const char *ncube, const char *recording, bool may_fail)
{
    return replay(ncube, recording, NULL, may_fail);
}

struct observed observe_replay_of(const char *ncube, const char *recording, const char *option)
{
    return replay(ncube, recording, option, false);
}

/* Leaves ncube's lines, and those that are set in behind them. Open MPI, which has started the racks, may write others
 * at any time. */
static void keep_own_lines(char *err)
{
    bool own = false;
    char *to = err;

    for (char *line = err, *next; *line; line = next) {
        size_t n = strcspn(line, "\n");

        next = line + n + (line[n] == '\n');
        own =
            strncmp(line, "ncube: ", 7) == 0 || strncmp(line, "node ", 5) == 0 || (own && strncmp(line, "  ", 2) == 0);
        if (own) {
            memmove(to, line, (size_t)(next - line));
            to += next - line;
        }
    }
    *to = '\0';
}

struct observed observe(struct ncube_run r, disturb_fn disturb)
{
    char *folder = folder_new(), *trace = format("%s/trace", folder), *stats = format("%s/stats", folder);

    r.trace = trace;
    r.stats = stats;
    struct command c = ncube_start(&r);
    if (disturb != NULL)
        disturb(&c);
    struct observed seen = observe_end(&c, folder, "trace", r.may_fail);
    seen.stats = read_stats(folder);
    if (seen.err && r.ncube && strstr(r.ncube, "racks"))
        keep_own_lines(seen.err);
    free(stats);
    free(trace);
    folder_remove(folder);
    return seen;
}

void observed_free(struct observed *o)
{
    free(o->out);
    free(o->trace);
    free(o->stats);
    free(o->err);
}

/* ---- Comparing ---- */

static uint64_t hash_on(uint64_t hash, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3ull;
    return hash;
}

uint64_t observed_hash(const struct observed *o)
{
    uint64_t hash = hash_on(0xcbf29ce484222325ull, o->out, o->out_bytes);

    hash = hash_on(hash, o->trace, o->trace_bytes);
    return o->stats != NULL ? hash_on(hash, o->stats, strlen(o->stats)) : hash;
}

/* The line in which two texts part. */
static char *first_difference(const char *what, const char *a, const char *b)
{
    size_t at = 0, line = 0, number = 1;

    for (; a[at] == b[at] && a[at] != '\0'; at++)
        if (a[at] == '\n') {
            line = at + 1;
            number++;
        }
    return format("%s, line %zu: '%.*s', not '%.*s'", what, number, (int)strcspn(b + line, "\n"), b + line,
                  (int)strcspn(a + line, "\n"), a + line);
}

char *observed_difference(const struct observed *a, const struct observed *b)
{
    if (a->trace_bytes != b->trace_bytes || memcmp(a->trace, b->trace, a->trace_bytes) != 0)
        return first_difference("trace", a->trace, b->trace);
    if (a->out_bytes != b->out_bytes || memcmp(a->out, b->out, a->out_bytes) != 0)
        return first_difference("output", a->out, b->out);
    if (a->status != b->status)
        return format("status %d, not %d", b->status, a->status);
    if (a->err != NULL && b->err != NULL && strcmp(a->err, b->err) != 0)
        return first_difference("standard error", a->err, b->err);
    if (a->stats != NULL && b->stats != NULL && strcmp(a->stats, b->stats) != 0)
        return first_difference("statistics", a->stats, b->stats);
    return NULL;
}

void observed_expect_same(const struct observed *a, const struct observed *b, const char *how)
{
    char *difference = observed_difference(a, b);

    cr_expect_null(difference, "%s: %s", how, difference);
    free(difference);
}

void observe_ahead_and_strict(struct ncube_run r, const char *what)
{
    struct observed ahead = observe(r, NULL);
    size_t i = 0;

    while (r.options[i])
        i++;
    r.options[i] = "--sync=strict";
    struct observed strict = observe(r, NULL);
    observed_expect_same(&strict, &ahead, what);
    observed_free(&strict);
    observed_free(&ahead);
}
