/* The parts of ncube that lie beside its executable. */
#pragma once

/* Returns the path of a folder beside that of the executable, <folder>/../name, links resolved. Ends the process if
 * there is no memory. The caller frees it. */
char *beside_find(const char *name);

/* Names the executable, in a process that has been started as another program's: from then on ncube is there, not at
 * /proc/self/exe. The path outlives all calls. */
void beside_set_program(const char *path);
/* Returns the path of the executable. */
const char *beside_program(void);
