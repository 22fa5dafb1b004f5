/* appends PATH BYTES PIECE: one node writes BYTES to a new file in pieces; prints how long it took, in microseconds */
#include <fcntl.h>
#include <ntime.h>
#include <unistd.h>

#include "check_files.h"

int main(int argc, char **argv)
{
    static char piece[65536];
    long bytes = argc == 4 ? atol(argv[2]) : 0, most = argc == 4 ? atol(argv[3]) : 0;
    int fd = open(argv[1], O_RDWR | O_CREAT, 0644);

    check(fd >= 0, "%s: %s", argv[1], strerror(errno));
    double from = amicclk();
    for (long at = 0; at < bytes;) {
        long n = bytes - at < most ? bytes - at : most;

        for (long i = 0; i < n; i++)
            piece[i] = (char)((at + i) * 7 + ((at + i) >> 8));
        check_equal(write(fd, piece, (size_t)n), n);
        at += n;
    }
    printf("%.0f\n", amicclk() - from);
    check_equal(close(fd), 0);
    return 0;
}
