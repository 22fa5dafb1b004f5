/*
 * Calls that change names of a striped volume, killed in their midst: the machine ends, the node dies, or all drives do
 * as in a power cut. A run that is not killed tells when messages go between the node and the volumes, and when drives
 * work; the same run is then killed just after each of those moments. Then e2fsck judges every image, and a new run
 * finds the call done or not, or completes it (tests/guest/striped_kills.c).
 *
 * KILL_EVERY=N takes each Nth moment; 1 with `make striped-kills`. KILL_CALL=NAME takes one call only.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/command.h"
#include "vertex/contract/machine.h"

TestSuite(striped_kills, .timeout = 7200);

#define PROGRAM      "guest/striped_kills"
#define VOLUMES      3
#define KILOBYTES    900 /* fewer blocks than e2fsck wants in a journal, by which a folder moves */
#define CALLER       4
#define FIRST_IO     0x4000
#define FRONT_END    0x8000
#define MOMENTS_MAX  2000
#define SAMPLE_EVERY 131
#define WAITS_US     2000000 /* until a run with a dead node ends */
#define NEVER_US     2000000000ul

#define STRIPED "striped = ( { volume = \"big\"; over = [\"df00\", \"df01\", \"df02\"]; map = \"cyclic 1000 3\"; } );\n"

enum kill { MACHINE, NODE, POWER, KILLS };

static const char *const kills[KILLS] = {"the machine", "the node", "the power"};

static const char *const calls[] = {"create",
                                    "unlink",
                                    "rename",
                                    "rename onto a file",
                                    "mkdir",
                                    "rmdir",
                                    "rename of a folder",
                                    "rename of a folder onto one"};

static void write_machine(const char *folder, enum kill kill, unsigned long at_us)
{
    char *faults = kill == NODE ? format("{ node = %d; from_us = %lu; }", CALLER, at_us)
                                : format("{ drive = \"df00\"; from_us = %lu; }, { drive = \"df01\"; from_us = %lu; }, "
                                         "{ drive = \"df02\"; from_us = %lu; }",
                                         at_us, at_us, at_us);
    char *more = format(STRIPED "faults = ( %s );\n", faults);

    free(machine_file(folder, 3, VOLUMES, more));
    free(more);
    free(faults);
}

static struct outcome run(const char *folder, const char *dim, const char *part, const char *call, const char *limit,
                          const char *trace)
{
    char *machine = format("%s/machine.conf", folder);
    struct outcome o = ncube_run(&(struct ncube_run){.dim = dim,
                                                     .machine = machine,
                                                     .program = PROGRAM,
                                                     .args = {part, "//big/", call},
                                                     .limit = limit,
                                                     .trace = trace});

    free(machine);
    return o;
}

static void must_pass(const char *folder, const char *part, const char *call, const char *what)
{
    struct outcome o = run(folder, "0", part, call, NULL, NULL);

    cr_expect(o.status == 0 && strcmp(o.out, "passed\n") == 0, "%s: %s: status %d, %s%s", what, part, o.status, o.out,
              o.err);
    outcome_free(&o);
}

/* ---- Moments ---- */

/* Of a line of the trace: a message between the caller and a volume, or a command of a drive. */
static bool is_moment(unsigned node, const char *event)
{
    unsigned to;
    bool sends = sscanf(event, "send to=%u", &to) == 1;

    if (node == CALLER)
        return sends && to >= FIRST_IO && to < FRONT_END;
    return node >= FIRST_IO && node < FRONT_END && (sends ? to == CALLER : strncmp(event, "disk", 4) == 0);
}

/* The microseconds after them, from the caller's first message until it exits. Returns their number. */
static int read_moments(const char *folder, unsigned long *us)
{
    size_t bytes;
    char *text = file_read(folder, "trace", &bytes), *rest = text;
    bool has_begun = false, has_ended = false;
    int n = 0;

    for (char *line; !has_ended && (line = strsep(&rest, "\n")) != NULL && n < MOMENTS_MAX;) {
        uint64_t cycles;
        unsigned node;
        int at;

        if (sscanf(line, "%" SCNu64 " %u %n", &cycles, &node, &at) != 2)
            continue;
        has_ended = node == CALLER && strncmp(line + at, "exit", 4) == 0;
        if (!is_moment(node, line + at) || (node != CALLER && !has_begun))
            continue;
        has_begun = true;
        unsigned long after = cycles / CYCLES_PER_US + 1;
        if (n == 0 || us[n - 1] != after)
            us[n++] = after;
    }
    free(text);
    cr_assert(has_ended && n > 4 && n < MOMENTS_MAX, "%d moments", n);
    return n;
}

/* Runs the call to its end. */
static int find_moments(const char *folder, const char *call, unsigned long *us)
{
    char *trace = format("%s/trace", folder);
    struct outcome o = run(folder, "3", "call", call, NULL, trace);

    cr_assert(o.status == 0 && strcmp(o.out, "passed\n") == 0, "%s: status %d, %s%s", call, o.status, o.out, o.err);
    outcome_free(&o);
    images_check(folder, VOLUMES);
    free(trace);
    return read_moments(folder, us);
}

/* ---- Kills ---- */

static void copy_images(const char *from, const char *to)
{
    for (int k = 0; k < VOLUMES; k++) {
        char *image = format("%s/df%02d.img", from, k);

        command_must_succeed((char *[]){"cp", image, (char *)to, NULL});
        free(image);
    }
}

static void kill_at(const char *before, const char *call, enum kill kill, unsigned long us)
{
    char *what = format("%s, %s killed at %lu us", call, kills[kill], us), *folder = folder_new();
    unsigned long end_us = kill == MACHINE ? us : us + WAITS_US;
    char *limit = format("%lu.%06lu", end_us / 1000000, end_us % 1000000);

    copy_images(before, folder);
    write_machine(folder, kill, kill == MACHINE ? NEVER_US : us);
    struct outcome o = run(folder, "3", "call", call, limit, NULL);
    if (kill == MACHINE)
        cr_expect_eq(o.status, 124, "%s: status %d, %s%s", what, o.status, o.out, o.err);
    /* No server has ended in order, as the limit ends also a run with a dead node (docs/nsdisk.md). */
    images_repair(folder, VOLUMES);
    write_machine(folder, MACHINE, NEVER_US);
    must_pass(folder, "after", call, what);
    images_check(folder, VOLUMES);
    outcome_free(&o);
    free(limit);
    free(what);
    folder_remove(folder);
}

DrawnRowTest(striped_kills, leave_a_call_done_or_not_or_to_be_completed, calls, 2)
{
    static unsigned long us[MOMENTS_MAX];
    const char *call = calls[*row], *every_text = getenv("KILL_EVERY"), *only = getenv("KILL_CALL");

    if (only && *only != '\0' && strcmp(only, call) != 0)
        return;
    char *before = folder_with_images(VOLUMES, KILOBYTES, 1024), *trial = folder_new();
    int every = every_text ? atoi(every_text) : SAMPLE_EVERY;

    write_machine(before, MACHINE, NEVER_US);
    write_machine(trial, MACHINE, NEVER_US);
    must_pass(before, "before", call, call);
    copy_images(before, trial);
    int moments = find_moments(trial, call, us);
    for (int kill = 0; kill < KILLS; kill++)
        for (int i = kill * every / KILLS; i < moments; i += every)
            kill_at(before, call, (enum kill)kill, us[i]);
    if (every == 1)
        printf("%s: %d moments, %d kills\n", call, moments, KILLS * moments);
    folder_remove(trial);
    folder_remove(before);
}
