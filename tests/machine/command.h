/* Running a command for a test: its streams are files in memory, so that nothing can block on a full pipe. */
#ifndef NCUBE_TEST_COMMAND_H
#define NCUBE_TEST_COMMAND_H

#include <stddef.h>
#include <sys/types.h>

struct command {
    pid_t pid;
    int out_fd, err_fd;
};

struct outcome {
    int status; /* exit status, or 128 + signal */
    char *out, *err; /* all that was written, NUL-terminated; the caller frees them with outcome_free */
    size_t out_bytes;
};

/* Folder of the build that this test program belongs to. */
const char *build_folder(void);

/* Path inside the build folder; a static buffer per call site is not kept: the caller frees it. */
char *build_path(const char *relative);

/* Starts argv[0] (a path, or a name on PATH); `input` is its standard input, NULL: empty. Fails the test when it cannot. */
struct command command_start(char *const argv[], const char *input);

/* Waits for its end. */
struct outcome command_wait(struct command *c);

struct outcome command_run(char *const argv[], const char *input);
void outcome_free(struct outcome *o);

/* Makes a fresh folder under /tmp with `count` ext2 images df00.img, df01.img ... of `kilobytes` each. The caller frees
 * the path and removes the folder with folder_remove. count may be 0. */
char *folder_with_images(int count, int kilobytes);
void folder_remove(char *folder);

/* Fails the test unless e2fsck -fn finds every image of the folder clean. */
void images_check(const char *folder, int count);

#endif
