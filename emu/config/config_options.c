#include "emu/config/config_options.h"

#include "emu/config/overrides.h"

#define ERROR_BYTES 4608u

void overrides_take_option(const struct options *o, const struct option_line *l, void *to, const char *value)
{
    (void)to;
    if (!overrides_add(value))
        options_refuse(o, "%s '%s': give KEY=VALUE, such as dim=6, front_end.si=3 or drives.rpm=5400", l->name, value);
}

bool config_load_for(const struct options *o, const char *path, struct machine_config *config)
{
    char error[ERROR_BYTES];

    if (config_load(config, path, NULL, error, sizeof error) == 0)
        return true;
    options_fail(o, "%s", error);
    return false;
}
