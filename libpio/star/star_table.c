/* The table of open files (star_file.h), and what the last call that failed was about. */
#include "libpio/star/star_ib.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/star/row_move.h"
#include "libpio/star/scopes.h"
#include "libpio/star/star_nodes.h"
#include "libpio/star/star_transfer.h"

static struct cs_file *table[STAR_FILES];
static char failed[STAR_PART_BYTES]; /* what the last call that failed was about; "" */

int star_fail(int error)
{
    failed[0] = '\0';
    errno = -error;
    return -1;
}

int star_fail_at(const char *name, const char *part, int error)
{
    snprintf(failed, sizeof failed, "%s%s", name, part);
    errno = -error;
    return -1;
}

const char *star_failed_name(void)
{
    return failed;
}

void cs_perror(const char *text)
{
    int error = errno;

    if (star_group.rank == 0 || star_is_elemental())
        fprintf(stderr, "%s: %s%s%s\n", text, failed, failed[0] ? ": " : "", strerror(error));
    errno = error;
}

struct cs_file *star_file(CS_FILE *f)
{
    for (int i = 0; f && i < STAR_FILES; i++)
        if (table[i] == f)
            return f;
    errno = EBADF;
    return NULL;
}

struct cs_file *star_file_at(int index)
{
    return table[index];
}

struct cs_file *star_file_new(void)
{
    int i = 0;

    while (i < STAR_FILES && table[i])
        i++;
    if (i == STAR_FILES) {
        errno = EMFILE;
        return NULL;
    }
    struct cs_file *f = calloc(1, sizeof *f);
    if (f) {
        f->fd = STAR_FD_FIRST + i;
        f->handle = f->first_handle = f->directory_handle = -1;
        f->good = INT64_MAX;
        table[i] = f;
    }
    return f;
}

void star_file_free(struct cs_file *f)
{
    if (f->stream)
        fclose(f->stream);
    table[f->fd - STAR_FD_FIRST] = NULL;
    star_settle(f);
    star_ib_free(f);
    star_exchange_free(f);
    cs_shape_free(f->own_shape);
    free(f->buffer);
    free(f->spare);
    free(f);
}

/* ---- What programs ask ---- */

int cs_fileno(CS_FILE *f)
{
    return star_file(f) ? f->fd : -1;
}

enum cs_mode cs_fmode(CS_FILE *f)
{
    return star_file(f) ? f->mode : CS_IB;
}

const struct cs_counts *cs_fcounts(CS_FILE *f)
{
    return star_file(f) ? &f->counts : NULL;
}

void cs_ftell(CS_FILE *f, long *at)
{
    for (long i = 0; star_file(f) && i < f->shape->local; i++)
        at[i] = (long)(f->mode == CS_IB ? f->ib->vp[i].at : f->at);
}

void cs_feof(CS_FILE *f, bool *is)
{
    for (long i = 0; star_file(f) && i < f->shape->local; i++)
        is[i] = f->mode == CS_IB ? f->ib->vp[i].is_at_end : f->is_at_end;
}

/* In IB each VP has errors of its own. */
void cs_ferror(CS_FILE *f, bool *is)
{
    for (long i = 0; star_file(f) && i < f->shape->local; i++)
        is[i] = f->mode == CS_IB ? f->ib->vp[i].error != 0 : f->error != 0;
}

void cs_clearerr(CS_FILE *f)
{
    if (!star_file(f))
        return;
    f->error = 0;
    f->is_at_end = false;
    for (long i = 0; f->ib && i < f->shape->local; i++) {
        f->ib->vp[i].error = 0;
        f->ib->vp[i].is_at_end = false;
    }
}
