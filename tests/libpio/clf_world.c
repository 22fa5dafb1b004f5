/* See clf_world.h. */
#include "tests/libpio/clf_world.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "libpio/servers/server_calls.h"
#include "tests/libpio/random_pattern.h"
#include "vertex/contract/errors.h"

struct lab clf_lab;
int clf_node;
uint32_t clf_sent[16];

/* ---- The node's traps ---- */

static long text(char *buf, long bytes)
{
    static const char lines[] = "big v0 v1: cyclic 4096 2\n/clf v0 v1 v2: 1 77.0 77.1 77.2\n/cfs v0: 2 77.0\n";
    const long n = (long)sizeof lines - 1;

    if (bytes > 0)
        memcpy(buf, lines, (size_t)(bytes < n ? bytes : n));
    return n;
}

static long start(long node, long type, const void *head, long head_bytes, const void *data, long bytes)
{
    static uint8_t message[LAB_BYTES];

    cr_assert_eq(node, 77);
    cr_assert_leq(head_bytes + bytes, (long)sizeof message);
    clf_sent[type - N_CLF_NAME]++;
    memcpy(message, head, (size_t)head_bytes);
    if (bytes > 0)
        memcpy(message + head_bytes, data, (size_t)bytes);
    return (long)lab_send(&clf_lab, clf_node, (int)type, message, (size_t)(head_bytes + bytes)) + 1;
}

static long end(long number, void *head, long head_bytes, void *data, long bytes)
{
    const long status = lab_wait(&clf_lab, (uint32_t)number - 1);
    const long n = (long)clf_lab.payload_bytes;

    if (status < 0)
        return status;
    cr_assert(n >= head_bytes && n - head_bytes <= bytes, "%ld bytes of a reply for %ld + %ld", n, head_bytes, bytes);
    if (head_bytes > 0)
        memcpy(head, clf_lab.payload, (size_t)head_bytes);
    if (n > head_bytes)
        memcpy(data, clf_lab.payload + head_bytes, (size_t)(n - head_bytes));
    return status;
}

const struct server_calls server_calls = {text, start, end, NULL, NULL, NULL, NULL, NULL, NULL};

/* ---- Matrices ---- */

static int process_of(const struct clf_dimension *d, int index)
{
    return d->kind == '*' ? 0 : d->kind == 'b' ? index / d->k : index / d->k % d->procs;
}

int clf_matrix_bytes(const struct clf_matrix *m)
{
    return m->row.size * m->column.size * m->item;
}

int clf_matrix_elements(const struct clf_matrix *m)
{
    return m->row.procs * m->column.procs;
}

int clf_matrix_owner(const struct clf_matrix *m, int byte)
{
    const int at = byte / m->item;

    return process_of(&m->row, at / m->column.size) * m->column.procs + process_of(&m->column, at % m->column.size);
}

int clf_matrix_part(const struct clf_matrix *m, int element, const uint8_t *file, uint8_t *part)
{
    int n = 0;

    for (int byte = 0; byte < clf_matrix_bytes(m); byte++)
        if (clf_matrix_owner(m, byte) == element)
            part[n++] = file[byte];
    return n;
}

static int kind_text(char *to, const struct clf_dimension *d)
{
    return d->kind == '*' ? sprintf(to, "*") : sprintf(to, "%s(%d)", d->kind == 'b' ? "block" : "cyclic", d->k);
}

void clf_matrix_text(const struct clf_matrix *m, char text[128])
{
    text += sprintf(text, "array %dx%dx%d ", m->row.size, m->column.size, m->item);
    text += kind_text(text, &m->row);
    *text++ = ',';
    text += kind_text(text, &m->column);
    sprintf(text, " on %dx%d", m->row.procs, m->column.procs);
}

static struct clf_dimension draw(uint64_t *random, char kind, int size, int procs)
{
    struct clf_dimension d = {size, kind, 1, kind == '*' ? 1 : procs};

    if (kind == 'b')
        d.k = (size + procs - 1) / procs;
    if (kind == 'c')
        d.k = 1 + (int)random_below(random, 4);
    return d;
}

struct clf_matrix clf_matrix_draw(uint64_t *random, const char *kinds, int procs, int rows, int columns, int item)
{
    /* A prime number of processes is in one dimension. */
    const int first = kinds[0] == '*' ? 1 : kinds[1] == '*' ? procs : procs % 2 == 0 ? 2 : procs;

    return (struct clf_matrix){draw(random, kinds[0], rows, first), draw(random, kinds[1], columns, procs / first),
                               item};
}

/* ---- Groups: the tests make their requests themselves ---- */

int group_broadcast(struct group *g, void *buf, int bytes, int root)
{
    (void)g, (void)buf, (void)bytes, (void)root;
    return -N_ENOSYS;
}

int group_all_reduce(struct group *g, void *elements, int n, enum group_element element, enum group_operation operation)
{
    (void)g, (void)elements, (void)n, (void)element, (void)operation;
    return -N_ENOSYS;
}

int group_make_in(struct group *g, const struct group *of, const int *rank_of, int size)
{
    (void)g, (void)of, (void)rank_of, (void)size;
    return -N_ENOSYS;
}

int group_free(struct group *g)
{
    (void)g;
    return 0;
}

int group_all_gather(struct group *g, const void *part, void *all, const int *bytes)
{
    (void)g, (void)part, (void)all, (void)bytes;
    return -N_ENOSYS;
}

int group_exchange(struct group *g, const void *to, const int *to_bytes, void *from, const int *from_bytes)
{
    (void)g, (void)to, (void)to_bytes, (void)from, (void)from_bytes;
    return -N_ENOSYS;
}
