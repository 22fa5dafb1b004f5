/*
 * Attributes [6.7]: values that a program attaches to communicators and types, under keys that it makes.
 */
#pragma once

#include "libpio/mpi/base/inside.h"

enum key_of { KEY_OF_COMM, KEY_OF_TYPE };

/* The functions of a key: those of communicators and of types differ in the type of their first argument only. */
typedef int key_copy_function(void *from, int keyval, void *extra, void *value, void *copy, int *flag);
typedef int key_delete_function(void *from, int keyval, void *value, void *extra);

/* Make and free a key. Classes; MPI_ERR_KEYVAL: it is none of that kind. */
int key_new(enum key_of of, key_copy_function *copy, key_delete_function *delete, void *extra, int *keyval);
int key_free(enum key_of of, int *keyval);

/* Set, find and delete a value in the list of an object, whose handle its functions get. Classes. */
int attribute_set(struct attribute **list, enum key_of of, void *object, int keyval, void *value);
int attribute_find(struct attribute *list, enum key_of of, int keyval, void **value, int *flag);
int attribute_delete(struct attribute **list, enum key_of of, void *object, int keyval);

/* Of all values: copies those whose functions say so; deletes them, the last one first, until a function fails. */
int attributes_copy_list(struct attribute *list, void *object, struct attribute **copy);
int attributes_delete_list(struct attribute **list, void *object);
