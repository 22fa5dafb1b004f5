/*
 * A reader that takes what it understands, and then writes it: a text that is not what it would have written is
 * refused. So the reader below need not be strict itself.
 */
#include "libpio/star/meta.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/star/shape.h"

static const char *const order_name[] = {[STAR_ROW] = "row", [STAR_COLUMN] = "column", [STAR_GRID] = "grid"};

/* ---- Writing ---- */

struct text {
    char *at;
    size_t bytes;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int n = vsnprintf(t->at + t->bytes, STAR_META_BYTES - t->bytes, format, arguments);
    va_end(arguments);
    t->bytes += n < 0 || (size_t)n >= STAR_META_BYTES - t->bytes ? STAR_META_BYTES - t->bytes - 1 : (size_t)n;
}

size_t star_meta_format(const struct star_meta *m, char *text)
{
    const struct star_segments *s = &m->segments;
    struct text t = {text, 0};

    add(&t, "star 1\nstate %s\nshape", m->is_writing ? "writing" : "closed");
    for (int axis = 0; axis < m->rank; axis++)
        add(&t, " %ld", m->extent[axis]);
    add(&t, "\norder %s", order_name[m->order]);
    for (int axis = 0; axis < m->rank && m->order == STAR_GRID; axis++)
        add(&t, " %d", m->grid[axis]);
    add(&t, "\nnodes %d\n", m->nodes);
    if (s->nb_block > 0)
        add(&t, "nb %" PRId64 " %" PRId64 "\n", s->nb_block, s->nb_rows);
    add(&t, "cb %" PRId64 " %" PRId64 "\n", s->cb_block, s->cb_bytes);
    if (m->ib_block > 0)
        add(&t, "ib %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\nsuperblocks %" PRId64 " %" PRId64 "\n",
            m->ib_block, m->ib_pointers, m->ib_superblock, m->ib_begin, m->superblocks, m->directory_superblocks);
    if (m->reason[0])
        add(&t, "reason %s\n", m->reason);
    add(&t, "end\n");
    return t.bytes;
}

/* ---- Reading ---- */

/* If the line at *at begins with that word, moves *at behind it. */
static bool take_word(char **at, const char *word)
{
    size_t n = strlen(word);

    if (strncmp(*at, word, n) != 0 || ((*at)[n] != ' ' && (*at)[n] != '\n'))
        return false;
    *at += n;
    return true;
}

/* Reads at most `most` numbers up to the end of the line, and moves behind that. Returns how many. */
static int take_numbers(char **at, int64_t *number, int most)
{
    int n = 0;

    while (n < most && **at == ' ') {
        char *end;

        errno = 0;
        number[n] = strtoll(*at, &end, 10);
        if (errno || end == *at)
            break;
        *at = end;
        n++;
    }
    *at += strcspn(*at, "\n");
    *at += **at == '\n';
    return n;
}

static void take_lines(char *at, struct star_meta *m)
{
    struct star_segments *s = &m->segments;
    int64_t number[CS_RANK_MAX] = {0};

    if (take_word(&at, "star"))
        take_numbers(&at, number, 1);
    if (take_word(&at, "state")) {
        m->is_writing = take_word(&at, " writing");
        take_numbers(&at, number, 0);
    }
    if (take_word(&at, "shape"))
        m->rank = take_numbers(&at, number, CS_RANK_MAX);
    for (int axis = 0; axis < m->rank; axis++)
        m->extent[axis] = (long)number[axis];
    if (take_word(&at, "order")) {
        while (m->order < STAR_GRID && strncmp(at + 1, order_name[m->order], strlen(order_name[m->order])) != 0)
            m->order++;
        at += m->order == STAR_GRID && strncmp(at, " grid ", 6) == 0 ? 5 : 0;
        take_numbers(&at, number, CS_RANK_MAX);
    }
    for (int axis = 0; axis < m->rank && m->order == STAR_GRID; axis++)
        m->grid[axis] = number[axis] < 1 || number[axis] > INT32_MAX ? 0 : (int)number[axis];
    if (take_word(&at, "nodes") && take_numbers(&at, number, 1) == 1)
        m->nodes = number[0] < 1 || number[0] > INT32_MAX ? 0 : (int)number[0];
    if (take_word(&at, "nb") && take_numbers(&at, number, 2) == 2)
        s->nb_block = number[0], s->nb_rows = number[1];
    if (take_word(&at, "cb") && take_numbers(&at, number, 2) == 2)
        s->cb_block = number[0], s->cb_bytes = number[1];
    if (take_word(&at, "ib") && take_numbers(&at, number, 4) == 4)
        m->ib_block = number[0], m->ib_pointers = number[1], m->ib_superblock = number[2], m->ib_begin = number[3];
    if (take_word(&at, "superblocks") && take_numbers(&at, number, 2) == 2)
        m->superblocks = number[0], m->directory_superblocks = number[1];
    if (take_word(&at, "reason") && *at == ' ')
        snprintf(m->reason, sizeof m->reason, "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
}

static bool has_shape(const struct star_meta *m, int64_t *vps)
{
    bool fits = m->rank >= 1 && m->nodes >= 1;

    *vps = 1;
    for (int axis = 0; axis < m->rank && fits; axis++) {
        fits = m->extent[axis] >= 1 && m->extent[axis] <= STAR_VPS_MAX / *vps &&
               (m->order != STAR_GRID || m->grid[axis] >= 1);
        *vps *= fits ? m->extent[axis] : 1;
    }
    return fits;
}

/* Whether numbers are in range, and so that no offset is beyond PATTERN_OFFSET_MAX. */
static bool has_segments(const struct star_segments *s)
{
    int64_t most = PATTERN_OFFSET_MAX / 4 / s->vps - STAR_CB_BLOCK_MAX;

    return (s->nb_block == 0) == (s->nb_rows == 0) && s->nb_block >= 0 && s->nb_rows >= 0 && s->nb_block <= INT32_MAX &&
           (s->nb_block == 0 || s->nb_rows <= most / s->nb_block) && s->cb_block >= 1 &&
           s->cb_block <= STAR_CB_BLOCK_MAX && s->cb_bytes >= 0 && s->cb_bytes <= most;
}

static bool has_directory(const struct star_meta *m)
{
    int64_t size = m->ib_superblock, begin = star_segments_file_end(&m->segments);

    if (m->ib_block == 0)
        return m->ib_pointers == 0 && size == 0 && m->ib_begin == 0 && m->superblocks == 0 &&
               m->directory_superblocks == 0;
    return size >= 1 && size <= 1 << 20 && m->ib_block > 0 && size % m->ib_block == 0 && m->ib_pointers >= 1 &&
           m->ib_pointers <= 1 << 18 && size % (4 * (m->ib_pointers + 2)) == 0 &&
           m->ib_begin == (begin + size - 1) / size * size && m->superblocks >= 1 && m->directory_superblocks >= 1 &&
           m->superblocks <= INT64_C(0xfffffffe) / (size / m->ib_block) &&
           m->directory_superblocks <= INT64_C(0xfffffffe) / (size / (4 * (m->ib_pointers + 2)));
}

int star_meta_parse(const char *text, size_t bytes, struct star_meta *m)
{
    char copy[STAR_META_BYTES], again[STAR_META_BYTES];

    *m = (struct star_meta){0};
    if (bytes >= sizeof copy || memchr(text, '\0', bytes))
        return -EPROTO;
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    take_lines(copy, m);
    if (!has_shape(m, &m->segments.vps) || !has_segments(&m->segments) || !has_directory(m))
        return -EPROTO;
    return star_meta_format(m, again) == bytes && memcmp(again, text, bytes) == 0 ? 0 : -EPROTO;
}
