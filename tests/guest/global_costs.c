/*
 * The claim of global mode [P1 2.5]: 2 MB of df00, read by all nodes. Prints the time from the moment when all are
 * there until the last one has them. The second argument is the bytes of a call; without it all 2 MB are one.
 *
 *   global_costs write|local|scattered|global [BYTES]     scattered: node k begins at its k-th part of the file
 */
#include <fcntl.h>
#include <nio.h>
#include <npara_prt.h>
#include <ntime.h>
#include <unistd.h>

#include "check.h"

enum { BYTES = 2 << 20 };

static const char path[] = "//df00/shared";
static char buf[BYTES];

static void read_all(int fd, long from, long call)
{
    long done = 0;

    while (done < BYTES) {
        long at = (from + done) % BYTES, n = at + call <= BYTES ? call : BYTES - at;

        if (done + n > BYTES)
            n = BYTES - done;
        if (at == 0)
            lseek(fd, 0, SEEK_SET);
        ssize_t got = read(fd, buf + at, (size_t)n);
        check(got > 0, "%s", nfailed());
        done += got;
    }
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    long call = argc > 2 ? atol(argv[2]) : BYTES, from = 0;

    check(strcmp(mode, "write") == 0 || strcmp(mode, "local") == 0 || strcmp(mode, "scattered") == 0 ||
              strcmp(mode, "global") == 0,
          "usage: global_costs write|local|scattered|global [BYTES]");
    if (mode[0] == 'w') {
        int fd = creat(path, 0644);

        write_pattern_by(write, fd, BYTES, 1);
        return close(fd) < 0;
    }
    if (mode[0] == 's')
        from = BYTES / node_count() * own_node();
    if (mode[0] == 'g')
        nglobal();
    int fd = open(path, O_RDONLY);
    check(fd >= 0, "%s", nfailed());
    nlocal();
    if (from > 0)
        check_equal(lseek(fd, from, SEEK_SET), from);
    nsync(0);
    double before = amicclk();
    read_all(fd, from, call);
    double us = dmaxn(amicclk() - before);
    check_equal(find_wrong_byte(buf, BYTES, 1), BYTES);
    if (own_node() == 0)
        printf("2 MB in %.0f us\n", us);
    return 0;
}
