/*
 * Info [9]: lists of keys and values, in the order in which the keys were set. No call takes a hint of communicators,
 * so MPI_Comm_get_info gives an empty one [6.4.4]; files have some (file_open.c).
 */
#include "libpio/mpi/base/info.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/mpi/base/handles.h"

struct pair {
    struct pair *next;
    char *value; /* behind the key, with room for longer ones if it has been set anew */
    char key[MPI_MAX_INFO_KEY + 1];
};

struct info {
    struct pair *first;
};

static struct handle_table table;

static int no_memory(void)
{
    return mpi_error(MPI_ERR_NO_MEM, "no memory for an info", 0, 0);
}

static struct info *get(MPI_Info handle, int *error)
{
    static struct info none;
    struct info *info = handle == MPI_INFO_ENV ? &none : handle_find(&table, HANDLE_INFO, handle);

    *error = info ? MPI_SUCCESS : mpi_error(MPI_ERR_INFO, "0x%lx is none", (long)handle, 0);
    return info;
}

static struct pair **find(struct info *info, const char *key)
{
    struct pair **link = &info->first;

    while (*link && strcmp((*link)->key, key) != 0)
        link = &(*link)->next;
    return link;
}

static int leave(int error)
{
    return error == MPI_SUCCESS ? error : mpi_fail_alone(error);
}

#define ENTER(name)                                  \
    MPI_ENTER(name, NULL, MPI_NO_PEER, MPI_NO_PEER); \
    mpi_must_run()

/* ---- For the library ---- */

const char *info_value(MPI_Info handle, const char *key)
{
    struct info *info = handle_find(&table, HANDLE_INFO, handle);
    struct pair *p = info ? *find(info, key) : NULL;

    return p ? p->value : NULL;
}

int info_number(MPI_Info handle, const char *key)
{
    const char *value = info_value(handle, key);
    long n = value ? strtol(value, NULL, 10) : 0;

    return n > 0 && n <= INT_MAX ? (int)n : 0;
}

int info_check(MPI_Info handle)
{
    int error = MPI_SUCCESS;

    if (handle != MPI_INFO_NULL)
        get(handle, &error);
    return error;
}

int info_new(MPI_Info *handle)
{
    struct info *info = calloc(1, sizeof *info);

    *handle = info ? handle_new(&table, HANDLE_INFO, info) : NULL;
    if (*handle)
        return MPI_SUCCESS;
    free(info);
    *handle = MPI_INFO_NULL;
    return no_memory();
}

int info_set(MPI_Info handle, const char *key, const char *value)
{
    int error;
    struct info *info = get(handle, &error);

    if (!info)
        return error;
    struct pair **link = find(info, key), *p = *link;
    char *copy = malloc(strlen(value) + 1);
    if (!p && copy)
        p = calloc(1, sizeof *p);
    if (!p || !copy) {
        free(copy);
        return no_memory();
    }
    free(p->value);
    p->value = strcpy(copy, value);
    strcpy(p->key, key);
    *link = p;
    return MPI_SUCCESS;
}

/* ---- The calls ---- */

int PMPI_Info_create(MPI_Info *info)
{
    ENTER("Info_create");
    return leave(info_new(info));
}
MPI_NAME(Info_create);

static int check_key(const char *key)
{
    size_t length = strlen(key);

    return length == 0 || length > MPI_MAX_INFO_KEY
               ? mpi_error(MPI_ERR_INFO_KEY, "it has %ld characters, not 1 to %ld", (long)length, MPI_MAX_INFO_KEY)
               : MPI_SUCCESS;
}

int PMPI_Info_set(MPI_Info info, const char *key, const char *value)
{
    ENTER("Info_set");
    int error = check_key(key);
    size_t length = strlen(value);
    if (error == MPI_SUCCESS && (length == 0 || length > MPI_MAX_INFO_VAL))
        error = mpi_error(MPI_ERR_INFO_VALUE, "it has %ld characters, not 1 to %ld", (long)length, MPI_MAX_INFO_VAL);
    return leave(error == MPI_SUCCESS ? info_set(info, key, value) : error);
}
MPI_NAME(Info_set);

int PMPI_Info_delete(MPI_Info info, const char *key)
{
    int error;

    ENTER("Info_delete");
    struct info *i = get(info, &error);
    if (error == MPI_SUCCESS)
        error = check_key(key);
    struct pair **link = error == MPI_SUCCESS ? find(i, key) : NULL, *p = link ? *link : NULL;
    if (link && !p)
        error = mpi_error(MPI_ERR_INFO_NOKEY, "it is not in the info", 0, 0);
    if (p) {
        *link = p->next;
        free(p->value);
        free(p);
    }
    return leave(error);
}
MPI_NAME(Info_delete);

int PMPI_Info_get(MPI_Info info, const char *key, int valuelen, char *value, int *flag)
{
    int error;

    ENTER("Info_get");
    struct info *i = get(info, &error);
    if (error == MPI_SUCCESS)
        error = check_key(key);
    if (error == MPI_SUCCESS && valuelen < 0)
        error = mpi_error(MPI_ERR_ARG, "room for %ld characters", valuelen, 0);
    if (error != MPI_SUCCESS)
        return leave(error);
    const struct pair *p = *find(i, key);
    *flag = p != NULL;
    if (p) {
        size_t length = strlen(p->value);

        length = length < (size_t)valuelen ? length : (size_t)valuelen;
        memcpy(value, p->value, length);
        value[length] = '\0';
    }
    return MPI_SUCCESS;
}
MPI_NAME(Info_get);

int PMPI_Info_get_valuelen(MPI_Info info, const char *key, int *valuelen, int *flag)
{
    int error;

    ENTER("Info_get_valuelen");
    struct info *i = get(info, &error);
    if (error == MPI_SUCCESS)
        error = check_key(key);
    if (error != MPI_SUCCESS)
        return leave(error);
    const struct pair *p = *find(i, key);
    *flag = p != NULL;
    if (p)
        *valuelen = (int)strlen(p->value);
    return MPI_SUCCESS;
}
MPI_NAME(Info_get_valuelen);

int PMPI_Info_get_nkeys(MPI_Info info, int *nkeys)
{
    int error;

    ENTER("Info_get_nkeys");
    struct info *i = get(info, &error);
    if (!i)
        return leave(error);
    *nkeys = 0;
    for (const struct pair *p = i->first; p; p = p->next)
        ++*nkeys;
    return MPI_SUCCESS;
}
MPI_NAME(Info_get_nkeys);

int PMPI_Info_get_nthkey(MPI_Info info, int n, char *key)
{
    int error;

    ENTER("Info_get_nthkey");
    struct info *i = get(info, &error);
    const struct pair *p = i ? i->first : NULL;
    for (int k = 0; k < n && p; k++)
        p = p->next;
    if (i && (!p || n < 0))
        error = mpi_error(MPI_ERR_ARG, "there is no key %ld", n, 0);
    if (error == MPI_SUCCESS)
        strcpy(key, p->key);
    return leave(error);
}
MPI_NAME(Info_get_nthkey);

int PMPI_Info_dup(MPI_Info info, MPI_Info *newinfo)
{
    int error;

    ENTER("Info_dup");
    struct info *i = get(info, &error);
    if (i)
        error = info_new(newinfo);
    for (const struct pair *p = i && error == MPI_SUCCESS ? i->first : NULL; p && error == MPI_SUCCESS; p = p->next)
        error = info_set(*newinfo, p->key, p->value);
    return leave(error);
}
MPI_NAME(Info_dup);

int PMPI_Info_free(MPI_Info *info)
{
    int error = MPI_SUCCESS;

    ENTER("Info_free");
    struct info *i = *info == MPI_INFO_ENV ? NULL : get(*info, &error);
    if (!i)
        return leave(error != MPI_SUCCESS ? error : mpi_error(MPI_ERR_INFO, "it is predefined", 0, 0));
    for (struct pair *p = i->first, *next; p; p = next) {
        next = p->next;
        free(p->value);
        free(p);
    }
    handle_free(&table, *info);
    free(i);
    *info = MPI_INFO_NULL;
    return MPI_SUCCESS;
}
MPI_NAME(Info_free);

/* ---- Of communicators, and memory [8.2] ---- */

int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info)
{
    struct mpi_comm *c = mpi_find_comm(comm);

    MPI_ENTER("Comm_set_info", c, MPI_NO_PEER, MPI_NO_PEER);
    return c ? mpi_leave(c, info_check(info)) : mpi_fail_comm(comm);
}
MPI_NAME(Comm_set_info);

int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info *info_used)
{
    struct mpi_comm *c = mpi_find_comm(comm);

    MPI_ENTER("Comm_get_info", c, MPI_NO_PEER, MPI_NO_PEER);
    return c ? mpi_leave(c, info_new(info_used)) : mpi_fail_comm(comm);
}
MPI_NAME(Comm_get_info);

int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
    void *memory = NULL;

    ENTER("Alloc_mem");
    int error = size < 0 ? mpi_error(MPI_ERR_ARG, "%ld bytes", size, 0) : info_check(info);
    if (error == MPI_SUCCESS) {
        memory = malloc((size_t)size + 1);
        error = memory ? error : mpi_error(MPI_ERR_NO_MEM, "no memory for %ld bytes", size, 0);
    }
    if (error == MPI_SUCCESS)
        *(void **)baseptr = memory;
    return leave(error);
}
MPI_NAME(Alloc_mem);

int PMPI_Free_mem(void *base)
{
    ENTER("Free_mem");
    free(base);
    return MPI_SUCCESS;
}
MPI_NAME(Free_mem);
