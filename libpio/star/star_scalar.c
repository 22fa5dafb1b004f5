/*
 * Scalar files [P4 3.2]: all nodes make each call on one together, in global mode. In CS_EACH nodes make different
 * calls, so a call on one fails there with EINVAL, before anything is read, or laid into a buffer. For that the FILE is
 * unbuffered meanwhile, with functions that refuse; afterwards it is as it was, also its mark of an error, by which
 * later calls would differ between nodes. So it is for every FILE that belongs to all nodes, also one of fopen; one of
 * cs_sfopen does if there is only one node, too. The driver of global mode refuses calls on descriptors. It knows the C
 * library's FILE, and is not in the tests on the host.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "libpio/ndevices/global_files.h"
#include "libpio/star/star_nodes.h"

struct scalar {
    FILE *file;
    FILE before;  /* what it was when CS_EACH began */
    bool is_free; /* fclose has been called meanwhile */
};
static struct scalar *taken;
static int count, room;

static int (*close_descriptor)(struct _reent *r, void *at); /* the C library's */

/* By it a FILE of cs_sfopen is known. */
static int close_scalar(struct _reent *r, void *at)
{
    return close_descriptor(r, at);
}

static int refuse(struct _reent *r)
{
    r->_errno = EINVAL;
    return -1;
}

static _READ_WRITE_RETURN_TYPE refuse_read(struct _reent *r, void *at, char *buf, _READ_WRITE_BUFSIZE_TYPE n)
{
    (void)at, (void)buf, (void)n;
    return refuse(r);
}

static _READ_WRITE_RETURN_TYPE refuse_write(struct _reent *r, void *at, const char *buf, _READ_WRITE_BUFSIZE_TYPE n)
{
    (void)at, (void)buf, (void)n;
    return refuse(r);
}

static _fpos_t refuse_seek(struct _reent *r, void *at, _fpos_t offset, int whence)
{
    (void)at, (void)offset, (void)whence;
    return refuse(r);
}

/* fclose marks the FILE as free then; bring_back makes it what it was. */
static int refuse_close(struct _reent *r, void *at)
{
    for (int i = 0; i < count; i++)
        taken[i].is_free |= taken[i].file == at; /* the cookie of a FILE with a descriptor is the FILE */
    return refuse(r);
}

/* A FILE without memory for what it was stays as it is. */
static struct scalar *new_place(void)
{
    int wanted = count < room ? room : 2 * room + 4;
    struct scalar *grown = wanted > room ? realloc(taken, (size_t)wanted * sizeof *taken) : taken;

    if (!grown)
        return NULL;
    taken = grown;
    room = wanted;
    return &taken[count++];
}

static int take_away(struct _reent *r, FILE *f)
{
    struct scalar *s = f->_close == close_scalar || global_is_file(f->_file) ? new_place() : NULL;

    (void)r;
    if (!s)
        return 0;
    *s = (struct scalar){.file = f, .before = *f};
    f->_flags = (short)((f->_flags & ~(__SLBF | __SMBF | __SEOF | __SERR)) | __SNBF);
    f->_bf = (struct __sbuf){f->_nbuf, 1};
    f->_p = f->_nbuf;
    f->_r = f->_w = f->_lbfsize = 0;
    f->_ub = f->_lb = (struct __sbuf){NULL, 0};
    f->_read = refuse_read;
    f->_write = refuse_write;
    f->_seek = refuse_seek;
    f->_close = refuse_close;
    return 0;
}

static void bring_back(void)
{
    while (count > 0) {
        const struct scalar *s = &taken[--count];
        bool is_another = s->is_free && s->file->_flags != 0; /* which fopen has put there */

        if (!is_another)
            *s->file = s->before;
    }
}

/* The C library's: each FILE that is open. newlib 4.3 has its list outside of struct _reent. */
#if __NEWLIB__ < 4 || (__NEWLIB__ == 4 && __NEWLIB_MINOR__ < 3)
int _fwalk_reent(struct _reent *r, int (*visit)(struct _reent *r, FILE *f));
#define visit_files(visit) _fwalk_reent(_GLOBAL_REENT, visit)
#else
#define visit_files(visit) _fwalk_sglue(_GLOBAL_REENT, visit, &__sglue)
#endif

static void each_begins_or_ends(bool are_usable)
{
    if (are_usable)
        bring_back();
    else
        visit_files(take_away);
    global_refuse(!are_usable);
}

void star_scalar_watch(void)
{
    star_scalar_files = each_begins_or_ends;
}

void star_scalar_mark(FILE *f)
{
    close_descriptor = f->_close;
    f->_close = close_scalar;
    star_scalar_watch();
}
