#include "tests/libpio/unstar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the file's bytes, malloc'd and with a NUL; NULL: there is none. */
static unsigned char *whole_file(const char *path, const char *suffix, long *bytes)
{
    char name[1200];
    unsigned char *all = NULL;

    snprintf(name, sizeof name, "%s%s", path, suffix);
    FILE *f = fopen(name, "rb");
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    *bytes = ftell(f);
    rewind(f);
    all = malloc((size_t)*bytes + 1);
    if (fread(all, 1, (size_t)*bytes, f) != (size_t)*bytes)
        abort();
    all[*bytes] = '\0';
    fclose(f);
    return all;
}

static bool say(struct unstar *u, const char *what, const char *line)
{
    snprintf(u->why, sizeof u->why, "%s: %s", what, line ? line : "");
    return false;
}

/* One line after the other, in this order. */
static bool read_meta(struct unstar *u, char *text)
{
    char *save = NULL, *line = strtok_r(text, "\n", &save);

    if (!line || strcmp(line, "star 1") != 0)
        return say(u, "not the format", line);
    line = strtok_r(NULL, "\n", &save);
    if (!line || strcmp(line, "state closed") != 0)
        return say(u, "not closed", line);
    line = strtok_r(NULL, "\n", &save);
    if (!line || strncmp(line, "shape ", 6) != 0)
        return say(u, "no shape", line);
    u->vps = 1;
    for (char *at = line + 5; *at;)
        u->vps *= strtol(at, &at, 10);
    line = strtok_r(NULL, "\n", &save);
    if (!line || strcmp(line, "order row") != 0)
        return say(u, "another order", line);
    line = strtok_r(NULL, "\n", &save);
    if (!line || sscanf(line, "nodes %ld", &u->nodes) != 1)
        return say(u, "no nodes", line);
    line = strtok_r(NULL, "\n", &save);
    if (line && sscanf(line, "nb %ld %ld", &u->nb_block, &u->nb_rows) == 2)
        line = strtok_r(NULL, "\n", &save);
    if (!line || sscanf(line, "cb %ld %ld", &u->cb_block, &u->cb_bytes) != 2)
        return say(u, "no cb", line);
    line = strtok_r(NULL, "\n", &save);
    if (line && strncmp(line, "reason ", 7) == 0)
        line = strtok_r(NULL, "\n", &save);
    return (line && strcmp(line, "end") == 0) || say(u, "no end", line);
}

/* Puts the streams together; padding must be zeros. */
static bool take_streams(struct unstar *u, const unsigned char *data, long bytes)
{
    long cb_rows = (u->cb_bytes + u->cb_block - 1) / u->cb_block, e1 = u->nb_rows * u->vps * u->nb_block;

    if (bytes != e1 + cb_rows * u->vps * u->cb_block)
        return say(u, "the data have another length", "");
    for (long vp = 0; vp < u->vps; vp++) {
        long nb = u->nb_rows * u->nb_block;

        u->length[vp] = nb + u->cb_bytes;
        u->stream[vp] = malloc((size_t)(nb + cb_rows * u->cb_block) + 1);
        for (long r = 0; r < u->nb_rows; r++)
            memcpy(u->stream[vp] + r * u->nb_block, data + (r * u->vps + vp) * u->nb_block, (size_t)u->nb_block);
        for (long r = 0; r < cb_rows; r++)
            memcpy(u->stream[vp] + nb + r * u->cb_block, data + e1 + (r * u->vps + vp) * u->cb_block,
                   (size_t)u->cb_block);
        for (long i = u->length[vp]; i < nb + cb_rows * u->cb_block; i++)
            if (u->stream[vp][i] != 0)
                return say(u, "padding is not zero", "");
    }
    return true;
}

bool unstar_read(const char *path, struct unstar *u)
{
    long bytes = 0, text_bytes = 0;
    unsigned char *data = whole_file(path, "", &bytes), *text = whole_file(path, ".meta", &text_bytes);

    *u = (struct unstar){0};
    bool passes = data && text ? read_meta(u, (char *)text) : say(u, "no such file", path);
    if (passes) {
        u->stream = calloc((size_t)u->vps, sizeof *u->stream);
        u->length = calloc((size_t)u->vps, sizeof *u->length);
        passes = take_streams(u, data, bytes);
    }
    free(data);
    free(text);
    return passes;
}

void unstar_free(struct unstar *u)
{
    for (long vp = 0; u->stream && vp < u->vps; vp++)
        free(u->stream[vp]);
    free(u->stream);
    free(u->length);
}
