/*
 * The closed loop of one client and one nsdisk, without the machine: how the service time of sequential requests
 * depends on a drive's constants. docs/timing.md uses its tables.
 *
 * In the loop a request of B bytes spends the think time Z between two services: the network carries it, and the
 * client's CPU prepares the next. The service time is what is left of the period.
 */
#include <stdio.h>

#include "emu/model/disk.h"
#include "tests/emu/image.h"
#include "vertex/contract/machine.h"

#define IMAGE_BYTES  (64ull << 20)
#define FIRST_SECTOR 2000
#define REQUESTS     200

struct request_class {
    uint32_t bytes;
    double published_ms; /* service of an nsdisk [P0 section 3] */
    double network_ms;   /* the request and its 8-byte reply, five hops [P0 section 3] */
    double client_ms;    /* the client's CPU [P0 section 3] */
};

static const struct request_class classes[] = {
    {4096, 17.3, 1.854 + 0.015, 0.800},
    {8192, 19.5, 3.697 + 0.015, 1.065},
    {16384, 20.5, 7.384 + 0.015, 1.820},
};

/* Mean service time of sequential requests with a think time between them. */
static double service_ms(const struct disk_model *model, const char *image, bool write, uint32_t bytes, double think_ms)
{
    struct disk *d;
    char error[256];
    uint32_t sectors = bytes / SECTOR_BYTES;
    uint64_t now = 0, think = (uint64_t)(think_ms * 1000 * CYCLES_PER_US), busy = 0;

    if (disk_open(&d, image, model, error, sizeof error) < 0) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
    for (uint32_t i = 0; i < REQUESTS; i++) {
        uint64_t done = disk_service(d, now, write, FIRST_SECTOR + i * sectors, sectors);

        busy += i ? done - now : 0; /* the first one seeks */
        now = done + think;
    }
    disk_close(d);
    return (double)busy / (REQUESTS - 1) / (1000 * CYCLES_PER_US);
}

static void print_row(const struct disk_model *model, const char *image, bool write)
{
    printf("%5u %5u", model->sectors_per_track, model->rpm);
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        const struct request_class *c = &classes[i];
        double ms = service_ms(model, image, write, c->bytes, c->network_ms + c->client_ms);

        printf("   %6.2f %+5.1f%%", ms, 100 * (ms / c->published_ms - 1));
    }
    printf("\n");
}

int main(void)
{
    char image[IMAGE_PATH_BYTES];
    struct disk_model model = *disk_model_find(disk_model_names[0]);

    image_make(image, IMAGE_BYTES);
    printf("sequential writes, service in ms and deviation from 17.3, 19.5, 20.5\n"
           "s/trk   rpm           4 KB            8 KB           16 KB\n");
    for (model.sectors_per_track = 35; model.sectors_per_track <= 46; model.sectors_per_track++)
        print_row(&model, image, true);
    model = *disk_model_find(disk_model_names[0]);
    printf("sequential reads with read-ahead\n");
    print_row(&model, image, false);
    unlink(image);
    return 0;
}
