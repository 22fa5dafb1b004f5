/* Renaming PIO files: over others, and interrupted at each call to a volume. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <string.h>
#include <unistd.h>

#include "libpio/file/pio.h"
#include "tests/libpio/fake.h"

static const struct pio_layout small = {3, 4, 2, NULL, NULL}, other = {2, 8, 2, NULL, NULL};

TestSuite(rename, .init = fake_reset);

static void make(const char *name, const struct pio_layout *layout, const char *text)
{
    int pfd = pio_open_layout(name, O_RDWR | O_CREAT, 0644, layout);

    cr_assert_geq(pfd, 0, "%s: %s at %s", name, strerror(errno), pio_failed_path());
    cr_assert_eq(pio_write(pfd, text, strlen(text)), strlen(text));
    cr_assert_eq(pio_close(pfd), 0);
}

static void expect(const char *name, const char *text, const char *what)
{
    char got[100] = "";
    int pfd = pio_open(name, O_RDONLY);

    cr_assert_geq(pfd, 0, "%s: %s: %s at %s", what, name, strerror(errno), pio_failed_path());
    cr_expect_eq(pio_read(pfd, got, sizeof got), strlen(text), "%s", what);
    cr_expect_str_eq(got, text, "%s", what);
    cr_assert_eq(pio_close(pfd), 0);
}

#define TEXT "0123456789abcdefghijklmnopqrstuvwxyz"

Test(rename, gives_another_name)
{
    make("/f", &small, TEXT);
    int pfd = pio_open("/f", O_RDWR);
    cr_expect_eq(pio_rename("/f", "/d/g"), 0);
    cr_expect_eq(pio_open("/f", O_RDONLY), -1);
    cr_expect_eq(pio_lseek(pfd, 0, SEEK_END), 36, "an open descriptor stays good");
    pio_close(pfd);
    expect("/d/g", TEXT, "renamed");
    cr_expect_eq(fake_count_files(), 6);
    cr_expect_eq(pio_rename("/d/g", "/d/g"), 0);
    cr_expect_eq(pio_rename("//df01/d/g", "//df01/f"), 0);
    expect("/f", TEXT, "on one volume's word");
}

Test(rename, replaces_a_file_of_any_layout)
{
    const struct pio_layout *const layouts[] = {&small, &other};

    for (int i = 0; i < 2; i++) {
        fake_reset();
        make("/f", &small, TEXT);
        make("/g", layouts[i], "something else");
        cr_expect_eq(pio_rename("/f", "/g"), 0);
        expect("/g", TEXT, "replaced");
        cr_expect_eq(fake_count_files(), 6);
    }
}

Test(rename, replaces_files_of_that_name_on_different_volumes)
{
    static const char *const last[] = {"df01", "df02"};

    make("/f", &small, TEXT);
    make("//df00/g", &(struct pio_layout){.disks = 1, .block_size = 4}, "one");
    make("//df01/g", &(struct pio_layout){.disks = 2, .block_size = 4, .volumes = last}, "the other");
    cr_expect_eq(pio_rename("/f", "/g"), 0, "%s at %s", strerror(errno), pio_failed_path());
    expect("/g", TEXT, "renamed");
    cr_expect_eq(fake_count_files(), 6);
}

Test(rename, refuses_what_is_in_the_way_on_any_volume)
{
    for (int k = 0; k < 3; k++) {
        char path[] = "//df00/g", got[10] = "";

        fake_reset();
        make("/f", &small, TEXT);
        if (k > 0)
            make("//df00/g", &(struct pio_layout){.disks = k, .block_size = 4}, "before it");
        path[5] = (char)('0' + k);
        fake_put_file(path, "plain", 5);
        cr_expect(pio_rename("/f", "/g") == -1 && errno == EEXIST, "on %s: %s", path, strerror(errno));
        cr_expect_str_eq(pio_failed_path(), path);
        expect("/f", TEXT, "still there");
        cr_expect_eq(fake_get_file(path, got, sizeof got), 5, "%s", path);
        cr_expect_str_eq(got, "plain");
        if (k > 0)
            expect("//df00/g", "before it", "still there");
    }
}

Test(rename, refuses_what_is_in_the_way)
{
    make("/f", &small, TEXT);
    cr_expect(pio_rename("/none", "/g") == -1 && errno == ENOENT);
    cr_expect(pio_rename("/f", "//df01/g") == -1 && errno == EXDEV);
    cr_expect(pio_rename("/f", "/g.pio") == -1 && errno == EINVAL);
    cr_expect(pio_rename("/f", "/g/") == -1 && errno == EISDIR);
    cr_expect(pio_rename("", "/g") == -1 && errno == ENOENT);
    fake_put_file("//df00/g", "plain", 5);
    cr_expect(pio_rename("/f", "/g") == -1 && errno == EEXIST);
    expect("/f", TEXT, "still there");
}

static int failing;

static void fail_calls(void)
{
    fake_fail_calls(failing, -EIO);
}

/* A volume fails from some call on. When it works again, the same call does what it should; but where the answer to
 * what decides was lost, the file has its new name already. Any change of names drops what is left. */
Test(rename, that_failed_can_be_repeated)
{
    int failures = 0;

    for (int i = 0; i < 9 * 80; i++) {
        int replace = i % 3, at = i / 9;

        failing = i / 3 % 3;
        fake_reset();
        make("/f", &small, TEXT);
        if (replace > 0)
            make("/g", replace == 1 ? &small : &other, "something else");
        fake_at_call(at, fail_calls);
        int result = pio_rename("/f", "/g");
        failures += result < 0;
        fake_fail_calls(failing, 0);
        fake_at_call(-1, fail_calls);
        if (result < 0 && pio_rename("/f", "/g") < 0)
            cr_expect(failing == 0 && errno == ENOENT, "%d at %d: %s at %s", replace, at, strerror(errno),
                      pio_failed_path());
        expect("/g", TEXT, "completed");
        make("/x", &small, "x");
        cr_expect_eq(pio_unlink("/x"), 0);
        cr_expect_eq(fake_count_files(), 6, "%d at %d: %d files", replace, at, fake_count_files());
    }
    cr_expect_gt(failures, 20);
}

static jmp_buf killed;

static void kill_caller(void)
{
    longjmp(killed, 1);
}

/* As a machine that ends: the call goes no further, and its lock is gone. */
static bool survives(int at, int (*call)(void))
{
    bool whole = setjmp(killed) == 0;

    fake_at_call(at, kill_caller);
    if (whole)
        call();
    fake_at_call(-1, kill_caller);
    fake_unlock_all();
    return whole;
}

static int rename_f_to_g(void)
{
    return pio_rename("/f", "/g");
}

/* Under either name, and after another call without anything left. */
Test(rename, that_is_killed_at_any_call_is_done_or_undone)
{
    int calls = 0, done = 0;

    for (int replace = 0; replace < 3; replace++)
        for (int at = 0;; at++) {
            fake_reset();
            make("/f", &small, TEXT);
            if (replace > 0)
                make("/g", replace == 1 ? &small : &other, "something else");
            if (survives(at, rename_f_to_g))
                break;
            calls++;
            int pfd = pio_open("/f", O_RDONLY);
            cr_expect(pfd >= 0 || errno == ENOENT, "%d at %d: %s", replace, at, strerror(errno));
            pio_close(pfd);
            if (pfd < 0) {
                done++;
                expect("/g", TEXT, "done");
            } else {
                expect("/f", TEXT, "undone");
                if (replace)
                    expect("/g", "something else", "undone");
                cr_expect_eq(pio_rename("/f", "/g"), 0, "%d at %d: %s", replace, at, strerror(errno));
            }
            make("/x", &small, "x");
            cr_expect_eq(pio_unlink("/x"), 0);
            cr_expect_eq(fake_count_files(), 6, "%d at %d: %d files", replace, at, fake_count_files());
        }
    cr_expect(calls > 60 && done > 10, "%d calls, %d done", calls, done);
}

static int make_f(void)
{
    return pio_open_layout("/f", O_RDWR | O_CREAT | O_EXCL, 0644, &small);
}

Test(rename, creation_that_is_killed_at_any_call_can_be_repeated)
{
    int calls = 0;

    for (;; calls++) {
        fake_reset();
        if (survives(calls, make_f))
            break;
        int pfd = pio_open("/f", O_RDONLY);
        cr_expect(pfd >= 0 || errno == ENOENT, "at %d: %s", calls, strerror(errno));
        if (pfd < 0)
            cr_expect_geq(make_f(), 0, "at %d: %s at %s", calls, strerror(errno), pio_failed_path());
        cr_expect_eq(pio_unlink("/f"), 0);
        cr_expect_eq(fake_count_files(), 0, "at %d: %d files", calls, fake_count_files());
    }
    cr_expect_gt(calls, 20);
}
