/* The page of a report (report_make.h): its sections from the top. */
#include "emu/report/report_make.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "emu/report/critical.h"
#include "emu/report/findings.h"
#include "emu/report/report_data.h"
#include "emu/report/report_page.h"

#define CHANNELS_SHOWN  12u
#define DRIVES_SHOWN    16u
#define STRETCHES_SHOWN 12u
#define PHASES_SHOWN    24u
#define REQUESTS_SHOWN  16u
#define CALLS_SHOWN     24u

struct making {
    struct page page;
    struct timeline *t;
    struct facts facts;
    struct critical path;
};

static const char *address_name(const struct making *m, uint32_t node, char name[PLACE_BYTES])
{
    return place_name(m->t->node[node].address, name);
}

/* Puts cells, one for each letter: of a text (s), a number of 32 (i) or 64 bits (u) or with decimals (f), a share (%),
 * a node (n); of cycles as a time (t) or as part of the program's time (p); of bytes (b). */
static void put_cells(struct making *m, const char *kinds, ...)
{
    char text[PAGE_CELL_BYTES];
    va_list v;

    va_start(v, kinds);
    for (; *kinds; kinds++) {
        if (*kinds == 's')
            snprintf(text, sizeof text, "%s", va_arg(v, const char *));
        else if (*kinds == 'i')
            snprintf(text, sizeof text, "%" PRIu32, va_arg(v, uint32_t));
        else if (*kinds == 'u')
            snprintf(text, sizeof text, "%" PRIu64, va_arg(v, uint64_t));
        else if (*kinds == 'f')
            snprintf(text, sizeof text, "%.2f", va_arg(v, double));
        else if (*kinds == '%')
            snprintf(text, sizeof text, "%.1f %%", 100 * va_arg(v, double));
        else if (*kinds == 'p')
            snprintf(text, sizeof text, "%.1f %%", 100 * facts_part(&m->facts, va_arg(v, uint64_t)));
        else if (*kinds == 'n')
            address_name(m, va_arg(v, uint32_t), text);
        else if (*kinds == 't')
            time_text(va_arg(v, uint64_t), text);
        else
            bytes_text(va_arg(v, uint64_t), text);
        page_cell(&m->page, text);
    }
    va_end(v);
}

static const char *about_text(const struct making *m, const char *key)
{
    const char *text = json_string_value(json_object_get(m->t->about, key));

    return text ? text : "";
}

/* ---- The head ---- */

static void put_finding(void *page, const char *sentence)
{
    page_item(page, "%s", sentence);
}

/* How the run failed, before anything else; the player (report_play.js) takes its first sentence from here. */
static void put_end(struct making *m)
{
    const struct timeline *t = m->t;

    if (t->endings == 0) {
        page_html(&m->page, "<p id=\"ended\">The run ended with status 0.</p>\n");
        return;
    }
    page_html(&m->page, "<div class=\"failure\" role=\"alert\">\n");
    page_paragraph(&m->page, "The run failed: %s.", t->name[t->ending[0].line]);
    for (size_t i = 1; i < t->endings; i++)
        page_item(&m->page, "%s", t->name[t->ending[i].line]);
    page_end_list(&m->page);
    page_html(&m->page, "</div>\n");
}

static void put_head(struct making *m)
{
    char from[TIME_BYTES], length[TIME_BYTES], size[TIME_BYTES], later[2 * TIME_BYTES + 96] = "";
    const struct facts *f = &m->facts;
    uint32_t nodes = facts_nodes(f, m->t);

    put_end(m);
    if (f->begin > f->first_begins)
        snprintf(later, sizeof later, "Its last node began %s later; what follows is of the %s from then on. ",
                 time_text(f->begin - f->first_begins, from), time_text(f->end - f->begin, length));
    page_paragraph(&m->page,
                   "The program ran for %s of virtual time on %" PRIu32 " node%s%s, from %s after the machine's start. "
                   "%sIn that time %" PRIu64
                   " messages with %s arrived. All shares and sums on this page are of that time.",
                   time_text(f->end - f->first_begins, length), nodes, nodes == 1 ? "" : "s",
                   facts_cut_short(m->t) ? ", until the run failed" : "", time_text(f->first_begins, from), later,
                   f->messages, bytes_text(f->bytes, size));
    page_heading(&m->page, "findings", "What stands out");
    findings_say(m->t, f, &m->path, put_finding, &m->page);
}

/* ---- Pictures ---- */

static const char cube_html[] =
    "<p>Each circle is a node, each line a channel in one direction; squares are I/O nodes and the front end. The "
    "redder "
    "and wider a channel, the longer messages held it, against the busiest one. The colour of a node says which "
    "program has it. Point at a channel or node.</p>\n"
    "<div class=\"frame\"><canvas id=\"cube\" role=\"img\" aria-label=\"The cube, its channels by "
    "use\"></canvas></div>\n<div class=\"key\" id=\"programs\"></div>\n";

static const char key_html[] = "<div class=\"key\"><span><i style=\"background:var(--user)\"></i>user code</span>"
                               "<span><i style=\"background:var(--kernel)\"></i>kernel</span>"
                               "<span><i style=\"background:var(--message)\"></i>waits for a message</span>"
                               "<span><i style=\"background:var(--reply)\"></i>for a file server</span>"
                               "<span><i style=\"background:var(--drive)\"></i>for a drive</span>"
                               "<span><i style=\"background:var(--memory)\"></i>for memory</span>"
                               "<span><i style=\"background:var(--other)\"></i>for something else</span>"
                               "<span><i style=\"background:var(--free)\"></i>no program</span></div>\n";

static const char bars_html[] =
    "<div class=\"frame\"><canvas id=\"bars\" role=\"img\" aria-label=\"A column for each node\"></canvas></div>\n";

static const char play_html[] =
    "<p>A node has the colour of what it does. A dot on a channel is a message that holds it: the dot is at the "
    "channel's begin when the message gets the channel, and at its end when the message frees it. The bar has the "
    "time that the timeline below shows, where a red mark goes along. Beside a node, and below for the node that is "
    "chosen, is the line of the program at which it was in its last system call or page fault.<span "
    "id=\"joined\"></span></p>\n"
    "<div id=\"player\" role=\"group\" aria-label=\"The run, played\">\n"
    "<div class=\"frame\"><canvas id=\"play\" role=\"img\" aria-label=\"What each node and channel does at the "
    "player's time\"></canvas></div>\n"
    "<p class=\"now\"><span id=\"now\"></span><br><span id=\"place\"></span></p>\n"
    "<div class=\"tools bar\"><button id=\"start\">play</button>"
    "<input type=\"range\" id=\"moment\" step=\"any\" aria-label=\"Time\">"
    "<label>speed <select id=\"speed\"><option value=\"0.25\">1/4</option><option value=\"0.5\">1/2</option>"
    "<option value=\"1\" selected>1</option><option value=\"2\">2</option><option value=\"4\">4</option></select>"
    "</label><button data-act=\"closer\" title=\"Less time, slower\">+</button>"
    "<button data-act=\"wider\" title=\"More time, faster\">&minus;</button>"
    "<button data-act=\"program\">the program</button><button data-act=\"all\">the whole run</button></div>\n"
    "<p class=\"hint\">Keys, once the bar has been reached by Tab or a click: space starts and stops, &larr; and "
    "&rarr; go to where something changes, Page Up and Page Down go a twentieth of the bar, Home and End to its ends, "
    "+ and &minus; zoom, &uarr; and &darr; choose a node, as a click on it does. A click in the timeline goes "
    "there.</p>\n</div>\n";

static const char timeline_html[] =
    "<div class=\"tools\"><button data-act=\"in\" title=\"Zoom in\">+</button>"
    "<button data-act=\"out\" title=\"Zoom out\">&minus;</button>"
    "<button data-act=\"left\" title=\"Earlier\">&larr;</button>"
    "<button data-act=\"right\" title=\"Later\">&rarr;</button>"
    "<button data-act=\"program\">the program</button><button data-act=\"all\">the whole run</button>"
    "<button data-act=\"path\">critical path</button>"
    "<button data-act=\"order\">nodes by number</button><span id=\"shown\"></span></div>\n"
    "<p class=\"hint\">The wheel zooms where it points. If the timeline is higher than its frame, the wheel scrolls; "
    "Ctrl with the wheel zooms, as do two fingers. Dragging moves it. Keys, once it has been clicked: + and &minus; "
    "zoom, &larr; and &rarr; move, 0 shows the program, a the whole run, p shows or hides the critical path, "
    "n orders the nodes.<span id=\"rows\"></span></p>\n"
    "<div class=\"frame scroll\"><canvas id=\"timeline\" tabindex=\"0\" role=\"img\" "
    "aria-label=\"What each node, drive and busy channel did when\"></canvas></div>\n"
    "<div class=\"key\"><span><i style=\"background:var(--read)\"></i>drive reads</span>"
    "<span><i style=\"background:var(--write)\"></i>drive writes</span>"
    "<span><i style=\"background:var(--held)\"></i>channel held</span>"
    "<span><i style=\"background:var(--path)\"></i>critical path</span></div>\n";

static const char matrix_html[] = "<div class=\"frame square\"><canvas id=\"matrix\" role=\"img\" aria-label=\"Bytes "
                                  "from each node to each\"></canvas>"
                                  "</div>\n";

/* ---- Where the time went ---- */

static void put_state(struct making *m, enum state state)
{
    const struct facts *f = &m->facts;
    uint64_t least = UINT64_MAX, most = 0, all = facts_all_time(f, m->t);
    uint32_t least_node = 0, most_node = 0;

    for (uint32_t i = 0; i < m->t->nodes; i++) {
        if (!f->ran[i])
            continue;
        if (f->time[i][state] < least) {
            least = f->time[i][state];
            least_node = i;
        }
        if (f->time[i][state] >= most) {
            most = f->time[i][state];
            most_node = i;
        }
    }
    if (most > 0)
        put_cells(m, "s%tntn", state_names[state], all > 0 ? (double)facts_state(f, m->t, state) / (double)all : 0.0,
                  least, least_node, most, most_node);
}

static void put_time(struct making *m)
{
    page_heading(&m->page, "time", "Where each node's time went");
    page_html(&m->page, key_html);
    page_html(&m->page, bars_html);
    page_table(&m->page, "the program's nodes|of all their time|least|on|most|on");
    for (int s = 0; s < STATES; s++)
        put_state(m, (enum state)s);
    page_end_table(&m->page);
}

/* ---- The critical path ---- */

static void put_stretch(struct making *m, const struct stretch *s)
{
    char from[PLACE_BYTES], to[PLACE_BYTES], text[PAGE_CELL_BYTES];

    if (s->kind == STEP_CHANNEL && s->channel != UINT32_MAX)
        snprintf(text, sizeof text, "waits for the channel from %s to %s",
                 place_name(m->t->channel[s->channel].from, from), place_name(m->t->channel[s->channel].to, to));
    else if (s->kind == STEP_CHANNEL)
        snprintf(text, sizeof text, "waits for channels");
    else if (s->kind == STEP_MESSAGE)
        snprintf(text, sizeof text, "messages from %s to %s", address_name(m, s->node, from),
                 address_name(m, s->peer, to));
    else if (s->kind == STEP_HOST)
        snprintf(text, sizeof text, "the front end");
    else
        snprintf(text, sizeof text, "%s: %s", address_name(m, s->node, from), step_names[s->kind]);
    put_cells(m, "stpu", text, s->time, s->time, s->steps);
}

static void put_path(struct making *m)
{
    size_t n;
    struct stretch *s = critical_stretches(&m->path, &n);

    page_heading(&m->page, "path", "The critical path");
    page_paragraph(
        &m->page, "%s",
        "The chain of work and messages that ended last: while a node worked, the path is there; where it "
        "waited for a message, the path is the message's, and continues where that was sent. Only what is on it "
        "made the program as long as it was.");
    page_table(&m->page, "on the path|time|of the program's|times");
    for (size_t i = 0; i < n && i < STRETCHES_SHOWN; i++)
        put_stretch(m, &s[i]);
    page_end_table(&m->page);
    if (n > STRETCHES_SHOWN)
        page_paragraph(&m->page, "And %zu shorter ones.", n - STRETCHES_SHOWN);
    free(s);
}

/* ---- Channels, drives, phases, requests ---- */

static void put_channels(struct making *m)
{
    char from[PLACE_BYTES], to[PLACE_BYTES], text[PAGE_CELL_BYTES];

    page_heading(&m->page, "channels", "The busiest channels");
    page_table(&m->page, "channel|held|messages|data|headers waited for it|most at a time");
    for (size_t i = 0; i < m->t->channels && i < CHANNELS_SHOWN && m->facts.channel[i].busy > 0; i++) {
        const struct channel_use *u = &m->facts.channel[i];
        const struct timeline_channel *c = &m->t->channel[u->channel];

        snprintf(text, sizeof text, "%s to %s", place_name(c->from, from), place_name(c->to, to));
        put_cells(m, "spubti", text, u->busy, u->messages, u->bytes, u->waited, u->queue_max);
    }
    page_end_table(&m->page);
}

static void put_drives(struct making *m)
{
    page_heading(&m->page, "drives", "The drives");
    page_table(&m->page, "drive|model|busy|reads|read|writes|written|mean queue|longest");
    for (size_t i = 0; i < m->t->drives && i < DRIVES_SHOWN; i++) {
        const struct drive_use *u = &m->facts.drive[i];
        const struct timeline_drive *d = &m->t->drive[u->drive];

        put_cells(m, "sspububfi", m->t->name[d->volume], m->t->name[d->model], u->busy, u->reads, u->read_bytes,
                  u->writes, u->written_bytes, u->queue_mean, u->queue_max);
    }
    page_end_table(&m->page);
    if (m->t->drives > DRIVES_SHOWN)
        page_paragraph(&m->page, "And %zu less busy ones.", m->t->drives - DRIVES_SHOWN);
}

/* Shares of all the program's nodes' time. */
static void put_calls(struct making *m)
{
    uint64_t all = facts_all_time(&m->facts, m->t);

    if (m->facts.calls == 0)
        return;
    page_heading(&m->page, "calls", "Waits in calls of MPI");
    page_table(&m->page, "call|communicator|of all their time|waits|mean|longest|on");
    for (size_t i = 0; i < m->facts.calls && i < CALLS_SHOWN; i++) {
        const struct call_use *u = &m->facts.call[i];

        put_cells(m, "ss%uttn", m->t->name[u->call], m->t->name[u->communicator],
                  all > 0 ? (double)u->total / (double)all : 0.0, u->times, u->total / u->times, u->longest,
                  u->longest_node);
    }
    page_end_table(&m->page);
}

static void put_requests(struct making *m)
{
    if (m->facts.requests == 0)
        return;
    page_heading(&m->page, "requests", "Requests to file servers");
    page_table(&m->page, "request|volume|times|data|mean|longest");
    for (size_t i = 0; i < m->facts.requests && i < REQUESTS_SHOWN; i++) {
        const struct request_use *u = &m->facts.request[i];

        put_cells(m, "ssubtt", m->t->name[u->op], m->t->name[u->volume], u->times, u->bytes, u->total / u->times,
                  u->longest);
    }
    page_end_table(&m->page);
}

static void put_phases(struct making *m)
{
    if (m->facts.phases == 0)
        return;
    page_heading(&m->page, "phases", "Phases");
    page_paragraph(&m->page, "%s", "The phases that the program has marked by nmark.");
    page_table(&m->page, "phase|nodes|times|begins|ends|mean|longest|on");
    for (size_t i = 0; i < m->facts.phases && i < PHASES_SHOWN; i++) {
        const struct phase_use *u = &m->facts.phase[i];

        put_cells(m, "siittttn", m->t->name[u->name], u->nodes, u->times, u->first, u->last, u->total / u->times,
                  u->longest, u->longest_node);
    }
    page_end_table(&m->page);
}

/* ---- The machine ---- */

static void put_row(struct making *m, const char *what, const char *value)
{
    if (value[0] != '\0')
        put_cells(m, "ss", what, value);
}

static void put_machine(struct making *m)
{
    const json_t *about = m->t->about, *set = json_object_get(about, "set"), *v;
    char text[PAGE_CELL_BYTES];
    size_t i, io = 0;

    for (i = 0; i < m->t->nodes; i++)
        io += m->t->node[i].wired;
    page_heading(&m->page, "machine", "The machine and its options");
    page_table(&m->page, "what|");
    put_row(m, "program", about_text(m, "program"));
    put_row(m, "machine file", about_text(m, "machine"));
    snprintf(text, sizeof text, "%d", 1 << json_integer_value(json_object_get(about, "dimension")));
    put_row(m, "compute nodes", text);
    snprintf(text, sizeof text, "%zu with %zu drives", io, m->t->drives);
    put_row(m, "I/O nodes", text);
    snprintf(text, sizeof text, "node %" JSON_INTEGER_FORMAT, json_integer_value(json_object_get(about, "front_end")));
    put_row(m, "front end at", text);
    json_array_foreach((json_t *)set, i, v) put_row(m, "--set", json_is_string(v) ? json_string_value(v) : "");
    put_row(m, "traced nodes", about_text(m, "nodes"));
    snprintf(text, sizeof text, "%.6f s", json_number_value(json_object_get(about, "from_us")) / 1e6);
    put_row(m, "traced from", json_object_get(about, "from_us") ? text : "");
    snprintf(text, sizeof text, "%.6f s", json_number_value(json_object_get(about, "to_us")) / 1e6);
    put_row(m, "traced up to", json_object_get(about, "to_us") ? text : "");
    snprintf(text, sizeof text, "%.6f s", (double)m->t->end / CLOCK_HZ);
    put_row(m, "virtual time of the run", text);
    page_end_table(&m->page);
}

/* ---- All ---- */

static void put_data(struct making *m)
{
    page_html(&m->page, "<script type=\"application/json\" id=\"data\">\n");
    report_data_write(m->page.html, m->t, &m->facts, &m->path);
    page_html(&m->page, "</script>\n<script>\n");
    page_html(&m->page, report_view_js);
    page_html(&m->page, report_play_js);
    page_html(&m->page, "</script>\n");
}

static void put_sections(struct making *m)
{
    put_head(m);
    page_heading(&m->page, "the-cube", "The cube and its channels");
    page_html(&m->page, cube_html);
    put_time(m);
    put_calls(m);
    page_heading(&m->page, "played", "The run, played");
    page_html(&m->page, play_html);
    page_html(&m->page, key_html);
    page_heading(&m->page, "line", "Timeline");
    page_html(&m->page, timeline_html);
    put_path(m);
    put_channels(m);
    if (m->t->drives > 0)
        put_drives(m);
    put_requests(m);
    page_heading(&m->page, "messages", "Who sent how much to whom");
    page_html(&m->page, matrix_html);
    put_phases(m);
    put_machine(m);
    put_data(m);
}

int report_make(struct timeline *t, int fd, const char *path, char *error, size_t error_bytes)
{
    struct making m = {.t = t};
    char title[PAGE_CELL_BYTES + 16];
    const char *program = about_text(&m, "program");

    /* The folder of the program's name is left out: it stands before the first space. */
    size_t folder = strcspn(program, " ");
    while (folder > 0 && program[folder - 1] != '/')
        folder--;
    snprintf(title, sizeof title, "Report of %s", program[0] ? program + folder : "a run");
    facts_count(&m.facts, t);
    critical_find(&m.path, &m.facts, t);
    page_begin(&m.page, title, report_view_css, error, error_bytes);
    put_sections(&m);
    int result = page_write_html(&m.page, fd, path);
    page_end(&m.page);
    critical_free(&m.path);
    facts_free(&m.facts);
    return result;
}
