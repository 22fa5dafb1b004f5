/*
 * Changes of names that lie on several volumes: one node at a time, one volume decides, and a change that ended half
 * way is undone or completed by the next node that comes (docs/striped.md, Changes of names).
 *
 * The first of the volumes gives the lock; its server forgets it with the process that had it. Calls that make or
 * remove one file lock its name; those that make, remove or move folders, and renames, lock all names. These write
 * down what they are about to do, in PIO_CHANGE_NAME on the first volume, and change the first volume last.
 */
#pragma once

#include <stdbool.h>

#include "libpio/file/layout.h"

#define PIO_CHANGE_NAME "/.pio-change"

/* Waits for the lock of a name, or of all names (NULL), and settles a change that ended half way. Returns the lock, or
 * a negative errno: then there is none. */
int pio_change_lock(const char *volume, const char *name);
void pio_change_unlock(int lock);

enum pio_change_kind { PIO_CHANGE_MAKE, PIO_CHANGE_REMOVE, PIO_CHANGE_FOLDER, PIO_CHANGE_FILE };

struct pio_change {
    enum pio_change_kind kind; /* makes, removes, moves a folder; moves a PIO file */
    mode_t mode;               /* of folders that are made, also again */
    const char *from, *to;     /* names from '/' on; to make or remove: "" */
    int disks;
    const char *volume[PIO_DISKS_MAX];
    char has[PIO_DISKS_MAX + 1]; /* what is there before: '0', + 1 a part of `to` (made, removed: of `from`), + 2 its
                                  * description */
};

/* Carries out a change, all names being locked. 0; or an error: nothing has changed, or, where a volume cannot be
 * reached any more, the next lock settles it. */
int pio_change_run(struct pio_change *change);

/* mkdir, rmdir and rename of a folder of a striped volume. */
int pio_folder_make(const struct pio_layout *layout, const char *name, mode_t mode);
int pio_folder_remove(const struct pio_layout *layout, const char *name, mode_t mode);
int pio_folder_rename(const struct pio_layout *layout, const char *from, const char *to, mode_t mode);

/* Settles what ended half way, if anything did: for a call that found parts missing. */
int pio_change_settle(const char *volume);
