/*
 * creates FILES VOLUMES: every node makes so many PIO files of its own over so many volumes, opens them again and
 * removes them; prints how long the slowest node took for each file, in microseconds.
 */
#include <fcntl.h>
#include <npara_prt.h>
#include <ntime.h>
#include <pio.h>
#include <unistd.h>

#include "check_files.h"

static int files;

static const char *made_name(int i)
{
    static char name[40];

    snprintf(name, sizeof name, "/made%d_%d", own_node(), i);
    return name;
}

static void make_one(int i, const struct pio_layout *layout)
{
    int file = pio_open_layout(made_name(i), O_RDWR | O_CREAT | O_EXCL, 0644, layout);

    check(file >= 0, "%s: %s", made_name(i), strerror(errno));
    check_equal(pio_close(file), 0);
}

static void open_one(int i, const struct pio_layout *layout)
{
    int file = pio_open_layout(made_name(i), O_RDWR, 0, layout);

    check(file >= 0, "%s: %s", made_name(i), strerror(errno));
    check_equal(pio_close(file), 0);
}

static void remove_one(int i, const struct pio_layout *layout)
{
    (void)layout;
    check(pio_unlink(made_name(i)) == 0, "%s: %s", made_name(i), strerror(errno));
}

static double time_of(void (*act)(int i, const struct pio_layout *layout), const struct pio_layout *layout)
{
    double from = (dmaxn(0), amicclk());

    for (int i = 0; i < files; i++)
        act(i, layout);
    return dmaxn(amicclk() - from) / files;
}

int main(int argc, char **argv)
{
    check(argc == 3, "creates FILES VOLUMES");
    files = atoi(argv[1]);
    struct pio_layout layout = {.disks = atoi(argv[2])};
    double make_us = time_of(make_one, &layout), open_us = time_of(open_one, &layout),
           remove_us = time_of(remove_one, &layout);

    if (own_node() == 0)
        printf("make=%.0f open=%.0f remove=%.0f\n", make_us, open_us, remove_us);
    return 0;
}
