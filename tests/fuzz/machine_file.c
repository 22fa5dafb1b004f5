/* The machine file: bytes are read as one, twice, as `ncube run` reads it and as `ncube check` does. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emu/config/config.h"
#include "tests/fuzz/fuzz.h"

/* libconfig's scanner loses the beginning of a string that has no end. */
const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
    return "leak:libconfig.so\n";
}

static void count_line(void *ctx, const char *fault)
{
    if (strchr(fault, '\n')) /* one line each */
        abort();
    ++*(uint32_t *)ctx;
}

static void write_file(int fd, const uint8_t *bytes, size_t n)
{
    if (ftruncate(fd, 0) != 0 || pwrite(fd, bytes, n, 0) != (ssize_t)n)
        abort();
}

static void take(const uint8_t *bytes, size_t n)
{
    static int fd = -1;
    struct machine_config config;
    char path[32], error[512];
    uint32_t faults = 0;

    if (fd < 0)
        fd = memfd_create("machine", MFD_CLOEXEC);
    write_file(fd, bytes, n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int loaded = config_load(&config, path, NULL, error, sizeof error);
    if (loaded < 0 && (error[0] == '\0' || strchr(error, '\n')))
        abort();
    config_free(&config);
    int checked = config_check(&config, path, NULL, count_line, &faults, error, sizeof error);
    if (checked != loaded || (loaded == 0 && faults > 0))
        abort();
    config_free(&config);
}

static const char *const words[] = {
    "dim = 3;",
    "ram_mb = ",
    "nodes_per_cabinet = ",
    "front_end = { si = 0; };",
    "boards = ( { number = 0; io_nodes = (",
    "{ index = 0; si = [1]; drives = (",
    "{ volume = \"df00\"; image = \"df00.img\"; }",
    " ); } ); } );",
    "model = \"",
    "rpm = ",
    "heads = ",
    "sectors = ",
    "cylinders = ",
    "service = \"concurrent\";",
    "cache_kb = ",
    "data_cache_kb = ",
    "cycles = { load = 3; };",
    "faults = ( { ",
    "parity = 1;",
    "seed = 1;",
    "dead = true;",
    "node = ",
    "at_us = ",
    "until_us = ",
    "link = [0, 1];",
    "timing = \"wang-leiss\";",
    "timing = { preset = \"ipsc-860\"; hop_cycles = 1; broadcasts = 1; io = [1, 2, 3]; };",
    "software = { ",
    "shared_text_kb = ",
    "translation_mb = ",
    "images = \"",
    "striped = ( { volume = \"big\"; over = [\"df00\", \"df01\"]; map = \"cyclic 1000 2\"; } );",
    "@include \"",
    "true",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    "\"",
    "0x",
    "1L",
    "/*",
    "*/",
    "#",
    "//",
    NULL};

const struct fuzz_target fuzz_machine_file = {"machine-file", .take = take, .words = words, .short_runs = 300};
