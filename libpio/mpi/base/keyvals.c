/*
 * Keys, and lists of attributes (keyvals.h). A key that has been freed lives on while it has values.
 */
#include "libpio/mpi/base/keyvals.h"

#include <stdlib.h>

struct key {
    enum key_of of;
    key_copy_function *copy;
    key_delete_function *delete;
    void *extra;
    int keyval;
    int uses; /* by values, and by the program */
    bool is_freed;
};

struct attribute {
    struct attribute *next; /* the one that was set before */
    struct key *key;
    void *value;
};

/* Of a keyval the lower 16 bits are a place here, from KEYS_FIRST on, and the others how often it was used before. */
enum { KEYS_FIRST = 0x100, KEYS_MOST = 0xff00 };
static struct key_place {
    struct key *key;
    int nth;
} * place;
static int places;

/* ---- Keys ---- */

static struct key *find_key(enum key_of of, int keyval)
{
    int at = (keyval & 0xffff) - KEYS_FIRST;
    struct key *k = at >= 0 && at < places ? place[at].key : NULL;

    return k && k->keyval == keyval && k->of == of && !k->is_freed ? k : NULL;
}

static int no_key(int keyval)
{
    return mpi_error(MPI_ERR_KEYVAL, "%ld is none", keyval, 0);
}

static int find_place(void)
{
    int at = 0;

    while (at < places && place[at].key)
        at++;
    if (at < places || places == KEYS_MOST)
        return at < places ? at : -1;
    int more = places ? 2 * places : 8;
    struct key_place *new = realloc(place, (size_t)more * sizeof *new);
    if (!new)
        return -1;
    for (int i = places; i < more; i++)
        new[i] = (struct key_place){NULL, 0};
    place = new;
    places = more;
    return at;
}

int key_new(enum key_of of, key_copy_function *copy, key_delete_function *delete, void *extra, int *keyval)
{
    int at = find_place();
    struct key *k = at < 0 ? NULL : malloc(sizeof *k);

    *keyval = MPI_KEYVAL_INVALID;
    if (!k)
        return mpi_error(MPI_ERR_NO_MEM, "no memory for a key", 0, 0);
    place[at].nth = (place[at].nth + 1) & 0x7fff;
    *k = (struct key){of, copy, delete, extra, place[at].nth << 16 | (at + KEYS_FIRST), 1, false};
    place[at].key = k;
    *keyval = k->keyval;
    return MPI_SUCCESS;
}

static void use_key(struct key *k, int uses)
{
    k->uses += uses;
    if (k->uses > 0)
        return;
    place[(k->keyval & 0xffff) - KEYS_FIRST].key = NULL;
    free(k);
}

int key_free(enum key_of of, int *keyval)
{
    struct key *k = find_key(of, *keyval);

    if (!k)
        return no_key(*keyval);
    k->is_freed = true;
    use_key(k, -1);
    *keyval = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

/* ---- Values ---- */

static struct attribute **find(struct attribute **list, const struct key *k)
{
    while (*list && (*list)->key != k)
        list = &(*list)->next;
    return list;
}

static int by_function(int error)
{
    return error == MPI_SUCCESS ? error
                                : mpi_error(MPI_ERR_OTHER, "an attribute's function has returned %ld", error, 0);
}

static int add(struct attribute **list, struct key *k, void *value)
{
    struct attribute *a = malloc(sizeof *a);

    if (!a)
        return mpi_error(MPI_ERR_NO_MEM, "no memory for an attribute", 0, 0);
    *a = (struct attribute){*list, k, value};
    *list = a;
    use_key(k, 1);
    return MPI_SUCCESS;
}

static int delete_at(struct attribute **link, void *object)
{
    struct attribute *a = *link;
    struct key *k = a->key;
    int error = by_function(k->delete ? k->delete (object, k->keyval, a->value, k->extra) : MPI_SUCCESS);

    if (error != MPI_SUCCESS)
        return error;
    *link = a->next;
    free(a);
    use_key(k, -1);
    return MPI_SUCCESS;
}

int attribute_set(struct attribute **list, enum key_of of, void *object, int keyval, void *value)
{
    struct key *k = find_key(of, keyval);

    if (!k)
        return no_key(keyval);
    struct attribute **link = find(list, k);
    if (*link) {
        int error = delete_at(link, object);

        if (error != MPI_SUCCESS)
            return error;
    }
    return add(list, k, value);
}

int attribute_find(struct attribute *list, enum key_of of, int keyval, void **value, int *flag)
{
    struct key *k = find_key(of, keyval);

    if (!k)
        return no_key(keyval);
    struct attribute *a = *find(&list, k);
    *flag = a != NULL;
    if (a)
        *value = a->value;
    return MPI_SUCCESS;
}

int attribute_delete(struct attribute **list, enum key_of of, void *object, int keyval)
{
    struct key *k = find_key(of, keyval);

    if (!k)
        return no_key(keyval);
    struct attribute **link = find(list, k);
    return *link ? delete_at(link, object) : mpi_error(MPI_ERR_KEYVAL, "no attribute has it", 0, 0);
}

/* ---- All values ---- */

int attributes_copy_list(struct attribute *list, void *object, struct attribute **copy)
{
    int error = MPI_SUCCESS;

    for (struct attribute *a = list; a && error == MPI_SUCCESS; a = a->next) {
        struct key *k = a->key;
        void *value = NULL;
        int flag = 0;

        if (k->copy)
            error = by_function(k->copy(object, k->keyval, k->extra, a->value, &value, &flag));
        if (error != MPI_SUCCESS || !flag)
            continue;
        error = add(copy, k, value); /* at the end of the copies, as they begin with those that were set last */
        if (error == MPI_SUCCESS)
            copy = &(*copy)->next;
    }
    return error;
}

int attributes_delete_list(struct attribute **list, void *object)
{
    int error = MPI_SUCCESS;

    while (*list && error == MPI_SUCCESS)
        error = delete_at(list, object);
    return error;
}
