/* The report of a machine: written, read, and refused when it is malformed. */
#include "emu/link/machine_report.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 8192 };

/* Of jobs only this is needed; the front end's own way to know it is not. */
static const struct job *ended, *waiting;

bool job_has_ended(const struct job *j)
{
    return j == ended;
}

bool job_holds_requests(const struct job *j)
{
    return j == waiting;
}

static json_t *parse(char *text)
{
    json_t *report = report_parse(text, strlen(text));

    cr_assert_not_null(report, "%s", text);
    free(text);
    return report;
}

static const char *entry(const json_t *report, const char *list, size_t i, const char *key)
{
    return json_string_value(json_object_get(json_array_get(json_object_get(report, list), i), key));
}

Test(report, says_of_each_program_what_it_is_and_does)
{
    static char *words[] = {"./a", "b c", "\xc3\xa4", NULL}, *latin[] = {"./\xe4", NULL};
    struct job_program two[] = {{.argv = words, .argc = 3}, {.argv = latin, .argc = 1}};
    struct job job[] = {{.options = {.program = two, .programs = 1}, .base = 4, .nodes = 4},
                        {.options = {.program = two, .programs = 2}, .nodes = 2},
                        {.options = {.program = two + 1, .programs = 1}, .base = 2, .nodes = 2}};
    struct report r;

    waiting = &job[1];
    ended = &job[2];
    report_begin(&r, "m", "up", 8, 2, 1.5, ROOM);
    for (int i = 0; i < 3; i++)
        report_add_program(&r, &job[i], 10 + i, 0.5);
    json_t *report = parse(report_end(&r));
    cr_expect_str_eq(entry(report, "programs", 0, "command"), "./a b c \xc3\xa4");
    cr_expect_str_eq(entry(report, "programs", 1, "command"), "./a b c \xc3\xa4 : ./\xef\xbf\xbd");
    cr_expect_str_eq(entry(report, "programs", 0, "state"), "runs");
    cr_expect_str_eq(entry(report, "programs", 1, "state"), "waits for its streams");
    cr_expect_str_eq(entry(report, "programs", 2, "state"), "has ended");
    cr_expect_eq(json_integer_value(json_object_get(report, "free_nodes")), 2, "one that has ended has none");
    json_decref(report);
}

Test(report, stays_within_its_room_and_counts_the_rest)
{
    enum { JOBS = 100 };
    char word[400];
    char *argv[] = {word, NULL};
    const struct job_program p = {.argv = argv, .argc = 1};
    const struct job_options o = {.program = &p, .programs = 1, .dim = 3};
    struct report r;

    memset(word, '\x01', sizeof word - 1); /* six bytes each in JSON */
    word[sizeof word - 1] = '\0';
    report_begin(&r, "m", "up", 8, 2, 1.5, ROOM);
    for (int i = 0; i < JOBS; i++)
        report_add_waiting(&r, &o, i);
    char *text = report_end(&r);
    cr_expect_leq(strlen(text), ROOM);
    json_t *report = parse(text);
    size_t there = json_array_size(json_object_get(report, "waiting"));
    cr_expect_gt(there, 2);
    cr_expect_eq(json_integer_value(json_object_get(report, "left_out")), JOBS - (json_int_t)there);
    cr_expect_eq(strlen(entry(report, "waiting", 0, "command")), 255, "a long command line is cut");
    json_decref(report);
}

/* Whatever byte of a report is another, it is refused or can be printed. */
Test(report, a_damaged_one_is_refused_or_makes_sense)
{
    static char *argv[] = {"prog", NULL};
    const struct job_program p = {.argv = argv, .argc = 1};
    struct job job = {.options = {.program = &p, .programs = 1}, .nodes = 2};
    struct report r;
    size_t refused = 0;

    report_begin(&r, "m", "up", 8, 2, 1.5, ROOM);
    report_add_program(&r, &job, 10, 0.5);
    report_add_waiting(&r, &job.options, 11);
    char *text = report_end(&r);
    size_t n = strlen(text);
    cr_assert_not_null(freopen("/dev/null", "w", stdout));
    for (size_t i = 0; i < n; i++)
        for (int to = 0; to < 256; to++) {
            char kept = text[i];

            text[i] = (char)to;
            json_t *report = report_parse(text, n);
            if (report)
                report_print(report);
            refused += report == NULL;
            json_decref(report);
            text[i] = kept;
        }
    cr_expect_gt(refused, 200 * n / 2);
    for (size_t i = 0; i < n; i++)
        cr_expect_null(report_parse(text, i), "the first %zu bytes of %zu", i, n);
    free(text);
}
