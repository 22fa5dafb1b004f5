/*
 * Attributes and names of types [6.7.4, 6.8], by their handles: those of types that were never given any take no
 * memory.
 */
#include <stdlib.h>
#include <string.h>

#include "libpio/mpi/base/keyvals.h"
#include "libpio/mpi/types/datatype.h"

struct type_record {
    struct type_record *next;
    MPI_Datatype type;
    struct attribute *attributes;
    char name[MPI_MAX_OBJECT_NAME];
};

static struct type_record *first;

static struct type_record **find(MPI_Datatype type)
{
    struct type_record **link = &first;

    while (*link && (*link)->type != type)
        link = &(*link)->next;
    return link;
}

/* The record, made if there is none; a class. */
static int get(MPI_Datatype type, struct type_record **record)
{
    *record = *find(type);
    if (!mpi_find_type(type))
        return mpi_error(MPI_ERR_TYPE, "0x%lx is none", (long)type, 0);
    if (*record)
        return MPI_SUCCESS;
    *record = calloc(1, sizeof **record);
    if (!*record)
        return mpi_error(MPI_ERR_NO_MEM, "no memory for what is attached to a type", 0, 0);
    (*record)->type = type;
    (*record)->next = first;
    first = *record;
    return MPI_SUCCESS;
}

static int leave(int error)
{
    return error == MPI_SUCCESS ? error : mpi_fail_alone(error);
}

/* ---- With the types ---- */

int type_records_copy(MPI_Datatype from, MPI_Datatype to)
{
    struct type_record *source = *find(from), *copy = NULL;
    int error = source && source->attributes ? get(to, &copy) : MPI_SUCCESS;

    if (error == MPI_SUCCESS && copy)
        error = attributes_copy_list(source->attributes, from, &copy->attributes);
    return error;
}

int type_records_delete(MPI_Datatype type)
{
    struct type_record **link = find(type), *record = *link;
    int error = record ? attributes_delete_list(&record->attributes, type) : MPI_SUCCESS;

    if (!record || error != MPI_SUCCESS)
        return error;
    *find(type) = record->next;
    free(record);
    return MPI_SUCCESS;
}

/* ---- Attributes ---- */

int MPI_TYPE_NULL_COPY_FN(MPI_Datatype type, int keyval, void *extra, void *value, void *copy, int *flag)
{
    (void)type, (void)keyval, (void)extra, (void)value, (void)copy;
    *flag = 0;
    return MPI_SUCCESS;
}

int MPI_TYPE_DUP_FN(MPI_Datatype type, int keyval, void *extra, void *value, void *copy, int *flag)
{
    (void)type, (void)keyval, (void)extra;
    *(void **)copy = value;
    *flag = 1;
    return MPI_SUCCESS;
}

int MPI_TYPE_NULL_DELETE_FN(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void)type, (void)keyval, (void)value, (void)extra;
    return MPI_SUCCESS;
}

int PMPI_Type_create_keyval(MPI_Type_copy_attr_function *copy_fn, MPI_Type_delete_attr_function *delete_fn, int *keyval,
                            void *extra_state)
{
    MPI_ENTER("Type_create_keyval", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    return leave(
        key_new(KEY_OF_TYPE, (key_copy_function *)copy_fn, (key_delete_function *)delete_fn, extra_state, keyval));
}
MPI_NAME(Type_create_keyval);

int PMPI_Type_free_keyval(int *keyval)
{
    MPI_ENTER("Type_free_keyval", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    return leave(key_free(KEY_OF_TYPE, keyval));
}
MPI_NAME(Type_free_keyval);

int PMPI_Type_set_attr(MPI_Datatype datatype, int keyval, void *value)
{
    struct type_record *r;

    MPI_ENTER("Type_set_attr", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    int error = get(datatype, &r);
    return leave(error == MPI_SUCCESS ? attribute_set(&r->attributes, KEY_OF_TYPE, datatype, keyval, value) : error);
}
MPI_NAME(Type_set_attr);

int PMPI_Type_get_attr(MPI_Datatype datatype, int keyval, void *value, int *flag)
{
    struct type_record *r;

    MPI_ENTER("Type_get_attr", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    int error = get(datatype, &r);
    return leave(error == MPI_SUCCESS ? attribute_find(r->attributes, KEY_OF_TYPE, keyval, value, flag) : error);
}
MPI_NAME(Type_get_attr);

int PMPI_Type_delete_attr(MPI_Datatype datatype, int keyval)
{
    struct type_record *r;

    MPI_ENTER("Type_delete_attr", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    int error = get(datatype, &r);
    return leave(error == MPI_SUCCESS ? attribute_delete(&r->attributes, KEY_OF_TYPE, datatype, keyval) : error);
}
MPI_NAME(Type_delete_attr);

/* ---- Names ---- */

static const char *const names[TYPES_BASIC] = {"",
                                               "MPI_CHAR",
                                               "MPI_SIGNED_CHAR",
                                               "MPI_UNSIGNED_CHAR",
                                               "MPI_BYTE",
                                               "MPI_PACKED",
                                               "MPI_WCHAR",
                                               "MPI_SHORT",
                                               "MPI_UNSIGNED_SHORT",
                                               "MPI_INT",
                                               "MPI_UNSIGNED",
                                               "MPI_LONG",
                                               "MPI_UNSIGNED_LONG",
                                               "MPI_LONG_LONG_INT",
                                               "MPI_UNSIGNED_LONG_LONG",
                                               "MPI_FLOAT",
                                               "MPI_DOUBLE",
                                               "MPI_LONG_DOUBLE",
                                               "MPI_INT8_T",
                                               "MPI_INT16_T",
                                               "MPI_INT32_T",
                                               "MPI_INT64_T",
                                               "MPI_UINT8_T",
                                               "MPI_UINT16_T",
                                               "MPI_UINT32_T",
                                               "MPI_UINT64_T",
                                               "MPI_C_BOOL",
                                               "MPI_C_FLOAT_COMPLEX",
                                               "MPI_C_DOUBLE_COMPLEX",
                                               "MPI_C_LONG_DOUBLE_COMPLEX",
                                               "MPI_AINT",
                                               "MPI_OFFSET",
                                               "MPI_COUNT",
                                               "MPI_FLOAT_INT",
                                               "MPI_DOUBLE_INT",
                                               "MPI_LONG_INT",
                                               "MPI_2INT",
                                               "MPI_SHORT_INT",
                                               "MPI_LONG_DOUBLE_INT"};

int PMPI_Type_set_name(MPI_Datatype datatype, const char *name)
{
    struct type_record *r;

    MPI_ENTER("Type_set_name", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    int error = get(datatype, &r);
    if (error == MPI_SUCCESS) {
        strncpy(r->name, name, sizeof r->name - 1);
        r->name[sizeof r->name - 1] = '\0';
    }
    return leave(error);
}
MPI_NAME(Type_set_name);

int PMPI_Type_get_name(MPI_Datatype datatype, char *name, int *resultlen)
{
    struct type_record *r = *find(datatype);
    uintptr_t index = (uintptr_t)datatype - (uintptr_t)MPI_DATATYPE_NULL;

    MPI_ENTER("Type_get_name", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    if (datatype != MPI_DATATYPE_NULL && !mpi_find_type(datatype))
        return mpi_fail_alone(mpi_error(MPI_ERR_TYPE, "0x%lx is none", (long)datatype, 0));
    const char *own = index < TYPES_BASIC ? names[index] : "";
    strcpy(name, r && r->name[0] ? r->name : datatype == MPI_DATATYPE_NULL ? "MPI_DATATYPE_NULL" : own);
    *resultlen = (int)strlen(name);
    return MPI_SUCCESS;
}
MPI_NAME(Type_get_name);
