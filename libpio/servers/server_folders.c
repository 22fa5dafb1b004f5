/* Folders in the trees of families' names (server_folders.h). */
#include "libpio/servers/server_folders.h"

#include <stdlib.h>
#include <string.h>

#include "vertex/contract/errors.h"

int server_folder_open(const char *name, uint32_t flags, char **folder)
{
    if ((flags & N_O_ACCMODE) != N_O_RDONLY || (flags & N_O_CREAT))
        return -N_EISDIR;
    *folder = malloc(strlen(name) + 1);
    if (!*folder)
        return -N_ENOMEM;
    strcpy(*folder, name);
    return 0;
}

int server_folder_next(const void *records, long bytes, uint64_t *at, struct file_dirent *entry, char name[256])
{
    if (bytes <= 0)
        return (int)bytes;
    memcpy(entry, records, sizeof *entry);
    if (entry->name_bytes > 255)
        return -N_EPROTO;
    memcpy(name, (const char *)records + sizeof *entry, entry->name_bytes);
    name[entry->name_bytes] = '\0';
    *at = entry->next;
    return 1;
}

void server_folder_entry(const struct file_dirent *from, struct dirent *to)
{
    to->d_ino = (ino_t)from->ino;
    to->d_off = (off_t)from->next;
    to->d_type = from->type == 2 ? DT_DIR : DT_REG;
}

int server_folder_path(const char *prefix, const char *folder, char *path, size_t bytes)
{
    const size_t prefix_bytes = strlen(prefix);

    if (!folder)
        return -N_ENOTDIR;
    if (prefix_bytes + strlen(folder) >= bytes)
        return -N_ERANGE;
    strcpy(path, prefix);
    strcpy(path + prefix_bytes, folder);
    return (int)strlen(path);
}
