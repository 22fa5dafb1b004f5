/* The reader of a trace: bytes are read as one, in pieces, and what has been read is counted as for a report. */
#include <stdlib.h>
#include <string.h>

#include "emu/report/cells.h"
#include "emu/report/critical.h"
#include "emu/report/facts.h"
#include "emu/report/timeline_read.h"
#include "tests/fuzz/fuzz.h"

static void take(const uint8_t *bytes, size_t n)
{
    struct timeline t;
    struct reader r;
    size_t piece = n % 2 ? n : 1 + n / 3;

    timeline_begin(&t);
    reader_begin(&r, &t);
    for (size_t at = 0; at < n; at += piece)
        reader_feed(&r, (const char *)bytes + at, n - at < piece ? n - at : piece);
    if (reader_end(&r) == 0) {
        struct facts f;

        facts_count(&f, &t);
        facts_free(&f);
    } else if (r.error[0] == '\0')
        abort();
    timeline_free(&t);
}

static const char *const words[] = {
    "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"ncube_trace\":1,\"dimension\":2},\"traceEvents\":[\n",
    "\n]}\n",
    ",\n",
    "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"ts\":0,\"name\":\"thread_name\",\"args\":{\"name\":\"node 1\"}}",
    "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":300,\"name\":\"user\"}",
    "\"ph\":\"s\"",
    "\"ph\":\"f\"",
    "\"ph\":\"b\"",
    "\"ph\":\"e\"",
    "\"ph\":\"C\"",
    "\"ph\":\"i\"",
    "\"pid\":2",
    "\"pid\":3",
    "\"pid\":4",
    "\"tid\":",
    "\"ts\":",
    "\"dur\":",
    "\"cat\":\"m\"",
    "\"cat\":\"message\"",
    "\"id\":",
    "\"args\":{",
    "\"from\":",
    "\"to\":",
    "\"bytes\":",
    "\"type\":",
    "\"waited\":",
    "\"message\":",
    "\"name\":",
    "null",
    "{}",
    "[]",
    "\\u0000",
    "-1",
    NULL};

const struct fuzz_target fuzz_trace = {"trace", .take = take, .words = words, .short_runs = 5000};
