/* Machine files, named by a path, or by the name of one that comes with ncube: tiny, sandia, sandia-full, full. */
#pragma once

/* Returns the path of the machine file: `name` itself; or, if there is no such file, that of the machine with this name
 * in the folder `machines` beside ncube's. The caller frees it. */
char *machine_file_find(const char *name);

/* Returns the name of a machine in that folder that the user may have meant by a name that leads nowhere, or NULL. The
 * caller frees it. */
char *machine_file_meant(const char *name);
