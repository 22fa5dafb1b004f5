/* Copies of machine files, written by libconfig as it has read them (study_machine.h). */
#define _GNU_SOURCE
#include "emu/study/study_machine.h"

#include <libconfig.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "emu/base/memory.h"

static void place_image(config_setting_t *drive)
{
    const char *volume = NULL;
    char image[VOLUME_NAME_BYTES + sizeof ".img"];

    config_setting_lookup_string(drive, "volume", &volume);
    config_setting_t *setting = config_setting_get_member(drive, "image");
    snprintf(image, sizeof image, "%s.img", volume);
    config_setting_set_string(setting, image);
}

static void place_images(config_t *c)
{
    config_setting_t *boards = config_lookup(c, "boards");

    for (int b = 0; boards && b < config_setting_length(boards); b++) {
        config_setting_t *nodes = config_setting_get_member(config_setting_get_elem(boards, (unsigned)b), "io_nodes");

        for (int i = 0; nodes && i < config_setting_length(nodes); i++) {
            config_setting_t *drives = config_setting_get_member(config_setting_get_elem(nodes, (unsigned)i), "drives");

            for (int d = 0; drives && d < config_setting_length(drives); d++)
                place_image(config_setting_get_elem(drives, (unsigned)d));
        }
    }
    config_setting_remove(config_root_setting(c), "images");
}

/* The file has been read by config_load: it is sound. */
static int copy_file(const char *path, const char *to)
{
    char *folder = memory_copy_text(path, SIZE_MAX);
    config_t c;
    int ok;

    config_init(&c);
    config_set_include_dir(&c, dirname(folder));
    ok = config_read_file(&c, path);
    if (ok) {
        place_images(&c);
        ok = config_write_file(&c, to);
    }
    config_destroy(&c);
    free(folder);
    return ok ? 0 : -1;
}

int study_machine_load(struct study_machine *m, const char *path, const char *copy, char *error)
{
    const char *slash = strrchr(path, '/');
    struct stat st;

    *m = (struct study_machine){0};
    if (config_load(&m->config, path, NULL, error, STUDY_ERROR_BYTES) != 0)
        return -1;
    snprintf(m->name, sizeof m->name, "%s", slash ? slash + 1 : path);
    m->path = memory_copy_text(copy, SIZE_MAX);
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || copy_file(path, copy) != 0) {
        snprintf(error, STUDY_ERROR_BYTES, "%s: cannot copy it to %s; it must be a file that can be read twice", path,
                 copy);
        study_machine_free(m);
        return -1;
    }
    return 0;
}

void study_machine_free(struct study_machine *m)
{
    config_free(&m->config);
    free(m->path);
    *m = (struct study_machine){0};
}
