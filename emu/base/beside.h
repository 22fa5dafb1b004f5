/* The parts of ncube that lie beside its executable. */
#pragma once

#include <sys/types.h>

/* Returns the path of a folder beside that of the executable, <folder>/../name, links resolved. Ends the process if
 * there is no memory. The caller frees it. */
char *beside_find(const char *name);

/* Names the executable and the process of the command, in one that has been started as another program's: from then on
 * ncube is there, not at /proc/self/exe. The path outlives all calls. */
void beside_set_program(const char *path, pid_t process);
/* Return the path of the executable, and the process that its user has started. */
const char *beside_program(void);
pid_t beside_process(void);
