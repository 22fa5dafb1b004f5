/*
 * Files of Clusterfile (io_file.h): "/clf/NAME", in programs that mpicc links with -lclf. All members of the file's
 * communicator are its group there, so servers know the views, and carry out collective accesses together [P3 section
 * 7.3]. Before each call that members make together they meet, so that messages of MPI which one of them waits for are
 * answered.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "images/lib/devices/ndevice_switch.h"
#include "libpio/clusterfile/clf.h"
#include "libpio/clusterfile/clf_client.h"
#include "libpio/mpi/base/info.h"
#include "libpio/mpi/files/io_file.h"

enum { MODE = 0666 };

/* Of a file that is made, the hints say over how many volumes it lies, and by which blocks. */
static int clusterfile_open(struct mpi_file *f, int flags)
{
    const struct clf_place place = {.servers = info_number(f->info, "striping_factor"),
                                    .stripe = info_number(f->info, "striping_unit")};

    return flags & O_CREAT ? clf_create(f->name, flags, MODE, NULL, &place) : clf_open(f->name, flags);
}

/* The hint clf_method, or, without it, cb_nodes: holders of two phases. 0: as Clusterfile does by itself. */
static int choose_method(const struct mpi_file *f)
{
    static const char *const names[] = {
        [CLF_WAY_VIEW] = "view", [CLF_WAY_TWO_PHASE] = "two-phase", [CLF_WAY_LIST] = "list", [CLF_WAY_SIEVE] = "sieve"};
    const char *wanted = info_value(f->info, "clf_method");
    const int size = f->comm->group.size;
    struct clf_method method = {.way = f->holders > 0 ? CLF_WAY_TWO_PHASE : CLF_WAY_VIEW,
                                .holders = f->holders < size ? f->holders : size};

    for (int i = 0; wanted && i < (int)(sizeof names / sizeof *names); i++)
        if (strcmp(wanted, names[i]) == 0)
            method.way = i;
    return method.way == CLF_WAY_VIEW ? 0 : clf_fcntl(f->fd, CLF_F_METHOD, &method);
}

static int clusterfile_opened(struct mpi_file *f)
{
    return clf_fcntl(f->fd, CLF_F_COLLECTIVE, engine_group(f->comm)) < 0 ? -1 : choose_method(f);
}

static int set_view(int fd, const void *packed, size_t n)
{
    const struct ndevice_slot *slot = ndevice_slot(fd);
    int error = slot->device->setview(slot->state, packed, n);

    errno = -error;
    return error < 0 ? -1 : 0;
}

static ssize_t move_together(int fd, bool writes, void *buf, size_t n, off_t at)
{
    if (clf_fcntl(fd, CLF_F_NEXT_COLLECTIVE) < 0)
        return -1;
    return writes ? pwrite(fd, buf, n, at) : pread(fd, buf, n, at);
}

/* The volume of the names has the counters. */
static int clusterfile_first(int fd)
{
    const struct server_volumes *v = clf_machine();
    char path[64];

    (void)fd;
    snprintf(path, sizeof path, "//%s/", v->name[v->number]);
    return open(path, O_RDONLY | O_DIRECTORY);
}

const struct io_store io_clusterfile = {.open = clusterfile_open,
                                        .close = clf_close,
                                        .read = pread,
                                        .write = pwrite,
                                        .size = io_plain_size,
                                        .set_size = clf_ftruncate,
                                        .preallocate = io_plain_preallocate,
                                        .sync = clf_fsync,
                                        .unlink = clf_unlink,
                                        .first = clusterfile_first,
                                        .set_view = set_view,
                                        .opened = clusterfile_opened,
                                        .move_together = move_together};
