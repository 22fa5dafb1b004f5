/*
 * Reads of 4 KB from the data cache, as requests to the server on this host: bench_data_cache [SECONDS]. Prints how
 * many it answers in a second, and ends with 1 if a byte is wrong or a read has gone to the disk.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/nsdisk/volume.h"
#include "vertex/contract/system.h"

#define READ_BYTES 4096u
#define FILE_BYTES (1u << 20)

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double reads_per_second(struct volume *v, uint64_t sfid, const uint8_t *bytes, double seconds)
{
    struct file_request r = {.sfid = sfid, .bytes = READ_BYTES};
    uint64_t random = 1, reads = 0;
    double begun = now_s();

    do {
        for (int i = 0; i < 1000; i++, reads++) {
            r.offset = random_next(&random) % (FILE_BYTES / READ_BYTES) * READ_BYTES;
            size_t n = serve_request(v->server, VOLUME_CLIENT, TAG(N_FREAD, 0, 0), &r, sizeof r, v->reply,
                                     sizeof(struct file_reply) + READ_BYTES);

            if (n != sizeof(struct file_reply) + READ_BYTES ||
                memcmp(v->reply + sizeof(struct file_reply), bytes + r.offset, 16) != 0) {
                fprintf(stderr, "bench_data_cache: a read at %lu is wrong\n", (unsigned long)r.offset);
                exit(1);
            }
        }
    } while (now_s() - begun < seconds);
    return (double)reads / (now_s() - begun);
}

int main(int argc, char **argv)
{
    static uint8_t bytes[FILE_BYTES];
    static struct volume v;
    uint64_t sfid;
    double seconds = argc > 1 ? atof(argv[1]) : 2;

    fill_pattern(bytes, sizeof bytes, 1);
    volume_make(&v, 4096, 4000, "");
    v.data_cache = (struct drive_cache){2048, 4096, 8, 1, DRIVE_CACHE_BACK, DRIVE_CACHE_LRU, 4, 0, 0};
    volume_mount(&v);
    if (v_put(&v, "/f", bytes, sizeof bytes) != (int32_t)sizeof bytes || v_open(&v, "/f", N_O_RDONLY, &sfid) != 0)
        return 1;
    uint32_t commands = v.reads;
    double rate = reads_per_second(&v, sfid, bytes, seconds);
    if (v.reads != commands) {
        fprintf(stderr, "bench_data_cache: %u reads went to the disk\n", v.reads - commands);
        return 1;
    }
    printf("cached reads of 4 KB: %.0f a second\n", rate);
    volume_free(&v);
    return 0;
}
