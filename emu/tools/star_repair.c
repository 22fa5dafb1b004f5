/* Puts the directory of a parallel file together again (star_repair.h). */
#include "emu/tools/star_repair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE        0xffffffffu
#define FIRST_BYTES 16

/* Of a VP. */
struct chain {
    int64_t entries, last; /* -1: none */
    int64_t blocks;        /* up to the last that has a place */
    bool has_ended;        /* what follows has been lost */
};

static uint32_t get(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void put(unsigned char *at, uint32_t word)
{
    for (int k = 0; k < 4; k++)
        at[k] = (unsigned char)(word >> 8 * k);
}

static int64_t ceiling(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t entry_bytes(const struct star_repair *r)
{
    return 4 * (r->meta.ib_pointers + 2);
}

/* ---- Segments of rows ---- */

/* Rows that the writer has added to the last segment: whole ones that are there. A .meta with a reason says that the NB
 * segment had ended. */
static void add_rows(struct star_repair *r, int64_t nb_block)
{
    struct star_segments *s = &r->meta.segments;
    int64_t rest = r->whole_bytes - star_segments_nb_end(s), cb_bytes = rest / s->cb_block / s->vps * s->cb_block;

    if (s->cb_bytes > 0 || r->meta.reason[0]) {
        s->cb_bytes = cb_bytes > s->cb_bytes ? cb_bytes : s->cb_bytes;
        return;
    }
    s->nb_block = s->nb_block > 0 ? s->nb_block : nb_block;
    s->nb_rows = s->nb_block > 0 ? r->whole_bytes / s->nb_block / s->vps : 0;
    s->nb_block = s->nb_rows > 0 ? s->nb_block : 0;
}

static void repair_rows(struct star_repair *r, int64_t nb_block)
{
    struct star_segments *s = &r->meta.segments;

    if (star_segments_file_end(s) <= r->whole_bytes) {
        add_rows(r, nb_block);
    } else { /* whole rows that are there */
        int64_t nb_bytes = star_segments_nb_end(s), rest = r->whole_bytes - nb_bytes;

        if (rest < 0)
            star_segments_cut(s, r->whole_bytes / s->nb_block / s->vps * s->nb_block);
        else
            star_segments_cut(s, s->nb_block * s->nb_rows + rest / s->cb_block / s->vps * s->cb_block);
    }
    if (s->cb_bytes == 0)
        r->meta.reason[0] = '\0';
    r->data_bytes = star_segments_file_end(s);
}

/* ---- The directory ---- */

static bool has_block(const struct star_repair *r, int64_t number)
{
    return !r->has || r->has(r->data, r->meta.ib_begin + number * r->meta.ib_block, r->meta.ib_block);
}

/* Whether an entry may be believed: a VP's, with a block. *ends: it has a block that is not in the file, so the stream
 * ends before that: it has been lost. */
static bool check_entry(const struct star_repair *r, unsigned char *entry, int64_t blocks, int64_t *last, bool *ends)
{
    *last = -1;
    *ends = false;
    if (get(entry) >= r->meta.segments.vps)
        return false;
    bool is_zero = true; /* what was never written */
    for (int64_t k = 0; k < entry_bytes(r); k++)
        is_zero = is_zero && entry[k] == 0;
    for (int64_t k = 0; k < r->meta.ib_pointers; k++) {
        unsigned char *block = entry + 8 + 4 * k;

        *ends = *ends || (get(block) != NONE && (get(block) >= blocks || !has_block(r, get(block))));
        if (*ends)
            put(block, NONE);
        else if (get(block) != NONE)
            *last = k;
    }
    return !is_zero && *last >= 0;
}

/* Links the entries of each VP, which ascend. */
static void link_entries(struct star_repair *r, struct chain *chain)
{
    int64_t size = entry_bytes(r), beyond = r->data_bytes - r->meta.ib_begin, last;
    int64_t blocks = beyond > 0 ? beyond / r->meta.ib_block : 0;
    bool ends;

    for (int64_t e = 0; e < r->directory_bytes / size; e++) {
        unsigned char *entry = r->directory + e * size;

        bool has_vp = get(entry) < r->meta.segments.vps, passes = check_entry(r, entry, blocks, &last, &ends);
        struct chain *c = has_vp ? &chain[get(entry)] : NULL;
        uint32_t vp = get(entry);

        passes = passes && !c->has_ended;
        if (has_vp && ends)
            c->has_ended = true;
        if (!passes) {
            r->dropped += vp != NONE;
            memset(entry, 0xff, (size_t)size);
            continue;
        }
        if (c->last >= 0)
            put(r->directory + c->last * size + 4, (uint32_t)e);
        else
            put(r->first + FIRST_BYTES * vp, (uint32_t)e);
        put(entry + 4, NONE);
        c->last = e;
        c->blocks = c->entries++ * r->meta.ib_pointers + last + 1;
        r->entries++;
    }
}

/* Sets ends of chains, and lengths: the old one, if the chain is as long as that. */
static void set_lengths(struct star_repair *r, const struct chain *chain)
{
    for (int64_t vp = 0; vp < r->meta.segments.vps; vp++) {
        unsigned char *first = r->first + FIRST_BYTES * vp;
        const struct chain *c = &chain[vp];
        int64_t bytes = (int64_t)(get(first + 8) | (uint64_t)get(first + 12) << 32);
        bool fits = bytes > 0 && ceiling(bytes, r->meta.ib_block) == c->blocks;

        if (c->entries == 0)
            put(first, NONE);
        r->rounded += c->entries > 0 && !fits;
        bytes = fits ? bytes : c->blocks * r->meta.ib_block;
        put(first + 4, c->entries > 0 ? (uint32_t)c->last : NONE);
        put(first + 8, (uint32_t)bytes);
        put(first + 12, (uint32_t)((uint64_t)bytes >> 32));
    }
}

/* Makes .first and .dir as long as they are to be. */
static int fit_parts(struct star_repair *r)
{
    int64_t first = FIRST_BYTES * r->meta.segments.vps, superblock = r->meta.ib_superblock;
    int64_t directory = ceiling(r->directory_bytes > 0 ? r->directory_bytes : 1, superblock) * superblock;
    unsigned char *whole = calloc(1, (size_t)first), *entries = malloc((size_t)directory);

    if (!whole || !entries) {
        free(whole);
        free(entries);
        return -ENOMEM;
    }
    if (r->first_bytes == first)
        memcpy(whole, r->first, (size_t)first);
    memset(entries, 0xff, (size_t)directory);
    if (r->directory_bytes > 0)
        memcpy(entries, r->directory, (size_t)r->directory_bytes);
    free(r->first);
    free(r->directory);
    r->first = whole;
    r->first_bytes = first;
    r->directory = entries;
    r->directory_bytes = directory;
    r->meta.directory_superblocks = directory / superblock;
    return 0;
}

static int repair_directory(struct star_repair *r, int64_t data_bytes)
{
    int64_t beyond = data_bytes - r->meta.ib_begin;
    int error = fit_parts(r);
    struct chain *chain = error ? NULL : calloc((size_t)r->meta.segments.vps, sizeof *chain);

    if (!chain)
        return -ENOMEM;
    for (int64_t vp = 0; vp < r->meta.segments.vps; vp++)
        chain[vp].last = -1;
    r->meta.superblocks = beyond > 0 ? ceiling(beyond, r->meta.ib_superblock) : 1;
    link_entries(r, chain);
    set_lengths(r, chain);
    free(chain);
    r->data_bytes = data_bytes;
    return 0;
}

int star_repair(struct star_repair *r, int64_t nb_block)
{
    int64_t data_bytes = r->data_bytes;

    if (!r->meta.is_writing)
        return -1;
    r->meta.is_writing = false;
    if (r->meta.ib_block > 0 && r->whole_bytes >= star_segments_file_end(&r->meta.segments))
        return repair_directory(r, data_bytes);
    r->meta.ib_block = r->meta.ib_pointers = r->meta.ib_superblock = r->meta.ib_begin = 0;
    r->meta.superblocks = r->meta.directory_superblocks = 0;
    repair_rows(r, nb_block);
    return 0;
}
