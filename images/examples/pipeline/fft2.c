/*
 * The second of three programs: the Fourier transform of a square, first of its rows, then of its columns. Between the
 * two each node exchanges its rows for its columns, by one call.
 *
 *     fft2 SIDE [IN [OUT]]        files; "-", or nothing: the standard streams, pipes
 */
#include <math.h>

#include "stage.h"

/* Transforms n numbers that lie `stride` apart, n a power of two (Cooley, Tukey 1965). */
static void transform(struct number *x, int n, long stride)
{
    for (int i = 1, j = 0; i < n; i++) {
        int bit = n / 2;

        for (; j & bit; bit /= 2)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            struct number swap = x[i * stride];

            x[i * stride] = x[j * stride];
            x[j * stride] = swap;
        }
    }
    for (int half = 1; half < n; half *= 2)
        for (int k = 0; k < half; k++) {
            float re = (float)cos(M_PI * k / half), im = (float)-sin(M_PI * k / half);

            for (int i = k; i < n; i += 2 * half) {
                struct number *a = &x[i * stride], *b = &x[(i + half) * stride];
                struct number turned = {b->re * re - b->im * im, b->re * im + b->im * re};

                *b = (struct number){a->re - turned.re, a->im - turned.im};
                *a = (struct number){a->re + turned.re, a->im + turned.im};
            }
        }
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 4) {
        fprintf(stderr, "usage: fft2 SIDE [IN [OUT]]\n");
        return 2;
    }
    int side = stage_side(argv[1]);
    int in = stage_open(argc > 2 ? argv[2] : "-", STDIN_FILENO);
    int out = stage_open(argc > 3 ? argv[3] : "-", STDOUT_FILENO);
    struct pattern *by_rows = stage_map(side, sizeof(struct number), 0, 0);
    struct pattern *by_columns = stage_map(side, sizeof(struct number), 1, 0);
    long bytes_in = stage_bytes(by_rows), bytes_out = stage_bytes(by_columns);
    long rows = bytes_in / (side * (long)sizeof(struct number)),
         columns = bytes_out / (side * (long)sizeof(struct number));
    struct number *row = stage_memory(bytes_in), *column = stage_memory(bytes_out);

    stage_set_map(in, by_rows);
    stage_set_map(out, by_columns);
    if (bytes_in > 0)
        stage_move(read(in, row, bytes_in), bytes_in, "fft2");
    for (long r = 0; r < rows; r++)
        transform(row + r * side, side, 1);
    if (nredist(row, by_rows, column, by_columns, (long)side * side * (long)sizeof(struct number)) < 0)
        stage_fail("nredist");
    for (long c = 0; c < columns; c++)
        transform(column + c, side, columns);
    if (bytes_out > 0)
        stage_move(write(out, column, bytes_out), bytes_out, "fft2");
    return close(out) < 0;
}
