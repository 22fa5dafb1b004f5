/* stdio over fork: what is not written yet is each process's, and pipes under FILE. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    int fd[2], status;
    char line[100];

    printf("twice ");
    if (fork() == 0)
        exit(0);
    wait(&status);
    fflush(stdout);
    printf("\nonce\n");
    fflush(stdout);
    pipe(fd);
    if (fork() == 0) {
        FILE *out = fdopen(fd[1], "w");

        close(fd[0]);
        for (int i = 0; i < 3000; i++)
            fprintf(out, "%d squared is %d\n", i, i * i);
        exit(ferror(out) ? 1 : 0);
    }
    close(fd[1]);
    FILE *in = fdopen(fd[0], "r");
    long n = 0, bytes = 0;
    while (fgets(line, sizeof line, in)) {
        n++;
        for (char *c = line; *c; c++)
            bytes++;
    }
    wait(&status);
    printf("%ld lines, %ld bytes, the last: %sstatus %d, seek %d\n", n, bytes, line, WEXITSTATUS(status),
           fseek(in, 0, SEEK_SET));
    return 0;
}
