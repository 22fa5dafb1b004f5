/*
 * `ncube star`: parallel files of virtual processors (<cstar.h>) without a machine [P4 6]. Names are the host's, or
 * "pio:PATH" on the images of the machine that -m names.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/base/options.h"
#include "emu/base/plural.h"
#include "emu/cmd/commands.h"
#include "emu/config/config_options.h"
#include "emu/tools/machine_volumes.h"
#include "emu/tools/star_files.h"
#include "emu/tools/star_repair.h"
#include "libpio/star/shape.h"
#include "libpio/star/star_ib.h"

struct arguments {
    const char *machine, *images, *order;
    uint32_t block, bytes, fill;
};

#define TO(kind, member) OPTION_INTO(kind, struct arguments, member)

static const struct option_line lines[] = {
    {"machine", "FILE", "machine file, for pio:PATH", TO(OPTION_TEXT, machine), .letter = 'm'},
    {"images", "DIR", "folder of the machine's images (default: the machine file's)", TO(OPTION_TEXT, images)},
    {"block", "BYTES", "meta, repair: bytes of a virtual processor in each row", TO(OPTION_BYTES, block), 1, INT32_MAX},
    {"order", "ORDER",
     "meta, convert: order of the virtual processors in a row: row, column or grid:G0xG1 (default row)",
     TO(OPTION_TEXT, order)},
    {"bytes", "BYTES", "convert: bytes of a virtual processor in each row of the new file", TO(OPTION_BYTES, bytes), 1,
     INT32_MAX},
    {"fill", "BYTE", "convert: what follows the end of a stream, 0 to 255 (default 0)", TO(OPTION_NUMBER, fill), 0,
     255},
    {OPTION_SET},
    {0}};

static const struct options options = {
    .command = "ncube star",
    .usage = "[OPTION...] VERB NAME [WORD...]",
    .words = UINT32_MAX,
    .summary = "Shows, reads and repairs parallel files of virtual processors (<cstar.h>).",
    .end = "  show NAME                 print its shape, its segments and the lengths of its streams\n"
           "  cat NAME VP               print the stream of a virtual processor, by its number\n"
           "  meta NAME EXTENT...       describe an array that another program wrote, in whole rows of --block\n"
           "  convert FROM TO           make a file of one NB segment, which other programs read as an array\n"
           "  repair NAME               repair a file that its writer did not close\n\n"
           "A NAME is a file of the host; or, with -m, pio:/PATH on the images of a machine that is not running.",
    .line = lines,
};

/* ---- The order of a row ---- */

/* Reads --order for a shape of m->rank dimensions. */
static void take_order(const char *verb, const char *text, struct star_meta *m)
{
    const char *at = text ? text : "row";
    int n = 0;

    m->order = strcmp(at, "row") == 0 ? STAR_ROW : strcmp(at, "column") == 0 ? STAR_COLUMN : STAR_GRID;
    if (m->order != STAR_GRID)
        return;
    if (strncmp(at, "grid:", 5) != 0)
        options_refuse(&options, "%s: '%s': an order is row, column or grid:G0xG1...", verb, text);
    for (at += 4; *at && n < m->rank; at += 1 + strcspn(at + 1, "x"), n++) {
        char *number = memory_print("%.*s", (int)strcspn(at + 1, "x"), at + 1);
        uint64_t cells;

        if (!options_read_number(number, 1, INT32_MAX, &cells))
            options_refuse(&options, "%s: '%s': the cells of a dimension are a number from 1 on", verb, text);
        m->grid[n] = (int)cells;
        free(number);
    }
    if (n < m->rank || *at)
        options_refuse(&options, "%s: '%s': the shape has %d dimension%s, so give as many numbers of cells", verb, text,
                       m->rank, plural((uint64_t)m->rank));
}

static struct star_row_order order_of(const struct star_meta *m)
{
    return star_row_order_make(m->rank, m->extent, m->order, m->grid);
}

/* ---- Files ---- */

/* Reads the .meta, which must be there and closed. */
static int need_closed(const char *name, struct star_meta *m, char *error)
{
    bool is_there;

    if (star_files_meta(name, m, &is_there, error) < 0)
        return -1;
    if (!is_there)
        return error_line(error, "%s: has no .meta; \"ncube star meta\" makes one for an array", name);
    if (m->is_writing)
        return error_line(error, "%s: its writer did not close it; \"ncube star repair\" makes it readable", name);
    return 0;
}

/* Opens it by the library, with each stream by itself. */
static CS_FILE *open_streams(const char *name, struct cs_shape **s, char *error)
{
    const struct cs_options o = {.least = CS_IB, .read_buffers = 64};
    CS_FILE *f = cs_fopen_with(name, "r", s, &o);

    if (!f)
        error_line(error, "%s: %s", star_failed_name(), errno == EPROTO ? "does not fit the .meta" : strerror(errno));
    return f;
}

/* What could not be read is an error of the stream. */
static int stream_error(const char *name, const struct cs_file *f, long vp, char *error)
{
    int number = f->ib->vp[vp].error;

    return number ? error_line(error, "%s: virtual processor %ld: %s", name, vp, strerror(-number)) : 0;
}

/* ---- show ---- */

static void print_segments(const struct star_meta *m)
{
    const struct star_segments *s = &m->segments;

    if (s->nb_rows > 0)
        printf("NB       %" PRId64 " row%s of %" PRId64 " bytes for each, from byte 0 on\n", s->nb_rows,
               plural((uint64_t)s->nb_rows), s->nb_block);
    if (s->cb_bytes > 0)
        printf("CB       %" PRId64 " bytes for each, in blocks of %" PRId64 ", from byte %" PRId64 " on\n", s->cb_bytes,
               s->cb_block, star_segments_nb_end(s));
    if (m->ib_block > 0)
        printf("IB       blocks of %" PRId64 " in %" PRId64 " superblocks of %" PRId64 ", from byte %" PRId64
               " on; entries of %" PRId64 " blocks in %" PRId64 "\n",
               m->ib_block, m->superblocks, m->ib_superblock, m->ib_begin, m->ib_pointers, m->directory_superblocks);
    if (m->reason[0])
        printf("reason   %s\n", m->reason);
}

static int print_lengths(const char *name, char *error)
{
    struct cs_shape *s = NULL;
    CS_FILE *f = open_streams(name, &s, error);
    int64_t least = INT64_MAX, most = 0, sum = 0;

    if (!f)
        return -1;
    for (long vp = 0; vp < s->vps; vp++) {
        int64_t end = star_ib_end(f, vp);

        least = end < least ? end : least;
        most = end > most ? end : most;
        sum += end;
    }
    printf("streams  %" PRId64 " bytes; %" PRId64 " to %" PRId64 " for each\n", sum, least, most);
    cs_fclose(f);
    cs_shape_free(s);
    return 0;
}

static int verb_show(const struct arguments *a, char **word, char *error)
{
    struct star_meta m;
    bool is_there;

    (void)a;
    if (star_files_meta(word[0], &m, &is_there, error) < 0)
        return -1;
    if (!is_there)
        return need_closed(word[0], &m, error);
    printf("shape   ");
    for (int axis = 0; axis < m.rank; axis++)
        printf(" %ld", m.extent[axis]);
    printf("\nVPs      %" PRId64 " in %s order", m.segments.vps,
           m.order == STAR_ROW      ? "row"
           : m.order == STAR_COLUMN ? "column"
                                    : "grid");
    for (int axis = 0; axis < m.rank && m.order == STAR_GRID; axis++)
        printf("%s%d", axis == 0 ? ", cells " : "x", m.grid[axis]);
    printf("\nwriter   %d node%s, %s\n", m.nodes, plural((uint64_t)m.nodes),
           m.is_writing ? "which did not close it" : "which closed it");
    print_segments(&m);
    return m.is_writing ? 0 : print_lengths(word[0], error);
}

/* ---- cat ---- */

static int verb_cat(const struct arguments *a, char **word, char *error)
{
    static char buf[1 << 16];
    struct star_meta m;
    struct cs_shape *s = NULL;
    uint64_t vp;

    (void)a;
    if (need_closed(word[0], &m, error) < 0)
        return -1;
    if (!options_read_number(word[1], 0, (uint64_t)m.segments.vps - 1, &vp))
        options_refuse(&options, "cat: '%s': the virtual processors are 0 to %" PRId64, word[1], m.segments.vps - 1);
    CS_FILE *f = open_streams(word[0], &s, error);
    if (!f)
        return -1;
    for (int64_t n = 1; n > 0;) {
        n = star_ib_read(f, (long)vp, buf, sizeof buf);
        fwrite(buf, 1, (size_t)n, stdout);
    }
    int result = stream_error(word[0], f, (long)vp, error);
    cs_fclose(f);
    cs_shape_free(s);
    return result;
}

/* ---- meta ---- */

static int verb_meta(const struct arguments *a, char **word, char *error)
{
    struct star_meta m = {.nodes = 1, .segments = {.cb_block = 8}}, before;
    int64_t vps = 1, bytes;
    bool is_there;

    for (char **extent = word + 1; *extent; extent++) {
        if (m.rank == CS_RANK_MAX)
            options_refuse(&options, "meta: a shape has at most %d dimensions", CS_RANK_MAX);
        m.extent[m.rank] = (long)options_number(&options, "extent", *extent, 1, INT32_MAX);
        if (m.extent[m.rank] > STAR_VPS_MAX / vps)
            options_refuse(&options, "meta: too many virtual processors");
        vps *= m.extent[m.rank++];
    }
    take_order("meta", a->order, &m);
    if (a->block == 0)
        options_refuse(&options, "meta: give the bytes of a virtual processor in each row: --block BYTES");
    if (star_files_meta(word[0], &before, &is_there, error) < 0)
        return -1;
    if (is_there)
        return error_line(error, "%s.meta: already exists", word[0]);
    if (star_files_size(word[0], "", &bytes, error) < 0)
        return -1;
    if (bytes < 0)
        return error_line(error, "%s: %s", word[0], strerror(ENOENT));
    if (bytes % (vps * a->block) != 0)
        return error_line(error, "%s: its %" PRId64 " bytes are no whole number of rows of %" PRId64, word[0], bytes,
                          vps * a->block);
    m.segments.vps = vps;
    m.segments.nb_rows = bytes / (vps * a->block);
    m.segments.nb_block = m.segments.nb_rows > 0 ? a->block : 0;
    return star_files_put_meta(word[0], &m, error);
}

/* ---- convert ---- */

/* One row: the next bytes of each stream, then the fill. */
static int put_row(const struct arguments *a, const char *name, CS_FILE *f, const struct star_row_order *order,
                   struct star_new *to, int64_t at, unsigned char *block, char *error)
{
    int result = 0;

    for (long place = 0; place < f->shape->vps && result == 0; place++) {
        long vp = star_row_order_vp(order, place);
        int64_t n = star_ib_read(f, vp, (char *)block, a->bytes);

        memset(block + n, (int)a->fill, (size_t)(a->bytes - n));
        result = stream_error(name, f, vp, error);
        if (result == 0)
            result = star_new_write(to, at + place * (int64_t)a->bytes, block, a->bytes, error);
    }
    return result;
}

/* m: of the old file; but for its order, which is the new one's. Becomes that of the new file. */
static int put_rows(const struct arguments *a, char **word, CS_FILE *f, struct star_meta *m, char *error)
{
    unsigned char *block = memory_new(a->bytes, 1);
    int64_t most = 0, vps = f->shape->vps;
    struct star_row_order order = order_of(m);
    struct star_new to;
    int result = star_new_open(&to, word[1], "", word[0], error);

    for (long vp = 0; vp < vps; vp++)
        most = star_ib_end(f, vp) > most ? star_ib_end(f, vp) : most;
    for (int64_t at = 0; at < most && result == 0; at += a->bytes)
        result = put_row(a, word[0], f, &order, &to, at * vps, block, error);
    free(block);
    result = star_new_close(&to, "", result, error);
    struct star_meta new = {
        .rank = m->rank, .order = m->order, .nodes = m->nodes, .segments = {.vps = vps, .cb_block = 8}};
    memcpy(new.extent, m->extent, sizeof new.extent);
    memcpy(new.grid, m->grid, sizeof new.grid);
    *m = new;
    m->segments.nb_rows = (most + a->bytes - 1) / a->bytes;
    m->segments.nb_block = most > 0 ? a->bytes : 0;
    return result;
}

static int verb_convert(const struct arguments *a, char **word, char *error)
{
    struct star_meta m, other;
    struct cs_shape *s = NULL;
    bool is_there;

    if (a->bytes == 0)
        options_refuse(&options, "convert: give the bytes of a virtual processor in each row: --bytes BYTES");
    if (need_closed(word[0], &m, error) < 0)
        return -1;
    if (star_files_meta(word[1], &other, &is_there, error) < 0)
        return -1;
    if (is_there)
        return error_line(error, "%s.meta: already exists", word[1]);
    take_order("convert", a->order, &m);
    CS_FILE *f = open_streams(word[0], &s, error);
    if (!f)
        return -1;
    int result = put_rows(a, word, f, &m, error);
    cs_fclose(f);
    cs_shape_free(s);
    return result < 0 ? -1 : star_files_put_meta(word[1], &m, error);
}

/* ---- repair ---- */

static int put_part(const char *name, const char *suffix, const void *bytes, int64_t count, char *error)
{
    struct star_new n;
    int result = star_new_open(&n, name, suffix, name, error);

    if (result == 0)
        result = star_new_write(&n, 0, bytes, (size_t)count, error);
    return star_new_close(&n, suffix, result, error);
}

/* Data of another length are written anew; the directory; last the .meta, which says that they are whole. */
static int put_repaired(const char *name, const struct star_repair *r, int64_t data_bytes, char *error)
{
    unsigned char *data = NULL;
    int result = 0;

    if (data_bytes != r->data_bytes) {
        int64_t bytes;

        result = star_files_read(name, "", &data, &bytes, error);
        if (result == 0 && bytes < r->data_bytes)
            bytes = r->data_bytes;
        if (result == 0)
            result = put_part(name, "", data, r->data_bytes, error);
        free(data);
    }
    if (result == 0 && r->meta.ib_block > 0)
        result = put_part(name, ".first", r->first, r->first_bytes, error);
    if (result == 0 && r->meta.ib_block > 0)
        result = put_part(name, ".dir", r->directory, r->directory_bytes, error);
    return result < 0 ? -1 : star_files_put_meta(name, &r->meta, error);
}

static void print_repair(const struct star_repair *r)
{
    const struct star_segments *s = &r->meta.segments;

    printf("NB       %" PRId64 " rows\nCB       %" PRId64 " bytes for each\n", s->nb_rows, s->cb_bytes);
    if (r->meta.ib_block > 0)
        printf("IB       %" PRId64 " entries; %" PRId64 " that made no sense are dropped; %" PRId64
               " streams end with a whole block, as their length is not known\n",
               r->entries, r->dropped, r->rounded);
}

static int verb_repair(const struct arguments *a, char **word, char *error)
{
    struct star_repair r = {.has = star_data_has};
    struct star_data data = {.pio = NULL};
    bool is_there;
    int result = star_files_meta(word[0], &r.meta, &is_there, error);

    if (result == 0 && !is_there)
        result = error_line(error, "%s: has no .meta, so nothing says what it was to be", word[0]);
    if (result == 0)
        result = star_data_begin(&data, word[0], error);
    if (result == 0 && r.meta.ib_block > 0)
        result = star_files_read(word[0], ".first", &r.first, &r.first_bytes, error);
    if (result == 0 && r.meta.ib_block > 0)
        result = star_files_read(word[0], ".dir", &r.directory, &r.directory_bytes, error);
    if (result == 0) {
        r.data = &data;
        r.data_bytes = data.bytes;
        r.whole_bytes = data.whole;
        int repaired = star_repair(&r, a->block);

        star_data_end(&data);

        result = repaired == -1 ? error_line(error, "%s: its writer has closed it; there is nothing to repair", word[0])
                 : repaired < 0 ? error_line(error, "%s: %s", word[0], strerror(-repaired))
                                : put_repaired(word[0], &r, data.bytes, error);
    }
    if (result == 0)
        print_repair(&r);
    star_data_end(&data);
    free(r.first);
    free(r.directory);
    return result;
}

/* ---- The command ---- */

static const struct verb {
    struct option_verb verb;
    bool writes;
    int (*run)(const struct arguments *a, char **word, char *error);
} verbs[] = {
    {{"cat", 2, 2}, false, verb_cat},
    {{"convert", 2, 2}, true, verb_convert},
    {{"meta", 2, CS_RANK_MAX + 1}, true, verb_meta},
    {{"repair", 1, 1}, true, verb_repair},
    {{"show", 1, 1}, false, verb_show},
    {{0}, false, NULL},
};

int star_command(int argc, char **argv)
{
    struct arguments a = {0};
    char **word = options_parse(&options, &a, argc, argv), error[ERROR_LINE_BYTES];
    struct machine_volumes m;

    const struct verb *verb = &verbs[options_verb(&options, &verbs->verb, sizeof *verbs, word)];
    for (uint32_t i = 1; word[i]; i++)
        if (strncmp(word[i], "pio:", 4) == 0 && (word[i][4] != '/' || !a.machine))
            options_refuse(&options, "'%s' is a name in a machine: give its file with -m, and pio:/PATH", word[i]);
    if (machine_volumes_load(&m, a.machine, a.images, error) < 0)
        return options_fail(&options, "%s", error);
    star_files_begin(&m.volumes, verb->writes);
    cs_init(0, 0);
    int result = star_files_end(verb->run(&a, word + 1, error), error);
    if (result < 0)
        options_fail(&options, "%s", error);
    machine_volumes_free(&m);
    return result < 0;
}
