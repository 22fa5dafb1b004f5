/*
 * Giving a file another layout [P3 section 5] (clf_client.h): it is copied under another name, which then takes the
 * place of its own. Until then it is what it was, also where this fails or the machine stops.
 */
#include <stdlib.h>
#include <string.h>

#include "libpio/clusterfile/clf_client.h"
#include "vertex/contract/errors.h"

#define COPY_BYTES (256 << 10)
#define SUFFIX     ".new"

/* Copies what both files show; holes become zeros. */
static int copy(struct clf_open *from, struct clf_open *to)
{
    char *buf = malloc(COPY_BYTES);
    int64_t at = 0, n = buf ? 1 : -N_ENOMEM;

    while (n > 0) {
        n = clf_move(from, false, buf, COPY_BYTES, at);
        const int64_t written = n > 0 ? clf_move(to, true, buf, (uint64_t)n, at) : 0;

        at += n;
        if (n > 0 && written < n)
            n = written < 0 ? written : -N_ENOSPC;
    }
    free(buf);
    return n < 0 ? (int)n : clf_file_sync(to);
}

static int copy_as(struct clf_open *from, const char *name, const struct clf_layout *layout)
{
    struct clf_open *to;
    int error = clf_file_open(name, N_O_RDWR | N_O_CREAT | N_O_EXCL, from->stat.mode & 0777, layout, &to);

    if (error < 0)
        return error;
    error = copy(from, to);
    clf_file_close(to);
    if (error < 0)
        clf_name_unlink(name);
    return error;
}

int clf_file_redistribute(const char *name, const struct clf_layout *layout)
{
    char *other = malloc(strlen(name) + sizeof SUFFIX);
    struct clf_open *from;
    int error = other ? clf_file_open(name, N_O_RDONLY, 0, NULL, &from) : -N_ENOMEM;

    if (error < 0) {
        free(other);
        return error;
    }
    strcat(strcpy(other, name), SUFFIX);
    if (from->folder)
        error = -N_EISDIR;
    else if (from->layout->pattern->displacement != layout->pattern->displacement)
        error = clf_fail(-N_EINVAL, "the layout begins at byte %lld; the file's at %lld",
                         (long long)layout->pattern->displacement, (long long)from->layout->pattern->displacement);
    else
        error = copy_as(from, other, layout);
    clf_file_close(from);
    if (error == 0)
        error = clf_name_rename(other, name);
    free(other);
    return error;
}
