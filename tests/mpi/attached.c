/*
 * What is attached to communicators and types [6.7, 6.8], info [9], error codes of the program [8.5], generalized
 * requests [12.2], further ways to make communicators [6.4], and the names of MPI-1 [15, 16].
 */
#include "check_mpi.h"

/* ---- Attributes ---- */

static int copies, deletions, refuses;

static int copy_int(MPI_Comm comm, int keyval, void *extra, void *value, void *copy, int *flag)
{
    (void)comm, (void)keyval;
    copies++;
    if (refuses)
        return MPI_ERR_OTHER;
    *(void **)copy = (char *)value + (long)extra;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_int(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    deletions++;
    return refuses ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void attributes(void)
{
    MPI_Comm a, b, c;
    int copied, same, none, old, flag;
    void *value;

    MPI_Comm_create_keyval(copy_int, delete_int, &copied, (void *)5);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &same, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_int, &none, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_get_attr(a, copied, &value, &flag);
    check_equal(flag, 0);
    MPI_Comm_set_attr(a, copied, (void *)100);
    MPI_Comm_set_attr(a, copied, (void *)200);
    check_equal(deletions, 1);
    MPI_Comm_set_attr(a, same, (void *)300);
    MPI_Comm_set_attr(a, none, (void *)400);
    MPI_Comm_dup(a, &b);
    check_equal(copies, 1);
    MPI_Comm_get_attr(b, copied, &value, &flag);
    check(flag && value == (void *)205);
    MPI_Comm_get_attr(b, same, &value, &flag);
    check(flag && value == (void *)300);
    MPI_Comm_get_attr(b, none, &value, &flag);
    check(!flag);
    MPI_Comm_split(a, 0, rank, &c);
    MPI_Comm_get_attr(c, same, &value, &flag);
    check(!flag);
    MPI_Comm_free(&c);

    MPI_Comm_delete_attr(b, copied);
    check_equal(deletions, 2);
    old = copied;
    MPI_Comm_free_keyval(&copied);
    check(copied == MPI_KEYVAL_INVALID && old != copied);
    MPI_Comm_free(&b);
    check_equal(deletions, 2);
    MPI_Comm_free(&a); /* the key that was freed still has its value there */
    check_equal(deletions, 4);

    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(copy_int, delete_int, &copied, NULL);
    MPI_Comm_dup(MPI_COMM_SELF, &a);
    MPI_Comm_set_attr(a, copied, NULL);
    refuses = 1;
    check(MPI_Comm_dup(a, &b) != MPI_SUCCESS);
    check(MPI_Comm_free(&a) != MPI_SUCCESS);
    refuses = 0;
    MPI_Comm_free(&a);
    MPI_Comm_free_keyval(&copied);
    MPI_Comm_free_keyval(&same);
    MPI_Comm_free_keyval(&none);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

static void predefined(void)
{
    int *value, flag;

    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
    check(flag && *value >= 1 << 30);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag);
    check(flag);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &value, &flag);
    check(flag);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &value, &flag);
    check(flag);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag);
    check(!flag || *value >= 1);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag);
    check(flag && *value >= MPI_ERR_LASTCODE);
}

static void of_types(void)
{
    MPI_Datatype a, b;
    char name[MPI_MAX_OBJECT_NAME];
    int key, flag, length;
    void *value;

    MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    MPI_Type_contiguous(3, MPI_INT, &a);
    MPI_Type_set_attr(a, key, (void *)7);
    MPI_Type_dup(a, &b);
    MPI_Type_get_attr(b, key, &value, &flag);
    check(flag && value == (void *)7);
    MPI_Type_delete_attr(b, key);
    MPI_Type_get_attr(b, key, &value, &flag);
    check(!flag);
    MPI_Type_get_name(a, name, &length);
    check(length == 0 && name[0] == '\0');
    MPI_Type_set_name(a, "three ints");
    MPI_Type_get_name(a, name, &length);
    check(length == 10 && strcmp(name, "three ints") == 0);
    MPI_Type_get_name(MPI_DOUBLE, name, &length);
    check(strcmp(name, "MPI_DOUBLE") == 0);
    MPI_Type_free_keyval(&key);
    MPI_Type_free(&a);
    MPI_Type_free(&b);
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &a);
    MPI_Type_size(a, &length);
    check_equal(length, 8);
}

static int deleted_last;

static int delete_at_the_end(MPI_Comm comm, int keyval, void *value, void *extra)
{
    int flag, *order = extra;

    (void)comm, (void)keyval;
    MPI_Initialized(&flag);
    check(flag);
    check(++*order == (long)value);
    if (*order == 2 && rank == 0)
        printf("attributes of MPI_COMM_SELF are deleted in MPI_Finalize\n");
    return MPI_SUCCESS;
}

/* The last one first. */
static void of_the_end(void)
{
    int key[2];

    for (int i = 0; i < 2; i++) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_at_the_end, &key[i], &deleted_last);
        MPI_Comm_set_attr(MPI_COMM_SELF, key[i], (void *)(2l - i));
    }
}

/* ---- Info ---- */

static void info(void)
{
    MPI_Info a, b;
    char value[MPI_MAX_INFO_VAL + 1], key[MPI_MAX_INFO_KEY + 1];
    int n, flag;

    MPI_Info_create(&a);
    MPI_Info_set(a, "first", "1");
    MPI_Info_set(a, "second", "two");
    MPI_Info_set(a, "first", "one, and longer");
    MPI_Info_get_nkeys(a, &n);
    check_equal(n, 2);
    MPI_Info_get_nthkey(a, 1, key);
    check(strcmp(key, "second") == 0 || strcmp(key, "first") == 0);
    MPI_Info_get_valuelen(a, "first", &n, &flag);
    check(flag && n == 15);
    MPI_Info_get(a, "first", MPI_MAX_INFO_VAL, value, &flag);
    check(flag && strcmp(value, "one, and longer") == 0);
    MPI_Info_get(a, "third", MPI_MAX_INFO_VAL, value, &flag);
    check(!flag);
    MPI_Info_dup(a, &b);
    MPI_Info_delete(a, "first");
    MPI_Info_get_nkeys(b, &n);
    check_equal(n, 2);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check_equal(MPI_Info_delete(a, "first"), MPI_ERR_INFO_NOKEY);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Info_free(&a);
    MPI_Info_free(&b);
    check(a == MPI_INFO_NULL);
    double *memory;
    MPI_Alloc_mem(100 * sizeof *memory, MPI_INFO_NULL, &memory);
    memory[99] = 1;
    MPI_Free_mem(memory);
}

/* ---- Error codes ---- */

static int heard;

static void hear(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    heard = *code;
}

static void error_codes(void)
{
    int class, code, got, length, *last, flag;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Errhandler handler;

    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "it rains");
    MPI_Error_class(code, &got);
    check_equal(got, class);
    MPI_Error_string(code, text, &length);
    check(strcmp(text, "it rains") == 0 && length == 8);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
    check(*last >= code);
    MPI_Comm_create_errhandler(hear, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Errhandler_free(&handler);
    MPI_Comm_call_errhandler(MPI_COMM_SELF, code);
    check_equal(heard, code);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/* ---- Generalized requests ---- */

static int queried, freed, cancelled;

static int query(void *extra, MPI_Status *status)
{
    queried++;
    MPI_Status_set_elements(status, MPI_INT, *(int *)extra);
    MPI_Status_set_cancelled(status, cancelled);
    status->MPI_SOURCE = 3;
    status->MPI_TAG = 4;
    return MPI_SUCCESS;
}

static int free_request(void *extra)
{
    (void)extra;
    freed++;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    (void)extra;
    cancelled = !complete;
    return MPI_SUCCESS;
}

static void general_requests(void)
{
    int elements = 17, n, flag, index;
    MPI_Request r, both[2];
    MPI_Status s;

    MPI_Grequest_start(query, free_request, cancel, &elements, &r);
    MPI_Test(&r, &flag, &s);
    check(!flag);
    MPI_Grequest_complete(r);
    MPI_Request_get_status(r, &flag, &s);
    check(flag && queried == 1 && freed == 0);
    MPI_Wait(&r, &s);
    MPI_Get_count(&s, MPI_INT, &n);
    check(n == 17 && s.MPI_SOURCE == 3 && s.MPI_TAG == 4);
    check(queried == 2 && freed == 1 && r == MPI_REQUEST_NULL);
    MPI_Grequest_start(query, free_request, cancel, &elements, &both[0]);
    MPI_Grequest_start(query, free_request, cancel, &elements, &both[1]);
    MPI_Cancel(&both[1]);
    MPI_Grequest_complete(both[1]);
    MPI_Waitany(2, both, &index, &s);
    MPI_Test_cancelled(&s, &flag);
    check(index == 1 && flag);
    MPI_Grequest_complete(both[0]);
    MPI_Request_free(&both[0]);
    check_equal(freed, 3);
}

/* ---- Communicators ---- */

static void more_communicators(void)
{
    enum { MANY = 7 };
    MPI_Comm copy[MANY], node, between, hinted;
    MPI_Request r[MANY];
    int n, result, key, flag, sum;
    void *value;
    MPI_Info used;

    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, (void *)9);
    for (int i = 0; i < MANY; i++)
        MPI_Comm_idup(MPI_COMM_WORLD, &copy[i], &r[i]);
    MPI_Comm_dup(MPI_COMM_WORLD, &between);
    MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++) {
        MPI_Comm_compare(copy[i], between, &result);
        check_equal(result, MPI_CONGRUENT);
        MPI_Comm_get_attr(copy[i], key, &value, &flag);
        check(flag && value == (void *)9);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, copy[i]);
        check_equal(sum, size * (size - 1) / 2);
    }
    for (int i = 0; i < MANY; i++)
        MPI_Isend(&i, 0, MPI_INT, (rank + 1) % size, 5, copy[i], &r[i]);
    for (int i = MANY - 1; i >= 0; i--)
        MPI_Recv(&n, 0, MPI_INT, (rank + size - 1) % size, 5, copy[i], MPI_STATUS_IGNORE);
    MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++)
        MPI_Comm_free(&copy[i]);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free(&between);

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &n);
    check(n >= 1);
    MPI_Comm_free(&node);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &node);
    check(node == MPI_COMM_NULL);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &hinted);
    MPI_Info_create(&used);
    MPI_Comm_set_info(hinted, used);
    MPI_Info_free(&used);
    MPI_Comm_get_info(hinted, &used);
    MPI_Info_free(&used);
    MPI_Comm_disconnect(&hinted);
    check(hinted == MPI_COMM_NULL);
    MPI_Comm_get_parent(&hinted);
    check(hinted == MPI_COMM_NULL);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    attributes();
    predefined();
    of_types();
    of_the_end();
    info();
    error_codes();
    general_requests();
    more_communicators();
    MPI_Pcontrol(1);
    end("attached");
    return 0;
}
