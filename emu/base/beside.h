/* The parts of ncube that lie beside its executable. */
#ifndef NCUBE_BESIDE_H
#define NCUBE_BESIDE_H

/* Returns the path of a folder beside that of the executable, <folder>/../name, links resolved. Ends the process if
 * there is no memory. The caller frees it. */
char *beside_find(const char *name);

#endif
