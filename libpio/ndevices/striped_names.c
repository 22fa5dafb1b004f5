/*
 * Reads the text that the machine file's `striped` becomes on its way to the nodes (vertex/contract/system.h). It is
 * read once and kept; the structures point into it.
 */
#include "libpio/ndevices/striped_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "vertex/contract/traps.h"

static struct striped_volume *volume; /* up to the one without a name */

/* Returns the word at *text, ended, and moves on behind it. The words of a line end at ':'. */
static char *take_word(char **text)
{
    char *word = *text;

    *text += strcspn(word, " :");
    if (**text == ' ')
        *(*text)++ = '\0';
    return word;
}

/* Reads one line, "big df00 df01: cyclic 16384 2". False: there is no memory. */
static bool read_line(char *line, struct striped_volume *v)
{
    char *end = strchr(line, ':');
    int disks = 0;

    for (const char *c = line; c < end; c++)
        disks += *c == ' ';
    const char **over = malloc((size_t)disks * sizeof *over);
    if (!over)
        return false;
    v->name = take_word(&line);
    for (int k = 0; k < disks; k++)
        over[k] = take_word(&line);
    *end = '\0';
    v->layout = (struct pio_layout){.disks = disks, .volumes = over, .map = end + 2};
    return true;
}

static int count_lines(const char *text)
{
    int lines = 0;

    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* Without memory there are as many volumes as could be read; what is on another is not found. */
static struct striped_volume *read_volumes(char *text)
{
    int n = 0;
    struct striped_volume *v = calloc((size_t)count_lines(text) + 1, sizeof *v);

    for (char *line = text, *end; v && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        if (!read_line(line, &v[n++]))
            break;
    }
    return v;
}

static struct striped_volume *ask_machine(void)
{
    static struct striped_volume none;
    long bytes = trap_striped(NULL, 0);
    char *text = bytes > 0 ? malloc((size_t)bytes + 1) : NULL;

    if (!text)
        return &none;
    trap_striped(text, bytes);
    text[bytes] = '\0';
    struct striped_volume *v = read_volumes(text);
    return v ? v : &none;
}

const struct striped_volume *striped_find(const char *path, const char **name)
{
    if (path[0] != '/' || path[1] != '/')
        return NULL;
    if (!volume)
        volume = ask_machine();
    size_t bytes = strcspn(path + 2, "/");
    for (const struct striped_volume *v = volume; v->name; v++)
        if (strncmp(v->name, path + 2, bytes) == 0 && v->name[bytes] == '\0') {
            *name = path[2 + bytes] ? path + 2 + bytes : "/";
            return v;
        }
    return NULL;
}

int striped_part(const struct striped_volume *v, int k, const char *name, char part[STRIPED_PATH_BYTES])
{
    const char *over = v->layout.volumes[k];

    if (2 + strlen(over) + strlen(name) >= STRIPED_PATH_BYTES)
        return -ENAMETOOLONG;
    strcpy(stpcpy(stpcpy(part, "//"), over), name);
    return 0;
}
