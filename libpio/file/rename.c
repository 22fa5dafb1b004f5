/*
 * Renaming a PIO file. Its new name gets descriptions on all volumes; then each subfile is renamed; then the old
 * descriptions are removed. So a subfile always has a description beside it (store.h), and as long as no subfile has
 * been renamed, the file is whole by its old name. A call that ended half way is completed by the same call.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "libpio/file/file.h"
#include "libpio/file/pio.h"
#include "libpio/file/store.h"
#include "libpio/file/transport.h"

static int ask(enum pio_question_kind kind, const char *volume, const char *name, const char *suffix)
{
    struct pio_question q = {.kind = kind, .volume = volume, .name = name, .suffix = suffix};

    pio_transport->ask(&q, 1);
    return q.result < 0 ? q.result : 0;
}

static bool is_same_layout(const struct pio_description *a, const struct pio_description *b)
{
    bool same = a->map.disks == b->map.disks && a->map.block_bytes == b->map.block_bytes &&
                strcmp(a->map_text, b->map_text) == 0;

    for (int k = 0; same && k < a->map.disks; k++)
        same = strcmp(a->volume[k], b->volume[k]) == 0;
    return same;
}

/* Finds the PIO file that has the new name on one of the volumes. 0, -ENOENT, -EPROTO, or a volume's error. */
static int find_target(const struct pio_name *to, const struct pio_description *from, struct pio_description *found)
{
    struct pio_name name = *to;
    int error = -ENOENT;

    for (int k = 0; k < from->map.disks && error == -ENOENT; k++) {
        memcpy(name.volume, from->volume[k], sizeof name.volume);
        error = pio_store_find(&name, NULL, found, NULL);
    }
    return error;
}

/* What has the new name on this volume may go if it belongs to a PIO file. `stat_error`: of the volume's answer. */
static int check_part(const struct pio_name *to, const char *volume, int stat_error)
{
    struct pio_description found;
    struct pio_name name = *to;
    char path[PIO_PATH_MAX_BYTES];

    if (stat_error == -ENOENT)
        return 0;
    memcpy(name.volume, volume, sizeof name.volume);
    int error = stat_error < 0 ? stat_error : pio_store_find(&name, NULL, &found, NULL);
    pio_path(path, volume, to->name, "");
    return error ? pio_fail_at(path, error == -ENOENT ? -EEXIST : error) : 0;
}

/* Checks that no volume has a folder or a file of the new name that belongs to no PIO file. */
static int check_way(const struct pio_name *to, const struct pio_description *from)
{
    struct pio_question q[PIO_QUESTIONS_MAX];
    int error = 0;

    for (int first = 0; first < from->map.disks && !error; first += PIO_QUESTIONS_MAX) {
        int n = from->map.disks - first < PIO_QUESTIONS_MAX ? from->map.disks - first : PIO_QUESTIONS_MAX;

        for (int i = 0; i < n; i++)
            q[i] = (struct pio_question){
                .kind = PIO_ASK_STAT, .volume = from->volume[first + i], .name = to->name, .suffix = ""};
        pio_transport->ask(q, n);
        for (int i = 0; i < n && !error; i++)
            error = check_part(to, from->volume[first + i], q[i].result);
    }
    return error;
}

/* Removes the PIO files that have the new name on some of the volumes: one, or several on different volumes. */
static int make_way(const struct pio_name *to, const struct pio_description *from)
{
    struct pio_description found;
    int error = check_way(to, from);

    while (!error && !(error = find_target(to, from, &found)))
        error = pio_store_remove(to->name, &found);
    return error == -ENOENT ? 0 : error;
}

/* Checks that what the file lacks has its new name already: an earlier call ended half way. */
static int check_begun(const struct pio_name *from, const struct pio_name *to, const struct pio_description *d,
                       int missing)
{
    struct pio_description found;
    char path[PIO_PATH_MAX_BYTES];

    if (find_target(to, d, &found) == 0 && is_same_layout(&found, d))
        return 0;
    pio_path(path, d->volume[missing], from->name, "");
    return pio_fail_at(path, -ENOENT);
}

static int rename_part(const char *volume, const char *from, const char *to)
{
    char old[PIO_PATH_MAX_BYTES], new[PIO_PATH_MAX_BYTES];

    pio_path(old, volume, from, "");
    pio_path(new, volume, to, "");
    int error = pio_transport->rename(old, new);
    if (error == -ENOENT)
        error = ask(PIO_ASK_STAT, volume, to, "");
    return error ? pio_fail_at(new, error) : 0;
}

static int remove_description(const char *volume, const char *name)
{
    char path[PIO_PATH_MAX_BYTES];
    int error = ask(PIO_ASK_UNLINK, volume, name, PIO_DESCRIPTION_SUFFIX);

    pio_path(path, volume, name, PIO_DESCRIPTION_SUFFIX);
    return error && error != -ENOENT ? pio_fail_at(path, error) : 0;
}

static int rename_parts(const char *from, const char *to, const struct pio_description *d)
{
    int error = pio_store_describe(to, d, 0644, false);

    for (int k = 0; k < d->map.disks && !error; k++)
        error = rename_part(d->volume[k], from, to);
    /* Volume 0 last: until then the next call finds the file by its old name. */
    for (int k = d->map.disks - 1; k >= 0 && !error; k--)
        error = remove_description(d->volume[k], from);
    return error;
}

static int rename_file(const struct pio_name *from, const struct pio_name *to)
{
    struct pio_description description;
    struct pio_survey survey;
    int error = pio_store_find(from, NULL, &description, NULL);

    if (error || strcmp(from->name, to->name) == 0)
        return error;
    error = pio_store_survey(from->name, &description, &survey);
    if (!error)
        error = survey.missing < 0 ? make_way(to, &description) : check_begun(from, to, &description, survey.missing);
    return error ? error : rename_parts(from->name, to->name, &description);
}

int pio_rename(const char *from_text, const char *to_text)
{
    struct pio_name from, to;

    pio_fail_path[0] = '\0';
    int error = pio_name_parse(from_text, &from);
    if (!error)
        error = pio_name_parse(to_text, &to);
    if (!error && strcmp(from.volume, to.volume) != 0)
        error = -EXDEV;
    return (int)pio_result(error ? error : rename_file(&from, &to));
}
