/* Runs commands for tests, finds what they leave behind, and judges how they end (command.h). */
#define _GNU_SOURCE
#include "tests/machine/command.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "emu/base/starved.h"

#define LIMIT_MS  60000
#define POLL_MS   5
#define BEAT_MS   20
#define ROUND_MS  1000
#define QEMU_COMM "qemu-system-ris" /* as the kernel cuts it */

/* ---- Paths ---- */

const char *build_folder(void)
{
    static char folder[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 1);

    cr_assert_gt(n, 0);
    folder[n] = '\0';
    for (int up = 0; up < 3; up++) /* <build>/tests/machine/<program> */
        *strrchr(folder, '/') = '\0';
    return folder;
}

char *build_path(const char *relative)
{
    return format("%s/%s", build_folder(), relative);
}

bool command_other_compiler(void)
{
    char line[512], *text = format("python3 -B images/measure/measure.py %s compiler", build_folder());
    FILE *answer = popen(text, "r");

    cr_assert(answer, "%s", text);
    bool other = fgets(line, sizeof line, answer) && line[0] != '\n';
    cr_assert_eq(pclose(answer), 0, "%s", text);
    free(text);
    return other;
}

double command_bound(double most)
{
    return command_other_compiler() ? most * 9 / 8 : most;
}

char *format(const char *text, ...)
{
    va_list arguments;
    char *result;

    va_start(arguments, text);
    cr_assert_geq(vasprintf(&result, text, arguments), 0);
    va_end(arguments);
    return result;
}

/* ---- Commands ---- */

static int memory_file(const void *content, size_t bytes)
{
    int fd = memfd_create("test", MFD_CLOEXEC);

    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, content, bytes), (ssize_t)bytes);
    cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

/* mke2fs and its kin are where users do not look for commands. */
static void add_system_folders(void)
{
    const char *path = getenv("PATH");

    setenv("PATH", format("%s:/usr/sbin:/sbin", path != NULL ? path : "/usr/bin:/bin"), 1);
}

static _Noreturn void become(char *const argv[], const char *mark, int in, int out, int err)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nothing running */
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    putenv((char *)mark);
    add_system_folders();
    execvp(argv[0], argv);
    dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

static struct command start(char *const argv[], int in, int out)
{
    static unsigned number;
    struct command c = {.out_fd = out < 0 ? memory_file("", 0) : -1, .err_fd = memory_file("", 0)};

    snprintf(c.mark, sizeof c.mark, "NCUBE_TEST=%d.%u", (int)getpid(), number++);
    c.pid = fork();
    cr_assert_geq(c.pid, 0);
    if (c.pid == 0)
        become(argv, c.mark, in, out < 0 ? c.out_fd : out, c.err_fd);
    return c;
}

struct command command_start(char *const argv[], const void *input, size_t input_bytes)
{
    int in = memory_file(input_bytes > 0 ? input : "", input_bytes);
    struct command c = start(argv, in, -1);

    close(in);
    return c;
}

struct command command_start_on(char *const argv[], struct streams_of_test streams)
{
    int in = streams.in < 0 ? memory_file("", 0) : streams.in;
    struct command c = start(argv, in, streams.out);

    if (streams.in < 0)
        close(in);
    return c;
}

int command_patience(int ms)
{
    return getenv("TESTS_BESIDE") ? 10 * ms : ms;
}

bool command_ends_within(const struct command *c, int limit_ms)
{
    int fd = (int)syscall(SYS_pidfd_open, c->pid, 0);

    cr_assert_geq(fd, 0, "pidfd_open: %s", strerror(errno));
    struct pollfd end = {.fd = fd, .events = POLLIN};
    int n = poll(&end, 1, limit_ms);
    close(fd);
    return n == 1;
}

/* Returns the content of a file in memory, without moving its writer's offset. */
static char *read_content(int fd, size_t *bytes)
{
    struct stat st;

    cr_assert_eq(fstat(fd, &st), 0);
    char *text = malloc((size_t)st.st_size + 1);
    cr_assert_not_null(text);
    cr_assert_eq(pread(fd, text, (size_t)st.st_size, 0), st.st_size);
    text[st.st_size] = '\0';
    *bytes = (size_t)st.st_size;
    return text;
}

void command_await_lines(const struct command *c, size_t lines)
{
    size_t bytes, seen = 0;

    while (seen < lines && !command_ends_within(c, POLL_MS)) {
        char *text = read_content(c->out_fd, &bytes);

        seen = count_lines(text);
        free(text);
    }
}

void command_await_heartbeat(const struct command *c, const char *text)
{
    bool said = false;
    size_t before, bytes;

    free(read_content(c->err_fd, &before));
    for (int waited_ms = 0; !said; waited_ms += BEAT_MS) {
        kill(c->pid, SIGUSR1);
        bool ended = command_ends_within(c, BEAT_MS);
        char *err = read_content(c->err_fd, &bytes);
        said = strstr(err + before, text) != NULL;
        cr_assert(said || (!ended && waited_ms < LIMIT_MS), "no heartbeat with '%s': %s", text, err);
        free(err);
    }
}

static char *read_all(int fd, size_t *bytes)
{
    if (fd < 0)
        return strdup("");
    char *text = read_content(fd, bytes);
    close(fd);
    return text;
}

struct outcome command_run(char *const argv[], const char *input)
{
    struct command c = command_start(argv, input, input != NULL ? strlen(input) : 0);

    return command_wait(&c);
}

void outcome_free(struct outcome *o)
{
    free(o->out);
    free(o->err);
}

void command_must_succeed(char *const argv[])
{
    struct outcome o = command_run(argv, NULL);

    cr_assert_eq(o.status, 0, "%s ended with %d:\n%s%s", argv[0], o.status, o.out, o.err);
    outcome_free(&o);
}

/* ---- Processes ---- */

static size_t read_process_file(pid_t pid, const char *name, char *text, size_t bytes)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, bytes - 1);

    text[n > 0 ? n : 0] = '\0';
    if (fd >= 0)
        close(fd);
    return n > 0 ? (size_t)n : 0;
}

/* A process that has ended, but not yet been waited for, has no environment. */
static bool has_mark(pid_t pid, const char *mark)
{
    static char environment[65536];
    size_t n = read_process_file(pid, "environ", environment, sizeof environment);

    for (size_t at = 0; at < n; at += strlen(environment + at) + 1)
        if (strcmp(environment + at, mark) == 0)
            return true;
    return false;
}

size_t command_processes(const struct command *c, pid_t *pid, size_t most)
{
    DIR *proc = opendir("/proc");
    size_t n = 0;

    cr_assert_not_null(proc);
    for (struct dirent *e; n < most && (e = readdir(proc)) != NULL;)
        if (atoi(e->d_name) > 0 && has_mark(atoi(e->d_name), c->mark))
            pid[n++] = atoi(e->d_name);
    closedir(proc);
    return n;
}

static bool is_qemu(pid_t pid)
{
    char comm[32];

    read_process_file(pid, "comm", comm, sizeof comm);
    return strncmp(comm, QEMU_COMM, strlen(QEMU_COMM)) == 0;
}

pid_t command_find_qemu(const struct command *c)
{
    pid_t pid[16];

    while (!command_ends_within(c, POLL_MS)) {
        size_t n = command_processes(c, pid, 16);

        for (size_t i = 0; i < n; i++)
            if (is_qemu(pid[i]))
                return pid[i];
    }
    return 0;
}

static bool is_inside(pid_t pid)
{
    char path[64], words[4096];

    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    size_t n = fread(words, 1, sizeof words, f);
    fclose(f);
    return memmem(words, n, ",inside=", strlen(",inside=")) != NULL;
}

pid_t command_find_machine(const struct command *c)
{
    pid_t qemu = command_find_qemu(c);

    return qemu != 0 && is_inside(qemu) ? qemu : c->pid;
}

/* A process gives its memory back before its files, and has no environment then. */
static bool is_ending(pid_t pid)
{
    enum { EXITING = 4 };
    char text[1024], state = 'Z';
    unsigned flags = 0;
    long threads = 0;

    read_process_file(pid, "stat", text, sizeof text);
    const char *rest = strrchr(text, ')');
    if (rest)
        sscanf(rest, ") %c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld", &state, &flags,
               &threads);
    return (flags & EXITING) != 0 && (state != 'Z' || threads > 1);
}

/* Perhaps of another command: whose it was, nothing says any more. */
static bool a_qemu_is_ending(void)
{
    DIR *proc = opendir("/proc");
    bool any = false;

    cr_assert_not_null(proc);
    for (struct dirent *e; !any && (e = readdir(proc)) != NULL;)
        any = atoi(e->d_name) > 0 && is_qemu(atoi(e->d_name)) && is_ending(atoi(e->d_name));
    closedir(proc);
    return any;
}

void command_expect_nothing_left(const struct command *c, const char *what)
{
    pid_t pid[16];
    size_t n = command_processes(c, pid, 16);

    for (int waited_ms = 0; (n > 0 || a_qemu_is_ending()) && waited_ms < END_MS; waited_ms += POLL_MS) {
        poll(NULL, 0, POLL_MS);
        n = command_processes(c, pid, 16);
    }
    for (size_t i = 0; i < n; i++) {
        cr_expect_fail("%s: process %d is left", what, (int)pid[i]);
        kill(pid[i], SIGKILL);
    }
}

/* ---- Its end ---- */

/* The processor time of all its processes; *can_run: one of them runs, or waits for a processor. */
static int64_t processor_ms(const struct command *c, bool *can_run)
{
    pid_t pid[64];
    size_t n = command_processes(c, pid, 64);
    int64_t ms = 0;

    *can_run = false;
    for (size_t i = 0; i < n; i++) {
        struct timespec t = {0};
        clockid_t clock;

        if (clock_getcpuclockid(pid[i], &clock) == 0)
            clock_gettime(clock, &t);
        ms += t.tv_sec * 1000 + t.tv_nsec / 1000000;
        *can_run |= starved_is_runnable(pid[i]);
    }
    return ms;
}

/* A while in which it can run counts as the processor time that it gets then: others may have had the rest. */
static bool ends_within_own_time(const struct command *c, int limit_ms)
{
    bool can_run;

    if (command_ends_within(c, ROUND_MS)) /* most do: nothing has been looked for in /proc, which takes 2 ms */
        return true;
    int64_t before = processor_ms(c, &can_run);
    for (int64_t spent = 0; spent < limit_ms;) {
        if (command_ends_within(c, ROUND_MS))
            return true;
        int64_t now = processor_ms(c, &can_run), used = now - before;
        spent += !can_run || used > ROUND_MS ? ROUND_MS : used > 0 ? used : 1;
        before = now;
    }
    return false;
}

struct outcome command_wait_within(struct command *c, int limit_ms)
{
    struct outcome o = {0};
    size_t err_bytes;
    int status;
    bool ended = ends_within_own_time(c, limit_ms);

    if (!ended)
        kill(c->pid, SIGTERM);
    if (!ended && !command_ends_within(c, command_patience(5000)))
        kill(c->pid, SIGKILL);
    cr_assert_eq(waitpid(c->pid, &status, 0), c->pid);
    o.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    o.out = read_all(c->out_fd, &o.out_bytes);
    o.err = read_all(c->err_fd, &err_bytes);
    cr_assert(ended, "it does not end; so far:\n%s%s", o.out, o.err);
    return o;
}

struct outcome command_wait(struct command *c)
{
    return command_wait_within(c, command_patience(LIMIT_MS));
}

/* ---- ncube run ---- */

struct arguments {
    const char *argv[24 + RUN_ARGS];
    size_t argc;
};

static void add(struct arguments *a, const char *text)
{
    a->argv[a->argc++] = text;
}

static void add_option(struct arguments *a, const char *name, const char *value)
{
    if (value == NULL)
        return;
    add(a, name);
    add(a, value);
}

static bool is_built(const char *word)
{
    return strncmp(word, "guest/", 6) == 0 || strncmp(word, "examples/", 9) == 0;
}

static struct arguments arguments_of(const struct ncube_run *r)
{
    struct arguments a = {0};

    if (r->on_cpu != NULL)
        for (int i = 0; i < 3; i++)
            add(&a, (const char *[]){"taskset", "-c", r->on_cpu}[i]);
    add(&a, build_path(r->ncube ? r->ncube : "bin/ncube"));
    add(&a, "run");
    add_option(&a, "-d", r->dim);
    add_option(&a, "-m", r->machine);
    add_option(&a, "--images", r->images);
    add_option(&a, "--serve", r->serve);
    add_option(&a, "--trace", r->trace);
    add_option(&a, "--limit", r->limit);
    if (r->stats != NULL)
        add(&a, format("--stats=%s", r->stats));
    for (int i = 0; i < 3 && r->options[i] != NULL; i++)
        add(&a, r->options[i]);
    if (r->program != NULL)
        add(&a, strchr("/.", r->program[0]) != NULL ? r->program : build_path(r->program));
    for (int i = 0; i < RUN_ARGS && r->args[i] != NULL; i++)
        add(&a, is_built(r->args[i]) ? build_path(r->args[i]) : r->args[i]);
    return a;
}

struct command ncube_start(const struct ncube_run *r)
{
    struct arguments a = arguments_of(r);
    size_t bytes = r->input_bytes > 0 || r->input == NULL ? r->input_bytes : strlen(r->input);

    return command_start((char *const *)a.argv, r->input, bytes);
}

struct command ncube_start_on(const struct ncube_run *r, struct streams_of_test streams)
{
    struct arguments a = arguments_of(r);

    return command_start_on((char *const *)a.argv, streams);
}

struct outcome ncube_run(const struct ncube_run *r)
{
    struct command c = ncube_start(r);

    return command_wait(&c);
}

void outcome_expect(const struct outcome *o, const char *name, int status, const char *out, const char *err)
{
    cr_expect_eq(o->status, status, "%s: status %d, not %d; %s", name, o->status, status, o->err);
    if (out != NULL)
        cr_expect_str_eq(o->out, out, "%s: it printed: %s", name, o->out);
    cr_expect(err[0] != '\0' ? strstr(o->err, err) != NULL : o->err[0] == '\0',
              "%s: on standard error, instead of '%s': %s", name, err, o->err);
}

void outcome_must_be(struct outcome o, const char *name, int status, const char *out, const char *err)
{
    outcome_expect(&o, name, status, out, err);
    outcome_free(&o);
}

size_t count_lines(const char *text)
{
    size_t n = 0;

    while (*text != '\0')
        n += *text++ == '\n';
    return n;
}

/* ---- Folders and images ---- */

char *folder_new(void)
{
    char *folder = strdup("/tmp/ncube-test-XXXXXX");

    cr_assert_not_null(mkdtemp(folder));
    return folder;
}

void folder_remove(char *folder)
{
    command_must_succeed((char *[]){"rm", "-rf", folder, NULL});
    free(folder);
}

static void image_path(char *path, size_t bytes, const char *folder, int k)
{
    snprintf(path, bytes, "%s/df%02d.img", folder, k);
}

char *folder_with_images(int count, int kilobytes, int block_bytes)
{
    char *folder = folder_new();

    for (int k = 0; k < count; k++) {
        char path[PATH_MAX], size[32], block[32];

        image_path(path, sizeof path, folder, k);
        snprintf(size, sizeof size, "%dk", kilobytes);
        snprintf(block, sizeof block, "%d", block_bytes);
        command_must_succeed((char *[]){"mke2fs", "-q", "-t", "ext2", "-b", block, "-F", path, size, NULL});
    }
    return folder;
}

void images_check(const char *folder, int count)
{
    for (int k = 0; k < count; k++) {
        char path[PATH_MAX];

        image_path(path, sizeof path, folder, k);
        command_must_succeed((char *[]){"e2fsck", "-fn", path, NULL});
    }
}

void images_repair(const char *folder, int count)
{
    for (int k = 0; k < count; k++) {
        char path[PATH_MAX];

        image_path(path, sizeof path, folder, k);
        struct outcome o = command_run((char *[]){"e2fsck", "-p", path, NULL}, "");
        cr_expect_leq(o.status, 1, "e2fsck -p: %d, %s%s", o.status, o.out, o.err);
        outcome_free(&o);
    }
    images_check(folder, count);
}

static int open_in(const char *folder, const char *name, int flags)
{
    char *path = format("%s/%s", folder, name);
    int fd = open(path, flags | O_CLOEXEC, 0666);

    cr_assert_geq(fd, 0, "%s: %s", path, strerror(errno));
    free(path);
    return fd;
}

void file_write(const char *folder, const char *name, const void *content, size_t bytes)
{
    int fd = open_in(folder, name, O_WRONLY | O_CREAT | O_TRUNC);

    cr_assert_eq(write(fd, content, bytes), (ssize_t)bytes);
    close(fd);
}

char *file_read(const char *folder, const char *name, size_t *bytes)
{
    return read_all(open_in(folder, name, O_RDONLY), bytes);
}

char *machine_file(const char *folder, int dim, int volumes, const char *more)
{
    char *path = format("%s/machine.conf", folder);
    FILE *f = fopen(path, "we");

    cr_assert_not_null(f);
    fprintf(f, "dim = %d;\nfront_end = { si = 0; };\n%s\n", dim, more);
    for (int i = 0; i < volumes; i++)
        fprintf(f, "%s{ index = %d; si = [%d]; drives = ( { volume = \"df%02d\"; image = \"df%02d.img\"; } ); }%s",
                i == 0 ? "boards = ( { number = 3; io_nodes = (\n    " : ",\n    ", i, (1 << dim) - 1 - i, i, i,
                i == volumes - 1 ? " ); } );\n" : "");
    cr_assert_eq(fclose(f), 0);
    return path;
}

char *machine_file_one_node(const char *folder, int dim, int volumes, const char *settings, const char *more)
{
    return machine_file_of_drives(folder, dim, volumes, settings, "", more);
}

char *machine_file_of_drives(const char *folder, int dim, int volumes, const char *settings, const char *drive,
                             const char *more)
{
    char *path = format("%s/machine.conf", folder);
    FILE *f = fopen(path, "we");

    cr_assert_not_null(f);
    fprintf(f, "dim = %d;\nfront_end = { si = 0; };\n%s\nboards = ( { number = 3; io_nodes = (\n", dim, more);
    fprintf(f, "    { index = 0; si = [%d]; %s\n      drives = (", (1 << dim) - 1, settings);
    for (int i = 0; i < volumes; i++)
        fprintf(f, "%s{ volume = \"df%02d\"; image = \"df%02d.img\"; %s }", i == 0 ? "" : ", ", i, i, drive);
    fprintf(f, "); } ); } );\n");
    cr_assert_eq(fclose(f), 0);
    return path;
}

/* ---- Tables ---- */

bool is_drawn(size_t i, size_t of)
{
    const char *draw = getenv("TESTS_DRAW");

    return draw == NULL || strcmp(draw, "all") == 0 || (i + strtoul(draw, NULL, 10)) % of == 0;
}

struct criterion_test_params table_rows(size_t n, size_t of)
{
    size_t *row = cr_malloc(n * sizeof *row), rows = 0;

    for (size_t i = 0; i < n; i++)
        if (is_drawn(i, of))
            row[rows++] = i;
    return cr_make_param_array(size_t, row, rows);
}
