/*
 * `ncube top`: asks a machine that is up for its report and load (machine_report.h, machine_load.h), again and again,
 * and shows the difference between two answers; with --once, what has been since the start.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/link/link.h"
#include "emu/link/machine_load.h"
#include "emu/link/machine_report.h"
#include "emu/base/options.h"
#include "emu/cmd/commands.h"
#include "emu/cmd/job_options.h"
#include "emu/tools/top_screen.h"
#include "emu/tools/top_view.h"

#define ANSWER_MS 2000

struct arguments {
    const char *name;
    bool once;
    uint32_t every_ms;
};

/* ---- Asking ---- */

static json_t *await_report(int fd, char *error, size_t error_bytes)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    struct link_message m;
    json_t *report = NULL;

    if (poll(&p, 1, ANSWER_MS) <= 0) {
        snprintf(error, error_bytes, "the machine does not answer");
        return NULL;
    }
    if (link_receive(fd, &m) <= 0) {
        snprintf(error, error_bytes, "the machine has gone down");
        return NULL;
    }
    if (m.kind == LINK_REPORT)
        report = report_parse(m.content, m.bytes);
    link_message_free(&m);
    json_t *load = json_object_get(report, "load");
    if (report && load && top_load_makes_sense(load))
        return report;
    snprintf(error, error_bytes,
             report && !load ? "the machine boots; try again"
                             : "the machine sends a malformed report; see that it and ncube are of "
                               "the same version");
    json_decref(report);
    return NULL;
}

/* Returns a report with its load, which the caller drops; or NULL after a text in error. */
static json_t *ask(const void *name, char *error, size_t error_bytes)
{
    int fd = link_connect(name, error, error_bytes);

    if (fd < 0)
        return NULL;
    link_send(fd, LINK_ASK, LOAD_QUESTION, strlen(LOAD_QUESTION), false);
    json_t *report = await_report(fd, error, error_bytes);
    close(fd);
    return report;
}

static const struct options options;

/* ---- Once ---- */

static void print_table(const json_t *report, enum top_view view)
{
    struct top_table t;

    top_table_make(&t, view, report, NULL);
    if (view != TOP_NODES && view != TOP_PROGRAMS)
        top_table_sort(&t, view == TOP_DRIVES ? 1 : 0);
    if (t.n > 0)
        printf("\n%s\n%s\n", t.title, t.header);
    for (size_t i = 0; i < t.n; i++)
        puts(t.row[i].text);
    top_table_free(&t);
}

static int print_once(const char *name)
{
    char line[512];
    json_t *report = ask(name, line, sizeof line);

    if (!report)
        return options_fail(&options, "%s", line);
    top_head(line, sizeof line, report, NULL);
    puts(line);
    top_states(line, sizeof line, report);
    puts(line);
    for (int view = 0; view < TOP_VIEWS; view++)
        print_table(report, (enum top_view)view);
    int left_out = (int)json_integer_value(json_object_get(json_object_get(report, "load"), "left_out"));
    if (left_out > 0)
        printf("\nand %d more rows, of nodes or of the least busy channels\n", left_out);
    json_decref(report);
    return 0;
}

/* ---- Command line ---- */

static const struct option_line lines[] = {
    OPTION_RUNNING(offsetof(struct arguments, name)),
    {"once", NULL, "print the state once, and exit", OPTION_INTO(OPTION_FLAG, struct arguments, once)},
    {"every", "MS", "update every MS milliseconds (default 1000)",
     OPTION_INTO(OPTION_NUMBER, struct arguments, every_ms), 50, 3600000},
    {0}};

static const struct options options = {
    .command = "ncube top",
    .usage = "[OPTION...]",
    .summary =
        "Monitors a machine that ncube boot keeps up: nodes by state, programs, channels and drives by load, virtual\n"
        "time against the host's.",
    .line = lines,
    .end = "Keys: p programs, n nodes, c channels, d drives, k data caches; s sorts by the next column; / shows only\n"
           "rows with a text; the arrow and page keys scroll; q quits.",
};

int top_command(int argc, char **argv)
{
    struct arguments a = {.every_ms = 1000};
    char line[512];

    options_parse(&options, &a, argc, argv);
    a.name = options_machine_name(&options, a.name);
    if (a.once)
        return print_once(a.name);
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return options_fail(&options, "standard input or output is not a terminal; give --once");
    if (!top_show(ask, a.name, a.every_ms, line, sizeof line))
        return options_fail(&options, "%s", line);
    return 0;
}
