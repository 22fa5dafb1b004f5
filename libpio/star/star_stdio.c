/*
 * Elemental stdio [P4 5.4]: one FILE of the C library for each node and file, aimed at the VP whose turn it is. Its
 * functions are those of fopencookie. They read byte by byte, so nothing is read ahead for one VP that another
 * would get; what is written goes out when another VP's turn comes, and at the end of CS_EACH.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>

#include "libpio/star/scopes.h"
#include "libpio/star/star_ib.h"
#include "libpio/star/star_nodes.h"

static ssize_t read_stream(void *cookie, char *buf, size_t n)
{
    struct cs_file *f = cookie;
    int64_t got = n > 0 ? star_ib_read(f, f->stream_vp, buf, 1) : 0;
    int error = f->ib->vp[f->stream_vp].error;

    return got == 0 && error ? star_fail_at(f->name, "", error) : (ssize_t)got;
}

static ssize_t write_stream(void *cookie, const char *buf, size_t n)
{
    struct cs_file *f = cookie;
    int64_t done = star_ib_write(f, f->stream_vp, buf, (int64_t)n);

    if (done == 0 && n > 0)
        star_fail_at(f->name, "", f->ib->vp[f->stream_vp].error);
    return (ssize_t)done;
}

static int close_stream(void *cookie)
{
    ((struct cs_file *)cookie)->stream = NULL;
    return 0;
}

static void flush_all(void)
{
    for (int i = 0; i < STAR_FILES; i++) {
        struct cs_file *f = star_file_at(i);

        if (f && f->stream)
            fflush(f->stream);
    }
}

FILE *cs_vp(CS_FILE *file)
{
    static const cookie_io_functions_t functions = {read_stream, write_stream, NULL, close_stream};
    struct cs_file *f = star_file(file);
    long vp = star_current_vp();

    if (!f)
        return NULL;
    int error = !star_is_elemental() || f->is_external || vp < 0 || vp >= f->shape->local ? -EINVAL : star_ib_enter(f);
    if (error) {
        star_fail_at(f->name, "", error);
        return NULL;
    }
    star_each_ends = flush_all;
    if (!f->stream)
        f->stream = fopencookie(f, !f->writes ? "r" : !f->reads ? "w" : "r+", functions);
    else if (f->stream_vp != vp) {
        fflush(f->stream);
        clearerr(f->stream);
    }
    f->stream_vp = vp;
    return f->stream;
}
