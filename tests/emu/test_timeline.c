/*
 * Timelines read from text, by emu/report: spells, what they add up to, the critical path, rows that fit on a page, and
 * files that are not timelines.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "emu/report/cells.h"
#include "emu/report/critical.h"
#include "emu/report/timeline_read.h"
#include "vertex/contract/system.h"

TestSuite(timeline, .timeout = 600);

#define HEAD "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"ncube_trace\":1,\"dimension\":2},\"traceEvents\":[\n"
#define END  "\n]}\n"
#define US   CYCLES_PER_US

static void read_text(struct timeline *t, struct reader *r, const char *text, size_t piece)
{
    size_t n = strlen(text);

    timeline_begin(t);
    reader_begin(r, t);
    for (size_t at = 0; at < n; at += piece)
        reader_feed(r, text + at, n - at < piece ? n - at : piece);
}

/* Node 0 works, waits for what node 1 sends it after work of its own, and works on. */
static const char exchange[] =
    HEAD "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"ts\":0,\"name\":\"thread_name\",\"args\":{\"name\":\"node 1\"}},\n"
         "{\"ph\":\"M\",\"pid\":2,\"tid\":2,\"ts\":0,\"name\":\"thread_name\",\"args\":{\"name\":\"x\",\"from\":1,"
         "\"to\":0}},\n"
         "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":300,\"name\":\"user\"},\n"
         "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":300,\"dur\":20,\"name\":\"nwrite\"},\n"
         "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":320,\"dur\":30,\"name\":\"user\"},\n"
         "{\"ph\":\"X\",\"pid\":2,\"tid\":2,\"ts\":310,\"dur\":80,\"name\":\"1: "
         "800\",\"args\":{\"message\":7,\"waited\":10}},\n"
         "{\"ph\":\"X\",\"pid\":1,\"tid\":0,\"ts\":0,\"dur\":100,\"name\":\"user\"},\n"
         "{\"ph\":\"X\",\"pid\":1,\"tid\":0,\"ts\":110,\"dur\":290,\"cat\":\"message\",\"name\":\"waits in nread\"},\n"
         "{\"ph\":\"X\",\"pid\":1,\"tid\":0,\"ts\":100,\"dur\":320,\"name\":\"nread\"},\n"
         "{\"ph\":\"s\",\"pid\":1,\"tid\":1,\"ts\":300,\"cat\":\"m\",\"id\":458752,\"name\":\"msg\","
         "\"args\":{\"to\":0,\"bytes\":800,\"type\":5}},\n"
         "{\"ph\":\"f\",\"pid\":1,\"tid\":0,\"ts\":400,\"cat\":\"m\",\"id\":458752,\"name\":\"msg\",\"bp\":\"e\"},\n"
         "{\"ph\":\"X\",\"pid\":1,\"tid\":0,\"ts\":420,\"dur\":180.05,\"name\":\"user\"}" END;

Test(timeline, a_wait_is_cut_out_of_its_call)
{
    static const struct {
        enum state state;
        uint64_t from, to;
    } expected[] = {{STATE_USER, 0, 100 * US},
                    {STATE_KERNEL, 100 * US, 110 * US},
                    {STATE_MESSAGE, 110 * US, 400 * US},
                    {STATE_KERNEL, 400 * US, 420 * US},
                    {STATE_USER, 420 * US, 600 * US + 1}};

    for (size_t piece = 1; piece < sizeof exchange; piece += 37) {
        struct timeline t;
        struct reader r;

        read_text(&t, &r, exchange, piece);
        cr_assert_eq(reader_end(&r), 0, "in pieces of %zu bytes: %s", piece, r.error);
        cr_assert_eq(t.nodes, 2);
        cr_assert_eq(t.node[0].address, 0, "nodes are in the order of their addresses");
        cr_assert_eq(t.node[0].n, 5);
        for (size_t i = 0; i < 5; i++) {
            const struct spell *s = &t.spell[t.node[0].first + i];

            cr_expect_eq(s->state, expected[i].state, "spell %zu", i);
            cr_expect_eq(s->from, expected[i].from, "spell %zu", i);
            cr_expect_eq(s->to, expected[i].to, "spell %zu", i);
        }
        timeline_free(&t);
    }
}

Test(timeline, waits_are_told_apart)
{
    static const struct {
        const char *category;
        enum state state;
    } waits[] = {{"message", STATE_MESSAGE}, {"reply", STATE_REPLY}, {"drive", STATE_DRIVE}, {"memory", STATE_MEMORY},
                 {"program", STATE_FREE},    {"time", STATE_OTHER},  {"poll", STATE_OTHER},  {"child", STATE_OTHER}};

    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        struct timeline t;
        struct reader r;
        char text[512];

        snprintf(text, sizeof text,
                 HEAD "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":3,\"cat\":\"%s\",\"name\":\"x\"}" END,
                 waits[i].category);
        read_text(&t, &r, text, sizeof text);
        cr_assert_eq(reader_end(&r), 0, "%s: %s", waits[i].category, r.error);
        cr_expect_eq(t.spell[0].state, waits[i].state, "%s", waits[i].category);
        timeline_free(&t);
    }
}

Test(timeline, facts_are_of_the_programs_time)
{
    struct timeline t;
    struct reader r;
    struct facts f;

    read_text(&t, &r, exchange, sizeof exchange);
    cr_assert_eq(reader_end(&r), 0);
    facts_count(&f, &t);
    cr_expect_eq(f.begin, 0);
    cr_expect_eq(f.end, 600 * US + 1);
    cr_expect_eq(f.last_node, 0);
    cr_expect_eq(f.time[0][STATE_USER], 280 * US + 1);
    cr_expect_eq(f.time[0][STATE_KERNEL], 30 * US);
    cr_expect_eq(f.time[0][STATE_MESSAGE], 290 * US);
    cr_expect_eq(facts_state(&f, &t, STATE_USER), 610 * US + 1);
    cr_expect_eq(f.messages, 1);
    cr_expect_eq(f.cube_hops, 1);
    cr_expect_eq(f.cube_bytes, 800);
    cr_expect_eq(f.channel[0].busy, 80 * US);
    cr_expect_eq(f.channel[0].waited, 10 * US);
    cr_expect_eq(f.channel[0].bytes, 800);
    cr_expect_eq(f.channel[0].queue_max, 1);
    facts_free(&f);
    timeline_free(&t);
}

/* A wait counts from the program's begin on, which is that of the node that begins last. */
Test(timeline, waits_in_calls_are_counted)
{
#define USER(tid, ts) "{\"ph\":\"X\",\"pid\":1,\"tid\":" tid ",\"ts\":" ts ",\"dur\":5,\"name\":\"user\"}"
#define WAIT(tid, ts, dur, communicator)                                                                        \
    "{\"ph\":\"X\",\"pid\":1,\"tid\":" tid ",\"ts\":" ts ",\"dur\":" dur ",\"cat\":\"message\",\"name\":\"w\"," \
    "\"args\":{\"call\":\"MPI_Recv\",\"communicator\":\"" communicator "\"}},\n"
    static const char begins[] = HEAD USER("1", "10") ",\n" USER("0", "20") ",\n";
    static const char waits[] = WAIT("0", "15", "25", "a") WAIT("1", "40", "10", "a") WAIT("0", "60", "5", "b");
    static const char ends[] = USER("1", "100") END;
    char text[sizeof begins + sizeof waits + sizeof ends];
    struct timeline t;
    struct reader r;
    struct facts f;

    snprintf(text, sizeof text, "%s%s%s", begins, waits, ends);
    read_text(&t, &r, text, sizeof text);
    cr_assert_eq(reader_end(&r), 0, "%s", r.error);
    facts_count(&f, &t);
    cr_assert_eq(f.calls, 2);
    cr_expect_str_eq(t.name[f.call[0].communicator], "a");
    cr_expect_str_eq(t.name[f.call[0].call], "MPI_Recv");
    cr_expect_eq(f.call[0].times, 2);
    cr_expect_eq(f.call[0].total, 30 * US);
    cr_expect_eq(f.call[0].longest, 20 * US);
    cr_expect_eq(f.call[1].times, 1);
    cr_expect_eq(f.call[1].total, 5 * US);
    cr_expect_eq(f.call[1].longest_node, 0);
    facts_free(&f);
    timeline_free(&t);
}

Test(timeline, the_critical_path_goes_back_to_the_sender)
{
    struct timeline t;
    struct reader r;
    struct facts f;
    struct critical c;
    size_t n;

    read_text(&t, &r, exchange, sizeof exchange);
    cr_assert_eq(reader_end(&r), 0);
    facts_count(&f, &t);
    critical_find(&c, &f, &t);
    cr_expect_eq(c.time[STEP_USER], 480 * US + 1);
    cr_expect_eq(c.time[STEP_KERNEL], 20 * US);
    cr_expect_eq(c.time[STEP_MESSAGE], 90 * US);
    cr_expect_eq(c.time[STEP_CHANNEL], 10 * US);
    struct stretch *s = critical_stretches(&c, &n);
    cr_assert_eq(n, 5);
    cr_expect_eq(s[0].kind, STEP_USER);
    cr_expect_eq(s[0].node, 1, "the longest stretch is the sender's work");
    cr_expect_eq(s[0].time, 300 * US);
    cr_expect_eq(s[4].kind, STEP_CHANNEL);
    cr_expect_eq(s[4].channel, 0);
    free(s);
    critical_free(&c);
    facts_free(&f);
    timeline_free(&t);
}

Test(timeline, a_queue_is_as_long_as_the_headers_that_wait)
{
    static const struct hold holds[] = {{.from = 0, .to = 100},
                                        {.from = 100, .to = 200, .waited = 90},
                                        {.from = 200, .to = 300, .waited = 150},
                                        {.from = 300, .to = 400, .waited = 50},
                                        {.from = 500, .to = 600}};
    struct timeline t;
    struct facts f;

    timeline_begin(&t);
    timeline_add(&t, channel)->number = 3;
    for (size_t i = 0; i < sizeof holds / sizeof *holds; i++)
        *timeline_add(&t, hold) = holds[i];
    t.end = 600;
    timeline_sort(&t);
    facts_count(&f, &t);
    cr_expect_eq(f.channel[0].queue_max, 2);
    cr_expect_eq(f.channel[0].busy, 500);
    cr_expect_eq(f.channel[0].waited, 290);
    facts_free(&f);
    timeline_free(&t);
}

Test(timeline, rows_fit_on_the_page_and_show_what_took_most)
{
    struct timeline t;
    struct cell_rows c;
    uint64_t covered = 0;

    timeline_begin(&t);
    uint32_t node = timeline_node(&t, 0), name = timeline_name(&t, "x");
    for (uint64_t i = 0; i < 5000; i++) { /* the kernel takes most of the first half, user code of the second */
        uint64_t kernel = i < 2500 ? 20 : 10;

        *timeline_add(&t, spell) = (struct spell){30 * i, 30 * i + kernel, node, name, STATE_KERNEL};
        *timeline_add(&t, spell) = (struct spell){30 * i + kernel, 30 * i + 30, node, name, STATE_USER};
    }
    *timeline_add(&t, spell) = (struct spell){150000, 900000, node, name, STATE_FREE};
    t.end = 900000;
    timeline_sort(&t);
    cells_make(&c, &t, (const bool[]){false}, NULL, 0, 100);
    cr_assert_eq(c.rows, 1);
    cr_expect_leq(c.row[0].cells, 100);
    cr_expect_geq(c.row[0].cells, 20, "%zu cells show too little", c.row[0].cells);
    for (size_t i = 0; i < c.row[0].cells; i++) {
        const struct cell *k = &c.row[0].cell[i];

        covered += k->to - k->from;
        if (k->to <= 75000 || k->from >= 75000)
            cr_expect_eq(k->state,
                         k->from >= 150000 ? STATE_FREE
                         : k->to <= 75000  ? STATE_KERNEL
                                           : STATE_USER,
                         "cell %zu", i);
    }
    cr_expect_eq(covered, 900000);
    cells_free(&c);
    timeline_free(&t);
}

static const struct {
    const char *name, *text, *expected;
} wrong[] = {
    {"nothing", "", "empty"},
    {"text", "hello\n", "not a timeline of ncube"},
    {"text without a new line", "hello", "not a timeline of ncube"},
    {"another program's trace", "[{\"ph\":\"X\"}]\n", "not a timeline of ncube"},
    {"no version", "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" END, "does not give its version"},
    {"another version",
     "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"ncube_trace\":7,\"dimension\":2},\"traceEvents\":[\n" END,
     "of version 7, and this ncube reads version 1"},
    {"a cube of 2^60",
     "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"ncube_trace\":1,\"dimension\":60},\"traceEvents\":[\n" END,
     "number of nodes"},
    {"cut after a line", HEAD "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":300,\"name\":\"user\"},\n",
     "ends after line 2, before its end"},
    {"cut in a line", HEAD "{\"ph\":\"X\",\"pid\":1,\"ti", "ends in the middle of line 2"},
    {"no JSON", HEAD "{\"ph\":,\n" END, "line 2 is not an event of ncube's: '{\"ph\":,'"},
    {"an unknown event", HEAD "{\"ph\":\"Q\",\"pid\":1,\"tid\":1,\"ts\":0}" END, "line 2 is not an event"},
    {"a node that cannot be", HEAD "{\"ph\":\"X\",\"pid\":1,\"tid\":40000,\"ts\":0,\"dur\":3,\"name\":\"user\"}" END,
     "line 2 is not an event"},
    {"a slice without an end", HEAD "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":0,\"name\":\"user\"}" END,
     "line 2 is not an event"},
    {"a time below 0", HEAD "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":-1,\"dur\":3,\"name\":\"user\"}" END,
     "line 2 is no"},
    {"an arrow from nowhere",
     HEAD "{\"ph\":\"f\",\"pid\":1,\"tid\":1,\"ts\":3,\"cat\":\"m\",\"id\":1,\"name\":\"msg\"}" END,
     "line 2 is not an event"},
    {"a channel without a name",
     HEAD "{\"ph\":\"X\",\"pid\":2,\"tid\":9,\"ts\":0,\"dur\":3,\"name\":\"1: 8\",\"args\":{\"message\":1}}" END,
     "channel 9, which the timeline does not name"},
    {"a drive without a name", HEAD "{\"ph\":\"X\",\"pid\":3,\"tid\":9,\"ts\":0,\"dur\":3,\"name\":\"read\"}" END,
     "drive 9, which the timeline does not name"},
    {"something after the end", HEAD "]}\n{}\n", "line 3 follows the timeline's end"},
};

Test(timeline, what_is_no_timeline_is_refused_with_its_line)
{
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct timeline t;
        struct reader r;

        read_text(&t, &r, wrong[i].text, 11);
        cr_expect_eq(reader_end(&r), -1, "%s", wrong[i].name);
        cr_expect(strstr(r.error, wrong[i].expected), "%s: %s", wrong[i].name, r.error);
        timeline_free(&t);
    }
}

Test(timeline, an_endless_line_is_refused)
{
    static char x[READER_LINE_MAX];
    struct timeline t;
    struct reader r;

    memset(x, 'x', sizeof x);
    read_text(&t, &r, HEAD, 1000);
    for (int i = 0; i < 3; i++)
        reader_feed(&r, x, sizeof x);
    cr_expect_eq(reader_end(&r), -1);
    cr_expect(strstr(r.error, "line 2 is longer"), "%s", r.error);
    timeline_free(&t);
}

/* What happens while other nodes are still loaded is not the program's; but a node may load a program at any time. */
Test(timeline, a_program_begins_with_its_last_node)
{
    static const struct {
        uint32_t type;
        uint64_t begin;
    } rows[] = {{N_EXIT, 100}, {N_RCLAIM, 20}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct timeline t;
        struct facts f;

        timeline_begin(&t);
        uint32_t a = timeline_node(&t, 0), b = timeline_node(&t, 1), host = timeline_node(&t, NODE_HOST);
        uint32_t name = timeline_name(&t, "x");
        *timeline_add(&t, letter) =
            (struct letter){.sent = 110, .received = 120, .from = a, .to = host, .type = rows[i].type};
        *timeline_add(&t, spell) = (struct spell){20, 90, a, name, STATE_USER};
        *timeline_add(&t, spell) = (struct spell){100, 150, b, name, STATE_USER};
        *timeline_add(&t, spell) = (struct spell){110, 140, a, name, STATE_USER};
        t.end = 160;
        timeline_sort(&t);
        facts_count(&f, &t);
        cr_expect_eq(f.begin, rows[i].begin, "type 0x%x: it begins at %lu", rows[i].type, f.begin);
        cr_expect_eq(f.end, 150);
        facts_free(&f);
        timeline_free(&t);
    }
}

/* Messages that are received when they are sent, and a front end that they go around: the search ends all the same. */
Test(timeline, a_path_in_a_circle_ends)
{
    struct timeline t;
    struct facts f;
    struct critical c;

    timeline_begin(&t);
    uint32_t a = timeline_node(&t, 0), host = timeline_node(&t, NODE_HOST), name = timeline_name(&t, "x");
    *timeline_add(&t, letter) = (struct letter){.sent = 50, .received = 50, .from = a, .to = host};
    *timeline_add(&t, letter) = (struct letter){.sent = 50, .received = 50, .from = host, .to = a};
    *timeline_add(&t, letter) = (struct letter){.sent = 50, .received = 60, .from = host, .to = a};
    *timeline_add(&t, spell) = (struct spell){0, 10, a, name, STATE_USER};
    *timeline_add(&t, spell) = (struct spell){10, 60, a, name, STATE_REPLY};
    *timeline_add(&t, spell) = (struct spell){60, 90, a, name, STATE_USER};
    t.end = 90;
    timeline_sort(&t);
    facts_count(&f, &t);
    critical_find(&c, &f, &t);
    uint64_t sum = 0;
    for (int k = 0; k < STEP_KINDS; k++)
        sum += c.time[k];
    cr_expect_eq(sum, 90, "the path is as long as the program: %lu", sum);
    critical_free(&c);
    facts_free(&f);
    timeline_free(&t);
}

Test(timeline, channels_that_are_only_played_have_their_holds_or_as_many_as_fit)
{
    enum { SHORT = 1001 };
    struct timeline t;
    struct cell_rows c;

    timeline_begin(&t);
    for (uint32_t i = 0; i < 3; i++)
        *timeline_add(&t, channel) = (struct timeline_channel){.number = i, .from = i, .to = i ^ 1};
    for (uint64_t i = 0; i < SHORT; i++)
        *timeline_add(&t, hold) = (struct hold){.from = 13 * i, .to = 13 * i + 7, .channel = 1, .bytes = i};
    *timeline_add(&t, hold) = (struct hold){.from = 3, .to = 13011, .channel = 2};
    t.end = 13 * SHORT;
    timeline_sort(&t);
    for (size_t most = 51; most <= 2 * SHORT; most += 2 * SHORT - 51) {
        cells_make_channels(&c, &t, (const uint32_t[]){2, 0, 1}, 3, most);
        cr_assert_eq(c.rows, 3);
        cr_assert_eq(c.row[0].cells, 1);
        cr_expect_eq(c.row[0].cell[0].from, 3);
        cr_expect_eq(c.row[0].cell[0].to, 13011);
        cr_expect_eq(c.row[1].cells, 0);
        size_t n = c.row[2].cells;
        cr_expect(most < SHORT ? n > 10 && n < most : n == SHORT, "%zu cells", n);
        cr_expect_eq(c.step > 0, most < SHORT);
        cr_expect_eq(c.row[2].cell[0].from, 0);
        cr_expect_eq(c.row[2].cell[n - 1].to, 13 * (SHORT - 1) + 7);
        for (size_t i = 1; i < n; i++)
            cr_expect_geq(c.row[2].cell[i].from, c.row[2].cell[i - 1].to);
        cells_free(&c);
    }
    timeline_free(&t);
}
