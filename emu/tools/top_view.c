/* The tables of `ncube top`: rows of a report as text, with the numbers by which they can be sorted. */
#include "emu/tools/top_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/base/oneline.h"
#include "emu/base/order.h"
#include "emu/link/machine_load.h"
#include "emu/network/node_text.h"

/* The words of ncu_wait_word: what a row of the nodes shows, and what is said of all such nodes. */
static const struct state_text {
    const char *word, *row, *sum;
} state_texts[] = {
    {"runs", "runs", "run"},
    {"message", "message", "wait for a message"},
    {"reply", "reply", "wait for a file server"},
    {"memory", "memory", "wait for memory"},
    {"drive", "drive", "wait for a drive"},
    {"time", "time", "wait for a time or a signal"},
    {"program", "no program", "have no program"},
};

static struct state_text state_text(const char *word)
{
    for (size_t i = 0; i < sizeof state_texts / sizeof *state_texts; i++)
        if (strcmp(word, state_texts[i].word) == 0)
            return state_texts[i];
    return (struct state_text){word, word, "wait for something else"};
}

/* ---- Checking ---- */

static bool row_has_types(const json_t *row, const char *types)
{
    for (size_t i = 0; types[i]; i++) {
        const json_t *element = json_array_get(row, i);

        if (types[i] == 's' ? !json_is_string(element) : !json_is_integer(element))
            return false;
    }
    return true;
}

static bool rows_have_types(json_t *load, const char *list, const char *types)
{
    json_t *rows = json_object_get(load, list), *row;
    size_t i;

    if (!json_is_array(rows))
        return false;
    json_array_foreach(rows, i, row) if (!row_has_types(row, types)) return false;
    return true;
}

bool top_load_makes_sense(json_t *load)
{
    json_int_t cycles;
    double host_s;
    int left_out;
    const char *state;
    json_t *states, *n;

    if (json_unpack(load, "{s:I, s:f, s:o, s:i}", "cycles", &cycles, "host_s", &host_s, "states", &states, "left_out",
                    &left_out) != 0 ||
        !json_is_object(states))
        return false;
    json_object_foreach(states, state, n) if (!json_is_integer(n)) return false;
    return rows_have_types(load, "nodes", LOAD_NODE) && rows_have_types(load, "channels", LOAD_CHANNEL) &&
           rows_have_types(load, "drives", LOAD_DRIVE) && rows_have_types(load, "caches", LOAD_CACHE);
}

/* ---- Numbers ---- */

static json_t *load_of(const json_t *report)
{
    return json_object_get(report, "load");
}

static double number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* Returns the virtual time between two reports; at least 1, as it divides. */
static double span(const json_t *now, const json_t *before)
{
    double cycles = number_of(load_of(now), "cycles") - (before ? number_of(load_of(before), "cycles") : 0);

    return cycles > 0 ? cycles : 1;
}

static struct top_row *add(struct top_table *t, size_t most)
{
    if (!t->row)
        t->row = memory_new(most, sizeof *t->row);
    t->row[t->n].number = t->n;
    return &t->row[t->n++];
}

static double percent(double part, double whole)
{
    return part > 0 ? 100 * part / whole : 0;
}

/* ---- Programs ---- */

static void make_programs(struct top_table *t, const json_t *now)
{
    static const char *const lists[] = {"programs", "waiting"};

    for (int k = 0; k < 2; k++) {
        const json_t *list = json_object_get(now, lists[k]);
        size_t i, most = json_array_size(json_object_get(now, lists[0])) + json_array_size(list);
        json_t *p;

        json_array_foreach(list, i, p)
        {
            struct top_row *row = add(t, most + json_array_size(json_object_get(now, lists[1])));
            double seconds = number_of(p, "run_time_s"), nodes = number_of(p, "nodes");
            char command[TOP_LINE_BYTES];

            snprintf(command, sizeof command, "%s", json_string_value(json_object_get(p, "command")));
            one_line(command);
            if (k == 0)
                snprintf(row->text, sizeof row->text, "%7.0f %7.0f %12.6f  %-20.20s  %.100s",
                         number_of(p, "first_node"), nodes, seconds, json_string_value(json_object_get(p, "state")),
                         command);
            else
                snprintf(row->text, sizeof row->text, "%7s %7.0f %12s  %-20s  %.100s", "-", nodes, "-",
                         "waits for a subcube", command);
            row->key[0] = nodes;
            row->key[1] = seconds;
        }
    }
}

/* ---- Rows of numbers ---- */

#define VALUES_MOST     20u
#define TOP_SIZES_BYTES 64u

/* Subtracts the numbers of the same row of an earlier report: the one with the same first `names` elements. `hint` is
 * where to look first. */
static void subtract(double *value, size_t names, size_t values, const json_t *row, const json_t *rows, size_t hint)
{
    size_t n = json_array_size(rows);

    for (size_t k = 0; k < n; k++) {
        const json_t *other = json_array_get(rows, (hint + k) % n);
        bool same = true;

        for (size_t i = 0; i < names; i++)
            same &= json_equal(json_array_get(row, i), json_array_get(other, i)) != 0;
        if (!same)
            continue;
        for (size_t i = 0; i < values; i++)
            value[i] -= json_number_value(json_array_get(other, json_array_size(other) - values + i));
        return;
    }
}

struct values {
    double value[VALUES_MOST];
};

/* Returns the last numbers of a row, less those of an earlier report. */
static struct values values_of(const json_t *row, size_t names, size_t values, const char *list, const json_t *before,
                               size_t hint)
{
    struct values v = {{0}};

    for (size_t i = 0; i < values; i++)
        v.value[i] = json_number_value(json_array_get(row, json_array_size(row) - values + i));
    if (before)
        subtract(v.value, names, values, row, json_object_get(load_of(before), list), hint);
    return v;
}

/* A list of the report whose rows become lines: how many elements name a row, how many numbers are its last ones, and
 * the function that writes the line and its keys. */
struct row_maker {
    const char *list;
    size_t names, values;
    void (*put)(struct top_row *row, const json_t *r, const double *value, double cycles);
};

static void make_rows(struct top_table *t, const struct row_maker *maker, const json_t *now, const json_t *before)
{
    const json_t *rows = json_object_get(load_of(now), maker->list);
    double cycles = span(now, before);
    size_t i;
    json_t *r;

    json_array_foreach(rows, i, r)
    {
        const struct values v = values_of(r, maker->names, maker->values, maker->list, before, i);

        maker->put(add(t, json_array_size(rows)), r, v.value, cycles);
    }
}

static const char *node_in(const json_t *r, size_t i, char name[NODE_SHORT_NAME_BYTES])
{
    return node_short_name((uint32_t)json_integer_value(json_array_get(r, i)), name);
}

static void put_node(struct top_row *row, const json_t *r, const double *value, double cycles)
{
    char name[NODE_SHORT_NAME_BYTES], state[32];

    snprintf(state, sizeof state, "%s", state_text(json_string_value(json_array_get(r, 1))).row);
    snprintf(row->text, sizeof row->text, "%7s  %-12s %7.2f %8.2f %7.2f", node_in(r, 0, name), one_line(state),
             percent(value[0], cycles), percent(value[1], cycles), percent(value[2], cycles));
    memcpy(row->key, value, sizeof row->key);
}

static void put_channel(struct top_row *row, const json_t *r, const double *value, double cycles)
{
    char from[NODE_SHORT_NAME_BYTES], to[NODE_SHORT_NAME_BYTES];

    snprintf(row->text, sizeof row->text, "%7s %7s %10.0f %11.2f %15.2f", node_in(r, 0, from), node_in(r, 1, to),
             value[0], percent(value[1], cycles), value[2] / cycles); /* on average, as several may wait */
    row->key[0] = value[1];
    row->key[1] = value[2];
    row->key[2] = value[0];
}

static void put_drive(struct top_row *row, const json_t *r, const double *value, double cycles)
{
    double queue = json_number_value(json_array_get(r, 1)), rate = value[1] / 1e6 * CLOCK_HZ / cycles;
    char volume[VOLUME_NAME_BYTES];

    snprintf(volume, sizeof volume, "%s", json_string_value(json_array_get(r, 0)));
    snprintf(row->text, sizeof row->text, "%-15s %5.0f %10.2f %8.2f %9.0f %9.3f", one_line(volume), queue,
             value[3] / cycles, percent(value[2], cycles), value[0], rate);
    row->key[0] = queue;
    row->key[1] = value[2];
    row->key[2] = rate;
}

/* "1+0+3": how many commands had each size. */
static void put_sizes(char *text, size_t bytes, const double sizes[DRIVE_CACHE_SIZES])
{
    size_t used = 0;

    for (uint32_t i = 0; i < DRIVE_CACHE_SIZES && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%.0f", i > 0 ? "+" : "", sizes[i]);
}

/* The values: requests, hits, misses, prefetched, unused, waits, their cycles, and the commands by size. */
static void put_cache(struct top_row *row, const json_t *r, const double *value, double cycles)
{
    char volume[VOLUME_NAME_BYTES], reads[TOP_SIZES_BYTES], writes[TOP_SIZES_BYTES];

    (void)cycles;
    snprintf(volume, sizeof volume, "%s", json_string_value(json_array_get(r, 0)));
    put_sizes(reads, sizeof reads, value + 7);
    put_sizes(writes, sizeof writes, value + 7 + DRIVE_CACHE_SIZES);
    snprintf(row->text, sizeof row->text, "%-15s %9.0f %9.0f %9.0f %8.0f %8.3f %10.0f %8.0f  %-17.40s  %.40s",
             one_line(volume), value[0], value[1], value[2], value[5], value[6] / CLOCK_HZ, value[3], value[4], reads,
             writes);
    row->key[0] = value[0];
    row->key[1] = value[2];
    row->key[2] = value[6];
}

static const struct row_maker row_makers[TOP_VIEWS] = {
    [TOP_NODES] = {"nodes", 1, 3, put_node},
    [TOP_CHANNELS] = {"channels", 2, 3, put_channel},
    [TOP_DRIVES] = {"drives", 1, 4, put_drive},
    [TOP_CACHES] = {"caches", 1, 7 + 2 * DRIVE_CACHE_SIZES, put_cache},
};

/* ---- Tables ---- */

void top_table_make(struct top_table *t, enum top_view view, const json_t *now, const json_t *before)
{
    static const struct top_table empty[TOP_VIEWS] = {
        [TOP_PROGRAMS] = {"programs",
                          "  first   nodes   run time, s  state                 command",
                          {"nodes", "run time", NULL},
                          NULL,
                          0},
        [TOP_NODES] =
            {"nodes", "   node  state         user, % kernel, % idle, %", {"user", "kernel", "idle"}, NULL, 0},
        [TOP_CHANNELS] = {"channels",
                          "   from      to   messages     busy, % headers waiting",
                          {"busy", "waiting", "messages"},
                          NULL,
                          0},
        [TOP_DRIVES] = {"drives",
                        "volume          queue mean queue  busy, %  commands      MB/s",
                        {"queue", "busy", "rate"},
                        NULL,
                        0},
        [TOP_CACHES] = {"data caches; commands of 1+2+4+8+16+32 and more blocks",
                        "volume           requests      hits    misses    waits  wait, s prefetched   unused"
                        "  reads              writes",
                        {"requests", "misses", "waits"},
                        NULL,
                        0},
    };

    *t = empty[view];
    if (view == TOP_PROGRAMS)
        make_programs(t, now);
    else
        make_rows(t, &row_makers[view], now, before);
}

void top_table_free(struct top_table *t)
{
    free(t->row);
    *t = (struct top_table){0};
}

static int highest_first(const void *a, const void *b, void *key)
{
    const struct top_row *x = a, *y = b;
    double i = x->key[*(const unsigned *)key], k = y->key[*(const unsigned *)key];

    return i != k ? (i < k ? 1 : -1) : order(x->number, y->number);
}

void top_table_sort(struct top_table *t, unsigned key)
{
    if (t->n > 0)
        qsort_r(t->row, t->n, sizeof *t->row, highest_first, &key);
}

void top_table_filter(struct top_table *t, const char *text)
{
    size_t n = 0;

    for (size_t i = 0; i < t->n; i++)
        if (strstr(t->row[i].text, text))
            t->row[n++] = t->row[i];
    t->n = n;
}

/* ---- The lines above ---- */

void top_head(char *text, size_t bytes, const json_t *now, const json_t *before)
{
    double virtual_s = number_of(load_of(now), "cycles") / CLOCK_HZ, host_s = number_of(load_of(now), "host_s");
    char name[80];
    int n;

    snprintf(name, sizeof name, "%s: %s", json_string_value(json_object_get(now, "name")),
             json_string_value(json_object_get(now, "state")));
    n = snprintf(text, bytes, "%s, %.0f nodes, %.0f free, %.0f volumes; virtual %.6f s, host %.1f s, ratio %.4f",
                 one_line(name), number_of(now, "nodes"), number_of(now, "free_nodes"), number_of(now, "volumes"),
                 virtual_s, host_s, host_s > 0 ? virtual_s / host_s : 0);
    if (before && n > 0 && (size_t)n < bytes) {
        double host = host_s - number_of(load_of(before), "host_s");
        double virtual = virtual_s - number_of(load_of(before), "cycles") / CLOCK_HZ;

        snprintf(text + n, bytes - (size_t)n, ", now %.4f", host > 0 ? virtual / host : 0);
    }
}

void top_states(char *text, size_t bytes, const json_t *now)
{
    json_t *states = json_object_get(load_of(now), "states"), *count;
    const char *state;
    int n = snprintf(text, bytes, "nodes:");

    json_object_foreach(states, state, count)
    {
        if (n > 0 && (size_t)n < bytes)
            n += snprintf(text + n, bytes - (size_t)n, "%s %lld %s", n > 6 ? "," : "",
                          (long long)json_integer_value(count), state_text(state).sum);
    }
}

size_t top_line_end(const char *text, size_t columns)
{
    size_t n = strlen(text), any = 0, best = 0;

    if (n <= columns)
        return n;
    for (size_t end = 1; end <= columns; end++)
        if (text[end] == ' ') {
            any = end;
            best = strchr(",; ", text[end - 1]) ? end : best;
        }
    return best > 0 ? best : any > 0 ? any : columns;
}
