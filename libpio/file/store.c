/*
 * PIO files on their volumes: see store.h for the order in which descriptions and subfiles are made and removed.
 */
#include "libpio/file/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/file/file.h"
#include "libpio/file/transport.h"
#include "vertex/shared/text.h"

#define SUFFIX_MAX_BYTES 32 /* older libraries made temporary files with longer suffixes */

/* ---- Names --------------------------------------------------------------------------------- */

static int parse_volume(const char *text, struct pio_name *name)
{
    const char *volume = text + 2, *slash = strchr(volume, '/');

    if (!slash || slash == volume || slash - volume >= PIO_VOLUME_BYTES)
        return -EINVAL;
    memcpy(name->volume, volume, slash - volume);
    name->name = slash;
    return 0;
}

static bool ends_in(const char *text, size_t length, const char *suffix)
{
    size_t n = strlen(suffix);

    return length >= n && strcmp(text + length - n, suffix) == 0;
}

int pio_name_parse(const char *text, struct pio_name *name)
{
    *name = (struct pio_name){.name = text};
    if (!text || !*text)
        return -ENOENT;
    if (strncmp(text, "//", 2) == 0 && parse_volume(text, name) < 0)
        return -EINVAL;
    size_t length = strlen(name->name);
    if (name->name[0] != '/' || name->name[1] == '/' || ends_in(name->name, length, PIO_DESCRIPTION_SUFFIX))
        return -EINVAL;
    if (ends_in(name->name, length, "/"))
        return -EISDIR;
    return length + 2 + PIO_VOLUME_BYTES + SUFFIX_MAX_BYTES > PIO_PATH_MAX_BYTES ? -ENAMETOOLONG : 0;
}

/* ---- Asking all volumes -------------------------------------------------------------------- */

struct asking;
/* 0, or a negative errno; NULL: what the volume answers. -ENOENT is no error of PIO_ASK_UNLINK. */
typedef int judge_function(struct asking *a, int k, const struct pio_question *q);

struct asking {
    enum pio_question_kind kind;
    const struct pio_description *description; /* of the volumes, and of what is made there */
    const char *name, *suffix;
    mode_t mode;
    int flags;
    const bool *only; /* volumes that are asked; NULL: all */
    judge_function *judge;
    void *ctx;                /* for judge */
    char *wanted;             /* room for a description that judge_equal compares with */
    const char *index, *rest; /* in it: where its index is, and what follows; NULL: it is not there yet */
};

static struct asking about(enum pio_question_kind kind, const struct pio_description *description, const char *name,
                           const char *suffix, judge_function *judge, void *ctx)
{
    return (struct asking){
        .kind = kind, .description = description, .name = name, .suffix = suffix, .judge = judge, .ctx = ctx};
}

/* Room for a description of so many volumes, and for a byte more, which shows that a text is longer. */
static size_t text_room(int disks)
{
    return PIO_DESCRIPTION_MAX_BYTES - (size_t)(PIO_DISKS_MAX - disks) * PIO_VOLUME_BYTES + 1;
}

static bool has_text(const struct asking *a)
{
    return a->kind == PIO_ASK_READ || a->kind == PIO_ASK_MAKE || a->kind == PIO_ASK_OPEN;
}

static void prepare(const struct asking *a, int k, char *buffer, struct pio_question *q)
{
    *q = (struct pio_question){.kind = a->kind,
                               .volume = a->description->volume[k],
                               .name = a->name,
                               .suffix = a->suffix,
                               .mode = a->mode,
                               .flags = a->flags,
                               .buffer = buffer};
    if (a->kind == PIO_ASK_MAKE)
        q->bytes = pio_description_format(a->description, k, buffer);
    else if (has_text(a))
        q->bytes = text_room(a->description->map.disks);
}

/* Judges an answer, and remembers the first error and where it was. */
static void settle(struct asking *a, int k, const struct pio_question *q, int *first_error)
{
    bool is_gone = q->kind == PIO_ASK_UNLINK && q->result == -ENOENT;
    int error = a->judge ? a->judge(a, k, q) : q->result < 0 && !is_gone ? q->result : 0;

    if (error && !*first_error)
        *first_error = pio_fail_at(q->volume, q->name, q->suffix, error);
}

/* Prepares the next questions, from volume *k on. Returns how many. */
static int prepare_round(const struct asking *a, int *k, int to, char *text, struct pio_question *question, int *volume)
{
    size_t room = text_room(a->description->map.disks);
    int n = 0;

    for (; *k < to && n < PIO_QUESTIONS_MAX; ++*k) {
        if (a->only && !a->only[*k])
            continue;
        volume[n] = *k;
        prepare(a, *k, has_text(a) ? text + n * room : NULL, &question[n]);
        n++;
    }
    return n;
}

/* Asks volumes from .. to-1, as many at the same time as PIO_QUESTIONS_MAX allows, and judges the answers in the
 * volumes' order. Returns the first error, but asks all in any case. */
static int ask(struct asking *a, int from, int to)
{
    struct pio_question question[PIO_QUESTIONS_MAX];
    int volume[PIO_QUESTIONS_MAX], n, first_error = 0;
    size_t room = text_room(a->description->map.disks);
    char *text = has_text(a) ? malloc((PIO_QUESTIONS_MAX + 1) * room) : NULL;

    if (has_text(a) && !text)
        return -ENOMEM;
    a->wanted = text + (has_text(a) ? PIO_QUESTIONS_MAX * room : 0);
    a->index = NULL;
    while ((n = prepare_round(a, &from, to, text, question, volume)) > 0) {
        pio_transport->ask(question, n);
        for (int i = 0; i < n; i++)
            settle(a, volume[i], &question[i], &first_error);
    }
    free(text);
    return first_error;
}

/* ---- Descriptions -------------------------------------------------------------------------- */

static void write_wanted(struct asking *a)
{
    pio_description_format(a->description, 0, a->wanted);
    a->index = strstr(a->wanted, "\nindex ") + strlen("\nindex ");
    a->rest = strchr(a->index, '\n');
}

static bool take(const char **at, const char *end, const char *part, size_t n)
{
    if ((size_t)(end - *at) < n || memcmp(*at, part, n) != 0)
        return false;
    *at += n;
    return true;
}

/* Checks that volume k describes the same file as a->description. The descriptions of all volumes are equal but for the
 * index, so one is formatted for all of them. */
static int judge_equal(struct asking *a, int k, const struct pio_question *q)
{
    char number[12];

    if (q->result < 0)
        return q->result;
    if (!a->index)
        write_wanted(a);
    const char *at = q->buffer, *end = at + q->result;
    bool equal = take(&at, end, a->wanted, (size_t)(a->index - a->wanted)) &&
                 take(&at, end, number, text_print(number, sizeof number, "%d", k)) &&
                 take(&at, end, a->rest, strlen(a->rest));
    return equal && at == end ? 0 : -EPROTO;
}

/* ---- Whole files --------------------------------------------------------------------------- */

/* Lists the volumes that may have a description: the one in the name, else those of the layout, else the default
 * ones. */
static int list_places(const struct pio_name *name, const struct pio_layout *layout, struct pio_description *places)
{
    pio_layout_complete(layout && layout->volumes ? layout : NULL, places);
    if (!name->volume[0])
        return places->map.disks;
    memcpy(places->volume[0], name->volume, PIO_VOLUME_BYTES);
    return 1;
}

struct finding {
    struct pio_description *description;
    int index;  /* of the volume that has it, in the description */
    bool ended; /* it is found, or will not be */
};

/* Sets f->description to the one that the volume has. -EPROTO if it is none of that volume. */
static int judge_found(const struct asking *a, int k, const struct pio_question *q, struct finding *f)
{
    if (q->result < 0)
        return q->result;
    if (pio_description_parse(q->buffer, q->result, f->description, &f->index) < 0 ||
        strcmp(f->description->volume[f->index], a->description->volume[k]) != 0)
        return -EPROTO;
    return 0;
}

/* Takes the first description in the volumes' order; -ENOENT is none. */
static int judge_first(struct asking *a, int k, const struct pio_question *q)
{
    struct finding *f = a->ctx;

    if (f->ended || q->result == -ENOENT)
        return 0;
    f->ended = true;
    return judge_found(a, k, q, f);
}

/* Mostly the first volume has it. */
int pio_store_find(const struct pio_name *name, const struct pio_layout *layout, struct pio_description *description,
                   int *index)
{
    struct pio_description places;
    struct finding f = {.description = description};
    int n = list_places(name, layout, &places);

    places.map.disks = PIO_DISKS_MAX; /* whose description may be as long */
    struct asking a = about(PIO_ASK_READ, &places, name->name, PIO_DESCRIPTION_SUFFIX, judge_first, &f);
    int error = ask(&a, 0, 1);
    if (!error && !f.ended)
        error = ask(&a, 1, n);
    if (index)
        *index = f.index;
    if (error || f.ended)
        return error;
    return pio_fail_at(places.volume[0], name->name, "", -ENOENT);
}

/* ---- What is there ------------------------------------------------------------------------- */

struct surveying {
    bool present[PIO_DISKS_MAX];
    int64_t bytes[PIO_DISKS_MAX];
    struct pio_survey *survey;
};

static int judge_subfile(struct asking *a, int k, const struct pio_question *q)
{
    struct surveying *s = a->ctx;

    s->present[k] = q->result >= 0;
    s->bytes[k] = q->result >= 0 ? q->size_bytes : 0;
    return q->result == -ENOENT || q->result >= 0 ? 0 : q->result;
}

static int judge_part(struct asking *a, int k, const struct pio_question *q)
{
    const struct surveying *s = a->ctx;
    int error = judge_equal(a, k, q);

    if (error == -ENOENT && s->present[k])
        return -EPROTO;
    if (error && error != -ENOENT)
        return error;
    if (s->survey->missing < 0 && (error || !s->present[k]))
        s->survey->missing = k;
    return 0;
}

int pio_store_check(const char *name, const struct pio_description *description, int index)
{
    struct asking parts = about(PIO_ASK_READ, description, name, PIO_DESCRIPTION_SUFFIX, judge_equal, NULL);
    int error = ask(&parts, 0, index);

    return error ? error : ask(&parts, index + 1, description->map.disks);
}

/* Looks at the subfiles before the descriptions: see store.h. */
int pio_store_survey(const char *name, const struct pio_description *description, struct pio_survey *survey)
{
    struct surveying s = {.survey = survey};
    struct asking subfiles = about(PIO_ASK_STAT, description, name, "", judge_subfile, &s);
    struct asking parts = about(PIO_ASK_READ, description, name, PIO_DESCRIPTION_SUFFIX, judge_part, &s);

    int error = ask(&subfiles, 0, description->map.disks);
    if (error)
        return error;
    *survey = (struct pio_survey){.bytes = pio_map_logical_bytes(&description->map, s.bytes), .missing = -1};
    return ask(&parts, 0, description->map.disks);
}

/* ---- Opening ------------------------------------------------------------------------------- */

struct opening_all {
    struct pio_opened *opened;
    int64_t bytes[PIO_DISKS_MAX];
};

static int judge_opened(struct asking *a, int k, const struct pio_question *q)
{
    struct opening_all *o = a->ctx;

    if (q->result < 0)
        return q->result;
    o->opened[k] = (struct pio_opened){q->fd, q->node};
    o->bytes[k] = q->size_bytes;
    return judge_equal(a, k, q);
}

void pio_store_close(struct pio_opened *opened, int disks)
{
    for (int k = 0; k < disks; k++) {
        if (opened[k].fd >= 0)
            pio_transport->close(opened[k].fd);
        opened[k].fd = -1;
    }
}

int pio_store_open(const char *name, const struct pio_description *description, int flags,
                   struct pio_opened opened[PIO_DISKS_MAX], int64_t *bytes)
{
    struct opening_all o = {.opened = opened};
    struct asking subfiles = about(PIO_ASK_OPEN, description, name, PIO_DESCRIPTION_SUFFIX, judge_opened, &o);

    subfiles.flags = flags;
    for (int k = 0; k < description->map.disks; k++)
        opened[k].fd = -1;
    int error = ask(&subfiles, 0, description->map.disks);
    if (error) {
        pio_store_close(opened, description->map.disks);
        pio_fail_path[0] = '\0';
        return error;
    }
    *bytes = pio_map_logical_bytes(&description->map, o.bytes);
    return 0;
}

/* ---- Making -------------------------------------------------------------------------------- */

int pio_store_check_writable(const struct pio_description *description)
{
    struct asking roots = about(PIO_ASK_WRITABLE, description, "/", "", NULL, NULL);

    return ask(&roots, 0, description->map.disks);
}

/* Notes in *ctx that volume k had a file of that name, which may be right: made by a call that ended half way. */
static int judge_made(struct asking *a, int k, const struct pio_question *q)
{
    bool *found = a->ctx;

    found[k] = q->result == -EEXIST;
    return found[k] || q->result >= 0 ? 0 : q->result;
}

/* Makes the descriptions of volumes from .. to-1, and checks those that are there already. */
static int describe(const char *name, const struct pio_description *description, mode_t mode, int from, int to)
{
    bool found[PIO_DISKS_MAX] = {false};
    struct asking make = about(PIO_ASK_MAKE, description, name, PIO_DESCRIPTION_SUFFIX, judge_made, found);
    struct asking check = about(PIO_ASK_READ, description, name, PIO_DESCRIPTION_SUFFIX, judge_equal, NULL);

    make.mode = (mode & 0777) | 0444;
    check.only = found;
    int error = ask(&make, from, to);
    return error ? error : ask(&check, from, to);
}

/* Volume 0's first: who finds none there finds none. */
int pio_store_describe(const char *name, const struct pio_description *description, mode_t mode)
{
    int error = pio_store_check_writable(description);

    for (int k = 0; k < 2 && !error; k++)
        error = describe(name, description, mode, k, k ? description->map.disks : 1);
    return error;
}

/* ---- Removing ------------------------------------------------------------------------------ */

/* Sets ctx[k]: the subfile of volume k is gone. */
static int judge_removed(struct asking *a, int k, const struct pio_question *q)
{
    bool *gone = a->ctx;

    gone[k] = q->result >= 0 || q->result == -ENOENT;
    return gone[k] ? 0 : q->result;
}

/* Removes the parts of volumes from .. to-1. A description stays as long as its subfile does. Those of the other
 * volumes are gone for good before volume 0's go: what is left of a file is found by these. */
static int remove_parts(const char *name, const struct pio_description *description, int from, int to)
{
    bool gone[PIO_DISKS_MAX];
    struct asking subfiles = about(PIO_ASK_UNLINK, description, name, "", judge_removed, gone);
    struct asking descriptions = about(PIO_ASK_UNLINK, description, name, PIO_DESCRIPTION_SUFFIX, NULL, NULL);

    descriptions.only = gone;
    descriptions.mode = from > 0;
    int error = ask(&subfiles, from, to), later_error = ask(&descriptions, from, to);
    return error ? error : later_error;
}

/* Removes volume 0's part last: as long as any part is left, the next call finds the file and can remove it. */
int pio_store_remove(const char *name, const struct pio_description *description)
{
    int error = remove_parts(name, description, 1, description->map.disks);

    return error ? error : remove_parts(name, description, 0, 1);
}

/* A description's mode has 0444 at least, so this is none of a file. */
#define UNLINKED_MODE 0

int pio_store_unlink(const char *name, const struct pio_description *description)
{
    struct asking first = about(PIO_ASK_UNLINK, description, name, "", NULL, NULL);
    struct asking last = about(PIO_ASK_UNLINK, description, name, PIO_DESCRIPTION_SUFFIX, NULL, NULL);
    char path[PIO_PATH_MAX_BYTES];

    pio_path(path, description->volume[0], name, PIO_DESCRIPTION_SUFFIX);
    int error = pio_transport->chmod(path, UNLINKED_MODE);
    if (error && error != -ENOENT)
        return pio_fail_at(description->volume[0], name, PIO_DESCRIPTION_SUFFIX, error);
    first.mode = 1;
    error = ask(&first, 0, 1);
    if (!error && remove_parts(name, description, 1, description->map.disks) == 0)
        ask(&last, 0, 1);
    return error;
}

int pio_store_is_unlinked(const char *name, const struct pio_description *description)
{
    struct pio_question q[2] = {
        {.kind = PIO_ASK_STAT, .volume = description->volume[0], .name = name, .suffix = ""},
        {.kind = PIO_ASK_STAT, .volume = description->volume[0], .name = name, .suffix = PIO_DESCRIPTION_SUFFIX}};

    pio_transport->ask(q, 2);
    for (int i = 0; i < 2; i++)
        if (q[i].result < 0 && q[i].result != -ENOENT)
            return q[i].result;
    return q[0].result < 0 && q[1].result >= 0 && (q[1].mode & 0777) == UNLINKED_MODE;
}
