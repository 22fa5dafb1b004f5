/* Volumes of a family's servers (server_volumes.h). */
#include "libpio/servers/server_volumes.h"

#include <stdlib.h>
#include <string.h>

#include "libpio/servers/server_calls.h"

/* Finds "\nWORD " in the text that the node keeps, and returns what is behind it, in memory of its own; NULL. */
static char *find_line(const char *word)
{
    const long bytes = server_calls.text(NULL, 0);
    const size_t word_bytes = strlen(word);
    char *text = bytes > 0 ? malloc((size_t)bytes + 2) : NULL, *line = NULL;

    if (!text)
        return NULL;
    text[0] = '\n';
    server_calls.text(text + 1, bytes);
    text[bytes + 1] = '\0';
    for (char *at = text; at && !line; at = strchr(at + 1, '\n'))
        if (strncmp(at + 1, word, word_bytes) == 0 && at[1 + word_bytes] == ' ')
            line = at + 2 + word_bytes;
    if (line) {
        line[strcspn(line, "\n")] = '\0';
        memmove(text, line, strlen(line) + 1);
        return text;
    }
    free(text);
    return NULL;
}

/* The number at *at, which moves behind it and the character that ends it. strtol would make every program larger that
 * has calls on paths, as the CFS's driver is in all of them. */
static uint32_t number(const char **at)
{
    uint32_t n = 0;

    for (; **at >= '0' && **at <= '9'; ++*at)
        n = n * 10 + (uint32_t)(**at - '0');
    *at += **at != '\0';
    return n;
}

static uint32_t count_words(const char *text)
{
    uint32_t n = 0;

    for (const char *at = text; *at; at++)
        n += *at != ' ' && (at == text || at[-1] == ' ');
    return n;
}

/* Ends each of the names at its space. */
static void take_names(char *names, struct server_volumes *v)
{
    while (*names) {
        v->name[v->n++] = names;
        while (*names && *names != ' ')
            names++;
        if (*names)
            *names++ = '\0';
    }
}

/* Reads "NUMBER NODE.DRIVE NODE.DRIVE ...". */
static void read_places(const char *at, struct server_volumes *v)
{
    v->number = number(&at);
    for (uint32_t k = 0; k < v->n; k++) {
        v->node[k] = (int)number(&at);
        v->drive[k] = (int)number(&at);
    }
}

void server_volumes_read(const char *word, struct server_volumes *v)
{
    char *text = find_line(word);
    char *colon = text ? strchr(text, ':') : NULL;

    *v = (struct server_volumes){.n = 0, .list = ""};
    if (!colon)
        return;
    *colon = '\0';
    const uint32_t n = count_words(text);
    char *list = malloc(strlen(text) + 1);
    v->name = calloc(n, sizeof *v->name);
    v->node = calloc(n, sizeof *v->node);
    v->drive = calloc(n, sizeof *v->drive);
    if (!list || !v->name || !v->node || !v->drive)
        return;
    v->list = strcpy(list, text);
    take_names(text, v);
    read_places(colon + 2, v);
}
