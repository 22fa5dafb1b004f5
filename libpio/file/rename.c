/*
 * Renaming a PIO file: a change of names (change.h), over the volumes of the file. What has the new name is checked
 * first: a PIO file of any layout may go.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libpio/file/change.h"
#include "libpio/file/file.h"
#include "libpio/file/pio.h"
#include "libpio/file/store.h"
#include "libpio/file/transport.h"

/* What has the new name on a volume may go if it belongs to a PIO file. */
static int check_part(const struct pio_name *to, const struct pio_question *answer)
{
    struct pio_description found;
    struct pio_name name = *to;
    int error = answer->result;

    if (error == -ENOENT)
        return 0;
    memcpy(name.volume, answer->volume, sizeof name.volume);
    if (error >= 0)
        error = pio_store_find(&name, NULL, &found, NULL);
    if (error == -ENOENT)
        error = S_ISDIR(answer->mode) ? -EISDIR : -EEXIST;
    return error ? pio_fail_at(answer->volume, to->name, "", error) : 0;
}

/* Asks all volumes for the status of a name, and notes in `has` which have it. */
static int look(const struct pio_name *to, const char *suffix, const struct pio_description *from, int bit, char *has)
{
    struct pio_question q[PIO_QUESTIONS_MAX];
    int error = 0;

    for (int first = 0; first < from->map.disks && !error; first += PIO_QUESTIONS_MAX) {
        int n = from->map.disks - first < PIO_QUESTIONS_MAX ? from->map.disks - first : PIO_QUESTIONS_MAX;

        for (int i = 0; i < n; i++)
            q[i] = (struct pio_question){
                .kind = PIO_ASK_STAT, .volume = from->volume[first + i], .name = to->name, .suffix = suffix};
        pio_transport->ask(q, n);
        for (int i = 0; i < n && !error; i++) {
            error = check_part(to, &q[i]);
            has[first + i] = (char)(has[first + i] + (q[i].result >= 0 ? bit : 0));
        }
    }
    return error;
}

/* Moves the file, whose name is locked as all others. No volume has a folder or a file of the new name that belongs to
 * no PIO file. */
static int move_file(const struct pio_name *from, const struct pio_name *to, const struct pio_description *d)
{
    struct pio_change *c = calloc(1, sizeof *c);

    if (!c)
        return -ENOMEM;
    c->kind = PIO_CHANGE_FILE;
    c->from = from->name;
    c->to = to->name;
    c->disks = d->map.disks;
    for (int k = 0; k < c->disks; k++) {
        c->volume[k] = d->volume[k];
        c->has[k] = '0';
    }
    int error = look(to, "", d, 1, c->has);
    if (!error)
        error = look(to, PIO_DESCRIPTION_SUFFIX, d, 2, c->has);
    if (!error)
        error = pio_store_check_writable(d);
    if (!error)
        error = pio_change_run(c);
    free(c);
    return error;
}

static int rename_locked(const struct pio_name *from, const struct pio_name *to)
{
    struct pio_description description;
    struct pio_survey survey;
    int error = pio_store_find(from, NULL, &description, NULL);

    if (!error)
        error = pio_store_survey(from->name, &description, &survey);
    if (error)
        return error;
    if (survey.missing < 0)
        return strcmp(from->name, to->name) == 0 ? 0 : move_file(from, to, &description);
    return pio_fail_at(description.volume[survey.missing], from->name, "", -ENOENT);
}

static int rename_file(const struct pio_name *from, const struct pio_name *to)
{
    struct pio_description description;
    int error = pio_store_find(from, NULL, &description, NULL);

    if (error)
        return error;
    int lock = pio_change_lock(description.volume[0], NULL);
    if (lock < 0)
        return lock;
    error = rename_locked(from, to);
    pio_change_unlock(lock);
    return error;
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
    return (int)PIO_RESULT(error ? error : rename_file(&from, &to));
}
