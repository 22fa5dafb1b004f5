/*
 * The last of three programs: a picture of a square of numbers, dark where they are small, with number 0 in its middle.
 *
 *     shade SIDE IN PICTURE        IN: a file, or "-": the standard input, a pipe. PICTURE: a PGM
 */
#include <math.h>

#include "stage.h"

static unsigned char shade_of(struct number x)
{
    double shade = 40 * log10(1 + sqrt((double)x.re * x.re + (double)x.im * x.im));

    return shade > 255 ? 255 : (unsigned char)shade;
}

int main(int argc, char **argv)
{
    char head[40];

    if (argc != 4) {
        fprintf(stderr, "usage: shade SIDE IN PICTURE\n");
        return 2;
    }
    int side = stage_side(argv[1]), in = stage_open(argv[2], STDIN_FILENO), out = stage_open(argv[3], STDOUT_FILENO);
    struct pattern *map = stage_map(side, sizeof(struct number), 0, 0);
    long bytes = stage_bytes(map), numbers = bytes / (long)sizeof(struct number);
    long first = (long)npid() * ((side + ncubesize() - 1) / ncubesize());
    struct number *own = stage_memory(bytes);
    unsigned char *line = stage_memory(side);
    int header = snprintf(head, sizeof head, "P5\n%d %d\n255\n", side, side);

    stage_set_map(in, map);
    if (bytes > 0)
        stage_move(read(in, own, bytes), bytes, "shade");
    if (npid() == 0)
        stage_move(pwrite(out, head, header, 0), header, argv[3]);
    for (long r = 0; r < numbers / side; r++) {
        for (int c = 0; c < side; c++)
            line[(c + side / 2) % side] = shade_of(own[r * side + c]);
        stage_move(pwrite(out, line, side, header + (first + r + side / 2) % side * side), side, argv[3]);
    }
    return close(out) < 0;
}
