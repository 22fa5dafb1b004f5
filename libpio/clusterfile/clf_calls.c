/* The calls of <clf.h>, on descriptors that the driver has. A program with one of them has the driver. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "images/lib/devices/ndevice_switch.h"
#include "libpio/clusterfile/clf_device.h"
#include "libpio/servers/server_driver.h"

__attribute__((constructor)) static void add_driver(void)
{
    ndevice_add(&ndevice_clf);
}

/* ---- Helpers ---- */

static struct clf_open *file_of(int fd, int *error)
{
    const struct ndevice_slot *slot = ndevice_slot(fd);
    struct clf_open *f = slot && slot->device == &ndevice_clf ? slot->state : NULL;

    clf_why_begin();
    *error = !slot ? -EBADF : !f ? -ENOTSUP : 0;
    return f;
}

static int64_t result(int64_t n)
{
    if (n >= 0)
        return n;
    errno = (int)-n;
    return -1;
}

/* Returns true if the descriptor is a file of Clusterfile. Otherwise sets errno. */
static bool is_ours(int fd)
{
    int error;

    if (file_of(fd, &error))
        return true;
    errno = -error;
    return false;
}

/* ---- Files ---- */

/* The driver would take no other name. */
static bool is_name(const char *name)
{
    clf_why_begin();
    if (name && ndevice_clf.match(name))
        return true;
    errno = clf_machine()->n == 0 ? ENODEV : EINVAL;
    clf_fail(0, clf_machine()->n == 0 ? "the machine file has no `metadata`" : "the name does not begin with /clf/");
    return false;
}

int clf_open(const char *name, int flags, ...)
{
    va_list args;

    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? (mode_t)va_arg(args, int) : 0;
    va_end(args);
    return is_name(name) ? open(name, flags, mode) : -1;
}

/* The layout of a call that names a file; else the call's result is -1. */
static bool make_layout(const char *name, const struct pattern *layout, const struct clf_place *place,
                        struct clf_layout **l)
{
    return is_name(name) && result(clf_layout_make(layout, place, l)) == 0;
}

int clf_create(const char *name, int flags, mode_t mode, const struct pattern *layout, const struct clf_place *place)
{
    struct clf_layout *l;

    if (!make_layout(name, layout, place, &l))
        return -1;
    clf_device_layout = l;
    int fd = open(name, flags | O_CREAT, mode);
    clf_device_layout = NULL;
    clf_layout_free(l);
    return fd;
}

int clf_close(int fd)
{
    return is_ours(fd) ? close(fd) : -1;
}

int clf_unlink(const char *name)
{
    return is_name(name) ? unlink(name) : -1;
}

int clf_redistribute(const char *name, const struct pattern *layout, const struct clf_place *place)
{
    struct clf_layout *l;

    if (!make_layout(name, layout, place, &l))
        return -1;
    int error = clf_file_redistribute(server_path_name("/clf", name), l);
    clf_layout_free(l);
    return (int)result(error);
}

/* ---- Data ---- */

ssize_t clf_read(int fd, void *buf, size_t n)
{
    return is_ours(fd) ? read(fd, buf, n) : -1;
}

ssize_t clf_write(int fd, const void *buf, size_t n)
{
    return is_ours(fd) ? write(fd, buf, n) : -1;
}

/* One after the other; one that moves less than it should is the last. */
static ssize_t move_each(int fd, const struct iovec *iov, int count, bool write_them)
{
    ssize_t all = 0;

    if (!is_ours(fd))
        return -1;
    if (count < 1 || count > 1024)
        return result(-EINVAL);
    for (int i = 0; i < count; i++) {
        ssize_t n = write_them ? write(fd, iov[i].iov_base, iov[i].iov_len) : read(fd, iov[i].iov_base, iov[i].iov_len);

        if (n < 0)
            return all > 0 ? all : n;
        all += n;
        if ((size_t)n < iov[i].iov_len)
            break;
    }
    return all;
}

ssize_t clf_readv(int fd, const struct iovec *iov, int count)
{
    return move_each(fd, iov, count, false);
}

ssize_t clf_writev(int fd, const struct iovec *iov, int count)
{
    return move_each(fd, iov, count, true);
}

off_t clf_lseek(int fd, off_t offset, int whence)
{
    return is_ours(fd) ? lseek(fd, offset, whence) : -1;
}

int clf_fstat(int fd, struct stat *st)
{
    return is_ours(fd) ? fstat(fd, st) : -1;
}

int clf_ftruncate(int fd, off_t size)
{
    return is_ours(fd) ? ftruncate(fd, size) : -1;
}

int clf_fsync(int fd)
{
    return is_ours(fd) ? fsync(fd) : -1;
}

/* ---- Views ---- */

int clf_setview(int fd, clf_type view, int64_t displ, int64_t period)
{
    struct pattern *pattern;
    int error;
    struct clf_open *f = file_of(fd, &error);

    if (f && f->folder)
        error = -EISDIR;
    if (error == 0)
        error = clf_type_view(view, displ, period, &pattern);
    return (int)result(error < 0 ? clf_way_refuse_view(f, error) : clf_way_set_view(f, pattern));
}

/* A view of one element of a pattern. */
static int view_of_element(const struct pattern *p, int element, struct pattern **view)
{
    int error = element < 0 ? -EINVAL : clf_view_copy(p, element, view);

    return error < 0 && error != -ENOMEM ? clf_fail(error, "no ascending element %d", element) : error;
}

int clf_setpattern(int fd, const struct pattern *p, int element)
{
    struct pattern *view;
    int error;
    struct clf_open *f = file_of(fd, &error);

    if (f && f->folder)
        error = -EISDIR;
    if (error == 0)
        error = p ? view_of_element(p, element, &view) : clf_view_whole(f->layout, &view);
    return (int)result(error < 0 ? clf_way_refuse_view(f, error) : clf_way_set_view(f, view));
}

int clf_fcntl(int fd, int request, ...)
{
    va_list args;

    if (!is_ours(fd))
        return -1;
    int error;
    struct clf_open *f = file_of(fd, &error);
    va_start(args, request);
    void *arg = request != CLF_F_NEXT_COLLECTIVE ? va_arg(args, void *) : NULL;
    va_end(args);
    const struct clf_view *view = arg;

    switch (request) {
    case CLF_F_SETVIEW:
        return clf_setview(fd, view->type, view->displ, view->period);
    case CLF_F_COLLECTIVE:
        error = clf_way_set_group(f, arg);
        if (error == 0)
            clf_told_make(f);
        return (int)result(error);
    case CLF_F_METHOD:
        return (int)result(clf_way_set(f, arg));
    case CLF_F_NEXT_COLLECTIVE:
        if (!f->members)
            return (int)result(clf_fail(-EINVAL, "the descriptor has no group"));
        f->collective = true;
        return 0;
    default:
        return (int)result(-EINVAL);
    }
}

void clf_count(struct clf_counts *counts)
{
    *counts = clf_counts;
}

int clf_manager_count(int fd, int manager, struct clf_manager_counts *counts)
{
    int error;
    struct clf_open *f = file_of(fd, &error);

    return (int)result(error < 0 ? error : clf_way_count(f, manager, counts));
}
