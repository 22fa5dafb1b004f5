/*
 * Endpoints [P1 2.2, 2.4]: getmsg, putmsg and ioctl on nself, and addressing domains. Built with -Nprocs 3, too.
 */
#include <errno.h>
#include <group.h>
#include <n_errno.h>
#include <npara_prt.h>
#include <pattern.h>
#include <stropts.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

enum { LONG = 30000 };

static char buf[LONG + 16], text[LONG + 16];

#define check_fails(call, error)                                                             \
    do {                                                                                     \
        errno = 0;                                                                           \
        check_equal(call, -1);                                                               \
        check(errno == (error), "%s: errno %d, not %s = %d", #call, errno, #error, (error)); \
    } while (0)

/* The caller's procid; a domain has one process on each PE. */
static short procid_of(int fd)
{
    struct ninfo info;

    return ioctl(fd, N_INFO, &info) < 0 ? 0 : (short)info.procid;
}

static int put(int fd, const void *bytes, int n, int pid, int type)
{
    struct ncaddr to = {(short)pid, procid_of(fd), (short)type};
    struct strbuf ctl = {0, sizeof to, (char *)&to}, data = {0, n, (char *)bytes};

    return putmsg(fd, &ctl, &data, 0);
}

/* Receives up to n bytes by a template. Returns the result of getmsg; *got is the number of bytes. */
static int get(int fd, int n, struct ncaddr *from, int *got)
{
    struct strbuf ctl = {sizeof *from, 0, (char *)from}, data = {n, 0, buf};
    int flags = 0, result = getmsg(fd, &ctl, &data, &flags);

    *got = data.len;
    if (result >= 0)
        check_equal(ctl.len, sizeof *from);
    return result;
}

static void expect(int fd, int pid, int type, const char *bytes)
{
    struct ncaddr from = {(short)pid, (short)(pid < 0 ? -1 : procid_of(fd)), (short)type};
    int got, result = get(fd, LONG, &from, &got);

    check_equal(result, 0);
    check(got == (int)strlen(bytes) && memcmp(buf, bytes, (size_t)got) == 0, "%.*s from %d of type %d, not %s", got,
          buf, from.pid, from.type, bytes);
    check((pid < 0 || from.pid == pid) && (type < 0 || from.type == type), "from %d of type %d", from.pid, from.type);
}

/* ---- The program's own endpoint ---- */

/* What putmsg sends nread receives, and the reverse [P1 Table 1]. */
static void same_messages(void)
{
    int self = own_node(), node = npid(), type = 7, got;
    struct ncaddr from = {-1, -1, 8};

    check_equal(put(nself, "by putmsg", 9, self, 7), 0);
    check_equal(nread(buf, LONG, &node, &type, NULL), 9);
    check(memcmp(buf, "by putmsg", 9) == 0, "%.9s", buf);
    check_equal(nwrite("by nwrite", 9, npid(), 8, NULL), 0);
    check_equal(get(nself, LONG, &from, &got), 0);
    check(got == 9 && memcmp(buf, "by nwrite", 9) == 0, "%.*s", got, buf);
    check(from.pid == self && from.procid == N_PROCID_OF(npid()) && from.type == 8, "%d.%d, type %d", from.pid,
          from.procid, from.type);
    check_equal(put(nself, "", 0, self, 0), 0);
    expect(nself, self, 0, "");
}

/* The oldest message that fits. */
static void templates(void)
{
    int n = node_count(), next = (own_node() + 1) % n, before = (own_node() + n - 1) % n;

    check_equal(put(nself, "a", 1, next, 10), 0);
    check_equal(put(nself, "b", 1, next, 11), 0);
    check_equal(put(nself, "c", 1, next, 32767), 0);
    check_equal(put(nself, "d", 1, next, 11), 0);
    expect(nself, before, 32767, "c");
    expect(nself, -1, 11, "b");
    expect(nself, before, -1, "a");
    expect(nself, -1, -1, "d");
    nsync(0);
}

static void to_all(void)
{
    struct ncaddr from = {-1, -1, 5};
    int got;

    if (npid() == 0)
        check_equal(put(nself, "for all", 7, -1, 5), 0);
    if (N_PROCID_OF(npid()) == 0) {
        check_equal(get(nself, LONG, &from, &got), 0);
        check(got == 7 && from.pid == 0, "%d bytes from %d", got, from.pid);
    }
    nsync(0);
}

/* A message in parts: each part is its address's next message, for all calls. */
static void parts(void)
{
    int self = own_node(), got, src = npid(), type = 3;
    struct ncaddr from = {(short)self, (short)N_PROCID_OF(npid()), -1};
    char *pages;

    fill_pattern(text, LONG, 1);
    check_equal(nwrite(text, LONG, npid(), 3, NULL), 0);
    check_equal(put(nself, "other", 5, self, 4), 0);
    check_equal(get(nself, 10, &from, &got), MOREDATA);
    check(got == 10 && from.type == 3 && memcmp(buf, text, 10) == 0, "%d bytes of type %d", got, from.type);
    expect(nself, self, 4, "other");
    check_equal(ntest(&src, &type), LONG - 10);
    check_equal(nread(buf, 20, &src, &type, NULL), -N_EMSGSIZE);
    check_equal(get(nself, 0, &from, &got), MOREDATA); /* the address alone */
    check(got == 0 && from.type == 3, "%d bytes of type %d", got, from.type);
    check_equal(get(nself, 1000, &from, &got), MOREDATA);
    check(memcmp(buf, text + 10, 1000) == 0, "the second part");
    check_equal(nreadp(&pages, LONG, &src, &type, NULL), LONG - 1010);
    check(memcmp(pages, text + 1010, LONG - 1010) == 0, "the rest");
    check_equal(nrelp(pages), 0);
    check_equal(ntest(&src, &type), -N_EAGAIN);
    check_equal(put(nself, text, 50, self, 3), 0);
    check_equal(get(nself, 49, &from, &got), MOREDATA);
    check_equal(get(nself, 1, &from, &got), 0);
    check_equal(buf[0], text[49]);
    check_equal(put(nself, text, 50, self, 3), 0);
    check_equal(get(nself, 49, &from, &got), MOREDATA);
    check_equal(nread(buf, 20, &src, &type, NULL), 1);
    check_equal(buf[0], text[49]);
}

static void requests(void)
{
    int self = own_node(), n = node_count(), number = -1;
    struct ninfo info;
    struct ncaddr a = {-1, -1, 6}, to = {(short)self, (short)N_PROCID_OF(npid()), 6};

    check_equal(ioctl(nself, N_STATE, &number), 0);
    check_equal(number, N_BOUND);
    check_equal(ioctl(nself, N_PES, &number), 0);
    check_equal(number, n);
    check_equal(ioctl(nself, N_INFO, &info), 0);
    check(info.pid == self && info.procid == N_PROCID_OF(npid()) && info.pes == n, "N_INFO");
    check(1 << info.dim >= n && 1 << info.dim < 2 * n, "%d nodes and dimension %d", n, info.dim);
    check_fails(ioctl(nself, N_TEST, &a), EAGAIN);
    check_fails(write(nself, "x", 1), EDESTADDRREQ);
    check_fails(read(nself, buf, 1), EDESTADDRREQ);
    check_equal(ioctl(nself, N_CONNECT, &to), 0);
    check_equal(write(nself, "connected", 9), 9);
    check_equal(ioctl(nself, N_STATE, &number), 0);
    check_equal(number, N_MESSAGE);
    check_equal(ioctl(nself, N_TEST, &a), 9);
    check(a.pid == self && a.type == 6, "from %d of type %d", a.pid, a.type);
    check_equal(read(nself, buf, 4), 4);
    check_equal(read(nself, buf, 100), 5);
    check(memcmp(buf, "ected", 5) == 0, "%.5s", buf);
    check_equal(putmsg(nself, NULL, &(struct strbuf){0, 2, (char *)"to"}, 0), 0);
    expect(nself, self, 6, "to");
    check_equal(ioctl(nself, N_CONNECT, NULL), 0);
    check_fails(write(nself, "x", 1), EPROTO);
    check_fails(putmsg(nself, NULL, NULL, 0), EDESTADDRREQ);
    check_equal(ioctl(nself, N_OWN, (void *)1000L), 0);
    check_equal(put(nself, "own", 3, 1000 + self, 6), 0);
    expect(nself, self, 6, "own");
}

static void errors(void)
{
    int n = node_count(), got, flags = 1;
    struct ncaddr from = {-1, -1, -1}, to = {0, 0, -5};
    struct strbuf ctl = {sizeof to, sizeof to, (char *)&to}, data = {0, -1, NULL}, half = {3, 3, (char *)&to};
    struct stat st;

    check_fails(put(200, "x", 1, 0, 0), EBADF);
    check_fails(get(200, 1, &from, &got), EBADF);
    check_fails(put(1, "x", 1, 0, 0), ENOSTR);
    check_fails(get(1, 1, &from, &got), ENOSTR);
    check_fails(ndomain(1, 1, &got), ENOSTR);
    check_fails(put(nself, "x", 1, n, 0), EADDRNOTAVAIL);
    check_fails(put(nself, "x", 1, -2, 0), EADDRNOTAVAIL);
    check_fails(put(nself, "x", -1, 0, -1), EINVAL);
    check_fails(putmsg(nself, &ctl, &data, 0), EINVAL);
    to.type = 0;
    to.procid = 7;
    check_fails(putmsg(nself, &ctl, &data, 0), EADDRNOTAVAIL);
    to.procid = 0;
    check_fails(putmsg(nself, &ctl, &data, 1), EINVAL);
    check_fails(putmsg(nself, &half, &data, 0), EINVAL);
    check_fails(getmsg(nself, &half, &data, NULL), EINVAL);
    check_fails(getmsg(nself, NULL, NULL, &flags), EINVAL);
    from.pid = (short)n;
    check_fails(get(nself, 1, &from, &got), EADDRNOTAVAIL);
    check_fails(ioctl(nself, N_TEST, &from), EADDRNOTAVAIL);
    check_fails(ioctl(nself, N_CONNECT, &from), EADDRNOTAVAIL);
    from = (struct ncaddr){0, 0, -2};
    check_fails(get(nself, 1, &from, &got), EINVAL);
    check_fails(ioctl(nself, N_CONNECT, &from), EINVAL);
    check_fails(ioctl(nself, N_OWN, (void *)(long)(n - 1)), EINVAL);
    if (n > 1)
        check_fails(ioctl(nself, N_OWN, (void *)32767L), EINVAL);
    check_fails(ioctl(nself, 99, NULL), ENOTTY);
    check_fails(ioctl(1, N_PES, &got), ENOTTY);
    check_fails(lseek(nself, 0, SEEK_SET), ESPIPE);
    check_equal(fstat(nself, &st), 0);
    check(S_ISSOCK(st.st_mode), "no socket");
    check_fails(put(nself, (void *)8, 100, 0, 0), EFAULT);
    check_equal(put(nself, "copy", 4, own_node(), 1), 0);
    int copy = dup(nself);
    expect(copy, -1, 1, "copy");
    check_equal(close(copy), 0);
}

/* ---- Domains ---- */

/* The nodes as a matrix with `columns` columns; the last row may be shorter. */
static int make_row(int columns, int *first, int *size)
{
    int pid[64], n = node_count();

    *first = own_node() / columns * columns;
    *size = n - *first < columns ? n - *first : columns;
    for (int k = 0; k < *size; k++)
        pid[k] = N_PROCESS(*first + k, N_PROCID_OF(npid()));
    return ndomain(nself, *size, pid);
}

/* Routines for whole programs, within a row. */
static void pseudo_program(int first, int size)
{
    int pid, proc, dim, value = own_node(), from = N_ANY, type = N_ANY;

    whoami(&pid, &proc, NULL, &dim);
    check(pid == value && proc == 0 && ncubesize() == size && 1 << dim >= size && (1 << dim) / 2 < size, "whoami");
    check_equal(npid(), pid);
    check_equal(nwrite(&first, sizeof first, (pid + 1) % size, 3, NULL), 0);
    check_equal(nread(&value, sizeof value, &from, &type, NULL), sizeof value);
    check(value == first && from == (pid + size - 1) % size && type == 3, "%d from %d of type %d", value, from, type);
    check_equal(nsync(70000 % 65536), 0);
    check_equal(isumn(1), size);
    check_equal(imaxn(pid), size - 1);
    check_equal(dsumn(0.5) * 2, size);
    value = first;
    nbrdcst(&value, sizeof value);
    check_equal(value, first);
    if (pid == 0)
        check_equal(nwrite("all", 3, N_DEST_ALL, 4, NULL), 0);
    from = 0, type = 4;
    check_equal(nread(buf, 3, &from, &type, NULL), 3);
    check_equal(ntest(&from, &type), -N_EAGAIN);
    check_equal(nwrite(buf, 1, size, 0, NULL), -N_EINVAL);
    check_equal(nwrite(buf, 1, 0, 0x8000, NULL), -N_EINVAL);
}

static void buffers(int size)
{
    int pid = npid(), from = N_ANY, type = 9;
    char *pages = ngetp(LONG);

    fill_pattern(pages, LONG, (uint32_t)pid);
    check_equal(nwritep(pages, LONG, (pid + 1) % size, 9, NULL), 0);
    check_equal(nreadp(&pages, LONG, &from, &type, NULL), LONG);
    check_equal(from, (pid + size - 1) % size);
    check_equal(find_wrong_byte(pages, LONG, (uint32_t)from), LONG);
    check_equal(nwritep(pages, 1, size, 9, NULL), -N_EINVAL);
    check_equal(nwritep(pages, 8, pid, 9, NULL), 0); /* and by a source that is named */
    from = pid;
    check_equal(nreadp(&pages, 8, &from, &type, NULL), 8);
    from = size;
    check_equal(nreadp(&pages, 8, &from, &type, NULL), -N_EINVAL);
    check_equal(nrelp(pages), 0);
}

/* A group within the row, and a domain within the domain: the row's even PEs. */
static void within(int row, int first, int size)
{
    int even[32], n = 0;
    struct group g;

    check_equal(group_make(&g, NULL, 0), 0);
    check(g.size == size && g.rank == npid(), "rank %d of %d", g.rank, g.size);
    check_equal(group_free(&g), 0);
    for (int k = 0; k < size; k += 2)
        even[n++] = k;
    if (npid() % 2)
        return;
    check_equal(group_make(&g, even, n), 0);
    check_equal(g.rank, npid() / 2);
    check_equal(group_free(&g), 0);
    nself = ndomain(row, n, even);
    check(nself >= 0, "errno %d", errno);
    check_equal(isumn(1), n);
    check_equal(nwrite(&first, sizeof first, npid(), 1, NULL), 0);
    check_equal(nread(&n, sizeof n, NULL, NULL, NULL), sizeof n);
    check_equal(close(nself), 0);
    nself = row;
}

static void rows_of(int columns)
{
    int program = nself, first, size, row = make_row(columns, &first, &size), self = own_node();

    check(row >= 0, "errno %d", errno);
    /* A message of the program waits all the time, and one of the row: neither is the other's. */
    check_equal(nwrite("program", 7, npid(), 3, NULL), 0);
    check_equal(put(row, "row", 3, self - first, 77), 0);
    nself = row;
    expect(row, self - first, -1, "row"); /* others may already be beyond this */
    pseudo_program(first, size);
    buffers(size);
    within(row, first, size);
    nself = program;
    expect(program, -1, -1, "program");
    check_equal(isumn(1), node_count());
    check_equal(close(row), 0);
}

static void rows(void)
{
    rows_of(node_count());
    rows_of(2);
    rows_of(3);
    rows_of(1);
}

/* Parts of long messages, addresses and states are a domain's own. */
static void endpoints_are_apart(void)
{
    int first, size, row = make_row(3, &first, &size), got, number, self = own_node() - first;
    struct ncaddr from = {-1, -1, 2}, to = {(short)self, 0, 2};

    check_equal(put(row, "0123456789", 10, self, 2), 0);
    check_equal(nwrite("abc", 3, npid(), 2, NULL), 0);
    check_equal(get(row, 4, &from, &got), MOREDATA);
    expect(nself, -1, 2, "abc");
    from = (struct ncaddr){-1, -1, 2};
    check_equal(ioctl(row, N_TEST, &from), 6);
    check_equal(ioctl(row, N_CONNECT, &to), 0);
    check_equal(read(row, buf, 100), 6);
    check_equal(write(row, "x", 1), 1);
    check_equal(read(row, buf, 100), 1);
    check_equal(ioctl(row, N_PES, &number), 0);
    check_equal(number, size);
    check_fails(put(row, "x", 1, size, 0), EADDRNOTAVAIL);
    check_equal(put(row, "left", 4, self, 2), 0); /* dropped with the domain */
    from = (struct ncaddr){-1, -1, 2};
    check_equal(get(row, 1, &from, &got), MOREDATA);
    check_equal(close(row), 0);
    check_fails(put(row, "x", 1, 0, 0), EBADF);
}

static void bad_domains(void)
{
    int n = node_count(), self = npid(), other = N_PROCESS((own_node() + 1) % n, N_PROCID_OF(self));
    int twice[2] = {self, self}, beyond[2] = {self, n}, program = nself;

    check_fails(ndomain(nself, 0, &self), EINVAL);
    check_fails(ndomain(nself, 2, twice), EINVAL);
    check_fails(ndomain(nself, 2, beyond), EADDRNOTAVAIL);
    check_fails(ndomain(200, 1, &self), EBADF);
    if (n > 1)
        check_fails(ndomain(nself, 1, &other), ESRCH);
    nself = 1; /* no endpoint */
    check_equal(nwrite("x", 1, 0, 0, NULL), -N_ENOSTR);
    check_equal(nread(buf, 1, NULL, NULL, NULL), -N_ENOSTR);
    nself = 200;
    check_equal(ntest(NULL, NULL), -N_EBADF);
    nself = program;
}

static void all_contexts(void)
{
    int fd[40], n = 0, self = npid();

    while ((fd[n] = ndomain(nself, 1, &self)) >= 0)
        n++;
    check_equal(errno, ENFILE);
    check_equal(n, 27);
    while (n > 0)
        check_equal(close(fd[--n]), 0);
    check((fd[0] = ndomain(nself, 1, &self)) >= 0, "errno %d", errno);
    close(fd[0]);
}

/* ---- nredist ---- */

static char content(int64_t x)
{
    return (char)(x * 7 + x / 251);
}

/* This node's element of an array of `bytes` bytes: filled, or compared. Returns its length. */
static int64_t element(const struct pattern *p, int64_t bytes, char *own, int compare)
{
    int64_t n = 0;

    for (int64_t x = 0; x < bytes; x++) {
        int64_t place;
        int32_t e;

        if (pattern_place(p, x, &e, &place) < 0 || e != npid())
            continue;
        if (compare)
            check(own[place] == content(x), "byte %ld at place %ld", (long)x, (long)place);
        own[place] = content(x);
        n = place + 1 > n ? place + 1 : n;
    }
    return n;
}

static struct pattern *parse(const char *format, int n)
{
    struct pattern *p;
    char line[100], why[PATTERN_WHY_BYTES];

    snprintf(line, sizeof line, format, n);
    check(pattern_parse(line, &p, why) == 0, "%s: %s", line, why);
    return p;
}

static void redistribution_of(int n)
{
    static const char *const maps[] = {"cyclic 300 %d", "cyclic 1 %d", "array 20x25x2 block,* on %dx1",
                                       "array 20x25x2 *,cyclic(3) on 1x%d", "cyclic 7 %d +100"};
    enum { MAPS = sizeof maps / sizeof *maps, BYTES = 2000 };

    for (int a = 0; a < MAPS; a++)
        for (int b = 0; b < MAPS; b++) {
            struct pattern *out = parse(maps[a], n), *in = parse(maps[b], n);

            memset(text, 0, BYTES);
            memset(buf, 0, BYTES);
            element(out, BYTES, text, 0);
            check_equal(nredist(text, out, buf, in, BYTES), 0);
            if (a < 4 && b < 4) /* a displaced pattern has not all bytes */
                element(in, BYTES, buf, 1);
            pattern_free(out);
            pattern_free(in);
        }
}

/* A plan of all that comes has more nodes than there may be: the sizes have no divisor in common. */
static void odd_redistribution(int n)
{
    static char out[1 << 16], in[1 << 16];
    struct pattern *from = parse("array 251x241x1 cyclic(3),* on %dx1", n);
    struct pattern *to = parse("array 239x233x1 cyclic(5),* on %dx1", n);

    element(from, sizeof out, out, 0);
    check_equal(nredist(out, from, in, to, sizeof out), 0);
    element(to, sizeof in, in, 1);
    pattern_free(from);
    pattern_free(to);
}

static void redistribution(void)
{
    int first, size, program = nself, n = node_count();
    struct pattern *same = parse("cyclic 8 %d", n), *fewer = parse("cyclic 8 %d", n + 1);
    struct pattern *other = parse("cyclic 16 %d", n);

    if (N_PROCID_OF(npid()) == 0) {
        redistribution_of(n);
        odd_redistribution(n);
        check_equal(nredist(text, same, buf, same, 0), 0);
        check_equal(nredist(text, same, buf, fewer, 100), -N_EINVAL);
        check_equal(nredist(text, same, buf, same, -1), -N_EINVAL);
        check_equal(nredist(text, same, buf, NULL, 100), -N_EINVAL);
        if (n > 1)
            check_equal(nredist(text, same, buf, own_node() == 1 ? other : same, 100), -N_EINVAL);
    }
    if (N_PROCID_OF(npid()) == 0) {
        nself = make_row(3, &first, &size);
        redistribution_of(size);
        check_equal(close(nself), 0);
        nself = program;
    }
    pattern_free(same);
    pattern_free(fewer);
    pattern_free(other);
}

/* ---- What goes wrong ---- */

/* One PE of each row does not come. */
static void lacking(void)
{
    int first, size;

    nself = make_row(2, &first, &size);
    if (npid() == 0)
        nsync(3);
}

static void lacking_sum(void)
{
    int first, size;

    nself = make_row(2, &first, &size);
    if (npid() == 0)
        isumn(1);
}

static void lacking_print(void)
{
    int first, size;

    nself = make_row(2, &first, &size);
    nglobal();
    if (npid() == 0)
        printf("never\n");
}

/* Each row prints and reads for itself. */
static void global_rows(void)
{
    int first, size, program = nself, number = -1;

    nself = make_row(2, &first, &size);
    nglobal();
    printf("row %d\n", first / 2);
    check(scanf("%d", &number) == 1, "no number");
    nlocal();
    check_equal(imaxn(number), number);
    nself = program;
    check_equal(isumn(number), 3 * 2); /* 1 and 2 on two nodes each */
}

static void all(void);

static const struct test_case cases[] = {
    {"requests", requests},
    {"same messages", same_messages},
    {"templates", templates},
    {"to all", to_all},
    {"parts", parts},
    {"errors", errors},
    {"rows", rows},
    {"endpoints are apart", endpoints_are_apart},
    {"bad domains", bad_domains},
    {"all contexts", all_contexts},
    {"all", all}, /* those before it */
    {"redistribution", redistribution},
    {"lacking", lacking},
    {"lacking sum", lacking_sum},
    {"lacking print", lacking_print},
    {"global rows", global_rows},
    {NULL, NULL},
};

static void all(void)
{
    for (const struct test_case *c = cases; c->run != all; c++) {
        c->run();
        nsync(9);
    }
}

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
