/*
 * The settings of --set KEY=VALUE, which replace those of a machine file.
 *
 *   dim=6                  a key of the machine
 *   front_end.si=3         a key of one of its groups: front_end, cycles
 *   drives.rpm=5400        a key of every drive; likewise boards, io_nodes, faults
 *
 * VALUE is as in a machine file; a string needs no quotes. A process has one command line, so there is one list of
 * overrides, and each machine file that is read gets all of them.
 */
#pragma once

#include "emu/config/setting.h"

/* Adds KEY=VALUE, which must outlive the machine. Returns false if it is none. */
bool overrides_add(const char *text);

/* Returns the one of that number, from 0; NULL: there are not so many. */
const char *overrides_at(uint32_t i);

/* Replaces the settings of a parsed file. Returns false, with the reader's error, if one of them names nothing in
 * it. */
bool overrides_apply(struct setting_reader *r, config_setting_t *root);
