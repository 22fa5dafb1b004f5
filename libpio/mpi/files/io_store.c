/* The stores of names, and PIO files (io_file.h). */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libpio/file/file.h"
#include "libpio/file/pio.h"
#include "libpio/mpi/base/info.h"
#include "libpio/mpi/files/io_file.h"

enum { MODE = 0666 };

/* An existing file has the layout of its description. */
static int pio_store_open(struct mpi_file *f, int flags)
{
    const struct pio_layout layout = {.disks = info_number(f->info, "striping_factor"),
                                      .block_size = info_number(f->info, "striping_unit")};
    int fd = flags & O_EXCL ? -1 : pio_open(f->name, flags & ~O_CREAT);

    return fd >= 0 || !(flags & O_CREAT) ? fd : pio_open_layout(f->name, flags, MODE, &layout);
}

static off_t pio_size(int fd)
{
    struct stat st;

    return pio_fstat(fd, &st) < 0 ? -1 : st.st_size;
}

static int pio_store_preallocate(int fd, off_t size)
{
    return size > 0 ? pio_preallocate(fd, 0, size) : 0;
}

static int pio_first(int fd)
{
    return dup(pio_file_get(fd)->subfile[0].fd);
}

static const struct io_store pio = {.open = pio_store_open,
                                    .close = pio_close,
                                    .read = pio_pread,
                                    .write = pio_pwrite,
                                    .size = pio_size,
                                    .set_size = pio_ftruncate,
                                    .preallocate = pio_store_preallocate,
                                    .sync = pio_fsync,
                                    .unlink = pio_unlink,
                                    .failed_path = pio_failed_path,
                                    .first = pio_first,
                                    .set_view = pio_setview};

const struct io_store *io_store_of(const char *name, const char **rest)
{
    bool is_pio = strncmp(name, "pio:", 4) == 0;

    *rest = is_pio ? name + 4 : name;
    return is_pio ? &pio : &io_clusterfile && strncmp(name, "/clf/", 5) == 0 ? &io_clusterfile : &io_plain;
}
