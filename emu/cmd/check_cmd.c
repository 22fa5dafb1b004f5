/*
 * `ncube check`: reads a machine file as a run would, shows each line that is wrong, or else looks at each image and at
 * the host's limits, and says all that it finds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/error_line.h"
#include "emu/base/memory.h"
#include "emu/base/oneline.h"
#include "emu/base/plural.h"
#include "emu/machine/assemble.h"
#include "emu/config/config_options.h"
#include "emu/cmd/commands.h"
#include "emu/model/disk.h"
#include "vertex/contract/cfs.h"

static const struct option_line lines[] = {{OPTION_MACHINE_WORD},
                                           {"images", "DIR",
                                            "folder of the drives' images (default: the machine file's)",
                                            OPTION_INTO(OPTION_TEXT, struct machine_options, images)},
                                           {OPTION_SET},
                                           {0}};

static const struct options options = {
    .command = "ncube check",
    .usage = "[OPTION...] MACHINE",
    .words = 1,
    .summary =
        "Checks the machine file MACHINE, the images of its drives, and whether this host can run it. Prints each\n"
        "error, and how to correct it.",
    .line = lines,
};

/* ---- A file that cannot be read ---- */

static void print_line(const char *path, unsigned long wanted)
{
    char text[256];
    FILE *file = fopen(path, "r");

    for (unsigned long line = 1; file && line <= wanted && fgets(text, sizeof text, file);) {
        size_t n = strcspn(text, "\n");
        bool ends = text[n] == '\n';

        text[n] = '\0';
        if (line == wanted) {
            fprintf(stderr, "%6lu | %s\n", wanted, text);
            break;
        }
        line += ends;
    }
    if (file)
        fclose(file);
}

/* Shows the line that an error "FILE:LINE: ..." names. */
static void show_line(const char *error)
{
    char *path = strdup(error), *colon = path ? strstr(path, ": ") : NULL;

    if (colon) {
        *colon = '\0';
        char *number = strrchr(path, ':');
        if (number && number[1] >= '1' && number[1] <= '9') {
            *number = '\0';
            print_line(path, strtoul(number + 1, NULL, 10));
        }
    }
    free(path);
}

static void say_fault(void *machine, const char *fault)
{
    machine_complain(machine, "%s", fault);
    show_line(fault);
}

/* ---- Images ---- */

#define LINES_MOST 8u /* about images; the others are counted */

/* A disk of the CFS has blocks of 4 KB: else its servers refuse every request. An image that is no ext2 is left to the
 * run, whose nsdisk says so. */
static bool has_other_blocks(const struct topo *t, const struct topo_drive *drive, char error[ERROR_LINE_BYTES])
{
    enum { SUPER_AT = 1024, LOG_BLOCK = 24, MAGIC = 56 };
    uint8_t super[SUPER_AT] = {0};
    FILE *f = NULL;

    for (uint32_t k = 0; k < t->cfs.disks && !f; k++)
        if (strcmp(t->cfs.volume[k], drive->volume) == 0)
            f = fopen(drive->image, "re");
    if (!f)
        return false;
    const bool whole = fseek(f, SUPER_AT, SEEK_SET) == 0 && fread(super, sizeof super, 1, f) == 1;
    const uint32_t bytes = 1024u << (super[LOG_BLOCK] & 7);
    fclose(f);
    if (!whole || super[MAGIC] != 0x53 || super[MAGIC + 1] != 0xef || bytes == CFS_BLOCK_BYTES)
        return false;
    snprintf(error, ERROR_LINE_BYTES,
             "%s: blocks of %u bytes; a disk of the CFS has blocks of %u: make it with --block=4K", drive->image, bytes,
             CFS_BLOCK_BYTES);
    return true;
}

/* Returns the number of images that a run would refuse, after a line for each of the first ones. */
static uint32_t check_images(struct machine *m)
{
    uint32_t bad = 0;

    for (uint32_t i = 0; i < m->config.topo.n_io; i++)
        for (uint32_t d = 0; d < m->config.topo.io[i].ndrives; d++) {
            const struct topo_drive *drive = &m->config.topo.io[i].drive[d];
            const char *other = inputs_find(&m->inputs, drive->image);
            struct disk *disk = NULL;

            if (other)
                snprintf(m->error, sizeof m->error, "%s: this is also %s; each drive needs a file of its own",
                         drive->image, other);
            inputs_add(&m->inputs, drive->image, "the image of volume %s", drive->volume);
            if (other ||
                disk_open(&disk, drive->image, disk_model_find(drive->model), m->error, sizeof m->error) != 0 ||
                has_other_blocks(&m->config.topo, drive, m->error)) {
                if (bad++ < LINES_MOST)
                    machine_complain(m, "volume %s: %s", drive->volume, m->error);
            }
            disk_close(disk);
        }
    return bad;
}

static void advise(struct machine *m, const struct machine_options *o, uint32_t bad)
{
    if (bad > 0)
        machine_complain(m,
                         "%u image%s cannot be used; \"ncube disk create -m %s%s%s 32M\" makes those that are "
                         "missing",
                         bad, plural(bad), o->machine, o->images ? " --images " : "", o->images ? o->images : "");
}

static void print_summary(const struct machine *m)
{
    const struct topo *t = &m->config.topo;
    uint32_t drives = topo_drives(t);
    char *path = memory_copy_text(m->config.path, strlen(m->config.path));

    printf("%s: good; %u compute node%s and %u I/O node%s of %u MB, %u volume%s, %u QEMU process%s\n", one_line(path),
           1u << t->dim, plural(1u << t->dim), t->n_io, plural(t->n_io), (unsigned)(t->ram_bytes >> 20), drives,
           plural(drives), m->cabinets, m->cabinets == 1 ? "" : "es");
    free(path);
}

int check_command(int argc, char **argv)
{
    struct machine_options o = {.trace = TRACING_NONE, .say_fault = say_fault};
    struct machine m;
    char **word = options_parse(&options, &o, argc, argv);

    if (!word[0])
        options_refuse(&options, "give one machine file");
    o.machine = word[0];
    bool good = machine_configure(&m, &o) == 0;
    if (good) {
        uint32_t bad = check_images(&m);

        good = machine_check_host(&m) == 0 && bad == 0;
        advise(&m, &o, bad);
    }
    if (good)
        print_summary(&m);
    machine_free(&m);
    return good ? 0 : 1;
}
