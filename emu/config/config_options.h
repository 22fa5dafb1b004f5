/* What the commands that read a machine file have in common: --set, and one line if the file is wrong. */
#ifndef NCUBE_CONFIG_OPTIONS_H
#define NCUBE_CONFIG_OPTIONS_H

#include <stdbool.h>

#include "emu/base/options.h"
#include "emu/config/config.h"

/* Reads the machine file. Returns true, and the caller frees the config with config_free; or prints the error after
 * the command's name and returns false. */
bool config_load_for(const char *command, const char *path, struct machine_config *config);

extern const struct option_line option_set;

/* Takes --set. Returns false if the option is another one; refuses a value that is not KEY=VALUE. */
bool overrides_take_option(const struct options *o, void *ctx, int key, const char *value);

#endif
