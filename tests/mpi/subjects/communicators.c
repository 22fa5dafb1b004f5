/* Groups, communicators, attributes, errors, info and the environment [6, 8, 9] (subjects.h). */
#include "subjects.h"

#define WORLD MPI_COMM_WORLD

enum { MOST = 16 };

static int sum_of(MPI_Comm c, int value)
{
    int sum;

    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, c);
    return sum;
}

static void split(void)
{
    MPI_Comm c;
    int r, n;

    MPI_Comm_split(WORLD, rank % 2, -rank, &c);
    MPI_Comm_rank(c, &r);
    MPI_Comm_size(c, &n);
    say(" %d of %d, sum %d;", r, n, sum_of(c, rank));
    MPI_Comm_free(&c);
    MPI_Comm_split(WORLD, rank == 0 ? MPI_UNDEFINED : 5, 0, &c);
    say(" %d", c == MPI_COMM_NULL);
    if (c != MPI_COMM_NULL)
        MPI_Comm_free(&c);
    MPI_Comm_split_type(MPI_COMM_SELF, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c);
    MPI_Comm_size(c, &n);
    say(" %d %d", n, c == MPI_COMM_NULL);
    MPI_Comm_free(&c);
}

static void comparisons(void)
{
    static const int results[] = {MPI_IDENT, MPI_CONGRUENT, MPI_SIMILAR, MPI_UNEQUAL};
    MPI_Comm c[3];
    int result;

    MPI_Comm_dup(WORLD, &c[0]);
    MPI_Comm_split(WORLD, 0, -rank, &c[1]);
    c[2] = MPI_COMM_SELF;
    MPI_Comm_compare(WORLD, WORLD, &result);
    say(" %d", result == results[0]);
    for (int i = 0; i < 3; i++) {
        MPI_Comm_compare(WORLD, c[i], &result);
        for (int k = 0; k < 4; k++)
            say("%s", result == results[k] ? (const char *[]){" same", " congruent", " similar", " unequal"}[k] : "");
    }
    MPI_Comm_free(&c[0]);
    MPI_Comm_free(&c[1]);
}

static void groups(void)
{
    MPI_Group world, a, b, c;
    int list[MOST], to[MOST], n, r, result;

    MPI_Comm_group(WORLD, &world);
    MPI_Group_range_incl(world, 1, (int[1][3]){{size - 1, 0, -2}}, &a);
    MPI_Group_excl(world, 1, (int[]){size - 1}, &b);
    for (int i = 0; i < size; i++)
        list[i] = i;
    MPI_Group_size(a, &n);
    MPI_Group_translate_ranks(a, n, list, world, to);
    say_ints("a", to, n);
    int (*const set[])(MPI_Group, MPI_Group, MPI_Group *) = {MPI_Group_union, MPI_Group_intersection,
                                                             MPI_Group_difference};
    for (int i = 0; i < 3; i++) {
        set[i](a, b, &c);
        MPI_Group_size(c, &n);
        MPI_Group_translate_ranks(c, n, list, world, to);
        say_ints((const char *[]){"union", "intersection", "difference"}[i], to, n);
        MPI_Group_rank(c, &r);
        say(" %d", r == MPI_UNDEFINED ? -1 : r);
        if (c != MPI_GROUP_EMPTY)
            MPI_Group_free(&c);
    }
    MPI_Group_compare(a, world, &result);
    say(" %d", result == MPI_IDENT ? 0 : result == MPI_SIMILAR ? 1 : 2);
    MPI_Group_free(&a);
    MPI_Group_free(&b);
    MPI_Group_free(&world);
}

static void creation(void)
{
    MPI_Group world, odd;
    MPI_Comm c = MPI_COMM_NULL;

    MPI_Comm_group(WORLD, &world);
    MPI_Group_range_incl(world, 1, (int[1][3]){{0, size - 1, 2}}, &odd);
    MPI_Comm_create(WORLD, odd, &c);
    say(" %d", c == MPI_COMM_NULL ? -1 : sum_of(c, rank + 1));
    if (c != MPI_COMM_NULL)
        MPI_Comm_free(&c);
    if (rank % 2 == 0) {
        MPI_Comm_create_group(WORLD, odd, 4, &c);
        say(" %d", sum_of(c, 1));
        MPI_Comm_free(&c);
    }
    MPI_Group_free(&odd);
    MPI_Group_free(&world);
}

static void separate(void)
{
    MPI_Comm c;
    int in, flag;
    MPI_Request r;

    MPI_Comm_dup(WORLD, &c);
    MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, 3, c, &r);
    MPI_Send(&(int){1000 + rank}, 1, MPI_INT, (rank + 1) % size, 3, WORLD);
    MPI_Barrier(WORLD);
    MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
    MPI_Barrier(WORLD);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 3, c);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    say(" %d %d", flag, in);
    MPI_Recv(&in, 1, MPI_INT, (rank + size - 1) % size, 3, WORLD, MPI_STATUS_IGNORE);
    say(" %d", in);
    MPI_Comm_free(&c);
}

static void many(void)
{
    enum { N = 30 };
    MPI_Comm c[N], d;
    int sum = 0;
    MPI_Request r;

    for (int i = 0; i < N; i++)
        MPI_Comm_split(i ? c[i - 1] : WORLD, 0, i % 2 ? -rank : rank, &c[i]);
    for (int i = 0; i < N; i++)
        sum += sum_of(c[i], i);
    MPI_Comm_idup(c[3], &d, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    sum += sum_of(d, 1);
    MPI_Comm_free(&d);
    for (int i = 0; i < N; i++)
        MPI_Comm_free(&c[i]);
    say(" %d %d", sum, c[0] == MPI_COMM_NULL);
}

static void names(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int n;
    MPI_Comm c;

    MPI_Comm_get_name(WORLD, name, &n);
    say(" %s %d", name, n);
    MPI_Comm_dup(WORLD, &c);
    MPI_Comm_get_name(c, name, &n);
    say(" '%s'", name);
    MPI_Comm_set_name(c, "mine");
    MPI_Comm_get_name(c, name, &n);
    say(" %s", name);
    MPI_Comm_free(&c);
}

static int copies, deletes;

static int copy_twice(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
    (void)c, (void)key;
    copies++;
    *(void **)out = (char *)in + *(int *)extra;
    *flag = 1;
    return MPI_SUCCESS;
}

static int count_delete(MPI_Comm c, int key, void *value, void *extra)
{
    (void)c, (void)key, (void)value, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

static void attributes(void)
{
    int key, null_key, flag, *tag_ub, extra = 2;
    char place[8], *found;
    MPI_Comm c;

    copies = deletes = 0;
    MPI_Comm_create_keyval(copy_twice, count_delete, &key, &extra);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_delete, &null_key, NULL);
    MPI_Comm_set_attr(WORLD, key, place);
    MPI_Comm_set_attr(WORLD, null_key, place);
    MPI_Comm_dup(WORLD, &c);
    MPI_Comm_get_attr(c, key, &found, &flag);
    say(" %d %d", flag, flag ? (int)(found - place) : -1);
    MPI_Comm_get_attr(c, null_key, &found, &flag);
    say(" %d", flag);
    MPI_Comm_set_attr(c, key, place + 5);
    say(" %d %d", copies, deletes);
    MPI_Comm_free(&c);
    MPI_Comm_delete_attr(WORLD, key);
    MPI_Comm_delete_attr(WORLD, null_key);
    say(" %d", deletes);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free_keyval(&null_key);
    MPI_Comm_get_attr(WORLD, MPI_TAG_UB, &tag_ub, &flag);
    say(" %d %d %d", key == MPI_KEYVAL_INVALID, flag, *tag_ub >= 1 << 30);
}

static int handled, handled_class;

static void handle(MPI_Comm *c, int *code, ...)
{
    (void)c;
    handled++;
    MPI_Error_class(*code, &handled_class);
}

static void handlers(void)
{
    MPI_Errhandler h, before;
    MPI_Comm c, d;
    int x;

    handled = 0;
    MPI_Comm_create_errhandler(handle, &h);
    MPI_Comm_dup(WORLD, &c);
    MPI_Comm_set_errhandler(c, h);
    MPI_Errhandler_free(&h);
    say(" %d", h == MPI_ERRHANDLER_NULL);
    MPI_Send(&x, 1, MPI_INT, size + 3, 0, c);
    say(" %d %d", handled, handled_class == MPI_ERR_RANK);
    MPI_Comm_dup(c, &d);
    MPI_Bcast(&x, -1, MPI_INT, 0, d);
    say(" %d %d", handled, handled_class == MPI_ERR_COUNT);
    MPI_Comm_call_errhandler(d, MPI_ERR_TAG);
    say(" %d %d", handled, handled_class == MPI_ERR_TAG);
    MPI_Comm_get_errhandler(WORLD, &before);
    say(" %d", before == MPI_ERRORS_ARE_FATAL);
    MPI_Comm_free(&c);
    MPI_Comm_free(&d);
}

static void own_errors(void)
{
    int class, code, found, flag, *last, n;
    char text[MPI_MAX_ERROR_STRING];

    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(class, "mine");
    MPI_Add_error_string(code, "mine, too");
    MPI_Error_class(code, &found);
    MPI_Error_string(code, text, &n);
    MPI_Comm_get_attr(WORLD, MPI_LASTUSEDCODE, &last, &flag);
    say(" %d %d '%s' %d %d", class > MPI_ERR_LASTCODE, found == class, text, n, flag && *last >= code);
    MPI_Error_string(class, text, &n);
    say(" '%s'", text);
}

static void info(void)
{
    MPI_Info a, b;
    char value[MPI_MAX_INFO_KEY + 1];
    int flag, n, length;

    MPI_Info_create(&a);
    MPI_Info_set(a, "first", "1");
    MPI_Info_set(a, "second", "two");
    MPI_Info_set(a, "first", "one");
    MPI_Info_dup(a, &b);
    MPI_Info_delete(a, "first");
    MPI_Info_get_nkeys(a, &n);
    MPI_Info_get_nthkey(a, 0, value);
    say(" %d %s", n, value);
    MPI_Info_get(b, "first", 19, value, &flag);
    say(" %d %s", flag, value);
    MPI_Info_get(b, "second", 2, value, &flag);
    say(" %s", value);
    MPI_Info_get_valuelen(b, "second", &length, &flag);
    say(" %d %d", length, flag);
    MPI_Info_get(b, "third", 19, value, &flag);
    say(" %d", flag);
    MPI_Info_free(&a);
    MPI_Info_free(&b);
    say(" %d", a == MPI_INFO_NULL);
}

static void environment(void)
{
    int flag, level, version, minor, n;
    char name[MPI_MAX_PROCESSOR_NAME];
    double start = MPI_Wtime();
    void *memory;

    MPI_Initialized(&flag);
    say(" %d", flag);
    MPI_Finalized(&flag);
    say(" %d", flag);
    MPI_Query_thread(&level);
    MPI_Is_thread_main(&flag);
    say(" %d %d", level >= MPI_THREAD_SINGLE, flag);
    MPI_Get_version(&version, &minor);
    MPI_Get_processor_name(name, &n);
    MPI_Alloc_mem(1000, MPI_INFO_NULL, &memory);
    memset(memory, 1, 1000);
    MPI_Free_mem(memory);
    say(" %d %d %d %d", version, minor, n == (int)strlen(name), MPI_Wtick() > 0 && MPI_Wtime() >= start);
}

/* Even ranks and odd ones. */
static void between_groups(void)
{
    MPI_Comm half, inter, both;
    int n, remote, is_inter, got = -1, all[MOST], r, sum;

    if (size < 2)
        return;
    MPI_Comm_split(WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, WORLD, 1 - rank % 2, 12, &inter);
    MPI_Comm_test_inter(inter, &is_inter);
    MPI_Comm_size(inter, &n);
    MPI_Comm_remote_size(inter, &remote);
    say(" %d %d %d", is_inter, n, remote);
    MPI_Comm_rank(inter, &r);
    if (r < remote)
        MPI_Sendrecv(&rank, 1, MPI_INT, r, 0, &got, 1, MPI_INT, r, 0, inter, MPI_STATUS_IGNORE);
    say(" %d", got);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, inter);
    say_ints("", all, remote);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
    say(" %d", sum);
    got = rank == 1 ? 55 : -1;
    MPI_Bcast(&got, 1, MPI_INT, rank % 2 == 0 ? 0 : rank == 1 ? MPI_ROOT : MPI_PROC_NULL, inter);
    say(" %d", got);
    MPI_Intercomm_merge(inter, rank % 2 == 0, &both);
    MPI_Comm_rank(both, &r);
    say(" merged %d", r);
    MPI_Comm_free(&both);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

const struct subject communicators[] = {{"split", split},
                                        {"comparisons", comparisons},
                                        {"groups", groups},
                                        {"creation", creation},
                                        {"separate contexts", separate},
                                        {"many communicators", many},
                                        {"names", names},
                                        {"attributes", attributes},
                                        {"error handlers", handlers},
                                        {"own errors", own_errors},
                                        {"info", info},
                                        {"environment", environment},
                                        {"intercommunicators", between_groups},
                                        {NULL, NULL}};
