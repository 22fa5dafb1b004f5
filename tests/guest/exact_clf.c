/*
 * Random files of Clusterfile: all nodes write a file by views of one pattern and read it by those of another, each
 * alone or all together, in every way, on a layout that was drawn, too. What a view shows is what its bytes of the file
 * are. Each node's last line is the sum of results and times, so that a single cycle's difference between two runs
 * shows.
 *
 *   exact_clf MIX SEED      MIX: not used; make exact names one
 */
#include <clf.h>
#include <fcntl.h>
#include <group.h>
#include <nself.h>
#include <ntime.h>
#include <pattern.h>
#include <unistd.h>

#include "check.h"

enum { ROUNDS = 2, BYTES_MAX = 24000 };

static uint64_t choice, own_choice, seen;
static unsigned char buf[BYTES_MAX], back[BYTES_MAX];
static struct group all;

static void note(int64_t value)
{
    seen = (seen ^ (uint64_t)value) * 0x100000001b3ull;
    seen = (seen ^ (uint64_t)(amicclk() * 20 + 0.5)) * 0x100000001b3ull;
}

/* All nodes draw the same. An element for each of `elements`; what does not divide is most of them. */
static struct pattern *draw_pattern(int elements)
{
    const unsigned rows = 3 + draw(&choice) % 40, columns = 3 + draw(&choice) % 50, item = 1 + draw(&choice) % 9;
    const unsigned k = 1 + draw(&choice) % 5, kind = draw(&choice) % 4;
    char text[100], why[PATTERN_WHY_BYTES];
    struct pattern *p = NULL;

    if (kind == 0)
        sprintf(text, "cyclic %u %d", k * item, elements);
    else if (kind == 1)
        sprintf(text, "array %ux%ux%u *,cyclic(%u) on 1x%d", rows, columns, item, k, elements);
    else if (kind == 2)
        sprintf(text, "array %ux%ux%u block,* on %dx1", rows, columns, item, elements);
    else
        sprintf(text, "array %ux%ux%u cyclic(%u),* on %dx1", rows, columns, item, k, elements);
    check(pattern_parse(text, &p, why) == 0, "%s: %s", text, why);
    return p;
}

static unsigned char byte_of(int64_t at, int round)
{
    return (unsigned char)(at * 7 + at / 251 * 13 + round);
}

/* How many of the file's `size` bytes the node's view has. */
static int bytes_of(const struct pattern *p, int64_t size)
{
    return p->element[all.rank].bytes > 0 ? (int)pattern_rank(p, all.rank, size) : 0;
}

static void set_view(int fd, const struct pattern *p)
{
    struct clf_method m = {.way = draw(&choice) % 2 ? CLF_WAY_TWO_PHASE : CLF_WAY_VIEW,
                           .holders = (int)(1 + draw(&choice) % (unsigned)all.size),
                           .block = 1 + draw(&choice) % 3000,
                           .buffer = 100 + draw(&choice) % 9000};

    check(clf_fcntl(fd, CLF_F_METHOD, &m) == 0, "CLF_F_METHOD");
    if (p->element[all.rank].bytes > 0)
        check(clf_setpattern(fd, p, all.rank) == 0, "clf_setpattern");
    else
        check(clf_setpattern(fd, NULL, 0) == 0, "the whole file");
    note(m.way);
}

/* Moves the view's first n bytes: by one collective call, or in pieces by this node alone. */
static void move(int fd, bool writes, unsigned char *bytes, int n, bool together)
{
    check(clf_lseek(fd, 0, SEEK_SET) == 0, "clf_lseek");
    if (together)
        check(clf_fcntl(fd, CLF_F_NEXT_COLLECTIVE) == 0, "CLF_F_NEXT_COLLECTIVE");
    for (int at = 0, some; at < n || together; at += some, together = false) {
        some = together ? n : 1 + (int)(draw(&own_choice) % (unsigned)(n - at));
        check((writes ? clf_write(fd, bytes + at, (size_t)some) : clf_read(fd, bytes + at, (size_t)some)) == some,
              writes ? "clf_write" : "clf_read");
        note(some);
    }
}

static void one_round(int round)
{
    struct pattern *layout = draw_pattern(1 + (int)(draw(&choice) % 4)),
                   *p[2] = {draw_pattern(all.size), draw_pattern(all.size)};
    const int64_t size = 1 + draw(&choice) % BYTES_MAX;
    const struct clf_place place = {.servers = (int)(draw(&choice) % 3), .stripe = 1 + draw(&choice) % 5000};
    int fd = all.rank == 0 ? clf_create("/clf/random", O_RDWR | O_TRUNC, 0640, layout, &place) : 0;

    group_barrier(&all);
    if (all.rank > 0)
        fd = clf_open("/clf/random", O_RDWR);
    check(fd >= 0 && clf_fcntl(fd, CLF_F_COLLECTIVE, &all) == 0, "open");
    for (int i = 0; i < 2; i++) {
        const int n = bytes_of(p[i], size);
        const bool together = draw(&choice) % 2;

        set_view(fd, p[i]);
        for (int k = 0; k < n; k++)
            buf[k] = byte_of(pattern_file(p[i], all.rank, k), round);
        move(fd, i == 0, i == 0 ? buf : back, n, together);
        check(i == 0 || memcmp(buf, back, (size_t)n) == 0, "what was read is not what was written");
        group_barrier(&all);
    }
    check(clf_close(fd) == 0, "clf_close");
    group_barrier(&all);
    if (all.rank == 0)
        check(clf_unlink("/clf/random") == 0, "clf_unlink");
    for (int i = 0; i < 2; i++)
        pattern_free(p[i]);
    pattern_free(layout);
}

int main(int argc, char **argv)
{
    const unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;

    check(group_make(&all, NULL, ncubesize()) == 0, "group_make");
    choice = seed * 2654435761u + 1;
    own_choice = choice + (unsigned)all.rank * 7919u;
    for (int round = 0; round < ROUNDS; round++)
        one_round(round);
    printf("node %d: %016lx\n", all.rank, (unsigned long)seen);
    return 0;
}
