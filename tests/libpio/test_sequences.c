/*
 * Random sequences of PIO calls (sequences.h), where acknowledgements come in random order. SEQUENCES is the number of
 * them (make check-pio).
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/libpio/fake.h"
#include "tests/libpio/sequences.h"

enum { SHORT_SEQUENCES = 400 };

static uint64_t seed;

void sequences_failed(int line, const char *text)
{
    cr_assert_fail("sequence %lu, sequences.c:%d: %s", (unsigned long)seed, line, text);
    abort();
}

static int choose_randomly(int options)
{
    return (int)sequences_below((uint32_t)options);
}

Test(sequences, behave_as_plain_files, .timeout = 0)
{
    const char *text = getenv("SEQUENCES");
    uint64_t n = text ? strtoul(text, NULL, 10) : SHORT_SEQUENCES;

    for (seed = 1; seed <= n; seed++) {
        fake_reset();
        fake_set_chooser(choose_randomly);
        if (seed % 2)
            fake_set_node((int)(seed / 2 % 4), 0x4000 + (int)(seed / 8 % 4));
        sequences_run(seed);
        cr_assert_eq(fake_counts()->open_files, 0);
        cr_assert_eq(fake_counts()->in_flight, 0);
        cr_assert_eq(fake_counts()->waits_for_writes, 0, "sequence %lu: memory may fill", (unsigned long)seed);
        cr_assert_eq(fake_counts()->bad_fds, 0);
        cr_assert_eq(fake_count_files(), 0, "sequence %lu leaves files", (unsigned long)seed);
    }
}
