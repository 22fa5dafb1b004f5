/* What the commands that read a machine file have in common: --set, and one line if the file is wrong. */
#pragma once

#include <stdbool.h>

#include "emu/base/options.h"
#include "emu/config/config.h"

/* Reads the machine file. Returns true, and the caller frees the config with config_free; or prints the error after
 * the program's name and returns false. */
bool config_load_for(const struct options *o, const char *path, struct machine_config *config);

/* Takes --set; refuses a value that is not KEY=VALUE. */
void overrides_take_option(const struct options *o, const struct option_line *l, void *to, const char *value);

#define OPTION_SET_BY(function)                                                                                 \
    "set", "KEY=VALUE", "override a setting of the machine file, such as dim=6 or drives.rpm=5400", OPTION_OWN, \
        .take = (function)
#define OPTION_SET OPTION_SET_BY(overrides_take_option)
