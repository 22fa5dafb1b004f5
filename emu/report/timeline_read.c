/* Timelines from text (timeline_read.h). */
#include "emu/report/timeline_read.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "emu/base/memory.h"
#include "emu/base/order.h"
#include "emu/base/progress.h"
#include "emu/trace/trace.h"

#define CHUNK_BYTES   (256u << 10)
#define QUOTED_BYTES  60
#define CYCLES_MAX    1e15 /* longer than any run; integers up to it are exact as double */
#define QUEUE_PREFIX  "queue of "
#define CHANNELS_MOST (1u << 20)

enum track { TRACK_NODES = 1, TRACK_CHANNELS, TRACK_DRIVES };

struct open { /* a phase or request that has begun; key: "phase p5", "file r5.0.32769.3" */
    char *key;
    bool is_phase;
    size_t index;
};

struct event {
    const json_t *json, *args;
    char phase;
    uint32_t process, track;
    uint64_t from;
    const char *name, *category;
};

static void fail(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void fail(struct reader *r, const char *format, ...)
{
    va_list arguments;

    if (r->error[0] != '\0')
        return;
    va_start(arguments, format);
    vsnprintf(r->error, sizeof r->error, format, arguments);
    va_end(arguments);
}

/* ---- Fields ---- */

/* Returns a whole number of an object, or `otherwise` if it has none of that name, or none from 0 to `most`. */
static uint64_t number_of(const json_t *object, const char *name, uint64_t most, uint64_t otherwise)
{
    const json_t *v = json_object_get(object, name);
    json_int_t n = json_integer_value(v);

    return json_is_integer(v) && n >= 0 && (uint64_t)n <= most ? (uint64_t)n : otherwise;
}

/* Reads a time in microseconds as cycles; UINT64_MAX: there is none. */
static uint64_t cycles_of(const json_t *object, const char *name)
{
    const json_t *v = json_object_get(object, name);
    double cycles = json_number_value(v) * CYCLES_PER_US;

    return json_is_number(v) && cycles >= 0 && cycles < CYCLES_MAX ? (uint64_t)llround(cycles) : UINT64_MAX;
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text ? text : "";
}

static void note_end(struct timeline *t, uint64_t cycles)
{
    if (t->end < cycles)
        t->end = cycles;
}

/* Reads the end of a slice. Returns false if it has none. */
static bool end_of(struct reader *r, const struct event *e, uint64_t *to)
{
    uint64_t duration = cycles_of(e->json, "dur");

    if (duration == UINT64_MAX)
        return false;
    *to = e->from + duration;
    note_end(r->timeline, *to);
    return true;
}

/* ---- Nodes ---- */

static enum state state_of(const struct event *e)
{
    static const struct {
        const char *category;
        enum state state;
    } waits[] = {{"message", STATE_MESSAGE},
                 {"reply", STATE_REPLY},
                 {"drive", STATE_DRIVE},
                 {"memory", STATE_MEMORY},
                 {"program", STATE_FREE}};

    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        if (strcmp(e->category, waits[i].category) == 0)
            return waits[i].state;
    if (e->category[0] != '\0')
        return STATE_OTHER;
    return strcmp(e->name, "user") == 0 ? STATE_USER : STATE_KERNEL;
}

static bool take_spell(struct reader *r, const struct event *e)
{
    uint64_t to;

    if (e->track > NODE_HOST || !end_of(r, e, &to))
        return false;
    if (e->track == NODE_HOST)
        return true; /* it has no kernel: its slices only carry arrows */
    uint32_t node = timeline_node(r->timeline, e->track), name = timeline_name(r->timeline, e->name);
    *timeline_add(r->timeline, spell) = (struct spell){e->from, to, node, name, state_of(e)};
    const char *call = text_of(e->args, "call"), *line = text_of(e->args, "line");
    if (line[0] != '\0')
        *timeline_add(r->timeline, place) = (struct place){to, node, timeline_name(r->timeline, line)};
    if (call[0] != '\0')
        *timeline_add(r->timeline, waiting) =
            (struct waiting){e->from, to, node, timeline_name(r->timeline, call),
                             timeline_name(r->timeline, text_of(e->args, "communicator"))};
    return true;
}

static bool take_letter_begin(struct reader *r, const struct event *e)
{
    uint64_t to = number_of(e->args, "to", NODE_HOST, UINT64_MAX);
    uint64_t id = number_of(e->json, "id", INT64_MAX, UINT64_MAX);

    if (e->track > NODE_HOST || to == UINT64_MAX || id == UINT64_MAX)
        return false;
    r->letter = (struct letter){.sent = e->from,
                                .number = id >> 16,
                                .from = timeline_node(r->timeline, e->track),
                                .to = timeline_node(r->timeline, (uint32_t)to),
                                .bytes = number_of(e->args, "bytes", INT64_MAX, 0),
                                .type = (uint32_t)number_of(e->args, "type", UINT32_MAX, 0),
                                .context = (uint32_t)number_of(e->args, "context", UINT32_MAX, 0)};
    r->in_letter = true;
    return true;
}

static bool take_letter_end(struct reader *r, const struct event *e)
{
    if (!r->in_letter || e->from < r->letter.sent)
        return false;
    r->in_letter = false;
    r->letter.received = e->from;
    *timeline_add(r->timeline, letter) = r->letter;
    note_end(r->timeline, e->from);
    return true;
}

/* ---- Phases and requests ---- */

static int compare_open(const void *a, const void *b)
{
    return strcmp(((const struct open *)a)->key, ((const struct open *)b)->key);
}

static void free_open(void *open)
{
    free(((struct open *)open)->key);
    free(open);
}

static char *key_of(const struct event *e)
{
    char key[128];

    snprintf(key, sizeof key, "%s %s", e->category, text_of(e->json, "id"));
    return memory_copy_text(key, SIZE_MAX);
}

/* A second one with the same key replaces the first, whose end has not been traced. */
static void keep_open(struct reader *r, const struct event *e, bool is_phase, size_t index)
{
    struct open *new = memory_new(1, sizeof *new), **found;

    *new = (struct open){key_of(e), is_phase, index};
    found = tsearch(new, &r->open, compare_open);
    if (!found)
        abort(); /* no memory, as memory.h says */
    if (*found == new)
        return;
    (*found)->index = index;
    free_open(new);
}

static bool take_begin(struct reader *r, const struct event *e)
{
    struct timeline *t = r->timeline;

    if (e->track > NODE_HOST)
        return false;
    uint32_t node = timeline_node(t, e->track), name = timeline_name(t, e->name);
    if (strcmp(e->category, "phase") == 0) {
        *timeline_add(t, phase) = (struct phase){e->from, UINT64_MAX, node, name};
        keep_open(r, e, true, t->phases - 1);
    } else {
        uint32_t volume = timeline_name(t, text_of(e->args, "volume"));
        uint64_t bytes = number_of(e->args, "bytes", INT64_MAX, 0);

        *timeline_add(t, request) = (struct request){e->from, UINT64_MAX, bytes, node, name, volume};
        keep_open(r, e, false, t->requests - 1);
    }
    return true;
}

/* An end without a begin belongs to what began before the trace's window. */
static bool take_end(struct reader *r, const struct event *e)
{
    struct timeline *t = r->timeline;
    struct open wanted = {.key = key_of(e)}, **found = tfind(&wanted, &r->open, compare_open), *open;

    if (found) {
        open = *found;
        *(open->is_phase ? &t->phase[open->index].to : &t->request[open->index].to) = e->from;
        tdelete(open, &r->open, compare_open);
        free_open(open);
    }
    free(wanted.key);
    note_end(t, e->from);
    return true;
}

/* ---- Channels and drives ---- */

static bool take_hold(struct reader *r, const struct event *e)
{
    struct hold h = {.from = e->from, .channel = e->track};
    uint64_t waited = cycles_of(e->args, "waited");

    if (!end_of(r, e, &h.to))
        return false;
    h.waited = waited <= h.from ? waited : 0;
    h.number = number_of(e->args, "message", INT64_MAX, 0);
    if (sscanf(e->name, "%" SCNu32 ": %" SCNu64, &h.sender, &h.bytes) != 2)
        return false;
    *timeline_add(r->timeline, hold) = h;
    return true;
}

static bool take_command(struct reader *r, const struct event *e)
{
    struct timeline *t = r->timeline;
    struct command c = {.from = e->from, .write = strcmp(e->name, "write") == 0};

    if (!end_of(r, e, &c.to))
        return false;
    c.drive = e->track; /* until reader_end */
    c.sectors = number_of(e->args, "sectors", INT64_MAX, 0);
    *timeline_add(t, command) = c;
    return true;
}

static bool take_counter(struct reader *r, const struct event *e)
{
    struct timeline *t = r->timeline;

    if (e->process != TRACK_DRIVES || strncmp(e->name, QUEUE_PREFIX, sizeof QUEUE_PREFIX - 1) != 0)
        return true; /* a rate, which the events have too */
    uint32_t drive = timeline_drive(t, e->name + sizeof QUEUE_PREFIX - 1);
    *timeline_add(t, queue) =
        (struct queue_change){e->from, drive, (uint32_t)number_of(e->args, "commands", UINT32_MAX, 0)};
    return true;
}

/* ---- Names of tracks ---- */

static void take_wiring(struct timeline *t, uint32_t index, const json_t *args)
{
    const json_t *si = json_object_get(args, "si"), *volumes = json_object_get(args, "volumes"), *v;
    struct timeline_node *node = &t->node[index];
    size_t i;

    node->wired = json_is_array(si);
    for (i = 0; i < NCU_SI_CHANNELS; i++) {
        json_int_t n = json_integer_value(json_array_get(si, i));

        node->si[i] = i < json_array_size(si) && n >= 0 && n < NODE_IO_BASE ? (int32_t)n : -1;
    }
    json_array_foreach((json_t *)volumes, i, v)
    {
        uint32_t drive = timeline_drive(t, json_is_string(v) ? json_string_value(v) : "");

        t->drive[drive].node = (int32_t)node->address;
    }
}

static bool take_track_name(struct reader *r, const struct event *e)
{
    struct timeline *t = r->timeline;
    uint64_t from = number_of(e->args, "from", NODE_HOST, UINT64_MAX),
             to = number_of(e->args, "to", NODE_HOST, UINT64_MAX);

    if (strcmp(e->name, "thread_name") != 0)
        return true;
    switch (e->process) {
    case TRACK_NODES:
        if (e->track > NODE_HOST)
            return false;
        take_wiring(t, timeline_node(t, e->track), e->args);
        return true;
    case TRACK_CHANNELS:
        if (from == UINT64_MAX || to == UINT64_MAX || e->track >= CHANNELS_MOST)
            return false;
        *timeline_add(t, channel) = (struct timeline_channel){e->track, (uint32_t)from, (uint32_t)to};
        return true;
    default: {
        uint32_t drive = timeline_drive(t, text_of(e->args, "name"));

        t->drive[drive].track = e->track;
        t->drive[drive].model = timeline_name(t, text_of(e->args, "model"));
        return true;
    }
    }
}

/* ---- Lines ---- */

/* Of the marks, the report shows how the run failed. */
static bool take_mark(struct reader *r, const struct event *e)
{
    struct timeline *t = r->timeline;
    bool is_end = strncmp(e->category, "end ", 4) == 0;

    for (uint32_t how = 0; is_end && how < TRACE_ENDS; how++)
        if (strcmp(e->category + 4, trace_end_words[how]) == 0) {
            *timeline_add(t, ending) = (struct ending){e->from, how, timeline_name(t, e->name)};
            note_end(t, e->from);
            return true;
        }
    return !is_end;
}

static bool take_event(struct reader *r, const struct event *e)
{
    switch (e->phase) {
    case 'X':
        return e->process == TRACK_NODES    ? take_spell(r, e)
               : e->process == TRACK_DRIVES ? take_command(r, e)
                                            : take_hold(r, e);
    case 's':
        return take_letter_begin(r, e);
    case 'f':
        return take_letter_end(r, e);
    case 'b':
        return take_begin(r, e);
    case 'e':
        return take_end(r, e);
    case 'C':
        return take_counter(r, e);
    case 'M':
        return take_track_name(r, e);
    case 'i':
        return take_mark(r, e);
    default:
        return false;
    }
}

static bool read_event(struct reader *r, const json_t *json)
{
    uint64_t process = number_of(json, "pid", TRACK_DRIVES, 0),
             track = number_of(json, "tid", CHANNELS_MOST, UINT64_MAX);
    struct event e = {.json = json,
                      .args = json_object_get(json, "args"),
                      .phase = text_of(json, "ph")[0],
                      .process = (uint32_t)process,
                      .track = (uint32_t)track,
                      .from = cycles_of(json, "ts"),
                      .name = text_of(json, "name"),
                      .category = text_of(json, "cat")};

    return process > 0 && track != UINT64_MAX && e.from != UINT64_MAX && take_event(r, &e);
}

/* The first line of a trace: {"displayTimeUnit":"ns","otherData":{...},"traceEvents":[ */
static void read_head(struct reader *r, const char *line, size_t n)
{
    static const char start[] = "{\"displayTimeUnit\":\"ns\",", events[] = "\"traceEvents\":[";
    bool is_ours = n >= sizeof start + sizeof events - 2 && memcmp(line, start, sizeof start - 1) == 0 &&
                   memcmp(line + n - (sizeof events - 1), events, sizeof events - 1) == 0;
    json_t *head = NULL;

    if (is_ours) {
        char *whole = memory_new(n + 3, 1);

        memcpy(whole, line, n);
        strcpy(whole + n, "]}");
        head = json_loads(whole, 0, NULL);
        free(whole);
    }
    json_t *about = json_object_get(head, "otherData"), *version = json_object_get(about, "ncube_trace");
    if (!is_ours)
        fail(r, "this is not a timeline of ncube; give a file that ncube run --trace=FILE.json has written");
    else if (!json_is_integer(version))
        fail(r, "the timeline does not give its version; trace the program again with this ncube");
    else if (json_integer_value(version) != TRACE_VERSION)
        fail(r,
             "this is a timeline of version %" JSON_INTEGER_FORMAT
             ", and this ncube reads version %d; trace the program again",
             json_integer_value(version), TRACE_VERSION);
    else if (number_of(about, "dimension", NODE_MAX_DIM, UINT64_MAX) == UINT64_MAX)
        fail(r, "the timeline does not give the number of nodes; trace the program again");
    else
        r->timeline->about = json_incref(about);
    json_decref(head);
    r->begun = true;
}

/* "]}", or "],"limit":1}" */
static bool read_end(struct reader *r, const char *line, size_t n)
{
    r->timeline->limited = n > 2;
    return r->ended = (n == 2 && memcmp(line, "]}", n) == 0) || (n == 12 && memcmp(line, "],\"limit\":1}", n) == 0);
}

static void read_line(struct reader *r, const char *line, size_t n)
{
    r->lines++;
    if (!r->begun) {
        read_head(r, line, n);
        return;
    }
    if (r->ended && n > 0)
        fail(r, "line %llu follows the timeline's end", (unsigned long long)r->lines);
    if (n == 0 || r->error[0] != '\0' || (line[0] == ']' && read_end(r, line, n)))
        return;
    size_t bytes = line[n - 1] == ',' ? n - 1 : n;
    json_t *json = json_loadb(line, bytes, 0, NULL);
    if (!json || !read_event(r, json))
        fail(r, "line %llu is not an event of ncube's: '%.*s%s'; trace the program again", (unsigned long long)r->lines,
             n < QUOTED_BYTES ? (int)n : QUOTED_BYTES, line, n < QUOTED_BYTES ? "" : "...");
    json_decref(json);
}

static void keep(struct reader *r, const char *bytes, size_t n)
{
    if (r->n + n > READER_LINE_MAX) {
        fail(r,
             r->begun ? "line %llu is longer than any of ncube's; trace the program again"
                      : "this is not a timeline of ncube (line %llu); give a file that ncube run --trace=FILE.json has "
                        "written",
             (unsigned long long)r->lines + 1);
        return;
    }
    r->line = memory_grow(r->line, &r->room, r->n + n + 1, 1);
    memcpy(r->line + r->n, bytes, n);
    r->n += n;
}

void reader_begin(struct reader *r, struct timeline *t)
{
    *r = (struct reader){.timeline = t};
}

void reader_feed(struct reader *r, const char *bytes, size_t n)
{
    while (n > 0 && r->error[0] == '\0') {
        const char *end = memchr(bytes, '\n', n);
        size_t part = end ? (size_t)(end - bytes) : n;

        if (!end || r->n > 0)
            keep(r, bytes, part);
        if (!end)
            return;
        if (r->error[0] == '\0')
            read_line(r, r->n > 0 ? r->line : bytes, r->n > 0 ? r->n : part);
        r->n = 0;
        bytes += part + 1;
        n -= part + 1;
    }
}

static int by_number(const void *a, const void *b)
{
    return order(((const struct timeline_channel *)a)->number, ((const struct timeline_channel *)b)->number);
}

/* Holds know the number of their channel. */
static void find_channels(struct reader *r)
{
    struct timeline *t = r->timeline;

    order_sort(t->channel, t->channels, sizeof *t->channel, by_number);
    for (size_t i = 0; i < t->holds; i++) {
        struct timeline_channel wanted = {.number = t->hold[i].channel}, *found = NULL;

        if (t->channels > 0)
            found = bsearch(&wanted, t->channel, t->channels, sizeof wanted, by_number);
        if (!found)
            fail(r, "a message holds channel %u, which the timeline does not name; trace the program again",
                 wanted.number);
        t->hold[i].channel = found ? (uint32_t)(found - t->channel) : 0;
    }
}

/* Commands know the track of their drive; queues and I/O nodes name its volume. */
static void find_drives(struct reader *r)
{
    struct timeline *t = r->timeline;

    for (size_t i = 0; i < t->commands; i++) {
        size_t d = 0;

        while (d < t->drives && t->drive[d].track != t->command[i].drive)
            d++;
        if (d == t->drives)
            fail(r, "a command of drive %u, which the timeline does not name; trace the program again",
                 t->command[i].drive);
        t->command[i].drive = (uint32_t)d;
    }
}

/* What has not ended lasts to the end. */
static void end_open(struct timeline *t)
{
    for (size_t i = 0; i < t->phases; i++)
        if (t->phase[i].to == UINT64_MAX)
            t->phase[i].to = t->end;
}

int reader_end(struct reader *r)
{
    if (r->n > 0 && r->error[0] == '\0') {
        if (r->begun)
            fail(r, "the timeline ends in the middle of line %llu; trace the program again",
                 (unsigned long long)r->lines + 1);
        else
            read_head(r, r->line, r->n);
    }
    if (r->lines == 0 && r->n == 0)
        fail(r, "the file is empty; give a file that ncube run --trace=FILE.json has written");
    if (!r->ended)
        fail(r, "the timeline ends after line %llu, before its end; trace the program again",
             (unsigned long long)r->lines);
    find_channels(r);
    find_drives(r);
    end_open(r->timeline);
    tdestroy(r->open, free_open);
    free(r->line);
    if (r->error[0] == '\0')
        timeline_sort(r->timeline);
    return r->error[0] == '\0' ? 0 : -1;
}

/* ---- Files ---- */

int reader_read_file(struct timeline *t, const char *path, char error[READER_ERROR_BYTES])
{
    struct reader r;
    gzFile file = gzopen(path, "rb");
    struct stat st;
    uint64_t bytes = stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
    int n = 0, code;

    if (!file) {
        snprintf(error, READER_ERROR_BYTES, "%s", strerror(errno));
        return -1;
    }
    char *chunk = memory_new(CHUNK_BYTES, 1);
    gzbuffer(file, CHUNK_BYTES);
    reader_begin(&r, t);
    errno = 0;
    while (r.error[0] == '\0' && (n = gzread(file, chunk, CHUNK_BYTES)) > 0) {
        reader_feed(&r, chunk, (size_t)n);
        progress_bar((uint64_t)gzoffset(file), bytes);
    }
    progress_erase();
    int reason = errno;
    const char *why = gzerror(file, &code);
    if (n < 0 || code == Z_BUF_ERROR)
        fail(&r, "%s",
             code == Z_ERRNO       ? strerror(reason)
             : code == Z_BUF_ERROR ? "the compressed file ends too early; trace the program again"
                                   : why);
    gzclose(file);
    free(chunk);
    int result = reader_end(&r);
    memcpy(error, r.error, READER_ERROR_BYTES);
    return result;
}
