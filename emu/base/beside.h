/* The parts of ncube that lie beside its executable. */
#pragma once

/* Returns the path of a folder beside that of the executable, <folder>/../name, links resolved. Ends the process if
 * there is no memory. The caller frees it. */
char *beside_find(const char *name);
