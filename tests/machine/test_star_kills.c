/*
 * A parallel file is being written when something ends: the machine, a compute node, an I/O node, a drive, all drives,
 * or the room on the volumes. The program gives up with one line that names the file once, or the machine says what has
 * ended; nothing hangs; a file that was closed before stays whole; this one is whole, or refused, and can be written
 * again (tests/guest/star_kills.c). What "ncube star repair" makes of it has each stream's first items, in order.
 *
 * STAR_KILLS=N: at so many moments of the run; `make star-kills` takes 100.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/command.h"
#include "vertex/contract/machine.h"

TestSuite(star_kills, .timeout = 7200);

#define PROGRAM   "guest/star_kills"
#define VOLUMES   3
#define KILOBYTES 600
#define MOMENTS   1

static const struct kill {
    const char *name, *faults; /* of the machine file; %lu: when; NULL: the run ends then */
    const char *lines;         /* a word of each line that the machine may print */
    bool may_wait;             /* nobody can go on, or a time limit runs out */
} kills[] = {
    {"the machine", NULL, "", false},
    {"a compute node", "{ node = 5; from_us = %lu; }", "ncube: node 5 has been dead since ", true},
    {"an I/O node", "{ node = 16433; from_us = %lu; }", "ncube: ", true},
    {"a drive", "{ drive = \"df01\"; from_us = %lu; }", "df01: |ncube: I/O node", false},
    {"all drives",
     "{ drive = \"df00\"; from_us = %lu; }, { drive = \"df01\"; from_us = %lu; }, "
     "{ drive = \"df02\"; from_us = %lu; }",
     "df0|ncube: I/O node", false},
};

static char *write_machine(const char *folder, const char *faults, unsigned long us)
{
    char *text = NULL, *more;

    if (faults) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        text = format(faults, us, us, us);
#pragma GCC diagnostic pop
    }
    more = format("faults = ( %s );\n", text ? text : "");
    char *path = machine_file(folder, 3, VOLUMES, more);
    free(text);
    free(more);
    return path;
}

static struct outcome run(const char *machine, const char *part, const char *limit, const char *trace)
{
    return ncube_run(&(struct ncube_run){
        .dim = "3", .machine = machine, .program = PROGRAM, .args = {part, "3"}, .limit = limit, .trace = trace});
}

static void must_pass(const char *machine, const char *part, const char *what)
{
    struct outcome o = run(machine, part, NULL, NULL);

    cr_expect(o.status == 0 && strcmp(o.out, "passed\n") == 0, "%s: %s: status %d, %s%s", what, part, o.status, o.out,
              o.err);
    outcome_free(&o);
}

/* Microseconds at which the program begins and ends, when nothing happens to it. */
static void find_times(const char *machine, const char *folder, unsigned long *begin_us, unsigned long *end_us)
{
    char *trace = format("%s/trace", folder), *text, *rest;
    struct outcome o = run(machine, "call", NULL, trace);
    size_t bytes;

    cr_assert(o.status == 0, "status %d, %s%s", o.status, o.out, o.err);
    outcome_free(&o);
    text = rest = file_read(folder, "trace", &bytes);
    *begin_us = 0;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        uint64_t cycles;
        unsigned node, to;

        if (sscanf(line, "%" SCNu64 " %u send to=%u", &cycles, &node, &to) == 3 && to >= 0x4000 && to < 0x8000 &&
            *begin_us == 0)
            *begin_us = cycles / CYCLES_PER_US + 1;
        if (sscanf(line, "%" SCNu64 " %u %*s", &cycles, &node) == 2 && strstr(line, " exit") && node < 8)
            *end_us = cycles / CYCLES_PER_US;
    }
    cr_assert(*begin_us > 0 && *end_us > *begin_us + 100, "%lu to %lu us", *begin_us, *end_us);
    free(text);
    free(trace);
}

/* Whether a line of the machine is one of those that are expected. */
static bool is_expected(const char *line, const char *words)
{
    char *copy = format("%s", words), *rest = copy;
    bool found = false;

    for (char *word; !found && (word = strsep(&rest, "|")) != NULL;)
        found = word[0] && strstr(line, word);
    free(copy);
    return found;
}

/* At most one line of the program, which names the file once; a machine that goes on has one. */
static void judge_lines(const struct outcome *o, const struct kill *k, const char *what)
{
    char *text = format("%s", o->err), *rest = text;
    int own = 0;

    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        bool is_own =
            strncmp(line, "open: ", 6) == 0 || strncmp(line, "write: ", 7) == 0 || strncmp(line, "close: ", 7) == 0;
        const char *name = strstr(line, "/x");

        own += is_own;
        cr_expect(!is_own || (name && !strstr(name + 1, "/x")), "%s: %s", what, line);
        cr_expect(is_own || !line[0] || is_expected(line, k->lines), "%s: %s", what, line);
    }
    bool passes = strcmp(o->out, "passed\n") == 0; /* what fails then is the shutdown */
    if (o->status == 1 && !k->may_wait && !passes)
        cr_expect_eq(own, 1, "%s: %s", what, o->err);
    cr_expect_leq(own, 1, "%s: %s", what, o->err);
    free(text);
}

static void copy_images(const char *from, const char *to)
{
    for (int k = 0; k < VOLUMES; k++) {
        char *image = format("%s/df%02d.img", from, k);

        command_must_succeed((char *[]){"cp", image, (char *)to, NULL});
        free(image);
    }
}

/* The stream of a VP has its items in order, up to some of them; what a node had not written yet may be zeros. */
static void judge_stream(const double *x, size_t n, long vp, const char *what)
{
    size_t k = 0;

    for (int item = 0; item < 27 && k < n; item++)
        if (item < 7 || (vp + item) % 5 != 0) {
            if (x[k] != (double)(vp * 1000 + item + 1))
                break;
            k++;
        }
    for (; k < n; k++)
        cr_expect_eq(x[k], 0, "%s, repaired: VP %ld has %g as its value %zu", what, vp, x[k], k);
}

/* Repairs /x on the host, if it was not closed, and judges what is there. */
static void judge_repaired(const char *folder, const char *what)
{
    static const char *const vps[] = {"0", "13", "50", "100"};
    char *copy = folder_new(), *machine, *ncube = build_path("bin/ncube");

    copy_images(folder, copy);
    machine = write_machine(copy, NULL, 0);
    struct outcome o = command_run((char *[]){ncube, "star", "-m", machine, "repair", "pio:/x", NULL}, "");
    bool is_repaired = o.status == 0;
    cr_expect(o.status <= 1 && count_lines(o.err) == (size_t)o.status, "%s: repair: %d, %s", what, o.status, o.err);
    outcome_free(&o);
    for (size_t k = 0; k < sizeof vps / sizeof *vps && is_repaired; k++) {
        char *out = format("%s/stream", copy), *line;

        line = format("%s star -m %s cat pio:/x %s >%s", ncube, machine, vps[k], out);
        command_must_succeed((char *[]){"sh", "-c", line, NULL});
        size_t bytes;
        char *text = file_read(copy, "stream", &bytes);
        judge_stream((const double *)(const void *)text, bytes / sizeof(double), atol(vps[k]), what);
        free(text);
        free(line);
        free(out);
    }
    if (is_repaired)
        images_check(copy, VOLUMES);
    free(machine);
    free(ncube);
    folder_remove(copy);
}

static void kill_at(const char *before, const struct kill *k, unsigned long us)
{
    char *what = format("%s ends at %lu us", k->name, us), *folder = folder_new();
    char *limit = format("%lu.%06lu", us / 1000000, us % 1000000);
    char *machine = write_machine(folder, k->faults, us);

    copy_images(before, folder);
    struct outcome o = run(machine, "call", k->faults ? "200" : limit, NULL);
    cr_expect(o.status == (k->faults ? 1 : 124) || (k->faults && (o.status == 0 || o.status == 123)),
              "%s: status %d, %s%s", what, o.status, o.out, o.err);
    if (k->faults)
        judge_lines(&o, k, what);
    bool has_said = strstr(o.err, ": /x: ") != NULL;
    outcome_free(&o);
    images_repair(folder, VOLUMES);
    judge_repaired(folder, what);
    free(machine);
    machine = write_machine(folder, NULL, 0);
    must_pass(machine, has_said ? "failed" : "after", what);
    images_check(folder, VOLUMES);
    free(machine);
    free(limit);
    free(what);
    folder_remove(folder);
}

DrawnRowTest(star_kills, leave_the_file_whole_or_refused_and_others_whole, kills, 2)
{
    const char *text = getenv("STAR_KILLS");
    int moments = text ? atoi(text) : MOMENTS;
    char *before = folder_with_images(VOLUMES, KILOBYTES, 1024), *trial = folder_new();
    char *machine = write_machine(before, NULL, 0), *trial_machine = write_machine(trial, NULL, 0);
    unsigned long begin_us = 0, end_us = 0;

    must_pass(machine, "before", kills[*row].name);
    copy_images(before, trial);
    find_times(trial_machine, trial, &begin_us, &end_us);
    for (int i = 0; i < moments; i++) /* other ones in each row */
        kill_at(before, &kills[*row],
                begin_us + (end_us - begin_us) * ((unsigned long)i * 5 + *row + 1) / (5 * (unsigned long)moments + 1));
    free(machine);
    free(trial_machine);
    folder_remove(trial);
    folder_remove(before);
}

/* ---- No room ---- */

static void fill_volumes(const char *folder, int leaves_kb)
{
    for (int k = 0; k < VOLUMES; k++) {
        char *image = format("%s/df%02d.img", folder, k);
        char *line = format("free=$(dumpe2fs -h %s 2>/dev/null | sed -n 's/^Free blocks: *//p'); "
                            "head -c $(((free - %d) * 1024)) /dev/zero | tr '\\0' x > %s/fill; "
                            "debugfs -w -R 'write %s/fill fill' %s 2>/dev/null",
                            image, leaves_kb + 5, folder, folder, image);

        command_must_succeed((char *[]){"sh", "-c", line, NULL});
        free(line);
        free(image);
    }
    images_check(folder, VOLUMES);
}

static void empty_volumes(const char *folder)
{
    for (int k = 0; k < VOLUMES; k++) {
        char *line = format("debugfs -w -R 'rm fill' %s/df%02d.img 2>/dev/null", folder, k);

        command_must_succeed((char *[]){"sh", "-c", line, NULL});
        free(line);
    }
}

Test(star_kills, full_volumes_are_one_line_and_lose_nothing_else)
{
    static const char *const said[] = {"open: /x: No space left on device\n", "write: /x: No space left on device\n",
                                       "close: /x: No space left on device\n"};
    bool has_said[3] = {false};

    for (int kb = 0; kb <= 14; kb += 7) {
        char *folder = folder_with_images(VOLUMES, KILOBYTES, 1024), *machine = write_machine(folder, NULL, 0);

        must_pass(machine, "before", "full");
        fill_volumes(folder, kb);
        struct outcome o = run(machine, "call", NULL, NULL);
        int which = 0;
        while (which < 3 && strcmp(o.err, said[which]) != 0)
            which++;
        cr_expect(o.status == 0 ? o.err[0] == '\0' : o.status == 1 && which < 3, "%d KB: status %d, %s", kb, o.status,
                  o.err);
        if (which < 3)
            has_said[which] = true;
        outcome_free(&o);
        images_check(folder, VOLUMES);
        empty_volumes(folder);
        must_pass(machine, "failed", "full");
        images_check(folder, VOLUMES);
        free(machine);
        folder_remove(folder);
    }
    cr_expect(has_said[0] && has_said[1] + has_said[2] > 0, "open %d, write %d, close %d", has_said[0], has_said[1],
              has_said[2]);
}

/* ---- Damaged files ---- */

static const struct damage {
    const char *file, *volume;
    int at, bytes; /* what is overwritten */
    const char *err;
} damages[] = {
    {"kept.meta", "df00", 7, 5, "open: /kept.meta: Protocol error\n"},
    {"kept.meta", "df00", 0, 80, "open: /kept.meta: Protocol error\n"},
    {"kept.first", "df00", 0, 256, "read: /kept: I/O error\n"},
    {"kept.dir", "df01", 0, 256, "read: /kept: I/O error\n"},
    {"kept.dir", "df02", 100, 9, "read: /kept: I/O error\n"},
};

/* In place: the same blocks of the image. */
static void overwrite(const char *folder, const struct damage *d)
{
    char *image = format("%s/%s.img", folder, d->volume);
    char *line =
        format("block=$(debugfs -R 'bmap %s 0' %s 2>/dev/null); "
               "head -c %d /dev/zero | tr '\\0' 7 | dd of=%s bs=1 seek=$((block * 1024 + %d)) conv=notrunc 2>/dev/null",
               d->file, image, d->bytes, image, d->at);

    command_must_succeed((char *[]){"sh", "-c", line, NULL});
    free(line);
    free(image);
}

Test(star_kills, damaged_files_are_one_line)
{
    char *before = folder_with_images(VOLUMES, KILOBYTES, 1024), *machine = write_machine(before, NULL, 0);

    must_pass(machine, "before", "damage");
    must_pass(machine, "reads", "no damage");
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        char *folder = folder_new(), *damaged = write_machine(folder, NULL, 0);

        copy_images(before, folder);
        overwrite(folder, &damages[i]);
        struct outcome o = run(damaged, "reads", NULL, NULL);
        outcome_expect(&o, damages[i].file, 1, "", damages[i].err);
        cr_expect_eq(count_lines(o.err), 1, "%s: %s", damages[i].file, o.err);
        outcome_free(&o);
        free(damaged);
        folder_remove(folder);
    }
    free(machine);
    folder_remove(before);
}
