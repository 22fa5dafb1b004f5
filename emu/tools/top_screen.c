/*
 * The screen of `ncube top`, by ncurses, whose names are the reason for a file of its own.
 *
 *   p n c d   programs, nodes, channels, drives        s   sort by the next key
 *   /         only rows that contain a text            up, down, page up, page down   scroll
 *   q         end                                      Ctrl-L   draw all again
 */
#include "emu/tools/top_screen.h"

#include <ncurses.h>
#include <stdio.h>
#include <string.h>

#include "emu/base/host.h"
#include "emu/tools/top_view.h"

#define FILTER_BYTES 40

struct screen {
    json_t *now, *before;
    enum top_view view;
    unsigned key[TOP_VIEWS]; /* to sort by */
    size_t first;            /* row at the top */
    int head_lines;          /* above the rows */
    char filter[FILTER_BYTES];
    bool types_filter;
};

/* Draws a text from line y on, over as many lines as it takes. Returns the line below it. */
static int draw_text(int y, const char *text)
{
    do {
        size_t n = top_line_end(text, (size_t)COLS);

        mvaddnstr(y++, 0, text, (int)n);
        text += n + strspn(text + n, " ");
    } while (*text);
    return y;
}

static void draw_rows(struct screen *s, struct top_table *t)
{
    size_t room = LINES > s->head_lines ? (size_t)(LINES - s->head_lines) : 0;

    if (s->first + room > t->n)
        s->first = t->n > room ? t->n - room : 0;
    for (size_t i = 0; i < room && s->first + i < t->n; i++)
        mvaddnstr(s->head_lines + (int)i, 0, t->row[s->first + i].text, COLS);
}

static void draw(struct screen *s)
{
    char line[512];
    struct top_table t;
    unsigned key = s->key[s->view];
    int y;

    top_table_make(&t, s->view, s->now, s->before);
    top_table_sort(&t, key);
    if (s->filter[0])
        top_table_filter(&t, s->filter);
    erase();
    top_head(line, sizeof line, s->now, s->before);
    y = draw_text(0, line);
    top_states(line, sizeof line, s->now);
    y = draw_text(y, line);
    snprintf(line, sizeof line, "%s by %s, %zu rows%s%s%s   p n c d k: lists  s: sort  /: filter  q: quit", t.title,
             t.key_name[key], t.n, s->filter[0] || s->types_filter ? ", with '" : "", s->filter,
             s->types_filter ? "_'"
             : s->filter[0]  ? "'"
                             : "");
    y = draw_text(y, line) + 1;
    attron(A_REVERSE);
    mvhline(y, 0, ' ', COLS);
    mvaddnstr(y, 0, t.header, COLS);
    attroff(A_REVERSE);
    s->head_lines = y + 1;
    draw_rows(s, &t);
    refresh();
    top_table_free(&t);
}

static void type_filter(struct screen *s, int c)
{
    size_t n = strlen(s->filter);

    if (c == '\n' || c == KEY_ENTER || c == 27) {
        s->types_filter = false;
        if (c == 27)
            s->filter[0] = '\0';
    } else if ((c == KEY_BACKSPACE || c == 127 || c == '\b') && n > 0) {
        s->filter[n - 1] = '\0';
    } else if (c >= ' ' && c < 127 && n + 1 < sizeof s->filter) {
        s->filter[n] = (char)c;
        s->filter[n + 1] = '\0';
    }
}

static void sort_by_next(struct screen *s)
{
    struct top_table t;

    top_table_make(&t, s->view, s->now, NULL);
    s->key[s->view] = (s->key[s->view] + 1) % TOP_KEYS;
    if (!t.key_name[s->key[s->view]])
        s->key[s->view] = 0;
    top_table_free(&t);
}

static void scroll_by(struct screen *s, long rows)
{
    s->first = rows < 0 && s->first < (size_t)-rows ? 0 : s->first + (size_t)rows;
}

/* Returns false at the end. */
static bool act(struct screen *s, int c)
{
    static const char views[] = "pncdk"; /* in the order of enum top_view */

    if (s->types_filter) {
        type_filter(s, c);
        return true;
    }
    switch (c) {
    case 'q':
        return false;
    case 'p':
    case 'n':
    case 'c':
    case 'd':
    case 'k':
        s->view = (enum top_view)(strchr(views, c) - views);
        s->first = 0;
        break;
    case 's':
        sort_by_next(s);
        break;
    case '/':
        s->types_filter = true;
        s->filter[0] = '\0';
        break;
    case '\f':
        clearok(stdscr, TRUE);
        break;
    case KEY_UP:
    case KEY_DOWN:
        scroll_by(s, c == KEY_UP ? -1 : 1);
        break;
    case KEY_PPAGE:
    case KEY_NPAGE:
        scroll_by(s, c == KEY_PPAGE ? s->head_lines - LINES : LINES - s->head_lines);
        break;
    }
    return true;
}

/* Draws, and takes keys until it is time for the next report. Returns false at the end. */
static bool interact(struct screen *s, int64_t until_ms)
{
    for (int64_t left; (left = until_ms - (int64_t)host_ms()) > 0;) {
        draw(s);
        timeout((int)left);
        int c = getch();
        if (c != ERR && !act(s, c))
            return false;
    }
    return true;
}

bool top_show(top_ask_fn *ask, const void *ctx, uint32_t every_ms, char *error, size_t error_bytes)
{
    struct screen s = {.view = TOP_NODES};
    SCREEN *terminal = newterm(NULL, stdout, stdin);

    if (!terminal) {
        snprintf(error, error_bytes, "the terminal is of an unknown type; set TERM, or give --once");
        return false;
    }
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    curs_set(0);
    do {
        json_decref(s.before);
        s.before = s.now;
        s.now = ask(ctx, error, error_bytes);
    } while (s.now && interact(&s, (int64_t)host_ms() + every_ms));
    bool asked = s.now != NULL;
    json_decref(s.now);
    json_decref(s.before);
    endwin();
    delscreen(terminal);
    return asked;
}
