/*
 * The driver of all fuzzing.
 *
 *   fuzz [-c CORPUS] [-k FOLDER] [-r RUNS | -s SECONDS] [-f SEED] [TARGET...]
 *   fuzz TARGET FILE...
 *
 * Gives each target (all, if none is named) RUNS inputs, or as many as it takes in so many seconds; by default, the few
 * of a short check. Inputs that take a new step through the code are changed further (coverage.h). The same SEED makes
 * the same inputs. A target runs in a process of its own; when that ends for an input, the input is written to FOLDER
 * (-k, default "."), and the rest of the campaign of this target is left out. With files, the target gets these and
 * nothing else, as afl-fuzz wants it.
 *
 * Compiled with -DLIBFUZZER=fuzz_NAME, this is that target's entry for libFuzzer instead (clang -fsanitize=fuzzer).
 */
#define _GNU_SOURCE
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/fuzz/coverage.h"
#include "tests/fuzz/mutate.h"

/* A large quarantine for freed memory touches new pages all the time. */
const char *__asan_default_options(void);
const char *__lsan_default_options(void);

const char *__asan_default_options(void)
{
    return "quarantine_size_mb=8:allocator_may_return_null=1";
}

const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}

#ifdef LIBFUZZER
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    LIBFUZZER.take(bytes, n);
    return 0;
}
#else

#define POOL_MOST       4096
#define INPUT_LIMIT_S   20   /* of a processor's time, for one input; a loop without end takes more */
#define FIRST_BYTES_MAX 4096 /* of an input of the corpus that is changed: longer ones are slow */

static const struct fuzz_target *const targets[] = {
    &fuzz_machine_file,  &fuzz_trace,           &fuzz_link,          &fuzz_gdb,           &fuzz_recording,
    &fuzz_star,          &fuzz_nsdisk_messages, &fuzz_nsdisk_caches, &fuzz_nsdisk_images, &fuzz_nsdisk_allocation,
    &fuzz_nsdisk_clients};
#define TARGETS         (sizeof targets / sizeof *targets)

static struct {
    const char *corpus, *keep;
    uint32_t runs, seconds, seed;
} options = {.corpus = "tests/fuzz/corpus", .keep = ".", .seed = 1};

/* What the process of a target and its parent share. */
static struct shared {
    struct input input; /* that is being taken; its bytes are the next field */
    uint8_t bytes[FUZZ_INPUT_BYTES];
    uint32_t seed, runs;
} * shared;

static struct input pool[POOL_MOST];
static size_t pooled;

static _Noreturn void fail(const char *what, const char *name)
{
    fprintf(stderr, "fuzz: %s: %s\n", name, what);
    exit(2);
}

/* ---- The corpus ---- */

static void pool_add(const uint8_t *bytes, size_t n)
{
    if (pooled == POOL_MOST)
        return;
    uint8_t *copy = malloc(n + (n == 0));
    if (!copy)
        fail("no memory", "pool");
    memcpy(copy, bytes, n);
    pool[pooled++] = (struct input){n, copy};
}

static size_t read_input(const char *path, uint8_t bytes[FUZZ_INPUT_BYTES])
{
    FILE *f = fopen(path, "re");

    if (!f)
        fail(strerror(errno), path);
    size_t n = fread(bytes, 1, FUZZ_INPUT_BYTES, f);
    fclose(f);
    return n;
}

static int no_dots(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

/* In the order of their names, whatever the file system's is. */
static void read_corpus(const struct fuzz_target *t)
{
    char folder[256], path[600];
    struct dirent **entry;

    snprintf(folder, sizeof folder, "%s/%s", options.corpus, t->name);
    int n = scandir(folder, &entry, no_dots, alphasort);
    if (n <= 0)
        fail(n < 0 ? strerror(errno) : "there is no corpus", folder);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name);
        pool_add(shared->bytes, read_input(path, shared->bytes));
        free(entry[i]);
    }
    free(entry);
}

/* ---- A campaign ---- */

static void limit_time(void)
{
    const struct itimerval limit = {.it_value.tv_sec = INPUT_LIMIT_S};

    setitimer(ITIMER_PROF, &limit, NULL);
}

/* From memory of exactly its length, so that a read beyond it is caught. */
static void take(const struct fuzz_target *t)
{
    uint8_t *exact = malloc(shared->input.n + (shared->input.n == 0));

    if (!exact)
        fail("no memory", t->name);
    memcpy(exact, shared->bytes, shared->input.n);
    limit_time();
    coverage_begin();
    t->take(exact, shared->input.n);
    free(exact);
}

static void take_next(const struct fuzz_target *t, uint64_t *state)
{
    uint32_t before = coverage_seen();
    const struct input *one = &pool[mutate_below(state, pooled)], *other = &pool[mutate_below(state, pooled)];

    shared->input.n = one->n < FIRST_BYTES_MAX || mutate_below(state, 8) == 0 ? one->n : FIRST_BYTES_MAX;
    memcpy(shared->bytes, one->bytes, shared->input.n);
    mutate(state, &shared->input, other, t->words);
    take(t);
    if (coverage_seen() > before)
        pool_add(shared->bytes, shared->input.n);
}

static bool goes_on(const struct fuzz_target *t, time_t end)
{
    if (options.seconds > 0)
        return time(NULL) < end;
    return shared->runs < (options.runs > 0 ? options.runs : t->short_runs);
}

/* The process of one target. */
static _Noreturn void campaign(const struct fuzz_target *t)
{
    uint64_t state = 0x9e3779b97f4a7c15ull * options.seed + 1;
    time_t end = time(NULL) + options.seconds;

    shared->input = (struct input){0, shared->bytes};
    if (t->take)
        read_corpus(t);
    for (size_t i = 0; t->take && i < pooled; i++) {
        memcpy(shared->bytes, pool[i].bytes, shared->input.n = pool[i].n);
        take(t);
    }
    size_t corpus = pooled;
    for (; goes_on(t, end); shared->runs++) {
        shared->seed = options.seed + shared->runs;
        limit_time();
        if (t->take)
            take_next(t, &state);
        else
            t->play(shared->seed);
    }
    printf("fuzz: %s: %u runs from seed %u, nothing found", t->name, shared->runs, options.seed);
    if (t->take)
        printf("; %u steps, %zu inputs of the corpus and %zu new ones", coverage_seen(), corpus, pooled - corpus);
    printf("\n");
    exit(0);
}

static void keep_input(const struct fuzz_target *t, int status)
{
    char path[600];
    uint32_t sum = 0;

    fprintf(stderr, "fuzz: %s: run %u from seed %u: ", t->name, shared->runs, options.seed);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF)
        fprintf(stderr, "it takes more than %d s of a processor; ", INPUT_LIMIT_S);
    else
        fprintf(stderr, "%s %d; ", WIFSIGNALED(status) ? "signal" : "exit status",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    if (!t->take) {
        fprintf(stderr, "again: fuzz -f %u -r 1 %s\n", shared->seed, t->name);
        return;
    }
    for (size_t i = 0; i < shared->input.n; i++)
        sum = sum * 31 + shared->bytes[i];
    snprintf(path, sizeof path, "%s/%s-%08x", options.keep, t->name, sum);
    FILE *f = fopen(path, "we");
    if (!f || fwrite(shared->bytes, 1, shared->input.n, f) != shared->input.n || fclose(f) != 0)
        fail(strerror(errno), path);
    fprintf(stderr, "the input is %s; again: fuzz %s %s\n", path, t->name, path);
}

/* Returns whether nothing was found. */
static bool run_target(const struct fuzz_target *t)
{
    int status;

    memset(shared, 0, sizeof *shared);
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        fail(strerror(errno), t->name);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        campaign(t);
    }
    waitpid(pid, &status, 0);
    if (status != 0)
        keep_input(t, status);
    return status == 0;
}

/* ---- The command line ---- */

static uint32_t number(const char *text)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    if (*text < '0' || *text > '9' || *end != '\0' || value == 0 || value > UINT32_MAX / 2)
        fail("not a number above 0", text);
    return (uint32_t)value;
}

static const struct fuzz_target *find(const char *name)
{
    for (size_t i = 0; i < TARGETS; i++)
        if (strcmp(targets[i]->name, name) == 0)
            return targets[i];
    fprintf(stderr, "fuzz: %s: no such target; there are", name);
    for (size_t i = 0; i < TARGETS; i++)
        fprintf(stderr, " %s", targets[i]->name);
    fprintf(stderr, "\n");
    exit(2);
}

static void take_options(int argc, char **argv)
{
    for (int c; (c = getopt(argc, argv, "c:k:r:s:f:")) != -1;)
        switch (c) {
        case 'c':
            options.corpus = optarg;
            break;
        case 'k':
            options.keep = optarg;
            break;
        case 'r':
            options.runs = number(optarg);
            break;
        case 's':
            options.seconds = number(optarg);
            break;
        case 'f':
            options.seed = number(optarg);
            break;
        default:
            exit(2);
        }
}

int main(int argc, char **argv)
{
    bool sound = true;

    take_options(argc, argv);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        fail(strerror(errno), "memory");
    if (argc - optind > 1 && access(argv[optind + 1], R_OK) == 0) {
        const struct fuzz_target *t = find(argv[optind]);

        for (int i = optind + 1; i < argc && t->take; i++) {
            shared->input.n = read_input(argv[i], shared->bytes);
            take(t);
        }
        return 0;
    }
    for (int i = optind; i < argc; i++)
        find(argv[i]);
    for (size_t i = 0; i < TARGETS; i++) {
        bool named = optind == argc;

        for (int k = optind; k < argc; k++)
            named = named || targets[i] == find(argv[k]);
        sound = (!named || run_target(targets[i])) && sound;
    }
    return sound ? 0 : 1;
}
#endif
