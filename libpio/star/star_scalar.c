/*
 * Scalar files [P4 3.2]: all nodes make each call on one together, in global mode. In CS_EACH nodes make different
 * calls, so a call on one fails there with EINVAL, before anything is read, or laid into a buffer. For that the FILE is
 * unbuffered meanwhile, with functions that refuse; afterwards it is as it was, also its mark of an error, by which
 * later calls would differ between nodes. It knows the C library's FILE, and is not in the tests on the host.
 */
#include <errno.h>
#include <stdio.h>

#include "libpio/star/scopes.h"
#include "libpio/star/star_file.h"
#include "libpio/star/star_nodes.h"

#define SCALARS 64 /* descriptors of sequential files */

static struct scalar {
    FILE *file;                               /* NULL: this place is free */
    FILE before;                              /* what it was when CS_EACH began */
    bool is_free;                             /* fclose has been called meanwhile */
    int (*close)(struct _reent *r, void *at); /* the C library's */
} scalars[SCALARS];

static struct scalar *place_of(const FILE *file)
{
    struct scalar *s = scalars;

    while (s < scalars + SCALARS && s->file != file)
        s++;
    return s < scalars + SCALARS ? s : NULL;
}

/* The cookie of a FILE with a descriptor is the FILE. */
static int close_scalar(struct _reent *r, void *at)
{
    struct scalar *s = place_of(at);

    s->file = NULL;
    return s->close(r, at);
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
    place_of(at)->is_free = true;
    return refuse(r);
}

static void take_away(struct scalar *s)
{
    FILE *f = s->file;

    s->before = *f;
    s->is_free = false;
    f->_flags = (short)((f->_flags & ~(__SLBF | __SMBF | __SEOF | __SERR)) | __SNBF);
    f->_bf = (struct __sbuf){f->_nbuf, 1};
    f->_p = f->_nbuf;
    f->_r = f->_w = f->_lbfsize = 0;
    f->_ub = f->_lb = (struct __sbuf){NULL, 0};
    f->_read = refuse_read;
    f->_write = refuse_write;
    f->_seek = refuse_seek;
    f->_close = refuse_close;
}

static void bring_back(struct scalar *s)
{
    if (s->is_free && s->file->_flags != 0) /* another fopen has taken it */
        s->file = NULL;
    else
        *s->file = s->before;
}

static void each_begins_or_ends(bool are_usable)
{
    for (struct scalar *s = scalars; s < scalars + SCALARS; s++)
        if (s->file)
            (are_usable ? bring_back : take_away)(s);
}

FILE *cs_sfopen(const char *name, const char *type)
{
    struct scalar *s = place_of(NULL);

    if (star_group.size == 0 || star_is_elemental()) {
        star_fail(-EINVAL);
        return NULL;
    }
    FILE *f = s ? fopen(name, type) : (errno = EMFILE, NULL); /* outside of CS_EACH the mode is global */
    if (!f) {
        star_fail_at(name, "", -errno);
        return NULL;
    }
    s->file = f;
    s->close = f->_close;
    f->_close = close_scalar;
    star_scalar_files = each_begins_or_ends;
    return f;
}
