/*
 * Clusterfile where something is wrong: requests that are not well formed, clients that end in the middle, files that
 * are removed while they are open, full volumes, plans that are too long; and e2fsck after each.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/libpio/clf_world.h"
#include "tests/libpio/random_pattern.h"
#include "vertex/contract/errors.h"

TestSuite(clf_errors, .timeout = 120);

static void run_on(uint32_t kilobytes, void (*script)(struct lab *lab))
{
    lab_make(&clf_lab, kilobytes, 96);
    cr_assert(lab_run(&clf_lab, script), "%s", clf_lab.log);
    cr_expect_eq(lab_fsck(&clf_lab, "-fn"), 0);
    lab_free(&clf_lab);
}

static struct pattern *parse(const char *text)
{
    struct pattern *p = NULL;
    char why[PATTERN_WHY_BYTES];

    cr_assert_eq(pattern_parse(text, &p, why), 0, "%s: %s", text, why);
    return p;
}

static struct clf_open *open_as(int node, const char *name, uint32_t flags, const char *layout, int servers)
{
    struct pattern *p = layout ? parse(layout) : NULL;
    const struct clf_place place = {NULL, servers, 0};
    struct clf_layout *l = NULL;
    struct clf_open *f = NULL;

    clf_node = node;
    if (p)
        cr_assert_eq(clf_layout_make(p, &place, &l), 0, "%s", clf_why());
    int error = clf_file_open(name, flags, 0640, l, &f);
    cr_assert_eq(error, 0, "%s: error %d", name, error);
    clf_layout_free(l);
    pattern_free(p);
    return f;
}

static int set_view(struct clf_open *f, const char *text, int element)
{
    static uint8_t packed[1u << 20];
    struct pattern *p = parse(text), *view;
    int64_t n = pattern_pack(p, element, packed, sizeof packed);

    cr_assert(n > 0 && n <= (int64_t)sizeof packed);
    cr_assert_eq(pattern_unpack(packed, (size_t)n, &view), 0);
    pattern_free(p);
    return clf_view_set(f, view);
}

#define CREATE (N_O_RDWR | N_O_CREAT)

/* ---- Requests ---- */

static void is_refused(int type, struct clf_request r, size_t n, int error, const char *what)
{
    static uint8_t message[sizeof r + 20000];

    memcpy(message, &r, sizeof r);
    memset(message + sizeof r, 'x', n);
    int32_t status = lab_wait(&clf_lab, lab_send(&clf_lab, clf_node, type, message, sizeof r + n));
    cr_expect_eq(status, error, "%s: %d, not %d", what, status, error);
}

static void malformed(struct lab *lab)
{
    struct clf_open *f = open_as(1, "/a", CREATE, "cyclic 100 1", 1);
    uint8_t bytes[200] = {0};

    cr_assert_eq(clf_move(f, true, bytes, 200, 0), 200);
    const uint32_t a = f->part[0].attachment;
    const struct clf_request own = {.attachment = a, .drive = 0};
    struct clf_request r;

    (void)lab;
    is_refused(0x805f, own, 0, -N_ENOSYS, "a number that none has");
    lab_wait(&clf_lab, lab_send(&clf_lab, 1, N_CLF_READ, &own, 12));
    cr_expect_eq(clf_lab.head.status, -N_EPROTO);
    is_refused(N_CLF_READ, own, 0, -N_EPROTO, "no bytes");
    r = own, r.bytes = 10;
    is_refused(N_CLF_READ, r, 3, -N_EPROTO, "a read with data");
    is_refused(N_CLF_WRITE, r, 9, -N_EPROTO, "data of another length");
    r.bytes = FILE_IO_MAX_BYTES;
    is_refused(N_CLF_READ, r, 0, -N_EPROTO, "more than a reply can have");
    r = own, r.bytes = 1, r.view = 1;
    is_refused(N_CLF_READ, r, 0, -N_EINVAL, "a view that there is not");
    r.view = CLF_VIEWS + 1;
    is_refused(N_CLF_READ, r, 0, -N_EINVAL, "a view that cannot be");
    is_refused(N_CLF_VIEW, r, 1, -N_EINVAL, "to make such a view");
    r.view = 1, r.bytes = 30;
    is_refused(N_CLF_VIEW, r, 30, -N_EOVERFLOW, "a view of anything");
    r.bytes = 20000;
    is_refused(N_CLF_VIEW, r, 20000, -N_E2BIG, "a view that is too long");
    r = own, r.attachment = a + 1, r.bytes = 1;
    is_refused(N_CLF_READ, r, 0, -N_EBADF, "no such attachment");
    r = own, r.drive = 1, r.bytes = 1;
    is_refused(N_CLF_READ, r, 0, -N_EBADF, "an attachment of another drive");
    r.drive = 7;
    is_refused(N_CLF_READ, r, 0, -N_ENODEV, "no such drive");
    r = own, r.bytes = 1, r.offset = INT64_MAX;
    is_refused(N_CLF_READ, r, 0, -N_EINVAL, "an offset that no file has");
    clf_node = 2;
    r = own, r.bytes = 1;
    is_refused(N_CLF_READ, r, 0, -N_EBADF, "another client's attachment");
    is_refused(N_CLF_ATTACH, own, 0, -N_EPROTO, "a part of no file");
    r = (struct clf_request){.handle = 5, .part = CLF_PART(CLF_SUBFILES_MAX, 0)};
    is_refused(N_CLF_ATTACH, r, 0, -N_EPROTO, "a subfile that cannot be");
    r = (struct clf_request){.drive = 1, .bytes = 2000};
    is_refused(N_CLF_NAME, r, 2000, -N_EPROTO, "a name that is too long");
    r = (struct clf_request){.drive = 1, .bytes = 3};
    is_refused(N_CLF_NAME, r, 3, -N_EPROTO, "a name without a slash");
    clf_node = 1;
    clf_file_close(f);
    is_refused(N_CLF_DETACH, own, 0, -N_EBADF, "a second end");
}

Test(clf_errors, malformed_requests_are_refused_and_change_nothing)
{
    run_on(4096, malformed);
}

/* ---- Ends ---- */

static void ends(struct lab *lab)
{
    struct clf_open *f = open_as(1, "/a", CREATE, "cyclic 10 2", 2), *g;
    uint8_t bytes[100], got[100];

    for (int i = 0; i < 100; i++)
        bytes[i] = (uint8_t)i;
    cr_assert_eq(set_view(f, "view 4 (0,1,-,1)", 0), 0);
    cr_assert_eq(clf_move(f, true, bytes, 50, 0), 50);
    for (int after = 0; after < 2; after++) { /* with a write under way, which is carried out or not */
        struct clf_question q = clf_part_question(f, 0, N_CLF_WRITE);
        uint8_t message[sizeof q.r + 4] = {0};

        q.r.bytes = 4;
        memcpy(message, &q.r, sizeof q.r);
        if (after)
            lab_send(lab, 1, N_CLF_WRITE, message, sizeof message);
        lab_end_client(lab, 1);
        is_refused(N_CLF_READ, q.r, 0, -N_EBADF, "what has ended with its client");
        if (!after) {
            clf_node = 1;
            clf_file_forked(f); /* as if it were another process */
            cr_assert_eq(clf_move(f, false, got, 50, 0), 50);
            cr_assert_arr_eq(got, bytes, 50);
        }
    }
    clf_file_forked(f);
    clf_file_close(f);
    /* A file that is removed keeps what is attached, and gets no parts any more. */
    f = open_as(2, "/a", N_O_RDWR, NULL, 0);
    g = open_as(3, "/a", N_O_RDWR, NULL, 0);
    clf_node = 2;
    cr_assert_eq(clf_move(f, false, got, 10, 0), 10);
    clf_node = 4;
    cr_assert_eq(clf_name_unlink("/a"), 0);
    cr_assert_eq(clf_name_unlink("/a"), -N_ENOENT);
    clf_node = 2;
    cr_expect_eq(clf_move(f, true, bytes, 5, 0), 5);
    cr_expect_eq(clf_move(f, true, bytes, 5, 10), -N_ESTALE);
    clf_file_close(f);
    clf_node = 3;
    cr_expect_eq(clf_move(g, true, bytes, 5, 0), -N_ESTALE);
    clf_file_close(g);
    f = open_as(3, "/a", CREATE, "cyclic 10 2", 2); /* with the same inode, perhaps */
    cr_expect_eq(clf_move(f, false, got, 10, 0), 0);
    clf_file_close(f);
}

Test(clf_errors, a_client_that_ends_leaves_nothing_and_a_file_that_is_removed_does_not_come_back)
{
    run_on(4096, ends);
}

/* ---- Full volumes ---- */

static uint8_t much[3u << 20], back[3u << 20];

static void fills(struct lab *lab)
{
    struct clf_open *f = open_as(1, "/big", CREATE, "cyclic 1000 3", 3), *g;
    int64_t size, moved;

    (void)lab;
    for (size_t i = 0; i < sizeof much; i++)
        much[i] = (uint8_t)(i * 3 + i / 256);
    /* The third volume is filled first. */
    g = open_as(1, "/third", CREATE, "cyclic 1 1", 1);
    clf_file_close(g);
    moved = clf_move(f, true, much, sizeof much, 0);
    cr_assert(moved > 0 && moved < (int64_t)sizeof much, "%ld bytes moved", (long)moved);
    cr_assert_eq(clf_move(f, false, back, (uint64_t)moved, 0), moved);
    cr_assert_arr_eq(back, much, (size_t)moved);
    cr_expect_eq(clf_move(f, true, much, 60000, moved), -N_ENOSPC);
    cr_assert_eq(clf_file_size(f, &size), 0);
    cr_expect_geq(size, moved);
    cr_assert_eq(clf_file_set_size(f, 10), 0);
    cr_expect_eq(clf_move(f, true, much, 60000, 0), 60000);
    clf_file_close(f);
}

Test(clf_errors, a_full_volume_bounds_the_count_by_the_first_byte_that_was_not_written)
{
    run_on(1024, fills);
}

/* ---- Long plans ---- */

static void lengths(struct lab *lab)
{
    /* Periods of primes: all of what comes has millions of nodes, and a window of it some. */
    struct clf_open *f = open_as(1, "/w", CREATE, "array 997x101x3 cyclic(5),* on 7x1", 2);
    static uint8_t got[60000];
    int n = 0;

    (void)lab;
    for (int i = 0; i < 997 * 101 * 3; i++)
        much[i] = (uint8_t)(i * 5 + i / 256);
    cr_assert_eq(clf_move(f, true, much, 997 * 101 * 3, 0), 997 * 101 * 3);
    cr_assert_eq(set_view(f, "cyclic 1009 6", 4), 0);
    cr_assert_lt(f->sight->range.to, PATTERN_OFFSET_MAX, "this view has a window");
    const int64_t moved = clf_move(f, false, got, sizeof got, 0);
    for (int i = 0; i < 997 * 101 * 3; i++)
        if (i / 1009 % 6 == 4)
            back[n++] = much[i];
    cr_expect_eq(moved, n, "%d bytes of %d", (int)moved, n);
    cr_expect_arr_eq(got, back, (size_t)n);
    /* Backwards, and by writes. */
    for (int at = n - 7000; at > 0; at -= 7000) {
        cr_assert_eq(clf_move(f, true, back + at, 7000, at), 7000);
        cr_assert_eq(clf_move(f, false, got, 7000, at), 7000);
        cr_assert_arr_eq(got, back + at, 7000);
    }
    cr_assert_eq(set_view(f, "view (0,0,-,1)", 0), 0);
    cr_assert_eq(clf_move(f, false, got, sizeof got, 0), sizeof got);
    cr_expect_arr_eq(got, much, sizeof got);
    clf_file_close(f);
}

Test(clf_errors, views_of_sizes_that_do_not_divide_move_their_window)
{
    run_on(8192, lengths);
}
