/* The tables of ncube top: numbers since the start, and between two reports; order, filters; reports that are wrong. */
#include "emu/tools/top_view.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "emu/network/node_text.h"

TestSuite(top_view, .timeout = 600);

#define REPORT(load)                                                                                             \
    "{\"name\": \"m\", \"state\": \"up\", \"nodes\": 4, \"free_nodes\": 2, \"volumes\": 1, "                     \
    "\"programs\": [{\"command\": \"a\\tb\", \"pid\": 5, \"first_node\": 2, \"nodes\": 2, \"state\": \"runs\", " \
    "\"run_time_s\": 1.5}], \"waiting\": [{\"command\": \"c\", \"pid\": 6, \"nodes\": 4}], \"load\": {" load "}}"

static const char before_text[] =
    REPORT("\"cycles\": 1000, \"host_s\": 2.0, \"states\": {\"runs\": 2}, \"left_out\": 0, "
           "\"nodes\": [[0, \"runs\", 500, 300, 200], [1, \"runs\", 0, 0, 1000]], "
           "\"channels\": [[0, 1, 10, 100, 0], [1, 0, 5, 50, 20]], "
           "\"drives\": [[\"df00\", 1, 10, 5120, 400, 900]], "
           "\"caches\": [[\"df00\", 9, 4, 2, 7, 1, 2, 20000000, 1, 0, 0, 3, 0, 0, 0, 0, 0, 1, 0, 0]]");
static const char now_text[] = REPORT("\"cycles\": 3000, \"host_s\": 2.5, \"states\": {\"runs\": 1, \"message\": 1}, "
                                      "\"left_out\": 0, \"nodes\": [[0, \"message\", 500, 400, 2100], "
                                      "[1, \"runs\", 1500, 500, 1000]], \"channels\": [[1, 0, 9, 1050, 120], "
                                      "[0, 1, 12, 300, 0], [0, 2, 1, 200, 0]], "
                                      "\"drives\": [[\"df00\", 3, 30, 1005120, 1400, 3900]], "
                                      "\"caches\": [[\"df00\", 29, 14, 5, 8, 1, 3, 50000000, 1, 0, 0, 5, 0, 0, "
                                      "0, 0, 2, 1, 0, 0]]");

static json_t *now, *before;

static void parse(void)
{
    now = json_loads(now_text, 0, NULL);
    before = json_loads(before_text, 0, NULL);
    cr_assert(now && before);
    cr_assert(top_load_makes_sense(json_object_get(now, "load")));
}

static void drop(void)
{
    json_decref(now);
    json_decref(before);
}

static void expect_rows(enum top_view view, const json_t *earlier, unsigned key, size_t n, const char *const *rows)
{
    struct top_table t;

    top_table_make(&t, view, now, earlier);
    top_table_sort(&t, key);
    cr_assert_eq(t.n, n, "%s: %zu rows", t.title, t.n);
    for (size_t i = 0; i < n; i++)
        cr_expect_str_eq(t.row[i].text, rows[i], "%s: '%s'", t.title, t.row[i].text);
    top_table_free(&t);
}

Test(top_view, numbers_are_since_the_start, .init = parse, .fini = drop)
{
    expect_rows(TOP_NODES, NULL, 0, 2,
                (const char *const[]){"      1  runs           50.00    16.67   33.33",
                                      "      0  message        16.67    13.33   70.00"});
    expect_rows(TOP_CHANNELS, NULL, 0, 3,
                (const char *const[]){"      1       0          9       35.00            0.04",
                                      "      0       1         12       10.00            0.00",
                                      "      0       2          1        6.67            0.00"});
    expect_rows(TOP_DRIVES, NULL, 0, 1,
                (const char *const[]){"df00                3       1.30    46.67        30  6700.800"});
    expect_rows(TOP_CACHES, NULL, 0, 1,
                (const char *const[]){"df00                   29        14         5        3    2.500          8"
                                      "        1  1+0+0+5+0+0        0+0+2+1+0+0"});
}

Test(top_view, numbers_are_between_two_reports_of_the_same_row, .init = parse, .fini = drop)
{
    expect_rows(TOP_NODES, before, 2, 2,
                (const char *const[]){"      0  message         0.00     5.00   95.00",
                                      "      1  runs           75.00    25.00    0.00"});
    expect_rows(TOP_CHANNELS, before, 0, 3,
                (const char *const[]){"      1       0          4       50.00            0.05",
                                      "      0       1          2       10.00            0.00",
                                      "      0       2          1       10.00            0.00"});
    expect_rows(TOP_DRIVES, before, 0, 1,
                (const char *const[]){"df00                3       1.50    50.00        20 10000.000"});
    expect_rows(TOP_CACHES, before, 0, 1,
                (const char *const[]){"df00                   20        10         3        1    1.500          1"
                                      "        0  0+0+0+2+0+0        0+0+2+0+0+0"});
}

Test(top_view, programs_have_safe_command_lines, .init = parse, .fini = drop)
{
    expect_rows(TOP_PROGRAMS, NULL, 1, 2,
                (const char *const[]){"      2       2     1.500000  runs                  a?b",
                                      "      -       4            -  waits for a subcube   c"});
}

Test(top_view, a_filter_leaves_the_rows_with_its_text, .init = parse, .fini = drop)
{
    struct top_table t;

    top_table_make(&t, TOP_NODES, now, NULL);
    top_table_filter(&t, "message");
    cr_expect_eq(t.n, 1);
    top_table_filter(&t, "no such text");
    cr_expect_eq(t.n, 0);
    top_table_free(&t);
}

Test(top_view, the_head_has_both_times, .init = parse, .fini = drop)
{
    char line[512];

    top_head(line, sizeof line, now, before);
    cr_expect_str_eq(line,
                     "m: up, 4 nodes, 2 free, 1 volumes; virtual 0.000150 s, host 2.5 s, ratio 0.0001, now 0.0002",
                     "'%s'", line);
    top_states(line, sizeof line, now);
    cr_expect_str_eq(line, "nodes: 1 run, 1 wait for a message", "'%s'", line);
    top_head(line, 20, now, before);
    cr_expect_eq(strlen(line), 19);
}

Test(top_view, a_node_without_program_is_said_to_have_none)
{
    struct top_table t;
    char line[80];

    now = json_loads(REPORT("\"cycles\": 1, \"host_s\": 1.0, \"states\": {\"program\": 1}, \"left_out\": 0, "
                            "\"nodes\": [[0, \"program\", 0, 0, 1]], \"channels\": [], \"drives\": []"),
                     0, NULL);
    top_table_make(&t, TOP_NODES, now, NULL);
    cr_assert_eq(t.n, 1);
    cr_expect_str_eq(t.row[0].text, "      0  no program      0.00     0.00  100.00", "'%s'", t.row[0].text);
    top_states(line, sizeof line, now);
    cr_expect_str_eq(line, "nodes: 1 have no program", "'%s'", line);
    top_table_free(&t);
    json_decref(now);
}

Test(top_view, a_line_ends_at_a_space)
{
    static const struct {
        const char *text;
        size_t columns, end;
    } cases[] = {{"", 5, 0},        {"abc", 3, 3},    {"abc def", 3, 3},   {"abc def", 4, 3},  {"abc def", 6, 3},
                 {"abc def", 7, 7}, {"abcdef", 4, 4}, {"abcdef gh", 4, 4}, {"a, b c d", 6, 2}, {"a: b  c d", 8, 5}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(top_line_end(cases[i].text, cases[i].columns), cases[i].end, "'%s' in %zu", cases[i].text,
                     cases[i].columns);
}

Test(top_view, two_reports_of_the_same_moment_give_no_rates, .init = parse, .fini = drop)
{
    expect_rows(TOP_NODES, now, 0, 2,
                (const char *const[]){"      0  message         0.00     0.00    0.00",
                                      "      1  runs            0.00     0.00    0.00"});
}

Test(top_view, a_malformed_load_is_refused)
{
    static const char *const wrong[] = {
        "{}",
        "{\"cycles\": 1, \"host_s\": 1.0, \"states\": {}, \"left_out\": 0, \"nodes\": [], \"channels\": []}",
        "{\"cycles\": \"1\", \"host_s\": 1.0, \"states\": {}, \"left_out\": 0, \"nodes\": [], \"channels\": [], "
        "\"drives\": [], \"caches\": []}",
        "{\"cycles\": 1, \"host_s\": 1.0, \"states\": {}, \"left_out\": 0, \"nodes\": [[1, 2, 3, 4, 5]], "
        "\"channels\": [], \"drives\": [], \"caches\": []}",
        "{\"cycles\": 1, \"host_s\": 1.0, \"states\": {\"runs\": \"x\"}, \"left_out\": 0, \"nodes\": [], "
        "\"channels\": [], \"drives\": [], \"caches\": []}",
        "{\"cycles\": 1, \"host_s\": 1.0, \"states\": {}, \"left_out\": 0, \"nodes\": [], \"channels\": [[1]], "
        "\"drives\": [7], \"caches\": []}",
        "{\"cycles\": 1, \"host_s\": 1.0, \"states\": {}, \"left_out\": 0, \"nodes\": [], \"channels\": [], "
        "\"drives\": [], \"caches\": [[\"df00\", 1, 2]]}",
    };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        json_t *load = json_loads(wrong[i], 0, NULL);

        cr_assert_not_null(load, "%zu", i);
        cr_expect(!top_load_makes_sense(load), "accepted: %s", wrong[i]);
        json_decref(load);
    }
}
