/* A server of four clients, by select and by poll: each asks when it has its turn, over pipes both ways. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CLIENTS = 4, ROUNDS = 3 };

static int ask[CLIENTS][2], answer[CLIENTS][2];

static void live(int k)
{
    char line[80], reply[40];

    for (int round = 0; round < ROUNDS; round++) {
        if (read(answer[k][0], reply, sizeof reply) <= 0)
            _exit(1);
        sprintf(line, "client %d, round %d, after '%s'", k, round, reply);
        write(ask[k][1], line, strlen(line) + 1);
    }
    read(answer[k][0], reply, sizeof reply); /* until it may go */
    _exit(k);
}

static void serve_by_select(int k)
{
    fd_set set;
    char line[80];
    int most = 0;

    FD_ZERO(&set);
    for (int i = 0; i < CLIENTS; i++) {
        FD_SET(ask[i][0], &set);
        most = ask[i][0] > most ? ask[i][0] : most;
    }
    int n = select(most + 1, &set, NULL, NULL, NULL);
    printf("%d ready, of client %d: %d\n", n, k, FD_ISSET(ask[k][0], &set) != 0);
    read(ask[k][0], line, sizeof line);
    printf("%s\n", line);
}

static void serve_by_poll(int k)
{
    struct pollfd fds[CLIENTS];
    char line[80];

    for (int i = 0; i < CLIENTS; i++)
        fds[i] = (struct pollfd){.fd = ask[i][0], .events = POLLIN};
    int n = poll(fds, CLIENTS, -1);
    printf("%d ready, of client %d: %d\n", n, k, fds[k].revents == POLLIN);
    read(ask[k][0], line, sizeof line);
    printf("%s\n", line);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    for (int k = 0; k < CLIENTS; k++) {
        pipe(ask[k]);
        pipe(answer[k]);
        fflush(stdout);
        if (fork() == 0)
            live(k);
        close(ask[k][1]);
        close(answer[k][0]);
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < CLIENTS; i++) {
            int k = (i * 3 + round) % CLIENTS;
            char word[40];

            sprintf(word, "turn %d.%d", round, i);
            write(answer[k][1], word, strlen(word) + 1);
            if (round % 2)
                serve_by_poll(k);
            else
                serve_by_select(k);
        }
    for (int k = 0, status; k < CLIENTS; k++) {
        struct pollfd p = {.fd = ask[k][0], .events = POLLIN};

        write(answer[k][1], "go", 3);
        wait(&status);
        int n = poll(&p, 1, -1);
        printf("client %d: %d, %s\n", WEXITSTATUS(status), n, p.revents == POLLHUP ? "gone" : "there");
    }
    struct timeval t = {.tv_usec = 20000};
    printf("timeout: %d\n", select(0, NULL, NULL, NULL, &t));
    printf("write: %d\n", (int)write(answer[0][1], "x", 1));
    return 0;
}
