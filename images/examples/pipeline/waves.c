/*
 * The first of three programs: a square of numbers, some plane waves added up. Each node makes its own rows.
 *
 *     waves SIDE [OUT]        OUT: a file; "-", or nothing: the standard output, a pipe
 */
#include <math.h>

#include "stage.h"

static const struct {
    double x, y, height; /* waves in the side of the square, across and down */
} wave[] = {{5, 0, 1}, {0, 9, 0.7}, {12, 7, 0.5}, {-3, 20, 0.4}};

static float height_at(int side, int row, int column)
{
    double sum = 0;

    for (size_t i = 0; i < sizeof wave / sizeof *wave; i++)
        sum += wave[i].height * cos(2 * M_PI * (wave[i].x * column + wave[i].y * row) / side);
    return (float)sum;
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: waves SIDE [OUT]\n");
        return 2;
    }
    int side = stage_side(argv[1]), out = stage_open(argc > 2 ? argv[2] : "-", STDOUT_FILENO);
    struct pattern *map = stage_map(side, sizeof(struct number), 0, 0);
    long bytes = stage_bytes(map), rows = bytes / (side * (long)sizeof(struct number));
    long first = (long)npid() * ((side + ncubesize() - 1) / ncubesize());
    struct number *own = stage_memory(bytes);

    for (long r = 0; r < rows; r++)
        for (int c = 0; c < side; c++)
            own[r * side + c] = (struct number){height_at(side, (int)(first + r), c), 0};
    stage_set_map(out, map);
    if (bytes > 0)
        stage_move(write(out, own, bytes), bytes, "waves");
    return close(out) < 0;
}
