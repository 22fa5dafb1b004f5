/* Opening, creating and removing PIO files on volumes in memory, also by two nodes at once and after losses. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "libpio/file/file.h"
#include "libpio/file/pio.h"
#include "tests/libpio/fake.h"

static const struct pio_layout small = {3, 4, 2, NULL, NULL};

static void set_up(void)
{
    fake_reset();
}

TestSuite(open, .init = set_up);
TestSuite(creation, .init = set_up);
TestSuite(loss, .init = set_up);
TestSuite(unlink, .init = set_up);

static int create(const char *name, const struct pio_layout *layout)
{
    int pfd = pio_open_layout(name, O_RDWR | O_CREAT, 0644, layout);

    cr_assert(pfd >= 0, "%s: %s at %s", name, strerror(errno), pio_failed_path());
    return pfd;
}

static void create_with_data(const char *name, const struct pio_layout *layout)
{
    int pfd = create(name, layout);

    cr_assert_eq(pio_write(pfd, "0123456789abcdefghijklmnopqrstuvwxyz", 36), 36);
    cr_assert_eq(pio_close(pfd), 0);
}

static void expect_data(int pfd, const char *what)
{
    char got[40] = {0};

    cr_expect_eq(pio_read(pfd, got, sizeof got), 36, "%s", what);
    cr_expect_str_eq(got, "0123456789abcdefghijklmnopqrstuvwxyz", "%s", what);
}

static void expect_failure(int result, int error, const char *path, const char *what)
{
    cr_expect_eq(result, -1, "%s: got %d", what, result);
    cr_expect_eq(errno, error, "%s: %s", what, strerror(errno));
    cr_expect_str_eq(pio_failed_path(), path, "%s", what);
}

/* ---- Open ------------------------------------------------------------------------------------------- */

Test(open, takes_the_layout_from_the_file)
{
    create_with_data("/f", &small);
    int pfd = pio_open("/f", O_RDONLY);
    expect_data(pfd, "by its description");
    pio_close(pfd);
    pfd = pio_open_layout("/f", O_RDONLY, 0, &(struct pio_layout){3, 4, 5, NULL, NULL});
    expect_data(pfd, "with another number of buffers");
}

Test(open, uses_the_default_layout_for_a_new_file)
{
    char text[256] = {0};

    create("/dir/new", NULL);
    fake_get_file("//df07/dir/new.pio", text, sizeof text);
    cr_expect_str_eq(text, "pio 1\nblock 16384\ndisks 8\nindex 7\n"
                           "volumes df00 df01 df02 df03 df04 df05 df06 df07\nend\n");
    cr_expect_eq(fake_count_files(), 16, "a subfile and a description on each volume, no temporary file");
}

Test(open, refuses_another_layout_than_the_files)
{
    static const char *const others[] = {"df02", "df01", "df00"};

    create_with_data("/f", &small);
    expect_failure(pio_open_layout("/f", O_RDWR, 0, &(struct pio_layout){4, 4, 2, NULL, NULL}), EINVAL, "", "D");
    expect_failure(pio_open_layout("/f", O_RDWR, 0, &(struct pio_layout){3, 8, 2, NULL, NULL}), EINVAL, "", "B");
    expect_failure(pio_open_layout("/f", O_RDWR, 0, &(struct pio_layout){3, 4, 2, others, NULL}), EINVAL, "",
                   "volumes");
    expect_failure(pio_open_layout("/f", O_RDWR | O_CREAT | O_TRUNC, 0644, &(struct pio_layout){2, 4, 2, NULL, NULL}),
                   EINVAL, "", "truncation does not change the layout");
    expect_data(pio_open("/f", O_RDONLY), "unharmed");
    cr_expect_eq(fake_counts()->open_files, 3, "only the last open's");
}

Test(open, finds_a_file_on_other_volumes_when_told_where)
{
    static const char *const names[] = {"df06", "df01", "df04"};
    const struct pio_layout layout = {3, 4, 1, names, NULL};

    create_with_data("/f", &layout);
    cr_expect_eq(fake_get_file("//df06/f", NULL, 0), 12, "first volume");
    expect_data(pio_open_layout("/f", O_RDONLY, 0, &layout), "by its layout");
    expect_data(pio_open("//df04/f", O_RDONLY), "by one of its volumes");
    expect_data(pio_open("/f", O_RDONLY), "on a default volume");
    expect_failure(pio_open("//df00/f", O_RDONLY), ENOENT, "//df00/f", "not on that one");
    expect_failure(pio_open_layout("//df00/g", O_RDWR | O_CREAT, 0644, &layout), EINVAL, "//df00/g",
                   "a new file must lie where it is to be looked for");
}

Test(open, keeps_an_offset_per_descriptor)
{
    char a[8] = {0}, b[8] = {0};

    create_with_data("/f", &small);
    int first = pio_open("/f", O_RDONLY), second = pio_open("/f", O_RDONLY);
    pio_read(first, a, 5);
    pio_read(second, b, 3);
    pio_read(first, a, 2);
    cr_expect_arr_eq(a, "56", 2);
    cr_expect_arr_eq(b, "012", 3);
}

Test(open, truncates_every_subfile)
{
    struct stat st;

    create_with_data("/f", &small);
    int pfd = pio_open("/f", O_WRONLY | O_TRUNC);
    cr_expect_eq(pio_fstat(pfd, &st), 0);
    cr_expect_eq(st.st_size, 0);
    for (int k = 0; k < 3; k++) {
        char path[16];

        snprintf(path, sizeof path, "//df%02d/f", k);
        cr_expect_eq(fake_get_file(path, NULL, 0), 0, "%s", path);
    }
}

struct refusal {
    const char *what, *name;
    int flags, error;
};

static const struct refusal refusals[] = {
    {"no file", "/none", O_RDONLY, ENOENT},
    {"empty name", "", O_RDWR | O_CREAT, ENOENT},
    {"no slash in front", "f", O_RDWR | O_CREAT, EINVAL},
    {"only a volume", "//df00", O_RDWR | O_CREAT, EINVAL},
    {"only slashes", "///f", O_RDWR | O_CREAT, EINVAL},
    {"a folder", "/dir/", O_RDWR | O_CREAT, EISDIR},
    {"a description's name", "/f.pio", O_RDWR | O_CREAT, EINVAL},
    {"an existing file", "/f", O_RDWR | O_CREAT | O_EXCL, EEXIST},
    {"no access mode", "/f", O_ACCMODE, EINVAL},
    {"a reader's truncation", "/f", O_RDONLY | O_TRUNC, EINVAL},
    {"an unknown flag", "/f", O_RDONLY | O_DIRECTORY, EINVAL},
};

Test(open, refuses_bad_names_and_flags)
{
    create_with_data("/f", &small);
    int files = fake_count_files();
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        errno = 0;
        cr_expect_eq(pio_open(refusals[i].name, refusals[i].flags, 0644), -1, "%s", refusals[i].what);
        cr_expect_eq(errno, refusals[i].error, "%s: %s", refusals[i].what, strerror(errno));
    }
    cr_expect(pio_open(NULL, O_RDONLY) == -1 && errno == ENOENT, "no name");
    cr_expect(pio_open_layout("/g", O_RDWR | O_CREAT, 0644, &(struct pio_layout){-1, 0, 0, NULL, NULL}) == -1 &&
                  errno == EINVAL,
              "bad layout");
    cr_expect_eq(fake_count_files(), files, "nothing was made");
    cr_expect_eq(fake_counts()->open_files, 0);
}

Test(open, refuses_a_name_that_is_too_long)
{
    char name[PIO_PATH_MAX_BYTES + 1];

    memset(name, 'x', sizeof name);
    name[0] = '/';
    name[sizeof name - 1] = '\0';
    cr_expect(pio_open(name, O_RDWR | O_CREAT, 0644) == -1 && errno == ENAMETOOLONG);
}

Test(open, has_a_limit)
{
    create_with_data("/f", &small);
    for (int i = 0; i < PIO_OPEN_MAX; i++)
        cr_assert_eq(pio_open("/f", O_RDONLY), i);
    cr_expect(pio_open("/f", O_RDONLY) == -1 && errno == EMFILE);
    cr_expect_eq(pio_close(7), 0);
    cr_expect_eq(pio_open("/f", O_RDONLY), 7, "the empty entry");
}

Test(open, closes_everything)
{
    int pfd = create("/f", &small);

    cr_expect_eq(fake_counts()->open_files, 3);
    cr_expect_eq(pio_close(pfd), 0);
    cr_expect_eq(fake_counts()->open_files, 0);
    cr_expect(pio_close(pfd) == -1 && errno == EBADF, "twice");
    pfd = pio_open("/f", O_RDONLY);
    fake_fail_calls(1, -EIO);
    expect_failure(pio_close(pfd), EIO, "//df01/f", "a volume that fails");
    cr_expect_eq(fake_counts()->open_files, 0, "closed all the same");
    fake_fail_calls(1, 0);
    pfd = pio_open("/f", O_RDONLY);
    fake_fail_calls(1, -EIO);
    fake_fail_calls(2, -ENXIO);
    expect_failure(pio_close(pfd), EIO, "//df01/f", "the first of two that fail");
    cr_expect_eq(fake_counts()->open_files, 0, "closed all the same");
    cr_expect_eq(fake_counts()->bad_fds, 0);
}

static void break_volume_1(void)
{
    fake_fail_calls(1, -EIO);
}

Test(open, that_fails_half_way_closes_what_it_opened)
{
    create_with_data("/f", &small);
    int calls = fake_counts()->calls;
    pio_close(pio_open("/f", O_RDONLY));
    calls = fake_counts()->calls - calls;
    for (int at = 0; at < calls - 3; at++) {
        fake_at_call(at, break_volume_1);
        if (pio_open("/f", O_RDONLY) < 0)
            cr_expect_eq(errno, EIO);
        else
            cr_expect_eq(fake_counts()->open_files, 3);
        fake_fail_calls(1, 0);
        for (int pfd = 0; pfd < 2; pfd++)
            pio_close(pfd);
        cr_expect_eq(fake_counts()->open_files, 0, "failure at call %d", at);
        cr_expect_eq(fake_counts()->bad_fds, 0, "failure at call %d", at);
    }
}

/* ---- Creation ------------------------------------------------------------------------------------------- */

static int others_pfd, others_flags, others_errno;
static bool others_ran;

/* The other node waits while the first has the lock. */
static bool waits(void (*action)(void))
{
    if (fake_is_locked())
        fake_at_call(0, action);
    return fake_is_locked();
}

static void create_meanwhile(void)
{
    if (waits(create_meanwhile))
        return;
    others_ran = true;
    others_pfd = pio_open_layout("/f", others_flags, 0644, &small);
    others_errno = errno;
    if (others_pfd >= 0)
        pio_write(others_pfd, "other", 5);
}

/* Opens /f while another node acts: before the call at `at`, or, where it has to wait, when the lock is free. */
static int open_beside(int at, int flags, void (*action)(void))
{
    others_ran = false;
    fake_at_call(at, action);
    int pfd = pio_open_layout("/f", flags, 0644, &small), error = errno;
    fake_at_call(-1, action);
    if (!others_ran)
        action();
    errno = error;
    return pfd;
}

static int count_creation_calls(int flags)
{
    fake_reset();
    pio_close(pio_open_layout("/f", flags, 0644, &small));
    return fake_counts()->calls;
}

Test(creation, by_two_nodes_at_once_gives_one_file)
{
    int calls = count_creation_calls(O_RDWR | O_CREAT);

    others_flags = O_RDWR | O_CREAT;
    for (int at = 0; at < calls; at++) {
        char got[8] = {0};

        fake_reset();
        others_pfd = -1;
        int pfd = open_beside(at, O_RDWR | O_CREAT, create_meanwhile);
        cr_assert(pfd >= 0, "call %d: %s at %s", at, strerror(errno), pio_failed_path());
        if (others_pfd >= 0)
            cr_assert(pio_read(pfd, got, 5) == 5 && memcmp(got, "other", 5) == 0, "call %d", at);
        cr_assert(others_pfd >= 0 || at >= calls - 3, "call %d: %s", at, strerror(others_errno));
        pio_close(pfd);
        pio_close(others_pfd);
        cr_assert_eq(fake_count_files(), 6, "call %d: %d files", at, fake_count_files());
    }
}

Test(creation, exclusively_by_two_nodes_at_once_succeeds_for_one)
{
    int calls = count_creation_calls(O_RDWR | O_CREAT | O_EXCL);

    others_flags = O_RDWR | O_CREAT | O_EXCL;
    for (int at = 0; at < calls - 3; at++) {
        fake_reset();
        int pfd = open_beside(at, O_RDWR | O_CREAT | O_EXCL, create_meanwhile);
        cr_assert_eq((pfd >= 0) + (others_pfd >= 0), 1, "call %d: %d and %d", at, pfd, others_pfd);
        cr_assert_eq(pfd < 0 ? errno : others_errno, EEXIST, "call %d", at);
        pio_close(pfd);
        pio_close(others_pfd);
    }
}

static void create_otherwise_meanwhile(void)
{
    if (waits(create_otherwise_meanwhile))
        return;
    others_ran = true;
    others_pfd = pio_open_layout("/f", O_RDWR | O_CREAT, 0644, &(struct pio_layout){3, 8, 2, NULL, NULL});
    others_errno = errno;
}

Test(creation, with_two_layouts_at_once_succeeds_for_one)
{
    int calls = count_creation_calls(O_RDWR | O_CREAT);

    for (int at = 0; at < calls - 3; at++) {
        fake_reset();
        int pfd = open_beside(at, O_RDWR | O_CREAT, create_otherwise_meanwhile);
        cr_assert_eq((pfd >= 0) + (others_pfd >= 0), 1, "call %d: %d and %d", at, pfd, others_pfd);
        cr_assert_eq(pfd < 0 ? errno : others_errno, EINVAL, "call %d", at);
        pio_close(pfd);
        pio_close(others_pfd);
    }
}

Test(creation, makes_nothing_when_a_volume_does_not_exist)
{
    fake_remove_volume(5);
    expect_failure(pio_open("/f", O_RDWR | O_CREAT, 0644), ENOENT, "//df05/", "eight volumes");
    cr_expect_eq(fake_count_files(), 0);
    cr_expect(pio_open_layout("/f", O_RDWR | O_CREAT, 0644, &(struct pio_layout){5, 0, 0, NULL, NULL}) >= 0, "five");
}

Test(creation, that_was_interrupted_can_be_completed)
{
    fake_set_capacity(2, 0);
    expect_failure(pio_open_layout("/f", O_RDWR | O_CREAT, 0644, &small), ENOSPC, "//df02/f.pio", "full volume");
    expect_failure(pio_open("/f", O_RDWR), ENOENT, "//df00/f", "it is no file yet");
    fake_set_capacity(2, 10000);
    create_with_data("/f", &small);
    expect_data(pio_open("/f", O_RDONLY), "completed");
}

/* However many volumes there are. */
Test(creation, asks_all_volumes_at_the_same_time)
{
    for (int disks = 2; disks <= FAKE_VOLUMES; disks++) {
        fake_reset();
        struct pio_layout layout = {.disks = disks};
        int pfd = pio_open_layout("/f", O_RDWR | O_CREAT | O_EXCL, 0644, &layout);

        cr_assert_geq(pfd, 0);
        cr_expect_leq(fake_counts()->rounds, 10, "%d volumes: made in %d rounds", disks, fake_counts()->rounds);
        cr_expect_leq(fake_counts()->calls, 5 * disks + FAKE_VOLUMES + 9, "%d volumes: %d calls", disks,
                      fake_counts()->calls);
        cr_assert_eq(pio_close(pfd), 0);
        fake_counts()->rounds = 0;
        pfd = pio_open("/f", O_RDWR);
        cr_assert_geq(pfd, 0);
        cr_expect_eq(fake_counts()->rounds, 2, "%d volumes: opened in %d rounds", disks, fake_counts()->rounds);
        cr_assert_eq(pio_close(pfd), 0);
        fake_counts()->rounds = 0;
        cr_assert_eq(pio_unlink("/f"), 0);
        cr_expect_eq(fake_counts()->rounds, 9, "%d volumes: removed in %d rounds", disks, fake_counts()->rounds);
    }
}

Test(creation, leaves_a_plain_file_alone)
{
    fake_put_file("//df01/f", "plain", 5);
    expect_failure(pio_open_layout("/f", O_RDWR | O_CREAT | O_TRUNC, 0644, &small), EPROTO, "//df01/f.pio",
                   "in the way");
    cr_expect_eq(fake_count_files(), 1);
    cr_expect_eq(fake_get_file("//df01/f", NULL, 0), 5);
}

/* ---- Loss ---------------------------------------------------------------------------------------------------- */

struct loss_case {
    const char *what, *path;
    int error;
};

static const struct loss_case loss_cases[] = {
    {"first subfile", "//df00/f", ENOENT},
    {"first description", "//df00/f.pio", EPROTO},
    {"another subfile", "//df02/f", ENOENT},
    {"another description", "//df02/f.pio", EPROTO},
};

Test(loss, of_a_part_is_an_error_even_when_creating)
{
    for (size_t i = 0; i < sizeof loss_cases / sizeof loss_cases[0]; i++) {
        const struct loss_case *c = &loss_cases[i];

        fake_reset();
        create_with_data("/f", &small);
        fake_remove_file(c->path);
        expect_failure(pio_open("/f", O_RDWR), c->error, c->path, c->what);
        expect_failure(pio_open("/f", O_RDWR | O_CREAT, 0644), c->error, c->path, c->what);
        expect_failure(pio_open("/f", O_RDWR | O_CREAT | O_TRUNC, 0644), c->error, c->path, c->what);
    }
}

static void lose_subfile_2(void)
{
    fake_remove_file("//df02/f");
}

Test(loss, while_opening_is_not_made_good_by_an_empty_subfile)
{
    create_with_data("/f", &small);
    int calls = fake_counts()->calls;
    pio_open("/f", O_RDWR | O_CREAT, 0644);
    calls = fake_counts()->calls - calls;
    for (int at = 0; at < calls; at++) {
        fake_reset();
        create_with_data("/f", &small);
        fake_at_call(at, lose_subfile_2);
        pio_close(pio_open("/f", O_RDWR | O_CREAT, 0644));
        cr_assert_eq(fake_get_file("//df02/f", NULL, 0), -1);
        cr_assert_eq(fake_counts()->open_files, 0);
    }
}

Test(loss, of_a_whole_volume_is_an_error)
{
    for (int k = 0; k < 3; k++) {
        char subfile[16], description[16];

        snprintf(subfile, sizeof subfile, "//df%02d/f", k);
        snprintf(description, sizeof description, "//df%02d/f.pio", k);
        fake_reset();
        create_with_data("/f", &small);
        fake_remove_file(subfile);
        fake_remove_file(description);
        expect_failure(pio_open("/f", O_RDWR), ENOENT, subfile, "a blank volume");
        expect_failure(pio_open("/f", O_RDWR | O_CREAT, 0644), ENOENT, subfile, "a blank volume");
        fake_remove_volume(k);
        expect_failure(pio_open("/f", O_RDWR), ENOENT, subfile, "no volume");
    }
}

Test(loss, by_exchanged_volumes_is_noticed)
{
    for (int a = 0; a < 3; a++)
        for (int b = a + 1; b < 3; b++) {
            fake_reset();
            create_with_data("/f", &small);
            fake_exchange_volumes(a, b);
            cr_expect(pio_open("/f", O_RDWR) == -1 && errno == EPROTO, "%d and %d", a, b);
            fake_exchange_volumes(a, b);
            expect_data(pio_open("/f", O_RDONLY), "put back");
        }
}

Test(loss, by_a_volume_of_another_layout_is_noticed)
{
    static const char other[] = "pio 1\nblock 8\ndisks 3\nindex 1\nvolumes df00 df01 df02\nend\n";

    create_with_data("/f", &small);
    fake_put_file("//df01/f.pio", other, sizeof other - 1);
    expect_failure(pio_open("/f", O_RDWR), EPROTO, "//df01/f.pio", "from another file");
    fake_put_file("//df01/f.pio", "garbage", 7);
    expect_failure(pio_open("/f", O_RDWR), EPROTO, "//df01/f.pio", "damaged");
    fake_put_file("//df00/f.pio", "", 0);
    expect_failure(pio_open("/f", O_RDWR), EPROTO, "//df00/f.pio", "empty");
}

/* ---- Unlink ----------------------------------------------------------------------------------------------------- */

Test(unlink, leaves_nothing)
{
    create_with_data("/f", &small);
    create_with_data("/g", &small);
    cr_expect_eq(pio_unlink("/f"), 0);
    cr_expect_eq(fake_count_files(), 6, "the other file's");
    cr_expect(pio_open("/f", O_RDONLY) == -1 && errno == ENOENT);
    cr_expect(pio_unlink("/f") == -1 && errno == ENOENT, "twice");
    create("/f", &(struct pio_layout){2, 8, 1, NULL, NULL});
    cr_expect_eq(pio_unlink("//df01/f"), 0, "looked for on one volume");
}

/* It has changed nothing, or is done; what it could not remove is in nobody's way. */
Test(unlink, that_fails_at_any_call_leaves_the_file_whole)
{
    int failures = 0, done = 0;

    for (int at = 0, result = -1; result < 0 || at < 12; at++) {
        fake_reset();
        create_with_data("/f", &small);
        uint64_t before = fake_digest();
        fake_at_call(at, break_volume_1);
        result = pio_unlink("/f");
        fake_at_call(-1, break_volume_1);
        fake_fail_calls(1, 0);
        failures += result < 0;
        done += result == 0;
        if (result < 0)
            cr_expect_eq(fake_digest(), before, "call %d", at);
        else
            cr_expect(pio_open("/f", O_RDWR) == -1 && errno == ENOENT, "call %d", at);
        cr_expect_eq(pio_unlink("/f"), result < 0 ? 0 : -1, "call %d", at);
        cr_expect_eq(fake_count_files(), 0, "call %d", at);
    }
    cr_expect(failures > 4 && done > 2, "%d failures, %d done", failures, done);
}

Test(unlink, refuses_what_it_finds_on_the_wrong_volume)
{
    create_with_data("/f", &small);
    fake_exchange_volumes(0, 1);
    cr_expect(pio_unlink("/f") == -1 && errno == EPROTO);
    cr_expect_eq(fake_count_files(), 6);
}

Test(unlink, removes_a_file_that_lost_a_part)
{
    create_with_data("/f", &small);
    fake_remove_file("//df01/f");
    fake_remove_file("//df00/f.pio");
    cr_expect_eq(pio_unlink("/f"), 0);
    cr_expect_eq(fake_count_files(), 0);
}

static void heal_volume_1(void)
{
    fake_fail_calls(1, 0);
}

static void break_volume_1_for_a_call(void)
{
    break_volume_1();
    fake_at_call(0, heal_volume_1);
}

static int calls_of_unlink(void)
{
    create_with_data("/f", &small);
    int calls = fake_counts()->calls;
    pio_unlink("/f");
    return fake_counts()->calls - calls;
}

/* A part that could not be removed is no file, and does not hinder the next of that name. */
Test(unlink, leaves_a_subfile_its_description)
{
    int calls = calls_of_unlink();

    create_with_data("/f", &small);
    fake_at_call(calls - 5, break_volume_1_for_a_call);
    cr_expect_eq(pio_unlink("/f"), 0);
    cr_expect_geq(fake_get_file("//df01/f", NULL, 0), 0);
    cr_expect_gt(fake_get_file("//df01/f.pio", NULL, 0), 0);
    cr_expect_gt(fake_get_file("//df00/f.pio", NULL, 0), 0, "it tells that the file has been removed");
    cr_expect_eq(fake_count_files(), 3);
    cr_expect(pio_open("/f", O_RDONLY) == -1 && errno == ENOENT);
    create("/f", &small);
    cr_expect_eq(fake_get_file("//df01/f", NULL, 0), 0, "another file's");
    cr_expect_eq(fake_count_files(), 6);
}

static bool is_there;

static void look_for_the_first_part(void)
{
    is_there = fake_get_file("//df00/f", NULL, 0) >= 0;
}

/* A process that ends in between leaves a file that is whole, or none. */
Test(unlink, removes_the_first_volume_s_part_first)
{
    int calls = calls_of_unlink();

    for (int at = calls - 6; at < calls - 4; at++) {
        create_with_data("/f", &small);
        fake_at_call(at, look_for_the_first_part);
        cr_assert_eq(pio_unlink("/f"), 0);
        cr_expect_eq(is_there, at == calls - 6);
    }
}
