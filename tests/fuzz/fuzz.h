/*
 * Fuzzing: what reads input from outside is given inputs that are nearly right. If something is wrong, a sanitizer,
 * abort() or the limit of a processor's time ends the process.
 *
 * A target either takes bytes, which the driver (fuzz.c) makes out of the target's corpus, tests/fuzz/corpus/NAME/; or
 * it makes its inputs itself, out of a seed.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define FUZZ_INPUT_BYTES (64u << 10) /* the longest input */

struct fuzz_target {
    const char *name;
    void (*take)(const uint8_t *bytes, size_t n); /* NULL: it has `play` */
    void (*play)(uint32_t seed);
    const char *const *words; /* that mean something in its inputs, up to NULL; NULL: there are none */
    uint32_t short_runs;      /* how many are a short check, of two seconds or so */
};

extern const struct fuzz_target fuzz_machine_file, fuzz_trace, fuzz_link, fuzz_gdb, fuzz_recording, fuzz_star;
extern const struct fuzz_target fuzz_nsdisk_messages, fuzz_nsdisk_caches, fuzz_nsdisk_images, fuzz_nsdisk_allocation,
    fuzz_nsdisk_clients;
