/* The trace's options, and its file, which is packed on the way if its name says so. */
#include "emu/state/tracing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/state/outputs.h"
#include "emu/config/overrides.h"
#include "emu/report/reporting.h"
#include "emu/network/node_text.h"
#include "emu/base/json_text.h"
#include "emu/disk/volume.h"

#define LIMIT_LEAST_BYTES   (64u << 10)
#define LIMIT_DEFAULT_BYTES (100u << 20) /* of formats that viewers read whole */
#define LIMIT_PACKED_BYTES  (1u << 30)   /* counted before packing */
#define ADDRESSES           (NODE_HOST + 1u)

/* ---- Options ---- */

static void take_format(const struct options *o, const struct option_line *l, void *to, const char *text)
{
    struct tracing *t = to;
    char names[64];
    int format = trace_format_by_name(text);

    trace_format_names(names, sizeof names);
    if (format < 0)
        options_refuse(o, "%s '%s': give %s", l->name, text, names);
    t->format_given = true;
    t->format = (enum trace_format)format;
}

static bool is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & S_IXUSR);
}

static void take_file(const struct options *o, const struct option_line *l, void *to, const char *value)
{
    bool trace = strcmp(l->name, "trace") == 0;

    if (value[0] == '\0')
        options_refuse(o, "%s: give a file's name", l->name);
    if (is_program(value)) /* "--report ./hello": the word after the option is its FILE */
        options_refuse(o, "%s '%s' is a program, not a name for the %s; give one, such as --%s=%s %s", l->name, value,
                       trace ? "trace" : "page", l->name, trace ? "trace.json" : "page.html", value);
    *(const char **)to = value;
}

#define TO(kind, member) OPTION_INTO(kind, struct tracing, member)
#define CHOICE           .given = offsetof(struct tracing, another)

const struct option_line tracing_lines[] = {
    {"report", "FILE.html", "write an HTML report: what ran when, what each node waited for, what was busy",
     TO(OPTION_OWN, report), .take = take_file},
    {"trace", "FILE", "write a trace of events in virtual time to FILE; a timeline if it ends in .json",
     TO(OPTION_OWN, path), .take = take_file},
    {"trace-format", "FORMAT", "text, chrome or picl (default: by the ending of FILE, or text)", OPTION_OWN, CHOICE,
     .take = take_format},
    {"trace-from", "SECONDS", "trace from this virtual time on (default 0)", TO(OPTION_CYCLES, from_cycles), CHOICE},
    {"trace-to", "SECONDS", "trace up to this virtual time (default: to the end)", TO(OPTION_CYCLES, to_cycles),
     CHOICE},
    {"trace-nodes", "LIST", "trace only these nodes, such as 0-7,12,3.1,host (default: all)", TO(OPTION_TEXT, nodes),
     CHOICE},
    {"trace-lines", NULL, "the timeline has the line of the program at each trap; --report has it anyway",
     TO(OPTION_FLAG, lines), CHOICE},
    {"trace-limit", "SIZE",
     "maximum size of the trace, such as 20M (default 100M; .gz 1G, uncompressed; text: no limit)",
     TO(OPTION_SIZE, limit_bytes), LIMIT_LEAST_BYTES, UINT64_MAX >> 2, CHOICE},
    {0}};

static bool is_packed(const char *path)
{
    size_t n = strlen(path), ending = strlen(TRACE_PACKED_ENDING);

    return n > ending && strcmp(path + n - ending, TRACE_PACKED_ENDING) == 0;
}

void tracing_check(const struct options *o, struct tracing *t)
{
    if (!t->path && !t->report && t->another)
        options_refuse(o, "--%s without a trace; add --trace=FILE or --report=FILE.html", t->another);
    if (!t->path && !t->report)
        return;
    if (t->from_cycles > t->to_cycles)
        options_refuse(o, "trace-from %.8g s is later than trace-to %.8g s; exchange them",
                       (double)t->from_cycles / CLOCK_HZ, (double)t->to_cycles / CLOCK_HZ);
    int format = t->path ? trace_format_by_ending(t->path) : TRACE_CHROME;
    if (!t->format_given)
        t->format = format < 0 ? TRACE_TEXT : (enum trace_format)format;
    if (t->report && t->format != TRACE_CHROME)
        options_refuse(o, "a report needs a trace in JSON; give a --trace name that ends in .json or .json.gz, or omit "
                          "--trace");
    if (t->lines && t->format != TRACE_CHROME)
        options_refuse(o, "--trace-lines needs a timeline; give a --trace name that ends in .json or .json.gz");
    t->lines |= t->report != NULL;
    if (t->limit_bytes == 0)
        t->limit_bytes = t->format == TRACE_TEXT          ? 0
                         : !t->path || is_packed(t->path) ? LIMIT_PACKED_BYTES
                                                          : LIMIT_DEFAULT_BYTES;
}

/* ---- Nodes ---- */

/* Chooses the nodes that a part of the list names: "7", "0-7", "3.1", "host", "//volume". */
static bool choose_part(const struct topo *t, char *part, bool *chosen)
{
    uint32_t first = node_parse(t, part), last = first;
    char *dash = strchr(part, '-');

    if (first == TOPO_NONE && dash) {
        *dash = '\0';
        first = node_parse(t, part);
        last = node_parse(t, dash + 1);
        *dash = '-';
    }
    if (first == TOPO_NONE || last == TOPO_NONE || first > last)
        return false;
    for (uint32_t node = first; node <= last; node++)
        chosen[node] = true;
    return true;
}

static int choose_nodes(struct machine *m, const char *list)
{
    char *text = memory_copy_text(list, strlen(list)), *rest = text;
    int result = 0;

    m->traced = memory_new(ADDRESSES, sizeof *m->traced);
    for (char *part; result == 0 && (part = strsep(&rest, ",")) != NULL;)
        if (!choose_part(&m->config.topo, part, m->traced))
            result = machine_complain(
                m, "trace-nodes '%s': this machine has no such nodes as '%s'; it has 0-%u%s, and host", list, part,
                (1u << m->config.topo.dim) - 1, m->config.topo.n_io > 0 ? ", I/O nodes as ncube topo names them" : "");
    free(text);
    return result;
}

/* ---- The file ---- */

/* A stream whose bytes are packed on their way into a file. */
static ssize_t packed_write(void *gz, const char *bytes, size_t n)
{
    return n == 0 ? 0 : gzwrite(gz, bytes, (unsigned)n); /* 0 tells stdio of an error */
}

static int packed_close(void *gz)
{
    int status = gzclose(gz);

    if (status != Z_OK && status != Z_ERRNO)
        errno = EIO;
    return status == Z_OK ? 0 : -1;
}

/* Takes the file, and returns the stream that packs; NULL with errno. */
static FILE *pack(FILE *file)
{
    int fd = dup(fileno(file));
    gzFile gz = fclose(file) == 0 && fd >= 0 ? gzdopen(fd, "wb1") : NULL;
    FILE *packed =
        gz ? fopencookie(gz, "w", (cookie_io_functions_t){.write = packed_write, .close = packed_close}) : NULL;

    if (gz && !packed)
        gzclose(gz);
    else if (!gz && fd >= 0)
        close(fd);
    return packed;
}

/* NULL, which json_pack leaves out, is a number that is the default. */
static json_t *microseconds(uint64_t cycles, uint64_t otherwise)
{
    return cycles == otherwise ? NULL : json_real((double)cycles / CYCLES_PER_US);
}

/* Returns [[name, first node, nodes], ...]; NULL for one program: its nodes are those with user code. */
static json_t *describe_programs(const struct job *j)
{
    if (!j || j->options.programs < 2)
        return NULL;
    json_t *programs = json_array();
    for (uint32_t i = 0; i < j->options.programs; i++) {
        const char *path = j->options.program[i].path;

        json_array_append_new(programs, json_pack("[o, i, i]", json_text(host_last_part(path)),
                                                  (int)(j->base + j->part[i].first), (int)j->part[i].nodes));
    }
    return programs;
}

/* Returns members of a JSON object that describe a run: nothing that may differ between equal runs, such as processors
 * or the folder of the images. */
static char *describe_run(const struct machine *m)
{
    const struct tracing *t = &m->options->trace;
    json_t *set = json_array();

    for (uint32_t i = 0; overrides_at(i); i++)
        json_array_append_new(set, json_text(overrides_at(i)));
    json_t *about = json_pack(
        "{s:i, s:i, s:o*, s:o*, s:o*, s:O*, s:o*, s:o*, s:o*}", "dimension", (int)m->config.topo.dim, "front_end",
        (int)m->config.topo.host_si, "machine", m->config.path ? json_text(host_last_part(m->config.path)) : NULL,
        "program", m->options->program ? json_text(m->options->program) : NULL, "programs",
        describe_programs(front_first_job(m->front)), "set", json_array_size(set) > 0 ? set : NULL, "nodes",
        t->nodes ? json_text(t->nodes) : NULL, "from_us", microseconds(t->from_cycles, 0), "to_us",
        microseconds(t->to_cycles, UINT64_MAX));
    json_decref(set);
    char *text = json_dumps(about, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(about);
    if (!text || strlen(text) > TRACE_ABOUT_BYTES) {
        free(text);
        return NULL;
    }
    text[strlen(text) - 1] = '\0'; /* without its braces */
    memmove(text, text + 1, strlen(text));
    return text;
}

static bool is_regular(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Opens the trace's file. Returns NULL after one line. */
static FILE *open_trace(struct machine *m, const char *path)
{
    FILE *file = machine_open_output(m, "--trace", path);

    if (file && is_packed(path) && !(file = pack(file)))
        machine_complain(m, "%s: %s", path, strerror(errno));
    if (file && is_regular(path)) /* terminals, pipes and /dev/null may take more than one output */
        machine_reads(m, path, "the trace");
    return file;
}

/* Opens the report, and puts it before the trace's file; `file` may be NULL, and is closed on failure. Returns NULL
 * after one line. */
static FILE *open_report(struct machine *m, const char *path, FILE *file)
{
    char error[ERROR_LINE_BYTES];
    const char *statistics = m->options->statistics_file;
    FILE *stream = NULL;

    if (statistics && strcmp(statistics, path) == 0)
        machine_complain(m, "%s: --stats writes this file, too; give another one", path);
    else if (machine_check_output(m, "--report", path) == 0 && !(m->reporting = reporting_open(path, error)))
        machine_complain(m, "%s", error);
    if (m->reporting && !(stream = reporting_stream(m->reporting, file)))
        machine_complain(m, "%s: %s", path, strerror(errno));
    if (!stream && file)
        fclose(file);
    return stream;
}

int tracing_open(struct machine *m)
{
    const struct tracing *t = &m->options->trace;
    FILE *file = NULL;

    if (!t->path && !t->report)
        return 0;
    if (t->nodes && choose_nodes(m, t->nodes) != 0)
        return -1;
    if (t->path && !(file = open_trace(m, t->path)))
        return -1;
    if (t->report && !(file = open_report(m, t->report, file)))
        return -1;
    char *about = describe_run(m);
    m->trace = trace_start(file, &(struct trace_options){.format = t->format,
                                                         .limit_bytes = t->limit_bytes,
                                                         .from_cycles = t->from_cycles,
                                                         .to_cycles = t->to_cycles,
                                                         .chosen = m->traced,
                                                         .about = about,
                                                         .topo = &m->config.topo});
    free(about);
    return 0;
}

enum slot_traps tracing_traps(const struct machine *m)
{
    if (!trace_wants(m->trace, TRACE_USER))
        return m->options->user_traps;
    return m->options->trace.lines ? SLOT_TRAPS_WHERE : SLOT_TRAPS_WHY;
}

void tracing_say_end(struct machine *m, enum trace_end how, uint64_t cycles, const char *line)
{
    if (how == TRACE_END_MORE && !m->end_told)
        return;
    m->end_told = true;
    trace_write(m->trace, &(struct trace_record){
                              .kind = TRACE_END, .node = NODE_HOST, .cycles = cycles, .how = how, .text = line});
}

/* Returns 0, or -1 after one line. */
static int close_report(struct machine *m, bool wanted)
{
    char error[ERROR_LINE_BYTES] = "";
    int result = m->reporting ? reporting_close(m->reporting, wanted, error) : 0;

    m->reporting = NULL;
    return result == 0 ? 0 : machine_complain(m, "%s", error);
}

int tracing_close(struct machine *m)
{
    const struct tracing *t = &m->options->trace;
    const char *name = t->path ? t->path : t->report;

    if (!m->trace)
        return close_report(m, false);
    if (m->sched) {
        ncu_end_waits(m->ncu, sched_now(m->sched));
        sched_end_spells(m->sched);
    }
    uint64_t full_cycles = trace_full_cycles(m->trace);
    if (trace_close(m->trace, m->sched ? sched_now(m->sched) : 0) != 0) {
        int reason = errno;

        close_report(m, false);
        if (t->path && is_regular(t->path))
            unlink(t->path);
        return machine_complain(m, "%s: %s; there is no trace", name, strerror(reason));
    }
    if (full_cycles != UINT64_MAX)
        fprintf(stderr,
                "ncube: %s: the trace has reached its limit at %.6f s; give a larger --trace-limit, or trace less\n",
                name, (double)full_cycles / CLOCK_HZ);
    return close_report(m, m->sched != NULL);
}
