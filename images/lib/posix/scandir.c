/*
 * scandir and alphasort of <dirent.h>.
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct list {
    struct dirent **entry;
    int n, room;
};

static void list_free(struct list *l)
{
    while (l->n > 0)
        free(l->entry[--l->n]);
    free(l->entry);
}

static bool list_add(struct list *l, const struct dirent *entry)
{
    enum { FIRST_ROOM = 16 };

    if (l->n == l->room) {
        int room = l->room ? 2 * l->room : FIRST_ROOM;
        struct dirent **longer = realloc(l->entry, (size_t)room * sizeof *longer);

        if (!longer)
            return false;
        l->entry = longer;
        l->room = room;
    }
    struct dirent *copy = malloc(sizeof *copy);
    if (!copy)
        return false;
    *copy = *entry;
    l->entry[l->n++] = copy;
    return true;
}

/* False with errno. */
static bool read_all(DIR *dir, struct list *l, int (*select)(const struct dirent *))
{
    struct dirent *entry;

    for (errno = 0; (entry = readdir(dir)); errno = 0)
        if ((!select || select(entry)) && !list_add(l, entry)) {
            errno = ENOMEM;
            return false;
        }
    return errno == 0;
}

int scandir(const char *path, struct dirent ***names, int (*select)(const struct dirent *),
            int (*compare)(const struct dirent **, const struct dirent **))
{
    int before = errno;
    DIR *dir = opendir(path);
    struct list l = {NULL, 0, 0};

    if (!dir)
        return -1;
    bool sound = read_all(dir, &l, select);
    int error = errno;
    closedir(dir);
    errno = sound ? before : error;
    if (!sound) {
        list_free(&l);
        return -1;
    }
    if (compare && l.n > 1)
        qsort(l.entry, (size_t)l.n, sizeof *l.entry, (int (*)(const void *, const void *))compare);
    *names = l.entry ? l.entry : calloc(1, sizeof *l.entry);
    return l.n;
}

int alphasort(const struct dirent **a, const struct dirent **b)
{
    return strcoll((*a)->d_name, (*b)->d_name);
}
