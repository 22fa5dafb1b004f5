/*
 * PIO OPEN and PIO CLOSE [P0 Figure 4].
 *
 * pio_open_layout first finds the file. One that is complete is opened by one request to each volume. Otherwise it
 * locks the name (change.h), looks at what is there (store.h), makes what may be made, and opens the D subfiles. The
 * F_k and N_k of each go into the entry.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/file/change.h"
#include "libpio/file/file.h"
#include "libpio/file/pio.h"
#include "libpio/file/starts.h"
#include "libpio/file/store.h"
#include "libpio/file/transfer.h"
#include "libpio/file/transport.h"
#include "libpio/file/viewed.h"

/* ---- An entry's life ------------------------------------------------------------------------ */

/* Closes the subfiles that are open. Returns the first error, and sets *volume to the volume that reported it. */
static int close_subfiles(struct pio_file *file, int *volume)
{
    int first_error = 0;

    for (int k = 0; k < file->description.map.disks; k++) {
        int error = file->subfile[k].fd < 0 ? 0 : pio_transport->close(file->subfile[k].fd);

        if (error && !first_error) {
            first_error = error;
            *volume = k;
        }
    }
    return first_error;
}

static void free_file(struct pio_file *file)
{
    for (int k = 0; file->subfile && k < file->description.map.disks; k++)
        plan_free(file->subfile[k].plan);
    pio_view_free(file->view);
    pattern_free((struct pattern *)file->description.map.pattern);
    pio_transfer_free(file->own);
    free(file->subfile);
    free(file);
}

/* For a file with a map, makes the plan of each subfile. */
static int plan_subfiles(struct pio_file *file)
{
    const struct pattern *map = file->description.map.pattern;
    int error = 0;

    for (int k = 0; k < map->elements && !error; k++)
        error = plan_make_file(map, k, &file->subfile[k].plan);
    return error;
}

/* Makes the entry. It takes over the description's pattern; on an error the caller still owns that. */
static int new_file(const struct pio_description *description, const char *name, int flags, int buffers,
                    struct pio_file **file)
{
    int disks = description->map.disks;
    struct pio_file *f = calloc(1, sizeof *f);

    if (!f)
        return -ENOMEM;
    f->flags = flags;
    f->buffers = buffers;
    f->description = *description;
    strcpy(f->name, name);
    f->short_at = INT64_MAX;
    f->subfile = calloc(disks, sizeof *f->subfile);
    f->own = pio_transfer_new(f);
    int error = !f->subfile || !f->own ? -ENOMEM : pio_transfer_reserve(description->map.block_bytes);
    if (!error && description->map.pattern)
        error = plan_subfiles(f);
    if (error) {
        f->description.map.pattern = NULL;
        free_file(f);
        return error;
    }
    for (int k = 0; k < disks; k++)
        f->subfile[k].fd = -1;
    *file = f;
    return 0;
}

/* Volume 0's subfile is made last: with it there is a file. */
static int open_subfiles(struct pio_file *file, int flags, mode_t mode)
{
    int disks = file->description.map.disks, first = flags & O_CREAT ? 1 : 0;
    char path[PIO_PATH_MAX_BYTES];

    for (int i = 0; i < disks; i++) {
        int k = (first + i) % disks;
        struct pio_subfile *subfile = &file->subfile[k];

        pio_path(path, file->description.volume[k], file->name, "");
        subfile->fd = pio_transport->open(path, flags, mode);
        if (subfile->fd < 0)
            return pio_fail_at_volume(file, k, subfile->fd);
        subfile->node = pio_transport->node(subfile->fd);
        if (subfile->node < 0)
            return pio_fail_at_volume(file, k, subfile->node);
    }
    return 0;
}

/* ---- Finding and checking the file ----------------------------------------------------------- */

static bool names_volume(const struct pio_description *description, const char *volume)
{
    for (int k = 0; k < description->map.disks; k++)
        if (strcmp(description->volume[k], volume) == 0)
            return true;
    return false;
}

/* The state of an open, before there is an entry. */
struct opening {
    struct pio_description description;
    struct pio_survey survey;
    bool exists;       /* a description was found */
    int index;         /* of the volume where it was */
    bool locked;       /* no other node makes or removes the file; sizes are asked for in any case */
    bool may_be_made;  /* it was not there before the lock: who finds that another node has made it needs none */
    bool makes;        /* it was no file before */
    int subfile_flags; /* for opening the subfiles */
    bool is_open;      /* they are open already: */
    struct pio_opened opened[PIO_DISKS_MAX];
};

#define NEEDS_LOCK (-EINPROGRESS) /* what is found may be half of a change */
#define IS_MADE    (-EALREADY)    /* the lock is needed no longer */

/* -EEXIST if there is a file and not only what is left of one. */
static int refuse_existing(const char *name, const struct pio_description *description)
{
    struct pio_question q = {.kind = PIO_ASK_STAT, .volume = description->volume[0], .name = name, .suffix = ""};

    pio_transport->ask(&q, 1);
    return q.result >= 0 ? -EEXIST : q.result == -ENOENT ? 0 : q.result;
}

/* Finds the layout of the existing file, or of the one to make. */
static int settle_layout(const struct pio_name *name, int flags, const struct pio_layout *layout,
                         struct opening *opening)
{
    int error = pio_store_find(name, layout, &opening->description, &opening->index);

    opening->exists = !error;
    if (opening->exists && (flags & O_CREAT) && (flags & O_EXCL))
        error = refuse_existing(name->name, &opening->description);
    if (opening->exists)
        return error ? error : pio_layout_compare(layout, &opening->description);
    if (error != -ENOENT || !(flags & O_CREAT))
        return error;
    pio_layout_complete(layout, &opening->description);
    return name->volume[0] && !names_volume(&opening->description, name->volume) ? -EINVAL : 0;
}

/* To be read, a file needs all its descriptions, and opening the subfiles will show whether they are there: no size is
 * asked for. */
static bool settle_reading(const char *name, int flags, struct opening *opening)
{
    opening->subfile_flags = flags;
    opening->survey = (struct pio_survey){.missing = -1};
    return pio_store_check(name, &opening->description, opening->index) == 0;
}

/* Opens a file that is whole. So the many nodes of a program that opens its file send each volume one request, and not
 * three. */
static bool open_at_once(const char *name, int flags, struct opening *opening)
{
    if (!opening->exists || opening->locked || (flags & O_TRUNC))
        return false;
    opening->survey.missing = -1;
    opening->is_open =
        pio_store_open(name, &opening->description, flags & O_ACCMODE, opening->opened, &opening->survey.bytes) == 0;
    return opening->is_open;
}

/* Checks that the file is whole or, with O_CREAT, makes its descriptions; opening its subfiles then makes them. A file
 * with data has been whole before: a part that is missing is lost, and is not made again. */
static int settle_parts(const char *name, int flags, mode_t mode, struct opening *opening)
{
    const struct pio_survey *survey = &opening->survey;
    bool create = flags & O_CREAT;

    if (!opening->locked && create && (!opening->exists || (flags & O_EXCL)))
        return NEEDS_LOCK;
    if (opening->may_be_made && opening->exists && !(flags & O_EXCL))
        return IS_MADE;
    bool only_reads = (flags & O_ACCMODE) == O_RDONLY && !create && !opening->locked;
    if (only_reads ? settle_reading(name, flags, opening) : open_at_once(name, flags, opening))
        return 0;
    int error = pio_store_survey(name, &opening->description, &opening->survey);
    if (error)
        return error;
    opening->subfile_flags = flags & ~(O_EXCL | O_APPEND); /* every request names its own offset in the subfile */
    opening->makes = create && opening->locked && survey->missing >= 0 && survey->bytes == 0;
    if (opening->makes)
        return pio_store_describe(name, &opening->description, mode);
    opening->subfile_flags &= ~O_CREAT;
    if (survey->missing < 0)
        return create && (flags & O_EXCL) ? -EEXIST : 0;
    if (opening->locked && pio_store_is_unlinked(name, &opening->description) > 0)
        pio_store_remove(name, &opening->description); /* then it is looked for again */
    return pio_fail_at(opening->description.volume[survey->missing], name, "", -ENOENT);
}

/* Makes the pattern of a file with a map. */
static int make_map(const char *name, struct opening *opening)
{
    struct pattern *pattern;

    int error = pio_map_make(opening->description.map_text, &pattern);
    if (!error && pattern->elements != opening->description.map.disks) {
        pattern_free(pattern);
        error = -EINVAL;
    }
    if (!error) {
        opening->description.map.pattern = pattern;
        return 0;
    }
    return pio_fail_at(opening->description.volume[0], name, ".pio", error == -EINVAL ? -EPROTO : error);
}

static void drop_map(struct opening *opening)
{
    pattern_free((struct pattern *)opening->description.map.pattern);
    opening->description.map.pattern = NULL;
}

static int settle(const struct pio_name *name, int flags, mode_t mode, const struct pio_layout *layout,
                  struct opening *opening)
{
    int error = settle_layout(name, flags, layout, opening);

    if (!error && opening->description.map_text[0])
        error = make_map(name->name, opening);
    if (!error && pio_layout_buffers(layout) > PIO_IN_FLIGHT_MAX / opening->description.map.disks)
        error = -EINVAL;
    return error ? error : settle_parts(name->name, flags, mode, opening);
}

/* Parts that do not fit together may have been seen at different moments of another process's creation or removal of
 * the file, if that has its lock on another volume. If they do not fit at a second look either, the file is damaged. */
static int settle_twice(const struct pio_name *name, int flags, mode_t mode, const struct pio_layout *layout,
                        struct opening *opening)
{
    int error = settle(name, flags, mode, layout, opening);

    if (opening->locked && (error == -EPROTO || (error == -ENOENT && (opening->exists || (flags & O_CREAT))))) {
        drop_map(opening);
        error = settle(name, flags, mode, layout, opening);
    }
    return error;
}

/* A call that fails leaves nothing. What goes wrong here the next one removes. */
static void undo_creation(const char *name, const struct opening *opening)
{
    char path[PIO_PATH_MAX_BYTES];

    strcpy(path, pio_fail_path);
    pio_store_remove(name, &opening->description);
    strcpy(pio_fail_path, path);
}

static void take_opened(struct pio_file *file, const struct opening *opening)
{
    for (int k = 0; k < file->description.map.disks; k++) {
        file->subfile[k].fd = opening->opened[k].fd;
        file->subfile[k].node = opening->opened[k].node;
    }
}

/* `opening` is empty but for `locked` and `may_be_made`. */
static int try_to_open(const struct pio_name *name, int flags, mode_t mode, const struct pio_layout *layout,
                       struct opening *opening, struct pio_file **file)
{
    int volume;

    int error = settle_twice(name, flags, mode, layout, opening);
    if (!error)
        error = new_file(&opening->description, name->name, flags, pio_layout_buffers(layout), file);
    if (error) {
        drop_map(opening);
        if (opening->is_open)
            pio_store_close(opening->opened, opening->description.map.disks);
        if (opening->makes && error != -EPROTO)
            undo_creation(name->name, opening);
        return error;
    }
    (*file)->known_bytes = flags & O_TRUNC ? 0 : opening->survey.bytes;
    if (opening->is_open) {
        take_opened(*file, opening);
        return 0;
    }
    error = open_subfiles(*file, opening->subfile_flags, mode);
    if (error) {
        close_subfiles(*file, &volume);
        free_file(*file);
        if (opening->makes)
            undo_creation(name->name, opening);
    }
    return error;
}

static int open_locked(const struct pio_name *name, int flags, mode_t mode, const struct pio_layout *layout,
                       const char *volume, bool may_be_made, struct pio_file **file)
{
    struct opening opening = {.locked = true, .may_be_made = may_be_made};
    int lock = pio_change_lock(volume, name->name);

    if (lock < 0)
        return pio_fail_at(volume, name->name, "", lock);
    int error = try_to_open(name, flags, mode, layout, &opening, file);
    pio_change_unlock(lock);
    return error;
}

/* What is not there, or not whole, may be under way: with the lock it is not. Of many nodes that make the same file one
 * does, and each of the others keeps the lock only as long as it takes to see that. */
static int open_file(const struct pio_name *name, int flags, mode_t mode, const struct pio_layout *layout,
                     struct pio_file **file)
{
    for (bool first = true;; first = false) {
        struct opening opening = {0};
        int error = try_to_open(name, flags, mode, layout, &opening, file);

        if (error != NEEDS_LOCK && error != -EPROTO && !(error == -ENOENT && opening.exists))
            return error;
        if (!opening.exists)
            pio_layout_complete(layout, &opening.description);
        pio_fail_path[0] = '\0';
        error = open_locked(name, flags, mode, layout, opening.description.volume[0], first && !opening.exists, file);
        if (error != IS_MADE)
            return error;
    }
}

/* ---- Entry points ---------------------------------------------------------------------------- */

static int check_flags(int flags)
{
    int mode = flags & O_ACCMODE;
    int known = O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC | O_APPEND;

    if (mode != O_RDONLY && mode != O_WRONLY && mode != O_RDWR)
        return -EINVAL;
    return flags & ~known || ((flags & O_TRUNC) && mode == O_RDONLY) ? -EINVAL : 0;
}

/* Returns a descriptor, or a negative errno. */
static int open_text(const char *text, int flags, mode_t mode, const struct pio_layout *layout)
{
    int pfd = pio_file_find_empty();
    struct pio_file *file;
    struct pio_name name;

    pio_fail_path[0] = '\0';
    int error = pio_name_parse(text, &name);
    if (!error)
        error = check_flags(flags);
    if (!error)
        error = pio_layout_check(layout);
    if (!error && pfd < 0)
        error = pfd;
    if (!error)
        error = open_file(&name, flags, mode, layout, &file);
    if (error)
        return error;
    pio_file_enter(pfd, file);
    return pfd;
}

int pio_open_layout(const char *text, int flags, mode_t mode, const struct pio_layout *layout)
{
    return PIO_RESULT(open_text(text, flags, mode, layout));
}

int pio_open(const char *name, int flags, ...)
{
    mode_t mode = 0;

    if (flags & O_CREAT) {
        va_list arguments;

        va_start(arguments, flags);
        mode = va_arg(arguments, int);
        va_end(arguments);
    }
    return PIO_RESULT(open_text(name, flags, mode, NULL));
}

int pio_close(int pfd)
{
    struct pio_file *file = pio_file_get(pfd);
    int volume;

    if (!file)
        return PIO_RESULT(-EBADF);
    pio_file_enter(pfd, NULL);
    int started_error = pio_starts_drop(file);
    int error = close_subfiles(file, &volume);
    if (error && !started_error)
        pio_fail_at_volume(file, volume, error);
    free_file(file);
    return PIO_RESULT(started_error ? started_error : error);
}

/* Whether what is there is left of a file that was not made, which has no subfile on volume 0 and no byte, or of one
 * that has been removed. */
static bool is_left_over(const char *name, const struct pio_description *description)
{
    struct pio_survey survey;

    if (refuse_existing(name, description) == -EEXIST || pio_store_survey(name, description, &survey) != 0)
        return false;
    return survey.bytes == 0 || pio_store_is_unlinked(name, description) > 0;
}

static int unlink_file(const struct pio_name *name)
{
    struct pio_description description;
    int error = pio_store_find(name, NULL, &description, NULL);

    if (error)
        return error;
    int lock = pio_change_lock(description.volume[0], name->name);
    if (lock < 0)
        return lock;
    error = pio_store_find(name, NULL, &description, NULL);
    if (!error)
        error = pio_store_check_writable(&description);
    if (!error && !is_left_over(name->name, &description))
        error = pio_store_unlink(name->name, &description);
    else if (!error && !(error = pio_store_remove(name->name, &description)))
        error = -ENOENT;
    pio_change_unlock(lock);
    return error;
}

int pio_unlink(const char *text)
{
    struct pio_name name;

    pio_fail_path[0] = '\0';
    int error = pio_name_parse(text, &name);
    return PIO_RESULT(error ? error : unlink_file(&name));
}
