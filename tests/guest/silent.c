/* Mistakes that end in silence, for ncube run --check: one for each word. Two nodes. */
#include <fcntl.h>
#include <nself.h>
#include <pio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TYPE_LAST 11

static char bytes[100];

static int received(int n, int type)
{
    int from = 0;

    return nread(bytes, n, &from, &type, NULL);
}

/* Of four files, two stay open; exit() closes the streams of stdio. */
static void leave_open(void)
{
    FILE *stream = fopen("stream", "w");
    int closed = open("closed", O_CREAT | O_WRONLY, 0644);

    fprintf(stream, "text\n");
    close(closed);
    open("left", O_CREAT | O_WRONLY, 0644);
    for (int i = 0; i < 2; i++)
        open(i == 0 ? "one" : "two", O_CREAT | O_WRONLY, 0644);
}

/* A file that is made is asked for before, on each of its volumes; a call that fails may ask many times. */
static void open_parallel_files(void)
{
    for (int i = 0; i < 3; i++)
        pio_open("//df00/none", O_RDONLY);
    pio_close(pio_open_layout("/made", O_WRONLY | O_CREAT, 0644, &(struct pio_layout){.disks = 2}));
    close(open("//big/made too", O_WRONLY | O_CREAT, 0644));
    for (int i = 0; i < 2; i++)
        open("//big/none", O_RDONLY);
    unlink("//big/none");
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int node, process, host, dim, from, any;

    whoami(&node, &process, &host, &dim);
    if (node == 0) {
        for (int i = 0; strcmp(what, "never read") == 0 && i < 3; i++)
            nwrite(bytes, 10 + i, 1, 7, NULL);
        if (strcmp(what, "too small") == 0)
            nwrite(bytes, 100, 1, 9, NULL);
        for (int i = 0; strcmp(what, "no such node") == 0 && i < 2; i++)
            nwrite(bytes, 8, 77, 5, NULL);
        if (strcmp(what, "descriptors") == 0) {
            close(55);
            pio_close(5);
        }
        if (strcmp(what, "left open") == 0)
            leave_open();
        if (strcmp(what, "parallel files") == 0)
            open_parallel_files();
        nwrite(bytes, 8, 1, TYPE_LAST, NULL);
        return 0;
    }
    from = any = N_ANY;
    while (strcmp(what, "polls") == 0 && (any = TYPE_LAST, ntest(&from, &any) < 0))
        ;
    received(8, TYPE_LAST);
    if (strcmp(what, "too small") == 0)
        received(10, 9);
    return 0;
}
