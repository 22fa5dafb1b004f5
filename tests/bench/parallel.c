/* All nodes write one PIO file, each its own part, and read their neighbour's part back.
 *
 *   parallel DISKS BYTES    the file lies on volumes df00, df01, ...; each node's part has so many bytes, 1 MB at most
 *
 * Node 0 prints the virtual time of each step in seconds.
 */
#include <nio.h>
#include <nself.h>
#include <ntime.h>
#include <pio.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DISKS_MOST 64
#define BYTES_MOST (1 << 20)

static const char path[] = "/parallel";
static int me;

static void step_done(const char *step)
{
    if (me == 0)
        printf("%-8s %10.6f s\n", step, amicclk() / 1e6);
}

static int fail(const char *step)
{
    printf("parallel: node %d: %s: %s\n", me, step, nfailed());
    return 1;
}

static int create(int disks)
{
    char names[DISKS_MOST][8];
    const char *volumes[DISKS_MOST];
    struct pio_layout layout = {.disks = disks, .volumes = volumes};

    for (int i = 0; i < disks; i++) {
        snprintf(names[i], sizeof names[i], "df%02d", i);
        volumes[i] = names[i];
    }
    int fd = pio_open_layout(path, O_RDWR | O_CREAT | O_TRUNC, 0644, &layout);
    return fd < 0 ? -1 : pio_close(fd);
}

int main(int argc, char **argv)
{
    static char buffer[BYTES_MOST];
    int disks = argc > 1 ? atoi(argv[1]) : 64, bytes = argc > 2 ? atoi(argv[2]) : 65536;
    int process, host, dim;

    if (disks < 1 || disks > DISKS_MOST || bytes < 1 || bytes > BYTES_MOST) {
        printf("parallel: 1 to %d disks, 1 to %d bytes\n", DISKS_MOST, BYTES_MOST);
        return 2;
    }
    whoami(&me, &process, &host, &dim);
    if (me == 0 && create(disks) < 0)
        return fail("create");
    nsync(1);
    int fd = pio_open(path, O_RDWR, 0);
    if (fd < 0)
        return fail("open");
    nsync(1);
    step_done("opened");

    memset(buffer, me & 255, (size_t)bytes);
    if (pio_lseek(fd, (off_t)me * bytes, SEEK_SET) < 0 || pio_write(fd, buffer, (size_t)bytes) != bytes)
        return fail("write");
    nsync(1);
    step_done("written");

    int other = (me + 1) % (1 << dim);
    if (pio_lseek(fd, (off_t)other * bytes, SEEK_SET) < 0 || pio_read(fd, buffer, (size_t)bytes) != bytes)
        return fail("read");
    for (int i = 0; i < bytes; i++)
        if (buffer[i] != (char)(other & 255))
            return fail("compare");
    nsync(1);
    step_done("read");

    if (pio_close(fd) < 0)
        return fail("close");
    nsync(1);
    step_done("closed");
    return 0;
}
