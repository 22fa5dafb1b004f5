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
