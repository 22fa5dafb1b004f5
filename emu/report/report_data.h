/* The data of a report's pictures, as the JSON object that report_view.js reads. */
#pragma once

#include <stdio.h>

#include "emu/report/critical.h"

/* Writes the object, as text that may stand in a <script> element. Adds names to the timeline. */
void report_data_write(FILE *f, struct timeline *t, const struct facts *facts, const struct critical *path);
