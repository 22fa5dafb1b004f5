#define _GNU_SOURCE
#include "tests/machine/command.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

const char *build_folder(void) {
    static char folder[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 1);
    cr_assert_gt(n, 0);
    folder[n] = '\0';
    for (int up = 0; up < 3; up++) /* <build>/tests/machine/<program> */
        *strrchr(folder, '/') = '\0';
    return folder;
}

char *build_path(const char *relative) {
    char *path;
    cr_assert_gt(asprintf(&path, "%s/%s", build_folder(), relative), 0);
    return path;
}

static int memory_file(const char *content) {
    int fd = memfd_create("test", MFD_CLOEXEC);
    cr_assert_geq(fd, 0);
    size_t n = content != NULL ? strlen(content) : 0;
    cr_assert_eq(write(fd, content != NULL ? content : "", n), (ssize_t)n);
    lseek(fd, 0, SEEK_SET);
    return fd;
}

struct command command_start(char *const argv[], const char *input) {
    struct command c = {.out_fd = memory_file(NULL), .err_fd = memory_file(NULL)};
    int in_fd = memory_file(input);
    c.pid = fork();
    cr_assert_geq(c.pid, 0);
    if (c.pid == 0) {
        dup2(in_fd, STDIN_FILENO);
        dup2(c.out_fd, STDOUT_FILENO);
        dup2(c.err_fd, STDERR_FILENO);
        execvp(argv[0], argv);
        dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
        _exit(127);
    }
    close(in_fd);
    return c;
}

static char *read_all(int fd, size_t *bytes) {
    off_t end = lseek(fd, 0, SEEK_END);
    char *text = malloc((size_t)end + 1);
    cr_assert_not_null(text);
    cr_assert_eq(pread(fd, text, (size_t)end, 0), end);
    text[end] = '\0';
    close(fd);
    if (bytes != NULL)
        *bytes = (size_t)end;
    return text;
}

struct outcome command_wait(struct command *c) {
    int status;
    cr_assert_eq(waitpid(c->pid, &status, 0), c->pid);
    struct outcome o = {.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status)};
    o.out = read_all(c->out_fd, &o.out_bytes);
    o.err = read_all(c->err_fd, NULL);
    return o;
}

struct outcome command_run(char *const argv[], const char *input) {
    struct command c = command_start(argv, input);
    return command_wait(&c);
}

void outcome_free(struct outcome *o) {
    free(o->out);
    free(o->err);
}

static void must_succeed(char *const argv[]) {
    struct outcome o = command_run(argv, NULL);
    cr_assert_eq(o.status, 0, "%s ended with %d:\n%s%s", argv[0], o.status, o.out, o.err);
    outcome_free(&o);
}

static void image_path(char *path, size_t bytes, const char *folder, int k) {
    snprintf(path, bytes, "%s/df%02d.img", folder, k);
}

char *folder_with_images(int count, int kilobytes) {
    char *folder = strdup("/tmp/ncube-test-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    for (int k = 0; k < count; k++) {
        char path[PATH_MAX], size[32];
        image_path(path, sizeof path, folder, k);
        snprintf(size, sizeof size, "%dk", kilobytes);
        must_succeed((char *[]){"mke2fs", "-q", "-t", "ext2", "-F", path, size, NULL});
    }
    return folder;
}

void folder_remove(char *folder) {
    must_succeed((char *[]){"rm", "-rf", folder, NULL});
    free(folder);
}

void images_check(const char *folder, int count) {
    for (int k = 0; k < count; k++) {
        char path[PATH_MAX];
        image_path(path, sizeof path, folder, k);
        must_succeed((char *[]){"e2fsck", "-fn", path, NULL});
    }
}
