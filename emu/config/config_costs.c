/*
 * The key `costs` of the machine file: the stated costs of files (vertex/contract/stated.h). A group changes some rows
 * of the default table, each to [begin, change, command, end, for each 1024 bytes]; "instructions" states nothing.
 */
#include <string.h>

#include "emu/config/config_state.h"
#include "emu/model/software.h"

#define STATED_MAX_CYCLES 20000000 /* a second */

static bool check_rows(struct config_reader *l, const config_setting_t *group)
{
    const char *keys[STATED_ROWS + 1] = {NULL};

    for (uint32_t row = 0; row < STATED_ROWS; row++)
        keys[row] = software_stated[row].name;
    return setting_check_keys(&l->r, group, keys);
}

static bool read_row(struct config_reader *l, const config_setting_t *group, uint32_t row)
{
    const config_setting_t *array = NULL;
    int64_t cycles[5] = {0};

    if (!setting_integers(&l->r, group, software_stated[row].name, 5, &array))
        return false;
    for (uint32_t i = 0; array && i < (uint32_t)config_setting_length(array); i++)
        if (!setting_integer_at(&l->r, array, i, 0, STATED_MAX_CYCLES, &cycles[i]))
            return false;
    if (array)
        l->config->stated[row] = (struct stated_cost){(uint32_t)cycles[0], (uint32_t)cycles[1], (uint32_t)cycles[2],
                                                      (uint32_t)cycles[3], (uint32_t)cycles[4]};
    return true;
}

void config_default_costs(struct machine_config *config)
{
    for (uint32_t row = 0; row < STATED_ROWS; row++)
        config->stated[row] = software_stated[row].cost;
}

bool config_read_costs(struct config_reader *l, const config_setting_t *root)
{
    static const char *const presets[] = {"instructions", NULL};
    const config_setting_t *costs = config_setting_get_member(root, "costs"), *group = NULL;
    uint32_t preset;
    bool good = true;

    config_default_costs(l->config);
    if (costs && config_setting_type(costs) == CONFIG_TYPE_STRING) {
        memset(l->config->stated, 0, sizeof l->config->stated);
        return setting_choice(&l->r, root, "costs", presets, &preset);
    }
    if (!setting_group(&l->r, root, "costs", &group) || (group && !check_rows(l, group)))
        return false;
    for (uint32_t row = 0; group && row < STATED_ROWS && setting_goes_on(&l->r, good); row++)
        good = read_row(l, group, row) && good;
    return good;
}
