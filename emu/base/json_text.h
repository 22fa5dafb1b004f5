/* What the commands' JSON needs beside Jansson. */
#pragma once

#include <jansson.h>

/* Makes a JSON string of a name of the host, which may hold any bytes but 0: those that are not UTF-8 become U+FFFD or,
 * if a terminal could take them for control characters (0x80 to 0x9f), '?'. */
json_t *json_text(const char *name);

/* Prints `json` and a new line, and drops it. Returns the exit status. */
int json_print(json_t *json);
