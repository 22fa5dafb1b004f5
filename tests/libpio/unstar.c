/*
 * Reads .meta line by line, then puts each stream together: rows of the NB and CB segments, the chain of entries of the
 * IB segment. Every block and entry has at most one owner; padding is zeros.
 */
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

/* ---- The order of VPs in a row ---- */

static bool read_order(struct unstar *u, const char *line)
{
    int axis = 0;

    u->is_column = strcmp(line, "order column") == 0;
    if (u->is_column || strcmp(line, "order row") == 0 || strncmp(line, "order grid ", 11) != 0)
        return u->is_column || strcmp(line, "order row") == 0;
    for (char *at = (char *)line + 10; *at && axis < u->rank; axis++)
        u->grid[axis] = strtol(at, &at, 10);
    return axis == u->rank;
}

/* Sets what lies where in a row: from one cell of the grid to the next, and in each from one place to the next. */
static void list_grid(struct unstar *u)
{
    long cell[UNSTAR_RANK] = {0}, at[UNSTAR_RANK] = {0}, from[UNSTAR_RANK], to[UNSTAR_RANK], place = 0;

    for (bool more = true; more;) {
        bool is_empty = false;

        for (int a = 0; a < u->rank; a++) {
            long size = (u->extent[a] + u->grid[a] - 1) / u->grid[a];

            from[a] = at[a] = cell[a] * size;
            to[a] = from[a] + size < u->extent[a] ? from[a] + size : u->extent[a];
            is_empty = is_empty || from[a] >= to[a];
        }
        for (bool within = !is_empty; within;) {
            long vp = 0;
            int axis = u->rank - 1;

            for (int a = 0; a < u->rank; a++)
                vp = vp * u->extent[a] + at[a];
            u->place[vp] = place++;
            while (axis >= 0 && ++at[axis] == to[axis])
                at[axis] = from[axis], axis--;
            within = axis >= 0;
        }
        int axis = u->rank - 1;
        while (axis >= 0 && ++cell[axis] == u->grid[axis])
            cell[axis--] = 0;
        more = axis >= 0;
    }
}

bool unstar_places(struct unstar *u, const char *order)
{
    if (!read_order(u, order))
        return false;
    u->place = malloc((size_t)u->vps * sizeof *u->place);
    if (u->grid[0] > 0)
        list_grid(u);
    for (long vp = 0; vp < u->vps && u->grid[0] == 0; vp++) {
        long left = vp, step = u->vps;

        u->place[vp] = u->is_column ? 0 : vp;
        for (int a = u->rank - 1; a >= 0 && u->is_column; a--) { /* the last coordinate is the slowest */
            step /= u->extent[a];
            u->place[vp] += left % u->extent[a] * step;
            left /= u->extent[a];
        }
    }
    return true;
}

/* ---- The parts ---- */

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
    for (char *at = line + 5; *at; u->rank++)
        u->vps *= u->extent[u->rank] = strtol(at, &at, 10);
    line = strtok_r(NULL, "\n", &save);
    if (!line || !unstar_places(u, line))
        return say(u, "no order", line);
    line = strtok_r(NULL, "\n", &save);
    if (!line || sscanf(line, "nodes %ld", &u->nodes) != 1)
        return say(u, "no nodes", line);
    line = strtok_r(NULL, "\n", &save);
    if (line && sscanf(line, "nb %ld %ld", &u->nb_block, &u->nb_rows) == 2)
        line = strtok_r(NULL, "\n", &save);
    if (!line || sscanf(line, "cb %ld %ld", &u->cb_block, &u->cb_bytes) != 2)
        return say(u, "no cb", line);
    line = strtok_r(NULL, "\n", &save);
    if (line && sscanf(line, "ib %ld %ld %ld %ld", &u->ib_block, &u->pointers, &u->superblock, &u->e3) == 4) {
        line = strtok_r(NULL, "\n", &save);
        if (!line || sscanf(line, "superblocks %ld %ld", &u->superblocks, &u->directory_superblocks) != 2)
            return say(u, "no superblocks", line);
        line = strtok_r(NULL, "\n", &save);
    }
    if (line && strncmp(line, "reason ", 7) == 0)
        line = strtok_r(NULL, "\n", &save);
    return (line && strcmp(line, "end") == 0) || say(u, "no end", line);
}

/* Puts the streams together; padding must be zeros. */
static bool take_streams(struct unstar *u, const unsigned char *data, long bytes)
{
    long cb_rows = (u->cb_bytes + u->cb_block - 1) / u->cb_block, e1 = u->nb_rows * u->vps * u->nb_block;

    long e2 = e1 + cb_rows * u->vps * u->cb_block;

    if (u->ib_block == 0 ? bytes != e2 : bytes < e2 || bytes > u->e3 + u->superblocks * u->superblock)
        return say(u, "the data have another length", "");
    for (long i = e2; i < u->e3 && i < bytes; i++)
        if (data[i] != 0)
            return say(u, "what lies before the IB segment is not zero", "");
    for (long vp = 0; vp < u->vps; vp++) {
        long nb = u->nb_rows * u->nb_block;

        u->length[vp] = nb + u->cb_bytes;
        u->stream[vp] = malloc((size_t)(nb + cb_rows * u->cb_block) + 1);
        for (long r = 0; r < u->nb_rows; r++)
            memcpy(u->stream[vp] + r * u->nb_block, data + (r * u->vps + u->place[vp]) * u->nb_block,
                   (size_t)u->nb_block);
        for (long r = 0; r < cb_rows; r++)
            memcpy(u->stream[vp] + nb + r * u->cb_block, data + e1 + (r * u->vps + u->place[vp]) * u->cb_block,
                   (size_t)u->cb_block);
        for (long i = u->length[vp]; i < nb + cb_rows * u->cb_block; i++)
            if (u->stream[vp][i] != 0)
                return say(u, "padding is not zero", "");
    }
    return true;
}

static long word(const unsigned char *at)
{
    return (long)(at[0] | at[1] << 8 | at[2] << 16) + ((long)at[3] << 24);
}

#define NONE 0xffffffffL

struct ib_files {
    unsigned char *data, *first, *dir;
    long data_bytes, first_bytes, dir_bytes;
    char *used; /* blocks and entries that have an owner */
};

/* Adds a VP's bytes in the IB segment to its stream. */
static bool take_chain(struct unstar *u, struct ib_files *f, long vp)
{
    const unsigned char *own = f->first + 16 * vp;
    long entry = word(own), last = word(own + 4), bytes = word(own + 8) + (word(own + 12) << 32), before = -1;
    long blocks = (bytes + u->ib_block - 1) / u->ib_block, entry_bytes = 4 * (u->pointers + 2), length = u->length[vp];
    long most = u->superblocks * (u->superblock / u->ib_block),
         entries = u->directory_superblocks * u->superblock / entry_bytes;

    if (bytes == 0)
        return (entry == NONE && last == NONE) || say(u, "an empty stream has entries", "");
    u->stream[vp] = realloc(u->stream[vp], (size_t)(length + blocks * u->ib_block));
    memset(u->stream[vp] + length, 0, (size_t)(blocks * u->ib_block));
    for (long j = 0; j < blocks; j += u->pointers) {
        const unsigned char *e = f->dir + entry * entry_bytes;

        if (entry <= before || entry >= entries || (entry + 1) * entry_bytes > f->dir_bytes || f->used[most + entry]++)
            return say(u, "an entry is out of range, or shared", "");
        if (word(e) != vp)
            return say(u, "an entry of another VP", "");
        for (long k = 0; k < u->pointers; k++) {
            long block = word(e + 8 + 4 * k), at = u->e3 + block * u->ib_block;

            if (block == NONE)
                continue;
            if (j + k >= blocks || block >= most || at + u->ib_block > f->data_bytes || f->used[block]++)
                return say(u, "a block is out of range, or shared", "");
            memcpy(u->stream[vp] + length + (j + k) * u->ib_block, f->data + at, (size_t)u->ib_block);
        }
        before = entry;
        entry = word(e + 4);
    }
    for (long i = bytes; i < blocks * u->ib_block; i++)
        if (u->stream[vp][length + i] != 0)
            return say(u, "padding of a block is not zero", "");
    u->length[vp] += bytes;
    return (entry == NONE && before == last) || say(u, "the chain does not end", "");
}

static bool take_ib(struct unstar *u, const char *path, const unsigned char *data, long bytes)
{
    struct ib_files f = {.data = (unsigned char *)data, .data_bytes = bytes};
    long most = u->superblocks * (u->superblock / u->ib_block);
    bool passes = true;

    f.first = whole_file(path, ".first", &f.first_bytes);
    f.dir = whole_file(path, ".dir", &f.dir_bytes);
    f.used = calloc((size_t)(most + u->directory_superblocks * u->superblock), 1);
    if (!f.first || !f.dir || f.first_bytes != 16 * u->vps || f.dir_bytes > u->directory_superblocks * u->superblock)
        passes = say(u, ".first or .dir has another length", "");
    for (long vp = 0; passes && vp < u->vps; vp++)
        passes = take_chain(u, &f, vp);
    long entry_bytes = 4 * (u->pointers + 2);
    for (long e = 0; passes && (e + 1) * entry_bytes <= f.dir_bytes; e++)
        if (!f.used[most + e] && word(f.dir + e * entry_bytes) != NONE && word(f.dir + e * entry_bytes + 8) != 0)
            passes = say(u, "an entry without a use is not empty", "");
    free(f.first);
    free(f.dir);
    free(f.used);
    return passes;
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
        passes = take_streams(u, data, bytes) && (u->ib_block == 0 || take_ib(u, path, data, bytes));
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
    free(u->place);
}
