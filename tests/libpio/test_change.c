/* Folders over several volumes: calls that fail change nothing, and calls that are killed are done or undone. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "libpio/file/change.h"
#include "libpio/file/pio.h"
#include "libpio/file/transport.h"
#include "tests/libpio/fake.h"

TestSuite(change, .init = fake_reset);

static const char *const over[] = {"df00", "df01", "df02", "df03", "df04"};
static struct pio_layout layout;

static void use_volumes(int disks)
{
    fake_reset();
    layout = (struct pio_layout){.disks = disks, .block_size = 4, .volumes = over};
}

static int make(const char *name)
{
    return pio_folder_make(&layout, name, 0755);
}

static int make_file(const char *name)
{
    int pfd = pio_open_layout(name, O_RDWR | O_CREAT, 0644, &layout);

    if (pfd < 0)
        return -errno;
    cr_assert_eq(pio_write(pfd, "0123456789abcdefghijk", 21), 21);
    return pio_close(pfd);
}

static int read_file(const char *name)
{
    char got[32];
    int pfd = pio_open(name, O_RDONLY);

    if (pfd < 0)
        return -errno;
    int n = (int)pio_read(pfd, got, sizeof got);
    cr_expect_arr_eq(got, "0123456789abcdefghijk", 21);
    pio_close(pfd);
    return n;
}

/* On how many volumes the name is. */
static int count(const char *name)
{
    int n = 0;

    for (int k = 0; k < layout.disks; k++) {
        struct pio_question q = {.kind = PIO_ASK_STAT, .volume = over[k], .name = name, .suffix = ""};

        pio_transport->ask(&q, 1);
        n += q.result >= 0;
    }
    return n;
}

/* ---- Calls that are killed ---- */

static jmp_buf killed;

static void kill_caller(void)
{
    longjmp(killed, 1);
}

static int make_d(void)
{
    return make("/d");
}

static int remove_d(void)
{
    return pio_folder_remove(&layout, "/d", 0755);
}

static int move_d(void)
{
    return pio_folder_rename(&layout, "/d", "/e", 0755);
}

static int move_file_d(void)
{
    return pio_rename("//df00/d", "//df00/e") ? -errno : 0;
}

static int create_d(void)
{
    int pfd = pio_open_layout("//df00/d", O_RDWR | O_CREAT, 0644, &layout);

    int error = pfd < 0 ? -errno : 0;

    pio_close(pfd);
    return error;
}

static int unlink_d(void)
{
    return pio_unlink("//df00/d") ? -errno : 0;
}

static void has_nothing(void)
{
}

static void has_folder(void)
{
    cr_assert_eq(make("/d"), 0);
}

static void has_folders(void)
{
    has_folder();
    cr_assert_eq(make_file("//df00/d/f"), 0);
    cr_assert_eq(make("/e"), 0);
}

static void has_full_folder(void)
{
    has_folder();
    cr_assert_eq(make_file("//df00/d/f"), 0);
}

static void has_file(void)
{
    cr_assert_eq(make_file("//df00/d"), 0);
}

static void has_files(void)
{
    has_file();
    cr_assert_eq(make_file("//df00/e"), 0);
}

static const struct killed_case {
    const char *what;
    void (*before)(void);
    int (*call)(void);
    int again; /* of the call where it had been done */
    int files; /* names on each volume when it has been done */
    /* where a volume is full: the record, and what is made, need room */
    int first_full, other_full;
} cases[] = {
    {"mkdir", has_nothing, make_d, -EEXIST, 1, -ENOSPC, -ENOSPC},
    {"rmdir", has_folder, remove_d, -ENOENT, 0, 0, 0},
    {"rename of a folder", has_full_folder, move_d, -ENOENT, 3, -ENOSPC, 0},
    {"rename of a folder onto an empty one", has_folders, move_d, -ENOENT, 3, -ENOSPC, 0},
    {"rename of a file", has_file, move_file_d, -ENOENT, 2, -ENOSPC, 0},
    {"rename of a file onto another", has_files, move_file_d, -ENOENT, 2, -ENOSPC, 0},
    {"creation", has_nothing, create_d, 0, 2, -ENOSPC, -ENOSPC},
    {"unlink", has_file, unlink_d, -ENOENT, 0, 0, 0},
};
#define CASES (int)(sizeof cases / sizeof cases[0])

static bool survives(int at, int (*call)(void))
{
    bool whole = setjmp(killed) == 0;

    fake_at_call(at, kill_caller);
    if (whole)
        cr_expect_eq(call(), 0);
    fake_at_call(-1, kill_caller);
    fake_unlock_all();
    return whole;
}

/* At each call to a volume; then the same call finds it done or does it, and nothing else is left. */
Test(change, that_is_killed_anywhere_is_completed_by_the_next)
{
    for (int i = 0; i < CASES; i++)
        for (int disks = 1; disks <= 5; disks++)
            for (int at = 0;; at++) {
                const struct killed_case *c = &cases[i];

                use_volumes(disks);
                c->before();
                if (survives(at, c->call)) {
                    cr_expect_gt(at, 4, "%s: %d calls", c->what, at);
                    cr_expect_eq(fake_counts()->early, 0, "%s on %d: %d volumes were not durable", c->what, disks,
                                 fake_counts()->early);
                    break;
                }
                int result = c->call();
                cr_expect(result == 0 || result == c->again, "%s on %d, killed at %d: then %d", c->what, disks, at,
                          result);
                cr_assert_eq(pio_change_settle("df00"), 0);
                cr_expect_eq(fake_count_files(), c->files * disks, "%s on %d, killed at %d: %d names", c->what, disks,
                             at, fake_count_files());
                cr_expect_eq(fake_counts()->early, 0, "%s on %d, killed at %d: %d volumes were not durable", c->what,
                             disks, at, fake_counts()->early);
            }
}

/* Without another call that changes names. Where it has gone, one of that name can be made. */
Test(change, that_is_killed_while_a_file_is_removed_leaves_it_whole_or_gone)
{
    int gone = 0;

    for (int disks = 1; disks <= 5; disks++)
        for (int at = 0;; at++) {
            use_volumes(disks);
            has_file();
            if (survives(at, unlink_d))
                break;
            bool listed = fake_get_file("//df00/d", NULL, 0) >= 0;
            int bytes = read_file("//df00/d");
            cr_expect_eq(bytes, listed ? 21 : -ENOENT, "%d, killed at %d: %d", disks, at, bytes);
            gone += !listed;
            cr_expect_eq(make_file("//df00/d"), 0);
            cr_expect_eq(fake_count_files(), 2 * disks, "%d, killed at %d: %d names", disks, at, fake_count_files());
        }
    cr_expect_gt(gone, 20);
}

/* The file in a folder that is moved is found under one of its names, without the same call. */
Test(change, that_is_killed_while_a_folder_moves_leaves_its_files_whole)
{
    for (int disks = 1; disks <= 5; disks++)
        for (int at = 0;; at++) {
            use_volumes(disks);
            has_full_folder();
            if (survives(at, move_d))
                break;
            int old = read_file("//df00/d/f"), new = read_file("//df00/e/f");
            cr_expect_eq((old == 21) + (new == 21), 1, "%d, killed at %d: %d and %d", disks, at, old, new);
        }
}

/* ---- Calls that fail ---- */

static int bad; /* the volume that is */

static void be_full(bool is)
{
    fake_set_capacity(bad, is ? 0 : INT64_MAX / 4);
}

static void be_dead(bool is)
{
    fake_fail_calls(bad, is ? -EIO : 0);
}

static void be_read_only(bool is)
{
    fake_set_read_only(bad, is);
}

static const struct state {
    const char *what;
    void (*be)(bool is);
    int error; /* of a call; 0: as the call's row says */
} states[] = {{"full", be_full, 0}, {"dead", be_dead, -EIO}, {"read-only", be_read_only, -EROFS}};
#define STATES (int)(sizeof states / sizeof states[0])

/* Each call that changes names, with each volume in each state. */
Test(change, on_a_volume_that_is_full_dead_or_read_only_fails_and_changes_nothing)
{
    for (int i = 0; i < CASES * STATES * 3; i++) {
        const struct killed_case *c = &cases[i / STATES / 3];
        const struct state *state = &states[i / 3 % STATES];

        bad = i % 3;
        use_volumes(3);
        c->before();
        uint64_t before = fake_digest();
        int error = state->error ? state->error : bad == 0 ? c->first_full : c->other_full;
        state->be(true);
        int result = c->call();
        state->be(false);
        cr_expect_eq(result, error, "%s, volume %d %s: %d", c->what, bad, state->what, result);
        cr_assert_eq(pio_change_settle("df00"), 0);
        if (error)
            cr_expect_eq(fake_digest(), before, "%s, volume %d %s: something has changed", c->what, bad, state->what);
        else
            cr_expect_eq(fake_count_files(), c->files * 3, "%s, volume %d %s: %d names", c->what, bad, state->what,
                         fake_count_files());
    }
}

static const struct state *state_to_be;

static void turn_bad(void)
{
    state_to_be->be(true);
}

/* The volume becomes so at some call, and is good again for the next lock. What a creation could not take back, the
 * next one does. */
Test(change, on_a_volume_that_becomes_full_dead_or_read_only_is_done_or_changes_nothing)
{
    for (int i = 0; i < CASES * STATES * 3; i++) {
        const struct killed_case *c = &cases[i / STATES / 3];
        int result = -1, failures = 0;

        bad = i % 3;
        state_to_be = &states[i / 3 % STATES];
        for (int at = 0; result < 0 || at < 4; at++) {
            use_volumes(3);
            c->before();
            uint64_t before = fake_digest();
            fake_at_call(at, turn_bad);
            result = c->call();
            fake_at_call(-1, turn_bad);
            state_to_be->be(false);
            failures += result < 0;
            cr_assert_eq(pio_change_settle("df00"), 0);
            if (c->call == create_d && result < 0)
                cr_assert(create_d() == 0 && unlink_d() == 0);
            if (c->call == unlink_d && result == 0)
                cr_assert(create_d() == 0 && unlink_d() == 0);
            bool is_done = fake_count_files() == c->files * 3 && fake_digest() != before;
            cr_expect(result < 0 ? fake_digest() == before : is_done, "%s, volume %d %s at call %d: %d, %d names",
                      c->what, bad, state_to_be->what, at, result, fake_count_files());
        }
        cr_expect(failures > 0 || !state_to_be->error, "%s, volume %d %s", c->what, bad, state_to_be->what);
    }
}

Test(change, of_a_folder_onto_one_that_is_not_empty_anywhere_changes_nothing)
{
    for (int k = 0; k < 3; k++) {
        char plain[] = "//df00/e/x";

        use_volumes(3);
        has_folder();
        cr_assert_eq(make("/e"), 0);
        plain[5] = (char)('0' + k);
        fake_put_file(plain, "x", 1);
        cr_expect_eq(move_d(), -ENOTEMPTY, "%s", plain);
        cr_expect_eq(count("/d") + count("/e"), 6, "%s", plain);
        cr_expect_eq(pio_folder_remove(&layout, "/e", 0755), -ENOTEMPTY, "%s", plain);
        cr_expect_eq(count("/e"), 3, "%s", plain);
        cr_expect_eq(fake_count_files(), 7);
    }
}

Test(change, of_what_is_not_there_or_there_already_is_refused)
{
    use_volumes(3);
    cr_expect_eq(remove_d(), -ENOENT);
    cr_expect_eq(move_d(), -ENOENT);
    has_folder();
    cr_expect_eq(make_d(), -EEXIST);
    cr_assert_eq(make_file("//df00/e"), 0);
    cr_expect_eq(move_d(), -ENOTDIR);
    cr_expect_eq(pio_folder_remove(&layout, "/e", 0755), -ENOTDIR);
    cr_expect_eq(make("/e"), -EEXIST);
    cr_expect_eq(read_file("//df00/e"), 21);
    cr_expect_eq(fake_count_files(), 9);
}

/* Folders that older programs left on some volumes only. */
Test(change, completes_a_folder_that_only_some_volumes_have)
{
    use_volumes(3);
    cr_assert_eq(pio_transport->mkdir("//df01/d", 0755), 0);
    cr_expect_eq(make_d(), 0);
    cr_expect_eq(count("/d"), 3);
    cr_assert_eq(pio_transport->rmdir("//df02/d", 0), 0);
    cr_expect_eq(remove_d(), 0);
    cr_expect_eq(fake_count_files(), 0);
}
