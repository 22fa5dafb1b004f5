/*
 * A file shared by mapping: a matrix of 8 x 8 characters, of which each of four nodes has a block of 4 x 4. Each node
 * says once how the matrix is distributed, then writes its own block with no regard to the others. Node 0 prints the
 * file.
 *
 *     ncube run -d 2 --serve . examples/matrix matrix.txt
 *
 * Another pattern may follow: 'array 8x8x1 *,cyclic on 1x4'.
 */
#include <fcntl.h>
#include <nself.h>
#include <pattern.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SIDE 8

static void print_matrix(int fd)
{
    char row[SIDE];

    for (int i = 0; i < SIDE; i++)
        printf("%.*s\n", (int)pread(fd, row, SIDE, i * SIDE), row);
}

int main(int argc, char **argv)
{
    char why[PATTERN_WHY_BYTES], own[SIDE * SIDE];
    int node = npid(), fd = argc < 2 ? -1 : open(argv[1], O_RDWR | O_CREAT, 0644);
    struct pattern *pattern;

    if (fd < 0) {
        perror(argc < 2 ? "usage: matrix FILE [PATTERN]" : argv[1]);
        return 1;
    }
    if (pattern_parse(argc > 2 ? argv[2] : "array 8x8x1 block,block on 2x2", &pattern, why) < 0) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    if (ioctl(fd, N_SETMAP, pattern) < 0) {
        perror("N_SETMAP");
        return 1;
    }
    memset(own, '0' + node, sizeof own);
    write(fd, own, (size_t)pattern->element[node].bytes);
    nsync(0);
    ioctl(fd, N_UNMAP);
    if (node == 0)
        print_matrix(fd);
    return close(fd);
}
