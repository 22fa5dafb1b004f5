/* Which ways an input takes through the code, by what gcc's -fsanitize-coverage=trace-pc calls. */
#pragma once

#include <stdint.h>

/* Begins an input. */
void coverage_begin(void);
/* Returns how many steps between two places of the code have been seen so far, by all inputs. */
uint32_t coverage_seen(void);
