/*
 * Runs a study's measurements side by side: a worker process for each, in a folder and a process group of its own. The
 * worker makes images and runs `ncube` a few times, one after the other; this process waits, and reads what they left.
 *
 *   piobench    write, read: each once in full, then up to the calls' begin, and up to their end, for the statistics
 *   monitors    one run
 *
 * Every run begins with images as the one before it found them: blank ones, or for reading what writing has left.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "emu/base/memory.h"
#include "emu/base/oneline.h"
#include "emu/base/signals.h"
#include "emu/tools/disk_tools.h"
#include "emu/config/overrides.h"
#include "emu/disk/volume.h"
#include "emu/study/study.h"

#define IMAGE_BYTES       (32u << 20)
#define IMAGE_BLOCK_BYTES 4096u
#define ARGUMENTS_MAX     (64 + 2 * STUDY_SETTINGS_MAX)
#define PATH_BYTES        4096
#define LIMIT_STATUS      124 /* of ncube run after --limit */

/* ---- In a worker ---- */

static _Noreturn void give_up(const char *folder, const char *why)
{
    char path[PATH_BYTES];

    snprintf(path, sizeof path, "%s/why", folder);
    FILE *f = fopen(path, "w");
    if (f) {
        fprintf(f, "%s\n", why);
        fclose(f);
    }
    _exit(1);
}

static void send_to(int fd, const char *folder, const char *name, const char *suffix)
{
    char path[PATH_BYTES];

    snprintf(path, sizeof path, "%s/%s.%s", folder, name, suffix);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || dup2(file, fd) < 0)
        _exit(127);
    close(file);
}

/* The last line of what a run said on standard error. */
static void read_reason(const char *folder, const char *name, char reason[STUDY_ERROR_BYTES])
{
    char path[PATH_BYTES], line[STUDY_ERROR_BYTES];

    snprintf(path, sizeof path, "%s/%s.err", folder, name);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        snprintf(reason, STUDY_ERROR_BYTES, "%.*s", (int)strcspn(line, "\n"), line);
    if (f)
        fclose(f);
}

/* Runs a program, which is to end with the status `wanted`. */
static void run(char **argv, const char *folder, const char *name, int wanted)
{
    char reason[STUDY_ERROR_BYTES] = "no word of why";
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        send_to(STDOUT_FILENO, folder, name, "out");
        send_to(STDERR_FILENO, folder, name, "err");
        execv(argv[0], argv);
        _exit(127);
    }
    if (child < 0)
        give_up(folder, strerror(errno));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == wanted)
        return;
    read_reason(folder, name, reason);
    give_up(folder, reason);
}

/* The machine gets what the user has set. Returns the new number of arguments. */
static int add_settings(char **argv, int n)
{
    for (uint32_t i = 0; overrides_at(i); i++) {
        argv[n++] = "--set";
        argv[n++] = (char *)overrides_at(i);
    }
    return n;
}

/* One run of the machine. `operation`: NULL for a monitor. `limit_us`: where it is cut off; 0: it is not. */
static void run_machine(const struct study *s, const struct study_measure *m, const char *folder, const char *name,
                        const char *operation, double limit_us)
{
    char dim[16], stats[PATH_BYTES], limit[64], program[PATH_BYTES], *words = memory_copy_text(m->words, SIZE_MAX);
    char *argv[ARGUMENTS_MAX] = {(char *)s->self, "run",          "--cores=1", "-m", m->machine->path,
                                 "--images",      (char *)folder, "-d",        dim};
    int n = 9;

    snprintf(dim, sizeof dim, "%u", m->dim);
    snprintf(program, sizeof program, "%s/%s", s->examples, study_program_names[m->program]);
    if (limit_us > 0) {
        snprintf(stats, sizeof stats, "--stats=%s/%s.json", folder, name);
        snprintf(limit, sizeof limit, "--limit=%.9f", limit_us / 1e6);
        argv[n++] = stats;
        argv[n++] = limit;
    }
    n = add_settings(argv, n);
    argv[n++] = program;
    if (operation) {
        argv[n++] = (char *)operation;
        argv[n++] = (char *)m->nodes;
    }
    for (char *word = strtok(words, " "); word && n < ARGUMENTS_MAX - 1; word = strtok(NULL, " "))
        argv[n++] = word;
    argv[n] = NULL;
    run(argv, folder, name, limit_us > 0 ? LIMIT_STATUS : 0);
    free(words);
}

/* Copies a file and its holes. */
static void copy_file(const char *from, const char *to, const char *folder)
{
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    off_t data = 0, hole, end = in < 0 ? 0 : lseek(in, 0, SEEK_END);
    bool ok = in >= 0 && out >= 0 && ftruncate(out, end) == 0;

    while (ok && (data = lseek(in, data, SEEK_DATA)) >= 0) {
        hole = lseek(in, data, SEEK_HOLE);
        for (off_t at = data; ok && data < hole;)
            ok = copy_file_range(in, &data, out, &at, (size_t)(hole - data), 0) > 0;
    }
    if (!ok || errno != ENXIO) /* after the last data */
        give_up(folder, strerror(errno));
    close(in);
    close(out);
}

enum images { BLANK, WRITTEN, KEEP }; /* KEEP: the current images become the written ones */

static void set_images(const struct study *s, const struct study_measure *m, const char *folder, enum images which)
{
    const struct topo *t = &m->machine->config.topo;
    char image[PATH_BYTES], other[PATH_BYTES];

    for (uint32_t j = 0; j < t->n_io; j++)
        for (uint32_t d = 0; d < t->io[j].ndrives; d++) {
            snprintf(image, sizeof image, "%s/%s.img", folder, t->io[j].drive[d].volume);
            snprintf(other, sizeof other, "%s/%s.kept", folder, t->io[j].drive[d].volume);
            if (which == BLANK)
                snprintf(other, sizeof other, "%s/blank.img", s->work);
            if (which == KEEP && rename(image, other) < 0)
                give_up(folder, strerror(errno));
            if (which != KEEP)
                copy_file(other, image, folder);
        }
}

/* One operation, in full, and cut off where its calls begin and end. */
static void run_side(const struct study *s, const struct study_measure *m, const char *folder, const char *operation,
                     enum images images)
{
    char name[32];
    struct study_side side = {0};

    set_images(s, m, folder, images);
    run_machine(s, m, folder, operation, operation, 0);
    if (images == BLANK)
        set_images(s, m, folder, KEEP);
    study_read_times(&side, folder, operation);
    for (int end = 0; end < 2; end++) {
        snprintf(name, sizeof name, "%s-%s", operation, end ? "end" : "begin");
        set_images(s, m, folder, images);
        run_machine(s, m, folder, name, operation, end ? side.to_us : side.from_us);
    }
}

static _Noreturn void work(const struct study *s, const struct study_measure *m, const char *folder)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = SIGHUP; i <= SIGTERM; i++)
        if (i != SIGKILL)
            signal(i, SIG_DFL);
    if (m->program == STUDY_PIOBENCH) {
        run_side(s, m, folder, "write", BLANK);
        run_side(s, m, folder, "read", WRITTEN);
    } else {
        set_images(s, m, folder, BLANK);
        run_machine(s, m, folder, "write", NULL, 0);
    }
    _exit(0);
}

/* ---- Outside ---- */

struct worker {
    pid_t pid; /* 0: none */
    struct study_measure *measure;
    char folder[PATH_BYTES];
};

struct pool {
    struct study *study;
    struct worker *worker;
    size_t next, done;
    struct timespec begun;
    bool terminal;
};

static void show_progress(const struct pool *p)
{
    struct timespec now;

    if (!p->terminal)
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    fprintf(stderr, "\r\033[K%zu of %zu measurements, %ld s", p->done, p->study->n,
            (long)(now.tv_sec - p->begun.tv_sec));
    if (p->done == p->study->n)
        fputs("\r\033[K", stderr);
}

static int start(struct pool *p, struct worker *w)
{
    struct study *s = p->study;

    w->measure = s->measure[p->next];
    snprintf(w->folder, sizeof w->folder, "%s/%zu", s->work, p->next);
    p->next++;
    if (mkdir(w->folder, 0700) < 0) {
        snprintf(s->error, sizeof s->error, "%s: %s", w->folder, strerror(errno));
        return -1;
    }
    w->pid = fork();
    if (w->pid == 0)
        work(s, w->measure, w->folder);
    if (w->pid < 0) {
        snprintf(s->error, sizeof s->error, "a process for a measurement: %s", strerror(errno));
        w->pid = 0;
        return -1;
    }
    setpgid(w->pid, w->pid); /* whoever comes first */
    return 0;
}

static int explain(struct study *s, const struct worker *w, int status)
{
    char path[PATH_BYTES + 8], why[STUDY_ERROR_BYTES / 2] = "";

    snprintf(path, sizeof path, "%s/why", w->folder);
    FILE *f = fopen(path, "r");
    if (f) {
        if (fgets(why, sizeof why, f))
            why[strcspn(why, "\n")] = '\0';
        fclose(f);
    }
    if (why[0] == '\0')
        snprintf(why, sizeof why, "its process ended without a word (status %d); is the disk of TMPDIR full?", status);
    snprintf(s->error, sizeof s->error, "%s %s %s on %s: %s", study_program_names[w->measure->program],
             w->measure->nodes, w->measure->words, w->measure->machine->name, one_line(why));
    return -1;
}

/* Takes up workers that have ended. */
static int collect(struct pool *p)
{
    int status;

    for (uint32_t i = 0; i < p->study->processors; i++) {
        struct worker *w = &p->worker[i];

        if (w->pid == 0 || waitpid(w->pid, &status, WNOHANG) != w->pid)
            continue;
        w->pid = 0;
        if (status != 0)
            return explain(p->study, w, status);
        if (study_read_outcome(p->study, w->measure, w->folder) < 0)
            return -1;
        study_remove_folder(w->folder);
        p->done++;
        show_progress(p);
    }
    return 0;
}

/* Kills them with the machines that they run, which leave nothing (docs/architecture.md), and awaits all: this process
 * adopts the machines. */
static void end_workers(struct pool *p)
{
    for (uint32_t i = 0; i < p->study->processors; i++)
        if (p->worker[i].pid != 0)
            kill(-p->worker[i].pid, SIGKILL);
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
        ;
}

static int run_pool(struct pool *p)
{
    struct study *s = p->study;

    while (p->done < s->n) {
        for (uint32_t i = 0; i < s->processors && p->next < s->n; i++)
            if (p->worker[i].pid == 0 && start(p, &p->worker[i]) < 0)
                return -1;
        signals_poll(NULL, 0, 1000);
        signals_take_child();
        if (signals_end() != 0)
            return signals_end();
        if (collect(p) < 0)
            return -1;
        show_progress(p);
    }
    return 0;
}

/* The image that every volume begins with. */
static int make_blank(struct study *s)
{
    char path[PATH_BYTES];

    setenv("E2FSPROGS_FAKE_TIME", "820454400", 1); /* the same bytes every time */
    snprintf(path, sizeof path, "%s/blank.img", s->work);
    return disk_tools_create(path, IMAGE_BYTES, IMAGE_BLOCK_BYTES, "", s->error);
}

int study_run_all(struct study *s)
{
    static uint32_t bell;
    struct pool p = {
        .study = s, .worker = memory_new(s->processors, sizeof *p.worker), .terminal = isatty(STDERR_FILENO)};

    signals_install(&bell);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    clock_gettime(CLOCK_MONOTONIC, &p.begun);
    fflush(NULL);
    int result = make_blank(s) < 0 ? -1 : run_pool(&p);
    if (result != 0 && p.terminal)
        fputs("\r\033[K", stderr);
    end_workers(&p);
    free(p.worker);
    return result;
}
