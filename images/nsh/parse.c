/*
 * Reads lines (parse.h): a word at a time, with one character ahead.
 */
#include "images/nsh/parse.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATUS_BYTES 12 /* what $? may become */

void parse_begin(struct parser *p, const char *line)
{
    *p = (struct parser){.at = line};
}

void parse_end(struct parser *p)
{
    free(p->room);
    p->room = NULL;
}

static int wrong(struct parser *p, const char *what, const char *at)
{
    if (*at == '\0' || *at == '#')
        snprintf(p->why, sizeof p->why, "%s at the end of the line", what);
    else
        snprintf(p->why, sizeof p->why, "%s at '%.40s'", what, at);
    return -1;
}

/* ---- Words ---- */

static void skip_blanks(struct parser *p)
{
    while (*p->at && isspace((unsigned char)*p->at))
        p->at++;
    if (*p->at == '#')
        p->at += strlen(p->at);
}

static bool ends_word(char c)
{
    return c == '\0' || isspace((unsigned char)c) || strchr("|&;<>()", c);
}

/* Copies "$?" as the status. Returns where the text goes on. */
static char *add_status(struct parser *p, char *to)
{
    p->at += 2;
    return to + sprintf(to, "%d", p->status);
}

/* Copies what lies in quotes. NULL: the second one is missing. */
static char *add_quoted(struct parser *p, char *to)
{
    char quote = *p->at++;

    while (*p->at && *p->at != quote) {
        if (quote == '"' && *p->at == '$' && p->at[1] == '?') {
            to = add_status(p, to);
            continue;
        }
        if (quote == '"' && *p->at == '\\' && p->at[1] && strchr("\"\\$", p->at[1]))
            p->at++;
        *to++ = *p->at++;
    }
    if (!*p->at)
        return NULL;
    p->at++;
    return to;
}

/* Reads a word to *to, which moves behind its NUL. 1; 0: there is none; -1. */
static int take_word(struct parser *p, char **to)
{
    const char *begin = p->at;
    char *end = *to;

    if (ends_word(*p->at))
        return 0;
    while (!ends_word(*p->at)) {
        if (*p->at == '\'' || *p->at == '"') {
            end = add_quoted(p, end);
            if (!end)
                return wrong(p, "an unterminated quote", begin);
        } else if (*p->at == '$' && p->at[1] == '?') {
            end = add_status(p, end);
        } else {
            if (*p->at == '\\' && p->at[1])
                p->at++;
            *end++ = *p->at++;
        }
    }
    *end = '\0';
    *to = end + 1;
    return 1;
}

/* ---- Commands ---- */

/* "@3" and "@n5" before a command. */
static int take_nodes(struct parser *p, struct command *c)
{
    const char *begin = p->at;
    char *end;

    if (*p->at != '@')
        return 0;
    bool is_number = p->at[1] == 'n';
    p->at += is_number ? 2 : 1;
    long value = isdigit((unsigned char)*p->at) ? strtol(p->at, &end, 10) : -1;
    if (value < is_number || value > (is_number ? 8192 : 13) || !ends_word(*end))
        return wrong(p, "@ takes a dimension from 0 to 13, or n and a number of nodes,", begin);
    c->nodes = is_number ? (int)value : 1 << value;
    p->at = end;
    return 0;
}

/* "<", ">", ">>", "2>" and "2>>". 1; 0: there is none; -1. */
static int take_redirection(struct parser *p, struct command *c, char **room)
{
    const char *begin = p->at;
    int fd = *begin == '<' ? 0 : *begin == '>' ? 1 : begin[0] == '2' && begin[1] == '>' ? 2 : -1;
    char *path;

    if (fd < 0)
        return 0;
    p->at += fd == 2 ? 2 : 1;
    bool appends = fd > 0 && *p->at == '>';
    p->at += appends;
    skip_blanks(p);
    path = *room;
    int result = take_word(p, room);
    if (result == 0)
        return wrong(p, "no file", begin);
    if (c->to[fd].path)
        return wrong(p, "a second redirection", begin);
    c->to[fd] = (struct redirection){path, appends};
    return result;
}

/* Takes a word or a redirection of a command. Returns 1; 0: the command ends here; -1: it is wrong. */
static int take_part(struct parser *p, struct command *c, char **room, const char *begin)
{
    skip_blanks(p);
    int result = take_redirection(p, c, room);
    if (result != 0)
        return result;
    char *word = *room;
    result = take_word(p, room);
    if (result > 0 && c->argc == PARSE_WORDS)
        return wrong(p, "more than 64 words", begin);
    if (result > 0)
        c->argv[c->argc++] = word;
    return result;
}

/* Returns 0, or -1: the command is wrong. */
static int take_command(struct parser *p, struct command *c, char **room)
{
    const char *begin = p->at;
    int result = 1;

    if (take_nodes(p, c) < 0)
        return -1;
    while (result > 0)
        result = take_part(p, c, room, begin);
    return result == 0 && c->argc == 0 ? wrong(p, "no program", p->at) : result;
}

/* ---- Pipelines ---- */

/* Takes what stands between two pipelines. */
static int take_link(struct parser *p)
{
    const char *begin = p->at;

    p->follows = begin[0] && begin[0] == begin[1] && strchr("&|", begin[0]);
    if (p->follows) {
        p->link = *begin == '&' ? LINK_IF_OK : LINK_IF_FAILED;
        p->at += 2;
    } else if (*begin == ';') {
        p->link = LINK_ALWAYS;
        p->at++;
    } else if (*begin == '&') {
        return wrong(p, "programs cannot run in the background: '&'", begin);
    } else if (*begin) {
        return wrong(p, "syntax error", begin);
    }
    return 0;
}

static int take_pipeline(struct parser *p, struct pipeline *pipeline, char *room)
{
    for (;;) {
        if (pipeline->commands == PARSE_COMMANDS)
            return wrong(p, "more than 16 programs in a pipeline", p->at);
        if (take_command(p, &pipeline->command[pipeline->commands++], &room) < 0)
            return -1;
        if (p->at[0] != '|' || p->at[1] == '|')
            return take_link(p);
        p->at++;
        skip_blanks(p);
    }
}

int parse_next(struct parser *p, struct pipeline *pipeline, int status)
{
    *pipeline = (struct pipeline){.link = p->link};
    p->status = status;
    skip_blanks(p);
    if (!*p->at)
        return p->follows ? wrong(p, "no program", p->at) : 0;
    free(p->room);
    p->room = malloc((strlen(p->at) + 1) * STATUS_BYTES);
    if (!p->room) {
        snprintf(p->why, sizeof p->why, "no memory");
        return -1;
    }
    return take_pipeline(p, pipeline, p->room) < 0 ? -1 : 1;
}
