/*
 * The trace's writers, from records that a table makes: the text of each event, windows, nodes, limits. JSON is read by
 * jansson.
 */
#include "emu/trace/trace.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

TestSuite(trace, .timeout = 600);

static struct topo_io_node io_node = {
    .node = NODE_IO(3, 0), .si = {3, 1, [2 ... 7] = TOPO_NONE}, .ndrives = 1, .drive = {{.volume = "df00"}}};
static const struct topo topo = {.dim = 2, .ram_bytes = 1 << 20, .n_io = 1, .io = &io_node};

struct written {
    char *text;
    size_t bytes;
    uint64_t full_cycles;
};

/* Writes n records. The caller frees the text. */
static struct written write_all(struct trace_options o, const struct trace_record *r, size_t n, uint64_t end_cycles)
{
    struct written w;

    o.topo = &topo;
    o.to_cycles = o.to_cycles ? o.to_cycles : UINT64_MAX;
    struct trace *t = trace_start(open_memstream(&w.text, &w.bytes), &o);
    for (size_t i = 0; i < n; i++)
        trace_write(t, &r[i]);
    w.full_cycles = trace_full_cycles(t);
    cr_expect_eq(trace_close(t, end_cycles), 0);
    return w;
}

/* ---- Text ---- */

static const struct line {
    struct trace_record record;
    const char *text;
} lines[] = {
    {{.kind = TRACE_SEND, .cycles = 5, .node = 1, .peer = 2, .tag = 0x12, .bytes = 3},
     "5 1 send to=2 tag=0x12 bytes=3\n"},
    {{.kind = TRACE_SEND, .cycles = 5, .node = 1}, "5 1 send to=0 tag=0 bytes=0\n"},
    {{.kind = TRACE_RECEIVE, .node = 1, .tag = 0x204004, .bytes = 16},
     "0 1 receive from=0 tag=0x204004 bytes=16 context=4\n"},
    {{.kind = TRACE_DAMAGE, .node = 1, .peer = 3}, "0 1 damage from=3 tag=0 bytes=0\n"},
    {{.kind = TRACE_ARRIVAL, .node = NODE_HOST, .peer = 3}, "0 32768 arrival from=3 tag=0 bytes=0\n"},
    {{.kind = TRACE_HEADER, .peer = 4, .channel = 13, .bytes = 9}, "0 0 header from=4 channel=13 bytes=9\n"},
    {{.kind = TRACE_FAILED, .peer = 4, .status = -6}, "0 0 failed to=4 status=-6\n"},
    {{.kind = TRACE_INTERRUPT, .cycles = 300, .since = 100}, "300 0 interrupt since=100\n"},
    {{.kind = TRACE_DISK, .node = NODE_IO(3, 0), .write = true, .sector = 8, .bytes = 32},
     "0 16432 disk drive=0 write sector=8 sectors=32\n"},
    {{.kind = TRACE_DISK_DONE, .status = -5}, "0 0 disk-done status=-5\n"},
    {{.kind = TRACE_EXIT, .status = 3, .how = 4}, "0 0 exit status=3 how=4\n"},
    {{.kind = TRACE_LINK, .dies = true}, "0 0 link dies\n"},
    {{.kind = TRACE_NODE}, "0 0 node recovers\n"},
    {{.kind = TRACE_MARK, .text = "solve"}, "0 0 mark solve\n"},
    {{.kind = TRACE_USER, .cycles = 3}, ""},
    {{.kind = TRACE_CHANNEL, .cycles = 3}, ""},
};

Test(trace, text_has_a_line_for_each_event)
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct written w = write_all((struct trace_options){.format = TRACE_TEXT}, &lines[i].record, 1, 400);

        cr_expect_str_eq(w.text, lines[i].text, "'%s', not '%s'", w.text, lines[i].text);
        free(w.text);
    }
}

/* ---- Windows, nodes, limits ---- */

static const struct trace_record sends[] = {
    {.kind = TRACE_SEND, .cycles = 10, .node = 0, .number = 1},
    {.kind = TRACE_SEND, .cycles = 20, .node = 1, .number = 2},
    {.kind = TRACE_SEND, .cycles = 30, .node = 2, .number = 3},
    {.kind = TRACE_SEND, .cycles = 40, .node = NODE_HOST, .number = 4},
};
#define SENDS (sizeof sends / sizeof *sends)

static size_t count(const char *text, const char *word)
{
    size_t n = 0;

    for (; (text = strstr(text, word)); text += strlen(word))
        n++;
    return n;
}

Test(trace, a_window_includes_both_its_ends)
{
    struct written w = write_all((struct trace_options){.from_cycles = 20, .to_cycles = 30}, sends, SENDS, 50);

    cr_expect_str_eq(w.text, "20 1 send to=0 tag=0 bytes=0\n30 2 send to=0 tag=0 bytes=0\n");
    free(w.text);
}

Test(trace, only_chosen_nodes_are_traced)
{
    bool *chosen = calloc(NODE_HOST + 1, sizeof *chosen);

    chosen[1] = chosen[NODE_HOST] = true;
    struct written w = write_all((struct trace_options){.chosen = chosen}, sends, SENDS, 50);
    cr_expect_str_eq(w.text, "20 1 send to=0 tag=0 bytes=0\n40 32768 send to=0 tag=0 bytes=0\n");
    free(w.text);
    free(chosen);
}

Test(trace, a_limit_ends_the_text_after_a_line)
{
    for (uint64_t limit = 1; limit <= 130; limit++) {
        struct written w = write_all((struct trace_options){.limit_bytes = limit}, sends, SENDS, 50);

        cr_expect_leq(w.bytes, limit);
        cr_expect(w.bytes == 0 || w.text[w.bytes - 1] == '\n', "half a line at %lu", limit);
        cr_expect_eq(w.full_cycles, w.bytes == 120 ? UINT64_MAX : 10 * (count(w.text, "send") + 1), "limit %lu", limit);
        free(w.text);
    }
}

Test(trace, text_has_waits_in_calls_only)
{
    static const struct trace_call call = {"MPI_Recv", "row", "in MPI_Recv from 2, tag 7, communicator 'row'"};
    const struct trace_record waits[] = {{.kind = TRACE_IDLE, .since = 10, .cycles = 20, .text = "waits"},
                                         {.kind = TRACE_IDLE, .since = 30, .cycles = 45, .call = &call}};
    struct written w = write_all((struct trace_options){0}, waits, 2, 50);

    cr_expect_str_eq(w.text, "45 0 waited since=30 in MPI_Recv from 2, tag 7, communicator 'row'\n");
    free(w.text);
}

/* ---- JSON ---- */

static const struct trace_record spells[] = {
    {.kind = TRACE_USER, .cycles = 260, .node = 0, .since = 0, .how = TRACE_BY_INTERRUPT},
    {.kind = TRACE_USER, .since = 100, .cycles = 200, .node = 1, .how = 2 /* nwrite */},
    {.kind = TRACE_MARK, .cycles = 210, .node = 1, .text = "a \"phase\"\n\x80"},
    {.kind = TRACE_IDLE, .since = 220, .cycles = 240, .node = 1, .text = "waits"},
    {.kind = TRACE_USER, .since = 250, .cycles = 300, .node = 1, .how = TRACE_BY_INTERRUPT},
    {.kind = TRACE_HANDLED, .since = 300, .cycles = 320, .node = 1},
    {.kind = TRACE_RECEIVE, .since = 230, .cycles = 310, .node = 1, .peer = 0, .number = 9},
    {.kind = TRACE_USER, .since = 320, .cycles = 330, .node = 1, .how = TRACE_BY_FAULT},
    {.kind = TRACE_CHANNEL, .asked = 1, .since = 5, .cycles = 90, .node = 0, .how = 1, .bytes = 8, .number = 9},
    {.kind = TRACE_QUEUE, .cycles = 340, .since = 340, .node = NODE_IO(3, 0), .bytes = 2},
    {.kind = TRACE_IDLE, .since = 340, .cycles = 360, .node = NODE_IO(3, 0), .how = NCU_WAIT_DISK, .text = "waits"},
    {.kind = TRACE_DRIVE, .since = 340, .cycles = 390, .node = NODE_IO(3, 0), .bytes = 8},
    {.kind = TRACE_ARRIVAL, .cycles = 395, .node = NODE_HOST, .peer = 1, .number = 10, .since = 330, .bytes = 4000},
    {.kind = TRACE_IDLE,
     .since = 400,
     .cycles = 410,
     .node = 0,
     .how = NCU_WAIT_POLL,
     .text = "not told",
     .call = &(const struct trace_call){"MPI_Wait", "a \"row\"", "in MPI_Wait, communicator 'a \"row\"'"}},
    {.kind = TRACE_MARK, .cycles = 40000, .node = 1, .text = "last"},
};
#define SPELLS (sizeof spells / sizeof *spells)

static json_t *parse(const struct written *w, const char *what)
{
    json_error_t error;
    json_t *all = json_loads(w->text, 0, &error);

    cr_assert_not_null(all, "%s: %s at byte %d: %s", what, error.text, error.position, w->text);
    json_t *events = json_incref(json_object_get(all, "traceEvents"));
    cr_assert(json_is_array(events));
    json_decref(all);
    return events;
}

static bool has_event(const json_t *events, const char *phase, const char *name, double ts, double duration)
{
    size_t i;
    json_t *e;

    json_array_foreach(events, i, e)
    {
        if (strcmp(json_string_value(json_object_get(e, "ph")), phase) == 0 &&
            strcmp(json_string_value(json_object_get(e, "name")), name) == 0 &&
            json_number_value(json_object_get(e, "ts")) == ts &&
            (duration < 0 || json_number_value(json_object_get(e, "dur")) == duration))
            return true;
    }
    return false;
}

static const struct event {
    const char *phase, *name;
    double ts, duration; /* -1: it has none */
} expected[] = {
    {"X", "kernel", 0, 5},          {"X", "user", 5, 5},
    {"X", "nwrite", 10, 2.5},       {"X", "waits", 11, 1},
    {"X", "user", 12.5, 2.5},       {"X", "interrupt", 15, 1},
    {"X", "user", 16, 0.5},         {"X", "page fault", 16.5, 2033.5}, /* to the end */
    {"s", "msg", 11.5, -1},         {"f", "msg", 15.5, -1},
    {"b", "a ?phase???", 10.5, -1}, {"e", "a ?phase???", 2000, -1},
    {"e", "last", 2050, -1},        {"X", "0: 8", 0.25, 4.25},
    {"X", "read", 17, 2.5},         {"C", "queue of df00", 17, -1},
    {"C", "arriving", 0, -1},       {"X", "receive", 19.75, 0.05},
};

Test(trace, json_has_slices_arrows_phases_and_counters)
{
    struct written w = write_all((struct trace_options){.format = TRACE_CHROME}, spells, SPELLS, 41000);
    json_t *events = parse(&w, "all");

    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        cr_expect(has_event(events, expected[i].phase, expected[i].name, expected[i].ts, expected[i].duration),
                  "no %s %s at %g in %s", expected[i].phase, expected[i].name, expected[i].ts, w.text);
    json_decref(events);
    free(w.text);
}

/* What `ncube report` needs beside the slices. */
static const char *const details[] = {
    "\"otherData\":{\"ncube_trace\":1,\"dimension\":5},",
    "\"name\":\"node 0 to node 1\",\"from\":0,\"to\":1}",
    "\"name\":\"0: 8\",\"args\":{\"message\":9,\"waited\":0.20}}",
    "\"name\":\"msg\",\"args\":{\"to\":1,\"bytes\":0,\"type\":0}}",
    "\"cat\":\"program\",\"name\":\"waits\"",
    "\"cat\":\"message\",\"name\":\"waits in MPI_Wait, communicator 'a ?row?'\",\"args\":{\"call\":\"MPI_Wait\","
    "\"communicator\":\"a ?row?\"}}",
    "\"si\":[3,1,-1,-1,-1,-1,-1,-1],\"volumes\":[\"df00\"]",
    "\"name\":\"df00\",\"node\":16432",
};

Test(trace, json_has_what_a_report_needs)
{
    static const char end[] = "\n],\"limit\":1}\n";
    struct trace_options o = {.format = TRACE_CHROME, .about = "\"dimension\":5"};
    struct written w = write_all(o, spells, SPELLS, 41000);

    for (size_t i = 0; i < sizeof details / sizeof *details; i++)
        cr_expect(strstr(w.text, details[i]), "no %s in %s", details[i], w.text);
    cr_expect_not(strstr(w.text, end));
    free(w.text);
    o.limit_bytes = 700;
    w = write_all(o, spells, SPELLS, 41000);
    cr_expect_str_eq(w.text + w.bytes - (sizeof end - 1), end);
    free(w.text);
}

Test(trace, json_is_whole_at_every_limit)
{
    struct written all = write_all((struct trace_options){.format = TRACE_CHROME}, spells, SPELLS, 41000);

    for (uint64_t limit = 100; limit < all.bytes + 400; limit += 7) {
        struct written w =
            write_all((struct trace_options){.format = TRACE_CHROME, .limit_bytes = limit}, spells, SPELLS, 41000);

        json_decref(parse(&w, "limited"));
        cr_expect_leq(w.bytes, limit);
        cr_expect_eq(count(w.text, "\"ph\":\"b\""), count(w.text, "\"ph\":\"e\""), "phases do not match at %lu", limit);
        cr_expect_eq(count(w.text, "\"ph\":\"s\""), count(w.text, "\"ph\":\"f\""), "arrows do not match at %lu", limit);
        free(w.text);
    }
    free(all.text);
}

Test(trace, json_is_cut_to_its_window)
{
    struct written w = write_all((struct trace_options){.format = TRACE_CHROME, .from_cycles = 120, .to_cycles = 310},
                                 spells, SPELLS, 41000);
    json_t *events = parse(&w, "window");

    cr_expect(has_event(events, "X", "user", 6, 4));
    cr_expect(has_event(events, "X", "interrupt", 15, 0.5));
    cr_expect(!has_event(events, "X", "user", 16, 0.5));
    json_decref(events);
    free(w.text);
}

/* ---- PICL ---- */

static const struct trace_record exchange[] = {
    {.kind = TRACE_SEND, .cycles = 20000000, .node = 0, .peer = 1, .tag = 7, .bytes = 8},
    {.kind = TRACE_WAIT, .cycles = 20000001, .node = 1, .how = NCU_WAIT_MESSAGE, .tag = NCU_WAIT_ANY},
    {.kind = TRACE_RECEIVE, .cycles = 20000300, .node = 1, .peer = 0, .tag = 7, .bytes = 8},
    {.kind = TRACE_SEND, .cycles = 20000400, .node = 2, .peer = 2, .tag = 7, .bytes = 1, .dim_plus_1 = 2},
    {.kind = TRACE_RECEIVE, .cycles = 20000500, .node = 3, .peer = 2, .tag = 7, .bytes = 1},
    {.kind = TRACE_RECEIVE, .cycles = 20000600, .node = 3, .peer = NODE_HOST, .tag = 7, .bytes = 1},
    {.kind = TRACE_MARK, .cycles = 20000700, .node = 3, .text = "a"},
    {.kind = TRACE_MARK, .cycles = 20000800, .node = 3, .text = "b"},
};

Test(trace, picl_has_sends_receives_and_phases)
{
    static const char text[] = "-3 -901 0.00000000 0 0 0\n-3 -901 0.00000000 1 0 0\n-3 -901 0.00000000 2 0 0\n"
                               "-3 -901 0.00000000 3 0 0\n-3 -901 0.00000000 4 0 0\n"
                               "-3 -21 1.00000000 0 0 3 2 8 7 1\n-4 -21 1.00000000 0 0 0\n"
                               "-3 -51 1.00000005 1 0 1 2 -1\n-4 -51 1.00001500 1 0 3 2 8 7 0\n"
                               "-3 -21 1.00002000 2 0 3 2 1 7 3\n-4 -21 1.00002000 2 0 0\n"
                               "-3 -51 1.00002500 3 0 1 2 7\n-4 -51 1.00002500 3 0 3 2 1 7 2\n"
                               "-3 0 1.00003500 3 0 0\n-4 0 1.00004000 3 0 0\n-3 1 1.00004000 3 0 0\n"
                               "-4 -901 1.00005000 0 0 0\n-4 -901 1.00005000 1 0 0\n-4 -901 1.00005000 2 0 0\n"
                               "-4 1 1.00005000 3 0 0\n-4 -901 1.00005000 3 0 0\n-4 -901 1.00005000 4 0 0\n";
    struct written w =
        write_all((struct trace_options){.format = TRACE_PICL}, exchange, sizeof exchange / sizeof *exchange, 20001000);

    cr_expect_str_eq(w.text, text, "%s", w.text);
    free(w.text);
}

/* ---- Failure, names ---- */

Test(trace, a_full_disk_is_an_error_at_the_end)
{
    for (int format = 0; format < TRACE_FORMATS; format++) {
        struct trace *t = trace_start(
            fopen("/dev/full", "w"),
            &(struct trace_options){.format = (enum trace_format)format, .to_cycles = UINT64_MAX, .topo = &topo});
        for (int i = 0; i < 100000; i++)
            trace_write(t, &sends[0]);
        cr_expect_eq(trace_close(t, 5), -1);
        cr_expect_eq(errno, ENOSPC);
    }
}

Test(trace, formats_are_found_by_name_and_by_ending)
{
    char names[64];

    trace_format_names(names, sizeof names);
    cr_expect_str_eq(names, "text, chrome or picl");
    cr_expect_eq(trace_format_by_name("picl"), TRACE_PICL);
    cr_expect_eq(trace_format_by_name("JSON"), -1);
    cr_expect_eq(trace_format_by_ending("a/b.json"), TRACE_CHROME);
    cr_expect_eq(trace_format_by_ending("b.json.gz"), TRACE_CHROME);
    cr_expect_eq(trace_format_by_ending(".json"), -1);
    cr_expect_eq(trace_format_by_ending("b.trf"), TRACE_PICL);
    cr_expect_eq(trace_format_by_ending("trace"), -1);
}
