/*
 * Calls that fail and calls that work, for ncube run --check, by the names and in the lines of this file. PATH is a
 * folder on a volume.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pio.h>

#define BYTES 200

static char none[BYTES], there[BYTES], other[BYTES], folder[BYTES], text[BYTES];
static int failed;

static void must_fail(int is_right)
{
    failed += is_right;
}

/* A return address of printf is left on the stack where fopen has its frames. */
static void files(void)
{
    printf("%s %d %f\n", "before", 1, 2.0);
    must_fail(!fopen(none, "r"));
    must_fail(!freopen(none, "r", stdin));
    must_fail(open(none, O_RDONLY) < 0);
    must_fail(!opendir(none));
    must_fail(pio_open(none, O_RDONLY) < 0);
    must_fail(truncate(none, 5) < 0);
    must_fail(read(77, text, 5) < 0);
}

static void names(void)
{
    must_fail(remove(none) < 0);
    must_fail(unlink(none) < 0);
    must_fail(mkdir(there, 0777) < 0);
    must_fail(rmdir(none) < 0);
    must_fail(rename(none, other) < 0);
    must_fail(stat(none, &(struct stat){0}) < 0);
    must_fail(access(none, R_OK) < 0);
    must_fail(chdir(none) < 0);
    must_fail(chmod(none, 0) < 0);
}

static void processes(char **argv)
{
    must_fail(system("none") < 0);
    must_fail(!popen("none", "r"));
    must_fail(execl("/none", "none", NULL) < 0);
    must_fail(execlp("/none", "none", NULL) < 0);
    must_fail(execvp("/none", argv) < 0);
    must_fail(kill(9999, SIGTERM) < 0);
    must_fail(wait(NULL) < 0);
    must_fail(waitpid(9999, NULL, 0) < 0);
    must_fail(!malloc(1u << 30));
}

/* What the C library refuses without a call of the kernel. */
static void refused(void)
{
    FILE *f = fopen(there, "r");

    must_fail(!fopen(there, "zz"));
    must_fail(!fdopen(fileno(f), "q"));
    must_fail(fputs(there, f) < 0);
    must_fail(fprintf(f, "%d", failed) < 0);
    must_fail(fseek(f, 0, 77) < 0);
    must_fail(setenv("a=b", "c", 1) < 0);
    must_fail(mkstemp(folder) < 0);
    fclose(f);
}

/* A call back into the program: the innermost line counts. */
static int compare(const void *a, const void *b)
{
    (void)a;
    (void)b;
    must_fail(close(99) < 0);
    return 0;
}

/* Calls that succeed: ncube run --check must not list them. */
static void work(void)
{
    FILE *f = fopen(there, "w");

    fprintf(f, "text\n");
    fclose(f);
    rename(there, other);
    rename(other, there);
    mkdir(folder, 0777);
    closedir(opendir(folder));
    rmdir(folder);
    access(there, R_OK);
    close(creat(other, 0666));
    remove(other);
    free(malloc(10000));
    kill(getpid(), 0);
    f = fopen(there, "r"); /* to its end, which is no failure, whatever errno is */
    while (fgets(text, sizeof text, f))
        ;
    fgetc(f);
    fread(text, 1, sizeof text, f);
    fclose(f);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "//df00";

    snprintf(none, sizeof none, "%s/none", path);
    snprintf(there, sizeof there, "%s/there", path);
    snprintf(other, sizeof other, "%s/other", path);
    snprintf(folder, sizeof folder, "%s/folder", path);
    if (argc > 2 && strcmp(argv[2], "lost") == 0) {
        fputc('x', fopen("/dev/full", "w")); /* which exit() writes */
        return 0;
    }
    work();
    if (argc > 2) {
        fopen(there, "r");
        open(there, O_RDONLY);
        for (int i = 0; i < 2; i++)
            opendir(path);
        pio_open_layout("/made", O_WRONLY | O_CREAT, 0644, &(struct pio_layout){.disks = 2});
        open(strcat(other, "\x9bz"), O_WRONLY | O_CREAT, 0644);
        return 0;
    }
    files();
    names();
    processes(argv);
    refused();
    qsort(text, 2, 1, compare);
    printf("%d failed\n", failed);
    return 0;
}
