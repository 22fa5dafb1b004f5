#include "emu/report/reporting.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "emu/base/error_line.h"
#include "emu/base/memory.h"
#include "emu/base/new_file.h"
#include "emu/report/report_make.h"
#include "emu/report/timeline_read.h"

struct reporting {
    struct timeline timeline;
    struct reader reader;
    struct new_file file;
    char *path;
    FILE *copy; /* what the trace goes to, too; NULL: nothing */
    int error;  /* errno of writing to it */
};

static ssize_t stream_write(void *cookie, const char *bytes, size_t n)
{
    struct reporting *r = cookie;

    reader_feed(&r->reader, bytes, n);
    if (r->copy && r->error == 0 && fwrite(bytes, 1, n, r->copy) != n)
        r->error = errno;
    if (r->error == 0)
        return (ssize_t)n;
    errno = r->error;
    return 0; /* stdio's sign of an error */
}

static int stream_close(void *cookie)
{
    struct reporting *r = cookie;

    if (r->copy && fclose(r->copy) != 0 && r->error == 0)
        r->error = errno;
    r->copy = NULL;
    errno = r->error;
    return r->error == 0 ? 0 : -1;
}

struct reporting *reporting_open(const char *path, char *error)
{
    struct reporting *r = memory_new(1, sizeof *r);

    if (new_file_open(&r->file, path, error) < 0) {
        free(r);
        return NULL;
    }
    r->path = memory_copy_text(path, SIZE_MAX);
    timeline_begin(&r->timeline);
    reader_begin(&r->reader, &r->timeline);
    return r;
}

FILE *reporting_stream(struct reporting *r, FILE *copy)
{
    FILE *stream = fopencookie(r, "w", (cookie_io_functions_t){.write = stream_write, .close = stream_close});

    r->copy = stream ? copy : NULL;
    return stream;
}

int reporting_close(struct reporting *r, bool wanted, char *error)
{
    int result = -1;

    if (reader_end(&r->reader) < 0)
        error_line(error, "%s: there is no report: %s", r->path, r->reader.error);
    else if (wanted)
        result = report_make(&r->timeline, r->file.fd, r->path, error, ERROR_LINE_BYTES);
    result = new_file_close(&r->file, result, error);
    timeline_free(&r->timeline);
    free(r->path);
    free(r);
    return wanted ? result : 0;
}
