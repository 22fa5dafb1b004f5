/*
 * A small shell: reads lines of commands from its standard input; knows |, <, >, >>, cd, umask and exit, and prints how
 * each line's last command has ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 50 };

static void redirect(int fd, const char *path, int flags)
{
    int file = open(path, flags, 0666);

    if (file < 0) {
        printf("%s: cannot be opened: %s\n", path, errno == ENOENT ? "it does not exist" : "an error");
        exit(1);
    }
    dup2(file, fd);
    close(file);
}

/* Runs one command of a pipeline; does not return. */
static void run(char *text)
{
    char *word[WORDS + 1];
    int n = 0;

    for (char *w = strtok(text, " "); w && n < WORDS; w = strtok(NULL, " "))
        if (strcmp(w, "<") == 0)
            redirect(STDIN_FILENO, strtok(NULL, " "), O_RDONLY);
        else if (strcmp(w, ">") == 0)
            redirect(STDOUT_FILENO, strtok(NULL, " "), O_WRONLY | O_CREAT | O_TRUNC);
        else if (strcmp(w, ">>") == 0)
            redirect(STDOUT_FILENO, strtok(NULL, " "), O_WRONLY | O_CREAT | O_APPEND);
        else
            word[n++] = w;
    word[n] = NULL;
    execv(word[0], word);
    printf("%s: %s\n", word[0], errno == ENOENT ? "there is no such program" : "it cannot be run");
    fflush(stdout);
    _exit(127);
}

/* Returns how the line's last command has ended. */
static int run_line(char *line)
{
    int in = STDIN_FILENO, fd[2], status = -1, one;
    pid_t last = -1, pid;

    for (char *next, *command = line; command; command = next) {
        next = strchr(command, '|');
        if (next)
            *next++ = '\0';
        if (next && pipe(fd) < 0)
            return -1;
        fflush(stdout);
        last = fork();
        if (last == 0) {
            dup2(in, STDIN_FILENO);
            if (in != STDIN_FILENO)
                close(in);
            if (next) {
                dup2(fd[1], STDOUT_FILENO);
                close(fd[0]);
                close(fd[1]);
            }
            run(command);
        }
        if (in != STDIN_FILENO)
            close(in);
        if (next) {
            close(fd[1]);
            in = fd[0];
        }
    }
    while ((pid = wait(&one)) > 0)
        if (pid == last)
            status = one;
    return status;
}

int main(void)
{
    char line[1000];

    setvbuf(stdin, NULL, _IONBF, 0); /* the commands read what is left of it */
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "cd ", 3) == 0) {
            printf("cd: %s\n", chdir(line + 3) == 0 ? "done" : "fails");
        } else if (strncmp(line, "umask ", 6) == 0) {
            umask((mode_t)strtol(line + 6, NULL, 8));
        } else if (strncmp(line, "exit ", 5) == 0) {
            return atoi(line + 5);
        } else {
            int status = run_line(line);
            printf("%s %d\n", WIFSIGNALED(status) ? "signal" : "status",
                   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        }
    }
    return 0;
}
