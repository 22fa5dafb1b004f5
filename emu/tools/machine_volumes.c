/* The volumes of a machine file (machine_volumes.h). */
#include "emu/tools/machine_volumes.h"

#include <stdlib.h>

#include "emu/base/memory.h"

int machine_volumes_load(struct machine_volumes *m, const char *file, const char *images, char *error)
{
    *m = (struct machine_volumes){0};
    if (!file)
        return 0;
    if (config_load(&m->config, file, images, error, ERROR_LINE_BYTES) != 0)
        return -1;
    const struct topo *t = &m->config.topo;
    uint32_t n = topo_drives(t);
    const char **name = memory_new(n + 1, sizeof *name), **image = memory_new(n + 1, sizeof *image);
    for (uint32_t j = 0, i = 0; j < t->n_io; j++)
        for (uint32_t d = 0; d < t->io[j].ndrives; d++, i++) {
            name[i] = t->io[j].drive[d].volume;
            image[i] = t->io[j].drive[d].image;
        }
    m->all_name = name;
    m->all_image = image;
    m->volumes = (struct pio_volumes){n, name, image, memory_new(n + 1, sizeof(struct volume *)), false};
    return 0;
}

void machine_volumes_free(struct machine_volumes *m)
{
    free(m->all_name);
    free(m->all_image);
    free(m->volumes.open);
    config_free(&m->config);
}
