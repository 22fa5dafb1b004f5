/*
 * Prints everything that a program can see of the front end's files: of existing ones, and of those that it makes.
 *
 *   described all      of the whole served folder, before and after it has made and changed files
 *   described times    the times of "fresh" and of a file that it makes
 */
#include <dirent.h>
#include <fcntl.h>
#include <ntime.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "check.h"

static void describe(const char *name)
{
    struct stat st;

    check(lstat(name, &st) == 0, "lstat %s", name);
    printf("%s: %ld %ld %o %ld %d %d %ld %ld %ld, %ld %ld %ld; %d\n", name, (long)st.st_dev, (long)st.st_ino,
           (unsigned)st.st_mode, (long)st.st_nlink, st.st_uid, st.st_gid, (long)st.st_size, (long)st.st_blksize,
           (long)st.st_blocks, (long)st.st_atime, (long)st.st_mtime, (long)st.st_ctime,
           access(name, R_OK) + 2 * access(name, W_OK) + 4 * access(name, X_OK));
}

static void describe_folder(const char *name)
{
    DIR *dir = opendir(name);
    struct dirent *d;

    check(dir, "%s", name);
    check(chdir(name) == 0, "%s", name);
    while ((d = readdir(dir))) {
        printf("%ld ", (long)d->d_ino);
        describe(d->d_name);
    }
    closedir(dir);
    check(chdir("/") == 0, "/");
}

/* Through a buffer of the size that the C library finds right. */
static void copy(const char *from, const char *to)
{
    FILE *in = fopen(from, "r"), *out = fopen(to, "w");
    int c;

    check(in && out, "%s, %s", from, to);
    while ((c = getc(in)) != EOF)
        putc(c, out);
    fclose(in);
    fclose(out);
}

static void make_files(void)
{
    struct statvfs vfs;

    for (int i = 0; i < 3; i++) {
        copy("old", "made");
        describe("made");
        check(unlink("made") == 0, "unlink");
    }
    copy("old", "sub/copy");
    copy("old", "/tmp/copy");
    describe("/tmp/copy");
    check(mkdir("made", 0777) == 0 && symlink("old", "made/link") == 0, "made");
    check(truncate("cut", 3) == 0, "cut");
    check(statvfs("/", &vfs) == 0, "statvfs");
    printf("%lu %lu %lu %lu %lu\n", (unsigned long)vfs.f_bsize, (unsigned long)vfs.f_blocks, (unsigned long)vfs.f_bfree,
           (unsigned long)vfs.f_files, (unsigned long)vfs.f_ffree);
}

static void tell_times(void)
{
    static const char *const names[] = {"fresh", "made"};
    struct stat st;

    check(close(open("made", O_WRONLY | O_CREAT | O_EXCL, 0666)) == 0, "made");
    for (int i = 0; i < 2; i++) {
        check(stat(names[i], &st) == 0, "%s", names[i]);
        printf("%ld%c", (long)st.st_mtime, i == 0 ? ' ' : '\n');
    }
}

static void tell_all(void)
{
    describe_folder("/");
    make_files();
    describe_folder("/");
    describe_folder("/sub");
    describe_folder("/made");
    printf("%.2f us\n", amicclk());
}

static const struct test_case cases[] = {{"all", tell_all}, {"times", tell_times}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
