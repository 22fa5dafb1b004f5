/* The fuzzer as a program: fuzz [ROUNDS [FIRST_SEED]]. A round is 20000 messages, 3000 with each setting of the data
 * cache, 20 damaged images, 6 whose bitmaps are wrong, and several clients on several volumes. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/nsdisk/fuzz.h"
#include "tests/nsdisk/several.h"
#include "tests/nsdisk/volume.h"

/* Half of the runs with writes that fail. */
static const char *fuzz_several(uint32_t seed)
{
    struct several_settings settings = {
        .seed = seed, .steps = 60, .commands = 1 + seed % 5, .io_bytes = 20000, .fail_per_mill = seed % 2 * 20};
    struct loop_statistics statistics;

    return several_run(&settings, &statistics);
}

static uint32_t number(const char *text)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    if (*text == '\0' || *end != '\0' || value > UINT32_MAX / 100) {
        fprintf(stderr, "fuzz: %s is not a number; usage: fuzz [ROUNDS [FIRST_SEED]]\n", text);
        exit(2);
    }
    return (uint32_t)value;
}

int main(int argc, char **argv)
{
    uint32_t rounds = argc > 1 ? number(argv[1]) : 1, first = argc > 2 ? number(argv[2]) : 1;

    for (uint32_t seed = first; seed < first + rounds; seed++) {
        const char *wrong = fuzz_messages(20000, seed, 0);

        for (uint32_t cache = 1; cache < VOLUME_CACHES && wrong == NULL; cache++)
            wrong = fuzz_messages(3000, seed, cache);
        if (wrong != NULL) {
            fprintf(stderr, "fuzz: %s\n", wrong);
            return 1;
        }
        for (uint32_t i = 0; i < 20; i++)
            fuzz_image(seed * 20 + i);
        for (uint32_t i = 0; i < 6 && wrong == NULL; i++)
            wrong = fuzz_allocation(seed * 6 + i);
        if (wrong == NULL)
            wrong = fuzz_several(seed);
        if (wrong != NULL) {
            fprintf(stderr, "fuzz: %s\n", wrong);
            return 1;
        }
    }
    printf("fuzz: %u rounds from seed %u, nothing found\n", rounds, first);
    return 0;
}
