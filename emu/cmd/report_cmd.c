/* `ncube report`: makes a page out of a trace (emu/report). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/inputs.h"
#include "emu/base/memory.h"
#include "emu/base/new_file.h"
#include "emu/base/options.h"
#include "emu/cmd/commands.h"
#include "emu/disk/volume.h"
#include "emu/report/report_make.h"
#include "emu/report/timeline_read.h"

static const struct options options = {
    .command = "ncube report",
    .usage = "[OPTION...] TRACE",
    .words = 1,
    .summary =
        "Makes an HTML report from a timeline that ncube run --trace=TRACE has written, TRACE ending in .json or\n"
        ".json.gz: what each node, channel and drive did, which nodes sent to which, and what the program waited for.",
    .line =
        (const struct option_line[]){
            {"out", "FILE", "file for the report; - is standard output (default: TRACE, with .html for .json)",
             OPTION_FILE, .at = 0},
            {0}},
};

/* Returns the trace's name with another ending, which the caller frees. */
static char *default_out(const char *trace)
{
    static const char *const endings[] = {".json.gz", ".json"};
    size_t n = strlen(trace);
    char *out = memory_new(n + sizeof ".html", 1);

    for (size_t i = 0; i < 2; i++) {
        size_t ending = strlen(endings[i]);

        if (strlen(trace) > ending && strcmp(trace + strlen(trace) - ending, endings[i]) == 0) {
            n -= ending;
            break;
        }
    }
    memcpy(out, trace, n);
    strcpy(out + n, ".html");
    return out;
}

static int write_report(struct timeline *t, const char *out)
{
    char error[ERROR_LINE_BYTES] = "";
    struct new_file file;
    int result = new_file_open(&file, out, error);

    if (result == 0) {
        result = report_make(t, file.fd, out, error, sizeof error);
        result = new_file_close(&file, result, error);
    }
    return result == 0 ? 0 : options_fail(&options, "%s", error);
}

static int report_on(const char *trace, const char *out)
{
    char error[READER_ERROR_BYTES];
    struct inputs inputs = {0};
    struct timeline t;

    inputs_add(&inputs, trace, "the trace");
    bool same = inputs_find(&inputs, out) != NULL;
    inputs_free(&inputs);
    if (same)
        return options_fail(&options, "%s: this is the trace, which the report would overwrite; give another file",
                            out);
    timeline_begin(&t);
    int status =
        reader_read_file(&t, trace, error) < 0 ? options_fail(&options, "%s: %s", trace, error) : write_report(&t, out);
    timeline_free(&t);
    return status;
}

int report_command(int argc, char **argv)
{
    const char *out = NULL;
    char **word = options_parse(&options, &out, argc, argv);

    if (!word[0])
        options_refuse(&options, "no trace given; ncube run --trace=FILE.json writes one");
    char *made = out ? NULL : default_out(word[0]);
    int status = report_on(word[0], out ? out : made);
    if (status == 0 && made)
        printf("%s\n", made);
    free(made);
    return status;
}
