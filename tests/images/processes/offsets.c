/* Files that parent and child share: one offset, flags of their own, copies. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void show(const char *path)
{
    char text[200];
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, text, sizeof text - 1);

    text[n < 0 ? 0 : n] = '\0';
    printf("%s: '%s'\n", path, text);
    close(fd);
}

int main(void)
{
    int fd = open("shared", O_RDWR | O_CREAT | O_TRUNC, 0644), copy = dup(fd),
        end = open("end", O_WRONLY | O_CREAT | O_APPEND, 0644);
    char text[20] = "";

    for (int k = 0; k < 4; k++) {
        if (fork() == 0) {
            char line[20];

            sprintf(line, "line %d;", k);
            write(k % 2 ? fd : copy, line, strlen(line));
            write(end, line, strlen(line));
            close(fd);
            _exit((int)lseek(copy, 0, SEEK_CUR));
        }
        int status;
        wait(&status);
        printf("child at %d, parent at %d\n", WEXITSTATUS(status), (int)lseek(fd, 0, SEEK_CUR));
    }
    lseek(copy, 5, SEEK_SET);
    if (fork() == 0) {
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        _exit(read(fd, text, 4) == 4 ? 0 : 1);
    }
    wait(NULL);
    printf("flags %d, at %d\n", fcntl(fd, F_GETFD), (int)lseek(fd, 0, SEEK_CUR));
    unlink("shared");
    if (fork() == 0) { /* the file is there as long as it is open */
        struct stat st;

        fstat(fd, &st);
        _exit((int)st.st_size);
    }
    int status;
    wait(&status);
    printf("size %d\n", WEXITSTATUS(status));
    umask(0);
    if (fork() == 0) {
        umask(077);
        chdir("/");
        _exit(0);
    }
    wait(NULL);
    printf("umask %o\n", (unsigned)umask(022));
    show("end");
    return 0;
}
